"""Values as a table of a session would read them: kinds of values, what is missing, days and moments as numbers."""

from __future__ import annotations

import datetime
import math
from typing import TYPE_CHECKING

import numpy as np

from sfumato.dp.reading import is_missing
from sfumato.query.nodes.kinds import LEAST_INT, LONGEST_TEXT, MOST_INT, Kind, Value

if TYPE_CHECKING:
    import pyarrow as pa

EPOCH = datetime.datetime(1970, 1, 1)
MICROSECOND, DAY = datetime.timedelta(microseconds=1), datetime.timedelta(1)


def arrow_type(kind: Kind) -> pa.DataType:
    """The type of Arrow that holds a kind of values."""
    import pyarrow as pa

    types = {
        Kind.BOOL: pa.bool_(),
        Kind.INT: pa.int64(),
        Kind.FLOAT: pa.float64(),
        Kind.TEXT: pa.string(),
        Kind.DATE: pa.date32(),
        Kind.TIME: pa.timestamp("us"),
    }
    return types[kind]


def plain_value(value: object, kind: Kind) -> Value:
    """A value as a table of a session would read it as a kind; None for what is missing, or cannot be read so."""
    if is_missing(value):
        return None
    match kind:
        case Kind.TEXT:
            return value[:LONGEST_TEXT] if isinstance(value, str) else None
        case Kind.DATE | Kind.TIME:
            moment = moment_of(value)
            return None if moment is None else moment.date() if kind is Kind.DATE else moment
        case Kind.FLOAT:
            number = number_of(value)
            return None if math.isnan(number) else number
    item = value.item() if isinstance(value, np.generic) else value
    try:
        return item if hash(item) is not None and not isinstance(item, str) else None  # type: ignore[return-value]
    except TypeError:  # a list, say
        return None


def moment_of(value: object) -> datetime.datetime | None:
    """A day or a time as a moment without a zone, to the microsecond; None for anything else."""
    if isinstance(value, np.datetime64):
        value = value.astype("datetime64[us]").item()
    match value:
        case datetime.datetime():
            moved = value if value.tzinfo is None else value.astimezone(datetime.UTC)
            return datetime.datetime.combine(moved.date(), moved.time())
        case datetime.date():
            return datetime.datetime.combine(value, datetime.time())
    return None


def whole_of(value: object, kind: Kind) -> int | None:
    """A number rounded down, the day since 1970, or the microsecond since then; None for what is missing."""
    if is_missing(value):
        return None
    if kind.temporal:
        moment = moment_of(value)
        return None if moment is None else (moment - EPOCH) // (MICROSECOND if kind is Kind.TIME else DAY)
    if isinstance(value, str):
        return None
    try:
        whole: int = math.floor(value)  # type: ignore[call-overload]
        return min(max(whole, LEAST_INT), MOST_INT)
    except (TypeError, ValueError, OverflowError):  # infinite, or no number
        return None


def number_of(value: object) -> float:
    """A number as a float; NaN for what is missing or infinite, as tables read it, and for texts and times."""
    if isinstance(value, str | datetime.date) or is_missing(value):
        return math.nan
    try:
        number = float(value)  # type: ignore[arg-type]
    except (TypeError, ValueError, OverflowError):
        return math.nan
    return number if math.isfinite(number) else math.nan
