"""Records on a PostgreSQL server, beside the ledger there: for workers on several machines."""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar, final

from sfumato.errors import ChangedMeanwhile, LedgerUnavailable, ServiceUnavailable
from sfumato.ledger.stores.postgres_server import Server, driver, in_our_words
from sfumato.service.records import NEW, Kept, Records, checked_record

if TYPE_CHECKING:
    from sfumato.ledger.stores.postgres_server import Connection

TABLE = """
CREATE SCHEMA IF NOT EXISTS {schema};
CREATE TABLE IF NOT EXISTS {schema}.records (
    kind text COLLATE "C" NOT NULL, name text COLLATE "C" NOT NULL, version bigint NOT NULL, said text NOT NULL,
    PRIMARY KEY (kind, name)
)
"""

Made = TypeVar("Made")


@final
class PostgresRecords(Records):
    """Keeps records in a table of the ledger's schema (``sfumato``, or ``?schema=name`` in the address).

    One connection serves all threads of a process. Where it breaks, what was asked is asked once more on another one;
    a write that may have arrived is looked for before it is said to have failed.
    """

    def __init__(self, address: str) -> None:
        self._server, self._lock, self._process = Server(address), threading.RLock(), os.getpid()
        self._connection: Connection | None = None
        self._perform(lambda connection: None)

    def get(self, kind: str, name: str) -> Kept | None:
        rows = self._rows("SELECT name, version, said FROM {records} WHERE kind = %s AND name = %s", (kind, name))
        return rows[0] if rows else None

    def with_named(self, kind: str, name: str, other: str, part: str) -> tuple[Kept, Kept | None] | None:
        text = (
            "SELECT a.name, a.version, a.said, b.name, b.version, b.said FROM {records} AS a LEFT JOIN {records} AS b"
            " ON b.kind = %s AND b.name = a.said::json ->> %s WHERE a.kind = %s AND a.name = %s"
        )
        asked = (other, part, kind, name)
        rows = self._perform(lambda connection: connection.execute(self._about(text), asked).fetchall())
        for row in rows:
            return _kept(row[:3]), None if row[3] is None else _kept(row[3:])
        return None

    def all(self, kind: str, begins: str = "") -> list[Kept]:
        where = "kind = %s AND left(name, %s) = %s ORDER BY name"
        return self._rows(f"SELECT name, version, said FROM {{records}} WHERE {where}", (kind, len(begins), begins))

    def put(self, kind: str, name: str, said: dict[str, Any], *, expecting: int) -> Kept:
        text, named = json.dumps(said), checked_record(kind, name)
        kept = Kept(named, expecting + 1, json.loads(text))
        if expecting == NEW:
            written = self._written(
                "INSERT INTO {records} VALUES (%s, %s, 1, %s) ON CONFLICT DO NOTHING",
                (kind, named, text),
                lambda: self.get(kind, named) == kept,
            )
        else:
            written = self._written(
                "UPDATE {records} SET version = version + 1, said = %s WHERE kind = %s AND name = %s AND version = %s",
                (text, kind, named, expecting),
                lambda: self.get(kind, named) == kept,
            )
        if not written:
            raise ChangedMeanwhile(f"the {kind} {named}")
        return kept

    def remove(self, kind: str, name: str, *, expecting: int) -> None:
        text = "DELETE FROM {records} WHERE kind = %s AND name = %s AND version = %s"
        if not self._written(text, (kind, name, expecting), lambda: self.get(kind, name) is None):
            raise ChangedMeanwhile(f"the {kind} {name}")

    def close(self) -> None:
        with self._lock:
            if self._connection is not None and self._process == os.getpid():
                self._connection.close()
            self._connection = None

    def _rows(self, text: str, parameters: tuple[Any, ...]) -> list[Kept]:
        rows = self._perform(lambda connection: connection.execute(self._about(text), parameters).fetchall())
        return [_kept(row) for row in rows]

    def _written(self, text: str, parameters: tuple[Any, ...], arrived: Callable[[], bool]) -> bool:
        """Writes; tells whether it is written: of a first try whose answer was lost, whether it ``arrived``."""
        tries: list[int] = []

        def write(connection: Connection) -> int:
            tries.append(1)
            return connection.execute(self._about(text), parameters).rowcount

        return self._perform(write) == 1 or (len(tries) > 1 and arrived())

    def _about(self, text: str) -> bytes:
        return text.replace("{records}", f"{self._server.schema}.records").encode()

    def _perform(self, act: Callable[[Connection], Made]) -> Made:
        """Does something on the connection; once more on a new one, if it is broken."""
        with self._lock:
            if self._process != os.getpid():  # a connection must not be used across a fork, nor closed there
                self._connection, self._process = None, os.getpid()
            why = ""
            for _ in range(2):
                try:
                    if self._connection is None or self._connection.closed:
                        self._connection = self._connected()
                    return act(self._connection)
                except driver().Error as fault:
                    why = getattr(in_our_words(fault), "why", "its server reports an error")
                    if self._connection is not None and not self._connection.closed:
                        break
                except LedgerUnavailable as fault:
                    why = fault.why
        raise ServiceUnavailable(why)

    def _connected(self) -> Connection:
        connection = self._server.connected()
        try:
            connection.execute(TABLE.replace("{schema}", self._server.schema).encode(), prepare=False)
        except BaseException:
            connection.close()
            raise
        return connection


def _kept(row: tuple[Any, ...]) -> Kept:
    name, version, said = row
    return Kept(name, version, json.loads(said))
