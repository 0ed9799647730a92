"""Ranges: between which values an operation lies, given its operands' bounds; what the records of operators use.

For whole numbers they are exact. A float lies between the floats nearest to the ends: rounding keeps the order of
numbers, so a result that is rounded once lies between the rounded ends. Functions whose last bits are the engine's
affair (ln, power) are enclosed by certified balls, and then widened by far more than any engine errs. They hold for all
data: also where a column is missing that its codebook says never is.
"""

from __future__ import annotations

import datetime
import sys
from collections.abc import Callable, Sequence
from fractions import Fraction
from math import inf
from typing import Any, TypeAlias

from sfumato.exact import Extended, ball, enclose
from sfumato.query.nodes.expressions import Expression, Literal
from sfumato.query.nodes.facts import Ends
from sfumato.query.nodes.kinds import Kind

Numbers: TypeAlias = tuple[Fraction, Fraction]
Rule: TypeAlias = Callable[[tuple[Expression, ...]], Ends | None]

Ball: TypeAlias = Any
"""A ball of `sfumato.exact`: it encloses a number, and so does what is computed with it."""

GREATEST = Fraction(sys.float_info.max)
"""No float is greater, but for infinity."""

SLACK = Fraction(1, 2**46)
"""By what share an engine's functions may be off: libraries of mathematics err by some 2⁻⁵², this is 64 times more."""

TINY = Fraction(1, 2**1060)
"""The same for numbers so small that floats have few digits left."""


def numbers(part: Expression) -> Numbers | None:
    """The bounds of a numeric expression, 0 and 1 for a condition; those of a float are floats. None without bounds."""
    ends = (Fraction(0), Fraction(1)) if part.kind is Kind.BOOL else part.facts.numbers
    return as_floats(ends) if ends is not None and part.kind is Kind.FLOAT else ends


def as_floats(ends: Numbers) -> Numbers:
    """The floats nearest to the ends, the greatest ones where they are beyond all floats."""
    return nearest_float(ends[0]), nearest_float(ends[1])


def nearest_float(number: Fraction) -> Fraction:
    """The float nearest to a number; beyond all floats the greatest of its sign.

    >>> nearest_float(Fraction(-(10**400))) == -GREATEST
    True
    """
    try:
        return Fraction(float(number))
    except OverflowError:
        return GREATEST if number > 0 else -GREATEST


def corners(operate: Callable[[Fraction, Fraction], Fraction], *, floats: bool = False) -> Rule:
    """Bounds an operation of two numbers that is monotonic in each by its values at their ends; floats make floats."""

    def ends_of(parts: tuple[Expression, ...]) -> Ends | None:
        left, right = numbers(parts[0]), numbers(parts[1])
        if left is None or right is None:
            return None
        if floats or Kind.FLOAT in (parts[0].kind, parts[1].kind):
            left, right = as_floats(left), as_floats(right)
        ends = [operate(a, b) for a in left for b in right]
        return min(ends), max(ends)

    return ends_of


def monotonic(operate: Callable[[Fraction], Fraction]) -> Rule:
    """Bounds an operation that keeps the order of numbers by its values at their ends."""

    def ends_of(parts: tuple[Expression, ...]) -> Ends | None:
        ends = numbers(parts[0])
        return None if ends is None else (operate(ends[0]), operate(ends[1]))

    return ends_of


def enclosed(function: Callable[..., Ball], *points: tuple[Fraction, ...]) -> Numbers | None:
    """The floats around a function's values at some points, with room for what engines err; None unless all are finite.

    >>> enclosed(lambda value: value.log(), (Fraction(1),))
    (Fraction(0, 1), Fraction(0, 1))
    """
    balls = [enclose(lambda point=point: function(*map(ball, point))) for point in points]  # type: ignore[misc]
    low, high = min(least for least, _ in balls), max(most for _, most in balls)
    if not isinstance(low, Fraction) or not isinstance(high, Fraction):
        return None
    return as_floats((low - _slack(low), high + _slack(high)))


def _slack(end: Fraction) -> Fraction:
    return abs(end) * SLACK + TINY if end else end


def increasing(function: Callable[[Ball], Ball], least: Extended = -inf, most: Extended = inf) -> Rule:
    """Bounds a function that keeps the order of numbers by its values at their ends, moved into [least, most].

    What is not there has no value; where the function is infinite at an end, there are no bounds.
    """

    def ends_of(parts: tuple[Expression, ...]) -> Ends | None:
        ends = numbers(parts[0])
        if ends is None:
            return None
        kept = [Fraction(min(max(end, least), most)) for end in as_floats(ends)]
        return enclosed(function, *((end,) for end in kept))

    return ends_of


def moved(function: Callable[[Any], Any]) -> Rule:
    """Bounds what is made of days or times in their order, by its values at the ends; None where it has none there."""

    def ends_of(parts: tuple[Expression, ...]) -> Ends | None:
        match parts[0].facts.between:
            case (datetime.date() as first, datetime.date() as last):
                ends = function(first), function(last)
                return None if None in ends else ends
        return None

    return ends_of


def hull(parts: Sequence[Expression]) -> Ends | None:
    """The range of what is one of several values; None where one of them has no bounds."""
    given = [part for part in parts if not (isinstance(part, Literal) and part.value is None)]
    ends: list[Any] = [part.facts.between if part.kind.temporal else numbers(part) for part in given]
    known = [one for one in ends if one is not None]
    if len(known) != len(ends) or not known or len({part.kind for part in given if part.kind.temporal}) > 1:
        return None
    return min(low for low, _ in known), max(high for _, high in known)


def constant(low: int, high: int) -> Rule:
    """Builds the rule of a range that does not depend on the operands."""
    return lambda _: (Fraction(low), Fraction(high))
