"""Reading columns of Spark: from whatever type a column has to the kind and the domain that its codebook states.

The first table of docs/semantics.md, in SQL. A value that is none of the kind becomes missing; a type of which no value
could be one is refused when a source is opened. Texts are read by the forms of `text_reading`; those that are not UTF-8
are missing already (`sources`).
"""

from __future__ import annotations

from sfumato.query.engines.spark.text_reading import IS_MISSING, as_written, reading
from sfumato.query.engines.sql.reading import days
from sfumato.query.engines.sql.statement import Piece, Scope
from sfumato.query.nodes.facts import Facts
from sfumato.query.nodes.kinds import FIRST_DAY, LAST_DAY, Kind

NARROW = {"tinyint": 7, "smallint": 15, "int": 31, "bigint": 63}
"""Types of whole numbers, and how many bits they have without the sign."""

RANGES = {held: (-(2**bits), 2**bits - 1) for held, bits in NARROW.items()}
FLOATS = ("float", "double")
TIMES = ("timestamp", "timestamp_ntz")
TEXT = "string"

INFINITY = "CAST('Infinity' AS DOUBLE)"
FINITE = f"CASE WHEN abs({{0}}) < {INFINITY} THEN {{0}} END"
"""To Spark NaN is above everything."""

TO_WHOLE = "CASE WHEN {0} >= -9223372036854775808BD AND {0} < 9223372036854775808BD THEN CAST({0} AS BIGINT) END"
"""A whole number of a wide type, as one of 64 bits. A cast alone would take the nearest one for what does not fit."""

WIDE = "DECIMAL(38, 0)"


def is_decimal(held: str) -> bool:
    """Tells whether a type holds decimals."""
    return held.startswith("decimal(")


def digits_of(held: str) -> tuple[int, int]:
    """The digits of a decimal type, and how many of them are behind the point."""
    digits, places = held.removeprefix("decimal(").removesuffix(")").split(",")
    return int(digits), int(places)


def inside(held: str) -> str:
    """The template of a decimal without values that have more digits than its type, which files can hold."""
    digits, places = digits_of(held)
    most = f"{'9' * (digits - places)}.{'9' * places}"
    return f"CASE WHEN {{0}} BETWEEN CAST('-{most}' AS {held}) AND CAST('{most}' AS {held}) THEN {{0}} END"


def in_years(held: str) -> str:
    """The template of a day of the years that there are: Spark raises at others where it makes times of them."""
    return f"CASE WHEN {{0}} BETWEEN DATE '{FIRST_DAY}' AND DATE '{LAST_DAY}' THEN {{0}} END"


def readable(kind: Kind, held: str) -> str | None:
    """The template that reads a column of one of Spark's types as a kind; None, where it cannot be read so."""
    if held == TEXT:
        return reading(kind) if kind is not Kind.TEXT else "{0}"
    match kind:
        case Kind.INT:
            return _whole(held)
        case Kind.FLOAT:
            return _float(held)
        case Kind.BOOL:
            return "{0}" if held == "boolean" else None
        case Kind.DATE | Kind.TIME:
            return _moment(kind, held)
    return None


def _whole(held: str) -> str | None:
    if held in NARROW:
        return "{0}" if held == "bigint" else "CAST({0} AS BIGINT)"
    if held in FLOATS:
        return "rint(CAST({0} AS DOUBLE))"
    return f"CAST(bround({inside(held)}, 0) AS {WIDE})" if is_decimal(held) else None


def _float(held: str) -> str | None:
    if held == "double":
        return "{0}"
    if held == "float" or held in NARROW:
        return "CAST({0} AS DOUBLE)"
    return f"CAST({inside(held)} AS DOUBLE)" if is_decimal(held) else None


def _moment(kind: Kind, held: str) -> str | None:
    if held == "date":
        return "{0}" if kind is Kind.DATE else f"CAST({in_years(held)} AS TIMESTAMP_NTZ)"
    if held not in TIMES:
        return None
    moment = "{0}" if held == "timestamp_ntz" else "CAST({0} AS TIMESTAMP_NTZ)"
    return moment if kind is Kind.TIME else f"CAST({moment} AS DATE)"


def parsed(raw: Piece, held: str, kind: Kind, scope: Scope, written: str = "") -> Piece:
    """Reads a column as values of a kind, which may still be infinite, too large or in no year that there is."""
    if held.upper() != TEXT.upper() or kind is Kind.TEXT:
        return scope.fill(readable(kind, held.lower()) or "NULL", raw)
    return scope.fill(reading(kind, written), scope.fill(as_written(kind, written), raw))


def as_kind(raw: Piece, held: str, kind: Kind, scope: Scope, written: str = "") -> Piece:
    """Reads a column as values of a kind, before any bounds; days of no year that there is are missing."""
    value = parsed(raw, held, kind, scope, written)
    lower = held.lower()
    if kind is Kind.INT and (lower in FLOATS or is_decimal(lower)):
        return scope.fill(TO_WHOLE, value)
    if kind is Kind.FLOAT and (lower in FLOATS or lower == TEXT):
        return scope.fill(FINITE, value)
    return days(value, kind, Facts(), scope) if kind.temporal else value


def is_value(raw: Piece, held: str, kind: Kind, scope: Scope) -> Piece:
    """Tells whether something is held that should read as a value: neither NULL nor NaN nor a word for missing."""
    if held in FLOATS:
        return scope.fill("({0} IS NOT NULL AND NOT isnan({0}))", raw)
    if held == TEXT and kind is not Kind.TEXT:
        return scope.fill(f"NOT coalesce({IS_MISSING}, TRUE)", raw)
    return scope.fill("({0} IS NOT NULL)", raw)
