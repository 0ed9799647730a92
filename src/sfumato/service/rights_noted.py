"""Rights in the book: who may do what to a data set, as often as it changes, and who changed it.

Each data set's book is complete by itself. A role that holds everywhere is noted in the book of every data set that
there is; when another one is registered, all that hold then are noted in its book.
"""

from __future__ import annotations

from collections.abc import Iterable

from sfumato.errors import AccountRefused
from sfumato.ledger.entry import Said
from sfumato.service.house import House
from sfumato.service.people import Person
from sfumato.service.rights import Grant

TOPIC = "rights"


def roles_for(grants: Iterable[Grant], data_set: str) -> list[str]:
    """The roles that grants give for a data set; those that hold everywhere are marked."""
    held = sorted({grant for grant in grants if grant.covers(data_set)})
    return [grant.role if grant.data_set == data_set else f"{grant.role} of all data sets" for grant in held]


def note_change(house: House, name: str, before: Iterable[Grant], now: Iterable[Grant], *, by: str) -> None:
    """Notes in the books of the data sets that it is about what somebody may do from now on."""
    old, new = list(before), list(now)
    for registration in house.data_sets:
        roles = roles_for(new, registration.name)
        if roles != roles_for(old, registration.name):
            _note(house, registration.name, name, roles, by=by)


def note_rights_of_all(house: House, data_set: str, *, by: str) -> None:
    """Notes in the book of a new data set what everybody may do to it."""
    people: list[Person] = list(house.people)
    for person in people:
        roles = roles_for(person.grants, data_set)
        if roles:
            _note(house, data_set, person.name, roles, by=by)


def note_invitation(house: House, name: str, *, by: str) -> None:
    """Notes where somebody has rights that they were invited to choose a password: whoever has the link can be them."""
    person = house.people.named(name)
    for registration in house.data_sets if person is not None else ():
        if person is not None and roles_for(person.grants, registration.name):
            _noted(house, registration.name, {"person": name, "invited": True}, by=by)


def _note(house: House, data_set: str, name: str, roles: list[str], *, by: str) -> None:
    _noted(house, data_set, {"person": name, "roles": list(roles)}, by=by)


def _noted(house: House, data_set: str, said: Said, *, by: str) -> None:
    try:
        house.ledger.note(data_set, TOPIC, said, by=by)
    except AccountRefused:
        return  # its account is not there: a registration that was begun elsewhere
