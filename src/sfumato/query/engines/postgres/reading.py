"""Reading columns of PostgreSQL: from whatever type a column has to the kind and domain that its codebook states.

A table is opened as a SELECT in which every column has one of few types (`HELD`): narrow numbers are widened, texts of
all sorts are texts compared by code points, times with a zone are in UTC. A value that is none of the kind becomes
missing; a type of which no value could be one is refused when a table is opened.
"""

from __future__ import annotations

from sfumato.query.engines.postgres.floats import FINITE
from sfumato.query.engines.postgres.text_reading import (
    FLOAT_OF_DECIMAL,
    FLOAT_OF_SHORT,
    FORMS,
    IS_MISSING,
    WHOLE_OF_DECIMAL,
    as_written,
)
from sfumato.query.engines.sql.reading import days
from sfumato.query.engines.sql.statement import Piece, Scope
from sfumato.query.nodes.facts import Facts
from sfumato.query.nodes.kinds import LEAST_INT, MOST_INT, Kind

RANGES = {"int2": (-(2**15), 2**15 - 1), "int4": (-(2**31), 2**31 - 1), "int8": (LEAST_INT, MOST_INT)}
"""The numbers of types of whole numbers."""

TEXT = 'CAST({0} AS text) COLLATE "C"'
"""Texts of all sorts, compared by code points."""

HELD = {
    **dict.fromkeys(("int2", "int4"), ("int8", "CAST({0} AS int8)")),
    "int8": ("int8", "{0}"),
    "numeric": ("numeric", "{0}"),
    "float4": ("float8", "CAST({0} AS float8)"),
    "float8": ("float8", "{0}"),
    "bool": ("bool", "{0}"),
    # Blanks that fill up a char(n) are no part of it: PostgreSQL takes them off.
    **dict.fromkeys(("text", "varchar", "bpchar", "name", "uuid", "citext", "enum"), ("text", TEXT)),
    "date": ("date", "{0}"),
    "timestamp": ("timestamp", "{0}"),
    "timestamptz": ("timestamp", "({0} AT TIME ZONE 'UTC')"),
}
"""For each type of the server that is read: the type in which a question has it, and the template that makes it."""

_FIRST, _LAST = "CAST('0001-01-01' AS date)", "CAST('9999-12-31' AS date)"


def plain(held: str) -> str:
    """The name of a type without its digits: numeric of numeric(12,2)."""
    return held.partition("(")[0]


def made_as(held: str) -> str:
    """The type in which a question has a column of some type."""
    if held.endswith("[]"):
        return f"{made_as(held[:-2])}[]"
    return HELD[plain(held)][0]


def making(held: str) -> str:
    """The template that makes it so."""
    if held.endswith("[]"):
        item = made_as(held[:-2])
        return f"CAST({{0}} AS {item}[])" + (' COLLATE "C"' if item == "text" else "")
    return HELD[plain(held)][1]


def readable(kind: Kind, held: str) -> bool:
    """Tells whether a column of a type can be read as a kind."""
    made = HELD.get(plain(held), ("",))[0]
    match kind:
        case Kind.INT | Kind.FLOAT:
            return made in ("int8", "numeric", "float8", "text")
        case Kind.BOOL:
            return made in ("bool", "text")
        case Kind.TEXT:
            return made == "text"
        case Kind.DATE | Kind.TIME:
            return made in ("date", "timestamp", "text")
    return False


def is_text(held: str) -> bool:
    """Tells whether a type holds texts."""
    return HELD[plain(held)][0] == "text"


def text_as(kind: Kind, written: str, text: Piece, scope: Scope) -> Piece:
    """A text as a value of a kind that is no text: a decimal for numbers."""
    return scope.fill(FORMS[kind], scope.fill(as_written(kind, written), text))


def parsed(raw: Piece, held: str, kind: Kind, scope: Scope, written: str = "") -> Piece:
    """Reads a column as values of a kind, which may still be infinite or in no year that there is."""
    made = HELD[plain(held)][0]
    if kind.temporal and made != "text":
        if made == "timestamp":
            return raw if kind is Kind.TIME else scope.fill("CAST({0} AS date)", raw)
        # Days reach further than times do.
        inside = f"CASE WHEN {{0}} BETWEEN {_FIRST} AND {_LAST} THEN CAST({{0}} AS timestamp) END"
        return raw if kind is Kind.DATE else scope.fill(inside, raw)
    if kind is Kind.FLOAT and made == "float8":
        return raw
    if kind.temporal:
        return text_as(kind, written, raw, scope)
    return as_kind(raw, held, kind, scope, written)


def as_kind(raw: Piece, held: str, kind: Kind, scope: Scope, written: str = "") -> Piece:
    """Reads a column as values of a kind, before any bounds; days of no year that there is are missing."""
    made = HELD[plain(held)][0]
    if kind.temporal:
        return days(parsed(raw, held, kind, scope, written), kind, Facts(), scope)
    if made == "text" and kind is not Kind.TEXT:
        value, decimal = text_as(kind, written, raw, scope), kind.numeric
    else:
        value, decimal = raw, made == "numeric"
    match kind:
        case Kind.INT if decimal:
            return scope.fill(WHOLE_OF_DECIMAL, value)
        case Kind.INT if made == "float8":
            return scope.fill(scope.statement.dialect.to_whole, value)
        case Kind.FLOAT if decimal:
            bounded = held.startswith("numeric(") and made == "numeric"  # then no value is too large for a float
            return scope.fill(FLOAT_OF_SHORT if bounded else FLOAT_OF_DECIMAL, value)
        case Kind.FLOAT if made == "float8":
            return scope.fill(FINITE, value)
        case Kind.FLOAT:
            return scope.fill("CAST({0} AS float8)", value)
    return value


def is_value(raw: Piece, held: str, kind: Kind, scope: Scope) -> Piece:
    """Tells whether something is held that should read as a value: neither NULL nor NaN nor a word for missing."""
    made = HELD[plain(held)][0]
    if made in ("float8", "numeric"):
        return scope.fill("({0} <> 'NaN' AND {0} IS NOT NULL)", raw)
    if made == "text" and kind is not Kind.TEXT:
        return scope.fill(f"NOT coalesce({IS_MISSING}, TRUE)", raw)
    return scope.fill("({0} IS NOT NULL)", raw)
