"""Aggregates: those of SQL as statistics, at the top of a question and inside a unit alike."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TypeAlias, final

from sqlglot import exp

from sfumato.errors import QueryRefused
from sfumato.query.build.relation import all_of
from sfumato.query.nodes.expressions import Expression, Literal
from sfumato.query.nodes.kinds import Kind
from sfumato.query.nodes.operators import call
from sfumato.query.nodes.questions import (
    Count,
    CountDistinct,
    Covariance,
    Histogram,
    Mean,
    Quantile,
    Statistic,
    Sum,
    TopValues,
    Variance,
)
from sfumato.query.sql.constants import constant, share
from sfumato.query.sql.refusals import only, refused
from sfumato.query.sql.scalars import Scalars

Found: TypeAlias = tuple[Statistic, ...]
"""One statistic; several of QUANTILE with a list."""

Rule: TypeAlias = Callable[["Aggregates", exp.Expr], Found]


@final
@dataclass(frozen=True)
class Aggregates:
    """Reads aggregates; their operands are expressions of rows."""

    rows: Scalars

    def read(self, node: exp.Expr) -> Found:
        """Reads the statistics that an aggregate asks for; FILTER becomes their condition."""
        if isinstance(node, exp.Filter):
            only(node, "this", "expression")
            where = self.rows.condition(node.expression.this)
            return tuple(_where(one, where) for one in self._plain(node.this))
        return self._plain(node)

    def _plain(self, node: exp.Expr) -> Found:
        rule = _rule(node)
        if rule is None:
            raise QueryRefused("FILTER and WITHIN GROUP stand after an aggregate that is known.")
        return rule(self, node)

    def number(self, node: exp.Expr) -> Expression:
        """Reads an operand to add up: conditions count as 0 and 1."""
        if isinstance(node, exp.Distinct):
            raise refused(
                "DISTINCT inside this aggregate", "only COUNT(DISTINCT x) is answered. Aggregate an inner query"
            )
        operand = self.rows.read(node)
        return call("to_int", operand) if operand.kind is Kind.BOOL else operand


def is_aggregate(node: exp.Expr) -> bool:
    """Tells whether a node is an aggregate that is known."""
    return isinstance(node, exp.Filter) or _rule(node) is not None


def _rule(node: exp.Expr) -> Rule | None:
    return NAMED.get(node.name.lower()) if isinstance(node, exp.Anonymous) else RULES.get(type(node))


def _where(one: Statistic, condition: Expression) -> Statistic:
    both = condition if one.where is None else all_of([one.where, condition])
    return replace(one, where=both)  # type: ignore[type-var]


def _count(aggregates: Aggregates, node: exp.Expr) -> Found:
    only(node, "this")
    match node.this:
        case None | exp.Star():
            return (Count(),)
        case exp.Distinct(expressions=[operand]) if not isinstance(operand, exp.Star):
            return (CountDistinct(aggregates.rows.read(operand)),)
        case exp.Distinct():
            raise refused("COUNT(DISTINCT x, y)", "it takes one column. Put the columns together with CONCAT")
    counted = aggregates.rows.read(node.this)
    return (Count() if isinstance(counted, Literal) and counted.value is not None else Count(counted),)


def _count_if(aggregates: Aggregates, node: exp.Expr) -> Found:
    only(node, "this")
    return (Count(None, aggregates.rows.condition(node.this)),)


def _of(make: Callable[[Expression], Statistic]) -> Rule:
    """Builds the rule of an aggregate of one expression."""

    def rule(aggregates: Aggregates, node: exp.Expr) -> Found:
        match node:
            case exp.Anonymous(expressions=[operand]):
                return (make(aggregates.number(operand)),)
            case exp.Anonymous():
                raise refused(node.name.upper(), "it takes one operand")
        only(node, "this")
        return (make(aggregates.number(node.this)),)

    return rule


def _of_both(*, sample: bool, scaled: bool = False) -> Rule:
    def rule(aggregates: Aggregates, node: exp.Expr) -> Found:
        only(node, "this", "expression")
        of, other = aggregates.number(node.this), aggregates.number(node.expression)
        return (Covariance(of, other, sample, scaled),)

    return rule


def _quantile(aggregates: Aggregates, node: exp.Expr) -> Found:
    only(node, "this", "quantile", "expression")
    at = node.args.get("quantile") or node.args.get("expression")
    if at is None:
        raise refused("PERCENTILE without WITHIN GROUP", "write QUANTILE(x, 0.5)")
    return _quantiles(aggregates, node.this, at)


def _within(aggregates: Aggregates, node: exp.Expr) -> Found:
    only(node, "this", "expression")
    match node.this, node.expression:
        case ((exp.PercentileCont() | exp.PercentileDisc() as inner), exp.Order(expressions=[ordered])):
            only(inner, "this")
            only(ordered, "this", "desc")
            at = inner.this
            return _quantiles(aggregates, ordered.this, at, turned=bool(ordered.args.get("desc")))
    raise refused("WITHIN GROUP", "only PERCENTILE_CONT and PERCENTILE_DISC have it. Write QUANTILE(x, 0.5)")


def _quantiles(aggregates: Aggregates, of: exp.Expr, at: exp.Expr, *, turned: bool = False) -> tuple[Quantile, ...]:
    listed = at.expressions if isinstance(at, exp.Array) else [at]
    shares = [share(one, aggregates.rows.parameters) for one in listed]
    if not shares or not all(0 <= one <= 1 for one in shares):
        raise refused("QUANTILE", "it takes a share between 0 and 1, or a list of them")
    value = aggregates.number(of)
    return tuple(Quantile(value, 1 - one if turned else one) for one in shares)


def _histogram(aggregates: Aggregates, node: exp.Expr) -> Found:
    match node.expressions:
        case [of, exp.Array(expressions=edges)]:
            constants = [constant(edge, aggregates.rows.parameters) for edge in edges]
            numbers = [one.value for one in constants if one is not None and one.kind.numeric]
            if len(numbers) < len(constants):
                raise refused("HISTOGRAM", "its edges are numbers, written out or bound")
            return (Histogram(aggregates.number(of), tuple(numbers)),)  # type: ignore[arg-type]
    raise refused("HISTOGRAM", "it takes edges, because those of the data are private. Write HISTOGRAM(x, [0, 10, 20])")


def _top(aggregates: Aggregates, node: exp.Expr) -> Found:
    only(node, "this", "expression", "expressions")
    given = node.expressions if isinstance(node, exp.Anonymous) else [node.this, node.expression]
    most = constant(given[1], aggregates.rows.parameters) if len(given) == 2 and given[1] is not None else None
    if most is None or type(most.value) is not int or most.value < 1:
        raise refused("TOP_K", "it takes a column and how many values, as in TOP_K(site, 3)")
    return (TopValues(aggregates.rows.read(given[0]), most.value),)


RULES: dict[type[exp.Expr], Rule] = {
    exp.Count: _count,
    exp.CountIf: _count_if,
    exp.Sum: _of(Sum),
    exp.Avg: _of(Mean),
    exp.Variance: _of(Variance),
    exp.VariancePop: _of(lambda of: Variance(of, sample=False)),
    exp.Stddev: _of(lambda of: Variance(of, root=True)),
    exp.StddevSamp: _of(lambda of: Variance(of, root=True)),
    exp.StddevPop: _of(lambda of: Variance(of, sample=False, root=True)),
    exp.CovarSamp: _of_both(sample=True),
    exp.CovarPop: _of_both(sample=False),
    exp.Corr: _of_both(sample=True, scaled=True),
    exp.Min: _of(lambda of: Quantile(of, Fraction(0))),
    exp.Max: _of(lambda of: Quantile(of, Fraction(1))),
    exp.Median: _of(lambda of: Quantile(of, Fraction(1, 2))),
    exp.Quantile: _quantile,
    exp.ApproxQuantile: _quantile,
    exp.PercentileCont: _quantile,
    exp.PercentileDisc: _quantile,
    exp.WithinGroup: _within,
    exp.ApproxTopK: _top,
}
"""The rule of each aggregate that the parser has a node for."""

NAMED: dict[str, Rule] = {
    "mean": _of(Mean),
    "histogram": _histogram,
    "top_k": _top,
}
"""The rule of each that it has none for."""

WORDS: dict[type[exp.Expr], str] = {
    exp.Avg: "avg",
    exp.CountIf: "count",
    exp.VariancePop: "variance",
    exp.StddevSamp: "stddev",
    exp.StddevPop: "stddev",
    exp.CovarSamp: "covar",
    exp.CovarPop: "covar",
    exp.ApproxQuantile: "quantile",
    exp.PercentileCont: "quantile",
    exp.PercentileDisc: "quantile",
    exp.ApproxTopK: "top",
    exp.TimestampTrunc: "date_trunc",
    exp.DateTrunc: "date_trunc",
}
"""What columns of the answer are called that nobody named, where it is not the name of the function."""


def usual_name(node: exp.Expr) -> str:
    """Makes up a readable name for a column of the answer: what is done, and the first column that it is done to."""
    match node:
        case exp.Column():
            return node.name
        case exp.Filter() | exp.Paren() | exp.WithinGroup():
            inner = usual_name(node.this)
            ordered = node.find(exp.Ordered) if isinstance(node, exp.WithinGroup) else None
            return inner if ordered is None else _joined(inner, ordered)
        case exp.Anonymous():
            return _joined(node.name.lower(), node)
        case exp.Func() if not isinstance(node, exp.Case | exp.Cast | exp.And | exp.Or):
            return _joined(WORDS.get(type(node)) or node.sql_name().lower(), node)
    return "value"


def _joined(word: str, node: exp.Expr) -> str:
    column = node.find(exp.Column)
    return word if column is None else f"{word}_{column.name}"
