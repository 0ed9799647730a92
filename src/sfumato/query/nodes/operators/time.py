"""Operators on days and times."""

from __future__ import annotations

import datetime
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any

from sfumato.errors import QueryRefused
from sfumato.query.nodes.expressions import Expression, Literal
from sfumato.query.nodes.facts import Ends
from sfumato.query.nodes.kinds import Kind
from sfumato.query.nodes.operators.record import Kinds, Operator, Result, fixed, one_of, register
from sfumato.query.nodes.ranges import Rule

I, T, D, M = Kind.INT, Kind.TEXT, Kind.DATE, Kind.TIME  # noqa: E741

TIME_UNITS = ("hour", "day", "week", "month", "quarter", "year")
"""What `date_trunc` cuts to; weeks begin on Monday."""

A_MOMENT = "a day or a time"
MOMENT = one_of(I, D, M)


def _cut_time(given: Kinds) -> Kind | None:
    """Takes a day or a time and a word."""
    return given[0] if len(given) == 2 and given[0].temporal and given[1] is T else None


def _check_unit(parts: Sequence[Expression]) -> None:
    word = parts[1]
    allowed = TIME_UNITS if parts[0].kind is M else TIME_UNITS[1:]
    if not isinstance(word, Literal) or word.value not in allowed:
        raise QueryRefused(f"date_trunc cuts to {', '.join(allowed[:-1])} or {allowed[-1]}.")


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
    """Bounds a part of days or times: by all that there is, unless both ends lie in the same stretch."""

    def bounded(parts: tuple[Expression, ...]) -> Ends | None:
        match parts[0].facts.between:
            case (datetime.date() as first, datetime.date() as last) if within(first) == within(last):
                return Fraction(part(first)), Fraction(part(last))
        return Fraction(low), Fraction(high)

    return bounded


def _extracted(
    name: str, bounded: Rule, largest: int, word: str = "", result: Result = MOMENT, takes: str = A_MOMENT
) -> Operator:
    """Makes the operator that takes a part out of a moment."""
    text = f"EXTRACT({word or name.upper()} FROM {{0}})"
    return Operator(name, result, takes, 1, 1, range=bounded, largest=largest, text=text)


TIME_OF_DAY = fixed(I, M)

register(
    _extracted("year", _year, 9999),
    _extracted("quarter", _part(lambda at: (at.month + 2) // 3, 1, 4, lambda at: at.year), 4),
    _extracted("month", _part(lambda at: at.month, 1, 12, lambda at: at.year), 12),
    _extracted("day", _part(lambda at: at.day, 1, 31, lambda at: (at.year, at.month)), 31),
    _extracted("weekday", _part(lambda at: at.isoweekday(), 1, 7, lambda at: at.isocalendar()[:2]), 7, "ISODOW"),
    _extracted("hour", _part(lambda at: at.hour, 0, 23, lambda at: at.date()), 23, "", TIME_OF_DAY, "a time"),
    _extracted(
        "minute", _part(lambda at: at.minute, 0, 59, lambda at: (at.date(), at.hour)), 59, "", TIME_OF_DAY, "a time"
    ),
    Operator(
        "date_trunc", _cut_time, "a day or a time, and a word", 2, 2, constants=(1, 2), check=_check_unit,
        text="DATE_TRUNC({1}, {0})",
    ),
    Operator("to_date", one_of(D, D, M), A_MOMENT, 1, 1, range=_date, text="CAST({0} AS DATE)"),
    Operator("to_time", one_of(M, D, M), A_MOMENT, 1, 1, text="CAST({0} AS TIMESTAMP)"),
)  # fmt: skip
