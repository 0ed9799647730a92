"""Error bars: where statistics, sums of them and ratios lie, by the laws of the noise on what was drawn."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache
from typing import TYPE_CHECKING, Any, final

import numpy as np

from sfumato.exact import up
from sfumato.mechanisms.gridding import nearest_floats
from sfumato.noise.discrete_gaussian import DiscreteGaussian
from sfumato.noise.discrete_laplace import DiscreteLaplace
from sfumato.query.answer.agreement import Laws, laws_of
from sfumato.query.answer.linear import Linear, Ratio
from sfumato.query.answer.reconcile import Agreed, weighed
from sfumato.query.plan.decomposition import Recipe, step_of
from sfumato.query.plan.engine_plan import ExactAggregate
from sfumato.query.plan.parts import PricedCells, Selection
from sfumato.release.blurred import Blurred, Together, shared_ratio_ends
from sfumato.release.sums import sum_above
from sfumato.release.vectors import Array, Vector
from sfumato.release.waves import Wave

if TYPE_CHECKING:
    from sfumato.query.plan.compiled_query import CompiledQuery


@final
@dataclass(frozen=True, eq=False)
class Bars:
    """The noisy numbers of one level, and the noise on them, from which error bars follow.

    ``agreed`` are numbers near to those that were drawn that add up to the totals of other levels, where there are
    several; ``laws`` say which noise these have. ``selection`` is how keys were chosen, if they were.
    """

    numbers: Mapping[ExactAggregate, Array]
    noises: Mapping[ExactAggregate, PricedCells]
    agreed: Mapping[ExactAggregate, Agreed]
    laws: Mapping[ExactAggregate, Laws]
    selection: Selection | None = None

    def made(self, recipe: Recipe, missed: Fraction) -> Vector:
        """Makes a statistic, with a bar from the law of all its noise, or else from where each of its numbers lies."""
        tallies = recipe.tallies
        if len(tallies) == 1 or not self._drawn(tallies) or len(set(tallies)) < len(tallies):
            return recipe.make({tally: self.number(tally, missed / len(set(tallies))) for tally in tallies})
        statistic = recipe.make({tally: self.number(tally, missed) for tally in tallies})  # where it lies: see below
        if recipe.linear is not None:
            return self.linear(statistic, Linear(recipe.linear), missed)
        if recipe.sharp is None:
            return recipe.make({tally: self.number(tally, missed / len(tallies)) for tally in tallies})
        ends = recipe.sharp({tally: self.blurred(tally) for tally in tallies}, float(missed))
        return replace(statistic, low=ends[0], high=ends[1])

    def _drawn(self, tallies: Sequence[ExactAggregate]) -> bool:
        """Tells whether all numbers were drawn with noise that is known."""
        return all(tally in self.noises and isinstance(self.noises[tally].noise, Wave) for tally in tallies)

    def linear(self, total: Vector, form: Linear, missed: Fraction) -> Vector:
        """Sets the error bar of a sum of several numbers, which is less than the sum of their error bars."""
        if len(form.weights) < 2 or not self._drawn(tuple(form.weights)):
            return total
        middle = (total.low + total.high) / 2
        if any(tally in self.laws for tally in form.weights):
            numbers = Together(tuple(self.blurred(tally) for tally in form.weights))
            width: Any = _exactly(numbers, [float(weight) for weight in form.weights.values()], missed)
        else:
            terms = tuple((self.noises[tally].noise, weight * step_of(tally)) for tally, weight in form.weights.items())
            width = up(sum_above(terms, missed / 2))
        return Vector(total.values, middle - width, middle + width, total.whole)

    def ratio(self, quotient: Vector, form: Ratio, missed: Fraction) -> Vector:
        """Sets the error bar of a ratio of two sums by the noise of both together."""
        tallies = tuple(dict.fromkeys((*form.top.weights, *form.bottom.weights)))
        if not self._drawn(tallies):
            return quotient
        above, below = ([float(side.weights.get(tally, 0)) for tally in tallies] for side in (form.top, form.bottom))
        plus = float(form.top.constant), float(form.bottom.constant)
        numbers = [self.blurred(tally) for tally in tallies]
        ends = shared_ratio_ends(numbers, above, below, float(missed), plus=plus)
        low, high = (float(form.factor) * end + float(form.shift) for end in ends)
        return Vector(quotient.values, np.minimum(low, high), np.maximum(low, high))

    def number(self, tally: ExactAggregate, missed: Fraction) -> Vector:
        """One noisy number of each group, with the error bar of its noise alone."""
        numbers, step = self.numbers[tally], step_of(tally)
        part = self.noises.get(tally)
        if part is None:
            if self.selection is None:
                raise TypeError(tally)
            return chosen(numbers, self.selection, missed)
        if tally in self.laws:
            blurred = self.blurred(tally)
            width: Any = _exactly(Together((blurred,)), [1.0], missed)
            values = in_unit(self.agreed[tally].numbers, step)
            return Vector(values, blurred.values - width, blurred.values + width, whole=step == 1)
        width = up(width_of(part.noise, 1 - missed) * step)
        near = Vector.near(in_unit(numbers, step), width, whole=step == 1)
        best = self.agreed.get(tally)  # the interval stays where the noise put it
        return near if best is None else replace(near, values=in_unit(best.numbers, step))

    def blurred(self, tally: ExactAggregate) -> Blurred:
        """One noisy number of each group in its unit, not in steps, with the law of its noise."""
        step, noise = float(step_of(tally)), self.noises[tally].noise
        if tally not in self.laws:
            law = ((noise, step, 1),)
            return Blurred.by(np.asarray(in_unit(self.numbers[tally], step_of(tally)), dtype=np.float64), law)  # type: ignore[arg-type]
        agreed, (laws, which) = self.agreed[tally], self.laws[tally]
        scaled = tuple(tuple((one, weight * step, many) for one, weight, many in law) for law in laws)
        return Blurred(agreed.estimates * step, scaled, which, agreed.off * step)


def _exactly(numbers: Together, weights: Sequence[float], missed: Fraction) -> Array:
    """How far the noise of a sum reaches in each group, for exactly these weights."""
    reaches = numbers.reaches(np.array([weights]), float(missed), varied=(True,) * len(weights))
    return np.asarray(reaches[0][numbers.kinds[1]])


def laws_at(compiled: CompiledQuery, tallies: Sequence[ExactAggregate]) -> list[dict[ExactAggregate, Laws]]:
    """The laws of the noise on tallies that agree, by level; left out for tallies where they are not worked out."""
    by_level: list[dict[ExactAggregate, Laws]] = [{} for _ in compiled.levels]
    for tally in tallies:
        noises = [here[tally].noise for here in compiled.noises]
        waves = [noise for noise in noises if isinstance(noise, DiscreteLaplace | DiscreteGaussian)]
        spreads = weighed([variance(noise) for noise in noises])
        laws = laws_of(compiled.levels, waves, spreads) if len(waves) == len(noises) else []
        for here, law in zip(by_level, laws, strict=False):
            if law is not None:
                here[tally] = law
    return by_level


def variance(noise: Any) -> float:
    """The variance of noise in squared steps, as a float near the exact value."""
    return float(noise.variance().mid())


@lru_cache(maxsize=4096)
def width_of(noise: Any, confidence: Fraction) -> int:
    """The error bar of noise at a confidence, in whole steps."""
    return int(noise.half_width(confidence))


def in_unit(numbers: Array, step: Fraction) -> Array:
    """Turns steps into the unit of the numbers; whole numbers stay whole where a step is 1."""
    return numbers if step == 1 else nearest_floats(numbers, step)


def chosen(numbers: Array, selection: Selection, missed: Fraction) -> Vector:
    """Puts error bars on the counts by which keys were chosen.

    They are within the noise's reach, for certain; where a key was sure to be shown, within its reach at the
    confidence.
    """
    least, most = selection.noise.reach
    index = selection.noise.index
    low, high = least + index.quantile(missed / 2), least + index.quantile(1 - missed / 2)
    sure = numbers - most > selection.noise.least_shown - 1 - least
    floats = np.asarray(numbers, dtype=np.float64)
    return Vector(numbers, floats - np.where(sure, high, most), floats - np.where(sure, low, least), whole=True)
