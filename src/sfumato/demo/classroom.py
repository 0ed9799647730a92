"""The classroom case study in numbers: the leak, the private mean, the same attack again. Nothing here prints."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import final

from sfumato.accounting.losses.measures import Pure
from sfumato.core.calibrate import calibrate_parameter
from sfumato.core.measurement import Measurement
from sfumato.core.space import vector
from sfumato.core.transformation import Transformation
from sfumato.datasets import Classroom
from sfumato.exact import Distance, rational
from sfumato.mechanisms.additive import laplace
from sfumato.release.record import Release
from sfumato.transforms.aggregate import mean
from sfumato.transforms.rowwise import clamp

CLOSE = 5
"""A guess this many points off, or less, is taken as a hit."""


def exact_mean(size: int, between: tuple[int, int]) -> Transformation:
    """Builds the mean of a class whose size is public: exact, and so not for release."""
    return vector(float, size=size) >> clamp(*between) >> mean()


def private_mean(size: int, between: tuple[int, int], loss: Pure) -> tuple[Measurement, Fraction]:
    """Builds the private mean with the least noise that keeps a loss; returns it with the scale of that noise."""
    average = exact_mean(size, between)
    scale = calibrate_parameter(lambda candidate: average >> laplace(candidate), d_in=1, loss=loss)
    return average >> laplace(scale), scale


def recover_departed(before: float | Fraction, after: float | Fraction, *, size: int) -> Fraction:
    """Computes the value of whoever left, from the mean of ``size`` values and the mean of the rest.

    >>> recover_departed(85, 87, size=10)
    Fraction(67, 1)
    """
    return size * rational(before, "mean before") - (size - 1) * rational(after, "mean after")


def recover_arrived(before: float | Fraction, after: float | Fraction, *, size: int) -> Fraction:
    """Computes the value of whoever joined, from the mean of ``size`` values and the mean of one more.

    >>> recover_arrived(500_000, 505_000, size=25)
    Fraction(630000, 1)
    """
    return (size + 1) * rational(after, "mean after") - size * rational(before, "mean before")


@final
@dataclass(frozen=True)
class Leak:
    """What two exact means give away: one score, and how far a mean may move."""

    before: Fraction
    after: Fraction
    recovered: Fraction
    sensitivity: Distance


def leak(classroom: Classroom) -> Leak:
    """Publishes both means exactly and subtracts them."""
    before, after = (_exact(classroom, scores) for scores in (classroom.scores, classroom.after))
    size = len(classroom.scores)
    recovered = recover_departed(before, after, size=size)
    return Leak(before, after, recovered, exact_mean(size, classroom.between).map(1))


def _exact(classroom: Classroom, scores: Sequence[int]) -> Fraction:
    average = exact_mean(len(scores), classroom.between)
    return Fraction(average([float(score) for score in scores]))


@final
@dataclass(frozen=True)
class Attack:
    """The same subtraction on private means: one published pair of releases, and the guesses of many repetitions."""

    before: Release
    after: Release
    recovered: float
    guesses: tuple[float, ...]
    truth: float

    @property
    def median_error(self) -> float:
        """Half of the attacks are off by more than this, in points."""
        errors = sorted(abs(guess - self.truth) for guess in self.guesses)
        return errors[len(errors) // 2]

    @property
    def hits(self) -> float:
        """The share of attacks that come within `CLOSE` points."""
        return sum(abs(guess - self.truth) <= CLOSE for guess in self.guesses) / len(self.guesses)


def attack(classroom: Classroom, *, loss: Pure, times: int) -> Attack:
    """Publishes both means privately and subtracts them; then does so in many other worlds, to see the spread."""
    with_all, without = ([float(score) for score in scores] for scores in (classroom.scores, classroom.after))
    size = len(with_all)
    before, _ = private_mean(size, classroom.between, loss)
    after, _ = private_mean(size - 1, classroom.between, loss)
    pairs = [(before(with_all), after(without)) for _ in range(times + 1)]
    guesses = [float(recover_departed(first.value, second.value, size=size)) for first, second in pairs]
    return Attack(*pairs[0], guesses[0], tuple(guesses[1:]), float(classroom.departed))


def errors_of_mean(
    between: tuple[int, int], *, sizes: Sequence[int], losses: Sequence[Pure], confidence: Fraction = Fraction(95, 100)
) -> dict[int, dict[Pure, float]]:
    """Tabulates the error bar of the private mean by class size and loss; it depends on no score."""
    errors: dict[int, dict[Pure, float]] = {}
    for size in sizes:
        for loss in losses:
            measurement, _ = private_mean(size, between, loss)
            errors.setdefault(size, {})[loss] = (
                float(measurement.error(confidence)) if measurement.error else float("inf")
            )
    return errors
