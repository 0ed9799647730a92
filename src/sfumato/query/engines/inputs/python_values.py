"""Values of Python as texts, for the codebook's types to read one by one: nothing is inferred from the others."""

from __future__ import annotations

import datetime
import math
import uuid
from decimal import Decimal
from typing import Any

import numpy as np

UNREADABLE = "\0\0"
"""What a text begins with that stands for a value no text can hold. By itself it is a value that nobody can name."""

MOST_DIGITS = 4000
"""Whole numbers of more digits are written in base 16, which is quick; none of them fits into any column."""


def text_of(value: Any) -> str | None:
    """A value as a text that is another one for another value, None where it is missing.

    Numbers are written exactly: whole ones in full, other floats so that they read back. A text with half characters,
    or one that could be mistaken for the mark, is written in base 16 behind the mark; so is what JSON nests.

    >>> text_of(2**70), text_of(2.0), text_of(0.1), text_of(True), text_of(float("nan"))
    ('1180591620717411303424', '2', '0.1', 'true', None)
    """
    if type(value) is str:
        return _stored(value)
    if value is None:
        return None
    try:
        return _text(value)
    except Exception:  # whatever a strange object does, it is one unreadable value
        return UNREADABLE


def _text(value: Any) -> str | None:
    match value:
        case str():
            return _stored(str(value))
        case np.datetime64() | np.timedelta64():
            return None if np.isnat(value) else str(value)
        case np.generic():
            return text_of(value.item()) if type(value.item()) is not type(value) else UNREADABLE
        case bool():
            return "true" if value else "false"
        case int():
            whole = int(value)
            return str(whole) if whole.bit_length() < 3 * MOST_DIGITS else hex(whole)
        case float():
            if math.isnan(value):
                return None
            return str(int(value)) if value.is_integer() else repr(float(value))
        case Decimal():
            return None if value.is_nan() else str(value)
        case datetime.datetime() | datetime.date():
            return None if value != value else value.isoformat()  # NaT is not itself
        case datetime.time():
            return value.isoformat()
        case uuid.UUID():
            return str(value)
        case dict() | list():
            return UNREADABLE + repr(value).encode("utf-8", "surrogatepass").hex()
    if type(value).__module__.partition(".")[0] == "pandas" and type(value).__name__ in ("Period", "Interval"):
        return str(value)
    return None if type(value).__name__ == "NAType" else UNREADABLE


def _stored(text: str) -> str:
    try:
        text.encode()
    except UnicodeEncodeError:
        return UNREADABLE + text.encode("utf-8", "surrogatepass").hex()
    return UNREADABLE + text.encode().hex() if text.startswith(UNREADABLE) else text
