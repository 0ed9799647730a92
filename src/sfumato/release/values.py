"""A stored form of released values: numbers, texts, dates, rows of them, tables, answers, NumPy's arrays."""

from __future__ import annotations

import base64
import binascii
import datetime
import math
import re
from fractions import Fraction
from types import NoneType
from typing import Any

import numpy as np

from sfumato.errors import BadArgument, UnknownFormat
from sfumato.plain import Form, Part, Plain, same
from sfumato.release.answer import Answer, AnswerColumn, Bin, Cells, Role
from sfumato.release.written import WrittenColumn, WrittenTable

PLAIN_BITS = 63
"""Whole numbers up to this many bits are written as they are, larger ones in hexadecimal."""

LARGEST_ARRAY = 1 << 30
"""The greatest size of an array, in bytes."""

WIDE_TEXT = 64
"""Texts in arrays may have room for this many letters; for more, only where one of them has as many."""

_WHOLE = re.compile(r"-?0x[0-9a-f]+")
_KIND = re.compile(r"[<>|=](b1|[iu][1248]|f[248]|U[0-9]{1,7})|\|O")


def stored_value(value: Any) -> Plain:
    """Writes a value in its stored form; refuses a value that has none.

    >>> stored_value((1, 0.5)), stored_value({"a": Fraction(1, 3)})
    ({'tuple': [1, {'float': '0x1.0000000000000p-1'}]}, {'table': [['a', {'rational': [1, 3]}]]})
    """
    return VALUES.write(value)  # type: ignore[no-any-return]  # every rule below gives a plain value


def read_value(plain: object) -> Any:
    """Reads a value from its stored form; refuses what it does not know."""
    return VALUES.read(plain)


def _read_word(plain: dict[str, Any], part: Part) -> Any:
    match list(plain.items()):
        case [("whole", str(text))] if _WHOLE.fullmatch(text):
            return int(text, 16)
        case [("float", str(text))]:
            return _float(text)
        case [("rational", [top, bottom])]:
            return _rational(part(top), part(bottom))
        case [("tuple", list(parts))]:
            return tuple([part(inner) for inner in parts])
        case [("table", list(rows))]:
            return _table(rows, part)
        case [("date", str(text))]:
            return _time(datetime.date, text)
        case [("time", str(text))]:
            return _time(datetime.datetime, text)
        case [("array", [str(kind), list(shape), list(entries)])]:
            return _array(kind, shape, entries, part)
        case [("scalar", [str(kind), entry])] if kind != "|O":
            return _array(kind, [], [entry], part)[()]
        case [("answer", [list(columns), confidence, list(atoms)])]:
            return _answer(columns, part(confidence), atoms, part)
        case [("written", [str(place), str(form), int(rows), list(columns), confidence, str(staged)])]:
            return WrittenTable(place, form, rows, _written_columns(columns), part(confidence), staged)
    raise UnknownFormat("a value in it is of a form that is not known")


def _stored_other(value: Any, part: Part) -> Plain:
    kind = type(value)
    if isinstance(value, np.ndarray | np.generic):
        return _stored_array(value, part)
    if kind is dict and all(_is_key(key) for key in value):
        return {"table": [[part(key), part(held)] for key, held in value.items()]}
    if kind is datetime.datetime and value.fold == 0 and type(value.tzinfo) in (NoneType, datetime.timezone):
        return {"time": value.isoformat()}
    raise BadArgument(VALUES.what, VALUES.must, kind.__name__)


def _stored_array(value: np.ndarray[Any, Any] | np.generic, part: Part) -> Plain:
    kind = value.dtype.str
    plain = isinstance(value, np.generic) or type(value) is np.ndarray
    if not plain or value.dtype.names or not _KIND.fullmatch(kind) or value.nbytes > LARGEST_ARRAY:
        raise BadArgument("what is stored", "an array of truth values, numbers or texts, up to 1 GiB", kind)
    entries = np.asarray(value).ravel().tolist()
    if value.dtype.kind == "U":
        kind = f"{kind[:2]}{min(int(kind[2:]), _room(entries))}"
    if value.dtype.kind == "f":
        stored: list[Plain] = [entry.hex() for entry in entries]
    else:
        stored = [part(entry) for entry in entries]
    return {"scalar": [kind, stored[0]]} if isinstance(value, np.generic) else {"array": [kind, [*value.shape], stored]}


def _array(kind: str, shape: list[object], entries: list[object], part: Part) -> np.ndarray[Any, Any]:
    if not _KIND.fullmatch(kind) or not all(type(side) is int and side >= 0 for side in shape):
        raise UnknownFormat("an array in it is of a kind or shape that is not known")
    sides, dtype = [int(str(side)) for side in shape], np.dtype(kind)
    if len(sides) > 32 or math.prod(sides) != len(entries) or len(entries) * dtype.itemsize > LARGEST_ARRAY:
        raise UnknownFormat("an array in it has not as many entries as its shape says, or too many")
    if dtype.kind == "f":
        values = [_float(text) if isinstance(text, str) else None for text in entries]
    else:
        values = [part(entry) for entry in entries]
    expected = {"b": bool, "i": int, "u": int, "f": float, "U": str}.get(dtype.kind, object)
    if expected is not object and not all(type(entry) is expected for entry in values):
        raise UnknownFormat("an array in it has entries of another kind")
    if expected is str and int(kind[2:]) > _room(values):
        raise UnknownFormat("an array in it has room for longer texts than it holds")
    array = np.empty(len(values), dtype=dtype)
    try:
        for place, entry in enumerate(values) if expected is object else ():
            array[place] = entry
        if expected is not object:
            array[:] = values
        lossless = expected in (object, float) or array.tolist() == values
        return _checked(array, entries, lossless=lossless).reshape(sides)
    except (OverflowError, ValueError, MemoryError):
        raise UnknownFormat("an array in it does not hold its entries") from None


def _room(texts: list[Any]) -> int:
    return max(WIDE_TEXT, *map(len, texts), 0)


def _checked(array: np.ndarray[Any, Any], entries: list[object], *, lossless: bool) -> np.ndarray[Any, Any]:
    if not lossless or (array.dtype.kind == "f" and [entry.hex() for entry in array.tolist()] != entries):
        raise ValueError
    return array


def _stored_answer(answer: Answer, part: Part) -> Plain:
    columns: list[Plain] = [
        [
            column.name,
            column.role.value,
            *(
                None if cells is None else _stored_cells(cells, part)
                for cells in (column.values, column.low, column.high)
            ),
            *([] if column.bin is None else [_stored_bin(column.bin, part)]),
        ]
        for column in answer.columns
    ]
    atoms: list[Plain] = [[name, _stored_cells(cells, part)] for name, cells in answer.atoms]
    return {"answer": [columns, part(answer.confidence), atoms]}


def _stored_bin(one: Bin, part: Part) -> Plain:
    return [one.histogram, one.of, part(one.low), part(one.high)]


def _bin(plain: object, part: Part) -> Bin:
    match plain:
        case [str(histogram), str(of), low, high]:
            ends = [part(end) for end in (low, high)]
            if all(type(end) in (int, float) for end in ends):
                return Bin(histogram, of, *ends)
    raise UnknownFormat("a bin of an answer in it is not a histogram, what it is of, and two edges")


def _stored_table(table: WrittenTable, part: Part) -> Plain:
    columns: list[Plain] = [[one.name, one.role.value, one.low, one.high] for one in table.columns]
    return {"written": [table.place, table.form, table.rows, columns, part(table.confidence), table.staged]}


def _written_columns(columns: list[Any]) -> tuple[WrittenColumn, ...]:
    made: list[WrittenColumn] = []
    for column in columns:
        match column:
            case [str(name), ("key" | "value") as role, str(low), str(high)]:
                made.append(WrittenColumn(name, Role(role), low, high))
            case _:
                raise UnknownFormat("a column of a written table in it is not a name, a role, and names of its ends")
    return tuple(made)


def _stored_cells(cells: Cells, part: Part) -> Plain:
    """Stores numbers as their bytes, which keeps large answers small, and anything else as a list."""
    if cells.dtype.kind == "O":
        return [entry if type(entry) is str else part(entry) for entry in cells.tolist()]
    kind = cells.dtype.newbyteorder("<")
    return {"packed": [kind.str, base64.b64encode(cells.astype(kind).tobytes()).decode("ascii")]}


def _answer(columns: list[Any], confidence: Any, atoms: list[Any], part: Part) -> Answer:
    parts: list[tuple[Any, ...]] = []
    for column in columns:
        match column:
            case [str(name), ("key" | "value") as role, values, low, high, *rest] if len(rest) <= 1:
                ends = (None if cells is None else _cells(cells, part) for cells in (low, high))
                bins = [_bin(one, part) for one in rest]
                parts.append((name, _cells(values, part), Role(role), *ends, *bins))
            case _:
                raise UnknownFormat("a column of an answer in it is not a name, a role, values and their ends")
    if not all(isinstance(atom, list) and len(atom) == 2 and isinstance(atom[0], str) for atom in atoms):
        raise UnknownFormat("the atoms of an answer in it are not names and numbers")
    named = tuple((atom[0], _cells(atom[1], part)) for atom in atoms)
    try:
        return Answer(tuple(AnswerColumn(*column) for column in parts), confidence, named)
    except BadArgument as fault:
        raise UnknownFormat(f"an answer in it is none: {fault.name} must be {fault.must}") from None


def _cells(plain: object, part: Part) -> Any:
    match plain:
        case list():
            return [entry if type(entry) is str else part(entry) for entry in plain]
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


def _table(rows: list[Any], part: Part) -> dict[Any, Any]:
    pairs: dict[Any, Any] = {}
    for row in rows:
        if not isinstance(row, list) or len(row) != 2:
            raise UnknownFormat("a table in it is no list of pairs")
        key = part(row[0])
        if not _is_key(key) or key in pairs:
            raise UnknownFormat("a table in it has a key twice, or one that is no whole number, text or tuple of such")
        pairs[key] = part(row[1])
    return pairs


def _is_key(key: object) -> bool:
    if type(key) is tuple:
        return all(_is_key(part) for part in key)
    return key is None or type(key) in (bool, int, str, float, Fraction, datetime.date)


def _float(text: str) -> float:
    try:
        number = float.fromhex(text)
    except (OverflowError, ValueError):
        raise UnknownFormat("a number in it is no float") from None
    if number.hex() != text:
        raise UnknownFormat("a number in it is not written as numbers are")
    return number


def _rational(top: object, bottom: object) -> Fraction:
    if type(top) is not int or type(bottom) is not int or bottom < 1 or math.gcd(top, bottom) != 1:
        raise UnknownFormat("a rational in it is not in lowest terms")
    return Fraction(top, bottom)


def _time(kind: type[datetime.date], text: str) -> datetime.date:
    try:
        moment = kind.fromisoformat(text)
    except ValueError:
        raise UnknownFormat("a date in it is none") from None
    if type(moment) is not kind or moment.isoformat() != text:
        raise UnknownFormat("a date in it is not written as dates are")
    return moment


VALUES = Form(
    "what is stored",
    "made of numbers, texts, dates, lists, tables, arrays and answers",
    writers={
        **dict.fromkeys((NoneType, bool, str), same),
        int: lambda value, part: value if value.bit_length() <= PLAIN_BITS else {"whole": hex(value)},
        float: lambda value, part: {"float": value.hex()},
        Fraction: lambda value, part: {"rational": [part(value.numerator), part(value.denominator)]},
        list: lambda value, part: [part(inner) for inner in value],
        tuple: lambda value, part: {"tuple": [part(inner) for inner in value]},
        datetime.date: lambda value, part: {"date": value.isoformat()},
        Answer: _stored_answer,
        WrittenTable: _stored_table,
    },
    other=_stored_other,
    readers={
        **dict.fromkeys((NoneType, bool, str, int), same),
        list: lambda plain, part: [part(inner) for inner in plain],
        dict: _read_word,
    },
)
