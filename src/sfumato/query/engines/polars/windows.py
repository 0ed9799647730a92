"""Window functions over the rows of one unit, in Polars: parts and order are the unit's own, and ties are broken.

Rows are put in order once, and everything is then worked out by their places in it: a row's peers are those that
do not differ from it in what is ordered by.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import polars as pl

from sfumato.query.engines.polars.expressions import key
from sfumato.query.engines.polars.folds import FoldPlan, fold_plan, result
from sfumato.query.engines.polars.scope import Names, chosen
from sfumato.query.engines.polars.source import Source, numbered
from sfumato.query.nodes.relations import Folded, Placed, Placing, Windowed

FIRST, LAST, PEERS, SO_FAR, NEW, PLACE = "first_", "last_", "peers_", "so_far_", "new_", "place_"
"""Places of the first and last row of a part, and of a row's peers; whether a row has other peers than the last one."""


def windowed(window: Windowed, below: Source, names: Names) -> Source:
    """The rows of a source with further columns, each by the rows of one unit that agree in what it is parted by."""
    if not below.units:
        raise TypeError(window)
    scope = below.scope(names)
    made = {f"k{place}": key(of, scope).made for place, of in enumerate(window.by)}
    ordered = {f"o{place}": key(of, scope).made for place, (of, _) in enumerate(window.order)}
    plans: list[FoldPlan | None] = []
    for place, one in enumerate(window.added):
        plan = fold_plan(one, scope) if isinstance(one, Folded) else None
        of = plan.of if plan is not None else None if one.of is None else key(one.of, scope)
        if of is not None:
            made[f"v{place}"] = of.made
        plans.append(plan)
    rows = chosen(scope.over(below.frame), {**made, **ordered}, below.columns)
    ties = list(below.fields.values())
    parts = [*below.identity, *(name for name in made if name.startswith("k"))]
    down = [False] * len(parts) + [descends for _, descends in window.order] + [False] * len(ties)
    rows = rows.sort([*parts, *ordered, *ties], descending=down, nulls_last=True)
    looked = Ordered.of(rows, parts, list(ordered))
    for place, (one, plan) in enumerate(zip(window.added, plans, strict=True)):
        match one, plan:
            case Placed(), _:
                looked = looked.placed(one, place)
            case Folded(), FoldPlan():
                looked = looked.folded(one, plan, place)
    moved = [f"w{place}" for place in range(len(window.added))]
    shown = chosen(looked.rows, {}, [*below.columns, *moved])
    places = numbered(window.fields)
    apart = {old: f"g{place}" for place, old in enumerate((*ties, *moved))}
    frame = shown.rename(apart).rename(dict(zip(apart.values(), places.values(), strict=True)))
    return Source(frame, below.units, places, below.held)


@final
@dataclass(frozen=True)
class Ordered:
    """Rows in order, part by part, each with the places of the first and last row of its part, and of its peers."""

    rows: pl.LazyFrame

    @classmethod
    def of(cls, rows: pl.LazyFrame, parts: list[str], order: list[str]) -> Ordered:
        """The same rows, which lie in the order of parts and of what they are ordered by; without that all are peers.

        Everything is worked out by places: to put rows into groups once more, for each window, takes far longer.
        """
        part, peers = _begins(parts), _begins([*parts, *order])
        place = pl.int_range(pl.len(), dtype=pl.Int64)
        return cls(
            rows.with_columns(
                _first(part, place).alias(FIRST),
                _last(part, place).alias(LAST),
                _first(peers, place).alias(PEERS),
                _last(peers, place).alias(SO_FAR),
                peers.alias(NEW),
                place.alias(PLACE),
            )
        )

    def _with(self, name: str, made: pl.Expr) -> Ordered:
        return Ordered(self.rows.with_columns(made.alias(name)))

    def placed(self, one: Placed, place: int) -> Ordered:
        """Adds a column by the place of a row."""
        of, first, here = pl.col(f"v{place}"), pl.col(FIRST), pl.col(PLACE)
        places = {
            Placing.ROW_NUMBER: here - first + 1,
            Placing.RANK: pl.col(PEERS) - first + 1,
            Placing.DENSE_RANK: _so_far(pl.col(NEW).cast(pl.Int64), here),
            Placing.LAG: pl.when(here - one.steps >= first).then(of.shift(one.steps)),
            Placing.LEAD: pl.when(here + one.steps <= pl.col(LAST)).then(of.shift(-one.steps)),
            Placing.FIRST: of.gather(first),
            Placing.LAST: of.gather(pl.col(LAST)),
        }
        return self._with(f"w{place}", places[one.placing])

    def folded(self, one: Folded, plan: FoldPlan, place: int) -> Ordered:
        """Adds a column by all rows of a part, or by those up to a row and its peers."""
        looked, names = self, []
        for part in plan.parts:
            name = f"p{place}_{part}"
            looked = looked._part(part, f"v{place}", name)
            names.append(name)
        return looked._with(f"w{place}", result(one, plan, names))

    def _part(self, part: str, of: str, name: str) -> Ordered:
        match part:
            case "min" | "max":
                return self._extreme(of, name, least=part == "min")
            case "rows":
                return self._with(name, pl.col(SO_FAR) - pl.col(FIRST) + 1)
            case "sum":
                each = pl.col(of).fill_null(0).cast(pl.Int128)
            case "distinct":
                first = pl.struct(FIRST, of).is_first_distinct()
                each = (first & pl.col(of).is_not_null()).cast(pl.Int64)
            case _:
                each = pl.col(of).is_not_null().cast(pl.Int64)
        looked = self._with(f"d_{name}", each)
        return looked._with(name, _so_far(pl.col(f"d_{name}"), pl.col(SO_FAR)))

    def _extreme(self, of: str, name: str, *, least: bool) -> Ordered:
        """The least or greatest value, of any kind: by its place among all values.

        A part that comes later has larger numbers than all before it: so what is greatest so far lies in it.
        """
        column, every = pl.col(of), pl.len().cast(pl.Int64) + 1
        rank = column.rank("ordinal", descending=least).cast(pl.Int64).fill_null(0)
        looked = self._with(f"d_{name}", pl.col(FIRST) * every + rank)
        greatest = pl.col(f"d_{name}").cum_max().gather(pl.col(SO_FAR)) - pl.col(FIRST) * every
        looked = looked._with(f"c_{name}", greatest)
        reached = pl.when(pl.col(f"c_{name}") > 0).then(pl.col(f"c_{name}") - 1)
        return looked._with(name, column.gather(column.arg_sort(descending=least, nulls_last=True).gather(reached)))


def _begins(names: list[str]) -> pl.Expr:
    """Tells whether a row differs from the one before it, or is the first one."""
    differs = pl.any_horizontal(pl.col(name).ne_missing(pl.col(name).shift()) for name in names)
    return differs | (pl.int_range(pl.len()) == 0)


def _first(begins: pl.Expr, place: pl.Expr) -> pl.Expr:
    """The place of the first row of those that a row belongs to."""
    return pl.when(begins).then(place).forward_fill()


def _last(begins: pl.Expr, place: pl.Expr) -> pl.Expr:
    """The place of the last row of those that a row belongs to."""
    return pl.when(begins.shift(-1, fill_value=True)).then(place).backward_fill()


def _so_far(each: pl.Expr, upto: pl.Expr) -> pl.Expr:
    """The sum of what each row adds, from the first row of a part up to a place in it."""
    return each.cum_sum().gather(upto) - (each.cum_sum() - each).gather(pl.col(FIRST))
