"""Atoms: domains of single values, and the bounds that shrink them.

A domain is a public statement that holds for *every* possible data set, whatever one individual does. Descriptors
(bounds, size, norm) shrink it. They come from public knowledge, or from a transformation that enforces them; never
from the data.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, TypeAlias, final

import numpy as np
import numpy.typing as npt

from sfumato.errors import BadArgument, Several
from sfumato.exact import Number, rational

Data: TypeAlias = Any
"""A member of some domain. The one place where values of any kind cross: the domain says what they are.

As ``object`` every function of a domain would have to prove to the type checker what `Domain.member` has checked."""

Array: TypeAlias = npt.NDArray[Any]

LARGEST = math.nextafter(math.inf, 0)
"""The largest float."""


@final
@dataclass(frozen=True)
class Bounds:
    """A closed interval of values, exact."""

    lower: Fraction
    upper: Fraction

    def __post_init__(self) -> None:
        object.__setattr__(self, "lower", rational(self.lower, "the lower bound"))
        object.__setattr__(self, "upper", rational(self.upper, "the upper bound"))
        if self.lower > self.upper:
            raise BadArgument("bounds", "in order: the lower bound first", Several(self.lower, self.upper))

    @staticmethod
    def read(between: tuple[Number, Number] | Bounds) -> Bounds:
        """Reads ``(lower, upper)``; refuses NaN, infinity and reversed bounds."""
        if isinstance(between, Bounds):
            return between
        if not isinstance(between, tuple | list) or len(between) != 2:
            raise BadArgument("bounds", "a pair (lower, upper)", between)
        lower, upper = rational(between[0], "the lower bound"), rational(between[1], "the upper bound")
        if lower > upper:
            raise BadArgument("bounds", "in order: the lower bound first", Several(*between))
        return Bounds(lower, upper)

    @property
    def width(self) -> Fraction:
        """Upper minus lower."""
        return self.upper - self.lower

    @property
    def magnitude(self) -> Fraction:
        """The largest absolute value inside."""
        return max(abs(self.lower), abs(self.upper))

    def __contains__(self, value: Number) -> bool:
        return self.lower <= Fraction(value) <= self.upper

    def __str__(self) -> str:
        return f"[{plain(self.lower)}, {plain(self.upper)}]"


class Domain(ABC):
    """A set of values, known by a membership test."""

    @abstractmethod
    def member(self, value: Data) -> bool:
        """Tells whether a value belongs; never raises, whatever the value."""


class Atom(Domain):
    """A domain of single values; `members` tests a whole column at once."""

    @abstractmethod
    def members(self, column: Array) -> bool:
        """Tells whether every entry of a one-dimensional array belongs."""


@final
@dataclass(frozen=True)
class Floats(Atom):
    """The 64-bit floats; finite ones within bounds where given, NaN and infinities only where allowed.

    >>> Floats(between=(0, 1)).member(0.5), Floats().member(float("nan")), Floats(nan=True).member(float("nan"))
    (True, False, True)
    """

    between: Bounds | None = None
    nan: bool = False
    infinite: bool = False

    def __post_init__(self) -> None:
        if self.between is not None:
            object.__setattr__(self, "between", Bounds.read(self.between))
            if self.infinite:
                raise BadArgument("infinite", "False where there are bounds", True)

    def member(self, value: Data) -> bool:
        if isinstance(value, bool | np.bool_) or not isinstance(value, float | int | np.floating | np.integer):
            return False
        number = exact_float(value)
        if number is None:
            return False
        if math.isnan(number):
            return self.nan
        if self.between is not None:
            low, high = float_bounds(self.between)
            return low <= number <= high
        return self.infinite or math.isfinite(number)

    def members(self, column: Array) -> bool:
        if column.dtype.kind != "f" and not whole_floats(column):
            return False
        column = column.astype(np.float64, copy=False)
        missing = np.isnan(column)
        if not self.nan and bool(missing.any()):
            return False
        present = column[~missing] if self.nan else column
        if self.between is not None:
            low, high = float_bounds(self.between)
            return bool(((present >= low) & (present <= high)).all())
        return self.infinite or bool(np.isfinite(present).all())

    def __str__(self) -> str:
        extras = (
            [f"in {self.between}"] * (self.between is not None) + ["or NaN"] * self.nan + ["or ±inf"] * self.infinite
        )
        return " ".join(["floats", *extras])


@final
@dataclass(frozen=True)
class Integers(Atom):
    """The whole multiples of a public step, stored as whole numbers of steps; a step of 1 is plain integers.

    Exact aggregates live here: a sum of floats is a whole number of grid steps, a mean of N values has the step
    divided by N. Only the inside sees steps: a call gives values in the unit of the data (`core.steps`).

    >>> str(Integers(between=(0, 10))), str(Integers(step=Fraction(1, 4)))
    ('integers in [0, 10]', 'multiples of 1/4')
    """

    between: Bounds | None = None
    step: Fraction = Fraction(1)

    def __post_init__(self) -> None:
        if self.between is not None:
            object.__setattr__(self, "between", Bounds.read(self.between))
        if not isinstance(self.step, Fraction) or self.step <= 0:
            raise BadArgument("step", "a Fraction greater than 0", self.step)

    def member(self, value: Data) -> bool:
        if isinstance(value, bool | np.bool_) or not isinstance(value, int | np.integer):
            return False
        return self.between is None or int(value) * self.step in self.between

    def members(self, column: Array) -> bool:
        if column.dtype == object:
            return all(self.member(value) for value in column)
        if column.dtype.kind not in "iu":
            return False
        if self.between is None or not column.size:
            return True
        return int(column.min()) * self.step in self.between and int(column.max()) * self.step in self.between

    def __str__(self) -> str:
        kind = "integers" if self.step == 1 else f"multiples of {self.step}"
        return f"{kind} in {self.between}" if self.between is not None else kind


@final
@dataclass(frozen=True)
class Categories(Atom):
    """A finite, public set of values; the order is part of it, duplicates are refused.

    >>> Categories(("yes", "no")).member("maybe")
    False
    """

    values: tuple[Hashable, ...]
    _known: frozenset[Hashable] = field(init=False, repr=False, compare=False, default=frozenset())

    def __post_init__(self) -> None:
        if isinstance(self.values, str) or not isinstance(self.values, Sequence):
            raise BadArgument("categories", "a sequence of distinct values", self.values)
        object.__setattr__(self, "values", tuple(self.values))
        if not self.values:
            raise BadArgument("categories", "at least one value", self.values)
        if not all(map(_can_be_looked_up, self.values)):
            raise BadArgument("categories", "hashable and equal to themselves: no lists, no NaN", self.values)
        object.__setattr__(self, "_known", frozenset(self.values))
        if len(self._known) < len(self.values):
            raise BadArgument("categories", "distinct: a value listed twice would be counted as two", self.values)

    def member(self, value: Data) -> bool:
        try:
            return value in self._known
        except Exception:  # a value that cannot be hashed or compared is none of these
            return False

    def members(self, column: Array) -> bool:
        try:
            return self._known.issuperset(column.tolist())
        except Exception:  # a value that cannot be hashed or compared is none of these
            return False

    def __str__(self) -> str:
        listed = ", ".join(map(repr, self.values[:4])) + (", …" if len(self.values) > 4 else "")
        return f"{{{listed}}}" if len(self.values) <= 4 else f"{len(self.values)} categories {{{listed}}}"


def categories(values: Sequence[Hashable]) -> Categories:
    """Reads a public list of distinct values; refuses a single text, which would be read as its letters."""
    if isinstance(values, str | bytes) or not hasattr(values, "__iter__"):
        raise BadArgument("a public list of values", "a list or tuple", values)
    return Categories(tuple(values))


def _can_be_looked_up(value: Hashable) -> bool:
    # NaN is found by being the same object, if at all: which rows it would count would depend on how they were stored.
    if isinstance(value, tuple):
        return all(map(_can_be_looked_up, value))
    try:
        return isinstance(hash(value), int) and bool(value == value)
    except TypeError:
        return False


BOOLEANS = Categories((False, True))
"""The two truth values."""


@final
@dataclass(frozen=True)
class Texts(Atom):
    """All texts."""

    def member(self, value: Data) -> bool:
        return isinstance(value, str)

    def members(self, column: Array) -> bool:
        return column.dtype.kind == "U" or all(isinstance(value, str) for value in column.tolist())

    def __str__(self) -> str:
        return "texts"


def float_bounds(bounds: Bounds) -> tuple[float, float]:
    """The floats nearest to the bounds: a column of floats is within bounds when it lies between these two.

    Whoever relies on the bounds exactly (sums, quantiles) puts the values onto a grid inside the exact bounds first.
    """
    return _float_near(bounds.lower), _float_near(bounds.upper)


def _float_near(value: Fraction) -> float:
    try:
        return float(value)
    except OverflowError:
        return LARGEST if value > 0 else -LARGEST


def exact_float(value: Data) -> float | None:
    """Reads a number as a float; None for a whole number that no float is equal to, which would move."""
    try:
        near = float(value)
        return near if near == value or math.isnan(near) else None
    except Exception:  # too large, or a number that cannot be read
        return None


def whole_floats(column: Array) -> bool:
    """Tells whether an integer column can be read as floats without loss."""
    return column.dtype.kind in "iu" and (
        not column.size or max(abs(int(column.min())), abs(int(column.max()))) <= 2**53
    )


def plain(value: Fraction) -> str:
    """A short text of a rational: exact for whole numbers, else six digits."""
    return str(value) if value.denominator == 1 else f"{float(value):.6g}"
