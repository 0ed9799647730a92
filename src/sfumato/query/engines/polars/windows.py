"""Window functions over the rows of one unit, in Polars: parts and order are the unit's own, and ties are broken.

Rows are put in order once, and everything is then worked out by their places in it: a row's peers are those that
do not differ from it in what is ordered by.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import polars as pl

from sfumato.query.engines.polars.expressions import key
from sfumato.query.engines.polars.folds import AGGREGATES, FoldPlan, fold_plan, result
from sfumato.query.engines.polars.scope import Names, chosen
from sfumato.query.engines.polars.source import Source, numbered
from sfumato.query.nodes.relations import Folded, Placed, Placing, Windowed

NEW, PEERS, PART = "new_", "peers_", "part_"


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
    # Parts lie one behind the other now, and get numbers: to look up a number is quicker than to look up a part.
    starts = pl.any_horizontal(pl.col(name).ne_missing(pl.col(name).shift()) for name in parts)
    rows = rows.with_columns(starts.cast(pl.UInt32).cum_sum().alias(PART))
    looked = Ordered(rows, [PART], list(ordered)).with_peers()
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
    """Rows in order, the columns that they are parted by, and those of the order without its ties."""

    rows: pl.LazyFrame
    parts: list[str]
    order: list[str]

    def with_peers(self) -> Ordered:
        """The same with the number of each row's peers, from 1 in each part; without an order all are peers."""
        if not self.order:
            return Ordered(self.rows.with_columns(pl.lit(True).alias(NEW), pl.lit(1).alias(PEERS)), self.parts, [])
        differs = [pl.col(name).ne_missing(pl.col(name).shift()) for name in (*self.parts, *self.order)]
        rows = self.rows.with_columns(pl.any_horizontal(differs).alias(NEW))
        rows = rows.with_columns(pl.col(NEW).cast(pl.Int64).cum_sum().over(self.parts).alias(PEERS))
        return Ordered(rows, self.parts, self.order)

    def _with(self, name: str, made: pl.Expr) -> Ordered:
        return Ordered(self.rows.with_columns(made.alias(name)), self.parts, self.order)

    def placed(self, one: Placed, place: int) -> Ordered:
        """Adds a column by the place of a row."""
        number, of = pl.int_range(1, pl.len() + 1, dtype=pl.Int64), pl.col(f"v{place}")
        places = {
            Placing.ROW_NUMBER: number,
            Placing.DENSE_RANK: pl.col(PEERS).cast(pl.Int64),
            Placing.LAG: of.shift(one.steps),
            Placing.LEAD: of.shift(-one.steps),
            Placing.FIRST: of.first(),
            Placing.LAST: of.last(),
        }
        if one.placing is Placing.RANK:
            numbered = self._with(f"y{place}", number.over(self.parts))
            return numbered._with(f"w{place}", pl.col(f"y{place}").first().over([*self.parts, PEERS]))
        return self._with(f"w{place}", places[one.placing].over(self.parts))

    def folded(self, one: Folded, plan: FoldPlan, place: int) -> Ordered:
        """Adds a column by all rows of a part, or by those up to a row and its peers."""
        looked, names = self, []
        for part in plan.parts:
            name = f"p{place}_{part}"
            looked = looked._so_far(part, f"v{place}", name) if self.order else looked._of_all(part, f"v{place}", name)
            names.append(name)
        return looked._with(f"w{place}", result(one, plan, names))

    def _of_all(self, part: str, of: str, name: str) -> Ordered:
        return self._with(name, AGGREGATES[part](of).over(self.parts))

    def _so_far(self, part: str, of: str, name: str) -> Ordered:
        looked = self
        if part in ("min", "max"):
            return looked._extreme_so_far(part, of, name)
        match part:
            case "rows":
                each = pl.lit(1, dtype=pl.Int64)
            case "sum":
                each = pl.col(of).fill_null(0).cast(pl.Int128)
            case "distinct":
                first = pl.col(of).is_first_distinct().over(self.parts)
                each = (first & pl.col(of).is_not_null()).cast(pl.Int64)
            case _:
                each = pl.col(of).is_not_null().cast(pl.Int64)
        looked = looked._with(f"d_{name}", each)
        looked = looked._with(f"c_{name}", pl.col(f"d_{name}").cum_sum().over(self.parts))
        return looked._with(name, pl.col(f"c_{name}").last().over([*self.parts, PEERS]))

    def _extreme_so_far(self, part: str, of: str, name: str) -> Ordered:
        """The least or greatest value so far: of any kind, by its place among all values, and then looked up."""
        column = pl.col(of)
        looked = self._with(f"d_{name}", column.rank("dense").cast(pl.Int64))
        values = looked.rows.select(pl.col(f"d_{name}").alias(f"e_{name}"), column.alias(name)).drop_nulls().unique()
        ranks = pl.col(f"d_{name}")
        so_far = ranks.cum_min() if part == "min" else ranks.cum_max()
        looked = looked._with(f"c_{name}", so_far.forward_fill().over(self.parts))
        looked = looked._with(f"e_{name}", pl.col(f"c_{name}").last().over([*self.parts, PEERS]))
        rows = looked.rows.join(values, on=f"e_{name}", how="left", maintain_order="left")
        return Ordered(rows, self.parts, self.order)
