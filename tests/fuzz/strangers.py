"""Real tables as fuzzers ask about them: exact cells, tables that somebody left, bounds that cut."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Any
from unittest import mock

import pyarrow as pa
from tests.examples.real_tables import STRANGERS, Stranger
from tests.fuzz.sources import KINDS, opened
from tests.reference.duck import answers
from tests.reference.interpreter import Answers

import sfumato as sf
from sfumato.query.engines.duckdb.engine import DuckDBEngine
from sfumato.query.nodes.catalog import Catalog
from sfumato.query.plan.engine_plan import Bound, Cells

NEXT_TO_NO_NOISE = 10**9


@lru_cache(None)
def asked(name: str) -> tuple[Catalog, dict[str, Any], list[Cells]]:
    """The catalog of a table, the answer to every question about it, and the exact cells that were asked for."""
    table, cells, run = STRANGERS[name], list[Cells](), DuckDBEngine.run

    def watched(engine: DuckDBEngine, wanted: Cells) -> Any:
        cells.append(wanted)
        return run(engine, wanted)

    data = sf.Dataset(table.table, **table.stated)
    session = data.session(epsilon=10**12, ledger="memory:")
    with mock.patch.object(DuckDBEngine, "run", watched):
        found = {
            question: session.sql(question, epsilon=NEXT_TO_NO_NOISE, **table.settings(question)).to_polars()
            for question in table.questions
        }
    assert data.codebook is not None
    return Catalog(data.codebook), found, cells


def without(table: Stranger, drawn: random.Random) -> pa.Table:
    """A table that one unit has left."""
    owners = [*range(len(table.table))] if isinstance(table.unit, sf.Unit) else table.table[table.unit].to_pylist()
    gone = drawn.choice([owner for owner in owners if owner is not None])
    return table.table.filter(pa.array([owner != gone for owner in owners]))


def cut(cells: Cells, by_rows: bool) -> Cells:
    """Keeps little of each unit; where rows are the units they have one each."""
    bound = cells.bound
    few = Bound(bound.groups and 2, bound.rows and 2, bound.cut)
    return cells if by_rows else replace(cells, bound=few)


def run_all(kind: str, name: str, held: pa.Table, catalog: Catalog, cells: Sequence[Cells]) -> list[Answers]:
    with opened(KINDS[kind], {name: held}, catalog.tables) as engine:
        return [answers(engine.run(one), one) for one in cells]
