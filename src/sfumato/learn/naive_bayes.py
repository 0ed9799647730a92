"""Naive Bayes from noisy sums by class: counts of values, and sums of numbers and of their squares."""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from typing import Any, ClassVar, final

import numpy as np
from sklearn.base import ClassifierMixin

from sfumato.accounting.losses.measures import Loss
from sfumato.errors import BadArgument
from sfumato.exact import Number as AnyNumber
from sfumato.exact import rational
from sfumato.learn.columns import (
    LARGEST,
    Between,
    Bins,
    Categories,
    Category,
    Column,
    Edges,
    Floats,
    Made,
    Number,
    Square,
    binned,
)
from sfumato.learn.estimator import PrivateEstimator
from sfumato.learn.noising import least_noise
from sfumato.learn.sources import Fit, Source
from sfumato.release.render.document import Table

FLOOR = 1e-6
"""The least variance of a number that is scaled to [−1, 1]; public (spec P2-105)."""


@final
class NaiveBayes(ClassifierMixin, PrivateEstimator):  # type: ignore[misc]
    """Classes by what each column alone says of them, from sums by class that are added up once.

    A category, or a number with ``bins``, counts how often each class has each value; other numbers are taken to be
    normal within each class, with a mean and a variance of their own. A row is in one class only, so noise on all sums
    of one class costs as much as noise on those of all (proofs/gram.md#blocks). What the noise hides is shrunk to what
    classes have in common: post-processing (proofs/gram.md#bayes).

    Takes:      ``between`` and ``categories`` of the columns and ``classes`` (or from a codebook); ``bins``, a number
                of bins for all numbers or edges for some; ``smoothing``, what a count has before there is a row
    Gives:      ``classes_``, ``class_prior_``, ``class_count_``; of numbers ``theta_`` and ``var_``, in the units of
                the data, by class and column (NaN for others); of counted columns ``probabilities_``; ``release_``
    Guarantee:  that of noise on sums of products with the class (proofs/gram.md#blocks, proofs/query.md#gram)
    Cost:       one pass in the engine

    >>> import numpy as np
    >>> x = np.repeat([[1.0, 2.0], [7.0, 8.0]], 500, axis=0)
    >>> model = NaiveBayes(epsilon=100, between=(0, 10), classes=["a", "b"]).fit(x, np.repeat(["a", "b"], 500))
    >>> model.predict([[1, 3], [6, 9]]).tolist(), model.release_.loss
    (['a', 'b'], Pure(epsilon=100.0))
    """

    takes: ClassVar[str] = "classes"

    classes_: np.ndarray[Any, Any]
    class_count_: Floats
    class_prior_: Floats
    theta_: Floats
    var_: Floats
    probabilities_: dict[str, Floats]
    made_: tuple[Column | Bins, ...]

    def __init__(
        self,
        *,
        loss: Loss | None = None,
        epsilon: AnyNumber | None = None,
        delta: AnyNumber | None = None,
        between: Between | None = None,
        categories: Categories | None = None,
        classes: Sequence[Hashable] | None = None,
        bins: Edges | None = None,
        smoothing: float = 1.0,
    ) -> None:
        self.loss, self.epsilon, self.delta = loss, epsilon, delta
        self.between, self.categories, self.classes = between, categories, classes
        self.bins, self.smoothing = bins, smoothing

    def _fit(self, source: Source, loss: Loss) -> Fit:
        if not 0 < rational(self.smoothing, "smoothing") <= LARGEST:
            raise BadArgument("smoothing", "a positive number, of at most 1e150", self.smoothing)
        target, self.made_ = self.target_, tuple(binned(self.columns_, self.bins))
        if not isinstance(target, Category):
            raise TypeError(target)
        wanted: list[tuple[int, Made]] = []
        for place, column in enumerate(self.made_):
            wanted += [(place, column), (place, Square(column))] if isinstance(column, Number) else [(place, column)]
        by_class = source.chosen([*wanted, (len(self.made_), target)])
        last = len(wanted) + 1
        pairs = [(place, last) for place in range(last)]
        count = len(target.values)
        sums = least_noise(lambda norm: by_class.gram(norm, pairs=pairs), loss, source.unit, pieces=count)
        self.classes_ = np.array(target.values)
        return Fit(by_class, sums.measurement, lambda value: self._learn(value, sums.deviation))

    @property
    def _made(self) -> Sequence[Made]:
        return self.made_

    def _learn(self, value: Sequence[float], deviation: float) -> None:
        """Makes the model of noisy sums: of each, one for every class."""
        table = np.asarray(value, dtype=np.float64).reshape(-1, len(self.classes_)).T
        sizes = [2 if isinstance(column, Number) else column.kind for column in self.made_]
        counts, *parts = np.split(table, np.cumsum([1, *sizes])[:-1], axis=1)
        counted = [place for place, column in enumerate(self.made_) if not isinstance(column, Number)]
        total, tables = merged_counts(counts[:, 0], [parts[place] for place in counted])
        self.class_count_, alpha = np.clip(total, 0.0, None), float(self.smoothing)
        self.class_prior_ = smoothed(total, alpha + deviation)
        self.probabilities_ = {
            self.made_[place].name: shares_by_class(total, table, deviation, alpha)
            for place, table in zip(counted, tables, strict=True)
        }
        means, variances = np.full((2, len(total), len(parts)), np.nan)
        numbers = [place for place in range(len(parts)) if place not in counted]
        if numbers:
            sums, squares = np.stack([parts[place] for place in numbers], axis=2).transpose(1, 0, 2)
            means[:, numbers], variances[:, numbers] = normal_by_class(total, sums, squares, deviation)
        self.theta_, self.var_ = means * self._half + self._middle, variances * self._half**2

    @property
    def _half(self) -> Floats:
        return np.array([column.half if isinstance(column, Number) else 1.0 for column in self.columns_])

    @property
    def _middle(self) -> Floats:
        return np.array([column.middle if isinstance(column, Number) else 0.0 for column in self.columns_])

    def _told(self) -> tuple[Table, ...]:
        rows = tuple((str(one), f"{share:.3g}") for one, share in zip(self.classes_, self.class_prior_, strict=True))
        return (Table(rows, ("class", "share"), "Shares of the classes", right=frozenset({1})),)

    def predict_joint_log_proba(self, X: object) -> Floats:  # noqa: N803  # scikit-learn's name
        """The logarithm of the chance of each class times that of the row in it, columns apart; in scaled numbers.

        What is missing, and a value that is none of a category's, says nothing of the class.
        """
        rows = self._encoded(X)
        said = np.tile(np.log(self.class_prior_), (len(rows), 1))
        means, variances = (self.theta_ - self._middle) / self._half, self.var_ / self._half**2
        for place, (made, values) in enumerate(zip(self.made_, rows.T, strict=True)):
            if isinstance(made, Number):
                density = log_density(values[:, None], means[:, place], variances[:, place])
                said += np.where(np.isnan(density), 0.0, density)
            else:
                known = (values >= 0) & ~np.isnan(values)
                codes = np.where(known, values, 0).astype(np.intp)
                said += np.where(known, np.log(self.probabilities_[made.name][:, codes]), 0.0).T
        return np.asarray(said)

    def predict_log_proba(self, X: object) -> Floats:  # noqa: N803
        """The logarithm of the chance of each class, for rows that nothing protects."""
        joint = self.predict_joint_log_proba(X)
        return np.asarray(joint - np.logaddexp.reduce(joint, axis=1, keepdims=True))

    def predict_proba(self, X: object) -> Floats:  # noqa: N803
        """The chance of each class, for rows that nothing protects."""
        return np.asarray(np.exp(self.predict_log_proba(X)))

    def predict(self, X: object) -> np.ndarray[Any, Any]:  # noqa: N803
        """The likeliest class of rows, which nothing protects."""
        likeliest = self.predict_joint_log_proba(X).argmax(axis=1)
        return np.asarray(self.classes_[likeliest])


def merged_counts(counts: Floats, tables: Sequence[Floats]) -> tuple[Floats, list[Floats]]:
    """Counts of classes, and tables of classes by values, that agree: the least squares fit (spec P2-103, P2-014).

    The sum of k cells has k times the variance of one; what is missing to the common count is shared out equally.
    """
    weights = [1.0, *(1.0 / table.shape[1] for table in tables)]
    seen = [counts, *(table.sum(axis=1) for table in tables)]
    total = sum((weight * one for weight, one in zip(weights, seen, strict=True)), np.zeros(len(counts))) / sum(weights)
    return total, [table + ((total - table.sum(axis=1)) / table.shape[1])[:, None] for table in tables]


def smoothed(counts: Floats, smoothing: float) -> Floats:
    """Shares of counts in the last direction: negative ones are 0, and each has something before there is a row."""
    kept = np.clip(counts, 0.0, None) + smoothing
    return np.asarray(kept / kept.sum(axis=-1, keepdims=True))


def shares_by_class(counts: Floats, table: Floats, noise: float, smoothing: float) -> Floats:
    """Shares of values by class (rows), pulled to those that all classes have in common as means are."""
    sizes = np.maximum(counts, 1.0)[:, None]
    kept = pulled(np.clip(table / sizes, -1.0, 1.0), noise / sizes, sizes / sizes.sum())
    return smoothed(kept * sizes, smoothing)


def normal_by_class(counts: Floats, sums: Floats, squares: Floats, noise: float) -> tuple[Floats, Floats]:
    """Means and variances of scaled numbers by class (rows) and column, from sums of s and of 2s² − 1.

    Each is pulled to what all classes have in common as far as noise of this deviation could make the difference
    (proofs/gram.md#bayes); a variance also holds what is not known of its mean.
    """
    sizes = np.maximum(counts, 1.0)[:, None]
    share = sizes / sizes.sum()
    means, error = np.clip(sums / sizes, -1.0, 1.0), noise / sizes
    kept = pulled(means, error, share)
    spread = np.clip((squares / sizes + 1.0) / 2.0, 0.0, 1.0) - means**2 + np.minimum(error**2, 1.0)
    doubt = error * np.sqrt(0.25 + 4.0 * means**2)
    likely = pulled(spread, doubt, share)
    unsure = np.sqrt((share**2 * doubt**2).sum(axis=0))
    variances = np.clip(likely, 0.0, 1.0) + np.minimum(unsure, 1.0)
    return kept, np.maximum(variances, FLOOR)


def pulled(values: Floats, error: Floats, share: Floats) -> Floats:
    """Values by class pulled to their mean, the more the less they differ beyond their errors."""
    centre = (share * values).sum(axis=0)
    apart = (share * ((values - centre) ** 2 - error**2)).sum(axis=0)
    between = np.clip(apart, 0.0, None)
    return np.asarray(centre + between / (between + error**2 + 1e-300) * (values - centre))


def log_density(values: Floats, means: Floats, variances: Floats) -> Floats:
    """The logarithm of the normal density (spec P2-105, with E2-39 put right)."""
    return np.asarray(-0.5 * (np.log(2 * math.pi * variances) + (values - means) ** 2 / variances))
