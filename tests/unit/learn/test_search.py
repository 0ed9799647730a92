"""Searches: all that is tried is paid for, the best comes out and nothing of the others, on arrays and on tables."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
import polars as pl
import pytest
from sklearn.base import ClassifierMixin, clone
from sklearn.model_selection import ParameterGrid

import sfumato as sf
from sfumato.accounting.convert.convert import convert
from sfumato.accounting.events import TruncatedNegativeBinomial
from sfumato.accounting.losses.measures import Loss
from sfumato.accounting.losses.renyi import Renyi
from sfumato.combinators.best_of import selected_loss
from sfumato.entropy import ReplayEntropy
from sfumato.errors import BadArgument, SfumatoError
from sfumato.learn import (
    Covariance,
    ExplainableBoostingRegressor,
    GridSearch,
    LinearRegression,
    RandomizedSearch,
    TheilSenRegressor,
)
from sfumato.learn.candidates import Candidate, Way, best_way, drawn_shares, joined
from sfumato.learn.estimator import PrivateEstimator
from sfumato.learn.sources import Fit, Source

BOUNDS: dict[str, Any] = {"between": (0, 10), "target_between": (0, 40)}
LINE = LinearRegression(**BOUNDS)
ALPHAS = {"alpha": [10.0**6, 0.0, 10.0**5]}
MANY = {"alpha": [10.0**6, *(10.0**5 + step for step in range(6)), 0.0]}


def points(rows: int = 2000) -> tuple[Any, Any]:
    rng = np.random.default_rng(3)
    x = rng.uniform(0, 10, (rows, 2))
    return x, 3 * x[:, 0] + 2 + rng.normal(0, 1, rows)


LOSSES = [sf.Pure(30), sf.ZCDP(30), sf.Approx(30, "1e-6"), sf.Approx(30, 0)]


@pytest.mark.parametrize("loss", LOSSES, ids=str)
@pytest.mark.parametrize("grid", [ALPHAS, MANY], ids=["few", "many"])
def test_P3_025_the_best_wins_and_the_loss_is_that_of_all_that_was_tried(loss: Loss, grid: Any) -> None:
    x, y = points()
    search = GridSearch(LINE, grid, loss=loss).fit(x, y, entropy=ReplayEntropy(4))
    assert search.best_params_ == {"alpha": 0.0} and abs(search.best_estimator_.coef_[0] - 3) < 0.5  # type: ignore[attr-defined]
    assert search.release_.loss.within(loss) and type(search.release_.loss) is type(loss)
    assert search.best_estimator_.release_ is search.release_  # the model has the price of the search
    assert search.best_score_ == pytest.approx(-1, abs=0.5) and 0 < search.score_deviation_ < 1
    assert np.array_equal(search.predict(x), search.best_estimator_.predict(x))  # type: ignore[attr-defined]
    assert str(search.release_.loss) in str(search) and search.way_ in " ".join(str(search).split())


def test_P3_025_a_run_of_one_candidate_costs_its_share_and_all_cost_the_sum() -> None:
    """Charging for the winner alone cannot be written: the price is that of the joined measurement."""
    x, y = points(50)
    models = [clone(LINE).set_params(alpha=alpha) for alpha in (0.0, 1.0, 2.0)]
    sources = [model._source(x, y, None, None, None, None, None) for model in models]
    sources = [type(one)(one.columns, sources[0].values) for one in sources]
    planned = [Candidate.planned(*pair, sf.Pure(1), Fraction(1, 5)) for pair in zip(models, sources, strict=True)]
    _, alone = joined(planned[:1], Way(1, sf.Pure(1)), sf.Pure(1))
    _, together = joined(planned, Way(3, sf.Pure(1)), sf.Pure(3))
    assert (alone.map(1), together.map(1)) == (sf.Pure(1), sf.Pure(3))
    with pytest.raises(SfumatoError, match="more than"):
        joined(planned, Way(3, sf.Pure(1)), sf.Pure("2.9"))


@pytest.mark.parametrize("stop", [Fraction(1, 3), Fraction(1, 30), Fraction(1, 300)])
def test_P3_027_and_P3_028_drawn_runs_spend_all_that_the_loss_leaves_them(stop: Fraction) -> None:
    law = TruncatedNegativeBinomial(1, stop)
    (pure,) = drawn_shares(sf.Pure(1), law)
    assert sf.Pure("0.999") <= selected_loss(pure, law) <= sf.Pure(1)
    (by_rho,) = drawn_shares(sf.ZCDP("0.1"), law)
    assert sf.ZCDP("0.099") <= convert(selected_loss(by_rho, law), sf.ZCDP) <= sf.ZCDP("0.1")
    same, rho = drawn_shares(sf.Approx(1, "1e-6"), law)
    reached = convert(selected_loss(convert(rho, Renyi), law), sf.Approx, delta="1e-6")
    assert same == pure and sf.Approx("0.99", "1e-6") <= reached <= sf.Approx(1, "1e-6")


def test_the_cheaper_way_is_taken_and_said_before_anything_is_paid() -> None:
    assert [best_way(sf.Pure(1), count, None).runs is None for count in (1, 2, 3, 4, 50)] == [True] * 3 + [False] * 2
    few, many = GridSearch(LINE, ALPHAS, epsilon=3).way(), GridSearch(LINE, MANY, epsilon=3, runs=7).way()
    assert few.each == sf.Pure(1) and "all 3 candidates run" in str(few)
    assert many.runs == TruncatedNegativeBinomial(1, Fraction(1, 7)) and "7 in the mean" in str(many)
    assert 1 < float(many.each.epsilon) < 1.5  # type: ignore[union-attr]


def table(rows: int = 2000) -> sf.Session:
    x, y = points(rows)
    data = pl.DataFrame({"id": np.arange(rows) // 2, "a": x[:, 0], "b": x[:, 1], "y": y})
    facts = {"a": (0, 10), "b": (0, 10), "y": (0, 40)}
    return sf.Dataset(data, unit="id", between=facts).session(limit=sf.Pure(200), ledger="memory:")


def test_a_table_is_charged_once_for_everything() -> None:
    session = table()
    search = GridSearch(LinearRegression(), ALPHAS, epsilon=60)
    search.fit(session.table(), features=["a", "b"], target="y", max_rows=2)
    assert session.spent == sf.Pure(60) == search.release_.loss
    assert search.best_params_ == {"alpha": 0.0} and search.best_score_ == pytest.approx(-1, abs=0.5)
    assert list(search.feature_names_in_) == ["a", "b"] and search.n_features_in_ == 2
    assert search.private_score(session.table(), epsilon=60, max_rows=2).value > 0.9


def test_P3_026_public_rows_choose_and_one_fit_is_paid_for() -> None:
    session = table(1000)
    search = GridSearch(LinearRegression(), ALPHAS, epsilon=20, public=points(500))
    search.fit(session.table(), features=["a", "b"], target="y", max_rows=2)
    assert search.best_params_ == {"alpha": 0.0} and session.spent == sf.Pure(20) == search.release_.loss
    assert search.provenance_["alpha"] == "tuned on public rows" and "public rows, at no cost" in str(search)


def test_P3_024_every_parameter_says_where_it_comes_from() -> None:
    x, y = points(100)
    search = GridSearch(LINE, ALPHAS, epsilon=3).fit(x, y)
    came = search.provenance_
    assert came["alpha"] == "chosen privately, within ε = 3" and came["between"] == "stated"
    assert set(came) == {"alpha", "between", "categories", "target_between"}


def test_P3_030_nothing_of_those_that_lost_is_kept() -> None:
    x, y = points(200)
    search = GridSearch(LINE, MANY, epsilon=3).fit(x, y)
    _, (place, (*_, released)) = search.release_.value
    assert len(np.asarray(released)) == 10 and place == search.best_index_
    held = set(vars(search)) - set(search.get_params(deep=False))
    assert held == {
        "best_estimator_", "best_params_", "best_score_", "best_index_", "score_deviation_", "way_", "candidates_",
        "release_", "n_features_in_",
    }  # fmt: skip
    assert search.candidates_ == list(ParameterGrid(MANY))


class Moody(ClassifierMixin, PrivateEstimator):  # type: ignore[misc]
    """Says one class; breaks off, where it is told to, once it is asked about more than one row."""

    takes = "classes"

    def __init__(self, *, says: str = "up", breaks: bool = False, between: Any = None, classes: Any = None) -> None:
        self.says, self.breaks, self.between, self.classes = says, breaks, between, classes

    loss = epsilon = delta = categories = None

    def _fit(self, source: Source, loss: Loss) -> Fit:
        return Fit(source, source.gram(sf.L1(), pairs=[(0, 0)]) >> sf.laplace(scale=10**9), lambda value: None)

    def predict(self, X: object) -> Any:  # noqa: N803
        return np.full(len(self._coordinates(X)), self.says)

    def _alone(self, rows: Any) -> Any:
        if self.breaks and len(rows) > 1:
            raise ZeroDivisionError
        return super()._alone(rows)


def test_P3_030_a_run_that_fails_is_the_worst_and_says_nothing() -> None:
    x, labels = np.linspace(0, 1, 60)[:, None], np.array(["up"] * 50 + ["down"] * 10)
    moody = Moody(between=(0, 1), classes=["down", "up"])
    grid = [{"breaks": [True]}, {"says": ["down", "up"]}]
    search = GridSearch(moody, grid, epsilon=1000).fit(x, labels)
    assert search.best_params_ == {"says": "up"} and search.best_score_ == pytest.approx(50 / 60, abs=0.05)
    assert list(search.predict(x[:2])) == ["up", "up"]
    with pytest.raises(BadArgument, match="every run failed, and was paid for"):
        GridSearch(moody, {"breaks": [True]}, epsilon=1).fit(x, labels)


def test_candidates_may_look_at_columns_in_ways_of_their_own() -> None:
    x, y = points(1500)
    curves = ExplainableBoostingRegressor(between=(0, 10), target_between=(0, 40))
    search = GridSearch(curves, {"bins": [1, 16]}, loss=sf.ZCDP(40)).fit(x, y, entropy=ReplayEntropy(9))
    assert search.best_params_ == {"bins": 16} and search.best_score_ > -4
    bounds = GridSearch(LinearRegression(target_between=(0, 40)), {"between": [(0, 1), (0, 10)]}, epsilon=100)
    assert bounds.fit(x, y).best_params_ == {"between": (0, 10)}  # bounds are parameters too


def test_randomized_search_draws_before_it_looks() -> None:
    x, y = points()
    grid = {"alpha": [0.0, 1.0, 2.0, 3.0]}
    search = RandomizedSearch(LINE, grid, n_iter=2, epsilon=20, random_state=5).fit(x, y)
    again = RandomizedSearch(LINE, grid, n_iter=2, epsilon=20, random_state=5).fit(x[:0], y[:0])
    assert search.candidates_ == again.candidates_ and len(search.candidates_) == 2
    assert math.isfinite(again.best_score_)


@pytest.mark.parametrize(
    ("search", "match"),
    [
        (GridSearch(LinearRegression(epsilon=1, **BOUNDS), ALPHAS, epsilon=1), "the search pays for every fit"),
        (GridSearch(LINE, {"epsilon": [1, 2]}, epsilon=1), "all share them"),
        (GridSearch(LINE, {"target_between": [(0, 1)]}, epsilon=1), "all share them"),
        (GridSearch(LINE, {"alhpa": [1]}, epsilon=1), "parameters of LinearRegression"),
        (GridSearch(LINE, {"alpha": 1}, epsilon=1), "lists of values"),
        (GridSearch(LINE, {"alpha": [-1]}, epsilon=1), "0 or a positive number"),
        (GridSearch(Covariance(between=(0, 1)), {}, epsilon=1), "one that predicts"),
        (GridSearch("line", ALPHAS, epsilon=1), "one that predicts"),  # type: ignore[arg-type]
        (GridSearch(LINE, ALPHAS, loss=sf.GDP(1)), "Pure, ZCDP or Approx"),
        (GridSearch(LINE, ALPHAS), "epsilon"),
        (GridSearch(LINE, ALPHAS, epsilon=1, score_share=1), "less than 1"),
        (GridSearch(LINE, ALPHAS, epsilon=1, runs=0), "runs"),
        (GridSearch(TheilSenRegressor(), {"matchings": [1]}, epsilon=1), "one column"),
        (RandomizedSearch(LINE, {"alpha": 3}, epsilon=1), "distributions"),
    ],
)
def test_what_cannot_be_is_refused_before_anything_is_charged(search: Any, match: str) -> None:
    session = table(20)
    with pytest.raises(SfumatoError, match=match):
        search.fit(session.table(), features=["a", "b"], target="y", max_rows=2)
    assert session.spent == sf.Pure(0)
