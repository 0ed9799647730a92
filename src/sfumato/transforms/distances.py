"""Arithmetic on distances, shared by the maps of this folder: exact, and never rounded down."""

from __future__ import annotations

import math
from fractions import Fraction

from sfumato.core.metrics import AddRemove, ChangeOne, DatasetMetric, Hamming, Windows
from sfumato.errors import NoProvenRoute
from sfumato.exact import Distance, Root, rational_up, root, squared
from sfumato.guarantee import guarantee


def times(distance: Distance, factor: Fraction | Root | int) -> Distance:
    """Multiplies a distance by a constant; nothing times infinity is nothing.

    >>> times(math.inf, 0), times(root(2), root(2)), times(Fraction(3), Fraction(1, 2))
    (Fraction(0, 1), Fraction(2, 1), Fraction(3, 2))
    """
    if distance == 0 or factor == 0:
        return Fraction(0)
    if distance == math.inf:
        return math.inf
    if isinstance(factor, Root):
        return root(Fraction(squared(distance)) * factor.square)
    if isinstance(distance, Root):
        return distance * factor
    return Fraction(distance) * factor


@guarantee(
    claim="two numbers d apart, both rounded down or both to the nearest with halves up, are then at most d rounded up "
    "to a step apart",
    proof="proofs/grids.md#rounded",
    reviewed="1f33a3ef94a7",
)
def ceil_to(distance: Distance, step: Fraction) -> Distance:
    """Rounds a distance up to a whole number of steps."""
    if distance == math.inf:
        return math.inf
    if isinstance(distance, Root):
        square = math.ceil(distance.square / step**2)
        return (math.isqrt(square - 1) + 1) * step
    return math.ceil(Fraction(distance) / step) * step


@guarantee(
    claim="data sets of one size N differ in at most min(e, N) exchanged rows: e = d where d counts rows changed, "
    "floor(d / 2) where it counts rows added and removed, w d where it counts stretches of w rows",
    proof="proofs/rows.md#exchanged",
    reviewed="973e0906d5d8",
)
def exchanged_rows(d_in: Distance, *, metric: DatasetMetric, size: int) -> Fraction:
    """The most rows that can be exchanged between two data sets of one public size."""
    rows = rational_up(d_in)
    if rows == math.inf:
        return Fraction(size)
    match metric:
        case AddRemove():
            exchanged = Fraction(math.floor(rows / 2))
        case ChangeOne() | Hamming():
            exchanged = Fraction(rows)
        case Windows():
            exchanged = Fraction(rows) * metric.length
        case _:
            raise NoProvenRoute("it is not known how many rows this distance can exchange.")
    return min(exchanged, Fraction(size))
