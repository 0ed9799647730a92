"""Models explain themselves before they are paid for, show themselves in every form, and draw what was released."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from sklearn.base import clone
from tests.unit.chart_reading import headline, tables

import sfumato as sf
from sfumato.entropy import ReplayEntropy
from sfumato.errors import BadArgument, LimitReached
from sfumato.learn import (
    PCA,
    Covariance,
    ExplainableBoostingClassifier,
    ExplainableBoostingRegressor,
    LinearRegression,
    LogisticRegression,
    NaiveBayes,
    PoissonRegressor,
    load,
    save,
)
from sfumato.learn.explaining import cost_of
from sfumato.release.render.displayed import MEDIA, Displayed

KNOWN = {"age": (20, 60), "hours": (0, 40)}
CITIES = {"city": ["Vinci", "Milan"]}


def census(rows: int = 400) -> pl.DataFrame:
    rng = np.random.default_rng(7)
    age, hours, city = rng.uniform(20, 60, rows), rng.uniform(0, 40, rows), rng.choice(["Vinci", "Milan"], rows)
    pay = 10 * hours + 2 * age + 30 * (city == "Milan") + rng.normal(0, 20, rows)
    return pl.DataFrame({"id": range(rows), "age": age, "hours": hours, "city": city, "pay": pay}).with_columns(
        rich=pl.when(pl.col("pay") > 300).then(pl.lit("yes")).otherwise(pl.lit("no"))
    )


def opened(limit: Any = None) -> sf.Session:
    categories = {**CITIES, "rich": ["no", "yes"]}
    data = sf.Dataset(census(), unit="id", between={**KNOWN, "pay": (0, 600)}, categories=categories)
    return data.session(limit=limit or sf.ZCDP(1), ledger="memory:")


LINEAR = {"features": ["age", "hours"], "target": "pay", "max_rows": 1}


def test_a_fit_is_explained_before_it_is_paid() -> None:
    session = opened()
    model = LinearRegression(loss=sf.ZCDP("0.1"))
    told = model.explain(session.table(), **LINEAR)
    assert session.spent == sf.ZCDP(0) and vars(model).keys() == model.get_params().keys()  # nothing paid, or fitted
    assert (told.price, told.left, told.fits) == (sf.ZCDP("0.1"), sf.ZCDP(1), True)
    text = str(told)
    for said in ("LinearRegression of pay on age, hours", "10 sums of products", "gaussian (scale 7.07", "one pass"):
        assert said in text
    assert "age is moved into [20, 60]" in text and "at most 1 row of a person counts" in text
    model.fit(session.table(), **LINEAR)
    assert session.spent == told.price and model.release_.how.parameters == told.how.parameters


def test_what_does_not_fit_is_said_and_not_raised() -> None:
    session = opened(sf.ZCDP("0.05"))
    told = LinearRegression(loss=sf.ZCDP("0.1")).explain(session.table(), **LINEAR)
    assert not told.fits
    with pytest.raises(LimitReached):
        LinearRegression(loss=sf.ZCDP("0.1")).fit(session.table(), **LINEAR)


@pytest.mark.parametrize("kind", [LogisticRegression, ExplainableBoostingClassifier, NaiveBayes])
def test_arrays_are_explained_too_without_a_look_at_them(kind: Any) -> None:
    class Shut:
        """Columns that tell only that they are there."""

        columns = ("age",)

        def __getitem__(self, name: str) -> Any:
            return Closed()

    class Closed:
        def __len__(self) -> int:
            return 3

        def __iter__(self) -> Any:
            raise AssertionError("looked")

        def __array__(self, *_: Any, **__: Any) -> Any:
            raise AssertionError("looked")

    model = kind(epsilon=1, between={"age": (0, 9)}, classes=["a", "b"])
    told = model.explain(Shut(), Closed())
    assert isinstance(told.price, sf.Pure) and float(told.price.epsilon) == pytest.approx(1, rel=1e-5)
    assert told.left is None and "a person with one row" in str(told)
    assert kind.__name__ in str(told) and cost_of(kind).split(";")[0] in str(told)


@pytest.mark.parametrize("kind", [LinearRegression, PCA, ExplainableBoostingRegressor])
def test_every_estimator_says_what_it_does_with_rows(kind: type) -> None:
    assert "pass" in cost_of(kind) and "\n" not in cost_of(kind)


def shown(thing: Displayed) -> str:
    bundle = thing._repr_mimebundle_()
    assert set(bundle) == set(MEDIA) and bundle["text/html"] == thing._repr_html_() == thing.to_html()
    assert "<script" not in bundle["text/html"] and bundle["text/plain"] == str(thing)
    assert set(thing._repr_mimebundle_(include=["text/html"])) == {"text/html"}
    return "".join(bundle.values())


def test_models_scores_curves_and_findings_show_themselves_in_every_form() -> None:
    table = census()
    rows, rich = table.select("age", "hours", "city"), table["rich"]
    model = LogisticRegression(
        epsilon=1, between=KNOWN, categories={"city": ["Vinci", "<b>Milan"]}, classes=["no", "yes"]
    )
    blank = model._repr_mimebundle_()
    assert "LogisticRegression" in blank["text/plain"] and "text/html" in blank  # scikit-learn's, with the parameters
    model.fit(rows, rich)
    assert "<b>Milan" not in model.to_html() and repr(model).startswith("LogisticRegression(")
    score, curves = model.private_score(rows, rich, epsilon=1), model.private_curves(rows, rich, epsilon=1)
    found = sf.learn.t_test(table["age"], mu=30, between=(20, 60), epsilon=1)
    for thing in (model, score, curves, found):
        assert "for a person with one " in shown(thing)
    assert str(score).startswith("accuracy 0.") and "uncharged" in str(score) and "p " in str(found)


def test_coefficients_are_drawn_over_the_range_of_their_column_with_intervals() -> None:
    table = census()
    model = LinearRegression(epsilon=20, between=KNOWN, target_between=(0, 600))
    chart = model.fit(table.select("age", "hours"), table["pay"]).plot()
    dots = {row["name"]: row["x"] for row in tables(chart)["coefficients"]}
    assert dots["hours, 0 to 40"] == pytest.approx(40 * model.coef_[1])
    ends = {row["name"]: (row["low"], row["high"]) for row in tables(chart)["intervals"]}
    assert ends["age, 20 to 60"] == pytest.approx([40 * end for end in model.intervals()["age"]])
    assert "ε = 20 for a person with one row [uncharged]" in headline(chart) and "adds to pay" in json.dumps(
        chart.to_dict()
    )
    plain = LinearRegression(epsilon=20, between=KNOWN, categories=CITIES, target_between=(0, 600))
    drawn = plain.fit(table.select("age", "hours", "city"), table["pay"]).plot()
    assert len(tables(drawn)["coefficients"]) == 4 and "intervals" not in {*tables(drawn)} - {"intervals"}
    assert "No intervals are stated" in headline(drawn) and tables(drawn)["intervals"] == []


def test_what_a_column_does_is_drawn_over_public_places_alone() -> None:
    table = census()
    rows = table.select("age", "hours", "city")
    known: dict[str, Any] = {"between": KNOWN, "categories": CITIES}
    line = LinearRegression(epsilon=20, between=KNOWN, target_between=(0, 600)).fit(
        rows.select("age", "hours"), table["pay"]
    )
    drawn = tables(line.plot("dependence"))
    low, high = line.intervals()["hours"]
    end, mean = drawn["band_1"][-1], 20 + 20 * line.moments_.means[1]
    assert (
        end["x"] == 40
        and end["low"] == pytest.approx((40 - mean) * low)
        and end["high"] == pytest.approx((40 - mean) * high)
    )
    bayes = NaiveBayes(epsilon=20, **known, classes=["no", "yes"]).fit(rows, table["rich"])
    chart = bayes.plot(at={"city": "Milan"}, features=["hours"])
    seen = tables(chart)["effect_0"]
    assert [seen[0]["x"], seen[-1]["x"]] == [0, 40] and "Others held at age 40, hours 20, city Milan" in headline(chart)
    assert seen[-1]["y"] == pytest.approx(bayes.predict_proba(np.array([[40.0, 40.0, "Milan"]], dtype=object))[0, 1])
    rates = PoissonRegressor(epsilon=20, **known, target_between=(0, 600)).fit(rows, table["pay"])
    assert (
        "adds to log pay" in json.dumps(rates.plot().to_dict())
        and tables(rates.plot("dependence"))["effect_2"][0]["x"] == "Vinci"
    )
    for wrong in ({"what": "coeficients"}, {"features": ["agee"]}, {"at": {"x": 1}}, {"what": "components"}):
        with pytest.raises(BadArgument):
            bayes.plot(**wrong)


def test_curves_of_additive_models_have_bands_of_their_noise() -> None:
    table = census()
    model = ExplainableBoostingRegressor(
        loss=sf.ZCDP(1), between=KNOWN, categories=CITIES, target_between=(0, 600), bins=4
    )
    model.fit(table.select("age", "hours", "city"), table["pay"])
    drawn = tables(model.plot())
    assert [row["x"] for row in drawn["effect_1"]] == [0, 10, 20, 30, 40]
    assert drawn["effect_1"][0]["y"] == pytest.approx(300 * model.curves_["hours"][0])
    reach = 300 * 1.959964 * model.deviations_["hours"][0]
    assert drawn["band_1"][0]["high"] - drawn["band_1"][0]["y"] == pytest.approx(reach)


def test_the_stated_deviation_of_curves_is_that_of_fits() -> None:
    """Of bins that are not merged; the draws are fixed."""
    rng, entropy = np.random.default_rng(3), ReplayEntropy(9)
    x = rng.choice(["a", "b", "c"], 600)[:, None]
    y = np.where(x[:, 0] == "a", 0.5, -0.2) + rng.normal(0, 0.2, 600)
    for loss in (sf.ZCDP("0.02"), sf.Pure(1)):
        model = ExplainableBoostingRegressor(loss=loss, categories={"x0": ["a", "b", "c"]}, target_between=(-1, 1))
        fits = [clone(model).fit(x, y, entropy=entropy) for _ in range(30)]
        spread = np.std([one.curves_["x0"] for one in fits], axis=0)
        stated = np.mean([one.deviations_["x0"] for one in fits], axis=0)
        assert (spread / stated < 1.4).all() and (spread / stated > 0.4).all()


def test_components_and_correlations_are_drawn() -> None:
    rows = np.random.default_rng(1).uniform(-1, 1, (200, 3))
    drawn = tables(PCA(n_components=2, epsilon=9, between=(-1, 1)).fit(rows).plot())["matrix"]
    assert len(drawn) == 6
    seen = Covariance(epsilon=9, between=(-1, 1)).fit(rows)
    cells = {(row["row"], row["column"]): row["value"] for row in tables(seen.plot())["matrix"]}
    assert cells["x0", "x2"] == pytest.approx(seen.correlation_[0, 2])


def test_a_model_that_came_back_from_its_file_draws_the_same(tmp_path: Path) -> None:
    model = ExplainableBoostingClassifier(epsilon=5, between=KNOWN, classes=["no", "yes"])
    model.fit(census().select("age", "hours"), census()["rich"])
    save(model, tmp_path / "model.json")
    assert tables(load(tmp_path / "model.json").plot()) == tables(model.plot())


@pytest.mark.parametrize(
    ("given", "said"),
    [("census", r"session\.table\('census'\)"), ("session", r"session\.table\('census'\)"), ("table", "private_score")],
)
def test_what_is_no_rows_is_refused_with_what_to_write(given: str, said: str) -> None:
    session = opened()
    model = LinearRegression(loss=sf.ZCDP("0.1"))
    if given == "table":
        with pytest.raises(BadArgument, match=said):
            model.fit(session.table(), **LINEAR).predict(session.table())
        return
    with pytest.raises(BadArgument, match=said):
        model.fit(session if given == "session" else given, **LINEAR)
    assert session.spent == sf.ZCDP(0)
