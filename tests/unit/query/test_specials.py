"""Quantiles, histograms and top values, asked in SQL and answered by DuckDB."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import sfumato as sf
from sfumato.core.grouped_distance import GroupedDistance
from sfumato.entropy import ReplayEntropy
from sfumato.errors import BadArgument, QueryRefused
from sfumato.exact import Extended
from sfumato.query.build.settings import Settings
from sfumato.query.nodes.expressions import Column
from sfumato.query.nodes.facts import Facts
from sfumato.query.nodes.kinds import Kind
from sfumato.query.nodes.questions import Histogram, Quantile, Question, TopValues
from sfumato.query.plan.bins import FLOAT_BINS, MOST_VALUES, Bins
from sfumato.query.plan.bounds import Placed
from sfumato.query.plan.compile import compile_question
from sfumato.query.plan.engine_plan import Bound, Cells
from sfumato.query.plan.expand_lists import expanded, items
from sfumato.query.plan.find_selections import special_runs
from sfumato.query.plan.grounding import Ground
from sfumato.query.plan.keys import KeyFinder
from sfumato.query.plan.quantiles import Quantiles
from sfumato.query.plan.selection_statistics import Counts, counted
from sfumato.query.sql import read_sql
from sfumato.session.open_data import open_tables
from sfumato.session.session import Session

SAID = {"source": "the book"}
SITES = ["north", "south", "east"]
BOOK: dict[str, Any] = {
    "codebook": 1,
    "title": "Visits",
    "created": "2026-01-10",
    "unit": {"protects": "a person", "id": "user_id"},
    "tables": {
        "visits": {
            "columns": {
                "user_id": {"type": "str"},
                "site": {"categories": SITES, "nullable": False, **SAID},
                "minutes": {"type": "float", "between": [0, 90], "nullable": True, **SAID},
                "pages": {"type": "int", "between": [0, 9], "nullable": False, **SAID},
                "note": {"type": "str"},
                "paid": {"type": "bool", "nullable": True},
                "wait": {"type": "float"},
            }
        }
    },
}
ROW = {"rows": 1, **SAID}
DEAR = sf.Pure(4000)
BOUNDS: dict[str, Any] = {"max_groups": 2, "max_rows_per_group": 2}


def visits(rows: int = 4000) -> pl.DataFrame:
    rng = np.random.default_rng(7)
    minutes = [None if place % 50 == 0 else float(place % 90) + 0.25 for place in range(rows)]
    return pl.DataFrame(
        {
            "user_id": [f"u{place // 2}" for place in range(rows)],
            "site": [SITES[place % 2] for place in range(rows)],
            "minutes": minutes,
            "pages": rng.choice(10, rows, p=[0.3, 0.2, 0.1, 0.1, 0.05, 0.05, 0.05, 0.05, 0.05, 0.05]),
            "note": [f"n{place % 3}" for place in range(rows)],
            "paid": [None if place % 7 == 0 else place % 3 == 0 for place in range(rows)],
            "wait": np.ones(rows),
        }
    )


@pytest.fixture
def session(tmp_path: Path) -> Session:
    data = sf.Dataset({"visits": visits()}, codebook=BOOK, name="visits")
    return data.session(limit=sf.Approx(10**6, Fraction(1, 100)), ledger=tmp_path / "book.db")


def ask(session: Session, text: str, **settings: Any) -> dict[str, list[Any]]:
    given = {"loss": DEAR, **BOUNDS, **settings}
    return dict(session.sql(text, **given).value.to_dict())


def test_a_median_alone_is_one_number(session: Session) -> None:
    answer = session.sql("SELECT MEDIAN(minutes) AS m FROM visits", loss=DEAR, max_rows_per_group=2).value
    truth = visits()["minutes"].median()
    assert isinstance(truth, float)
    assert abs(answer.only() - truth) < 1
    assert answer["m"].low is None, "no interval is on file"


def test_quantiles_of_listed_groups_have_a_value_everywhere(session: Session) -> None:
    text = "SELECT site, QUANTILE(minutes, [0.25, 0.75]), MIN(pages) AS least, MAX(pages) AS most FROM visits"
    found = ask(session, f"{text} GROUP BY site")
    low, high = (found[name] for name in found if name.startswith("quantile"))
    assert found["site"] == SITES
    assert all(abs(value - 22.5) < 2 for value in low[:2])
    assert all(abs(value - 67.5) < 2 for value in high[:2])
    assert all(0 <= low[2] <= high[2] <= 90 for _ in "east"), "a group without rows has a value as any other"
    assert found["least"][:2] == [0, 0]
    assert found["most"][:2] == [9, 9]
    assert all(type(value) is int for value in found["least"] + found["most"])


def test_quantiles_take_part_in_arithmetic_conditions_and_order(session: Session) -> None:
    text = "SELECT site, MEDIAN(pages) + 1 AS m FROM visits WHERE site <> 'east' GROUP BY site"
    found = ask(session, f"{text} HAVING MEDIAN(pages) >= 0 ORDER BY MAX(pages), site DESC")
    truth = {name[0]: part["pages"].median() for name, part in visits().group_by("site")}
    shown = dict(zip(found["site"], found["m"], strict=True))
    assert all(abs(shown[name] - truth[name] - 1) <= 1 for name in truth)


def test_a_histogram_has_a_column_for_each_bin(session: Session) -> None:
    text = "SELECT site, HISTOGRAM(minutes, [0, 30, 60.5, 80]) AS h FROM visits GROUP BY site"
    answer = session.sql(text, loss=DEAR, **BOUNDS).value
    assert answer.names == ("site", "h_0_30", "h_30_60.5", "h_60.5_80")
    for name, (low, high) in {"h_0_30": (0, 30), "h_30_60.5": (30, 60.5), "h_60.5_80": (60.5, 80.1)}.items():
        column = answer[name]
        for place, site in enumerate(SITES):
            inside = visits().filter((pl.col("site") == site) & (pl.col("minutes") >= low) & (pl.col("minutes") < high))
            assert column.low is not None
            assert column.high is not None
            assert column.low[place] <= len(inside) <= column.high[place]
            assert abs(int(column.values[place]) - len(inside)) <= 2


def test_edges_belong_to_the_bin_above_and_the_last_to_the_last(session: Session) -> None:
    found = ask(session, "SELECT HISTOGRAM(pages, [0, 1, 2, 3]) AS h FROM visits", max_groups=None)
    seen = Counter(visits()["pages"].to_list())
    truth = [seen[0], seen[1], seen[2] + seen[3]]
    assert all(abs(one[0] - count) <= 2 for one, count in zip(found.values(), truth, strict=True))


def test_top_values_are_columns_in_order(session: Session) -> None:
    found = ask(session, "SELECT TOP_K(pages, 3) AS t, TOP_K(site, 2) AS s, TOP_K(paid, 1) AS p FROM visits")
    assert list(found) == ["t_1", "t_2", "t_3", "s_1", "s_2", "p_1"]
    assert [found["t_1"], found["t_2"]] == [[0], [1]]
    assert {found["s_1"][0], found["s_2"][0]} == {"north", "south"}
    assert found["p_1"] == [False]


def test_frames_have_the_same_columns(session: Session) -> None:
    rows = session.table("visits")
    asked_for = rows.group_by("site").agg(
        m=rows.minutes.quantile(0.9, where=rows.pages > 1), h=rows.pages.histogram([0, 5, 9]), t=rows.site.top_values(1)
    )
    found = asked_for.release(loss=DEAR, **BOUNDS).value
    assert found.names == ("site", "m", "h_0_5", "h_5_9", "t_1")
    assert found["t_1"].values.tolist()[:2] == ["north", "south"]
    assert all(abs(value - 81) < 3 for value in found["m"].values.tolist()[:2])


def test_keys_that_are_not_listed_are_chosen_first(session: Session) -> None:
    loss = sf.Approx(400, Fraction(1, 10**6))
    text = "SELECT note, COUNT(*) AS n, MEDIAN(pages) AS m, HISTOGRAM(pages, [0, 5, 9]) AS h FROM visits GROUP BY note"
    found = ask(session, text, loss=loss, max_groups=2)
    assert sorted(found["note"]) == ["n0", "n1", "n2"]
    assert all(0 <= value <= 3 for value in found["m"])
    for note, low, high, count in zip(found["note"], found["h_0_5"], found["h_5_9"], found["n"], strict=True):
        truth = visits().filter(pl.col("note") == note)
        assert abs(low - len(truth.filter(pl.col("pages") < 5))) < 20
        assert abs(low + high - count) < 20


def test_names_of_columns_that_are_taken_get_an_underscore() -> None:
    pages = Column("pages", Kind.INT, Facts((Fraction(0), Fraction(9))))
    question = asked("SELECT COUNT(*) AS h_1, TOP_K(pages, 2) AS h FROM visits")
    assert [name for name, _ in expanded(question).columns] == ["h_1", "h_1_", "h_2"]
    assert [name for name, _ in items(Histogram(pages, (-5, 0, 0.5)))] == ["-5_0", "0_0.5"]
    assert [name for name, _ in items(TopValues(pages, 2))] == ["1", "2"]


REFUSED = {
    "SELECT TOP_K(note, 2) AS t FROM visits": "the values of note are not public",
    "SELECT TOP_K(site, 4) AS t FROM visits": "site can have 3 public values",
    "SELECT TOP_K(site, 1000000000000) AS t FROM visits": "at most 1,000 top values",
    f"SELECT HISTOGRAM(pages, {list(range(1002))}) AS h FROM visits": "at most 1,000 bins; got 1,001",
    "SELECT MEDIAN(wait) AS m FROM visits": "no bounds on its values",
    "SELECT site, COUNT(*) AS n FROM visits GROUP BY site HAVING HISTOGRAM(pages, [0, 9]) IS NULL": "stand alone",
    "SELECT COUNT(*) AS n, TOP_K(pages, 1) IS NULL AS x FROM visits": "stand alone",
}


@pytest.mark.parametrize("text", REFUSED, ids=range(len(REFUSED)))
def test_what_cannot_be_found_is_refused_with_a_reason(text: str, session: Session) -> None:
    with pytest.raises(QueryRefused, match=REFUSED[text]):
        session.sql(text, loss=DEAR, **BOUNDS)


def test_how_near_they_come_cannot_be_asked_for(session: Session) -> None:
    with pytest.raises(QueryRefused, match="say what to pay"):
        session.sql("SELECT MEDIAN(pages) AS m FROM visits", accuracy=(1, 0.95), max_rows_per_group=2)


def test_rows_without_a_bound_are_refused(session: Session) -> None:
    with pytest.raises(QueryRefused, match="rows"):
        session.sql("SELECT MEDIAN(pages) AS m FROM visits", loss=DEAR)


def test_weights_move_the_loss_between_columns(session: Session) -> None:
    text = "SELECT COUNT(*) AS n, HISTOGRAM(pages, [0, 5, 9]) AS h FROM visits"
    widths = []
    for weight in (1, 3):
        answer = session.sql(text, loss=sf.Pure(1), max_rows_per_group=2, weights={"h": weight}).value
        low, high = answer["h_0_5"].low, answer["h_0_5"].high
        assert low is not None
        assert high is not None
        widths.append(float(high[0] - low[0]))
    assert widths[1] == pytest.approx(widths[0] * 2 / 3, rel=0.1)
    with pytest.raises(BadArgument, match="h, n"):
        session.sql(text, loss=sf.Pure(1), max_rows_per_group=2, weights={"h_0_5": 2})


def test_the_price_is_what_was_asked_for(session: Session) -> None:
    text = "SELECT site, MEDIAN(pages), HISTOGRAM(pages, [0, 5]), TOP_K(pages, 2), SUM(pages) FROM visits GROUP BY site"
    for loss in (sf.Pure(1), sf.Approx(1, Fraction(1, 10**6))):
        paid = session.sql(text, loss=loss, **BOUNDS).loss
        assert paid.within(loss)
        assert paid.epsilon > Fraction(99, 100)


def test_other_intervals_of_the_same_answer_cost_nothing(session: Session) -> None:
    columns = "MEDIAN(pages) AS m, HISTOGRAM(pages, [0, 5, 9]) AS h, TOP_K(pages, 1) AS t"
    text = f"SELECT site, {columns} FROM visits GROUP BY site"
    first, again = (
        session.sql(text, loss=sf.Pure(1), key="once", confidence=sure, **BOUNDS).value for sure in (0.95, 0.5)
    )
    assert first.to_dict() == again.to_dict()
    assert first["h_0_5"].low is not None
    assert again["h_0_5"].low is not None
    assert float(again["h_0_5"].low[0]) > float(first["h_0_5"].low[0])


def test_an_explanation_says_how_they_are_found(session: Session) -> None:
    text = "SELECT site, MIN(pages) AS m, HISTOGRAM(pages, [0, 5, 9]) AS h FROM visits GROUP BY site"
    said = str(session.explain(f"EXPLAIN PRIVACY {text}", loss=sf.Pure(1), **BOUNDS))
    assert "quantiles 0 of pages" in said
    assert "among 10 bins; 85 rows beyond an end" in said
    assert "rows in rank" in said
    assert "rows with pages 0 to 5, 5 to 9" in said


def asked(text: str, frame: pl.DataFrame | None = None) -> Question:
    opened, _ = open_tables({"visits": visits(10) if frame is None else frame}, sf.Codebook.read(BOOK))
    found = read_sql(text, opened.catalog, ()).question
    assert found is not None
    return found


def counts_of(
    frame: pl.DataFrame, text: str, settings: Settings
) -> list[tuple[GroupedDistance, dict[Any, Counter[int]]]]:
    """Gives the counts of each run, by group and bin, as the engine makes them of a table, and how units move them;
    both in steps, where rows count in several.
    """
    opened, held = open_tables({"visits": frame}, sf.Codebook.read(BOOK))
    question = read_sql(text, opened.catalog, ()).question
    assert question is not None
    found = []
    for run in compile_question(question, settings, opened, limit=sf.Pure).levels[0].runs:
        computed = held.engine.run(run.cells)
        counts: dict[Any, Counter[int]] = {}
        groups = computed.places if run.cells.listed is not None else [0] * len(computed.numbers[0])
        assert groups is not None
        for group, bin_, rows in zip(
            groups, run.special.way.places(computed.inner[0]), computed.numbers[0], strict=True
        ):
            counts.setdefault(int(group), Counter())[int(bin_)] += int(rows)
        spread, steps = run.special.spread, 2**run.special.way.counted.bits
        found.append((GroupedDistance(spread.parts, spread.rows * steps, spread.largest * steps), counts))
    return found


def test_no_person_moves_counts_further_than_the_spread() -> None:
    """Every person of a small table is removed in turn: groups lose rows within the spread, and gain none."""
    rng = np.random.default_rng(3)
    size = 60
    frame = visits(size).with_columns(
        user_id=pl.Series([f"u{place}" for place in rng.choice(6, size, p=[0.5, 0.2, 0.1, 0.1, 0.05, 0.05])]),
        site=pl.Series(rng.choice(SITES, size)),
        minutes=pl.Series([None if one < 5 else float(one) for one in rng.uniform(0, 95, size)]),
    )
    text = "SELECT site, MEDIAN(minutes), HISTOGRAM(pages, [1, 3, 8]), TOP_K(pages, 2) FILTER (WHERE paid) FROM visits"
    settings = Settings.read(loss=sf.Pure(1), max_groups=2, max_rows_per_group=3)
    everyone = counts_of(frame, f"{text} GROUP BY site", settings)
    assert len(everyone) == 3
    reached = []
    for person in sorted(set(frame["user_id"])):
        rest = counts_of(frame.filter(pl.col("user_id") != person), f"{text} GROUP BY site", settings)
        for (spread, full), (_, less) in zip(everyone, rest, strict=True):
            moved = []
            for group, bins in full.items():
                others = less.get(group, Counter())
                assert all(bins[place] >= rows for place, rows in others.items())
                moved.append(bins.total() - others.total())
            d_in = (
                GroupedDistance(sum(map(bool, moved)), sum(moved), max(moved))
                if any(moved)
                else GroupedDistance(0, 0, 0)
            )
            assert d_in <= spread
            reached.append(d_in == spread)
    assert any(reached), "somebody has as many rows as the spread allows"


X = Column("x", Kind.INT, Facts((Fraction(0), Fraction(9)), None, nullable=True))


def bins_of(low: Extended, high: Extended, kind: Kind = Kind.FLOAT) -> Bins:
    return Bins.read(Column("x", kind, Facts((low, high), None, nullable=False)))


def test_bins_are_whole_numbers_where_these_are_few() -> None:
    few = bins_of(Fraction(-3), Fraction(5, 2), Kind.INT)
    assert (few.many, few.exact, few.middles(np.arange(few.many)).tolist()) == (6, True, [-3, -2, -1, 0, 1, 2])
    assert few.places([-3, 2, None, 99, -99]).tolist() == [0, 5, -1, 5, 0]
    most = bins_of(Fraction(0), Fraction(MOST_VALUES - 1), Kind.INT)
    assert (most.exact, most.many) == (True, MOST_VALUES)
    many = bins_of(Fraction(0), Fraction(MOST_VALUES), Kind.INT)
    assert (many.exact, many.many) == (False, FLOAT_BINS)
    assert many.middles(np.array([0, FLOAT_BINS - 1])).tolist() == [2, MOST_VALUES - 3 + 1]


def test_bins_of_huge_and_tiny_bounds() -> None:
    wide = bins_of(Fraction(-(2**63)), Fraction(2**63 - 1), Kind.INT)
    assert all(-(2**63) <= value < 2**63 for value in wide.middles(np.array([0, wide.many - 1])))
    constant = bins_of(Fraction(7), Fraction(7))
    assert (constant.many, constant.middles(np.zeros(1, dtype=np.int64)).tolist()) == (1, [7.0])
    with pytest.raises(QueryRefused, match="too wide or too narrow"):
        bins_of(Fraction(10) ** 308 * -1, Fraction(10) ** 308)
    with pytest.raises(QueryRefused, match="too wide or too narrow"):
        bins_of(Fraction(0), Fraction(1, 2**1070))
    with pytest.raises(QueryRefused, match="no whole number"):
        bins_of(Fraction(1, 3), Fraction(2, 3), Kind.INT)
    with pytest.raises(QueryRefused, match="takes numbers"):
        Bins.read(Column("t", Kind.TEXT))


@pytest.mark.parametrize("low", [-1e300, 0.0, 1e9])
def test_the_engine_finds_the_bins_that_values_lie_in(low: float) -> None:
    """Values in the middle of bins, and at both bounds, come back as the middles of their bins."""
    high = 1e300 if low < 0 else low + 90
    book = {**BOOK, "tables": {"visits": {"columns": dict(BOOK["tables"]["visits"]["columns"])}}}
    book["tables"]["visits"]["columns"]["minutes"] = {"type": "float", "between": [low, high], **SAID}
    bins = bins_of(Fraction(low), Fraction(high))
    places = np.array([0, 1, 777, FLOAT_BINS - 1])
    values = [*bins.middles(places).tolist(), low, high]
    frame = visits(6).with_columns(minutes=pl.Series(values), user_id=pl.Series(list("abcdef")))
    opened, held = open_tables({"visits": frame}, sf.Codebook.read(book))
    question = read_sql("SELECT MEDIAN(minutes) AS m FROM visits", opened.catalog, ()).question
    assert question is not None
    (run,) = (
        compile_question(question, Settings.read(loss=sf.Pure(1), max_rows_per_group=1), opened, limit=sf.Pure)
        .levels[0]
        .runs
    )
    computed = held.engine.run(run.cells)
    counts = counted(run, computed, ())
    assert counts.bins.tolist() == places.tolist()
    assert counts.rows.tolist() == [2, 1, 1, 2]


def test_cells_are_sorted_added_up_and_left_out_where_they_are_nowhere() -> None:
    counts = Counts.of(np.array([1, 0, 1, -1, 1]), np.array([2, 1, 2, 0, -1]), np.array([1, 2, 3, 4, 5]), 3)
    assert [(bins.tolist(), rows.tolist()) for bins, rows in counts] == [([1], [2]), ([2], [4]), ([], [])]
    assert counts.dense(3).tolist() == [[0, 2, 0], [0, 0, 4], [0, 0, 0]]
    assert len(Counts.of(*(np.array([], dtype=np.int64),) * 3, 0)) == 0


def test_quantiles_of_one_expression_are_found_together() -> None:
    question = asked("SELECT MEDIAN(pages), MAX(pages), MEDIAN(pages) FILTER (WHERE paid), MIN(pages) + 1 FROM visits")
    placed = Placed(Bound(), GroupedDistance(1, 1, 1), ())
    opened, _ = open_tables({"visits": visits(10)}, sf.Codebook.read(BOOK))
    public = KeyFinder(opened.engine, Ground({}), ())
    runs = special_runs(question.statistics, Cells(question.source, (), ()), placed, 1, public)
    assert [len(run.special.statistics) for run in runs] == [3, 1]


def test_each_quantile_goes_to_its_own_statistic() -> None:
    levels = [Fraction(3, 4), Fraction(1, 4), Fraction(1, 2)]
    special = Quantiles.special([Quantile(X, at) for at in levels], GroupedDistance(1, 1, 1), 1)
    counts = Counts.of(np.zeros(10, dtype=np.int64), np.arange(10), np.full(10, 1000), 1)
    found = special.priced(sf.Pure(50)).draw(counts, ReplayEntropy(1))
    assert [int(places[0]) for places in found] == [7, 2, 4] or [int(places[0]) for places in found] == [7, 2, 5]


def test_many_equal_values_are_cut_where_the_rank_says() -> None:
    """60 % of the rows are 0, the others spread evenly: the upper quartile is that of all rows, not of the rest."""
    column = Column("x", Kind.INT, Facts((Fraction(0), Fraction(1000)), None, nullable=False))
    levels = [Fraction(1, 4), Fraction(1, 2), Fraction(3, 4)]
    special = Quantiles.special([Quantile(column, at) for at in levels], GroupedDistance(1, 1, 1), 1)
    rows = np.array([60_000, *[40] * 1000])
    counts = Counts.of(np.zeros(1001, dtype=np.int64), np.arange(1001), rows, 1)
    low, middle, high = (int(places[0]) for places in special.priced(sf.Pure(1)).draw(counts, ReplayEntropy(1)))
    assert (low, middle) == (0, 0)
    assert abs(high - 375) < 60, "within the part of the block that is cut"


def test_rows_as_units_need_no_bound(tmp_path: Path) -> None:
    columns = {name: facts for name, facts in BOOK["tables"]["visits"]["columns"].items() if name != "user_id"}
    book = {**BOOK, "unit": {"protects": "a visit"}, "tables": {"visits": {"columns": columns, "contributions": ROW}}}
    data = sf.Dataset({"visits": visits().drop("user_id")}, codebook=book, name="visits")
    session = data.session(limit=sf.Pure(10**6), ledger=tmp_path / "book.db")
    answer = session.sql("SELECT MEDIAN(minutes) AS m, HISTOGRAM(pages, [0, 5, 9]) AS h FROM visits", loss=DEAR).value
    assert abs(answer["m"].values[0] - 44) < 2
    assert answer["h_0_5"].values[0] + answer["h_5_9"].values[0] == 4000
