"""Numbers with bounds as whole numbers of steps, row by row, and their exact totals.

A float is put on a grid of power-of-two steps *inside* its exact bounds before anything is added up. That is a function
of one row, so it moves no neighbours apart; and what is added are integers, so order, rounding and overflow cannot
matter.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import final

import numpy as np

from sfumato.core.domains import Array, Atom, Bounds, Data, Floats, Integers, column
from sfumato.errors import BadArgument, UnboundedColumn
from sfumato.exact import power_of_two
from sfumato.guarantee import guarantee

FINENESS = 40
"""Floats are put on a grid of about 2⁻⁴⁰ of the width of their bounds, far below any noise."""

PIECE = 1 << 30
"""Rows added up in 64 bits at a time; a piece of numbers below 2³² cannot overflow."""

INT64 = np.iinfo(np.int64)


@final
@dataclass(frozen=True)
class RowGrid:
    """The whole numbers ``low`` … ``high`` of a step, all of them within exact bounds."""

    element: Floats | Integers
    step: Fraction
    low: int
    high: int

    @property
    def span(self) -> int:
        """The largest offset from ``low``."""
        return self.high - self.low

    def offsets(self, data: Data) -> Array:
        """Offset of each value from ``low``, in 0 … span; 64-bit where that is certain to fit."""
        values = column(data, self.element)
        if isinstance(self.element, Floats):
            return self._float_offsets(values)
        if values.dtype == object or not (self.span < 2**62 and INT64.min <= self.low and self.high <= INT64.max):
            return values.astype(object) - self.low
        return values - self.low

    def _float_offsets(self, values: Array) -> Array:
        if self.span == 0:
            return np.zeros(values.shape, dtype=np.int64)
        if max(abs(self.low), abs(self.high)) >= 2**61:
            low, high, step = self.low, self.high, self.step
            wholes = [round(Fraction(value) / step) for value in values.tolist()]
            return np.array([min(max(whole, low), high) - low for whole in wholes], dtype=np.int64)
        exponent = self.step.numerator.bit_length() - self.step.denominator.bit_length()
        nearest = np.rint(np.ldexp(values, -exponent)).astype(np.int64)
        return np.clip(nearest, self.low, self.high) - self.low


def row_grid(element: Atom, verb: str, *, fineness: int = FINENESS) -> RowGrid:
    """Works out the grid for bounded numbers from their public bounds alone."""
    if not isinstance(element, Floats | Integers):
        raise BadArgument(f"what {verb}() works on", "numbers", str(element))
    if element.between is None:
        raise UnboundedColumn(verb)
    if isinstance(element, Floats) and element.nan:
        raise BadArgument(f"what {verb}() works on", "numbers without NaN (impute_nan or drop_nan first)", str(element))
    bounds = element.between
    if isinstance(element, Integers):
        step = element.step
    elif bounds.width == 0:
        step = abs(bounds.lower) or Fraction(1)
    else:
        step = power_of_two(bounds.width) / 2**fineness
    return RowGrid(element, step, *inside(bounds, step))


@guarantee(
    claim="every whole number of steps from low to high stands for a value within the exact bounds",
    proof="proofs/grids.md#inside",
    reviewed="009096f5b2af",
)
def inside(bounds: Bounds, step: Fraction) -> tuple[int, int]:
    """The least and the greatest whole number of steps within exact bounds."""
    low, high = math.ceil(bounds.lower / step), math.floor(bounds.upper / step)
    if low > high:
        raise BadArgument("bounds", "wide enough to hold a whole number of steps", str(bounds))
    return low, high


@guarantee(
    claim="the sum of whole numbers in 0 … most, as an unbounded integer",
    proof="proofs/grids.md#total",
    reviewed="13de012f3836",
)
def exact_total(offsets: Array, *, most: int) -> int:
    """Adds up non-negative whole numbers without overflow, whatever their number."""
    if offsets.dtype == object:
        return sum(map(int, offsets), 0)
    if most * len(offsets) < 2**63:
        return int(offsets.sum())
    high = sum(int((piece >> 31).sum()) for piece in _pieces(offsets))
    low = sum(int((piece & (2**31 - 1)).sum()) for piece in _pieces(offsets))
    return (high << 31) + low


@guarantee(
    claim="the sum of squares of whole numbers in 0 … most, as an unbounded integer",
    proof="proofs/grids.md#total",
    reviewed="f43707963c9d",
)
def exact_square_total(offsets: Array, *, most: int) -> int:
    """Adds up the squares of non-negative whole numbers without overflow, whatever their number."""
    if offsets.dtype == object or most >= 2**32:
        return sum((int(value) ** 2 for value in offsets.tolist()), 0)
    if most**2 * len(offsets) < 2**63:
        return int(np.dot(offsets, offsets))
    total = 0
    for piece in _pieces(offsets):
        high, low = piece >> 16, piece & (2**16 - 1)
        total += (int(np.dot(high, high)) << 32) + (int(np.dot(high, low)) << 17) + int(np.dot(low, low))
    return total


def _pieces(offsets: Array) -> Iterator[Array]:
    for start in range(0, len(offsets), PIECE):
        yield offsets[start : start + PIECE]
