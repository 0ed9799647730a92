"""Spark: computes cells on frames, tables and files, where they are. Nothing that it says is ever shown."""

from __future__ import annotations

import hmac
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import cached_property
from typing import Any, ClassVar, final

import numpy as np

from sfumato.core.outages import Outage
from sfumato.entropy import system
from sfumato.errors import RunFailed
from sfumato.query.engines.protocol import Finish
from sfumato.query.engines.spark.dialect import LACKS, SPARK
from sfumato.query.engines.spark.quiet import quietly
from sfumato.query.engines.spark.session import OPTIMIZER, SETTINGS, is_remote, own_session, released
from sfumato.query.engines.spark.spreading import spread_over
from sfumato.query.engines.spark.statements import INLINE, with_lists, without_order, written_out
from sfumato.query.engines.spark.tables import SparkTables
from sfumato.query.engines.sql.arrow import ArrowColumns, list_table
from sfumato.query.engines.sql.dialect import Dialect
from sfumato.query.engines.sql.engine import Answer, SQLEngine
from sfumato.query.engines.sql.held import Held, item_type
from sfumato.query.engines.sql.statement import Statement, listing
from sfumato.query.engines.written_tables import TableWriter
from sfumato.query.nodes.kinds import Kind, Value
from sfumato.query.plan.engine_plan import Cells

VERSION_DIGITS = 32
"""The number of hexadecimal digits that name a version of data."""

BROKE_OFF = "Spark broke off. Why is not shown: it could tell something about the data."
STOPPED = "Spark's session has been stopped, or its server cannot be reached: open the data again in a running session."

FOLDING = ("PropagateEmptyRelation", "ConvertToLocalRelation")
"""Steps of the optimiser that would make nothing of a statement about no rows."""

Marks = Callable[[], Mapping[str, bytes]]
"""What tells the content of each table from other content, as far as Spark knows now."""


@final
class Planned(Answer):
    """What a statement gives that was planned, and not run."""

    def numbers(self, name: str) -> np.ndarray[Any, Any]:
        return np.zeros(0, np.int64)

    def values(self, name: str, kind: Kind) -> list[Value]:
        return []


@final
class SparkEngine(SQLEngine):
    """Open tables in a session of Spark of our own. Several threads may use it at once.

    It reaches the tables that it was opened with: views t1, t2, … of its own session; the planner's has public ones
    only. ``marks`` look up what tells the content of each table from other content: of files their sizes and when they
    were written; of Arrow tables a digest of every byte; of other frames nothing, so that each opening is a version.
    ``known`` are the tables that questions may be about, where they are more than those that it can reach.
    """

    name: ClassVar[str] = "Spark"
    lacks: ClassVar[frozenset[str]] = LACKS

    def __init__(
        self,
        session: Any,
        tables: Mapping[str, Held],
        *,
        marks: Marks = dict,
        known: Mapping[str, Held] | None = None,
        planned: bool = False,
    ) -> None:
        self._session, self._tables, self._marks = session, dict(tables), marks
        self._known, self._planned = dict(tables if known is None else known), planned
        self._reaches = known is None and not planned  # the planner's half charges nothing
        self._opened = dict(marks())

    @property
    def dialect(self) -> Dialect:
        return SPARK

    @property
    def held(self) -> Mapping[str, Held]:
        return self._tables

    @property
    def session(self) -> Any:
        """The session that statements run in; what is handed out of it is anybody's."""
        return self._session

    @cached_property
    def empty(self) -> SparkEngine:
        rules = "spark.sql.optimizer.excludedRules"
        left_out = ",".join([SETTINGS[rules], *(f"{OPTIMIZER}.{name}" for name in FOLDING)])
        session = own_session(self._session, **{rules: left_out})
        for table in self._known.values():
            exact = {name: "string" for name in table.exact.values() if name is not None}
            columns = exact | {ours: held for ours, held, _ in table.columns.values()}
            listed = listing(f"CAST(NULL AS {type_of(held)}) AS {name}" for name, held in columns.items())
            run(session, f"CREATE TEMPORARY VIEW {table.name} AS SELECT {listed or '1 AS one'} WHERE 1 = 0")
        twin = SparkEngine(session, self._known, planned=True)
        twin.empty = twin  # it has no rows to be without
        return twin

    @contextmanager
    def at_once(self) -> Iterator[None]:
        self._refuse_changed()
        yield
        self._refuse_changed()

    def _refuse_changed(self) -> None:
        with quietly() as failed:
            if dict(self._marks()) == self._opened:
                return
        raise self._broken() if failed else RunFailed("Spark", Outage.CHANGED)

    def _broken(self) -> RuntimeError:
        """What to raise where Spark broke off. Of why, no more is told than that there is no session any more."""
        if not stopped(self._session):
            return RuntimeError(BROKE_OFF)
        return RunFailed("Spark", Outage.LOST) if self._reaches else RuntimeError(STOPPED)

    def fingerprints(self, key: bytes) -> Mapping[str, str]:
        digests = {name: hmac.new(key, mark, digestmod="sha256") for name, mark in self._opened.items()}
        return {name: digest.hexdigest()[:VERSION_DIGITS] for name, digest in digests.items()}

    def close(self) -> None:
        if vars(self).get("empty", self) is not self:
            self.empty.close()
        with quietly():
            if is_remote(self._session):
                released(self._session)
            else:
                for table in self._tables.values():
                    self._session.catalog.dropTempView(table.name)

    def answer(self, text: str, statement: Statement, *, few: bool) -> Answer:
        text, order = without_order(text)
        with quietly(), self._framed(text, statement) as frame:
            if self._planned and not is_remote(self._session):
                frame._jdf.queryExecution().executedPlan()
                return Planned()
            return ArrowColumns(in_order(frame.toArrow(), order))
        raise self._broken()

    def spread(self, cells: Cells, finish: Finish, writer: TableWriter, staged: str) -> int:
        if not isinstance(writer, SparkTables):
            return super().spread(cells, finish, writer, staged)
        with quietly(), self.framed(cells) as frame:
            return writer.keep_frame(spread_over(frame, cells, finish), staged)
        raise self._broken()

    @contextmanager
    def framed(self, cells: Cells) -> Iterator[Any]:
        """The frame of exact cells, in no order: private, and not worked out until something is done with it."""
        text, statement = self._written(cells)
        with self._framed(without_order(text)[0], statement) as frame:
            yield frame

    @property
    def writer(self) -> SparkTables:
        return SparkTables(self._session)

    @contextmanager
    def _framed(self, text: str, statement: Statement) -> Iterator[Any]:
        """The frame of a statement; the lists that it looks keys up in are there as long."""
        lists = statement.lists
        long = [name for name, columns in lists.items() if len(columns[0][1]) > INLINE]
        views = {name: f"l{system().octets(16).hex()}" for name in long}
        try:
            for name, view in views.items():
                self._session.createDataFrame(list_table(lists[name])).createTempView(view)
            yield self._session.sql(with_lists(written_out(text, statement), lists, views))
        finally:
            for view in views.values():
                self._session.catalog.dropTempView(view)


def type_of(held: str) -> str:
    """A type of Spark as SQL: the list of texts, which is held as string[], is ARRAY<string>."""
    item = item_type(held)
    return f"ARRAY<{type_of(item)}>" if item else held


def run(session: Any, text: str) -> None:
    """Runs a statement that gives nothing."""
    session.sql(text).collect()


def stopped(session: Any) -> bool:
    """Tells whether a session can run nothing any more."""
    if is_remote(session):
        with quietly():
            return session.is_stopped or not session.sql("SELECT 1").collect()
        return True
    with quietly():
        return bool(session._jsparkSession.sparkContext().isStopped())
    return True


def in_order(table: Any, names: list[str]) -> Any:
    """Rows in the order of columns, with missing values first: texts by code points, as bytes of UTF-8 are."""
    from pyarrow.compute import sort_indices

    if not names or len(table) < 2:
        return table
    there = {f"{name} is there": table[name].is_valid() for name in names}
    keys = type(table).from_pydict({**there, **{name: table[name] for name in names}})
    by = [(key, "ascending") for name in names for key in (f"{name} is there", name)]
    return table.take(sort_indices(keys, by))
