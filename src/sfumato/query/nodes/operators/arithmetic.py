"""Operators on numbers."""

from __future__ import annotations

import datetime
import operator
from collections.abc import Sequence
from fractions import Fraction
from math import inf

import numpy as np

from sfumato.errors import QueryRefused
from sfumato.exact import Extended
from sfumato.query.nodes.expressions import Expression
from sfumato.query.nodes.facts import Ends
from sfumato.query.nodes.kinds import Kind
from sfumato.query.nodes.operators import released
from sfumato.query.nodes.operators.record import (
    ADDED,
    MULTIPLIED,
    Kinds,
    Operator,
    Sql,
    always_there,
    common,
    if_all,
    is_missing,
    one_of,
    register,
    same,
    sometimes,
)
from sfumato.query.nodes.ranges import constant, corners, hull, monotonic, numbers

B, I, F, T, D, M = Kind.BOOL, Kind.INT, Kind.FLOAT, Kind.TEXT, Kind.DATE, Kind.TIME  # noqa: E741
BOTH = ("this", "expression")
ALL = ("this", "expressions")


def _shifted(given: Kinds) -> Kind | None:
    """Takes two numbers, or the difference of two days."""
    return I if given == (D, D) else common(given) if common(given) in (I, F) else None


def _neg(parts: tuple[Expression, ...]) -> Ends | None:
    ends = numbers(parts[0])
    return None if ends is None else (-ends[1], -ends[0])


def _abs(parts: tuple[Expression, ...]) -> Ends | None:
    ends = numbers(parts[0])
    if ends is None:
        return None
    low, high = ends
    return (Fraction(0) if low <= 0 <= high else min(abs(low), abs(high))), max(abs(low), abs(high))


def _sub(parts: tuple[Expression, ...]) -> Ends | None:
    match parts[0].facts.between, parts[1].facts.between:
        case (datetime.date() as a, datetime.date() as b), (datetime.date() as c, datetime.date() as d):
            return Fraction((a - d).days), Fraction((b - c).days)
    return corners(operator.sub)(parts)


def _div(parts: tuple[Expression, ...]) -> Ends | None:
    divisor = numbers(parts[1])
    if divisor is None or divisor[0] <= 0 <= divisor[1]:
        return None
    return corners(operator.truediv, floats=True)(parts)


def _mod(parts: tuple[Expression, ...]) -> Ends | None:
    divisor = numbers(parts[1])
    if divisor is None:
        return None
    whole = parts[0].kind is parts[1].kind is I
    most = max(abs(divisor[0]), abs(divisor[1]), Fraction(1)) - 1 if whole else max(map(abs, divisor))
    dividend = numbers(parts[0])
    low = Fraction(0) if dividend is not None and dividend[0] >= 0 else -most
    return low, Fraction(0) if dividend is not None and dividend[1] <= 0 else most


def _int_div(parts: tuple[Expression, ...]) -> Ends | None:
    """Bounds what is left of a quotient without its fraction: no further from 0 than the dividend."""
    dividend, divisor = numbers(parts[0]), numbers(parts[1])
    if dividend is None:
        return None
    if divisor is not None and not divisor[0] <= 0 <= divisor[1]:
        return corners(lambda a, b: Fraction((a / b).__trunc__()))(parts)
    most = max(map(abs, dividend))
    return -most, most


def _least(parts: tuple[Expression, ...]) -> Ends | None:
    """Bounds the least of several: those that are never missing bound it from above."""
    given = [part for part in parts if not is_missing(part)]
    if not given or given[0].kind.temporal:
        return hull(given) if given else None
    lows, highs = zip(*map(_either, given), strict=True)
    sure = [high for part, high in zip(given, highs, strict=True) if always_there(part)]
    low, high = min(lows), min(sure) if sure else max(highs)
    return None if (low, high) == (-inf, inf) else (low, high)


def _greatest(parts: tuple[Expression, ...]) -> Ends | None:
    """Bounds the greatest of several: those that are never missing bound it from below."""
    given = [part for part in parts if not is_missing(part)]
    if not given or given[0].kind.temporal:
        return hull(given) if given else None
    lows, highs = zip(*map(_either, given), strict=True)
    sure = [low for part, low in zip(given, lows, strict=True) if always_there(part)]
    low, high = max(sure) if sure else min(lows), max(highs)
    return None if (low, high) == (-inf, inf) else (low, high)


def _either(part: Expression) -> tuple[Extended, Extended]:
    """The bounds of a number, infinite where there are none."""
    match part.facts.between:
        case (Fraction() | float() as low, Fraction() | float() as high):
            return low, high
    return -inf, inf


def _rounded(value: Fraction) -> Fraction:
    return Fraction(round(value))


def _unless_whole(kinds: Kinds, operands: Sequence[bool]) -> bool:
    return operands[0] or kinds[0] in (F, T)


def _unless_read(kinds: Kinds, operands: Sequence[bool]) -> bool:
    return operands[0] or kinds[0] is T


def _clamp(parts: tuple[Expression, ...]) -> Ends | None:
    low, high = numbers(parts[1]), numbers(parts[2])
    if low is None or high is None:
        return None
    least, most = _either(parts[0])
    return min(max(least, low[0]), high[1]), max(min(most, high[1]), low[0])


def _check_clamp(parts: Sequence[Expression]) -> None:
    low, high = parts[1].facts.numbers, parts[2].facts.numbers
    if low is None or high is None or low > high:
        raise QueryRefused("clamp takes two numbers as bounds, the lower one first.")


A_NUMBER, TWO_NUMBERS = "a number", "two numbers"
NUMERIC = one_of(I, I, F)

register(
    Operator(
        "neg", same(I, F), A_NUMBER, 1, 1, sometimes, exact=True, range=_neg,
        sql=Sql(("Neg",), sign=True), symbol="-", released=released.negated,
    ),
    Operator(
        "abs", same(I, F), A_NUMBER, 1, 1, sometimes, exact=True, range=_abs,
        sql=Sql(("Abs",)), released=released.absolute,
    ),
    Operator("sign", NUMERIC, A_NUMBER, 1, 1, range=constant(-1, 1), largest=1, sql=Sql(("Sign",))),
    Operator(
        "add", same(I, F), TWO_NUMBERS, 2, 2, sometimes, exact=True, range=corners(operator.add),
        sql=Sql(("Add",), BOTH, sign=True), infix=("+", ADDED), symbol="+", released=released.of_two(operator.add),
    ),
    Operator(
        "sub", _shifted, "two numbers, or two days", 2, 2, sometimes, exact=True, range=_sub,
        sql=Sql(("Sub",), BOTH, sign=True), infix=("-", ADDED), symbol="-", released=released.of_two(operator.sub),
    ),
    Operator(
        "mul", same(I, F), TWO_NUMBERS, 2, 2, sometimes, exact=True, range=corners(operator.mul),
        sql=Sql(("Mul",), BOTH, sign=True), infix=("*", MULTIPLIED), symbol="*",
        released=released.of_two(operator.mul),
    ),
    Operator(
        "div", lambda given: F if common(given) in (I, F) else None, TWO_NUMBERS, 2, 2, sometimes, range=_div,
        sql=Sql(("Div",), BOTH, sign=True), infix=("/", MULTIPLIED), symbol="/",
        released=released.of_two(operator.truediv),
    ),
    Operator(
        "mod", same(I, F), TWO_NUMBERS, 2, 2, sometimes, range=_mod,
        sql=Sql(("Mod",), BOTH), infix=("%", MULTIPLIED), symbol="%",
    ),
    Operator(
        "int_div", lambda given: I if given == (I, I) else None, "two whole numbers", 2, 2, sometimes, range=_int_div,
        sql=Sql(("IntDiv",), BOTH, sign=True), infix=("//", MULTIPLIED), symbol="//",
    ),
    Operator(
        "floor", NUMERIC, A_NUMBER, 1, 1, sometimes, exact=True,
        range=monotonic(lambda value: Fraction(value.__floor__())),
        sql=Sql(("Floor",)), released=released.monotonic(np.floor),
    ),
    Operator(
        "ceil", NUMERIC, A_NUMBER, 1, 1, sometimes, exact=True,
        range=monotonic(lambda value: Fraction(value.__ceil__())),
        sql=Sql(("Ceil",)), released=released.monotonic(np.ceil),
    ),
    Operator(
        "round", NUMERIC, A_NUMBER, 1, 1, sometimes, exact=True, range=monotonic(_rounded),
        released=released.monotonic(np.rint),
    ),
    Operator(
        "trunc", NUMERIC, A_NUMBER, 1, 1, sometimes, exact=True,
        range=monotonic(lambda value: Fraction(value.__trunc__())), released=released.monotonic(np.trunc),
    ),
    Operator(
        "least", same(I, F, D, M), "numbers, or days", 1, missing=if_all, range=_least,
        sql=Sql(("Least",), ALL, noted=("ignore_nulls",)), released=released.extreme(np.minimum),
    ),
    Operator(
        "greatest", same(I, F, D, M), "numbers, or days", 1, missing=if_all, range=_greatest,
        sql=Sql(("Greatest",), ALL, noted=("ignore_nulls",)), released=released.extreme(np.maximum),
    ),
    Operator(
        "clamp", same(I, F), "a number and two constants", 3, 3, range=_clamp, constants=(1, 3), check=_check_clamp,
        sql=Sql(names=("clamp",)), released=released.clamped,
    ),
    Operator(
        "to_int", one_of(I, I, F, B, T), A_NUMBER, 1, 1, _unless_whole, range=monotonic(_rounded),
        text="CAST({0} AS BIGINT)", released=released.monotonic(np.rint),
    ),
    Operator(
        "to_float", one_of(F, I, F, B, T), A_NUMBER, 1, 1, _unless_read, range=monotonic(lambda value: value),
        text="CAST({0} AS DOUBLE)", released=released.monotonic(lambda values: values),
    ),
    Operator(
        "to_bool", one_of(B, I, F, B, T), "a number or a text", 1, 1, _unless_read, text="CAST({0} AS BOOLEAN)",
    ),
)  # fmt: skip
