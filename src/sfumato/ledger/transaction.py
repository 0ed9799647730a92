"""What is to be written next: drafts of entries on a book as it stands, each decided on what the earlier ones leave."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime
from typing import NamedTuple, final

from sfumato.accounting.adaptive.approx_filter import ApproxFilter
from sfumato.accounting.adaptive.charge import counted, kind_of
from sfumato.accounting.adaptive.costs import Cost
from sfumato.accounting.losses.measures import Loss
from sfumato.errors import AccountRefused
from sfumato.ledger.accounts import Account, check_terms, expired, opening
from sfumato.ledger.beside import Beside, check_beside, losses_beside, said_beside
from sfumato.ledger.entry import FORMAT, VERSION, Body, Entry, Said, stamp
from sfumato.ledger.left import least_of
from sfumato.ledger.rules import plain_cost, plain_loss
from sfumato.ledger.state import State, payers, row_of
from sfumato.ledger.store import Row


@final
class Draft(NamedTuple):
    """What an entry is to say, with the accounts as it leaves them, and what is kept beside it."""

    kind: str
    account: str
    body: Body
    moved: Mapping[str, Account] = {}
    value: str | None = None


@final
class Transaction:
    """A book as it stands at a moment, with drafts of what follows. Nothing of it is in the book yet."""

    def __init__(self, state: State, moment: datetime) -> None:
        self.state, self.moment = state, moment
        self.drafts: list[Draft] = []
        self._changed: dict[str, Account] = {}

    def __getitem__(self, name: str) -> Account:
        account = self._changed.get(name) or self.state.accounts.get(name)
        return self.state[name] if account is None else account

    def add(self, draft: Draft) -> None:
        """Adds a draft."""
        self.drafts.append(draft)
        self._changed.update(draft.moved)

    def begin(self, book: str) -> None:
        """Drafts the first entry."""
        self.add(Draft("begun", "", {"format": FORMAT, "version": VERSION, "book": book}))

    def note(self, account: str, topic: str, said: Said) -> None:
        """Drafts a note."""
        self.add(Draft("noted", self[account].name, {"topic": topic, "said": said}))

    def payers(self, name: str) -> Iterator[Account]:
        """The accounts that pay for what an account is charged, as the drafts leave them."""
        return payers(self.__getitem__, name)

    def now(self, name: str) -> Account:
        """An account as it stands: what has expired under it is closed, and its period is that of the moment."""
        self.sweep(name)
        account = self[name]
        return account if account.closed else account.rolled(self.moment)

    def shown(self, name: str) -> Account:
        """An account as others may see it: what has expired is as good as closed."""
        account = self.now(name)
        over = account.terms.until is not None and expired(account, stamp(self.moment))
        return account._replace(closed=account.closed or over)

    def left(self, name: str) -> Loss:
        """The largest loss that an account can still be charged: its own limit and all above it admit it."""
        try:
            self.check_open(name)
        except AccountRefused:
            return kind_of(self[name].rule).nothing()
        return least_of([self.now(payer.name).left for payer in list(self.payers(name))])

    def sweep(self, name: str) -> None:
        """Drafts the closing of the parts of an account that have expired, so that what they held is free again."""
        parts = self[name].parts
        now = stamp(self.moment) if parts else ""
        for part in parts:
            if expired(self[part], now) and not self[part].closed:
                self.close(part)

    def open(self, account: Account) -> None:
        """Drafts the opening of an account; what expired above it is closed first."""
        if account.name in self.state.accounts:
            raise AccountRefused(f"the account {account.name} is open already.")
        check_terms(account, self[account.above] if account.above else None)
        moved = {account.name: account}
        if account.above:
            self.check_open(account.above)
        for above in list(self.payers(account.above)) if account.terms.holds else []:
            self.now(above.name).holding(account)  # refuses where that does not fit
            moved[above.name] = self[above.name].set_aside(account)
        self.add(Draft("opened", account.name, opening(account), moved))

    def close(self, name: str) -> None:
        """Drafts the closing of an account, and before it that of the parts that hold something of it."""
        if self[name].closed:
            raise AccountRefused(f"the account {name} is closed already.")
        for part in self[name].parts:
            self.close(part)
        account = self[name]
        moved = {name: account._replace(closed=True)}
        for above in list(self.payers(account.above)) if account.terms.holds else []:
            moved[above.name] = above.rolled(self.moment).bearing(account)
        self.add(Draft("closed", name, {"states": _states(moved)}, moved))

    def charge(self, name: str, cost: Loss | Cost, said: Body, beside: Beside | None = None) -> None:
        """Drafts a charge to an account and to those above it that pay too; before it, those ``beside`` it."""
        whole, others = Cost.of(cost), beside or {}
        names = [payer.name for payer in self.payers(name)]
        self.check_open(name)
        check_beside(self.__getitem__, name, others)
        for other, own in others.items():
            self.charge(other, own, {**said, **said_beside(name, said)})
        for payer in names:
            self.sweep(payer)
        self._charge(name, names, whole, {**said, **losses_beside(others)})

    def share(self, names: Iterable[str], cost: Cost, said: Body) -> None:
        """Drafts charges to accounts, each for itself and the highest first, for what another account has paid for."""
        for name in sorted(names, key=len):
            self.check_open(name)
            self.sweep(name)
            self._charge(name, [name], cost, said)

    def _charge(self, name: str, names: Iterable[str], cost: Cost, said: Body) -> None:
        moved: dict[str, Account] = {}
        costs: Body = {}
        for payer in names:
            ready = self[payer].at(self.moment)
            if type(cost.loss) is not kind_of(ready.rule) and not isinstance(ready.rule, ApproxFilter):
                costs[payer] = plain_loss(counted(cost, kind_of(ready.rule)))
            moved[payer] = ready.paying(cost)
        body: Body = {**said, **plain_cost(cost), "states": _states(moved)}
        if costs:
            body["counted"] = costs
        self.add(Draft("charged", name, body, moved))

    def check_open(self, name: str) -> None:
        """Refuses an account that is closed or has expired, or that is under one."""
        account = self[name].at(self.moment)
        while account.above:
            account = self[account.above].at(self.moment)

    def balance(self) -> Body:
        """The states of all accounts as the drafts leave them."""
        return {"states": dict(sorted(_states({**self.state.accounts, **self._changed}).items()))}

    def written(self, by: str) -> tuple[list[Entry], list[Row]]:
        """Writes the drafts as the next entries."""
        entries: list[Entry] = []
        rows: list[Row] = []
        number, previous, time = self.state.number, self.state.digest, stamp(self.moment)
        for draft in self.drafts:
            number += 1
            entry = Entry.made(
                number, previous, kind=draft.kind, time=time, by=by, account=draft.account, body=draft.body
            )
            previous = entry.digest
            entries.append(entry)
            rows.append(row_of(entry, draft.value))
        return entries, rows

    def appended(self, entries: list[Entry]) -> None:
        """Takes the drafts into where the book stands, now that their entries are in it."""
        for entry, draft in zip(entries, self.drafts, strict=True):
            if entry.kind in ("begun", "noted"):
                self.state.fold(entry)
            self.state.accounts.update(draft.moved)
            self.state.stand_at(entry)


def _states(accounts: Mapping[str, Account]) -> Body:
    return {name: account.state() for name, account in accounts.items()}
