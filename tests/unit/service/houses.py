"""A house to test in: a small data set of visits, people in all roles, and a clock that stands until it is moved."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import polars

import sfumato as sf
from sfumato.accounting.losses.measures import Loss
from sfumato.codebook.book import Codebook
from sfumato.service.asking import Asked
from sfumato.service.curators import Curators
from sfumato.service.data_sets import Registration
from sfumato.service.house import House
from sfumato.service.owners import Owners
from sfumato.service.people import Person
from sfumato.service.rights import Grant, Role
from sfumato.service.settings import Settings

COUNT = "SELECT COUNT(*) AS n FROM visits"

CODEBOOK: dict[str, Any] = {
    "codebook": 1,
    "title": "Visits to a clinic",
    "scope": "one clinic",
    "url": "https://clinic.example/visits",
    "contact": "curator@clinic.example",
    "unit": {"protects": "a patient", "id": "patient"},
    "tables": {
        "visits": {
            "contributions": {"rows": 4, "source": "the booking rules"},
            "columns": {
                "patient": {"type": "str"},
                "site": {"type": "categories", "categories": ["north", "south"], "source": "the clinic's web page"},
                "minutes": {"type": "int", "between": [0, 120], "source": "the booking rules"},
            },
        }
    },
}


@dataclass
class Clock:
    """A clock that stands until it is moved."""

    now: datetime = field(default_factory=lambda: datetime(2026, 11, 2, 9, 0, tzinfo=UTC))

    def __call__(self) -> datetime:
        return self.now

    def pass_by(self, **time: float) -> datetime:
        self.now += timedelta(**time)
        return self.now


def visits(file: Path, rows: int = 200, shift: int = 0) -> Path:
    """Writes a small table of visits."""
    frame = polars.DataFrame(
        {
            "patient": [f"p{(row + shift) // 2}" for row in range(rows)],
            "site": ["north" if row % 3 else "south" for row in range(rows)],
            "minutes": [(7 * row + shift) % 120 for row in range(rows)],
        }
    )
    frame.write_parquet(file)
    return file


def somebody(name: str, *roles: Role, data_set: str = "visits") -> Person:
    """A person with roles for a data set, as if let in."""
    return Person(name, tuple(Grant(role.value, data_set) for role in roles))


CURATOR = somebody("carl", Role.CURATOR)
OWNER = somebody("olga", Role.OWNER)
ADA, BEN = somebody("ada", Role.ANALYST), somebody("ben", Role.ANALYST)
AUDITOR = somebody("aude", Role.AUDITOR)
ROOT = somebody("root", Role.ADMINISTRATOR, data_set="*")


def registration(file: Path, limit: Loss | None = None, **said: Any) -> Registration:
    """The registration of a file of visits."""
    given = {"name": "visits", "version": "1", **said}
    return Registration(given.pop("name"), str(file), Codebook.read(CODEBOOK), limit or sf.Pure(1), **given)


def opened(
    folder: Path,
    clock: Clock | None = None,
    *,
    ledger: str = "memory:",
    records: str = "memory:",
    limit: Loss | None = None,
    share: Loss | None = None,
    period: str | None = None,
    **said: Any,
) -> House:
    """A house with visits registered, and, where one is said, a share of them for ada."""
    settings = replace_settings(Settings(), data_folders=(folder,), **said)
    house = House.open(ledger, records, folders=(folder,), now=clock or Clock(), settings=settings)
    Curators(house).register(CURATOR, registration(visits(folder / "visits.parquet"), limit, period=period))
    for person in (CURATOR, OWNER, ADA, BEN, AUDITOR, ROOT):
        if house.people.named(person.name) is None:
            house.people.add(person.name, person.grants)
    if share is not None:
        Owners(house).open_share(OWNER, "visits", "ada", share, reason="a pilot")
    return house


def replace_settings(settings: Settings, **said: Any) -> Settings:
    return Settings(**{**settings.model_dump(), **said})


def asked(text: str = COUNT, **said: Any) -> Asked:
    """A question, at ε = 0.1 unless something else is said."""
    return Asked.read(text, said or {"epsilon": "0.1"})


def scoped(person: Person, *actions: Any) -> Person:
    return replace(person, scope=frozenset(actions))
