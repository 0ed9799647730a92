"""Who owns a row, in Spark: ids and keys are compared as the source holds them, exactly, before anything is read.

Columns of one type are compared in that type. Where two tables hold ids in different types, both are written as texts
that are equal for equal values only. Which of the two it is depends on types alone.
"""

from __future__ import annotations

from collections.abc import Iterable

from sfumato.query.engines.spark.reading import FLOATS, NARROW, TIMES, WIDE, in_years, inside, is_decimal
from sfumato.query.engines.spark.text_reading import EXACT, IS_MISSING, MOMENT, as_written, reading
from sfumato.query.engines.sql.statement import Piece, Scope
from sfumato.query.nodes.kinds import Kind

TEXT, WHOLE, FLOAT = "STRING", "BIGINT", "DOUBLE"
HALF, WIDEST = 2**63, 2**126

NOBODY = "CASE WHEN NOT startswith({0}, concat(char(0), char(0))) THEN {0} END"
"""A value of Python that nobody can name (`python_values.UNREADABLE`) is nobody's id."""

BY_ITSELF = f"concat('?', {NOBODY})"
"""A text that names nothing of its kind, behind a mark that no name has: what it looks like may be another's name."""

FINE = "({0} RLIKE '[.][0-9]{{7}}')"
"""A time with more places than microseconds have: it would be cut."""


def form(kind: Kind, held: str) -> str:
    """The type in which values of a type are compared with one another, exactly."""
    if held == "string":
        return TEXT
    if held in NARROW:
        return WHOLE
    return FLOAT if held in FLOATS else held


def common(forms: Iterable[str]) -> str:
    """The type in which values of several forms are compared: that of all, or texts."""
    different = set(forms)
    return different.pop() if len(different) == 1 else TEXT


def identity(raw: Piece, held: str, kind: Kind, wanted: str, scope: Scope, written: str = "") -> Piece:
    """An id or a key in a form: uncut, unrounded and unhashed; two are one exactly if they are equal.

    A hash would take two people for one where it collides, and removing one of them would then change what is kept of
    the other.
    """
    if wanted == TEXT:
        return _as_text(raw, held, kind, scope, written)
    if wanted == FLOAT:  # NaN is missing, and the zero has no sign
        return scope.fill("CASE WHEN NOT isnan({0}) THEN CAST({0} AS DOUBLE) + CAST(0 AS DOUBLE) END", raw)
    if is_decimal(held):
        return scope.fill(inside(held), raw)
    return raw if wanted.lower() == held else scope.fill(f"CAST({{0}} AS {wanted})", raw)


def _as_text(raw: Piece, held: str, kind: Kind, scope: Scope, written: str) -> Piece:
    if held == "string":
        return raw if kind is Kind.TEXT else named_text(raw, kind, scope, written)
    if held in FLOATS:
        return _of_double(raw, scope)
    if is_decimal(held):
        return scope.fill(EXACT, scope.fill(f"CAST({inside(held)} AS STRING)", raw))
    if held == "date":
        midnight = f"coalesce(CAST(CAST({in_years(held)} AS TIMESTAMP_NTZ) AS STRING), CAST({{0}} AS STRING))"
        return scope.fill(midnight, raw)
    if held in TIMES:
        return scope.fill("CAST(CAST({0} AS TIMESTAMP_NTZ) AS STRING)", raw)
    return scope.fill("CAST({0} AS STRING)", raw)


def named_text(text: Piece, kind: Kind, scope: Scope, written: str) -> Piece:
    """The text that names what a text of a kind holds: the exact number or moment; or the text, if it is none."""
    trimmed = scope.named(scope.fill(as_written(kind, written), text))
    if kind.numeric:
        exact = scope.fill(EXACT, trimmed)
    elif kind.temporal:
        moment = scope.fill(f"CAST({reading(Kind.TIME, written) if written else MOMENT} AS STRING)", trimmed)
        exact = scope.fill(f"CASE WHEN NOT {FINE} THEN {{1}} END", trimmed, moment)
    else:
        exact = scope.fill("lower({0})", trimmed)
    kept = scope.fill(BY_ITSELF, text)
    return scope.fill(
        f"CASE WHEN NOT {IS_MISSING.replace('{0}', '{2}')} THEN coalesce({{0}}, {{1}}) END", exact, kept, text
    )


def _of_double(raw: Piece, scope: Scope) -> Piece:
    """The text of a float: of a whole number all of its digits, of another the shortest that read back.

    Spark makes a decimal of the shortest digits of a float, so that a large one goes in two parts of 63 bits each.
    """
    number = scope.named(scope.fill("CAST({0} AS DOUBLE)", raw))
    above = scope.named(scope.fill(f"CAST({{0}} / {HALF}D AS BIGINT)", number))
    below = scope.named(scope.fill(f"CAST({{0}} - CAST({{1}} AS DOUBLE) * {HALF}D AS BIGINT)", number, above))
    digits = (
        f"CASE WHEN isnan({{0}}) THEN NULL WHEN {{0}} = rint({{0}}) AND abs({{0}}) < {WIDEST}D"
        f" THEN CAST(CAST({{1}} AS {WIDE}) * {HALF}BD + CAST({{2}} AS {WIDE}) AS STRING) ELSE CAST({{0}} AS STRING) END"
    )
    text = scope.named(scope.fill(digits, number, above, below))
    return scope.fill("coalesce({0}, {1})", scope.fill(EXACT, text), text)
