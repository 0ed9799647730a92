"""A service to look at: made-up visits, somebody of each role, and a share for the analyst."""

from __future__ import annotations

from collections.abc import Iterator

from sfumato.accounting.losses.measures import Approx
from sfumato.codebook.book import Codebook
from sfumato.demo.visits import VERSION, make_visits
from sfumato.service.analysts import Analysts
from sfumato.service.curators import Curators
from sfumato.service.data_sets import Registration
from sfumato.service.house import House
from sfumato.service.owners import Owners
from sfumato.service.people import Person
from sfumato.service.rights import EVERYWHERE, Grant, Role

CAST = (
    ("cora", Role.CURATOR),
    ("ada", Role.ANALYST),
    ("ben", Role.ANALYST),
    ("olga", Role.OWNER),
    ("amir", Role.AUDITOR),
)
NAME = "visits"
LIMIT, SHARE = Approx(4, "1e-7"), Approx(1, "1e-8")


def prepared(house: House) -> Iterator[tuple[str, str, str]]:
    """Adds people and data, where they are not there yet; gives names, roles and one-time links."""
    for name, role in CAST:
        known = house.people.named(name)
        link = house.people.add(name, [Grant(role.value)]) if known is None else house.people.invite(name)
        yield name, role.value, link.text
    if NAME not in house.data_sets:
        _register(house)


def _register(house: House) -> None:
    made = make_visits(next(iter(house.settings.data_folders)) / "demo")
    registration = Registration(NAME, str(made.data), Codebook.read(made.codebook), LIMIT, VERSION.replace(" ", "-"))
    Curators(house).register(_as(Role.CURATOR, "cora"), registration)
    request = Analysts(house).request_share(_as(Role.ANALYST, "ada"), NAME, SHARE, purpose="to look around")
    Owners(house).decide(_as(Role.OWNER, "olga"), NAME, request.number, grants=True, reason="so that there is one")


def _as(role: Role, name: str) -> Person:
    return Person(name, (Grant(role.value, EVERYWHERE),))
