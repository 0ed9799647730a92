"""Reading columns as their codebook describes them: every value in its domain, or missing."""

from __future__ import annotations

import datetime
from fractions import Fraction
from math import ceil, floor

from sfumato.query.engines.sizes import enforced
from sfumato.query.engines.sql.expressions import CLAMPED, among
from sfumato.query.engines.sql.statement import Piece, Scope
from sfumato.query.nodes.facts import Facts
from sfumato.query.nodes.kinds import FIRST_DAY, LAST_DAY, LEAST_INT, LONGEST_TEXT, MOST_INT, Kind, kind_of


def read(raw: Piece, held: str, kind: Kind, facts: Facts, scope: Scope) -> Piece:
    """Reads a column of a type of the engine as its codebook describes it."""
    columns = scope.statement.dialect.columns
    if facts.keys is not None:
        listed = [key for key in facts.keys if kind_of(key) is kind or (kind_of(key), kind) == (Kind.INT, Kind.FLOAT)]
        value = scope.named(columns.as_kind(raw, held, kind, scope, facts.written))
        return scope.fill("CASE WHEN {0} THEN {1} END", among(value, listed, kind, scope), value)
    match kind:
        case Kind.FLOAT:
            return _bounded_float(raw, held, facts, scope)
        case Kind.INT:
            return _bounded_whole(columns.as_kind(raw, held, kind, scope, facts.written), held, facts, scope)
        case Kind.TEXT:
            short = scope.statement.dialect.short_text.format("{0}", LONGEST_TEXT)
            return scope.fill(short, columns.as_kind(raw, held, kind, scope))
        case Kind.DATE | Kind.TIME:
            return days(columns.parsed(raw, held, kind, scope, facts.written), kind, facts, scope)
    return columns.as_kind(raw, held, kind, scope)


def _bounded_float(raw: Piece, held: str, facts: Facts, scope: Scope) -> Piece:
    ends, dialect = enforced(Kind.FLOAT, facts), scope.statement.dialect
    if ends is None:
        return dialect.columns.as_kind(raw, held, Kind.FLOAT, scope, facts.written)
    bounds = (Piece(scope.statement.bind(end, Kind.FLOAT)) for end in ends)
    parsed = dialect.columns.parsed(raw, held, Kind.FLOAT, scope, facts.written)
    return scope.fill(dialect.clamped_float, parsed, *bounds)


def _bounded_whole(value: Piece, held: str, facts: Facts, scope: Scope) -> Piece:
    match facts.between:
        case (Fraction() | float() as low, Fraction() | float() as high):
            least = ceil(low) if isinstance(low, Fraction) else LEAST_INT
            most = floor(high) if isinstance(high, Fraction) else MOST_INT
        case _:
            return value
    first, last = scope.statement.dialect.columns.ranges.get(held, (LEAST_INT, MOST_INT))
    if least <= first and most >= last:
        return value
    ends = max(least, LEAST_INT), min(most, MOST_INT)
    return scope.fill(CLAMPED, value, *(Piece(scope.statement.bind(end, Kind.INT)) for end in ends))


def days(value: Piece, kind: Kind, facts: Facts, scope: Scope) -> Piece:
    """Days and times within the bounds of the codebook, or in a year that there is; others are missing."""
    match facts.between:
        case (datetime.date() as first, datetime.date() as last):
            pass
        case _ if kind is Kind.DATE:
            first, last = FIRST_DAY, LAST_DAY
        case _:
            first = datetime.datetime.combine(FIRST_DAY, datetime.time.min)
            last = datetime.datetime.combine(LAST_DAY, datetime.time.max)
    ends = (Piece(scope.statement.bind(end, kind)) for end in (first, last))
    return scope.fill("CASE WHEN {0} BETWEEN {1} AND {2} THEN {0} END", value, *ends)
