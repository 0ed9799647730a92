"""Codes that are bought for a part of the loss, and combinations that no synthetic row has."""

from __future__ import annotations

import datetime
from fractions import Fraction
from typing import Any

import numpy as np
import polars as pl
import pytest

import sfumato as sf
from sfumato.query.nodes.kinds import Kind
from sfumato.synth.bought import rising_edges
from sfumato.synth.columns import BinnedColumn, ListedColumn

METHODS = [sf.synth.Independent, sf.synth.MST, sf.synth.AIM]
DAY = datetime.date
PEOPLE = 4000
JOBS = [f"job {number}" for number in range(3000)]


def people() -> pl.DataFrame:
    random = np.random.default_rng(7)
    age = random.integers(0, 100, PEOPLE)
    jobs = np.minimum(random.geometric(0.2, PEOPLE), len(JOBS) - 1)
    return pl.DataFrame(
        {
            "who": np.arange(PEOPLE),
            "age": age,
            "married": (age > 14) & (random.random(PEOPLE) < 0.5),
            "job": [JOBS[place] for place in jobs],
            "trade": [JOBS[place] for place in jobs],
            "income": random.lognormal(9, 1, PEOPLE),
            "since": [DAY(2000, 1, 1) + datetime.timedelta(int(days)) for days in random.integers(0, 8000, PEOPLE)],
            "debt": random.normal(0, 1, PEOPLE),
        }
    )


def session(limit: sf.Loss | None = None) -> Any:
    data = sf.Dataset(
        people(),
        name="people",
        unit="who",
        between={"age": (0, 99), "income": (0, 200_000), "since": (DAY(1990, 1, 1), DAY(2030, 1, 1))},
        categories={"trade": JOBS},
    )
    return data.session(limit=limit or sf.Approx(10, 1e-5), ledger="memory:")


CHILDREN = [{"age": {"between": (0, 14)}, "married": True}]


@pytest.mark.parametrize("method", METHODS)
def test_no_row_has_what_cannot_occur(method: Any) -> None:
    made = method(epsilon=0.1, delta=1e-6).fit(
        session().table(), columns=["age", "married", "since"], max_rows=1, bins=7, impossible=CHILDREN
    )
    drawn = made.sample(100_000)
    assert drawn.filter((pl.col("age") < 15) & pl.col("married")).height == 0
    assert drawn.filter(pl.col("age") < 15).height > 0 and drawn.filter(pl.col("married")).height > 0
    adults = made.sample(500, given={"married": True})
    assert adults["age"].min() > 14
    if method is not sf.synth.Independent:
        assert made.marginal(["age", "married"])[0, 1] == pytest.approx(0, abs=1e-6)


def test_what_is_given_must_be_possible() -> None:
    made = sf.synth.Independent(epsilon=1).fit(
        session().table(), columns=["age", "married"], max_rows=1, impossible=CHILDREN
    )
    with pytest.raises(sf.errors.SfumatoError):
        made.sample(10, given={"age": 3, "married": True})


@pytest.mark.parametrize("method", METHODS)
def test_codes_are_bought_within_the_loss(method: Any) -> None:
    held = session()
    recipe = method(epsilon=2, delta=1e-6)
    settings: dict[str, Any] = {"max_rows": 1, "buy": {"job": 6, "trade": 5, "income": 8, "since": 4}, "key": "one"}
    table = held.table().drop("debt")
    made = recipe.fit(table, **settings)
    assert held.spent.within(sf.Approx(2, 1e-6))
    assert made.loss == sf.Approx(2, 1e-6)
    assert len(made.bought) == 4 and all(release.receipt is not None for release in made.bought)
    assert sum("were bought for" in note for note in made.notes) == 4
    job, trade, income, since = (made.schema[name] for name in ("job", "trade", "income", "since"))
    assert isinstance(job, ListedColumn) and job.other and 1 <= len(job.values) <= 6
    assert set(job.values) <= set(JOBS)
    assert isinstance(trade, ListedColumn) and trade.other and len(trade.values) == 5
    assert isinstance(income, BinnedColumn) and income.edges[0] == 0 and income.edges[-1] == 200_000
    assert isinstance(since, BinnedColumn) and since.edges[0] == DAY(1990, 1, 1) and since.kind is Kind.DATE
    assert "other" in made.sample(2000)["job"].to_list()
    spent = held.spent
    again = recipe.fit(table, **settings)
    assert held.spent == spent and again.schema == made.schema
    assert [one.counts.tolist() for one in again.measured] == [one.counts.tolist() for one in made.measured]


def test_bins_that_are_bought_are_about_equally_full() -> None:
    held = session()
    made = sf.synth.Independent(epsilon=9).fit(held.table(), columns=["income"], max_rows=1, buy={"income": 8})
    counts = made.marginal(["income"])[:8]
    assert counts.min() > PEOPLE / 8 * 0.7 and counts.max() < PEOPLE / 8 * 1.3


@pytest.mark.parametrize(("limit", "loss"), [(sf.Pure(5), sf.Pure(1)), (sf.ZCDP(5), sf.ZCDP(0.5))])
def test_bins_and_long_lists_are_bought_without_delta(limit: sf.Loss, loss: sf.Loss) -> None:
    held = session(limit)
    made = sf.synth.MST(loss=loss).fit(
        held.table(), columns=["age", "trade", "income"], max_rows=1, buy=["trade", "income"]
    )
    assert held.spent.within(loss)
    assert made.schema["trade"].size == 34 and made.schema["income"].size <= 17


@pytest.mark.parametrize(
    ("loss", "buy", "message"),
    [
        (sf.Pure(1), ["job"], "can only be shown with a δ"),
        (sf.ZCDP(1), ["job"], "can only be shown with a δ"),
        (sf.Approx(1, 0), ["job"], "can only be shown with a δ"),
        (sf.Approx(1, 1e-6), ["debt"], "session.buy_bounds"),
        (sf.Approx(1, 1e-6), ["incomes"], "did you mean"),
        (sf.Approx(1, 1e-6), "job", "a list of columns"),
        (sf.Approx(1, 1e-6), ["job", "job"], "none twice"),
        (sf.Approx(1, 1e-6), ["married"], "true or false"),
        (sf.Approx(1, 1e-6), {"job": 0}, "buy of job"),
        (sf.Approx(1, 1e-6), {"job": 10**6}, "at most 4,000"),
        (sf.Approx(1, 1e-6), {"trade": 3500}, "more categories than"),
        (sf.Approx(1, 1e-6), {"age": 200}, "has few"),
        (sf.Approx(1, 1e-6), ["who"], "columns"),
        (sf.Approx(100, 1e-6), ["income"], "left"),
    ],
)
def test_what_cannot_be_bought_is_refused_before_payment(loss: sf.Loss, buy: Any, message: str) -> None:
    held = session()
    table = held.table() if buy == ["debt"] else held.table().drop("debt")
    if buy not in (["job"], {"job": 0}, {"job": 10**6}, "job", ["job", "job"]):
        table = table.drop("job")
    with pytest.raises(sf.errors.SfumatoError) as refused:
        sf.synth.MST(loss=loss).fit(table, max_rows=1, buy=buy)
    assert message in str(refused.value)
    assert held.spent == held.spent.nothing()


def test_nothing_is_bought_where_something_else_is_wrong() -> None:
    held = session()
    with pytest.raises(sf.errors.BadArgument, match="debt"):
        sf.synth.MST(epsilon=1, delta=1e-6).fit(held.table(), max_rows=1, buy=["job", "income"])
    with pytest.raises(sf.errors.BadArgument, match="workload"):
        sf.synth.AIM(epsilon=1, delta=1e-6, workload=[("age", "nothing")]).fit(
            held.table().drop("debt"), max_rows=1, buy=["job", "income"]
        )
    with pytest.raises(sf.errors.BadArgument, match="nothing is stated"):
        sf.synth.MST(epsilon=1, delta=1e-6).fit(
            held.table().drop("debt"), max_rows=1, buy=["job", "income"], bins={"income": 3}
        )
    assert held.spent == held.spent.nothing()


def test_rows_that_one_holds_buy_nothing() -> None:
    with pytest.raises(sf.errors.BadArgument, match="buy"):
        sf.synth.MST(epsilon=1).fit(people(), between={"age": (0, 99)}, columns=["age"], buy=["age"])


@pytest.mark.parametrize("found", [[], [5.0, 1.0, 5.0], [float(-3), 1e9]])
def test_edges_rise_and_keep_the_ends(found: list[float]) -> None:
    edges = rising_edges(found, (Fraction(0), Fraction(10)), Kind.FLOAT)
    assert edges[0] == 0 and edges[-1] == 10 and list(edges) == sorted(set(edges))
