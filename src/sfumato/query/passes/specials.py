"""Finds the statistics of a question that are not sums: which are found together, and what the engine computes."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from sfumato.query.cells import Cells
from sfumato.query.grids import COUNT_BITS
from sfumato.query.lists import Binned, Top
from sfumato.query.passes.bounds import Placed
from sfumato.query.passes.keys import PublicKeys
from sfumato.query.quantiles import Quantiles
from sfumato.query.questions import Histogram, Item, Quantile, Statistic, TopValues
from sfumato.query.specials import Run, Special


def special_ones(statistics: Iterable[Statistic]) -> tuple[Statistic, ...]:
    """Gives the statistics that are not made of sums."""
    return tuple(one for one in statistics if isinstance(one, Quantile | Item))


def special_runs(
    statistics: Sequence[Statistic], cells: Cells, placed: Placed, apart: int, keys: PublicKeys
) -> tuple[Run, ...]:
    """Gives the specials of a level, each with what the engine computes for it: in the groups of the level's cells."""
    together: dict[object, list[Statistic]] = {}
    for one in special_ones(statistics):
        of = (one.of, one.where) if isinstance(one, Quantile) else getattr(one, "of", None)
        together.setdefault(of, []).append(one)
    made = [_special(tuple(ones), placed, apart, keys) for ones in together.values()]
    return tuple(Run(one, one.cells(cells.source, cells.keys, cells.listed, placed)) for one in made)


def _special(statistics: tuple[Statistic, ...], placed: Placed, apart: int, keys: PublicKeys) -> Special:
    spread, bits = placed.spread, 0 if placed.bound.rows is None else COUNT_BITS
    match statistics[0]:
        case Quantile():
            return Quantiles.special([one for one in statistics if isinstance(one, Quantile)], spread, apart)
        case Item(of=Histogram() as of):
            return Special(statistics, spread, apart, Binned(of, bits))
        case Item(of=TopValues() as of):
            return Special(statistics, spread, apart, Top(of, keys.values(of.of, of.where) or ()))
    raise TypeError(type(statistics[0]))
