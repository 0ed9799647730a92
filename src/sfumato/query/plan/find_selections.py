"""Finds the statistics of a question that are not sums: which are found together, and what the engine computes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from sfumato.query.nodes.questions import Deviation, Histogram, Item, Quantile, Statistic, TopValues
from sfumato.query.plan.bins import Bins
from sfumato.query.plan.bounds import Placed
from sfumato.query.plan.deviations import Deviations
from sfumato.query.plan.engine_plan import Cells
from sfumato.query.plan.find_keys import key_finder
from sfumato.query.plan.grids import COUNT_BITS
from sfumato.query.plan.keys import KeyFinder
from sfumato.query.plan.lists import Binned, Top
from sfumato.query.plan.quantiles import Quantiles
from sfumato.query.plan.query_plan import QueryPlan
from sfumato.query.plan.selection_statistics import Run, Special


def find_selections(plan: QueryPlan) -> QueryPlan:
    """Before: bounded levels of sums. After: with what the engine counts for the statistics that are no sums."""
    if not plan.chosen:
        return plan
    keys = key_finder(plan)
    runs = (special_runs(plan.chosen, level.cells, level.placed, plan.d_in, keys) for level in plan.levels)
    return replace(plan, levels=tuple(replace(level, runs=own) for level, own in zip(plan.levels, runs, strict=True)))


def special_runs(
    statistics: Sequence[Statistic], cells: Cells, placed: Placed, d_in: int, keys: KeyFinder
) -> tuple[Run, ...]:
    """Makes one special of statistics that are found together, with what the engine computes for it in each group."""
    together: dict[object, list[Statistic]] = {}
    for one in statistics:
        of = (one.of, one.where) if isinstance(one, Quantile) else one.of if isinstance(one, Item) else one
        together.setdefault(of, []).append(one)
    made = [_special(tuple(ones), placed, d_in, keys) for ones in together.values()]
    return tuple(Run(one, one.cells(cells.source, cells.keys, cells.listed, placed)) for one in made)


def _special(statistics: tuple[Statistic, ...], placed: Placed, d_in: int, keys: KeyFinder) -> Special:
    spread, bits = placed.spread, 0 if placed.bound.rows is None else COUNT_BITS
    match statistics[0]:
        case Quantile():
            return Quantiles.special([one for one in statistics if isinstance(one, Quantile)], spread, d_in)
        case Deviation(of=of, name=name):
            return Special(statistics, spread, d_in, Deviations(Bins.read(of, name)))
        case Item(of=Histogram() as of):
            return Special(statistics, spread, d_in, Binned(of, bits))
        case Item(of=TopValues() as of):
            return Special(statistics, spread, d_in, Top(of, keys.values(of.of, of.where) or ()))
    raise TypeError(type(statistics[0]))
