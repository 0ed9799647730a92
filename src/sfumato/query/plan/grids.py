"""Grids: numbers as whole steps, the same in every engine, so that sums are exact in any order."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import final

from sfumato.errors import QueryRefused

SUM_BITS = 32
"""A number of a sum has at most about 2³² steps: rounding to the grid is far below any noise."""

SQUARE_BITS = 20
"""The bits of a number that is squared or multiplied before it is added up: it has at most about 2²⁰ steps."""

FOURTH_BITS = 15
"""The bits of a number that is raised to the fourth power: 60 bits in all, as those of a cube of `SQUARE_BITS`."""

COUNT_BITS = 20
"""A row counts as 2²⁰ steps, where units are scaled down: what rounding takes away is a millionth of a row a unit."""


@final
@dataclass(frozen=True)
class Grid:
    """Puts a number on a grid: clamped to [low, high], less ``centre``, times 2 to the ``exponent``, rounded.

    Halves go to the even neighbour. For whole numbers the ends and the centre are ints and the exponent is 0; for
    floats all three are floats and every step is one operation of IEEE doubles, so that all engines agree.
    """

    low: int | float
    high: int | float
    centre: int | float
    exponent: int = 0

    def steps(self, value: float) -> int:
        """Rounds a value to whole steps, exactly as every engine must."""
        kept = min(max(value, self.low), self.high) - self.centre
        return kept if isinstance(kept, int) else round(kept * 2.0**self.exponent)

    @property
    def ends(self) -> tuple[int, int]:
        """The least and the greatest number of steps: each operation keeps the order of values."""
        return self.steps(self.low), self.steps(self.high)

    @property
    def step(self) -> Fraction:
        """What one step stands for."""
        return Fraction(2) ** -self.exponent


def whole_grid(between: tuple[Fraction, Fraction], *, centred: bool, bits: int) -> Grid | None:
    """The grid of whole numbers, which is exact; None where they are too large for it."""
    low, high = math.ceil(between[0]), math.floor(between[1])
    if low > high:
        raise QueryRefused(f"there is no whole number between {between[0]} and {between[1]}.")
    centre = (low + high) // 2 if centred else 0
    return Grid(low, high, centre) if max(abs(low - centre), abs(high - centre)) <= 1 << bits else None


def float_grid(between: tuple[Fraction, Fraction], *, centred: bool, bits: int) -> Grid:
    """A grid for floats, as fine as ``bits`` allow."""
    try:
        low, high = float(between[0]), float(between[1])
    except OverflowError:
        raise QueryRefused("these bounds are beyond what floats can hold: give narrower ones.") from None
    centre = low / 2 + high / 2 if centred else 0.0
    most = max(abs(low - centre), abs(high - centre))
    exponent = bits - math.frexp(most)[1] if most else 0
    if not -900 <= exponent <= 900:
        raise QueryRefused("these bounds are too wide or too narrow to be put on a grid: give others.")
    return Grid(low, high, centre, exponent)
