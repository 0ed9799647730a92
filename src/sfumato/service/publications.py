"""Publications: answers that are for all to see, noted in the book; and which answers somebody may read."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

from sfumato.accounting.losses.measures import Approx, Pure
from sfumato.errors import BadArgument
from sfumato.ledger.ledger import Ledger
from sfumato.ledger.published import period_of
from sfumato.ledger.state import data_set_of
from sfumato.release.publication import missing_for_publication
from sfumato.release.record import Release
from sfumato.release.table import ReleaseTable
from sfumato.service.answers import is_of, no_such_answer
from sfumato.service.house import House
from sfumato.service.people import Person
from sfumato.service.rights import Action

TOPIC = "published"
DELTA = "1e-9"
"""The δ at which a loss of another kind is stated, to see whether anything else is missing."""


@final
@dataclass(frozen=True)
class Publication:
    """A published answer: its number, what it is called, who published it, when; and the entry that says so."""

    number: int
    answer: int
    title: str
    by: str
    time: str


def publications(ledger: Ledger, data_set: str) -> list[Publication]:
    """What is published of a data set now, in the order of publication."""
    shown: dict[int, Publication] = {}
    for entry in ledger.notes(data_set, TOPIC):
        match entry.body["said"]:
            case {"answer": int(answer), "title": str(title)}:
                shown[answer] = Publication(entry.number, answer, title, entry.by, entry.time)
            case {"withdrawn": int(answer)}:
                shown.pop(answer, None)
    return list(shown.values())


def note_publication(ledger: Ledger, data_set: str, answer: int, title: str, *, by: str) -> Publication:
    """Notes that an answer is for all to see."""
    if not isinstance(title, str) or not 0 < len(title.strip()) <= 200 or not title.isprintable():
        raise BadArgument("the title", "a line of at most 200 letters", title)
    receipt = ledger.note(data_set, TOPIC, {"answer": answer, "title": title.strip()}, by=by)
    return Publication(receipt.entry, answer, title.strip(), by, receipt.time)


def note_withdrawal(ledger: Ledger, data_set: str, answer: int, *, reason: str, by: str) -> None:
    """Notes that an answer is not shown any more; who has seen it has seen it."""
    if not isinstance(reason, str) or not reason.strip():
        raise BadArgument("reason", "said in words: it is written down for all to read", reason)
    ledger.note(data_set, TOPIC, {"withdrawn": answer, "reason": reason.strip()}, by=by)


def answer_of(house: House, data_set: str, number: object) -> Release:
    """An answer of a data set by its number, whoever may see it."""
    charge = number if type(number) is int and 0 < number < 1 << 62 else 0
    release = house.shelf.release(charge) if charge else None
    if release is None or release.receipt is None or data_set_of(release.receipt.account) != data_set:
        raise no_such_answer(data_set, number)
    return release


def readable(house: House, person: Person, data_set: str, number: object) -> Release:
    """An answer that somebody may see: one of everybody's, of their own, or a published one."""
    release = answer_of(house, data_set, number)
    charge = 0 if release.receipt is None else release.receipt.entry
    if person.may(Action.SEE_ANSWERS, data_set).allowed:
        return release
    mine = is_of(person.name, data_set)
    own = person.may(Action.SEE_OWN_ANSWERS, data_set).allowed
    if own and any(map(mine, house.shelf.counted(charge))):
        return release
    if person.may(Action.SEE_PUBLISHED, data_set).allowed and is_published(house.ledger, data_set, charge):
        return release
    raise no_such_answer(data_set, number)


def is_published(ledger: Ledger, data_set: str, charge: int) -> bool:
    """Tells whether an answer is published now."""
    return any(one.answer == charge for one in publications(ledger, data_set))


def missing_of(house: House, data_set: str, release: Release) -> list[str]:
    """Says what an answer still lacks before it may be published."""
    account = house.ledger[data_set]
    about = account.terms.about
    table = ReleaseTable.of(
        [release],
        scope=about.get("scope") or data_set,
        url=about.get("url") or "None",
        delta=None if isinstance(release.loss, Pure | Approx) else DELTA,
        unit=account.terms.unit or None,
        period=period_of(account),
    )
    return missing_for_publication(table, [release])
