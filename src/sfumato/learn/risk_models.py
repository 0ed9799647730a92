"""Linear models that minimise a convex risk: logistic and multinomial regression, classifiers of margins, Poisson.

One measurement fits each. At pure ε the risk plus a ridge plus a random linear term is minimised, exactly
(`mechanisms.perturbed_risk`); in ρ, μ and mostly with a δ, noisy gradients lead there (`learn.descent`).
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Hashable, Sequence
from fractions import Fraction
from typing import Any, ClassVar, cast, final

import numpy as np
from sklearn.base import ClassifierMixin, RegressorMixin

from sfumato.accounting.losses.measures import Loss
from sfumato.errors import BadArgument
from sfumato.exact import Number as AnyNumber
from sfumato.exact import positive, up
from sfumato.learn.columns import Between, Categories, Category, Column, Floats, Number
from sfumato.learn.estimator import PrivateEstimator
from sfumato.learn.methods import Plan
from sfumato.learn.sources import Fit, Source
from sfumato.mechanisms.risks import CappedPoisson, Huber, Logistic, Risk, SmoothHinge, Softmax
from sfumato.release.render.document import Table
from sfumato.transforms.gram import Coordinates


class RiskModel(PrivateEstimator):
    """A linear model whose fit minimises a risk; ``coef_`` and ``intercept_`` are in the units of the columns.

    A category has a coefficient for each of its values, in their order. Inside, coefficients are those of numbers in
    [−1, 1] (``theta_``), with which predictions are made: values beyond the bounds count as the bounds.
    """

    ridge: AnyNumber | None
    method: str | None
    method_: str
    theta_: Floats
    coef_: Floats
    intercept_: Floats

    @abstractmethod
    def _risk(self) -> Risk:
        """The risk to minimise, by what is public about the target."""

    def _fit(self, source: Source, loss: Loss) -> Fit:
        risk = self._risk()
        plan = Plan(source, risk, loss, self.ridge, self.method)
        self.method_ = plan.chosen
        return Fit(source, plan.measurement(), lambda value: self._learn(np.asarray(value, np.float64), risk))

    def _learn(self, released: Floats, risk: Risk) -> None:
        self.theta_ = self._by_score(released.reshape(risk.scores, -1))
        slopes, shift = unscaled(self.theta_, self.columns_)
        self.coef_, self.intercept_ = slopes, self.theta_[:, 0] - shift

    def _by_score(self, theta: Floats) -> Floats:
        """The coefficients of all scores, of those that were released."""
        return theta

    def _told(self) -> tuple[Table, ...]:
        """The coefficients, a column for each score."""
        several = len(self.coef_) > 1
        head = [str(one) for one in getattr(self, "classes_", ())] if several else ["estimate"]
        names = [name for column in self.columns_ for name in column.names]
        rows = [
            (name, *(f"{one:.6g}" for one in slopes)) for name, slopes in zip(names, self.coef_.T.tolist(), strict=True)
        ]
        last = ("intercept", *(f"{one:.6g}" for one in self.intercept_.tolist()))
        return (Table((*rows, last), ("coefficient", *head), "", right=frozenset(range(1, len(head) + 1))),)

    def _scores(self, X: object) -> Floats:  # noqa: N803  # scikit-learn's name
        return self._added_up(self._coordinates(X))

    def _added_up(self, coordinates: Floats) -> Floats:
        """The scores of rows, coordinate by coordinate: those of a row do not hang on how many others there are."""
        parts = (coordinates[:, [place]] * slopes for place, slopes in enumerate(self.theta_.T))
        return sum(parts, start=np.zeros((len(coordinates), len(self.theta_))))

    def _scores_alone(self, rows: Floats) -> Floats:
        """The same for rows as a source gives them."""
        return self._added_up(Coordinates(tuple(column.kind for column in self.columns_)).rows(rows))


def unscaled(theta: Floats, columns: Sequence[Column]) -> tuple[Floats, Floats]:
    """Coefficients in the units of columns, and how much of the constant they take along; the constant's come first."""
    slopes, shift, place = theta[:, 1:].copy(), np.zeros(len(theta)), 0
    for column in columns:
        if isinstance(column, Number):
            slopes[:, place] = slopes[:, place] / column.half if column.lower < column.upper else 0.0
            shift += slopes[:, place] * column.middle
        place += max(1, column.kind)
    return slopes, shift


class _Classifier(ClassifierMixin, RiskModel):  # type: ignore[misc]
    """What both classifiers share."""

    classes: Sequence[Hashable] | None
    classes_: np.ndarray[Any, Any]

    def _learn(self, released: Floats, risk: Risk) -> None:
        super()._learn(released, risk)
        self.classes_ = np.array(self._listed())

    def _by_score(self, theta: Floats) -> Floats:
        """Of more than two classes the first has none: all are moved so that they add up to 0."""
        every = np.concatenate([np.zeros((1, theta.shape[1])), theta])
        return theta if len(theta) == 1 else np.asarray(every - every.mean(axis=0))

    @abstractmethod
    def _risk_of(self, classes: int) -> Risk:
        """The risk that tells so many classes apart."""

    def _risk(self) -> Risk:
        return self._risk_of(len(self._listed()))

    def _listed(self) -> tuple[Hashable, ...]:
        values = cast(Category, self.target_).values
        if len(values) < 2:
            raise BadArgument("classes", "two or more, of which one is to be told from the others", values)
        return values

    def decision_function(self, X: object) -> Floats:  # noqa: N803
        """The scores of rows: one for the second of two classes, else one for each class."""
        scores = self._scores(X)
        return scores[:, 0] if scores.shape[1] == 1 else scores

    def predict(self, X: object) -> np.ndarray[Any, Any]:  # noqa: N803
        """The likeliest class of each row."""
        return self._likeliest(self._scores(X))

    def _alone(self, rows: Floats) -> np.ndarray[Any, Any]:
        return self._likeliest(self._scores_alone(rows))

    def _likeliest(self, scores: Floats) -> np.ndarray[Any, Any]:
        places = (scores[:, 0] > 0).astype(np.intp) if scores.shape[1] == 1 else scores.argmax(axis=1)
        return np.asarray(self.classes_[places])

    def score(self, X: object, y: object, sample_weight: object = None) -> float:  # noqa: N803
        """The share of rows whose class is predicted. Not private: it tells about the rows that it is asked for."""
        return float(super().score(X, y, sample_weight))


@final
class LogisticRegression(_Classifier):
    """Fits a logistic regression, or a multinomial one where there are more than two classes.

    Takes:      numbers between stated bounds and categories out of stated lists; ``classes``, all that there can be;
                ``ridge``, a penalty on |θ|²/2 of numbers in [−1, 1], if more than the noise needs is wanted;
                ``method``, "objective" or "descent", if not the better one for the loss (proofs/descent.md#choice)
    Gives:      ``coef_`` and ``intercept_`` in the units of the data, ``method_``, ``release_``
    Guarantee:  the loss that is asked for, for whoever is protected  (proofs/objective_perturbation.md#loss,
                proofs/descent.md#steps)
    Cost:       some Newton steps on the rows, how many depends on them; or 17 passes over the rows

    ``release_`` says which noise was used. Predictions cost nothing; ``score`` is not private. There
    are no intervals of coefficients: how the risk bends is not released, so that none could be shown to cover.

    >>> model = LogisticRegression(epsilon=1, between={"age": (0, 100)}, classes=["no", "yes"])
    >>> model.get_params()["classes"]
    ['no', 'yes']
    """

    takes: ClassVar[str] = "classes"

    def __init__(
        self,
        *,
        loss: Loss | None = None,
        epsilon: AnyNumber | None = None,
        delta: AnyNumber | None = None,
        between: Between | None = None,
        categories: Categories | None = None,
        classes: Sequence[Hashable] | None = None,
        ridge: AnyNumber | None = None,
        method: str | None = None,
    ) -> None:
        self.loss, self.epsilon, self.delta = loss, epsilon, delta
        self.between, self.categories, self.classes = between, categories, classes
        self.ridge, self.method = ridge, method

    def _risk_of(self, classes: int) -> Risk:
        return Logistic() if classes == 2 else Softmax(classes)

    def predict_proba(self, X: object) -> Floats:  # noqa: N803
        """The chance of each class, for each row."""
        scores = self._scores(X)
        if scores.shape[1] == 1:
            scores = np.concatenate([np.zeros_like(scores), scores], axis=1)
        parts = np.exp(scores - scores.max(axis=1, keepdims=True, initial=-np.inf))
        return np.asarray(parts / parts.sum(axis=1, keepdims=True))

    def predict_log_proba(self, X: object) -> Floats:  # noqa: N803
        """The logarithms of these chances."""
        return np.asarray(np.log(self.predict_proba(X)))


@final
class LinearSVC(_Classifier):
    """Fits a linear classifier of two classes by their margins: Huber's hinge, smooth between 1/2 and 3/2.

    Takes:      as `LogisticRegression`, with two ``classes``
    Guarantee:  the loss that is asked for, for whoever is protected  (proofs/objective_perturbation.md#loss,
                proofs/descent.md#steps)
    Cost:       some Newton steps on the rows, how many depends on them; or 17 passes over the rows

    >>> LinearSVC(epsilon=1, between=(0, 1), classes=[0, 1]).ridge is None
    True
    """

    takes: ClassVar[str] = "classes"

    def __init__(
        self,
        *,
        loss: Loss | None = None,
        epsilon: AnyNumber | None = None,
        delta: AnyNumber | None = None,
        between: Between | None = None,
        categories: Categories | None = None,
        classes: Sequence[Hashable] | None = None,
        ridge: AnyNumber | None = None,
        method: str | None = None,
    ) -> None:
        self.loss, self.epsilon, self.delta = loss, epsilon, delta
        self.between, self.categories, self.classes = between, categories, classes
        self.ridge, self.method = ridge, method

    def _risk_of(self, classes: int) -> Risk:
        if classes != 2:
            raise BadArgument("classes", "two; for more, ask LogisticRegression", classes)
        return SmoothHinge()


@final
class HuberRegressor(RegressorMixin, RiskModel):  # type: ignore[misc]
    """Fits a linear regression that no single row can pull far: squares of small residuals, sizes of large ones.

    In pure ε its noise grows with the number of columns, that of `LinearRegression` with its square: from two columns
    on it is much nearer. ``method`` is as in `LogisticRegression`. It looks at rows again and again, which a table
    behind a ledger must hold in memory.

    Takes:      numbers between stated bounds and categories out of stated lists; ``target_between``, bounds of the
                target; ``width``, from where on residuals count by their size, as a share of half of these bounds
    Guarantee:  the loss that is asked for, for whoever is protected  (proofs/objective_perturbation.md#loss,
                proofs/descent.md#steps)
    Cost:       some Newton steps on the rows, how many depends on them; or 17 passes over the rows

    >>> HuberRegressor(epsilon=1, between={"age": (0, 100)}, target_between=(0, 20)).width
    0.4
    """

    takes: ClassVar[str] = "number"

    def __init__(
        self,
        *,
        loss: Loss | None = None,
        epsilon: AnyNumber | None = None,
        delta: AnyNumber | None = None,
        between: Between | None = None,
        categories: Categories | None = None,
        target_between: tuple[AnyNumber, AnyNumber] | None = None,
        width: AnyNumber = 0.4,
        ridge: AnyNumber | None = None,
        method: str | None = None,
    ) -> None:
        self.loss, self.epsilon, self.delta = loss, epsilon, delta
        self.between, self.categories, self.target_between = between, categories, target_between
        self.width, self.ridge, self.method = width, ridge, method

    def _risk(self) -> Risk:
        return Huber(positive(self.width, "width"))

    def _learn(self, released: Floats, risk: Risk) -> None:
        super()._learn(released, risk)
        self.coef_, self.intercept_ = self._unit * self.coef_, self._middle + self._unit * self.intercept_

    @property
    def _unit(self) -> float:
        return cast(Number, self.target_).half * float(positive(self.width, "width"))

    @property
    def _middle(self) -> float:
        return cast(Number, self.target_).middle

    def predict(self, X: object) -> Floats:  # noqa: N803
        """Predicts the target of rows; nothing protects these rows."""
        scores = self._scores(X)[:, 0]
        return np.asarray(self._middle + self._unit * scores)

    def _alone(self, rows: Floats) -> Floats:
        return np.asarray(self._middle + self._unit * self._scores_alone(rows)[:, 0])


@final
class PoissonRegressor(RegressorMixin, RiskModel):  # type: ignore[misc]
    """Fits rates of counts, exp(z·θ), up to the greatest count that there can be.

    Takes:      numbers between stated bounds and categories out of stated lists; ``target_between``, bounds of the
                counts, the lower one at least 0: the nearer the upper one is to the rates, the less noise
    Guarantee:  the loss that is asked for, for whoever is protected  (proofs/objective_perturbation.md#loss,
                proofs/descent.md#steps)
    Cost:       some Newton steps on the rows, how many depends on them; or 17 passes over the rows

    ``coef_`` and ``intercept_`` are those of the logarithm of the rate, below the cap.

    >>> PoissonRegressor(epsilon=1, between={"age": (0, 100)}, target_between=(0, 20)).ridge is None
    True
    """

    takes: ClassVar[str] = "number"

    def __init__(
        self,
        *,
        loss: Loss | None = None,
        epsilon: AnyNumber | None = None,
        delta: AnyNumber | None = None,
        between: Between | None = None,
        categories: Categories | None = None,
        target_between: tuple[AnyNumber, AnyNumber] | None = None,
        ridge: AnyNumber | None = None,
        method: str | None = None,
    ) -> None:
        self.loss, self.epsilon, self.delta = loss, epsilon, delta
        self.between, self.categories, self.target_between = between, categories, target_between
        self.ridge, self.method = ridge, method

    def _risk(self) -> Risk:
        counts = cast(Number, self.target_)
        if counts.lower < 0 or counts.upper <= 0:
            raise BadArgument("target_between", "bounds of counts: from 0 or more up to more than 0", counts.lower)
        return CappedPoisson(up(Fraction(counts.lower, counts.upper)))

    def _learn(self, released: Floats, risk: Risk) -> None:
        super()._learn(released, risk)
        self.intercept_ = self.intercept_ - 1.0 + np.log(self._most)

    @property
    def link(self) -> str:
        return "log"

    @property
    def _most(self) -> float:
        return float(cast(Number, self.target_).upper)

    def predict(self, X: object) -> Floats:  # noqa: N803
        """The rate of each row."""
        scores = self._scores(X)[:, 0]
        return np.asarray(self._most * np.exp(np.minimum(scores - 1.0, 0.0)))

    def score(self, X: object, y: object, sample_weight: object = None) -> float:  # noqa: N803
        """R², of the rows that it is asked for. Not private: it tells about them."""
        return float(super().score(X, y, sample_weight))
