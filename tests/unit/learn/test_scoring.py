"""Private scores: what plain scores say, but for noise; both ways in, charged; each row predicted by itself."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
import pytest
from sklearn.base import ClassifierMixin, clone
from sklearn.datasets import load_diabetes
from sklearn.metrics import r2_score

import sfumato as sf
from sfumato.accounting.losses.measures import Loss
from sfumato.core.metrics import L1
from sfumato.entropy import ReplayEntropy
from sfumato.errors import AccountRefused, BadArgument, SfumatoError
from sfumato.learn import Covariance, ExplainableBoostingClassifier, LinearRegression, LogisticRegression
from sfumato.learn.columns import OTHER, Category, Number, decoded
from sfumato.learn.estimator import PrivateEstimator
from sfumato.learn.noising import NoisySums
from sfumato.learn.scoring import r_squared
from sfumato.learn.sources import Fit, Source
from sfumato.transforms.gram import Coordinates, gram

BOUNDS = {"age": (18, 80), "bmi": (15, 45), "bp": (60, 135)}
SURE = sf.ZCDP(10**9)


def diabetes() -> pl.DataFrame:
    X, y = load_diabetes(return_X_y=True, as_frame=True, scaled=False)  # noqa: N806
    sex = np.where(X["sex"] == 1, "f", "m")
    return pl.DataFrame(X[list(BOUNDS)].assign(sex=sex, progress=y, id=range(len(X))))


def fitted(**given: Any) -> tuple[LinearRegression, pl.DataFrame]:
    """A model of one half of the rows, and the other half."""
    table = diabetes()
    model = LinearRegression(
        loss=SURE, between=BOUNDS, categories={"sex": ["f", "m"]}, target_between=(0, 350), **given
    )
    return model.fit(table[:221].select(*BOUNDS, "sex"), table[:221]["progress"]), table[221:]


def test_A2_065_without_noise_it_is_r_squared() -> None:
    """P2-101: of the line 1 + 2x the sums leave nothing; of a constant they leave all."""
    x, y = np.arange(4.0), np.array([1.0, 3.0, 5.0, 7.0])
    noise: Any = NoisySums(None, 0.0)  # type: ignore[arg-type]
    release: Any = None
    for predicted, expected in ((1 + 2 * x, 1.0), (np.full(4, 4.0), 0.0), (7 - 2 * x, r2_score(y, 7 - 2 * x))):
        rows = np.stack([y / 4 - 1, (y - predicted) / 8], axis=1)
        cells = (sf.matrix(2) >> gram([0, 0]))(rows)
        assert r_squared(Coordinates((0, 0)).matrix(cells), noise, release).value == pytest.approx(expected, abs=1e-5)
    empty = r_squared(np.zeros((3, 3)), noise, release)
    assert (empty.value, empty.deviation) == (0.0, np.inf)


def test_both_ways_in_give_the_score_of_held_out_rows_and_a_table_is_charged() -> None:
    model, rest = fitted()
    rest = rest.with_columns(age=pl.when(pl.col("id") == 300).then(None).otherwise(pl.col("age")))
    whole = rest.drop_nulls()
    plain = model.score(whole.select(*BOUNDS, "sex"), whole["progress"].to_numpy())
    held = model.private_score(rest.select(*BOUNDS, "sex"), rest["progress"], loss=SURE)
    data = sf.Dataset(rest, unit="id", between={**BOUNDS, "progress": (0, 350)}, categories={"sex": ["f", "m", "x"]})
    session = data.session(limit=sf.ZCDP(10**10), ledger="memory:")
    asked = model.private_score(session.table(), loss=SURE, max_rows=1)
    assert float(held) == pytest.approx(plain, abs=1e-3) and float(asked) == pytest.approx(plain, abs=1e-3)
    assert session.spent == asked.release.loss == SURE and "uncharged" in str(held.release)
    assert asked.deviation == pytest.approx(held.deviation, rel=1e-3)  # one price, either way
    assert asked.deviation < 1e-3 and str(asked).startswith("R² 0.")
    for wrong in ({"y": rest["progress"]}, {"max_rows": 0}, {"loss": None}):
        with pytest.raises(SfumatoError):
            model.private_score(session.table(), **{"loss": SURE, "max_rows": 1, **wrong})
    assert session.spent == SURE


def test_the_stated_deviation_is_that_of_the_noise() -> None:
    model, rest = fitted()
    rows, y = rest.select(*BOUNDS, "sex"), rest["progress"]
    plain = model.score(rows, y.to_numpy())
    entropy = ReplayEntropy(1)
    scores = [model.private_score(rows, y, epsilon=60, entropy=entropy) for _ in range(40)]
    moved = np.array([float(score) for score in scores]) - plain
    assert 0.7 < np.sqrt(np.mean(moved**2)) / scores[0].deviation < 1.4


def test_a_prediction_is_the_same_whatever_other_rows_there_are() -> None:
    model, _ = fitted()
    rows = np.random.default_rng(1).uniform(-1, 1, (500, 4))
    rows[:, 3] = np.random.default_rng(2).integers(-1, 2, 500)
    together = model._alone(rows)
    assert together.tolist() == [float(model._alone(row[None])[0]) for row in rows]
    one_by_one = PrivateEstimator._alone(model, rows)
    assert np.allclose(together, one_by_one, rtol=1e-4)


class Sign(ClassifierMixin, PrivateEstimator):  # type: ignore[misc]
    """Says "up" where the first column is above its middle."""

    takes = "classes"

    def __init__(self, *, epsilon: Any = None, between: Any = None, classes: Any = None) -> None:
        self.epsilon, self.between, self.classes = epsilon, between, classes
        self.loss, self.delta, self.categories = None, None, None

    def _fit(self, source: Source, loss: Loss) -> Fit:
        return Fit(source, source.gram(sf.L2()) >> sf.gaussian(scale=1), lambda value: None)

    def predict(self, X: object) -> Any:  # noqa: N803
        return np.where(self._coordinates(X)[:, 1] > 0, "up", "down")


def test_classes_are_scored_by_hits() -> None:
    x = np.linspace(-1, 1, 200)[:, None]
    labels = np.where(x[:, 0] > 0.2, "up", np.where(x[:, 0] < -0.9, "other", "down"))
    model = Sign(epsilon=1, between=(-1, 1), classes=["down", "up"]).fit(x, labels)
    score = model.private_score(x, labels, epsilon=1000)
    assert float(score) == pytest.approx(model.score(x, labels), abs=0.01) and score.what == "accuracy"
    assert 0 <= float(model.private_score(x[:0], labels[:0], epsilon=1)) <= 1  # no rows are rows like any other


def test_rows_of_a_source_are_what_models_take() -> None:
    columns = (Number.read("x", (0, 10)), Category.read("c", ["a", "b"]))
    assert decoded(np.array([0.5, 1.0]), columns).tolist() == [[7.5, "b"]]
    assert decoded(np.array([-1.0, -1.0]), columns).tolist() == [[0.0, OTHER]]


def test_what_predicts_nothing_has_no_score() -> None:
    with pytest.raises(BadArgument, match="predicts a target"):
        Covariance(epsilon=1, between=(0, 1)).fit([[0.5]]).private_score([[0.5]], [1.0], epsilon=1)


class Remembering(ClassifierMixin, PrivateEstimator):  # type: ignore[misc]
    """Predicts "b" for every row but the first that it ever sees."""

    takes = "classes"

    def __init__(
        self,
        *,
        loss: Loss | None = None,
        epsilon: Any = None,
        delta: Any = None,
        between: Any = None,
        categories: Any = None,
        classes: Any = None,
    ) -> None:
        self.loss, self.epsilon, self.delta = loss, epsilon, delta
        self.between, self.categories, self.classes = between, categories, classes

    def _fit(self, source: Source, loss: Loss) -> Fit:
        self.seen_: list[Any] = []
        measurement = (source.gram(L1()) >> sf.laplace()).with_loss(loss, d_in=source.unit)
        return Fit(source, measurement, lambda _: None)

    def predict(self, X: Any) -> Any:  # noqa: N803
        self.seen_.extend(np.asarray(X).tolist())
        return np.array(["a" if len(self.seen_) == 1 else "b"] * len(X))


def asked_by_key() -> Any:
    """A session on people of one class, whom nothing tells apart."""
    table = pl.DataFrame({"id": range(40), "x": [0.5] * 40, "c": ["a"] * 40})
    data = sf.Dataset(table, unit="id", between={"x": (0, 1)}, categories={"c": ["a", "b"]})
    return data.session(limit=sf.Pure(10**9), ledger="memory:")


def test_a_model_that_remembers_rows_is_a_new_one_for_each_and_what_nobody_checks_is_printed() -> None:
    session = asked_by_key()
    model = Remembering(epsilon=1).fit(session.table(), target="c", max_rows=1)
    score = model.private_score(session.table(), epsilon=10**6, max_rows=1)
    assert float(score) == pytest.approx(1.0, abs=1e-3), "each row is the first that is seen"
    assert model.seen_ == [], "and none of them is kept"
    assert [claim.text[:14] for claim in score.release.how.claims] == ["what this mode"]
    own = LogisticRegression(epsilon=1).fit(session.table(), target="c", max_rows=1)
    assert own.private_score(session.table(), epsilon=1, max_rows=1).release.how.claims == ()


def test_a_key_answers_for_one_model_and_one_way_to_make_it() -> None:
    session = asked_by_key()
    models = [LogisticRegression(epsilon=one).fit(session.table(), target="c", max_rows=1) for one in (1, 2)]
    first = models[0].private_score(session.table(), epsilon=1, max_rows=1, key="score")
    spent = session.spent
    assert models[0].private_score(session.table(), epsilon=1, max_rows=1, key="score").value == first.value
    with pytest.raises(AccountRefused, match="this key belongs to another charge"):
        models[1].private_score(session.table(), epsilon=1, max_rows=1, key="score")
    assert session.spent == spent
    four, eight = (ExplainableBoostingClassifier(epsilon=1, bins=many) for many in (4, 8))
    four.fit(session.table(), target="c", max_rows=1, key="curves")
    again = clone(four).fit(session.table(), target="c", max_rows=1, key="curves")
    assert again.intercept_ == four.intercept_
    with pytest.raises(AccountRefused, match="this key belongs to another charge"):
        eight.fit(session.table(), target="c", max_rows=1, key="curves")


def test_a_missing_category_is_none_of_its_values() -> None:
    """It used to be the first one."""
    x = np.array([["a"], ["b"]] * 500, dtype=object)
    y = np.where(x[:, 0] == "a", 10.0, 0.0)
    model = sf.learn.LinearRegression(epsilon=10**6, categories={"x0": ["a", "b"]}, target_between=(0, 20)).fit(x, y)
    first, missing, other = model.predict(np.array([["a"], [None], ["c"]], dtype=object))
    assert abs(first - 10) < 0.1 and missing == other and abs(missing - first) > 2
