"""Spreading: noise, choice of keys and columns in batches, where the groups are; and the rows written, not collected.

`Finish` is all that an engine is given: a function from a batch of exact cells to a batch of released rows. It runs
what answers are made by (`drawn_of`, `LevelColumns`), on a part of the groups (proofs/query.md#batches).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any, final

import numpy as np

from sfumato.core.domains import Data
from sfumato.core.measurement import Measurement
from sfumato.core.plan import Plan, planned
from sfumato.entropy import Entropy
from sfumato.errors import QueryRefused
from sfumato.plain import Plain
from sfumato.query.answer.assemble import Drawn, LevelColumns
from sfumato.query.answer.released_batches import (
    ReleasedColumn,
    as_objects,
    batch_of,
    columns_in,
    computed_with,
    schema_of,
)
from sfumato.query.engines.protocol import in_batches
from sfumato.query.engines.written_tables import TableWriter
from sfumato.query.plan.compiled_query import CompiledQuery
from sfumato.query.plan.engine_plan import Computed
from sfumato.query.plan.grouping_sets import Exact, drawn_of, laid_out
from sfumato.release.written import WrittenTable

if TYPE_CHECKING:
    import pyarrow as pa

COLLECT = "Collect the answer instead: session.sql(…), or .release(…)."


def check_spread(compiled: CompiledQuery) -> None:
    """Refuses what cannot be made group by group, before anything is paid."""
    question = compiled.question
    if question.order or question.limit is not None:
        why = "ORDER BY and LIMIT look at all groups at once, and a written table has an order of its own"
    elif len(compiled.levels) > 1:
        why = "totals of several grouping sets (CUBE, ROLLUP, GROUPING SETS) are made to agree, from all groups at once"
    elif compiled.levels[0].runs:
        names = sorted({one.name for run in compiled.levels[0].runs for one in run.special.statistics})
        why = f"the {' and the '.join(names)} of a group is found from many cells of it, and not from a few sums"
    else:
        return
    raise QueryRefused(f"this cannot be written as a table, group by group: {why}. Nothing was charged. {COLLECT}")


@final
@dataclass(frozen=True, eq=False)
class Finish:
    """Makes released rows of exact cells, batch by batch, with noise of its own for each; all that it holds is public.

    A copy that is sent elsewhere draws from a source of that place: `SystemEntropy` is never copied with its state, and
    a source that could be replayed is not copied at all.
    """

    columns: LevelColumns
    confidence: Fraction
    entropy: Entropy

    @cached_property
    def released(self) -> tuple[ReleasedColumn, ...]:
        """The columns that rows have: the same for all data."""
        return columns_in(self.columns, self.confidence)

    @cached_property
    def schema(self) -> pa.Schema:
        """The types of the columns."""
        return schema_of(self.released)

    @cached_property
    def _used(self) -> frozenset[int]:
        return computed_with(self.columns)

    def __call__(self, computed: Computed) -> pa.RecordBatch:
        """Chooses keys and adds noise to one batch of cells, and makes the rows that are released."""
        columns, keys = self.columns, computed.keys
        numbers = tuple(np.asarray(cells) for cells in computed.numbers)
        places = np.arange(len(numbers[0]))  # stand for keys that are passed on, so that they need not be Python's
        held = tuple(as_objects(cells) if at in self._used else places for at, cells in enumerate(keys))
        noisy = drawn_of(Exact(held, numbers), columns.level, columns.noises, columns.selection, self.entropy)
        with np.errstate(all="ignore"):  # what has no value is missing, and what is not known has infinite ends
            made = columns.made(Drawn(noisy.keys, noisy.numbers), self.confidence)
        passed = {at: cells for at, cells in enumerate(keys) if at not in self._used}
        return batch_of(self.released, made, passed)

    def table(self, place: str, form: str, staged: str) -> WrittenTable:
        """What will be released: the table at its place, and how many rows it has is not known yet."""
        columns = tuple(column.written for column in self.released)
        return WrittenTable(place, form, 0, columns, self.confidence, staged)


def written(
    compiled: CompiledQuery, confidence: Fraction, writer: TableWriter, *, place: str, form: str, staged: str
) -> Measurement:
    """The measurement that asks a question and keeps its rows in a staged folder: all or, where it breaks off, none."""
    check_spread(compiled)
    collected = compiled.measurement(confidence)

    def run(data: Data, entropy: Entropy) -> WrittenTable:
        finish = Finish(_lean(compiled.columns_at[0]), confidence, entropy)
        try:
            with data.engine.at_once():
                rows = _kept(data, finish, writer, staged)
        except BaseException:
            writer.discard(staged)
            raise
        return replace(finish.table(place, form, staged), rows=rows)

    made = replace(collected, function=run, how=collected.how.then("written as a table"))
    return planned(made, _plan(collected.plan, confidence))


def _kept(data: Data, finish: Finish, writer: TableWriter, staged: str) -> int:
    """Lets the engine finish its cells where they are; cells of keys that are public come here, as the keys did."""
    level = finish.columns.level
    if level.listed is None and level.cells.keys:
        rows: int = data.engine.spread(level.cells, finish, writer, staged)
        return rows
    exact = laid_out(level, data.engine.run(level.computed))
    keys: Any = exact.keys  # arrays, which are sequences of values
    whole = Computed(exact.numbers, keys=keys)
    return writer.keep(map(finish, in_batches(whole)), finish.schema, staged)


def _lean(columns: LevelColumns) -> LevelColumns:
    """The same without what engines wrote down for the cells: it is sent to wherever they are."""
    return replace(columns, level=replace(columns.level, cells=replace(columns.level.cells)))


def _plan(plan: Plan | None, confidence: Fraction) -> Plan | None:
    """By what a written question is known again: as the collected one, and by the confidence of its intervals."""
    if plan is None:
        return None
    said: dict[str, Plain] = {"collected": plan["steps"], "confidence": str(confidence)}
    return {"space": plan["space"], "steps": [{"make": "written query", "with": said}]}
