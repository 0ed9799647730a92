"""Hostile messages: right ones that are changed at random, and texts of SQL that are put together from parts."""

from __future__ import annotations

import random
import struct
from collections.abc import Iterator

TEXTS = (
    "SELECT COUNT(*) AS n FROM visits",
    "SELECT site, COUNT(*) AS n FROM visits.visits WHERE minutes < $1 GROUP BY site ORDER BY n DESC LIMIT 3",
    "SELECT pg_catalog.version()",
    "SELECT relname FROM pg_catalog.pg_class WHERE oid = $1",
    "SET sfumato.epsilon = 0.1",
    "SET LOCAL sfumato.accuracy TO '50, 0.95'",
    "SET TIME ZONE DEFAULT",
    "RESET ALL",
    "SHOW TimeZone",
    "BEGIN",
    "COMMIT",
    "ROLLBACK TO SAVEPOINT a",
    "SAVEPOINT a",
    "DECLARE c CURSOR WITH HOLD FOR SELECT COUNT(*) FROM visits",
    "FETCH FORWARD 2 FROM c",
    "CLOSE ALL",
    "COPY (SELECT site, COUNT(*) FROM visits GROUP BY site) TO STDOUT (FORMAT csv, HEADER)",
    "EXPLAIN (COSTS off) SELECT COUNT(*) FROM visits",
    "DISCARD ALL",
    "DEALLOCATE PREPARE s",
    "",
    ";;",
)
SIGNS = "( ) , ; ' \" $1 $2 ? . * = - -- /* */ $$ E' \\ \0 é 🙂"
NAMES = "SELECT FROM WHERE GROUP BY COUNT(*) AVG(minutes) visits site minutes NULL CAST AS UNION ALL WITH x OVER SET TO"
OTHERS = "pg_class information_schema.tables now() 1e999 -1 9223372036854775808 '2026-01-01'::date LIMIT JOIN ON IN"
WORDS = " ".join((SIGNS, NAMES, OTHERS)).split(" ")
OIDS = (0, 20, 23, 25, 701, 1082, 1114, 1700, 16, 2**32 - 1)
VALUES = (None, b"", b"1", b"x", b"\0" * 8, b"\xff" * 8)


def framed(kind: bytes, body: bytes) -> bytes:
    return kind + struct.pack(">i", len(body) + 4) + body


def text_in(chance: random.Random) -> str:
    """A text: a right one, one with parts exchanged, or words in a row."""
    text = chance.choice(TEXTS)
    if chance.random() < 0.3:
        return text
    if chance.random() < 0.3:
        return " ".join(chance.choice(WORDS) for _ in range(chance.randrange(12)))
    place, end = sorted(chance.randrange(len(text) + 1) for _ in range(2))
    return text[:place] + chance.choice(WORDS) * chance.randrange(4) + text[end if chance.random() < 0.5 else place :]


def message_in(chance: random.Random) -> tuple[bytes, bytes]:
    """A message that may be right: its kind and its body."""
    name = chance.choice((b"", b"s", b"c", b"\xc3\xa9"))
    text = text_in(chance).encode("utf-8", "replace").replace(b"\0", b"") + b"\0"
    match chance.choice(b"QQQPPBBDDEECSSHFdcfXp"):
        case 0x51:
            return b"Q", text
        case 0x50:
            oids = [chance.choice(OIDS) for _ in range(chance.randrange(3))]
            return b"P", name + b"\0" + text + struct.pack(f">h{len(oids)}I", len(oids), *oids)
        case 0x42:
            values = [chance.choice(VALUES) for _ in range(chance.randrange(3))]
            body = (
                name
                + b"\0"
                + name
                + b"\0"
                + struct.pack(">hh", 1, chance.randrange(2))
                + struct.pack(">h", len(values))
            )
            for value in values:
                body += struct.pack(">i", -1) if value is None else struct.pack(">i", len(value)) + value
            return b"B", body + struct.pack(">hh", 1, chance.randrange(2))
        case 0x44:
            return b"D", chance.choice((b"S", b"P")) + name + b"\0"
        case 0x45:
            return b"E", name + b"\0" + struct.pack(">i", chance.choice((0, 1, -1, 2**31 - 1)))
        case 0x43:
            return b"C", chance.choice((b"S", b"P")) + name + b"\0"
        case kind:
            return bytes([kind]), b""


def spoiled(chance: random.Random, body: bytes) -> bytes:
    """Octets with some of them changed, left out, or put in."""
    made = bytearray(body)
    for _ in range(chance.randrange(4)):
        place = chance.randrange(len(made) + 1)
        match chance.randrange(4):
            case 0 if made and place < len(made):
                made[place] = chance.randrange(256)
            case 1:
                made[place:place] = bytes(chance.choice((0, 255, 39, 127)) for _ in range(chance.randrange(1, 5)))
            case 2:
                del made[place : place + chance.randrange(1, 9)]
            case _:
                del made[place:]
    return bytes(made)


def messages(chance: random.Random) -> Iterator[tuple[bytes, bytes]]:
    """Messages without end: most of them right, many spoiled."""
    while True:
        kind, body = message_in(chance)
        if chance.random() < 0.2:
            body = spoiled(chance, body)
        if chance.random() < 0.02:
            kind = bytes([chance.randrange(256)])
        yield kind, body
