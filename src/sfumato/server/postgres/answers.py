"""What the PostgreSQL port sends back for one statement: columns with PostgreSQL's type numbers, rows of texts.

Values are PostgreSQL's own text form, None for NULL; the wire makes the binary form from the type number and the text.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

BOOL = 16
BYTEA = 17
CHAR = 18
NAME = 19
INT8 = 20
INT2 = 21
INT4 = 23
TEXT = 25
OID = 26
JSON = 114
FLOAT4 = 700
FLOAT8 = 701
UNKNOWN = 705
TEXT_ARRAY = 1009
BPCHAR = 1042
VARCHAR = 1043
DATE = 1082
TIME = 1083
TIMESTAMP = 1114
TIMESTAMPTZ = 1184
INTERVAL = 1186
NUMERIC = 1700


@final
@dataclass(frozen=True, slots=True)
class Column:
    """One column of an answer: its name, and PostgreSQL's number of its type."""

    name: str
    oid: int = TEXT


@final
@dataclass(frozen=True, slots=True)
class Answer:
    """The answer to one statement, and the tag that ends it on the wire (`SELECT 3`, `SET`)."""

    columns: tuple[Column, ...]
    rows: tuple[tuple[str | None, ...], ...]
    tag: str
