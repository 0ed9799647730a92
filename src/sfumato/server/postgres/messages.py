"""Reads what clients send, message by message: pure functions of octets, which refuse whatever is not as it must be.

The forms are those of PostgreSQL's documentation, "Frontend/Backend Protocol", version 3.0.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass
from typing import TypeAlias, final

from sfumato.server.postgres.faults import protocol_fault

VERSION = 3 << 16
SSL, GSS, CANCEL = 80877103, 80877104, 80877102
"""Numbers that stand in place of a version: what is asked for before anybody is known."""

LONGEST_STARTUP = 10_000
MOST_VALUES = 1_000
"""Parameters of a statement, and formats of its columns."""

TEXT_FORMAT, BINARY_FORMAT = 0, 1


@final
@dataclass(frozen=True)
class Startup:
    """Begins a connection: the minor version that is wanted, and what is said of it by name (user, database, …)."""

    minor: int
    said: dict[str, str]


@final
@dataclass(frozen=True)
class Encryption:
    """Asks for encryption before anything else: by TLS, or by GSSAPI, which is not offered."""

    tls: bool


@final
@dataclass(frozen=True)
class Cancel:
    """Asks on a connection of its own that another one be cancelled."""

    process: int
    secret: bytes


@final
@dataclass(frozen=True)
class Query:
    """Asks statements in one text."""

    text: str


@final
@dataclass(frozen=True)
class Parse:
    """Names a statement that is to be run later, with types of its parameters (0: to be found out)."""

    name: str
    text: str
    oids: tuple[int, ...]


@final
@dataclass(frozen=True)
class Bind:
    """Gives values to the parameters of a statement, and so makes a portal of it."""

    portal: str
    statement: str
    formats: tuple[int, ...]
    values: tuple[bytes | None, ...]
    results: tuple[int, ...]


@final
@dataclass(frozen=True)
class Describe:
    """Asks for the columns of a statement or a portal, and for the parameters of a statement."""

    portal: bool
    name: str


@final
@dataclass(frozen=True)
class Execute:
    """Runs a portal, or goes on with it; ``most`` rows at a time, or all of them (0)."""

    portal: str
    most: int


@final
@dataclass(frozen=True)
class Close:
    """Forgets a statement or a portal."""

    portal: bool
    name: str


@final
@dataclass(frozen=True)
class Sync:
    """Ends a group of messages: after an error, what comes next is listened to again."""


@final
@dataclass(frozen=True)
class Flush:
    """Asks for what was held back."""


@final
@dataclass(frozen=True)
class Terminate:
    """Ends the connection."""


@final
@dataclass(frozen=True)
class Unasked:
    """Something that nobody asked for now, such as the end of a copy that was refused: it is passed over."""


@final
@dataclass(frozen=True)
class Call:
    """Calls a function by its number, which is not answered."""


Message: TypeAlias = Query | Parse | Bind | Describe | Execute | Close | Sync | Flush | Terminate | Unasked | Call
First: TypeAlias = Startup | Encryption | Cancel


@final
class _Octets:
    """What is left of the body of a message."""

    def __init__(self, body: bytes) -> None:
        self._body, self._at = body, 0

    def take(self, count: int) -> bytes:
        if count < 0 or self._at + count > len(self._body):
            raise protocol_fault("it ends too early")
        self._at += count
        return self._body[self._at - count : self._at]

    def int16(self) -> int:
        return int.from_bytes(self.take(2), "big", signed=True)

    def int32(self) -> int:
        return int.from_bytes(self.take(4), "big", signed=True)

    def count(self) -> int:
        many = self.int16()
        if not 0 <= many <= MOST_VALUES:
            raise protocol_fault(f"it has more than {MOST_VALUES} of something")
        return many

    def text(self) -> str:
        end = self._body.find(0, self._at)
        if end < 0:
            raise protocol_fault("a text in it has no end")
        octets, self._at = self._body[self._at : end], end + 1
        try:
            return octets.decode("utf-8")
        except UnicodeDecodeError:
            raise protocol_fault("a text in it is no UTF-8") from None

    def formats(self) -> tuple[int, ...]:
        made = tuple(self.int16() for _ in range(self.count()))
        if not set(made) <= {TEXT_FORMAT, BINARY_FORMAT}:
            raise protocol_fault("a format in it is neither text nor binary")
        return made

    def value(self) -> bytes | None:
        size = self.int32()
        return None if size == -1 else self.take(size)

    def end(self) -> None:
        if self._at != len(self._body):
            raise protocol_fault("it goes on after its end")


def read_first(body: bytes) -> First:
    """Reads what a connection begins with, without its length."""
    octets = _Octets(body)
    number = octets.int32()
    if number in (SSL, GSS):
        octets.end()
        return Encryption(number == SSL)
    if number == CANCEL:
        process, secret = struct.unpack(">i", octets.take(4))[0], octets.take(len(body) - 8)
        return Cancel(process, secret)
    if number >> 16 != VERSION >> 16:
        raise protocol_fault("this is another protocol than PostgreSQL's, version 3")
    said: dict[str, str] = {}
    while name := octets.text():
        if name in said:
            raise protocol_fault("it says something twice")
        said[name] = octets.text()
    octets.end()
    return Startup(number & 0xFFFF, said)


def read_message(kind: bytes, body: bytes) -> Message:
    """Reads a message of a connection that is let in."""
    octets = _Octets(body)
    made = _read(kind, octets)
    if not isinstance(made, Unasked | Call):
        octets.end()
    return made


def _read(kind: bytes, octets: _Octets) -> Message:
    match kind:
        case b"Q":
            return Query(octets.text())
        case b"P":
            name, text = octets.text(), octets.text()
            return Parse(name, text, tuple(octets.int32() & 0xFFFFFFFF for _ in range(octets.count())))
        case b"B":
            return _bind(octets)
        case b"D" | b"C":
            which, name = octets.take(1), octets.text()
            if which not in (b"S", b"P"):
                raise protocol_fault("it is about neither a statement nor a portal")
            return Describe(which == b"P", name) if kind == b"D" else Close(which == b"P", name)
        case b"E":
            return Execute(octets.text(), octets.int32())
        case b"S":
            return Sync()
        case b"H":
            return Flush()
        case b"X":
            return Terminate()
        case b"F":
            return Call()
        case b"d" | b"c" | b"f":
            return Unasked()
    raise protocol_fault("there is no such kind")


def _bind(octets: _Octets) -> Bind:
    portal, statement, formats = octets.text(), octets.text(), octets.formats()
    values = tuple(octets.value() for _ in range(octets.count()))
    if len(formats) not in (0, 1, len(values)):
        raise protocol_fault("it has other formats than values")
    return Bind(portal, statement, formats, values, octets.formats())
