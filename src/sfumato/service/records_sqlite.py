"""Records in an SQLite file: for a service whose workers are on one machine."""

from __future__ import annotations

import json
import os
import sqlite3
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, final

from sfumato.errors import ChangedMeanwhile, ServiceUnavailable
from sfumato.ledger.addresses import SQLITE, file_at
from sfumato.ledger.stores.log_ahead import log_ahead
from sfumato.service.records import NEW, Kept, Records, checked_record

PATIENCE_SECONDS = 30

TABLE = """
CREATE TABLE IF NOT EXISTS records (
    kind TEXT NOT NULL, name TEXT NOT NULL, version INTEGER NOT NULL, said TEXT NOT NULL, PRIMARY KEY (kind, name)
) STRICT, WITHOUT ROWID
"""


@final
class SqliteRecords(Records):
    """Keeps records in a file that its owner alone can read; in memory, where none is named."""

    def __init__(self, address: str | None) -> None:
        path = None if address is None else file_at(address.removeprefix(SQLITE), "the address of records")
        self._path: Path | None = None if path is None else path.absolute()
        self._lock, self._process = threading.RLock(), os.getpid()
        self._connection: sqlite3.Connection | None = None
        with self._opened():
            pass

    def get(self, kind: str, name: str) -> Kept | None:
        with self._opened() as connection:
            row = connection.execute(
                "SELECT name, version, said FROM records WHERE kind = ? AND name = ?", (kind, name)
            ).fetchone()
        return None if row is None else _kept(row)

    def all(self, kind: str, begins: str = "") -> list[Kept]:
        with self._opened() as connection:
            rows = connection.execute(
                "SELECT name, version, said FROM records WHERE kind = ? AND substr(name, 1, ?) = ? ORDER BY name",
                (kind, len(begins), begins),
            ).fetchall()
        return [_kept(row) for row in rows]

    def put(self, kind: str, name: str, said: dict[str, Any], *, expecting: int) -> Kept:
        text, named = json.dumps(said), checked_record(kind, name)
        with self._opened() as connection:
            if expecting == NEW:
                made = connection.execute(
                    "INSERT INTO records VALUES (?, ?, 1, ?) ON CONFLICT DO NOTHING", (kind, named, text)
                )
            else:
                made = connection.execute(
                    "UPDATE records SET version = version + 1, said = ? WHERE kind = ? AND name = ? AND version = ?",
                    (text, kind, named, expecting),
                )
        if made.rowcount != 1:
            raise ChangedMeanwhile(f"the {kind} {named}")
        return Kept(named, expecting + 1, json.loads(text))

    def remove(self, kind: str, name: str, *, expecting: int) -> None:
        with self._opened() as connection:
            gone = connection.execute(
                "DELETE FROM records WHERE kind = ? AND name = ? AND version = ?", (kind, name, expecting)
            )
        if gone.rowcount != 1:
            raise ChangedMeanwhile(f"the {kind} {name}")

    def close(self) -> None:
        with self._lock:
            if self._connection is not None and self._process == os.getpid():
                self._connection.close()
            self._connection = None

    @contextmanager
    def _opened(self) -> Iterator[sqlite3.Connection]:
        """Lends the connection of this process to one thread at a time; turns what SQLite says into our own words."""
        with self._lock:
            if self._process != os.getpid():  # a connection must not be used across a fork, nor closed there
                self._connection, self._process = None, os.getpid()
            try:
                if self._connection is None:
                    self._connection = _connected(self._path)
                yield self._connection
            except (sqlite3.Error, OSError, UnicodeError) as fault:
                why = "its file cannot be opened, read or written"
                full = getattr(fault, "sqlite_errorcode", 0) == sqlite3.SQLITE_FULL
            else:
                return
        raise ServiceUnavailable("the disk is full" if full else why)


def _connected(path: Path | None) -> sqlite3.Connection:
    if path is not None:
        with suppress(FileExistsError):  # to open and close one would drop every lock that this process has on it
            os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600))
    connection = sqlite3.connect(
        ":memory:" if path is None else path, isolation_level=None, timeout=PATIENCE_SECONDS, check_same_thread=False
    )
    try:
        connection.execute("PRAGMA trusted_schema = OFF")
        if path is not None and not log_ahead(connection, patience=PATIENCE_SECONDS):
            raise ServiceUnavailable("its file system cannot keep a write-ahead log; use a local disk")
        connection.execute("PRAGMA synchronous = FULL")
        connection.execute(TABLE)
    except BaseException:
        connection.close()
        raise
    return connection


def _kept(row: tuple[str, int, str]) -> Kept:
    name, version, said = row
    return Kept(name, version, json.loads(said))
