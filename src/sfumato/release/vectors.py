"""Released numbers with their intervals, group by group: what post-processing computes with.

Each carries, cell by cell, a value and an interval that holds with the stated confidence. Sums, products and quotients
of intervals contain every value that their parts can have, so a result's interval holds whenever those of its parts do.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias, final

import numpy as np
from numpy.typing import NDArray

Array: TypeAlias = NDArray[Any]


@final
@dataclass(frozen=True, eq=False)
class Vector:
    """One number for each group: values, and where the exact ones lie. NaN stands for no answer.

    ``whole`` says that the values are whole numbers; they may then be Python's, where 64 bits do not do.
    """

    values: Array
    low: Array
    high: Array
    whole: bool = False

    def __post_init__(self) -> None:
        """Reads an end that cannot be computed (∞ − ∞, the root of −∞) as infinite: nothing is known there."""
        object.__setattr__(self, "low", np.where(np.isnan(self.low), -np.inf, self.low))
        object.__setattr__(self, "high", np.where(np.isnan(self.high), np.inf, self.high))

    @staticmethod
    def exact(values: Array, *, whole: bool = False) -> Vector:
        """Numbers that are known exactly."""
        return Vector(values, _floats(values), _floats(values), whole)

    @staticmethod
    def near(values: Array, width: float, *, whole: bool = False) -> Vector:
        """Numbers that are off by no more than a width."""
        middle = _floats(values)
        return Vector(values, middle - width, middle + width, whole)

    @property
    def floats(self) -> Array:
        return _floats(self.values)

    def __add__(self, other: Vector) -> Vector:
        whole = self.whole and other.whole
        values = exact_sum(self.values, other.values) if whole else self.floats + other.floats
        return Vector(values, self.low + other.low, self.high + other.high, whole)

    def __neg__(self) -> Vector:
        return Vector(-self.values, -self.high, -self.low, self.whole)

    def __sub__(self, other: Vector) -> Vector:
        return self + (-other)

    def __mul__(self, other: Vector) -> Vector:
        ends = [a * b for a in (self.low, self.high) for b in (other.low, other.high)]
        return _from_ends(self.floats * other.floats, ends)

    def __truediv__(self, other: Vector) -> Vector:
        """Divides; where the divisor's interval holds 0 the quotient may be anything."""
        divisor = np.where(other.floats == 0, np.nan, other.floats)
        ends = [a / b for a in (self.low, self.high) for b in (other.low, other.high)]
        quotient = _from_ends(self.floats / divisor, ends)
        around = (other.low <= 0) & (other.high >= 0)
        low, high = np.where(around, -np.inf, quotient.low), np.where(around, np.inf, quotient.high)
        return Vector(quotient.values, low, high)

    def squared(self) -> Vector:
        """Multiplies by itself, which is never below 0."""
        square = self * self
        across = (self.low <= 0) & (self.high >= 0)
        return Vector(square.values, np.where(across, 0.0, np.maximum(square.low, 0.0)), square.high)

    def within(self, low: float | Array, high: float | Array) -> Vector:
        """Moves values and intervals to where the exact value must lie anyway."""
        values, least, most = (np.clip(part, low, high) for part in (self.floats, self.low, self.high))
        return Vector(values, least, most)

    def widened(self, by: float) -> Vector:
        """Makes intervals wider on both sides."""
        return Vector(self.values, self.low - by, self.high + by, self.whole)

    def rounded(self) -> Vector:
        """Rounds values to whole numbers; the intervals are about the exact ones: they stay, but hold what is shown."""
        near = np.rint(self.floats)
        large = not np.isfinite(near).all() or (len(near) > 0 and float(np.abs(near).max()) >= 2.0**62)
        low, high = np.minimum(self.low, near), np.maximum(self.high, near)
        return self if large else Vector(near.astype(np.int64), low, high, whole=True)

    def monotonic(self, function: Callable[[Array], Array]) -> Vector:
        """Applies a function that keeps the order of numbers."""
        return Vector(function(self.floats), function(self.low), function(self.high))


def exact_sum(left: Array, right: Array) -> Array:
    """Adds whole numbers, in Python's where 64 bits may not do."""
    wide = left.dtype == object or right.dtype == object
    large = 0 if wide else max((int(np.abs(part).max()) for part in (left, right) if len(part)), default=0)
    total: Array = left.astype(object) + right.astype(object) if wide or large >= 1 << 61 else left + right
    return total


def _floats(values: Array) -> Array:
    return np.asarray(values, dtype=np.float64)


def _from_ends(values: Array, ends: Sequence[Array]) -> Vector:
    unknown = np.isnan(np.stack(ends)).any(axis=0)  # 0 · ∞ may be anything
    low, high = np.minimum.reduce(ends), np.maximum.reduce(ends)
    return Vector(values, np.where(unknown, -np.inf, low), np.where(unknown, np.inf, high))
