"""DuckDB: computes cells on files, data frames and DuckDB's own tables. Nothing that it says is ever shown."""

from __future__ import annotations

import hmac
import shutil
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, ClassVar, final
from weakref import finalize

from sfumato.query.engines.duckdb.connection import connected, duckdb_module
from sfumato.query.engines.duckdb.dialect import DUCKDB
from sfumato.query.engines.sql.arrow import ArrowColumns, list_table
from sfumato.query.engines.sql.dialect import Dialect
from sfumato.query.engines.sql.engine import Answer, SQLEngine, Tuples
from sfumato.query.engines.sql.held import Held
from sfumato.query.engines.sql.statement import Statement, listing

if TYPE_CHECKING:
    import duckdb

VERSION_DIGITS = 32
"""The number of hexadecimal digits that name a version of data."""

PARSED = 256
"""The number of texts, the latest ones, that are kept parsed: to parse one takes a third of a small question."""

BROKE_OFF = "DuckDB broke off. Why is not shown: it could tell something about the data."


@final
class _Alive:
    """Lives as long as an engine does."""


@final
class DuckDBEngine(SQLEngine):
    """An open source in DuckDB. Several threads may use it at once. `sources.open_source` makes one.

    It reaches the tables that it was opened with and no others: the planner's has public ones only. ``marks`` are what
    tells the content of each table from other content: of what was copied, a digest of every byte; of Parquet and
    DuckDB files that may be large, their size and a digest of their footer or header. Where a file lies, what it is
    called and when it was written is no part of them. ``spill`` is a folder for what memory cannot hold, removed with
    the engine. Where a question fails, ``otherwise`` makes the tables such that it cannot, and it is asked once more.
    ``known`` are the tables that questions may be about, where they are more than those that it can reach.
    """

    name: ClassVar[str] = "DuckDB"

    def __init__(
        self,
        connection: duckdb.DuckDBPyConnection,
        tables: Mapping[str, Held],
        *,
        marks: Sequence[tuple[str, bytes]] = (),
        spill: str | None = None,
        otherwise: Callable[[], bool] = lambda: False,
        known: Mapping[str, Held] | None = None,
    ) -> None:
        self._connection, self._tables, self._marks = connection, dict(tables), tuple(marks)
        self._otherwise, self._known = otherwise, dict(tables if known is None else known)
        self._parsed = lru_cache(maxsize=PARSED)(lambda text: connection.extract_statements(text)[0])
        # The finalizer watches a thing that holds nothing: every finalizer can be found from any other.
        self._alive = _Alive()
        self._clean = None if spill is None else finalize(self._alive, shutil.rmtree, spill, ignore_errors=True)

    @property
    def dialect(self) -> Dialect:
        return DUCKDB

    @property
    def held(self) -> Mapping[str, Held]:
        return self._tables

    @cached_property
    def empty(self) -> DuckDBEngine:
        connection = connected(threads="1")
        for table in self._known.values():
            exact = {name: "VARCHAR" for name in table.exact.values() if name is not None}
            columns = exact | {ours: held for ours, held, _ in table.columns.values()}
            listed = listing(f"{name} {held}" for name, held in columns.items())
            connection.execute(f"CREATE TABLE {table.name} ({listed or 'one INTEGER'})")
        twin = DuckDBEngine(connection, self._known)
        twin.empty = twin  # it has no rows to be without
        return twin

    def fingerprints(self, key: bytes) -> Mapping[str, str]:
        digests = {name: hmac.new(key, digestmod="sha256") for name, _ in self._marks}
        for name, mark in self._marks:
            digests[name].update(len(mark).to_bytes(8, "big"))
            digests[name].update(mark)
        return {name: digest.hexdigest()[:VERSION_DIGITS] for name, digest in digests.items()}

    def close(self) -> None:
        if vars(self).get("empty", self) is not self:
            self.empty.close()
        self._connection.close()
        if self._clean is not None:
            self._clean()

    def answer(self, text: str, statement: Statement, *, few: bool) -> Answer:
        for last in (False, True):
            answer, hopeless = self._tried(text, statement, few=few)
            if answer is not None:
                return answer
            if last or hopeless or not self._settled():
                break
        raise RuntimeError(BROKE_OFF)

    def _tried(self, text: str, statement: Statement, *, few: bool) -> tuple[Answer | None, bool]:
        """What a statement gives on a connection of its own; or None, and whether it is in vain to try it on other
        copies of the tables."""
        duckdb = duckdb_module()
        try:
            with closing(self._connection.cursor()) as cursor:
                for name, columns in statement.lists.items():
                    cursor.register(name, list_table(columns))
                parsed, bound = self._parsed(text), statement.bound(text)
                if few:
                    rows = cursor.execute(parsed, bound).fetchall()
                    return Tuples([column[0] for column in cursor.description or ()], rows), False
                return ArrowColumns(cursor.sql(parsed, params=bound).to_arrow_table()), False
        except (duckdb.OutOfMemoryException, duckdb.InterruptException, MemoryError):
            return None, True
        except duckdb.Error:
            return None, False

    def _settled(self) -> bool:
        import pyarrow as pa

        try:
            return self._otherwise()
        except (duckdb_module().Error, pa.ArrowException, OSError, MemoryError):
            return False
