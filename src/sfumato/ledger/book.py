"""The ledger: accounts with limits over one append-only book. Pay first, then look."""

from __future__ import annotations

import weakref
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import final

from sfumato.accounting.measures import Loss
from sfumato.core.measurement import Measurement
from sfumato.core.metrics import AddRemove, Unit
from sfumato.core.spread import Stated
from sfumato.entropy import system
from sfumato.errors import AccountRefused, BadArgument, LedgerDamaged, NotKept, SfumatoError
from sfumato.ledger.accounts import Account, checked_name, expired
from sfumato.ledger.addresses import store_at
from sfumato.ledger.entry import Body, Entry, Said, digest_of, stamp
from sfumato.ledger.journal import Journal, now
from sfumato.ledger.keeping import kept_text, read_kept
from sfumato.ledger.lines import export_lines, import_lines
from sfumato.ledger.page import Draft, Page
from sfumato.ledger.periods import Period
from sfumato.ledger.permit import Permit, check_run, terms_of
from sfumato.ledger.reading import Trial, aware, check_expected, check_said, check_same, check_texts, read_texts
from sfumato.ledger.remaining import least_of
from sfumato.ledger.rules import Rule, kind_of, plain_loss, read_loss, rule_for
from sfumato.ledger.signing import signed
from sfumato.ledger.standing import charge_key, data_set_of, has_counted, payers, shared_key
from sfumato.ledger.store import Pen, Row, Store
from sfumato.ledger.verify import Progress, Verdict, verified
from sfumato.release.record import Receipt, Release

ROW = Unit(AddRemove().unit(1), AddRemove())
"""Who is protected unless told otherwise: one row, added or removed."""


@final
class Ledger:
    """Is the only door to private data: a charge that fits every limit above it is written down, and gives a permit.

    One ledger can hold many data sets, and many processes can use one ledger (SQLite on one machine, PostgreSQL from
    several). Losses are composed by `accounting` alone, with filters that are valid when spending is
    chosen as one goes.

    >>> from sfumato.accounting.measures import Pure
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
        self._store, self._journal = store, Journal(store, clock)
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
        return self._journal.standing.book

    @property
    def store(self) -> Store:
        """Gives the store."""
        return self._store

    @property
    def head(self) -> Receipt:
        """Gives number, digest and time of the last entry; keep it elsewhere, and nothing can be cut off unseen."""
        with self._journal.looking() as page:
            return Receipt(page.standing.number, page.standing.digest, "", page.standing.time)

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
        by: str = "curator",
    ) -> Account:
        """Opens an account, or gives the one that was opened before on the same terms; a limit is set once, for good.

        ``visits`` is a data set; ``visits/ada`` is an account under it, whose charges count there too; it protects the
        same unit. With ``holds`` its limit is set aside above. With ``period`` the limit is for each day, week, month,
        quarter or year. After ``until`` it pays for nothing, and what it held is free again. ``about`` is public:
        scope, url and such. A ``note``, on the account above, is written in the same step; ``expecting`` is the entry
        of the last note there under its topic, as the caller knows it.
        """
        named, rule = checked_name(name), rule_for(limit)
        above = named.rpartition("/")[0]

        def write(page: Page, _: Pen) -> None:
            protects = page[above].terms if above and unit is None else terms_of(ROW if unit is None else unit)
            terms = replace(
                protects,
                holds=bool(holds),
                period=Period.named(period),
                until=None if until is None else stamp(aware(until)),
                about=read_texts(about),
            )
            if note is not None:
                check_expected(page, above, note[0], expecting)
                page.note(above, *note)
            if named in page.standing.accounts:
                check_same(page[named], rule, terms)
            else:
                page.open(Account(named, rule, terms))

        self._journal.append(write, by=by)
        return self[named]

    def __getitem__(self, name: str) -> Account:
        """Gives an account as it stands now."""
        with self._journal.looking() as page:
            account = page.now(name)
            over = account.terms.until is not None and expired(account, stamp(page.moment))
            return account._replace(closed=account.closed or over)  # what has expired is as good as closed

    @property
    def accounts(self) -> tuple[str, ...]:
        """Names all accounts."""
        with self._journal.looking() as page:
            return tuple(sorted(page.standing.accounts))

    def left(self, name: str) -> Loss:
        """Gives the largest loss that an account can still be charged: its own limit and all above it admit it."""
        with self._journal.looking() as page:
            try:
                page.check_open(name)
            except AccountRefused:
                return kind_of(page[name].rule).nothing()
            return least_of([page.now(payer.name).left for payer in list(page.payers(name))])

    def close_account(self, name: str, *, by: str = "curator") -> Account:
        """Closes an account for good; what it held and has not spent goes back to the account above."""
        self._journal.append(lambda page, _: page.close(name), by=by)
        return self[name]

    # Charges

    def charge(
        self,
        account: str,
        loss: Loss,
        *,
        key: str | None = None,
        question: str | None = None,
        what: str = "",
        data: str = "",
        by: str = "analyst",
    ) -> Permit:
        """Charges a loss to an account and all above it, in one durable step, and gives the permit to look once.

        ``key`` makes a retry safe: a second charge with the same key is the first one again. ``question`` is what the
        release will be found by; ``what`` and ``data`` say what is asked, and of which version of the data.
        """
        check_texts(key=key, question=question, what=what, data=data)
        said: Body = {"what": what, "question": question, "key": key, "data": data}
        before: list[Row] = []

        def write(page: Page, pen: Pen) -> None:
            before.clear()
            if key is not None and (found := pen.by_key(charge_key(account, key))) is not None:
                before.append(found)
            else:
                page.charge(account, loss, {**said, "mark": self._journal.new_mark()})

        entries = self._journal.append(write, by=by)
        if before:
            return self._same_charge(Entry.read(before[0].text, before[0].digest), {**said, "loss": plain_loss(loss)})
        charged = next(entry for entry in reversed(entries) if entry.kind == "charged")
        return self._permit(charged, loss, fresh=True)

    def check_run(self, account: str, measurement: Measurement, d_in: Stated | Unit, *, loss: Loss) -> None:
        """Refuses a measurement that no charge of this loss to an account could pay for, before anything is charged."""
        with self._journal.looking() as page:
            interleaves = all(payer.rule.interleaves for payer in page.payers(account))
            check_run(measurement, d_in, loss=loss, account=page[account], interleaves=interleaves)

    def trial(self, account: str, loss: Loss, *, question: str | None = None) -> Trial:
        """Says whether a charge would be admitted, and whether the question is answered already; charges nothing."""
        found = None if question is None else self._answered(account, question)
        with self._journal.looking() as page:
            try:
                if found is None:
                    page.charge(account, loss, {})
                else:
                    stored = read_loss(found[1].body["loss"])
                    page.share(self._owing(page, self._store, account, found[1]), stored, {})
            except SfumatoError as refusal:
                return Trial(known=found is not None, costs=False, refusal=str(refusal))
            return Trial(known=found is not None, costs=any(draft.kind == "charged" for draft in page.drafts))

    def recall(self, account: str, question: str, *, by: str = "analyst") -> Release | None:
        """Gives the stored release that answers a question, or None.

        For the account that paid, and for those above it, it is free. Another account under the same data set pays
        what its own limits count, once; the data set has lost nothing more.
        """
        found = self._answered(account, question)
        if found is None:
            return None
        release, charge = found
        loss = read_loss(charge.body["loss"])
        said: Body = {"what": charge.body["what"], "question": question, "shares": charge.number}
        with self._journal.looking() as page:
            owing = self._owing(page, self._store, account, charge)
        if owing:
            self._journal.append(
                lambda page, pen: page.share(
                    self._owing(page, pen, account, charge), loss, {**said, "mark": self._journal.new_mark()}
                ),
                by=by,
            )
        return release

    def _answered(self, account: str, question: str) -> tuple[Release, Entry] | None:
        """Finds the stored release that answers a question on the same data set, and the charge that paid for it."""
        check_texts(question=question)
        with self._journal.looking() as page:
            data_set = data_set_of(page[account].name)
        row = self._store.by_question(question)
        release = None if row is None else read_kept(row)
        if row is None or release is None:
            return None
        charge = None if row.settles is None else self._store.get(row.settles)
        if charge is None:
            raise LedgerDamaged("a release has no charge")
        entry = Entry.read(charge.text, charge.digest)
        return (release, entry) if data_set_of(entry.account) == data_set else None

    @staticmethod
    def _owing(page: Page, keys: Pen | Store, account: str, charge: Entry) -> list[str]:
        """Names the accounts that must still pay before an account may see what another one was charged for."""
        uncounted = [one.name for one in page.payers(account) if not has_counted(one.name, charge.account)]
        return [name for name in uncounted if keys.by_key(shared_key(name, charge.number)) is None]

    def _same_charge(self, entry: Entry, said: Body) -> Permit:
        if {name: entry.body.get(name) for name in said} != said:
            raise AccountRefused(
                "this key belongs to another charge: of another loss, for another question, or of another version of "
                "the data (without version='…' each opening is one). A retry repeats a charge; a new one has a new key."
            )
        live, loss = self._permits.get(entry.number), read_loss(entry.body["loss"])
        return live if live is not None else self._permit(entry, loss, fresh=False)

    def _permit(self, entry: Entry, loss: Loss, *, fresh: bool) -> Permit:
        standing = self._journal.standing
        made = Permit(
            Receipt(entry.number, entry.digest, entry.account, entry.time),
            loss,
            standing[entry.account],
            keep=lambda release: self._keep(release, entry),
            fail=lambda: self._failed(entry),
            stored=lambda: self._stored(entry.number),
            interleaves=lambda: all(one.rule.interleaves for one in payers(standing.__getitem__, entry.account)),
            spent=not fresh,
        )
        self._permits[entry.number] = made
        return made

    def gave(self, permit: Permit) -> bool:
        """Tells whether this ledger gave a permit: one that was made by hand was charged nowhere."""
        return self._permits.get(permit.receipt.entry) is permit

    # Releases

    def _keep(self, release: Release, entry: Entry) -> Release:
        text = kept_text(release)
        body: Body = {"charge": entry.number, "question": entry.body["question"]}
        body["value"] = None if text is None else digest_of(text)
        draft = Draft("released", entry.account, body, value=text)
        try:
            self._journal.append(lambda page, _: page.add(draft), by=entry.by)
        except SfumatoError:
            raise NotKept(release) from None
        return release

    def _failed(self, entry: Entry) -> None:
        """Notes that what was charged broke off. The charge stands whether or not this can be written."""
        draft = Draft("failed", entry.account, {"charge": entry.number})
        with suppress(SfumatoError):
            self._journal.append(lambda page, _: page.add(draft), by=entry.by)

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

        def write(page: Page, _: Pen) -> None:
            check_expected(page, account, topic, expecting)
            page.note(account, topic, said)

        entries = self._journal.append(write, by=by)
        return Receipt(entries[-1].number, entries[-1].digest, account, entries[-1].time)

    def entries(self, after: int = 0, *, kinds: Sequence[str] = ()) -> Iterator[Entry]:
        """Gives the entries after a number, in order; of some kinds only, where any are named."""
        for row in self._store.rows(after, kinds=kinds):
            yield Entry.read(row.text, row.digest)

    def notes(self, account: str, topic: str) -> Iterator[Entry]:
        """Gives what was noted on an account under a topic."""
        for entry in self.entries(kinds=("noted",)):
            if entry.account == account and entry.body.get("topic") == topic:
                yield entry

    def last_note(self, account: str, topic: str) -> Entry | None:
        """Gives what was last noted on an account under a topic."""
        with self._journal.looking() as page:
            number = page.standing.notes.get((account, topic))
        row = None if number is None else self._store.get(number)
        return None if row is None else Entry.read(row.text, row.digest)

    # The book

    def secret(self, name: str) -> bytes:
        """Gives a key that is kept beside the book and never leaves with it."""
        return self._store.secret(name, lambda: system().octets(32))

    def checkpoint(self, secret: bytes | None = None, *, by: str = "curator") -> Receipt:
        """Writes down all states, signed with a key (`new_signing_key`) where one is given."""

        def write(page: Page, _: Pen) -> None:
            body, standing = page.balance(), page.standing
            if secret is not None:
                body |= signed(secret, book=standing.book, number=standing.number + 1, previous=standing.digest)
            page.add(Draft("balance", "", body))

        entry = self._journal.append(write, by=by)[0]
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
        """Gives back what the store holds open."""
        self._store.close()

    def __repr__(self) -> str:
        return f"Ledger({self._store!r}, {self._journal.standing.number} entries)"
