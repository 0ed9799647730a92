"""Aggregates: those of SQL as statistics, at the top of a question and inside a unit alike."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial
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
    Deviation,
    Histogram,
    Item,
    Kurtosis,
    Mean,
    MeanDistinct,
    Quantile,
    Skewness,
    Statistic,
    Sum,
    SumDistinct,
    TopValues,
    Variance,
)
from sfumato.query.sql.combinations import combination
from sfumato.query.sql.constants import constant, share
from sfumato.query.sql.options import PER_GROUP, PER_ROW
from sfumato.query.sql.refusals import only, refused
from sfumato.query.sql.scalars import Scalars

Made: TypeAlias = tuple[Expression, ...]
"""What an aggregate becomes, over statistics; several columns of QUANTILE with a list."""

Rule: TypeAlias = Callable[["Aggregates", exp.Expr], Made]


@final
@dataclass(frozen=True)
class Aggregates:
    """Reads aggregates; their operands are expressions of rows, ``wrap`` makes what stands for a statistic.

    With ``where``, statistics are of the rows for which that is true; with ``between``, numbers are moved into bounds.
    """

    rows: Scalars
    wrap: Callable[[Statistic], Expression]
    where: Expression | None = None
    between: tuple[Expression, Expression] | None = None

    def read(self, node: exp.Expr) -> Made:
        """Reads what an aggregate asks for; FILTER becomes the condition of its statistics."""
        if isinstance(node, exp.Filter):
            only(node, "this", "expression")
            return replace(self, where=self.rows.condition(node.expression.this)).read(node.this)
        rule = _rule(node)
        if rule is None:
            raise QueryRefused("FILTER and WITHIN GROUP stand after an aggregate that is known.")
        return rule(self, node)

    def value(self, statistic: Statistic) -> Expression:
        """Makes what stands for a statistic, of the rows that are looked at."""
        return self.wrap(statistic if self.where is None else _where(statistic, self.where))

    def number(self, node: exp.Expr) -> Expression:
        """Reads an operand to add up: conditions count as 0 and 1."""
        if isinstance(node, exp.Distinct):
            raise refused(
                "DISTINCT inside this aggregate",
                "COUNT, SUM, AVG, MIN and MAX have it. Aggregate an inner SELECT DISTINCT of the id and the column",
            )
        operand = self.rows.read(node)
        whole = call("to_int", operand) if operand.kind is Kind.BOOL else operand
        return whole if self.between is None else call("clamp", whole, *self.between)


@final
@dataclass(frozen=True)
class PerGroup(Statistic):
    """A statistic of what each unit has in a group, taken together and moved into bounds: stands while SQL is read."""

    name = "a contribution to a group"
    of: Statistic
    between: tuple[Expression, Expression]

    @property
    def where(self) -> Expression | None:  # type: ignore[override]
        return self.of.where

    @property
    def kind(self) -> Kind:  # type: ignore[override]
        return self.of.kind

    @property
    def operands(self) -> tuple[Expression, ...]:
        return self.of.operands


def is_aggregate(node: exp.Expr) -> bool:
    """Tells whether a node is an aggregate that is known."""
    return isinstance(node, exp.Filter) or _rule(node) is not None


def _rule(node: exp.Expr) -> Rule | None:
    return NAMED.get(node.name.lower()) if isinstance(node, exp.Anonymous) else RULES.get(type(node))


def _where(one: Statistic, condition: Expression) -> Statistic:
    if isinstance(one, Item | PerGroup):
        return replace(one, of=_where(one.of, condition))  # type: ignore[arg-type]  # as it was
    both = condition if one.where is None else all_of([one.where, condition])
    return replace(one, where=both)  # type: ignore[type-var]


def _count(aggregates: Aggregates, node: exp.Expr) -> Made:
    only(node, "this")
    match node.this:
        case None | exp.Star():
            return (aggregates.value(Count()),)
        case exp.Distinct(expressions=[*operands]) if operands and not any(one.is_star for one in operands):
            first, *others = combination(operands, aggregates.rows)
            return (aggregates.value(CountDistinct(first, others=tuple(others))),)
        case exp.Distinct():
            raise refused("COUNT(DISTINCT *)", "name the columns")
    counted = aggregates.rows.read(node.this)
    there = isinstance(counted, Literal) and counted.value is not None
    return (aggregates.value(Count() if there else Count(counted)),)


def _distinct(every: Callable[[Expression], Statistic], different: Callable[[Expression], Statistic]) -> Rule:
    """Builds the rule of an aggregate of numbers, or with DISTINCT of each different one once."""

    def rule(aggregates: Aggregates, node: exp.Expr) -> Made:
        (of,) = _operands(node, 1)
        if isinstance(of, exp.Distinct) and len(of.expressions) == 1:
            return (aggregates.value(different(aggregates.number(of.expressions[0]))),)
        return (aggregates.value(every(aggregates.number(of))),)

    return rule


def _count_if(aggregates: Aggregates, node: exp.Expr) -> Made:
    only(node, "this")
    return (aggregates.value(Count(None, aggregates.rows.condition(node.this))),)


def _operands(node: exp.Expr, many: int) -> list[exp.Expr]:
    """The operands of an aggregate; refuses another number of them."""
    if not isinstance(node, exp.Anonymous):
        only(node, "this", "expression")
    given = node.expressions if isinstance(node, exp.Anonymous) else [node.this, node.expression]
    operands = [one for one in given if one is not None]
    if len(operands) != many:
        name = node.name if isinstance(node, exp.Anonymous) else type(node).__name__
        raise refused(name.upper(), f"it takes {('one operand', 'two operands', 'three operands')[many - 1]}")
    return operands


def _of(make: Callable[[Expression], Statistic]) -> Rule:
    """Builds the rule of an aggregate of one number."""
    return lambda aggregates, node: (aggregates.value(make(aggregates.number(_operands(node, 1)[0]))),)


def _of_any(make: Callable[[Expression], Statistic]) -> Rule:
    """Builds the rule of an aggregate of one value, whatever it is."""
    return lambda aggregates, node: (aggregates.value(make(aggregates.rows.read(_operands(node, 1)[0]))),)


def _of_both(make: Callable[[Pair], Expression]) -> Rule:
    """Builds the rule of an aggregate of two numbers."""

    def rule(aggregates: Aggregates, node: exp.Expr) -> Made:
        first, second = map(aggregates.number, _operands(node, 2))
        return (make(Pair(aggregates, first, second)),)

    return rule


@final
@dataclass(frozen=True)
class Pair:
    """Two numbers of each row: y, then x, as regressions have them; all is over the rows that have both."""

    aggregates: Aggregates
    y: Expression
    x: Expression

    def covariance(self, *, sample: bool = False, scaled: bool = False) -> Expression:
        """Their covariance, or correlation."""
        return self.aggregates.value(Covariance(self.y, self.x, sample, scaled))

    def of(self, make: Callable[[Expression], Statistic], one: Expression) -> Expression:
        """A statistic of one of them."""
        other = self.y if one is self.x else self.x
        made = make(one)
        return self.aggregates.value(
            _where(made, call("not", call("is_null", other))) if other.facts.nullable else made
        )

    def variance(self, one: Expression) -> Expression:
        """The variance of one of them, over n."""
        return self.of(lambda of: Variance(of, sample=False), one)

    def summed(self, moment: Expression) -> Expression:
        """A variance, or the covariance, times the number of rows."""
        return call("mul", self.of(Count, self.x), moment)

    def slope(self) -> Expression:
        """How much y grows with x, by least squares."""
        return call("div", self.covariance(), self.variance(self.x))

    def intercept(self) -> Expression:
        """What y is where x is 0, by least squares."""
        return call("sub", self.of(Mean, self.y), call("mul", self.slope(), self.of(Mean, self.x)))

    def explained(self) -> Expression:
        """The share of the variance of one that the other explains."""
        correlation = self.covariance(sample=True, scaled=True)
        return call("clamp", call("mul", correlation, correlation), Literal(0, Kind.INT), Literal(1, Kind.INT))

    def weighted(self) -> Expression:
        """The average of the first, weighted by the second."""
        product = self.aggregates.value(Sum(call("mul", self.y, self.x)))
        return call("div", product, self.of(Sum, self.x))


def _geometric(aggregates: Aggregates, node: exp.Expr) -> Made:
    """The power of e to the average of logarithms, which lie between those of the bounds."""
    of = aggregates.number(_operands(node, 1)[0])
    ends = of.facts.numbers if of.kind.numeric else None
    if ends is None or ends[0] <= 0:
        raise refused(
            "GEOMETRIC_MEAN of numbers without bounds above 0",
            "state them in the codebook (between: [lower, upper]), or write GEOMETRIC_MEAN(CLAMP(x, 0.1, 100))",
        )
    low, high = (Literal(math.log(end), Kind.FLOAT) for end in ends)
    return (call("exp", aggregates.value(Mean(call("clamp", call("ln", of), low, high)))),)


def _quantile(aggregates: Aggregates, node: exp.Expr) -> Made:
    only(node, "this", "quantile", "expression", "expressions")
    at = node.args.get("quantile") or node.args.get("expression")
    given = node.expressions if isinstance(node, exp.Anonymous) else [node.this, at]
    if len(given) != 2 or given[1] is None:
        raise refused("a quantile without a share", "write QUANTILE(x, 0.5)")
    return _quantiles(aggregates, *given)


def _within(aggregates: Aggregates, node: exp.Expr) -> Made:
    only(node, "this", "expression")
    match node.this, node.expression:
        case ((exp.PercentileCont() | exp.PercentileDisc() as inner), exp.Order(expressions=[ordered])):
            only(inner, "this")
            only(ordered, "this", "desc")
            return _quantiles(aggregates, ordered.this, inner.this, turned=bool(ordered.args.get("desc")))
        case (exp.Mode(this=None), exp.Order(expressions=[ordered])):
            only(ordered, "this", "desc")
            return (aggregates.value(_mode(aggregates.rows.read(ordered.this))),)
    raise refused(
        "WITHIN GROUP", "only PERCENTILE_CONT, PERCENTILE_DISC and MODE have it. Write QUANTILE(x, 0.5), or MODE(x)"
    )


def _quantiles(aggregates: Aggregates, of: exp.Expr, at: exp.Expr, *, turned: bool = False) -> Made:
    listed = at.expressions if isinstance(at, exp.Array) else [at]
    shares = [share(one, aggregates.rows.parameters) for one in listed]
    if not shares or not all(0 <= one <= 1 for one in shares):
        raise refused("QUANTILE", "it takes a share between 0 and 1, or a list of them")
    value = aggregates.number(of)
    return tuple(aggregates.value(Quantile(value, 1 - one if turned else one)) for one in shares)


def _even_quantiles(aggregates: Aggregates, node: exp.Expr) -> Made:
    of, parts = _operands(node, 2)
    many = constant(parts, aggregates.rows.parameters)
    if many is None or type(many.value) is not int or not 1 <= many.value <= MOST_PARTS:
        raise refused("APPROX_QUANTILES", f"it takes a column and a number of parts, from 1 to {MOST_PARTS}")
    value = aggregates.number(of)
    return tuple(aggregates.value(Quantile(value, Fraction(at, many.value))) for at in range(many.value + 1))


MOST_PARTS = 100
"""The most parts that APPROX_QUANTILES cuts into."""


def _mode(of: Expression) -> Item:
    return Item(TopValues(of, 1), 0)


def _bounded(aggregates: Aggregates, node: exp.Expr) -> Made:
    """Reads an aggregate with bounds on what a row, or all rows of a unit in a group, count."""
    word = node.name.lower()
    inner, *ends = _operands(node, 3)
    low, high = (constant(end, aggregates.rows.parameters) for end in ends)
    if low is None or high is None or not (low.kind.numeric and high.kind.numeric):
        raise refused(word, "its bounds are two numbers, as in (0, 100)")
    if word == PER_ROW:
        if isinstance(inner, exp.Count | exp.CountIf | exp.ApproxDistinct | exp.Mode | exp.ApproxTopK):
            raise refused(f"{word} of a count", f"each row counts as one. Write {PER_GROUP}, or max_rows_per_group=…")
        return replace(aggregates, between=(low, high)).read(inner)
    wrap = aggregates.wrap
    return replace(aggregates, wrap=lambda one: wrap(PerGroup(one, (low, high)))).read(inner)


def _histogram(aggregates: Aggregates, node: exp.Expr) -> Made:
    match node.expressions:
        case [of, exp.Array(expressions=edges)]:
            constants = [constant(edge, aggregates.rows.parameters) for edge in edges]
            numbers = [one.value for one in constants if one is not None and one.kind.numeric]
            if len(numbers) < len(constants):
                raise refused("HISTOGRAM", "its edges are numbers, written out or bound")
            return (aggregates.value(Histogram(aggregates.number(of), tuple(numbers))),)  # type: ignore[arg-type]
    raise refused("HISTOGRAM", "it takes edges, because those of the data are private. Write HISTOGRAM(x, [0, 10, 20])")


def _top(aggregates: Aggregates, node: exp.Expr) -> Made:
    only(node, "this", "expression", "expressions")
    given = node.expressions if isinstance(node, exp.Anonymous) else [node.this, node.expression]
    most = constant(given[1], aggregates.rows.parameters) if len(given) == 2 and given[1] is not None else None
    if most is None or type(most.value) is not int or most.value < 1:
        raise refused("TOP_K", "it takes a column and how many values, as in TOP_K(site, 3)")
    return (aggregates.value(TopValues(aggregates.rows.read(given[0]), most.value)),)


LEAST, MOST = (partial(Quantile, at=Fraction(end)) for end in (0, 1))
MEDIAN = _of(lambda of: Quantile(of, Fraction(1, 2)))

RULES: dict[type[exp.Expr], Rule] = {
    exp.Count: _count,
    exp.CountIf: _count_if,
    exp.ApproxDistinct: _of_any(CountDistinct),
    exp.Sum: _distinct(Sum, SumDistinct),
    exp.Avg: _distinct(Mean, MeanDistinct),
    exp.Variance: _of(Variance),
    exp.VariancePop: _of(lambda of: Variance(of, sample=False)),
    exp.Stddev: _of(lambda of: Variance(of, root=True)),
    exp.StddevSamp: _of(lambda of: Variance(of, root=True)),
    exp.StddevPop: _of(lambda of: Variance(of, sample=False, root=True)),
    exp.Skewness: _of(Skewness),
    exp.Kurtosis: _of(Kurtosis),
    exp.CovarSamp: _of_both(lambda pair: pair.covariance(sample=True)),
    exp.CovarPop: _of_both(Pair.covariance),
    exp.Corr: _of_both(lambda pair: pair.covariance(sample=True, scaled=True)),
    exp.RegrCount: _of_both(lambda pair: pair.of(Count, pair.x)),
    exp.RegrAvgx: _of_both(lambda pair: pair.of(Mean, pair.x)),
    exp.RegrAvgy: _of_both(lambda pair: pair.of(Mean, pair.y)),
    exp.RegrSxx: _of_both(lambda pair: pair.summed(pair.variance(pair.x))),
    exp.RegrSyy: _of_both(lambda pair: pair.summed(pair.variance(pair.y))),
    exp.RegrSxy: _of_both(lambda pair: pair.summed(pair.covariance())),
    exp.RegrSlope: _of_both(Pair.slope),
    exp.RegrIntercept: _of_both(Pair.intercept),
    exp.RegrR2: _of_both(Pair.explained),
    exp.Min: _distinct(LEAST, LEAST),
    exp.Max: _distinct(MOST, MOST),
    exp.Median: MEDIAN,
    exp.Quantile: _quantile,
    exp.ApproxQuantile: _quantile,
    exp.ApproxQuantiles: _even_quantiles,
    exp.PercentileCont: _quantile,
    exp.PercentileDisc: _quantile,
    exp.WithinGroup: _within,
    exp.Mode: _of_any(_mode),
    exp.ApproxTopK: _top,
}
"""The rule of each aggregate that the parser has a node for."""

NAMED: dict[str, Rule] = {
    "mean": _of(Mean),
    "favg": _of(Mean),
    "fsum": _of(Sum),
    "var": _of(Variance),
    "std": _of(lambda of: Variance(of, root=True)),
    "skewness_pop": _of(lambda of: Skewness(of, sample=False)),
    "kurtosis_pop": _of(lambda of: Kurtosis(of, sample=False)),
    "covar": _of_both(lambda pair: pair.covariance(sample=True)),
    **dict.fromkeys(("geomean", "geometric_mean"), _geometric),
    **dict.fromkeys(("wavg", "weighted_avg"), _of_both(Pair.weighted)),
    "mad": _of(Deviation),
    "approx_median": MEDIAN,
    **dict.fromkeys(("percentile", "approx_percentile"), _quantile),
    "histogram": _histogram,
    "top_k": _top,
    **dict.fromkeys((PER_GROUP, PER_ROW), _bounded),
}
"""The rule of each that it has none for."""
