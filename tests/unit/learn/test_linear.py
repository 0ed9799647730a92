"""Linear regression: both ways in give one model, coefficients approach least squares, intervals cover."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
import polars as pl
import pytest
from sklearn.datasets import load_diabetes
from sklearn.linear_model import LinearRegression as Plain

import sfumato as sf
from sfumato.entropy import ReplayEntropy
from sfumato.errors import BadArgument, QueryRefused
from sfumato.learn import LinearRegression
from sfumato.learn.columns import Number
from sfumato.learn.linear import noise_by_cell, reach_of, shrunk_line, slopes_and_reach
from sfumato.learn.moments import Moments
from sfumato.learn.noising import least_noise
from sfumato.learn.sources import Held
from sfumato.transforms.gram import Coordinates

BOUNDS = {"age": (18, 80), "sex": (1, 2), "bmi": (15, 45), "bp": (60, 135)}


def diabetes() -> tuple[Any, Any]:
    X, y = load_diabetes(return_X_y=True, as_frame=True, scaled=False)  # noqa: N806
    return X[list(BOUNDS)], y


@pytest.mark.parametrize("loss", [sf.Pure(10**6), sf.ZCDP(10**9), sf.Approx(10**6, 1e-6)], ids=str)
def test_with_hardly_any_noise_it_is_least_squares(loss: sf.Loss) -> None:
    X, y = diabetes()  # noqa: N806
    model = LinearRegression(loss=loss, between=BOUNDS, target_between=(0, 400)).fit(X, y)
    plain = Plain().fit(X, y)
    assert np.allclose(model.coef_, plain.coef_, rtol=1e-2, atol=1e-2)
    assert model.predict(X) == pytest.approx(plain.predict(X), rel=1e-2)
    assert model.r2_ == pytest.approx(plain.score(X, y), abs=1e-2)
    assert sf.convert(model.release_.loss, type(loss)).within(loss) and "uncharged" in str(model.release_)


def test_a_table_behind_a_ledger_gives_the_same_model_and_is_charged() -> None:
    X, y = diabetes()  # noqa: N806
    table = pl.DataFrame(X.assign(target=y, id=range(len(X))))
    data = sf.Dataset(table, unit="id", between={**BOUNDS, "target": (0, 400)})
    session = data.session(limit=sf.ZCDP(10**9), ledger="memory:")
    asked = LinearRegression(loss=sf.ZCDP(10**8)).fit(session.table(), target="target", max_rows=1)
    held = LinearRegression(loss=sf.ZCDP(10**8), between=BOUNDS, target_between=(0, 400)).fit(X, y)
    assert np.allclose(asked.coef_, held.coef_, rtol=1e-2) and list(asked.feature_names_in_) == list(BOUNDS)
    assert session.spent == asked.release_.loss == sf.ZCDP(10**8)
    assert asked.moments_.deviation == held.moments_.deviation  # one price, either way
    before = session.spent
    for wrong in ({"target": "target"}, {"target": "nowhere", "max_rows": 1}, {"max_rows": 1}):
        with pytest.raises((QueryRefused, BadArgument)):
            LinearRegression(loss=sf.ZCDP(1)).fit(session.table(), **wrong)
    assert session.spent == before


def test_intervals_cover_the_population_by_noise_and_by_sampling() -> None:
    """Of 900 intervals at 95 %, replayed: between 94 and 98 %, at three sizes of noise."""
    rng, slopes = np.random.default_rng(5), np.array([0.4, -0.2, 0.1])
    for size, loss, seed in ((400, sf.ZCDP(50), 1), (4000, sf.Pure(2), 2), (4000, sf.ZCDP("0.2"), 3)):
        hits, entropy = [], ReplayEntropy(seed)
        for _ in range(100):
            X = rng.uniform(-1, 1, (size, 3))  # noqa: N806
            y = X @ slopes + rng.uniform(-0.5, 0.5, size)
            model = LinearRegression(loss=loss, between=(-1, 1), target_between=(-2, 2)).fit(X, y, entropy=entropy)
            hits += [
                low <= slope <= high for slope, (low, high) in zip(slopes, model.intervals().values(), strict=True)
            ]
        assert 0.92 <= np.mean(hits) <= 0.98


def test_noise_on_cells_moves_slopes_as_the_intervals_say() -> None:
    """The first-order effect of every cell, against the change of the solution."""
    rng = np.random.default_rng(6)
    rows = np.column_stack([np.ones(500), rng.uniform(-1, 1, (500, 3))])
    gram = rows.T @ rows
    inverse = np.linalg.inv(gram[:3, :3])
    full = np.append(inverse @ gram[:3, 3], -1.0)
    stated = noise_by_cell(inverse, full)
    for place, (a, b) in enumerate(zip(*np.triu_indices(4), strict=True)):
        moved = gram.copy()
        moved[a, b] += 1e-5
        moved[b, a] = moved[a, b]
        change = np.linalg.solve(moved[:3, :3], moved[:3, 3]) - full[:3]
        assert stated[:, place] == pytest.approx((change / 1e-5) ** 2, rel=1e-2, abs=1e-9)


def test_where_noise_hides_everything_nothing_is_claimed_and_slopes_are_small() -> None:
    moments = Moments(Coordinates((0, 0)), np.array([[5.0, 1, 2], [1, -3, 40], [2, 40, 1]]), deviation=50.0)
    assert max(np.abs(shrunk_line(moments, 0.0)[1]).max(), abs(shrunk_line(moments, 0.0)[0])) < 0.2
    assert slopes_and_reach(moments, 0.95)[1].tolist() == [math.inf]


def test_a_model_that_noise_hides_says_what_comes_nearer() -> None:
    x = np.linspace(-1, 1, 50)[:, None]
    model = LinearRegression(epsilon="0.01", between=(-1, 1), target_between=(-1, 1)).fit(x, x[:, 0])
    assert "HuberRegressor" in str(model)
    clear = LinearRegression(epsilon=10**6, between=(-1, 1), target_between=(-1, 1)).fit(x, x[:, 0])
    assert "HuberRegressor" not in str(clear)


def test_intervals_know_how_light_or_heavy_the_tails_of_noise_are() -> None:
    """The kurtosis of sums of cube noise, and quantiles: of uniform and of normal numbers, between, and heavier."""
    cells, weights = 15, np.array([1.0, 0.5, 0.2, *[0.0] * 12])
    source = Held(tuple(Number(f"x{place}", Fraction(-1), Fraction(1)) for place in range(4)), ())
    sums, rng = least_noise(source.gram, sf.Pure(1), source.unit), np.random.default_rng(8)
    drawn = rng.uniform(-1, 1, (400_000, cells)) * rng.gamma(cells + 1, 1, (400_000, 1)) @ weights
    squares, fourths = (weights**2).sum(), (weights**4).sum()
    stated = sums.tails * fourths / squares**2 + sums.common
    assert np.mean(drawn**4) / np.mean(drawn**2) ** 2 - 3 == pytest.approx(stated, abs=0.05)
    uniform, middling, normal, heavy = reach_of(0.95, np.array([-1.2, -0.5, 0.0, 1.0]))
    assert uniform == pytest.approx(0.95 * math.sqrt(3)) and normal == pytest.approx(1.96, abs=1e-3)
    assert uniform < middling < normal < heavy


@pytest.mark.parametrize("rows", [0, 1, 2], ids=["no rows", "one row", "two equal rows"])
def test_degenerate_data_gives_a_finite_model(rows: int) -> None:
    """None at all, fewer than columns, constant, collinear: never an error that depends on data."""
    X, y = np.full((rows, 3), 0.5), np.full(rows, 0.25)  # noqa: N806
    model = LinearRegression(epsilon=10**9, between=(0, 1), target_between=(0, 1)).fit(X, y)
    assert np.isfinite(model.coef_).all() and np.isfinite(model.predict([[0.5, 0.5, 0.5]])).all()


def test_categories_missing_values_and_values_beyond_bounds() -> None:
    rng = np.random.default_rng(7)
    kind, x = rng.choice(["a", "b"], 4000), rng.uniform(0, 10, 4000)
    frame = pl.DataFrame({"kind": kind, "x": x})
    y = 2 * x + np.where(kind == "a", 5.0, -5.0)
    y[::50] = np.nan
    stated = {"between": {"x": (0, 10)}, "categories": {"kind": ["a", "b"]}, "target_between": (-5, 25)}
    model = LinearRegression(epsilon=10**6, **stated).fit(frame, y)
    assert model.coordinates_ == ["kind=a", "kind=b", "x"]
    asked = pl.DataFrame({"kind": ["a", "b", "never seen", None], "x": [5.0, 5.0, 99.0, None]})
    assert model.predict(asked)[:2] == pytest.approx([15, 5], abs=0.1) and np.isfinite(model.predict(asked)).all()


def test_what_is_not_stated_is_refused_with_the_line_to_write() -> None:
    X, y = np.zeros((5, 2)), np.zeros(5)  # noqa: N806
    for model, words in (
        (LinearRegression(epsilon=1), r"between=\{'x0': \(lower, upper\)\}"),
        (LinearRegression(between=(0, 1), target_between=(0, 1)), "epsilon=0.5"),
        (LinearRegression(epsilon=1, between={"x0": (0, 1), "x7": (0, 1)}), "x7"),
        (LinearRegression(epsilon=1, between=(0, 1), target_between=(1, 0)), "target_between|lower|bounds"),
        (LinearRegression(epsilon=1, between=(0, 1), target_between=(0, 1), alpha=-1), "alpha"),
        (LinearRegression(epsilon=1, between=[(0, 1)] * 2 + [(0, Fraction(1))], alpha=math.nan), "alpha"),
    ):
        with pytest.raises(BadArgument, match=words):
            model.fit(X, y)
