"""The book as one process sees it: where it stands, what others have appended since, and how to append to it."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from itertools import count
from typing import final

from sfumato.core.alive import Alive
from sfumato.entropy import system
from sfumato.errors import BadArgument, LedgerDamaged
from sfumato.ledger.entry import Entry, moment_of
from sfumato.ledger.known_answers import KnownAnswers
from sfumato.ledger.state import STRUCTURE, State
from sfumato.ledger.store import Pen, Row, Store
from sfumato.ledger.transaction import Draft, Transaction

BALANCE_EVERY = 1024
"""All states are written down after this many entries, so that opening a long book reads little of it."""

Write = Callable[[Transaction, Pen], object]
"""Drafts on a transaction what to append; may be asked again, with a new transaction, if another writer was faster."""


def now() -> datetime:
    """The time of the system's clock, in UTC."""
    return datetime.now(UTC)


_REPLICAS: Alive[Replica] = Alive()
"""The journals of this process, so that a child that is forked off reads its book anew."""


@final
class Replica:
    """A book and where it stands. Threads take turns."""

    def __init__(self, store: Store, clock: Callable[[], datetime]) -> None:
        self._store, self._clock = store, clock
        self.forked()
        _REPLICAS.add(self)
        with self._lock:
            self._refresh()
        if self.state.number == 0:
            self.append(_begin)

    def forked(self) -> None:
        """Forgets where the book stands: a thread that the fork did not copy may have been at work on it."""
        self.state, self._lock, self._loaded = State(), threading.RLock(), False
        self.answers = KnownAnswers[object]()
        self._own, self._made = system().octets(8).hex(), count()

    def new_mark(self) -> str:
        """A mark that tells a charge from any other that says the same at the same moment, in whatever process."""
        return f"{self._own}-{next(self._made):x}"

    @contextmanager
    def looking(self) -> Iterator[Transaction]:
        """Shows the book as it stands now; other threads wait."""
        with self._lock:
            self._refresh()
            yield Transaction(self.state, max(self._now(), moment_of(self.state.time)))

    def _now(self) -> datetime:
        return self._clock().astimezone(UTC)

    def _refresh(self) -> None:
        """Takes in what others have appended."""
        if not self._loaded:
            self._load()
        self._take_in(self._store.rows(self.state.number))

    def _take_in(self, rows: Iterable[Row]) -> None:
        """Folds rows that follow. Whatever interrupts that, the book is read anew before it is used again."""
        self._loaded = False
        for row in rows:
            if row.number > self.state.number:
                self.state.apply(Entry.read(row.text, row.digest))
                self.answers.forget([row])
        self._loaded = True

    def _load(self) -> None:
        """Reads where the book stands: what accounts there are, and the last balance."""
        self.state, self.answers = State(), KnownAnswers[object]()
        balance = self._store.last("balance")
        if balance is not None:
            last = Entry.read(balance.text, balance.digest)
            if (last.number, last.kind) != (balance.number, "balance"):
                raise LedgerDamaged("an entry is listed as another kind than it is")
            for row in self._store.rows(kinds=STRUCTURE):
                if row.number > last.number:
                    break
                self.state.fold(Entry.read(row.text, row.digest))
            self.state.fold(last)
            self.state.stand_at(last)
        self._loaded = True

    def append(self, write: Write, *, by: str = "curator") -> Sequence[Entry]:
        """Appends what is drafted on where the book stands; in one durable step, or not at all. Gives what was drafted.

        Every so often a balance is appended with it, which is not given: it is nothing that was asked for.
        """
        if not isinstance(by, str) or not by.isprintable():
            raise BadArgument("by", "a name", by)
        with self._lock:
            if not self._loaded:
                self._load()
            done: list[tuple[Transaction, list[Entry], list[Row], int]] = []

            def decide(pen: Pen) -> Sequence[Row]:
                done.clear()
                if pen.news:
                    self._take_in(pen.news)
                transaction = Transaction(self.state, self.state.moment(self._now()))
                write(transaction, pen)
                drafted = len(transaction.drafts)
                if (transaction.state.number + drafted) // BALANCE_EVERY > transaction.state.number // BALANCE_EVERY:
                    transaction.add(Draft("balance", "", transaction.balance()))
                entries, rows = transaction.written(by)
                done.append((transaction, entries, rows, drafted))
                return rows

            self._store.append(self.state.number, decide)
            [(transaction, entries, rows, drafted)] = done
            self._loaded = False
            transaction.appended(entries)
            self.answers.forget(rows)
            self._loaded = True
            return entries[:drafted]


def _begin(transaction: Transaction, _: Pen) -> None:
    if not transaction.state.number:
        transaction.begin(system().octets(16).hex())


def _after_fork() -> None:
    for replica in _REPLICAS:
        replica.forked()


if hasattr(os, "register_at_fork"):  # Windows has no forks
    os.register_at_fork(after_in_child=_after_fork)
