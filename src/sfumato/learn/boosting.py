"""Additive models, boosted on noisy histograms: of each column a curve that can be drawn, and these added up."""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, ClassVar, final

import numpy as np
from sklearn.base import ClassifierMixin, RegressorMixin
from sklearn.utils import Tags

from sfumato.accounting.losses.measures import ZCDP, Approx, Loss, Pure
from sfumato.combinators.analysis import analysis
from sfumato.combinators.converted import convert_measure
from sfumato.combinators.interaction import adaptive_composition
from sfumato.core.grouped_distance import AnyDistance
from sfumato.core.measurement import Measurement
from sfumato.core.metrics import L1, L2, VectorMetric
from sfumato.core.partial import Partial
from sfumato.core.queryable import Queryable
from sfumato.core.space import Space
from sfumato.core.transformation import Transformation
from sfumato.entropy import Entropy
from sfumato.errors import BadArgument
from sfumato.exact import Number as AnyNumber
from sfumato.learn.columns import Between, Bins, Categories, Category, Edges, Floats, Made, Number, binned
from sfumato.learn.estimator import PrivateEstimator
from sfumato.learn.naive_bayes import merged_counts
from sfumato.learn.noising import ways_to_spend
from sfumato.learn.sources import Fit, Source
from sfumato.release.render.document import Table
from sfumato.stats.shares import Spendable, deviation_of, noise_of, parameter_for, spendable
from sfumato.transforms.gram import gram
from sfumato.transforms.residuals import SCORE_BITS, Additive, residual_sums

COUNTING = Fraction(1, 10)
"""The part of the loss that counts of rows by bins get."""

EXPECTED = 1.0
"""How large the effects of columns are expected to be (τ in proofs/boosting.md#rounds)."""

STEPS = {Pure: (2, 1.0), ZCDP: (6, 0.5)}
"""Rounds, and the part of a full step that each takes (proofs/boosting.md#rounds); found by simulation."""

FEWEST, MOST_BINS = 2, 32
"""Bins of numbers are merged down to about the first, however large the noise is; before that there are the others."""


@final
@dataclass(frozen=True)
class Boosting:
    """Asks for counts, then for sums of what the model leaves over, column by column; it sees noisy answers alone.

    ``kinds`` says how many codes each column has, ``ordered`` whether they stand in order; ``bend`` is the most that
    the second derivative of the risk of one row can be.
    """

    space: Space
    kinds: tuple[int, ...]
    ordered: tuple[bool, ...]
    classes: bool
    loss: Spendable
    d_in: AnyDistance

    @property
    def bend(self) -> float:
        """The greatest second derivative of a row's risk."""
        return 0.25 if self.classes else 1.0

    @property
    def norm(self) -> VectorMetric:
        """The norm of the noise."""
        return L1() if isinstance(self.loss, Pure) else L2()

    @property
    def rounds(self) -> int:
        """How often each column has its turn."""
        return STEPS[type(self.loss)][0]

    @property
    def turn(self) -> Spendable:
        """What one column may spend in one round."""
        return self.loss.scaled((1 - COUNTING) / (self.rounds * len(self.kinds)))

    def measurement(self) -> Measurement:
        """All rounds as one measurement, whose loss is that of the slices."""
        slices = [self.loss.scaled(COUNTING), *[self.turn] * (self.rounds * len(self.kinds))]
        asked = self.space >> adaptive_composition(slices, d_in=self.d_in)
        return analysis(asked, self.run, name=f"an additive model of {len(self.kinds)} columns, {self.rounds} rounds")

    def run(self, ask: Queryable, entropy: Entropy) -> tuple[float, list[list[float]], list[list[float]]]:
        """Goes through all rounds: the level, the curves of all columns, and the counts behind them."""
        rows, counts = self._counts(ask)
        scale = self._turn_scale
        groups = [self._groups(part, rows, one) for part, one in zip(counts, self.ordered, strict=True)]
        level, curves = 0.0, [np.zeros(kind) for kind in self.kinds]
        for _ in range(self.rounds):
            for place, cells in enumerate(groups):
                seen = residual_sums(self._model(level, curves), place, groups=cells.tolist(), metric=self.norm)
                left = np.asarray(ask(seen >> noise_of(type(self.loss), scale)), dtype=np.float64)
                size: Floats = np.bincount(cells, weights=np.clip(counts[place], 0.0, None)).astype(np.float64)
                step = self._step(left, size)
                shift = float(step @ size) / max(float(size.sum()), 1.0)
                curves[place] = curves[place] + (step - shift)[cells]
                level += shift
        return level, [one.tolist() for one in curves], [one.tolist() for one in counts]

    def _counts(self, ask: Queryable) -> tuple[float, list[Floats]]:
        """Asks how many rows there are, and how many have each code of each column; they agree."""
        seen, scale = self._counting
        noisy = np.asarray(ask(seen >> noise_of(type(self.loss), scale)), dtype=np.float64)
        parts = np.split(noisy, np.cumsum([1, *self.kinds])[:-1])
        total, tables = merged_counts(parts[0], [part[None, :] for part in parts[1:]])
        return max(float(total[0]), 1.0), [table[0] for table in tables]

    @cached_property
    def _counting(self) -> tuple[Partial[Transformation], Fraction]:
        """What counts rows by codes, and the scale of the noise on these counts."""
        kinds = (*self.kinds, 2 if self.classes else 0)
        seen = gram(kinds, pairs=[(0, place) for place in range(len(self.kinds) + 1)], metric=self.norm)
        return seen, self._scale(seen, self.loss.scaled(COUNTING))

    def _scale(self, seen: Partial[Transformation], loss: Spendable) -> Fraction:
        return parameter_for(lambda scale: self.space >> seen >> noise_of(type(loss), scale), loss, self.d_in)

    @cached_property
    def _turn_scale(self) -> Fraction:
        """The scale of the noise on every sum of what is left over: one row moves all of them alike."""
        model = self._model(0.0, [np.zeros(kind) for kind in self.kinds])
        return self._scale(residual_sums(model, 0, metric=self.norm), self.turn)

    @cached_property
    def noise(self) -> float:
        """The deviation of what noise adds to the sums of one cell over all rounds, each times its step."""
        each = deviation_of(type(self.loss), self._turn_scale)
        return each * math.sqrt(self.rounds) * STEPS[type(self.loss)][1]

    def _groups(self, counts: Floats, rows: float, ordered: bool) -> np.ndarray[Any, Any]:  # noqa: FBT001
        """Which cell each code of a column counts in: neighbours are merged until they are worth their noise."""
        if not ordered:
            return np.arange(len(counts))
        worth = self.noise * math.sqrt(len(self.kinds)) / self.bend
        least, cells, held, cell = max(min(worth, rows / FEWEST), rows / MOST_BINS), [], 0.0, 0
        left = float(np.clip(counts, 0.0, None).sum())
        for count in np.clip(counts, 0.0, None):
            cells.append(cell)
            held, left = held + count, left - count
            if held >= least and left >= least:
                held, cell = 0.0, cell + 1
        return np.array(cells)

    def _step(self, left: Floats, size: Floats) -> Floats:
        """The step of each cell, shrunk where noise hides what it could be."""
        weight = self.bend * np.maximum(size, 1.0)
        kept = EXPECTED**2 / (EXPECTED**2 + (self.noise / weight) ** 2)
        return np.asarray(STEPS[type(self.loss)][1] * kept * np.clip(left / weight, -4.0, 4.0))

    def deviations(self, curve: Floats, counts: Floats, *, ordered: bool) -> Floats:
        """About how far noise moves each value of a curve: each round adds some, and undoes some of those before.

        Of classes, whose risk bends less than it could, none is taken to be undone. Noise on counts moves the middle.
        """
        cells = np.cumsum(np.concatenate([[False], np.diff(curve) != 0])) if ordered else np.arange(len(curve))
        size = np.bincount(cells, weights=np.clip(counts, 0.0, None))[cells]
        moved, part = self.noise / (self.bend * np.maximum(size, 1.0)), STEPS[type(self.loss)][1]
        kept = EXPECTED**2 / (EXPECTED**2 + moved**2)
        left = (1 - part * kept * (not self.classes)) ** 2
        inside = kept * moved * np.sqrt(sum(left**turn for turn in range(self.rounds)) / self.rounds)
        rows = max(float(np.clip(counts, 0.0, None).sum()), 1.0)
        middle = deviation_of(type(self.loss), self._counting[1]) * float(np.linalg.norm(curve)) / rows
        return np.asarray(np.hypot(inside, middle))

    def _model(self, level: float, curves: Sequence[Floats]) -> Additive:
        unit = 1 << SCORE_BITS
        scores = tuple(tuple(int(score) for score in np.rint(curve * unit)) for curve in curves)
        return Additive(round(level * unit), scores, self.classes)


class AdditiveModel(PrivateEstimator):
    """What classifiers and regressors by curves share: the fit, and the score of rows."""

    bins: Edges
    made_: tuple[Made, ...]
    intercept_: float
    curves_: dict[str, Floats]
    counts_: dict[str, Floats]
    deviations_: dict[str, Floats]
    """About how far the noise alone moves each value of each curve."""

    def _fit(self, source: Source, loss: Loss) -> Fit:
        target = self.target_
        if target is None or (isinstance(target, Category) and target.kind != 2):
            raise BadArgument("classes", "two: of more, ask for each against the rest", getattr(target, "values", None))
        made = tuple(binned(self.columns_, self.bins))
        self.made_ = tuple(Bins(one, ()) if isinstance(one, Number) else one for one in made)
        coded = source.chosen([*enumerate(self.made_), (len(made), target)])
        ways = [spendable(one, type(self).__name__) for one in ways_to_spend(loss)]
        measurement, plan = boosted(coded, ways, loss)
        return Fit(coded, measurement, lambda value: self._learn(value, plan))

    def _learn(self, value: tuple[float, list[list[float]], list[list[float]]], plan: Boosting) -> None:
        level, curves, counts = value
        self.intercept_ = float(level)
        named = [one.name for one in self.made_]
        self.curves_ = {name: np.array(part) for name, part in zip(named, curves, strict=True)}
        self.counts_ = {name: np.array(part) for name, part in zip(named, counts, strict=True)}
        self.deviations_ = {
            name: plan.deviations(self.curves_[name], self.counts_[name], ordered=ordered)
            for name, ordered in zip(named, plan.ordered, strict=True)
        }

    @property
    def _made(self) -> Sequence[Made]:
        return self.made_

    def _told(self) -> tuple[Table, ...]:
        reach = {name: float(np.ptp(curve)) for name, curve in self.curves_.items()}
        rows = tuple((name, f"{size:.3g}") for name, size in sorted(reach.items(), key=lambda one: -one[1]))
        return (Table(rows, ("column", "reach of its curve"), "What columns do", right=frozenset({1})),)

    def scores(self, X: object) -> Floats:  # noqa: N803  # scikit-learn's name
        """The level and what each column adds to it, for rows that nothing protects: one column each, the level first.

        What is missing, or has no code, adds nothing.
        """
        rows = self._encoded(X)
        parts = [np.full(len(rows), self.intercept_)]
        for made, values in zip(self.made_, rows.T, strict=True):
            known = (values >= 0) & ~np.isnan(values)
            parts.append(np.where(known, self.curves_[made.name][np.where(known, values, 0).astype(np.intp)], 0.0))
        return np.stack(parts, axis=1)


def boosted(source: Source, ways: Sequence[Spendable], loss: Loss) -> tuple[Measurement, Boosting]:
    """The measurement of an additive model on rows of codes and a target, and its plan, that with the least noise."""
    chain, kinds = source.rows(), tuple(column.kind for column in source.columns[:-1])
    ordered = tuple(isinstance(column, Bins) for column in source.columns[:-1])
    classes = isinstance(source.columns[-1], Category)
    d_in = chain.map(source.unit) if isinstance(chain, Transformation) else source.space.metric.read(source.unit)
    plans = [Boosting(source.space, kinds, ordered, classes, way, d_in) for way in ways]
    best = min(plans, key=lambda plan: plan.noise)
    made = chain >> best.measurement() if isinstance(chain, Transformation) else best.measurement()
    if not isinstance(loss, Approx) or made.measure is Approx:
        return made, best
    return convert_measure(made, Approx, delta=loss.delta if made.measure is ZCDP else None), best


@final
class ExplainableBoostingClassifier(ClassifierMixin, AdditiveModel):  # type: ignore[misc]
    """Two classes by curves that add up to the logarithm of the odds, boosted on noisy histograms.

    Every column has a curve: what each of its bins, or of its values, adds. Curves can be drawn and read; columns do
    not interact. Rows are looked at again and again, in rounds that are fixed before; all of it is one measurement
    (proofs/boosting.md#rounds). Many rounds cost nothing in ρ or with a δ, and much in pure ε.

    Takes:      ``between`` and ``categories`` of the columns and two ``classes`` (or from a codebook); ``bins``, a
                number of bins for all numbers or edges for some, which are merged where the noise would hide them
    Gives:      ``curves_``, ``deviations_`` by the noise and ``counts_`` by the names of columns, ``intercept_``,
                ``made_`` (the bins), ``release_``
    Guarantee:  that of composed noisy sums, Pure, ZCDP or (ε, δ)  (proofs/boosting.md#sums, #rounds)
    Cost:       some 20 passes over the rows for each column

    >>> import numpy as np
    >>> x = np.arange(0.0, 4000.0)[:, None] % 10
    >>> model = ExplainableBoostingClassifier(loss=ZCDP(10), between=(0, 10), classes=["low", "high"])
    >>> model.fit(x, np.where(x[:, 0] < 5, "low", "high")).predict([[2], [9]]).tolist()
    ['low', 'high']
    """

    takes: ClassVar[str] = "classes"

    classes_: np.ndarray[Any, Any]

    def __init__(
        self,
        *,
        loss: Loss | None = None,
        epsilon: AnyNumber | None = None,
        delta: AnyNumber | None = None,
        between: Between | None = None,
        categories: Categories | None = None,
        classes: Sequence[Hashable] | None = None,
        bins: Edges = MOST_BINS,
    ) -> None:
        self.loss, self.epsilon, self.delta = loss, epsilon, delta
        self.between, self.categories, self.classes, self.bins = between, categories, classes, bins

    def _fit(self, source: Source, loss: Loss) -> Fit:
        self.classes_ = np.array(getattr(self.target_, "values", ()))
        return super()._fit(source, loss)

    def decision_function(self, X: object) -> Floats:  # noqa: N803  # scikit-learn's name
        """The logarithm of the odds of the second class against the first, for rows that nothing protects."""
        return np.asarray(self.scores(X).sum(axis=1))

    def predict_proba(self, X: object) -> Floats:  # noqa: N803
        """The chance of each class, for rows that nothing protects."""
        odds = self.decision_function(X)
        return np.stack([1 / (1 + np.exp(odds)), 1 / (1 + np.exp(-odds))], axis=1)

    def predict(self, X: object) -> np.ndarray[Any, Any]:  # noqa: N803
        """The likelier class of rows, which nothing protects."""
        second = self.decision_function(X) > 0
        return np.asarray(self.classes_[second.astype(np.intp)])

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        return tags


@final
class ExplainableBoostingRegressor(RegressorMixin, AdditiveModel):  # type: ignore[misc]
    """A number by curves that add up to it, boosted on noisy histograms; see `ExplainableBoostingClassifier`.

    Takes:      ``between`` and ``categories`` of the columns, ``target_between`` of the target (or from a codebook);
                ``bins``, a number of bins for all numbers or edges for some
    Gives:      ``curves_``, ``counts_`` and ``intercept_`` as there, in scores: 1 is half of the target's bounds
    Guarantee:  that of composed noisy sums, Pure, ZCDP or (ε, δ)  (proofs/boosting.md#sums, #rounds)
    Cost:       some 20 passes over the rows for each column

    >>> import numpy as np
    >>> x = np.arange(0.0, 4000.0)[:, None] % 10
    >>> model = ExplainableBoostingRegressor(loss=ZCDP(100), between=(0, 10), target_between=(0, 100))
    >>> [round(float(one), -1) for one in model.fit(x, 10 * x[:, 0]).predict([[2], [9]])]
    [20.0, 90.0]
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
        bins: Edges = MOST_BINS,
    ) -> None:
        self.loss, self.epsilon, self.delta = loss, epsilon, delta
        self.between, self.categories, self.target_between, self.bins = between, categories, target_between, bins

    def predict(self, X: object) -> Floats:  # noqa: N803  # scikit-learn's name
        """The number of rows, within its bounds; nothing protects these rows."""
        scores = np.clip(self.scores(X).sum(axis=1), -1.0, 1.0)
        if not isinstance(self.target_, Number):
            raise TypeError(self.target_)
        return self.target_.decode(scores)
