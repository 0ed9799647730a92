"""Ledgers to charge, and long books to open."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from fractions import Fraction
from functools import partial
from itertools import islice
from pathlib import Path

from contenders.ledger.blocks import Step
from sfumato.accounting.losses.measures import Pure
from sfumato.ledger.ledger import Ledger
from sfumato.ledger.replica import BALANCE_EVERY
from sfumato.ledger.state import State
from sfumato.ledger.store import Pen, Row
from sfumato.ledger.transaction import Draft, Transaction

ACCOUNT, LIMIT, LOSS = "visits", Pure(1_000_000), Pure(Fraction(1, 1000))
MANY = 10_000

BARE = "x" * 100
"""What the bare row holds: about as much as the least that a charge could say."""


def charging(ledger: Ledger) -> Step:
    """Gives one charge to an account of a ledger."""
    ledger.open_account(ACCOUNT, limit=LIMIT)
    return partial(ledger.charge, ACCOUNT, LOSS)


def filled(path: Path, size: int) -> Ledger:
    """Gives a ledger with so many entries: the same as charging one by one would leave, but written in bulk."""
    ledger = Ledger.open(path)
    ledger.open_account(ACCOUNT, limit=LIMIT)
    state = State()
    for entry in ledger.entries():
        state.apply(entry)
    rows = _rows(state, size)
    while many := list(islice(rows, MANY)):
        ledger.store.append(many[0].number - 1, partial(_all_of, many))
    ledger.close()
    return Ledger.open(path)


def _all_of(rows: Sequence[Row], pen: Pen) -> Sequence[Row]:
    return rows


def _rows(state: State, size: int) -> Iterator[Row]:
    while state.number < size:
        transaction = Transaction(state, state.moment(datetime.now(UTC)))
        if (state.number + 1) % BALANCE_EVERY == 0:
            transaction.add(Draft("balance", "", transaction.balance()))
        else:
            transaction.charge(ACCOUNT, LOSS, {"what": "", "question": None, "key": None, "data": ""})
        entries, rows = transaction.written("analyst")
        transaction.appended(entries)
        yield from rows
