"""The rows of one unit made into one value, in Polars: in any order of rows, the same."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import final

import polars as pl

from sfumato.query.engines.polars.bounding import grouped, total
from sfumato.query.engines.polars.expressions import key, value
from sfumato.query.engines.polars.numbers_on_grids import steps
from sfumato.query.engines.polars.scope import TYPES, Names, Piece, Scope, chosen
from sfumato.query.engines.polars.source import Source, numbered
from sfumato.query.engines.polars.whole_numbers import finite, to_whole
from sfumato.query.nodes.kinds import Kind
from sfumato.query.nodes.relations import Fold, Folded, PerUnit


@final
@dataclass(frozen=True)
class FoldPlan:
    """What a fold looks at (None: rows), which aggregates of that are needed, and what is made of them."""

    of: Piece | None
    parts: tuple[str, ...]
    made: Callable[..., pl.Expr]


AGGREGATES: dict[str, Callable[[str], pl.Expr]] = {
    "rows": lambda _: pl.len().cast(pl.Int64),
    "count": lambda name: pl.col(name).count().cast(pl.Int64),
    "distinct": lambda name: pl.col(name).drop_nulls().n_unique().cast(pl.Int64),
    "min": lambda name: pl.col(name).min(),
    "max": lambda name: pl.col(name).max(),
    "sum": total,
}
"""Aggregates of a column."""


def fold_plan(folded: Folded, scope: Scope) -> FoldPlan:
    """How a fold is worked out: exact, in any order of rows."""
    if folded.of is None:
        return FoldPlan(None, ("rows",), _same)
    of = folded.of
    match folded.fold:
        case Fold.COUNT | Fold.DISTINCT:
            return FoldPlan(key(of, scope), (folded.fold.value,), _same)
        case Fold.MIN | Fold.MAX:
            return FoldPlan(key(of, scope), (folded.fold.value,), _same)
    if folded.grid is None and of.kind is not Kind.INT:
        raise TypeError(folded)
    steps_of = value(of, scope) if folded.grid is None else steps(of, folded.grid, scope)
    exponent = 0 if of.kind is Kind.INT or folded.grid is None else folded.grid.exponent

    def summed(sum_of: pl.Expr) -> pl.Expr:
        if of.kind is Kind.INT:
            return to_whole(sum_of)
        return sum_of.cast(pl.Float64) / 2.0**exponent

    def mean(sum_of: pl.Expr, many: pl.Expr) -> pl.Expr:
        return summed(sum_of).cast(pl.Float64) / pl.when(many > 0).then(many.cast(pl.Float64))

    if folded.fold is Fold.SUM:
        return FoldPlan(steps_of, ("sum",), summed)
    return FoldPlan(steps_of, ("sum", "count"), mean)


def _same(made: pl.Expr) -> pl.Expr:
    return made


def result(folded: Folded, plan: FoldPlan, parts: list[str]) -> pl.Expr:
    """What is made of the aggregates of a fold; floats are finite or missing."""
    made = plan.made(*map(pl.col, parts))
    return finite(made) if folded.column.kind is Kind.FLOAT else made.cast(TYPES[folded.column.kind])


def per_unit(per: PerUnit, below: Source, names: Names) -> Source:
    """One row of the rows of each unit and group; of public ones, one of each group."""
    if per.private and not below.units:
        raise TypeError(per)
    scope = below.scope(names)
    made = {f"k{place}": key(of, scope).made for place, (_, of) in enumerate(per.by)}
    groups = [*below.identity, *made]
    plans = [fold_plan(folded, scope) for folded in per.folds]
    numbers, shown = [], {}
    for place, (folded, plan) in enumerate(zip(per.folds, plans, strict=True)):
        if plan.of is not None:
            made[f"v{place}"] = plan.of.made
        parts = [f"s{place}_{part}" for part in plan.parts]
        numbers += [AGGREGATES[part](f"v{place}").alias(name) for part, name in zip(plan.parts, parts, strict=True)]
        shown[f"f{len(per.by) + place}"] = result(folded, plan, parts)
    rows = chosen(scope.over(below.frame), made, below.identity)
    one = grouped(rows, groups, numbers)
    keys = {f"f{place}": pl.col(f"k{place}") for place in range(len(per.by))}
    return Source(chosen(one, {**keys, **shown}, below.identity), below.units, numbered(per.fields))
