"""Covariances and components: those of scikit-learn without noise, in both ways in; public maps cost nothing."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from sklearn.datasets import load_iris, load_wine
from sklearn.decomposition import PCA as PlainPCA  # noqa: N811
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import PolynomialFeatures

import sfumato as sf
from sfumato.entropy import ReplayEntropy
from sfumato.errors import BadArgument
from sfumato.learn import PCA, Binner, Covariance, Encoder, LinearRegression
from sfumato.learn.components import angle

IRIS = {"between": (0, 8)}


def test_with_hardly_any_noise_covariances_and_components_are_the_plain_ones() -> None:
    rows = load_iris().data
    made = Covariance(epsilon=10**8, **IRIS).fit(rows)
    assert np.allclose(made.covariance_, np.cov(rows.T, ddof=0), atol=1e-3)
    assert np.allclose(made.correlation_, np.corrcoef(rows.T), atol=1e-2) and np.allclose(
        made.location_, rows.mean(0), atol=1e-3
    )
    ours, plain = PCA(2, loss=sf.ZCDP(10**12), **IRIS).fit(rows), PlainPCA(2).fit(rows)
    assert np.allclose(np.abs(ours.components_ @ plain.components_.T), np.eye(2), atol=1e-2)
    assert np.allclose(ours.explained_variance_ratio_, plain.explained_variance_ratio_, atol=1e-3)
    assert np.allclose(
        ours.inverse_transform(ours.transform(rows)), plain.inverse_transform(plain.transform(rows)), atol=0.05
    )


def test_shares_of_the_variance_whitening_and_what_is_left_are_those_of_scikit_learn() -> None:
    rows = load_iris().data
    ours, plain = PCA(0.95, epsilon=10**8, **IRIS).fit(rows), PlainPCA(0.95).fit(rows)
    assert ours.n_components_ == plain.n_components_ == 2
    assert ours.noise_variance_ == pytest.approx(plain.noise_variance_, rel=0.01)
    assert ours.get_covariance() == pytest.approx(plain.get_covariance(), rel=0.01, abs=0.005)
    white, whole = PCA(2, whiten=True, epsilon=10**8, **IRIS).fit(rows), PCA(epsilon=10**8, **IRIS).fit(rows)
    assert white.transform(rows).std(axis=0) == pytest.approx([1, 1], rel=0.01)
    back = ours.inverse_transform(ours.transform(rows))
    assert white.inverse_transform(white.transform(rows)) == pytest.approx(back, abs=0.01)
    assert whole.noise_variance_ == 0 and PCA(0.5, epsilon=1, **IRIS).fit(np.zeros((0, 2))).n_components_ in (1, 2)
    with pytest.raises(BadArgument, match="n_components"):
        PCA(2.5, epsilon=1, **IRIS).fit(rows)


def test_a_table_is_charged_and_gives_the_same_law() -> None:
    rows = load_iris().data
    table = pl.DataFrame({**{f"x{place}": column for place, column in enumerate(rows.T)}, "id": np.arange(len(rows))})
    data = sf.Dataset(table, unit="id", between={f"x{place}": (0, 8) for place in range(4)})
    session = data.session(limit=sf.Pure(10**9), ledger="memory:")
    asked = Covariance(epsilon=10**8).fit(session.table(), max_rows=1)
    held = Covariance(epsilon=10**8, **IRIS).fit(rows)
    assert session.spent == sf.Pure(10**8) and np.allclose(asked.covariance_, held.covariance_, atol=1e-3)
    assert asked.deviation_ == pytest.approx(held.deviation_, rel=1e-4)


def test_the_stated_angle_holds_and_says_when_nothing_is_known() -> None:
    rows = load_wine().data[:, [0, 1, 2, 5, 6]]
    bounds = [(10, 16), (0, 6), (1, 4), (0, 4), (0, 6)]
    exact, held, entropy = PlainPCA(1).fit(rows).components_, [], ReplayEntropy(11)
    for _ in range(40):
        model = PCA(1, loss=sf.ZCDP(20), between=bounds).fit(rows, entropy=entropy)
        cosine = min(abs(float((model.components_ @ exact.T)[0, 0])), 1.0)
        held.append(np.sqrt(1 - cosine**2) <= model.subspace_error_)
    assert np.mean(held) >= 0.9
    assert angle(np.array([1.0, 1.0]), 1, 0.1) == 1.0 and angle(np.array([2.0, 1.0]), 2, 9.0) == 0.0


@pytest.mark.parametrize("rows", [np.zeros((0, 2)), np.full((3, 2), 0.5)], ids=["no rows", "constant"])
def test_degenerate_data_gives_finite_components(rows: np.ndarray) -> None:  # type: ignore[type-arg]
    for epsilon in (10**9, 0.01):
        model = PCA(epsilon=epsilon, between=(0, 1)).fit(rows)
        assert np.isfinite(model.components_).all() and np.isfinite(model.explained_variance_ratio_).all()


def test_public_maps_in_a_pipeline_leave_the_price_as_it_is() -> None:
    rng = np.random.default_rng(3)
    x, kind = rng.uniform(0, 10, 3000), rng.choice(["a", "b"], 3000)
    table = pl.DataFrame({"x": x, "kind": kind})
    encode = Encoder(between={"x": (0, 10)}, categories={"kind": ["a", "b"]})
    model = make_pipeline(
        encode,
        PolynomialFeatures(2, include_bias=False),
        LinearRegression(epsilon=10**6, between=(-1, 1), target_between=(-50, 150)),
    )
    y = x**2 + np.where(kind == "a", 10.0, 0.0)
    model.fit(table, y)
    assert np.abs(model.predict(table) - y).max() < 2 and model[-1].release_.loss == sf.Pure(10**6)
    assert list(encode.get_feature_names_out()) == ["x", "kind=a", "kind=b"]


def test_public_maps_refuse_what_was_not_stated() -> None:
    with pytest.raises(BadArgument, match="between="):
        Encoder().fit(np.zeros((2, 1)))
    with pytest.raises(BadArgument, match="rise"):
        Binner(edges=[1, 1]).fit(np.zeros((2, 1)))
    with pytest.raises(BadArgument, match="at most 1"):
        PCA(2, epsilon=1, between=(0, 1)).fit(np.zeros((2, 1)))
    with pytest.raises(BadArgument, match="categories"):
        Covariance(epsilon=1, categories={"x0": [1, 2]}).fit(np.zeros((2, 1)))
