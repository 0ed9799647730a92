"""Private transformers: columns by their noisy means and deviations, or by their noisy quantiles."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Sequence
from fractions import Fraction
from typing import Any, ClassVar, Literal, final

import numpy as np
from scipy.special import ndtr, ndtri
from sklearn.base import OneToOneFeatureMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from sfumato.accounting.losses.measures import Loss, Pure
from sfumato.combinators.analysis import analysis
from sfumato.combinators.interaction import adaptive_composition
from sfumato.core.domains import Floats as FloatAtoms
from sfumato.core.domains import Matrix, Vector
from sfumato.core.measurement import Measurement
from sfumato.core.partial import Partial
from sfumato.core.queryable import Queryable
from sfumato.core.transformation import Transformation
from sfumato.entropy import Entropy
from sfumato.errors import BadArgument
from sfumato.exact import Number as AnyNumber
from sfumato.exact import integer, positive
from sfumato.learn.columns import Between, Categories, Floats, Made, Number, Square, numbers_alone
from sfumato.learn.estimator import PrivateEstimator
from sfumato.learn.noising import least_noise, restated, ways_to_spend
from sfumato.learn.prepared import Prepared, prepared
from sfumato.learn.sources import Fit, Source
from sfumato.query.frame import Frame
from sfumato.query.nodes.catalog import column_named
from sfumato.query.nodes.expressions import Expression
from sfumato.query.nodes.literals import literal
from sfumato.query.nodes.operators import call
from sfumato.release.render.document import Table
from sfumato.stats.quantiles import quantiles
from sfumato.stats.shares import Spendable, spendable
from sfumato.transforms.rowwise import rowwise

MEANS, EXPECTED, SQUARES = 0.1, 0.16, 0.02
"""What is expected of columns in [−1, 1]: how much their means vary, their variance, and how much that varies."""

FURTHEST = 8.0
"""Normal scores stay within this many deviations: beyond it floats know no chance but 0 and 1."""


class PrivateScaler(OneToOneFeatureMixin, TransformerMixin, PrivateEstimator):  # type: ignore[misc]
    """What transformers of each column by itself share: rows in, as many columns out, and back."""

    def transform(self, X: object) -> Any:  # noqa: N803  # scikit-learn's name
        """Rows as scaled ones, which nothing protects; of a table of a session, a table for the next step."""
        if isinstance(X, Frame | Prepared):
            check_is_fitted(self, "release_")
            held = prepared(X, [column.name for column in self.columns_])
            fields = [column_named(name, held.frame.relation.fields, "this table") for name in held.features]
            return held.changed({one.name: self._expressed(place, one) for place, one in enumerate(fields)})
        half, middle = numbers_alone(self.columns_, "scale")
        values = middle + half * self._encoded(X)
        return np.stack([self._scaled(place, part) for place, part in enumerate(values.T)], axis=1)

    def inverse_transform(self, X: object) -> Floats:  # noqa: N803
        """The rows from scaled ones, as far as they lay within their bounds."""
        check_is_fitted(self, "release_")
        values = np.asarray(X, dtype=np.float64)
        if values.ndim != 2 or values.shape[1] != len(self.columns_):
            raise ValueError(f"X must have {len(self.columns_)} columns, as transform gives them")
        return np.stack([self._restored(place, part) for place, part in enumerate(values.T)], axis=1)

    @abstractmethod
    def _scaled(self, place: int, values: Floats) -> Floats:
        """Values of a column, within its bounds, as scaled ones; NaN where one is missing."""

    @abstractmethod
    def _restored(self, place: int, scaled: Floats) -> Floats:
        """Scaled values of a column as they were."""

    @abstractmethod
    def _expressed(self, place: int, value: Expression) -> Expression:
        """The scaled value as an expression of a table's column."""


@final
class StandardScaler(PrivateScaler):
    """Columns less their noisy mean, over their noisy deviation: of one vector of sums and of squares.

    With ``clip`` scaled values stay within as many deviations, so that the next step knows its bounds before: behind
    ``clip=4`` it takes ``between=(-4, 4)``. Tables carry their bounds on by themselves.

    Takes:      ``between`` of the columns (or from a codebook); ``with_mean``, ``with_std`` and ``clip``
    Gives:      ``mean_``, ``var_`` and ``scale_`` in the units of the data, ``n_samples_seen_`` (noisy), ``release_``
    Guarantee:  that of noise on sums of products (proofs/gram.md#blocks, #scaler, proofs/query.md#gram)
    Cost:       one pass in the engine

    >>> import numpy as np
    >>> scaler = StandardScaler(epsilon=10**6, between=(0, 20)).fit(np.arange(2000.0)[:, None] % 10)
    >>> scaler.mean_.round(2).tolist(), scaler.var_.round(2).tolist(), scaler.transform([[10]]).round(1).tolist()
    ([4.5], [8.25], [[1.9]])
    """

    takes: ClassVar[str] = "nothing"

    mean_: Floats
    var_: Floats
    scale_: Floats
    n_samples_seen_: float

    def __init__(
        self,
        *,
        loss: Loss | None = None,
        epsilon: AnyNumber | None = None,
        delta: AnyNumber | None = None,
        between: Between | None = None,
        categories: Categories | None = None,
        with_mean: bool = True,
        with_std: bool = True,
        clip: AnyNumber | None = None,
    ) -> None:
        self.loss, self.epsilon, self.delta = loss, epsilon, delta
        self.between, self.categories = between, categories
        self.with_mean, self.with_std, self.clip = with_mean, with_std, clip

    def _fit(self, source: Source, loss: Loss) -> Fit:
        numbers_alone(self.columns_, "mean")
        if self.clip is not None:
            positive(self.clip, "clip")
        wanted: list[tuple[int, Made]] = list(enumerate(self.columns_))
        wanted += [(place, Square(one)) for place, one in enumerate(self.columns_) if isinstance(one, Number)]
        both = source.chosen(wanted)
        pairs = [(0, place) for place in range(len(wanted) + 1)]
        sums = least_noise(lambda norm: both.gram(norm, pairs=pairs), loss, source.unit)
        return Fit(both, sums.measurement, lambda value: self._learn(value, sums.deviation))

    def _learn(self, value: Sequence[float], deviation: float) -> None:
        total, sums, squares = np.split(np.asarray(value, dtype=np.float64), [1, 1 + len(self.columns_)])
        half, middle = numbers_alone(self.columns_, "mean")
        rows, mean, variance = centred_moments(float(total[0]), sums, squares, deviation)
        self.n_samples_seen_ = rows
        self.mean_, self.var_ = middle + half * mean, half**2 * variance
        self.scale_ = np.sqrt(self.var_) if self.with_std else np.ones(len(half))

    def _scaled(self, place: int, values: Floats) -> Floats:
        scaled = (values - (self.mean_[place] if self.with_mean else 0.0)) / self.scale_[place]
        return np.asarray(scaled if self.clip is None else np.clip(scaled, -float(self.clip), float(self.clip)))

    def _restored(self, place: int, scaled: Floats) -> Floats:
        return np.asarray(scaled * self.scale_[place] + (self.mean_[place] if self.with_mean else 0.0))

    def _expressed(self, place: int, value: Expression) -> Expression:
        column = self.columns_[place]
        if not isinstance(column, Number):
            raise TypeError(column)
        less = literal(float(self.mean_[place]) if self.with_mean else 0.0)
        made = call("div", call("sub", column.entry_of(value).inside(), less), literal(float(self.scale_[place])))
        return made if self.clip is None else call("clamp", made, literal(-float(self.clip)), literal(float(self.clip)))

    def _told(self) -> tuple[Table, ...]:
        known = zip(self.columns_, self.mean_, np.sqrt(self.var_), strict=True)
        rows = tuple((one.name, f"{mean:.4g}", f"{deviation:.3g}") for one, mean, deviation in known)
        return (Table(rows, ("column", "mean", "deviation"), "What columns are scaled by", right=frozenset({1, 2})),)


def centred_moments(total: float, sums: Floats, squares: Floats, deviation: float) -> tuple[float, Floats, Floats]:
    """The number of rows, means and variances in [−1, 1] from noisy sums of 1, s and 2s² − 1 (proofs/gram.md#scaler).

    All are where they can be: at least one row, means within the bounds, variances of no less than their noise. What
    noise hides is shrunk to what is expected of columns: the middle, and a deviation of about 0.4.
    """
    rows = max(total, 1.0)
    noise = min(deviation / rows, 1e9) ** 2
    mean = np.clip(sums / rows, -1.0, 1.0) * (MEANS / (MEANS + noise))
    seen = (squares / rows + 1) / 2 - mean**2 + min(noise, MEANS)
    variance = (SQUARES * np.clip(seen, 0.0, 1.0) + noise * EXPECTED) / (SQUARES + noise)
    most, least = 1 - mean**2, max(min(noise**0.5, EXPECTED), 1e-12)
    return rows, mean, np.asarray(np.clip(variance, least, np.maximum(most, least)))


@final
class QuantileTransformer(PrivateScaler):
    """Columns by where values stand among all rows: from 0 to 1, or as normal scores; by noisy quantiles.

    The loss is shared by the columns. Between quantiles, and out to the bounds, it goes in straight lines; values never
    leave their order, and what is given is finite whatever the rows are.

    Takes:      ``between`` of the columns (or from a codebook); ``n_quantiles`` of each, evenly spread;
                ``output_distribution``, "uniform" or "normal"
    Gives:      ``quantiles_`` in the units of the data, a column for each, with the bounds at both ends, and
                ``references_``, where they stand; ``release_``
    Guarantee:  that of composed quantiles, Pure, ZCDP or (ε, δ)  (proofs/joint_quantiles.md#loss,
                proofs/recursive_quantiles.md#rows, proofs/interaction.md#strategies)
    Cost:       a sort and some passes for each column; of tables, under the permit

    >>> import numpy as np
    >>> scaler = QuantileTransformer(n_quantiles=9, epsilon=10**4, between=(0, 100))
    >>> scaler.fit(np.arange(4001.0)[:, None] / 100).transform([[20.0], [200.0]]).round(2).tolist()
    [[0.5], [1.0]]
    """

    takes: ClassVar[str] = "nothing"

    quantiles_: Floats
    references_: Floats

    def __init__(
        self,
        n_quantiles: int = 31,
        *,
        output_distribution: Literal["uniform", "normal"] = "uniform",
        loss: Loss | None = None,
        epsilon: AnyNumber | None = None,
        delta: AnyNumber | None = None,
        between: Between | None = None,
        categories: Categories | None = None,
    ) -> None:
        self.n_quantiles, self.output_distribution = n_quantiles, output_distribution
        self.loss, self.epsilon, self.delta = loss, epsilon, delta
        self.between, self.categories = between, categories

    def _fit(self, source: Source, loss: Loss) -> Fit:
        numbers_alone(self.columns_, "quantiles")
        if self.output_distribution not in ("uniform", "normal"):
            raise BadArgument("output_distribution", '"uniform" or "normal"', self.output_distribution)
        many = integer(self.n_quantiles, "n_quantiles", least=1, most=10_000)
        self.references_ = np.linspace(0.0, 1.0, many + 2)
        ways = [spendable(one, "QuantileTransformer") for one in ways_to_spend(loss)]
        way = min(ways, key=lambda one: _heat(one, len(self.columns_) * many))
        return Fit(source, restated(ranked(source, many, way), loss), self._learn)

    def _learn(self, value: Sequence[Sequence[float]]) -> None:
        half, middle = numbers_alone(self.columns_, "quantiles")
        inner = np.array(value, dtype=np.float64).reshape(len(half), -1).T
        ends = np.ones((1, len(half)))
        self.quantiles_ = middle + half * np.concatenate([-ends, inner, ends])

    def _scaled(self, place: int, values: Floats) -> Floats:
        edges = self.quantiles_[:, place]
        low = np.interp(values, edges, self.references_)
        high = 1 - np.interp(-values, -edges[::-1], self.references_)  # of a constant, the middle between both ends
        share = np.asarray((low + high) / 2)
        return share if self.output_distribution == "uniform" else np.clip(ndtri(share), -FURTHEST, FURTHEST)

    def _restored(self, place: int, scaled: Floats) -> Floats:
        share = np.clip(scaled, 0.0, 1.0) if self.output_distribution == "uniform" else ndtr(scaled)
        return np.asarray(np.interp(share, self.references_, self.quantiles_[:, place]))

    def _expressed(self, place: int, value: Expression) -> Expression:
        must = "the last step that reads a table: an engine works out sums and products of columns, no ranks"
        raise BadArgument("QuantileTransformer in a pipeline", must, "a table to transform")


def ranked(source: Source, many: int, loss: Spendable) -> Measurement:
    """Evenly spread quantiles of every column of a source, in [−1, 1], as one measurement; each column has its part."""
    chain, columns = source.rows(), len(source.columns)
    d_in = chain.map(source.unit) if isinstance(chain, Transformation) else source.space.metric.read(source.unit)
    each, levels = loss.scaled(1 / Fraction(columns)), [Fraction(place, many + 1) for place in range(1, many + 1)]

    def run(ask: Queryable, entropy: Entropy) -> list[list[float]]:
        asked = quantiles(levels, loss=each, d_in=d_in, between=(-1, 1))
        return [[float(one) for one in ask(_column(place) >> asked)] for place in range(columns)]

    slices = source.space >> adaptive_composition([each] * columns, d_in=d_in)
    made = analysis(slices, run, name=f"{many} quantiles of {columns} columns")
    return chain >> made if isinstance(chain, Transformation) else made


def _column(place: int) -> Partial[Transformation]:
    """One column of a matrix of floats: of each row its entry (proofs/rowwise.md#map)."""

    def build(space: Any) -> Transformation:
        if not isinstance(space.domain, Matrix):
            raise TypeError(space)
        target = Vector(FloatAtoms(), space.domain.size, space.domain.least)
        return rowwise(space, target, lambda rows: np.asarray(rows)[:, place], f"column {place + 1}")

    return Partial(f"column {place + 1}", build)


def _heat(loss: Spendable, choices: int) -> float:
    """About how far quantiles are off in ranks: with ε by its part for each, with ρ by the root of it."""
    return choices / float(loss.epsilon) if isinstance(loss, Pure) else math.sqrt(choices / (2 * float(loss.rho)))
