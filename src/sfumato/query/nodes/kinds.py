"""Kinds of values that a query knows: one set for every engine, whatever the engine's own types are."""

from __future__ import annotations

import datetime
from enum import Enum
from typing import TypeAlias

Value: TypeAlias = bool | int | float | str | datetime.date | datetime.datetime | None
"""A value of a cell, as Python holds it; None is a missing one."""

LEAST_INT, MOST_INT = -(2**63), 2**63 - 1
"""Whole numbers have 64 bits: what does not fit is missing."""

LONGEST_TEXT = 1000
"""Texts are cut to this many characters (code points) when they are read."""

FIRST_DAY, LAST_DAY = datetime.date(1, 1, 1), datetime.date(9999, 12, 31)
"""Days and times lie in these years; others are missing."""


MOST_ROWS = 2**40
"""No table has more rows: sums are checked beforehand to fit for this many, and larger bounds on units say nothing."""


class Kind(Enum):
    """Says what a value is; see docs/semantics.md for what each operation makes of it."""

    BOOL = "bool"
    INT = "int"
    FLOAT = "float"
    TEXT = "text"
    DATE = "date"
    TIME = "time"
    LIST = "list"
    """Only of what is released: a histogram, or the most frequent values."""

    @property
    def numeric(self) -> bool:
        """Tells whether it can be added up."""
        return self in (Kind.INT, Kind.FLOAT)

    @property
    def temporal(self) -> bool:
        """Tells whether it is a day or a time."""
        return self in (Kind.DATE, Kind.TIME)


def kind_of(value: Value) -> Kind:
    """The kind of a value, which must not be missing; times are told from days, and booleans from numbers."""
    match value:
        case bool():
            return Kind.BOOL
        case int():
            return Kind.INT
        case float():
            return Kind.FLOAT
        case str():
            return Kind.TEXT
        case datetime.datetime():
            return Kind.TIME
        case datetime.date():
            return Kind.DATE
    raise TypeError
