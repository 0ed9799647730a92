"""A stored form of released values: numbers, texts, dates, rows of them, tables, answers, NumPy's arrays."""

from __future__ import annotations

import base64
import binascii
import datetime
import math
import re
from fractions import Fraction
from typing import Any, TypeAlias

import numpy as np

from sfumato.errors import BadArgument, UnknownFormat
from sfumato.release.answer import Answer, AnswerColumn, Bin, Cells, Role

Stored: TypeAlias = "bool | int | str | list[Stored] | dict[str, Stored] | None"
"""What JSON can hold, without floats."""

DEEPEST = 60
"""Values may lie this deep inside each other."""

PLAIN_BITS = 63
"""Whole numbers up to so many bits are written as they are, larger ones in hexadecimal."""

LARGEST_ARRAY = 1 << 30
"""The greatest size of an array, in bytes."""

WIDE_TEXT = 64
"""Texts in arrays may have room for so many letters; for more, only where one of them has as many."""

_WHOLE = re.compile(r"-?0x[0-9a-f]+")
_FLOAT = re.compile(r"-?0x[01]\.?[0-9a-f]*p[+-][0-9]{1,4}|nan|inf|-inf")
_KIND = re.compile(r"[<>|=](b1|[iu][1248]|f[248]|U[0-9]{1,7})|\|O")


def stored_value(value: Any) -> Stored:
    """Gives the stored form of a value, or says that it has none.

    >>> stored_value((1, 0.5)), stored_value({"a": Fraction(1, 3)})
    ({'tuple': [1, {'float': '0x1.0000000000000p-1'}]}, {'table': [['a', {'rational': [1, 3]}]]})
    """
    return _stored(value, DEEPEST)


def read_value(plain: object) -> Any:
    """Gives the value of a stored form; refuses what it does not know."""
    return _read(plain, DEEPEST)


def _stored(value: Any, depth: int) -> Stored:
    if depth == 0:
        raise BadArgument("what is stored", f"nested at most {DEEPEST} deep", f"more than {DEEPEST} levels")
    if isinstance(value, np.ndarray | np.generic):
        return _stored_array(value, depth)
    kind = type(value)
    if value is None or kind is bool or kind is str:
        return value  # type: ignore[no-any-return]  # one of the three
    if kind is int:
        return value if value.bit_length() <= PLAIN_BITS else {"whole": hex(value)}
    if kind is float:
        return {"float": _hexadecimal(value)}
    if kind is Fraction:
        return {"rational": [_stored(value.numerator, depth), _stored(value.denominator, depth)]}
    if kind is list:
        return [_stored(part, depth - 1) for part in value]
    if kind is tuple:
        return {"tuple": [_stored(part, depth - 1) for part in value]}
    if kind is dict and all(_is_key(key) for key in value):
        return {"table": [[_stored(key, depth - 1), _stored(part, depth - 1)] for key, part in value.items()]}
    if kind is datetime.date:
        return {"date": value.isoformat()}
    if kind is datetime.datetime and value.fold == 0 and _is_fixed(value.tzinfo):
        return {"time": value.isoformat()}
    if kind is Answer:
        return _stored_answer(value, depth)
    raise BadArgument(
        "what is stored", "made of numbers, texts, dates, lists, tables, arrays and answers", kind.__name__
    )


def _read(plain: object, depth: int) -> Any:
    if depth == 0:
        raise UnknownFormat(f"it is nested more than {DEEPEST} deep")
    if plain is None or type(plain) in (bool, int, str):
        return plain
    if isinstance(plain, list):
        return [_read(part, depth - 1) for part in plain]
    match list(plain.items()) if isinstance(plain, dict) else []:
        case [("whole", str(text))] if _WHOLE.fullmatch(text):
            return int(text, 16)
        case [("float", str(text))] if _FLOAT.fullmatch(text):
            return _float(text)
        case [("rational", [top, bottom])]:
            return _rational(_read(top, depth), _read(bottom, depth))
        case [("tuple", list(parts))]:
            return tuple(_read(part, depth - 1) for part in parts)
        case [("table", list(rows))]:
            return _table(rows, depth)
        case [("date", str(text))]:
            return _time(datetime.date, text)
        case [("time", str(text))]:
            return _time(datetime.datetime, text)
        case [("array", [str(kind), list(shape), list(entries)])]:
            return _array(kind, shape, entries, depth)
        case [("scalar", [str(kind), entry])] if kind != "|O":
            return _array(kind, [], [entry], depth)[()]
        case [("answer", [list(columns), confidence, list(atoms)])]:
            return _answer(columns, _read(confidence, depth), atoms, depth)
    raise UnknownFormat("a value in it is of a form that is not known")


def _stored_array(value: np.ndarray[Any, Any] | np.generic, depth: int) -> Stored:
    kind = value.dtype.str
    plain = isinstance(value, np.generic) or type(value) is np.ndarray
    if not plain or value.dtype.names or not _KIND.fullmatch(kind) or value.nbytes > LARGEST_ARRAY:
        raise BadArgument("what is stored", "an array of truth values, numbers or texts, up to 1 GiB", kind)
    entries = np.asarray(value).ravel().tolist()
    if value.dtype.kind == "U":
        kind = f"{kind[:2]}{min(int(kind[2:]), _room(entries))}"
    if value.dtype.kind == "f":
        stored: list[Stored] = [_hexadecimal(entry) for entry in entries]
    else:
        stored = [_stored(entry, depth - 1) for entry in entries]
    return {"scalar": [kind, stored[0]]} if isinstance(value, np.generic) else {"array": [kind, [*value.shape], stored]}


def _array(kind: str, shape: list[object], entries: list[object], depth: int) -> np.ndarray[Any, Any]:
    if not _KIND.fullmatch(kind) or not all(type(side) is int and side >= 0 for side in shape):
        raise UnknownFormat("an array in it is of a kind or shape that is not known")
    sides, dtype = [int(str(side)) for side in shape], np.dtype(kind)
    if len(sides) > 32 or math.prod(sides) != len(entries) or len(entries) * dtype.itemsize > LARGEST_ARRAY:
        raise UnknownFormat("an array in it has not as many entries as its shape says, or too many")
    if dtype.kind == "f":
        values = [_float(text) if isinstance(text, str) and _FLOAT.fullmatch(text) else None for text in entries]
    else:
        values = [_read(entry, depth - 1) for entry in entries]
    expected = {"b": bool, "i": int, "u": int, "f": float, "U": str}.get(dtype.kind, object)
    if expected is not object and not all(type(entry) is expected for entry in values):
        raise UnknownFormat("an array in it has entries of another kind")
    if expected is str and int(kind[2:]) > _room(values):
        raise UnknownFormat("an array in it has room for longer texts than it holds")
    found = np.empty(len(values), dtype=dtype)
    try:
        for place, entry in enumerate(values) if expected is object else ():
            found[place] = entry
        if expected is not object:
            found[:] = values
        lossless = expected in (object, float) or found.tolist() == values
        return _checked(found, entries, lossless=lossless).reshape(sides)
    except (OverflowError, ValueError, MemoryError):
        raise UnknownFormat("an array in it does not hold its entries") from None


def _room(texts: list[Any]) -> int:
    return max(WIDE_TEXT, *map(len, texts), 0)


def _checked(found: np.ndarray[Any, Any], entries: list[object], *, lossless: bool) -> np.ndarray[Any, Any]:
    if not lossless or (found.dtype.kind == "f" and [_hexadecimal(entry) for entry in found.tolist()] != entries):
        raise ValueError
    return found


def _stored_answer(answer: Answer, depth: int) -> Stored:
    columns: list[Stored] = [
        [
            column.name,
            column.role.value,
            *(
                None if cells is None else _stored_cells(cells, depth)
                for cells in (column.values, column.low, column.high)
            ),
            *([] if column.bin is None else [_stored_bin(column.bin, depth)]),
        ]
        for column in answer.columns
    ]
    atoms: list[Stored] = [[name, _stored_cells(cells, depth)] for name, cells in answer.atoms]
    return {"answer": [columns, _stored(answer.confidence, depth), atoms]}


def _stored_bin(one: Bin, depth: int) -> Stored:
    return [one.histogram, one.of, _stored(one.low, depth - 1), _stored(one.high, depth - 1)]


def _bin(plain: object, depth: int) -> Bin:
    match plain:
        case [str(histogram), str(of), low, high]:
            ends = [_read(end, depth - 1) for end in (low, high)]
            if all(type(end) in (int, float) for end in ends):
                return Bin(histogram, of, *ends)
    raise UnknownFormat("a bin of an answer in it is not a histogram, what it is of, and two edges")


def _stored_cells(cells: Cells, depth: int) -> Stored:
    """Stores numbers as their bytes, which keeps large answers small, and anything else as a list."""
    if cells.dtype.kind == "O":
        return [entry if type(entry) is str else _stored(entry, depth - 1) for entry in cells.tolist()]
    kind = cells.dtype.newbyteorder("<")
    return {"packed": [kind.str, base64.b64encode(cells.astype(kind).tobytes()).decode("ascii")]}


def _answer(columns: list[object], confidence: object, atoms: list[object], depth: int) -> Answer:
    found = []
    for column in columns:
        match column:
            case [str(name), ("key" | "value") as role, values, low, high, *rest] if len(rest) <= 1:
                ends = (None if cells is None else _cells(cells, depth) for cells in (low, high))
                bins = [_bin(one, depth) for one in rest]
                found.append((name, _cells(values, depth), Role(role), *ends, *bins))
            case _:
                raise UnknownFormat("a column of an answer in it is not a name, a role, values and their ends")
    if not all(isinstance(atom, list) and len(atom) == 2 and isinstance(atom[0], str) for atom in atoms):
        raise UnknownFormat("the atoms of an answer in it are not names and numbers")
    named = tuple((atom[0], _cells(atom[1], depth)) for atom in atoms)  # type: ignore[index]  # pairs, as was seen
    try:
        return Answer(tuple(AnswerColumn(*column) for column in found), confidence, named)  # type: ignore[arg-type]  # it refuses what is none
    except BadArgument as fault:
        raise UnknownFormat(f"an answer in it is none: {fault.name} must be {fault.must}") from None


def _cells(plain: object, depth: int) -> Cells | list[Any]:
    match plain:
        case list():
            return [entry if type(entry) is str else _read(entry, depth - 1) for entry in plain]
        case {"packed": [("|b1" | "<i8" | "<f8") as kind, str(text)], **others} if not others:
            return _packed(kind, text)
    raise UnknownFormat("the cells of an answer in it are neither a list nor packed numbers")


def _packed(kind: str, text: str) -> Cells:
    try:
        raw = base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        raise UnknownFormat("the cells of an answer in it are not packed as cells are") from None
    dtype = np.dtype(kind)
    whole = len(raw) % dtype.itemsize == 0 and base64.b64encode(raw).decode("ascii") == text
    if not whole or (kind == "|b1" and not set(raw) <= {0, 1}):
        raise UnknownFormat("the cells of an answer in it are not packed as cells are")
    return np.frombuffer(raw, dtype=dtype)


def _table(rows: list[object], depth: int) -> dict[Any, Any]:
    found: dict[Any, Any] = {}
    for row in rows:
        if not isinstance(row, list) or len(row) != 2:
            raise UnknownFormat("a table in it is no list of pairs")
        key = _read(row[0], depth - 1)
        if not _is_key(key) or key in found:
            raise UnknownFormat("a table in it has a key twice, or one that is no whole number, text or tuple of such")
        found[key] = _read(row[1], depth - 1)
    return found


def _is_key(key: object) -> bool:
    if type(key) is tuple:
        return all(_is_key(part) for part in key)
    return key is None or type(key) in (bool, int, str, float, Fraction, datetime.date)


def _is_fixed(zone: datetime.tzinfo | None) -> bool:
    return zone is None or type(zone) is datetime.timezone


def _hexadecimal(value: float) -> str:
    return value.hex()


def _float(text: str) -> float:
    try:
        found = float.fromhex(text)
    except OverflowError:
        raise UnknownFormat("a number in it is beyond the floats") from None
    if _hexadecimal(found) != text:
        raise UnknownFormat("a number in it is not written as numbers are")
    return found


def _rational(top: object, bottom: object) -> Fraction:
    if type(top) is not int or type(bottom) is not int or bottom < 1 or math.gcd(top, bottom) != 1:
        raise UnknownFormat("a rational in it is not in lowest terms")
    return Fraction(top, bottom)


def _time(kind: type[datetime.date], text: str) -> datetime.date:
    try:
        found = kind.fromisoformat(text)
    except ValueError:
        raise UnknownFormat("a date in it is none") from None
    if type(found) is not kind or found.isoformat() != text:
        raise UnknownFormat("a date in it is not written as dates are")
    return found
