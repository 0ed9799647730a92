"""Additive models: sums of what a model leaves over move as far as stated, and curves come near to what is true."""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from math import inf, nan
from typing import Any

import numpy as np
import polars as pl
import pytest
from sklearn.datasets import load_breast_cancer

import sfumato as sf
from sfumato.core.domains import Floats, Matrix
from sfumato.core.metrics import L1, L2, AddRemove, LInf, VectorMetric
from sfumato.core.space import Space
from sfumato.entropy import ReplayEntropy
from sfumato.errors import BadArgument
from sfumato.learn import ExplainableBoostingClassifier, ExplainableBoostingRegressor
from sfumato.transforms.residuals import Additive, chances, residual_sums

ANY = Space(Matrix(3, Floats(nan=True, infinite=True)), AddRemove())
MODELS = [
    Additive(0, ((0, 0), (0, 0, 0)), classes=True),
    Additive(-5000, ((300, -(10**6)), (7, 4096, 10**9)), classes=True),
    Additive(4096, ((0, -9000), (1, 2, 3)), classes=False),
]


@pytest.mark.parametrize("model", MODELS, ids=["odds of nothing", "far odds", "numbers"])
@pytest.mark.parametrize("metric", [L1(), L2(), LInf()], ids=str)
def test_no_row_moves_sums_further_than_stated(model: Additive, metric: VectorMetric) -> None:
    """Every row of a small domain, alone, and beside every other: sums are those of rows by themselves."""
    rows = list(product([-1.0, 0, 1, 0.5], [0.0, 2, 7, nan], [-inf, 0.0, 1.0, 0.3, nan]))
    for column, groups in ((0, None), (1, [0, 0, 1])):
        exact = ANY >> residual_sums(model, column, groups=groups, metric=metric)
        unit = 1 << 20
        alone = [[Fraction(int(cell), unit) for cell in exact.image(np.array([row]))] for row in rows]
        moved = [metric.distance(cells, [0] * len(cells)) for cells in alone]
        assert max(moved) <= exact.map(1) == 1 and exact.map(2) == 2
        assert max(moved) > Fraction(49, 100)
        together = [Fraction(int(cell), unit) for cell in exact.image(np.array(rows))]
        assert together == [sum(part, Fraction(0)) for part in zip(*alone, strict=True)]


def test_the_bound_on_sums_is_reached_and_chances_are_those_of_odds() -> None:
    exact = ANY >> residual_sums(Additive(0, ((0, 0), (0, 0, 0)), classes=False), 0)
    assert exact.image(np.array([[1.0, 0.0, 1.0]])).tolist() == [0, 1 << 20]
    table = chances()
    assert table[0] >= 0 and table[-1] <= 1 << 20 and (np.diff(table) >= 0).all()
    assert table[len(table) // 2 + 4096] / 2**20 == pytest.approx(1 / (1 + np.exp(-1)), abs=1e-6)
    far = ANY >> residual_sums(Additive(10**9, ((0, 0), (0, 0, 0)), classes=True), 0)
    assert abs(int(far.image(np.array([[0.0, 0.0, 0.0]]))[0])) <= 1 << 20


def test_models_that_do_not_fit_the_rows_are_refused() -> None:
    for column, groups in ((2, None), (0, [0]), (0, [0, -1])):
        with pytest.raises(BadArgument):
            ANY >> residual_sums(MODELS[0], column, groups=groups)
    with pytest.raises(BadArgument, match="a matrix of floats"):
        sf.vector(float) >> residual_sums(MODELS[0], 0)


def made_up(rows: int = 3000) -> tuple[Any, Any, Any]:
    """A wave, a slope and nothing; the odds and the numbers that follow."""
    rng = np.random.default_rng(8)
    X = rng.uniform(-1, 1, (rows, 3))  # noqa: N806
    score = 2 * np.sin(3 * X[:, 0]) + 1.5 * X[:, 1]
    return X, (rng.random(rows) < 1 / (1 + np.exp(-score))).astype(int), score / 4


LOSSES = [sf.Pure(1000), sf.ZCDP(1000), sf.Approx(1000, 1e-6), sf.Approx(1000, 0)]


@pytest.mark.parametrize("loss", LOSSES, ids=str)
def test_with_hardly_any_noise_curves_are_those_of_the_population(loss: sf.Loss) -> None:
    X, classes, numbers = made_up()  # noqa: N806
    model = ExplainableBoostingRegressor(loss=loss, between=(-1, 1), target_between=(-1, 1))
    model.fit(X, numbers, entropy=ReplayEntropy(1))
    assert model.score(X, numbers) > 0.97 and np.ptp(model.curves_["x2"]) < 0.1
    middles = np.linspace(-1, 1, 33)[:-1] + 1 / 32
    assert np.corrcoef(model.curves_["x0"], np.sin(3 * middles))[0, 1] > 0.99
    odds = ExplainableBoostingClassifier(loss=loss, between=(-1, 1), classes=[0, 1])
    odds.fit(X, classes, entropy=ReplayEntropy(2))
    assert np.corrcoef(odds.decision_function(X), numbers)[0, 1] > 0.95
    assert sf.convert(model.release_.loss, type(loss)).within(loss) and "uncharged" in str(model.release_)


def test_a_table_behind_a_ledger_gives_the_same_model_and_is_charged() -> None:
    X, y = load_breast_cancer(return_X_y=True, as_frame=True)  # noqa: N806
    between = {name: (0.0, float(part.max())) for name, part in X.iloc[:, :3].items()}
    table = pl.DataFrame(X[list(between)].assign(kind=y, id=range(len(X))))
    data = sf.Dataset(table, unit="id", between=between, categories={"kind": [0, 1]})
    session = data.session(limit=sf.ZCDP(10**9), ledger="memory:")
    asked = ExplainableBoostingClassifier(loss=sf.ZCDP(10**7)).fit(session.table(), target="kind", max_rows=1)
    held = ExplainableBoostingClassifier(loss=sf.ZCDP(10**7), between=between, classes=[0, 1])
    held.fit(X[list(between)], y)
    assert asked.decision_function(X[list(between)]) == pytest.approx(
        held.decision_function(X[list(between)]), abs=0.02
    )
    assert session.spent == sf.ZCDP(10**7) and held.score(X[list(between)], y) > 0.88
    two = ExplainableBoostingClassifier(loss=sf.ZCDP(1)).fit(session.table(), target="kind", max_rows=2)
    assert two.release_.loss.within(sf.ZCDP(1))  # of two rows each, for as much: with more noise


@pytest.mark.parametrize("rows", [0, 1, 40], ids=["no rows", "one row", "one class, constant"])
@pytest.mark.parametrize("loss", [sf.Pure(10**6), sf.Pure("0.001"), sf.ZCDP("0.00001")], ids=str)
def test_degenerate_data_gives_a_finite_model(rows: int, loss: sf.Loss) -> None:
    X = np.full((rows, 2), 0.5)  # noqa: N806
    asked = [[0.5, 0.5], [nan, 9.0], [nan, nan]]
    model = ExplainableBoostingClassifier(loss=loss, between=(0, 1), classes=["a", "b"]).fit(X, ["a"] * rows)
    assert np.isfinite(model.predict_proba(asked)).all()
    number = ExplainableBoostingRegressor(loss=loss, between=(0, 1), target_between=(0, 1)).fit(X, [0.25] * rows)
    assert ((number.predict(asked) >= 0) & (number.predict(asked) <= 1)).all()


def test_categories_have_curves_and_values_that_nobody_stated_add_nothing() -> None:
    rng = np.random.default_rng(9)
    kind = rng.choice(["a", "b", "z"], 3000)
    y = np.where(kind == "a", "yes", np.where(kind == "b", "no", rng.choice(["yes", "no"], 3000)))
    model = ExplainableBoostingClassifier(epsilon=100, categories={"kind": ["a", "b"]}, classes=["no", "yes"])
    model.fit(pl.DataFrame({"kind": kind}), y, entropy=ReplayEntropy(3))
    asked = pl.DataFrame({"kind": ["a", "b", "never", None]})
    assert model.predict(asked)[:2].tolist() == ["yes", "no"]
    assert model.scores(asked)[2:, 1].tolist() == [0.0, 0.0]


def test_what_is_not_stated_is_refused_with_the_line_to_write() -> None:
    X, y = np.zeros((5, 2)), np.zeros(5)  # noqa: N806
    stated: dict[str, Any] = {"between": (0, 1), "classes": [0, 1]}
    for model, words in (
        (ExplainableBoostingClassifier(epsilon=1, between=(0, 1)), r"classes=\['no', 'yes'\]"),
        (ExplainableBoostingClassifier(epsilon=1, between=(0, 1), classes=[0, 1, 2]), "each against the rest"),
        (ExplainableBoostingClassifier(**stated), "epsilon=0.5"),
        (ExplainableBoostingClassifier(loss=sf.GDP(1), **stated), "Pure or ZCDP"),
        (ExplainableBoostingRegressor(epsilon=1, between=(0, 1), target_between=(1, 0)), "lower|bounds"),
    ):
        with pytest.raises(BadArgument, match=words):
            model.fit(X, y)
