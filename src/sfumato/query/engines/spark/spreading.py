"""Finishing cells where they are: what runs in the executors of Spark, batch by batch.

Every task unpacks a `Finish` of its own, and with it a new source of the operating system's randomness: there is no
seed in the plan. A task that is tried again, or doubled, draws anew; which of its attempts is kept is decided once,
when it is written (`tables.SparkTables.keep_frame`).
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, TypeAlias

from sfumato.query.engines.protocol import BATCH, Finish
from sfumato.query.engines.sql.arrow import ArrowColumns
from sfumato.query.plan.engine_plan import Cells, Computed
from sfumato.release.record import made_by

if TYPE_CHECKING:
    import pyarrow as pa

Part: TypeAlias = "Callable[[Iterator[pa.RecordBatch]], Iterator[pa.RecordBatch]]"
"""What a task runs on its part of a frame, batch by batch."""


def spread_over(frame: Any, cells: Cells, finish: Finish) -> Any:
    """The frame of released rows: a function of the frame of exact cells that Spark runs where these are."""
    from pyspark.sql.pandas.types import from_arrow_schema

    schema = from_arrow_schema(finish.schema, prefer_timestamp_ntz=True)
    return in_executors(frame, finishing(finish, len(cells.keys), len(cells.tallies)), schema)


def in_executors(frame: Any, function: Part, schema: Any) -> Any:
    """What a function of batches makes of a frame, part by part; pyspark's advice on packages is no news here."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return frame.mapInArrow(function, schema)


def finishing(finish: Finish, keys: int, tallies: int) -> Part:
    """What a task runs on its part of the cells. It is sent to executors: it holds what is public, and no session."""

    def finished(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for table in gathered(batches):
            yield finish(computed_of(table, keys, tallies))

    return finished


def workers_version(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Says which sfumato an executor has, in place of the row that it is given."""
    import pyarrow as pa

    for _ in batches:
        yield pa.RecordBatch.from_pydict({"version": [made_by()]})


def gathered(batches: Iterator[pa.RecordBatch], many: int = BATCH) -> Iterator[pa.Table]:
    """Puts batches together, since noise is drawn faster in large ones; what is left over is the last one."""
    import pyarrow as pa

    waiting: list[pa.RecordBatch] = []
    for batch in batches:
        waiting.append(batch)
        if sum(len(one) for one in waiting) >= many:
            yield pa.Table.from_batches(waiting)
            waiting = []
    if waiting:
        yield pa.Table.from_batches(waiting)


def computed_of(table: pa.Table, keys: int, tallies: int) -> Computed:
    """Cells of Arrow as `Finish` takes them; keys stay as they are."""
    answer = ArrowColumns(table)
    return Computed(
        tuple(answer.numbers(f"n{place}") for place in range(tallies)),
        keys=tuple(table[f"k{place}"].combine_chunks() for place in range(keys)),
    )
