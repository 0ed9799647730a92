"""One's own account: another password, the visits that are open, and ending them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

from sfumato.service.house import House
from sfumato.service.people import PERSON, VISIT, Person, place_of
from sfumato.service.records import Kept
from sfumato.service.rights import Action


@final
@dataclass(frozen=True)
class VisitLine:
    """A visit in a list: its place, when it began and when it ends; ``own`` is the one from which it is looked at."""

    place: str
    began: str
    until: str
    own: bool


@final
@dataclass(frozen=True)
class Account:
    """What somebody sees of their account. Without a password they come in through the proxy of their organisation."""

    name: str
    has_password: bool
    visits: tuple[VisitLine, ...]


@final
@dataclass(frozen=True, eq=False)
class Accounts:
    """The account of whoever asks, whatever their roles are. No token is good for it: it takes a visit."""

    house: House

    def mine(self, person: Person, *, visit: str = "") -> Account:
        """One's own account; ``visit`` is the secret of the visit from which it is looked at."""
        person.need(Action.KEEP_ACCOUNT)
        kept = self.house.records.get(PERSON, person.name)
        own = place_of(visit) if visit else ""
        lines = sorted((_line(one, own) for one in self.house.people.secrets(VISIT, person.name)), key=_latest)
        return Account(person.name, kept is not None and bool(kept.said["password"]), tuple(reversed(lines)))

    def change_password(self, person: Person, old: str, new: str) -> Person:
        """Takes another password, from whoever knows the one there is (`SignInRefused`); all visits end."""
        person.need(Action.KEEP_ACCOUNT)
        return self.house.people.change_password(person.name, old, new)

    def end_visit(self, person: Person, place: str) -> None:
        """Ends a visit of one's own."""
        person.need(Action.KEEP_ACCOUNT)
        self.house.people.revoke(VISIT, person.name, place)

    def sign_out_everywhere(self, person: Person) -> None:
        """Ends all of one's visits, this one too."""
        person.need(Action.KEEP_ACCOUNT)
        self.house.people.end_visits(person.name)


def _line(kept: Kept, own: str) -> VisitLine:
    return VisitLine(kept.name, str(kept.said["called"]), str(kept.said["until"]), kept.name == own)


def _latest(line: VisitLine) -> tuple[str, str]:
    return line.until, line.place
