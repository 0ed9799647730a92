"""Questions in SQL through a session: what is refused and how, what is charged, and what an attacker cannot see."""

from __future__ import annotations

import datetime
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet
import pytest
from tests.unit.query.opened import ready, session_of

import sfumato as sf
from sfumato.query.answer.explanation import Explanation
from sfumato.query.engines.duckdb.engine import DuckDBEngine
from sfumato.query.plan.engine_plan import Bound, Cells, Computed, Rows
from sfumato.release.record import Release
from sfumato.session.session import Session

DAY = datetime.date
SAID = {"source": "a test"}
SURE = {"nullable": False, **SAID}
COLUMNS: dict[str, Any] = {
    "user_id": {"type": "str"},
    "day": {"type": "date", "between": ["2024-01-01", "2024-01-31"], **SURE},
    "site": {"categories": ["north", "south"], **SURE},
    "minutes": {"type": "float", "between": [0, 90], "nullable": True, **SAID},
    "pages": {"type": "int", "between": [0, 9], **SURE},
    "note": {"type": "str", "nullable": True},
    "wait": {"type": "float"},
}
SITES: dict[str, Any] = {
    "public": True,
    "columns": {"site": {"type": "str"}, "region": {"type": "str"}, "size": {"type": "int"}},
}
PEOPLE = {"protects": "a person", "id": "user_id"}
MANY = 240


def book(unit: dict[str, Any] | None = None, contributions: dict[str, Any] | None = None) -> dict[str, Any]:
    visits: dict[str, Any] = {"columns": COLUMNS}
    if contributions:
        visits["contributions"] = {**contributions, **SAID}
    return {"codebook": 1, "title": "Visits", "unit": unit or PEOPLE, "tables": {"visits": visits, "sites": SITES}}


def rows() -> dict[str, list[Any]]:
    places = range(MANY)
    return {
        "user_id": [f"u{place % 60}" for place in places],
        "day": [DAY(2024, 1, 1 + place % 31) for place in places],
        "site": [("north", "south")[place % 2] for place in places],
        "minutes": [None if place % 7 == 0 else float(place % 90) for place in places],
        "pages": [place % 10 for place in places],
        "note": [None if place % 5 == 0 else f"n{place % 3}" for place in places],
        "wait": [float(place) for place in places],
    }


VISITS = pa.table(rows())
PUBLIC = pa.table({"site": ["north", "south", "south"], "region": ["a", "b", "c"], "size": [1, 2, 3]})
DATA = sf.Dataset({"visits": VISITS, "sites": PUBLIC}, codebook=book(), name="visits")
BY_ROWS = sf.Dataset(
    {"visits": VISITS, "sites": PUBLIC}, codebook=book({"protects": "a person"}, {"rows": 2}), name="rows"
)
KEPT = {"max_groups": 2, "max_rows_per_group": 4}
ONE = sf.Pure(1)
MUCH = sf.Pure(10**5)
COUNT = "SELECT COUNT(*) AS n FROM visits"


@pytest.fixture
def session() -> Session:
    return session_of(DATA, sf.Approx(10**7, 0.5))


class Spied:
    """Counts what an engine is asked; with ``broken`` it fails as an engine might, with data in its message."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, *, broken: bool = False) -> None:
        self.asked: list[Cells] = []
        engine = DuckDBEngine
        true = engine.run

        def run(one: Any, cells: Cells) -> Computed:
            self.asked.append(cells)
            if broken:
                raise RuntimeError("row 17 of Alice is not a number")
            return true(one, cells)

        monkeypatch.setattr(engine, "run", run)


# Messages.


@pytest.mark.parametrize(
    "text, settings, told",
    [
        (
            "SELECT SUM(wait) AS s FROM visits",
            KEPT,
            r"SUM\(wait\) has no bounds on its values.*wait: .type: float, between: .*CLAMP\(wait, lower",
        ),
        ("SELECT AVG(wait) AS s FROM visits", KEPT, r"AVG\(wait\) has no bounds on its values"),
        (COUNT, {}, "any number of rows in a group.*max_rows_per_group=10.*session.contributions"),
        (
            "SELECT note, COUNT(*) AS n FROM visits GROUP BY note",
            {"max_rows_per_group": 1},
            "any number of groups.*max_groups=4",
        ),
        ("SELECT * FROM visits", KEPT, "rows of private tables never leave"),
        ("SELECT nope FROM visits", KEPT, "there is no column 'nope'; there are: user_id, day"),
        ("SELECT COUNT(*) FROM nope", KEPT, "there is no table 'nope'; there are: sites, visits"),
        ("SELECT wait, COUNT(*) AS n FROM visits GROUP BY wait", KEPT, "FLOOR"),
        ("SELECT user_id, COUNT(*) AS n FROM visits GROUP BY user_id", KEPT, "make a group of each person"),
        (
            "SELECT COUNT(*) AS n FROM visits a JOIN visits b ON a.day = b.day",
            KEPT,
            "belongs to two units.*max_matches=",
        ),
        ("SELECT COUNT(*) AS n, SUM(pages) AS n FROM visits", KEPT, "two columns are called 'n'"),
        ("SELECT 1 FROM visits", KEPT, "nothing is aggregated"),
    ],
)
def test_a_refusal_says_what_to_write_and_costs_nothing(
    session: Session, text: str, settings: dict[str, Any], told: str
) -> None:
    with pytest.raises(sf.errors.QueryRefused, match=told):
        session.sql(text, loss=sf.Approx(1, 1e-6), **settings)
    assert session.spent == sf.Approx(0, 0)


@pytest.mark.parametrize(
    "settings, told",
    [
        ({}, "loss or accuracy must be given"),
        ({"loss": ONE, "accuracy": (5, 0.9)}, "loss or accuracy must be given, one of them"),
        ({"loss": 1}, "loss must be a privacy loss"),
        ({"loss": sf.Pure(0)}, "loss must be above 0"),
        ({"loss": sf.Pure(float("inf"))}, "loss must be above 0 and finite"),
        ({"loss": sf.Approx(0, 1e-6)}, "loss must be above 0"),
        ({"loss": ONE, "max_groups": 0}, "max_groups must be a whole number of at least 1"),
        ({"loss": ONE, "max_rows_per_group": 1.5}, "max_rows_per_group must be"),
        ({"loss": ONE, "confidence": 2}, "confidence must be between 0 and 1"),
        ({"loss": ONE, "keys": ["a"]}, "keys must be an sf.KeySet"),
        ({"loss": ONE, "keys": sf.KeySet.of(site=["north"])}, "keys must be left out, where nothing is grouped by"),
        ({"loss": ONE, "weights": {"m": 1}}, "weights must be for columns of the answer: n"),
        ({"loss": ONE, "weights": {"n": 0}}, "the weight of n must be"),
        ({"accuracy": {"m": (5, 0.9)}}, "accuracy must be for columns of the answer: n"),
        ({"accuracy": 5}, "accuracy must be a half-width and a confidence"),
    ],
)
def test_a_bad_setting_is_named_and_costs_nothing(session: Session, settings: dict[str, Any], told: str) -> None:
    with pytest.raises(sf.errors.BadArgument, match=told):
        session.sql(COUNT, **{"max_rows_per_group": 4, **settings})
    assert session.spent == sf.Approx(0, 0)


def test_keys_that_nobody_listed_need_a_delta(session: Session) -> None:
    text = "SELECT note, COUNT(*) AS n FROM visits GROUP BY note"
    for loss in (ONE, sf.ZCDP(1), sf.Approx(1, 0)):
        with pytest.raises(sf.errors.BadArgument, match="not listed"):
            session.sql(text, loss=loss, **KEPT)
    with pytest.raises(sf.errors.QueryRefused, match="where keys are public"):
        session.sql(text, accuracy=(5, 0.9), **KEPT)
    assert (
        session.sql(text, loss=sf.Approx(30, 1e-6), max_groups=4, max_rows_per_group=4).value["note"].values[0] is None
    )


def test_keys_of_another_kind_are_refused_before_they_are_charged(session: Session) -> None:
    text = "SELECT note, COUNT(*) AS n FROM visits GROUP BY note"
    with pytest.raises(sf.errors.BadArgument, match="keys of 'note' must be of its kind, text; got 'int'"):
        session.sql(text, loss=ONE, keys=sf.KeySet.of(note=[1, 2]), **KEPT)
    with pytest.raises(sf.errors.BadArgument, match=r"over all that is grouped by.* has: note; got .'site'"):
        session.sql(text, loss=ONE, keys=sf.KeySet.of(site=["north"]), **KEPT)
    assert session.spent == sf.Approx(0, 0)


# What is charged.


def test_beyond_the_limit_nothing_is_computed(monkeypatch: pytest.MonkeyPatch) -> None:
    session, spied = session_of(DATA, ONE), Spied(monkeypatch)
    session.sql(COUNT, loss=ONE, **KEPT)
    assert len(spied.asked) == 1
    with pytest.raises(sf.errors.LimitReached):
        session.sql("SELECT SUM(pages) AS s FROM visits", loss=ONE, **KEPT)
    assert len(spied.asked) == 1 and session.spent == ONE


def test_what_breaks_after_the_charge_is_charged_and_shows_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    session = session_of(DATA, ONE)
    Spied(monkeypatch, broken=True)
    with pytest.raises(sf.errors.RunFailed) as caught:
        session.sql(COUNT, loss=ONE, **KEPT)
    error: BaseException | None = caught.value
    assert "Alice" not in str(error) and error is not None
    assert error.__cause__ is None and (error.__context__ is None or error.__suppress_context__)
    assert session.spent == ONE


def test_a_question_is_paid_once(monkeypatch: pytest.MonkeyPatch, session: Session) -> None:
    spied = Spied(monkeypatch)
    asked = {"loss": sf.Pure("1/10"), **KEPT}
    text = "SELECT site, COUNT(*) AS n, AVG(pages) AS m FROM visits WHERE pages < ? GROUP BY site"
    first = session.sql(text, [5], **asked)
    again = session.sql(text.replace("SELECT", "select").replace("?", "5"), **asked)
    assert again.value.to_dict() == first.value.to_dict() and len(spied.asked) == 1
    sure = session.sql(text, [5], confidence=0.999, **asked)
    assert sure.value.to_dict() == first.value.to_dict() and sure.value.confidence == Fraction(999, 1000)
    assert (np.asarray(sure.value["n"].low) < np.asarray(first.value["n"].low)).all()
    assert session.spent == sf.Approx("1/10", 0) and len(spied.asked) == 1
    other = session.sql(text, [6], **asked)
    assert session.spent == sf.Approx("2/10", 0) and len(spied.asked) == 2
    assert other.value.to_dict() != first.value.to_dict()


@pytest.mark.parametrize(
    "change",
    [{"max_groups": 1}, {"max_rows_per_group": 3}, {"loss": sf.Pure("1/5")}, {"weights": {"n": 2}}, {"keys": "north"}],
)
def test_other_settings_are_another_question(session: Session, change: dict[str, Any]) -> None:
    text = "SELECT site, COUNT(*) AS n, SUM(pages) AS s FROM visits GROUP BY site"
    if "keys" in change:
        change = {"keys": sf.KeySet.of(site=[change["keys"]])}
    asked = {"loss": sf.Pure("1/10"), **KEPT}
    session.sql(text, **asked)
    before = session.spent
    session.sql(text, **{**asked, **change})
    assert before.within(session.spent) and not session.spent.within(before)


def test_a_release_states_everything(session: Session) -> None:
    release = session.sql("SELECT site, COUNT(*) AS n FROM visits GROUP BY site", loss=ONE, **KEPT)
    assert isinstance(release, Release) and release.unit == "a person" and release.loss == ONE
    assert any("visits.site is one of 2: north, south" in fact.what for fact in release.facts)
    said = release.to_text()
    for words in ("each ± holds with 95% confidence", "at most 4", "a person", "a test", "Laplace, scale 8"):
        assert words in said
    stored = session.releases()[-1]
    assert stored.value.to_dict() == release.value.to_dict()


def test_two_threads_pay_for_what_they_ask() -> None:
    session, failures = session_of(DATA, sf.Pure(100)), []

    def ask(first: int) -> None:
        try:
            for place in range(first, first + 4):
                session.sql("SELECT COUNT(*) AS n FROM visits WHERE pages = ?", [place], loss=ONE, **KEPT)
                session.sql(COUNT, loss=ONE, **KEPT)
        except BaseException as error:  # told to the test
            failures.append(error)

    threads = [threading.Thread(target=ask, args=(first,)) for first in (0, 4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures and sf.Pure(9).within(session.spent) and session.spent.within(sf.Pure(10))
    answers = {str(one.value.to_dict()) for one in session.releases() if "where" not in str(one)}
    assert len(session.releases()) in (9, 10) and answers


# Explaining.


def test_explaining_looks_at_no_data_and_spends_nothing(monkeypatch: pytest.MonkeyPatch, session: Session) -> None:
    spied = Spied(monkeypatch)
    text = "SELECT site, COUNT(*) AS n, AVG(pages) AS m FROM visits WHERE pages > 2 GROUP BY site"
    made = session.explain(text, loss=ONE, **KEPT)
    assert isinstance(made, Explanation)
    same = session.explain(f"EXPLAIN PRIVACY {text}", loss=ONE, **KEPT)
    assert str(same) == str(made) and not spied.asked and session.spent == sf.Approx(0, 0)
    for words in ("nothing was spent", "2 public keys", "at most 4", "Laplace", "ε = 1", "ρ = ", "left"):
        assert words in str(made)
    assert "<table" in made.to_html() and "| " in made.to_markdown()
    unpriced = session.explain(text, **KEPT)
    assert isinstance(unpriced, Explanation) and unpriced.price


def test_explaining_what_was_asked_says_so(session: Session) -> None:
    session.sql(COUNT, loss=ONE, **KEPT)
    assert "asked before" in str(session.explain(COUNT, loss=ONE, **KEPT))


def test_a_join_with_a_public_table_looks_at_that_only(monkeypatch: pytest.MonkeyPatch, session: Session) -> None:
    spied = Spied(monkeypatch)
    text = "SELECT COUNT(*) AS n FROM visits JOIN sites ON visits.site = sites.site"
    session.explain(text, loss=ONE, **KEPT)
    assert all(not cells.source.private for cells in spied.asked)


def test_a_rehearsal_asks_made_up_tables(session: Session) -> None:
    twin = session.dataset.rehearsal({"visits": VISITS.slice(0, 50), "sites": PUBLIC}, limit=MUCH)
    assert twin.sql(COUNT, loss=MUCH, max_rows_per_group=9).value.only() == 50 and session.spent == sf.Approx(0, 0)


# Options.


def test_options_in_the_query(session: Session) -> None:
    options = "OPTIONS (epsilon = 1, max_groups_contributed = 2, max_rows_contributed = 4)"
    text = f"SELECT WITH DIFFERENTIAL_PRIVACY {options} site, COUNT(*) AS n FROM visits GROUP BY site"
    try:
        release = session.sql(text)
    except sf.errors.QueryRefused as refusal:
        text = text.replace(", max_rows_contributed = 4", "")
        assert "max_rows_contributed" in str(refusal)
        release = session.sql(text, max_rows_per_group=4)
    assert release.loss == ONE
    with pytest.raises(sf.errors.BadArgument, match="said once"):
        session.sql(text, loss=sf.Pure(2), max_rows_per_group=4)


def test_accuracy_buys_what_it_takes(session: Session) -> None:
    release = session.sql(COUNT, accuracy=(20, 0.95), **KEPT)
    column = release.value["n"]
    assert (column.high[0] - column.low[0]) / 2 <= 20 and float(release.loss.epsilon) == pytest.approx(
        4 * 3 / 20, rel=0.1
    )
    both = "SELECT COUNT(*) AS n, COUNT(*) AS m FROM visits"
    plan = ready(session, both, accuracy={"n": (50, 0.5), "m": (60, 0.999)}, **KEPT)
    (noises,) = plan.noises
    (part,) = noises.values()
    assert part.noise.half_width(Fraction(999, 1000)) <= 60 and part.noise.half_width(Fraction(1, 2)) <= 50
    for text, told in (
        ("SELECT AVG(pages) AS m FROM visits", "hangs on the data"),
        ("SELECT site, COUNT(*) AS n FROM visits GROUP BY site HAVING SUM(pages) > 3", "HAVING and ORDER BY"),
        ("SELECT site, COUNT(*) AS n FROM visits GROUP BY site ORDER BY SUM(pages)", "HAVING and ORDER BY"),
    ):
        with pytest.raises(sf.errors.QueryRefused, match=told):
            session.sql(text, accuracy=(50, 0.9), **KEPT)


def test_weights_divide_the_loss(session: Session) -> None:
    text = "SELECT COUNT(*) AS n, SUM(pages) AS s FROM visits"
    (plain,), (weighted,) = (
        ready(session, text, loss=ONE, max_rows_per_group=1, **more).noises for more in ({}, {"weights": {"n": 3}})
    )
    rows_of = [float(noises[Rows()].noise.scale) for noises in (plain, weighted)]  # type: ignore[attr-defined]
    assert rows_of[1] < rows_of[0] and ready(session, text, loss=ONE, max_rows_per_group=1).pricing.loss(1).within(ONE)


# What questions there are.


@pytest.mark.parametrize(
    "text, told",
    [
        ("SELECT COUNT(*) FILTER (WHERE pages > 4) AS n FROM visits", {"n": [120]}),
        ("SELECT COUNT(DISTINCT user_id) AS n, COUNT(DISTINCT note) AS d FROM visits", {"n": [60], "d": [3]}),
        ("SELECT site, COUNT(*) AS n FROM visits GROUP BY site HAVING site = 'south'", {"site": ["south"], "n": [120]}),
        (
            "SELECT pages, COUNT(*) AS n FROM visits GROUP BY pages ORDER BY pages DESC LIMIT 2",
            {"pages": [9, 8], "n": [24, 24]},
        ),
        (
            "SELECT COUNT(*) AS n FROM (SELECT user_id FROM visits UNION ALL SELECT user_id FROM visits)",
            {"n": [480]},
        ),
        ("SELECT COUNT(*) AS n FROM visits JOIN sites ON visits.site = sites.site", {"n": [360]}),
        ("SELECT COUNT(*) AS n FROM visits LEFT JOIN sites ON visits.note = sites.site", {"n": [240]}),
        ("SELECT COUNT(*) AS n FROM visits a JOIN visits b ON a.user_id = b.user_id", {"n": [960]}),
        (
            "SELECT AVG(CLAMP(n, 0, 9)) AS m FROM (SELECT user_id, COUNT(*) AS n FROM visits GROUP BY user_id)",
            {"m": [4]},
        ),
        ("WITH a AS (SELECT user_id, pages FROM visits WHERE pages > 6) SELECT SUM(pages) AS s FROM a", {"s": [576]}),
        (
            "SELECT site, COUNT(*) AS n FROM visits GROUP BY GROUPING SETS ((site), ())",
            {"site": ["north", "south", None], "n": [120, 120, 240]},
        ),
        ("SELECT FLOOR(pages / 5) * 5 AS b, COUNT(*) AS n FROM visits GROUP BY b", {"b": [0, 5], "n": [120, 120]}),
    ],
)
def test_what_is_answered(session: Session, text: str, told: dict[str, Any]) -> None:
    found = session.sql(text, loss=MUCH, max_groups=31, max_rows_per_group=50).value.to_dict()
    assert found == {name: pytest.approx(cells, abs=0.05) if name == "m" else cells for name, cells in told.items()}


def test_a_public_table_is_free(session: Session) -> None:
    assert session.public("SELECT region FROM sites WHERE size > ?", [1]) == {"region": ["b", "c"]}
    assert session.spent == sf.Approx(0, 0)


@pytest.mark.parametrize(
    ("ask", "told"),
    [
        (lambda session: session.explain("SELECT region FROM sites"), "nothing to pay"),
        (lambda session: session.public(COUNT), r"session\.sql\(…\) pays for it"),
        (lambda session: session.sql(f"EXPLAIN PRIVACY {COUNT}", loss=ONE, **KEPT), r"ask session\.explain\(…\)"),
    ],
)
def test_every_call_gives_one_kind_of_thing_and_says_what_gives_another(
    session: Session, ask: Callable[[Session], object], told: str
) -> None:
    with pytest.raises(sf.errors.QueryRefused, match=told):
        ask(session)
    assert session.spent == sf.Approx(0, 0)


def test_the_frame_asks_the_same(session: Session) -> None:
    table = session.table("visits")
    release = table.group_by("site").agg(n=sf.count_rows()).release(loss=ONE, **KEPT)
    again = session.sql("SELECT site, COUNT(*) AS n FROM visits GROUP BY site", loss=ONE, **KEPT)
    assert again.value.to_dict() == release.value.to_dict() and session.spent == sf.Approx(1, 0)


# Units.


def test_rows_as_units_two_of_each() -> None:
    session = session_of(BY_ROWS)
    plan = ready(session, "SELECT site, COUNT(*) AS n FROM visits GROUP BY site", loss=ONE)
    (noises,) = plan.noises
    (part,) = noises.values()
    assert part.noise.scale == 2 and plan.levels[0].cells.bound == Bound()  # type: ignore[attr-defined]
    assert plan.pricing.loss(2) == ONE
    release = session.sql(COUNT, loss=MUCH)
    assert release.value.only() == MANY and release.unit == "a person"


def test_rows_that_match_several_public_ones() -> None:
    plan = ready(
        session_of(BY_ROWS), "SELECT COUNT(*) AS n FROM visits JOIN sites ON visits.site = sites.site", loss=ONE
    )
    assert plan.levels[0].influence(Rows()).l1 == 2


def test_whole_numbers_that_are_one_float_match_all_together() -> None:
    columns = {"x": {"type": "float"}}
    plain = {
        "codebook": 1,
        "title": "Large numbers",
        "unit": {"protects": "a row"},
        "tables": {
            "t": {"columns": columns, "contributions": {"rows": 1, **SAID}},
            "p": {"public": True, "columns": {"k": {"type": "int"}}},
        },
    }
    data = {"t": pa.table({"x": [2.0**53]}), "p": pa.table({"k": [2**53, 2**53 + 1]})}
    session = session_of(sf.Dataset(data, codebook=plain, name="large"))
    text = "SELECT COUNT(*) AS n FROM t JOIN p ON t.x = p.k"
    assert session.sql(text, loss=MUCH).value.only() == 2
    assert ready(session, text, loss=ONE).levels[0].influence(Rows()).l1 == 2


def test_people_in_windows_of_time() -> None:
    unit = {"protects": "a person in a week", "id": "user_id", "window": {"column": "day", "every": "week"}}
    session = session_of(sf.Dataset({"visits": VISITS, "sites": PUBLIC}, codebook=book(unit), name="weeks"))
    weeks = {(user, day.isocalendar()[:2]) for user, day in zip(rows()["user_id"], rows()["day"], strict=True)}
    assert session.sql(COUNT, loss=MUCH, max_rows_per_group=1).value.only() == len(weeks) < MANY
    with pytest.raises(sf.errors.QueryRefused, match=r"DATE_TRUNC\('week', day\)"):
        session.sql("SELECT COUNT(*) AS n FROM (SELECT user_id, COUNT(*) AS n FROM visits GROUP BY user_id)", loss=ONE)
    joined = "SELECT COUNT(*) AS n FROM visits a JOIN visits b ON a.user_id = b.user_id"
    many = Counter((user, day.isocalendar()[:2]) for user, day in zip(rows()["user_id"], rows()["day"], strict=True))
    pairs = sum(count * count for count in many.values())  # within a week, not over all time
    assert session.sql(joined, loss=MUCH, max_rows_per_group=99).value.only() == pairs < 960


def test_people_through_a_foreign_key() -> None:
    plain = {
        "codebook": 1,
        "title": "Orders",
        "unit": {"protects": "a customer", "id": "customer"},
        "tables": {
            "accounts": {"key": ["account"], "columns": {"account": {"type": "int"}, "customer": {"type": "str"}}},
            "orders": {
                "id": {"through": "account", "of": "accounts"},
                "columns": {"account": {"type": "int"}, "price": {"type": "int", "between": [0, 9], **SAID}},
            },
        },
    }
    accounts = pa.table({"account": [1, 2, 3], "customer": ["a", "a", "b"]})
    orders = pa.table({"account": [1, 1, 2, 3, 3, 99, None], "price": [1, 2, 3, 4, 5, 6, 7]})
    session = session_of(sf.Dataset({"accounts": accounts, "orders": orders}, codebook=plain, name="orders"))
    # The last two orders belong to nobody; of a's three, two are kept.
    assert session.sql("SELECT COUNT(*) AS n FROM orders", loss=MUCH, max_rows_per_group=2).value.only() == 4
    assert session.sql("SELECT SUM(price) AS s FROM orders", loss=MUCH, max_rows_per_group=9).value.only() == 15


# Sources.


def frames(tmp_path: Path) -> Iterator[tuple[str, Any]]:
    plain = {name: cells for name, cells in rows().items() if name != "wait"}
    table = pa.table(plain)
    yield "arrow", table
    yield "pandas", pd.DataFrame(plain)
    yield "polars", pl.DataFrame(plain)
    pyarrow.parquet.write_table(table, tmp_path / "visits.parquet")
    yield "parquet", str(tmp_path / "visits.parquet")
    pyarrow.csv.write_csv(table, tmp_path / "visits.csv")
    yield "csv", tmp_path / "visits.csv"
    with duckdb.connect(str(tmp_path / "visits.duckdb")) as connection:
        connection.register("given", table)
        connection.execute("CREATE TABLE visits AS SELECT * FROM given")
    yield "duckdb", tmp_path / "visits.duckdb"


def test_every_source_gives_the_same_numbers(tmp_path: Path) -> None:
    columns = {name: column for name, column in COLUMNS.items() if name != "wait"}
    plain = {"codebook": 1, "title": "Visits", "unit": PEOPLE, "tables": {"visits": {"columns": columns}}}
    text = "SELECT site, COUNT(*) AS n, COUNT(minutes) AS m, SUM(pages) AS s FROM visits GROUP BY site"
    told = None
    for name, data in frames(tmp_path):
        session = session_of(sf.Dataset(data, codebook=plain, name=name))
        found = session.sql(text, loss=MUCH, max_groups=2, max_rows_per_group=4).value.to_dict()
        told = told or found
        assert found == told, name
    assert told is not None and told["n"] == [120, 120]


# What an attacker cannot see.

DIRTY = pa.table(
    {
        "user_id": ["a", "a", "b", None, "c"],
        "day": [DAY(2023, 1, 1), DAY(2024, 1, 5), None, DAY(2024, 1, 6), DAY(2030, 1, 1)],
        "site": ["west", None, "north", "north", "south"],
        "minutes": [float("nan"), float("inf"), -5.0, 1e300, None],
        "pages": [2**62, -(2**62), None, 3, 4],
        "note": ["x" * 2000, "", "n\0", None, "é"],
        "wait": [float("nan"), 1.0, 2.0, 3.0, 4.0],
    }
)
EMPTY = DIRTY.slice(0, 0)
QUESTIONS = [
    "SELECT day, COUNT(*) AS n FROM visits GROUP BY day",
    "SELECT site, COUNT(*) AS n, SUM(pages) AS p, SUM(minutes) AS m, AVG(pages) AS a FROM visits GROUP BY site",
    "SELECT pages, site, COUNT(*) AS n FROM visits GROUP BY pages, site",
    "SELECT EXTRACT(month FROM day) AS d, COUNT(*) AS n FROM visits GROUP BY d",
    "SELECT pages > 3 AS d, COUNT(*) AS n FROM visits GROUP BY d",
    "SELECT CASE WHEN pages > 5 THEN NULL WHEN pages > 2 THEN site END AS k, COUNT(*) AS n FROM visits GROUP BY k",
    "SELECT CEIL(minutes / 30) AS k, COUNT(*) AS n FROM visits GROUP BY k",
    "SELECT SUM(CLAMP(wait, 0, 5)) AS s, VAR_SAMP(minutes) AS v, CORR(pages, minutes) AS c FROM visits",
    "SELECT COUNT(*) / COUNT(minutes) AS r, SUM(100 / pages) AS q FROM visits",
    "SELECT site, COUNT(*) AS n FROM visits WHERE site = 'north' GROUP BY site",
    "SELECT visits.site AS k, COUNT(*) AS n FROM visits LEFT JOIN sites ON visits.note = sites.site GROUP BY k",
]


@pytest.mark.parametrize("text", QUESTIONS)
def test_shape_keys_and_types_are_the_same_for_all_data(text: str) -> None:
    """Full, dirty and empty tables are answered alike: same keys in the same order, same columns, and no error."""
    shapes = []
    for name, table in (("full", VISITS), ("dirty", DIRTY), ("empty", EMPTY)):
        data = sf.Dataset({"visits": table, "sites": PUBLIC}, codebook=book(), name=name)
        session = session_of(data, sf.Pure(10))
        try:
            answer = session.sql(text, loss=ONE, max_groups=4, max_rows_per_group=3).value
        except sf.errors.QueryRefused as refusal:
            shapes.append(str(refusal))
            continue
        shapes.append(repr([(column.name, column.role, list(column.values)) for column in answer.keys] + [len(answer)]))
        assert session.spent == ONE
    assert len(set(shapes)) == 1


def test_keys_that_a_condition_excludes_are_not_answered(session: Session) -> None:
    text = "SELECT site, COUNT(*) AS n FROM visits WHERE site = 'north' GROUP BY site"
    assert session.sql(text, loss=MUCH, **KEPT).value.to_dict() == {"site": ["north"], "n": [120]}


def test_facts_do_not_follow_a_name(session: Session) -> None:
    """A column that is called like another one has its own facts, or none."""
    for inner in (
        "SELECT user_id, wait AS pages FROM visits",
        "SELECT user_id, wait * 1 AS pages FROM visits",
        "SELECT user_id, CAST(wait AS INT) AS pages FROM visits",
    ):
        with pytest.raises(sf.errors.QueryRefused, match="no bounds on its values"):
            session.sql(f"SELECT SUM(pages) AS s FROM ({inner})", loss=ONE, **KEPT)
    renamed = "SELECT user_id, note AS site FROM visits"
    union = f"SELECT user_id, site FROM visits UNION ALL {renamed}"
    for inner in (renamed, union):
        with pytest.raises(sf.errors.BadArgument, match="not listed"):
            session.sql(f"SELECT site, COUNT(*) AS n FROM ({inner}) GROUP BY site", loss=ONE, **KEPT)


def facts(contributions: dict[str, Any]) -> Session:
    data = sf.Dataset({"visits": VISITS, "sites": PUBLIC}, codebook=book(contributions=contributions), name="facts")
    return session_of(data)


@pytest.mark.parametrize(
    "text, groups",
    [
        ("SELECT day, COUNT(*) AS n FROM visits GROUP BY day", 2),
        ("SELECT EXTRACT(day FROM day) AS d, COUNT(*) AS n FROM visits GROUP BY d", 2),
        ("SELECT day, COUNT(*) AS n FROM (SELECT user_id, day FROM visits UNION ALL SELECT user_id, day FROM visits) "
         "GROUP BY day", 4),
        ("SELECT a.day AS d, b.day AS e, COUNT(*) AS n FROM visits a JOIN visits b ON a.user_id = b.user_id "
         "GROUP BY a.day, b.day", 961),
        ("SELECT b.day AS e, COUNT(*) AS n FROM visits a LEFT JOIN visits b ON a.user_id = b.user_id AND "
         "a.pages = b.pages GROUP BY b.day", 32),
        ("SELECT COALESCE(b.day, DATE '2024-01-01') AS e, COUNT(*) AS n FROM visits a LEFT JOIN visits b "
         "ON a.user_id = b.user_id GROUP BY e", 31),
        ("SELECT day, COUNT(*) AS n FROM (SELECT user_id, MIN(day) AS day FROM visits GROUP BY user_id, site) "
         "GROUP BY day", 31),
        ("SELECT CASE WHEN site = 'north' THEN day END AS d, COUNT(*) AS n FROM visits GROUP BY d", 32),
    ],
    ids=["plain", "made of it", "union", "pairs", "left join", "coalesce", "first day", "with another"],
)  # fmt: skip
def test_a_fact_on_groups_holds_only_where_it_must(text: str, groups: int) -> None:
    """Nobody has more than two days. Of pairs of days, or of days and none, there may be more."""
    plan = ready(facts({"groups": {"day": 2}}), text, loss=ONE, max_rows_per_group=1)
    (level,) = plan.levels
    assert level.influence(Rows()).l1 == groups


def test_no_number_of_groups_can_be_seen_from_outside() -> None:
    """A person who alone has thousands of keys adds none of them, and no error."""
    lonely = pa.concat_tables([VISITS, VISITS.slice(0, 1)] + [_with_note(place) for place in range(50)])
    data = sf.Dataset({"visits": lonely, "sites": PUBLIC}, codebook=book(), name="lonely")
    text = "SELECT note, COUNT(*) AS n FROM visits GROUP BY note"
    answer = session_of(data).sql(text, loss=sf.Approx(20, 1e-9), max_groups=4, max_rows_per_group=4).value
    assert set(answer["note"].values) <= {None, "n0", "n1", "n2"}


def _with_note(place: int) -> pa.Table:
    one = VISITS.slice(0, 1).to_pydict()
    return pa.table({**one, "user_id": ["lonely"], "note": [f"secret {place}"]}).cast(VISITS.schema)
