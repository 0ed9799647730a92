"""What administrators do: say who there is and what they may do, and watch how the service runs; they see no data."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from importlib.metadata import version
from typing import final

from sfumato.errors import BadArgument, SfumatoError
from sfumato.service.house import House
from sfumato.service.jobs import JOB, WORKER
from sfumato.service.people import TOKEN, VISIT, Known, Person, Secret
from sfumato.service.rights import Action, Grant
from sfumato.service.rights_noted import note_change, note_invitation
from sfumato.service.tokens import Token, token_of


@final
@dataclass(frozen=True)
class State:
    """How the service runs: its version, where the book stands, how many of what there are; nothing of any data."""

    version: str
    book: str
    entries: int
    last_entry: str
    people: int
    data_sets: int
    jobs: dict[str, int]
    workers: dict[str, str]
    faults: tuple[str, ...]


@final
@dataclass(frozen=True, eq=False)
class Administrators:
    """The use cases of administrators; each says first who does it, and refuses what they may not do (`NotAllowed`)."""

    house: House

    def people(self, person: Person) -> list[Known]:
        """Everybody whom the service knows, also those who have left."""
        person.need(Action.MANAGE_PEOPLE)
        return self.house.people.known()

    def add(self, person: Person, name: str, grants: Iterable[Grant] = ()) -> Secret:
        """Adds somebody; the one-time link that is given lets them choose a password."""
        person.need(Action.MANAGE_PEOPLE)
        made = tuple(grants)
        link = self.house.people.add(name, made)
        note_change(self.house, name, (), made, by=person.name)
        return link

    def set_grants(self, person: Person, name: str, grants: Iterable[Grant]) -> Person:
        """Says anew what somebody may do; the books of the data sets that it is about say who changed it.

        Nobody changes what they may do themselves: so there is always an administrator, and two know of a change.
        """
        person.need(Action.MANAGE_PEOPLE)
        self._check_other(person, name)
        before, made = self._needed(name), tuple(grants)
        note_change(self.house, name, before.grants, made, by=person.name)  # first: no change is without a note
        try:
            return self.house.people.set_grants(name, made)
        except SfumatoError:
            now = self._needed(name)
            note_change(self.house, name, made, now.grants, by=person.name)
            raise

    def leave(self, person: Person, name: str) -> None:
        """Lets somebody in no more; what they did stays in the book, and their name stays taken."""
        person.need(Action.MANAGE_PEOPLE)
        self._check_other(person, name)
        before = self._needed(name)
        note_change(self.house, name, before.grants, (), by=person.name)
        self.house.people.leave(name)

    def invite(self, person: Person, name: str) -> Secret:
        """A new one-time link for somebody to choose a password; older links are good no more."""
        person.need(Action.MANAGE_PEOPLE)
        self._needed(name)
        note_invitation(self.house, name, by=person.name)
        return self.house.people.invite(name)

    def tokens(self, person: Person, name: str) -> list[Token]:
        """The tokens of somebody: what each is called and good for, and when it ends."""
        person.need(Action.MANAGE_PEOPLE)
        return [token_of(kept) for kept in self.house.people.secrets(TOKEN, name)]

    def revoke(self, person: Person, name: str, place: str) -> None:
        """Makes a token of somebody good no more."""
        person.need(Action.MANAGE_PEOPLE)
        self.house.people.revoke(TOKEN, name, place)

    def sign_out(self, person: Person, name: str) -> None:
        """Ends all visits of somebody."""
        person.need(Action.MANAGE_PEOPLE)
        for kept in self.house.people.secrets(VISIT, name):
            self.house.people.revoke(VISIT, name, kept.name)

    def state(self, person: Person) -> State:
        """How the service runs."""
        person.need(Action.WATCH)
        house = self.house
        head, jobs = house.ledger.head, house.records.all(JOB)
        return State(
            version("sfumato"),
            house.ledger.book,
            head.entry,
            head.time,
            sum(1 for _ in house.people),
            sum(1 for _ in house.data_sets),
            dict(Counter(str(kept.said["state"]) for kept in jobs)),
            {kept.name: str(kept.said["seen"]) for kept in house.records.all(WORKER)},
            tuple(str(fault) for fault in house.settings.check()),
        )

    def _needed(self, name: str) -> Person:
        known = self.house.people.named(name)
        if known is None:
            raise BadArgument("the person", "somebody whom the service knows", name)
        return known

    def _check_other(self, person: Person, name: str) -> None:
        if name == person.name:
            raise BadArgument("the person", "somebody else: nobody changes what they may do themselves", name)
