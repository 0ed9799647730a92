"""A book in memory: for tests and dry runs. It is gone when the process ends."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator, Sequence
from typing import final

from sfumato.core.sealed import sealed
from sfumato.errors import LedgerDamaged, LedgerUnavailable
from sfumato.ledger.store import GONE, Decide, Pen, Row, Store, checked


@final
class MemoryStore(Store):
    """Keeps a book in a list."""

    def __init__(self) -> None:
        self._lock = threading.RLock()
        self._process = os.getpid()
        self._rows: list[Row] = []
        self._keys: dict[str, Row] = {}
        self._questions: dict[str, Row] = {}
        self._settled: dict[int, Row] = {}
        self._kept = _keeper()

    def __repr__(self) -> str:
        return "MemoryStore()"

    @property
    def lasts(self) -> bool:
        return False

    def append(self, known: int, decide: Decide) -> Sequence[Row]:
        if self._process != os.getpid():
            raise LedgerUnavailable("it is in the memory of another process; processes share a file or a server")
        with self._lock:
            if known > len(self._rows):
                raise LedgerDamaged(GONE)
            pen = _Pen(self, [row._replace(value=None) for row in self._rows[known:]])
            rows = checked(decide(pen), len(self._rows))
            keys = [row.key for row in rows if row.key is not None]
            settled = [row.settles for row in rows if row.settles is not None]
            twice = len({*keys}) < len(keys) or len({*settled}) < len(settled)
            if twice or not self._keys.keys().isdisjoint(keys) or not self._settled.keys().isdisjoint(settled):
                raise LedgerDamaged("an entry was to be written twice")
            for row in rows:
                self._add(row)
            return pen.news

    def _add(self, row: Row) -> None:
        if row.key is not None:
            self._keys[row.key] = row
        if row.question is not None:
            self._questions[row.question] = row
        if row.settles is not None:
            self._settled[row.settles] = row
        self._rows.append(row)

    def rows(self, after: int = 0, *, kinds: Sequence[str] = ()) -> Iterator[Row]:
        with self._lock:
            following = self._rows[after:]
        return (row for row in following if not kinds or row.kind in kinds)

    def last(self, kind: str) -> Row | None:
        with self._lock:
            return next((row for row in reversed(self._rows) if row.kind == kind), None)

    def by_key(self, key: str) -> Row | None:
        with self._lock:
            return self._there(self._keys.get(key))

    def by_question(self, question: str) -> Row | None:
        with self._lock:
            return self._there(self._questions.get(question))

    def settled(self, number: int) -> Row | None:
        with self._lock:
            return self._there(self._settled.get(number))

    def _there(self, row: Row | None) -> Row | None:
        """Returns a row that is in the book; one that an interrupted append has listed and not added is none."""
        return row if row is not None and row.number <= len(self._rows) else None

    def get(self, number: int) -> Row | None:
        with self._lock:
            return self._rows[number - 1] if 0 < number <= len(self._rows) else None

    def secret(self, name: str, made: Callable[[], bytes]) -> bytes:
        return self._kept(name, made)

    def close(self) -> None:
        """Keeps everything: there is nothing to give back."""


def _keeper() -> Callable[[str, Callable[[], bytes]], bytes]:
    """Makes a keeper of secrets: they are no attribute of anything, and must be asked for by name."""
    secrets: dict[str, bytes] = {}
    lock = threading.Lock()

    def kept(name: str, made: Callable[[], bytes]) -> bytes:
        with lock:
            if name not in secrets:
                secrets[name] = made()
            return secrets[name]

    return sealed(kept)


@final
class _Pen(Pen):
    def __init__(self, store: MemoryStore, news: Sequence[Row]) -> None:
        self._store, self._news = store, news

    @property
    def news(self) -> Sequence[Row]:
        return self._news

    def by_key(self, key: str) -> Row | None:
        return self._store.by_key(key)

    def settled(self, number: int) -> Row | None:
        row = self._store.settled(number)
        return None if row is None else row._replace(value=None)
