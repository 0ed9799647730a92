"""Plans questions without data: an engine that looks at none, and one that gives fixed numbers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NoReturn

import numpy as np
from tests.reference.interpreter import ByValue, Reference

import sfumato as sf
from sfumato.accounting.losses.measures import Loss
from sfumato.query.build.settings import Settings
from sfumato.query.engines.protocol import Engine, PublicTables
from sfumato.query.nodes.catalog import Catalog
from sfumato.query.nodes.expressions import Column, Expression
from sfumato.query.nodes.kinds import Value
from sfumato.query.nodes.relations import Relation
from sfumato.query.plan.compile import compile_question
from sfumato.query.plan.compiled_query import CompiledQuery
from sfumato.query.plan.decomposition import step_of
from sfumato.query.plan.engine_plan import Cells, Computed
from sfumato.query.plan.open_tables import OpenTables
from sfumato.query.sql import read_sql


class Blind(Engine):
    """Is an engine without data: it can plan, and fails a test that looks at rows."""

    name = "blind"

    @property
    def held(self) -> Mapping[str, Any]:
        return {}

    def schema(self) -> Mapping[str, Mapping[str, str]]:
        return {}

    def prepare(self, cells: Cells) -> None:
        pass

    def run(self, cells: Cells) -> Computed:
        raise AssertionError("looked at data")

    def images(
        self, made: Sequence[Expression], leaves: Sequence[tuple[Column, Sequence[Value]]]
    ) -> tuple[tuple[Value, ...], ...]:
        return Reference({}, ByValue()).images(made, leaves)

    def rows(self, relation: Relation) -> NoReturn:
        raise AssertionError("looked at data")

    def matches(self, relation: Relation, keys: tuple[Expression, ...]) -> NoReturn:
        raise AssertionError("looked at data")

    def fingerprints(self, key: bytes) -> Mapping[str, str]:
        return {}

    def close(self) -> None:
        pass


class Fixed(Blind):
    """Is an engine that gives every group the same numbers, one for each tally, by its place among the tallies.

    Numbers are in the unit of what is added up; the engine gives them in steps of the tally's grid.
    """

    def __init__(self, groups: int, numbers: Sequence[int]) -> None:
        self.groups, self.numbers = groups, numbers

    def run(self, cells: Cells) -> Computed:
        assert len(cells.tallies) == len(self.numbers)
        steps = [int(number / step_of(tally)) for number, tally in zip(self.numbers, cells.tallies, strict=True)]
        numbers = tuple(np.full(self.groups, step, dtype=np.int64 if abs(step) < 2**62 else object) for step in steps)
        if cells.listed is not None or not cells.keys:
            return Computed(numbers, places=np.arange(self.groups))
        return Computed(numbers, keys=([f"key {place}" for place in range(self.groups)],))


def catalog_of(codebook: Mapping[str, Any]) -> Catalog:
    """Gives the tables that a codebook describes."""
    return Catalog(sf.Codebook.read(codebook))


def planned(
    text: str,
    catalog: Catalog,
    *,
    engine: PublicTables | None = None,
    limit: type[Loss] = sf.Pure,
    apart: int = 1,
    **settings: Any,
) -> CompiledQuery:
    """Gives a question in SQL, ready to be asked; nothing is looked at."""
    question = read_sql(text, catalog, ()).question
    assert question is not None
    return compile_question(
        question, Settings.read(**settings), OpenTables(engine or Blind(), catalog), limit=limit, d_in=apart
    )
