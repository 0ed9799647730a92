"""All columns of a question are about the same part of a person: shares and averages are those of what was there."""

from __future__ import annotations

import random
from collections import Counter
from fractions import Fraction
from functools import cache
from typing import Any

import pyarrow as pa
import pytest
from tests.reference.planning import catalog_of
from tests.unit.query.opened import MUCH, ready, session_of

import sfumato as sf
from sfumato.query.nodes.questions import Count, Statistic, StatisticValue
from sfumato.query.plan.unify_statistics import unified
from sfumato.query.sql import read_sql
from sfumato.session.dataset import Dataset
from sfumato.session.open_data import open_tables

SAID = {"source": "a test"}
BOOK: dict[str, Any] = {
    "codebook": 1,
    "title": "Flights of planes",
    "unit": {"protects": "a plane", "id": "tail"},
    "tables": {
        "flights": {
            "columns": {
                "tail": {"type": "int"},
                "carrier": {"categories": ["UA", "AA"], **SAID},
                "delay": {"type": "int", "between": [0, 100], "nullable": True, **SAID},
                "origin": {"categories": ["JFK", "LGA", "EWR"], **SAID},
            }
        }
    },
}
MOST = 5
"""Rows of a plane that are kept in each group."""

SPELLINGS = (
    "SUM(CASE WHEN delay > 60 THEN 1 ELSE 0 END)",
    "SUM(CASE WHEN delay > 60 THEN 1 END)",
    "COUNT_IF(delay > 60)",
    "COUNT(*) FILTER (WHERE delay > 60)",
    "COUNT(CASE WHEN delay > 60 THEN 1 END)",
    "COUNT(CASE WHEN delay > 60 THEN 'late' END)",
    "SUM(CASE WHEN NOT delay > 60 THEN 0 WHEN delay IS NULL THEN 0 ELSE 1 END)",
    "SUM(CASE WHEN delay > 60 THEN delay - delay + 1 ELSE 0 END)",
    "SUM((delay > 60)::INT)",
)


@cache
def flights() -> list[dict[str, Any]]:
    """Makes planes of which few fly often, as in the flights from New York; about a fifth are late, a tenth unknown."""
    rng = random.Random(5)
    rows = []
    for tail in range(150):
        for _ in range(int(2 + 150 * (tail / 150) ** 4)):
            late = rng.random() < 0.21
            delay = None if rng.random() < 0.1 else rng.randrange(61, 101) if late else rng.randrange(0, 61)
            origin = rng.choices(["JFK", "LGA", "EWR"], [8, 1, 1])[0]
            rows.append({"tail": tail, "carrier": "UA" if tail % 2 else "AA", "delay": delay, "origin": origin})
    return rows


@cache
def data() -> Dataset:
    return Dataset({"flights": pa.Table.from_pylist(flights())}, codebook=sf.Codebook.read(BOOK), name="flights")


def answer(text: str, **settings: Any) -> dict[str, Any]:
    """Gives the columns of an answer, with next to no noise."""
    found = session_of(data()).sql(text, loss=MUCH, **settings).value
    return {column.name: column.values for column in found.columns}


def kept(value: Any = lambda row: 1) -> float:
    """Adds up over the rows of each plane and carrier, as if `MOST` of its rows were there."""
    many = Counter(row["tail"] for row in flights())
    return float(sum(Fraction(value(row)) * min(1, Fraction(MOST, many[row["tail"]])) for row in flights()))


def late(row: dict[str, Any]) -> int:
    return row["delay"] is not None and row["delay"] > 60


@pytest.mark.parametrize("spelling", SPELLINGS)
def test_a_share_is_the_share_of_the_rows_that_are_kept(spelling: str) -> None:
    found = answer(f"SELECT {spelling} AS late, COUNT(*) AS n FROM flights", max_rows_per_group=MOST)
    assert found["n"][0] == kept()
    assert abs(found["late"][0] - kept(late)) <= 1
    truth = sum(map(late, flights())) / len(flights())
    assert abs(found["late"][0] / found["n"][0] - truth) < 0.03, "and they are like the others"


def test_an_average_of_cases_is_the_ratio_of_two_counts() -> None:
    asked = "AVG(CASE WHEN delay > 60 THEN 1 ELSE 0 END) AS share, AVG(delay) AS mean, COUNT(delay) AS known"
    found = answer(f"SELECT {asked} FROM flights", max_rows_per_group=MOST)
    assert found["share"][0] == pytest.approx(kept(late) / kept(), abs=1e-4)
    known = kept(lambda row: row["delay"] is not None)
    assert abs(found["known"][0] - known) <= 1
    assert found["mean"][0] == pytest.approx(kept(lambda row: row["delay"] or 0) / known, abs=1e-3)


def test_sums_under_conditions_are_bounded_as_the_rows_are() -> None:
    asked = "SUM(delay) FILTER (WHERE origin = 'LGA') AS a, SUM(CASE WHEN origin = 'LGA' THEN delay END) AS b"
    found = answer(f"SELECT {asked} FROM flights", max_rows_per_group=MOST)
    truth = kept(lambda row: (row["delay"] or 0) * (row["origin"] == "LGA"))
    assert abs(found["a"][0] - truth) <= 1
    assert found["a"][0] == found["b"][0]


def test_a_histogram_counts_as_conditions_do() -> None:
    asked = "HISTOGRAM(delay, [0, 61, 100]) AS h, COUNT_IF(delay > 60) AS late, COUNT(*) AS n"
    found = answer(f"SELECT {asked} FROM flights", max_rows_per_group=MOST)
    assert abs(found["h_61_100"][0] - kept(late)) <= 1
    assert abs(found["h_61_100"][0] - found["late"][0]) <= 1
    assert abs(found["h_0_61"][0] + found["h_61_100"][0] - kept(lambda row: row["delay"] is not None)) <= 1


def test_conditions_of_a_histogram_leave_nothing_more() -> None:
    asked = "HISTOGRAM(delay, [0, 61, 100]) FILTER (WHERE origin = 'LGA') AS h"
    found = answer(f"SELECT {asked} FROM flights", max_rows_per_group=MOST)
    assert abs(found["h_61_100"][0] - kept(lambda row: late(row) and row["origin"] == "LGA")) <= 1


def test_rows_that_are_cut_are_like_those_that_stay() -> None:
    """Values that a plane has often must not count as little as those that it has once."""
    shares = Counter(row["origin"] for row in flights())
    run = ready(
        session_of(data()), "SELECT TOP_K(origin, 1) AS t FROM flights", loss=sf.Pure(1), max_rows_per_group=MOST
    )
    (special,) = run.levels[0].runs
    _, held = open_tables({"flights": pa.Table.from_pylist(flights())}, sf.Codebook.read(BOOK))
    computed = held.engine.run(special.cells)
    counts = dict(zip(computed.inner[0], map(int, computed.numbers[0]), strict=True))
    total = sum(counts.values())
    assert total == kept()
    for origin, many in shares.items():
        assert abs(counts[origin] / total - many / len(flights())) < 0.05


def test_rows_kept_in_all_are_like_those_that_go() -> None:
    narrow = {
        **BOOK,
        "tables": {"flights": {"columns": {k: BOOK["tables"]["flights"]["columns"][k] for k in ("tail", "origin")}}},
    }
    few = Dataset(
        {"flights": pa.Table.from_pylist(flights()).select(["tail", "origin"])}, codebook=sf.Codebook.read(narrow)
    )
    found = (
        session_of(few).sql("SELECT origin, COUNT(*) AS n FROM flights GROUP BY origin", loss=MUCH, max_rows=MOST).value
    )
    counts = dict(zip(found["origin"].values, found["n"].values, strict=True))
    for origin, many in Counter(row["origin"] for row in flights()).items():
        assert abs(counts[origin] / kept() - many / len(flights())) < 0.05


def statistic_of(text: str) -> Statistic:
    question = read_sql(f"SELECT {text} AS x FROM flights", catalog_of(BOOK), ()).question
    assert question is not None
    ((_, made),) = unified(question).columns
    assert isinstance(made, StatisticValue)
    return made.statistic


def test_spellings_of_one_statistic_are_one() -> None:
    plain = SPELLINGS[:6]
    found = {statistic_of(text) for text in plain}
    assert len(found) == 1
    (one,) = found
    assert isinstance(one, Count)
    every = ", ".join(f"{text} AS c{place}" for place, text in enumerate(plain))
    run = ready(session_of(data()), f"SELECT {every} FROM flights", loss=sf.Pure(1), max_rows_per_group=MOST)
    assert len(run.levels[0].tallies) == 1, "it is paid for once"


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("SUM(1)", "COUNT(*)"),
        ("COUNT(1)", "COUNT(*)"),
        ("COUNT_IF(delay IS NOT NULL)", "COUNT(delay)"),
        ("SUM(CASE WHEN origin = 'JFK' THEN delay ELSE 0 END)", "SUM(delay) FILTER (WHERE origin = 'JFK')"),
        ("AVG(CASE WHEN origin = 'JFK' THEN delay END)", "AVG(delay) FILTER (WHERE origin = 'JFK')"),
        ("MEDIAN(CASE WHEN origin = 'JFK' THEN delay END)", "MEDIAN(delay) FILTER (WHERE origin = 'JFK')"),
        (
            "COUNT(CASE WHEN delay > 60 THEN 1 END) FILTER (WHERE origin = 'JFK')",
            "COUNT(*) FILTER (WHERE origin = 'JFK' AND delay > 60)",
        ),
    ],
)
def test_more_spellings_of_one_statistic(one: str, other: str) -> None:
    assert statistic_of(one) == statistic_of(other)


@pytest.mark.parametrize(
    "text",
    [
        "AVG(CASE WHEN origin = 'JFK' THEN delay ELSE 0 END)",
        "SUM(CASE WHEN origin = 'JFK' THEN 1 ELSE 2 END)",
        "COUNT(CASE WHEN origin = 'JFK' THEN 1 ELSE 0 END)",
        "COUNT(DISTINCT delay)",
    ],
)
def test_what_is_not_the_same_stays_apart(text: str) -> None:
    question = read_sql(f"SELECT {text} AS x FROM flights", catalog_of(BOOK), ()).question
    assert question is not None
    assert unified(question) == question


def test_where_nothing_is_scaled_counts_stay_whole() -> None:
    table = {**BOOK["tables"]["flights"], "contributions": {"rows": 200, "by": "fact", **SAID}}
    book = {**BOOK, "tables": {"flights": table}}
    own = Dataset({"flights": pa.Table.from_pylist(flights())}, codebook=sf.Codebook.read(book))
    run = ready(session_of(own), "SELECT COUNT_IF(delay > 60) AS n FROM flights", loss=sf.Pure(1))
    assert [tally.bits for tally in run.levels[0].tallies] == [0]  # type: ignore[attr-defined]
