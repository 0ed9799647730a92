"""Makes totals agree: of noisy numbers for several levels, the nearest ones that add up. Post-processing only.

The finest level has a number x for each key; every other set has sums of these. What was released for a set is its sums
plus independent noise. The numbers x that fit all sets best, each weighed by the inverse of its variance, are found by
least squares (Hay, Rastogi, Miklau and Suciu 2010, for trees); they are rounded to whole steps, so that all sums agree
exactly. This needs public keys for every set: what was not shown cannot be added up.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import final

import numpy as np

from sfumato.query.cells import Tally
from sfumato.query.levels import Level
from sfumato.query.vectors import Array

MOST_ROUNDS = 200
"""Conjugate gradients end after so many rounds; there are as many different curvatures as sets, so few are needed."""

LEAST_VARIANCE = 1e-9
"""Noise with less variance is 0 nearly always: weights need not tell it from none."""

PRECISE = 1e-12
"""What is left of the misfit when they end, as a share of what it was."""


FLOATS = 1e-13
"""What floats do to a sum of many numbers, as a share of the largest ones."""


@final
@dataclass(frozen=True, eq=False)
class Agreed:
    """Is the numbers of a level that agree with those of others: rounded to whole steps, and as they were estimated.

    ``off`` is how far the estimates may be from exact least squares, in steps.
    """

    numbers: Array
    estimates: Array
    off: float


def reconcile(
    levels: Sequence[Level], numbers: Sequence[Mapping[Tally, Array]], variances: Sequence[Mapping[Tally, float]]
) -> list[dict[Tally, Agreed]]:
    """Gives the numbers of each level whose totals agree, wherever they are sums of the finest level's."""
    found: list[dict[Tally, Agreed]] = [{} for _ in numbers]
    if not agreeing(levels):
        return found
    finest = next(at for at, level in enumerate(levels) if level.summed is None)
    for tally in levels[finest].tallies:
        size = len(numbers[finest][tally])
        own = np.arange(size, dtype=np.intp)
        places = [own if level.summed is None else np.array(level.summed, dtype=np.intp) for level in levels]
        values = [np.asarray(one[tally], dtype=np.float64) for one in numbers]
        if max(float(np.abs(part).max()) for part in values) * size >= 2.0**62:
            continue  # beyond 64 bits, sums are left as they are
        spreads = weighed([one[tally] for one in variances])
        weights = [min(spreads) / one for one in spreads]
        fitted, left = _fitted(values, weights, places, size)
        best = np.rint(fitted)
        for one, place, part in zip(found, places, values, strict=True):
            estimates = _summed(fitted, place, len(part))
            # The normal equations are left with a misfit, and multiply no vector by less than the finest's weight.
            most = np.sqrt(np.bincount(place, minlength=len(part)).max()) * left / weights[finest]
            one[tally] = Agreed(_summed(best, place, len(part)).astype(np.int64), estimates, float(most))
    return found


def agreeing(levels: Sequence[Level]) -> bool:
    """Tells whether totals are made to agree: all levels but one are sums of that one, which has keys."""
    finest = [level for level in levels if level.summed is None]
    return len(levels) > 1 and len(finest) == 1 and bool(finest[0].listed)


def weighed(variances: Sequence[float]) -> list[float]:
    """Gives the variances by which levels are weighed."""
    return [max(one, LEAST_VARIANCE) for one in variances]


def _summed(values: Array, places: Array, size: int) -> Array:
    """Adds up the numbers of the finest level to those of another."""
    return np.bincount(places, weights=values, minlength=size)


def _fitted(
    values: Sequence[Array], weights: Sequence[float], places: Sequence[Array], size: int
) -> tuple[Array, float]:
    """Solves for the finest numbers: the weighted sum of A'A x = A'y, by conjugate gradients; and says what is left."""

    def spread(parts: Sequence[Array]) -> Array:
        total = np.zeros(size)
        for part, weight, place in zip(parts, weights, places, strict=True):
            total += weight * part[place]
        return total

    def curved(x: Array) -> Array:
        return spread([_summed(x, place, len(part)) for place, part in zip(places, values, strict=True)])

    x = np.zeros(size)
    left = spread(values)
    way, rest = left.copy(), float(left @ left)
    enough = PRECISE**2 * rest
    for _ in range(MOST_ROUNDS):
        if rest <= enough or rest == 0:
            break
        bent = curved(way)
        step = rest / float(way @ bent)
        x, left = x + step * way, left - step * bent
        new = float(left @ left)
        way, rest = left + (new / rest) * way, new
    target = spread(values)
    misfit = np.linalg.norm(target - curved(x))
    return x, float(misfit + FLOATS * (np.linalg.norm(target) + np.abs(target).max(initial=0.0)))
