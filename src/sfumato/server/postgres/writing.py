"""Writes what clients are sent, message by message: pure functions that make octets."""

from __future__ import annotations

import struct
from collections.abc import Iterable, Sequence

from sfumato.server.postgres.answers import Column
from sfumato.server.postgres.faults import Fault

SIZES = {16: 1, 18: 1, 20: 8, 21: 2, 23: 4, 26: 4, 700: 4, 701: 8, 1082: 4, 1083: 8, 1114: 8, 1184: 8, 1186: 16, 19: 64}
"""How many octets a value of a type has, by its number; all others have as many as they need."""

IDLE, INSIDE, FAILED = b"I", b"T", b"E"
"""What a connection says of itself when it is ready: outside of a transaction, in one, in one that has failed."""

PARSED, BOUND, CLOSED = b"1\0\0\0\4", b"2\0\0\0\4", b"3\0\0\0\4"
NO_DATA, EMPTY, SUSPENDED, COPIED = b"n\0\0\0\4", b"I\0\0\0\4", b"s\0\0\0\4", b"c\0\0\0\4"


def framed(kind: bytes, body: bytes) -> bytes:
    """A message: its kind, its length, and what it says."""
    return kind + struct.pack(">i", len(body) + 4) + body


def _text(text: str) -> bytes:
    return text.replace("\0", "").encode("utf-8", "replace") + b"\0"


def sasl(mechanisms: Sequence[str]) -> bytes:
    """Asks for a proof, by one of these mechanisms."""
    return framed(b"R", struct.pack(">i", 10) + b"".join(map(_text, mechanisms)) + b"\0")


def sasl_continues(said: bytes) -> bytes:
    """Goes on with a proof."""
    return framed(b"R", struct.pack(">i", 11) + said)


def sasl_ends(said: bytes) -> bytes:
    """Ends a proof with the server's own."""
    return framed(b"R", struct.pack(">i", 12) + said)


def let_in() -> bytes:
    """Says that somebody is let in."""
    return framed(b"R", struct.pack(">i", 0))


def key(process: int, secret: bytes) -> bytes:
    """What a connection is cancelled by."""
    return framed(b"K", struct.pack(">i", process) + secret)


def negotiated(minor: int, unknown: Sequence[str]) -> bytes:
    """Says which minor version is spoken, and what of the beginning was not understood."""
    return framed(b"v", struct.pack(">ii", minor, len(unknown)) + b"".join(map(_text, unknown)))


def status(name: str, value: str) -> bytes:
    """Says how a setting stands."""
    return framed(b"S", _text(name) + _text(value))


def ready(state: bytes) -> bytes:
    """Says that the next statement can come."""
    return framed(b"Z", state)


def done(tag: str) -> bytes:
    """Says that a statement is done."""
    return framed(b"C", _text(tag))


def failed(fault: Fault) -> bytes:
    """Says what was refused, and why."""
    return framed(b"E", _said(fault))


def noticed(fault: Fault) -> bytes:
    """Says something that is no refusal."""
    return framed(b"N", _said(fault))


def _said(fault: Fault) -> bytes:
    fields = {"S": fault.severity, "V": fault.severity, "C": fault.state, "M": fault.message}
    fields |= {"D": fault.detail, "H": fault.hint, "P": "" if fault.position is None else str(fault.position)}
    return b"".join(name.encode() + _text(value) for name, value in fields.items() if value) + b"\0"


def described(columns: Sequence[Column], formats: Sequence[int]) -> bytes:
    """Says what the columns of rows to come are."""
    body = b"".join(
        _text(column.name) + struct.pack(">ihihih", 0, 0, _signed(column.oid), SIZES.get(column.oid, -1), -1, form)
        for column, form in zip(columns, formats, strict=True)
    )
    return framed(b"T", struct.pack(">h", len(columns)) + body)


def parameters(oids: Sequence[int]) -> bytes:
    """Says of which types the parameters of a statement are."""
    return framed(b"t", struct.pack(">h", len(oids)) + b"".join(struct.pack(">i", _signed(oid)) for oid in oids))


def row(cells: Iterable[bytes | None]) -> bytes:
    """One row."""
    made = list(cells)
    parts = [b"\xff\xff\xff\xff" if cell is None else struct.pack(">i", len(cell)) + cell for cell in made]
    return framed(b"D", struct.pack(">h", len(made)) + b"".join(parts))


def copying(columns: int) -> bytes:
    """Says that rows follow as lines of text."""
    return framed(b"H", struct.pack(">bh", 0, columns) + struct.pack(">h", 0) * columns)


def copied(line: bytes) -> bytes:
    """One such line."""
    return framed(b"d", line)


def _signed(number: int) -> int:
    return number - (1 << 32) if number >= 1 << 31 else number
