"""What analysts do: read what is public, have questions explained, ask them within a share, and request one."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import final

from sfumato.accounting.losses.measures import Loss
from sfumato.codebook.book import Codebook
from sfumato.errors import AccountRefused, NotAllowed
from sfumato.ledger.requests import Request, ask_for_share
from sfumato.query.answer.explanation import Explanation
from sfumato.release.record import Release
from sfumato.service.asking import Asked
from sfumato.service.house import House
from sfumato.service.people import Person
from sfumato.service.rights import Action
from sfumato.session.session import Session


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

    def explain(self, person: Person, data_set: str, asked: Asked) -> Explanation:
        """What a question would cost whoever asks, how near its answer would come, whether it fits; spends nothing."""
        person.need(Action.EXPLAIN, data_set)
        return self._paying(person, data_set).explain(asked.text, asked.parameters, **asked.said)

    def ask(self, person: Person, data_set: str, asked: Asked, *, key: str | None = None) -> Release:
        """Answers a question, paid from the share of whoever asks; a ``key`` makes a retry safe."""
        person.need(Action.ASK, data_set)
        return self.share(person, data_set).sql(asked.text, asked.parameters, key=key, **asked.said)

    def answers(self, person: Person, data_set: str) -> list[Release]:
        """The answers to somebody's own questions."""
        person.need(Action.SEE_OWN_ANSWERS, data_set)
        return self.share(person, data_set).releases()

    def request_share(self, person: Person, data_set: str, loss: Loss, *, purpose: str) -> Request:
        """Asks the owners of the limit for a share of one's own."""
        person.need(Action.REQUEST_SHARE, data_set)
        self.house.data_sets.registered(data_set)
        return ask_for_share(self.house.ledger, data_set, person.name, loss, purpose=purpose, by=person.name)

    def share(self, person: Person, data_set: str) -> Session:
        """The session on somebody's share."""
        try:
            return self.house.data_sets.share(data_set, person.name)
        except AccountRefused:
            pass
        raise NotAllowed(f"{person.name} has no share of the limit of {data_set} yet: request one, with its purpose")

    def _paying(self, person: Person, data_set: str) -> Session:
        """The share of whoever asks; of those who have none, and only look, the whole limit."""
        try:
            return self.share(person, data_set)
        except NotAllowed:
            return self.house.data_sets.session(data_set)
