"""What auditors do: read the book without answers, verify it, keep receipts, and take it away to check it elsewhere."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, final

from sfumato.errors import BadArgument
from sfumato.ledger.entry import Entry
from sfumato.ledger.signing import public_key
from sfumato.ledger.state import data_set_of
from sfumato.ledger.verify import Progress, Verdict
from sfumato.release.record import Receipt
from sfumato.service.house import House
from sfumato.service.limits import Line, lines_of
from sfumato.service.pages import Page, checked_after
from sfumato.service.people import Person
from sfumato.service.rights import Action

MOST_RECEIPTS = 10_000


@final
@dataclass(frozen=True)
class BookLine:
    """An entry of the book without what it answered: its number, kind, time, author, account, digest, what it says."""

    number: int
    kind: str
    time: str
    by: str
    account: str
    digest: str
    said: dict[str, Any]


@final
@dataclass(frozen=True, eq=False)
class Auditors:
    """The use cases of auditors; each says first who does it, and refuses what they may not do (`NotAllowed`)."""

    house: House

    def book(self, person: Person, data_set: str, *, after: int = 0, many: int = 50) -> Page[BookLine]:
        """The entries of a data set, in order, without answers."""
        person.need(Action.READ_BOOK, data_set)
        self.house.data_sets.registered(data_set)
        names = self._accounts(data_set)
        entries = self.house.ledger.entries(checked_after(after))
        return Page.of((_line(one) for one in entries if _belongs(one.account, data_set, names)), many)

    def limits(self, person: Person, data_set: str) -> list[Line]:
        """The tree of accounts of a data set, as it stands."""
        person.need(Action.SEE_LIMITS, data_set)
        self.house.data_sets.registered(data_set)
        return lines_of(self.house.ledger, data_set)

    def verify(
        self,
        person: Person,
        data_set: str,
        *,
        receipts: Iterable[Receipt] = (),
        signer: bytes | None = None,
        progress: Progress | None = None,
    ) -> Verdict:
        """Reads the whole book again and says which entries were changed, removed or moved.

        All data sets share one chain, so all of it is read. ``receipts`` are entries that must be there as they were:
        what people kept elsewhere exposes a book that was rolled back.
        """
        person.need(Action.VERIFY, data_set)
        kept = list(receipts)
        if len(kept) > MOST_RECEIPTS:
            raise BadArgument("receipts", f"at most {MOST_RECEIPTS:,}", f"{len(kept):,} of them")
        return self.house.ledger.verify(receipts=kept, signer=signer, progress=progress)

    def head(self, person: Person, data_set: str) -> Receipt:
        """The last entry of the book; kept elsewhere, nothing before it can be cut off unseen."""
        person.need(Action.READ_BOOK, data_set)
        return self.house.ledger.head

    def receipts(self, person: Person, data_set: str, *, after: int = 0, many: int = 50) -> Page[ReceiptLine]:
        """Receipts of the entries of a data set, to be kept elsewhere."""
        person.need(Action.READ_BOOK, data_set)
        page = self.book(person, data_set, after=after, many=many)
        return Page(tuple(ReceiptLine(Receipt(x.number, x.digest, x.account, x.time)) for x in page.items), page.after)

    def checkpoint(self, person: Person, data_set: str) -> Receipt:
        """Writes a checkpoint down, signed where the settings name a file with a key."""
        person.need(Action.VERIFY, data_set)
        return self.house.ledger.checkpoint(self.house.settings.signing_key(), by=person.name)

    def signer(self, person: Person, data_set: str) -> bytes | None:
        """The public key that checkpoints bear; None where they are not signed."""
        person.need(Action.VERIFY, data_set)
        key = self.house.settings.signing_key()
        return None if key is None else public_key(key)

    def export(self, person: Person, data_set: str) -> Iterator[str]:
        """The book as lines of JSON, without answers: whole entries of this data set, of all others digests alone.

        Whoever may export every data set there is gets the whole book, which verifies by itself. Else each line of the
        data set can be checked against its digest, and the digests against each other and against receipts.
        """
        person.need(Action.EXPORT_BOOK, data_set)
        self.house.data_sets.registered(data_set)
        return self._exported(person, data_set)

    def _exported(self, person: Person, data_set: str) -> Iterator[str]:
        ledger = self.house.ledger
        data_sets = {data_set_of(name) for name in ledger.accounts}
        beside = {name: owner for owner in data_sets for name in ledger[owner].terms.beside}
        shown = {name for name in data_sets if person.may(Action.EXPORT_BOOK, beside.get(name, name)).allowed}
        whole = shown >= data_sets
        for row in ledger.store.rows():
            entry = Entry.read(row.text, row.digest)
            of = data_set_of(entry.account)
            if whole or of in shown:
                yield f'{{"digest":"{row.digest}","entry":{row.text},"value":null}}\n'
            else:
                yield json.dumps({"number": row.number, "digest": row.digest}) + "\n"

    def _accounts(self, data_set: str) -> frozenset[str]:
        return frozenset(self.house.ledger[data_set].terms.beside)


@final
@dataclass(frozen=True)
class ReceiptLine:
    """A receipt in a list."""

    receipt: Receipt

    @property
    def number(self) -> int:
        """The number of its entry."""
        return self.receipt.entry


def _belongs(account: str, data_set: str, beside: frozenset[str]) -> bool:
    """Tells whether an entry is about a data set: its account, a share, or an account of another kind of units."""
    return data_set_of(account) == data_set or account in beside


def _line(entry: Entry) -> BookLine:
    """An entry as auditors read it: the digest of an answer is left out, which would confirm a guess of it."""
    said: dict[str, Any] = {name: one for name, one in entry.body.items() if name not in ("value", "states")}
    return BookLine(entry.number, entry.kind, entry.time, entry.by, entry.account, entry.digest, said)
