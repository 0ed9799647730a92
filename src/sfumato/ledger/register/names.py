"""What units are called: one name in bytes for each id, and the distinct units of a column of ids.

Reading a column is total. A row in which the id is missing, or is nothing that can be an id, belongs to no unit; no
error depends on what the rows hold.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from datetime import date
from decimal import Decimal
from typing import Any, NamedTuple, TypeAlias, final
from uuid import UUID

import numpy as np
from numpy.typing import NDArray

from sfumato.errors import BadArgument

Column: TypeAlias = "NDArray[Any] | list[object]"

DEEPEST = 4
"""Tuples may lie this deep inside each other."""

LONGEST_DECIMAL = 1000
"""Whole decimals of more digits are no ids: one with a huge exponent is short to write and takes forever to expand."""

LONGEST = 1 << 4096
"""Whole numbers beyond this are named in hexadecimal: decimal digits of huge numbers are refused by Python."""

NARROW = {"float32": np.float32, "float": np.float32, "float16": np.float16, "halffloat": np.float16}
"""Floats of fewer digits than Python's, by the names that columns outside numpy have for their types."""

_PLAIN = ({str}, {int}, {bytes})
_MUST = "a column of ids, one for each row: texts, whole numbers, bytes, or tuples of these"


@final
class Distinct(NamedTuple):
    """Who a column speaks of: the names of its distinct units, and for each row the place of its unit, or −1."""

    names: list[bytes]
    place: NDArray[np.intp]


def distinct(ids: object) -> Distinct:
    """Reads a column of ids.

    >>> distinct(["ann", "bob", None, "ann"]).place.tolist()
    [0, 1, -1, 0]
    """
    column = _column(ids)
    if isinstance(column, np.ndarray):
        return _numbers(column)
    kinds = set(map(type, column)) - {type(None)}
    plain = kinds in _PLAIN  # of one plain type, unequal values have unequal names: each is named once
    values: list[Any] = column if plain else list(map(name_of, column))
    different = list(dict.fromkeys(values))
    index = dict(zip(different, range(len(different)), strict=True))
    place = np.fromiter(map(index.__getitem__, values), dtype=np.intp, count=len(values))
    return _named(list(map(name_of, different)) if plain else different, place)


def name_of(unit: object, *, deepest: int = DEEPEST) -> bytes | None:
    """The name of a unit, or None where this is no id.

    A number and its digits as text have one name: a table that was read as text and one that was read as numbers speak
    of the same people. So have a day, and its midnight without a zone.

    >>> name_of(17) == name_of("17") == name_of(17.0), name_of(("17",)) == name_of("17"), name_of(math.nan)
    (True, False, None)
    """
    match unit:
        case str():
            content = str.encode(unit, "utf-8", "surrogatepass")
        case bytes():
            content = bytes(unit)
        case bool() | np.bool_():
            return None
        case int() | np.integer():
            content = _digits(int(unit))
        case float() | np.floating() if _exact(unit):
            content = _digits(int(unit))
        case Decimal() if _whole(unit):
            content = _digits(int(unit))
        case UUID():
            content = str(unit).encode()
        case date() | np.datetime64():
            content = _moment(unit)
        case tuple() if deepest > 0:
            parts = [name_of(part, deepest=deepest - 1) for part in unit]
            known = [part for part in parts if part is not None]
            whole = parts and len(known) == len(parts)
            return b"t" + b"".join(len(part).to_bytes(8, "little") + part for part in known) if whole else None
        case _:
            return None
    return b"a" + content if content else None


def one_name(unit: object, what: str) -> bytes:
    """The name of one unit; refuses what is no id, without showing it."""
    name = name_of(unit)
    if name is None:
        raise BadArgument(what, "a text, a whole number, bytes, or a tuple of these, and not empty", _kind(unit))
    return name


def _column(ids: object) -> Column:
    """Reads a column as an array of numbers, or else as a list; refuses by its type and shape alone."""
    if isinstance(ids, str | bytes | dict | set | frozenset) or not isinstance(ids, Iterable):
        raise BadArgument("ids", _MUST, _kind(ids))
    if getattr(ids, "ndim", 1) != 1 or hasattr(ids, "columns"):
        raise BadArgument("ids", _MUST, "a table")
    if isinstance(ids, np.ndarray):
        return _array(ids)
    if isinstance(getattr(ids, "dtype", None), np.dtype):  # pandas, of a type of numpy
        return _array(np.asarray(ids))
    kind = str(getattr(ids, "dtype", getattr(ids, "type", ""))).lower().split("[")[0]
    if kind in ("bool", "boolean"):
        raise BadArgument("ids", _MUST, f"a column of {kind}")
    ways = (getattr(ids, way, None) for way in ("to_pylist", "to_list"))  # Arrow; Polars and pandas
    read = list(next((way for way in ways if callable(way)), ids.__iter__)())
    if kind in NARROW:  # as Python's floats they would look exact
        return np.array([value if isinstance(value, float) else math.nan for value in read], dtype=NARROW[kind])
    return read


def _array(column: NDArray[Any]) -> Column:
    """Keeps an array of numbers or moments as it is, and turns other arrays into lists."""
    kind = column.dtype.kind
    if kind not in "iufUSOM" or column.dtype == np.dtype("M8"):  # moments without a unit are none
        raise BadArgument("ids", _MUST, f"a column of {column.dtype.name}")
    if isinstance(column, np.ma.MaskedArray):
        return column.filled(math.nan if kind == "f" else np.datetime64("NaT")) if kind in "fM" else column.tolist()
    return column if kind in "iufM" else column.tolist()


def _numbers(column: NDArray[Any]) -> Distinct:
    """Reads an array of numbers or moments; of floats the whole and exact ones are ids."""
    known = np.ones(len(column), dtype=np.bool_)
    if column.dtype.kind == "M":
        known = ~np.isnat(column)
    if column.dtype.kind == "f":
        known = (np.abs(column) < _exact_below(column)) & (np.floor(column) == column)
        column = np.where(known, column, 0).astype(np.int64)
    values, inverse = np.unique(column[known], return_inverse=True)
    place = np.full(len(column), -1, dtype=np.intp)
    place[known] = inverse
    if column.dtype.kind == "M":
        return Distinct([b"a" + _moment(value) for value in values], place)
    return Distinct([b"a" + _digits(value) for value in values.tolist()], place)


def _exact_below(number: float | np.floating[Any] | NDArray[Any]) -> int:
    """Where floats of a type cease to tell whole numbers apart: from here on two ids may have become one."""
    kept = np.finfo(number.dtype if isinstance(number, np.floating | np.ndarray) else np.float64).nmant + 1
    return 1 << min(int(kept), 63)  # and all of them are whole numbers of 64 bits


def _exact(number: float | np.floating[Any]) -> bool:
    below = _exact_below(number)
    return bool(-below < number < below and number == math.floor(number))


def _whole(number: Decimal) -> bool:
    return number.is_finite() and number.adjusted() < LONGEST_DECIMAL and number == number.to_integral_value()


def _moment(moment: date | np.datetime64) -> bytes:
    """Writes a day, or a moment as Python does; a midnight without a zone as its day, and what is no moment empty."""
    if isinstance(moment, date):
        known = bool(moment == moment)  # pandas has a date that is none, and unequal to itself
        return str(moment).removesuffix(" 00:00:00").encode() if known else b""
    if np.isnat(moment) or moment.dtype == np.dtype("M8"):
        return b""
    day, _, time = str(moment).partition("T")
    time, _, fraction = time.partition(".")
    while fraction.endswith("000") and (len(fraction) > 6 or not fraction.strip("0")):
        fraction = fraction[:-3]
    fraction = fraction.ljust(6, "0") if fraction else ""
    day, time = day + "-01" * (2 - day[1:].count("-")), time + "00:00:00"[len(time) :]
    return f"{day} {time}{fraction and '.'}{fraction}".removesuffix(" 00:00:00").encode()


def _named(names: list[bytes | None], place: NDArray[np.intp]) -> Distinct:
    """Leaves out what is no unit."""
    known = np.fromiter((name is not None for name in names), dtype=np.bool_, count=len(names))
    counted = np.where(known, np.cumsum(known) - 1, -1)
    return Distinct([name for name in names if name is not None], counted[place])


def _digits(number: int) -> bytes:
    return (str(number) if abs(number) < LONGEST else hex(number)).encode()


def _kind(value: object) -> str:
    """Says of what type something is: all that an error may say of an id."""
    return f"something of type {type(value).__name__}"
