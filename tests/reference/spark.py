"""Spark beside the interpreter, as `duck` has DuckDB: with the true hash, or with one that is always 0."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import replace
from types import SimpleNamespace

from tests.examples.spark import spark_session
from tests.reference.duck import answers, tables
from tests.reference.interpreter import Answers
from tests.reference.worlds import World

from sfumato.query.engines.spark import engine as spark_engine
from sfumato.query.engines.spark.dialect import SPARK
from sfumato.query.engines.spark.sources import open_source
from sfumato.query.plan.engine_plan import Cells

ZERO = "CAST(0 AS BIGINT)"
NO_HASH = replace(SPARK, hashed=ZERO, rank_hash=ZERO, key_hash=ZERO)
"""The dialect in which hashes decide nothing."""


def computed(world: World, cells: Cells) -> Answers:
    """Computes cells with Spark."""
    known = tables(world, cells)
    data = {name: world.held[name].arrow() for name in known}
    catalog = SimpleNamespace(tables=known)
    with closing(open_source(data, catalog, spark_session())) as engine:  # type: ignore[arg-type]
        return answers(engine.run(cells), cells)


@contextmanager
def without_hash() -> Iterator[None]:
    """Lets Spark take groups, rows and values by value."""
    spark_engine.SPARK = NO_HASH  # type: ignore[misc]
    try:
        yield
    finally:
        spark_engine.SPARK = SPARK  # type: ignore[misc]


def computed_by_value(world: World, cells: Cells) -> Answers:
    """Computes cells with Spark, where hashes decide nothing."""
    with without_hash():
        return computed(world, cells)
