"""The SQLite file of a register: tags, hidden numbers and sealed texts. Knows neither keys nor ids nor losses."""

from __future__ import annotations

import os
import sqlite3
import stat
import threading
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import NamedTuple, final

from sfumato.errors import LedgerDamaged, LedgerUnavailable
from sfumato.ledger.stores.log_ahead import log_ahead

MEMORY = ":memory:"
PATIENCE_SECONDS = 60.0
"""How long one waits for other writers."""

MANY = 1 << 20
"""Units that go to SQLite in one statement."""

SIZE = 16
"""Length in bytes of a tag, and of a hidden number."""

VERSION = 1
SCHEMA = (
    "CREATE TABLE head (version INT NOT NULL, salt BLOB NOT NULL, limited TEXT NOT NULL, checked BLOB NOT NULL) STRICT",
    "CREATE TABLE entries (number INTEGER PRIMARY KEY, release TEXT NOT NULL) STRICT",
    "CREATE TABLE histories (number INTEGER PRIMARY KEY, sealed BLOB NOT NULL) STRICT",
    # By tag alone, without row numbers: the order of the rows of the data is nowhere in the file.
    "CREATE TABLE units (tag BLOB PRIMARY KEY, hidden BLOB NOT NULL) STRICT, WITHOUT ROWID",
    "CREATE TABLE accesses (tag BLOB PRIMARY KEY) STRICT, WITHOUT ROWID",
)

# Tags and hidden numbers come as two long rows of bytes, which SQLite cuts up itself: no object for each unit.
_PLACES = "WITH RECURSIVE places(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM places WHERE i + 1 < ?1) "
_FIND = (
    f"{_PLACES} SELECT hidden FROM places LEFT JOIN units ON tag = substr(?2, {SIZE} * i + 1, {SIZE}) ORDER BY places.i"
)
_PUT = (
    f"{_PLACES} INSERT INTO units SELECT substr(?2, {SIZE} * i + 1, {SIZE}), substr(?3, {SIZE} * i + 1, {SIZE}) "
    "FROM places WHERE TRUE ON CONFLICT (tag) DO UPDATE SET hidden = excluded.hidden"
)

_REASONS = {
    sqlite3.SQLITE_FULL: "the disk of the register is full",
    sqlite3.SQLITE_READONLY: "the file of the register cannot be written",
    sqlite3.SQLITE_CANTOPEN: "the file of the register cannot be opened; is it still there, and may it be written?",
    sqlite3.SQLITE_BUSY: f"other writers have kept the register busy for {PATIENCE_SECONDS:.0f} seconds",
    sqlite3.SQLITE_IOERR: "the disk of the register does not answer",
    sqlite3.SQLITE_NOMEM: "there is not enough memory for the register",
}


@final
class Head(NamedTuple):
    """What a file says of itself: its salt, its limit, and the check value that ties both to the key."""

    salt: bytes
    limit: str
    checked: bytes


@final
class Pages:
    """What one reader or writer holds between the start and the end of a transaction."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection

    def head(self) -> Head | None:
        """What the file says of itself, or None where nothing was written yet; refuses files of another form."""
        tables = {name for (name,) in self._connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
        if not tables:
            return None
        if tables != {"head", "entries", "histories", "units", "accesses"}:
            raise LedgerDamaged("the file holds other tables than those of a register")
        heads = self._connection.execute("SELECT version, salt, limited, checked FROM head").fetchall()
        if len(heads) != 1 or heads[0][0] != VERSION:
            raise LedgerDamaged("the register was written in a form that this version does not know")
        return Head(*heads[0][1:])

    def begin(self, head: Head) -> None:
        """Writes the tables of a new register."""
        for statement in SCHEMA:
            self._connection.execute(statement)
        self._connection.execute("INSERT INTO head VALUES (?, ?, ?, ?)", (VERSION, *head))

    def enter(self, release: str) -> int:
        """Writes that a release begins; gives its number."""
        return self._connection.execute("INSERT INTO entries (release) VALUES (?)", (release,)).lastrowid or 0

    def releases(self) -> dict[int, str]:
        """The name of every release by its number, in order."""
        return dict(self._connection.execute("SELECT number, release FROM entries ORDER BY number").fetchall())

    def history(self, number: int) -> bytes:
        """The sealed text of a history; refuses a number that has none."""
        sealed = self._connection.execute("SELECT sealed FROM histories WHERE number = ?", (number,)).fetchone()
        if sealed is None:
            raise LedgerDamaged("a history of the register is missing")
        return bytes(sealed[0])

    def next_history(self) -> int:
        """The number of the next new history; the first is 1."""
        (last,) = self._connection.execute("SELECT coalesce(max(number), 0) FROM histories").fetchone()
        return int(last) + 1

    def keep(self, histories: Sequence[tuple[int, bytes]]) -> None:
        """Writes new histories."""
        self._connection.executemany("INSERT INTO histories VALUES (?, ?)", histories)

    def find(self, tags: bytes) -> list[bytes | None]:
        """The hidden number of each unit, None where it is new."""
        return [hidden for piece in _pieces(tags) for (hidden,) in self._connection.execute(_FIND, piece)]

    def put(self, tags: bytes, hidden: bytes) -> None:
        """Writes the hidden number of each unit."""
        for (count, some), (_, numbers) in zip(_pieces(tags), _pieces(hidden), strict=True):
            self._connection.execute(_PUT, (count, some, numbers))

    def allow(self, tag: bytes) -> None:
        """Writes that somebody accessed something."""
        self._connection.execute("INSERT OR IGNORE INTO accesses VALUES (?)", (tag,))

    def allowed(self, tag: bytes) -> bool:
        """Tells whether somebody accessed something."""
        return self._connection.execute("SELECT 1 FROM accesses WHERE tag = ?", (tag,)).fetchone() is not None


@final
class RegisterStore:
    """Opens the file anew for every transaction, so that threads and forks share nothing."""

    def __init__(self, path: str | Path, *, new: bool) -> None:
        self._path = None if str(path) == MEMORY else Path(path).absolute()
        self._lock = threading.Lock()
        self._memory: sqlite3.Connection | None = None
        if self._path is None:
            self._memory = sqlite3.connect(MEMORY, isolation_level=None, check_same_thread=False)
        else:
            _check_file(self._path, new=new)

    @contextmanager
    def reading(self) -> Iterator[Pages]:
        """Opens all pages as they are at one moment."""
        with self._transaction("BEGIN") as pages:
            yield pages

    @contextmanager
    def writing(self) -> Iterator[Pages]:
        """Lets one writer at a time change pages; when this ends without an error, all changes are on the disk."""
        with self._transaction("BEGIN IMMEDIATE") as pages:
            yield pages

    @contextmanager
    def _transaction(self, begin: str) -> Iterator[Pages]:
        try:
            if self._memory is not None:
                with self._lock, _between(self._memory, begin) as pages:
                    yield pages
            elif self._path is not None:
                with closing(_connected(self._path)) as connection, _between(connection, begin) as pages:
                    yield pages
        except sqlite3.Error as fault:
            raise _told(fault) from None

    def __repr__(self) -> str:
        return f"RegisterStore({self._path.name if self._path else MEMORY!r})"


@contextmanager
def _between(connection: sqlite3.Connection, begin: str) -> Iterator[Pages]:
    connection.execute(begin)
    try:
        yield Pages(connection)
        connection.execute("COMMIT")
    except BaseException:
        with suppress(sqlite3.Error):
            connection.execute("ROLLBACK")
        raise


def _connected(path: Path) -> sqlite3.Connection:
    """Opens a file that is there; what is written is synced, what is removed is wiped, nothing spills elsewhere."""
    connection = sqlite3.connect(f"{path.as_uri()}?mode=rw", uri=True, isolation_level=None, timeout=PATIENCE_SECONDS)
    try:
        for setting in ("trusted_schema = OFF", "secure_delete = ON", "temp_store = MEMORY", "cache_size = -65536"):
            connection.execute(f"PRAGMA {setting}")
        if not log_ahead(connection, patience=PATIENCE_SECONDS):
            raise LedgerUnavailable("the file system of the register cannot keep a write-ahead log")
        connection.execute("PRAGMA synchronous = FULL")
    except BaseException:
        connection.close()
        raise
    return connection


def _check_file(path: Path, *, new: bool) -> None:
    """Makes a new file for its owner alone; refuses one that others may read, and one that is not there."""
    try:
        if new:
            with suppress(FileExistsError):  # to open and close one would drop every lock that this process has on it
                os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600))
        mode = path.stat().st_mode
    except OSError:
        why = "cannot be made or opened" if new else "is not there, or cannot be opened; a new one begins with a limit"
        raise LedgerUnavailable(f"the file of the register {why}") from None
    if not stat.S_ISREG(mode):
        raise LedgerUnavailable("what should be the file of the register is no file")
    if os.name == "posix" and mode & 0o077:
        raise LedgerUnavailable("others may read the file of the register; let only its owner read it (chmod 600)")


def _pieces(row: bytes) -> Iterator[tuple[int, bytes]]:
    """Cuts a row of bytes into pieces that SQLite takes at once, each with the number of its units."""
    for start in range(0, len(row), SIZE * MANY):
        piece = row[start : start + SIZE * MANY]
        yield len(piece) // SIZE, piece


def _told(fault: sqlite3.Error) -> LedgerDamaged | LedgerUnavailable:
    """Says what went wrong, without SQLite's own words: they could quote what is stored."""
    code = getattr(fault, "sqlite_errorcode", 0) & 0xFF
    if code in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB):
        return LedgerDamaged("the file of the register is not one that SQLite can read")
    if code in (sqlite3.SQLITE_CONSTRAINT, sqlite3.SQLITE_ERROR, sqlite3.SQLITE_MISMATCH):
        return LedgerDamaged("the tables of the register are not as they were written")
    return LedgerUnavailable(_REASONS.get(code, f"SQLite reports error {code} for the register"))
