"""Ranges: between which values an operation lies, given its operands' bounds; what the records of operators use.

For whole numbers they are exact. A float lies between the floats nearest to the ends: rounding keeps the order of
numbers, so a result that is rounded once lies between the rounded ends. They hold for all data: also where a column is
missing that its codebook says never is.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import TypeAlias

from sfumato.query.nodes.expressions import Expression, Literal
from sfumato.query.nodes.facts import Ends
from sfumato.query.nodes.kinds import Kind

Numbers: TypeAlias = tuple[Fraction, Fraction]
Rule: TypeAlias = Callable[[tuple[Expression, ...]], Ends | None]

GREATEST = Fraction(sys.float_info.max)
"""No float is greater, but for infinity."""


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


def hull(parts: Sequence[Expression]) -> Ends | None:
    """The range of what is one of several values; None where one of them has no bounds."""
    ends = [numbers(part) for part in parts if not (isinstance(part, Literal) and part.value is None)]
    known = [one for one in ends if one is not None]
    if len(known) != len(ends) or not known:
        return None
    return min(low for low, _ in known), max(high for _, high in known)


def constant(low: int, high: int) -> Rule:
    """Builds the rule of a range that does not depend on the operands."""
    return lambda _: (Fraction(low), Fraction(high))
