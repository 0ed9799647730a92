"""A small world for pages: ordinary and hostile texts, everybody with one role, something in every list."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import polars as pl

import sfumato as sf
from sfumato.datasets.visits import visits
from sfumato.service.analysts import Analysts
from sfumato.service.announcements import EVENTS
from sfumato.service.asking import Asked
from sfumato.service.codebooks import read_codebook
from sfumato.service.curators import Curators
from sfumato.service.data_sets import Registration
from sfumato.service.house import House
from sfumato.service.owners import Owners
from sfumato.service.people import LINK, Person
from sfumato.service.rights import Grant
from sfumato.service.schedules import Schedules
from sfumato.service.settings import Settings
from sfumato.service.webhooks import Webhooks, deliver

VISITS, HOSTILE, UNASKED = "visits", "hostile", "unasked"
PASSWORD = "a sentence is easier to keep"

ROLES = {
    "cora": "curator",
    "ada": "analyst",
    "olga": "budget owner",
    "axel": "auditor",
    "adam": "administrator",
}
"""One person for each role; all roles but the last hold for `VISITS` and `HOSTILE` alone."""

STRANGER = "eve"
"""An analyst of another data set."""

SCRIPT = "<script>alert(1)</script>"
TURNED = "right\u202eto left\u202c \u2066and\u2069"
QUOTED = "\"'><img src=x onerror=alert(2)>{{ 7*7 }}${7*7}"
LONG = "endless" * 1_430  # 10 010 letters

BY_DAY = "SELECT day, COUNT(*) AS n FROM visits GROUP BY day"
MEAN = "SELECT AVG(minutes) AS m FROM visits"

CODEBOOK = """
codebook: 1
title: {title}
description: {description}
scope: {scope}
created: 2026-01-10
contact: {contact}
unit: {{protects: a person, id: user_id}}
tables:
  visits:
    description: {description}
    columns:
      user_id: {{type: int}}
      {column}: {{type: int, description: {description}}}
      day: {{type: date, between: [2026-02-01, 2026-02-28], nullable: false, source: {source}}}
      minutes: {{type: float, between: [0, 240], nullable: false, source: {source}}}
"""


@dataclass(frozen=True)
class World:
    """A house with people and what they did."""

    house: House
    answers: dict[str, int]

    def person(self, name: str) -> Person:
        known = self.house.people.named(name)
        assert known is not None
        return known

    def link(self, name: str) -> str:
        return self.house.people.issue(LINK, name).text


@contextmanager
def world(folder: Path) -> Iterator[World]:
    """Makes the world in a folder."""
    settings = Settings(data_folders=(folder,), webhook_hosts=("hooks.example",), publish_openly=True)
    house = House.open("memory:", "memory:", folders=(folder,), settings=settings)
    try:
        answers = _filled(house, folder)
        yield World(house, answers)
    finally:
        house.close()


def _filled(house: House, folder: Path) -> dict[str, int]:
    for name, role in ROLES.items():
        everywhere = role == "administrator"
        grants = [Grant(role)] if everywhere else [Grant(role, VISITS), Grant(role, HOSTILE)]
        house.people.choose_password(house.people.add(name, grants).text, PASSWORD)
    house.people.choose_password(house.people.add(STRANGER, [Grant("analyst", "elsewhere")]).text, PASSWORD)
    house.people.add("gone", [Grant("analyst", VISITS)])
    for seed, (name, column) in enumerate(((VISITS, "site"), (HOSTILE, SCRIPT), (UNASKED, "site"))):
        made = visits(rows=4_000, people=800, groups=8, seed=seed)
        columns = {column if each == "site" else each: values for each, values in made.columns.items()}
        pl.DataFrame(columns).write_parquet(folder / f"{name}.parquet")
    people = {name: house.people.named(name) for name in (*ROLES, STRANGER)}
    cora, ada, olga = people["cora"], people["ada"], people["olga"]
    assert cora is not None and ada is not None and olga is not None
    _register(house, cora, folder)
    answers = {name: _asked(house, name, ada, olga) for name in (VISITS, HOSTILE)}
    curators = Curators(house)
    curators.publish(cora, VISITS, answers[VISITS], title="Visits by day, February 2026")
    curators.publish(cora, HOSTILE, answers[HOSTILE], title=(SCRIPT + QUOTED)[:200])
    curators.begin_checklist(wider_of(house), UNASKED)
    asked = Asked.read(MEAN, {"epsilon": "0.01", "max_rows": 3})
    Schedules(house).add(ada, VISITS, "daily-mean", asked, every="day", at="06:00")
    for name in (VISITS, HOSTILE):
        Webhooks(house).add(olga, name, "chat", "https://hooks.example/in?room=7", EVENTS)
        Webhooks(house).test(olga, name, "chat")
    deliver(house, house.now(), send=lambda _: 204, resolve=lambda *_: ["93.184.216.34"])
    return answers


def _register(house: House, cora: Person, folder: Path) -> None:
    curators = Curators(house)
    ordinary = read_codebook((Path(sf.__file__).parent / "datasets" / "visits.yaml").read_text() + "\n")
    hostile = read_codebook(
        CODEBOOK.format(
            title=_yaml(SCRIPT + TURNED),
            description=_yaml(LONG + QUOTED),
            scope=_yaml(TURNED),
            contact=_yaml(QUOTED),
            column=_yaml(SCRIPT),
            source=_yaml(f"{SCRIPT}{TURNED}{QUOTED}"),
        )
    )
    house.people.set_grants("cora", [*cora.grants, Grant("curator", UNASKED)])
    wider = wider_of(house)
    for name, codebook in ((VISITS, ordinary), (HOSTILE, hostile), (UNASKED, ordinary)):
        source = str(folder / f"{name}.parquet")
        curators.register(wider, Registration(name, source, codebook, sf.Approx(4, "1e-6")))


def wider_of(house: House) -> Person:
    """The curator, with the data set that is theirs alone."""
    known = house.people.named("cora")
    assert known is not None
    return known


def _yaml(text: str) -> str:
    escaped = "".join(f"\\u{ord(one):04x}" if ord(one) > 126 else f"\\{one}" if one in '"\\' else one for one in text)
    return f'"{escaped}"'


def _asked(house: House, data_set: str, ada: Person, olga: Person) -> int:
    """Shares, requests and an answer, on one data set; purposes and reasons are hostile on the hostile one."""
    analysts, owners = Analysts(house), Owners(house)
    hostile = data_set == HOSTILE
    purpose = f"{SCRIPT}{TURNED}{QUOTED}{LONG}" if hostile else "The monthly report on how busy the sites are"
    reason = f"{SCRIPT}{TURNED}{LONG}" if hostile else "In the plan of the year"
    request = analysts.request_share(ada, data_set, sf.Approx(2, "1e-7"), purpose=purpose)
    owners.decide(olga, data_set, request.number, grants=True, reason=reason)
    said = {"epsilon": "0.5", "max_groups": 3, "max_rows_per_group": 1}
    release = analysts.ask(ada, data_set, Asked.read(BY_DAY, said))
    analysts.ask(ada, data_set, Asked.read(MEAN, {"epsilon": "0.2", "max_rows": 5}))
    declined = analysts.request_share(ada, data_set, sf.Approx(3, "1e-7"), purpose=purpose)
    owners.decide(olga, data_set, declined.number, grants=False, reason=reason)
    analysts.request_share(ada, data_set, sf.Approx("0.5", "1e-8"), purpose=purpose)
    assert release.receipt is not None
    return release.receipt.entry


def pages_of(data_set: str, answer: int) -> dict[str, str]:
    """The addresses of all pages that are shown, by what they are."""
    own = f"/data/{data_set}"
    return {
        "home": "/",
        "meaning": "/meaning?epsilon=0.5&delta=1e-8",
        "tokens": "/tokens",
        "account": "/account",
        "state": "/state",
        "tokens of": "/people/tokens?of=ada",
        "upload": "/upload",
        "new version": f"/register?of={data_set}",
        "openly": "/published",
        "openly one": f"/published/{answer}",
        "people": "/people",
        "register": "/register",
        "data set": own,
        "ask": f"{own}/ask",
        "answers": f"{own}/answers",
        "answer": f"{own}/answers/{answer}",
        "share": f"{own}/share",
        "schedules": f"{own}/schedules",
        "requests": f"{own}/requests",
        "limits": f"{own}/limits",
        "divide": f"{own}/limits/divide",
        "checklist": f"{own}/checklist",
        "publish": f"{own}/publish",
        "published": f"{own}/published",
        "book": f"{own}/book",
        "again": f"{own}/ask?again={answer}",
        "registry": f"{own}/publish/registry?region=The%20town",
        "webhooks": f"{own}/webhooks",
    }
