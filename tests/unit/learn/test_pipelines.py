"""Pipelines: public maps cost nothing on arrays and on tables, and what a whole pipeline cost is added up."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
import pytest
from sklearn.compose import ColumnTransformer, make_column_transformer
from sklearn.pipeline import make_pipeline, make_union
from sklearn.preprocessing import PolynomialFeatures as PlainPolynomials
from sklearn.preprocessing import StandardScaler as PlainScaler

import sfumato as sf
from sfumato.core.metrics import L1
from sfumato.errors import BadArgument
from sfumato.learn import (
    PCA,
    Binner,
    Encoder,
    KMeans,
    LinearRegression,
    PolynomialFeatures,
    QuantileTransformer,
    SimpleImputer,
    StandardScaler,
    total_loss,
)
from sfumato.learn.columns import Number
from sfumato.learn.sources import Asked, Held

KNOWN: dict[str, Any] = {"between": {"x": (0, 10)}, "categories": {"kind": ["a", "b"]}}


def people(many: int = 400) -> pl.DataFrame:
    rng = np.random.default_rng(3)
    x, kind = rng.uniform(-1, 11, many), rng.choice(["a", "b", "c"], many)
    y = np.clip(x, 0, 10) ** 2 + np.where(kind == "a", 10.0, 0.0)
    holes = np.where(rng.random(many) < 0.1, None, x)
    return pl.DataFrame({"id": np.arange(many), "x": holes.astype(float), "kind": kind, "y": y}).with_columns(
        pl.col("x").fill_nan(None)
    )


def session_of(table: pl.DataFrame) -> Any:
    data = sf.Dataset(table, unit="id", between={"x": (-5, 15), "y": (0, 150)}, categories={"kind": ["a", "b", "c"]})
    return data.session(limit=sf.ZCDP(10**9), ledger="memory:")


MAPS = [
    make_pipeline(Encoder(**KNOWN)),
    make_pipeline(Encoder(**KNOWN), PolynomialFeatures(3)),
    make_pipeline(SimpleImputer(fill_value={"x": 5.0}), Binner(edges=[0, 2.5, 7])),
    make_pipeline(Encoder(between={"x": (0, 10)}), PolynomialFeatures(2, interaction_only=True)),
]


@pytest.mark.parametrize("maps", MAPS, ids=["encoded", "products", "filled and binned", "interactions"])
def test_the_engine_makes_of_a_table_what_is_made_of_arrays_to_the_integer(maps: Any) -> None:
    table = people()
    names = ["x", "kind"] if "kind" in str(maps) else ["x"]
    made = maps.fit(table.select(names)).transform(table.select(names))
    asked = maps.fit(session_of(table).table(), "y", **{f"{maps.steps[0][0]}__features": names})
    held = asked.transform(session_of(table).table())
    assert list(held.features) == list(maps.get_feature_names_out()) and "y" in held.frame.columns
    columns = tuple(Number.read(name, (-10, 10)) for name in held.features)
    exact = Asked(columns, held.frame, max_rows=1).gram(L1())
    taken = sf.measurement(
        exact.target, sf.ZCDP, function=lambda sums, _: sums, map=lambda d_in: sf.ZCDP(d_in), claim=sf.claim("a test")
    )
    sums = held.frame.asker.run(exact >> taken, loss=None, key=None).value
    here = Held(columns, tuple(made.T))
    matrix = np.stack([column.encode(part) for column, part in zip(columns, made.T, strict=True)], axis=1)
    assert list(sums) == list(here.gram(L1())(matrix[~np.isnan(matrix).any(axis=1)]))


def test_a_pipeline_of_public_maps_has_the_price_of_its_estimator_and_predicts_for_rows_that_one_holds() -> None:
    table = people()
    session = session_of(table)
    steps = SimpleImputer(fill_value={"x": 0.0}), Encoder(**KNOWN), PolynomialFeatures(2)
    model = make_pipeline(*steps, LinearRegression(loss=sf.ZCDP(10**7), between=None))
    imputed = {"simpleimputer__features": ["x", "kind"], "linearregression__max_rows": 1}
    model.fit(session.table(), "y", **imputed)
    assert session.spent == sf.ZCDP(10**7) == total_loss(model)
    rest = table.filter(pl.col("x").is_not_null()).select("x", "kind")
    expected = rest["x"].clip(0, 10).to_numpy() ** 2 + np.where(rest["kind"] == "a", 10.0, 0.0)
    assert model[-1].target_.name == "y"
    assert np.corrcoef(model.predict(rest.to_pandas()), expected)[0, 1] > 0.9


def test_a_private_scaler_before_an_estimator_is_charged_too_and_carries_bounds_on() -> None:
    table = people().filter(pl.col("x").is_not_null())
    session = session_of(table)
    model = make_pipeline(StandardScaler(epsilon=1000), LinearRegression(epsilon=2000))
    model.fit(
        session.table(),
        "y",
        standardscaler__features=["x"],
        standardscaler__max_rows=1,
        linearregression__max_rows=1,
    )
    assert total_loss(model) == sf.Pure(3000) and "x" in model[-1].feature_names_in_
    slope = np.polyfit(table["x"], table["y"], 1)[0]
    assert model[-1].coef_[0] / model[0].scale_[0] == pytest.approx(slope, rel=0.05)


def test_column_transformers_take_all_maps_and_their_loss_is_added_up() -> None:
    table = people().filter(pl.col("x").is_not_null()).to_pandas()
    both = make_column_transformer(
        (Encoder(categories=KNOWN["categories"]), ["kind"]),
        (Binner(edges=[5]), ["x"]),
        (StandardScaler(epsilon=1, between=(0, 10)), ["x"]),
        (QuantileTransformer(3, epsilon=2, between=(0, 10)), ["x"]),
        (SimpleImputer(fill_value=0), ["y"]),
        (PolynomialFeatures(2), ["x"]),
        verbose_feature_names_out=True,
    ).set_output(transform="pandas")
    made = both.fit_transform(table)
    assert made.shape == (len(table), 8) and "encoder__kind=a" in made.columns
    assert total_loss(both) == sf.Pure(3)
    again = make_pipeline(both, PCA(loss=sf.ZCDP(1), between=(-100, 200))).fit(table)
    parts = [sf.ZCDP(1), sf.convert(sf.Pure(1), sf.ZCDP), sf.convert(sf.Pure(2), sf.ZCDP)]
    assert float(total_loss(again).rho) == pytest.approx(sum(float(one.rho) for one in parts))  # type: ignore[attr-defined]
    assert total_loss(
        make_union(KMeans(2, epsilon=1, between=(0, 1)), StandardScaler(epsilon=1, between=(0, 1))).fit([[1]])
    ) == sf.Pure(2)


def test_a_step_that_learns_without_noise_has_no_loss_to_add() -> None:
    rows = [[0.0], [1.0]]
    with pytest.raises(BadArgument, match="StandardScaler"):
        total_loss(make_pipeline(PlainScaler(), KMeans(1, epsilon=1, between=(0, 1))).fit(rows))
    with pytest.raises(BadArgument, match="fitted"):
        total_loss(make_pipeline(KMeans(1, epsilon=1, between=(0, 1))))
    known = make_pipeline(Encoder(between=(0, 1)), PlainPolynomials(2), KMeans(1, epsilon=1, between=(-1, 1)))
    assert total_loss(known.fit(rows)) == sf.Pure(1)
    assert total_loss(make_pipeline(Encoder(between=(0, 1))).fit(rows)) == sf.Pure(0)
    only = ColumnTransformer([("kept", "passthrough", [0])]).fit(np.array(rows))
    assert total_loss(only) == sf.Pure(0)


def test_products_and_inverses_are_those_of_scikit_learn() -> None:
    rows = np.random.default_rng(1).uniform(-1, 1, (5, 3))
    for degree, apart in ((1, False), (3, False), (3, True)):
        ours, plain = (
            PolynomialFeatures(degree, interaction_only=apart),
            PlainPolynomials(degree, include_bias=False, interaction_only=apart),
        )
        assert ours.fit_transform(rows) == pytest.approx(plain.fit_transform(rows))
        assert ours.get_feature_names_out().tolist() == plain.get_feature_names_out().tolist()
    mixed = [[2.5, "b"], [10.0, "z"], [99.0, "a"]]
    encoder = Encoder(between={"x0": (0, 10)}, categories={"x1": ["a", "b"]})
    assert encoder.inverse_transform(encoder.fit_transform(mixed)).tolist() == [[2.5, "b"], [10.0, None], [10.0, "a"]]


def test_what_maps_cannot_do_is_said() -> None:
    session = session_of(people())
    with pytest.raises(BadArgument, match="name of the target"):
        Encoder().fit(session.table(), [1, 2])
    with pytest.raises(BadArgument, match="strategy"):
        SimpleImputer(strategy="mean").fit([[1.0]])
    with pytest.raises(BadArgument, match="at most 10,000 products"):
        PolynomialFeatures(5).fit(np.zeros((1, 40)))
    with pytest.raises(BadArgument, match="not the target"):
        Encoder().fit(session.table(), "y", features=["x", "y"])
    with pytest.raises(BadArgument, match="columns without names"):
        Encoder(between=(0, 1)).fit([[1.0]]).transform(session.table())
    with pytest.raises(BadArgument, match="target='income'"):
        LinearRegression(epsilon=1).fit(session.table(), [1, 2])
    with pytest.raises(BadArgument, match="no ranks"):
        ranks = QuantileTransformer(3, epsilon=1, between={"x": (0, 10)}).fit(people().select("x"))
        ranks.transform(session.table())
    assert session.spent == sf.ZCDP(0)
