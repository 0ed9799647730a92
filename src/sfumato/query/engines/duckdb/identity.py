"""Who owns a row, in DuckDB: ids and keys are compared as the source holds them, exactly, before anything is read.

Columns of one type are compared in that type. Where two tables hold ids in different types, both are written as texts
that are equal for equal values only. Which of the two it is depends on types alone: the same rows of a unit are kept
whatever anybody else's id is.
"""

from __future__ import annotations

from collections.abc import Iterable

from sfumato.query.engines.duckdb.reading import NARROW, ZONED, ZONED_NS, in_years, inside, is_text, text_in
from sfumato.query.engines.duckdb.text_reading import EXACT, IS_MISSING, MOMENT, as_written, reading
from sfumato.query.engines.sql.statement import Piece, Scope
from sfumato.query.nodes.kinds import Kind

TEXT = "VARCHAR"
WIDEST = 2**127

NOBODY = "CASE WHEN {0} <> chr(0) || chr(0) THEN {0} END"
"""A value of Python that nobody can name (`python_values.UNREADABLE`) is nobody's id."""

BY_ITSELF = f"'?' || {NOBODY}"
"""A text that names nothing of its kind, behind a mark that no name has: what it looks like may be another's name."""

IN_UTC = {ZONED: "make_timestamp(epoch_us({0}))", ZONED_NS: "make_timestamp_ns(epoch_ns({0}))"}
"""Times with a zone, as times without one: in UTC, whatever zone DuckDB is in. Of infinite ones there is none."""

FINE = "regexp_matches({0}, '[.][0-9]{{7}}')"
"""A time with more places than microseconds have: it would be cut."""


def form(kind: Kind, held: str) -> str:
    """The type in which values of a type are compared with one another, exactly."""
    if is_text(held) or kind is Kind.TEXT:
        return TEXT
    if held in NARROW:
        return "BIGINT"
    return {"UBIGINT": "HUGEINT", "FLOAT": "DOUBLE"}.get(held, held)


def common(forms: Iterable[str]) -> str:
    """The type in which values of several forms are compared: one of theirs, or texts."""
    different = set(forms)
    if len(different) == 1:
        return different.pop()
    return "HUGEINT" if different == {"BIGINT", "HUGEINT"} else TEXT


def identity(raw: Piece, held: str, kind: Kind, wanted: str, scope: Scope, written: str = "") -> Piece:
    """An id or a key in a form: uncut, unrounded and unhashed; two are one exactly if they are equal.

    A hash would take two people for one where it collides, and removing one of them would then change what is kept of
    the other.
    """
    if wanted == TEXT:
        return _as_text(raw, held, kind, scope, written)
    if wanted == "DOUBLE":  # NaN is missing, and the zero has no sign
        return scope.fill("CASE WHEN NOT isnan({0}) THEN CAST({0} AS DOUBLE) + CAST(0 AS DOUBLE) END", raw)
    return raw if wanted == held else scope.fill(f"CAST({{0}} AS {wanted})", raw)


def _as_text(raw: Piece, held: str, kind: Kind, scope: Scope, written: str) -> Piece:
    if is_text(held):
        text = scope.fill(text_in(held), raw)
        return text if kind is Kind.TEXT else named_text(text, kind, scope, written)
    if held in ("DOUBLE", "FLOAT"):
        return _of_double(raw, scope)
    if held.startswith("DECIMAL("):
        # What has more digits than the type allows is nobody's.
        return scope.fill(EXACT, scope.fill(f"CAST({inside(held)} AS VARCHAR)", raw))
    if held in ("TIMESTAMP_S", "TIMESTAMP_MS"):
        return scope.fill(f"CAST({in_years(held)} AS VARCHAR)", raw)
    if held in IN_UTC:
        return scope.fill(f"coalesce(CAST({IN_UTC[held]} AS VARCHAR), CAST({{0}} AS VARCHAR))", raw)
    if held == "DATE":
        midnight = "coalesce(CAST(TRY_CAST({0} AS TIMESTAMP) AS VARCHAR), CAST({0} AS VARCHAR))"
        return scope.fill(midnight, raw)
    return scope.fill("CAST({0} AS VARCHAR)", raw)


def named_text(text: Piece, kind: Kind, scope: Scope, written: str) -> Piece:
    """The text that names what a text of a kind holds: the exact number or moment; or the text, if it is none."""
    trimmed = scope.named(scope.fill(as_written(kind, written), text))
    if kind.numeric:
        exact = scope.fill(EXACT, trimmed)
    elif kind.temporal:
        moment = scope.fill(f"CAST({reading(Kind.TIME, written) if written else MOMENT} AS VARCHAR)", trimmed)
        exact = scope.fill(f"CASE WHEN NOT {FINE} THEN {{1}} END", trimmed, moment)
    else:
        exact = scope.fill("lower({0})", trimmed)
    kept = scope.fill(BY_ITSELF, text)
    return scope.fill(
        f"CASE WHEN NOT {IS_MISSING.replace('{0}', '{2}')} THEN coalesce({{0}}, {{1}}) END", exact, kept, text
    )


def _of_double(raw: Piece, scope: Scope) -> Piece:
    """The text of a float: of a whole number all of its digits, of another the shortest that read back."""
    digits = (
        f"CASE WHEN isnan({{0}}) THEN NULL WHEN {{0}} = trunc({{0}}) AND abs({{0}}) < CAST('{WIDEST}' AS DOUBLE)"
        " THEN CAST(TRY_CAST({0} AS HUGEINT) AS VARCHAR) ELSE CAST({0} AS VARCHAR) END"
    )
    text = scope.named(scope.fill(digits, scope.fill("CAST({0} AS DOUBLE)", raw)))
    return scope.fill("coalesce({0}, {1})", scope.fill(EXACT, text), text)
