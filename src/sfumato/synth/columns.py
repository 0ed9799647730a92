"""Columns as codes: what is public about a column decides which whole number stands for each of its values.

A category has a code for each of its values, a number or a time one for each of its bins; what is missing has a code of
its own, and so has, where a list of values is not all there can be, whatever is not in it. Coding looks at one value at
a time. Decoding makes a value of a code; within a bin it is drawn at random, evenly.
"""

from __future__ import annotations

import datetime
import itertools
import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any, TypeAlias, final

import numpy as np

from sfumato.dp.reading import is_missing
from sfumato.entropy import Entropy
from sfumato.errors import BadArgument
from sfumato.query.nodes.expressions import Column, Expression
from sfumato.query.nodes.kinds import Kind, Value
from sfumato.query.nodes.literals import literal
from sfumato.query.nodes.operators import call
from sfumato.query.plan.marginals import Code
from sfumato.synth.values import DAY, MICROSECOND, arrow_type, number_of, plain_value, whole_of

if TYPE_CHECKING:
    import pyarrow as pa

Codes: TypeAlias = np.ndarray[Any, np.dtype[np.integer[Any]]]
"""Whole numbers that stand for values; −1 for what has no code, whose row is left out."""

Edge: TypeAlias = int | float | Fraction | datetime.date | datetime.datetime
"""Where one bin ends and the next begins."""

Between: TypeAlias = tuple[Edge, Edge]
"""All values from a lower one to an upper one, both included."""

OTHER = "other"
"""What stands for values of a text column that are not in its list."""

MIXED = np.uint64(32)
HALF = np.uint64(2**32 - 1)


class CodedColumn(ABC):
    """A column whose values have codes: 0, 1, … and, where it ``may_miss``, the last one for what is missing."""

    name: str
    kind: Kind
    may_miss: bool

    @property
    def size(self) -> int:
        """How many codes there are."""
        return len(self.labels)

    @property
    @abstractmethod
    def labels(self) -> list[str]:
        """What each code stands for, in words."""

    @property
    @abstractmethod
    def ordered(self) -> bool:
        """Tells whether neighbouring codes stand for neighbouring values."""

    @abstractmethod
    def code(self, column: Column) -> Code:
        """The code of a row of a table, as an expression."""

    @abstractmethod
    def encode(self, values: Sequence[object]) -> Codes:
        """The codes of values that one holds."""

    @abstractmethod
    def decode(self, codes: Codes, entropy: Entropy) -> pa.Array:
        """Values for codes, as a column of Arrow."""

    @abstractmethod
    def cut(self, ranges: Sequence[Between]) -> CodedColumn:
        """The column with codes such that each of them is inside or outside of every range."""

    @abstractmethod
    def within(self, ranges: Sequence[Between]) -> np.ndarray[Any, np.dtype[np.bool_]]:
        """Tells of each code whether all values that it stands for are in one of some ranges."""

    def place(self, value: object) -> int:
        """The code of one value that somebody names; refuses a value that has none."""
        return int(self.places([value])[0])

    def places(self, values: Sequence[object]) -> Codes:
        """The codes of values that somebody names; refuses one that has none, which in data would count as missing."""
        *codes, nothing = self.encode([*values, None]).tolist()
        for code, value in zip(codes, values, strict=True):
            if code < 0 or (code == nothing and not is_missing(value)):
                raise BadArgument(f"a value of {self.name}", f"one of {', '.join(self.labels[:12])}", value)
        return np.array(codes, dtype=np.int64)


@final
@dataclass(frozen=True)
class ListedColumn(CodedColumn):
    """A column of listed values; with ``other``, whatever is not listed has a code of its own."""

    name: str
    kind: Kind
    values: tuple[Value, ...]
    may_miss: bool = True
    other: bool = False

    @property
    def labels(self) -> list[str]:
        """The values, then the rest, then what is missing."""
        return [*map(str, self.values), *([self.rest] * self.other), *(["missing"] * self.may_miss)]

    @property
    def rest(self) -> str:
        """What stands for values that are not in the list: `OTHER`, unless that is in it."""
        word = OTHER
        while word in self.values:
            word += "_"
        return word

    @property
    def ordered(self) -> bool:
        """Numbers and times stand in order; words in the order of the list, which may say nothing."""
        return self.kind in (Kind.INT, Kind.FLOAT, Kind.DATE, Kind.TIME)

    def code(self, column: Column) -> Code:
        """The place of the value in the list."""
        cases: list[Expression] = []
        for place, value in enumerate(self.values):
            cases += [call("eq", column, literal(value)), literal(place)]
        missing = literal(self.size - 1 if self.may_miss else None)
        if self.other:
            return Code(call("case", call("is_null", column), missing, *cases, literal(len(self.values))), self.size)
        return Code(call("case", *cases, missing), self.size)

    def encode(self, values: Sequence[object]) -> Codes:
        """The places of values in the list."""
        places: dict[object, int] = {value: place for place, value in enumerate(self.values)}
        missing = self.size - 1 if self.may_miss else -1
        rest = len(self.values) if self.other else missing

        def place(value: object) -> int:
            plain = plain_value(value, self.kind)
            return missing if plain is None else places.get(plain, rest)

        return np.fromiter(map(place, values), np.int64)

    def decode(self, codes: Codes, entropy: Entropy) -> pa.Array:
        """The values of codes; `rest` for the rest of texts, and missing for the rest of anything else."""
        import pyarrow as pa

        rest = [self.rest if self.kind is Kind.TEXT else None] * self.other
        listed = pa.array([*self.values, *rest, *([None] * self.may_miss)], arrow_type(self.kind))
        return listed.take(pa.array(np.asarray(codes)))

    def cut(self, ranges: Sequence[Between]) -> CodedColumn:
        """Itself: each code is one value."""
        return self

    def within(self, ranges: Sequence[Between]) -> np.ndarray[Any, np.dtype[np.bool_]]:
        """Tells of each value whether it is in a range; what is missing or not listed is in none."""
        inside = [any(low <= one <= high for low, high in ranges) for one in self.values]  # type: ignore[operator]
        return np.array(inside + [False] * (self.size - len(inside)), dtype=bool)


@final
@dataclass(frozen=True)
class BinnedColumn(CodedColumn):
    """A column of numbers, days or moments in bins: from each edge, included, to the next one; the last one closed.

    What lies beyond the first or the last edge counts as the bin there. Edges of whole numbers are whole.
    """

    name: str
    kind: Kind
    edges: tuple[Edge, ...]
    may_miss: bool = True

    def __post_init__(self) -> None:
        rising = all(low < high for low, high in itertools.pairwise(self.edges))  # type: ignore[operator]
        if len(self.edges) < 2 or not rising:
            raise BadArgument(f"the edges of {self.name}", "two or more, in rising order", len(self.edges))
        if self.kind is Kind.INT and any(edge != math.floor(edge) for edge in self.edges):  # type: ignore[arg-type]
            raise BadArgument(f"the edges of {self.name}", "whole numbers, as its values are", "others")
        if not all(low < high for low, high in itertools.pairwise(self._ends)):
            raise BadArgument(f"the edges of {self.name}", "further apart than floats can tell", len(self.edges))

    @property
    def _ends(self) -> list[int] | list[float]:
        """The edges as the numbers by which values are compared with them: floats of floats, else whole numbers."""
        if self.kind is Kind.FLOAT:
            return [float(edge) for edge in self.edges]  # type: ignore[arg-type]
        return [whole_of(edge, self.kind) or 0 for edge in self.edges]

    @property
    def labels(self) -> list[str]:
        """The bins by their edges, then what is missing."""
        ends = [_word(edge, self.kind) for edge in self.edges]
        if len(set(ends)) < len(ends):
            ends = [str(float(edge)) if isinstance(edge, Fraction) else str(edge) for edge in self.edges]
        bins = [f"{low} … {high}" for low, high in itertools.pairwise(ends)]
        return [*bins, *(["missing"] * self.may_miss)]

    @property
    def bins(self) -> int:
        """How many bins there are."""
        return len(self.edges) - 1

    @property
    def ordered(self) -> bool:
        """Bins stand in order."""
        return True

    def code(self, column: Column) -> Code:
        """The place of the bin that a value is in."""
        inner = [literal(_plain(edge, self.kind)) for edge in self.edges[1:-1]]

        def found(first: int, last: int) -> Expression:
            """The place of a bin among some, by halves: a long list of cases would be slow."""
            if first == last:
                return literal(first)
            middle = (first + last) // 2
            return call("case", call("lt", column, inner[middle]), found(first, middle), found(middle + 1, last))

        missing = literal(self.bins if self.may_miss else None)
        return Code(call("case", call("is_null", column), missing, found(0, self.bins - 1)), self.size)

    def encode(self, values: Sequence[object]) -> Codes:
        """The places of the bins of values."""
        missing = self.bins if self.may_miss else -1
        if self.kind is Kind.FLOAT:
            numbers = np.array([number_of(one) for one in values], dtype=np.float64)
            return np.where(np.isnan(numbers), missing, np.searchsorted(self._ends[1:-1], numbers, side="right"))
        wholes = [whole_of(one, self.kind) for one in values]
        gone = np.array([one is None for one in wholes], dtype=bool)
        held = np.array([0 if one is None else one for one in wholes], dtype=np.int64)
        inner = np.array(self._ends[1:-1], dtype=np.int64)
        return np.where(gone, missing, np.searchsorted(inner, held, side="right"))

    def decode(self, codes: Codes, entropy: Entropy) -> pa.Array:
        """A value for each code, drawn evenly from what is in its bin."""
        import pyarrow as pa

        codes = np.asarray(codes, dtype=np.int64)
        gone = codes >= self.bins
        bins, words = np.where(gone, 0, codes), entropy.words(len(codes))
        if self.kind is Kind.FLOAT:
            ends = np.array(self._ends, dtype=np.float64)
            most = np.append(np.nextafter(ends[1:-1], -np.inf), ends[-1])
            share = (words >> np.uint64(11)).astype(np.float64) * 2.0**-53
            low, high = ends[bins], most[bins]
            return pa.array(np.clip(low * (1 - share) + high * share, low, high), mask=gone)
        first = np.array(self._ends[:-1], dtype=np.int64)
        widths = [int(high) - int(low) for low, high in itertools.pairwise(self._ends)]
        widths[-1] += 1  # its upper edge is in it
        many = np.array([min(width, 2**64 - 1) for width in widths], dtype=np.uint64)
        whole = (first.view(np.uint64)[bins] + _share_of(words, many[bins])).view(np.int64)
        drawn = pa.array(whole, mask=gone)
        return drawn.cast(pa.int32()).cast(pa.date32()) if self.kind is Kind.DATE else drawn.cast(arrow_type(self.kind))

    def cut(self, ranges: Sequence[Between]) -> CodedColumn:
        """The column with further edges where ranges begin and where they end."""
        more = [edge for low, high in ranges for edge in (low, _after(high, self.kind))]
        inside = [edge for edge in more if self.edges[0] < edge < self.edges[-1]]  # type: ignore[operator]
        made = sorted({*self.edges, *inside})
        return BinnedColumn(self.name, self.kind, tuple(made), self.may_miss)

    def within(self, ranges: Sequence[Between]) -> np.ndarray[Any, np.dtype[np.bool_]]:
        """Tells of each bin whether it is in a range; what is missing is in none."""
        beyond = [*self.edges[1:-1], _after(self.edges[-1], self.kind)]
        inside = [
            any(start <= low and end <= _after(high, self.kind) for start, high in ranges)  # type: ignore[operator]
            for low, end in zip(self.edges, beyond, strict=False)
        ]
        return np.array(inside + [False] * self.may_miss, dtype=bool)


def _share_of(words: np.ndarray[Any, np.dtype[np.uint64]], many: np.ndarray[Any, np.dtype[np.uint64]]) -> Any:
    """Words of 64 bits as whole numbers below others: word × many / 2⁶⁴, rounded down."""
    high, low, more, less = words >> MIXED, words & HALF, many >> MIXED, many & HALF
    middle = high * less + ((low * less) >> MIXED)
    return high * more + (middle >> MIXED) + ((low * more + (middle & HALF)) >> MIXED)


def _plain(edge: Edge, kind: Kind) -> Value:
    """An edge as a constant of a query."""
    if kind is Kind.INT:
        return math.floor(edge)  # type: ignore[arg-type]
    return float(edge) if kind is Kind.FLOAT else edge  # type: ignore[arg-type,return-value]


def _after(edge: Edge, kind: Kind) -> Edge:
    """The next value after an edge."""
    if kind is Kind.FLOAT:
        return Fraction(math.nextafter(float(edge), math.inf))  # type: ignore[arg-type]
    if kind is Kind.INT:
        return math.floor(edge) + 1  # type: ignore[arg-type]
    return edge + (MICROSECOND if kind is Kind.TIME else DAY)  # type: ignore[operator]


def _word(edge: Edge, kind: Kind) -> str:
    if isinstance(edge, datetime.date):
        return edge.isoformat()
    return str(math.floor(edge)) if kind is Kind.INT else f"{float(edge):.6g}"


def even_edges(low: Edge, high: Edge, bins: int, kind: Kind) -> tuple[Edge, ...]:
    """Edges of bins of one width from a lower end to an upper one; of whole numbers and days no bin is empty.

    >>> even_edges(Fraction(0), Fraction(10), 4, Kind.INT)
    (Fraction(0, 1), Fraction(3, 1), Fraction(5, 1), Fraction(8, 1), Fraction(10, 1))
    """
    match low, high:
        case datetime.datetime(), datetime.datetime():
            width = (high - low) / bins
            return tuple(dict.fromkeys([*(low + width * place for place in range(bins)), high]))
        case datetime.date(), datetime.date():
            days = (high - low).days
            steps = dict.fromkeys([*(days * place // bins for place in range(bins)), days])
            return tuple(low + datetime.timedelta(step) for step in steps)
    start, end = Fraction(low), Fraction(high)  # type: ignore[arg-type]
    made = [start + (end - start) * place / bins for place in range(bins)]
    if kind is Kind.INT:
        return tuple(dict.fromkeys([*(Fraction(math.ceil(one)) for one in made), Fraction(math.floor(end))]))
    floats = {float(one): one for one in (*made, end)}  # what floats cannot tell apart is one edge
    return tuple(floats.values())
