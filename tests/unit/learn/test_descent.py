"""Descent: the book's example, every kind of loss, both ways in, how near it comes, and what it is given."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import sfumato as sf
from sfumato.entropy import ReplayEntropy
from sfumato.errors import BadArgument, Exhausted
from sfumato.learn import HuberRegressor, LinearSVC, LogisticRegression, PoissonRegressor, load, save
from sfumato.learn.descent import normal_points
from sfumato.learn.methods import gaussian_loss

RNG = np.random.default_rng(9)
ROWS = np.clip(RNG.normal(0, 0.3, (1500, 3)) @ np.array([[1.0, 0.5, 0.2], [0, 1, 0.4], [0, 0, 0.3]]), -1, 1)
SCORE = ROWS @ np.array([2.0, -3.0, 4.0]) + 0.3
CLASS = (RNG.random(1500) < 1 / (1 + np.exp(-SCORE))).astype(int)
LINE = np.clip(SCORE / 3 + RNG.normal(0, 0.2, 1500), -2, 2)
COUNT = RNG.poisson(np.exp(SCORE / 3))
KIND = (SCORE + RNG.normal(0, 0.5, 1500) > -0.5).astype(int) + (SCORE + RNG.normal(0, 0.5, 1500) > 0.8)


def models(**known: Any) -> list[tuple[Any, Any, str]]:
    return [
        (LogisticRegression(**known, classes=[0, 1]), CLASS, "class"),
        (LogisticRegression(**known, classes=[0, 1, 2]), KIND, "kind"),
        (LinearSVC(**known, classes=[0, 1]), CLASS, "class"),
        (HuberRegressor(**known, target_between=(-2, 2)), LINE, "line"),
        (PoissonRegressor(**known, target_between=(0, 12)), COUNT, "count"),
    ]


def risk_of(model: Any, target: Any) -> float:
    """The mean risk of a fitted model on the rows."""
    risk, theta = model._risk(), model.theta_
    theta = theta if risk.scores == 1 else theta[1:] - theta[0]
    targets = risk.targets(model.target_.encode(target))[1]
    return float(risk.value(model._coordinates(ROWS) @ theta.T, targets)) / len(ROWS)


def test_A3_006_twenty_gradients_find_the_line() -> None:
    """ρ = 0.004 and ε = 0.4659 at δ = 1e-8 are known before any query; query 21 is refused."""
    rng = np.random.default_rng(1)
    x = rng.uniform(-5, 5, 100_000)
    rows = np.column_stack([x, 3 + 2 * x + rng.normal(size=100_000)])
    steps = [sf.ZCDP("0.0002")] * 20
    training = sf.matrix(2) >> sf.adaptive_composition(steps)
    assert training.map(1) == sf.ZCDP("0.004")
    price = sf.convert(training.map(1), sf.Approx, delta="1e-8")
    assert isinstance(price, sf.Approx) and float(price.epsilon) == pytest.approx(0.4659, abs=1e-4)
    ask = training(rows, entropy=ReplayEntropy(3)).value
    weights = np.zeros(2)
    for _ in steps:
        step = sf.transforms.gradients(weights) >> sf.norm_clamp(2) >> sf.transforms.vector_sum() >> sf.gaussian(100)
        assert (sf.matrix(2) >> step).map(1) == sf.ZCDP("0.0002")
        weights = weights - 0.3 * 2 / len(rows) * np.array(ask(step))
    assert weights == pytest.approx([3, 2], abs=0.06)
    with pytest.raises(Exhausted):
        ask(step)


def test_A3_003_A3_004_what_twenty_gradients_cost_with_a_delta() -> None:
    step = sf.matrix(2) >> sf.transforms.gradients([0, 0]) >> sf.norm_clamp(2) >> sf.transforms.vector_sum()
    whole = (step >> sf.gaussian(100)).map(1).times(20)
    assert isinstance(whole, sf.ZCDP) and whole == sf.ZCDP("0.004")
    tight = float(sf.accounting.zcdp_epsilon(whole.rho, delta="1e-8"))
    simple = float(sf.textbook.zcdp_epsilon_simple(whole.rho, delta="1e-8"))
    assert tight == pytest.approx(0.465965, abs=1e-6) and simple == pytest.approx(0.546891, abs=1e-6)


@pytest.mark.parametrize(
    "loss",
    [sf.ZCDP("0.5"), sf.GDP(1), sf.Approx(1, "1e-6"), sf.Renyi({2: "0.5", 8: 1})],
    ids=lambda loss: type(loss).__name__,
)
def test_every_kind_of_loss_is_kept_and_used_up(loss: sf.Loss) -> None:
    model = LogisticRegression(loss=loss, between=(-1, 1), classes=[0, 1]).fit(ROWS, CLASS, entropy=ReplayEntropy(1))
    assert model.method_ == "descent" and "descent of Logistic risk" in str(model)
    spent = model.release_.loss
    assert type(spent) is type(loss) and spent.within(loss)
    if not isinstance(loss, sf.Renyi):
        assert not spent.within(
            loss.scaled(sf.exact.rational("0.999")) if not isinstance(loss, sf.Approx) else sf.Approx("0.999", "1e-6")
        )


def test_it_comes_near_the_minimum_and_nearer_than_the_objective() -> None:
    known: Any = {"between": (-1, 1)}
    for place, (model, target, _) in enumerate(models(**known)):
        best = risk_of(model.set_params(loss=sf.Pure(10**7)).fit(ROWS, target), target)
        assert model.method_ == "objective"
        off = {}
        for method in ("objective", "descent"):
            model.set_params(loss=sf.ZCDP("0.1"), method=method)
            fits = [model.fit(ROWS, target, entropy=ReplayEntropy(10 * place + one)) for one in range(3)]
            off[method] = np.mean([risk_of(fit, target) - best for fit in fits])
        assert off["descent"] < off["objective"] / 3
        near = model.set_params(loss=sf.ZCDP(1000)).fit(ROWS, target, entropy=ReplayEntropy(4))
        assert risk_of(near, target) - best < 0.002


def test_tables_and_arrays_give_one_model_at_one_price() -> None:
    data = pl.DataFrame(
        {"id": np.arange(1500) % 750, "a": ROWS[:, 0], "b": ROWS[:, 1], "c": ROWS[:, 2], "class": CLASS}
    )
    opened = sf.Dataset(data, unit=sf.Person("id"), between=dict.fromkeys("abc", (-1, 1)), categories={"class": [0, 1]})
    session = opened.session(limit=sf.ZCDP(10**7), ledger="memory:")
    model = LogisticRegression(loss=sf.ZCDP(10**6))
    asked = model.fit(session.table(), features=["a", "b", "c"], target="class", max_rows=2)
    assert asked.method_ == "descent" and asked.release_.receipt is not None
    theta = asked.theta_.copy()
    assert session.spent == sf.ZCDP(10**6) == asked.release_.loss
    held = LogisticRegression(loss=sf.ZCDP(10**6), between=(-1, 1), classes=[0, 1]).fit(ROWS, CLASS)
    assert np.allclose(held.theta_, theta, atol=0.01) and np.abs(theta).max() > 1


def test_the_way_is_chosen_by_what_is_public_and_can_be_chosen() -> None:
    known: Any = {"classes": [0, 1], "between": (-1, 1)}
    for loss, method in (
        (sf.Pure(1), "objective"),
        (sf.Approx(1, 0), "objective"),
        (sf.Approx(5, "1e-12"), "objective"),
        (sf.Approx("0.5", "1e-5"), "descent"),
        (sf.GDP(1), "descent"),
    ):
        for rows, labels in ((ROWS, CLASS), (ROWS[:1], CLASS[:1])):
            assert LogisticRegression(loss=loss, **known).fit(rows, labels).method_ == method
    asked = LogisticRegression(loss=sf.ZCDP(1), method="objective", **known).fit(ROWS, CLASS)
    assert "objective perturbation" in str(asked)
    for method, match in (("descent", "Allow a δ"), ("newton", "the better one")):
        with pytest.raises(BadArgument, match=match):
            LogisticRegression(epsilon=1, method=method, **known).fit(ROWS, CLASS)


@pytest.mark.parametrize(
    "loss", [sf.ZCDP("1e-40"), sf.ZCDP("0.1"), sf.GDP("1e-9"), sf.Approx("1e-9", "1e-12")], ids=str
)
def test_data_and_losses_of_any_size_give_a_finite_model(loss: sf.Loss) -> None:
    odd = np.array([[0.5, 2.0, np.nan], [np.inf, 7.0, 0.1], [-np.inf, 2.0, 0.1], [0.5, 2.0, 0.3]] * 3)
    known: Any = {"loss": loss, "between": [(0, 1), (2, 2), (0, 1)], "method": "descent"}
    for rows in (odd, odd[:0], odd[:1], np.repeat(odd[3:4], 50, axis=0)):
        for model, labels in (
            (LogisticRegression(**known, classes=[0, 1]), np.full(len(rows), 1)),
            (PoissonRegressor(**known, target_between=(0, 5)), np.full(len(rows), np.inf)),
        ):
            fitted = model.fit(rows, labels)
            assert np.all(np.isfinite(fitted.coef_)) and fitted.coef_[0, 1] == 0
            assert np.all(np.isfinite(fitted.predict(odd)))
    if loss == sf.ZCDP("1e-40"):  # nothing can be known, and nothing is said
        model = LogisticRegression(loss=loss, between=(-1, 1), classes=[0, 1]).fit(
            ROWS, CLASS, entropy=ReplayEntropy(2)
        )
        assert np.abs(model.theta_).max() < 0.1


def test_a_ridge_pulls_and_a_model_comes_back_from_disk(tmp_path: Path) -> None:
    known: Any = {"loss": sf.ZCDP(100), "between": (-1, 1), "classes": [0, 1]}
    free = LogisticRegression(**known).fit(ROWS, CLASS)
    pulled = LogisticRegression(**known, ridge=2000).fit(ROWS, CLASS)
    plain = LogisticRegression(epsilon=10**7, between=(-1, 1), classes=[0, 1], ridge=2000).fit(ROWS, CLASS)
    assert np.abs(pulled.theta_).max() < 0.3 * np.abs(free.theta_).max()
    assert np.allclose(pulled.theta_, plain.theta_, atol=0.02)
    save(free, tmp_path / "model.json")
    again = load(tmp_path / "model.json")
    assert np.array_equal(again.theta_, free.theta_) and again.method_ == "descent"


def test_points_stand_for_a_normal_law() -> None:
    for size in (1, 2, 5):
        points, weights = normal_points(size)
        assert weights.sum() == pytest.approx(1) and np.allclose(weights @ points, 0, atol=1e-9)
        assert np.allclose((points * weights[:, None]).T @ points, np.eye(size), atol=0.12)


def test_what_a_loss_allows_in_gaussian_noise() -> None:
    loss = gaussian_loss(sf.Approx(1, "1e-6"))
    assert isinstance(loss, sf.GDP) and 0.0279 < float(loss.mu) ** 2 / 2 < 0.0281
    assert sf.convert(loss, sf.Approx, delta="1e-6").within(sf.Approx(1, "1e-6"))
    assert gaussian_loss(sf.Pure(1)) is None and gaussian_loss(sf.Approx(1, 0)) is None
    assert gaussian_loss(sf.Renyi({2: "0.5", 8: 1})) == sf.ZCDP("0.125")
