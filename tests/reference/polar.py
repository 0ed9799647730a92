"""Polars beside the interpreter, as DuckDB is in `duck`: with its hash, and in the order of values alone."""

from __future__ import annotations

from contextlib import closing
from types import SimpleNamespace

from tests.reference.duck import answers, tables
from tests.reference.interpreter import Answers
from tests.reference.worlds import World

from sfumato.query.engines.polars.engine import PolarsEngine
from sfumato.query.engines.polars.ranking import Hashing
from sfumato.query.engines.polars.sources import open_source
from sfumato.query.plan.engine_plan import Cells


def opened(world: World, cells: Cells, *, by_hash: bool = True, chunk: int | None = None) -> PolarsEngine:
    """Opens the tables of a world that cells look at."""
    known = tables(world, cells)
    data = {name: world.held[name].arrow() if chunk is None else world.held[name].arrow(chunk=chunk) for name in known}
    return open_source(data, SimpleNamespace(tables=known), hashing=Hashing(by_hash))  # type: ignore[arg-type]


def computed(world: World, cells: Cells) -> Answers:
    """Computes cells with Polars."""
    with closing(opened(world, cells)) as engine:
        return answers(engine.run(cells), cells)


def computed_by_value(world: World, cells: Cells) -> Answers:
    """Computes cells with Polars, where hashes decide nothing."""
    with closing(opened(world, cells, by_hash=False)) as engine:
        return answers(engine.run(cells), cells)


def computed_in_pieces(world: World, cells: Cells) -> Answers:
    """Computes cells with Polars, on data in small pieces."""
    with closing(opened(world, cells, chunk=3)) as engine:
        return answers(engine.run(cells), cells)
