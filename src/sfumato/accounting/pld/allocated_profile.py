"""The profile of random allocation, bounded from above at many points and joined by chords.

With x the likelihood ratio, δ is E(L − x)₊ with the unit first, and E(x − L)₊ the other way round; L is the mean of the
ratios of all steps. Both grow when a ratio, or a sum of ratios, is spread out with its mean kept.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import final

import numpy as np
from flint import arb
from numpy.typing import NDArray

from sfumato.accounting.losses.piecewise_linear import Corners, lower_hull
from sfumato.accounting.pld.allocated_sums import FINE, WIDER, Ratios, low_ratios_of, ratios_of, sums_of
from sfumato.accounting.pld.lattice import BITS, profile_values
from sfumato.accounting.pld.pairs.pair import Pair
from sfumato.accounting.pld.tilted_composition import float_up
from sfumato.exact import precision
from sfumato.guarantee import guarantee

Floats = NDArray[np.float64]

FEW = 4
"""Up to so many rare ratios the ordinary ones beside them are counted exactly."""

FEW_STEPS = 64
"""Below this many steps, small ratios get a lattice of their own."""

CHUNK, DOUBT = 64, 2.0**-50
"""So many values are looked at at once; how far, relatively, a difference of three numbers may be off."""

NEGLIGIBLE = 1e-26
"""More rare ratios than have a chance of this to come up together are not listed."""

CLOSE, REACH = 72, 9.0
"""Losses are listed at this many points in a standard deviation, up to so many of them; further out more widely."""

FARTHEST, LEAST, DIGITS = 60.0, 1e-26, 36
"""No larger losses than this are looked at, no smaller δ told apart; numbers are kept with so many binary digits."""

SURE = 1e-12
"""Covers the rounding of shares of cells, and of sums of numbers that are not negative."""


@final
@dataclass(frozen=True)
class Rare:
    """Sums of a number of rare ratios: values, and how often each comes up."""

    values: Floats
    chances: Floats


NONE = Rare(np.zeros(1), np.ones(1))
"""The sum of no ratios."""


def rare_sums(ratios: Ratios, steps: int) -> list[Rare]:
    """The sums of no, one, two … rare ratios, each spread over a few values with its mean kept."""
    sums = [NONE]
    if not ratios.rare.size:
        return sums
    often = steps * math.fsum(ratios.chances)
    most = next(number for number in range(1, 10**4) if number >= steps or _together(often, number) < NEGLIGIBLE)
    sums.append(Rare(ratios.rare, ratios.chances))
    for _ in range(2, most + 1):
        values = np.add.outer(sums[-1].values, ratios.rare)
        sums.append(spread(values, np.multiply.outer(sums[-1].chances, ratios.chances), ratios.cell))
    return sums


def _together(often: float, number: int) -> float:
    return often**number / math.factorial(number)


@guarantee(
    claim="a measure whose masses are at least those of the sum, each moved to the ends of its cell with its mean kept",
    proof="proofs/allocation.md#rare",
    reviewed="3c16ff590856",
)
def spread(values: Floats, chances: Floats, cell: float) -> Rare:
    """A list of values and chances, on fewer values that reach as far on both sides."""
    places, weights = values.ravel(), chances.ravel() * WIDER
    low, high = float(np.min(places)), float(np.max(places))
    grid = low / WIDER * np.exp(np.arange(math.ceil(math.log(high / low) / cell) + 2) * cell)
    left_of = np.clip(np.searchsorted(grid, places, side="right") - 1, 0, grid.size - 2)
    share = (places - grid[left_of]) / (grid[left_of + 1] - grid[left_of])
    right = np.bincount(left_of + 1, weights * np.clip(share + SURE, 0, 1), grid.size)
    left = np.bincount(left_of, weights * np.clip(1 - share + SURE, 0, 1), grid.size)
    total: Floats = np.asarray((left + right) * WIDER, dtype=np.float64)
    return Rare(grid, total)


@final
class Allocated:
    """What there is to know about one allocation: ratios, sums of ordinary ones, sums of rare ones."""

    def __init__(self, pair: Pair, steps: int) -> None:
        self.pair, self.steps, self.ratios = pair, steps, ratios_of(pair, steps)
        self._rare = rare_sums(self.ratios, steps)
        self._low = low_ratios_of(pair, steps) if steps < FEW_STEPS else None

    @property
    def deviation(self) -> float:
        """About the standard deviation of the mean of all ordinary ratios."""
        return self.ratios.spread / math.sqrt(self.steps)

    @guarantee(
        claim="the profile of one step that the unit certainly is in, at x (sign 1) or the other way round",
        proof="proofs/allocation.md#once",
        reviewed="19292fc4153f",
    )
    def once(self, points: Floats, sign: int) -> Floats:
        """What a unit in a step that is known costs: more is never lost by not knowing."""
        with precision(BITS):
            lines = self.pair.lines() if sign > 0 else self.pair.reversed().lines()
            ratios = [arb(point) if sign > 0 else 1 / arb(point) for point in points.tolist()]
            heights = profile_values([lines(ratio.log()) for ratio in ratios], ratios)
            return np.array(
                [
                    float_up(height if sign > 0 else height / ratio)
                    for height, ratio in zip(heights, ratios, strict=True)
                ]
            )

    @guarantee(
        claim="the other way round, at most 1: x times the chance that no ratio reaches T x, to the power of T",
        proof="proofs/allocation.md#low",
        reviewed="fbf4dbe4de94",
    )
    def all_low(self, points: Floats) -> Floats:
        """What small x allow: a mean of ratios is below x only where each of them is below T x."""
        with precision(BITS):
            lines = self.pair.lines()
            tests = [lines((arb(point) * self.steps * WIDER).log()) for point in points.tolist()]
            return np.array(
                [
                    float_up(arb(point) * (1 - test.there).nonnegative_part() ** self.steps)
                    for point, test in zip(points.tolist(), tests, strict=True)
                ]
            )

    @guarantee(
        claim="C(T, n) times the sums of n rare ratios; beyond a few, one ordinary more for each, less its mean",
        proof="proofs/allocation.md#profile",
        reviewed="fcc98c3551a1",
    )
    def counted(self, sign: int) -> dict[int, list[Rare]]:
        """Sums of rare ratios, and how often each comes up, by how many ordinary ones there are beside them.

        Where there are more than a few rare ones, an ordinary one is added for each further one, less its mean.
        """
        counted: dict[int, list[Rare]] = {}
        mean = self.ratios.mean[0 if sign > 0 else 1]
        for number, rare in enumerate(self._rare):
            spared = max(0, number - FEW)
            ways = float(math.comb(self.steps, number)) * self.ratios.ordinary[0] ** -spared * WIDER
            part = Rare(rare.values - spared * mean, rare.chances * ways)
            counted.setdefault(self.steps - number + spared, []).append(part)
        return counted

    @guarantee(
        claim="at least E(L - x)+ (sign 1) or E(x - L)+ (sign -1): sums over how many ratios are rare, and a bound of "
        "what more of them can add",
        proof="proofs/allocation.md#profile",
        reviewed="339bf4ec2566",
    )
    def bounds(self, points: Floats, sign: int) -> Floats:
        """Bounds of the profile at points x of at least 1, or the other way round, at most 1."""
        whole, total = self.steps * points, np.zeros(points.size)
        ratios, counted = self.ratios, self.counted(sign)
        if sign < 0 and self._low is not None:
            ratios, counted = self._low, {self.steps: [NONE]}
        sums = sums_of(ratios, list(counted), sign=sign)
        for count, parts in counted.items():
            rare = parts[0] if len(parts) == 1 else merged(parts, ratios.cell)
            last = rare.values.size if sign > 0 else _within(rare, self.steps)
            for start in range(0, last, CHUNK):
                values = rare.values[start : min(start + CHUNK, last), np.newaxis]
                chances = rare.chances[start : min(start + CHUNK, last), np.newaxis]
                heights = sums[count].at(sign * (whole - values), DOUBT * (whole + values))
                total += np.sum(chances * heights, axis=0)
        number = len(self._rare) - 1
        often = self.steps * math.fsum(self.ratios.chances) * WIDER
        more = _together(often, number) * WIDER if often and number < self.steps else 0.0
        rest = more + self.ratios.lost if sign > 0 else more * points
        bounds: Floats = (total / self.steps * (1 + SURE) + rest) * WIDER
        return bounds


def merged(parts: list[Rare], cell: float) -> Rare:
    """Several lists as one."""
    values, chances = (np.concatenate([getattr(part, name) for part in parts]) for name in ("values", "chances"))
    return spread(values, chances, cell)


def _within(rare: Rare, most: float) -> int:
    """How many values of a list are not above a number."""
    return int(np.searchsorted(rare.values, most * WIDER, side="right"))


def losses(allocated: Allocated, sign: int) -> tuple[Floats, Floats]:
    """Ratios at which the profile is worked out, from 1 on to one side, with its bounds; these fall, and end low."""
    widest = max(1 / CLOSE, allocated.ratios.cell)
    step = min(widest, allocated.deviation / CLOSE)
    near = min(REACH * allocated.deviation, FARTHEST)
    away = [step * place for place in range(math.ceil(near / step) + 1)]
    while away[-1] < FARTHEST:
        away.append(away[-1] + min(widest, max(step, (away[-1] - near) / FINE)))
    ratios = short(np.exp(sign * np.array(away)))
    heights = np.minimum(allocated.bounds(ratios, sign), allocated.once(ratios, sign))
    if sign < 0:
        heights = np.minimum(heights, allocated.all_low(ratios))
    falling = np.minimum.accumulate(heights)
    kept = int(np.argmax(falling <= max(float(falling[-1]) * WIDER, LEAST))) + 1
    return ratios[:kept], short(falling[:kept])


def short(values: Floats) -> Floats:
    """Numbers of few digits that are not below others."""
    mantissas, exponents = np.frexp(values)
    rounded: Floats = np.ldexp(np.ceil(mantissas * 2.0**DIGITS), exponents - DIGITS)
    return rounded


@lru_cache(maxsize=32)
@guarantee(
    claim="corners of a convex, falling function that is at least the profile of the allocation everywhere",
    proof="proofs/allocation.md#profile",
    reviewed="7c71cc3f5ab2",
)
def allocated_corners(pair: Pair, steps: int) -> Corners:
    """The corners (x, δ) of a bound of the profile from (0, 1) to the last finite ratio, beyond which it is level."""
    allocated = Allocated(pair, steps)
    above, below = losses(allocated, 1), losses(allocated, -1)
    corners = [(Fraction(x), Fraction(y)) for x, y in zip(*map(np.ndarray.tolist, above), strict=True)]
    for x, y in zip(*map(np.ndarray.tolist, below), strict=True):
        corners.append((Fraction(x), min(Fraction(1), 1 - Fraction(x) + Fraction(y))))
    return lower_hull([(Fraction(0), Fraction(1)), *corners])
