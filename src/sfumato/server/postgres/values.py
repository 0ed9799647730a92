"""Values as PostgreSQL writes them: texts of what is answered, their binary forms, and what parameters say."""

from __future__ import annotations

import datetime
import math
import struct
from collections.abc import Callable, Iterable, Mapping
from decimal import Decimal, InvalidOperation
from fractions import Fraction
from typing import Any

from sfumato.server.postgres.answers import (
    BOOL,
    BPCHAR,
    BYTEA,
    CHAR,
    DATE,
    FLOAT4,
    FLOAT8,
    INT2,
    INT4,
    INT8,
    NAME,
    NUMERIC,
    OID,
    TEXT,
    TIMESTAMP,
    TIMESTAMPTZ,
    UNKNOWN,
    VARCHAR,
)
from sfumato.server.postgres.faults import Fault, unsupported
from sfumato.server.postgres.messages import BINARY_FORMAT
from sfumato.server.postgres.numerics import numeric_octets, numeric_value

EPOCH_DAY = datetime.date(2000, 1, 1)
EPOCH = datetime.datetime(2000, 1, 1)
MICROSECOND = datetime.timedelta(microseconds=1)
BYTE = 256

INTEGERS = {INT2: 2, INT4: 4, INT8: 8}
TEXTS = frozenset({TEXT, VARCHAR, BPCHAR, NAME, UNKNOWN, 0})
TRUE, FALSE = frozenset({"t", "true", "y", "yes", "on", "1"}), frozenset({"f", "false", "n", "no", "off", "0"})

ARRAYS: Mapping[int, int] = {
    1000: BOOL,
    1002: CHAR,
    1003: NAME,
    1005: INT2,
    1007: INT4,
    1009: TEXT,
    1015: VARCHAR,
    1016: INT8,
    1022: FLOAT8,
    1028: OID,
}
"""Types of lists, with what they are lists of."""

NAMES = frozenset(range(2202, 2207)) | {24, 4089, 4096}
"""Types of what is named in the catalog: regclass, regproc, regtype and their likes."""

MOST_ITEMS = 10_000

VECTORS: Mapping[int, int] = {22: INT2, 30: OID}
"""Lists that are written with blanks between, and counted from 0."""


def text_of(value: object) -> str | None:
    """The text of a value of an answer; None where it is missing."""
    match value:
        case None:
            return None
        case bool():
            return "t" if value else "f"
        case float():
            return _float_text(value)
        case Fraction():
            return _float_text(float(value))
        case datetime.datetime():
            return _time_text(value)
        case datetime.date():
            return value.isoformat()
    return str(value)


def _float_text(number: float) -> str | None:
    if math.isnan(number):
        return None  # no number is a missing one
    if math.isinf(number):
        return "Infinity" if number > 0 else "-Infinity"
    return repr(number).removesuffix(".0") if abs(number) < 1e16 else repr(number)


def _time_text(time: datetime.datetime) -> str:
    if time.tzinfo is None:
        return time.isoformat(" ")
    return time.astimezone(datetime.UTC).replace(tzinfo=None).isoformat(" ") + "+00"


def oid_of(cells: Iterable[object]) -> int | None:
    """The type of a column by what stands in it; None where nothing does."""
    kinds = {type(cell): cell for cell in cells if cell is not None}
    if not kinds:
        return None
    if set(kinds) <= {int, float}:
        return FLOAT8 if float in kinds else INT8
    found = {bool: BOOL, str: TEXT, datetime.date: DATE, datetime.datetime: TIMESTAMP}.get(next(iter(kinds)), TEXT)
    zoned = any(isinstance(cell, datetime.datetime) and cell.tzinfo is not None for cell in kinds.values())
    return TIMESTAMPTZ if zoned else found


# Binary forms


def octets_of(oid: int, text: str) -> bytes:
    """The binary form of a value, from its text."""
    try:
        return _octets(oid, text)
    except (ValueError, OverflowError, struct.error, InvalidOperation):
        pass
    raise Fault("22003", f"a value does not fit the type {oid} that its column was said to have")


def _octets(oid: int, text: str) -> bytes:
    if oid in INTEGERS:
        return int(text).to_bytes(INTEGERS[oid], "big", signed=True)
    if oid in ARRAYS:
        return _list_octets(ARRAYS[oid], _items(text), lowest=1)
    if oid in VECTORS:
        return _list_octets(VECTORS[oid], [*text.split()], lowest=0)
    match oid:
        case _ if oid == BOOL:
            return b"\1" if text == "t" else b"\0"
        case _ if oid == FLOAT8:
            return struct.pack(">d", float(text))
        case _ if oid == FLOAT4:
            return struct.pack(">f", float(text))
        case _ if oid == NUMERIC:
            return numeric_octets(text)
        case _ if oid == OID or (oid in NAMES and text.isdigit()):
            return int(text).to_bytes(4, "big")
        case _ if oid == DATE:
            return (datetime.date.fromisoformat(text) - EPOCH_DAY).days.to_bytes(4, "big", signed=True)
        case _ if oid in (TIMESTAMP, TIMESTAMPTZ):
            return _microseconds(text).to_bytes(8, "big", signed=True)
        case _ if oid == BYTEA:
            return bytes.fromhex(text.removeprefix("\\x"))
    return text.encode("utf-8", "replace")


def _microseconds(text: str) -> int:
    time = datetime.datetime.fromisoformat(text)
    if time.tzinfo is not None:
        time = time.astimezone(datetime.UTC).replace(tzinfo=None)
    return (time - EPOCH) // MICROSECOND


def _list_octets(of: int, items: list[str | None], *, lowest: int) -> bytes:
    missing = any(item is None for item in items)
    head = struct.pack(">iiI", 1 if items else 0, missing, of)
    if not items:
        return head
    parts = [None if item is None else _octets(of, item) for item in items]
    body = [b"\xff\xff\xff\xff" if part is None else struct.pack(">i", len(part)) + part for part in parts]
    return head + struct.pack(">ii", len(items), lowest) + b"".join(body)


def _items(text: str) -> list[str | None]:
    """The items of a list of one dimension, as ``{a,"b c",NULL}`` has them."""
    if not (text.startswith("{") and text.endswith("}")):
        raise ValueError
    items: list[str | None] = []
    item, quoted, inside, at = "", False, False, 1
    while at < len(text):
        sign, at = text[at], at + 1
        if sign == "\\" and at < len(text):
            item, at = item + text[at], at + 1
        elif sign == '"':
            quoted, inside = True, not inside
        elif inside or sign not in ",}":
            item += sign
        elif item or quoted or items or sign == ",":
            items.append(None if item == "NULL" and not quoted else item)
            item, quoted = "", False
    return items


# Parameters


def value_of(oid: int, form: int, octets: bytes | None, number: int) -> Any:
    """What the value of a parameter says; what cannot be read is refused without being shown."""
    if octets is None:
        return None
    try:
        return _from_octets(oid, octets) if form == BINARY_FORMAT else _from_text(oid, octets.decode("utf-8"))
    except (ValueError, OverflowError, struct.error, InvalidOperation):
        pass
    raise Fault("22P02" if form != BINARY_FORMAT else "22P03", f"the value of ${number} is not of its type")


def _from_text(oid: int, text: str) -> Any:
    if oid in TEXTS or oid in NAMES:
        return _plain(text)
    if oid in ARRAYS:
        return [None if one is None else _from_text(ARRAYS[oid], one) for one in _items(text)]
    reading = READ_TEXT.get(oid)
    if reading is None:
        raise unsupported(f"a parameter of the type {oid}", "Send it as a number, a text, a date or a timestamp.")
    return reading(text.strip())


def _from_octets(oid: int, octets: bytes) -> Any:
    if oid in TEXTS:
        return _plain(octets.decode("utf-8"))
    if oid in ARRAYS:
        return _list_value(octets)
    if oid in NAMES:
        return int.from_bytes(_sized(octets, 4), "big")
    if oid in INTEGERS:
        return int.from_bytes(_sized(octets, INTEGERS[oid]), "big", signed=True)
    match oid:
        case _ if oid == BOOL:
            return _sized(octets, 1) != b"\0"
        case _ if oid == FLOAT8:
            return struct.unpack(">d", octets)[0]
        case _ if oid == FLOAT4:
            return struct.unpack(">f", octets)[0]
        case _ if oid == OID:
            return int.from_bytes(_sized(octets, 4), "big")
        case _ if oid == NUMERIC:
            return numeric_value(octets)
        case _ if oid == DATE:
            return EPOCH_DAY + datetime.timedelta(int.from_bytes(_sized(octets, 4), "big", signed=True))
        case _ if oid in (TIMESTAMP, TIMESTAMPTZ):
            return EPOCH + int.from_bytes(_sized(octets, 8), "big", signed=True) * MICROSECOND
    raise unsupported(f"a parameter of the type {oid}", "Send it as a number, a text, a date or a timestamp.")


def _list_value(octets: bytes) -> list[Any]:
    """A list of one dimension."""
    many, _, of = struct.unpack(">iiI", octets[:12])
    if many == 0:
        return []
    count, _ = struct.unpack(">ii", octets[12:20])
    if many != 1 or not 0 <= count <= MOST_ITEMS or of in ARRAYS:
        raise ValueError
    made: list[Any] = []
    at = 20
    for _ in range(count):
        (size,) = struct.unpack(">i", octets[at : at + 4])
        item = octets[at + 4 : at + 4 + max(size, 0)]
        made.append(None if size == -1 else _from_octets(of, _sized(item, size)))
        at += 4 + len(item)
    return made


def _sized(octets: bytes, size: int) -> bytes:
    if len(octets) != size:
        raise ValueError
    return octets


def _plain(text: str) -> str:
    if "\0" in text:
        raise ValueError
    return text


def _truth(text: str) -> bool:
    if text.lower() not in TRUE | FALSE:
        raise ValueError
    return text.lower() in TRUE


def _integer(size: int) -> Callable[[str], int]:
    def read(text: str) -> int:
        if len(text) > 25:
            raise ValueError
        number = int(text)
        number.to_bytes(size, "big", signed=True)
        return number

    return read


def _decimal(text: str) -> Decimal:
    if len(text) > 400:
        raise ValueError
    return Decimal(text)


def _moment(text: str) -> datetime.datetime:
    time = datetime.datetime.fromisoformat(text)
    return time if time.tzinfo is None else time.astimezone(datetime.UTC).replace(tzinfo=None)


READ_TEXT: Mapping[int, Callable[[str], Any]] = {
    **{oid: _integer(size) for oid, size in INTEGERS.items()},
    OID: _integer(8),
    BOOL: _truth,
    FLOAT4: float,
    FLOAT8: float,
    NUMERIC: _decimal,
    DATE: datetime.date.fromisoformat,
    TIMESTAMP: _moment,
    TIMESTAMPTZ: _moment,
}
