"""Models that minimise a risk: two ways in, every kind of loss, bad input, and what they are without noise."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
import pytest
from sklearn import linear_model
from sklearn.datasets import load_breast_cancer, load_wine

import sfumato as sf
from sfumato.entropy import ReplayEntropy
from sfumato.errors import BadArgument, QueryRefused
from sfumato.learn import HuberRegressor, LinearRegression, LinearSVC, LogisticRegression, PoissonRegressor

RNG = np.random.default_rng(6)
AGES, FRUIT = RNG.uniform(0, 100, 300), RNG.choice(["apple", "fig", "kiwi"], 300)
BOUGHT = np.where(AGES / 50 + (FRUIT == "fig") + RNG.normal(size=300) > 1.5, "yes", "no")
COUNTS = RNG.poisson(np.exp(AGES / 60))
BETWEEN, FRUITS = {"age": (0, 100)}, {"fruit": ["apple", "fig", "kiwi"]}


def table() -> Any:
    data = pl.DataFrame({"id": np.arange(300), "age": AGES, "fruit": FRUIT, "bought": BOUGHT, "count": COUNTS})
    opened = sf.Dataset(
        data,
        unit=sf.Person("id"),
        between={"age": (0, 100), "count": (0, 20)},
        categories={**FRUITS, "bought": ["no", "yes"]},
    )
    return opened.session(limit=sf.Pure(10**9), ledger="memory:")


def arrays() -> pl.DataFrame:
    return pl.DataFrame({"age": AGES, "fruit": FRUIT})


def models(**loss: Any) -> list[tuple[Any, Any, str]]:
    """Each model, its target, and the target's name in the table."""
    known = {"between": BETWEEN, "categories": FRUITS, **loss}
    return [
        (LogisticRegression(**known, classes=["no", "yes"]), BOUGHT, "bought"),
        (LinearSVC(**known, classes=["no", "yes"]), BOUGHT, "bought"),
        (PoissonRegressor(**known, target_between=(0, 20)), COUNTS, "count"),
    ]


def test_both_ways_in_price_and_fit_alike() -> None:
    """The same measurement on the same rows: with hardly any noise, the same coefficients."""
    session = table()
    for model, target, name in models(epsilon=10**6, ridge=1):
        held = model.fit(arrays(), target)
        kept = held.theta_.copy(), str(held.release_.how.parameters), held.release_.loss
        asked = model.fit(session.table(), features=["age", "fruit"], target=name, max_rows=1)
        assert np.allclose(asked.theta_, kept[0], atol=2e-3)
        assert str(asked.release_.how.parameters) == kept[1] and kept[2].within(asked.release_.loss)
        assert asked.release_.receipt is not None
    assert session.spent.epsilon <= 3 * 10**6
    with pytest.raises(QueryRefused, match="max_rows"):
        model.fit(session.table(), features=["age", "fruit"], target="count")
    three = LogisticRegression(epsilon=1).fit(session.table(), features=["age"], target="bought", max_rows=3)
    once = LogisticRegression(epsilon="1/3").fit(session.table(), features=["age"], target="bought", max_rows=1)
    assert three.release_.how.parameters == once.release_.how.parameters


@pytest.mark.parametrize("loss", [sf.Pure(1), sf.Approx(1, "1e-6"), sf.ZCDP("0.5"), sf.GDP(1)], ids=str)
def test_every_kind_of_loss_is_kept_and_used(loss: sf.Loss) -> None:
    for model, target, _ in models(loss=loss):
        fitted = model.fit(arrays(), target, entropy=ReplayEntropy(1))
        assert type(fitted.release_.loss) is type(loss) and fitted.release_.loss.within(loss)
        ways = {"objective": "objective perturbation", "descent": "descent of"}
        assert ways[fitted.method_] in str(fitted) and str(fitted.release_.loss) in str(fitted)
        assert fitted.method_ == "descent" or isinstance(loss, sf.Pure)
        assert np.all(np.isfinite(fitted.coef_)) and fitted.coef_.shape == (1, 4)
        assert 0 <= fitted.score(arrays(), target) <= 1 or isinstance(fitted, PoissonRegressor)


def test_a_little_more_noise_than_what_is_paid_for_would_do() -> None:
    model = LogisticRegression(epsilon=2, between=(0, 100), classes=["no", "yes"]).fit(AGES[:, None], BOUGHT)
    assert 1.999 < float(model.release_.loss.epsilon) <= 2


def test_without_noise_it_is_scikit_learns_model_in_the_columns_units() -> None:
    cancer, malignant = load_breast_cancer(return_X_y=True, as_frame=True)
    some = cancer.iloc[:, :4]
    bounds = {name: (0, float(some[name].max())) for name in some}
    model = LogisticRegression(epsilon=10**8, between=bounds, classes=[0, 1]).fit(some, malignant)
    plain = linear_model.LogisticRegression(C=np.inf, tol=1e-10, max_iter=10**5, solver="newton-cholesky")
    scores = plain.fit(some, malignant).decision_function(some)
    assert np.allclose(model.decision_function(some), scores, atol=0.005)
    assert np.allclose(some.to_numpy() @ model.coef_[0] + model.intercept_, model.decision_function(some), atol=5e-3)
    assert model.score(some, malignant) == pytest.approx(plain.score(some, malignant), abs=0.004)
    assert np.allclose(model.predict_proba(some).sum(axis=1), 1) and model.classes_.tolist() == [0, 1]

    counts = PoissonRegressor(epsilon=10**6, between=(0, 100), target_between=(0, 30)).fit(AGES[:, None], COUNTS)
    near = linear_model.PoissonRegressor(alpha=0, tol=1e-8).fit(AGES[:, None], COUNTS)
    assert np.allclose(counts.predict(AGES[:, None]), near.predict(AGES[:, None]), rtol=0.01)
    assert np.allclose([counts.coef_[0, 0], counts.intercept_[0]], [near.coef_[0], near.intercept_], atol=0.01)


def test_several_classes() -> None:
    wine, kinds = load_wine(return_X_y=True)
    bounds = list(zip(wine.min(axis=0).tolist(), wine.max(axis=0).tolist(), strict=True))
    model = LogisticRegression(epsilon=1000, between=bounds, classes=["a", "b", "c"]).fit(
        wine, np.array(["a", "b", "c"])[kinds], entropy=ReplayEntropy(2)
    )
    assert model.coef_.shape == (3, 13) and np.allclose(model.coef_.sum(axis=0), 0)
    assert model.decision_function(wine).shape == (178, 3) and model.predict(wine[:2]).tolist() == ["a", "a"]
    assert model.score(wine, np.array(["a", "b", "c"])[kinds]) > 0.97
    assert np.allclose(np.log(model.predict_proba(wine)), model.predict_log_proba(wine))
    with pytest.raises(BadArgument, match="ask LogisticRegression"):
        LinearSVC(epsilon=1, between=bounds, classes=[0, 1, 2]).fit(wine, kinds)


def test_data_of_any_shape_gives_a_finite_model() -> None:
    known = {"epsilon": 1, "between": [(0, 1), (2, 2), (0, 1)], "classes": [0, 1]}
    odd = np.array([[0.5, 2.0, np.nan], [np.inf, 7.0, 0.1], [-np.inf, 2.0, 0.1], [0.5, 2.0, 0.3]] * 3)
    for kind in (LogisticRegression, LinearSVC):
        for rows, labels in ((odd, np.ones(12)), (odd[:0], np.ones(0)), (odd, np.full(12, 9)), (odd, [0, 1, 2] * 4)):
            model = kind(**known).fit(rows, labels)
            assert np.all(np.isfinite(model.coef_)) and model.coef_[0, 1] == 0
            assert set(model.predict(odd)) <= {0, 1}
    same = np.repeat(np.linspace(0, 1, 50)[:, None], 3, axis=1)
    model = LogisticRegression(epsilon=10**12, between=(0, 1), classes=[0, 1]).fit(same, same[:, 0] > 0.5)
    assert np.all(np.isfinite(model.coef_)) and model.score(same, same[:, 0] > 0.5) == 1
    model = PoissonRegressor(epsilon=1, between=(0, 1), target_between=(0, 5)).fit(odd, np.full(12, -7.0))
    assert np.all((model.predict(odd) >= 0) & (model.predict(odd) <= 5))


def test_what_is_not_public_or_not_possible_is_refused_first() -> None:
    rows, labels = AGES[:, None], BOUGHT
    for model, match in (
        (LogisticRegression(epsilon=1, classes=["no", "yes"]), "between="),
        (LogisticRegression(epsilon=1, between=(0, 100)), "classes="),
        (LogisticRegression(epsilon=1, between=(0, 100), classes=["no"]), "two or more"),
        (LogisticRegression(epsilon=1, between=(0, 100), classes=["no", "yes"], ridge=-1), "ridge"),
        (PoissonRegressor(epsilon=1, between=(0, 100), target_between=(-3, 5)), "bounds of counts"),
    ):
        with pytest.raises(BadArgument, match=match):
            model.fit(rows, labels)


def test_residuals_count_by_their_size_beyond_a_width() -> None:
    """A line is found, and rows far from it, a tenth of all, move it little; least squares follow them."""
    rng = np.random.default_rng(1)
    x = rng.uniform(0, 10, (2000, 1))
    y = 2 * x[:, 0] + 1
    y[::10] = 60.0
    known: Any = {"epsilon": 10**5, "between": (0, 10), "target_between": (0, 60)}
    robust, plain = HuberRegressor(**known, width="0.05").fit(x, y), LinearRegression(**known).fit(x, y)
    line = 2 * x[:, 0] + 1
    assert np.abs(robust.predict(x) - line).max() < 1 < np.abs(plain.predict(x) - line).max()
    assert robust.coef_[0, 0] == pytest.approx(2, abs=0.1)


def test_in_pure_terms_many_columns_cost_less_than_by_sums() -> None:
    rng, entropy = np.random.default_rng(2), ReplayEntropy(3)
    x = rng.uniform(-1, 1, (3000, 10))
    line = x @ rng.normal(size=10) * 0.2
    y = line + rng.normal(0, 0.1, 3000)
    known: Any = {"epsilon": 1, "between": (-1, 1), "target_between": (-2, 2)}
    off = [
        np.mean([np.mean((model(**known).fit(x, y, entropy=entropy).predict(x) - line) ** 2) for _ in range(5)])
        for model in (HuberRegressor, LinearRegression)
    ]
    assert off[0] < off[1] / 3
