"""Linear regression from noisy sums: one pass over the rows, whatever their number, and exact noise."""

from __future__ import annotations

import math
from statistics import NormalDist
from typing import ClassVar, final

import numpy as np
from scipy import special
from sklearn.base import RegressorMixin

from sfumato.accounting.losses.measures import Loss
from sfumato.errors import BadArgument
from sfumato.exact import Number as AnyNumber
from sfumato.exact import probability, rational
from sfumato.learn.columns import LARGEST, Between, Categories, Category, Floats, Number
from sfumato.learn.estimator import PrivateEstimator
from sfumato.learn.moments import Moments
from sfumato.learn.sources import Fit, Source
from sfumato.query.nodes.expressions import Expression
from sfumato.query.nodes.literals import literal
from sfumato.query.nodes.operators import call
from sfumato.query.nodes.relations import Relation
from sfumato.query.plan.stable import Scaled
from sfumato.release.render.document import Table
from sfumato.transforms.gram import Coordinates

SHRINKING = 2.0
"""Directions with a spread of less than about √2 times the noise on it are pulled towards 0; found by simulation."""

CLEAR = 4.0
"""Intervals are stated where the least spread is so many times the noise on it; otherwise nothing is known."""


LIGHT = 0.01
"""Tails count as light from this excess kurtosis on, below 0."""


@final
class LinearRegression(RegressorMixin, PrivateEstimator):  # type: ignore[misc]
    """Least squares on noisy sums: of each row, all products of two coordinates are added up, once.

    Numbers are scaled by their bounds to [−1, 1] and categories are one coordinate for each value, so bounds that are
    no wider than need be are what helps most. Directions in which the noise hides the spread of the rows are shrunk
    towards 0, which is post-processing; without noise it is least squares (proofs/gram.md#regression). All sums share
    one ε, so that in pure ε with many columns `HuberRegressor`, which sees rows and not sums, comes far nearer.

    Takes:      ``between`` and ``categories`` of the columns, ``target_between`` of the target (or from a codebook);
                ``alpha``, a ridge penalty on the coefficients of scaled columns
    Gives:      ``coef_`` and ``intercept_`` in the units of the data, ``r2_``, ``intervals(0.95)``, ``release_``
    Guarantee:  that of noise on a Gram matrix (proofs/gram.md#blocks, proofs/query.md#gram)
    Cost:       one pass in the engine

    >>> import numpy as np
    >>> x = np.arange(0.0, 4000.0)[:, None] % 10
    >>> model = LinearRegression(epsilon=100, between=(0, 10), target_between=(0, 40)).fit(x, 3 * x[:, 0] + 2)
    >>> model.coef_.round(1).tolist(), round(model.intercept_, 1), model.release_.loss
    ([3.0], 2.0, Pure(epsilon=100.0))
    """

    takes: ClassVar[str] = "number"

    coef_: Floats
    intercept_: float
    r2_: float
    moments_: Moments

    def __init__(
        self,
        *,
        loss: Loss | None = None,
        epsilon: AnyNumber | None = None,
        delta: AnyNumber | None = None,
        between: Between | None = None,
        categories: Categories | None = None,
        target_between: tuple[AnyNumber, AnyNumber] | None = None,
        alpha: float = 0.0,
    ) -> None:
        self.loss, self.epsilon, self.delta = loss, epsilon, delta
        self.between, self.categories, self.target_between = between, categories, target_between
        self.alpha = alpha

    def _fit(self, source: Source, loss: Loss) -> Fit:
        if not 0 <= rational(self.alpha, "alpha") <= LARGEST:
            raise BadArgument("alpha", "0 or a positive number, of at most 1e150", self.alpha)
        return Moments.asked(source, loss, self._learn)

    def _learn(self, moments: Moments) -> None:
        self.moments_ = moments
        level, slopes = shrunk_line(moments, float(self.alpha))
        self.r2_ = explained(moments, slopes)
        self.coef_, self.intercept_ = self._in_units(level, slopes)

    def _in_units(self, level: float, slopes: Floats) -> tuple[Floats, float]:
        """Slopes and intercept in the units of the data, from those of scaled columns."""
        target, sizes = self._target, self._sizes
        coefficients = np.asarray(target.half * slopes / sizes)
        return coefficients, float(target.middle + target.half * level - coefficients @ self._middles)

    @property
    def _target(self) -> Number:
        if not isinstance(self.target_, Number):
            raise TypeError(self.target_)
        return self.target_

    @property
    def _sizes(self) -> Floats:
        """What one unit of each coordinate is in the units of the data."""
        return np.concatenate([[one.half] if isinstance(one, Number) else np.ones(one.kind) for one in self.columns_])

    @property
    def _middles(self) -> Floats:
        return np.concatenate(
            [[one.middle] if isinstance(one, Number) else np.zeros(one.kind) for one in self.columns_]
        )

    @property
    def coordinates_(self) -> list[str]:
        """The names of the coefficients: those of columns, and for each value of a category ``sex=f``."""
        return [name for one in self.columns_ for name in one.names]

    def _told(self) -> tuple[Table, ...]:
        plain = not self.alpha and not any(isinstance(one, Category) for one in self.columns_)
        ends = self.intervals() if plain else {}
        rows = [
            (name, f"{value:.6g}", *(f"{end:.6g}" for end in ends.get(name, ())))
            for name, value in zip(self.coordinates_, self.coef_, strict=True)
        ]
        head = ("coefficient", "estimate", *(("from", "to (95 %)") if plain else ()))
        last = ("intercept", f"{self.intercept_:.6g}", *("", "") * plain)
        share = f"R² is about {self.r2_:.3f}"
        if plain and all(math.isinf(high) for _, high in ends.values()):
            share += (
                "; the noise hides the spread of the rows: fewer columns, or in pure ε a HuberRegressor, come nearer"
            )
        return (Table((*rows, last), head, share, right=frozenset({1, 2, 3})),)

    def predict(self, X: object) -> Floats:  # noqa: N803  # scikit-learn's name
        """Predicts the target of rows; nothing protects these rows."""
        made = self._coordinates(X)[:, 1:]
        level = self.intercept_ + float(self.coef_ @ self._middles)
        return np.asarray(level + made @ (self.coef_ * self._sizes))

    def _alone(self, rows: Floats) -> Floats:
        """The same for rows of a source: each number is added up column by column, whatever the other rows are."""
        made = Coordinates(tuple(one.kind for one in self.columns_)).rows(rows)[:, 1:]
        level = self.intercept_ + math.fsum(self.coef_ * self._middles)
        return np.asarray(sum((made[:, j] * slope for j, slope in enumerate(self.coef_ * self._sizes)), start=level))

    def _line(self, source: Relation) -> Expression:
        total: Expression = literal(self.intercept_)
        places = iter(self.coef_.tolist())
        for one in self.columns_:
            entry = one.entry(source)
            if isinstance(entry, Scaled):
                total = call("add", total, call("mul", entry.inside(), literal(next(places))))
            else:
                cases = [part for value in entry.values for part in (entry.holds(value), literal(next(places)))]
                total = call("add", total, call("case", call("is_null", entry.of), literal(None), *cases, literal(0.0)))
        return total

    def intervals(self, confidence: AnyNumber = 0.95) -> dict[str, tuple[float, float]]:
        """Where each coefficient of the population lies, by the noise that was added and by the rows having been drawn.

        Each holds by itself with about this confidence, for rows of a linear model with one spread; it is centred on
        the estimate without shrinking. Where the noise hides the spread of the rows, nothing is known: (−∞, ∞).
        """
        sure = float(probability(confidence, "confidence"))
        if any(isinstance(one, Category) for one in self.columns_) or self.alpha:
            must = "asked where all features are numbers, and alpha is 0"
            raise BadArgument("intervals", must, "categories or alpha")
        slopes, reach = slopes_and_reach(self.moments_, sure)
        scale = self._target.half / self._sizes
        ends = zip((slopes - reach) * scale, (slopes + reach) * scale, strict=True)
        return {name: (float(low), float(high)) for name, (low, high) in zip(self.coordinates_, ends, strict=True)}


def shrunk_line(moments: Moments, penalty: float) -> tuple[float, Floats]:
    """Level and slopes of the last coordinate on the others, by directions: those that the noise hides are shrunk to 0.

    The constant is a coordinate like the others, so that noise on the means is shrunk as well. The penalty is one on
    slopes alone. Of a category they add up to 0: what all of its values have in common is in the level.
    """
    whole, known = moments.plausible, len(moments.gram) - 1
    ridge = penalty * np.diag(np.arange(known) > 0)
    sizes, directions = np.linalg.eigh(whole[:-1, :-1] + ridge)
    sizes = np.clip(sizes, 0.0, None)
    hidden = SHRINKING * moments.deviation**2 * known
    floor = (1e-12 * max(float(sizes.max(initial=0.0)), 1.0)) ** 2  # collinear columns share what they explain
    line = np.asarray(directions @ (sizes / (sizes**2 + hidden + floor) * (directions.T @ whole[:-1, -1])))
    for places, kind in zip(moments.layout.places[1:-1], moments.layout.kinds[:-1], strict=True):
        if kind:
            common = float(line[places].mean())
            line[places] -= common
            line[0] += common
    return float(line[0]), line[1:]


def explained(moments: Moments, slopes: Floats) -> float:
    """The share of the target's spread that slopes explain (R², spec P2-101), from the same sums; in [0, 1]."""
    scatter = moments.scatter
    total = float(scatter[-1, -1])
    left = total - 2 * float(slopes @ scatter[:-1, -1]) + float(slopes @ scatter[:-1, :-1] @ slopes)
    return min(max(1 - left / total, 0.0), 1.0) if total > 0 else 0.0


def slopes_and_reach(moments: Moments, confidence: float) -> tuple[Floats, Floats]:
    """Slopes without shrinking, and how far from each that of the population is (proofs/gram.md#regression)."""
    gram, noise, size = moments.gram, moments.deviation, len(moments.gram) - 1
    inner = gram[:size, :size]
    if float(np.linalg.eigvalsh(inner)[0]) <= CLEAR * noise * math.sqrt(size):
        return np.zeros(size - 1), np.full(size - 1, math.inf)
    inverse = np.asarray(np.linalg.inv(inner), dtype=np.float64)
    full = np.append(inverse @ gram[:size, size], -1.0)
    left = max(float(full @ gram @ full), 0.0) / max(float(gram[0, 0]) - size, 1.0)
    sampling = left * np.diag(inverse)[1:]
    by_cell = noise_by_cell(inverse[1:], full) * noise**2
    spread = np.sqrt(sampling + by_cell.sum(axis=1))
    kurtosis = (moments.tails * (by_cell**2).sum(axis=1) + moments.common * by_cell.sum(axis=1) ** 2) / spread**4
    return full[1:size], spread * reach_of(confidence, kurtosis)


def reach_of(confidence: float, kurtosis: Floats) -> Floats:
    """How many deviations from 0 symmetric numbers with an excess kurtosis are, with a confidence.

    With light tails, of a beta law (which the uniform one is); with heavy ones, by Cornish and Fisher's correction.
    """
    z = NormalDist().inv_cdf((1 + confidence) / 2)
    heavy = z + kurtosis * (z**3 - 3 * z) / 24
    shape = np.clip(-6 / np.minimum(kurtosis, -LIGHT) - 3, 2.0, None) / 2
    light = np.sqrt(2 * shape + 1) * (2 * special.betaincinv(shape, shape, (1 + confidence) / 2) - 1)
    return np.asarray(np.where(kurtosis < -LIGHT, light, heavy))


def noise_by_cell(inverse: Floats, full: Floats) -> Floats:
    """The squares of how far noise of 1 on each different cell moves each slope: a row for each slope.

    Noise on cell (a, b) moves the equation of a by θ_b and that of b by θ_a, which are one on the diagonal; the last
    column has no equation.
    """
    padded = np.concatenate([inverse, np.zeros((len(inverse), 1))], axis=1)
    once = padded[:, :, None] * full[None, None, :]
    first, second = np.triu_indices(len(full))
    both = once + np.swapaxes(once, 1, 2)
    return np.asarray((np.where(first == second, 0.5, 1.0) * both[:, first, second]) ** 2)
