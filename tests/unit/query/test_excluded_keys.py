"""What conditions exclude by public facts is not answered: no row can have such a key, whatever the data is."""

from __future__ import annotations

import datetime
import itertools
import random
from functools import cache
from typing import Any

import pyarrow as pa
import pytest
from tests.unit.query.opened import MUCH, ready, session_of

import sfumato as sf
from sfumato.errors import QueryRefused
from sfumato.session.dataset import Dataset
from sfumato.session.open_data import open_tables

SAID = {"source": "a test"}
SURE = {"nullable": False, **SAID}
COLUMNS: dict[str, Any] = {
    "u": {"type": "int"},
    "month": {"type": "int", "between": [1, 12], **SAID},
    "day": {"type": "date", "between": ["2024-01-01", "2024-12-31"], **SURE},
    "site": {"categories": ["north", "south", "east"], **SURE},
    "kind": {"categories": ["a", "b"], **SAID},
    "paid": {"type": "bool"},
    "x": {"type": "float", "between": [0, 10], **SAID},
    "note": {"type": "str"},
}
BOOK = {
    "codebook": 1,
    "title": "Visits",
    "unit": {"protects": "a person", "id": "u"},
    "tables": {
        "t": {"columns": COLUMNS, "contributions": {"rows": 3, **SAID}},
        "sites": {
            "public": True,
            "key": ["place"],
            "columns": {"place": {"type": "str"}, "region": {"categories": ["N", "S"], **SURE}},
        },
    },
}
DAY = datetime.date


@cache
def data() -> Dataset:
    rng = random.Random(1)
    rows = [
        {
            "u": place % 100,
            "month": rng.choice([None, *range(1, 13)]),
            "day": DAY(2024, 1, 1) + datetime.timedelta(rng.randrange(366)),
            "site": rng.choice(["north", "south", "east"]),
            "kind": rng.choice(["a", "b", None]),
            "paid": rng.choice([True, False, None]),
            "x": rng.choice([None, 1.0, 7.5]),
            "note": rng.choice(["p", "q"]),
        }
        for place in range(300)
    ]
    sites = pa.table({"place": ["north", "south", "east"], "region": ["N", "S", "S"]})
    return Dataset({"t": pa.Table.from_pylist(rows), "sites": sites}, codebook=sf.Codebook.read(BOOK), name="t")


def keys(text: str, **settings: Any) -> list[tuple[Any, ...]]:
    (level,) = ready(session_of(data()), text, loss=sf.Pure(1), **settings).levels
    assert level.listed is not None
    return list(zip(*level.listed.columns, strict=True))


def by(what: str, where: str, name: str = "k") -> str:
    return f"SELECT {what} AS {name}, COUNT(*) AS n FROM t WHERE {where} GROUP BY {name}"


@pytest.mark.parametrize(
    ("where", "expected"),
    [
        ("month IN (6, 7)", [6, 7]),
        ("month = 6", [6]),
        ("month >= 6 AND month < 8", [6, 7]),
        ("month BETWEEN 6 AND 7", [6, 7]),
        ("month IS NOT NULL", list(range(1, 13))),
        ("month IS NULL OR month = 3", [None, 3]),
        ("NOT month <= 10", [11, 12]),
        ("month * 2 = 8", [4]),
        ("month IN (6, 7) AND x > 3", [6, 7]),
        ("month = 6 OR x > 3", [None, *range(1, 13)]),
        ("note = 'p'", [None, *range(1, 13)]),
        ("COALESCE(month, 0) = 0", [None]),
        ("month > 10 AND kind = 'a' AND site = 'east'", [11, 12]),
    ],
)
def test_conditions_on_a_key(where: str, expected: list[Any]) -> None:
    assert keys(by("month", where)) == [(one,) for one in expected]


@pytest.mark.parametrize(
    ("what", "where", "expected"),
    [
        ("MONTH(day)", "day >= DATE '2024-11-15'", [11, 12]),
        ("MONTH(day)", "day BETWEEN DATE '2024-03-05' AND DATE '2024-04-01'", [3, 4]),
        ("QUARTER(day)", "MONTH(day) IN (1, 12)", [1, 4]),
        ("day", "day < DATE '2024-01-03'", [DAY(2024, 1, 1), DAY(2024, 1, 2)]),
        ("x > 5", "x > 5", [True]),
        ("paid", "paid", [True]),
        ("paid", "NOT paid", [False]),
        ("CASE WHEN month < 7 THEN 'early' ELSE 'late' END", "month IN (1, 2)", ["early"]),
        ("site", "site <> 'south'", ["north", "east"]),
    ],
)
def test_conditions_on_what_keys_are_made_of(what: str, where: str, expected: list[Any]) -> None:
    assert sorted(keys(by(what, where))) == sorted((one,) for one in expected)


def test_conditions_across_keys() -> None:
    text = "SELECT kind, site, COUNT(*) AS n FROM t WHERE (kind = 'a') = (site = 'north') GROUP BY kind, site"
    assert set(keys(text)) == {("a", "north"), ("b", "south"), ("b", "east")}
    chained = "SELECT site, COUNT(*) AS n FROM t WHERE (kind = 'a') = (site = 'north') AND kind = 'b' GROUP BY site"
    assert set(keys(chained)) == {("south",), ("east",)}


@pytest.mark.parametrize(
    "source",
    [
        "(SELECT u, month AS m FROM t WHERE month IN (6, 7))",
        "(SELECT u, month + 0 AS m FROM t) WHERE m IN (6, 7)",
        "(SELECT u, m FROM (SELECT u, month AS m, month - 5 AS z FROM t) WHERE z IN (1, 2))",
        "(SELECT u, month AS m, SUM(x) AS s FROM t WHERE month IN (6, 7) GROUP BY u, month)",
        "(SELECT t.u AS u, t.month AS m FROM t JOIN sites ON t.site = sites.place) WHERE m IN (6, 7)",
        "(SELECT t.u AS u, t.month AS m FROM t LEFT JOIN sites ON t.site = sites.place WHERE t.month IN (6, 7))",
    ],
)
def test_conditions_on_the_way(source: str) -> None:
    assert keys(f"SELECT m, COUNT(*) AS n FROM {source} GROUP BY m", max_rows_per_group=3) == [(6,), (7,)]


def test_what_matches_nothing_met_no_condition_of_the_right_side() -> None:
    right = "(SELECT place, region FROM sites WHERE region = 'N')"
    joined = f"SELECT region, COUNT(*) AS n FROM t %s JOIN {right} AS s ON t.site = s.place GROUP BY region"
    assert keys(joined % "") == [("N",)]
    assert set(keys(joined % "LEFT")) == {(None,), ("N",), ("S",)}


def test_keys_of_whoever_asks() -> None:
    given = sf.KeySet.of(k=[*range(1, 13)])
    assert keys(by("month", "month IN (6, 7)"), keys=given) == [(6,), (7,)]
    assert keys(by("MONTH(day)", "day >= DATE '2024-11-15'"), keys=given) == [(11,), (12,)]
    notes = sf.KeySet.of(k=["p", "q", "r"])
    assert keys(by("note", "note <> 'q'"), keys=notes) == [("p",), ("r",)]
    assert keys(by("note", "LENGTH(note) = 1 AND x > 1"), keys=notes) == [("p",), ("q",), ("r",)]
    pairs = sf.KeySet.rows(["k", "note"], [(1, "p"), (1, "q"), (2, "p")])
    text = "SELECT month AS k, note, COUNT(*) AS n FROM t WHERE month = 1 OR note = 'q' GROUP BY k, note"
    assert keys(text, keys=pairs) == [(1, "p"), (1, "q")]


def test_totals_agree_over_the_keys_that_are_left() -> None:
    text = "SELECT kind, month, COUNT(*) AS n FROM t WHERE month IN (6, 7) AND kind = 'a' GROUP BY CUBE (kind, month)"
    levels = ready(session_of(data()), text, loss=sf.Pure(1)).levels
    assert sorted(len(level.listed) if level.listed else 1 for level in levels) == [1, 1, 2, 2]
    found = session_of(data()).sql(text, loss=MUCH).value
    counts = dict(zip(zip(found["kind"].values, found["month"].values, strict=True), found["n"].values, strict=True))
    assert counts[None, None] == counts["a", None] == counts["a", 6] + counts["a", 7]


def test_most_frequent_values_are_of_those_that_rows_can_have() -> None:
    for text in (
        "SELECT TOP_K(month, 2) AS t FROM t WHERE month IN (6, 7)",
        "SELECT TOP_K(month, 2) FILTER (WHERE month IN (6, 7)) AS t FROM t",
        "SELECT TOP_K(CASE WHEN month IN (6, 7) THEN month END, 2) AS t FROM t",
    ):
        found = session_of(data()).sql(text, loss=sf.Pure("1/1000")).value
        assert {found["t_1"].values[0], found["t_2"].values[0]} == {6, 7}, text
    with pytest.raises(QueryRefused, match="month can have 2 public values here: ask for that many at most, not 3"):
        session_of(data()).sql("SELECT TOP_K(month, 3) AS t FROM t WHERE month IN (6, 7)", loss=sf.Pure(1))


def test_where_nothing_is_left_the_question_is_refused_before_it_is_charged() -> None:
    session = session_of(data())
    for where in ("month = 6 AND month = 7", "kind = 'a' AND month > 3 AND kind = 'b'"):
        with pytest.raises(QueryRefused, match="can be true for no row"):
            session.sql(by("month", where).replace("AS k", "AS k, kind").replace("BY k", "BY k, kind"), loss=sf.Pure(1))
    with pytest.raises(QueryRefused, match="no row can meet the conditions"):
        session.sql(
            by("month", "month = 7").replace("FROM t", "FROM (SELECT * FROM t WHERE month = 6)"), loss=sf.Pure(1)
        )
    with pytest.raises(QueryRefused, match="no row can meet the conditions"):
        session.sql(by("note", "note = 'z'"), loss=sf.Pure(1), keys=sf.KeySet.of(k=["p", "q"]))
    assert session.spent.epsilon == 0


CONDITIONS = (
    "month IN (2, 3)", "month <> 5", "kind = 'a'", "paid", "NOT paid", "site = 'north' OR month = 1", "month IS NULL",
    "(kind = 'a') = paid", "x > 3", "COALESCE(month, 2) = 2", "day < DATE '2024-02-01'", "MONTH(day) = month",
)  # fmt: skip
KEYS = ("month", "kind", "paid", "site", "MONTH(day)", "month % 4", "CASE WHEN paid THEN kind ELSE site END")


@pytest.mark.parametrize("seed", range(12))
def test_no_row_is_lost(seed: int) -> None:
    """All rows that meet the conditions are in the groups that are answered: the keys left out had none."""
    rng = random.Random(seed)
    session = session_of(data())
    where = f" {rng.choice(['AND', 'OR'])} ".join(rng.sample(CONDITIONS, rng.choice([1, 2, 3])))
    grouped = rng.sample(KEYS, rng.choice([1, 2]))
    shown = ", ".join(f"{key} AS k{place}" for place, key in enumerate(grouped))
    names = ", ".join(f"k{place}" for place in range(len(grouped)))
    every = 0
    try:
        every = session.sql(f"SELECT COUNT(*) AS n FROM t WHERE {where}", loss=sf.Pure(10**5)).value["n"].values[0]
        found = session.sql(f"SELECT {shown}, COUNT(*) AS n FROM t WHERE {where} GROUP BY {names}", loss=sf.Pure(10**5))
    except QueryRefused:
        assert every == 0
    else:
        assert sum(found.value["n"].values) == every, (where, grouped)


def test_every_key_that_a_row_can_have_is_there() -> None:
    """Of all rows that the lists allow, each that meets a condition has its key among those that are left."""
    months, kinds, paid = [None, *range(1, 13)], [None, "a", "b"], [None, True, False]
    rest = {"day": DAY(2024, 1, 1), "site": "east", "x": 1.0, "note": ""}
    rows = [
        {"u": place, "month": month, "kind": kind, "paid": flag, **rest}
        for place, (month, kind, flag) in enumerate(itertools.product(months, kinds, paid))
    ]
    table = pa.Table.from_pylist(rows)
    whole, (_, held) = Dataset({"t": table}, codebook=_alone()), open_tables({"t": table}, _alone())
    for where in ("(kind = 'a') = paid", "month > 10 OR paid", "(month < 3) = paid AND kind IS NOT NULL"):
        text = f"SELECT month, kind, COUNT(*) AS n FROM t WHERE {where} GROUP BY month, kind"
        (level,) = ready(session_of(whole), text, loss=sf.Pure(1)).levels
        assert level.listed is not None
        counts = held.engine.run(level.cells)
        assert counts.places is not None
        assert sorted(counts.places) == list(range(len(level.listed))), "and no other is"


def _alone() -> sf.Codebook:
    return sf.Codebook.read({**BOOK, "tables": {"t": BOOK["tables"]["t"]}})  # type: ignore[index]
