"""Questions of several blocks: inner answers are released and paid for, and all that stands around them is free."""

from __future__ import annotations

import datetime
from collections.abc import Mapping, Sequence
from decimal import Decimal
from fractions import Fraction
from typing import Any

import duckdb
import pyarrow as pa
import pytest
from tests.examples.sql import catalog
from tests.unit.query.opened import session_of

import sfumato as sf
from sfumato.errors import NotWorkedOut, QueryRefused
from sfumato.query.answer import working
from sfumato.query.answer.normal_text import whole_text
from sfumato.query.engines.registry import worked_out
from sfumato.query.engines.scratch import Given
from sfumato.query.nodes.kinds import Kind
from sfumato.query.sql import read_sql
from sfumato.release.answer import Answer
from sfumato.release.record import Release
from sfumato.session import workbench
from sfumato.session.session import Session

SURE = {"nullable": False, "source": "a test"}
BOOK: dict[str, Any] = {
    "codebook": 1,
    "title": "Visits",
    "unit": {"protects": "a person", "id": "user_id"},
    "tables": {
        "visits": {
            "columns": {
                "user_id": {"type": "str"},
                "day": {"type": "date", "between": ["2024-01-01", "2024-01-31"], **SURE},
                "site": {"categories": ["north", "south"], **SURE},
                "pages": {"type": "int", "between": [0, 9], **SURE},
                "note": {"type": "str", "nullable": True},
            }
        },
        "sites": {
            "public": True,
            "columns": {"site": {"type": "str"}, "region": {"type": "str"}, "size": {"type": "int"}},
        },
    },
}
VISITS = pa.table(
    {
        "user_id": [f"u{place % 60}" for place in range(240)],
        "day": [datetime.date(2024, 1, 1 + place % 31) for place in range(240)],
        "site": [("north", "south")[place % 2] for place in range(240)],
        "pages": [place % 10 for place in range(240)],
        "note": [None if place % 5 == 0 else f"n{place % 3}" for place in range(240)],
    }
)
PUBLIC = pa.table({"site": ["north", "south", "south"], "region": ["a", "b", "c"], "size": [1, 2, 3]})
KEPT = {"max_groups": 2, "max_rows_per_group": 4}
ONE = sf.Pure(1)
ALL = {"loss": sf.Approx(10**6, 1e-6), "max_groups": 31, "max_rows_per_group": 50}
BY_SITE = "SELECT site, COUNT(*) AS n FROM visits GROUP BY site"
BY_DAY = "SELECT day, COUNT(*) AS n, SUM(pages) AS pages FROM visits GROUP BY day"
RANKED = f"SELECT site, n, RANK() OVER (ORDER BY n DESC) AS place FROM ({BY_SITE})"
RATIO = f"WITH a AS ({BY_SITE}), b AS (SELECT SUM(pages) AS s FROM visits) SELECT site, n / s AS r FROM a, b"

AS_WRITTEN = [
    f"SELECT SUM(n) AS s, MAX(n) AS m, AVG(n) AS a, COUNT(*) AS c FROM ({BY_DAY})",
    f"SELECT day, n FROM ({BY_DAY}) t WHERE n > 7 AND MONTH(day) = 1 ORDER BY day DESC LIMIT 4 OFFSET 2",
    f"WITH d AS ({BY_DAY}) SELECT day, SUM(n) OVER (ORDER BY day) AS s, LAG(n) OVER (ORDER BY day) AS b FROM d",
    f"WITH d AS ({BY_DAY}), e AS (SELECT *, ROW_NUMBER() OVER (ORDER BY pages, day) AS r FROM d) "
    "SELECT * FROM e WHERE r < 4",
    f"SELECT DAYOFWEEK(day) AS w, SUM(n) AS s FROM ({BY_DAY}) GROUP BY w HAVING SUM(n) > 30 ORDER BY w",
    f"{BY_SITE} UNION ALL SELECT 'all', COUNT(*) FROM visits ORDER BY 1",
    f"SELECT site FROM ({BY_SITE}) INTERSECT SELECT site FROM sites ORDER BY site",
    "SELECT site, COUNT(*) / (SELECT COUNT(*) FROM visits) AS share FROM visits GROUP BY 1 ORDER BY 1",
    "SELECT site, COUNT(*) AS n, n / SUM(n) OVER () AS share FROM visits GROUP BY site ORDER BY n, site",
    "SELECT day, SUM(COUNT(*)) OVER (ORDER BY day ROWS BETWEEN 2 PRECEDING AND CURRENT ROW) AS s FROM visits "
    "GROUP BY day",
    "SELECT day FROM visits GROUP BY day QUALIFY ROW_NUMBER() OVER (ORDER BY SUM(pages), day) <= 3 ORDER BY day",
    "SELECT CASE WHEN COUNT(*) > 100 THEN 'many' ELSE 'few' END AS w, UPPER(site) AS u FROM visits GROUP BY site "
    "ORDER BY u",
    "SELECT note, COUNT(*) AS n FROM visits GROUP BY note ORDER BY note NULLS FIRST",
    "SELECT DISTINCT note FROM visits ORDER BY note NULLS LAST",
    "SELECT COUNT(*) AS kinds FROM (SELECT DISTINCT note FROM visits)",
    "SELECT pages FROM visits WHERE pages < 2 GROUP BY pages ORDER BY 1",
    f"WITH a AS ({BY_SITE}), b AS (SELECT site, SUM(pages) AS s FROM visits GROUP BY site) SELECT a.site, s / n AS m "
    "FROM a JOIN b ON a.site = b.site ORDER BY m",
    f"SELECT t.site, region, n FROM ({BY_SITE}) t JOIN sites USING (site) WHERE size > 1 ORDER BY region",
    f"SELECT site, SQRT(n - 1000) AS root, LN(n - 1000) AS log, n / (n - n) AS none, n * 1.5 AS half FROM ({BY_SITE})",
    f"SELECT n, w FROM ({BY_SITE}) JOIN (VALUES ('north', 'cold'), ('south', 'warm')) v(site, w) USING (site) "
    "ORDER BY w",
    "WITH v AS (SELECT * FROM visits WHERE pages > 3), c AS (SELECT site, COUNT(*) AS n FROM v GROUP BY site) "
    "SELECT site FROM c WHERE n >= (SELECT AVG(n) FROM c) ORDER BY site",
    "SELECT site, COUNT(*) AS n FROM visits GROUP BY ROLLUP (site) ORDER BY n DESC, site LIMIT 1 OFFSET 0",
    "SELECT region, SUM(size) AS s FROM sites GROUP BY region ORDER BY s DESC",
    "SELECT size, RANK() OVER (ORDER BY size DESC) AS r FROM sites ORDER BY r LIMIT 2",
    "SELECT a + b AS c FROM (VALUES (1, 2), (3, 4)) v(a, b) ORDER BY c",
]
"""Queries that mean what they mean to any engine, once there is no noise to speak of."""


def dataset(visits: pa.Table = VISITS) -> sf.Dataset:
    """Opens visits to public sites."""
    return sf.Dataset({"visits": visits, "sites": PUBLIC}, codebook=BOOK, name="visits")


DATA = dataset()


@pytest.fixture(scope="module")
def rich() -> Session:
    return session_of(DATA, sf.Approx(10**9, 0.5))


@pytest.fixture
def session() -> Session:
    return session_of(DATA, sf.Approx(100, 0.5))


def exactly(text: str) -> list[tuple[Any, ...]]:
    """Gives what DuckDB says of the tables themselves."""
    with duckdb.connect(
        config={"error_on_division_by_zero": "false", "ieee_floating_point_ops": "false"}
    ) as connection:
        connection.register("visits", VISITS)
        connection.register("sites", PUBLIC)
        total = text.replace("SQRT(n - 1000)", "NULL").replace("LN(n - 1000)", "NULL")
        return [tuple(map(plain, row)) for row in connection.execute(total).fetchall()]


def plain(cell: Any) -> Any:
    """Gives a number to six digits, and anything else as it is."""
    return round(float(cell), 6) if isinstance(cell, int | float | Decimal) and not isinstance(cell, bool) else cell


def rows_of(release: Release) -> list[tuple[Any, ...]]:
    """Gives the rows of an answer."""
    return [tuple(map(plain, row.values())) for row in release.value.rows()]


# What it means.


@pytest.mark.parametrize("text", AS_WRITTEN)
def test_it_means_what_it_means_to_any_engine(rich: Session, text: str) -> None:
    given, expected = rows_of(rich.sql(text, **ALL)), exactly(text)
    assert expected
    in_order = "ORDER BY" in text.rpartition(")")[2]
    assert given == expected if in_order else sorted(given, key=str) == sorted(expected, key=str)


def test_within_a_person_it_still_means_a_sum_within_each(rich: Session) -> None:
    text = "SELECT AVG(CLAMP(n, 0, 9)) AS m FROM (SELECT user_id, COUNT(*) AS n FROM visits GROUP BY user_id)"
    statement = read_sql(text, rich.dataset.tables.catalog)
    assert statement.worked is None and statement.question is not None
    assert rich.sql(text, **ALL).value.only() == pytest.approx(4, abs=0.01)


def test_names_given_in_select_are_known_further_on_in_it(session: Session) -> None:
    release = session.sql("SELECT COUNT(*) AS n, n * 2 AS twice FROM visits", loss=ONE, max_rows_per_group=4)
    assert release.value["twice"].values[0] == 2 * release.value["n"].values[0]
    assert release.value["twice"].low is not None  # one question, with error bars of its own


@pytest.mark.parametrize("text", [one for one in AS_WRITTEN if "visits" in one])
def test_what_was_asked_reads_back_as_the_same(text: str) -> None:
    known = DATA.tables.catalog
    first = read_sql(text, known).worked
    assert first is not None
    again = read_sql(whole_text(first, known.tables), known).worked
    assert again is not None
    assert (again.text, again.answers, again.tables) == (first.text, first.answers, first.tables)


@pytest.mark.parametrize(
    "text",
    [
        f"WITH t AS (SELECT region FROM sites) SELECT n, region FROM ({BY_SITE}) t, (SELECT * FROM t) u ORDER BY 1, 2",
        f"SELECT sites.n, s.size FROM ({BY_SITE}) sites JOIN sites s ON s.site = sites.site ORDER BY 2",
        f"WITH visits AS ({BY_SITE}) SELECT SUM(n) AS s FROM visits",
        f"WITH a AS ({BY_SITE}) SELECT x.n, y.s FROM a x, (WITH a AS (SELECT SUM(n) AS s FROM a) SELECT * FROM a) y",
        f"WITH a AS ({BY_SITE}), b AS ({BY_SITE}) SELECT a.n + b.n AS n FROM a JOIN b USING (site)",
        f"WITH a AS ({BY_SITE}) SELECT x.*, y.n AS m FROM a x JOIN a y ON x.site < y.site",
        f"WITH answer AS ({BY_SITE}) SELECT COUNT(*) AS c FROM ({BY_DAY}), answer",
    ],
)
def test_names_that_stand_for_several_things_mean_what_they_mean_where_they_stand(rich: Session, text: str) -> None:
    assert sorted(rows_of(rich.sql(text, **ALL)), key=str) == sorted(exactly(text), key=str)


# What it costs.


@pytest.mark.parametrize("outer", ["SELECT * FROM ({}) WHERE n > 3", "SELECT MAX(n) AS m FROM ({})", RANKED])
def test_what_stands_around_an_answer_charges_what_the_answer_costs_and_nothing_more(
    session: Session, outer: str
) -> None:
    alone = session_of(DATA, sf.Approx(100, 0.5))
    alone.sql(BY_SITE, loss=ONE, **KEPT)
    release = session.sql(outer.format(BY_SITE), loss=ONE, **KEPT)
    assert session.spent == alone.spent == sf.Approx(1, 0)
    assert release.loss == ONE and release.charged
    assert release.how.postprocessing == (workbench.FREE,)
    assert release.how.asked.startswith("WITH ") and "FROM visits" in release.how.asked


def test_the_same_answer_is_bought_once_whatever_is_made_of_it(session: Session) -> None:
    inner = session.sql(BY_SITE, loss=ONE, **KEPT)
    ranked = session.sql(RANKED, loss=ONE, **KEPT)
    highest = session.sql(f"SELECT MAX(n) AS m FROM ({BY_SITE})", loss=ONE, **KEPT)
    window = session.sql(
        "SELECT site, COUNT(*) AS n, RANK() OVER (ORDER BY COUNT(*)) AS r FROM visits GROUP BY site", loss=ONE, **KEPT
    )
    assert session.spent == sf.Approx(1, 0)
    numbers = inner.value["n"].values.tolist()
    assert sorted(ranked.value["n"].values) == sorted(window.value["n"].values) == sorted(numbers)
    assert highest.value.only() == max(numbers)
    assert ranked.receipt == inner.receipt


def test_several_answers_are_one_charge(session: Session) -> None:
    before = len(list(session.ledger.entries()))
    release = session.sql(RATIO, loss=ONE, **KEPT)
    assert session.spent == sf.Approx(1, 0) and release.loss == ONE
    charges = [entry for entry in list(session.ledger.entries())[before:] if entry.kind == "charged"]
    assert len(charges) == 1
    again = session.sql(RATIO, loss=ONE, **KEPT)
    other = session.sql(RATIO.replace("n / s AS r", "n * s AS r"), loss=ONE, **KEPT)
    assert session.spent == sf.Approx(1, 0)
    assert again.value.to_dict() == release.value.to_dict() != other.value.to_dict()


@pytest.mark.parametrize("weights", [None, {"a": 3}, {"a": 1, "b": 9}])
def test_answers_share_a_loss_evenly_or_by_weights(session: Session, weights: dict[str, int] | None) -> None:
    plan = session.explain(RATIO, loss=ONE, weights=weights, **KEPT)
    share = Fraction((weights or {}).get("a", 1), (weights or {}).get("a", 1) + (weights or {}).get("b", 1))
    assert plan.price == ONE
    assert f"released first, for {sf.Pure(share)}" in " ".join(f"{what} {why}" for what, why in plan.tree)
    with pytest.raises(sf.errors.BadArgument, match="for the finished answers, which share the loss: a, b"):
        session.sql(RATIO, loss=ONE, weights={"n": 1}, **KEPT)


def test_the_same_inner_query_twice_is_one_answer(session: Session) -> None:
    text = f"SELECT site, n / (SELECT SUM(n) FROM ({BY_SITE})) AS share FROM ({BY_SITE})"
    release = session.sql(text, loss=ONE, **KEPT)
    assert sum(release.value["share"].values) == pytest.approx(1)
    assert "answer_2" not in release.how.asked


def test_neighbours_are_asked_alike_and_pay_alike() -> None:
    """One person more or fewer changes neither the price, nor the record, nor the shape of what leaves."""
    without = VISITS.filter(pa.compute.not_equal(VISITS["user_id"], "u3"))
    told = []
    for visits in (VISITS, without):
        session = session_of(dataset(visits), sf.Approx(100, 0.5))
        for text in (RANKED, RATIO, f"SELECT SUM(n) AS s FROM ({BY_DAY})"):
            plan, release = session.explain(text, loss=ONE, **KEPT), session.sql(text, loss=ONE, **KEPT)
            kinds = [(column.name, column.role, column.low is None) for column in release.value.columns]
            told.append((str(plan), release.loss, release.how, len(release.value), kinds))
    assert told[:3] == told[3:]


# Keys alone.


def test_public_keys_are_listed_for_nothing(session: Session) -> None:
    for text in ("SELECT DISTINCT site FROM visits", "SELECT site FROM visits GROUP BY site"):
        release = session.sql(text)
        assert release.value.to_dict() == {"site": ["north", "south"]}
        assert release.how.mechanism.startswith("public") and not release.charged
    assert session.sql("SELECT DISTINCT day FROM visits WHERE day < DATE '2024-01-03'").value.to_dict()["day"]
    assert session.spent == sf.Approx(0, 0)
    with pytest.raises(QueryRefused, match="nothing to pay"):
        session.explain("SELECT DISTINCT site FROM visits")


def test_keys_that_nobody_listed_cost_a_choice(session: Session) -> None:
    text = "SELECT DISTINCT note FROM visits"
    with pytest.raises(sf.errors.BadArgument, match="loss or accuracy"):
        session.sql(text)
    with pytest.raises(sf.errors.BadArgument, match="only be shown with a δ"):
        session.sql(text, loss=ONE, max_groups=4)
    release = session.sql(text, loss=sf.Approx(20, 1e-6), max_groups=4)
    assert session.spent.within(sf.Approx(20, 1e-6)) and release.loss.delta > 0
    assert sorted(map(str, release.value["note"].values)) == ["None", "n0", "n1", "n2"]
    listed = session.sql(text, keys=sf.KeySet.of(note=["n0", "n9"]))
    assert listed.value.to_dict() == {"note": ["n0", "n9"]} and not listed.charged


# Error bars.


def test_a_released_number_keeps_its_bar_wherever_it_goes(session: Session) -> None:
    inner = session.sql(BY_SITE, loss=ONE, **KEPT).value["n"]
    text = (
        f"WITH a AS ({BY_SITE}), b AS (SELECT *, -n / 2 AS half, RANK() OVER (ORDER BY n) AS r FROM a) "
        "SELECT b.*, 10 - n AS rest, ROUND(n * 3) AS thrice, n + r AS mixed, region FROM b LEFT JOIN sites "
        "ON b.site = sites.site AND size < 3 ORDER BY b.site"
    )
    answer = session.sql(text, loss=ONE, **KEPT).value
    assert answer.names == ("site", "n", "half", "r", "rest", "thrice", "mixed", "region")
    ends = list(zip(inner.low, inner.high, strict=True))
    for name, follow in {
        "n": lambda low, high: (low, high),
        "half": lambda low, high: (-high / 2, -low / 2),
        "rest": lambda low, high: (10 - high, 10 - low),
        "thrice": lambda low, high: (3 * low, 3 * high),
    }.items():
        assert list(zip(answer[name].low, answer[name].high, strict=True)) == [follow(*pair) for pair in ends]
    assert answer["r"].low is answer["mixed"].low is None
    assert [column.name for column in answer.keys] == ["site", "region"]


@pytest.mark.parametrize(
    "text",
    [
        f"SELECT site, SUM(n) AS n FROM ({BY_SITE}) GROUP BY site",
        f"SELECT DISTINCT n FROM ({BY_SITE})",
        f"SELECT n FROM ({BY_SITE}) UNION ALL SELECT n FROM ({BY_SITE})",
        f"SELECT ABS(n) AS n FROM ({BY_SITE})",
        f"SELECT 1 / n AS n FROM ({BY_SITE})",
    ],
)
def test_what_is_no_single_number_has_no_bar(session: Session, text: str) -> None:
    assert session.sql(text, loss=ONE, **KEPT).value["n"].low is None


def test_bars_at_another_confidence_cost_nothing(session: Session) -> None:
    usual, surer = (session.sql(RANKED, loss=ONE, confidence=sure, **KEPT).value for sure in (0.95, 0.999))
    assert surer.confidence == Fraction(999, 1000)
    assert (surer["n"].high - surer["n"].low > usual["n"].high - usual["n"].low).all()
    assert session.spent == sf.Approx(1, 0)


# What cannot be worked out.


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (f"SELECT m FROM ({BY_SITE})", r"does not fit\. There are: answer \(site, n\)"),
        (f"SELECT site + 1 AS x FROM ({BY_SITE})", "does not fit"),
        (f"SELECT (SELECT n FROM ({BY_SITE})) AS x FROM ({BY_DAY})", "cannot be worked out"),
        (f"SELECT site, n, n FROM ({BY_SITE})", "two columns are called 'n'"),
        (f"SELECT n, site FROM ({BY_SITE}) ORDER BY 3", "cannot be worked out"),
        ("SELECT region, nothing FROM sites ORDER BY 1", r"There are: sites \(site, region, size\)"),
    ],
)
def test_what_cannot_run_is_refused_before_it_is_paid(session: Session, text: str, told: str) -> None:
    with pytest.raises(QueryRefused, match=told):
        session.sql(text, loss=ONE, **KEPT)
    assert session.spent == sf.Approx(0, 0)


@pytest.mark.parametrize("text", [RANKED, RATIO])
def test_numbers_that_cannot_be_put_together_are_kept(
    session: Session, monkeypatch: pytest.MonkeyPatch, text: str
) -> None:
    def fail(*_: object) -> Answer:
        raise QueryRefused("too large")

    with monkeypatch.context() as broken:
        broken.setattr(workbench, "worked_answer", fail)
        with pytest.raises(NotWorkedOut, match=r"released, paid for and kept.*carries them as `release`") as caught:
            session.sql(text, loss=ONE, **KEPT)
    release = caught.value.release
    answers = release.value if isinstance(release.value, tuple) else (release.value,)
    assert "n" in answers[0].names and release.charged
    later = session.sql(text, loss=ONE, **KEPT)
    assert session.spent == sf.Approx(1, 0) and later.receipt == release.receipt


# The throw-away engine.


@pytest.mark.parametrize(
    "text",
    [
        "SELECT * FROM read_csv('/etc/hostname')",
        "SELECT * FROM '/etc/hostname'",
        "ATTACH '/tmp/other.db'",
        "COPY t TO '/tmp/out.csv'",
        "SET memory_limit = '64GB'",
        "SET enable_external_access = true",
        "INSTALL httpfs",
        "LOAD httpfs",
        "SELECT * FROM visits",
    ],
)
def test_the_engine_reaches_nothing_but_its_tables(text: str) -> None:
    assert worked_out("SELECT x FROM t", {"t": [Given("x", Kind.INT, [1])]}) == [("x", [1])]
    with pytest.raises(QueryRefused):
        worked_out(text, {"t": [Given("x", Kind.INT, [1])]})


def test_the_engine_is_given_released_numbers_and_public_rows_alone(
    session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[Mapping[str, Sequence[Given]]] = []

    def spied(text: str, tables: Mapping[str, Sequence[Given]]) -> list[tuple[str, list[Any]]]:
        seen.append(tables)
        return worked_out(text, tables)

    monkeypatch.setattr(working, "worked_out", spied)
    session.sql(f"SELECT n, region FROM ({BY_SITE}) JOIN sites USING (site)", loss=ONE, **KEPT)
    inner = session.sql(BY_SITE, loss=ONE, **KEPT).value
    assert [sorted(tables) for tables in seen] == [["answer", "sites", "§answer"]] * 2  # made up, and released
    columns = {column.name: list(column.values) for column in seen[-1]["§answer"]}
    ends = [inner["n"].low.tolist(), inner["n"].high.tolist()]
    assert list(columns.values()) == [inner["site"].values.tolist(), inner["n"].values.tolist(), *ends]
    assert [list(column.values) for column in seen[-1]["sites"]] == [column.to_pylist() for column in PUBLIC.columns]


# What is public.


def test_what_is_public_is_exact_free_and_called_so(session: Session) -> None:
    release = session.sql("SELECT region, size * 2 AS double FROM sites WHERE size > ? ORDER BY size DESC", [1])
    assert release.value.to_dict() == {"region": ["c", "b"], "double": [6, 4]}
    assert release.loss == sf.Approx(0, 0) and "public" in release.how.mechanism
    assert session.sql("SELECT region FROM sites WHERE size = 1").how.asked == "SELECT region FROM sites WHERE size = 1"
    assert session.public("SELECT MAX(size) AS m FROM sites") == {"m": [3]}
    assert session.spent == sf.Approx(0, 0)


def test_tables_and_columns_are_listed_from_the_codebook(session: Session) -> None:
    tables = session.sql("SHOW TABLES").value.to_dict()
    assert tables["table_name"] == ["visits", "sites"]
    assert tables["protects"] == ["a person", "nobody: it is public"]
    described = {row["column_name"]: row for row in session.sql("DESCRIBE visits").value.rows()}
    assert described["day"]["values"] == "between 2024-01-01 and 2024-01-31" and described["day"]["missing"] == "never"
    assert described["site"]["values"] == "north, south" and described["note"]["values"] is None
    assert session.public("DESC sites")["column_name"] == ["site", "region", "size"]


def test_an_explanation_says_what_is_released_first_and_what_is_free(session: Session) -> None:
    said = str(session.explain(f"EXPLAIN PRIVACY {RANKED}", loss=ONE, **KEPT))
    assert "RANK() OVER (ORDER BY n DESC) AS place FROM answer: from released numbers, which costs nothing" in said
    assert "it sums up over people, so it is released first" in said
    assert session.spent == sf.Approx(0, 0)


def test_a_question_that_no_rule_works_out_is_still_a_question() -> None:
    statement = read_sql("SELECT LENGTH(site) + 1 AS l, COUNT(*) AS n FROM visits GROUP BY site", catalog())
    assert statement.question is not None and statement.worked is not None
    assert statement.worked.text == "SELECT LENGTH(site) + 1 AS l, n FROM answer"
