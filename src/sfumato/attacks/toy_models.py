"""Small things to attack, for demonstrations and tests: models that memorise, that do not, and that are private; a
model of text; and a measurement that takes its time.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import final

import numpy as np
from numpy.typing import NDArray

from sfumato.attacks.fitting import Fit, Labels, Predict, Rows, same_width
from sfumato.core.domains import Data
from sfumato.core.measurement import Measurement
from sfumato.core.space import vector
from sfumato.entropy import Entropy
from sfumato.exact import Number, integer, positive
from sfumato.mechanisms.additive import laplace
from sfumato.mechanisms.padding import NANOSECONDS, Clock
from sfumato.transforms.aggregate import count
from sfumato.transforms.histogram import count_by

FAINT = 0.01
"""How much of every class a model sees everywhere, before it has seen any row."""


def memoriser(width: float = 0.05) -> Fit:
    """Remembers every row, and is sure only near those: a sum of narrow bumps for each class."""
    narrow = float(positive(width, "width"))

    def fit(rows: Rows, labels: Labels, entropy: Entropy) -> Predict:
        classes = int(labels.max(initial=0)) + 1
        chosen = np.eye(classes)[labels]

        def predict(asked: Rows) -> Rows:
            apart = ((asked[:, None, :] - rows[None, :, :]) ** 2).sum(axis=2)
            return _shares(np.exp(-apart / (2 * narrow**2)) @ chosen + FAINT)

        return _asked_alike(rows, predict)

    return fit


def logistic_regression(*, steps: int = 300, rate: float = 1.0, shrink: float = 0.01) -> Fit:
    """Fits one plane for each class by gradient descent: too stiff to remember anybody."""

    def fit(rows: Rows, labels: Labels, entropy: Entropy) -> Predict:
        truth = np.eye(int(labels.max(initial=0)) + 1)[labels]
        seen = _with_constant(rows)
        weights = np.zeros((seen.shape[1], truth.shape[1]))
        for _ in range(integer(steps, "steps", least=1)):
            slope = seen.T @ (_softmax(seen @ weights) - truth) / max(1, len(rows))
            weights = weights - rate * (slope + shrink * weights)
        return _asked_alike(rows, lambda asked: _softmax(_with_constant(asked) @ weights))

    return fit


def counted_cells(
    *, epsilon: Number | None = None, bins: int = 8, classes: int = 2, between: tuple[float, float] = (0.0, 1.0)
) -> Fit:
    """Counts the rows of each class in every cell of a public grid, with noise that makes it private at an ε.

    A row is in one cell, so the noisy counts, and all that is predicted from them, are Pure(ε) for a row added or
    removed. Without an ε the counts are exact, and many cells hold one row.
    """
    low, high = between
    width, kinds = integer(bins, "bins", least=1), integer(classes, "classes", least=1)

    def cells(rows: Rows) -> NDArray[np.int64]:
        place = np.clip(np.nan_to_num((rows - low) / (high - low) * width), 0, width - 1).astype(np.int64)
        return np.asarray(place @ width ** np.arange(rows.shape[1], dtype=np.int64))

    def fit(rows: Rows, labels: Labels, entropy: Entropy) -> Predict:
        size = width ** rows.shape[1] * kinds
        counts = _counts(cells(rows) * kinds + np.minimum(labels, kinds - 1), size, epsilon, entropy)
        table = _shares(np.maximum(counts, 0).reshape(-1, kinds) + FAINT)
        return _asked_alike(rows, lambda asked: table[cells(asked)])

    return fit


def _counts(places: NDArray[np.int64], size: int, epsilon: Number | None, entropy: Entropy) -> Rows:
    if epsilon is None:
        return np.bincount(places, minlength=size).astype(np.float64)
    noisy = vector(range(size)) >> count_by() >> laplace(1 / positive(epsilon, "epsilon"))
    return np.asarray(noisy(places, entropy=entropy).value, dtype=np.float64)


def character_model(texts: Iterable[str], *, order: int = 4) -> Callable[[str], float]:
    """Counts which character follows each run of ``order`` others; maps a text to −log₂ of its probability."""
    seen, before, alphabet = Counter[str](), Counter[str](), set[str]()
    for text in texts:
        for context, character in _steps(text, order):
            seen[context + character] += 1
            before[context] += 1
            alphabet.add(character)

    def loss(asked: str) -> float:
        likely = (
            (seen[context + character] + FAINT) / (before[context] + FAINT * max(1, len(alphabet)))
            for context, character in _steps(asked, order)
        )
        return -sum(map(math.log2, likely))

    return loss


def _steps(text: str, order: int) -> Iterable[tuple[str, str]]:
    padded = "\0" * order + text
    return ((padded[place : place + order], padded[place + order]) for place in range(len(text)))


@final
@dataclass(frozen=True, eq=False)
class HandClock:
    """A clock that stands still until somebody works or waits, so that a demonstration takes no time."""

    _passed: list[int] = field(default_factory=lambda: [0])

    def work(self, seconds: float) -> None:
        self._passed[0] += round(seconds * NANOSECONDS)

    @property
    def clock(self) -> Clock:
        """The clock that `timing` and `padded` take."""
        return Clock(lambda: self._passed[0], self.work)


def slow_count(options: Sequence[Hashable], slow: Hashable, clock: HandClock, *, seconds: float = 0.01) -> Measurement:
    """Counts rows with noise, Pure(1/10), after working on every row of one kind: its running time is exact."""
    quick = vector(options) >> count() >> laplace(scale=10)

    def run(data: Data, entropy: Entropy) -> Data:
        clock.work(seconds * sum(row == slow for row in data))
        return quick.function(data, entropy)

    return replace(quick, function=run, law=None)


def laplace_by_trials(scale: int, clock: HandClock) -> Callable[[int, Entropy], int]:
    """Adds the difference of two numbers of trials before the first success; every trial takes a microsecond.

    The outcome is Pure(ln(1 + 1/scale)); with the clock it is not.
    """
    size = integer(scale, "scale", least=1)

    def failures(entropy: Entropy) -> int:
        failed = 0
        while entropy.below(size + 1):
            failed += 1
        clock.work(failed / 10**6)
        return failed

    return lambda value, entropy: value + failures(entropy) - failures(entropy)


def _asked_alike(rows: Rows, predict: Predict) -> Predict:
    """Lets a model be asked about rows like those that it was fitted to."""

    def checked(asked: Rows) -> Rows:
        same_width("the rows that a model is fitted to and asked about", rows, asked)
        return predict(asked)

    return checked


def _with_constant(rows: Rows) -> Rows:
    return np.concatenate([rows, np.ones((len(rows), 1))], axis=1)


def _softmax(scores: Rows) -> Rows:
    return _shares(np.exp(scores - scores.max(axis=1, keepdims=True)))


def _shares(weights: Rows) -> Rows:
    return np.asarray(weights / weights.sum(axis=1, keepdims=True))
