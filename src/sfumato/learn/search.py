"""Searches for the parameters of a model: what was tried, scored and lost is paid for, whatever comes out.

Scores of private rows that steer a choice tell about these rows. Here fits and scores of all candidates are one
measurement, of which the best candidate is released; or a search runs on public rows, and costs nothing.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any, Self, TypeAlias, cast, final

import numpy as np
from sklearn.base import BaseEstimator, MetaEstimatorMixin, clone
from sklearn.model_selection import KFold, ParameterGrid, ParameterSampler
from sklearn.utils import Tags, _safe_indexing, get_tags
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from sfumato.accounting.losses.measures import Loss
from sfumato.accounting.losses.stated import needed_loss
from sfumato.entropy import Entropy
from sfumato.errors import BadArgument
from sfumato.exact import Number as AnyNumber
from sfumato.exact import integer, probability
from sfumato.learn.candidates import SCORING, Candidate, Way, best_way, joined
from sfumato.learn.columns import Column
from sfumato.learn.estimator import PrivateEstimator
from sfumato.learn.scoring import Score
from sfumato.learn.sources import Held, Source, columns_of
from sfumato.release.record import Release
from sfumato.release.render import rendered
from sfumato.release.render.document import Document, Table
from sfumato.release.render.sheet import sheet
from sfumato.release.render.words import clean

Grid: TypeAlias = Mapping[str, Sequence[Any]] | Sequence[Mapping[str, Sequence[Any]]]
"""Values to try, by the names of parameters; or several such grids, of which each is tried."""

PAID = ("loss", "epsilon", "delta")
"""Parameters that the search itself has."""

COMMON = (*PAID, "classes", "target_between")
"""Parameters that all candidates share: scores of different targets could not be compared."""

FOLDS = 3
"""In how many parts public rows are cut: each is scored by a model that was fitted on the others."""


def _best_has(name: str) -> Any:
    """Tells whether the model that is searched for can do something, as scikit-learn asks."""
    return available_if(lambda search: hasattr(getattr(search, "best_estimator_", search.estimator), name))


class PrivateSearch(MetaEstimatorMixin, BaseEstimator):  # type: ignore[misc]
    """What searches share: candidates that are fitted and scored as one measurement, and the best as the model."""

    estimator: PrivateEstimator
    loss: Loss | None
    epsilon: AnyNumber | None
    delta: AnyNumber | None
    score_share: AnyNumber
    runs: int | None
    public: tuple[object, object] | None

    best_estimator_: PrivateEstimator
    best_params_: dict[str, Any]
    best_score_: float
    score_deviation_: float
    way_: str
    candidates_: list[dict[str, Any]]
    release_: Release

    @abstractmethod
    def _candidates(self) -> list[dict[str, Any]]:
        """The parameters of all candidates, in order; they depend on no data."""

    def way(self) -> Way:
        """How candidates would be tried, and what each run could spend: known before anything is looked at or paid."""
        loss, tried = needed_loss(self.loss, self.epsilon, self.delta), len(self._checked())
        runs = None if self.runs is None else integer(self.runs, "runs", least=1)
        return best_way(loss, tried, runs)

    def fit(
        self,
        X: object,  # noqa: N803  # scikit-learn's name
        y: object = None,
        *,
        features: Sequence[str] | None = None,
        target: str | None = None,
        max_rows: int | None = None,
        key: str | None = None,
        entropy: Entropy | None = None,
    ) -> Self:
        """Searches on a table of a session, or on arrays, as estimators fit; all of it is one release."""
        loss, tried = needed_loss(self.loss, self.epsilon, self.delta), self._checked()
        models = [clone(self.estimator).set_params(**given) for given in tried]
        sources = [model._source(X, y, features, target, max_rows, key, entropy) for model in models]
        share = probability(self.score_share, "score_share")
        if not 0 < share < 1:
            raise BadArgument("score_share", "more than 0 and less than 1", self.score_share)
        if self.public is None:
            self._choose(models, _same_values(sources), loss, share)
        else:
            self._choose_by_public_rows(models, sources, loss, entropy)
        self.candidates_ = tried
        self.best_params_ = tried[self.best_index_]
        self.n_features_in_ = self.best_estimator_.n_features_in_
        if hasattr(self.best_estimator_, "feature_names_in_"):
            self.feature_names_in_ = self.best_estimator_.feature_names_in_
        return self

    def _checked(self) -> list[dict[str, Any]]:
        """The candidates, once it is clear that they can be compared and that the search pays for all of them."""
        if not isinstance(self.estimator, PrivateEstimator) or self.estimator.takes == "nothing":
            must = "a private one that predicts, such as sf.learn.LogisticRegression(classes=[…])"
            raise BadArgument("the estimator of a search", must, type(self.estimator).__name__)
        held = self.estimator.get_params(deep=False)
        if any(held.get(name) is not None for name in PAID):
            raise BadArgument("the loss of the estimator", "left out: the search pays for every fit, say it there", "")
        tried = self._candidates()
        for name in {name for given in tried for name in given}:
            if name in COMMON:
                raise BadArgument("the parameters to search", f"none of {', '.join(COMMON)}: all share them", name)
            if name not in held:
                must = f"parameters of {type(self.estimator).__name__}: {', '.join(held)}"
                raise BadArgument("the parameters to search", must, name)
        return tried

    def _choose(
        self, models: Sequence[PrivateEstimator], sources: Sequence[Source], loss: Loss, share: Fraction
    ) -> None:
        """Runs all candidates as one measurement, pays for it, and makes the model that won."""
        way = self.way()
        planned = [Candidate.planned(*pair, way.each, share) for pair in zip(models, sources, strict=True)]
        source, measurement = joined(planned, way, loss)
        self.release_ = source.run(measurement, loss=loss)
        _, (place, outcome) = self.release_.value
        if outcome is None:
            must = "such that one at least can be fitted: every run failed, and was paid for"
            raise BadArgument("the candidates", must, f"{len(models)} of them")
        score, deviation, released = outcome
        planned[place].fit.take(released)
        self.best_estimator_ = models[place]
        self.best_estimator_.release_ = self.release_
        self.best_score_, self.score_deviation_ = float(score), float(deviation)
        self.best_index_, self.way_ = int(place), str(way)

    def _choose_by_public_rows(
        self, models: Sequence[PrivateEstimator], sources: Sequence[Source], loss: Loss, entropy: Entropy | None
    ) -> None:
        """Tries all candidates on public rows, privately as they will be fitted, and fits the best one once."""
        rows, labels = cast(tuple[object, object], self.public)
        scores = [_public_score(model, rows, labels, loss, entropy) for model in models]
        self.best_index_ = int(np.argmax(scores))
        self.best_score_, self.score_deviation_ = float(scores[self.best_index_]), 0.0
        self.best_estimator_ = models[self.best_index_]
        self.release_ = self.best_estimator_._fit(sources[self.best_index_], loss).run(loss)
        self.best_estimator_.release_ = self.release_
        self.way_ = f"{len(models)} candidates were tried on public rows, at no cost; the best was fitted once"

    @property
    def provenance_(self) -> dict[str, str]:
        """Where each parameter of the model comes from: stated, tuned on public rows, or chosen at a cost."""
        check_is_fitted(self, "release_")
        chosen = "tuned on public rows" if self.public is not None else f"chosen privately, within {self.release_.loss}"
        held = self.best_estimator_.get_params(deep=False)
        return {name: chosen if name in self.best_params_ else "stated" for name in held if name not in PAID}

    @property
    def columns_(self) -> tuple[Column, ...]:
        """What is public about the features."""
        check_is_fitted(self, "release_")
        return self.best_estimator_.columns_

    @property
    def target_(self) -> Column | None:
        """What is public about the target."""
        check_is_fitted(self, "release_")
        return self.best_estimator_.target_

    @property
    def classes_(self) -> Any:
        """The classes, where there are classes."""
        return cast(Any, self.best_estimator_).classes_

    @_best_has("predict")  # type: ignore[untyped-decorator]
    def predict(self, X: object) -> Any:  # noqa: N803
        """Predicts by the model that won, for rows that nothing protects."""
        check_is_fitted(self, "release_")
        return cast(Any, self.best_estimator_).predict(X)

    @_best_has("predict_proba")  # type: ignore[untyped-decorator]
    def predict_proba(self, X: object) -> Any:  # noqa: N803
        """The chance of each class by the model that won, for rows that nothing protects."""
        check_is_fitted(self, "release_")
        return cast(Any, self.best_estimator_).predict_proba(X)

    @_best_has("decision_function")  # type: ignore[untyped-decorator]
    def decision_function(self, X: object) -> Any:  # noqa: N803
        """The scores of rows by the model that won; nothing protects these rows."""
        check_is_fitted(self, "release_")
        return cast(Any, self.best_estimator_).decision_function(X)

    def score(self, X: object, y: object) -> float:  # noqa: N803
        """R² or accuracy of the model that won. Not private: it tells about the rows that it is asked for."""
        check_is_fitted(self, "release_")
        return float(cast(Any, self.best_estimator_).score(X, y))

    def private_score(self, X: object, y: object = None, **given: Any) -> Score:  # noqa: N803
        """How good the model that won is on rows that must be protected, at a loss of its own; see the estimator's."""
        check_is_fitted(self, "release_")
        return self.best_estimator_.private_score(X, y, **given)

    def document(self) -> Document:
        """What was tried, what it cost and why, and the model that won, for any form: `print` shows it as text."""
        check_is_fitted(self, "release_")
        chosen = ", ".join(f"{name}={value!r}" for name, value in self.best_params_.items()) or "nothing to choose"
        about = (
            ("chosen", chosen),
            ("score", f"{self.best_score_:.3f} ± {self.score_deviation_:.3f} by noise, of the rows it was fitted on"),
            ("tried", f"{len(self.candidates_)} candidates"),
            ("how", self.way_),
        )
        came = tuple(self.provenance_.items())
        model = self.best_estimator_
        headline = clean(f"{type(self).__name__} of {type(model).__name__}:", most=200)
        tables = (Table(about), *model._told(), Table(came, ("parameter", "comes from"), ""))
        loss = f"{self.release_.loss} for {self.release_.unit}"
        return Document(type(self).__name__, headline, loss, tables=(*tables, *sheet(self.release_).tables))

    def __str__(self) -> str:
        return rendered(self.document(), "text") if hasattr(self, "release_") else repr(self)

    def __sklearn_tags__(self) -> Tags:
        tags, inner = super().__sklearn_tags__(), get_tags(self.estimator)
        tags.estimator_type, tags.target_tags = inner.estimator_type, inner.target_tags
        tags.classifier_tags, tags.regressor_tags = inner.classifier_tags, inner.regressor_tags
        tags.input_tags, tags.non_deterministic = inner.input_tags, True
        return tags


def _same_values(sources: Sequence[Source]) -> list[Source]:
    """Lets all candidates hold the same arrays, so that what two of them look at is looked at once."""
    first = sources[0]
    if not isinstance(first, Held):
        return list(sources)
    return [Held(one.columns, first.values, first.entropy) for one in sources]


def _public_score(model: PrivateEstimator, rows: object, labels: object, loss: Loss, entropy: Entropy | None) -> float:
    """The mean score of a model on parts of public rows, each time fitted on the other parts, with all its noise."""
    scores = []
    for kept, left in KFold(FOLDS, shuffle=True, random_state=0).split(np.arange(len(cast(Any, labels)))):
        _, values = columns_of(_safe_indexing(rows, kept))
        columns = (*model.columns_, *(() if model.target_ is None else (model.target_,)))
        held = Held(columns, (*values, _safe_indexing(labels, kept)), entropy)
        model.release_ = model._fit(held, loss).run(loss)
        scores.append(cast(Any, model).score(_safe_indexing(rows, left), _safe_indexing(labels, left)))
    return float(np.mean(scores))


@final
class GridSearch(PrivateSearch):
    """Tries all combinations of parameters and keeps the best by a private score; everything is paid for once.

    Each candidate is fitted and scored on all rows, with noise; the best one is released, and nothing of the others.
    Few candidates all run, and share the loss. Many are drawn, a secret number of times: that costs about as much as
    three runs. ``way()`` says which of the two it will be, before anything is paid. With ``public=(X, y)`` they are
    tried on rows that need no protection, with the noise that they will have, and the best is fitted once.

    Takes:      an estimator without a loss, a grid as scikit-learn has them; ``score_share``, the part of each run's
                loss that its score gets; ``runs``, how many there are in the mean where they are drawn
    Gives:      ``best_estimator_``, ``best_params_``, ``best_score_`` (noisy), ``provenance_``, ``way_``, ``release_``
    Guarantee:  the composition of all candidates, or that of the best of a random number of them
                (proofs/repeat_and_select.md#all, #wrapper, #drawn, #search)
    Cost:       that of all runs; where candidates are drawn, how long it takes tells how many there were: keep it

    >>> import numpy as np
    >>> from sfumato.learn import LinearRegression
    >>> x = np.arange(0.0, 4000.0)[:, None] % 10
    >>> line = LinearRegression(between=(0, 10), target_between=(0, 40))
    >>> search = GridSearch(line, {"alpha": [0.0, 10.0**6]}, epsilon=20)
    >>> search.fit(x, 3 * x[:, 0] + 2).best_params_, search.release_.loss
    ({'alpha': 0.0}, Pure(epsilon=20.0))
    """

    def __init__(
        self,
        estimator: PrivateEstimator,
        param_grid: Grid,
        *,
        loss: Loss | None = None,
        epsilon: AnyNumber | None = None,
        delta: AnyNumber | None = None,
        score_share: AnyNumber = SCORING,
        runs: int | None = None,
        public: tuple[object, object] | None = None,
    ) -> None:
        self.estimator, self.param_grid = estimator, param_grid
        self.loss, self.epsilon, self.delta = loss, epsilon, delta
        self.score_share, self.runs, self.public = score_share, runs, public

    def _candidates(self) -> list[dict[str, Any]]:
        try:
            return list(ParameterGrid(self.param_grid))
        except (TypeError, ValueError):
            must = "lists of values by the names of parameters: {'alpha': [0, 1]}"
            raise BadArgument("param_grid", must, type(self.param_grid).__name__) from None


@final
class RandomizedSearch(PrivateSearch):
    """Tries some combinations of parameters, drawn before any data is seen; else it is a `GridSearch`.

    Takes:      ``param_distributions``, lists of values or distributions of SciPy by the names of parameters;
                ``n_iter``, how many combinations are drawn; ``random_state`` for the same ones again: they are public
    Gives:      as `GridSearch`
    Guarantee:  as `GridSearch`  (proofs/repeat_and_select.md#search)
    Cost:       that of all runs

    >>> from sfumato.learn import LinearRegression
    >>> line = LinearRegression(between=(0, 10), target_between=(0, 40))
    >>> search = RandomizedSearch(line, {"alpha": [0, 1, 10, 100]}, n_iter=3, epsilon=1, random_state=1)
    >>> print(search.way())
    all 3 candidates run, and all are paid for; each run may spend ε = 0.333334
    """

    def __init__(
        self,
        estimator: PrivateEstimator,
        param_distributions: Mapping[str, Any],
        *,
        n_iter: int = 10,
        loss: Loss | None = None,
        epsilon: AnyNumber | None = None,
        delta: AnyNumber | None = None,
        score_share: AnyNumber = SCORING,
        runs: int | None = None,
        public: tuple[object, object] | None = None,
        random_state: int | None = None,
    ) -> None:
        self.estimator, self.param_distributions, self.n_iter = estimator, param_distributions, n_iter
        self.loss, self.epsilon, self.delta = loss, epsilon, delta
        self.score_share, self.runs, self.public = score_share, runs, public
        self.random_state = random_state

    def _candidates(self) -> list[dict[str, Any]]:
        count = integer(self.n_iter, "n_iter", least=1)
        try:
            return list(ParameterSampler(self.param_distributions, count, random_state=self.random_state))
        except (TypeError, ValueError):
            must = "lists of values, or distributions, by the names of parameters: {'alpha': [0, 1]}"
            raise BadArgument("param_distributions", must, type(self.param_distributions).__name__) from None
