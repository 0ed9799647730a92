"""Whether a book is what was written: every entry is read again, and says which one was changed, removed or moved.

The chain of digests shows any change but two: entries cut off at the end, and a book that was rewritten as a whole from
some entry on. Receipts (each charged release carries one) and signed checkpoints, kept elsewhere, show these too.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import final

from sfumato.accounting.adaptive.charge import counted
from sfumato.accounting.adaptive.costs import Cost
from sfumato.accounting.losses.measures import Loss
from sfumato.errors import BadArgument, LedgerDamaged, SfumatoError
from sfumato.ledger.accounts import Account, opened_account
from sfumato.ledger.entry import Entry, Said, digest_of, moment_of, stamp
from sfumato.ledger.progress import Turn
from sfumato.ledger.rules import plain_cost, read_cost, read_loss
from sfumato.ledger.signing import check_signature
from sfumato.ledger.state import State, data_set_of, has_counted, row_of
from sfumato.ledger.store import Row, Store
from sfumato.ledger.stored_release import read_kept
from sfumato.ledger.transaction import Transaction
from sfumato.release.record import Receipt

MOST_FAULTS = 1000
"""More faults than this are not listed."""

Progress = Callable[[int], None]
"""Is told how many entries have been read."""


@final
@dataclass(frozen=True)
class Fault:
    """What is wrong with one entry of a book."""

    entry: int
    what: str

    def __str__(self) -> str:
        return f"entry {self.entry} {self.what}"


@final
@dataclass(frozen=True)
class Verdict:
    """What reading a whole book again has shown."""

    entries: int
    signed: int
    faults: tuple[Fault, ...]

    @property
    def sound(self) -> bool:
        """Tells whether nothing is wrong."""
        return not self.faults

    def __bool__(self) -> bool:
        return self.sound

    def __str__(self) -> str:
        if self.sound:
            return f"{self.entries:,} entries, {self.signed:,} signed checkpoints: sound"
        lines = (f"  {fault}" for fault in self.faults)
        return "\n".join([f"{self.entries:,} entries, {len(self.faults):,} faults:", *lines])


def verified(
    store: Store, *, receipts: Iterable[Receipt] = (), signer: bytes | None = None, progress: Progress | None = None
) -> Verdict:
    """Reads a book from its first entry and says what is wrong with it.

    ``receipts`` are entries that must be there as they were; ``signer`` is the public key of all checkpoints.
    """
    reader = _Reader(store, _receipts(receipts), _signer(signer))
    for row in store.rows():
        reader.read(row)
        if progress is not None and row.number % 1000 == 0:
            progress(row.number)
        if len(reader.faults) >= MOST_FAULTS:
            return reader.verdict()
    for number in sorted(reader.receipts):
        reader.blame(number, "is not in the book, and there is a receipt for it")
    if signer is not None and not reader.signed:
        reader.blame(reader.state.number, "is the last, and no checkpoint in the book is signed by the signer")
    return reader.verdict()


def _receipts(receipts: object) -> dict[int, set[str]]:
    digests: dict[int, set[str]] = {}
    listed = list(receipts) if isinstance(receipts, Iterable) else [receipts]
    for receipt in listed:
        if not isinstance(receipt, Receipt):
            raise BadArgument("receipts", "a list of receipts, such as [release.receipt]", receipts)
        digests.setdefault(receipt.entry, set()).add(receipt.digest)
    return digests


def _signer(signer: object) -> bytes | None:
    if signer is None or isinstance(signer, bytes):
        return signer
    raise BadArgument("signer", "the bytes of a public key, as public_key(…) gives them", type(signer).__name__)


@final
class _Reader:
    """Reads rows in order, and goes on after a fault as well as it can."""

    def __init__(self, store: Store, receipts: dict[int, set[str]], signer: bytes | None) -> None:
        self.store, self.receipts, self.signer = store, receipts, signer
        self.state, self.faults, self.entries, self.signed = State(), list[Fault](), 0, 0
        self._broken, self._blamed = False, set[int]()
        self._row: Row | None = None
        self._settled, self._released, self._shares = set[int](), set[int](), set[tuple[str, int]]()
        self._turns: dict[int, Turn] = {}
        self._beside: dict[tuple[str, str], Said] = {}

    def verdict(self) -> Verdict:
        """How much was read, with all faults in the order of the entries."""
        return Verdict(self.entries, self.signed, tuple(sorted(self.faults, key=lambda fault: fault.entry)))

    def blame(self, number: int, what: str) -> None:
        """Notes a fault, one for each entry."""
        if number not in self._blamed:
            self._blamed.add(number)
            self.faults.append(Fault(number, what))

    def read(self, row: Row) -> None:
        """Reads one row."""
        number, self._row = self.state.number + 1, row
        self.entries += 1
        if row.number != number:
            gone = f"is missing (and all up to {row.number - 1})" if row.number > number + 1 else "is missing"
            self.blame(number, gone)
            self._broken = True
        try:
            entry = Entry.read(row.text, digest_of(row.text))
        except LedgerDamaged:
            self.blame(row.number, "cannot be read")
            self._skip(row)
            return
        self._compare(row, entry)
        if not self._broken:
            self._replay(row.number, entry)
        self._fold(row, entry)

    def _compare(self, row: Row, entry: Entry) -> None:
        """Compares a row with its entry, and the entry with the one before it."""
        if entry.digest != row.digest:
            self.blame(row.number, "was changed: it is not what its digest says")
        elif entry.number != row.number:
            self.blame(row.number, f"was moved: it was written as entry {entry.number}")
        elif entry.previous != self.state.digest and row.number == self.state.number + 1:
            self.blame(row.number - 1, f"is not the one that entry {row.number} was written after: it was changed")
            self._broken = True
        elif row_of(entry, row.value) != row:
            self.blame(row.number, "is listed under a key, question or charge that it does not name")
        if entry.time < self.state.time:
            self.blame(row.number, "is older than the one before it")
        self._compare_value(row, entry)
        if self.receipts.pop(row.number, {entry.digest}) != {entry.digest}:
            self.blame(row.number, "is not the one for which there is a receipt")

    def _compare_value(self, row: Row, entry: Entry) -> None:
        value = entry.body.get("value") if entry.kind == "released" else None
        if row.value is not None and value != digest_of(row.value):
            self.blame(row.number, "does not belong to the release that is kept with it")

    def _replay(self, number: int, entry: Entry) -> None:
        """Works out again what an entry says, from the entries before it."""
        try:
            for what in self._wrong(entry, moment_of(entry.time)):
                self.blame(number, what)
        except (SfumatoError, ValueError, KeyError, TypeError) as fault:
            self.blame(number, f"could not have been written ({type(fault).__name__})")

    def _wrong(self, entry: Entry, moment: datetime) -> Iterator[str]:
        state, body = self.state, entry.body
        if (entry.number == 1) != (entry.kind == "begun"):
            yield "is where a book does not begin"
        if stamp(moment) != entry.time:
            yield "bears a time that is not written as times are"
        match entry.kind:
            case "charged":
                yield from self._wrong_charge(entry, moment)
            case "closed":
                transaction = Transaction(state, moment)
                transaction.close(entry.account)
                if len(transaction.drafts) > 1:
                    yield "closes an account before parts that hold something of it"
                yield from _differences(body.get("states"), transaction.drafts[-1].moved)
            case "opened":
                Transaction(state, moment).open(opened_account(entry.account, entry.body))
            case "balance":
                yield from _differences(body.get("states"), state.accounts)
                if "signature" in body:
                    self.signed += 1
                    if not check_signature(entry, state.book, self.signer):
                        yield "bears a signature that is not that of the signer"
            case "progress":
                yield from self._wrong_progress(entry)
            case "released" | "failed":
                charge = self._charge(body.get("charge"), entry.number)
                if charge is None or charge.account != entry.account or charge.number in self._settled:
                    yield "settles what is no charge of its account, or is settled already"
                elif entry.kind == "released":
                    self._released.add(charge.number)
                    if body.get("question") != charge.body.get("question"):
                        yield "answers another question than was charged"
                    yield from self._wrong_release(charge)
                self._settled.update(() if charge is None else (charge.number,))

    def _wrong_progress(self, entry: Entry) -> Iterator[str]:
        """Compares a turn of a run with the charge that paid for it and with the turn before."""
        charge = self._charge(entry.body.get("charge"), entry.number)
        run = None if charge is None else charge.body.get("run")
        if charge is None or charge.account != entry.account or not isinstance(run, dict):
            yield "counts steps of what is no run of its account"
            return
        turn, steps = Turn.read(entry), run.get("steps")
        before = self._turns.get(charge.number, Turn())
        if charge.number in self._settled or not isinstance(steps, int) or not turn.may_follow(before, steps):
            yield "counts steps that a run had not left, or takes some back"
        self._turns[charge.number] = turn

    def _wrong_release(self, charge: Entry) -> Iterator[str]:
        """Compares the release that is kept with an entry with the charge that paid for it."""
        release = None if self._row is None else read_kept(self._row)
        if release is not None:
            if release.receipt is None or release.receipt.entry != charge.number:
                yield "keeps a release that another charge paid for"
            if release.loss != read_loss(charge.body["loss"]):
                yield "keeps a release of another loss than was charged"

    def _charge(self, number: Said, before: int) -> Entry | None:
        """Finds a charge before an entry, one that is no share in another."""
        row = self.store.get(number) if type(number) is int and 0 < number < before else None
        charge = None if row is None or row.kind != "charged" else Entry.read(row.text, row.digest)
        return None if charge is None or charge.kind != "charged" or "shares" in charge.body else charge

    def _wrong_charge(self, entry: Entry, moment: datetime) -> Iterator[str]:
        transaction, whole, costs = (
            Transaction(self.state, moment),
            read_cost(entry.body),
            entry.body.get("counted", {}),
        )
        transaction.check_open(entry.account)
        yield from self._wrong_beside(entry)
        names = [payer.name for payer in transaction.payers(entry.account)]
        if "shares" in entry.body:
            shared = self._charge(entry.body["shares"], entry.number)
            if shared is None or shared.number not in self._released:
                yield "shares in what was not released before"
                return
            if plain_cost(read_cost(shared.body)) != plain_cost(whole) or has_counted(entry.account, shared.account):
                yield "shares in what costs another loss, or what its account has counted already"
            if data_set_of(shared.account) != data_set_of(entry.account):
                yield "shares in what is about other data"
            above = [name for name in names[1:] if not has_counted(name, shared.account)]
            if not {(name, shared.number) for name in above} <= self._shares:
                yield "shares in what accounts above it have not paid for"
            self._shares.add((entry.account, shared.number))
            names = [entry.account]
        moved: dict[str, Account] = {}
        for payer in names:
            ready = transaction[payer].at(moment)
            cost: Loss | Cost = whole
            if isinstance(costs, dict) and payer in costs:
                cost = read_loss(costs[payer])
                if not counted(whole, type(cost)).within(cost):
                    yield f"counts less for {payer} than was charged"
            moved[payer] = ready.paying(cost)
        yield from _differences(entry.body.get("states"), moved)

    def _wrong_beside(self, entry: Entry) -> Iterator[str]:
        """Compares a charge with those that were made beside it, just before, for other kinds of units."""
        if (of := entry.body.get("with")) is not None:
            self._beside[str(of), entry.account] = entry.body["loss"]
            return
        made = {name: loss for (of, name), loss in self._beside.items() if of == entry.account}
        self._beside.clear()
        needed = () if "shares" in entry.body else self.state[data_set_of(entry.account)].terms.beside
        if made != entry.body.get("beside", {}) or set(made) != set(needed):
            yield "is charged for one kind of units and not, in the same step, for all"

    def _fold(self, row: Row, entry: Entry) -> None:
        try:
            self.state.fold(entry)
        except (SfumatoError, ValueError, KeyError, TypeError):
            self.blame(row.number, "says what cannot be after those before it")
        self._skip(row, entry)

    def _skip(self, row: Row, entry: Entry | None = None) -> None:
        self.state.number = row.number
        self.state.digest = row.digest if entry is None else entry.digest
        self.state.time = self.state.time if entry is None else max(entry.time, self.state.time)


def _differences(stated: Said, moved: Mapping[str, Account]) -> Iterator[str]:
    """Says where written states are not those that follow."""
    if not isinstance(stated, dict) or set(stated) != set(moved):
        yield "does not state what all accounts come to that pay for it"
        return
    for name, account in moved.items():
        if stated[name] != account.state():
            yield f"states another sum for {name} than the charges before it come to"
