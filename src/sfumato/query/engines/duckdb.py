"""DuckDB: computes cells on files, data frames and DuckDB's own tables. Nothing that it says is ever shown."""

from __future__ import annotations

import hmac
import shutil
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, final
from weakref import finalize

import numpy as np

from sfumato.errors import QueryRefused, SfumatoError
from sfumato.query.cells import Cells, Computed, Rows
from sfumato.query.engines.duckdb_cells import statement_of
from sfumato.query.engines.duckdb_connection import connected, duckdb_module
from sfumato.query.engines.duckdb_relations import Held, Relations, key
from sfumato.query.engines.duckdb_text import Scope, Statement, listing
from sfumato.query.engines.engine import Engine
from sfumato.query.expressions import Column, Expression
from sfumato.query.kinds import Kind, Value
from sfumato.query.relations import Relation

if TYPE_CHECKING:
    import duckdb
    import pyarrow as pa

FEW = 2000
"""Up to so many rows are fetched as plain tuples."""

REHEARSED = 256
"""So many questions are remembered that ran without data, the latest ones."""

VERSION_DIGITS = 32
"""So many hexadecimal digits name a version of data."""

BROKE_OFF = "DuckDB broke off. Why is not shown: it could tell something about the data."


@final
class _Alive:
    """Lives as long as an engine does."""


@final
class DuckDBEngine(Engine):
    """Is an open source in DuckDB. Several threads may use it at once. `sources.open_source` makes one.

    It reaches the tables that it was opened with and no others: the planner's has public ones only. ``marks`` are what
    tells the content of each table from other content: of what was copied, a digest of every byte; of Parquet and
    DuckDB files that may be large, their size and a digest of their footer or header. Where a file lies, what it is
    called and when it was written is no part of them. ``spill`` is a folder for what memory cannot hold, removed with
    the engine. Where a question fails, ``otherwise`` makes the tables such that it cannot, and it is asked once more.
    ``known`` are the tables that questions may be about, where they are more than those that it can reach.
    """

    name: ClassVar[str] = "duckdb"

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
        self._rehearsed: dict[Cells, None] = {}
        # The finalizer watches a thing that holds nothing: every finalizer can be found from any other.
        self._alive = _Alive()
        self._clean = None if spill is None else finalize(self._alive, shutil.rmtree, spill, ignore_errors=True)

    @property
    def held(self) -> Mapping[str, Held]:
        """What is public about its tables: how each is held, and not what is in it."""
        return self._tables

    def schema(self) -> Mapping[str, Mapping[str, str]]:
        return {
            name: {column: held for column, (_, held, _) in table.columns.items()}
            for name, table in self._tables.items()
        }

    def prepare(self, cells: Cells) -> None:
        if cells in self._rehearsed:
            return
        try:
            self._empty._computed(cells)
        except SfumatoError:
            raise
        except (RuntimeError, ValueError, OverflowError, MemoryError):  # among them RecursionError and UnicodeError
            ran = False
        else:
            ran = True
        if not ran:
            raise QueryRefused(
                "DuckDB cannot run this question, whatever the data: a number in it is too large, or an expression too "
                "long or too deeply nested. Nothing was charged. Ask in smaller steps: WITH name AS (…)."
            )
        if len(self._rehearsed) >= REHEARSED:
            self._rehearsed.pop(next(iter(self._rehearsed)), None)
        self._rehearsed[cells] = None

    @cached_property
    def _empty(self) -> DuckDBEngine:
        """Is the same tables without rows, in a database of their own: what runs on these runs on any data."""
        connection = connected(threads="1")
        for table in self._known.values():
            exact = {name: "VARCHAR" for name in table.exact.values() if name is not None}
            columns = exact | {ours: held for ours, held, _ in table.columns.values()}
            listed = listing(f"{name} {held}" for name, held in columns.items())
            connection.execute(f"CREATE TABLE {table.name} ({listed or 'one INTEGER'})")
        twin = DuckDBEngine(connection, self._known)
        twin._empty = twin  # it has no rows to be without
        return twin

    def run(self, cells: Cells) -> Computed:
        return self._computed(cells)

    def _computed(self, cells: Cells) -> Computed:
        statement = Statement()
        text = statement_of(cells, Relations(self._tables, statement))
        listed = cells.listed is not None
        if not cells.inner and (not cells.keys or (cells.listed is not None and len(cells.listed) <= FEW)):
            return self._few(cells, text, statement)
        found = self._answer(text, statement)
        places = _numbers(found["place"]) if listed and cells.keys else None
        if listed and places is None:
            places = np.zeros(len(found), np.int64)
        keys = () if listed else tuple(_values(found[f"k{place}"]) for place in range(len(cells.keys)))
        return Computed(
            numbers=tuple(_numbers(found[f"n{place}"]) for place in range(len(cells.tallies))),
            places=places,
            keys=keys,
            inner=tuple(_values(found[f"i{place}"]) for place in range(len(cells.inner))),
        )

    def _few(self, cells: Cells, text: str, statement: Statement) -> Computed:
        """Runs a statement that gives few rows: plain tuples are then faster than Arrow."""
        names, rows = self._answer(text, statement, few=True)
        columns = dict(zip(names, zip(*rows, strict=True), strict=True)) if rows else dict.fromkeys(names, ())
        numbers = tuple(_whole(columns[f"n{place}"]) for place in range(len(cells.tallies)))
        if cells.keys:
            return Computed(numbers, _whole(columns["place"]))
        return Computed(numbers, None if cells.listed is None else np.zeros(1, np.int64))

    def images(
        self, made: Sequence[Expression], leaves: Sequence[tuple[Column, Sequence[Value]]]
    ) -> tuple[tuple[Value, ...], ...]:
        statement = Statement()
        tables = [statement.table(((column.kind, tuple(values)),)) for column, values in leaves]
        columns = {column.name: f"f{place}" for place, (column, _) in enumerate(leaves)}
        crossed = listing(f"(SELECT k0 AS f{place} FROM {name})" for place, name in enumerate(tables))
        scope = Scope(statement, columns)
        shown = listing(f"{key(of, scope).text} AS k{place}" for place, of in enumerate(made))
        source = scope.over(f"SELECT * FROM {crossed}" if crossed else "SELECT 1 AS one")
        order = listing(f"k{place} NULLS FIRST" for place in range(len(made)))
        found = self._answer(f"SELECT DISTINCT {shown} FROM ({source}) ORDER BY {order}", statement)
        return tuple(zip(*(_values(column) for column in found.columns), strict=True))

    def rows(self, relation: Relation) -> Mapping[str, Sequence[Value]]:
        if relation.private:
            raise TypeError(relation)
        statement = Statement()
        source = Relations(self._tables, statement).source(relation)
        names = list(source.fields.values())
        order = listing(f"{name} NULLS FIRST" for name in names)
        found = self._answer(f"SELECT {listing(names)} FROM ({source.text}) ORDER BY {order}", statement)
        return {name: _values(found[field]) for name, field in source.fields.items()}

    def matches(self, relation: Relation, keys: tuple[Expression, ...]) -> int:
        if relation.private:
            raise TypeError(relation)
        found = self.run(Cells(relation, keys, (Rows(),)))
        return max((int(number) for number in found.numbers[0]), default=0)

    def fingerprints(self, key: bytes) -> Mapping[str, str]:
        digests = {name: hmac.new(key, digestmod="sha256") for name, _ in self._marks}
        for name, mark in self._marks:
            digests[name].update(len(mark).to_bytes(8, "big"))
            digests[name].update(mark)
        return {name: digest.hexdigest()[:VERSION_DIGITS] for name, digest in digests.items()}

    def close(self) -> None:
        if vars(self).get("_empty", self) is not self:
            self._empty.close()
        self._connection.close()
        if self._clean is not None:
            self._clean()

    def _answer(self, text: str, statement: Statement, *, few: bool = False) -> Any:
        """Runs a statement on a connection of its own, and gives a table of Arrow; of ``few`` rows, names and tuples.

        No text of an error of DuckDB goes on.
        """
        for last in (False, True):
            found, hopeless = self._tried(text, statement, few=few)
            if found is not None:
                return found
            if last or hopeless or not self._settled():
                break
        raise RuntimeError(BROKE_OFF)

    def _tried(self, text: str, statement: Statement, *, few: bool) -> tuple[Any, bool]:
        """Gives what a statement gives; or None, and whether it is in vain to try it on other copies of the tables."""
        duckdb = duckdb_module()
        try:
            with closing(self._connection.cursor()) as cursor:
                for name, columns in statement.lists.items():
                    cursor.register(name, _list(columns))
                if few:
                    rows = cursor.execute(text, statement.bound(text)).fetchall()
                    return ([column[0] for column in cursor.description or ()], rows), False
                return cursor.sql(text, params=statement.bound(text)).to_arrow_table(), False
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


def _whole(column: tuple[int, ...]) -> np.ndarray[Any, Any]:
    """Gives whole numbers as an array of int64, or as Python ints where one of them is larger."""
    wide = any(not -(2**63) <= number < 2**63 for number in column)
    return np.array(column, dtype=object if wide else np.int64)


def _list(columns: tuple[tuple[Kind, tuple[Value, ...]], ...]) -> pa.Table:
    """Gives public values as a table with columns k0, k1, … and the place of each row."""
    import pyarrow as pa

    types = {
        Kind.BOOL: pa.bool_(),
        Kind.INT: pa.int64(),
        Kind.FLOAT: pa.float64(),
        Kind.TEXT: pa.string(),
        Kind.DATE: pa.date32(),
        Kind.TIME: pa.timestamp("us"),
    }
    made = {f"k{place}": pa.array(values, types[kind]) for place, (kind, values) in enumerate(columns)}
    many = len(columns[0][1])
    return pa.table({**made, "place": np.arange(many, dtype=np.uint16 if many <= 2**16 else np.uint32)})


def _numbers(column: pa.ChunkedArray) -> np.ndarray[Any, Any]:
    """Gives whole numbers as an array of int64; as Python ints, where one of them is larger.

    DuckDB hands out 128 bits as decimals without places: two words each, the lower one first.
    """
    import pyarrow as pa

    if not pa.types.is_decimal(column.type):
        return column.to_numpy().astype(np.int64)  # type: ignore[no-any-return]
    parts = [_words(chunk) for chunk in column.chunks if len(chunk)]
    words = np.concatenate(parts) if parts else np.zeros((0, 2), np.int64)
    low, high = words[:, 0], words[:, 1]
    if np.array_equal(high, low >> 63):
        return np.ascontiguousarray(low)
    wide = [(int(upper) << 64) | (int(lower) & (2**64 - 1)) for lower, upper in words.tolist()]
    found = np.empty(len(wide), object)
    found[:] = wide
    return found


def _words(chunk: pa.Array) -> np.ndarray[Any, np.dtype[np.int64]]:
    data = np.frombuffer(chunk.buffers()[1], np.int64).reshape(-1, 2)
    return data[chunk.offset : chunk.offset + len(chunk)]


def _values(column: pa.ChunkedArray) -> list[Value]:
    """Gives values as Python holds them. Numbers go through NumPy, which is faster by far."""
    import pyarrow as pa

    if not (pa.types.is_integer(column.type) or pa.types.is_floating(column.type)):
        return column.to_pylist()  # type: ignore[no-any-return]
    filled = column.fill_null(0) if column.null_count else column
    found = filled.to_numpy().tolist()
    if column.null_count:
        for place in np.flatnonzero(column.is_null().to_numpy()).tolist():
            found[place] = None
    return found  # type: ignore[no-any-return]
