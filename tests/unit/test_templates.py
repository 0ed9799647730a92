"""Templates ask what they say, share a loss that adds up, and make tables that fit together from answers alone."""

from __future__ import annotations

import datetime

import numpy as np
import polars
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sfumato as sf
from sfumato.release.answer import Answer, AnswerColumn, Role
from sfumato.templates import Dashboard, Flows, Geography, Series, Shares, Template, TopList

AGES = sf.KeySet.of(age=["old", "young"])
SPINE = [("north", "a"), ("north", "b"), ("south", "c"), ("south", "d"), ("south", "e")]
PLACES = sf.KeySet.rows(["region", "town"], SPINE)
REGISTER = sf.claim("the register publishes them each year")


def people(rows: int = 1_000) -> polars.DataFrame:
    towns = [SPINE[place * 7919 // 13 % 5] for place in range(rows)]
    return polars.DataFrame(
        {
            "id": range(rows),
            "region": [region for region, _ in towns],
            "town": [town for _, town in towns],
            "age": [("old", "young")[place // 3 % 2] for place in range(rows)],
        }
    )


def session(limit: sf.Loss | None = None) -> sf.Session:
    limit = limit or sf.Pure(100)
    listed = {"region": ["north", "south"], "town": list("abcde"), "age": ["old", "young"]}
    return sf.Dataset(people(), name="people", unit="id", categories=listed).session(limit=limit, ledger="memory:")


def visits() -> sf.Session:
    made = sf.datasets.visits(rows=3_000, people=600, groups=6)
    frame = polars.DataFrame(dict(made.columns))
    return sf.Dataset({"visits": frame}, codebook=made.codebook).session(epsilon=100, delta=1e-5, ledger="memory:")


def geography(**more: object) -> Geography:
    return Geography("people", ["region", "town"], PLACES, by=AGES, **more)  # type: ignore[arg-type]


def answer(rows: list[tuple[object, ...]], counts: list[float], names: list[str], half: float = 10) -> Answer:
    keys = [AnswerColumn(name, [row[place] for row in rows], Role.KEY) for place, name in enumerate(names)]
    low, high = ([count + end for count in counts] for end in (-half, half))
    return Answer((*keys, AnswerColumn("n", counts, Role.VALUE, low=low, high=high)))


def noisy_levels(draw: st.DataObject) -> dict[str, Answer]:
    numbers = st.integers(-50, 200)
    cells: list[tuple[object, ...]] = [("old",), ("young",)]
    regions = [(region, *cell) for region in ("north", "south") for cell in cells]
    towns = [(*place, *cell) for place in SPINE for cell in cells]
    shapes = {
        "total": (cells, ["age"]),
        "region": (regions, ["region", "age"]),
        "town": (towns, ["region", "town", "age"]),
    }
    return {
        name: answer(rows, [float(draw.draw(numbers)) for _ in rows], columns)
        for name, (rows, columns) in shapes.items()
    }


def sums(table: polars.DataFrame, by: list[str]) -> dict[tuple[object, ...], int]:
    return {tuple(row[:-1]): row[-1] for row in table.group_by(by).agg(polars.col("n").sum()).select([*by, "n"]).rows()}


@given(st.data())
def test_every_part_of_a_geography_adds_up_whatever_the_noise(draw: st.DataObject) -> None:
    tables = geography().tables(noisy_levels(draw))
    total, region, town = (tables[name].to_polars() for name in ("total", "region", "town"))
    assert all((one["n"] >= 0).all() and one["n"].dtype.is_integer() for one in (total, region, town))
    assert sums(town, ["region", "age"]) == sums(region, ["region", "age"])
    assert sums(region, ["age"]) == sums(total, ["age"])


@given(st.data(), st.integers(0, 500), st.integers(0, 500))
def test_invariants_hold_exactly_and_everything_still_adds_up(draw: st.DataObject, north: int, south: int) -> None:
    numbers = {"north": north, "south": south}
    template = geography(invariant="region", invariants=numbers, vouched=REGISTER)
    tables = template.tables(noisy_levels(draw))
    total, region, town = (tables[name].to_polars() for name in ("total", "region", "town"))
    assert sums(region, ["region"]) == {("north",): north, ("south",): south}
    assert sums(town, ["region", "age"]) == sums(region, ["region", "age"])
    assert sums(region, ["age"]) == sums(total, ["age"])
    assert (town["n"] >= 0).all()


def test_exact_answers_stay_as_they_are() -> None:
    frame = people()
    names = {"total": ["age"], "region": ["region", "age"], "town": ["region", "town", "age"]}
    answers = {}
    for name, columns in names.items():
        counted = frame.group_by(columns).len().sort(columns).rows()
        answers[name] = answer([row[:-1] for row in counted], [float(row[-1]) for row in counted], columns)
    found = geography().tables(answers)["town"].to_polars()
    true = frame.group_by(["region", "town", "age"]).len()
    joined = found.join(true, on=["region", "town", "age"], how="left").fill_null(0)
    assert (joined["n"] == joined["len"]).all() and len(found) == 10


def test_settled_counts_are_better_than_the_finest_level_alone() -> None:
    """Of 200 draws of noise the fitted total errs less than the sum of the noisy towns."""
    random = np.random.default_rng(5)
    truth = np.full(10, 200.0)
    fitted, alone = [], []
    names = {"total": ["age"], "region": ["region", "age"], "town": ["region", "town", "age"]}
    cells: list[tuple[object, ...]] = [("old",), ("young",)]
    rows = {
        "total": cells,
        "region": [(region, *cell) for region in ("north", "south") for cell in cells],
        "town": [(*place, *cell) for place in SPINE for cell in cells],
    }
    exact = {"total": [1_000.0] * 2, "region": [400.0, 400.0, 600.0, 600.0], "town": truth.tolist()}
    for _ in range(200):
        noisy = {
            name: (np.array(exact[name]) + random.laplace(scale=30, size=len(rows[name]))).tolist() for name in rows
        }
        tables = geography().tables({name: answer(rows[name], noisy[name], names[name]) for name in rows})
        fitted.append(float(tables["total"]["n"].values.sum()) - 2_000)
        alone.append(sum(noisy["town"]) - 2_000)
    assert np.std(fitted) < 0.8 * np.std(alone)


def test_a_geography_costs_its_loss_and_no_more() -> None:
    asked = session(sf.ZCDP(1))
    product = geography(weights={"total": 1, "region": 1, "town": 2}).release(asked, loss=sf.ZCDP("0.4"))
    assert product.loss == sf.ZCDP("0.4") == asked.spent
    assert [release.loss for release in product.releases] == [sf.ZCDP("0.1"), sf.ZCDP("0.1"), sf.ZCDP("0.2")]
    geography(weights={"total": 1, "region": 1, "town": 2}).release(asked, loss=sf.ZCDP("0.4"))
    assert asked.spent == sf.ZCDP("0.4")  # the same questions are free


def test_invariants_are_said_with_what_they_cost() -> None:
    numbers = {"north": 400, "south": 600}
    template = geography(invariant="region", invariants=numbers, vouched=REGISTER)
    [_, note] = template.notes(sf.ZCDP("0.4"))
    assert "ρ = 1.6" in note and "the register publishes them" in note and "nobody can be added or removed" in note
    assert len(geography().notes(sf.ZCDP("0.4"))) == 1


@pytest.mark.parametrize(
    "wrong",
    [
        {"invariant": "region"},
        {"invariant": "region", "invariants": {"north": 1, "south": 2}},
        {"invariant": "region", "invariants": {"north": 1}, "vouched": REGISTER},
        {"invariant": "region", "invariants": {"north": 1, "south": -1}, "vouched": REGISTER},
        {"invariant": "village", "invariants": {}, "vouched": REGISTER},
    ],
)
def test_half_said_invariants_are_refused(wrong: dict[str, object]) -> None:
    with pytest.raises(sf.errors.BadArgument):
        geography(**wrong)


def test_a_series_fits_together() -> None:
    product = Series("visits", "day", ["week"], max_rows=4).release(visits(), loss=sf.Pure(5))
    days, weeks = product.to_polars("day"), product.to_polars("week")
    by_week = days.group_by(polars.col("start").dt.truncate("1w")).agg(polars.col("n").sum()).sort("start")
    assert np.allclose(by_week["n"], weeks["n"]) and by_week["start"].to_list() == weeks["start"].to_list()
    assert np.allclose(days["so_far"], np.cumsum(days["n"])) and len(days) == 28
    assert days["start"][0] == datetime.date(2026, 2, 1) and product.loss == sf.Pure(5)


@pytest.mark.parametrize("periods", [["week", "month"], ["month", "year"], ["day"], ["hour"], ["month", "month"]])
def test_periods_that_do_not_nest_are_refused(periods: list[str]) -> None:
    with pytest.raises(sf.errors.BadArgument, match="periods"):
        Series("visits", "day", periods)


def test_a_list_has_the_most_frequent_first() -> None:
    bounds = {"max_groups": 2, "max_rows_per_group": 2}
    product = TopList("visits", "site", most=3, bounds=bounds).release(visits(), loss=sf.Approx(5, 1e-7))
    counts = product.to_polars()["n"].to_list()
    assert len(counts) == 3 and counts == sorted(counts, reverse=True)


def test_shares_are_between_0_and_1_and_say_nothing_where_they_know_nothing() -> None:
    low, high = [-0.2, 0.0, 0.4, None], [0.1, 0.9, 0.6, None]
    share = AnswerColumn("share", [-0.05, 0.45, 0.5, None], Role.VALUE, low=low, high=high)
    given_answer = Answer((AnswerColumn("day", [1, 2, 3, 4], Role.KEY), share))
    [table] = Shares("visits", ["day"], "minutes > 30").tables({"shares": given_answer}).values()
    assert table["share"].values.tolist() == [0.0, None, 0.5, None]
    assert table["share"].low is not None and table["share"].low.tolist() == [0.0, None, 0.4, None]


def test_flows_are_whole_and_small_ones_are_counted_together() -> None:
    rows: list[tuple[object, ...]] = [("a", "b"), ("a", "c"), ("b", "c")]
    tables = Flows("trips", "home", "work", least=10).tables(
        {"flows": answer(rows, [50.0, -3.0, 4.0], ["home", "work"])}
    )
    assert tables["flows"].to_dict() == {"home": ["a"], "work": ["b"], "n": [50]}
    assert tables["rest"].only() == 4


def test_a_dashboard_is_paid_once() -> None:
    asked = session()
    tiles = {"all": "SELECT COUNT(*) AS n FROM people", "old": "SELECT COUNT(*) AS n FROM people WHERE age = 'old'"}
    board = Dashboard("The town", tiles, weights={"all": 1, "old": 3}, bounds={"max_rows": 1})
    first = board.release(asked, loss=sf.Pure(1))
    assert board.release(asked, loss=sf.Pure(1)).tables["all"].only() == first.tables["all"].only()
    assert asked.spent == sf.Pure(1)


EVERY: list[Template] = [
    geography(),
    TopList('pe"ople', "a b"),
    Shares('pe"ople', ["region"], "age = 'old'"),
    Flows("people", "region", "town"),
    Series("people", "day"),
    Dashboard("x", {"a": "SELECT COUNT(*) FROM people"}),
]


@pytest.mark.parametrize("template", EVERY, ids=lambda one: type(one).__name__)
@pytest.mark.parametrize("loss", [sf.Pure(1), sf.ZCDP("0.3"), sf.Approx(1, 1e-6)], ids=str)
def test_the_questions_share_the_loss(template: Template, loss: sf.Loss) -> None:
    parts = [asked.loss for asked in template.questions(loss)]
    whole = parts[0]
    for part in parts[1:]:
        whole = whole.then(part)
    assert whole == loss


def test_nothing_is_paid_if_one_question_is_refused() -> None:
    asked = session()
    tiles = {"good": "SELECT COUNT(*) AS n FROM people", "bad": "SELECT COUNT(*) AS n FROM nobody"}
    with pytest.raises(sf.errors.QueryRefused):
        Dashboard("x", tiles, bounds={"max_rows": 1}).release(asked, loss=sf.Pure(1))
    assert asked.spent == sf.Pure(0)


def test_names_with_quotes_stay_names() -> None:
    [asked] = TopList('x" ; DROP TABLE y; --', "a", most=1).questions(sf.Pure(1))
    assert 'FROM "x"" ; DROP TABLE y; --" GROUP BY' in asked.text
