"""Clusters: those of the rows without noise, finite whatever the rows are, at the stated price in both ways in."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
import pytest
from sklearn.cluster import KMeans as PlainKMeans
from sklearn.datasets import load_iris

import sfumato as sf
from sfumato.entropy import ReplayEntropy
from sfumato.errors import BadArgument
from sfumato.learn import KMeans

MIDDLES = np.array([[1.0, 20.0], [9.0, 80.0], [2.0, 90.0]])
BOUNDS = {"a": (0, 10), "b": (0, 100)}


def clouds(many: int = 300) -> Any:
    rng = np.random.default_rng(7)
    return np.concatenate([rng.normal(middle, (0.3, 3.0), (many, 2)) for middle in MIDDLES])


def in_order(centres: Any) -> Any:
    return np.array(sorted(np.asarray(centres).tolist()))


@pytest.mark.parametrize("loss", [sf.Pure(1000), sf.ZCDP(10**5), sf.Approx(1000, 1e-6), sf.Approx(1000, 0)], ids=str)
def test_with_hardly_any_noise_centres_are_the_plain_ones_in_the_units_of_the_data(loss: sf.Loss) -> None:
    rows = clouds()
    model = KMeans(3, loss=loss, between=list(BOUNDS.values())).fit(rows, entropy=ReplayEntropy(3))
    assert in_order(model.cluster_centers_) == pytest.approx(in_order(MIDDLES), rel=0.05)
    assert model.counts_ == pytest.approx([300] * 3, abs=3) and not hasattr(model, "labels_")
    assert sf.convert(model.release_.loss, type(loss)).within(loss) and "uncharged" in str(model)
    scaled, centres = (rows - (5, 50)) / (5, 50), (model.cluster_centers_ - (5, 50)) / (5, 50)
    far = np.linalg.norm(scaled[:, None] - centres, axis=2)
    assert model.transform(rows) == pytest.approx(far, abs=1e-4)
    assert model.predict(rows).tolist() == far.argmin(axis=1).tolist()
    assert model.score(rows) == pytest.approx(-(far.min(axis=1) ** 2).sum(), abs=1e-2)
    assert float(model.private_score(rows, epsilon=10**6)) == pytest.approx(model.score(rows), abs=1e-2)
    assert list(model.get_feature_names_out()) == ["kmeans0", "kmeans1", "kmeans2"]


def test_a_table_of_people_with_several_rows_is_charged_and_gives_the_same_centres() -> None:
    rows = clouds()
    table = pl.DataFrame({"a": rows[:, 0], "b": rows[:, 1], "id": np.arange(len(rows)) // 2})
    session = sf.Dataset(table, unit="id", between=BOUNDS).session(limit=sf.Pure(10**9), ledger="memory:")
    model = KMeans(3, epsilon=2000, init=MIDDLES + 0.5).fit(session.table(), max_rows=2)
    assert in_order(model.cluster_centers_) == pytest.approx(in_order(MIDDLES), rel=0.05)
    assert session.spent == sf.Pure(2000) and list(model.feature_names_in_) == ["a", "b"]
    asked = model.private_score(session.table(), epsilon=1000, max_rows=2)
    held = model.private_score(table.select("a", "b"), epsilon=1000)
    assert session.spent == sf.Pure(3000) and asked.deviation == pytest.approx(2 * held.deviation, rel=1e-3)
    assert float(asked) == pytest.approx(model.score(table.select("a", "b")), abs=1.0)


@pytest.mark.parametrize(
    "rows",
    [np.zeros((0, 2)), [[1.0, 2.0]], np.full((50, 2), 0.5), [[np.nan, 1.0]], [[np.inf, -np.inf], [1e300, -1e300]]],
    ids=["no rows", "one row", "constant", "missing", "beyond bounds"],
)
@pytest.mark.parametrize("loss", [sf.Pure(10**6), sf.Pure("0.001"), sf.ZCDP("0.00001")], ids=str)
def test_degenerate_rows_give_finite_centres_within_the_bounds(rows: Any, loss: sf.Loss) -> None:
    for between in ((0, 1), (3, 3)):
        model = KMeans(2, loss=loss, between=between).fit(rows)
        assert ((model.cluster_centers_ >= between[0]) & (model.cluster_centers_ <= between[1])).all()
        assert np.isfinite(model.counts_).all() and np.isfinite(model.transform([[np.nan, 9.0]])).all()
        assert np.isfinite(float(model.private_score(rows, epsilon=1)))


def test_where_noise_hides_all_centres_are_spread_over_the_box_and_with_more_loss_they_are_near_the_best() -> None:
    """Before, clusters that nothing was known of went to the corners: 7 times the least inertia where now it is 5."""
    rows = load_iris().data
    low, high = rows.min(axis=0) - 0.1, rows.max(axis=0) + 0.1
    best = PlainKMeans(3, n_init=5, random_state=0).fit(2 * (rows - low) / (high - low) - 1).inertia_
    for epsilon, most in ((0.1, 6.0), (1.0, 2.0), (10.0, 1.2)):
        model = KMeans(3, epsilon=epsilon, between=list(zip(low, high, strict=True)))
        found = [-model.fit(rows, entropy=ReplayEntropy(seed)).score(rows) / best for seed in range(8)]
        assert np.mean(found) < most


def test_public_starts_are_in_the_units_of_the_data() -> None:
    model = KMeans(3, epsilon=100, between=list(BOUNDS.values()), init=MIDDLES + 0.5, max_iter=1)
    assert model.fit(clouds(), entropy=ReplayEntropy(1)).cluster_centers_ == pytest.approx(MIDDLES, rel=0.1)


def test_what_cannot_be_is_refused_before_anything_is_charged() -> None:
    table = pl.DataFrame({"a": [1.0], "b": [2.0], "id": [1]})
    session = sf.Dataset(table, unit="id", between=BOUNDS).session(limit=sf.Pure(1), ledger="memory:")
    for wrong in (
        {"n_clusters": 0},
        {"max_iter": 0},
        {"n_clusters": 2, "init": [(1, 2, 3)]},
        {"categories": {"a": [1]}},
    ):
        with pytest.raises(BadArgument):
            KMeans(epsilon=1, **wrong).fit(session.table(), max_rows=1)  # type: ignore[arg-type]
    assert session.spent == sf.Pure(0)
