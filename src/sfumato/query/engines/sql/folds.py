"""The rows of one unit made into one value, as SQL: in any order of rows, the same."""

from __future__ import annotations

from sfumato.query.engines.sql.dialect import Dialect
from sfumato.query.engines.sql.expressions import steps, value
from sfumato.query.engines.sql.statement import Piece, Scope
from sfumato.query.nodes.expressions import Expression
from sfumato.query.nodes.kinds import Kind
from sfumato.query.nodes.relations import Fold, Folded

MODEST = 800
"""Sums are below 2 to the power of 126, and counts below 2 to the power of 63: floats have room for 1023."""


def key(of: Expression, scope: Scope) -> Piece:
    """An expression to group by: of floats, the zero without a sign."""
    if of.kind is not Kind.FLOAT:
        return value(of, scope)
    return scope.fill(f"({{0}} + CAST(0 AS {scope.statement.dialect.types[Kind.FLOAT]}))", value(of, scope))


def fold(folded: Folded, scope: Scope) -> tuple[list[Piece], list[str], str]:
    """What a fold looks at, the aggregates of that, and what is made of them: exact, in any order of rows."""
    if folded.of is None:
        return [], ["count(*)"], "{0}"
    of = folded.of
    match folded.fold:
        case Fold.COUNT:
            return [value(of, scope)], ["count({0})"], "{0}"
        case Fold.DISTINCT:
            return [value(of, scope)], ["count(DISTINCT {0})"], "{0}"
        case Fold.MIN | Fold.MAX:
            word = folded.fold.value
            of_truths = scope.statement.dialect.truth_folds if of.kind is Kind.BOOL else {}
            return [key(of, scope)], [of_truths.get(word, f"{word}({{0}})")], "{0}"
    if folded.grid is None and of.kind is not Kind.INT:
        raise TypeError(folded)
    steps_of = value(of, scope) if folded.grid is None else steps(of, folded.grid, scope)
    dialect = scope.statement.dialect
    double = dialect.types[Kind.FLOAT]
    total = dialect.to_whole if of.kind is Kind.INT else dialect.wide_to_float
    if of.kind is not Kind.INT and folded.grid is not None and folded.grid.exponent:
        total = _divided(total, scope.statement.bind(2.0**folded.grid.exponent, Kind.FLOAT), folded, dialect)
    sums = [dialect.wide_sum]
    if folded.fold is Fold.SUM:
        return [steps_of], sums, f"CAST({total} AS {dialect.types[of.kind]})"
    many = f"CAST(CASE WHEN {{1}} > 0 THEN {{1}} END AS {double})"
    return [steps_of], [*sums, "count({0})"], _divided(f"CAST({total} AS {double})", many, folded, dialect)


def _divided(total: str, by: str, folded: Folded, dialect: Dialect) -> str:
    """A sum on a grid divided by what is not 0: on most grids that is neither too large nor too small for a float."""
    plain = folded.grid is None or abs(folded.grid.exponent) < MODEST
    division = "({0} / {1})" if plain else dialect.floats.get("div", "({0} / {1})")
    return division.replace("{1}", by).replace("{0}", total)
