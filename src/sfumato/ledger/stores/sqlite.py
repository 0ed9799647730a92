"""A book in an SQLite file: the default. Safe for many processes on one machine; every append is synced to the disk."""

from __future__ import annotations

import os
import sqlite3
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager, nullcontext, suppress
from pathlib import Path
from typing import Any, final

from sfumato.core.alive import Alive
from sfumato.errors import LedgerDamaged, LedgerUnavailable, SfumatoError
from sfumato.ledger.store import GONE, Decide, HopefulPen, Pen, Row, Store, checked, storable
from sfumato.ledger.stores.in_place import watched
from sfumato.ledger.stores.log_ahead import log_ahead
from sfumato.ledger.stores.sqlite_faults import PATIENCE_SECONDS, refuse

MANY = 1000
"""Rows that are read at once."""

REPLACED = "its file was moved, removed or replaced while it was in use; start this process anew"

SCHEMA = """
BEGIN IMMEDIATE;
CREATE TABLE IF NOT EXISTS entries (
    number INTEGER PRIMARY KEY AUTOINCREMENT, kind TEXT NOT NULL, digest TEXT NOT NULL, text TEXT NOT NULL,
    key TEXT, question TEXT, settles INTEGER
) STRICT;
CREATE TABLE IF NOT EXISTS kept (number INTEGER PRIMARY KEY, value TEXT NOT NULL) STRICT;
CREATE TABLE IF NOT EXISTS secrets (name TEXT PRIMARY KEY, value BLOB NOT NULL) STRICT;
CREATE UNIQUE INDEX IF NOT EXISTS by_key ON entries (key) WHERE key IS NOT NULL;
CREATE UNIQUE INDEX IF NOT EXISTS by_settles ON entries (settles) WHERE settles IS NOT NULL;
CREATE INDEX IF NOT EXISTS by_question ON entries (question, number) WHERE question IS NOT NULL;
CREATE INDEX IF NOT EXISTS by_kind ON entries (kind, number) WHERE kind NOT IN ('charged', 'released');
CREATE TRIGGER IF NOT EXISTS no_change BEFORE UPDATE ON entries BEGIN SELECT RAISE(ABORT, 'append only'); END;
CREATE TRIGGER IF NOT EXISTS no_removal BEFORE DELETE ON entries BEGIN SELECT RAISE(ABORT, 'append only'); END;
COMMIT;
"""

PRESENT = frozenset(
    ("entries", "kept", "secrets", "by_key", "by_settles", "by_question", "by_kind", "no_change", "no_removal")
)
"""What must be there: a book without its unique indexes or triggers is not safe to write to."""

ENDS = """
SELECT coalesce((SELECT seq FROM sqlite_sequence WHERE name = 'entries'), 0)
UNION ALL SELECT coalesce(max(number), 0) FROM entries
"""
"""SQLite keeps the last number in another page too (AUTOINCREMENT), so that no broken page hides the last entries."""

COLUMNS = "entries.number, kind, digest, text, key, question, settles"
WITH_VALUE = f"SELECT {COLUMNS}, value FROM entries LEFT JOIN kept ON kept.number = entries.number"

FOLLOW = """
INSERT INTO entries SELECT ?1, ?2, ?3, ?4, ?5, ?6, ?7 WHERE ?8 = 0 OR EXISTS (SELECT 1 FROM entries WHERE number = ?8)
"""
"""Appends a row if the one before it is there; its number, key and charge nobody else can have taken."""

WARY = 32
"""After somebody else has written, this many appends wait for their turn before one hopes to be alone again."""


@final
class SqliteStore(Store):
    """Keeps a book in a file, with a write-ahead log that is synced at every append."""

    def __init__(self, path: str | Path) -> None:
        self._path = Path(path).absolute()
        self._lock = threading.RLock()
        self._process = os.getpid()
        self._connection: sqlite3.Connection | None = None
        self._left_behind: list[sqlite3.Connection] = []
        self._in_place: Callable[[], bool] = lambda: True
        self._wary = 0
        _STORES.add(self)
        with self._opened():
            pass

    @property
    def lasts(self) -> bool:
        return True

    def append(self, known: int, decide: Decide) -> Sequence[Row]:
        with self._opened() as connection:
            news: Sequence[Row] = ()
            if self._wary or not self._hope(connection, known, decide):
                with self._opened() as turn:  # which is another one if the process was forked in the meantime
                    news = self._in_turn(turn, known, decide)
                self._wary = WARY if news else max(0, self._wary - 1)
            if not self._in_place():  # what was just written is not where others will read
                self._process = 0
                raise LedgerUnavailable(REPLACED, certain=False)
            return news

    def _hope(self, connection: sqlite3.Connection, known: int, decide: Decide) -> bool:
        """Appends as if nobody else wrote; tells whether that went well."""
        pen = HopefulPen()
        try:
            rows = checked(decide(pen), known)
        except SfumatoError:  # what it knows may be old, so that it does not count
            return False
        if not rows or not pen.covered_by(rows) or connection is not self._connection:
            return False
        single = len(rows) == 1 and rows[0].value is None  # which is one statement
        try:
            with nullcontext() if single else _turn(connection):
                _write(connection, rows)
        except sqlite3.IntegrityError:  # somebody else has taken the number, the key or the charge
            return False
        return True

    def _in_turn(self, connection: sqlite3.Connection, known: int, decide: Decide) -> Sequence[Row]:
        """Appends while nobody else can; gives the news."""
        with _turn(connection):
            pen = _Pen(connection, known)
            _write(connection, checked(decide(pen), known + len(pen.news)))
        return pen.news

    def rows(self, after: int = 0, *, kinds: Sequence[str] = ()) -> Iterator[Row]:
        chosen = f" AND kind IN ({', '.join('?' * len(kinds))})" if kinds else ""
        while True:
            with self._opened() as connection:
                many = connection.execute(
                    f"{WITH_VALUE} WHERE entries.number > ?{chosen} ORDER BY entries.number LIMIT {MANY}",
                    (after, *kinds),
                ).fetchall()
            yield from map(_row, many)
            if len(many) < MANY:
                return
            after = many[-1][0]

    def last(self, kind: str) -> Row | None:
        return self._one("kind = ? ORDER BY entries.number DESC LIMIT 1", kind)

    def by_key(self, key: str) -> Row | None:
        return self._one("key = ?", key)

    def by_question(self, question: str) -> Row | None:
        return self._one("question = ? ORDER BY entries.number DESC LIMIT 1", question)

    def settled(self, number: int) -> Row | None:
        return self._one("settles = ?", number)

    def get(self, number: int) -> Row | None:
        return self._one("entries.number = ?", number)

    def _one(self, where: str, what: str | int) -> Row | None:
        if isinstance(what, str) and not storable(what):
            return None
        with self._opened() as connection:
            fields = connection.execute(f"{WITH_VALUE} WHERE {where}", (what,)).fetchone()
        return None if fields is None else _row(fields)

    def secret(self, name: str, made: Callable[[], bytes]) -> bytes:
        with self._opened() as connection:
            kept = connection.execute("SELECT value FROM secrets WHERE name = ?", (name,)).fetchone()
            if kept is None:
                connection.execute("INSERT OR IGNORE INTO secrets VALUES (?, ?)", (name, made()))
                kept = connection.execute("SELECT value FROM secrets WHERE name = ?", (name,)).fetchone()
        return bytes(kept[0])

    def close(self) -> None:
        with self._lock:
            if self._connection is not None and self._process == os.getpid():
                self._connection.close()
            if self._process:
                self._connection = None

    def pause(self) -> None:
        """Waits until no other thread uses the file, and closes it until `go_on`: the process is about to fork."""
        self._lock.acquire()
        if self._connection is not None and not self._connection.in_transaction:
            self.close()

    def go_on(self) -> None:
        """Lets others use the file again; it is opened when it is next used."""
        self._lock.release()

    @contextmanager
    def _opened(self) -> Iterator[sqlite3.Connection]:
        """Lends the connection of this process to one thread at a time; turns what SQLite says into our own errors."""
        with self._lock:
            if not self._process:
                raise LedgerUnavailable(REPLACED)
            try:
                if self._process != os.getpid():  # a connection must not be used across a fork, nor closed there
                    self._left_behind += [self._connection] if self._connection else []
                    self._connection, self._process = None, os.getpid()
                if self._connection is None:
                    self._connection, self._in_place = watched(self._path, lambda: _connected(self._path))
                if self._connection.in_transaction:  # something was broken off; nothing may be written into it
                    self._connection.execute("ROLLBACK")
                yield self._connection
            except (sqlite3.Error, UnicodeError) as fault:  # SQLite may quote bytes that are no text
                reason = fault
            else:
                return
        refuse(reason)

    def __repr__(self) -> str:
        return f"SqliteStore({self._path.name!r})"


def _connected(path: Path) -> sqlite3.Connection:
    """Opens the file, a new one where there is none; for reading only, where it cannot be written."""
    if _size(path) is None:
        _make(path)
    if _size(path) == 0:
        raise LedgerDamaged("its file is empty; if this is to be a new ledger, remove the file")
    try:
        return _set_up(path, writing=True)
    except sqlite3.OperationalError as fault:
        if fault.sqlite_errorcode & 0xFF not in (sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN):
            raise
    return _set_up(path, writing=False)


def _size(path: Path) -> int | None:
    try:
        return path.stat().st_size
    except FileNotFoundError:
        return None
    except OSError as fault:
        raise LedgerUnavailable(f"its file cannot be opened ({fault.strerror})") from None


def _make(path: Path) -> None:
    """Makes a new file, for its owner alone: it is there with all its tables, or not at all."""
    unfinished = path.with_name(f"{path.name}.{os.getpid()}.{threading.get_ident()}.unfinished")
    with suppress(OSError):
        unfinished.unlink()
    try:
        os.close(os.open(unfinished, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600))
        with closing(_connection(unfinished, "rw")) as connection:
            if not log_ahead(connection, patience=PATIENCE_SECONDS):
                raise LedgerUnavailable("its file system cannot keep a write-ahead log; use a local disk")
            connection.executescript(SCHEMA)
        with suppress(FileExistsError):  # another process was faster
            os.link(unfinished, path)
        _sync(path.parent)
    except OSError as fault:
        raise LedgerUnavailable(f"its file cannot be made ({fault.strerror})") from None
    finally:
        for rest in ("", "-wal", "-shm", "-journal"):
            with suppress(OSError):
                os.unlink(f"{unfinished}{rest}")


def _sync(folder: Path) -> None:
    """Sees to it that what a folder lists survives a crash."""
    opened = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(opened)
    finally:
        os.close(opened)


def _set_up(path: Path, *, writing: bool) -> sqlite3.Connection:
    """Connects to a file that must be a ledger's: another program's is left as it is."""
    connection = _connection(path, "rw" if writing else "ro")
    try:
        present = {name for (name,) in connection.execute("SELECT name FROM sqlite_master")}
        if not present >= PRESENT:
            raise LedgerDamaged("its file holds other tables than those of a ledger")
        (counted,), (last,) = connection.execute(ENDS).fetchall()
        if counted != last:
            raise LedgerDamaged(f"its file says that it has {counted} entries, and the last one in it is {last}")
        if writing and not log_ahead(connection, patience=PATIENCE_SECONDS):
            raise LedgerUnavailable("its file system cannot keep a write-ahead log; use a local disk")
    except BaseException:
        connection.close()
        raise
    return connection


def _connection(path: Path, mode: str) -> sqlite3.Connection:
    connection = sqlite3.connect(
        f"{path.as_uri()}?mode={mode}",
        uri=True,
        isolation_level=None,
        timeout=PATIENCE_SECONDS,
        check_same_thread=False,
    )
    try:
        connection.text_factory = _text
        connection.execute("PRAGMA trusted_schema = OFF")
        connection.execute("PRAGMA synchronous = FULL")
    except BaseException:
        connection.close()
        raise
    return connection


# SQLite knows the locks of a process by the file. A child that has inherited an open connection believes that it holds
# locks which only its parent holds, and then another process may remove the write-ahead log under it. So no connection
# is open while a process forks.

_STORES: Alive[SqliteStore] = Alive()
_FORKING = threading.Lock()
_HELD: list[SqliteStore] = []


def _before_fork() -> None:
    _FORKING.acquire()
    _HELD[:] = sorted(_STORES, key=id)
    for store in _HELD:
        store.pause()


def _after_fork() -> None:
    for store in _HELD:
        store.go_on()
    _HELD.clear()
    _FORKING.release()


if hasattr(os, "register_at_fork"):  # Windows has no forks
    os.register_at_fork(before=_before_fork, after_in_parent=_after_fork, after_in_child=_after_fork)


@contextmanager
def _turn(connection: sqlite3.Connection) -> Iterator[None]:
    """Opens a transaction in which nobody else can write; whatever breaks it off undoes it."""
    try:
        connection.execute("BEGIN IMMEDIATE")
        yield
        connection.execute("COMMIT")
    except BaseException:
        with suppress(sqlite3.Error):
            connection.execute("ROLLBACK")
        raise


def _write(connection: sqlite3.Connection, rows: Sequence[Row]) -> None:
    for row in rows:
        if connection.execute(FOLLOW, (*row[:7], row.number - 1)).rowcount != 1:
            raise sqlite3.IntegrityError(GONE)
        if row.value is not None:
            connection.execute("INSERT INTO kept VALUES (?, ?)", (row.number, row.value))


def _row(fields: tuple[Any, ...]) -> Row:
    """Reads a row; one that holds something else than text where text belongs was not written by a ledger."""
    row = Row._make(fields)
    if not (isinstance(row.text, str) and isinstance(row.digest, str) and isinstance(row.value, str | None)):
        raise LedgerDamaged(f"entry {row.number} is not text")
    return row


def _text(octets: bytes) -> str:
    """Reads a text as it is; octets that are none become what no digest fits, so that the entry can be named."""
    return octets.decode("utf-8", "surrogateescape")


@final
class _Pen(Pen):
    def __init__(self, connection: sqlite3.Connection, known: int) -> None:
        self._connection = connection
        rows = connection.execute(
            f"SELECT {COLUMNS} FROM entries WHERE number >= ? ORDER BY number", (known,)
        ).fetchall()
        if known and (not rows or rows[0][0] != known):
            raise LedgerDamaged(GONE)
        self._news = [_row((*row, None)) for row in rows[known > 0 :]]

    @property
    def news(self) -> Sequence[Row]:
        return self._news

    def by_key(self, key: str) -> Row | None:
        return self._find("key = ?", key) if storable(key) else None

    def settled(self, number: int) -> Row | None:
        return self._find("settles = ?", number)

    def _find(self, where: str, what: str | int) -> Row | None:
        fields = self._connection.execute(f"SELECT {COLUMNS} FROM entries WHERE {where}", (what,)).fetchone()
        return None if fields is None else _row((*fields, None))
