"""Metrics: how far apart two data sets or two aggregates are. The neighbouring relation and the unit live here."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from fractions import Fraction
from typing import final

import numpy as np

from sfumato.core.domains import Custom, Data, Domain, Floats, Frame, Integers, Matrix, Stream, Tables, Vector
from sfumato.core.grouped_distance import AnyDistance, DistanceLike, GroupedDistance
from sfumato.core.rows import canonical, records, rows_of
from sfumato.errors import BadArgument, CannotJoin, NoDistance
from sfumato.exact import Distance, Number, Root, as_distance, integer, rational, root, upper


class Metric(ABC):
    """Measures how far apart two members of a domain are."""

    @abstractmethod
    def distance(self, left: Data, right: Data) -> AnyDistance:
        """The distance; the slow, obvious reference that tests rely on."""

    @abstractmethod
    def misfit(self, domain: Domain) -> str | None:
        """Says why this is no distance on the domain; None where it is one."""

    @abstractmethod
    def unit(self, distance: AnyDistance) -> str:
        """Says in words what a distance of that size protects."""

    def read(self, distance: DistanceLike | Unit) -> AnyDistance:
        """Reads a distance that a person typed, or a unit of privacy in this metric."""
        return as_distance(self._plain(distance), "the distance")

    def _own(self, distance: DistanceLike | Unit) -> DistanceLike:
        if not isinstance(distance, Unit):
            return distance
        if distance.metric != self:
            raise CannotJoin(distance.metric, self, "a unit of privacy in")
        return distance.bound

    def _plain(self, distance: DistanceLike | Unit) -> Number | Root:
        own = self._own(distance)
        if isinstance(own, GroupedDistance | tuple):
            raise BadArgument("the distance", "one number: only data in parts has three", own)
        return own


class DatasetMetric(Metric):
    """A metric that counts rows, so that its distances are whole numbers."""

    def read(self, distance: DistanceLike | Unit) -> Distance:
        rows = as_distance(self._plain(distance), "the distance")
        if isinstance(rows, Root) or (isinstance(rows, Fraction) and rows.denominator != 1):
            raise BadArgument("the distance", "a whole number of rows", distance)
        return rows

    def misfit(self, domain: Domain) -> str | None:
        if isinstance(domain, Vector | Matrix | Frame | Tables | Custom):
            return None
        return "it counts rows, and this is not a collection of rows."


@final
@dataclass(frozen=True)
class AddRemove(DatasetMetric):
    """Counts the rows to add or remove to turn one data set into the other (symmetric distance of multisets).

    >>> AddRemove().distance([1, 2, 2, 4], [2, 4, 6])
    Fraction(3, 1)
    """

    def distance(self, left: Data, right: Data) -> Distance:
        ours, theirs = records(left), records(right)
        return Fraction(((ours - theirs) + (theirs - ours)).total())

    def unit(self, distance: Distance) -> str:
        return f"{_rows(distance)} added or removed"

    def __str__(self) -> str:
        return "the add/remove distance"


@final
@dataclass(frozen=True)
class ChangeOne(DatasetMetric):
    """Counts the rows to replace, in any order, between data sets of one public size.

    >>> ChangeOne().distance(["A", "B", "C"], ["C", "A", "D"])
    Fraction(1, 1)
    """

    def distance(self, left: Data, right: Data) -> Distance:
        ours, theirs = records(left), records(right)
        if ours.total() != theirs.total():
            raise NoDistance(self, "the data sets have different sizes.")
        return Fraction((ours - theirs).total())

    def misfit(self, domain: Domain) -> str | None:
        return super().misfit(domain) or _needs_size(domain)

    def unit(self, distance: Distance) -> str:
        return f"{_rows(distance)} changed"

    def __str__(self) -> str:
        return "the change-one distance"


@final
@dataclass(frozen=True)
class Hamming(DatasetMetric):
    """Counts the positions that differ between *ordered* data sets of one public size."""

    def distance(self, left: Data, right: Data) -> Distance:
        ours, theirs = rows_of(left), rows_of(right)
        if len(ours) != len(theirs):
            raise NoDistance(self, "the data sets have different sizes.")
        return Fraction(sum(a != b for a, b in zip(ours, theirs, strict=True)))

    def misfit(self, domain: Domain) -> str | None:
        return super().misfit(domain) or _needs_size(domain)

    def unit(self, distance: Distance) -> str:
        return f"{_rows(distance)} changed in place"

    def __str__(self) -> str:
        return "the Hamming distance"


@final
@dataclass(frozen=True)
class Windows(DatasetMetric):
    """Counts the stretches of consecutive positions to rewrite between ordered data of one public size.

    With a length of w this is the w-event distance of trajectories and streams; with 1, the Hamming distance.

    >>> Windows(length=2).distance("abcdef", "abXYeZ")
    Fraction(2, 1)
    """

    length: int

    def __post_init__(self) -> None:
        object.__setattr__(self, "length", integer(self.length, "the length of a window", least=1))

    def distance(self, left: Data, right: Data) -> Distance:
        ours, theirs = rows_of(left), rows_of(right)
        if len(ours) != len(theirs):
            raise NoDistance(self, "the data sets have different sizes.")
        windows, covered = 0, 0
        for position, (a, b) in enumerate(zip(ours, theirs, strict=True)):
            if a != b and position >= covered:
                windows, covered = windows + 1, position + self.length
        return Fraction(windows)

    def misfit(self, domain: Domain) -> str | None:
        return super().misfit(domain) or _needs_size(domain)

    def unit(self, distance: Distance) -> str:
        many = "any" if distance == 1 else f"any {distance} stretches of"
        return f"{many} {self.length} consecutive rows changed"

    def __str__(self) -> str:
        return f"the distance in stretches of {self.length}"


@final
@dataclass(frozen=True)
class Discrete(Metric):
    """0 between equal values and 1 otherwise; the metric of local privacy.

    >>> Discrete().distance("yes", "no")
    Fraction(1, 1)
    """

    def distance(self, left: Data, right: Data) -> Distance:
        return Fraction(int(canonical(left) != canonical(right)))

    def misfit(self, domain: Domain) -> str | None:
        return None

    def unit(self, distance: Distance) -> str:
        return "one person's whole answer"

    def __str__(self) -> str:
        return "the discrete distance"


@final
@dataclass(frozen=True)
class Absolute(Metric):
    """|a − b| between numbers.

    >>> Absolute().distance(1, 3)
    Fraction(2, 1)
    """

    def distance(self, left: Data, right: Data) -> Distance:
        return abs(_number(left, self) - _number(right, self))

    def misfit(self, domain: Domain) -> str | None:
        if isinstance(domain, Integers | Custom) or (
            isinstance(domain, Floats) and not domain.nan and not domain.infinite
        ):
            return None
        return "it needs finite numbers."

    def unit(self, distance: Distance) -> str:
        return f"a number moved by up to {distance}"

    def __str__(self) -> str:
        return "the absolute distance"


class VectorMetric(Metric):
    """A metric between numeric vectors of one public length."""

    def misfit(self, domain: Domain) -> str | None:
        if isinstance(domain, Custom):
            return None
        if not isinstance(domain, Vector) or not isinstance(domain.element, Floats | Integers):
            return "it needs vectors of numbers."
        if isinstance(domain.element, Floats) and (domain.element.nan or domain.element.infinite):
            return "it needs finite numbers."
        return None if domain.size is not None else "the length of the vectors must be public."

    def unit(self, distance: Distance) -> str:
        return f"a vector moved by up to {distance} in {self}"


def differences(left: Data, right: Data, metric: Metric) -> list[Fraction]:
    """The exact coordinate-wise differences of two vectors."""
    ours, theirs = list(left), list(right)
    if len(ours) != len(theirs):
        raise NoDistance(metric, "the vectors have different lengths.")
    return [_number(a, metric) - _number(b, metric) for a, b in zip(ours, theirs, strict=True)]


@final
@dataclass(frozen=True)
class L1(VectorMetric):
    """The sum of the coordinates' distances; on a stream, of the elements' distances over all of its steps."""

    def distance(self, left: Data, right: Data) -> Distance:
        return sum((abs(gap) for gap in differences(left, right, self)), Fraction(0))

    def misfit(self, domain: Domain) -> str | None:
        return None if isinstance(domain, Stream) else super().misfit(domain)

    def __str__(self) -> str:
        return "the L1 distance"


@final
@dataclass(frozen=True)
class L2(VectorMetric):
    """The Euclidean distance, exact: a rational or a `Root`.

    >>> L2().distance([3, 4], [0, 0]), L2().distance([1, 1], [0, 0])
    (Fraction(5, 1), √2)
    """

    def distance(self, left: Data, right: Data) -> Distance:
        return root(sum((gap**2 for gap in differences(left, right, self)), Fraction(0)))

    def __str__(self) -> str:
        return "the L2 distance"


@final
@dataclass(frozen=True)
class Lp(VectorMetric):
    """(Σ|aᵢ − bᵢ|ᵖ)^(1/p) for a rational p ≥ 1, rounded up where it is irrational."""

    order: Fraction

    def __post_init__(self) -> None:
        object.__setattr__(self, "order", rational(self.order, "the order of a norm"))
        if self.order < 1:
            raise BadArgument("the order of a norm", "at least 1, or it is no distance", self.order)

    def distance(self, left: Data, right: Data) -> Distance:
        from sfumato.exact import ball

        gaps = [abs(gap) for gap in differences(left, right, self) if gap]
        if len(gaps) <= 1:
            return sum(gaps, Fraction(0))
        return upper(lambda: sum((ball(gap) ** ball(self.order) for gap in gaps), ball(0)) ** ball(1 / self.order))

    def __str__(self) -> str:
        return f"the L{self.order} distance"


@final
@dataclass(frozen=True)
class LInf(VectorMetric):
    """The largest coordinate's distance. On a stream, the bound holds for every element.

    ``monotonic`` says that a unit moves all coordinates in one direction. The distance is then the largest rise plus
    the largest fall: the length of the shortest walk in steps that each go one way.
    """

    monotonic: bool = False

    def distance(self, left: Data, right: Data) -> Distance:
        gaps = differences(left, right, self)
        rise, fall = max([Fraction(0), *gaps]), -min([Fraction(0), *gaps])
        return rise + fall if self.monotonic else max(rise, fall)

    def misfit(self, domain: Domain) -> str | None:
        return None if isinstance(domain, Stream) else super().misfit(domain)

    def __str__(self) -> str:
        return "the monotonic L∞ distance" if self.monotonic else "the L∞ distance"


@final
@dataclass(frozen=True)
class PiecewiseLInf(VectorMetric):
    """The sum over pieces of the largest distance in each: coordinates are dealt out to the pieces in turn.

    It is small where a unit is in few pieces, and may move all coordinates of those: sums by class.

    >>> PiecewiseLInf(2).distance([1, 0, 5, 0], [0, 0, 0, 3])
    Fraction(8, 1)
    """

    pieces: int

    def __post_init__(self) -> None:
        object.__setattr__(self, "pieces", integer(self.pieces, "the number of pieces", least=1))

    def distance(self, left: Data, right: Data) -> Distance:
        sizes = [abs(gap) for gap in differences(left, right, self)]
        return sum((max(sizes[place :: self.pieces], default=Fraction(0)) for place in range(self.pieces)), Fraction(0))

    def misfit(self, domain: Domain) -> str | None:
        size = domain.size if isinstance(domain, Vector) else None
        uneven = size is not None and (not size or size % self.pieces)
        return f"{self.pieces} pieces must be of one length." if uneven else super().misfit(domain)

    def __str__(self) -> str:
        return f"the L∞ distance added up over {self.pieces} pieces"


@final
@dataclass(frozen=True)
class Range(VectorMetric):
    """max(aᵢ − bᵢ) − min(aᵢ − bᵢ): blind to a constant added to all scores (a pseudo-metric).

    >>> Range().distance([1, 2, 3], [0, 3, 3])
    Fraction(2, 1)
    """

    def distance(self, left: Data, right: Data) -> Distance:
        gaps = differences(left, right, self)
        return max(gaps) - min(gaps) if gaps else Fraction(0)

    def __str__(self) -> str:
        return "the range distance"


@final
@dataclass(frozen=True)
class Unit:
    """Who is protected: everything one of them can change, as a distance in a metric. Goes where a distance goes.

    A unit must be at least as coarse as one individual; noise grows with it. ``protects`` is printed with a release.

    >>> Unit("a patient with up to 3 visits", AddRemove(), bound=3).bound
    3
    """

    protects: str
    metric: Metric
    bound: int | GroupedDistance = 1

    def __post_init__(self) -> None:
        if not isinstance(self.protects, str) or not self.protects.strip():
            raise BadArgument("a unit", "named: say who is protected", self.protects)
        if not isinstance(self.bound, GroupedDistance):
            object.__setattr__(self, "bound", integer(self.bound, "the bound of a unit", least=1))


def adjacent(left: Data, right: Data, *, metric: Metric, bound: DistanceLike = 1, exactly: bool = False) -> bool:
    """Tells whether two data sets are neighbours: at most (or, on request, exactly) a bound apart.

    >>> adjacent([1, 2], [1, 2], metric=AddRemove()), adjacent([1, 2], [1, 2], metric=AddRemove(), exactly=True)
    (True, False)
    """
    allowed = metric.read(bound)
    try:
        apart = metric.distance(left, right)
    except NoDistance:
        return False
    return bool(apart == allowed if exactly else apart <= allowed)


def _number(value: Data, metric: Metric) -> Fraction:
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, bool) or not isinstance(value, int | float | Fraction):
        raise NoDistance(metric, "it needs numbers.")
    if isinstance(value, float) and not math.isfinite(value):
        raise NoDistance(metric, "it needs finite numbers.")
    return Fraction(value)


def _needs_size(domain: Domain) -> str | None:
    if isinstance(domain, Custom) or getattr(domain, "size", None) is not None:
        return None
    return "rows can only be exchanged when the size of the data is public: give size=…, or resize(…) first."


def _rows(distance: Distance) -> str:
    return "one row" if distance == 1 else f"{distance} rows"
