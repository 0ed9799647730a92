"""The tree of limits of a data set, as rows: the data set, accounts of other kinds of units, and all shares."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

from sfumato.accounting.losses.measures import Loss
from sfumato.ledger.accounts import Account
from sfumato.ledger.ledger import Ledger
from sfumato.service.shares import person_of


@final
@dataclass(frozen=True)
class Line:
    """An account as it stands. ``left`` is what it can still be charged: all accounts above it have their say.

    ``held`` is what parts of it hold. ``period`` and ``now`` say for which stretch of the calendar the limit is, and
    in which one it stands; ``promise`` says in words what is promised to whom, and for how long.
    """

    account: str
    above: str
    person: str
    limit: Loss
    spent: Loss
    left: Loss
    held: Loss | None
    holds: bool
    period: str | None
    now: str
    until: str | None
    closed: bool
    promise: str
    purpose: str

    @property
    def depth(self) -> int:
        """How deep in the tree it stands; a data set has 0."""
        return self.account.count("/")


def lines_of(ledger: Ledger, data_set: str) -> list[Line]:
    """All accounts of a data set, each after the one above it."""
    beside = ledger[data_set].terms.beside
    names = [one for one in ledger.accounts if one == data_set or one.startswith(f"{data_set}/")]
    return [line_of(ledger, ledger[name]) for name in (*names, *beside)]


def line_of(ledger: Ledger, account: Account) -> Line:
    """One account as a row."""
    terms = account.terms
    return Line(
        account.name,
        account.above,
        person_of(account.name),
        account.limit,
        account.spent,
        ledger.left(account.name),
        account.held,
        terms.holds,
        None if terms.period is None else terms.period.value,
        account.now,
        terms.until,
        account.closed,
        account.promise,
        terms.about.get("purpose", ""),
    )
