"""Makes totals agree: of noisy numbers for several levels, the nearest ones that add up. Post-processing only.

The finest level has a number x for each key; every other set has sums of these. What was released for a set is its sums
plus independent noise. The numbers x that fit all sets best, each weighed by the inverse of its variance, are found by
least squares (Hay, Rastogi, Miklau and Suciu 2010, for trees); they are rounded to whole steps, so that all sums agree
exactly. This needs public keys for every set: what was not shown cannot be added up.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

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


def reconcile(
    levels: Sequence[Level], numbers: Sequence[Mapping[Tally, Array]], variances: Sequence[Mapping[Tally, float]]
) -> list[dict[Tally, Array]]:
    """Gives the numbers of each level, with totals that agree wherever they are sums of the finest level's."""
    found = [dict(one) for one in numbers]
    finest = next((at for at, level in enumerate(levels) if level.summed is None), 0)
    keys = levels[finest].listed
    if len(levels) < 2 or sum(level.summed is None for level in levels) > 1 or not keys:
        return found
    for tally in levels[finest].tallies:
        size = len(numbers[finest][tally])
        own = np.arange(size, dtype=np.intp)
        places = [own if level.summed is None else np.array(level.summed, dtype=np.intp) for level in levels]
        values = [np.asarray(one[tally], dtype=np.float64) for one in numbers]
        if max(float(np.abs(part).max()) for part in values) * size >= 2.0**62:
            continue  # beyond 64 bits, sums are left as they are
        spreads = [max(one[tally], LEAST_VARIANCE) for one in variances]
        best = np.rint(_fitted(values, [min(spreads) / one for one in spreads], places, size))
        for one, place, part in zip(found, places, values, strict=True):
            one[tally] = _summed(best, place, len(part)).astype(np.int64)
    return found


def _summed(values: Array, places: Array, size: int) -> Array:
    """Adds up the numbers of the finest level to those of another."""
    return np.bincount(places, weights=values, minlength=size)


def _fitted(values: Sequence[Array], weights: Sequence[float], places: Sequence[Array], size: int) -> Array:
    """Solves for the finest numbers: the weighted sum of A'A x = A'y, by conjugate gradients."""

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
    return x
