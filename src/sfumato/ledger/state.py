"""Where a book stands: the accounts as all entries so far leave them.

`State.apply` folds one entry after another. Entries carry the state that they leave behind, so that nobody reads
the whole history again: a *balance* holds all states, and what follows it is folded on top. Whether an entry was right
to be written is not asked here: that was decided when it was written (`transaction`), and `verify` works it out again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import datetime, timedelta
from typing import final

from sfumato.errors import AccountRefused, ClockWentBack, LedgerDamaged, SfumatoError, shown
from sfumato.guarantee import guarantee
from sfumato.ledger.accounts import Account, opened_account
from sfumato.ledger.entry import FORMAT, NOTHING_BEFORE, VERSION, Body, Entry, canonical, moment_of, stamp
from sfumato.ledger.store import Row

SLACK = timedelta(seconds=60)
"""Clocks of several machines, or one that is being set, may be this much behind; entries then keep the later time."""

STRUCTURE = ("begun", "opened", "closed", "noted")
"""The kinds of entries that say more than a balance does."""


MOVING = frozenset({"charged", "closed", "balance"})
"""The kinds of entries that state what accounts come to."""


@final
class State:
    """The accounts and notes as the entries of a book leave them. It changes only by entries that are in the book."""

    def __init__(self) -> None:
        self.number, self.digest, self.time, self.book = 0, NOTHING_BEFORE, "", ""
        self.accounts: dict[str, Account] = {}
        self.notes: dict[tuple[str, str], Entry] = {}

    def apply(self, entry: Entry) -> None:
        """Folds the next entry."""
        if entry.number != self.number + 1 or entry.previous != self.digest:
            raise LedgerDamaged(f"entry {entry.number} does not follow entry {self.number}")
        self.fold(entry)
        self.stand_at(entry)

    def stand_at(self, entry: Entry) -> None:
        """Notes that all entries up to one are folded."""
        self.number, self.digest, self.time = entry.number, entry.digest, entry.time

    def fold(self, entry: Entry) -> None:
        """Takes in what an entry says, wherever it stands."""
        try:
            self._fold(entry)
        except LedgerDamaged:
            raise
        except (SfumatoError, ValueError, KeyError, TypeError):
            raise LedgerDamaged(f"entry {entry.number} says what cannot be after those before it") from None

    def _fold(self, entry: Entry) -> None:
        match entry.kind:
            case "begun":
                self._fold_beginning(entry)
            case "opened":
                self._fold_opening(opened_account(entry.account, entry.body))
            case "closed":
                account = self[entry.account]
                self.accounts[account.name] = account._replace(closed=True)
                for above in self.holders(account):
                    self.accounts[above.name] = above.given_back(account)
            case "noted":
                self.notes[entry.account, str(entry.body["topic"])] = entry
        states = entry.body.get("states")
        if states is not None and entry.kind not in MOVING:
            raise LedgerDamaged(f"entry {entry.number} states sums that it cannot have changed")
        for name, state in states.items() if isinstance(states, dict) else ():
            self.accounts[name] = self[name].in_state(state)

    def _fold_beginning(self, entry: Entry) -> None:
        if entry.body.get("format") != FORMAT or entry.body.get("version") != VERSION:
            raise LedgerDamaged("its format is not one that this version of sfumato reads")
        if entry.number != 1:
            raise LedgerDamaged(f"it begins a second time with entry {entry.number}")
        self.book = str(entry.body["book"])

    def _fold_opening(self, account: Account) -> None:
        if account.name in self.accounts:
            raise LedgerDamaged("an account in it is opened twice")
        self.accounts[account.name] = account
        for above in self.holders(account):
            self.accounts[above.name] = above.set_aside(account)

    def __getitem__(self, name: str) -> Account:
        try:
            return self.accounts[name]
        except (KeyError, TypeError):
            raise AccountRefused(
                f"there is no account {shown(name)} in this ledger. Open it first: "
                f"ledger.open_account({shown(name)}, limit=…)."
            ) from None

    def holders(self, account: Account) -> list[Account]:
        """The accounts that have set the limit of an account aside: those that would pay for the one above it."""
        return list(payers(self.__getitem__, account.above)) if account.terms.holds else []

    def balance(self) -> Body:
        """The states of all accounts, as an entry holds them."""
        return {"states": {name: account.state() for name, account in sorted(self.accounts.items())}}

    def moment(self, now: datetime) -> datetime:
        """The clock's time, but never before that of the last entry; refuses a clock over `SLACK` behind it."""
        if not self.time:
            return now
        last = moment_of(self.time)
        if now < last - SLACK:
            raise ClockWentBack(stamp(now), self.time)
        return max(now, last)


@guarantee(
    claim="every account whose limit a charge counts against: all above, up to one that has set its limit aside",
    proof="proofs/ledger.md#tree",
    reviewed="8df75cfc6659",
)
def payers(find: Callable[[str], Account], name: str) -> Iterator[Account]:
    """The accounts that pay for what an account is charged: itself and those above, up to one that holds."""
    account = find(name)
    yield account
    while account.above and not account.terms.holds:
        account = find(account.above)
        yield account


@guarantee(
    claim="an account has counted a release already if it is the account that paid, or is above it",
    proof="proofs/ledger.md#recall",
    reviewed="b2bf2a82f2ba",
)
def has_counted(account: str, payer: str) -> bool:
    """Tells whether an account's limit has counted what another one was charged for."""
    return (payer + "/").startswith(account + "/")


def data_set_of(account: str) -> str:
    """Names the data set that an account belongs to."""
    return account.partition("/")[0]


def row_of(entry: Entry, value: str | None) -> Row:
    """An entry as it is stored, with what it can be found by."""
    kind, body = entry.kind, entry.body
    key, question, settles = None, None, None
    if kind == "charged":
        if isinstance(number := body.get("shares"), int):
            key = shared_key(entry.account, number)
        elif isinstance(own := body.get("key"), str):
            key = charge_key(entry.account, own)
    elif isinstance(number := body.get("charge"), int):
        if kind in ("released", "failed"):
            settles, asked = number, body.get("question")
            question = asked if isinstance(asked, str) and body.get("value") is not None else None
        elif kind == "progress" and isinstance(turn := body.get("turn"), int):
            key = progress_key(entry.account, number, turn)
    return Row(entry.number, kind, entry.digest, entry.text, key, question, settles, value)


def charge_key(account: str, key: str) -> str:
    """What a charge with a key is found by; accounts do not share keys."""
    return canonical([account, key])


def progress_key(account: str, charge: int, turn: int) -> str:
    """What a turn of a run is found by: only one entry can take it."""
    return canonical([account, charge, turn])


def shared_key(account: str, number: int) -> str:
    """What an account's share in a charge of another account is found by."""
    return canonical([account, number])
