"""Statistics of every spelling, next to what DuckDB says of the same rows; and what they are made of."""

from __future__ import annotations

import datetime
from functools import cache
from typing import Any

import duckdb
import numpy as np
import polars as pl
import pytest
from tests.reference.planning import catalog_of, planned

import sfumato as sf
from sfumato.errors import QueryRefused
from sfumato.query.plan.bins import Bins
from sfumato.query.plan.engine_plan import Total
from sfumato.query.sql import read_sql
from sfumato.session.session import Session

SAID = {"source": "a test"}
BOOK: dict[str, Any] = {
    "codebook": 1,
    "title": "Rows",
    "unit": {"protects": "a person", "id": "u"},
    "tables": {
        "t": {
            "contributions": {"rows": 1, **SAID},
            "columns": {
                "u": {"type": "int"},
                "x": {"type": "float", "between": [1, 90], "nullable": True, **SAID},
                "y": {"type": "float", "between": [-50, 150], "nullable": True, **SAID},
                "k": {"type": "int", "between": [0, 9], "nullable": False, **SAID},
                "big": {"type": "int", "between": [-1000, 3_000_001], "nullable": False, **SAID},
                "c": {"type": "bool", "nullable": False, **SAID},
                "name": {"categories": ["a", "b"], "nullable": False, **SAID},
                "day": {"type": "date", "between": ["2024-01-01", "2024-12-31"], "nullable": False, **SAID},
                "began": {
                    "type": "time",
                    "between": ["2024-05-01 03:20:10", "2024-05-20 23:59:59"],
                    "nullable": True,
                    **SAID,
                },
                "free": {"type": "date", "nullable": True},
            },
        }
    },
}
ROWS = 4000


@cache
def rows() -> pl.DataFrame:
    rng = np.random.default_rng(3)
    x = np.clip(rng.gamma(2, 10, ROWS) + 1, 1, 90)
    y = np.clip(2 + 0.8 * x + rng.normal(0, 10, ROWS), -50, 150)
    minutes = rng.integers(300, 20_000, ROWS)
    return pl.DataFrame(
        {
            "u": np.arange(ROWS),
            "x": [None if place % 50 == 0 else float(one) for place, one in enumerate(x)],
            "y": [None if place % 37 == 0 else float(one) for place, one in enumerate(y)],
            "k": rng.choice(10, ROWS, p=[0.05] * 4 + [0.4] + [0.08] * 5),
            "big": (x * 30_000).astype(int),
            "c": [place % 3 == 0 for place in range(ROWS)],
            "name": ["b" if place % 3 else "a" for place in range(ROWS)],
            "day": [datetime.date(2024, 1, 1) + datetime.timedelta(int(one)) for one in rng.integers(100, 200, ROWS)],
            "began": [
                None if place % 9 == 0 else datetime.datetime(2024, 5, 1) + datetime.timedelta(minutes=int(one))
                for place, one in enumerate(minutes)
            ],
            "free": [None] * ROWS,
        },
        schema_overrides={"free": pl.Date},
    )


@cache
def session() -> Session:
    data = sf.Dataset({"t": rows()}, codebook=BOOK, name="t")
    return data.session(limit=sf.Pure(10**12), ledger="memory:")


def both(columns: list[str]) -> list[tuple[Any, Any]]:
    """Gives what is answered for next to no noise, and what DuckDB says of the same rows."""
    text = f"SELECT {', '.join(f'{one} AS c{place}' for place, one in enumerate(columns))} FROM t"
    answer = session().sql(text, loss=sf.Pure(10**8)).value
    told = duckdb.connect().register("t", rows().to_arrow()).execute(text).fetchone()
    assert told is not None
    return [(answer[f"c{place}"].values[0], one) for place, one in enumerate(told)]


NUMBERS = [
    "VARIANCE(x)", "STDDEV_POP(x)", "SKEWNESS(x)", "KURTOSIS(x)", "KURTOSIS_POP(x)", "SKEWNESS(k)", "KURTOSIS(k)",
    "SKEWNESS(big)", "KURTOSIS(big)", "REGR_SLOPE(y, x)", "REGR_INTERCEPT(y, x)", "REGR_R2(y, x)", "REGR_COUNT(y, x)",
    "REGR_AVGX(y, x)", "REGR_AVGY(y, x)", "REGR_SXX(y, x)", "REGR_SYY(y, x)", "REGR_SXY(y, x)", "COVAR_SAMP(y, x)",
    "REGR_SLOPE(y, x) FILTER (WHERE c)", "GEOMEAN(x)", "WEIGHTED_AVG(x, k)", "SUM(k * x) / SUM(k)", "SUM(c::INT)",
    "COUNT_IF(c)", "SKEWNESS(x) FILTER (WHERE c)",
]  # fmt: skip


def test_numbers_are_those_of_duckdb_but_for_the_noise() -> None:
    answers = both(NUMBERS)
    off = {
        name: (ours, theirs)
        for name, (ours, theirs) in zip(NUMBERS, answers, strict=True)
        if abs(ours - theirs) > 1e-4 * abs(theirs)
    }
    assert not off


CHOSEN = ["MODE(k)", "MODE() WITHIN GROUP (ORDER BY name)", "MODE(k) FILTER (WHERE k < 3)", "MAD(k)", "MIN(day)"]
CHOSEN += ["MAX(day)", "MODE(c)", "QUANTILE_DISC(day, 0.3)", "APPROX_COUNT_DISTINCT(k)", "MIN(k)"]


def test_choices_are_those_of_duckdb() -> None:
    assert [ours for ours, _ in both(CHOSEN)] == [theirs for _, theirs in both(CHOSEN)]


def test_quantiles_of_times_are_right_to_a_bin() -> None:
    names = [f"QUANTILE_DISC(began, {at})" for at in (0.1, 0.5, 0.9)]
    for ours, theirs in both(names):
        assert isinstance(ours, datetime.datetime)
        assert abs(ours - theirs) <= datetime.timedelta(minutes=3)
    (far, theirs), (wide, exact) = both(["MAD(x)", "MAD(big)"])
    assert abs(far - theirs) < 0.1 and abs(wide - exact) < 1000 and type(wide.item()) is int


def test_times_are_counted_in_minutes_within_their_bounds() -> None:
    asked = read_sql("SELECT MEDIAN(began) FROM t", catalog_of(BOOK)).question
    assert asked is not None
    bins = Bins.read(asked.statistics[0].operands[0])
    assert (bins.low, bins.high, bins.exact) == (200, 20 * 1440 - 1, True)
    assert list(bins.released(np.array([0, bins.many - 1]))) == [  # type: ignore[arg-type]
        datetime.datetime(2024, 5, 1, 3, 20),
        datetime.datetime(2024, 5, 20, 23, 59),
    ]


def test_days_of_answers_can_be_compared_sorted_and_stored() -> None:
    text = "SELECT name, MAX(day) AS last FROM t GROUP BY name HAVING MAX(day) > DATE '2024-02-01' ORDER BY last"
    release = session().sql(text, loss=sf.Pure(1000))
    days = release.value["last"].values.tolist()
    assert days == sorted(days) and {type(day) for day in days} == {datetime.date}
    assert release.value.to_polars()["last"].dtype == pl.Date
    assert session().sql(text, loss=sf.Pure(1000)).value["last"].values.tolist() == days, "as the ledger kept it"


def test_days_without_bounds_are_refused_with_what_to_state() -> None:
    with pytest.raises(QueryRefused, match=r"quantile of free needs the first and the last day .*between"):
        session().sql("SELECT MAX(free) FROM t", loss=sf.Pure(1))


def test_all_moments_of_two_numbers_are_made_of_one_set_of_sums() -> None:
    names = ["SLOPE", "INTERCEPT", "R2", "COUNT", "AVGX", "AVGY", "SXX", "SXY", "SYY"]
    text = ", ".join(f"REGR_{name}(y, x) AS c{place}" for place, name in enumerate(names))
    assert len(planned(f"SELECT {text} FROM t", catalog_of(BOOK), loss=sf.Pure(1)).levels[0].cells.tallies) == 6
    moments = "AVG(x), VARIANCE(x), SKEWNESS(x), KURTOSIS(x), COUNT(x)"
    tallies = planned(f"SELECT {moments} FROM t", catalog_of(BOOK), loss=sf.Pure(1)).levels[0].cells.tallies
    assert sorted(len(one.terms) for one in tallies if isinstance(one, Total)) == [1, 2, 3, 4] and len(tallies) == 5


@pytest.mark.parametrize("name, many", [("VAR_SAMP", 1), ("SKEWNESS", 2), ("KURTOSIS", 3)])
def test_too_few_rows_have_no_moments(name: str, many: int) -> None:
    """At a loss so large that there is no noise: none where so many rows are counted, one where there is one more."""
    few = rows()[: many + 1].with_columns(k=pl.Series([1, 7, 2, 9][: many + 1]), u=pl.Series(range(many + 1)))
    asking = sf.Dataset({"t": few}, codebook=BOOK, name="few").session(limit=sf.Pure(10**12), ledger="memory:")
    text = f"SELECT {name}(k) AS v, {name}(k) FILTER (WHERE k <> 1) AS w FROM t"
    answer = asking.sql(text, loss=sf.Pure(10**10)).value
    assert answer["v"].values[0] is not None and answer["w"].values[0] is None


def test_equal_numbers_have_no_slope_and_no_skewness() -> None:
    flat = rows().with_columns(k=pl.lit(4, dtype=pl.Int64))
    asking = sf.Dataset({"t": flat}, codebook=BOOK, name="flat").session(limit=sf.Pure(10**12), ledger="memory:")
    answer = asking.sql("SELECT SKEWNESS(k) AS s, REGR_SLOPE(x, k) AS r FROM t", loss=sf.Pure(10**10)).value
    assert [answer[name].values[0] for name in "sr"] == [None, None]


def test_a_deviation_says_what_it_is_and_what_proves_it() -> None:
    ready = planned("SELECT MAD(k) AS m FROM t", catalog_of(BOOK), loss=sf.Pure(1))
    (special,) = ready.specials[0]
    assert special.proofs[0] == "proofs/query_specials.md#deviation"
    assert special.words[0] == "median absolute deviation of k"


def test_what_people_have_in_a_group_is_bounded_as_a_whole() -> None:
    """As BigQuery does: rows are taken together within each person and group, and the result is moved into bounds."""
    book = {**BOOK, "tables": {"t": {"columns": BOOK["tables"]["t"]["columns"]}}}
    shared = rows().with_columns(u=pl.Series(np.arange(ROWS) % 500))
    asking = sf.Dataset({"t": shared}, codebook=book, name="shared").session(limit=sf.Pure(10**12), ledger="memory:")
    bounds = [f"contribution_bounds_per_group => ({low}, {high})" for low, high in ((0, 25), (0, 6), (10, 30))]
    text = f"""SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS (epsilon = 100000000, max_groups_contributed = 2)
        name, SUM(k, {bounds[0]}) AS s, COUNT(*, {bounds[1]}) AS n, AVG(x, {bounds[2]}) AS m, COUNT(DISTINCT u) AS p
        FROM t GROUP BY name"""
    answer = asking.sql(text).value
    by_person = shared.group_by("u", "name").agg(
        s=pl.col("k").sum().clip(0, 25), n=pl.len().cast(int).clip(0, 6), m=pl.col("x").mean().clip(10, 30)
    )
    totals = [pl.col("s").sum(), pl.col("n").sum(), pl.col("m").mean(), pl.len().alias("p")]
    truth = by_person.group_by("name").agg(totals).sort("name")
    for name in "snmp":
        assert np.allclose(answer[name].values.astype(float), truth[name].to_numpy(), rtol=1e-4)
    with pytest.raises(sf.errors.BadArgument, match="said once"):
        asking.sql(text, loss=sf.Pure(1))
