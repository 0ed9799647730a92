"""Everything that is stored for later, one small example each: how it is written today, and how it is read back."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from datetime import date
from fractions import Fraction
from pathlib import Path
from typing import Any

from tests.faults.books import full_book

import sfumato as sf
from sfumato.codebook import Codebook
from sfumato.datasets import visits
from sfumato.ledger.ledger import Ledger
from sfumato.ledger.register.register import Register
from sfumato.ledger.stores.sqlite import SqliteStore
from sfumato.release.checklist import Checklist
from sfumato.release.codec import release_from_plain, release_to_plain
from sfumato.release.context import ContextRecord

KEY = bytes(range(32))


@dataclass(frozen=True)
class StoredForm:
    """A stored form: the file that the first version wrote, how it is written, and what a reader finds in it."""

    file: str
    write: Callable[[Path], None]
    read: Callable[[Path], object]


def write_ledger(path: Path) -> None:
    full_book(SqliteStore(path)).close()


def read_ledger(path: Path) -> object:
    """What every account has spent, whether the chain holds, and how many entries there are."""
    ledger = Ledger.open(path)
    try:
        spent = {name: str(ledger[name].spent) for name in ledger.accounts}
        return {"spent": spent, "sound": ledger.verify().sound, "entries": ledger.head.entry}
    finally:
        ledger.close()


def write_register(path: Path) -> None:
    register = Register(path, key=KEY, limit=sf.Pure(1))
    register.admit(["ann", "bob", "ann"], sf.Pure("0.7"), release="ages")
    register.admit(["ann", "eve"], sf.Pure("0.4"), release="incomes")


def read_register(path: Path) -> object:
    register = Register(path, key=KEY)
    return {name: [list(register.took_part(name)), str(register.left(name))] for name in ("ann", "bob", "eve")}


def write_release(path: Path) -> None:
    scores = [71.5, 64.0, 88.0, 93.5, 55.0] * 10
    release = (sf.vector(float, size=50) >> sf.clamp(0, 100) >> sf.mean() >> sf.laplace(scale=1))(scores)
    path.write_text(json.dumps(release_to_plain(release), indent=1, ensure_ascii=False), encoding="utf-8")


def read_release(path: Path) -> object:
    release = release_from_plain(json.loads(path.read_text(encoding="utf-8")))
    return [float(str(release.value)), str(release.loss), release.unit]


def write_codebook(path: Path) -> None:
    path.write_text(visits(rows=20, people=5, groups=3).codebook.to_yaml(), encoding="utf-8")


def read_codebook(path: Path) -> object:
    book = Codebook.read(path)
    return {table.name: [column.name for column in table.columns] for table in book.tables}


def write_checklist(path: Path) -> None:
    moved = Checklist().close("7a", by="ada", evidence="a patient, all visits", date=date(2026, 11, 19))
    path.write_text(json.dumps(moved.to_plain(), indent=1), encoding="utf-8")


def read_checklist(path: Path) -> object:
    found = Checklist.from_plain(json.loads(path.read_text(encoding="utf-8")))
    return [(move.kind, move.item, move.by) for move in found.history]


def write_model(path: Path) -> None:
    hours = [[float(one % 60)] for one in range(400)]
    pay = [40 * hour[0] + 100 for hour in hours]
    model = sf.learn.LinearRegression(epsilon=1, between=(0, 60), target_between=(0, 3_000)).fit(hours, pay)
    sf.learn.save(model, path)


def read_model(path: Path) -> object:
    model: Any = sf.learn.load(path)
    return [type(model).__name__, [float(one) for one in model.coef_], str(model.release_.loss)]


def write_plan(path: Path) -> None:
    by_day = "SELECT day, COUNT(*) AS n FROM visits GROUP BY day"
    statistics = [
        sf.wanted("SELECT COUNT(DISTINCT user_id) AS people FROM visits", within={"people": 10}),
        sf.wanted(by_day, name="by day", max_groups=2, max_rows_per_group=1, noise="laplace", priority=2),
        sf.wanted("SELECT COUNT(DISTINCT user_id) AS people FROM visits", name="gone", within=1, priority=3),
    ]
    sf.plan(visits(rows=20, people=5, groups=3).codebook, statistics, epsilon=1, forms=forms()).save(path)


def read_plan(path: Path) -> object:
    made = sf.planning.Plan.read(path)
    dropped = [(one.name, str(one.price)) for one in made.dropped]
    return [[(one.name, str(one.loss), one.key) for one in made.steps], dropped, str(made.cost)]


def forms() -> sf.planning.Forms:
    flow = ContextRecord("a visitor", "the town", "the public", "counts", "each month", challenges=(("ε", "odds"),))
    study = sf.planning.PreferenceStudy(
        "visitors", ("why?",), ("less noise",), ("the ill",), Fraction(1, 3), ("rules",)
    )
    return sf.planning.Forms(flow, flow, sf.planning.Datasheet(uses="planning"), study)


def write_forms(path: Path) -> None:
    path.write_text(json.dumps(forms().to_plain(), indent=1, ensure_ascii=False), encoding="utf-8")


def read_forms(path: Path) -> object:
    found = sf.planning.Forms.from_plain(json.loads(path.read_text(encoding="utf-8")))
    return [found == forms(), list(found.missing)]


STORED = [
    StoredForm("ledger.db", write_ledger, read_ledger),
    StoredForm("register.db", write_register, read_register),
    StoredForm("release.json", write_release, read_release),
    StoredForm("codebook.yaml", write_codebook, read_codebook),
    StoredForm("checklist.json", write_checklist, read_checklist),
    StoredForm("model.json", write_model, read_model),
    StoredForm("plan.json", write_plan, read_plan),
    StoredForm("forms.json", write_forms, read_forms),
]
