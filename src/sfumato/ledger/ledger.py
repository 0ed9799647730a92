"""The ledger: accounts with limits over one append-only book. Pay first, then look."""

from __future__ import annotations

import weakref
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from functools import partial
from itertools import takewhile
from pathlib import Path
from typing import final

from sfumato.accounting.adaptive.charge import Rule
from sfumato.accounting.adaptive.costs import Cost
from sfumato.accounting.events import Event
from sfumato.accounting.losses.measures import Loss
from sfumato.core.measurement import Measurement
from sfumato.core.metrics import AddRemove, Metric, Unit
from sfumato.entropy import system
from sfumato.errors import BadArgument, LedgerDamaged
from sfumato.ledger.accounts import Account, checked_name
from sfumato.ledger.addresses import store_at
from sfumato.ledger.charging import Trial, charged, check_payable, tried
from sfumato.ledger.checklists import check_settled
from sfumato.ledger.entry import Body, Entry, Said, stamp
from sfumato.ledger.export import export_lines, import_lines
from sfumato.ledger.periods import Period
from sfumato.ledger.permit import Permit, Purpose, terms_of
from sfumato.ledger.progress import RunPermit, begin
from sfumato.ledger.recall import recalled
from sfumato.ledger.replica import Replica, now
from sfumato.ledger.rules import rule_for
from sfumato.ledger.settling import keep_release, note_failure
from sfumato.ledger.signing import signed
from sfumato.ledger.state import payers
from sfumato.ledger.store import Pen, Store
from sfumato.ledger.stored_release import read_kept
from sfumato.ledger.transaction import Draft, Transaction
from sfumato.ledger.validation import aware, check_expected, check_said, check_same, read_texts
from sfumato.ledger.verify import Progress, Verdict, verified
from sfumato.release.record import Receipt, Release
from sfumato.release.render.displayed import Displayed
from sfumato.release.render.document import Document, Table

ROW = Unit(AddRemove().unit(1), AddRemove())
"""Who is protected unless told otherwise: one row, added or removed."""


@final
class Ledger(Displayed):
    """The only door to private data: a charge that fits every limit above it is written down, and gives a permit.

    One ledger can hold many data sets, and many processes can use one ledger (SQLite on one machine, PostgreSQL from
    several). Losses are composed by `accounting` alone, with filters that are valid when spending is
    chosen as one goes.

    >>> from sfumato.accounting.losses.measures import Pure
    >>> ledger = Ledger.open("memory:")
    >>> _ = ledger.open_account("visits", limit=Pure(1))
    >>> for _ in range(10):
    ...     permit = ledger.charge("visits", Pure(0.1))
    >>> ledger["visits"].left
    Pure(epsilon=0.0)
    """

    def __init__(self, store: Store, *, clock: Callable[[], datetime] = now) -> None:
        if isinstance(store, str | Path):
            raise BadArgument("store", "a store; to open a ledger at an address, write Ledger.open(address)", store)
        self._store, self._replica, self._runs = store, Replica(store, clock), weakref.WeakSet[RunPermit]()
        self._permits: weakref.WeakValueDictionary[int, Permit] = weakref.WeakValueDictionary()

    @classmethod
    def open(cls, address: str | Path, *, clock: Callable[[], datetime] = now) -> Ledger:
        """Opens the ledger at an address: a path, ``sqlite:///path``, ``postgresql://…``, or ``memory:`` for tests."""
        store = store_at(address)
        try:
            return cls(store, clock=clock)
        except BaseException:
            store.close()
            raise

    @property
    def book(self) -> str:
        """Names the book: a random text, made with it."""
        return self._replica.state.book

    @property
    def store(self) -> Store:
        """Where the book is kept."""
        return self._store

    @property
    def head(self) -> Receipt:
        """Number, digest and time of the last entry; keep it elsewhere, and nothing can be cut off unseen."""
        with self._replica.looking() as transaction:
            return Receipt(transaction.state.number, transaction.state.digest, "", transaction.state.time)

    # Accounts

    def open_account(
        self,
        name: str,
        *,
        limit: Loss | Rule,
        unit: Unit | None = None,
        holds: bool = False,
        period: Period | str | None = None,
        until: datetime | None = None,
        about: Mapping[str, str] | None = None,
        note: tuple[str, Said] | None = None,
        expecting: int | None = None,
        beside: Sequence[str] = (),
        by: str = "curator",
    ) -> Account:
        """Opens an account, or returns the one opened before on the same terms; a limit is set once and never changes.

        ``visits`` is a data set; ``visits/ada`` is an account under it: its charges count there too; it protects the
        same unit. With ``holds`` its limit is set aside above. With ``period`` the limit is for each day, week, month,
        quarter or year. After ``until`` it pays for nothing, and what it held is free again. ``about`` is public:
        scope, url and such. A ``note``, on the account above, is written in the same step; ``expecting`` is the entry
        of the last note there under its topic, as the caller knows it. ``beside`` are accounts of other kinds of units.
        """
        named, rule = checked_name(name), rule_for(limit)
        above = named.rpartition("/")[0]

        def write(transaction: Transaction, _: Pen) -> None:
            protects = transaction[above].terms if above and unit is None else terms_of(ROW if unit is None else unit)
            terms = replace(
                protects,
                holds=bool(holds),
                period=Period.named(period),
                until=None if until is None else stamp(aware(until)),
                about=read_texts(about),
                beside=tuple(beside),
            )
            if note is not None:
                check_expected(transaction, above, note[0], expecting)
                transaction.note(above, *note)
            if named in transaction.state.accounts:
                check_same(transaction[named], rule, terms)
            else:
                transaction.open(Account(named, rule, terms))

        self._replica.append(write, by=by)
        return self[named]

    def __getitem__(self, name: str) -> Account:
        """The account as it stands now, with all that other processes have written."""
        with self._replica.looking() as transaction:
            return transaction.shown(name)

    @property
    def accounts(self) -> tuple[str, ...]:
        """Names all accounts."""
        with self._replica.looking() as transaction:
            return tuple(sorted(transaction.state.accounts))

    def left(self, name: str) -> Loss:
        """The largest loss that an account can still be charged: its own limit and all above it admit it."""
        return self.standing(name)[1]

    def standing(self, name: str) -> tuple[Account, Loss]:
        """The account as it stands now and what it can still be charged, in one look."""
        with self._replica.looking() as transaction:
            return transaction.shown(name), transaction.left(name)

    def first_of(self, names: Iterable[str]) -> list[Account]:
        """The accounts of some names, as they stand in one look, up to the first that there is not."""
        with self._replica.looking() as transaction:
            return [transaction.shown(one) for one in takewhile(transaction.state.accounts.__contains__, names)]

    def close_account(self, name: str, *, by: str = "curator") -> Account:
        """Closes an account permanently; what it held and has not spent goes back to the account above."""
        self._replica.append(lambda transaction, _: transaction.close(name), by=by)
        return self[name]

    # Charges

    def charge(
        self,
        account: str,
        cost: Loss | Cost,
        *,
        key: str | None = None,
        question: str | None = None,
        what: str = "",
        data: str = "",
        by: str = "analyst",
    ) -> Permit:
        """Charges a loss to an account and all above it, in one durable step, and gives the permit to look once.

        With the event that is to run (a `Cost`), accounts count the least that a theorem allows.

        ``key`` makes a retry safe: a second charge with the same key is the first one again. ``question`` is what the
        release will be found by; ``what`` and ``data`` say what is asked, and of which version of the data.
        """
        return self._charged(account, cost, {"what": what, "question": question, "key": key, "data": data}, by)

    def ask(
        self,
        account: str,
        cost: Loss | Cost,
        measurement: Measurement,
        d_in: Unit,
        *,
        key: str | None = None,
        question: str | None = None,
        what: str = "",
        data: str = "",
        others: Mapping[str, tuple[Unit, Cost]] | None = None,
        by: str = "analyst",
    ) -> Permit | Release:
        """Finds the stored release that answers a question (see `recall`), or else charges for a measurement.

        What the charge could not pay for is refused before it is made, and so is everything while the checklist of the
        data set is open. The permit has then been checked for this measurement. ``others`` are units of other kinds.
        """
        if question is not None:
            release = recalled(self._replica, self._store, account, question, by=by, check=check_settled)
            if release is not None:
                return release
        said: Body = {"what": what, "question": question, "key": key, "data": data}
        permit = self._charged(account, cost, said, by, Purpose(measurement, d_in, others or {}))
        stored = permit.release if permit.used else None
        return permit if stored is None else stored

    def _charged(self, account: str, cost: Loss | Cost, said: Body, by: str, purpose: Purpose | None = None) -> Permit:
        whole, beside = Cost.of(cost), None if purpose is None else purpose.beside
        check = None if purpose is None else partial(check_payable, account=account, cost=whole, purpose=purpose)
        entry, fresh = charged(self._replica, account, whole, said, by=by, check=check, beside=beside)
        live = None if fresh else self._permits.get(entry.number)
        return self._permit(entry, whole, purpose, fresh=fresh) if live is None else live

    def trial(
        self, account: str, cost: Loss | Cost, *, question: str | None = None, purpose: Purpose | None = None
    ) -> Trial:
        """Says whether a charge would be admitted, and whether the question is answered already; charges nothing."""
        return tried(self._replica, self._store, account, Cost.of(cost), question=question, purpose=purpose)

    def recall(self, account: str, question: str, *, by: str = "analyst") -> Release | None:
        """Finds the stored release that answers a question; None where there is none.

        For the account that paid, and for those above it, it is free. Another account under the same data set pays
        what its own limits count, once; the data set has lost nothing more.
        """
        if account not in self._replica.state.accounts:
            self[account]  # which somebody else may have opened
        return recalled(self._replica, self._store, account, question, by=by)

    def _permit(self, entry: Entry, cost: Cost, purpose: Purpose | None, *, fresh: bool) -> Permit:
        state, beside = self._replica.state, {} if purpose is None else purpose.beside
        accounts = (entry.account, *beside)
        made = Permit(
            Receipt(entry.number, entry.digest, entry.account, entry.time),
            cost,
            state[entry.account],
            keep=lambda release: keep_release(self._replica, release, entry),
            fail=lambda: note_failure(self._replica, entry),
            stored=lambda: self._stored(entry.number),
            interleaves=lambda: all(p.rule.interleaves for name in accounts for p in payers(state.__getitem__, name)),
            spent=not fresh,
            purpose=purpose,
            beside=[(state[name], own) for name, own in beside.items()],
        )
        self._permits[entry.number] = made
        return made

    def start(
        self,
        account: str,
        loss: Loss,
        event: Event,
        *,
        key: str,
        ahead: int = 1,
        what: str = "",
        data: str = "",
        by: str = "analyst",
        metric: Metric | None = None,
        steps: int | None = None,
    ) -> RunPermit:
        """Charges a plan of many steps once, and returns the permit for them; with the same key it goes on with it.

        The steps are those of the event: the times of a `Repeat`, the parts of a `Sequence`, the columns of a
        factorisation; or so many ``steps``, of which all together are what the event says, whichever of them are left
        out. Before steps look at data the book says so, for ``ahead`` of them at a time: a crash can lose that many,
        and none ever runs twice.
        ``metric``, if it is that of the account's unit, says whether neighbours add or remove one.
        """
        book = self._replica, self._store
        permit = begin(
            *book, account, loss, event, key=key, ahead=ahead, what=what, data=data, by=by, metric=metric, steps=steps
        )
        self._runs.add(permit)
        return permit

    def gave(self, permit: Permit | RunPermit) -> bool:
        """Tells whether this ledger gave a permit: one that was made by hand was charged nowhere."""
        return (
            permit in self._runs if isinstance(permit, RunPermit) else self._permits.get(permit.receipt.entry) is permit
        )

    # Releases

    def _stored(self, number: int) -> Release | None:
        row = self._store.settled(number)
        return None if row is None else read_kept(row)

    def note(
        self, account: str, topic: str, said: Said, *, expecting: int | None = None, by: str = "curator"
    ) -> Receipt:
        """Writes something public down: a decision and its reason, an item of a checklist.

        ``expecting`` is the entry of the last note under the topic, as the caller knows it: nothing is written where
        somebody else has written one since.
        """
        check_said(topic, said)

        def write(transaction: Transaction, _: Pen) -> None:
            check_expected(transaction, account, topic, expecting)
            transaction.note(account, topic, said)

        entries = self._replica.append(write, by=by)
        return Receipt(entries[-1].number, entries[-1].digest, account, entries[-1].time)

    def entries(self, after: int = 0, *, kinds: Sequence[str] = ()) -> Iterator[Entry]:
        """The entries after a number, in order; of some kinds only, where any are named."""
        for row in self._store.rows(after, kinds=kinds):
            yield Entry.read(row.text, row.digest)

    def notes(self, account: str, topic: str) -> Iterator[Entry]:
        """All that was noted on an account under a topic, in the order of the book."""
        for entry in self.entries(kinds=("noted",)):
            if entry.account == account and entry.body.get("topic") == topic:
                yield entry

    def last_note(self, account: str, topic: str) -> Entry | None:
        """The last note on an account under a topic; None where there is none."""
        with self._replica.looking() as transaction:
            return transaction.state.notes.get((account, topic))

    # The book

    def secret(self, name: str) -> bytes:
        """A random key that is kept beside the book and never leaves with it; made when first asked for."""
        return self._store.secret(name, lambda: system().octets(32))

    def checkpoint(self, secret: bytes | None = None, *, by: str = "curator") -> Receipt:
        """Writes down all states, signed with a key (`new_signing_key`) where one is given."""

        def write(transaction: Transaction, _: Pen) -> None:
            body, state = transaction.balance(), transaction.state
            if secret is not None:
                body |= signed(secret, book=state.book, number=state.number + 1, previous=state.digest)
            transaction.add(Draft("balance", "", body))

        entry = self._replica.append(write, by=by)[0]
        return Receipt(entry.number, entry.digest, "", entry.time)

    def verify(
        self, *, receipts: Iterable[Receipt] = (), signer: bytes | None = None, progress: Progress | None = None
    ) -> Verdict:
        """Reads the whole book again and says which entries were changed, removed or moved.

        ``receipts`` are entries that must be there as they were, such as those of releases, or an earlier `head`;
        ``signer`` is the public key that all signed checkpoints must bear.
        """
        return verified(self._store, receipts=receipts, signer=signer, progress=progress)

    def export(self, path: str | Path, *, values: bool = True, progress: Progress | None = None) -> int:
        """Writes the book to a file, an entry to a line of JSON; without the releases where ``values`` is false."""
        return export_lines(self._store, path, values=values, progress=progress)

    @classmethod
    def imported(cls, lines: Iterable[str] | Path, address: str | Path, *, progress: Progress | None = None) -> Ledger:
        """Brings an exported book, its lines or the path of its file, into an empty store, and opens it there."""
        store = store_at(address)
        try:
            import_lines(lines, store, progress=progress)
            verdict = verified(store, progress=progress)
            if not verdict:
                raise LedgerDamaged(f"{verdict.faults[0]} (the book was brought in as it is; verify names all faults)")
            return cls(store)
        except BaseException:
            store.close()
            raise

    def close(self) -> None:
        """Closes the files and connections that the store holds open."""
        self._store.close()

    def document(self) -> Document:
        """All accounts as they stand, for any form."""
        held = [self[name] for name in self.accounts]
        rows = tuple((one.name, f"{one.limit}", f"{one.spent}", "closed" if one.closed else "open") for one in held)
        return Document("Ledger", repr(self), tables=(Table(rows, ("account", "limit", "spent", "")),))

    def __repr__(self) -> str:
        return f"Ledger({self._store!r}, {self._replica.state.number} entries)"
