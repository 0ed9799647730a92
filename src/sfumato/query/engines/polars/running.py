"""Running lazy frames: what the planner of Polars may do with them, and what is said where it fails."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal, TypeVar

import polars as pl

Tried = TypeVar("Tried")

FLAGS = pl.QueryOptFlags(predicate_pushdown=False, join_order=False, row_estimate=False, pre_partition_hive=False)
"""What is left on looks at the text of a plan alone: which columns are needed, which parts of it are alike."""

BROKE_OFF = "Polars broke off. Why is not shown: it could tell something about the data."

BATCH, PLAIN = 1 << 16, pl.CompatLevel.oldest()
"""How files are written: in pieces of one size, and texts one behind the other, so that the same rows are the same
bytes, however they came."""

FAILURES = (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError)


def collected(frame: pl.LazyFrame, *, streaming: bool = True) -> pl.DataFrame:
    """The rows of a frame. It raises a RuntimeError with a text of ours, and no other.

    Both engines of Polars give the same. Where the streaming one breaks off, as it does at some plans, for the numbers
    of rows that it happens to hold at once, the other one is asked.
    """
    engines: tuple[Literal["streaming", "in-memory"], ...] = ("streaming", "in-memory")
    for engine in engines if streaming else engines[1:]:
        try:
            return frame.collect(engine=engine, optimizations=FLAGS)
        except FAILURES:
            pass
    raise RuntimeError(BROKE_OFF)


def quietly(run: Callable[[], Tried]) -> Tried:
    """What something gives that makes frames and runs them. Where Polars fails, the text of the error is ours."""
    try:
        return run()
    except FAILURES:
        pass
    raise RuntimeError(BROKE_OFF)


def sunk(frame: pl.LazyFrame, path: str) -> bool:
    """Writes the rows of somebody's frame to a file, as they come; tells whether that succeeded."""
    try:
        frame.sink_ipc(path, engine="streaming", optimizations=FLAGS, record_batch_size=BATCH, compat_level=PLAIN)
    except (Exception, pl.exceptions.PanicException):  # whatever there is in a plan, what it says is not shown
        return False
    return True


def schema_of_frame(frame: pl.LazyFrame) -> dict[str, Any] | None:
    """The columns of somebody's frame and their types, without looking at a value; None where it has none."""
    try:
        return dict(frame.collect_schema())
    except (Exception, pl.exceptions.PanicException):
        return None
