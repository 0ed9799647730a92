"""Columns as codes: what is public about a column decides which whole number stands for each of its values.

A category has a code for each of its values, a number or a time one for each of its bins; what is missing has a code of
its own, and so has, where a list of values is not all there can be, whatever is not in it. Coding looks at one value at
a time. Decoding makes a value of a code; within a bin it is drawn at random, evenly.
"""

from __future__ import annotations

import datetime
import itertools
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

if TYPE_CHECKING:
    import pyarrow as pa

Codes: TypeAlias = np.ndarray[Any, np.dtype[np.integer[Any]]]
"""Whole numbers that stand for values; −1 for what has no code, whose row is left out."""

Edge: TypeAlias = int | float | Fraction | datetime.date | datetime.datetime

OTHER = "other"
"""What stands for values of a text column that are not in its list."""

EPOCH = datetime.datetime(1970, 1, 1)


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

    def place(self, value: object) -> int:
        """The code of one value that somebody names; refuses a value that has none."""
        code = int(self.encode([value])[0])
        if code < 0:
            raise BadArgument(f"a value of {self.name}", f"one of {', '.join(self.labels[:12])}", value)
        return code


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
        return [*map(str, self.values), *([OTHER] * self.other), *(["missing"] * self.may_miss)]

    @property
    def ordered(self) -> bool:
        """Numbers and times stand in order; words in the order of the list, which may say nothing."""
        return self.kind in (Kind.INT, Kind.FLOAT, Kind.DATE, Kind.TIME)

    def code(self, column: Column) -> Code:
        """The place of the value in the list."""
        cases: list[Expression] = []
        for place, value in enumerate(self.values):
            cases += [call("eq", column, literal(value)), literal(place)]
        rest: Value = len(self.values) if self.other else len(self.values) if self.may_miss else None
        if self.other:
            missing = literal(len(self.values) + 1 if self.may_miss else None)
            return Code(call("case", call("is_null", column), missing, *cases, literal(rest)), self.size)
        return Code(call("case", *cases, literal(rest)), self.size)

    def encode(self, values: Sequence[object]) -> Codes:
        """The places of values in the list."""
        places: dict[object, int] = {value: place for place, value in enumerate(self.values)}
        missing = self.size - 1 if self.may_miss else -1
        rest = len(self.values) if self.other else missing
        return np.fromiter((missing if is_missing(one) else places.get(one, rest) for one in values), np.int64)

    def decode(self, codes: Codes, entropy: Entropy) -> pa.Array:
        """The values of codes; `OTHER` for the rest of texts, and missing for the rest of anything else."""
        import pyarrow as pa

        rest = [OTHER if self.kind is Kind.TEXT else None] * self.other
        listed = pa.array([*self.values, *rest, *([None] * self.may_miss)], arrow_type(self.kind))
        return listed.take(pa.array(codes))


@final
@dataclass(frozen=True)
class BinnedColumn(CodedColumn):
    """A column of numbers, days or moments in bins: from each edge, included, to the next one; the last one closed.

    What lies beyond the first or the last edge counts as the bin there.
    """

    name: str
    kind: Kind
    edges: tuple[Edge, ...]
    may_miss: bool = True

    def __post_init__(self) -> None:
        rising = all(low < high for low, high in zip(self.edges, self.edges[1:], strict=False))  # type: ignore[operator]
        if len(self.edges) < 2 or not rising:
            raise BadArgument(f"the edges of {self.name}", "two or more, in rising order", len(self.edges))

    @property
    def labels(self) -> list[str]:
        """The bins by their edges, then what is missing."""
        ends = [_word(edge) for edge in self.edges]
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
        cases: list[Expression] = []
        for place, edge in enumerate(self.edges[1:-1]):
            cases += [call("lt", column, literal(_plain(edge, self.kind))), literal(place)]
        missing = literal(self.bins if self.may_miss else None)
        return Code(call("case", call("is_null", column), missing, *cases, literal(self.bins - 1)), self.size)

    def encode(self, values: Sequence[object]) -> Codes:
        """The places of the bins of values."""
        missing = self.bins if self.may_miss else -1
        gone = np.fromiter((is_missing(one) for one in values), bool)
        held = np.array([0.0 if skip else number_of(one) for one, skip in zip(values, gone, strict=True)])
        inner = np.array([number_of(edge) for edge in self.edges[1:-1]])
        return np.where(gone | np.isnan(held), missing, np.searchsorted(inner, held, side="right"))

    def decode(self, codes: Codes, entropy: Entropy) -> pa.Array:
        """A value for each code, drawn evenly from what is in its bin."""
        import pyarrow as pa

        ends = np.array([number_of(edge) for edge in self.edges])
        gone = codes >= self.bins
        bins = np.where(gone, 0, codes)
        low, high = ends[bins], ends[bins + 1]
        share = (entropy.words(len(codes)) >> np.uint64(11)).astype(np.float64) * 2.0**-53
        if self.kind is Kind.FLOAT:
            return pa.array(np.minimum(low + share * (high - low), high), mask=gone)
        last = bins == self.bins - 1  # whose upper edge is in it
        first, beyond = np.ceil(low), np.where(last, np.floor(high) + 1, np.ceil(high))
        whole = np.minimum(first + np.floor(share * np.maximum(beyond - first, 1.0)), ends[-1]).astype(np.int64)
        return (
            pa.array(whole, mask=gone)
            .cast(arrow_type(self.kind) if self.kind is not Kind.DATE else pa.int32())
            .cast(arrow_type(self.kind))
        )


def arrow_type(kind: Kind) -> pa.DataType:
    """The type of Arrow that holds a kind of values."""
    import pyarrow as pa

    types = {
        Kind.BOOL: pa.bool_(),
        Kind.INT: pa.int64(),
        Kind.FLOAT: pa.float64(),
        Kind.TEXT: pa.string(),
        Kind.DATE: pa.date32(),
        Kind.TIME: pa.timestamp("us"),
    }
    return types[kind]


def number_of(value: object) -> float:
    """A number, the days of a day since 1970, or the microseconds of a moment since then; NaN for anything else."""
    match value:
        case datetime.datetime():
            moment = value if value.tzinfo is None else value.astimezone(datetime.UTC).replace(tzinfo=None)
            return float((moment - EPOCH) // datetime.timedelta(microseconds=1))
        case datetime.date():
            return float(value.toordinal() - EPOCH.toordinal())
        case str():
            return float("nan")
    try:
        return float(value)  # type: ignore[arg-type]
    except (TypeError, ValueError, OverflowError):
        return float("nan")


def _plain(edge: Edge, kind: Kind) -> Value:
    """An edge as a constant of a query."""
    if isinstance(edge, Fraction):
        return int(edge) if edge.denominator == 1 and kind is Kind.INT else float(edge)
    return edge


def _word(edge: Edge) -> str:
    return f"{float(edge):.6g}" if isinstance(edge, int | float | Fraction) else edge.isoformat()


def even_edges(low: Edge, high: Edge, bins: int, kind: Kind) -> tuple[Edge, ...]:
    """Edges of bins of one width from a lower end to an upper one; of whole numbers and days no bin is empty.

    >>> even_edges(Fraction(0), Fraction(10), 4, Kind.INT)
    (Fraction(0, 1), Fraction(3, 1), Fraction(6, 1), Fraction(8, 1), Fraction(10, 1))
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
        made = [Fraction(-(-one // 1)) for one in made]
    return tuple(dict.fromkeys([*made, end]))
