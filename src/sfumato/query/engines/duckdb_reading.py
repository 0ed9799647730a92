"""Reading columns of DuckDB: from whatever type a column has to the kind and the domain that its codebook states.

The first table of docs/semantics.md, in SQL. A value that is none of the kind becomes missing; a type of which no value
could be one is refused when a source is opened.
"""

from __future__ import annotations

import datetime
from fractions import Fraction
from math import ceil, floor

from sfumato.query.engines.duckdb_expressions import CLAMPED, FINITE, among
from sfumato.query.engines.duckdb_text import Ends, Piece, Scope
from sfumato.query.facts import Facts
from sfumato.query.kinds import FIRST_DAY, LAST_DAY, LEAST_INT, LONGEST_TEXT, MOST_INT, Kind, kind_of

NARROW = {"TINYINT": 7, "SMALLINT": 15, "INTEGER": 31, "BIGINT": 63, "UTINYINT": 8, "USMALLINT": 16, "UINTEGER": 32}
"""Types of whole numbers that fit into 64 bits with a sign, and how many bits they have without it."""

WIDE = ("UBIGINT", "HUGEINT", "UHUGEINT")
TIMES = ("TIMESTAMP", "TIMESTAMP_S", "TIMESTAMP_MS", "TIMESTAMP_NS")
ZONED = "TIMESTAMP WITH TIME ZONE"

DECIMAL = "[+-]?([0-9]+([.][0-9]*)?|[.][0-9]+)"
TWO = "[0-9][0-9]"
DAY = f"{TWO}{TWO}-{TWO}-{TWO}"
CLOCK = "([ T]([01][0-9]|2[0-3]):[0-5][0-9](:[0-5][0-9]([.][0-9]+)?)?)"
OFFSET = f"(Z|[+-]{TWO}(:?{TWO})?)"

WHOLE_OF_TEXT = (
    # The digits before the point, and one more where those after it are above a half, or a half beside an odd digit.
    f"CASE WHEN regexp_full_match({{0}}, '{DECIMAL}') THEN"
    " (CAST(TRY_CAST('0' || regexp_extract({0}, '^[+-]?([0-9]*)', 1) AS DECIMAL(37, 0)) AS HUGEINT)"
    " + CASE WHEN regexp_matches({0}, '[.]([6-9]|5[0-9]*[1-9])') THEN 1"
    " WHEN regexp_matches({0}, '[13579][.]50*$') THEN 1 ELSE 0 END)"
    " * CASE WHEN {0}[1] = '-' THEN -1 ELSE 1 END END"
)
FLOAT_OF_TEXT = f"CASE WHEN regexp_full_match({{0}}, '{DECIMAL}') THEN TRY_CAST({{0}} AS DOUBLE) END"
BOOL_OF_TEXT = "CASE lower({0}) WHEN 'true' THEN TRUE WHEN 'false' THEN FALSE END"
DATE_OF_TEXT = f"CASE WHEN regexp_full_match({{0}}, '{DAY}') THEN TRY_CAST({{0}} AS DATE) END"
TIME_OF_TEXT = (
    f"CASE WHEN regexp_full_match({{0}}, '{DAY}{CLOCK}?') THEN TRY_CAST({{0}} AS TIMESTAMP)"
    f" WHEN regexp_full_match({{0}}, '{DAY}{CLOCK}{OFFSET}')"
    " THEN make_timestamp(epoch_us(TRY_CAST({0} AS TIMESTAMPTZ))) END"
)

TEXT_AS = {
    Kind.INT: WHOLE_OF_TEXT,
    Kind.FLOAT: FLOAT_OF_TEXT,
    Kind.BOOL: BOOL_OF_TEXT,
    Kind.DATE: DATE_OF_TEXT,
    Kind.TIME: TIME_OF_TEXT,
    Kind.TEXT: "{0}",
}


WHOLE_IDS = {
    "VARCHAR": "regexp_full_match({0}, '[+-]?[0-9]+')",
    "FLOAT": "{0} = trunc({0})",
    "DOUBLE": "{0} = trunc({0})",
}
"""What makes a value of a type that is not for whole numbers one, where ids are whole numbers."""


def readable(kind: Kind, held: str) -> str | None:
    """Gives the template that reads a column of one of DuckDB's types as a kind; None, where it cannot be read so.

    Whole numbers come in 64 bits, or in 128 where the type has more: `read` sees to those.
    """
    if held == "VARCHAR":
        return TEXT_AS[kind]
    if held.startswith("ENUM("):
        return TEXT_AS[kind].replace("{0}", "CAST({0} AS VARCHAR)")
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
    if held in WIDE or (held.startswith("DECIMAL(") and held.endswith(",0)")):
        return "TRY_CAST({0} AS HUGEINT)"
    if held in ("FLOAT", "DOUBLE"):
        return "TRY_CAST({0} AS HUGEINT)"
    return WHOLE_OF_TEXT.replace("{0}", "CAST({0} AS VARCHAR)") if held.startswith("DECIMAL(") else None


def _float(held: str) -> str | None:
    if held == "DOUBLE":
        return "{0}"
    if held in NARROW or held in ("FLOAT", "UBIGINT"):
        return "CAST({0} AS DOUBLE)"
    # DuckDB rounds wide numbers twice; their texts are rounded once.
    return "CAST(CAST({0} AS VARCHAR) AS DOUBLE)" if held in WIDE or held.startswith("DECIMAL(") else None


def _moment(kind: Kind, held: str) -> str | None:
    if held == "DATE":
        return "{0}" if kind is Kind.DATE else "TRY_CAST({0} AS TIMESTAMP)"
    if held in (ZONED, "TIMESTAMP_NS"):
        # Not a cast: its statistics forget -infinity, and DuckDB leaves out checks of years that they make needless.
        found = "make_timestamp(epoch_us({0}))"
    elif held == "TIMESTAMPTZ_NS":  # what pandas writes; to fewer digits first, in which no zone has a say
        found = f"make_timestamp(epoch_us(TRY_CAST({{0}} AS {ZONED})))"
    elif held in TIMES:
        found = "{0}" if held == "TIMESTAMP" else "TRY_CAST({0} AS TIMESTAMP)"
    else:
        return None
    return found if kind is Kind.TIME else f"CAST({found} AS DATE)"


def as_kind(raw: Piece, held: str, kind: Kind, scope: Scope) -> Piece:
    """Gives a column as values of a kind, before any bounds; days of no year that there is are missing."""
    if kind is Kind.INT and held in (*WIDE, "FLOAT", "DOUBLE"):
        return scope.fill("TRY_CAST({0} AS BIGINT)", raw)
    found = scope.fill(readable(kind, held) or "NULL", raw)
    if kind is Kind.INT and held not in NARROW:
        return scope.fill("TRY_CAST({0} AS BIGINT)", found)
    if kind is Kind.FLOAT and (held in ("DOUBLE", "FLOAT", "VARCHAR") or held.startswith("ENUM(")):
        return scope.fill(FINITE, found)
    return _days(found, kind, Facts(), scope) if kind.temporal else found


def identity(raw: Piece, held: str, kind: Kind, scope: Scope) -> Piece:
    """Gives an id, uncut and unhashed: two ids are one unit exactly if they are equal, as values of their kind.

    A hash would take two people for one where it collides, and removing one of them would then change what is kept of
    the other.
    """
    if kind is Kind.INT:  # 128 bits where 64 may not do; what is no whole number is nobody's id
        whole = WHOLE_IDS.get(held, "{0} = trunc({0})" if held.startswith("DECIMAL(") else "")
        found = scope.fill(readable(kind, held) or "NULL", raw)
        return scope.fill(f"CASE WHEN {whole.replace('{0}', '{1}')} THEN {{0}} END", found, raw) if whole else found
    found = as_kind(raw, held, kind, scope)
    return scope.fill("({0} + CAST(0 AS DOUBLE))", found) if kind is Kind.FLOAT else found


def read(raw: Piece, held: str, kind: Kind, facts: Facts, scope: Scope) -> Piece:
    """Gives a column as its codebook describes it: every value in its domain, or missing."""
    if facts.keys is not None:
        listed = [key for key in facts.keys if kind_of(key) is kind or (kind_of(key), kind) == (Kind.INT, Kind.FLOAT)]
        found = scope.named(as_kind(raw, held, kind, scope))
        return scope.fill("CASE WHEN {0} THEN {1} END", among(found, listed, kind, scope), found)
    match kind:
        case Kind.FLOAT:
            return _bounded_float(raw, held, facts, scope)
        case Kind.INT:
            return _bounded_whole(as_kind(raw, held, kind, scope), held, facts, scope)
        case Kind.TEXT:
            # Bytes are counted without looking at them, and no text has fewer of them than characters.
            short = f"CASE WHEN strlen({{0}}) <= {LONGEST_TEXT} THEN {{0}} ELSE left({{0}}, {LONGEST_TEXT}) END"
            return scope.fill(short, as_kind(raw, held, kind, scope))
        case Kind.DATE | Kind.TIME:
            return _days(scope.fill(readable(kind, held) or "NULL", raw), kind, facts, scope)
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
        return as_kind(raw, held, Kind.FLOAT, scope)
    # To DuckDB NaN is above everything. Only what lies outside is asked whether it is a number at all.
    clamped = (
        "CASE WHEN {0} BETWEEN {1} AND {2} THEN {0}"
        " WHEN {0} > {2} AND {0} < CAST('inf' AS DOUBLE) THEN {2}"
        " WHEN {0} < {1} AND {0} > CAST('-inf' AS DOUBLE) THEN {1} END"
    )
    bounds = (Piece(scope.statement.bind(end, Kind.FLOAT)) for end in ends)
    return scope.fill(clamped, scope.fill(readable(Kind.FLOAT, held) or "NULL", raw), *bounds)


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
