"""A book on a PostgreSQL server: for many processes on many machines; every append is synced to the server's disk.

A writer that knows the end of the book appends in one round trip: it takes the next number, and the primary key decides
who was first. Who loses, or may not know enough, waits for a turn, reads what is new and decides again.

No protocol can tell both sides that the last message arrived (the two generals): when the connection breaks before the
answer to an append, the store asks again on a new connection, and decides nothing else until it knows. Where it cannot
ask, it raises `LedgerUnavailable` and says that the entry may stand: nothing runs, and a loss counted twice is safe.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import lru_cache
from typing import TYPE_CHECKING, Any, final

from sfumato.errors import LedgerDamaged, LedgerUnavailable
from sfumato.ledger.store import GONE, Decide, HopefulPen, Pen, Row, Store, checked, storable
from sfumato.ledger.stores.postgres_server import COLUMNS, PATIENCE_SECONDS, Server, driver, in_our_words

if TYPE_CHECKING:
    import psycopg

    Connection = psycopg.Connection[tuple[Any, ...]]

MANY = 1000
"""Rows that are read or written at once."""

WARY = 32
"""A writer that lost a race waits for its turn until it has been alone for this many appends."""

RECONNECTIONS = 3
"""How often one append survives a connection that breaks."""


@final
class PostgresStore(Store):
    """Keeps a book in a schema of its own (``sfumato``, or ``?schema=name`` in the address).

    Connect to the server itself, or to a pool that gives a session: settings must hold from one statement to the next.
    """

    def __init__(self, address: str) -> None:
        self._server = Server(address)
        self._held: dict[int, _Held] = {}
        with self._in_our_words(), self._mine() as mine:
            try:
                self._server.prepare(mine.connected(self._server))
            except BaseException:
                mine.close()
                raise

    @property
    def lasts(self) -> bool:
        return True

    def append(self, known: int, decide: Decide) -> Sequence[Row]:
        with self._in_our_words(), self._mine() as mine:
            mine.forget_unfinished()
            attempt = _Attempt(known, decide)
            if mine.wary == 0 and self._hope(mine, attempt):
                return ()
            for _ in range(RECONNECTIONS):
                try:
                    return self._in_turn(mine, attempt)
                except driver().Error:
                    if not mine.lost and not attempt.doubt:
                        raise
                except LedgerUnavailable:
                    if not attempt.doubt:
                        raise
                    break
            raise LedgerUnavailable("the connection to its server was lost", certain=not attempt.doubt)

    def _hope(self, mine: _Held, attempt: _Attempt) -> bool:
        """Appends as if nobody else wrote, in one round trip; tells whether that went well."""
        pen = HopefulPen()
        try:
            rows = checked(attempt.decide(pen), attempt.known)
        except Exception:  # what it knows may be old, so that it does not count
            return False
        if not 0 < len(rows) <= MANY or not pen.covered_by(rows):
            return False
        connection = mine.connected(self._server)
        attempt.doubt = rows
        try:
            if self._write(connection, rows):
                return True
        except driver().errors.UniqueViolation:
            mine.wary = WARY
        except driver().Error:
            if mine.lost:
                return False
            raise
        attempt.doubt = ()
        return False

    def _in_turn(self, mine: _Held, attempt: _Attempt) -> Sequence[Row]:
        """Appends while nobody else who waits for a turn can; gives the news."""
        while True:
            connection = mine.connected(self._server, patient=bool(attempt.doubt))
            news: Sequence[Row] = ()
            try:
                news = self._begin(connection, attempt.known)
                if attempt.landed(news):
                    connection.execute(b"ROLLBACK")
                    return news[: attempt.doubt[0].number - attempt.known - 1]
                rows = attempt.rows(_TurnPen(self._server, connection, news))
                if rows:
                    self._write(connection, rows)
                connection.execute(b"COMMIT")
            except driver().errors.UniqueViolation:
                attempt.refused(len(news))
                connection.execute(b"ROLLBACK")
            except BaseException:
                if not mine.lost:
                    attempt.refused()
                    with suppress(driver().Error):
                        connection.execute(b"ROLLBACK")
                raise
            else:
                mine.wary = WARY if news else max(0, mine.wary - 1)
                return news

    def _begin(self, connection: Connection, known: int) -> list[Row]:
        """Begins a transaction, waits for the turn, and reads the news; in one round trip."""
        ask = f"SELECT {COLUMNS} FROM {self._server.schema}.entries WHERE number >= {int(known)} ORDER BY number"
        begun = f"BEGIN; SELECT pg_advisory_xact_lock({self._server.lock}); {ask}"
        cursor = connection.execute(begun.encode(), prepare=False)
        while cursor.nextset():
            pass
        rows = [Row._make((*row, None)) for row in cursor.fetchall()]
        if known and (not rows or rows[0].number != known):
            raise LedgerDamaged(GONE)
        return rows[1:] if known else rows

    def _write(self, connection: Connection, rows: Sequence[Row]) -> bool:
        """Writes rows, at most `MANY` in one statement, if the row before them is there."""
        written = 0
        for first in range(0, len(rows), MANY):
            some, before = rows[first : first + MANY], rows[first].number - 1
            values = [column for row in some for column in row[:7]]
            kept = [what for row in some if row.value is not None for what in (row.number, row.value)]
            statement = _insertion(self._server.schema, len(some), len(kept) // 2)
            written += connection.execute(statement, (*values, before, before, *kept)).rowcount
        return written > 0

    def rows(self, after: int = 0, *, kinds: Sequence[str] = ()) -> Iterator[Row]:
        chosen = " AND kind = ANY(%s)" if kinds else ""
        while True:
            where = f"entries.number > %s{chosen} ORDER BY entries.number LIMIT {MANY}"
            many = self._found(where, after, *([list(kinds)] if kinds else []))
            yield from many
            if len(many) < MANY:
                return
            after = many[-1].number

    def last(self, kind: str) -> Row | None:
        return self._one("kind = %s ORDER BY entries.number DESC LIMIT 1", kind)

    def by_key(self, key: str) -> Row | None:
        return self._one("key = %s", key)

    def by_question(self, question: str) -> Row | None:
        return self._one("question = %s ORDER BY entries.number DESC LIMIT 1", question)

    def settled(self, number: int) -> Row | None:
        return self._one("settles = %s", number)

    def get(self, number: int) -> Row | None:
        return self._one("entries.number = %s", number)

    def _one(self, where: str, what: str | int) -> Row | None:
        if isinstance(what, str) and not storable(what):
            return None
        return next(iter(self._found(where, what)), None)

    def _found(self, where: str, *what: object) -> list[Row]:
        schema = self._server.schema
        joined = f"{schema}.entries LEFT JOIN {schema}.kept ON kept.number = entries.number"
        query = f"SELECT {COLUMNS}, value FROM {joined} WHERE {where}".encode()
        return [Row._make(row) for row in self._read(query, what)]

    def _read(self, query: bytes, what: Sequence[object]) -> list[tuple[Any, ...]]:
        with self._in_our_words(), self._mine() as mine:
            try:
                return mine.connected(self._server).execute(query, what).fetchall()
            except driver().Error:
                if not mine.lost or mine.deep:
                    raise
                return mine.connected(self._server).execute(query, what).fetchall()

    def secret(self, name: str, made: Callable[[], bytes]) -> bytes:
        table = f"{self._server.schema}.secrets"
        asked = f"SELECT value FROM {table} WHERE name = %s".encode()
        rows = self._read(asked, (name,))
        if not rows:
            put = f"INSERT INTO {table} VALUES (%s, %s) ON CONFLICT DO NOTHING RETURNING 1".encode()
            self._read(put, (name, made()))
            rows = self._read(asked, (name,))
        return bytes(rows[0][0])

    def close(self) -> None:
        with self._in_our_words(), self._mine() as mine:
            mine.close()

    @contextmanager
    def _mine(self) -> Iterator[_Held]:
        """Lends what this process holds to one thread at a time.

        What the parent of a forked process holds stays its own: it is neither used nor closed here.
        """
        mine = self._held.setdefault(os.getpid(), _Held())
        with mine.lock:
            mine.depth += 1
            try:
                yield mine
            finally:
                mine.depth -= 1

    @contextmanager
    def _in_our_words(self) -> Iterator[None]:
        """Turns what the server says into our own errors, without its words: they could quote what is stored."""
        try:
            yield
        except driver().Error as fault:
            reason = in_our_words(fault)
        else:
            return
        raise reason from None

    def __repr__(self) -> str:
        return f"PostgresStore({self._server.name!r})"


@final
class _Held:
    """What one process holds: a connection, and who may use it now."""

    def __init__(self) -> None:
        self.lock = threading.RLock()
        self.connection: Connection | None = None
        self.wary = 0
        self.depth = 0

    @property
    def lost(self) -> bool:
        """Tells whether the connection is broken."""
        return self.connection is None or self.connection.closed

    @property
    def deep(self) -> bool:
        """Tells whether the store is used while something is being decided."""
        return self.depth > 1

    def connected(self, server: Server, *, patient: bool = False) -> Connection:
        """The connection, or a new one where it is broken; with patience, waits while the server starts again."""
        until = time.monotonic() + (PATIENCE_SECONDS / 4 if patient else 0)
        while self.connection is None or self.connection.closed:
            try:
                self.connection = server.connected()
            except LedgerUnavailable:
                if time.monotonic() > until:
                    raise
                time.sleep(0.2)
        return self.connection

    def forget_unfinished(self) -> None:
        """Closes a connection on which something was broken off: nothing may be written into its transaction."""
        if self.connection is not None and not self.connection.closed and self.connection.info.transaction_status != 0:
            self.close()

    def close(self) -> None:
        """Closes the connection; the next use opens another."""
        if self.connection is not None:
            self.connection.close()
        self.connection = None


@final
class _Attempt:
    """One append: what the writer knows, how it decides, and the rows of which it is in doubt whether they are in.

    While there is a doubt nothing else is decided. The number that the rows take settles it: either they are there, or
    somebody else's are, and then these can never be.
    """

    def __init__(self, known: int, decide: Decide) -> None:
        self.known, self.decide = known, decide
        self.doubt: Sequence[Row] = ()
        self._fresh = True
        self._refused_at = -1

    def rows(self, pen: Pen) -> Sequence[Row]:
        """The rows to write: those in doubt once more, or what is decided now."""
        self._fresh = not self.doubt
        if self._fresh:
            self.doubt = checked(self.decide(pen), self.known + len(pen.news))
        return self.doubt

    def refused(self, news: int = -1) -> None:
        """Notes that the server has refused the rows: those of this turn are certainly not in the book."""
        self._refused_at = news
        if self._fresh:
            self.doubt = ()

    def landed(self, news: Sequence[Row]) -> bool:
        """Tells whether the rows in doubt are in the book; if they never can be, there is no doubt any more."""
        again = self._refused_at == len(news)
        if not self.doubt:
            if again:
                raise LedgerDamaged("an entry was to be written twice")
            return False
        place = self.doubt[0].number - self.known - 1
        if len(news) < place:
            raise LedgerDamaged(GONE)
        if len(news) > place and news[place].digest == self.doubt[0].digest:
            return True
        if len(news) > place or again:
            self.doubt = ()
        return False


@final
class _TurnPen(Pen):
    def __init__(self, server: Server, connection: Connection, news: Sequence[Row]) -> None:
        self._server, self._connection, self._news = server, connection, news

    @property
    def news(self) -> Sequence[Row]:
        return self._news

    def by_key(self, key: str) -> Row | None:
        return self._find("key = %s", key) if storable(key) else None

    def settled(self, number: int) -> Row | None:
        return self._find("settles = %s", number)

    def _find(self, where: str, what: str | int) -> Row | None:
        query = f"SELECT {COLUMNS} FROM {self._server.schema}.entries WHERE {where}".encode()
        fields = self._connection.execute(query, (what,)).fetchone()
        return None if fields is None else Row._make((*fields, None))


@lru_cache(maxsize=64)
def _insertion(schema: str, rows: int, kept: int) -> bytes:
    """Writes the one statement that appends this many rows and values, if the row before them is there."""
    row = "(%s::bigint, %s::text, %s::text, %s::text, %s::text, %s::text, %s::bigint)"
    entries = (
        f"INSERT INTO {schema}.entries SELECT * FROM (VALUES {', '.join([row] * rows)}) AS new "
        f"WHERE %s::bigint = 0 OR EXISTS (SELECT FROM {schema}.entries WHERE number = %s::bigint)"
    )
    if not kept:
        return entries.encode()
    values = f"(VALUES {', '.join(['(%s::bigint, %s::text)'] * kept)}) AS kept (number, value)"
    return (
        f"WITH put AS ({entries} RETURNING number) "
        f"INSERT INTO {schema}.kept SELECT * FROM {values} WHERE EXISTS (SELECT FROM put)"
    ).encode()
