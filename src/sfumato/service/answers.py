"""Answers as the book keeps them: which there are for whom, one by its number, and in every form."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import final

from sfumato.accounting.losses.measures import Loss
from sfumato.errors import BadArgument, NotAllowed
from sfumato.ledger.entry import Entry
from sfumato.ledger.ledger import Ledger
from sfumato.ledger.rules import read_loss
from sfumato.ledger.state import data_set_of
from sfumato.ledger.stored_release import read_kept
from sfumato.release.answer import Answer
from sfumato.release.record import Release
from sfumato.release.render import forms, rendered
from sfumato.service.shares import person_of

PARQUET = "parquet"

MEDIA = {
    "json": "application/json",
    "csv": "text/csv",
    PARQUET: "application/vnd.apache.parquet",
    "html": "text/html",
    "latex": "application/x-latex",
    "markdown": "text/markdown",
    "text": "text/plain",
}
"""The kind of content of each form."""


@final
@dataclass(frozen=True)
class AnswerLine:
    """An answer in a list: the number of the entry that paid for it, whose it is, when, what was asked, its price."""

    number: int
    data_set: str
    by: str
    time: str
    what: str
    loss: Loss


@final
@dataclass(frozen=True)
class Rendered:
    """An answer in one of the forms: its bytes, of which kind they are, and what a file of them is called."""

    content: bytes = field(repr=False)
    media: str
    name: str


@final
class Shelf:
    """Finds the answers in a book: by whom each was paid, and who else may see it, because they have counted it.

    It holds numbers alone, a few for each answer; what is new in the book is taken in when something is looked for.
    """

    def __init__(self, ledger: Ledger) -> None:
        self._ledger, self._lock, self._last = ledger, threading.Lock(), 0
        self._charges: dict[str, list[int]] = {}
        self._counted: dict[int, set[str]] = {}

    def charges(self, of: Callable[[str], bool]) -> list[int]:
        """The numbers of the charges whose answers accounts have counted, of those accounts that are meant."""
        with self._lock:
            self._take_in()
            return sorted({number for name, numbers in self._charges.items() if of(name) for number in numbers})

    def counted(self, charge: int) -> frozenset[str]:
        """Names the accounts that an answer was charged to."""
        with self._lock:
            self._take_in()
            return frozenset(self._counted.get(charge, ()))

    def line(self, charge: int) -> AnswerLine | None:
        """What a list says of the answer of a charge; None where there is none."""
        row = self._ledger.store.get(charge)
        if row is None or row.kind != "charged":
            return None
        entry = Entry.read(row.text, row.digest)
        what, loss = str(entry.body.get("what")), read_loss(entry.body.get("loss"))
        return AnswerLine(charge, data_set_of(entry.account), entry.by, entry.time, what, loss)

    def release(self, charge: int) -> Release | None:
        """The answer of a charge; None where there is none."""
        row = self._ledger.store.settled(charge)
        return None if row is None else read_kept(row)

    def _take_in(self) -> None:
        head = self._last
        for row in self._ledger.store.rows(head, kinds=("released", "charged")):
            entry = Entry.read(row.text, row.digest)
            self._last = row.number
            if row.kind == "released" and row.settles is not None and row.value is not None:
                self._add(entry.account, row.settles)
            elif row.kind == "charged" and isinstance(number := entry.body.get("shares"), int):
                self._add(entry.account, number)

    def _add(self, account: str, charge: int) -> None:
        self._charges.setdefault(account, []).append(charge)
        self._counted.setdefault(charge, set()).add(account)


def lines(shelf: Shelf, charges: Iterable[int], after: int) -> Iterator[AnswerLine]:
    """The lines of answers after a number, in the order of the book."""
    return (line for number in charges if number > after and (line := shelf.line(number)) is not None)


def is_of(person: str, data_set: str) -> Callable[[str], bool]:
    """Tells shares of somebody from other accounts."""
    return lambda account: data_set_of(account) == data_set and person_of(account) == person


def checked_form(form: object) -> str:
    """Reads the name of a form of answers."""
    if isinstance(form, str) and form in (*forms(), PARQUET):
        return form
    raise BadArgument("the form of an answer", "one of " + ", ".join([*forms(), PARQUET]), form)


def rendered_answer(release: Release, number: int, form: str) -> Rendered:
    """Writes an answer in a form; Parquet holds the table with the ends of its intervals."""
    form = checked_form(form)
    name = f"answer-{number}.{ENDINGS.get(form, form)}"
    content = _parquet(release) if form == PARQUET else rendered(release.document(), form).encode()
    return Rendered(content, MEDIA.get(form, "text/plain"), name)


ENDINGS: Mapping[str, str] = {"latex": "tex", "markdown": "md", "text": "txt"}


def _parquet(release: Release) -> bytes:
    if not isinstance(release.value, Answer):
        raise BadArgument("the form of an answer", "another than parquet: this one is no table", PARQUET)
    return release.value.to_parquet()


def no_such_answer(data_set: str, number: object) -> NotAllowed:
    """The refusal of an answer that is not there, or not for whoever asks: nobody learns which."""
    return NotAllowed(f"{data_set} has no answer of this number that is yours to see")
