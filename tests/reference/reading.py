"""Reading a table, once more: each value is moved into its column's domain (docs/semantics.md)."""

from __future__ import annotations

import datetime
import math
from decimal import Decimal
from fractions import Fraction
from typing import Any

from tests.reference.texts import Written, read_text

from sfumato.query.nodes.expressions import Column
from sfumato.query.nodes.kinds import LONGEST_TEXT, Kind, Value


def read(held: Any, column: Column) -> Value:
    """Gives the value of a column that a table holds something in."""
    value = of_kind(held, column.kind)
    if value is None:
        return None
    if column.facts.keys is not None:
        return value if value in column.facts.keys else None
    return within(value, column)


def of_kind(held: Any, kind: Kind) -> Value:
    """Gives what is held as a value of a kind, missing where it is none."""
    if isinstance(held, Written) and kind is not Kind.TEXT:
        held = read_text(held, kind)
    match kind:
        case Kind.INT:
            return whole(held)
        case Kind.FLOAT:
            return real(held)
        case Kind.BOOL:
            return held if isinstance(held, bool) else None
        case Kind.TEXT:
            return held[:LONGEST_TEXT] if isinstance(held, str) else None
        case Kind.DATE:
            return day(held) if isinstance(held, datetime.date) else None
        case Kind.TIME:
            return moment(held) if isinstance(held, datetime.date) else None
    raise TypeError(kind)


def is_number(held: Any) -> bool:
    """Tells whether something is a finite number."""
    if isinstance(held, Fraction):
        return True
    return isinstance(held, int | float | Decimal) and not isinstance(held, bool) and math.isfinite(held)


def whole(held: Any) -> int | None:
    """Gives a number as a whole one of 64 bits: halves go to the even neighbour."""
    if not is_number(held):
        return None
    rounded = round(Fraction(held))
    return rounded if -(2**63) <= rounded < 2**63 else None


def real(held: Any) -> float | None:
    """Gives a number as a float without a signed zero."""
    try:
        return float(held) + 0.0 if is_number(held) else None
    except OverflowError:
        return None


def day(held: datetime.date) -> datetime.date:
    """Gives the day of a moment, in UTC where it has a zone."""
    return in_utc(held).date() if isinstance(held, datetime.datetime) else held


def moment(held: datetime.date) -> datetime.datetime:
    """Gives a time, of a day its midnight."""
    return in_utc(held) if isinstance(held, datetime.datetime) else datetime.datetime(held.year, held.month, held.day)


def in_utc(held: datetime.datetime) -> datetime.datetime:
    """Gives a time without a zone, in UTC where it had one."""
    return held if held.tzinfo is None else held.astimezone(datetime.UTC).replace(tzinfo=None)


def within(value: Any, column: Column) -> Value:
    """Gives a value inside the bounds of its column: numbers are clamped, days and times outside are missing."""
    ends: Any = column.facts.between
    if ends is None:
        return value  # type: ignore[no-any-return]
    low, high = ends
    if column.kind is Kind.INT:
        return max(value, math.ceil(low)) if value < low else min(value, math.floor(high)) if value > high else value
    if column.kind is Kind.FLOAT:
        return min(max(value, float(low)), float(high)) + 0.0
    return value if low <= value <= high else None
