"""Who owns a row, in PostgreSQL: ids and keys are compared as the table holds them, exactly, before anything is read.

Columns of one type are compared in that type. Where two tables hold ids in different types, both are written as texts
that are equal for equal values only. Which of the two it is depends on types alone.
"""

from __future__ import annotations

from collections.abc import Iterable

from sfumato.query.engines.postgres.reading import made_as
from sfumato.query.engines.postgres.text_reading import EXACT, IS_MISSING, MOMENT, as_written
from sfumato.query.engines.sql.statement import Piece, Scope
from sfumato.query.nodes.kinds import Kind

TEXT = "text"
WIDEST = 2**127

BY_ITSELF = "'?' || {0}"
"""A text that names nothing of its kind, behind a mark that no name has: what it looks like may be another's name."""

FINE = "{0} ~ '[.][0-9]{{7}}'"
"""A time with more places than microseconds have: it would be cut."""

_DIGITS = (
    "CAST(CAST(trunc({0} / 18446744073709551616.0) AS int8) * CAST(18446744073709551616 AS numeric)"
    " + CAST(trunc(({0} - trunc({0} / 18446744073709551616.0) * 18446744073709551616.0) / 4294967296.0) AS int8)"
    " * CAST(4294967296 AS numeric)"
    " + CAST({0} - trunc({0} / 4294967296.0) * 4294967296.0 AS int8) AS text)"
)
OF_FLOAT = (
    "CASE WHEN {0} = 'NaN' THEN NULL"
    f" WHEN {{0}} IN ('Infinity', '-Infinity') THEN CAST({{0}} AS text)"
    f" WHEN abs({{0}}) < 4294967296 AND {{0}} = trunc({{0}}) THEN CAST(CAST({{0}} AS int8) AS text)"
    f" WHEN abs({{0}}) < {WIDEST} AND {{0}} = trunc({{0}}) THEN {_DIGITS}"
    " ELSE CAST(trim_scale(CAST(CAST({0} AS text) AS numeric)) AS text) END"
)
"""The text of a float: of a whole number all of its digits, of another the shortest that read back."""


def form(kind: Kind, held: str) -> str:
    """The type in which values of a type are compared with one another, exactly."""
    return TEXT if kind is Kind.TEXT else made_as(held)


def common(forms: Iterable[str]) -> str:
    """The type in which values of several forms are compared: one of theirs, or texts."""
    different = set(forms)
    if len(different) == 1:
        return different.pop()
    return "numeric" if different == {"int8", "numeric"} else TEXT


def identity(raw: Piece, held: str, kind: Kind, wanted: str, scope: Scope, written: str = "") -> Piece:
    """An id or a key in a form: uncut, unrounded and unhashed; two are one exactly if they are equal."""
    made = made_as(held)
    if wanted == TEXT:
        return _as_text(raw, made, kind, scope, written)
    if wanted == "float8":  # NaN is missing, and the zero has no sign
        return scope.fill("CASE WHEN {0} <> 'NaN' THEN {0} + CAST(0 AS float8) END", raw)
    if made == "numeric":  # nobody's is what is no number; of equal numbers one is written as the other
        return scope.fill("CASE WHEN {0} <> 'NaN' THEN trim_scale({0}) END", raw)
    return raw if wanted == made else scope.fill(f"CAST({{0}} AS {wanted})", raw)


def _as_text(raw: Piece, made: str, kind: Kind, scope: Scope, written: str) -> Piece:
    if made == TEXT:
        return raw if kind is Kind.TEXT else _named(raw, kind, scope, written)
    if made == "float8":
        return _collated(scope.fill(OF_FLOAT, raw), scope)
    if made == "numeric":
        text = "CASE WHEN {0} <> 'NaN' THEN CAST(trim_scale({0}) AS text) END"
        return _collated(scope.fill(text, raw), scope)
    if made == "date":  # as its midnight; of days beyond all times there is none, and none needs one
        midnight = (
            "CASE WHEN {0} BETWEEN CAST('4713-01-01 BC' AS date) AND CAST('294276-12-31' AS date)"
            " THEN CAST(CAST({0} AS timestamp) AS text) ELSE CAST({0} AS text) END"
        )
        return _collated(scope.fill(midnight, raw), scope)
    return _collated(scope.fill("CAST({0} AS text)", raw), scope)


def _named(text: Piece, kind: Kind, scope: Scope, written: str) -> Piece:
    """The text that names what a text of a kind holds: the exact number or moment; or the text, if it is none."""
    trimmed = scope.named(scope.fill(as_written(kind, written), text))
    if kind.numeric:
        exact = scope.fill(EXACT, trimmed)
    elif kind.temporal:
        in_years = (
            f"CASE WHEN NOT {FINE} AND {{1}} BETWEEN CAST('0001-01-01' AS timestamp)"
            " AND CAST('9999-12-31 23:59:59.999999' AS timestamp) THEN CAST({1} AS text) END"
        )
        exact = scope.fill(in_years, trimmed, scope.fill(MOMENT, trimmed))
    else:
        exact = scope.fill("lower({0})", trimmed)
    kept = scope.fill(BY_ITSELF, text)
    missing = IS_MISSING.replace("{0}", "{2}")
    made = scope.fill(f"CASE WHEN NOT {missing} THEN coalesce({{0}}, {{1}}) END", exact, kept, text)
    return _collated(made, scope)


def _collated(text: Piece, scope: Scope) -> Piece:
    return scope.fill('{0} COLLATE "C"' if text.plain else '({0}) COLLATE "C"', text)
