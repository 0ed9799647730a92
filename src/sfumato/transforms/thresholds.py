"""Counting rows on either side of public points: the arithmetic under quantile, revenue and threshold scores.

A point that a person types is compared with data in the data's own terms: with floats as the nearest float (so that a
value typed as 1.01 equals a point typed as 1.01), with whole numbers of steps exactly.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import final

import numpy as np

from sfumato.core.domains import Array, Atom, Data, Floats, Integers, column
from sfumato.errors import BadArgument, elements
from sfumato.exact import Number, rational

INT64 = np.iinfo(np.int64)


@final
@dataclass(frozen=True, eq=False)
class Cutoffs:
    """Holds public points in increasing order: for each, the least stored values that are at it, and beyond it."""

    element: Floats | Integers
    order: Array
    at: Array
    beyond: Array

    @classmethod
    def of(cls, points: Sequence[Fraction], element: Atom, *, verb: str) -> Cutoffs:
        """Reads distinct points in the terms of a column's values, or says why that cannot be done."""
        if isinstance(element, Floats) and not element.nan:
            at = _nearest_floats(points, verb)
            beyond = np.nextafter(at, math.inf)
        elif isinstance(element, Integers):
            at = _whole([math.ceil(point / element.step) for point in points])
            beyond = _whole([math.floor(point / element.step) + 1 for point in points])
        else:
            raise BadArgument(f"what {verb}() works on", "numbers without NaN (impute or drop NaN first)", str(element))
        order = np.argsort(np.array(points, dtype=object), kind="stable")
        return cls(element, order, at[order], beyond[order])

    def values(self, data: Data) -> Array:
        """Reads a member as an array that can be compared with the points."""
        values = column(data, self.element)
        return values.astype(object) if self.at.dtype == object or self.beyond.dtype == object else values

    def reached(self, values: Array) -> Array:
        """Counts, for each point in the order it was given, the values at or beyond it."""
        return self._in_given_order(_count_from(self.at, values))

    def passed(self, values: Array) -> Array:
        """Counts, for each point in the order it was given, the values strictly beyond it."""
        return self._in_given_order(_count_from(self.beyond, values))

    def _in_given_order(self, counts: Array) -> Array:
        restored = np.empty(len(counts), dtype=np.int64)
        restored[self.order] = counts
        return restored


def read_points(points: Sequence[Number], name: str) -> tuple[Fraction, ...]:
    """Reads a public list of distinct numbers; refuses an empty list and repeats."""
    if isinstance(points, str) or not hasattr(points, "__len__") or not hasattr(points, "__iter__"):
        raise BadArgument(name, "a list of numbers", points)
    with elements():
        fractions = tuple(rational(point, f"each of the {name}") for point in points)
    if not fractions:
        raise BadArgument(name, "at least one number", points)
    if len(set(fractions)) < len(fractions):
        raise BadArgument(name, "distinct: one that is listed twice is twice as likely to be chosen", points)
    return fractions


def _count_from(cuts: Array, values: Array) -> Array:
    """Counts the values at or above each of some increasing cuts, in one pass over the values."""
    places = np.searchsorted(cuts, values, side="right")
    return len(values) - np.cumsum(np.bincount(places, minlength=len(cuts) + 1))[: len(cuts)]


def _nearest_floats(points: Sequence[Fraction], verb: str) -> Array:
    try:
        nearest = np.array([float(point) for point in points])
    except OverflowError:
        raise BadArgument(f"the points of {verb}()", "within the range of floats", "larger ones") from None
    if len(np.unique(nearest)) < len(nearest):
        raise BadArgument(f"the points of {verb}()", "distinct as floats", "two that round to the same float")
    return nearest


def _whole(numbers: list[int]) -> Array:
    wide = any(not INT64.min <= number <= INT64.max for number in numbers)
    return np.array(numbers, dtype=object if wide else np.int64)
