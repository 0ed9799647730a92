"""What units are called: one name in bytes for each id, and the distinct units of a column of ids.

Reading a column is total. A row whose id is missing, or is nothing that can be an id, belongs to no unit; no error
depends on what the rows hold.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from datetime import date
from typing import Any, NamedTuple, TypeAlias, final
from uuid import UUID

import numpy as np
from numpy.typing import NDArray

from sfumato.errors import BadArgument

Column: TypeAlias = "NDArray[Any] | list[object]"

DEEPEST = 4
"""Tuples may lie this deep inside each other."""

EXACT_FLOATS = 1 << 53
"""Whole floats below this are exact; from here on two neighbouring ids may have become one float."""

LONGEST = 1 << 4096
"""Whole numbers beyond this are named in hexadecimal: decimal digits of huge numbers are refused by Python."""

_PLAIN = ({str}, {int}, {bytes})
_MUST = "a column of ids, one for each row: texts, whole numbers, bytes, or tuples of these"


@final
class Distinct(NamedTuple):
    """Is who a column speaks of: the names of its distinct units, and for each row the place of its unit, or −1."""

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
    """Gives the name of a unit, or none where this is no id.

    A number and its digits as text have one name: a table that was read as text and one that was read as numbers speak
    of the same people.

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
        case float() | np.floating() if -EXACT_FLOATS < unit < EXACT_FLOATS and unit == math.floor(unit):
            content = _digits(int(unit))
        case UUID() | date():
            content = str(unit).encode()
        case tuple() if deepest > 0:
            parts = [name_of(part, deepest=deepest - 1) for part in unit]
            known = [part for part in parts if part is not None]
            whole = parts and len(known) == len(parts)
            return b"t" + b"".join(len(part).to_bytes(8, "little") + part for part in known) if whole else None
        case _:
            return None
    return b"a" + content if content else None


def one_name(unit: object, what: str) -> bytes:
    """Gives the name of one unit, and refuses what is no id, without showing it."""
    found = name_of(unit)
    if found is None:
        raise BadArgument(what, "a text, a whole number, bytes, or a tuple of these, and not empty", _kind(unit))
    return found


def _column(ids: object) -> Column:
    """Gives a column as an array of numbers, or else as a list; refuses by its type and shape alone."""
    if isinstance(ids, str | bytes | dict | set | frozenset) or not isinstance(ids, Iterable):
        raise BadArgument("ids", _MUST, _kind(ids))
    if getattr(ids, "ndim", 1) != 1 or hasattr(ids, "columns"):
        raise BadArgument("ids", _MUST, "a table")
    if isinstance(ids, np.ndarray):
        if ids.dtype.kind not in "iufUSO":
            raise BadArgument("ids", _MUST, f"a column of {ids.dtype.name}")
        numbers = ids.dtype.kind in "iuf" and not isinstance(ids, np.ma.MaskedArray)
        return ids if numbers else ids.tolist()
    for way in ("to_pylist", "to_list"):  # Arrow; Polars and pandas
        if callable(read := getattr(ids, way, None)):
            return list(read())
    return list(ids)


def _numbers(column: NDArray[Any]) -> Distinct:
    """Reads an array of numbers; of floats the whole and exact ones are ids."""
    known = np.ones(len(column), dtype=np.bool_)
    if column.dtype.kind == "f":
        known = (np.abs(column) < EXACT_FLOATS) & (np.floor(column) == column)
        column = np.where(known, column, 0).astype(np.int64)
    values, inverse = np.unique(column[known], return_inverse=True)
    place = np.full(len(column), -1, dtype=np.intp)
    place[known] = inverse
    return Distinct([b"a" + _digits(value) for value in values.tolist()], place)


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
