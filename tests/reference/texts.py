"""Texts that stand for values, and exact identities, once more: plain Python, from docs/semantics.md."""

from __future__ import annotations

import datetime
import math
import re
from collections.abc import Hashable
from decimal import Decimal
from fractions import Fraction
from typing import Any

from sfumato.query.nodes.kinds import Kind, Value

MISSING = ("", "na", "n/a", "#n/a", "<na>", "nan", "nat", "null", "none")
TRUE, FALSE = ("true", "t", "yes", "y", "1", "1.0"), ("false", "f", "no", "n", "0", "0.0")
NUMBER = re.compile(r"[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]+)?")
DAY = re.compile(r"([0-9]{4})(?:-([0-9]{1,2})-|/([0-9]{1,2})/)([0-9]{1,2})|([0-9]{4})([0-9]{2})([0-9]{2})")
CLOCK = re.compile(r"([0-9]{1,2}):([0-9]{2})(?::([0-9]{2})(?:\.([0-9]+))?)? ?(Z|UTC|GMT|[+-][0-9]{2}(?::?[0-9]{2})?)?")


class Written(str):
    """Is a text in a column whose type is another."""

    kind: Kind

    def __new__(cls, text: str, kind: Kind) -> Written:
        made = super().__new__(cls, text)
        made.kind = kind
        return made


def read_text(text: str, kind: Kind) -> Any:
    """Gives what a text says, as exactly as Python can hold it; None where it says nothing of the kind."""
    bare = text.strip(" \t\n\r\f\v")
    if kind.numeric:
        return Fraction(bare) if NUMBER.fullmatch(bare) else None
    if kind is Kind.BOOL:
        return True if bare.lower() in TRUE else False if bare.lower() in FALSE else None
    return read_moment(bare)


def read_moment(text: str) -> datetime.datetime | None:
    """Gives the moment that a text names: a day, and perhaps a time of it, perhaps with a zone."""
    day, *rest_of_it = re.split("[ T]", text, maxsplit=1)
    clock = rest_of_it[0] if rest_of_it else ""
    found = DAY.fullmatch(day)
    if found is None:
        return None
    year, month, day_of_month = (int(part) for part in found.groups() if part is not None)
    time = CLOCK.fullmatch(clock) if clock else None
    if clock and (time is None or (found[5] is not None)):
        return None
    hour, minute, second, rest, zone = time.groups() if time else ("0", "0", None, None, None)
    try:
        moment = datetime.datetime(year, month, day_of_month, int(hour), int(minute), int(second or 0))
        moment += datetime.timedelta(microseconds=int((rest or "")[:6].ljust(6, "0")))
        return moment - offset(zone)
    except (ValueError, OverflowError):
        return None


def offset(zone: str | None) -> datetime.timedelta:
    """Gives how far a zone is ahead."""
    if zone in (None, "Z", "UTC", "GMT"):
        return datetime.timedelta()
    assert zone is not None
    digits = zone[1:].replace(":", "").ljust(4, "0")
    ahead = datetime.timedelta(hours=int(digits[:2]), minutes=int(digits[2:]))
    return -ahead if zone[0] == "-" else ahead


def identity(held: Any) -> Hashable:
    """Gives whom or what something that is held names, exactly; None where it names nobody."""
    match held:
        case Written(kind=kind):
            return named(held, kind)
        case bool() | str() | None:
            return str(held)[:] if isinstance(held, str) else held
        case float():
            return None if math.isnan(held) else held if math.isinf(held) else shortest(held)
        case int() | Decimal():
            return Fraction(held)
        case datetime.datetime():
            return held if held.tzinfo is None else held.astimezone(datetime.UTC).replace(tzinfo=None)
        case datetime.date():
            return datetime.datetime(held.year, held.month, held.day)
    raise TypeError(held)


def shortest(number: float) -> Fraction:
    """Gives a float exactly if it is a whole number, and otherwise the shortest decimal that reads back as it."""
    return Fraction(number) if number.is_integer() else Fraction(repr(number))


def named(text: Written, kind: Kind) -> Hashable:
    """Gives the exact number or moment that a text names, or the text, where it names none."""
    if text.strip(" \t\n\r\f\v").lower() in MISSING:
        return None
    fine = re.search(r"\.[0-9]{7}", text) is not None
    found: Value = None if kind.temporal and fine else read_text(text, kind)
    return str(text) if found is None else found
