"""Trees and ensembles: they find what is there, say what they are, cost what they state, and refuse clearly."""

from __future__ import annotations

from math import inf, nan
from typing import Any

import numpy as np
import polars as pl
import pytest
from sklearn.datasets import load_iris

import sfumato as sf
from sfumato.accounting.losses.measures import ZCDP, Pure
from sfumato.entropy import ReplayEntropy
from sfumato.errors import BadArgument
from sfumato.learn import (
    AdaBoostClassifier,
    DecisionTreeClassifier,
    RandomForestClassifier,
    entropy,
    mutual_information,
)
from sfumato.learn.trees_growing import MOST_TREES, Wish, way_to_spend

EVERY = [DecisionTreeClassifier, RandomForestClassifier, AdaBoostClassifier]
CITY = ["Las Vegas", "Las Vegas", "Las Vegas", "Boston", "Boston", "Boston", "Boston"]
MONTH = [12, 12, 6, 12, 6, 6, 6]
RAIN = ["yes", "yes", "no", "no", "yes", "no", "no"]


def counted(*columns: list[Any]) -> list[list[int]]:
    """A table of counts: a row for each value of the first columns together, a column for rain and none."""
    keys = [*dict.fromkeys(zip(*columns, strict=True))]
    rows = list(zip(zip(*columns, strict=True), RAIN, strict=True))
    return [[rows.count((key, rain)) for rain in ("yes", "no")] for key in keys]


def test_A2_069_information_of_table_8_1() -> None:
    december = [month == 12 for month in MONTH]
    both = [a and b == "Las Vegas" for a, b in zip(december, CITY, strict=True)]
    assert entropy([3, 4]) == pytest.approx(0.682908, abs=1e-6)
    for table, nats, bits in (
        (counted(CITY), 0.088782, 0.128085),
        (counted(december), 0.088782, 0.128085),
        ([[2, 0], [1, 4]], 0.325478, 0.469565),  # by time
        (counted(both), 0.325478, 0.469565),
        (counted(CITY, december), 0.410116, 0.591673),
    ):
        assert mutual_information(table) == pytest.approx(nats, abs=1e-6)
        assert mutual_information(table, base=2) == pytest.approx(bits, abs=1e-6)
    assert mutual_information([[5, -3], [0, 0]]) == 0 and entropy([0, 0]) == 0
    with pytest.raises(BadArgument, match="table of counts"):
        mutual_information([1, 2])
    with pytest.raises(BadArgument, match="base"):
        entropy([1, 2], base=1)


def test_A2_068_the_rule_of_december_in_las_vegas() -> None:
    """With hardly any noise a tree of two levels has the rule, with 2 of 2 rows."""
    rows = pl.DataFrame({"city": CITY, "month": MONTH})
    for criterion in ("hits", "entropy"):
        model = DecisionTreeClassifier(
            epsilon=10**6,
            categories={"city": ["Las Vegas", "Boston"], "month": [12, 6]},
            classes=["yes", "no"],
            max_depth=2,
            rows=7,
            criterion=criterion,
        ).fit(rows, RAIN)
        assert model.predict_proba(pl.DataFrame({"city": ["Las Vegas"], "month": [12]}))[0, 0] > 0.999
        assert any("→ yes (yes 2, no 0)" in rule for rule in model.rules())
        assert model.counts_[0].sum() == 7


def crossed(rows: int = 2000) -> tuple[Any, Any]:
    """Two numbers of which the signs must differ, and one that says nothing."""
    rng = np.random.default_rng(3)
    X = rng.uniform(-1, 1, (rows, 3))  # noqa: N806
    return X, np.where((X[:, 0] > 0.25) != (X[:, 1] > -0.5), "far", "near")


LOSSES = [sf.Pure(10), sf.ZCDP(1), sf.Approx(10, 1e-6), sf.Approx(10, 0)]


@pytest.mark.parametrize("loss", LOSSES, ids=str)
def test_with_little_noise_boosted_trees_tell_crossed_classes_apart(loss: sf.Loss) -> None:
    X, y = crossed()  # noqa: N806
    model = AdaBoostClassifier(loss=loss, between=(-1, 1), classes=["near", "far"])
    model.fit(X, y, entropy=ReplayEntropy(1))
    assert model.score(X, y) > 0.95 and len(model.trees_) > 3
    assert sf.convert(model.release_.loss, type(loss)).within(loss) and "uncharged" in str(model.release_)
    said = str(model)
    assert "Rules of the first tree" in said and "2 deep" in said and "why        about" in said
    assert np.array_equal(model.decision_function(X[:9]) > 0, model.predict(X[:9]) == "far")


def test_a_forest_gives_each_tree_other_rows_at_the_whole_loss() -> None:
    X, y = crossed()  # noqa: N806
    model = RandomForestClassifier(4, loss=sf.Pure(1000), between=(-1, 1), classes=["near", "far"], max_depth=2)
    model.fit(X, y, entropy=ReplayEntropy(2))
    sizes = [counts.sum() for counts in model.counts_]
    assert len(sizes) == 4 and sum(sizes) == pytest.approx(2000, abs=9) and max(sizes) < 700
    assert model.release_.loss == sf.Pure(1000) and model.score(X, y) > 0.7
    few = RandomForestClassifier(30, epsilon=100, between=(-1, 1), classes=["near", "far"], max_features=1, max_depth=2)
    few.fit(X, y)
    asked = [{few._coded.splits[one].column for level in tree.levels for one in level} for tree in few.trees_]
    assert all(len(columns) == 1 for columns in asked) and len(set.union(*asked)) > 1  # but once in 3²⁹ fits


def test_three_classes_and_categories() -> None:
    X, y = load_iris(return_X_y=True, as_frame=True)  # noqa: N806
    kind = np.where(X["petal width (cm)"] < 0.8, "thin", "other")
    rows = pl.DataFrame({"length": X["petal length (cm)"].to_numpy(), "kind": kind})
    stated = {"between": {"length": (0, 8)}, "categories": {"kind": ["thin"]}, "classes": [0, 1, 2]}
    for make in EVERY:
        model = make(epsilon=1000, **stated).fit(rows, y.to_numpy(), entropy=ReplayEntropy(5))
        assert model.score(rows, y) > 0.85 and model.predict_proba(rows).shape == (150, 3)
        assert model.predict_proba(rows).sum(axis=1) == pytest.approx(1)


@pytest.mark.parametrize("make", EVERY, ids=lambda one: one.__name__)
def test_a_table_behind_a_ledger_gives_the_same_trees_and_is_charged(make: Any) -> None:
    rng = np.random.default_rng(7)
    x, z = np.repeat(rng.uniform(0, 1, 300), 2), np.repeat(rng.choice(["a", "b"], 300), 2)
    y = np.where(x > 0.5, "yes", "no")
    table = pl.DataFrame({"id": np.arange(600) // 2, "x": x, "z": z, "y": y})
    data = sf.Dataset(table, unit="id", between={"x": (0, 1)}, categories={"z": ["a", "b"], "y": ["no", "yes"]})
    session = data.session(limit=sf.Pure(10**9), ledger="memory:")
    asked = make(loss=sf.Pure(10**6), max_depth=1)
    if make is AdaBoostClassifier:
        asked.set_params(n_estimators=2)
    asked.fit(session.table(), target="y", max_rows=2)
    held = make(loss=sf.Pure(10**6), between={"x": (0, 1)}, categories={"z": ["a", "b"]}, classes=["no", "yes"])
    if make is AdaBoostClassifier:
        held.set_params(n_estimators=2)
    held.set_params(max_depth=1).fit(table.select("x", "z"), y)
    assert session.spent == sf.Pure(10**6) == asked.release_.loss
    rows = table.select("x", "z")
    assert min(asked.score(rows, y), held.score(rows, y)) > 0.9
    if make is not RandomForestClassifier:  # whose rows are dealt out anew
        assert asked.trees_[0].levels == held.trees_[0].levels and asked.score(rows, y) == held.score(rows, y) == 1
        assert np.array_equal(asked.counts_[0], held.counts_[0]) and held.counts_[0].sum() == 600
    score = held.private_score(session.table(), loss=sf.Pure(1000), max_rows=2)
    assert float(score) == pytest.approx(held.score(rows, y), abs=0.01) and session.spent == sf.Pure(10**6 + 1000)
    assert [*held._alone(np.array([[-1.0, 0.0], [0.75, 1.0], [1.0, -1.0]]))] == ["no", "yes", "yes"]


@pytest.mark.parametrize("rows", [0, 1, 40], ids=["no rows", "one row", "one class, constant"])
@pytest.mark.parametrize("loss", [sf.Pure(10**6), sf.ZCDP("0.00001")], ids=str)
@pytest.mark.parametrize("make", EVERY, ids=lambda one: one.__name__)
def test_degenerate_data_gives_a_finite_model(make: Any, rows: int, loss: sf.Loss) -> None:
    X = np.full((rows, 2), 0.5)  # noqa: N806
    model = make(loss=loss, between=(0, 1), classes=["a", "b", "c"]).fit(X, ["a"] * rows)
    asked = [[0.5, 0.5], [nan, 9.0], [nan, nan], [inf, -inf]]
    chances = model.predict_proba(asked)
    assert np.isfinite(chances).all() and set(model.predict(asked)) <= {"a", "b", "c"} and str(model)


def test_plans_come_from_public_numbers_and_grow_with_them() -> None:
    boosted, one = Wish(None, None, boosted=True), Wish(1, None)
    sizes = [10, 400, 4000, 40000, 10**9]
    plans = [boosted.plan(rows, Pure(1), 1.0) for rows in sizes]
    assert [(plan.trees, plan.depth, plan.labelled) for plan in plans] == [
        (1, 1, True),
        (2, 2, False),
        (7, 2, False),
        (MOST_TREES, 2, False),
        (MOST_TREES, 2, False),
    ]
    assert [one.plan(rows, Pure(1), 1.0).depth for rows in sizes] == [1, 2, 4, 5, 6]
    assert boosted.plan(4000, Pure(1), 10.0).trees == boosted.plan(400, Pure(1), 1.0).trees
    assert boosted.plan(4000, ZCDP("0.1"), 1.0).trees > boosted.plan(4000, Pure(1), 1.0).trees
    assert boosted.plan(-5, Pure(1), 1.0).trees == 1 and "one question" in plans[0].why
    assert Wish(3, 2, boosted=True).plan(10, Pure(1), 1.0).why == "as asked for"
    assert way_to_spend([Pure(1), ZCDP("0.0178")]) == ZCDP("0.0178")
    assert way_to_spend([Pure(1), ZCDP("0.001")]) == Pure(1)


def test_a_stated_number_of_rows_is_not_bought() -> None:
    X, y = crossed(300)  # noqa: N806
    stated = DecisionTreeClassifier(epsilon=1, between=(-1, 1), classes=["near", "far"], rows=300).fit(X, y)
    bought = DecisionTreeClassifier(epsilon=1, between=(-1, 1), classes=["near", "far"]).fit(X, y)
    assert stated.rows_ == 300 and "a stated number" in stated.plan_
    assert bought.noise_[0] * 0.95 == pytest.approx(stated.noise_[0]) or len(bought.trees_[0].levels) != 2
    assert bought.rows_ == pytest.approx(300, abs=2000)  # but once in 10⁹: noise of scale 20 on each of two counts


def test_what_is_not_stated_is_refused_with_the_line_to_write() -> None:
    X, y = np.zeros((5, 2)), np.zeros(5)  # noqa: N806
    stated: dict[str, Any] = {"between": (0, 1), "classes": [0, 1]}
    for model, words in (
        (DecisionTreeClassifier(epsilon=1, between=(0, 1)), r"classes=\['no', 'yes'\]"),
        (DecisionTreeClassifier(epsilon=1, classes=[0, 1]), "between="),
        (DecisionTreeClassifier(**stated), "epsilon=0.5"),
        (AdaBoostClassifier(loss=sf.GDP(1), **stated), "Pure or ZCDP"),
        (DecisionTreeClassifier(epsilon=1, criterion="entropy", **stated), "logarithm of the rows"),
        (DecisionTreeClassifier(epsilon=1, criterion="gini", **stated), "'hits' or 'entropy'"),
        (DecisionTreeClassifier(epsilon=1, max_depth=40, **stated), "at most 12"),
        (DecisionTreeClassifier(epsilon=1, between=(1, 1), classes=[0, 1]), "something to ask"),
        (RandomForestClassifier(0, epsilon=1, **stated), "n_estimators"),
    ):
        with pytest.raises(BadArgument, match=words):
            model.fit(X, y)
