"""Theil and Sen's regression on one column: the private median of slopes between random pairs of rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar, cast, final

import numpy as np
from sklearn.base import RegressorMixin

from sfumato.accounting.losses.measures import Approx, Loss
from sfumato.combinators.analysis import analysis
from sfumato.combinators.converted import convert_measure
from sfumato.combinators.interaction import adaptive_composition
from sfumato.core.domains import Bounds, Vector
from sfumato.core.domains import Floats as FloatAtoms
from sfumato.core.grouped_distance import AnyDistance
from sfumato.core.measurement import Measurement
from sfumato.core.partial import Partial
from sfumato.core.queryable import Queryable
from sfumato.core.space import Space
from sfumato.core.transformation import Transformation
from sfumato.entropy import Entropy
from sfumato.errors import BadArgument
from sfumato.exact import Number as AnyNumber
from sfumato.exact import integer
from sfumato.learn.columns import Between, Categories, Floats, Number
from sfumato.learn.estimator import PrivateEstimator
from sfumato.learn.noising import ways_to_spend
from sfumato.learn.sources import Fit, Source
from sfumato.mechanisms.quantile import median
from sfumato.query.nodes.expressions import Expression
from sfumato.query.nodes.literals import literal
from sfumato.query.nodes.operators import call
from sfumato.query.nodes.relations import Relation
from sfumato.query.plan.stable import Scaled
from sfumato.release.render.document import Table
from sfumato.stats.shares import Spendable, parameter_for, spendable
from sfumato.transforms.rowwise import rowwise
from sfumato.transforms.slopes import pair_slopes

SLOPE = Fraction(3, 4)
"""The part of the loss that the slope gets; found by simulation."""

STEEP = 2
"""The bounds of slopes where none are stated: so many times as steep as from corner to corner of the bounds."""

MATCHINGS = 16
"""How often rows are paired where nothing is said: with more, which pairs there are hardly matters any more."""

STEP = Fraction(1, 1 << 30)
"""Slopes and levels of scaled columns are chosen on a grid of this step."""


@final
@dataclass(frozen=True)
class TwoMedians:
    """Asks for the median of slopes, and then for that of what the slope leaves over; it sees the answers alone."""

    space: Space
    slopes: Bounds
    matchings: int
    loss: Spendable
    d_in: AnyDistance

    @property
    def parts(self) -> tuple[Spendable, Spendable]:
        """What the slope may spend, and the level."""
        return self.loss.scaled(SLOPE), self.loss.scaled(1 - SLOPE)

    def measurement(self) -> Measurement:
        """Both as one measurement."""
        asked = self.space >> adaptive_composition(self.parts, d_in=self.d_in)
        return analysis(asked, self.run, name=f"slope and level by medians, {self.matchings} matchings")

    def run(self, ask: Queryable, entropy: Entropy) -> tuple[float, float]:
        """The slope, and the level at the middle of x, of scaled columns."""
        slope = float(ask(self._slope(self.heat)))
        heat = parameter_for(lambda heat: self.space >> self._level(slope, heat), self.parts[1], self.d_in)
        return slope, float(ask(self._level(slope, heat)))

    @property
    def heat(self) -> Fraction:
        """The temperature of the choice of a slope: the less, the nearer it comes."""
        return parameter_for(lambda heat: self.space >> self._slope(heat), self.parts[0], self.d_in)

    def _slope(self, heat: Fraction) -> Partial[Measurement]:
        paired = pair_slopes(between=(self.slopes.lower, self.slopes.upper), matchings=self.matchings)
        return paired >> median(temperature=heat, step=STEP, measure=type(self.loss))

    def _level(self, slope: float, heat: Fraction) -> Partial[Measurement]:
        return left_over(slope) >> median(temperature=heat, step=STEP, measure=type(self.loss))


def left_over(slope: float) -> Partial[Transformation]:
    """What a public slope leaves over of each row, moved into [−1, 1]."""

    def made(rows: Floats) -> Floats:
        return np.clip(rows[:, 1] - slope * rows[:, 0], -1.0, 1.0)

    def build(space: Space) -> Transformation:
        return rowwise(space, Vector(FloatAtoms(Bounds.read((-1, 1)))), made, "what the slope leaves over")

    return Partial("left_over(…)", build)


@final
class TheilSenRegressor(RegressorMixin, PrivateEstimator):  # type: ignore[misc]
    """A line through points of one column, by medians: few wild rows, however far off, hardly move it.

    Rows are paired at random, in secret, and each pair has a slope; the median of all slopes is chosen privately, and
    then the level, as the median of what the slope leaves over. Several matchings give more slopes at the same price.

    Takes:      ``between`` of the one column and ``target_between`` of the target (or from a codebook);
                ``slope_between``, public bounds of the slope in the units of the data (left out: twice as steep
                either way as from corner to corner of the bounds); ``matchings``, how often rows are paired
    Gives:      ``coef_`` and ``intercept_`` in the units of the data, ``release_``
    Guarantee:  that of two choices by the quantile mechanism, Pure, ZCDP or (ε, δ); a row moves two slopes of each
                matching  (proofs/theil_sen.md#map, #regression)
    Cost:       a shuffle and a sort of the rows for each matching

    >>> import numpy as np
    >>> x = np.arange(0.0, 4000.0)[:, None] % 10
    >>> model = TheilSenRegressor(epsilon=10, between=(0, 10), target_between=(0, 40)).fit(x, 3 * x[:, 0] + 2)
    >>> model.coef_.round(1).tolist(), round(model.intercept_, 1), model.release_.loss
    ([3.0], 2.0, Pure(epsilon=10.0))
    """

    takes: ClassVar[str] = "number"
    categories: Categories | None = None  # there is one column, and it has numbers

    coef_: Floats
    intercept_: float

    def __init__(
        self,
        *,
        loss: Loss | None = None,
        epsilon: AnyNumber | None = None,
        delta: AnyNumber | None = None,
        between: Between | None = None,
        target_between: tuple[AnyNumber, AnyNumber] | None = None,
        slope_between: tuple[AnyNumber, AnyNumber] | None = None,
        matchings: int = MATCHINGS,
    ) -> None:
        self.loss, self.epsilon, self.delta = loss, epsilon, delta
        self.between, self.target_between = between, target_between
        self.slope_between, self.matchings = slope_between, matchings

    def _fit(self, source: Source, loss: Loss) -> Fit:
        if len(self.columns_) != 1 or not isinstance(self.columns_[0], Number):
            must = "one column of numbers: for several, ask LinearRegression or HuberRegressor"
            raise BadArgument("the features of TheilSenRegressor", must, [one.name for one in self.columns_])
        times, bounds = integer(self.matchings, "matchings", least=1), self._bounds()
        chain = source.rows()
        d_in = chain.map(source.unit) if isinstance(chain, Transformation) else chain.metric.read(source.unit)
        plans = [
            TwoMedians(source.space, bounds, times, spendable(way, type(self).__name__), d_in)
            for way in ways_to_spend(loss)
        ]
        made = min(plans, key=lambda plan: plan.heat).measurement()
        made = chain >> made if isinstance(chain, Transformation) else made
        if isinstance(loss, Approx):
            made = convert_measure(made, Approx, delta=loss.delta if made.measure is not Approx else None)
        return Fit(source, made, self._learn)

    def _bounds(self) -> Bounds:
        """The bounds of the slope of scaled columns."""
        if self.slope_between is None:
            return Bounds.read((-STEEP, STEEP))
        stated, (x, y) = Bounds.read(self.slope_between), self._pair
        scale = Fraction(x.half) / Fraction(y.half)
        if not stated.lower < stated.upper:
            raise BadArgument("slope_between", "two numbers, the second the greater", self.slope_between)
        return Bounds(stated.lower * scale, stated.upper * scale)

    @property
    def _pair(self) -> tuple[Number, Number]:
        """The column and the target."""
        return cast(Number, self.columns_[0]), cast(Number, self.target_)

    def _learn(self, value: Sequence[float]) -> None:
        (slope, level), (x, y) = value, self._pair
        steep = float(slope) * y.half / x.half
        self.coef_ = np.array([steep])
        self.intercept_ = y.middle + y.half * float(level) - steep * x.middle

    def predict(self, X: object) -> Floats:  # noqa: N803  # scikit-learn's name
        """Predicts the target of rows; nothing protects these rows."""
        return self._alone(np.nan_to_num(self._encoded(X)))

    def _alone(self, rows: Floats) -> Floats:
        """The same for rows of a source: each by itself, in the same operations."""
        x, _ = self._pair
        return np.asarray(rows[:, 0] * (self.coef_[0] * x.half) + (self.intercept_ + self.coef_[0] * x.middle))

    def _line(self, source: Relation) -> Expression:
        entry = self.columns_[0].entry(source)
        if not isinstance(entry, Scaled):
            raise TypeError(entry)
        return call("add", literal(self.intercept_), call("mul", entry.inside(), literal(float(self.coef_[0]))))

    def _told(self) -> tuple[Table, ...]:
        rows = ((self.columns_[0].name, f"{self.coef_[0]:.6g}"), ("intercept", f"{self.intercept_:.6g}"))
        return (Table(rows, ("coefficient", "estimate"), "", right=frozenset({1})),)
