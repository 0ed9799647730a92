"""Ranges: between which values an operation lies, given its operands' bounds.

For whole numbers they are exact. A float lies between the floats nearest to the ends: rounding keeps the order of
numbers, so a result that is rounded once lies between the rounded ends. They hold for all data: also where a column is
missing that its codebook says never is.
"""

from __future__ import annotations

import datetime
import sys
from collections.abc import Callable, Sequence
from fractions import Fraction
from math import inf, isqrt
from typing import Any, TypeAlias

from sfumato.exact import Extended
from sfumato.query.expressions import Call, Expression, Literal
from sfumato.query.facts import Ends
from sfumato.query.kinds import Kind

Numbers: TypeAlias = tuple[Fraction, Fraction]
Rule: TypeAlias = Callable[[tuple[Expression, ...]], Ends | None]


def numbers(part: Expression) -> Numbers | None:
    """Gives the bounds of a numeric expression; those of a float are floats."""
    ends = (Fraction(0), Fraction(1)) if part.kind is Kind.BOOL else part.facts.numbers
    return as_floats(ends) if ends is not None and part.kind is Kind.FLOAT else ends


def as_floats(ends: Numbers) -> Numbers:
    """Gives the floats nearest to the ends, the greatest ones where they are beyond all floats."""
    most = Fraction(sys.float_info.max)
    low, high = (Fraction(float(min(max(end, -most), most))) for end in ends)
    return low, high


def corners(operate: Callable[[Fraction, Fraction], Fraction], *, floats: bool = False) -> Rule:
    """Gives the range of an operation of two numbers that is monotonic in each; with a float both become floats."""

    def found(parts: tuple[Expression, ...]) -> Ends | None:
        left, right = numbers(parts[0]), numbers(parts[1])
        if left is None or right is None:
            return None
        if floats or Kind.FLOAT in (parts[0].kind, parts[1].kind):
            left, right = as_floats(left), as_floats(right)
        ends = [operate(a, b) for a in left for b in right]
        return min(ends), max(ends)

    return found


def monotonic(operate: Callable[[Fraction], Fraction]) -> Rule:
    """Gives the range of an operation that keeps the order of numbers."""

    def found(parts: tuple[Expression, ...]) -> Ends | None:
        ends = numbers(parts[0])
        return None if ends is None else (operate(ends[0]), operate(ends[1]))

    return found


def _abs(parts: tuple[Expression, ...]) -> Ends | None:
    ends = numbers(parts[0])
    if ends is None:
        return None
    low, high = ends
    return (Fraction(0) if low <= 0 <= high else min(abs(low), abs(high))), max(abs(low), abs(high))


def _neg(parts: tuple[Expression, ...]) -> Ends | None:
    ends = numbers(parts[0])
    return None if ends is None else (-ends[1], -ends[0])


def _sub(parts: tuple[Expression, ...]) -> Ends | None:
    match parts[0].facts.between, parts[1].facts.between:
        case (datetime.date() as a, datetime.date() as b), (datetime.date() as c, datetime.date() as d):
            return Fraction((a - d).days), Fraction((b - c).days)
    return corners(lambda left, right: left - right)(parts)


def _div(parts: tuple[Expression, ...]) -> Ends | None:
    divisor = numbers(parts[1])
    if divisor is None or divisor[0] <= 0 <= divisor[1]:
        return None
    return corners(lambda left, right: left / right, floats=True)(parts)


def _mod(parts: tuple[Expression, ...]) -> Ends | None:
    divisor = numbers(parts[1])
    if divisor is None:
        return None
    most = max(abs(divisor[0]), abs(divisor[1]), Fraction(1)) - 1
    dividend = numbers(parts[0])
    low = Fraction(0) if dividend is not None and dividend[0] >= 0 else -most
    return low, Fraction(0) if dividend is not None and dividend[1] <= 0 else most


def _sqrt(parts: tuple[Expression, ...]) -> Ends | None:
    ends = numbers(parts[0])
    if ends is None or ends[1] < 0:
        return None
    low, high = max(ends[0], Fraction(0)), ends[1]
    return Fraction(isqrt(low.__floor__())), Fraction(isqrt(high.__ceil__()) + 1)


def _least(parts: tuple[Expression, ...]) -> Ends | None:
    """Gives the range of the least of several: those that are never missing bound it from above."""
    given = [part for part in parts if not (isinstance(part, Literal) and part.value is None)]
    if not given or given[0].kind.temporal:
        return None
    highs = [_either(part)[1] for part in given]
    sure = [_either(part)[1] for part in given if _never_missing(part)]
    low, high = min(_either(part)[0] for part in given), min(sure) if sure else max(highs)
    return None if (low, high) == (-inf, inf) else (low, high)


def _greatest(parts: tuple[Expression, ...]) -> Ends | None:
    """Gives the range of the greatest of several: those that are never missing bound it from below."""
    given = [part for part in parts if not (isinstance(part, Literal) and part.value is None)]
    if not given or given[0].kind.temporal:
        return None
    lows = [_either(part)[0] for part in given]
    sure = [_either(part)[0] for part in given if _never_missing(part)]
    low, high = max(sure) if sure else min(lows), max(_either(part)[1] for part in given)
    return None if (low, high) == (-inf, inf) else (low, high)


def _never_missing(part: Expression) -> bool:
    """Tells whether a value is there whatever the data is: a codebook that says so of a column may be wrong."""
    if isinstance(part, Literal):
        return part.value is not None
    chosen = isinstance(part, Call) and part.operator in ("coalesce", "least", "greatest")
    return chosen and any(map(_never_missing, part.parts))


def _either(part: Expression) -> tuple[Extended, Extended]:
    """Gives the bounds of a number, infinite where there are none."""
    match part.facts.between:
        case (Fraction() | float() as low, Fraction() | float() as high):
            return low, high
    return -inf, inf


def _clamp(parts: tuple[Expression, ...]) -> Ends | None:
    low, high = numbers(parts[1]), numbers(parts[2])
    if low is None or high is None:
        return None
    least, most = _either(parts[0])
    return min(max(least, low[0]), high[1]), max(min(most, high[1]), low[0])


def _hull(parts: Sequence[Expression]) -> Ends | None:
    ends = [numbers(part) for part in parts if not (isinstance(part, Literal) and part.value is None)]
    known = [one for one in ends if one is not None]
    if len(known) != len(ends) or not known:
        return None
    return min(low for low, _ in known), max(high for _, high in known)


def _constant(low: int, high: int) -> Rule:
    return lambda _: (Fraction(low), Fraction(high))


def _rounded(value: Fraction) -> Fraction:
    return Fraction(round(value))


def _date(parts: tuple[Expression, ...]) -> Ends | None:
    match parts[0].facts.between:
        case (datetime.datetime() as low, datetime.datetime() as high):
            return low.date(), high.date()
        case (datetime.date() as low, datetime.date() as high):
            return low, high
    return None


def _year(parts: tuple[Expression, ...]) -> Ends | None:
    match parts[0].facts.between:
        case (datetime.date() as low, datetime.date() as high):
            return Fraction(low.year), Fraction(high.year)
    return Fraction(1), Fraction(9999)


def _part(part: Callable[[Any], int], low: int, high: int, within: Callable[[Any], object]) -> Rule:
    """Gives the range of a part of days or times: all that there is, unless both ends lie in the same stretch."""

    def found(parts: tuple[Expression, ...]) -> Ends | None:
        match parts[0].facts.between:
            case (datetime.date() as first, datetime.date() as last) if within(first) == within(last):
                return Fraction(part(first)), Fraction(part(last))
        return Fraction(low), Fraction(high)

    return found


RANGES: dict[str, Rule] = {
    "neg": _neg,
    "abs": _abs,
    "sign": _constant(-1, 1),
    "add": corners(lambda left, right: left + right),
    "sub": _sub,
    "mul": corners(lambda left, right: left * right),
    "div": _div,
    "mod": _mod,
    "floor": monotonic(lambda value: Fraction(value.__floor__())),
    "ceil": monotonic(lambda value: Fraction(value.__ceil__())),
    "round": monotonic(_rounded),
    "to_int": monotonic(_rounded),
    "to_float": monotonic(lambda value: value),
    "sqrt": _sqrt,
    "least": _least,
    "greatest": _greatest,
    "clamp": _clamp,
    "case": lambda parts: _hull((*parts[1::2], parts[-1])),
    "coalesce": _hull,
    "nullif": lambda parts: _hull(parts[:1]),
    "length": _constant(0, 1000),
    "year": _year,
    "quarter": _part(lambda at: (at.month + 2) // 3, 1, 4, lambda at: at.year),
    "month": _part(lambda at: at.month, 1, 12, lambda at: at.year),
    "day": _part(lambda at: at.day, 1, 31, lambda at: (at.year, at.month)),
    "weekday": _part(lambda at: at.isoweekday(), 1, 7, lambda at: at.isocalendar()[:2]),
    "hour": _part(lambda at: at.hour, 0, 23, lambda at: at.date()),
    "minute": _part(lambda at: at.minute, 0, 59, lambda at: (at.date(), at.hour)),
    "to_date": _date,
}
"""The range of each operator that has one."""
