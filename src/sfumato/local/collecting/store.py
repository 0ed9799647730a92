"""A store of reports: a DuckDB file, or a folder of Parquet files with a DuckDB file that says which of them count.

A batch is in the store as soon as the transaction that adds its line to the table of batches is committed, and not
before: rows of a DuckDB file are part of that transaction, and a Parquet file that no line names does not count.
"""

from __future__ import annotations

import json
import os
import threading
import weakref
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, final

import numpy as np
from numpy.typing import NDArray

from sfumato.errors import BadArgument
from sfumato.local.collecting.batches import Batch
from sfumato.local.collecting.faults import HELD, StoreUnavailable, duckdb_module, in_words
from sfumato.local.collecting.keeping import Keeping, RowsInFiles, RowsInTable
from sfumato.local.collecting.senders import Pseudonyms
from sfumato.local.collecting.sql_sums import stored_sums
from sfumato.local.protocol import Tally
from sfumato.local.reports import Layout, Rejected

if TYPE_CHECKING:
    import duckdb

FORMAT = 1
INDEX = "index.duckdb"
"""The file of a folder that says what counts."""
FILES = (".duckdb", ".db", ".ddb")
"""How the name of a DuckDB file ends; any other is that of a folder."""

SETTINGS = {
    "autoinstall_known_extensions": "false",
    "autoload_known_extensions": "false",
    "python_enable_replacements": "false",
}
"""Nothing is loaded or looked up that the store does not name."""

TABLES = (
    "CREATE TABLE sfumato_store (format INTEGER NOT NULL)",
    f"INSERT INTO sfumato_store VALUES ({FORMAT})",
    "CREATE TABLE sfumato_questions (question INTEGER PRIMARY KEY, name VARCHAR UNIQUE NOT NULL, tag VARCHAR NOT NULL, "
    "published VARCHAR NOT NULL, key_check BLOB)",
    "CREATE TABLE sfumato_batches (question INTEGER, batch INTEGER, key VARCHAR, period VARCHAR NOT NULL, "
    "digest BLOB NOT NULL, accepted BIGINT NOT NULL, truncated BIGINT NOT NULL, other_protocol BIGINT NOT NULL, "
    "invalid BIGINT NOT NULL, excess BIGINT NOT NULL, PRIMARY KEY (question, key))",
    "CREATE TABLE sfumato_senders (question INTEGER, period VARCHAR, high UBIGINT, low UBIGINT, reports UBIGINT)",
)
BATCH = "key, period, accepted, truncated, other_protocol, invalid, excess"

_WRITING: dict[str, threading.Lock] = {}
"""One writer at a time in this process, for each file; between processes DuckDB's own lock sees to it."""
_OPEN: weakref.WeakSet[Store] = weakref.WeakSet()
"""Open stores. A forked process has its parent's in its memory, past that lock, and must not touch them."""


@final
@dataclass(frozen=True)
class Question:
    """What a store keeps reports of: a name, and the protocol that its reports follow."""

    number: int
    name: str
    layout: Layout


@final
class Store:
    """An open store. It holds the file: no other process can open it until it is closed."""

    def __init__(self, place: str | Path) -> None:
        path = Path(place)
        folder = path.is_dir() or (path.suffix.lower() not in FILES and not path.exists())
        self.place = path
        with in_words("opening"):
            self.keeping: Keeping = RowsInFiles(path) if folder else RowsInTable()
            if folder:
                path.mkdir(exist_ok=True)
            self.file = (path / INDEX if folder else path).resolve()
            self._process = os.getpid()
            if any(one.file == self.file and one._process != self._process for one in _OPEN):
                raise StoreUnavailable(HELD)
            self._connection: duckdb.DuckDBPyConnection = duckdb_module().connect(str(self.file), config=SETTINGS)
        self._lock = _WRITING.setdefault(str(self.file), threading.Lock())
        _OPEN.add(self)
        try:
            self._prepare()
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        """Lets go of the file."""
        _OPEN.discard(self)
        with in_words("closing"):
            self._connection.close()

    @in_words("writing")
    def _prepare(self) -> None:
        """Makes the tables of a new store; of an old one, looks whether it can be read."""
        with self.transaction() as rows:
            known = {name for (name,) in rows.execute("SELECT table_name FROM duckdb_tables()").fetchall()}
            if "sfumato_store" not in known:
                for statement in TABLES:
                    rows.execute(statement)
                return
            [(format_,), *more] = rows.execute("SELECT format FROM sfumato_store").fetchall() or [(None,)]
            if format_ != FORMAT or more:
                raise StoreUnavailable(f"it has format {format_}, and this version of sfumato reads format {FORMAT}")

    @contextmanager
    def transaction(self, *, writes: bool = True) -> Iterator[duckdb.DuckDBPyConnection]:
        """A transaction on a connection of its own: all that is done in it holds, or nothing.

        What goes wrong in it outside of the store, such as where messages come from, is passed on as it is.
        """
        if self._process != os.getpid():
            raise StoreUnavailable("this process was forked from the one that has it open")
        if writes:
            self._lock.acquire()
        try:
            with in_words("opening"):
                rows = self._connection.cursor()
                rows.execute("BEGIN")
            try:
                yield rows
                with in_words("writing" if writes else "reading"):
                    rows.execute("COMMIT")
            finally:
                rows.close()  # which rolls back what was not committed
        finally:
            if writes:
                self._lock.release()

    @in_words("writing")
    def adopt(self, name: str, tag: str, published: str, layout: Layout, key_check: bytes | None) -> Question:
        """Enters a question, or finds it again; refuses another protocol or another key under its name."""
        with self.transaction() as rows:
            every = rows.execute("SELECT question, name, tag, published, key_check FROM sfumato_questions").fetchall()
            for number, known, its_tag, its_text, its_key in every:
                if known == name:
                    _compare(name, (tag, published), (its_tag, its_text))
                    self._compare_keys(rows, number, key_check, its_key)
                    return Question(number, name, layout)
            number = 1 + max((one[0] for one in every), default=0)
            rows.execute(
                "INSERT INTO sfumato_questions VALUES (?, ?, ?, ?, ?)", [number, name, tag, published, key_check]
            )
            self.keeping.begin(rows, number, layout)
            return Question(number, name, layout)

    @staticmethod
    def _compare_keys(rows: duckdb.DuckDBPyConnection, number: int, given: bytes | None, known: bytes | None) -> None:
        if given is None or given == known:
            return
        if known is not None:
            raise BadArgument("key", "the one that senders of this store are known by", "another key")
        rows.execute("UPDATE sfumato_questions SET key_check = ? WHERE question = ?", [given, number])

    @in_words("reading")
    def tags(self) -> dict[str, str]:
        """The questions of the store, by the tags of their protocols."""
        with self.transaction(writes=False) as rows:
            return dict(rows.execute("SELECT tag, name FROM sfumato_questions ORDER BY question DESC").fetchall())

    @in_words("reading")
    def batches(self, question: Question) -> tuple[Batch, ...]:
        """All batches of a question, in the order in which they came."""
        query = f"SELECT {BATCH} FROM sfumato_batches WHERE question = ? ORDER BY batch"
        with self.transaction(writes=False) as rows:
            return tuple(map(_batch, rows.execute(query, [question.number]).fetchall()))

    @in_words("reading")
    def tally(
        self, question: Question, head: bytes, periods: Sequence[str] | None, batches: Sequence[str] | None
    ) -> Tally:
        """Sums up the reports of some batches, or of all, where they are."""
        which, values = "question = ?", [question.number, *(periods or ()), *(batches or ())]
        for column, chosen in (("period", periods), ("key", batches)):
            if chosen is not None:
                which += f" AND {column} IN ({', '.join('?' * len(chosen))})" if chosen else " AND FALSE"
        with self.transaction(writes=False) as rows:
            found = rows.execute(
                f"SELECT batch, {BATCH} FROM sfumato_batches WHERE {which} ORDER BY batch", values
            ).fetchall()
            numbers = [one[0] for one in found]
            kept = [_batch(one[1:]) for one in found]
            whole = None if periods is None and batches is None else numbers
            sums: NDArray[np.int64] = np.zeros((question.layout.cells, 1 + question.layout.bits), dtype=np.int64)
            for relation in self.keeping.relations(question.number, numbers, chosen=whole):
                sums += stored_sums(rows, relation, question.layout)
        tally = Tally(head, question.layout, sums, sum((one.rejected for one in kept), Rejected()))
        if tally.users != sum(one.accepted for one in kept):
            raise StoreUnavailable("it is damaged: it does not hold as many reports as its batches brought")
        return tally


def _batch(row: tuple[Any, ...]) -> Batch:
    key, period, accepted, *rejected = row
    return Batch(key, period, accepted, Rejected(*rejected))


def _compare(name: str, given: tuple[str, str], known: tuple[str, str]) -> None:
    if given[0] != known[0]:
        raise BadArgument(
            "protocol",
            f"the one that this store keeps as {name!r}, {known[0]}; keep reports of others as another question=",
            given[0],
        )
    if json.loads(given[1]) != json.loads(known[1]):
        raise BadArgument("protocol", f"over the values that this store keeps as {name!r}", "one over other values")


@final
class Draft:
    """A batch on its way into a store, inside of a transaction."""

    @in_words("writing")
    def __init__(self, store: Store, rows: duckdb.DuckDBPyConnection, question: Question, key: str) -> None:
        self._rows, self._question, self._key = rows, question, key
        [(self._number,)] = rows.execute(
            "SELECT 1 + coalesce(max(batch), 0) FROM sfumato_batches WHERE question = ?", [question.number]
        ).fetchall()
        self._writer = store.keeping.writer(rows, question.number, self._number, question.layout)

    @in_words("reading")
    def known(self) -> tuple[Batch, bytes] | None:
        """The batch of this key, if it is there, and the digest of what it brought."""
        found = self._rows.execute(
            f"SELECT digest, {BATCH} FROM sfumato_batches WHERE question = ? AND key = ?",
            [self._question.number, self._key],
        ).fetchall()
        return (_batch(found[0][1:]), found[0][0]) if found else None

    @in_words("reading")
    def sent_before(self, senders: Pseudonyms, period: str) -> NDArray[np.int64]:
        """How many reports each of some senders, all different and in order, has sent."""
        import pyarrow as pa

        asked = pa.table(
            {"high": senders[:, 0], "low": senders[:, 1], "place": np.arange(len(senders), dtype=np.int64)}
        )
        self._rows.register("asked_senders", asked)
        found = self._rows.sql(
            "SELECT place, sum(reports)::BIGINT FROM sfumato_senders JOIN asked_senders USING (high, low) "
            "WHERE question = ? AND period = ? GROUP BY place",
            params=[self._question.number, period],
        ).to_arrow_table()
        self._rows.unregister("asked_senders")
        counts = np.zeros(len(senders), dtype=np.int64)
        counts[found.column(0).to_numpy()] = found.column(1).to_numpy()
        return counts

    @in_words("writing")
    def count_senders(self, senders: Pseudonyms, period: str, reports: NDArray[np.int64]) -> None:
        """Counts what some senders sent now."""
        import pyarrow as pa

        new = pa.table({"high": senders[:, 0], "low": senders[:, 1], "reports": reports})
        self._rows.register("new_senders", new)
        self._rows.execute(
            "INSERT INTO sfumato_senders SELECT ?, ?, high, low, reports FROM new_senders WHERE reports > 0",
            [self._question.number, period],
        )
        self._rows.unregister("new_senders")

    @in_words("writing")
    def append(self, cells: NDArray[np.int64], bits: NDArray[np.uint64]) -> None:
        """Adds reports."""
        if len(cells):
            self._writer.write(cells, bits)

    @in_words("writing")
    def finish(self, batch: Batch, digest: bytes) -> None:
        """Adds the line that makes the batch count, once the transaction is committed."""
        self._writer.finish()
        rejected = batch.rejected
        self._rows.execute(
            f"INSERT INTO sfumato_batches VALUES ({', '.join('?' * 10)})",
            [
                self._question.number,
                self._number,
                batch.key,
                batch.period,
                digest,
                batch.accepted,
                rejected.truncated,
                rejected.foreign,
                rejected.invalid,
                rejected.excess,
            ],
        )

    def forget(self) -> None:
        """Removes what was written outside of the transaction."""
        self._writer.forget()
