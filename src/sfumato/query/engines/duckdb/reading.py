"""Reading columns of DuckDB: from whatever type a column has to the kind and the domain that its codebook states.

The first table of docs/semantics.md, in SQL. A value that is none of the kind becomes missing; a type of which no value
could be one is refused when a source is opened. Texts are read by the forms of `text_reading`.
"""

from __future__ import annotations

from sfumato.query.engines.duckdb.text_reading import IS_MISSING, WHOLE, as_written, reading
from sfumato.query.engines.sql.reading import days
from sfumato.query.engines.sql.statement import Piece, Scope
from sfumato.query.nodes.facts import Facts
from sfumato.query.nodes.kinds import FIRST_DAY, LAST_DAY, MOST_INT, Kind

NARROW = {"TINYINT": 7, "SMALLINT": 15, "INTEGER": 31, "BIGINT": 63, "UTINYINT": 8, "USMALLINT": 16, "UINTEGER": 32}
"""Types of whole numbers that fit into 64 bits with a sign, and how many bits they have without it."""

RANGES = {
    **{held: (0 if held.startswith("U") else -(2**bits), 2**bits - 1) for held, bits in NARROW.items()},
    "UBIGINT": (0, MOST_INT),
}
"""The numbers that are read of narrow types; larger ones are missing."""

FINITE = "CASE WHEN isfinite({0}) THEN {0} END"
WIDE = ("UBIGINT", "HUGEINT", "UHUGEINT")
TIMES = ("TIMESTAMP", "TIMESTAMP_S", "TIMESTAMP_MS", "TIMESTAMP_NS")
ZONED, ZONED_NS = "TIMESTAMP WITH TIME ZONE", "TIMESTAMPTZ_NS"


def is_text(held: str) -> bool:
    """Tells whether a type of DuckDB holds texts."""
    return held == "VARCHAR" or held.startswith("ENUM(")


def text_in(held: str) -> str:
    """The template of the text of a value, for types that hold texts."""
    return "{0}" if held == "VARCHAR" else "CAST({0} AS VARCHAR)"


def readable(kind: Kind, held: str) -> str | None:
    """The template that reads a column of one of DuckDB's types as a kind; None, where it cannot be read so.

    Whole numbers come in 64 bits, or in 128 where the type has more: `as_kind` sees to those.
    """
    if is_text(held):
        return (reading(kind) if kind is not Kind.TEXT else "{0}").replace("{0}", text_in(held))
    match kind:
        case Kind.INT:
            return _whole(held)
        case Kind.FLOAT:
            return _float(held)
        case Kind.BOOL:
            return "{0}" if held == "BOOLEAN" else None
        case Kind.TEXT:
            return "CAST({0} AS VARCHAR)" if held == "UUID" else None
        case Kind.DATE | Kind.TIME:
            return _moment(kind, held)
    return None


def _whole(held: str) -> str | None:
    if held in NARROW:
        return "{0}" if held == "BIGINT" else "CAST({0} AS BIGINT)"
    if held in (*WIDE, "FLOAT", "DOUBLE"):
        return "TRY_CAST({0} AS HUGEINT)"
    if held.startswith("DECIMAL(") and held.endswith(",0)"):
        return f"TRY_CAST({inside(held)} AS HUGEINT)"
    return WHOLE.replace("{0}", f"CAST({inside(held)} AS VARCHAR)") if held.startswith("DECIMAL(") else None


def _float(held: str) -> str | None:
    if held == "DOUBLE":
        return "{0}"
    if held in NARROW or held in ("FLOAT", "UBIGINT"):
        return "CAST({0} AS DOUBLE)"
    # DuckDB rounds wide numbers twice; their texts are rounded once.
    if held.startswith("DECIMAL("):
        return f"CAST(CAST({inside(held)} AS VARCHAR) AS DOUBLE)"
    return "CAST(CAST({0} AS VARCHAR) AS DOUBLE)" if held in WIDE else None


def inside(held: str) -> str:
    """The template of a decimal without values that have more digits than its type.

    Files can hold such numbers, and DuckDB gives up at some of them, whatever they are cast to.
    """
    digits, places = (int(part) for part in held.removeprefix("DECIMAL(").removesuffix(")").split(","))
    most = f"{'9' * (digits - places)}.{'9' * places}"
    return f"CASE WHEN {{0}} BETWEEN CAST('-{most}' AS {held}) AND CAST('{most}' AS {held}) THEN {{0}} END"


def in_years(held: str) -> str:
    """The template of a time in seconds or milliseconds, of the years that there are: DuckDB raises at others,
    whatever they are cast to."""
    first, last = (f"CAST('{end}' AS {held})" for end in (FIRST_DAY, f"{LAST_DAY} 23:59:59.999"))
    return f"CASE WHEN {{0}} BETWEEN {first} AND {last} THEN {{0}} END"


def _moment(kind: Kind, held: str) -> str | None:
    if held == "DATE":
        return "{0}" if kind is Kind.DATE else "TRY_CAST({0} AS TIMESTAMP)"
    if held in (ZONED, "TIMESTAMP_NS"):
        # Not a cast: its statistics forget -infinity, and DuckDB leaves out checks of years that they make needless.
        moment = "make_timestamp(epoch_us({0}))"
    elif held == ZONED_NS:  # what pandas writes; to fewer digits first, in which no zone has a say
        moment = f"make_timestamp(epoch_us(TRY_CAST({{0}} AS {ZONED})))"
    elif held in TIMES:
        moment = "{0}" if held == "TIMESTAMP" else f"CAST({in_years(held)} AS TIMESTAMP)"
    else:
        return None
    return moment if kind is Kind.TIME else f"CAST({moment} AS DATE)"


def parsed(raw: Piece, held: str, kind: Kind, scope: Scope, written: str = "") -> Piece:
    """Reads a column as values of a kind, which may still be infinite, too large or in no year that there is."""
    if not is_text(held) or kind is Kind.TEXT:
        return scope.fill(readable(kind, held) or "NULL", raw)
    text = scope.fill(as_written(kind, written), scope.fill(text_in(held), raw))
    return scope.fill(reading(kind, written), text)


def as_kind(raw: Piece, held: str, kind: Kind, scope: Scope, written: str = "") -> Piece:
    """Reads a column as values of a kind, before any bounds; days of no year that there is are missing."""
    if kind is Kind.INT and held in (*WIDE, "FLOAT", "DOUBLE"):
        return scope.fill("TRY_CAST({0} AS BIGINT)", raw)
    value = parsed(raw, held, kind, scope, written)
    if kind is Kind.INT and held not in NARROW:
        return scope.fill("TRY_CAST({0} AS BIGINT)", value)
    if kind is Kind.FLOAT and (held in ("DOUBLE", "FLOAT") or is_text(held)):
        return scope.fill(FINITE, value)
    return days(value, kind, Facts(), scope) if kind.temporal else value


def is_value(raw: Piece, held: str, kind: Kind, scope: Scope) -> Piece:
    """Tells whether something is held that should read as a value: neither NULL nor NaN nor a word for missing."""
    if held in ("DOUBLE", "FLOAT"):
        return scope.fill("({0} IS NOT NULL AND NOT isnan({0}))", raw)
    if is_text(held) and kind is not Kind.TEXT:
        return scope.fill(f"NOT coalesce({IS_MISSING}, TRUE)", scope.fill(text_in(held), raw))
    return scope.fill("({0} IS NOT NULL)", raw)
