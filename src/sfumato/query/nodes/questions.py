"""Questions: what is asked of a relation. Statistics for each group, and what is made of the released numbers."""

from __future__ import annotations

from abc import ABC
from collections.abc import Iterator
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from typing import ClassVar, final

from sfumato.query.nodes.expressions import Column, Expression
from sfumato.query.nodes.facts import Facts
from sfumato.query.nodes.kinds import Kind
from sfumato.query.nodes.relations import Relation


class Statistic(ABC):
    """One private number (or list) for each group, of the rows for which ``where`` is true."""

    name: ClassVar[str]
    kind: Kind
    """The kind of what is released."""

    where: Expression | None

    @property
    def operands(self) -> tuple[Expression, ...]:
        """The expressions that it is about; none for a count of rows."""
        return ()


@final
@dataclass(frozen=True)
class Count(Statistic):
    """Counts rows; with ``of``, those in which it is not missing."""

    name, kind = "count", Kind.INT
    of: Expression | None = None
    where: Expression | None = None

    @property
    def operands(self) -> tuple[Expression, ...]:
        return () if self.of is None else (self.of,)


@final
@dataclass(frozen=True)
class CountUnits(Statistic):
    """Counts units: COUNT(DISTINCT id)."""

    name, kind = "count units", Kind.INT
    where: Expression | None = None


class OfOne(Statistic):
    """A statistic of one expression."""

    of: Expression

    @property
    def operands(self) -> tuple[Expression, ...]:
        return (self.of,)


@final
@dataclass(frozen=True)
class CountDistinct(Statistic):
    """Counts different values that are not missing; with ``others``, combinations of which no value is."""

    name, kind = "count distinct", Kind.INT
    of: Expression
    where: Expression | None = None
    others: tuple[Expression, ...] = ()

    @property
    def operands(self) -> tuple[Expression, ...]:
        return (self.of, *self.others)


@final
@dataclass(frozen=True)
class Sum(OfOne):
    """Adds numbers up; 0 where there are none."""

    name = "sum"
    of: Expression
    where: Expression | None = None

    @property
    def kind(self) -> Kind:  # type: ignore[override]
        return self.of.kind


@final
@dataclass(frozen=True)
class Mean(OfOne):
    """Averages numbers."""

    name, kind = "mean", Kind.FLOAT
    of: Expression
    where: Expression | None = None


@final
@dataclass(frozen=True)
class SumDistinct(OfOne):
    """Adds up different numbers, each once, whoever has them; 0 where there are none."""

    name = "sum distinct"
    of: Expression
    where: Expression | None = None

    @property
    def kind(self) -> Kind:  # type: ignore[override]
        return self.of.kind


@final
@dataclass(frozen=True)
class MeanDistinct(OfOne):
    """Averages different numbers, each once, whoever has them."""

    name, kind = "mean distinct", Kind.FLOAT
    of: Expression
    where: Expression | None = None


@final
@dataclass(frozen=True)
class Variance(OfOne):
    """The variance, or with ``root`` the standard deviation; of a ``sample`` (over n − 1) or of all (over n)."""

    name, kind = "variance", Kind.FLOAT
    of: Expression
    sample: bool = True
    root: bool = False
    where: Expression | None = None


@final
@dataclass(frozen=True)
class Covariance(Statistic):
    """The covariance of two numbers over the rows that have both, or with ``scaled`` their correlation."""

    name, kind = "covariance", Kind.FLOAT
    of: Expression
    other: Expression
    sample: bool = True
    scaled: bool = False
    where: Expression | None = None

    @property
    def operands(self) -> tuple[Expression, ...]:
        return (self.of, self.other)


class Moment(OfOne):
    """A number that says how values lie about their average, whatever their scale; of a ``sample``, or of all."""

    order: ClassVar[int]
    """The highest power that is added up."""

    sample: bool


@final
@dataclass(frozen=True)
class Skewness(Moment):
    """How much further values reach above their average than below it: 0 where they lie evenly."""

    name, kind, order = "skewness", Kind.FLOAT, 3
    of: Expression
    sample: bool = True
    where: Expression | None = None


@final
@dataclass(frozen=True)
class Kurtosis(Moment):
    """How heavy the tails are, above those of the normal distribution."""

    name, kind, order = "kurtosis", Kind.FLOAT, 4
    of: Expression
    sample: bool = True
    where: Expression | None = None


@final
@dataclass(frozen=True)
class Quantile(OfOne):
    """A value below which the share ``at`` of the values lies: 0 is about the least, 1 about the greatest one.

    All quantiles of one expression in a question are found together.
    """

    name = "quantile"
    of: Expression
    at: Fraction
    where: Expression | None = None

    @property
    def kind(self) -> Kind:  # type: ignore[override]
        return self.of.kind


@final
@dataclass(frozen=True)
class Deviation(OfOne):
    """The median of how far numbers are from their median."""

    name = "median absolute deviation"
    of: Expression
    where: Expression | None = None

    @property
    def kind(self) -> Kind:  # type: ignore[override]
        return self.of.kind


@final
@dataclass(frozen=True)
class Histogram(OfOne):
    """Counts numbers between public edges, as a list: from each edge, included, to the next; the last one closed."""

    name, kind = "histogram", Kind.LIST
    of: Expression
    edges: tuple[int | float, ...]
    where: Expression | None = None


@final
@dataclass(frozen=True)
class TopValues(OfOne):
    """The list of the most frequent values, out of public keys."""

    name, kind = "top values", Kind.LIST
    of: Expression
    most: int
    where: Expression | None = None


@final
@dataclass(frozen=True)
class Item(Statistic):
    """One cell of a statistic that is a list: a bin of a histogram, or the value at a rank (from 0)."""

    name = "item"
    of: Histogram | TopValues
    place: int

    @property
    def where(self) -> Expression | None:  # type: ignore[override]
        """The condition of the list that the cell belongs to."""
        return self.of.where

    @property
    def kind(self) -> Kind:  # type: ignore[override]
        return self.of.of.kind if isinstance(self.of, TopValues) else Kind.INT

    @property
    def operands(self) -> tuple[Expression, ...]:
        return self.of.operands


@final
@dataclass(frozen=True)
class StatisticValue(Expression):
    """Stands for the released value of a statistic, in what is computed from released values."""

    parts = ()
    statistic: Statistic
    facts: Facts = field(default_factory=Facts, compare=False)

    def columns(self) -> Iterator[Column]:
        return iter(())

    @property
    def kind(self) -> Kind:  # type: ignore[override]
        """The kind of the statistic."""
        return self.statistic.kind


@final
@dataclass(frozen=True)
class Order:
    """An expression over released values to sort the answer by."""

    by: Expression
    descending: bool = False


@final
@dataclass(frozen=True)
class Question:
    """A question that can be answered privately: statistics for each group of a relation.

    ``keys`` are grouped by, under names; ``sets`` are the grouping sets, as places of keys (usually one set, with all
    of them). ``columns``, ``having`` and ``order`` are computed from released numbers alone: their columns (`Column`)
    are keys by their names, their `StatisticValue` leaves are statistics.
    """

    source: Relation
    keys: tuple[tuple[str, Expression], ...]
    columns: tuple[tuple[str, Expression], ...]
    sets: tuple[tuple[int, ...], ...] = ()
    having: Expression | None = None
    order: tuple[Order, ...] = ()
    limit: int | None = None

    @cached_property
    def statistics(self) -> tuple[Statistic, ...]:
        """The statistics that anything is computed from, each once, in order."""
        return tuple(dict.fromkeys(one for made in self.released for one in statistics_in(made)))

    @property
    def grouping_sets(self) -> tuple[tuple[int, ...], ...]:
        """The grouping sets: all keys together, where none are named."""
        return self.sets or (tuple(range(len(self.keys))),)

    @property
    def of_rows(self) -> Iterator[Expression]:
        """The expressions that look at rows of the source: keys, and what statistics are of."""
        yield from (key for _, key in self.keys)
        for statistic in self.statistics:
            yield from statistic.operands
            if statistic.where is not None:
                yield statistic.where

    @property
    def released(self) -> tuple[Expression, ...]:
        """All expressions over released numbers: the columns, the condition, and what to sort by."""
        having = () if self.having is None else (self.having,)
        return (*(made for _, made in self.columns), *having, *(one.by for one in self.order))


def statistics_in(expression: Expression) -> Iterator[Statistic]:
    """The statistics that an expression over released values looks at, repeated as often as it does."""
    if isinstance(expression, StatisticValue):
        yield expression.statistic
    for part in expression.parts:
        yield from statistics_in(part)
