"""How an outcome looks to whoever sees it: what makes two outcomes one event, for laws and for audits of samples."""

from __future__ import annotations

import re
from collections.abc import Hashable, Iterator, Mapping, Set
from dataclasses import fields, is_dataclass
from datetime import date, time, timedelta
from decimal import Decimal
from enum import Enum
from fractions import Fraction
from typing import Any

import numpy as np

from sfumato.errors import BadArgument
from sfumato.release.record import Release

PLAIN = {bool, int, str, bytes, type(None), Fraction}
"""Kinds of values of which equal ones look alike."""

LONG = 1 << 64
"""Whole numbers beyond this are written to base 16, which takes no longer than they are."""

ADDRESS = re.compile(r" at 0x[0-9a-fA-F]+")

LISTS = ("tolist", "to_list", "to_pylist")
"""How columns and arrays of one kind of value are written out, by different libraries."""


def looks(outcome: Any) -> Hashable:
    """A key that is equal for outcomes that nobody who sees them can tell apart, and for no others.

    NaN is one value; −0.0 is not 0.0, 1 is not True and not 1.0; the order of a mapping shows, that of a set does not.
    Frames and arrays are read to their last entry, other objects by what is in them; one that shows nothing of what is
    in it is refused.

    >>> looks(float("nan")) == looks(float("nan")), looks(1) == looks(True), looks([{2, 1}]) == looks([{1, 2}])
    (True, False, True)
    """
    kind = type(outcome)
    if kind in PLAIN and (kind is not int or -LONG < outcome < LONG):
        return kind.__name__, outcome
    try:
        return (kind.__name__, *_row(outcome)) if kind is tuple else _key(outcome)
    except RecursionError:
        raise _unseen(outcome) from None


def _key(outcome: Any) -> Hashable:
    kind = type(outcome)
    name = kind.__name__
    if isinstance(outcome, np.generic):
        return _key(plain) if not isinstance(plain := outcome.item(), np.generic) else (name, repr(outcome))
    match outcome:
        case Release():
            return _key(outcome.value)
        case Enum():
            return name, outcome.name
        case int() if kind is not bool and abs(outcome) >= LONG:
            return name, hex(outcome)
        case float():
            return name, outcome.hex()  # of every NaN the same
        case complex():
            return name, outcome.real.hex(), outcome.imag.hex()
        case Decimal() | date() | time() | timedelta():
            return name, repr(outcome)  # 1.0 and 1.00 are equal, and look different
        case int() | str() | bytes() | None | Fraction():
            return name, outcome
        case type():
            return name, f"{outcome.__module__}.{outcome.__qualname__}"
        case Mapping():
            return name, tuple((_key(key), _key(value)) for key, value in outcome.items())
        case Set():
            return name, tuple(sorted(map(_key, outcome), key=repr))
        case list() | tuple():
            return name, *_row(outcome)
        case np.ndarray() if outcome.dtype.kind in "biuf":
            return name, str(outcome.dtype), outcome.shape, _octets(outcome)
    return name, tuple(_parts(outcome))


def _row(entries: Any) -> tuple[Hashable, ...]:
    """Reads a row; one of a single kind of plain value at once."""
    kinds = set(map(type, entries))
    if kinds == {float}:
        return "float", tuple(map(float.hex, entries))
    if kinds == {str} or kinds == {bool} or (kinds == {int} and max(map(abs, entries)) < LONG):
        return kinds.pop().__name__, tuple(entries)
    return (tuple(map(_key, entries)),)


def _octets(array: Any) -> bytes:
    """The bytes of an array of numbers, with every NaN alike."""
    plain = np.where(np.isnan(array), array.dtype.type(np.nan), array) if array.dtype.kind == "f" else array
    return bytes(plain.tobytes())


def _parts(outcome: Any) -> Iterator[Hashable]:
    """What an object consists of: the entries of frames and arrays, and what others have in them."""
    if hasattr(outcome, "itertuples"):  # a frame of pandas
        columns = [outcome.iloc[:, place].tolist() for place in range(outcome.shape[1])]
        yield _key([list(outcome.columns), list(map(str, outcome.dtypes)), list(outcome.index), columns])
    elif hasattr(outcome, "get_columns"):  # of polars
        yield _key([[column.name, str(column.dtype), column.to_list()] for column in outcome.get_columns()])
    elif hasattr(outcome, "column_names"):  # of pyarrow
        yield _key([str(outcome.schema), [column.to_pylist() for column in outcome.columns]])
    elif (how := next((name for name in LISTS if callable(getattr(outcome, name, None))), None)) is not None:
        about = [str(getattr(outcome, name, "")) for name in ("name", "dtype", "type", "shape")]
        labels = list(outcome.index) if hasattr(outcome, "iloc") else []
        yield _key([*about, labels, getattr(outcome, how)()])
    else:
        yield from _contents(outcome)


def _contents(outcome: Any) -> Iterator[Hashable]:
    slots = [name for kind in type(outcome).__mro__ for name in _slots(kind) if hasattr(outcome, name)]
    if is_dataclass(outcome):
        slots += [field.name for field in fields(outcome)]
    inside = {name: getattr(outcome, name) for name in slots} | dict(getattr(outcome, "__dict__", {}))
    words = "" if getattr(type(outcome), "__repr__", None) is object.__repr__ else repr(outcome)
    if not inside and (ADDRESS.search(words) if words else not hasattr(outcome, "__dict__")):
        raise _unseen(outcome)
    yield _key(inside)
    yield without_addresses(words)


def without_addresses(words: str) -> str:
    """Leaves out where objects lie in memory, which is no part of what they are."""
    return ADDRESS.sub("", words)


def _slots(kind: type) -> tuple[str, ...]:
    slots = vars(kind).get("__slots__", ())
    return (slots,) if isinstance(slots, str) else tuple(slots)


def _unseen(outcome: Any) -> BadArgument:
    must = "of a kind that shows what is in it; give a function of it, as in measurement.then(function)"
    return BadArgument("the outcome", must, type(outcome).__name__)
