"""Makes totals agree: of noisy numbers for several levels, the nearest ones that add up. Post-processing only.

The finest level has a number x for each key; every other set has sums of these. What was released for a set is its sums
plus independent noise. The numbers x that fit all sets best (`release.consistency`) are rounded to whole steps, so that
all sums agree exactly. This needs public keys for every set: what was not shown cannot be added up.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import final

import numpy as np

from sfumato.query.plan.engine_plan import ExactAggregate
from sfumato.query.plan.grouping_sets import Level
from sfumato.release.consistency import best_fit, sums
from sfumato.release.vectors import Array

LEAST_VARIANCE = 1e-9
"""Noise with less variance is 0 nearly always: weights need not tell it from none."""


@final
@dataclass(frozen=True, eq=False)
class Agreed:
    """The numbers of a level that agree with those of others: rounded to whole steps, and as they were estimated.

    ``off`` is how far the estimates may be from exact least squares, in steps.
    """

    numbers: Array
    estimates: Array
    off: float


def reconcile(
    levels: Sequence[Level],
    numbers: Sequence[Mapping[ExactAggregate, Array]],
    variances: Sequence[Mapping[ExactAggregate, float]],
) -> list[dict[ExactAggregate, Agreed]]:
    """Makes the totals of all levels agree by least squares, wherever they are sums of the finest level's numbers."""
    agreed: list[dict[ExactAggregate, Agreed]] = [{} for _ in numbers]
    if not agreeing(levels):
        return agreed
    finest = next(at for at, level in enumerate(levels) if level.summed is None)
    for tally in levels[finest].tallies:
        size = len(numbers[finest][tally])
        own = np.arange(size, dtype=np.intp)
        places = [own if level.summed is None else np.array(level.summed, dtype=np.intp) for level in levels]
        values = [np.asarray(one[tally], dtype=np.float64) for one in numbers]
        if max(float(np.abs(part).max()) for part in values) * size >= 2.0**62:
            continue  # beyond 64 bits, sums are left as they are
        spreads = weighed([one[tally] for one in variances])
        fit = best_fit(values, spreads, places, finest)
        best = np.rint(fit.values)
        for one, place, part in zip(agreed, places, values, strict=True):
            estimates = sums(fit.values, place, len(part))
            most = np.sqrt(np.bincount(place, minlength=len(part)).max()) * fit.off
            one[tally] = Agreed(sums(best, place, len(part)).astype(np.int64), estimates, float(most))
    return agreed


def agreeing(levels: Sequence[Level]) -> bool:
    """Tells whether totals are made to agree: all levels but one are sums of that one, which has keys."""
    finest = [level for level in levels if level.summed is None]
    return len(levels) > 1 and len(finest) == 1 and bool(finest[0].listed)


def weighed(variances: Sequence[float]) -> list[float]:
    """The variances by which levels are weighed: none is below `LEAST_VARIANCE`."""
    return [max(one, LEAST_VARIANCE) for one in variances]
