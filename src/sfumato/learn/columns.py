"""Columns that models are fitted on: what is public about each, and how its values become numbers.

A number is moved into its bounds and from there to [−1, 1]; a category is its place in a public list. Both are
functions of one value, the same for arrays as for tables, so that they move no neighbours apart and cost nothing.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from typing import Any, TypeAlias, final

import numpy as np
from numpy.typing import NDArray

from sfumato.core.domains import Bounds
from sfumato.dp.reading import as_list, is_missing, numbers
from sfumato.errors import BadArgument, did_you_mean
from sfumato.exact import Number as AnyNumber
from sfumato.exact import integer, rational
from sfumato.query.nodes.catalog import column_named
from sfumato.query.nodes.expressions import Expression
from sfumato.query.nodes.literals import literal
from sfumato.query.nodes.operators import call
from sfumato.query.nodes.relations import Relation
from sfumato.query.plan.stable import Binned, Coded, Entry, Scaled

Floats: TypeAlias = NDArray[np.float64]

Between: TypeAlias = (
    Mapping[str, tuple[AnyNumber, AnyNumber]] | tuple[AnyNumber, AnyNumber] | Sequence[tuple[AnyNumber, AnyNumber]]
)
"""Public bounds: by the names of columns, one pair for all of them, or one pair for each in order."""

Categories: TypeAlias = Mapping[str, Sequence[Hashable]]
"""All values that columns may have, by their names."""

LARGEST = 10**150
"""Bounds are no further from 0: squares of greater numbers are no floats."""

MOST_BINS = 10_000
"""A number has at most this many bins."""

OTHER = ("any other value",)
"""Stands for a value that is none of a list's: it is equal to no value of a table."""


Edges: TypeAlias = int | Mapping[str, Sequence[AnyNumber]]
"""How many bins of one width every number has; or, by the names of columns, the edges between bins of some."""


@final
@dataclass(frozen=True)
class Number:
    """A column of numbers between public bounds."""

    name: str
    lower: Fraction
    upper: Fraction

    def __post_init__(self) -> None:
        if not -LARGEST <= self.lower <= self.upper <= LARGEST:
            raise BadArgument(f"the bounds of {self.name}", "in order, and within 1e150 of 0", (self.lower, self.upper))

    @staticmethod
    def read(name: str, between: object) -> Number:
        """Reads bounds as people write them; they must be finite and in order."""
        bounds = Bounds.read(between)  # type: ignore[arg-type]
        return Number(name, bounds.lower, bounds.upper)

    @property
    def kind(self) -> int:
        """Its kind among the columns of a Gram matrix."""
        return 0

    @property
    def names(self) -> list[str]:
        """The name of its one coordinate."""
        return [self.name]

    @property
    def middle(self) -> float:
        """The middle between the bounds, which becomes 0."""
        return float(self.lower) / 2 + float(self.upper) / 2

    @property
    def half(self) -> float:
        """Half of the way between the bounds; 1 where they are equal, so that all values become 0."""
        return (float(self.upper) / 2 - float(self.lower) / 2) or 1.0

    def encode(self, values: object) -> Floats:
        """Values as numbers between −1 and 1; NaN where one is missing."""
        made: Floats = np.clip(read_numbers(values, self.name), float(self.lower), float(self.upper))
        made -= self.middle
        made /= self.half
        return np.clip(made, -1.0, 1.0, out=made)

    def decode(self, scaled: Floats) -> Floats:
        """Numbers between −1 and 1 as values."""
        return np.asarray(scaled * self.half + self.middle)

    def entry(self, source: Relation) -> Entry:
        """The same for a table."""
        return self.entry_of(column_named(self.name, source.fields, "this table"))

    def entry_of(self, value: Expression) -> Scaled:
        """The same for an expression of a table's columns."""
        return Scaled(value, self.lower, self.upper)


@final
@dataclass(frozen=True)
class Category:
    """A column of values out of a public list; any other value is none of them."""

    name: str
    values: tuple[Any, ...]

    @staticmethod
    def read(name: str, values: object) -> Category:
        """Reads a list of values: at least one, and none twice."""
        if isinstance(values, str) or not isinstance(values, Sequence | np.ndarray):
            raise BadArgument(f"the categories of {name}", "a list of values", values)
        listed = tuple(value.item() if isinstance(value, np.generic) else value for value in values)
        try:
            hash(listed)
        except TypeError:
            raise BadArgument(
                f"the categories of {name}", "numbers, texts, truth values, days", "other values"
            ) from None
        if not listed or len(set(listed)) != len(listed) or any(is_missing(value) for value in listed):
            raise BadArgument(f"the categories of {name}", "one or more values, none twice and none missing", listed)
        return Category(name, listed)

    @property
    def kind(self) -> int:
        """Its kind among the columns of a Gram matrix: how many values there are."""
        return len(self.values)

    @property
    def names(self) -> list[str]:
        """The names of its coordinates, one for each value."""
        return [f"{self.name}={value}" for value in self.values]

    def encode(self, values: object) -> Floats:
        """Values as their places in the list; −1 for any other, NaN where one is missing."""
        if isinstance(kind := getattr(values, "dtype", None), np.dtype) and kind.kind in "biufU":
            distinct, inverse = np.unique(np.asarray(values), return_inverse=True)
            return self._codes(distinct.tolist())[inverse]
        return self._codes(as_list(values))

    def _codes(self, listed: Sequence[object]) -> Floats:
        places = {value: float(place) for place, value in enumerate(self.values)}

        def place_of(value: object) -> float:
            if is_missing(value):
                return np.nan
            try:
                return places.get(value, -1.0)
            except TypeError:  # a list, which is none of them
                return -1.0

        return np.array([place_of(value) for value in listed], dtype=np.float64)

    def entry(self, source: Relation) -> Entry:
        """The same for a table."""
        return Coded(column_named(self.name, source.fields, "this table"), self.values)


@final
@dataclass(frozen=True)
class Square:
    """The square of a number, as 2s² − 1 of the scaled number s, which is between −1 and 1 again."""

    of: Number

    @property
    def name(self) -> str:
        """That of the number."""
        return self.of.name

    @property
    def kind(self) -> int:
        """Its kind among the columns of a Gram matrix."""
        return 0

    @property
    def names(self) -> list[str]:
        """The name of its one coordinate."""
        return [f"{self.name}²"]

    def encode(self, values: object) -> Floats:
        """Values as numbers between −1 and 1; NaN where one is missing."""
        scaled = self.of.encode(values)
        return np.asarray(scaled * scaled * 2.0 - 1.0)

    def entry(self, source: Relation) -> Entry:
        """The same for a table."""
        return Scaled(column_named(self.name, source.fields, "this table"), self.of.lower, self.of.upper, squared=True)


@final
@dataclass(frozen=True)
class Bins:
    """A number as one of the bins between public edges: below the first, …, from the last on."""

    of: Number
    edges: tuple[float, ...]

    @staticmethod
    def read(of: Number, bins: object) -> Bins:
        """Reads how many bins of one width there are within the bounds, or the edges between them."""
        if isinstance(bins, Sequence | np.ndarray) and not isinstance(bins, str):
            edges = tuple(float(rational(edge, f"an edge of {of.name}")) for edge in bins)
            if any(right <= left for left, right in pairwise(edges)):
                raise BadArgument(f"the edges of {of.name}", "in rising order", bins)
            return Bins(of, edges)
        count = integer(bins, "bins", least=1)
        if count > MOST_BINS:
            raise BadArgument(
                "bins", f"at most {MOST_BINS:,}: each is a number of its own, with noise of its own", bins
            )
        width = of.upper - of.lower
        return Bins(of, tuple(float(of.lower + width * place / count) for place in range(1, count)) if width else ())

    @property
    def name(self) -> str:
        """That of the number."""
        return self.of.name

    @property
    def kind(self) -> int:
        """Its kind among the columns of a Gram matrix: how many bins there are."""
        return len(self.edges) + 1

    @property
    def names(self) -> list[str]:
        """The names of the bins."""
        ends = ["", *(f"{edge:.6g}" for edge in self.edges), ""]
        return [f"{self.name}={low}…{high}" for low, high in pairwise(ends)]

    def encode(self, values: object) -> Floats:
        """Values as the places of their bins; NaN where one is missing."""
        given = read_numbers(values, self.name)
        places = np.searchsorted(np.array(self.edges), given, side="right").astype(np.float64)
        return np.where(np.isnan(given), np.nan, places)

    def entry(self, source: Relation) -> Entry:
        """The same for a table."""
        return Binned(column_named(self.name, source.fields, "this table"), self.edges)


@final
@dataclass(frozen=True)
class Match:
    """Whether a value is a stated one: place 0 if it is, 1 if another; where ``alone``, another has no place."""

    name: str
    value: Any
    alone: bool = False

    @property
    def kind(self) -> int:
        """Its kind among the columns of a Gram matrix."""
        return 1 if self.alone else 2

    @property
    def names(self) -> list[str]:
        """The names of its coordinates."""
        return [f"{self.name}={self.value}", f"{self.name}≠{self.value}"][: self.kind]

    def encode(self, values: object) -> Floats:
        """Values as places; NaN where one is missing."""
        listed = values.tolist() if isinstance(values, np.ndarray) else list(values)  # type: ignore[call-overload]
        other = -1.0 if self.alone else 1.0
        places = (np.nan if is_missing(one) else 0.0 if one == self.value else other for one in listed)
        return np.fromiter(places, dtype=np.float64, count=len(listed))

    def entry(self, source: Relation) -> Entry:
        """The same for a table."""
        matches = call("eq", column_named(self.name, source.fields, "this table"), literal(self.value))
        return Coded(matches, (True,) if self.alone else (True, False))


Column: TypeAlias = Number | Category
"""What is public about a column that a model is fitted on."""

Made: TypeAlias = Column | Square | Bins | Match
"""A column, or what is made of one value of it."""


def read_numbers(values: object, name: str) -> Floats:
    """Reads a column of arrays as numbers; refuses one that holds texts or dates, and never says what it holds.

    Arrays are the caller's own: one text among numbers is refused as a column of texts is. In tables, where nobody may
    see that, what is no number is missing.
    """
    try:
        return numbers(values)
    except BadArgument:
        must = (
            "numbers; of texts, or of anything else, state all that there can be: "
            f"categories={{{name!r}: [...]}}; of days and times, make numbers first"
        )
    raise BadArgument(f"the column {name}", must, "other values")


def decoded(row: Floats, columns: Sequence[Column]) -> np.ndarray[Any, Any]:
    """One row as a model takes it, from numbers in [−1, 1] and places of categories; other values are none of them."""
    made = np.empty((1, len(columns)), dtype=object)
    for place, (column, value) in enumerate(zip(columns, row, strict=True)):
        if isinstance(column, Number):
            made[0, place] = float(column.decode(value))
        else:
            made[0, place] = column.values[int(value)] if value >= 0 else OTHER
    return made


def numbers_alone(columns: Sequence[Made], what: str) -> tuple[Floats, Floats]:
    """Half of the way between the bounds of each column, and its middle; refuses categories."""
    numbers = [one for one in columns if isinstance(one, Number)]
    if len(numbers) != len(columns):
        raise BadArgument("the columns", f"numbers with bounds: categories have no {what}", "categories")
    return np.array([one.half for one in numbers]), np.array([one.middle for one in numbers])


def stated_column(name: str, place: int, between: Between | None, categories: Categories | None) -> Column | None:
    """Reads what was stated of a column; None where nothing was."""
    if categories is not None and name in categories:
        return Category.read(name, categories[name])
    if isinstance(between, Mapping):
        return Number.read(name, between[name]) if name in between else None
    if between is None:
        return None
    if isinstance(between, tuple) and len(between) == 2 and not isinstance(between[0], Sequence):
        return Number.read(name, between)
    pairs = list(between)
    return Number.read(name, pairs[place]) if place < len(pairs) else None


def known_column(name: str, source: Relation) -> Column | None:
    """Reads what a codebook says of a column of a table: its bounds, or its list of values; None where neither."""
    column = column_named(name, source.fields, "this table")
    if column.kind.numeric and column.facts.numbers is not None:
        return Number(name, *column.facts.numbers)
    listed = column.facts.listed(column.kind) if not column.kind.temporal else None
    return None if listed is None else Category(name, tuple(listed))


def check_stated(between: Between | None, categories: Categories | None, names: Sequence[str]) -> None:
    """Refuses what was stated of columns that there are not, or in a form that cannot be read."""
    if not isinstance(between, Sequence | Mapping | None) or isinstance(between, str):
        must = "bounds: (lower, upper) for all columns, a pair for each in order, or {name: (lower, upper)}"
        raise BadArgument("between", must, between)
    if not isinstance(categories, Mapping | None):
        raise BadArgument("categories", "lists of values by the names of columns: {'sex': ['f', 'm']}", categories)
    for what, stated in (("between", between), ("categories", categories)):
        if isinstance(stated, Mapping):
            for name in stated:
                if name not in names:
                    must = f"about columns that there are: {', '.join(names)}{did_you_mean(str(name), list(names))}"
                    raise BadArgument(what, must, name)
    pairs = isinstance(between, Sequence) and not (len(between) == 2 and not isinstance(between[0], Sequence))
    if pairs and len(between or ()) < len(names) - 1:
        raise BadArgument("between", f"one pair (lower, upper) for each of {len(names)} columns", len(between or ()))


def unstated(name: str, *, table: bool) -> BadArgument:
    """The refusal of a column of which neither bounds nor categories are known."""
    codebook = "in the codebook, or " if table else ""
    must = (
        f"known of {name}: without them one row could move the model without limit, and looking for them in the data "
        f"would tell about it. State them {codebook}where the model is made: between={{{name!r}: (lower, upper)}} for "
        f"numbers, categories={{{name!r}: [...]}} for the rest, from what anybody knows"
    )
    return BadArgument("bounds or categories", must, None)


def binned(columns: Sequence[Column], bins: Edges | None) -> list[Column | Bins]:
    """The columns, numbers in bins where that is asked for."""
    if isinstance(bins, Mapping):
        names = [column.name for column in columns if isinstance(column, Number)]
        if strange := [name for name in bins if name not in names]:
            raise BadArgument("bins", f"about columns of numbers: {', '.join(names) or 'there are none'}", strange[0])
    made: list[Column | Bins] = []
    for column in columns:
        asked = bins.get(column.name) if isinstance(bins, Mapping) else bins
        made.append(column if asked is None or not isinstance(column, Number) else Bins.read(column, asked))
    return made
