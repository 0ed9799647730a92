"""Reading columns of DuckDB: from whatever type a column has to the kind and the domain that its codebook states.

The first table of docs/semantics.md, in SQL. A value that is none of the kind becomes missing; a type of which no value
could be one is refused when a source is opened. Texts are read by the forms of `text_reading`.
"""

from __future__ import annotations

import datetime
from fractions import Fraction
from math import ceil, floor

from sfumato.query.engines.duckdb_expressions import CLAMPED, FINITE, among
from sfumato.query.engines.duckdb_text import Ends, Piece, Scope
from sfumato.query.engines.text_reading import IS_MISSING, WHOLE, as_written, reading
from sfumato.query.facts import Facts
from sfumato.query.kinds import FIRST_DAY, LAST_DAY, LEAST_INT, LONGEST_TEXT, MOST_INT, Kind, kind_of

NARROW = {"TINYINT": 7, "SMALLINT": 15, "INTEGER": 31, "BIGINT": 63, "UTINYINT": 8, "USMALLINT": 16, "UINTEGER": 32}
"""Types of whole numbers that fit into 64 bits with a sign, and how many bits they have without it."""

WIDE = ("UBIGINT", "HUGEINT", "UHUGEINT")
TIMES = ("TIMESTAMP", "TIMESTAMP_S", "TIMESTAMP_MS", "TIMESTAMP_NS")
ZONED, ZONED_NS = "TIMESTAMP WITH TIME ZONE", "TIMESTAMPTZ_NS"


def is_text(held: str) -> bool:
    """Tells whether a type of DuckDB holds texts."""
    return held == "VARCHAR" or held.startswith("ENUM(")


def text_in(held: str) -> str:
    """Gives the template of the text of a value, for types that hold texts."""
    return "{0}" if held == "VARCHAR" else "CAST({0} AS VARCHAR)"


def readable(kind: Kind, held: str) -> str | None:
    """Gives the template that reads a column of one of DuckDB's types as a kind; None, where it cannot be read so.

    Whole numbers come in 64 bits, or in 128 where the type has more: `read` sees to those.
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
    """Gives the template of a decimal without values that have more digits than its type.

    Files can hold such numbers, and DuckDB gives up at some of them, whatever they are cast to.
    """
    digits, places = (int(part) for part in held.removeprefix("DECIMAL(").removesuffix(")").split(","))
    most = f"{'9' * (digits - places)}.{'9' * places}"
    return f"CASE WHEN {{0}} BETWEEN CAST('-{most}' AS {held}) AND CAST('{most}' AS {held}) THEN {{0}} END"


def in_years(held: str) -> str:
    """Gives the template of a time in seconds or milliseconds, of the years that there are: DuckDB raises at others,
    whatever they are cast to."""
    first, last = (f"CAST('{end}' AS {held})" for end in (FIRST_DAY, f"{LAST_DAY} 23:59:59.999"))
    return f"CASE WHEN {{0}} BETWEEN {first} AND {last} THEN {{0}} END"


def _moment(kind: Kind, held: str) -> str | None:
    if held == "DATE":
        return "{0}" if kind is Kind.DATE else "TRY_CAST({0} AS TIMESTAMP)"
    if held in (ZONED, "TIMESTAMP_NS"):
        # Not a cast: its statistics forget -infinity, and DuckDB leaves out checks of years that they make needless.
        found = "make_timestamp(epoch_us({0}))"
    elif held == ZONED_NS:  # what pandas writes; to fewer digits first, in which no zone has a say
        found = f"make_timestamp(epoch_us(TRY_CAST({{0}} AS {ZONED})))"
    elif held in TIMES:
        found = "{0}" if held == "TIMESTAMP" else f"CAST({in_years(held)} AS TIMESTAMP)"
    else:
        return None
    return found if kind is Kind.TIME else f"CAST({found} AS DATE)"


def parsed(raw: Piece, held: str, kind: Kind, scope: Scope, written: str = "") -> Piece:
    """Gives a column as values of a kind, which may still be infinite, too large or in no year that there is."""
    if not is_text(held) or kind is Kind.TEXT:
        return scope.fill(readable(kind, held) or "NULL", raw)
    text = scope.fill(as_written(kind, written), scope.fill(text_in(held), raw))
    return scope.fill(reading(kind, written), text)


def as_kind(raw: Piece, held: str, kind: Kind, scope: Scope, written: str = "") -> Piece:
    """Gives a column as values of a kind, before any bounds; days of no year that there is are missing."""
    if kind is Kind.INT and held in (*WIDE, "FLOAT", "DOUBLE"):
        return scope.fill("TRY_CAST({0} AS BIGINT)", raw)
    found = parsed(raw, held, kind, scope, written)
    if kind is Kind.INT and held not in NARROW:
        return scope.fill("TRY_CAST({0} AS BIGINT)", found)
    if kind is Kind.FLOAT and (held in ("DOUBLE", "FLOAT") or is_text(held)):
        return scope.fill(FINITE, found)
    return _days(found, kind, Facts(), scope) if kind.temporal else found


def is_value(raw: Piece, held: str, kind: Kind, scope: Scope) -> Piece:
    """Tells whether something is held that should read as a value: neither NULL nor NaN nor a word for missing."""
    if held in ("DOUBLE", "FLOAT"):
        return scope.fill("({0} IS NOT NULL AND NOT isnan({0}))", raw)
    if is_text(held) and kind is not Kind.TEXT:
        return scope.fill(f"NOT coalesce({IS_MISSING}, TRUE)", scope.fill(text_in(held), raw))
    return scope.fill("({0} IS NOT NULL)", raw)


def read(raw: Piece, held: str, kind: Kind, facts: Facts, scope: Scope) -> Piece:
    """Gives a column as its codebook describes it: every value in its domain, or missing."""
    if facts.keys is not None:
        listed = [key for key in facts.keys if kind_of(key) is kind or (kind_of(key), kind) == (Kind.INT, Kind.FLOAT)]
        found = scope.named(as_kind(raw, held, kind, scope, facts.written))
        return scope.fill("CASE WHEN {0} THEN {1} END", among(found, listed, kind, scope), found)
    match kind:
        case Kind.FLOAT:
            return _bounded_float(raw, held, facts, scope)
        case Kind.INT:
            return _bounded_whole(as_kind(raw, held, kind, scope, facts.written), held, facts, scope)
        case Kind.TEXT:
            # Bytes are counted without looking at them, and no text has fewer of them than characters.
            short = f"CASE WHEN strlen({{0}}) <= {LONGEST_TEXT} THEN {{0}} ELSE left({{0}}, {LONGEST_TEXT}) END"
            return scope.fill(short, as_kind(raw, held, kind, scope))
        case Kind.DATE | Kind.TIME:
            return _days(parsed(raw, held, kind, scope, facts.written), kind, facts, scope)
    return as_kind(raw, held, kind, scope)


def enforced(kind: Kind, facts: Facts) -> Ends | None:
    """Gives the bounds that `read` moves numbers into."""
    ends = facts.numbers if kind.numeric and facts.keys is None else None
    if ends is None:
        return None
    if kind is Kind.FLOAT:
        return float(ends[0]), float(ends[1])
    return max(ceil(ends[0]), LEAST_INT), min(floor(ends[1]), MOST_INT)


def _bounded_float(raw: Piece, held: str, facts: Facts, scope: Scope) -> Piece:
    ends = enforced(Kind.FLOAT, facts)
    if ends is None:
        return as_kind(raw, held, Kind.FLOAT, scope, facts.written)
    # To DuckDB NaN is above everything. Only what lies outside is asked whether it is a number at all.
    clamped = (
        "CASE WHEN {0} BETWEEN {1} AND {2} THEN {0}"
        " WHEN {0} > {2} AND {0} < CAST('inf' AS DOUBLE) THEN {2}"
        " WHEN {0} < {1} AND {0} > CAST('-inf' AS DOUBLE) THEN {1} END"
    )
    bounds = (Piece(scope.statement.bind(end, Kind.FLOAT)) for end in ends)
    return scope.fill(clamped, parsed(raw, held, Kind.FLOAT, scope, facts.written), *bounds)


def _bounded_whole(found: Piece, held: str, facts: Facts, scope: Scope) -> Piece:
    match facts.between:
        case (Fraction() | float() as low, Fraction() | float() as high):
            least = ceil(low) if isinstance(low, Fraction) else LEAST_INT
            most = floor(high) if isinstance(high, Fraction) else MOST_INT
        case _:
            return found
    bits = NARROW.get(held, 63)
    if least <= (0 if held.startswith("U") else -(2**bits)) and most >= 2**bits - 1:
        return found
    least, most = max(least, LEAST_INT), min(most, MOST_INT)
    return scope.fill(CLAMPED, found, *(Piece(scope.statement.bind(end, Kind.INT)) for end in (least, most)))


def _days(found: Piece, kind: Kind, facts: Facts, scope: Scope) -> Piece:
    match facts.between:
        case (datetime.date() as first, datetime.date() as last):
            pass
        case _ if kind is Kind.DATE:
            first, last = FIRST_DAY, LAST_DAY
        case _:
            first = datetime.datetime.combine(FIRST_DAY, datetime.time.min)
            last = datetime.datetime.combine(LAST_DAY, datetime.time.max)
    ends = (Piece(scope.statement.bind(end, kind)) for end in (first, last))
    return scope.fill("CASE WHEN {0} BETWEEN {1} AND {2} THEN {0} END", found, *ends)
