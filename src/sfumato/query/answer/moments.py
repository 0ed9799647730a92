"""Where variances, covariances and correlations lie, by the noise on the sums that they are made of.

Each is the value at which a certain sum of noisy numbers is 0 but for its noise, as a ratio is; only that its weights
hang on other unknown numbers, such as the average. These are known to lie in small ranges, with a small share of the
chance to miss, and the sum changes with them in second order only: it is stationary at the exact ones. So what is held
is hardly wider than if they were known (proofs/accuracy.md#moments).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeAlias, final

import numpy as np

from sfumato.release.blurred import Blurred, Ends, Together, distinct, ratio_ends
from sfumato.release.vectors import Array, Vector

SHARE = 1 / 16
"""The share of the chance to miss that each unknown number gets."""

ROUNDS = 3
"""How often what is held bounds the weights, and these what is held."""

LEVELS, MOST_SUMS = (256, 64, 16, 4, 1), 5000
"""Weights are rounded up to the first of these numbers of levels that leaves at most this many sums to work out."""

Weigh: TypeAlias = Callable[[Vector], Sequence[Vector]]
"""From where a value lies to where the weights of all numbers do."""


@final
@dataclass(frozen=True, eq=False)
class Side:
    """One of the two numbers of each row: its blurred sum, and the furthest that a row can be from the centre.

    ``shift`` is the centre of the sum less that of the products; ``squares`` the blurred sum of squares, if any.
    """

    total: Blurred
    reach: float
    shift: float = 0.0
    squares: Blurred | None = None


def average_ends(count: Blurred, side: Side, missed: float) -> Ends:
    """Intervals for the averages of groups, less the centre."""
    most = side.reach * (1 + 1e-9)
    return ratio_ends(side.total, count, missed, (-most, most))


def variance_ends(count: Blurred, side: Side, missed: float, *, sample: bool) -> Ends:
    """Intervals for the variances of groups: of a sample (over n − 1), or of all rows (over n)."""
    if side.squares is None:
        raise TypeError(side)
    middle = _shifted(average_ends(count, side, missed * SHARE), side.shift)
    rows, average = count.values, _average(count, side)
    spread = side.squares.values - rows * average**2
    d_in = (middle - Vector.exact(average)).squared()
    line = _Line(Together((count, side.total, side.squares)), missed * (1 - SHARE))
    twice = Vector.exact(np.full(len(rows), 2.0))

    def weights(value: Vector) -> list[Vector]:
        linear = -(twice * middle)
        return [middle.squared() - value + linear * _constant(side.shift, rows), linear, _constant(1.0, rows)]

    numerator = _around(spread, rows, d_in)
    return line.solved(numerator, rows - sample, weights, (-(side.reach**2) / 8, 2 * side.reach**2 * (1 + 1e-9)))


def shared_variance_ends(bins: Sequence[Blurred], middle: Vector, missed: float, *, sample: bool) -> Ends:
    """Intervals for variances in [−1, 1], from rows shared among three bins by Bernstein's polynomials.

    The number of rows, their sum and their sum of squares are weighted sums of the bins (proofs/bernstein.md#moments),
    whose noises are independent; ``middle`` is where the averages are, but for a chance of its own.
    """
    low, between, high = (one.values for one in bins)
    rows, total, squares = low + between + high, high - low, low - between + high
    average = np.where(rows > 0, total / np.where(rows > 0, rows, 1.0), 0.0)
    spread = squares - rows * average**2

    def weights(value: Vector) -> list[Vector]:
        base, linear, one = middle.squared() - value, middle + middle, _constant(1.0, rows)
        return [base + linear + one, base - one, base - linear + one]

    line = _Line(Together(tuple(bins)), missed)
    numerator = _around(spread, rows, (middle - Vector.exact(average)).squared())
    return line.solved(numerator, rows - sample, weights, (0.0, 2 * (1 + 1e-9)))


def covariance_ends(count: Blurred, sides: tuple[Side, Side], product: Blurred, missed: float, *, sample: bool) -> Ends:
    """Intervals for the covariances of groups: of a sample (over n − 1), or of all rows (over n)."""
    rows = count.values
    middles = [_shifted(average_ends(count, side, missed * SHARE), side.shift) for side in sides]
    line = _Line(Together((count, sides[0].total, sides[1].total, product)), missed * (1 - 2 * SHARE))

    def weights(value: Vector) -> list[Vector]:
        first, second = -middles[1], -middles[0]
        shifts = first * _constant(sides[0].shift, rows) + second * _constant(sides[1].shift, rows)
        return [middles[0] * middles[1] - value + shifts, first, second, _constant(1.0, rows)]

    most = 2 * sides[0].reach * sides[1].reach * (1 + 1e-9)
    numerator = _covaried(count, sides, product, middles)
    return line.solved(numerator, rows - sample, weights, (-most, most))


def correlation_ends(
    count: Blurred, sides: tuple[Side, Side], product: Blurred, missed: float, off: Sequence[float]
) -> Ends:
    """Intervals for correlations; ``off`` is how far grids may move the covariance, and both variances."""
    rows = count.values
    middles = [_shifted(average_ends(count, side, missed * SHARE), side.shift) for side in sides]
    spreads = [variance_ends(count, side, missed * SHARE, sample=False) for side in sides]
    slope = _slope(spreads, off)
    squares = [
        _around(*_spread(count, side), (middle - Vector.exact(_average(count, side))).squared())
        for side, middle in zip(sides, middles, strict=True)
    ]
    scale = _scale(squares, slope)
    half = _constant(0.5, rows)

    def weights(value: Vector) -> list[Vector]:
        steep, flat = value * slope, value / slope
        first, second = steep * middles[0] - middles[1], flat * middles[1] - middles[0]
        own = (steep * middles[0].squared() + flat * middles[1].squared()) * half
        shifts = first * _constant(sides[0].shift, rows) + second * _constant(sides[1].shift, rows)
        return [middles[0] * middles[1] - own + shifts, first, second, _constant(1.0, rows), steep * half, flat * half]

    totals = [side.total for side in sides]
    line = _Line(
        Together((count, *totals, product, *(side.squares for side in sides if side.squares is not None))),
        missed * (1 - 4 * SHARE),
    )
    moved = 2 * np.abs(rows) * (off[0] + (slope.high * off[1] + off[2] / slope.low) / 2)
    numerator = _covaried(count, sides, product, middles)
    low, high = line.solved(numerator, scale, weights, (-1.0, 1.0), moved)
    known = np.isfinite(slope.high) & (slope.low > 0) & (rows > 0)
    return np.where(known, low, -1.0), np.where(known, high, 1.0)


@final
@dataclass(frozen=True, eq=False)
class _Line:
    """A weighted sum that is 0 but for noise at the exact value: numerator − value · denominator."""

    numbers: Together
    missed: float

    def solved(
        self,
        numerator: Vector,
        denominator: Array | Vector,
        weights: Weigh,
        domain: tuple[float, float],
        moved: Array | float = 0.0,
    ) -> Ends:
        """The values at which the sum is within the reach of its noise; all of them where the denominator may be 0."""
        under = denominator if isinstance(denominator, Vector) else Vector.exact(denominator)
        size = len(numerator.values)
        solution = Vector(np.zeros(size), np.full(size, domain[0]), np.full(size, domain[1]))
        for _ in range(ROUNDS):
            factors = np.stack([np.maximum(np.abs(one.low), np.abs(one.high)) for one in weights(solution)], axis=-1)
            factors = _coarse(np.where(np.isfinite(factors), factors, 0.0))  # where nothing is known, nothing is said
            reach = self.numbers.reach(factors, self.missed) + moved
            low, high = numerator.low - reach, numerator.high + reach
            low, high = (
                low / np.where(low < 0, under.low, under.high),
                high / np.where(high > 0, under.low, under.high),
            )
            known = (under.low > 0) & np.isfinite(low) & np.isfinite(high)
            least, most = np.clip(low, *domain), np.clip(high, *domain)
            solution = Vector(solution.values, np.where(known, least, domain[0]), np.where(known, most, domain[1]))
        return solution.low, solution.high


def _coarse(factors: Array) -> Array:
    """Rounds weights up, each to a share of the largest one of its kind: groups that are nearly alike become so.

    The more groups there are, the coarser, so that no more sums than these are worked out.
    """
    largest = np.maximum(factors.max(axis=0, initial=0.0), 1e-300)
    rounded = factors
    for levels in LEVELS:
        rounded = np.ceil(factors / largest * levels) * largest / levels
        if len(distinct(rounded)[0]) <= MOST_SUMS:
            break
    return np.asarray(rounded)


def _constant(value: float, like: Array) -> Vector:
    return Vector.exact(np.full(len(like), value))


def _shifted(ends: Ends, by: float) -> Vector:
    return Vector((ends[0] + ends[1]) / 2 + by, ends[0] + by, ends[1] + by)


def _average(count: Blurred, side: Side) -> Array:
    """The noisy average around the centre of the products; 0, which claims nothing, where no row is counted."""
    there = count.values > 0
    return np.where(there, side.total.values / np.where(there, count.values, 1.0) + side.shift, 0.0)


def _spread(count: Blurred, side: Side) -> tuple[Array, Array]:
    """The noisy sum of squares around the noisy average, and the noisy count."""
    if side.squares is None:
        raise TypeError(side)
    return side.squares.values - count.values * _average(count, side) ** 2, count.values


def _around(spread: Array, rows: Array, d_in: Vector) -> Vector:
    """Widens a sum of products by what averages off by ``d_in`` (already a square or product) add for each row."""
    more = Vector.exact(np.maximum(rows, 0.0)) * d_in
    return Vector.exact(spread) + more


def _covaried(count: Blurred, sides: tuple[Side, Side], product: Blurred, middles: Sequence[Vector]) -> Vector:
    averages = [_average(count, side) for side in sides]
    d_in = [middle - Vector.exact(average) for middle, average in zip(middles, averages, strict=True)]
    return _around(product.values - count.values * averages[0] * averages[1], count.values, d_in[0] * d_in[1])


def _slope(spreads: Sequence[Ends], off: Sequence[float]) -> Vector:
    """Intervals for the ratio of the two standard deviations, second to first."""
    (low, high), (other_low, other_high) = (
        (np.maximum(least - moved, 0.0), np.maximum(most, 0.0) + moved)
        for (least, most), moved in zip(spreads, off[1:], strict=True)
    )
    with np.errstate(divide="ignore", invalid="ignore"):
        least, most = np.sqrt(other_low / high), np.sqrt(other_high / low)
    return Vector(np.sqrt(least * most), np.nan_to_num(least, nan=0.0), np.where(np.isnan(most), np.inf, most))


def _scale(squares: Sequence[Vector], slope: Vector) -> Vector:
    """Intervals for (k · xx + yy / k) / 2 over slopes k: least where both parts are equal, greatest at an end."""
    first, second = squares
    with np.errstate(divide="ignore", invalid="ignore"):
        alike = np.sqrt(np.maximum(second.low, 0.0) / np.maximum(first.low, 0.0))
        nearest = np.clip(np.where(np.isnan(alike), slope.values, alike), slope.low, slope.high)
        least = (nearest * first.low + second.low / nearest) / 2
        most = np.maximum(*((end * first.high + second.high / end) / 2 for end in (slope.low, slope.high)))
    ok = (first.low > 0) & (second.low > 0)
    return Vector(least, np.where(ok, least, 0.0), most)
