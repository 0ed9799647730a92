"""What can be asked about the values of many rows. Each gives a number, or list, released for each group."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from functools import partial
from typing import Self

from sfumato.exact import Number, integer, probability
from sfumato.query.build.question import check_edges
from sfumato.query.nodes.expressions import Expression
from sfumato.query.nodes.questions import (
    Count,
    CountDistinct,
    Covariance,
    Deviation,
    Histogram,
    Item,
    Kurtosis,
    Mean,
    Quantile,
    Skewness,
    Statistic,
    Sum,
    TopValues,
    Variance,
)
from sfumato.query.nodes.relations import Fold


class Aggregates(ABC):
    """A value for each row, from which statistics are made; with ``where``, of rows for which that is true.

    Sums, means and other moments need values between public bounds: those of the codebook, or of `Values.clip` before.
    """

    @abstractmethod
    def aggregated(
        self,
        name: str,
        build: Callable[..., Statistic],
        *others: Self,
        where: Self | None = None,
        fold: Fold | None = None,
    ) -> Self:
        """Builds a statistic of this value and others; ``fold`` makes it of one unit's rows, where that can be."""

    def count(self, *, where: Self | None = None) -> Self:
        """Counts the values that are not missing."""
        return self.aggregated("count", Count, where=where, fold=Fold.COUNT)

    def n_unique(self, *others: Self, where: Self | None = None) -> Self:
        """Counts the different values; with others, combinations; of the column that identifies units, the units."""
        fold = None if others else Fold.DISTINCT
        return self.aggregated("n_unique", _combinations, *others, where=where, fold=fold)

    def sum(self, *, where: Self | None = None) -> Self:
        """Adds numbers up."""
        return self.aggregated("sum", Sum, where=where, fold=Fold.SUM)

    def mean(self, *, where: Self | None = None) -> Self:
        """Averages numbers."""
        return self.aggregated("mean", Mean, where=where, fold=Fold.MEAN)

    def var(self, *, sample: bool = True, where: Self | None = None) -> Self:
        """The variance: of a sample (over n − 1), or else of all there are (over n)."""
        return self.aggregated("var", partial(Variance, sample=sample), where=where)

    def std(self, *, sample: bool = True, where: Self | None = None) -> Self:
        """The root of the variance."""
        return self.aggregated("std", partial(Variance, sample=sample, root=True), where=where)

    def skewness(self, *, sample: bool = True, where: Self | None = None) -> Self:
        """How much further numbers reach above their average than below it."""
        return self.aggregated("skewness", partial(Skewness, sample=sample), where=where)

    def kurtosis(self, *, sample: bool = True, where: Self | None = None) -> Self:
        """How heavy the tails are, above those of the normal distribution."""
        return self.aggregated("kurtosis", partial(Kurtosis, sample=sample), where=where)

    def covariance(self, other: Self, *, sample: bool = True, where: Self | None = None) -> Self:
        """The covariance with another number, over the rows that have both."""
        return self.aggregated("covariance", partial(Covariance, sample=sample), other, where=where)

    def correlation(self, other: Self, *, where: Self | None = None) -> Self:
        """The correlation with another number, over the rows that have both."""
        return self.aggregated("correlation", partial(Covariance, scaled=True), other, where=where)

    def min(self, *, where: Self | None = None) -> Self:
        """About the least number: the quantile at 0."""
        return self.aggregated("min", _quantile(0), where=where, fold=Fold.MIN)

    def max(self, *, where: Self | None = None) -> Self:
        """About the greatest number: the quantile at 1."""
        return self.aggregated("max", _quantile(1), where=where, fold=Fold.MAX)

    def median(self, *, where: Self | None = None) -> Self:
        """A number that about half of the numbers lie below."""
        return self.aggregated("median", _quantile("1/2"), where=where)

    def median_absolute_deviation(self, *, where: Self | None = None) -> Self:
        """The median of how far numbers are from their median."""
        return self.aggregated("median_absolute_deviation", Deviation, where=where)

    def quantile(self, at: Number, *, where: Self | None = None) -> Self:
        """A number that about this share of the numbers lies below; several of one column are found together."""
        return self.aggregated("quantile", _quantile(at), where=where)

    def histogram(self, edges: Sequence[int | float], *, where: Self | None = None) -> Self:
        """Counts numbers between public edges, as a list: from each edge, included, to the next; the last is closed."""
        return self.aggregated("histogram", partial(Histogram, edges=check_edges(edges)), where=where)

    def mode(self, *, where: Self | None = None) -> Self:
        """The most frequent value, out of the public keys that the codebook has for it."""
        return self.aggregated("mode", _mode, where=where)

    def top_values(self, most: int, *, where: Self | None = None) -> Self:
        """The most frequent values, as a list, out of the public keys that the codebook has for them."""
        return self.aggregated("top_values", partial(TopValues, most=integer(most, "most", least=1)), where=where)


def _combinations(of: Expression, *others: Expression, where: Expression | None = None) -> Statistic:
    return CountDistinct(of, where, others)


def _mode(of: Expression, where: Expression | None = None) -> Statistic:
    return Item(TopValues(of, 1, where), 0)


def _quantile(at: Number) -> Callable[..., Statistic]:
    return partial(Quantile, at=probability(at, "at"))
