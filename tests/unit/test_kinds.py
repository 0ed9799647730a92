"""Several kinds of units, such as people and firms: each has a limit, and every question is charged for all of them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pyarrow as pa
import pytest

import sfumato as sf
from sfumato.accounting.adaptive.costs import Cost
from sfumato.core.restating import cost_of
from sfumato.errors import (
    AccountRefused,
    BadArgument,
    BadCodebook,
    LimitReached,
    PermitUsed,
    QueryRefused,
    SfumatoError,
)
from sfumato.ledger import transaction
from sfumato.ledger.permit import Permit
from sfumato.query.build.settings import CONFIDENCE, Settings
from sfumato.query.plan.compile import compile_question
from sfumato.query.sql import read_sql
from sfumato.session.session import Session

SAID = {"source": "a test"}
LIMIT = {"people": sf.Pure(1), "firms": sf.Approx(15, 1e-6)}
COUNT = "SELECT COUNT(*) AS n FROM jobs"
JOBS = pa.table({"person": [1, 1, 2, 3], "firm": ["a", "b", "a", None], "pay": [1.0, 2.0, 3.0, 4.0]})


def book(**changes: Any) -> dict[str, Any]:
    columns = {"person": {"type": "int"}, "firm": {"type": "str"}, "pay": {"type": "float", "between": [0, 5], **SAID}}
    bounds = {"people": {"rows": 2, **SAID}, "firms": {"rows": 20, "groups": {"person": 10}, **SAID}}
    units = {"people": {"protects": "a person", "id": "person"}, "firms": {"protects": "a firm", "id": "firm"}}
    jobs = {"contributions": bounds, "columns": columns}
    people = {"columns": {"person": {"type": "int"}, "age": {"type": "int"}}}
    return {"codebook": 1, "title": "Jobs", "units": units, "tables": {"jobs": jobs, "ages": people}} | changes


def jobs(**changes: Any) -> sf.Dataset:
    ages = pa.table({"person": [1, 2], "age": [30, 40]})
    return sf.Dataset({"jobs": JOBS, "ages": ages}, name="jobs", codebook=book(**changes))


def asked(ledger: Any = "memory:") -> Session:
    return jobs().session(limit=LIMIT, ledger=ledger)


def test_every_kind_pays_and_everything_says_so() -> None:
    session = asked()
    explained = str(session.explain(COUNT, loss=sf.Pure(0.1)))
    assert "ε = 0.1 for a person" in explained and "ε = 1 for a firm" in explained  # 20 rows of noise for 2
    assert "a firm: up to 20 rows of up to 10 person, added or removed; facts, nothing is cut" in explained
    release = session.sql(COUNT, loss=sf.Pure(0.1))
    assert (release.loss, release.others) == (sf.Pure(0.1), (("a firm", sf.Pure(1)),))
    assert "ε = 1 for a firm" in str(release) and "a firm has at most 20 rows of jobs" in release.to_text()
    assert session.spent == {"people": sf.Pure(0.1), "firms": sf.Approx(1, 0)}
    assert session.left["people"] == sf.Pure(0.9) and session.left["firms"].epsilon == 14
    assert session.spent_in(sf.Pure, of="firms") == sf.Pure(1)
    assert "ε = 1, δ = 0 of ε = 15, δ = 1e-06 spent, for a firm" in str(session)
    people, firms = session.release_table().rows
    assert [(row.unit, row.epsilon) for row in (people, firms)] == [("a person", sf.Pure(0.1).epsilon), ("a firm", 1)]
    assert session.ledger.accounts == ("jobs", "jobs (firms)") and session.ledger.verify()
    assert (
        session.sql(COUNT, loss=sf.Pure(0.1)).value.to_dict() == release.value.to_dict()
    )  # from the book, for nothing
    assert session.spent["firms"] == sf.Approx(1, 0)


@pytest.mark.parametrize(
    ("text", "bounds", "firms"),
    [
        (COUNT, {}, sf.Pure(1)),
        (COUNT, {"max_rows": 1}, sf.Pure(2)),  # ten people, each of whom goes and comes back
        ("SELECT SUM(CLAMP(n, 0, 5)) FROM (SELECT person, COUNT(*) AS n FROM jobs GROUP BY person)", {}, sf.Pure(2)),
        ("SELECT (SELECT COUNT(*) FROM jobs) - (SELECT COUNT(DISTINCT person) FROM jobs) AS n", {}, sf.Pure("1.5")),
    ],
)
def test_what_firms_lose_by_rows_or_by_people(text: str, bounds: dict[str, int], firms: sf.Pure) -> None:
    assert asked().sql(text, loss=sf.Pure(0.1), **bounds).others == (("a firm", firms),)


def test_one_limit_that_is_reached_stops_all_of_them() -> None:
    session = asked()
    with pytest.raises(LimitReached, match=r"jobs \(firms\) cannot pay"):
        session.sql(COUNT, loss=sf.Pure(1), max_rows=1)
    assert session.spent == {"people": sf.Pure(0), "firms": sf.Approx(0, 0)}
    assert "jobs (firms) cannot pay" in str(session.explain(COUNT, loss=sf.Pure(1), max_rows=1).refusal)
    session.sql(COUNT, loss=sf.Pure(1))
    with pytest.raises(LimitReached, match="jobs cannot pay"):
        session.sql(COUNT, loss=sf.Pure(0.1))
    assert session.spent == {"people": sf.Pure(1), "firms": sf.Approx(10, 0)}


@pytest.mark.parametrize(
    ("text", "stated", "people"),
    [
        (COUNT, {"people": sf.Pure(0.5), "firms": sf.Pure(2)}, sf.Pure(0.2)),
        (COUNT, {"people": sf.Pure(0.1), "firms": sf.Approx(2, 1e-6)}, sf.Pure(0.1)),
        (f"SELECT n / 2 AS half FROM ({COUNT})", {"people": sf.Pure(0.5), "firms": sf.Pure(2)}, sf.Pure(0.2)),
        (COUNT, {"people": sf.ZCDP(0.1), "firms": sf.ZCDP(1)}, sf.ZCDP(0.01)),
    ],
)
def test_noise_is_found_that_keeps_all_kinds(text: str, stated: dict[str, sf.Loss], people: Any) -> None:
    limits = {"people": sf.Approx(5, 1e-6), "firms": sf.Approx(50, 1e-6)}
    session = jobs().session(limit=limits, ledger="memory:")
    [(_, price, _)] = session.explain(text, loss=stated).beside
    release = session.sql(text, loss=stated)
    [(_, firms)] = release.others
    assert firms == price and release.loss.within(people)
    assert sf.convert(firms, type(stated["firms"])).within(stated["firms"])
    assert release.loss.amounts[0] > 0.999 * people.amounts[0]  # no more noise than that takes


def test_a_part_has_a_limit_for_people_and_firms_pay_as_before() -> None:
    session = asked()
    with session.part("ada", limit=sf.Pure(0.3)) as ada:
        ada.sql(COUNT, loss=sf.Pure(0.2))
        assert ada.left["people"] == sf.Pure(0.1) and ada.spent["firms"] == sf.Approx(2, 0)
    bob = session.part("bob", limit=sf.Pure(0.2))
    bob.sql(COUNT, loss=sf.Pure(0.2))  # what Ada paid for: firms lose nothing more
    assert session.spent == {"people": sf.Pure(0.2), "firms": sf.Approx(2, 0)} and session.ledger.verify()


def test_no_charge_leaves_out_a_kind() -> None:
    session = asked()
    charges: list[Callable[[], object]] = [
        lambda: session.ledger.charge("jobs", sf.Pure(0.1)),
        lambda: session.start(sf.events.Stated(sf.Pure(0.1)), key="run", claim=sf.claim("a test")),
        lambda: session.part("ada", limit=sf.Pure(1)).ledger.charge("jobs/ada", sf.Pure(0.1)),
    ]
    for charge in charges:
        with pytest.raises(AccountRefused, match=r"charged in the same step: jobs \(firms\)"):
            charge()
    assert session.spent["people"] == sf.Pure(0)


def test_a_permit_is_checked_for_each_kind() -> None:
    """What was paid for firms too little, or of which nobody says what firms can change, is not charged and not run."""
    session = asked()
    opened, unit = session.dataset.tables, session.dataset.unit
    question = read_sql(COUNT, opened.catalog, ()).question
    assert question is not None
    ready = compile_question(question, Settings.read(loss=sf.Pure(0.1)), opened, limit=sf.Pure)
    measurement, firm = ready.measurement(CONFIDENCE), session.dataset.others["firms"]
    paid, cost = cost_of(measurement, unit, sf.Pure(0.1)), cost_of(measurement, firm, sf.Pure(1))
    wrong: list[tuple[dict[str, tuple[sf.Unit, Cost]], type[SfumatoError]]] = [
        ({}, AccountRefused),
        ({"jobs (firms)": (firm, Cost.of(sf.Pure(0.9)))}, PermitUsed),
        ({"jobs (firms)": (unit, cost)}, BadArgument),
    ]
    for others, refusal in wrong:
        with pytest.raises(refusal):
            session.ledger.ask("jobs", paid, measurement, unit, others=others)
    permit = session.ledger.ask("jobs", paid, measurement, unit, others={"jobs (firms)": (firm, cost)})
    assert isinstance(permit, Permit) and session.spent["firms"] == sf.Approx(1, 0)
    with pytest.raises(PermitUsed, match="a firm is protected too"):
        permit.run(measurement, None, d_in=unit)


def test_the_book_shows_that_a_kind_was_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    session = asked()
    monkeypatch.setattr(transaction, "check_beside", lambda *_: None)
    session.ledger.charge("jobs", sf.Pure(0.1))
    [fault] = session.ledger.verify().faults
    assert "not, in the same step, for all" in fault.what


def test_a_data_set_goes_on_with_the_kinds_it_was_opened_with() -> None:
    ledger = sf.Ledger.open("memory:")
    asked(ledger).sql(COUNT, loss=sf.Pure(0.1))
    again = jobs().session(ledger=ledger)
    assert again.spent["firms"] == sf.Approx(1, 0)
    one = sf.Dataset(JOBS, name="jobs", unit=sf.Person("person", rows=2), between={"pay": (0, 5)})
    claimed = sf.claim("the same data, for a test")
    with pytest.raises(AccountRefused, match="on other terms"):
        one.session(limit=sf.Pure(1), ledger=ledger, claim=claimed)
    with pytest.raises(BadArgument, match="the unit that jobs protects"):
        one.session(ledger=ledger, claim=claimed).sql("SELECT COUNT(*) FROM jobs", loss=sf.Pure(0.1))


def test_kinds_are_stated_where_data_is_opened() -> None:
    kinds = {"people": "person", "firms": sf.Person("firm", "a firm", rows=20)}
    data = sf.Dataset(JOBS, name="jobs", unit=kinds, between={"pay": (0, 5)})
    session = data.session(limit=LIMIT, ledger="memory:")
    release = session.sql("SELECT SUM(pay) AS s FROM jobs", max_rows=1, loss=sf.Pure(0.1))
    assert release.others == (("a firm", sf.Pure(4)),)
    assert "protects a person and a firm" in str(data)


UNITS = book()["units"]
TABLE = book()["tables"]["jobs"]
WRONG: list[tuple[Callable[[], object], type[SfumatoError], str]] = [
    (
        lambda: jobs().session(limit=sf.Pure(1), ledger="memory:"),
        BadArgument,
        "one for each kind of unit: limit={'people'",
    ),
    (lambda: jobs().session(epsilon=1, ledger="memory:"), BadArgument, "one for each kind of unit"),
    (
        lambda: jobs().session(limit={"people": sf.Pure(1)}, ledger="memory:"),
        BadArgument,
        "what firms may lose is not said",
    ),
    (lambda: jobs().session(limit=LIMIT | {"firm": sf.Pure(1)}, ledger="memory:"), BadArgument, "Did you mean 'firms'"),
    (
        lambda: asked().sql("SELECT COUNT(*) FROM ages", max_rows=1, loss=sf.Pure(1)),
        QueryRefused,
        "no column firm in it",
    ),
    (lambda: asked().sql(COUNT, loss={"firms": sf.Pure(1)}), BadArgument, "people among them: people, firms"),
    (lambda: asked().sql(COUNT, loss={"people": sf.Pure(1), "firms": sf.Pure(0)}), QueryRefused, "no noise was found"),
    (lambda: asked().overview(of="shops"), BadArgument, "one of people, firms"),
    (lambda: jobs(unit={"protects": "a person"}), BadCodebook, "write one of the two"),
    (lambda: jobs(units={"people": UNITS["people"]}), BadCodebook, "is written unit:"),
    (lambda: jobs(units=UNITS | {"shops": UNITS["firms"]}), BadCodebook, "each kind of unit has its own"),
    (lambda: jobs(tables={"jobs": TABLE | {"contributions": {}}}), BadCodebook, "how many rows may a firm have"),
    (
        lambda: jobs(tables={"jobs": TABLE | {"contributions": {"firms": {"rows": 9, "by": "truncation", **SAID}}}}),
        BadCodebook,
        "only rows of a person, the first kind, can be cut",
    ),
    (lambda: jobs(tables={"jobs": TABLE | {"contributions": {"shops": {}}}}), BadCodebook, "no entry 'shops'"),
    (
        lambda: sf.Dataset(JOBS, unit={"people": "person", "firms": "firm"}),
        BadArgument,
        "how many rows a person can have",
    ),
    (lambda: sf.Dataset(JOBS, codebook=book(), unit="person"), BadArgument, "left out, where a codebook says who"),
    (
        lambda: sf.Dataset(JOBS, unit="person").session(limit=LIMIT, ledger="memory:"),
        BadArgument,
        "one kind of unit here",
    ),
]


@pytest.mark.parametrize(("wrong", "kind", "said"), WRONG)
def test_what_is_refused(wrong: Callable[[], object], kind: type[SfumatoError], said: str) -> None:
    with pytest.raises(kind) as refusal:
        wrong()
    assert said in str(refusal.value)
