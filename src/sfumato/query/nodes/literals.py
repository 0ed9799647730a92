"""Literals: values that people write or bind as parameters, checked and put into one form."""

from __future__ import annotations

import datetime
import math
from decimal import Decimal
from fractions import Fraction

import numpy as np

from sfumato.errors import BadArgument
from sfumato.query.nodes.expressions import Literal
from sfumato.query.nodes.kinds import LEAST_INT, LONGEST_TEXT, MOST_INT, Kind, Value, kind_of


def value_of(given: object, what: str = "a constant") -> Value:
    """Reads a value into its plain form: NumPy's and pandas' become Python's, −0.0 becomes 0.0, times lose their zone.

    >>> value_of(-0.0), value_of("a")
    (0.0, 'a')
    """
    match _plain(given):
        case None | bool() as value:
            return value
        case int() as whole if LEAST_INT <= whole <= MOST_INT:
            return int(whole)
        case float() as number if math.isfinite(number):
            return float(number) + 0.0
        case str() as text if len(text) <= LONGEST_TEXT and not halved(text):
            return str(text)
        case datetime.datetime() as time if time == time:  # pandas has a time that is none
            return _without_zone(time)
        case datetime.date() as day if day == day:
            return datetime.date(day.year, day.month, day.day)
    raise BadArgument(
        what,
        "a truth value, a whole number of 64 bits, a finite number, a text of at most 1,000 characters, a date, "
        "a datetime or None",
        "a text with half a character (a lone surrogate)" if isinstance(given, str) and halved(given) else given,
    )


def halved(text: str) -> bool:
    """Tells whether a text holds a lone surrogate, which UTF-8 has no bytes for, so that no table holds it."""
    return not text.isascii() and any("\ud800" <= sign <= "\udfff" for sign in text)


def literal(given: object) -> Literal:
    """Reads a constant; a missing one takes the kind of what stands beside it when an operation is made."""
    value = value_of(given)
    return Literal(value, Kind.BOOL if value is None else kind_of(value))


def _plain(given: object) -> object:
    """Converts to what Python itself would hold; what cannot be one of its finite numbers becomes an infinite one."""
    match given:
        case Decimal():
            whole = not given.is_nan() and abs(given) <= MOST_INT and given == given.to_integral_value()
            return int(given) if whole else math.nan if given.is_nan() else float(given)
        case Fraction():
            return given.numerator if given.denominator == 1 else float(given) if abs(given) <= MOST_INT else math.inf
        case np.datetime64():
            item = given.item()
            return given.astype("datetime64[us]").item() if isinstance(item, int) else item  # it counts nanoseconds
        case np.generic():
            return given.item()
    return given


def _without_zone(time: datetime.datetime) -> datetime.datetime:
    moved = time if time.tzinfo is None else time.astimezone(datetime.UTC)
    return datetime.datetime.combine(moved.date(), moved.time())
