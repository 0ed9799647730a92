"""What analysts do: read what is public, have questions explained, ask them within a share, and request one."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import final

from sfumato.accounting.losses.measures import Loss
from sfumato.codebook.book import Codebook
from sfumato.errors import LimitReached, NotAllowed
from sfumato.ledger.entry import Entry
from sfumato.ledger.requests import Request, ask_for_share, requests
from sfumato.ledger.rules import read_loss
from sfumato.query.answer.explanation import Explanation
from sfumato.query.answer.shape import ShapedColumn
from sfumato.query.build.settings import Settings
from sfumato.release.record import Release
from sfumato.service.answers import AnswerLine, Rendered, is_of, lines, rendered_answer
from sfumato.service.asking import Asked
from sfumato.service.charge_keys import ASKED, charge_key_of
from sfumato.service.explaining import explained_to
from sfumato.service.house import House
from sfumato.service.meanings import Meaning, meaning_of
from sfumato.service.pages import Page, checked_after, checked_many
from sfumato.service.people import Person
from sfumato.service.policies import needed_for
from sfumato.service.publications import readable
from sfumato.service.rights import Action
from sfumato.service.shares import in_kind_of, next_share, paying, person_of, shares_of
from sfumato.session.session import Session


@final
@dataclass(frozen=True)
class Spending:
    """One charge to a share: the number of its entry, when, for what, and how much."""

    number: int
    time: str
    share: str
    what: str
    loss: Loss


@final
@dataclass(frozen=True)
class Share:
    """A share of somebody as it stands: its account, what may be spent, what was, and what is left of it."""

    account: str
    limit: Loss
    spent: Loss
    left: Loss
    period: str | None
    until: str | None
    closed: bool


@final
@dataclass(frozen=True, eq=False)
class Analysts:
    """The use cases of analysts; each says first who does it, and refuses what they may not do (`NotAllowed`)."""

    house: House

    def data_sets(self, person: Person) -> Iterator[str]:
        """The names of the data sets that somebody may read of."""
        names = (one.name for one in self.house.data_sets)
        return (name for name in names if person.may(Action.DESCRIBE, name).allowed)

    def codebook(self, person: Person, data_set: str) -> Codebook:
        """What is public about a data set."""
        person.need(Action.DESCRIBE, data_set)
        return self.house.data_sets.registered(data_set).codebook

    def version(self, person: Person, data_set: str) -> str:
        """The name of the version of the data that questions are about now."""
        person.need(Action.DESCRIBE, data_set)
        return self.house.data_sets.registered(data_set).version

    def explain(self, person: Person, data_set: str, asked: Asked) -> Explanation:
        """What a question would cost whoever asks, how near its answer would come, whether it fits; spends nothing.

        Who has no share, and may not see limits, is told the price and the errors, and nothing of what is left.
        """
        person.need(Action.EXPLAIN, data_set)
        return explained_to(self.house, person, data_set, asked)

    def shape(self, person: Person, data_set: str, asked: Asked) -> tuple[ShapedColumn, ...]:
        """The columns that the answer to a question will have, and their kinds; spends nothing."""
        person.need(Action.EXPLAIN, data_set)
        try:
            session = self._share(person, data_set)
        except NotAllowed:
            session = self.house.data_sets.session(data_set)
        return session.shape(asked.text, asked.parameters, Settings.read(**asked.said))

    def ask(self, person: Person, data_set: str, asked: Asked, *, key: str | None = None) -> Release:
        """Answers a question, paid from the share of whoever asks; a ``key`` makes a retry safe."""
        person.need(Action.ASK, data_set)
        charged = None if key is None else charge_key_of(ASKED, data_set, person.name, key)
        share = self._share(person, data_set, charged)
        return paid_from(share, asked, charged, sees=person.may(Action.SEE_LIMITS, data_set).allowed)

    def answers(self, person: Person, data_set: str, *, after: int = 0, many: int = 50) -> Page[AnswerLine]:
        """The answers to somebody's own questions, in the order of the book."""
        person.need(Action.SEE_OWN_ANSWERS, data_set)
        charges = self.house.shelf.charges(is_of(person.name, data_set))
        return Page.of(lines(self.house.shelf, charges, checked_after(after)), many)

    def latest(self, person: Person, data_set: str, *, many: int = 8) -> list[AnswerLine]:
        """The latest answers to somebody's own questions, the last one first."""
        person.need(Action.SEE_OWN_ANSWERS, data_set)
        charges = self.house.shelf.charges(is_of(person.name, data_set))[-checked_many(many) :]
        return list(lines(self.house.shelf, reversed(charges), 0))

    def answer(self, person: Person, data_set: str, number: int) -> Release:
        """One answer by the number of the entry that paid for it: one's own, or one that is published."""
        person.need(Action.SEE_OWN_ANSWERS, data_set)
        return readable(self.house, person, data_set, number)

    def rendered(self, person: Person, data_set: str, number: int, form: str) -> Rendered:
        """One answer in a form: json, csv, parquet, html, latex, markdown or text."""
        person.need(Action.SEE_OWN_ANSWERS, data_set)
        return rendered_answer(self.answer(person, data_set, number), number, form)

    def request_share(self, person: Person, data_set: str, loss: Loss, *, purpose: str) -> Request:
        """Asks the owners of the limit for a share of one's own."""
        person.need(Action.REQUEST_SHARE, data_set)
        self.house.data_sets.registered(data_set)
        ledger = self.house.ledger
        share, needed = next_share(ledger, data_set, person.name), needed_for(ledger, data_set)
        wanted = in_kind_of(ledger, data_set, loss)
        return ask_for_share(ledger, data_set, share, wanted, purpose=purpose, by=person.name, needed=needed)

    def requests(self, person: Person, data_set: str) -> list[Request]:
        """One's own requests, with what was decided on them and why."""
        person.need(Action.REQUEST_SHARE, data_set)
        asked = requests(self.house.ledger, data_set).values()
        return [one for one in asked if one.by == person.name]

    def shares(self, person: Person, data_set: str) -> list[Share]:
        """One's own shares as they stand, the newest last: it is the one that pays."""
        person.need(Action.SEE_OWN_ANSWERS, data_set)
        found = shares_of(self.house.ledger, data_set, person.name)
        return [
            Share(
                one.name,
                one.limit,
                one.spent,
                one.left,
                None if one.terms.period is None else one.terms.period.value,
                one.terms.until,
                one.closed,
            )
            for one in found
        ]

    def spending(self, person: Person, data_set: str, *, after: int = 0, many: int = 50) -> Page[Spending]:
        """What was charged to one's own shares, in the order of the book."""
        person.need(Action.SEE_OWN_ANSWERS, data_set)
        entries = self.house.ledger.entries(checked_after(after), kinds=("charged",))
        mine = is_of(person.name, data_set)
        return Page.of((_spending(entry) for entry in entries if mine(entry.account)), many)

    def meaning(self, person: Person, loss: Loss) -> Meaning:
        """What a loss means: in odds, and in how often attacks succeed; it needs no data."""
        person.need(Action.WEIGH)
        return meaning_of(loss)

    def _share(self, person: Person, data_set: str, charged: str | None = None) -> Session:
        """The session on the share that pays."""
        try:
            share = paying(self.house.ledger, data_set, person.name, charged)
        except NotAllowed:
            self.house.data_sets.registered(data_set)  # or it is said that there is no such data set
            raise
        return self.house.data_sets.share(data_set, share)


def paid_from(share: Session, asked: Asked, charged: str | None, *, sees: bool) -> Release:
    """Asks on a share; of limits above it only those learn how much is left who may see them."""
    own = share.accounts[0]
    try:
        return share.sql(asked.text, asked.parameters, key=charged, **asked.said)
    except LimitReached as refusal:
        if sees or refusal.account == own or person_of(refusal.account):
            raise
        short = refusal.account
    why = "too little is left of its limit. Nothing ran and nothing was charged; tell its budget owner"
    raise LimitReached(short, "this", None, None, f"{why}.")


def _spending(entry: Entry) -> Spending:
    what = str(entry.body.get("what"))
    return Spending(entry.number, entry.time, entry.account, what, read_loss(entry.body.get("loss")))
