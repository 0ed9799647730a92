"""Which estimator suits a task, from public facts alone: real fits on made-up rows of that shape, at that loss.

It touches no data and costs nothing. Choosing by scores of private rows would have a price: see `GridSearch`.
"""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Literal, TypeAlias, cast, final

import numpy as np
from scipy import special
from sklearn.base import clone

from sfumato import learn
from sfumato.accounting.losses.measures import ZCDP, Approx, Loss, Pure
from sfumato.accounting.losses.stated import needed_loss
from sfumato.entropy import Entropy, system
from sfumato.errors import BadArgument
from sfumato.exact import Number as AnyNumber
from sfumato.exact import integer, probability
from sfumato.learn.columns import Category, Column, Floats, Number
from sfumato.learn.estimator import PrivateEstimator
from sfumato.learn.significance.draws import normals, uniforms
from sfumato.learn.sources import Held
from sfumato.release.progress import Progress, reporting
from sfumato.release.render.displayed import Displayed
from sfumato.release.render.document import Document, Table

Shape: TypeAlias = Literal["linear", "curved"]

TESTED = 400
"""The made-up rows on which predictions are compared with the truth."""

MOST_ROWS = 4000
"""Of more rows so many are made up, and the loss grows as much: noise on sums then weighs the same."""

NOISELESS = Pure(10**9)

ABOUT_AS_GOOD, HARDLY = 1.1, 0.005
"""Errors less than this factor apart are taken for equal, and so are shares of rows of less than the second: then the
estimator is taken that goes over the rows once."""

ONCE = "1, in the engine"

OTHER_TARGETS = {"PoissonRegressor": "for counts", "TheilSenRegressor": "for one column of numbers"}
"""Estimators of numbers that are for special ones."""

FACTS = {
    "LinearRegression": (ONCE, "covariance, R², intervals"),
    "TheilSenRegressor": ("16, and sorts", "few wild rows do not matter"),
    "NaiveBayes": (ONCE, "counts by class"),
    "HuberRegressor": ("some 20", "wild rows pull less"),
    "LogisticRegression": ("some 20", "chances of classes"),
    "LinearSVC": ("some 20", ""),
    "ExplainableBoostingClassifier": ("20 a column", "a curve of each column"),
    "ExplainableBoostingRegressor": ("20 a column", "a curve of each column"),
}
"""What is known of estimators: passes over the rows, and what else they give."""


@final
@dataclass(frozen=True)
class Rehearsed:
    """What one estimator did on made-up rows.

    Of a number: ``error`` is the root of the mean squared distance of predictions from the truth, in its units, made up
    of ``bias``, which all fits share, and ``spread``, in which they differ. Of classes: ``error`` is the share of rows
    that are missed beyond those that nobody could know, ``spread`` how much that varies, and ``bias`` NaN.
    ``noiseless`` is the error without noise for privacy; ``seconds`` the processor's time for a fit. Where it cannot be
    fitted, ``refused`` says why.
    """

    name: str
    error: float
    bias: float = math.nan
    spread: float = math.nan
    noiseless: float = math.nan
    seconds: float = math.nan
    refused: str = ""

    @property
    def passes(self) -> str:
        """How often it goes over the rows."""
        return FACTS.get(self.name, ("", ""))[0]

    @property
    def gives(self) -> str:
        """What else it gives."""
        return FACTS.get(self.name, ("", ""))[1]


@final
@dataclass(frozen=True, repr=False)
class EstimatorComparison(Displayed):
    """Estimators on made-up rows of one shape, the best first; printing it shows the table and what it suggests."""

    task: str
    loss: Loss
    results: tuple[Rehearsed, ...]

    @property
    def best(self) -> Rehearsed:
        """The estimator to begin with: the one with the least error; of those that are about as good, see `reason`."""
        fitted = [one for one in self.results if not one.refused]
        most = ABOUT_AS_GOOD * fitted[0].error + (HARDLY if math.isnan(fitted[0].bias) else 0.0)
        near = [one for one in fitted if one.error <= most]
        return min(near, key=lambda one: (one.passes != ONCE, fitted.index(one)))

    @property
    def reason(self) -> str:
        """Why that one."""
        best, first = self.best, next(one for one in self.results if not one.refused)
        noise = "mostly noise for privacy" if best.error > 2 * best.noiseless else "mostly not from noise for privacy"
        why = "its error is the least" if best is first else f"it errs about as little as {first.name}, in one pass"
        return f"{best.name}: {why} ({noise})" + (f". Besides: {best.gives}" if best.gives else "")

    def document(self) -> Document:
        head = ("estimator", "error", "bias", "spread", "without noise", "s a fit", "passes over rows", "gives besides")
        rows = tuple(
            (one.name, *(_figure(each) for each in (one.error, one.bias, one.spread, one.noiseless, one.seconds)))
            + ((one.refused, "") if one.refused else (one.passes, one.gives))
            for one in self.results
        )
        table = Table(rows, head, f"Begin with {self.reason}", right=frozenset(range(1, 6)))
        aside = f"{self.loss}; all rows were made up, nothing was paid"
        return Document("Estimators compared", self.task, aside, tables=(table,))


def _figure(value: float) -> str:
    return "" if math.isnan(value) else f"{value:.3g}"


@final
@dataclass(frozen=True)
class MadeUp:
    """Rows of one shape: numbers that fill a part of their bounds, categories, and a target that they explain in part.

    Scaled numbers are normal with the deviation ``spread`` within [−1, 1]. The target of scaled deviation ``spread``
    follows a line, or a curve in each column; classes are equal parts of it, in order.
    """

    columns: tuple[Column, ...]
    target: Column
    explained: float
    spread: float
    curved: bool

    def draw(self, rows: int, entropy: Entropy) -> tuple[Any, Any, Floats]:
        """Features and targets as people hold them, and what the features say: the signal, of mean 0 and variance 1."""
        values: list[Any] = []
        signal = np.zeros(rows)
        for place, column in enumerate(self.columns):
            if isinstance(column, Number):
                scaled = np.clip(self.spread * normals((rows,), entropy), -1.0, 1.0)
                z = scaled / self.spread
                part = (z + z**2 - 1) / math.sqrt(3) if self.curved else z
                values.append(column.decode(scaled))
            else:
                codes = np.floor(uniforms(rows, entropy) * column.kind).astype(np.intp)
                steps = np.arange(column.kind) - (column.kind - 1) / 2
                part = np.asarray(steps / max(float(steps.std()), 1e-9), dtype=np.float64)[codes]
                values.append(np.array(column.values, dtype=object)[codes])
            signal += part * (-1.0) ** place / math.sqrt(len(self.columns))
        latent = math.sqrt(self.explained) * signal + math.sqrt(1 - self.explained) * normals((rows,), entropy)
        features = np.empty((rows, len(values)), dtype=object)
        for place, part in enumerate(values):
            features[:, place] = part
        return features, self._target(latent), signal

    def _target(self, latent: Floats) -> Any:
        if isinstance(self.target, Number):
            return self.target.decode(np.clip(self.spread * latent, -1.0, 1.0))
        cuts = special.ndtri(np.arange(1, self.target.kind) / self.target.kind)
        return np.array(self.target.values)[np.searchsorted(cuts, latent)]

    def truth(self, signal: Floats) -> Floats:
        """The mean of the target, given the signal; of classes the chance of each."""
        level = math.sqrt(self.explained) * signal
        if isinstance(self.target, Number):
            return self.target.decode(np.clip(self.spread * level, -1.0, 1.0))
        cuts = special.ndtri(np.arange(self.target.kind + 1) / self.target.kind)
        below = special.ndtr((cuts[None, :] - level[:, None]) / math.sqrt(1 - self.explained))
        return np.asarray(np.diff(below, axis=1))


def compare(
    *,
    rows: int,
    numbers: int = 1,
    categories: Sequence[int] = (),
    target_between: tuple[AnyNumber, AnyNumber] = (-1, 1),
    classes: int | None = None,
    loss: Loss | None = None,
    epsilon: AnyNumber | None = None,
    delta: AnyNumber | None = None,
    estimators: Sequence[PrivateEstimator] | None = None,
    explained: AnyNumber = 0.5,
    spread: AnyNumber = 0.3,
    shape: Shape = "linear",
    fits: int = 8,
    entropy: Entropy | None = None,
    progress: Progress | None = None,
) -> EstimatorComparison:
    """Compares estimators for a task by what is public of it: each is really fitted, several times, on made-up rows.

    No data is touched, and nothing is paid. The shape of the task is what anybody knows or guesses of it.

    Takes:      about how many ``rows`` there are; how many columns of ``numbers``, and for each of ``categories`` how
                many values it has; a number within ``target_between``, or how many ``classes``; the loss of a fit.
                ``explained`` is the part of the target that can be known, ``spread`` the part of their bounds that
                numbers fill (deviation over half of the width), ``shape`` "linear" or "curved"; ``fits`` of each
                estimator; ``estimators``, if not all that suit, with what they need besides
    Gives:      a table, the best first: error, bias and spread, time, passes over rows, and what to begin with
    Cost:       no loss; as many fits on at most 4,000 rows as said

    >>> from sfumato.learn import LinearRegression
    >>> compare(rows=500, epsilon=1, estimators=[LinearRegression()], fits=2).best.name
    'LinearRegression'
    """
    paid, drawn = needed_loss(loss, epsilon, delta), system() if entropy is None else entropy
    size, times = integer(rows, "rows", least=1), integer(fits, "fits", least=2)
    if shape not in ("linear", "curved"):
        raise BadArgument("shape", '"linear" or "curved"', shape)
    known, fills = probability(explained, "explained"), probability(spread, "spread")
    if not 0 < known < 1 or not fills:
        raise BadArgument("explained and spread", "more than 0 and less than 1", (explained, spread))
    columns = _columns(integer(numbers, "numbers", least=0), categories)
    named = list(range(integer(classes, "classes", least=2))) if classes is not None else None
    target: Column = Number.read("y", target_between) if named is None else Category.read("y", named)
    made = MadeUp(columns, target, float(known), float(fills), shape == "curved")
    tried = _suitable(target) if estimators is None else [clone(one) for one in estimators]
    trial = Trial(made, min(size, MOST_ROWS), _as_if(paid, size), times)
    with reporting(progress, "estimators compared") as report:
        results = []
        for done, one in enumerate(tried):
            results.append(trial.of(one, drawn))
            report(done + 1, len(tried))
    if all(one.refused for one in results):
        raise BadArgument("estimators", "such that one at least suits", [one.name for one in results])
    order = sorted(results, key=lambda one: (bool(one.refused), one.error))
    what = "a number" if classes is None else f"{classes} classes"
    task = f"{what} by {numbers} numbers and {len(categories)} categories, {size:,} rows, {shape}:"
    return EstimatorComparison(task, paid, tuple(order))


def _columns(numbers: int, categories: Sequence[int]) -> tuple[Column, ...]:
    kinds = [integer(one, "how many values a category has", least=1) for one in categories]
    if not numbers + len(kinds):
        raise BadArgument("numbers and categories", "one column at least", 0)
    listed: list[Column] = [Number.read(f"x{place}", (-1, 1)) for place in range(numbers)]
    more = [Category.read(f"x{numbers + place}", list(range(kind))) for place, kind in enumerate(kinds)]
    return (*listed, *more)


def _suitable(target: Column) -> list[PrivateEstimator]:
    """One of each estimator of this package that is for such a target."""
    takes = "number" if isinstance(target, Number) else "classes"
    public = [getattr(learn, name) for name in sorted(learn.__all__)]
    kinds = [one for one in public if isinstance(one, type) and issubclass(one, PrivateEstimator)]
    suited = [one for one in kinds if getattr(one, "takes", None) == takes and one.__name__ != "PoissonRegressor"]
    return [one() for one in suited]


def _as_if(loss: Loss, rows: int) -> Loss:
    """The loss at which noise on fewer rows weighs as much as a loss on all rows."""
    times = max(Fraction(rows, MOST_ROWS), Fraction(1))
    match loss:
        case Pure():
            return Pure(loss.epsilon * times)
        case ZCDP():
            return ZCDP(loss.rho * times**2)
        case Approx():
            return Approx(loss.epsilon * times, loss.delta)
    raise BadArgument("the loss of a comparison", "Pure, ZCDP or Approx, such as sf.Pure(1)", loss)


@final
@dataclass(frozen=True)
class Trial:
    """Fits estimators on made-up rows and compares what they predict with the truth."""

    made: MadeUp
    rows: int
    loss: Loss
    fits: int

    def of(self, model: PrivateEstimator, entropy: Entropy) -> Rehearsed:
        """What one estimator does."""
        name, (features, _, signal) = type(model).__name__, self.made.draw(TESTED, entropy)
        begun = time.process_time()
        try:
            predicted = [self._predicted(model, self.loss, features, entropy) for _ in range(self.fits)]
        except BadArgument as refusal:
            return Rehearsed(name, math.inf, refused=OTHER_TARGETS.get(name, str(refusal)))
        seconds = (time.process_time() - begun) / self.fits
        exact = [self._predicted(model, NOISELESS, features, entropy) for _ in range(2)]
        truth = self.made.truth(signal)
        if isinstance(self.made.target, Category):
            missed, plain = self._missed(predicted, truth), self._missed(exact, truth)
            error, spread, noiseless = float(missed.mean()), float(missed.std()), float(plain.mean())
            return Rehearsed(name, error, math.nan, spread, noiseless, seconds)
        numbers, without = np.array(predicted, dtype=np.float64), np.array(exact, dtype=np.float64)
        bias = math.sqrt(float(((numbers.mean(axis=0) - truth) ** 2).mean()))
        spread = math.sqrt(float(numbers.var(axis=0).mean()))
        noiseless = math.sqrt(float(((without - truth) ** 2).mean()))
        return Rehearsed(name, math.hypot(bias, spread), bias, spread, noiseless, seconds)

    def _predicted(self, model: PrivateEstimator, loss: Loss, features: Any, entropy: Entropy) -> Any:
        """Predictions of a fresh fit, on rows made up afresh."""
        rows, labels, _ = self.made.draw(self.rows, entropy)
        fresh = clone(model)
        fresh.columns_, fresh.target_ = self.made.columns, self.made.target
        fresh.n_features_in_ = len(self.made.columns)
        held = Held((*self.made.columns, self.made.target), (*rows.T, labels), entropy)
        fresh.release_ = fresh._fit(held, loss).run(loss)
        return cast(Any, fresh).predict(features)

    def _missed(self, predicted: Sequence[Any], chances: Floats) -> Floats:
        """The share of rows that predictions miss beyond the best that can be, for each fit."""
        target = cast(Category, self.made.target)
        codes = np.array([target.encode(one) for one in predicted]).astype(np.intp)
        hit = np.take_along_axis(chances[None, :, :], codes[:, :, None], axis=2)[:, :, 0]
        return np.asarray((chances.max(axis=1)[None, :] - hit).mean(axis=1))
