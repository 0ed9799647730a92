"""Rows of people in Spark, and how many there are."""

from __future__ import annotations

from sfumato.query.engines.spark.engine import SparkEngine
from sfumato.query.nodes.expressions import Column
from sfumato.query.nodes.facts import Facts
from sfumato.query.nodes.kinds import Kind
from sfumato.query.nodes.relations import Owner, Scan
from sfumato.query.plan.engine_plan import Bound, Cells, Rows, Units

USER, X = Column("user", Kind.INT, Facts(), "t.user", 0), Column("x", Kind.FLOAT, Facts(), "t.x")

TABLE = Scan("t", (USER, X), Owner("user"))

EVERY = Cells(TABLE, (), (Rows(), Units()), Bound(None, 9))


def counted(engine: SparkEngine, asked: Cells = EVERY) -> list[int]:
    return [int(one[0]) for one in engine.run(asked).numbers]
