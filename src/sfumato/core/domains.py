"""Domains: describable sets of values, with a membership test.

A domain is a public statement that holds for *every* possible data set, whatever one individual does. Descriptors
(bounds, size, norm) shrink it. They come from public knowledge, or from a transformation that enforces them; never
from the data.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import final

import numpy as np

from sfumato.core.atoms import (
    BOOLEANS,
    Array,
    Atom,
    Bounds,
    Categories,
    Data,
    Domain,
    Floats,
    Integers,
    Texts,
    categories,
    exact_float,
    float_bounds,
    plain,
)
from sfumato.errors import BadArgument, NotInDomain, Unseen
from sfumato.exact import Number, integer, non_negative, rational

__all__ = [
    "BOOLEANS",
    "Array",
    "Atom",
    "Bounds",
    "Categories",
    "Custom",
    "Data",
    "Domain",
    "Floats",
    "Frame",
    "Held",
    "Integers",
    "Matrix",
    "Norm",
    "Stream",
    "Tables",
    "Texts",
    "Vector",
    "as_column",
    "categories",
    "column",
    "float_bounds",
]


@final
@dataclass(frozen=True)
class Vector(Domain):
    """Columns of atoms: any number of rows, at least some number, or exactly a public size.

    >>> str(Vector(Integers(), size=3)), Vector(Integers(), size=3).member([1, 2])
    ('3 integers', False)
    """

    element: Atom
    size: int | None = None
    least: int = 0

    def __post_init__(self) -> None:
        if not isinstance(self.element, Atom):
            raise BadArgument("the element of a vector", "a domain of single values", self.element)
        _check_size(self)

    def member(self, value: Data) -> bool:
        column = as_column(value, self.element)
        return column is not None and _right_size(self, len(column)) and self.element.members(column)

    def __str__(self) -> str:
        return _with_size(self, str(self.element))


FLOATS = Floats()
"""Every finite float."""


@final
@dataclass(frozen=True)
class Norm:
    """Bounds each row of a matrix: within a radius of an origin, in the L1 or L2 norm."""

    radius: Fraction
    order: int
    origin: tuple[Fraction, ...]

    def __post_init__(self) -> None:
        if self.order not in (1, 2):
            raise BadArgument("the order of a norm", "1 or 2", self.order)
        object.__setattr__(self, "radius", non_negative(self.radius, "the radius of a norm"))
        object.__setattr__(self, "origin", tuple(rational(value, "the origin of a norm") for value in self.origin))

    def __str__(self) -> str:
        return f"within L{self.order} distance {plain(self.radius)} of the origin" + (
            "" if not any(self.origin) else " " + str(tuple(plain(x) for x in self.origin))
        )


@final
@dataclass(frozen=True)
class Matrix(Domain):
    """Two-dimensional arrays with a public number of columns; rows may have a bounded norm."""

    columns: int
    element: Floats | Integers = FLOATS
    norm: Norm | None = None
    size: int | None = None
    least: int = 0

    def __post_init__(self) -> None:
        object.__setattr__(self, "columns", integer(self.columns, "columns", least=1))
        if not isinstance(self.element, Floats | Integers):
            raise BadArgument("the element of a matrix", "a domain of numbers", self.element)
        if self.norm is not None and len(self.norm.origin) != self.columns:
            raise BadArgument("the origin of the norm", f"{self.columns} numbers", self.norm.origin)
        _check_size(self)

    def member(self, value: Data) -> bool:
        rows = _try_array(value)
        if rows is None or rows.ndim != 2 or rows.shape[1] != self.columns or not _right_size(self, len(rows)):
            return False
        if not self.element.members(rows.reshape(-1)):
            return False
        if rows.dtype.kind == "f":
            rows = rows.astype(np.float64, copy=False)
        return self.norm is None or all(_inside(row, self.norm, self.step) for row in rows.tolist())

    @property
    def step(self) -> Fraction:
        """What one whole number in the array stands for; 1 for floats."""
        return self.element.step if isinstance(self.element, Integers) else Fraction(1)

    def __str__(self) -> str:
        rows = f"rows of {self.columns} {self.element}"
        return _with_size(self, rows if self.norm is None else f"{rows} {self.norm}")


@final
@dataclass(frozen=True)
class Frame(Domain):
    """Tables with public column names; a member maps each name to a column, all of one length."""

    columns: tuple[tuple[str, Atom], ...]
    size: int | None = None
    least: int = 0

    def __post_init__(self) -> None:
        object.__setattr__(self, "columns", tuple((name, element) for name, element in self.columns))
        names = [name for name, _ in self.columns]
        if not names or len(set(names)) < len(names):
            raise BadArgument("columns", "at least one, with distinct names", names)
        for _, element in self.columns:
            if not isinstance(element, Atom):
                raise BadArgument("every column", "a name and a domain of single values", Unseen())
        _check_size(self)

    def __getitem__(self, name: str) -> Atom:
        for column, element in self.columns:
            if column == name:
                return element
        known = ", ".join(column for column, _ in self.columns)
        raise BadArgument("column", f"one of {known}", name)

    def member(self, value: Data) -> bool:
        try:
            named = set(value.keys()) == {name for name, _ in self.columns}
            columns = [as_column(value[name], element) for name, element in self.columns] if named else [None]
        except Exception:  # whatever has no columns under these names is no table
            return False
        lengths = {len(column) for column in columns if column is not None}
        if any(column is None for column in columns) or len(lengths) != 1 or not _right_size(self, lengths.pop()):
            return False
        return all(
            element.members(column)
            for column, (_, element) in zip(columns, self.columns, strict=True)
            if column is not None
        )

    def __str__(self) -> str:
        return _with_size(self, "rows of (" + ", ".join(f"{name}: {element}" for name, element in self.columns) + ")")


@final
@dataclass(frozen=True)
class Stream(Domain):
    """Streams of elements of a domain, which come one at a time."""

    element: Domain

    def member(self, value: Data) -> bool:
        return callable(value) or hasattr(value, "__iter__")

    def __str__(self) -> str:
        return f"a stream of {self.element}"


@final
@dataclass(frozen=True)
class Custom(Domain):
    """A set that the caller describes, by a name and a membership test: graphs, documents, trajectories."""

    name: str
    test: Callable[[Data], bool]

    def member(self, value: Data) -> bool:
        try:
            return bool(self.test(value))
        except Exception:  # the test need not expect every kind of value
            return False

    def __str__(self) -> str:
        return self.name


class Held(ABC):
    """Data that stays where it is, behind an engine that answers for it; ``digest`` names its codebook."""

    @property
    @abstractmethod
    def digest(self) -> str:
        """The digest of the codebook that describes it."""


@final
@dataclass(frozen=True)
class Tables(Domain):
    """All contents that tables may have under a codebook, which describes their columns; known by its digest."""

    names: tuple[str, ...]
    digest: str

    def member(self, value: Data) -> bool:
        return isinstance(value, Held) and value.digest == self.digest

    def __str__(self) -> str:
        return f"the {'table' if len(self.names) == 1 else 'tables'} {', '.join(self.names)}"


def as_column(value: Data, element: Atom) -> Array | None:
    """Reads a list, tuple, array or series as a one-dimensional array; None where that cannot be done faithfully.

    An array keeps its type, without the methods of a subclass. A masked array is refused: what is masked is neither
    there nor missing.
    """
    try:
        if isinstance(value, str | bytes | Mapping | np.ma.MaskedArray) or getattr(value, "ndim", 1) != 1:
            return None
        if isinstance(value, np.ndarray):
            return np.asarray(value)
        return _from_entries(value, element) if hasattr(value, "__len__") else None
    except Exception:  # membership answers for any object, also for one that cannot be read
        return None


def _from_entries(value: Data, element: Atom) -> Array | None:
    if isinstance(element, Categories | Texts):
        entries = list(value)
        column = np.empty(len(entries), dtype=object)
        column[:] = entries
        return column
    array = None if isinstance(value, Sequence) or not len(value) else _try_array(value)
    if isinstance(element, Integers):
        return array if array is not None and array.dtype.kind in "iu" else _integer_column(list(value))
    if array is not None:
        return array
    entries = list(value)
    return np.array(entries, dtype=np.float64) if all(map(_is_float, entries)) else None


def column(value: Data, element: Atom) -> Array:
    """The values of a member in normal form: float64 for floats, int64 (or Python ints) for integers."""
    values = as_column(value, element)
    if values is None:
        raise NotInDomain(Vector(element))
    if isinstance(element, Floats):
        return values.astype(np.float64, copy=False)
    if isinstance(element, Integers) and values.dtype != np.int64 and values.dtype != object:
        fits = values.dtype.kind == "i" or not values.size or int(values.max()) < 2**63
        return values.astype(np.int64) if fits else values.astype(object)
    return values


def _is_float(entry: Data) -> bool:
    if isinstance(entry, float):
        return True
    number = isinstance(entry, int | np.integer | np.floating) and not isinstance(entry, bool)
    return number and exact_float(entry) is not None


def _integer_column(entries: list[Data]) -> Array | None:
    if not all(isinstance(entry, int | np.integer) and not isinstance(entry, bool) for entry in entries):
        return None
    try:
        return np.array(entries, dtype=np.int64)
    except OverflowError:
        return np.array([int(entry) for entry in entries], dtype=object)


def _try_array(value: Data) -> Array | None:
    if isinstance(value, np.ma.MaskedArray):
        return None
    try:
        array = np.asarray(value)
    except Exception:  # membership answers for any object, also for one that cannot be read
        return None
    return array if array.dtype.kind in "iuf" else None


def _inside(row: list[Number], norm: Norm, step: Fraction) -> bool:
    if not all(math.isfinite(value) for value in row if isinstance(value, float)):
        return False
    offsets = [abs(Fraction(value) * step - origin) for value, origin in zip(row, norm.origin, strict=True)]
    if norm.order == 1:
        return sum(offsets) <= norm.radius
    return sum(offset**2 for offset in offsets) <= norm.radius**2


def _check_size(domain: Vector | Matrix | Frame) -> None:
    if domain.size is not None:
        object.__setattr__(domain, "size", integer(domain.size, "size", least=0))
    object.__setattr__(domain, "least", integer(domain.least, "the least size", least=0))
    if domain.size is not None and domain.least > domain.size:
        raise BadArgument("the least size", "no more than the size", domain.least)


def _right_size(domain: Vector | Matrix | Frame, rows: int) -> bool:
    return rows >= domain.least and (domain.size is None or rows == domain.size)


def _with_size(domain: Vector | Matrix | Frame, what: str) -> str:
    if domain.size is not None:
        return f"{domain.size} {what}"
    return f"at least {domain.least} {what}" if domain.least else f"any number of {what}"
