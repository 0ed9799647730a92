"""Private scalers: scikit-learn's without noise, in both ways in; finite and in order whatever the rows are."""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np
import polars as pl
import pytest
from sklearn.datasets import load_wine
from sklearn.preprocessing import QuantileTransformer as PlainQuantiles
from sklearn.preprocessing import StandardScaler as PlainScaler

import sfumato as sf
from sfumato.core.metrics import L1, L2, LInf, VectorMetric
from sfumato.entropy import ReplayEntropy
from sfumato.errors import BadArgument
from sfumato.exact import squared
from sfumato.learn import PCA, QuantileTransformer, StandardScaler
from sfumato.learn.columns import Number, Square
from sfumato.learn.standardizing import centred_moments
from sfumato.transforms.gram import gram

LOSSES = [sf.Pure(10**6), sf.ZCDP(10**10), sf.Approx(10**6, 1e-6)]
BOUNDS = [(10, 16), (0, 6), (1, 4)]


def wine() -> Any:
    return load_wine().data[:, :3]


@pytest.mark.parametrize("metric", [L1(), L2(), LInf()], ids=str)
def test_the_sums_of_a_scaler_move_as_far_as_stated_and_no_farther(metric: VectorMetric) -> None:
    """All rows of two columns at five places: one moves 1 + 2 · 2 cells, by 1 where both are at an end."""
    column = Number("x", Fraction(-1), Fraction(1))
    exact = sf.matrix(4) >> gram(pairs=[(0, place) for place in range(5)], metric=metric)
    moved = []
    for row in product([-1.0, -0.5, 0.0, 0.5, 1.0], repeat=2):
        values = np.array(row)
        whole = np.concatenate([column.encode(values), Square(column).encode(values)])
        moved.append(exact.target.distance(exact(whole[None, :]), exact(np.zeros((0, 4)))))
    assert max(map(squared, moved)) == squared(exact.map(1)) == {L1: 25, L2: 5, LInf: 1}[type(metric)]


@pytest.mark.parametrize("loss", LOSSES, ids=str)
def test_with_hardly_any_noise_a_scaler_is_the_plain_one(loss: sf.Loss) -> None:
    rows, plain = wine(), PlainScaler().fit(wine())
    model = StandardScaler(loss=loss, between=BOUNDS).fit(rows)
    assert model.mean_ == pytest.approx(plain.mean_, rel=1e-3) and model.var_ == pytest.approx(plain.var_, rel=1e-2)
    assert model.transform(rows) == pytest.approx(plain.transform(rows), abs=0.02)
    assert model.inverse_transform(model.transform(rows)) == pytest.approx(rows)
    assert model.n_samples_seen_ == pytest.approx(len(rows), abs=0.1)
    assert sf.convert(model.release_.loss, type(loss)).within(loss)
    near = StandardScaler(loss=loss, between=BOUNDS, clip=1).fit_transform(rows)
    assert near.min() == -1 and near.max() == 1
    assert np.isnan(model.transform([[np.nan, 1, 2]])[0, 0])
    assert list(model.get_feature_names_out()) == ["x0", "x1", "x2"]


def test_a_table_is_charged_and_gives_the_same_scale() -> None:
    rows = wine()
    table = pl.DataFrame({**{f"x{place}": part for place, part in enumerate(rows.T)}, "id": np.arange(len(rows)) // 2})
    data = sf.Dataset(table, unit="id", between={f"x{place}": pair for place, pair in enumerate(BOUNDS)})
    session = data.session(limit=sf.Pure(10**9), ledger="memory:")
    asked, held = StandardScaler(epsilon=10**7), StandardScaler(epsilon=10**7, between=BOUNDS)
    asked.fit(session.table(), max_rows=2)
    assert asked.scale_ == pytest.approx(held.fit(rows).scale_, rel=1e-3) and session.spent == sf.Pure(10**7)
    ranks = QuantileTransformer(9, epsilon=10**5).fit(session.table(), max_rows=2)
    assert session.spent == sf.Pure(10**7 + 10**5)
    assert ranks.transform(rows) == pytest.approx(
        QuantileTransformer(9, epsilon=10**5, between=BOUNDS).fit_transform(rows), abs=0.05
    )
    with pytest.raises(BadArgument, match="never leave it"):
        PCA(epsilon=1, between=BOUNDS).fit(rows).transform(session.table())


@pytest.mark.parametrize("loss", [sf.Pure(10**5), sf.ZCDP(10**6), sf.Approx(10**5, 1e-6)], ids=str)
def test_with_hardly_any_noise_ranks_are_the_plain_ones(loss: sf.Loss) -> None:
    rows = np.random.default_rng(2).exponential(1.0, (1500, 2))
    for shape in ("uniform", "normal"):
        model = QuantileTransformer(15, loss=loss, between=(0, 20), output_distribution=shape)  # type: ignore[arg-type]
        made = model.fit_transform(rows)
        plain = PlainQuantiles(n_quantiles=17, output_distribution=shape).fit_transform(rows)
        inner = (plain > 0.07) & (plain < 0.93) if shape == "uniform" else np.abs(plain) < 1.4
        assert np.abs(made - plain)[inner].max() < 0.1
        assert model.inverse_transform(made) == pytest.approx(rows, rel=1e-6, abs=1e-6)
        assert sf.convert(model.release_.loss, type(loss)).within(loss)


@pytest.mark.parametrize("rows", [np.zeros((0, 2)), [[0.5, 0.5]], np.full((30, 2), 0.25), [[np.nan, 1.0]]], ids=len)
@pytest.mark.parametrize("loss", [sf.Pure(10**6), sf.Pure("0.001"), sf.ZCDP("0.00001")], ids=str)
def test_degenerate_rows_give_finite_scales_and_ranks_in_order(rows: Any, loss: sf.Loss) -> None:
    asked = np.linspace(-1, 2, 7)[:, None].repeat(2, axis=1)
    for between in ((0, 1), (1, 1)):
        scaled = StandardScaler(loss=loss, between=between).fit(rows)
        assert np.isfinite(scaled.transform(asked)).all() and (scaled.scale_ > 0).all()
        for shape in ("uniform", "normal"):
            ranks = QuantileTransformer(4, loss=loss, between=between, output_distribution=shape).fit(rows)  # type: ignore[arg-type]
            made = ranks.transform(asked)
            assert np.isfinite(made).all() and (np.diff(made, axis=0) >= 0).all()
            assert np.isfinite(ranks.inverse_transform(made)).all()


def test_variances_that_noise_hides_are_no_less_than_it() -> None:
    rows, mean, variance = centred_moments(100.0, np.array([0.0, 50.0]), np.array([-200.0, 900.0]), 1e-3)
    assert (rows, mean.tolist()) == (100.0, pytest.approx([0.0, 0.5])) and variance == pytest.approx(
        [1e-5, 0.75], rel=1e-3
    )
    for nothing in (
        centred_moments(-3.0, np.array([9.0]), np.array([0.0]), 1e9),
        centred_moments(0, *np.zeros((2, 1)), 9),
    ):
        assert nothing[2] == pytest.approx([0.16], abs=1e-3) and nothing[1] == pytest.approx([0.0], abs=1e-3)


def test_scalers_refuse_what_they_cannot_do() -> None:
    with pytest.raises(BadArgument, match="categories have no mean"):
        StandardScaler(epsilon=1, categories={"x0": [1, 2]}).fit([[1]])
    with pytest.raises(BadArgument, match="clip"):
        StandardScaler(epsilon=1, between=(0, 1), clip=0).fit([[1]])
    with pytest.raises(BadArgument, match="uniform"):
        QuantileTransformer(epsilon=1, between=(0, 1), output_distribution="other").fit([[1]])  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="columns"):
        StandardScaler(epsilon=1, between=(0, 1)).fit([[1]], entropy=ReplayEntropy(1)).inverse_transform([[1, 2]])
