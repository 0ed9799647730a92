"""Who is attacked: a curator who answers sums over groups of people, exactly, with a trick, or privately."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from fractions import Fraction
from functools import lru_cache
from typing import TypeAlias, final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sfumato.attacks.reading import plain_array
from sfumato.core.measurement import Measurement
from sfumato.core.metrics import L1
from sfumato.core.space import vector
from sfumato.entropy import Entropy
from sfumato.errors import BadArgument, Exhausted
from sfumato.exact import Number, integer, positive, up
from sfumato.mechanisms.additive import laplace

Values: TypeAlias = NDArray[np.int64]
Groups: TypeAlias = NDArray[np.bool_]
Answers: TypeAlias = NDArray[np.float64]

Protection: TypeAlias = Callable[[Groups, Answers], Answers]
"""From the groups that were asked for (one to a row) and the exact answers to what the curator says instead.

NaN is a refusal.
"""

GREATEST = 1 << 53
"""Sums beyond it would not be whole numbers in floating point."""

CELLS = 1 << 22
"""How many entries of masks are made, or added up, at a time."""

MASK = "true or false for each person"


@final
@dataclass(frozen=True, eq=False)
class Oracle:
    """A curator with one secret whole number for each person, who answers what groups of people have together.

    Who the people are is public, and so is everything that groups are chosen by: a predicate on public columns is a
    mask. ``secret`` is for whoever runs the experiment and counts the hits; an attack sees answers only.

    >>> curator = Oracle.exact([1, 0, 1, 1])
    >>> curator.ask([True, True, True, False])
    2.0
    """

    secret: Values = field(repr=False)
    answer: Callable[[Groups], Answers] = field(repr=False)
    against: str
    epsilon: float | None = None

    @staticmethod
    def exact(secret: ArrayLike) -> Oracle:
        """A curator who tells the truth."""
        values = whole_numbers(secret, "the secret")
        return Oracle(values, lambda groups: _sums(groups, values), "exact answers")

    @staticmethod
    def protected(secret: ArrayLike, protection: Protection, *, against: str) -> Oracle:
        """A curator who trusts in an ad-hoc protection."""
        values = whole_numbers(secret, "the secret")
        return Oracle(values, lambda groups: protection(groups, _sums(groups, values)), against)

    @staticmethod
    def private(
        secret: ArrayLike,
        *,
        epsilon: Number,
        questions: int,
        between: tuple[int, int] = (0, 1),
        entropy: Entropy | None = None,
    ) -> Oracle:
        """A curator who shares out ε over a number of questions announced beforehand, and answers no more.

        One changed value moves each sum by at most the width of ``between``, to which values are clamped; each answer
        has Laplace noise of scale width · questions / ε.
        """
        values, loss = whole_numbers(secret, "the secret"), positive(epsilon, "epsilon")
        low, high = _bounds(between)
        scale = (high - low) * integer(questions, "questions", least=1) / loss
        clamped, left = np.clip(values, low, high), questions

        def answer(groups: Groups) -> Answers:
            nonlocal left
            if len(groups) > left:
                raise Exhausted(f"{left} of the {questions} answers that were announced are left: ε is spent.")
            left -= len(groups)
            return with_laplace(_sums(groups, clamped), scale, entropy)

        return Oracle(values, answer, f"ε = {up(loss):.6g}", up(loss))

    def ask(self, group: ArrayLike) -> float:
        """Asks for one group, a mask of people."""
        return float(self.ask_all(plain_array(group, "the group", MASK)[None])[0])

    def ask_all(self, groups: ArrayLike) -> Answers:
        """Asks for many groups at once, one mask to a row."""
        masks = plain_array(groups, "the groups", MASK)
        if masks.dtype != np.bool_ or masks.ndim != 2 or masks.shape[1] != len(self.secret):
            must = f"masks of {len(self.secret)} people, true or false for each"
            raise BadArgument("the groups", must, f"{masks.dtype} of shape {masks.shape}")
        return self.answer(masks)


def _bounds(between: tuple[int, int]) -> tuple[int, int]:
    if isinstance(between, tuple | list) and len(between) == 2:
        low, high = (integer(bound, "between") for bound in between)
        if low < high:
            return low, high
    raise BadArgument("between", "two whole numbers, the lower one first", between)


def with_laplace(whole: Answers, scale: Fraction, entropy: Entropy | None) -> Answers:
    """Adds exact Laplace noise to whole numbers; the ε is the most that they move in sum, divided by the scale."""
    noisy = _laplace_vector(len(whole), scale)(whole.astype(np.int64), entropy=entropy)
    return np.asarray(noisy.value, dtype=np.float64)


@lru_cache(maxsize=64)
def _laplace_vector(size: int, scale: Fraction) -> Measurement:
    return vector(int, size=size, metric=L1()) >> laplace(scale)


def whole_numbers(values: ArrayLike, name: str) -> Values:
    """Reads a column of whole numbers or of true and false, whose sums stay whole in floating point."""
    must = "one whole number for each person, for one person or more"
    column = plain_array(values, name, must)
    if column.ndim != 1 or not column.size or column.dtype.kind not in "biu":
        raise BadArgument(name, must, f"{column.dtype} {column.shape}")
    if sum(abs(int(low)) for low in (column.min(), column.max())) * column.size >= GREATEST:
        raise BadArgument(name, "numbers whose sum is below 2⁵³", "larger ones")
    return column.astype(np.int64)


def _sums(groups: Groups, values: Values) -> Answers:
    """Adds up in floating point, which is exact below 2⁵³, and some rows at a time: masks are an eighth of floats."""
    weights, rows = values.astype(np.float64), max(1, CELLS // len(values))
    parts = [groups[start : start + rows].astype(np.float64) @ weights for start in range(0, len(groups), rows)]
    return np.concatenate([np.zeros(0), *parts])
