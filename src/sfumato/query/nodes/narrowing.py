"""Narrowing: what conditions leave of the values of columns, where they compare them with constants.

``WHERE at >= TIMESTAMP '2024-06-01 00:00:00'`` says of every row that is left that ``at`` is there, and no earlier.
What is made of the column is then known better too: ``MONTH(at)``, ``CAST(at AS DATE)`` and ``FLOOR(x)`` have fewer
values. Nothing that a row can be is left out.
"""

from __future__ import annotations

import datetime
import math
from collections.abc import Iterable, Mapping
from dataclasses import replace
from fractions import Fraction
from typing import Any, TypeAlias

from sfumato.query.nodes.expressions import Call, Column, Expression
from sfumato.query.nodes.facts import Facts
from sfumato.query.nodes.kinds import Kind
from sfumato.query.nodes.operators import call
from sfumato.query.plan.exclusive import Said, number_of, said

Known: TypeAlias = Mapping[Column, Column]
"""Columns, each as it is known in the rows that are left."""

Number: TypeAlias = int | float
EXACT = 2**53
"""Whole numbers up to this one are floats, each another one."""

LAST_DAY = datetime.date.max.toordinal()
ENDS: dict[Kind, tuple[Any, Any]] = {
    Kind.DATE: (datetime.date.min, datetime.date.max),
    Kind.TIME: (datetime.datetime.min, datetime.datetime.max),
}
"""The first and the last day and moment that there are."""


def left_by(conditions: Iterable[Expression]) -> Known:
    """What is known of columns when all conditions are true; columns that they say nothing of are left out."""
    narrower: dict[Column, Column] = {}
    for condition in conditions:
        told = said(condition)
        column = _column(told.about)
        if column is not None and not told.missing:
            known = narrower.get(column, column)
            narrower[column] = replace(known, facts=_within(known, _ends(told, column.kind)))
    return narrower


def narrowed(made: Expression, known: Known) -> Expression:
    """Rebuilds an expression with what is known of its columns, and so of all that is made of them."""
    if not any(column in known for column in made.columns()):
        return made
    match made:
        case Column():
            return known[made]
        case Call(operator=operator, parts=parts):
            return call(operator, *(narrowed(part, known) for part in parts))
    return made


def _column(about: Expression) -> Column | None:
    """The column that is compared: itself, or by its day or its year; texts are in another order than their days."""
    match about:
        case Column() | Call(operator="to_date" | "year", parts=(Column(kind=Kind.DATE | Kind.TIME),)):
            return next(about.columns())
    return None


def _within(column: Column, ends: tuple[Any, Any]) -> Facts:
    """Narrows a column that is not missing to further ends, unless that would leave no value."""
    own: Any = column.facts.between
    least, most = ENDS.get(column.kind, (-math.inf, math.inf)) if own is None else own
    low = least if ends[0] is None else max(least, ends[0])
    high = most if ends[1] is None else min(most, ends[1])
    nothing = ends == (None, None) or low > high
    return replace(column.facts, between=own if nothing else (low, high), nullable=False)


def _ends(told: Said, kind: Kind) -> tuple[Any, Any]:
    """The ends between which a column of a kind lies, by what is said; None for an end that is not known."""
    low, high = _closed(told)
    match told.about:
        case Call(operator="year"):
            years = (low is None or low <= 9999) and (high is None or high >= 1)
            first = None if low is None or low < 1 or not years else datetime.date(int(low), 1, 1)
            final = None if high is None or high > 9999 or not years else datetime.date(int(high), 12, 31)
            return _moment(first, kind, datetime.time.min), _moment(final, kind, datetime.time.max)
        case Call(operator="to_date"):
            first, final = _value(low, Kind.DATE), _value(high, Kind.DATE)
            return _moment(first, kind, datetime.time.min), _moment(final, kind, datetime.time.max)
    return _value(low, kind), _value(high, kind)


def _closed(told: Said) -> tuple[Number | None, Number | None]:
    """The closed ends, as numbers, of all values that something can have; None for one that is not known."""
    low, high, (after, before) = told.low, told.high, told.open
    if told.of is not None:
        numbers = [number for value in told.of if (number := number_of(value)) is not None]
        if not numbers or len(numbers) < len(told.of):
            return None, None
        low, high, after, before = min(numbers), max(numbers), False, False
    return _end(low, told, 1, inside=after), _end(high, told, -1, inside=before)


def _end(end: Number, told: Said, inward: int, *, inside: bool) -> Number | None:
    """The end itself, or the next value inwards, where it is open; a whole number for whole numbers."""
    if end in (-math.inf, math.inf):
        return None
    if told.whole:
        return end + inward * inside
    if told.about.kind is Kind.FLOAT:
        return math.nextafter(end, inward * math.inf) if inside else float(end)
    if abs(end) >= EXACT:  # compared as a float, a whole number may be another one
        return None
    inner = math.ceil(end) if inward > 0 else math.floor(end)
    return inner + inward * (inside and inner == end)


def _value(number: Number | None, kind: Kind) -> Any:
    """The value of a kind that a number stands for; None where there is none."""
    if number is None or kind not in (Kind.DATE, Kind.TIME):
        return None if number is None else Fraction(number)
    if kind is Kind.DATE:
        return datetime.date.fromordinal(int(number)) if 1 <= number <= LAST_DAY else None
    moment = datetime.timedelta(microseconds=int(number))
    fits = datetime.timedelta(0) <= moment <= datetime.datetime.max - datetime.datetime.min
    return datetime.datetime.min + moment if fits else None


def _moment(day: Any, kind: Kind, time: datetime.time) -> Any:
    return day if day is None or kind is Kind.DATE else datetime.datetime.combine(day, time)
