"""Standardized moments: skewness and kurtosis of noisy sums of powers, with where they lie by where the sums do."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import reduce
from operator import add, mul

import numpy as np

from sfumato.query.plan.grids import Grid
from sfumato.release.vectors import Array, Vector


def standardized(summed: Sequence[tuple[Vector, Grid]], count: Vector, *, sample: bool) -> Vector:
    """Skewness of sums of x, x² and x³, each on its grid; with x⁴, kurtosis less that of the normal distribution.

    There is none where all numbers seem to be equal. What is left of the average, once the noisy one is taken off, is
    about 0: so intervals grow with its square only.
    """
    powers, centre = [_like(count, 1.0)], summed[0][1]
    for total, grid in summed:
        powers = _recentred(powers, _like(count, float(centre.centre) - float(grid.centre)))
        powers.append((total / count).widened(_rounding(grid, len(powers))))
        centre = grid
    near = _recentred(powers, Vector.exact(-powers[1].floats))
    around, order = _recentred(near, -near[1]), len(summed)
    spread = around[2].within(0.0, reach_of(centre) ** 2)
    standard = around[order] / spread.monotonic(lambda variance: variance ** (order / 2))
    if order == 3:
        factor = falling(count, 2, lambda rows: np.sqrt(rows * (rows - 1)) / (rows - 2))
        return standard * factor if sample else standard
    excess = standard.within(1.0, np.inf) - _like(count, 3.0)
    factor = falling(count, 3, lambda rows: (rows + 1) * (rows - 1) / ((rows - 2) * (rows - 3)))
    more = falling(count, 3, lambda rows: 6 * (rows - 1) / ((rows - 2) * (rows - 3)))
    return excess * factor + more if sample else excess


def counted(rows: Vector) -> Vector:
    """A count that is known to be at least 1; NaN where the noisy one is not above 0."""
    values = np.where(rows.floats > 0, rows.floats, np.nan)
    return Vector(values, np.maximum(rows.low, 1.0), np.maximum(rows.high, 1.0))


def falling(count: Vector, above: int, factor: Callable[[Array], Array]) -> Vector:
    """A factor that falls as a count grows, and stays positive; NaN where the count is not above a number."""
    low, values, high = (
        np.where(rows > above, factor(rows), other)
        for rows, other in ((count.high, 0.0), (count.floats, np.nan), (count.low, np.inf))
    )
    return Vector(values, low, high)


def reach_of(*grids: Grid) -> float:
    """How far a number on a grid is from its centre at most, of several grids the furthest."""
    return max(float(max(map(abs, grid.ends)) * grid.step) for grid in grids)


def _like(count: Vector, value: float) -> Vector:
    return Vector.exact(np.full(len(count.values), value))


def _recentred(powers: Sequence[Vector], shift: Vector) -> list[Vector]:
    """The averages of powers of x + shift, from those of x: by the binomial theorem."""
    shifts = [reduce(mul, [shift] * power, _like(shift, 1.0)) for power in range(len(powers))]
    return [
        reduce(add, (_like(shift, math.comb(power, at)) * powers[at] * shifts[power - at] for at in range(power + 1)))
        for power in range(len(powers))
    ]


def _rounding(grid: Grid, power: int) -> float:
    """How far a grid may move a power of a number, by up to half a step of the number itself."""
    reach = max(abs(float(end - grid.centre)) for end in (grid.low, grid.high))
    return float((reach + float(grid.step) / 2) ** power - reach**power) if grid.exponent else 0.0
