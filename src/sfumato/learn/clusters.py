"""Clusters of rows, by rounds of noisy sizes and sums."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, ClassVar, final

import numpy as np
from sklearn.base import TransformerMixin
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted

from sfumato.accounting.losses.measures import Loss, Pure
from sfumato.accounting.losses.stated import needed_loss
from sfumato.core.measurement import Measurement
from sfumato.core.transformation import Transformation
from sfumato.entropy import Entropy
from sfumato.errors import BadArgument
from sfumato.exact import Number as AnyNumber
from sfumato.exact import integer
from sfumato.learn.columns import Between, Categories, Floats, Number, numbers_alone
from sfumato.learn.estimator import PrivateEstimator
from sfumato.learn.noising import restated, ways_to_spend
from sfumato.learn.prepared import Prepared
from sfumato.learn.scoring import Score, inertia_of
from sfumato.learn.sources import Asked, Fit, Held, Source, columns_of
from sfumato.query.frame import Frame
from sfumato.release.render.document import Table
from sfumato.stats.clustering import Clustering, k_means
from sfumato.stats.shares import Spendable, spendable
from sfumato.transforms.rowwise import clamp

ROUNDS = 2
"""More rounds have more noise each: two were best at every ε that was tried."""

MOST = 10_000
"""So many clusters, or rounds, may be asked for."""


@final
class KMeans(TransformerMixin, PrivateEstimator):  # type: ignore[misc]
    """Clusters by k-means: in each of a few rounds, the noisy size and sum of the rows around every centre.

    Distances are those of columns scaled by their bounds to [−1, 1], so that none counts more for its unit. There is no
    ``labels_``: which cluster a row of the fit is in would be an exact statement about it. `predict` tells of rows that
    you hold, and nothing protects those.

    Takes:      ``n_clusters``; ``between`` of the columns (or from a codebook); ``max_iter``, the number of rounds,
                which share the loss; ``init``, public centres to start from in the units of the data, if any are known
    Gives:      ``cluster_centers_`` in the units of the data; ``counts_``, the noisy number of rows around each before
                it moved last; ``n_iter_``; ``release_``
    Guarantee:  that of composed noisy sums, Pure, ZCDP or (ε, δ)  (proofs/k_means.md#totals, #rounds)
    Cost:       a pass over the rows for each round, centre and column; of tables, under the permit

    >>> import numpy as np
    >>> x = np.repeat([[1.0, 2.0], [9.0, 8.0]], 500, axis=0)
    >>> model = KMeans(2, epsilon=100, between=(0, 10)).fit(x)
    >>> sorted(model.cluster_centers_.round().tolist()), model.release_.loss
    ([[1.0, 2.0], [9.0, 8.0]], Pure(epsilon=100.0))
    """

    takes: ClassVar[str] = "nothing"

    cluster_centers_: Floats
    counts_: Floats
    n_iter_: int

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        loss: Loss | None = None,
        epsilon: AnyNumber | None = None,
        delta: AnyNumber | None = None,
        between: Between | None = None,
        categories: Categories | None = None,
        init: Sequence[Sequence[AnyNumber]] | None = None,
        max_iter: int = ROUNDS,
    ) -> None:
        self.n_clusters, self.init, self.max_iter = n_clusters, init, max_iter
        self.loss, self.epsilon, self.delta = loss, epsilon, delta
        self.between, self.categories = between, categories

    def _fit(self, source: Source, loss: Loss) -> Fit:
        numbers_alone(self.columns_, "clusters")
        integer(self.n_clusters, "n_clusters", least=1, most=MOST)
        integer(self.max_iter, "max_iter", least=1, most=MOST)
        ways = [spendable(one, "KMeans") for one in ways_to_spend(loss)]
        way = min(ways, key=lambda one: _spread(one, len(self.columns_), self.max_iter))
        return Fit(source, restated(self._measurement(source, way), loss), self._learn)

    def _measurement(self, source: Source, way: Spendable) -> Measurement:
        """All rounds, on scaled rows: those of a table after they were read under the permit."""
        chain, starts = source.rows(), None
        if self.init is not None:
            starts = self._scaled(self._starts()).tolist()
        read = isinstance(chain, Transformation)
        d_in = chain.map(source.unit) if isinstance(chain, Transformation) else source.space.metric.read(source.unit)
        rounds = k_means(self.n_clusters, loss=way, rounds=self.max_iter, starts=starts, d_in=d_in)
        made = (source.space >> clamp(-1, 1) >> rounds).then(_plain, name="centres and sizes")
        return chain >> made if read else made

    def _starts(self) -> Floats:
        """Where clusters begin, in the units of the data; refuses what is no place of each."""
        try:
            given = np.asarray(self.init, dtype=np.float64)
        except (TypeError, ValueError, OverflowError):
            given = np.empty(0)
        if given.shape != (self.n_clusters, len(self.columns_)) or not np.isfinite(given).all():
            must = f"{self.n_clusters} public places of {len(self.columns_)} numbers each, or left out"
            raise BadArgument("init", must, type(self.init).__name__)
        return given

    def _learn(self, value: tuple[list[list[float]], list[float]]) -> None:
        centres, sizes = (np.array(part, dtype=np.float64) for part in value)
        half, middle = numbers_alone(self.columns_, "clusters")
        ends = [(float(one.lower), float(one.upper)) for one in self.columns_ if isinstance(one, Number)]
        self.cluster_centers_, self.counts_ = np.clip(middle + half * centres, *np.array(ends).T), sizes
        self.n_iter_ = integer(self.max_iter, "max_iter", least=1)

    def _scaled(self, centres: Floats) -> Floats:
        half, middle = numbers_alone(self.columns_, "clusters")
        if centres.ndim != 2 or centres.shape[1] != len(half) or not np.isfinite(centres).all():
            raise BadArgument("init", f"{self.n_clusters} rows of {len(half)} numbers", self.init)
        return np.clip((centres - middle) / half, -1.0, 1.0)

    def _squares(self, rows: Floats) -> Floats:
        """Squared distances of scaled rows from each centre: entry by entry, so that no row changes another's."""
        squares = np.zeros((len(rows), len(self.cluster_centers_)))
        for column, places in zip(rows.T, self._scaled(self.cluster_centers_).T, strict=True):
            squares += (column[:, None] - places) ** 2
        return squares

    def transform(self, X: object) -> Floats:  # noqa: N803  # scikit-learn's name
        """The distances of rows from each centre, in scaled columns; nothing protects these rows."""
        return np.sqrt(self._squares(self._coordinates(X)[:, 1:]))

    def predict(self, X: object) -> np.ndarray[Any, Any]:  # noqa: N803
        """The place of the nearest centre for rows, which nothing protects."""
        return np.asarray(np.argmin(self._squares(self._coordinates(X)[:, 1:]), axis=1))

    def score(self, X: object, y: object = None) -> float:  # noqa: N803
        """Minus the sum of squared distances from the nearest centres, of rows that nothing protects: not private."""
        return -float(self._squares(self._coordinates(X)[:, 1:]).min(axis=1).sum())

    def private_score(
        self,
        X: object,  # noqa: N803
        y: object = None,
        *,
        loss: Loss | None = None,
        epsilon: AnyNumber | None = None,
        delta: AnyNumber | None = None,
        max_rows: int | None = None,
        key: str | None = None,
        entropy: Entropy | None = None,
    ) -> Score:
        """Minus the sum of squared distances as `score` adds them up, with noise: of rows that must be protected.

        Of a table of a session, which is charged, the columns that the model was fitted on count; or of arrays.
        """
        check_is_fitted(self, "release_")
        paid = needed_loss(loss, epsilon, delta)
        source: Source
        if isinstance(X, Frame | Prepared):
            frame = X.frame if isinstance(X, Prepared) else X
            source = Asked(
                self.columns_, frame, None if max_rows is None else integer(max_rows, "max_rows", least=1), key
            )
        else:
            names, values = columns_of(X)
            if len(names) != len(self.columns_):
                raise BadArgument("X", f"{len(self.columns_)} columns", f"{len(names)} columns")
            source = Held(self.columns_, tuple(values), entropy)
        return inertia_of(source, lambda rows: self._squares(rows).min(axis=1), self._farthest, paid)

    @property
    def _farthest(self) -> float:
        """The most that a scaled row's squared distance can be: that of the corner farthest from some centre."""
        return float(((1 + np.abs(self._scaled(self.cluster_centers_))) ** 2).sum(axis=1).min())

    def get_feature_names_out(self, input_features: object = None) -> np.ndarray[Any, Any]:
        """The names of what `transform` gives: kmeans0, kmeans1 and so on."""
        return np.array([f"kmeans{place}" for place in range(len(self.cluster_centers_))], dtype=object)

    def _told(self) -> tuple[Table, ...]:
        rows = tuple(
            (", ".join(f"{one:.4g}" for one in centre), f"{size:.0f}")
            for centre, size in zip(self.cluster_centers_, self.counts_, strict=True)
        )
        return (Table(rows, ("centre", "rows"), "Centres, and noisy sizes", right=frozenset({1})),)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.estimator_type = "clusterer"
        return tags


def _plain(clustering: Clustering) -> tuple[list[list[float]], list[float]]:
    return [list(centre) for centre in clustering.centroids], list(clustering.sizes)


def _spread(loss: Spendable, columns: int, rounds: int) -> float:
    """The deviation of the noise on each sum of a round, for a row whose entries are at most 1 (proofs/k_means.md)."""
    if isinstance(loss, Pure):
        return math.sqrt((columns + 2) * (columns + 3) / 3) * rounds / float(loss.epsilon)
    weight = math.sqrt(columns) / (3 * columns) ** 0.25
    return math.sqrt((weight**2 + columns) * rounds / (2 * float(loss.rho)))
