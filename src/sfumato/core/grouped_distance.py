"""Grouped distances: how the rows in which two data sets differ are spread over the parts of a partition."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, TypeAlias, final

from sfumato.errors import BadArgument
from sfumato.exact import Number, Root, integer
from sfumato.guarantee import guarantee

Whole: TypeAlias = int | float
"""A whole number, or ``math.inf`` (the only float that is stored)."""

AnyDistance: TypeAlias = Any
"""A distance as the metric of its space gives it: a number (`exact.Distance`), or a `GroupedDistance` between parts.
The one place where distances of any kind cross: the metric says which they are. As a union every map of plain numbers
would have to prove to the type checker that it is given one."""


@guarantee(
    claim="whole numbers v ≥ 0 have L0 ≤ a, L1 ≤ b, L∞ ≤ c exactly if they have L0 ≤ min(a, b), L∞ ≤ min(b, c) and "
    "L1 ≤ min(b, L0 L∞); each of the three is then reached",
    proof="proofs/parts.md#spread",
    reviewed="337a4eec1eb8",
)
def tightened(parts: Whole, rows: Whole, largest: Whole) -> tuple[Whole, Whole, Whole]:
    """The least triple that allows the same spreads."""
    if 0 in (parts, rows, largest):
        return 0, 0, 0
    touched, most = min(parts, rows), min(largest, rows)
    return touched, rows if math.inf in (touched, most) else min(rows, touched * most), most


@guarantee(
    claim="whole numbers v ≥ 0 with sum at most L1 and none above L∞: Σ v² ≤ q L∞² + r², where L1 = q L∞ + r, "
    "reached by q + 1 of them",
    proof="proofs/parts.md#squares",
    reviewed="ffaf540baa1d",
)
def most_squares(rows: Whole, largest: Whole) -> Whole:
    """The largest sum of squares that a tightened spread allows."""
    if rows == 0 or rows == math.inf:
        return rows
    full, rest = divmod(rows, largest)
    return full * largest**2 + rest**2


@final
@dataclass(frozen=True)
class GroupedDistance:
    """How far apart two partitions are: in how many parts they differ, by how many rows in all, and most in one.

    It holds for every unit of privacy that moves part i by vᵢ rows, with at most ``parts`` of them above 0, a sum of at
    most ``rows`` and none above ``largest``; whole numbers or infinity. What cannot be reached is cut off.

    >>> GroupedDistance(9, 4, math.inf), GroupedDistance(2, math.inf, 3)
    (GroupedDistance(parts=4, rows=4, largest=4), GroupedDistance(parts=2, rows=6, largest=3))
    >>> GroupedDistance(1, 1, 1) <= GroupedDistance(3, 5, 2), GroupedDistance(3, 5, 2) <= GroupedDistance(2, 5, 5)
    (True, False)
    """

    parts: Whole
    rows: Whole
    largest: Whole

    def __post_init__(self) -> None:
        stated = tuple(_whole(value) for value in (self.parts, self.rows, self.largest))
        for name, value in zip(("parts", "rows", "largest"), tightened(*stated), strict=True):
            object.__setattr__(self, name, value)

    def __le__(self, other: GroupedDistance) -> bool:
        return self.parts <= other.parts and self.rows <= other.rows and self.largest <= other.largest

    def wider(self, other: GroupedDistance) -> GroupedDistance:
        """The least distance that allows what either of two allows."""
        return GroupedDistance(
            max(self.parts, other.parts), max(self.rows, other.rows), max(self.largest, other.largest)
        )

    @property
    def squares(self) -> Whole:
        """The largest sum of squares of the rows in each part."""
        return most_squares(self.rows, self.largest)


DistanceLike: TypeAlias = Number | Root | GroupedDistance | tuple[Number, Number, Number]
"""A distance as a person writes it: a number, or between parts a `GroupedDistance` or its three numbers."""


def _whole(value: object) -> Whole:
    if isinstance(value, float) and value == math.inf:
        return math.inf
    if isinstance(value, Fraction) and value.denominator == 1:
        value = value.numerator
    return integer(value, "each number of a spread", least=0)


def read_spread(distance: object) -> GroupedDistance:
    """Reads a grouped distance, its three numbers, or a number of rows that may fall anyhow."""
    if isinstance(distance, GroupedDistance):
        return distance
    if isinstance(distance, tuple | list):
        if len(distance) != 3:
            raise BadArgument("a grouped distance", "three numbers: parts, rows, and the largest in one part", distance)
        return GroupedDistance(*distance)
    rows = _whole(distance)
    return GroupedDistance(rows, rows, rows)
