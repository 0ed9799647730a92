"""A release says what was asked and everything that was cut: in print, in every form, in its table, and in the book."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from tests.unit.chart_reading import headline, tables
from typer.testing import CliRunner

import sfumato as sf
from sfumato.cli.ledger import app
from sfumato.release.answer import Bin
from sfumato.release.codec import release_from_plain, release_to_plain
from sfumato.release.record import Cut, Cutting, How, Release
from sfumato.session.session import Session

BOOK: dict[str, Any] = {
    "codebook": 1,
    "title": "Visits",
    "unit": {"protects": "a visitor", "id": "who"},
    "tables": {
        "visits": {
            "columns": {
                "who": {"type": "int"},
                "site": {"categories": ["a", "b", "c"], "source": "a list"},
                "minutes": {"type": "float", "between": [0, 90], "source": "a clock"},
                "age": {"type": "int", "between": [0, 120], "source": "life"},
                "day": {"type": "date", "between": ["2024-01-01", "2024-01-31"], "source": "a month"},
                "note": {"type": "str"},
            }
        },
        "sites": {"public": True, "columns": {"site": {"type": "str"}, "region": {"type": "str"}}},
    },
}
VISITS = pd.DataFrame(
    {
        "who": [place % 30 for place in range(300)],
        "site": [("a", "b", "c")[place % 3] for place in range(300)],
        "minutes": [float(place % 100) for place in range(300)],
        "age": [place % 90 for place in range(300)],
        "day": [pd.Timestamp("2024-01-01") + pd.Timedelta(days=place % 31) for place in range(300)],
        "note": ["x", "y"] * 150,
    }
)
SITES = pd.DataFrame({"site": ["a", "b"], "region": ["north", "south"]})
EACH = {"max_groups": 2, "max_rows_per_group": 3}


def opened(ledger: str = "memory:", **contributions: object) -> Session:
    visits = {**BOOK["tables"]["visits"], **({"contributions": contributions} if contributions else {})}
    book = {**BOOK, "tables": {**BOOK["tables"], "visits": visits}}
    data = sf.Dataset({"visits": VISITS, "sites": SITES}, name="visits", codebook=book)
    return data.session(limit=sf.Approx(10_000, 1e-3), ledger=ledger)


@pytest.fixture(scope="module")
def session() -> Iterator[Session]:
    yield opened()


def cuts(release: Release, *kinds: Cutting) -> list[tuple[str, str]]:
    return [(cut.what, cut.source) for cut in release.how.cuts if cut.cutting in kinds]


QUESTIONS = (
    "SELECT COUNT(*) AS n FROM visits",
    "SELECT COUNT(*) AS n FROM visits WHERE minutes > 40",
    "SELECT COUNT(*) AS n FROM visits WHERE minutes > 41",
    "SELECT COUNT(*) AS n FROM visits WHERE minutes >= 40",
    "SELECT COUNT(*) AS n FROM visits WHERE age > 40",
    "SELECT COUNT(*) AS m FROM visits",
    "SELECT COUNT(note) AS n FROM visits",
    "SELECT COUNT(*) FILTER (WHERE minutes > 40) AS n FROM visits",
    "SELECT COUNT(*) AS n FROM visits WHERE note LIKE 'x%'",
    "SELECT COUNT(*) AS n FROM visits WHERE note LIKE 'y%'",
    "SELECT COUNT(*) AS n FROM visits WHERE day < '2024-01-05'",
    "SELECT COUNT(*) AS n FROM visits JOIN sites ON visits.site = sites.site",
    "SELECT COUNT(*) AS n FROM visits JOIN sites ON visits.site = sites.site WHERE region = 'north'",
    "SELECT COUNT(*) AS n FROM visits LEFT JOIN sites ON visits.site = sites.site WHERE region = 'north'",
    "SELECT SUM(CLAMP(age, 0, 50)) AS n FROM visits",
    "SELECT SUM(CLAMP(age, 0, 51)) AS n FROM visits",
    "SELECT AVG(CLAMP(t, 0, 9)) AS n FROM (SELECT who, SUM(age) AS t FROM visits GROUP BY who HAVING COUNT(*) > 1)",
    "SELECT AVG(CLAMP(t, 0, 9)) AS n FROM (SELECT who, SUM(age) AS t FROM visits GROUP BY who HAVING COUNT(*) > 2)",
    "SELECT site, COUNT(*) AS n FROM visits GROUP BY site",
    "SELECT site, COUNT(*) AS n FROM visits GROUP BY site HAVING COUNT(*) > 5",
    "SELECT site, COUNT(*) AS n FROM visits GROUP BY site ORDER BY n",
    "SELECT site, COUNT(*) AS n FROM visits GROUP BY site LIMIT 2",
    "SELECT site, COUNT(*) AS n FROM visits GROUP BY ROLLUP (site)",
    "SELECT MEDIAN(minutes) AS n FROM visits",
    "SELECT QUANTILE(minutes, 0.4) AS n FROM visits",
    "SELECT HISTOGRAM(minutes, [0, 45, 90]) AS n FROM visits",
    "SELECT HISTOGRAM(minutes, [0, 46, 90]) AS n FROM visits",
    "SELECT TOP_K(site, 1) AS n FROM visits",
)


def test_how_differs_where_the_question_does_and_only_there(session: Session) -> None:
    settings = [
        {"max_rows_per_group": 3, "max_groups": 3},
        {"max_rows_per_group": 4, "max_groups": 3},
        {"max_rows": 5},
        {"max_rows": 6},
    ]
    made: dict[tuple[str, int], How] = {}
    for sql in QUESTIONS:
        for place, bounds in enumerate(settings if sql == QUESTIONS[0] else settings[:1]):
            release = session.sql(sql, loss=sf.Pure(1), **bounds)
            made[sql, place] = release.how
            assert session.sql(sql.lower(), loss=sf.Pure(1), **bounds).how == release.how
    different = [(one, other) for one in made for other in made if one[0] < other[0]]
    assert not [(one, other) for one, other in different if made[one] == made[other]]
    assert not [(one, other) for one, other in different if str(made[one]) == str(made[other])]  # nor in words
    assert len({str(made[QUESTIONS[0], place]) for place in range(len(settings))}) == len(settings)


def test_keys_that_are_given_are_part_of_how(session: Session) -> None:
    sql = "SELECT site, COUNT(*) AS n FROM visits GROUP BY site"
    few = [session.sql(sql, loss=sf.Pure(1), keys=sf.KeySet.of(site=list(names)), **EACH) for names in ("ab", "ac")]
    assert few[0].how != few[1].how
    assert cuts(few[0], Cutting.GROUPS) == [("rows whose site is none of 'a', 'b' are left out", "the question")]
    many = [
        session.sql(
            "SELECT age, COUNT(*) AS n FROM visits GROUP BY age",
            loss=sf.Pure(1),
            keys=sf.KeySet.of(age=list(range(least, least + 50))),
            **EACH,
        )
        for least in (0, 1)
    ]
    assert many[0].how != many[1].how
    assert "is none of 50 public keys (" in cuts(many[0], Cutting.GROUPS)[0][0]


def test_keys_of_more_columns_are_recorded_as_those_that_are_asked_for(session: Session) -> None:
    sql = "SELECT site, COUNT(*) AS n FROM visits GROUP BY site"
    wide = sf.KeySet.of(site=["a", "b"], age=[1, 2])
    release = session.sql(sql, loss=sf.Pure(1), keys=wide, **EACH)
    assert cuts(release, Cutting.GROUPS) == [("rows whose site is none of 'a', 'b' are left out", "the question")]
    with pytest.raises(sf.errors.BadArgument, match=r"over all that is grouped by.* has: site; got .'age'"):
        session.sql(sql, loss=sf.Pure(1), keys=sf.KeySet.of(age=[1]), **EACH)


def test_rows_in_all_are_a_cut_and_no_fact(session: Session) -> None:
    release = session.sql("SELECT COUNT(*) AS n FROM visits", loss=sf.Pure(1), max_rows=7)
    assert cuts(release, Cutting.UNITS) == [("at most 7 rows of a visitor are kept", "the question")]
    said = str(release) + release.to_text() + release.table().to_text(steps=True)
    assert "a fact" not in said and "since no more rows are kept" in said
    assert "error bars cover the noise, not what was cut" in str(release)
    grouped = session.sql("SELECT site, COUNT(*) AS n FROM visits GROUP BY site", loss=sf.Pure(1), max_rows=2)
    assert cuts(grouped, Cutting.UNITS) == [("at most 2 rows of a visitor are kept", "the question")]
    assert "groups of a visitor: at most 2, since no more rows are kept" in grouped.how.steps


@pytest.mark.parametrize(
    ("contributions", "settings", "expected"),
    [
        ({}, {"max_groups": 1, "max_rows_per_group": 2}, {("at most 1 group of a visitor counts", "the question"),
                                             ("at most 2 rows of a visitor in each group count", "the question")}),
        ({}, {"max_rows": 4}, {("at most 4 rows of a visitor are kept", "the question")}),
        ({"rows": 4, "by": "truncation"}, {}, {("at most 4 rows of a visitor are kept", "the codebook")}),
        ({"groups": {"site": 1}, "rows_each": {"site": 2}, "by": "truncation"}, {},
         {("at most 1 group of a visitor counts", "the codebook"),
          ("at most 2 rows of a visitor in each group count", "the codebook")}),
        ({"rows_each": {"site": 4}, "by": "fact"}, {"max_groups": 4},
         {("at most 4 rows of a visitor in each group count, a fact that is held by cutting where it is not so",
           "the codebook")}),
        ({"rows": 10, "by": "fact"}, {}, set()),
        ({"rows": 10, "by": "fact"}, {"max_rows": 10}, set()),
        ({"rows": 10, "by": "fact"}, {"max_rows": 9}, {("at most 9 rows of a visitor are kept", "the question")}),
    ],
)  # fmt: skip
def test_every_bound_that_cuts_is_a_cut_with_its_source(
    contributions: dict[str, object], settings: dict[str, int], expected: set[tuple[str, str]]
) -> None:
    asked = opened(**({**contributions, "source": "rules"} if contributions else {}))
    release = asked.sql("SELECT site, COUNT(*) AS n FROM visits GROUP BY site", loss=sf.Pure(1), **settings)
    assert set(cuts(release, Cutting.UNITS)) == expected
    kept = [step for step in release.how.steps if "a fact: nothing is cut" in step]
    assert kept or expected


@pytest.mark.parametrize("sql", ["COUNT(*) AS n, SUM(x) AS s", "COUNT(*) AS n", "AVG(x) AS m", "SUM(x + 1) AS d"])
def test_what_is_never_missing_hides_no_cut(sql: str) -> None:
    columns = {"id": {"type": "int"}, "x": {"type": "int", "between": [0, 9], "nullable": False, "source": "rules"}}
    book = {"codebook": 1, "title": "x", "unit": {"protects": "one", "id": "id"}, "tables": {"t": {"columns": columns}}}
    data = sf.Dataset(pd.DataFrame({"id": [1] * 50, "x": [1] * 50}), codebook=book)
    release = data.session(limit=sf.Pure(9), ledger="memory:").sql(f"SELECT {sql} FROM t", loss=sf.Pure(9), max_rows=3)
    assert cuts(release, Cutting.UNITS) == [("at most 3 rows of one are kept", "the question")]
    assert "nothing is cut" not in str(release)
    told = [what for what, _ in cuts(release, Cutting.UNUSABLE) if "though a fact says" in what]
    assert [what.split(" are left out")[0] for what in told] == (
        [] if "(x" not in sql else ["rows without x + 1" if "+" in sql else "rows without x"]
    )


NOBODY: tuple[tuple[dict[str, Any], str, str], ...] = (
    ({"id": "who"}, "visits", "rows of visits without who belong to nobody"),
    ({"id": "who", "window": {"column": "day", "every": "month", "reason": "a report"}}, "visits",
     "rows of visits without who or day belong to nobody"),
    ({"id": "who"}, "notes", "rows of notes without a way to visits.who belong to nobody"),
)  # fmt: skip


@pytest.mark.parametrize(("unit", "table", "said"), NOBODY)
def test_rows_of_nobody_are_a_cut_that_no_error_bar_holds(unit: dict[str, Any], table: str, said: str) -> None:
    columns = {"visit": {"type": "int"}, "who": {"type": "int"}, "day": {"type": "date"}}
    tables: dict[str, Any] = {"visits": {"key": ["visit"], "columns": columns}}
    if table == "notes":
        tables["notes"] = {"id": {"through": "visit", "of": "visits"}, "columns": {"visit": {"type": "int"}}}
    book = {"codebook": 1, "title": "x", "unit": {"protects": "a visitor", **unit}, "tables": tables}
    frame = pd.DataFrame({"visit": [1, 2], "who": [1, None], "day": [pd.Timestamp("2024-01-01")] * 2})
    data = sf.Dataset(dict.fromkeys(tables, frame), name="x", codebook=book)
    asked = data.session(limit=sf.Pure(9), ledger="memory:")
    release = asked.sql(f"SELECT COUNT(*) AS n FROM {table}", loss=sf.Pure(1), max_rows=3)
    assert cuts(release, Cutting.UNUSABLE) == [(said, "the codebook")]
    assert said in " ".join(release.table().to_text().split()) and said in headline(release.plot())
    assert replace(release.how, cuts=release.how.cuts[:1]).uncovered == "error bars cover the noise, not what was cut"


def test_ends_of_ranges_are_written_in_full() -> None:
    columns = {"id": {"type": "int"}, "x": {"type": "float", "between": [0.1234567, 1234567.891], "source": "rules"}}
    book = {"codebook": 1, "title": "x", "unit": {"protects": "one", "id": "id"}, "tables": {"t": {"columns": columns}}}
    asked = sf.Dataset(pd.DataFrame({"id": [1], "x": [1.0]}), codebook=book).session(limit=sf.Pure(9), ledger="memory:")
    release = asked.sql("SELECT HISTOGRAM(x, [0.12345678, 7]) AS h FROM t", loss=sf.Pure(9), max_rows=3)
    told = [cut.what for cut in release.how.cuts]
    assert "t.x is moved into 0.1234567 to 1234567.891" in told
    assert "rows with x outside 0.12345678 to 7 are not counted in it" in told


def test_reading_clamping_conditions_and_edges_are_cuts(session: Session) -> None:
    sql = (
        "SELECT region, SUM(CLAMP(age, 18, 65)) AS s, COUNT(note) AS c, HISTOGRAM(minutes, [10, 50]) AS h FROM visits "
        "JOIN sites ON visits.site = sites.site WHERE day > '2024-01-03' GROUP BY region"
    )
    release = session.sql(sql, loss=sf.Approx(1, 1e-6), **EACH)
    assert {cut.what for cut in release.how.cuts} >= {
        "rows of visits without who belong to nobody",
        "visits.minutes is moved into 0 to 90",
        "visits.age is moved into 0 to 120",
        "visits.site is missing where it is no listed value",
        "visits.day is missing outside 2024-01-01 to 2024-01-31",
        "visits.note is cut to 1,000 characters",
        "age is moved into 18 to 65",
        "rows that match none of sites are left out",
        "rows are kept where day > DATE '2024-01-03'",
        "rows with minutes outside 10 to 50 are not counted in it",
    }
    assert any(cut.cutting is Cutting.GROUPS and "by a noisy count" in cut.what for cut in release.how.cuts)


ASKED = "SELECT site, COUNT(*) AS n FROM visits WHERE note = 'x<b>|_' OR minutes > 3 GROUP BY site"


def test_every_form_says_what_was_asked_and_cut(session: Session) -> None:
    release = session.sql(ASKED, loss=sf.Pure(1), **EACH)
    assert release.how.asked == ASKED
    plain = json.loads(release.to_json())
    assert plain["asked"] == ASKED
    assert {"what": "at most 2 groups of a visitor count", "source": "the question",
            "leaves_out": "what one unit has beyond a bound"} in plain["cuts"]  # fmt: skip
    for text in (str(release), release.to_text(), release.table().to_text(), release.table().to_csv()):
        joined = " ".join(text.split())
        assert ASKED in joined and "at most 2 groups of a visitor count" in joined
    assert "x&lt;b&gt;|_" in release.to_html() and "x<b>" not in release.to_html()
    assert r"x\<b\>\|\_" in release.to_markdown() and r"\_" in release.to_latex()
    for form in (release.to_html(), release.to_markdown(), release.to_latex(), release.table().to_html()):
        assert "at most 2 groups of a visitor count" in form
    assert json.loads(release.table().to_json())[0]["asked"] == [ASKED]
    explained = " ".join(str(session.explain(ASKED, loss=sf.Pure(1), **EACH)).split())
    assert ASKED in explained and "at most 2 groups of a visitor count" in explained


def test_the_table_names_the_mechanisms(session: Session) -> None:
    sql = "SELECT note, COUNT(*) AS n, MEDIAN(minutes) AS m FROM visits GROUP BY note"
    release = session.sql(sql, loss=sf.Approx(1, 1e-6), **EACH)
    said = release.table().rows[0].mechanism
    assert "exponential mechanism" in said and "choice of keys by noisy counts" in said and "noise" in said
    gaussian = session.sql("SELECT COUNT(*) AS n FROM visits", loss=sf.Approx(1, 1e-6), max_rows=3, noise="gaussian")
    assert gaussian.how.mechanism == "Gaussian noise"
    assert "query" not in release.table().to_text()


def test_the_book_holds_the_whole_question(tmp_path: Path) -> None:
    session = opened(f"sqlite:///{tmp_path}/book.db")
    condition = " OR ".join(f"(minutes > {place} AND age <> {place})" for place in range(100))
    sql = f"SELECT COUNT(*) AS n FROM visits WHERE {condition}"
    release = session.sql(sql, loss=sf.Pure(1), max_rows=3)
    assert len(release.how.asked) > 2000
    session.ledger.export(tmp_path / "book.jsonl")
    written = (tmp_path / "book.jsonl").read_text(encoding="utf-8")
    assert release.how.asked in written.replace("\\u003c", "<")
    charged = [entry.body["what"] for entry in session.ledger.entries(0) if entry.kind == "charged"]
    assert charged[0].startswith(release.how.asked)
    assert "cut: at most 3 rows of a visitor are kept (the question)" in charged[0]
    again = opened(f"sqlite:///{tmp_path}/book.db").releases()
    assert [stored.how for stored in again] == [release.how]


def test_the_book_is_shown_as_it_is(tmp_path: Path) -> None:
    session = opened(f"sqlite:///{tmp_path}/book.db")
    for text in ("[red]a[/red]", "[/]", ":smiley:"):
        session.sql("SELECT COUNT(*) AS n FROM visits WHERE note = ?", [text], loss=sf.Pure(1), max_rows=3)
    shown = CliRunner().invoke(app, ["show", f"{tmp_path}/book.db"], env={"COLUMNS": "2000"})
    assert shown.exit_code == 0
    assert all(f"WHERE note = '{text}' →" in shown.output for text in ("[red]a[/red]", "[/]", ":smiley:"))


def test_what_is_too_long_for_the_book_is_marked_and_whole_in_the_release(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sfumato.session.session.LONGEST", 40)
    session = opened()
    release = session.sql("SELECT COUNT(*) AS n FROM visits WHERE minutes > 3 AND age > 4", loss=sf.Pure(1), max_rows=3)
    [what] = [entry.body["what"] for entry in session.ledger.entries(0) if entry.kind == "charged"]
    assert what == "SELECT COUNT(*) AS n FROM visits WHERE …"
    assert session.releases()[0].how.asked == release.how.asked


def test_releases_that_were_stored_before_are_read_as_they_were() -> None:
    how = How("laplace", (("scale", "2"),), ("clamp to [0, 1]",), proofs=("proofs/additive.md#laplace",))
    plain = release_to_plain(Release(3.5, sf.Pure(1), "a row", how))
    assert set(plain["how"]) == {  # type: ignore[arg-type]
        *("mechanism", "parameters", "steps", "postprocessing", "claims", "proofs", "failure")
    }
    assert release_from_plain(plain).how == how
    told = How("laplace", asked="SELECT 1", cuts=(Cut(Cutting.UNITS, "some", "me"),))
    assert release_from_plain(json.loads(json.dumps(release_to_plain(Release(1, sf.Pure(1), "", told))))).how == told
    for wrong in (["UNITS", "some"], ["NOTHING", "some", "me"], ["UNITS", "some", 3], "UNITS", []):
        broken = {**plain, "how": {**plain["how"], "cuts": [wrong]}}  # type: ignore[dict-item]
        with pytest.raises(sf.errors.UnknownFormat):
            release_from_plain(broken)
    with pytest.raises(sf.errors.UnknownFormat):
        release_from_plain({**plain, "how": {**plain["how"], "more": ""}})  # type: ignore[dict-item]


# Charts


def marks(chart: Any) -> list[str]:
    """Gives the marks of a chart that is one panel, from the back to the front."""
    return [layer["mark"]["type"] for layer in chart.to_dict()["layer"]]


def test_captions_say_what_was_asked_and_cut(session: Session) -> None:
    words = headline(session.sql(ASKED, loss=sf.Pure(1), **EACH).plot())
    assert "Asked: SELECT site, COUNT(*) AS n FROM visits" in words
    assert "Cut: at most 2 groups of a visitor count; at most 3 rows of a visitor in each group count" in words
    assert "covers the noise with 95% confidence, by itself, and not what was cut" in words
    assert "exact value" not in words


def test_a_column_without_an_error_is_named(session: Session) -> None:
    sql = "SELECT site, COUNT(*) AS n, MEDIAN(minutes) AS middle FROM visits GROUP BY site"
    assert "middle has no stated error" in headline(session.sql(sql, loss=sf.Pure(1), **EACH).plot())


EDGES = "[0, 10, 20, 30, 40, 50, 60, 90]"


def test_the_bins_of_a_histogram_are_one_chart(session: Session) -> None:
    release = session.sql(f"SELECT HISTOGRAM(minutes, {EDGES}) AS h FROM visits", loss=sf.Pure(1), max_rows=3)
    chart = release.plot()
    assert marks(chart) == ["rect", "rule"]
    [bins] = tables(chart).values()
    assert [(row["x"], row["x2"]) for row in bins] == [*((x, x + 10) for x in range(0, 60, 10)), (60, 90)]
    assert [row["value"] for row in bins] == [release.value.to_dict()[name][0] for name in release.value.names]
    assert "not drawn" not in headline(chart)
    assert "h_0_10 … h_60_90" in headline(chart)


def test_the_bins_of_each_group_are_one_chart(session: Session) -> None:
    sql = f"SELECT site, HISTOGRAM(minutes, {EDGES}) AS h, COUNT(*) AS n FROM visits GROUP BY site"
    chart = session.sql(sql, loss=sf.Pure(1), **EACH).plot()
    assert [len(rows) for rows in tables(chart).values()] == [7, 7, 7, 7, 4]  # three sites, and rows that name none
    assert "not drawn" not in headline(chart)


def test_bins_are_stored_with_the_answer(session: Session) -> None:
    release = session.sql("SELECT HISTOGRAM(minutes, [0, 45.5, 90]) AS h FROM visits", loss=sf.Pure(1), max_rows=3)
    again = release_from_plain(json.loads(json.dumps(release_to_plain(release))))
    told = "HISTOGRAM(minutes, [0, 45.5, 90])"
    assert [column.bin for column in again.value.columns] == [
        Bin(told, "minutes", 0, 45.5),
        Bin(told, "minutes", 45.5, 90),
    ]
