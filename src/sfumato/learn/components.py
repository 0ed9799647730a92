"""Covariances and principal components, from one noisy matrix of second moments."""

from __future__ import annotations

import math
from typing import Any, ClassVar, final

import numpy as np
from sklearn.base import TransformerMixin
from sklearn.utils.validation import check_is_fitted

from sfumato.accounting.losses.measures import Loss
from sfumato.errors import BadArgument
from sfumato.exact import Number as AnyNumber
from sfumato.exact import integer
from sfumato.learn.columns import Between, Categories, Floats, numbers_alone
from sfumato.learn.estimator import PrivateEstimator
from sfumato.learn.moments import Moments
from sfumato.learn.sources import Fit, Source
from sfumato.release.render.document import Table


@final
class Covariance(PrivateEstimator):
    """The covariance matrix and the means of columns, with correlations; all of one matrix of noisy sums.

    The matrix is one that there can be: no direction has a negative variance.

    Takes:      ``between`` of the columns (or from a codebook)
    Gives:      ``covariance_``, ``correlation_`` and ``location_`` in the units of the data, ``deviation_`` of the
                noise on each covariance, ``release_``
    Guarantee:  that of noise on a Gram matrix (proofs/gram.md#blocks, proofs/query.md#gram)
    Cost:       one pass in the engine

    >>> import numpy as np
    >>> x = np.arange(4000.0) % 10
    >>> model = Covariance(epsilon=1000, between=(0, 20)).fit(np.column_stack([x, 2 * x]))
    >>> model.correlation_.round(2).tolist()
    [[1.0, 1.0], [1.0, 1.0]]
    """

    takes: ClassVar[str] = "nothing"

    covariance_: Floats
    correlation_: Floats
    location_: Floats
    deviation_: Floats

    def __init__(
        self,
        *,
        loss: Loss | None = None,
        epsilon: AnyNumber | None = None,
        delta: AnyNumber | None = None,
        between: Between | None = None,
        categories: Categories | None = None,
    ) -> None:
        self.loss, self.epsilon, self.delta = loss, epsilon, delta
        self.between, self.categories = between, categories

    def _fit(self, source: Source, loss: Loss) -> Fit:
        _units(self)
        return Moments.asked(source, loss, self._learn)

    def _learn(self, moments: Moments) -> None:
        sizes, middles = _units(self)
        self.location_ = middles + sizes * moments.means
        self.covariance_, self.deviation_ = covariance_of(moments, sizes)
        spread = np.sqrt(np.diag(self.covariance_))
        scaled = self.covariance_ / np.where(np.outer(spread, spread) > 0, np.outer(spread, spread), 1.0)
        self.correlation_ = np.where(np.eye(len(spread)) > 0, 1.0, np.clip(scaled, -1.0, 1.0))

    def _told(self) -> tuple[Table, ...]:
        names = tuple(column.name for column in self.columns_)
        rows = tuple(
            (name, *(f"{one:.3f}" for one in line)) for name, line in zip(names, self.correlation_, strict=True)
        )
        spread = np.sqrt(np.diag(self.covariance_))
        means = tuple((name, f"{m:.6g}", f"{s:.6g}") for name, m, s in zip(names, self.location_, spread, strict=True))
        right = frozenset(range(1, len(names) + 1))
        return (
            Table(means, ("column", "mean", "deviation"), right=frozenset({1, 2})),
            Table(rows, ("", *names), "Correlations", right=right),
        )


@final
class PCA(TransformerMixin, PrivateEstimator):  # type: ignore[misc]
    """Principal components of columns in their own units, from the same noisy sums as their covariance.

    Takes:      ``between`` of the columns (or from a codebook); ``n_components``: how many, or a share below 1 of the
                variance that they explain at least, or all if left out; ``whiten``, to scale what `transform` gives to
                a variance of 1 by what was released
    Gives:      ``components_`` (rows), ``explained_variance_``, ``explained_variance_ratio_``, ``mean_``,
                ``noise_variance_`` (the mean of what the other directions have), ``n_components_``,
                ``subspace_error_``: a bound, at about 95 %, on the sine of the angle between the subspace of the
                components and that of the same rows without noise (1 where nothing is known); ``release_``
    Guarantee:  that of noise on a Gram matrix (proofs/gram.md#blocks; the angle: proofs/gram.md#components)
    Cost:       one pass in the engine

    >>> import numpy as np
    >>> x = np.arange(4000.0) % 10
    >>> model = PCA(n_components=1, epsilon=1000, between=(0, 20)).fit(np.column_stack([x, 2 * x]))
    >>> np.abs(model.components_).round(2).tolist()
    [[0.45, 0.89]]
    """

    takes: ClassVar[str] = "nothing"

    components_: Floats
    explained_variance_: Floats
    explained_variance_ratio_: Floats
    mean_: Floats
    noise_variance_: float
    n_components_: int
    subspace_error_: float

    def __init__(
        self,
        n_components: float | None = None,
        *,
        whiten: bool = False,
        loss: Loss | None = None,
        epsilon: AnyNumber | None = None,
        delta: AnyNumber | None = None,
        between: Between | None = None,
        categories: Categories | None = None,
    ) -> None:
        self.n_components, self.whiten = n_components, whiten
        self.loss, self.epsilon, self.delta = loss, epsilon, delta
        self.between, self.categories = between, categories

    def _fit(self, source: Source, loss: Loss) -> Fit:
        columns = len(self.columns_)
        share = self.n_components if isinstance(self.n_components, float) and 0 < self.n_components < 1 else None
        wanted = columns
        if self.n_components is not None and share is None:
            wanted = integer(self.n_components, "n_components", least=1)
        if wanted > columns:
            raise BadArgument("n_components", f"at most {columns}, the number of columns", self.n_components)
        _units(self)
        return Moments.asked(source, loss, lambda moments: self._learn(moments, wanted, share))

    def _learn(self, moments: Moments, wanted: int, share: float | None) -> None:
        columns, (sizes, middles) = len(self.columns_), _units(self)
        covariance, deviation = covariance_of(moments, sizes)
        values, vectors = np.linalg.eigh(covariance)
        order = np.argsort(-values, kind="stable")
        values, vectors = np.clip(values[order], 0.0, None), vectors[:, order]
        total = float(values.sum())
        if share is not None:
            wanted = min(int(np.searchsorted(np.cumsum(values), share * total)) + 1, columns)
        signs = np.sign(vectors[np.argmax(np.abs(vectors), axis=0), np.arange(columns)])
        self.n_components_ = wanted
        self.components_ = np.asarray((vectors * np.where(signs == 0, 1.0, signs)).T[:wanted])
        self.explained_variance_ = values[:wanted]
        self.explained_variance_ratio_ = self.explained_variance_ / (total or 1.0)
        self.noise_variance_ = float(values[wanted:].mean()) if wanted < columns else 0.0
        self.mean_ = middles + sizes * moments.means
        self.subspace_error_ = angle(values, wanted, float(np.abs(deviation).max()))

    def get_covariance(self) -> Floats:
        """The covariance of the columns as the components tell it: what the others have is ``noise_variance_``."""
        check_is_fitted(self, "release_")
        more = np.clip(self.explained_variance_ - self.noise_variance_, 0.0, None)
        apart = self.noise_variance_ * np.eye(self.components_.shape[1])
        return np.asarray((self.components_.T * more) @ self.components_ + apart)

    @property
    def _scale(self) -> Floats:
        """What coordinates are divided by: the deviations of the components where these are to be white, else 1."""
        if not self.whiten:
            return np.ones(self.n_components_)
        return np.sqrt(np.where(self.explained_variance_ > 0, self.explained_variance_, 1.0))

    def _told(self) -> tuple[Table, ...]:
        names = tuple(column.name for column in self.columns_)
        rows = tuple(
            (f"{place + 1}", f"{share:.1%}", *(f"{one:.3f}" for one in line))
            for place, (share, line) in enumerate(zip(self.explained_variance_ratio_, self.components_, strict=True))
        )
        said = f"The sine of the angle that noise turned them by is at most about {self.subspace_error_:.2g}"
        return (Table(rows, ("component", "explains", *names), said, right=frozenset(range(1, len(names) + 2))),)

    def transform(self, X: object) -> Floats:  # noqa: N803  # scikit-learn's name
        """The coordinates of rows along the components; nothing protects these rows."""
        return np.asarray((self._in_units(X) - self.mean_) @ self.components_.T / self._scale)

    def inverse_transform(self, X: object) -> Floats:  # noqa: N803
        """Rows from their coordinates along the components."""
        return np.asarray(np.asarray(X, dtype=np.float64) * self._scale @ self.components_ + self.mean_)

    def get_feature_names_out(self, input_features: object = None) -> np.ndarray[Any, Any]:
        """The names of what `transform` gives: pca0, pca1 and so on."""
        return np.array([f"pca{place}" for place in range(self.n_components_)], dtype=object)

    def _in_units(self, X: object) -> Floats:  # noqa: N803
        sizes, middles = _units(self)
        return np.asarray(middles + sizes * self._coordinates(X)[:, 1:])


def _units(model: Covariance | PCA) -> tuple[Floats, Floats]:
    """What one unit of each scaled column is, and where its middle lies; refuses categories."""
    return numbers_alone(model.columns_, "covariance")


def covariance_of(moments: Moments, sizes: Floats) -> tuple[Floats, Floats]:
    """Covariances in the units of the data, and the deviation of the noise on each."""
    units = np.outer(sizes, sizes)
    values, vectors = np.linalg.eigh(moments.scatter / moments.rows)
    plausible = (vectors * np.clip(values, 0.0, None)) @ vectors.T
    return np.asarray(plausible * units), np.asarray(units * moments.deviation / moments.rows)


def angle(values: Floats, wanted: int, deviation: float) -> float:
    """A bound at about 95 % on the sine of the angle between subspaces (Davis and Kahan; proofs/gram.md#components)."""
    if wanted == len(values):
        return 0.0
    gap = float(values[wanted - 1] - values[wanted])
    moved = deviation * (2 * math.sqrt(len(values)) + 2.0)
    return min(2 * moved / gap, 1.0) if gap > 0 else 1.0
