"""Lines by medians: near the truth where wild rows pull least squares away; both ways in; refusals come first."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from sklearn.base import clone

import sfumato as sf
from sfumato.entropy import ReplayEntropy
from sfumato.errors import SfumatoError
from sfumato.learn import LinearRegression, TheilSenRegressor, load, save

BOUNDS: dict[str, Any] = {"between": (0, 10), "target_between": (0, 100)}


def points(rows: int) -> tuple[Any, Any]:
    rng = np.random.default_rng(5)
    x = rng.uniform(0, 10, rows)
    return x[:, None], 3 * x + 20 + rng.normal(0, 1, rows)


def test_A2_060_wild_rows_hardly_move_it() -> None:
    x, y = points(2000)
    y[x[:, 0] > 9] = 0.0  # one row in ten, all at one end
    model = TheilSenRegressor(epsilon=2, **BOUNDS).fit(x, y, entropy=ReplayEntropy(1))
    pulled = LinearRegression(epsilon=10**6, **BOUNDS).fit(x, y)
    assert abs(model.coef_[0] - 3) < 1 < abs(pulled.coef_[0] - 3)
    assert model.predict([[5.0]])[0] == pytest.approx(35, abs=3)
    assert model.private_score(x, y, epsilon=10).value < 0.9


@pytest.mark.parametrize("loss", [sf.Pure(1), sf.ZCDP("0.1"), sf.Approx(1, "1e-6")], ids=str)
@pytest.mark.parametrize("rows", [0, 1, 2, 3000])
def test_any_number_of_rows_gives_a_finite_line_at_the_loss(loss: Any, rows: int) -> None:
    x, y = points(rows)
    model = TheilSenRegressor(loss=loss, **BOUNDS).fit(x, y, entropy=ReplayEntropy(2))
    assert np.isfinite(model.coef_).all() and np.isfinite(model.intercept_)
    assert model.release_.loss.within(loss) and type(model.release_.loss) is type(loss)
    assert rows < 3000 or abs(model.coef_[0] - 3) < 0.3


def test_rows_with_one_x_or_one_point_or_something_missing_are_data_like_any_other() -> None:
    for x, y in (([5.0] * 50, range(50)), ([5.0] * 50, [7.0] * 50), ([np.nan, np.inf] * 25, [1.0] * 50)):
        model = TheilSenRegressor(epsilon=1, **BOUNDS).fit(np.array(x)[:, None], np.array(list(y), dtype=float))
        assert np.isfinite(model.predict([[1.0], [np.nan]])).all()


def test_a_table_has_the_same_price_and_people_of_several_rows_pay_by_their_bound() -> None:
    x, y = points(3000)
    table = pl.DataFrame({"id": np.arange(3000) // 2, "x": x[:, 0], "y": y})
    data = sf.Dataset(table, unit="id", between={"x": (0, 10), "y": (0, 100)})
    session = data.session(limit=sf.Pure(100), ledger="memory:")
    model = TheilSenRegressor(epsilon=5).fit(session.table(), features=["x"], target="y", max_rows=2)
    assert session.spent == sf.Pure(5) == model.release_.loss
    assert abs(model.coef_[0] - 3) < 1 and "id" not in str(model.columns_)
    assert float(model.private_score(session.table(), epsilon=10, max_rows=2)) > 0.8


@pytest.mark.parametrize(
    "given",
    [
        {"slope_between": (5, 1)},
        {"slope_between": (1, 1)},
        {"slope_between": (0, float("inf"))},
        {"matchings": 0},
        {"between": None},
    ],
    ids=str,
)
def test_what_cannot_be_is_refused_before_anything_is_charged(given: dict[str, Any]) -> None:
    data = sf.Dataset({"id": [1], "x": [1.0], "y": [1.0]}, unit="id")
    session = data.session(epsilon=1, ledger="memory:")
    stated = {"between": {"x": (0, 1)}, "target_between": (0, 1), **given}
    with pytest.raises(SfumatoError):
        TheilSenRegressor(epsilon=1, **stated).fit(session.table(), features=["x"], target="y", max_rows=1)
    assert session.spent == sf.Pure(0)


def test_two_columns_are_refused_with_what_to_ask_instead() -> None:
    with pytest.raises(SfumatoError, match="one column of numbers: for several, ask LinearRegression"):
        TheilSenRegressor(epsilon=1, **BOUNDS).fit([[1.0, 2.0]], [1.0])


def test_stated_bounds_of_the_slope_are_in_the_units_of_the_data(tmp_path: Path) -> None:
    x, y = points(500)
    model = TheilSenRegressor(epsilon=50, slope_between=(10, 12), **BOUNDS).fit(x, y)
    assert 10 <= model.coef_[0] < 10.1
    assert clone(model).get_params() == model.get_params() and vars(clone(model)).keys() == model.get_params().keys()
    save(model, tmp_path / "model.json")
    again = load(tmp_path / "model.json")
    assert str(again) == str(model) and np.array_equal(again.predict(x), model.predict(x))
