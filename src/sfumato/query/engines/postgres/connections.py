"""Connections of one engine: handed out one at a time, each with transactions that begin in the same way."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any, final
from weakref import finalize

from sfumato.query.engines.postgres.server import Address, Limits, connected, driver

if TYPE_CHECKING:
    from sfumato.query.engines.postgres.server import Connection

Rows = tuple[list[str], list[tuple[Any, ...]]]
"""Names of columns, and rows."""


@final
class Together:
    """A transaction in the making: begun with its first statement, so that a lost connection harms nothing before."""

    def __init__(self) -> None:
        self.connection: Connection | None = None
        self.answered = False


@final
class Connections:
    """Connections to one database, kept open between questions. Several threads may use them, each its own."""

    def __init__(self, address: Address, limits: Limits) -> None:
        self.address, self.limits = address, limits
        self._begin = limits.transaction().encode()
        self._idle: list[Connection] = []
        self._lock = threading.Lock()
        self._closed = False
        self._local = threading.local()
        self._clean = finalize(self, _close, self._idle)  # for whoever lets go of an engine without closing it

    @property
    def together(self) -> Together | None:
        """The transaction that this thread has open for several statements."""
        begun: Together | None = getattr(self._local, "together", None)
        return begun

    @contextmanager
    def at_once(self) -> Iterator[None]:
        """Lets all statements of this thread inside it see one snapshot."""
        if self.together is not None:
            yield
            return
        together = self._local.together = Together()
        try:
            yield
        finally:
            self._local.together = None
            self.end(together)

    def run(self, text: str, values: tuple[Any, ...] = ()) -> Rows:
        """Runs a statement in the open transaction, or one of its own. Errors are the driver's: see `reason`."""
        together = self.together or Together()
        try:
            if together.connection is None:
                together.connection = self._taken()
                together.connection.execute(self._begin)
            cursor = together.connection.execute(text.encode(), values)
            rows = [column.name for column in cursor.description or ()], cursor.fetchall()
            together.answered = True
        except BaseException:
            self.drop(together)
            raise
        if together is not self.together:
            self.end(together)
        return rows

    def drop(self, together: Together) -> None:
        """Closes the connection of a transaction that broke off."""
        connection, together.connection = together.connection, None
        if connection is not None:
            with suppress(driver().Error):
                connection.close()

    def end(self, together: Together) -> None:
        """Ends a transaction, in which nothing was written."""
        connection, together.connection = together.connection, None
        if connection is None:
            return
        try:
            connection.execute(b"ROLLBACK")
        except driver().Error:
            connection.close()
            return
        with self._lock:
            if not self._closed:
                self._idle.append(connection)
                return
        connection.close()

    def close(self) -> None:
        """Closes what is idle; what is in use is closed when it is given back."""
        with self._lock:
            self._closed = True
        self._clean()

    def _taken(self) -> Connection:
        with self._lock:
            if self._idle:
                return self._idle.pop()
        return connected(self.address)


def _close(idle: list[Connection]) -> None:
    while idle:
        with suppress(driver().Error):
            idle.pop().close()
