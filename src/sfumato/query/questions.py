"""Questions: what is asked of a relation. Statistics for each group, and what is made of the released numbers."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass, field
from fractions import Fraction
from typing import TYPE_CHECKING, ClassVar, final

from sfumato.query.expressions import Expression
from sfumato.query.facts import Facts
from sfumato.query.kinds import Kind
from sfumato.query.relations import Relation


class Statistic(ABC):
    """Is one private number (or list) for each group, of the rows for which ``where`` is true."""

    if TYPE_CHECKING:
        name: ClassVar[str]
        where: Expression | None

    @property
    @abstractmethod
    def kind(self) -> Kind:
        """Is the kind of what is released."""

    @property
    def operands(self) -> tuple[Expression, ...]:
        """Are the expressions that it is about."""
        return ()


@final
@dataclass(frozen=True)
class Count(Statistic):
    """Counts rows; with ``of``, those in which it is not missing."""

    name = "count"
    of: Expression | None = None
    where: Expression | None = None

    @property
    def kind(self) -> Kind:
        return Kind.INT

    @property
    def operands(self) -> tuple[Expression, ...]:
        return () if self.of is None else (self.of,)


@final
@dataclass(frozen=True)
class CountUnits(Statistic):
    """Counts units: COUNT(DISTINCT id)."""

    name = "count units"
    where: Expression | None = None

    @property
    def kind(self) -> Kind:
        return Kind.INT


class OfOne(Statistic):
    """Is a statistic of one expression."""

    if TYPE_CHECKING:
        of: Expression

    @property
    def operands(self) -> tuple[Expression, ...]:
        return (self.of,)


@final
@dataclass(frozen=True)
class CountDistinct(OfOne):
    """Counts different values that are not missing."""

    name = "count distinct"
    of: Expression
    where: Expression | None = None

    @property
    def kind(self) -> Kind:
        return Kind.INT


@final
@dataclass(frozen=True)
class Sum(OfOne):
    """Adds numbers up; 0 where there are none."""

    name = "sum"
    of: Expression
    where: Expression | None = None

    @property
    def kind(self) -> Kind:
        return self.of.kind


@final
@dataclass(frozen=True)
class Mean(OfOne):
    """Averages numbers."""

    name = "mean"
    of: Expression
    where: Expression | None = None

    @property
    def kind(self) -> Kind:
        return Kind.FLOAT


@final
@dataclass(frozen=True)
class Variance(OfOne):
    """Is the variance, or with ``root`` the standard deviation; of a ``sample`` (over n − 1) or of all (over n)."""

    name = "variance"
    of: Expression
    sample: bool = True
    root: bool = False
    where: Expression | None = None

    @property
    def kind(self) -> Kind:
        return Kind.FLOAT


@final
@dataclass(frozen=True)
class Covariance(Statistic):
    """Is the covariance of two numbers over the rows that have both, or with ``scaled`` their correlation."""

    name = "covariance"
    of: Expression
    other: Expression
    sample: bool = True
    scaled: bool = False
    where: Expression | None = None

    @property
    def kind(self) -> Kind:
        return Kind.FLOAT

    @property
    def operands(self) -> tuple[Expression, ...]:
        return (self.of, self.other)


@final
@dataclass(frozen=True)
class Quantile(OfOne):
    """Is a value below which so large a share of the numbers lies: 0 is about the least, 1 about the greatest one.

    All quantiles of one expression in a question are found together.
    """

    name = "quantile"
    of: Expression
    at: Fraction
    where: Expression | None = None

    @property
    def kind(self) -> Kind:
        return self.of.kind


@final
@dataclass(frozen=True)
class Histogram(OfOne):
    """Counts numbers between public edges, as a list: from each edge, included, to the next; the last one closed."""

    name = "histogram"
    of: Expression
    edges: tuple[int | float, ...]
    where: Expression | None = None

    @property
    def kind(self) -> Kind:
        return Kind.LIST


@final
@dataclass(frozen=True)
class TopValues(OfOne):
    """Is the list of the most frequent values, out of public keys."""

    name = "top values"
    of: Expression
    most: int
    where: Expression | None = None

    @property
    def kind(self) -> Kind:
        return Kind.LIST


@final
@dataclass(frozen=True)
class Item(Statistic):
    """Is one cell of a statistic that is a list: a bin of a histogram, or the value at a rank (from 0)."""

    name = "item"
    of: Histogram | TopValues
    place: int

    @property
    def where(self) -> Expression | None:  # type: ignore[override]
        """Is the condition of the list."""
        return self.of.where

    @property
    def kind(self) -> Kind:
        return self.of.of.kind if isinstance(self.of, TopValues) else Kind.INT

    @property
    def operands(self) -> tuple[Expression, ...]:
        return self.of.operands


@final
@dataclass(frozen=True)
class Answered(Expression):
    """Stands for the released value of a statistic, in what is computed from released values."""

    statistic: Statistic
    facts: Facts = field(default_factory=Facts, compare=False)

    @property
    def kind(self) -> Kind:  # type: ignore[override]
        """Is that of the statistic."""
        return self.statistic.kind


@final
@dataclass(frozen=True)
class Order:
    """Is one thing to sort the answer by."""

    by: Expression
    descending: bool = False


@final
@dataclass(frozen=True)
class Question:
    """Is a question that can be answered privately: statistics for each group of a relation.

    ``keys`` are grouped by, under names; ``sets`` are the grouping sets, as places of keys (usually one set, with all
    of them). ``columns``, ``having`` and ``order`` are computed from released numbers alone: their columns (`Column`)
    are keys by their names, their `Answered` leaves are statistics.
    """

    source: Relation
    keys: tuple[tuple[str, Expression], ...]
    columns: tuple[tuple[str, Expression], ...]
    sets: tuple[tuple[int, ...], ...] = ()
    having: Expression | None = None
    order: tuple[Order, ...] = ()
    limit: int | None = None

    @property
    def statistics(self) -> tuple[Statistic, ...]:
        """Are the statistics that anything is computed from, each once, in order."""
        return tuple(dict.fromkeys(found for made in self.released for found in statistics_in(made)))

    @property
    def released(self) -> tuple[Expression, ...]:
        """Are all expressions over released numbers: the columns, the condition, and what to sort by."""
        having = () if self.having is None else (self.having,)
        return (*(made for _, made in self.columns), *having, *(one.by for one in self.order))


def statistics_in(expression: Expression) -> Iterator[Statistic]:
    """Gives the statistics that an expression over released values looks at."""
    if isinstance(expression, Answered):
        yield expression.statistic
    for part in expression.parts:
        yield from statistics_in(part)
