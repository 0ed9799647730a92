"""What is public about a table that is to be synthesised: its columns, the codes of each, and what cannot occur.

Nothing here is read off the data. A column of which neither bounds nor values are known is refused, by name.
"""

from __future__ import annotations

import datetime
import itertools
import math
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeAlias, final

import numpy as np

from sfumato.entropy import Entropy
from sfumato.errors import BadArgument, did_you_mean
from sfumato.exact import integer, rational
from sfumato.learn.columns import Between, Categories, Category, Number, stated_column
from sfumato.learn.sources import columns_of
from sfumato.query.frame import Frame
from sfumato.query.nodes.expressions import Column
from sfumato.query.nodes.kinds import LEAST_INT, MOST_INT, Kind, kind_of
from sfumato.synth.columns import BinnedColumn, CodedColumn, Codes, Edge, ListedColumn, even_edges
from sfumato.synth.graph.domain import Domain
from sfumato.synth.values import moment_of
from sfumato.synth.zeros import HINT, Zeros, codebook_combinations, cut_columns, stated_combinations, zeros_of

if TYPE_CHECKING:
    import pyarrow as pa

Bins: TypeAlias = "int | Mapping[str, int | Sequence[Edge]]"
"""How many bins numbers and times have where a codebook does not say; or, by column, how many or which edges."""

Impossible: TypeAlias = Sequence[Mapping[str, object]]
"""Combinations that cannot occur: columns, each with a value, a list of values, or {"between": (lower, upper)}."""

USUAL_BINS = 16
"""A column of numbers has so many bins, unless it is said how many: more of them cost accuracy in every table."""

MOST_VALUES = 32
"""A range of whole numbers or days with no more values than this is a list of them; else it is cut into bins."""

MOST_CODES = 4_000
"""A column with more codes cannot be counted with others in good time: buy its values, or put them into groups."""

BINNED = (Kind.INT, Kind.FLOAT, Kind.DATE, Kind.TIME)
"""The kinds of values that have bins."""


@final
@dataclass(frozen=True)
class Schema:
    """The columns of a table with their codes; and, by columns, which combinations of codes cannot occur."""

    columns: tuple[CodedColumn, ...]
    zeros: Zeros = field(default_factory=dict, compare=False)

    @cached_property
    def domain(self) -> Domain:
        """Names of the columns, and how many codes each has."""
        return Domain(tuple(one.name for one in self.columns), tuple(one.size for one in self.columns))

    def __getitem__(self, name: str) -> CodedColumn:
        return self.columns[self.domain.axes([name])[0]]

    def encode(self, rows: object) -> Codes:
        """The codes of rows that one holds, a column for each; −1 where a value has none."""
        names, values = columns_of(rows)
        held = dict(zip(names, values, strict=True))
        missing = [one.name for one in self.columns if one.name not in held]
        if missing:
            raise BadArgument("the columns", f"those of the schema; {missing[0]} is missing", names)
        made = [one.encode(_listed(held[one.name])) for one in self.columns]
        return np.stack(made, axis=1) if made else np.zeros((0, 0), np.int64)

    def decode(self, codes: Codes, entropy: Entropy) -> pa.Table:
        """Values of codes, as a table of Arrow."""
        import pyarrow as pa

        return pa.table({one.name: one.decode(codes[:, place], entropy) for place, one in enumerate(self.columns)})


@final
@dataclass(frozen=True)
class Stated:
    """What somebody states of columns besides the codebook; see `Synthesizer.fit`."""

    columns: Sequence[str] | None = None
    bins: Bins | None = None
    between: Mapping[str, object] | None = None
    categories: Mapping[str, Sequence[Hashable]] | None = None
    impossible: Impossible | None = None
    schema: Schema | None = None

    def __post_init__(self) -> None:
        stated = (self.columns, self.bins, self.between, self.categories, self.impossible)
        if self.schema is not None and stated != (None,) * len(stated):
            raise BadArgument("schema", "given alone: it says all that is public about columns", "with others")

    def fields(self, table: Frame) -> dict[str, Column]:
        """The columns of a table that are to be synthesised, by name."""
        if self.schema is not None:
            return wanted_fields(table, self.schema.domain.names)
        return wanted_fields(table, self.columns, self.bins, self.between, self.categories)

    def of_table(self, table: Frame, bought: Mapping[str, CodedColumn] | None = None) -> Schema:
        """The schema of a table of a session."""
        if self.schema is not None:
            return self.schema
        return schema_of_table(
            table,
            columns=self.columns,
            bins=self.bins,
            between=self.between,
            categories=self.categories,
            impossible=self.impossible,
            bought=bought,
        )

    def of_rows(self, rows: object) -> Schema:
        """The schema of rows that one holds."""
        if self.schema is not None:
            return self.schema
        return schema_of_rows(
            rows,
            columns=self.columns,
            bins=self.bins,
            between=self.between,  # type: ignore[arg-type]
            categories=self.categories,
            impossible=self.impossible,
        )


def schema_of_table(
    table: Frame,
    *,
    columns: Sequence[str] | None = None,
    bins: Bins | None = None,
    between: Mapping[str, object] | None = None,
    categories: Mapping[str, Sequence[Hashable]] | None = None,
    impossible: Impossible | None = None,
    bought: Mapping[str, CodedColumn] | None = None,
) -> Schema:
    """Reads what a codebook, or what is stated here, says of the columns of a table; ids of units are left out.

    ``bought`` columns are coded as they are there.
    """
    wanted = wanted_fields(table, columns, bins, between, categories)
    described = codebook_bins(table)
    made: list[CodedColumn] = []
    for name, one in wanted.items():
        if bought is not None and name in bought:
            made.append(bought[name])
            continue
        by_name = isinstance(bins, Mapping) and name in bins
        asked = _asked(one, bins) if by_name else described.get(one.origin, _asked(one, bins))
        made.append(_of_field(one, asked, between, categories))
    known = codebook_combinations(table, list(wanted))
    combinations = [*known, *stated_combinations(impossible, made)]
    cut = cut_columns(made, combinations)
    return Schema(cut, zeros_of(cut, combinations))


def wanted_fields(table: Frame, columns: Sequence[str] | None, *stated: object) -> dict[str, Column]:
    """The columns to synthesise, by name: those that are named, or all that say something about units."""
    fields = {one.name: one for one in table.relation.fields}
    wanted = [name for name, one in fields.items() if one.unit is None] if columns is None else columns
    check_names(wanted, list(fields), *stated)
    for name in wanted:
        if fields[name].unit is not None:
            must = "columns that say something about people, not whose a row is: leave it out"
            raise BadArgument("columns", must, name)
    return {name: fields[name] for name in wanted}


def codebook_bins(table: Frame) -> dict[str, int | Sequence[Edge]]:
    """The bins that a codebook states, by tables and columns."""
    return {
        f"{described.name}.{column.name}": column.bins
        for described in table.asker.opened.catalog.codebook.tables
        for column in described.columns
        if column.bins is not None
    }


def schema_of_rows(
    rows: object,
    *,
    columns: Sequence[str] | None = None,
    bins: Bins | None = None,
    between: Between | None = None,
    categories: Categories | None = None,
    impossible: Impossible | None = None,
) -> Schema:
    """Reads what is stated of the columns of rows that one holds; their types are those of the frame."""
    names, values = columns_of(rows)
    wanted = names if columns is None else columns
    stated = between if isinstance(between, Mapping) else None
    check_names(wanted, names, bins, stated, categories)
    held = dict(zip(names, values, strict=True))
    made: list[CodedColumn] = []
    for name in wanted:
        if stated is not None and _temporal(stated.get(name)):
            kind = Kind.TIME if any(isinstance(end, datetime.datetime) for end in stated[name]) else Kind.DATE
            made.append(_binned(name, kind, _ends(name, stated[name], kind), _asked_of(name, bins), may_miss=True))
            continue
        known = stated_column(name, names.index(name), between, categories)
        if isinstance(known, Category):
            made.append(_stated_list(name, _kind_of_list(name, known.values), known.values, may_miss=True))
        elif isinstance(known, Number):
            whole = str(getattr(held[name], "dtype", getattr(held[name], "type", ""))).lower()
            kind = Kind.INT if whole.startswith(("int", "uint")) else Kind.FLOAT
            made.append(_binned(name, kind, (known.lower, known.upper), _asked_of(name, bins), may_miss=True))
        else:
            raise _unknown(name, table=False)
    combinations = stated_combinations(impossible, made)
    cut = cut_columns(made, combinations)
    return Schema(cut, zeros_of(cut, combinations))


def _of_field(
    column: Column,
    asked: int | Sequence[Edge] | None,
    between: Mapping[str, object] | None,
    categories: Mapping[str, Sequence[Hashable]] | None,
) -> CodedColumn:
    name, kind, facts = column.name, column.kind, column.facts
    if categories is not None and name in categories:
        values = Category.read(name, categories[name]).values
        return _stated_list(name, kind, values, may_miss=facts.nullable)
    if facts.keys is not None or kind is Kind.BOOL:
        values = facts.listed(kind) or ()
        if len(values) > MOST_CODES:
            raise _too_many(name, len(values))
        return ListedColumn(name, kind, values, facts.nullable)
    ends = facts.between if between is None or name not in between else _ends(name, between[name], kind)
    if kind not in BINNED or (ends is None and not isinstance(asked, Sequence)):
        raise _unknown(name, table=True, kind=kind)
    return _binned(name, kind, ends, asked, may_miss=facts.nullable)


def _stated_list(name: str, kind: Kind, values: Sequence[Any], *, may_miss: bool) -> CodedColumn:
    if len(values) > MOST_CODES:
        raise _too_many(name, len(values))
    kinds = {kind_of(value) for value in values if isinstance(value, bool | int | float | str | datetime.date)}
    fits = len(kinds) == 1 or kinds == {Kind.INT, Kind.FLOAT}
    if not fits or (kinds != {kind} and not (kind.numeric and kinds <= {Kind.INT, Kind.FLOAT})):
        raise BadArgument(f"the categories of {name}", f"values of its kind, {kind.value}", "others")
    return ListedColumn(name, kind, tuple(values), may_miss)


def _kind_of_list(name: str, values: Sequence[Any]) -> Kind:
    kinds = {kind_of(value) for value in values if isinstance(value, bool | int | float | str | datetime.date)}
    return Kind.FLOAT if kinds == {Kind.INT, Kind.FLOAT} else next(iter(kinds), Kind.TEXT)


def _binned(
    name: str, kind: Kind, ends: tuple[Any, Any] | None, asked: int | Sequence[Edge] | None, *, may_miss: bool
) -> CodedColumn:
    """Bins between bounds: so many of one width, or with stated edges; each value by itself, where there are few."""
    if kind.numeric and ends is not None:
        if math.inf in map(abs, ends):
            raise _unknown(name, table=True)
        low, high = (rational(end, f"a bound of {name}") for end in ends)
        whole = max(math.ceil(low), LEAST_INT), min(math.floor(high), MOST_INT)
        ends = whole if kind is Kind.INT else (low, high)
        if ends[0] > ends[1]:
            raise BadArgument(f"the bounds of {name}", "such that a whole number is between them", "others")
    if isinstance(asked, Sequence):
        edges = stated_edges(name, kind, asked, ends)
        return BinnedColumn(name, kind, edges, may_miss)
    if ends is None:
        raise _unknown(name, table=True)
    values = few_values(kind, ends, MOST_VALUES if asked is None else asked)
    if values is not None:
        return ListedColumn(name, kind, values, may_miss)
    made = even_edges(*ends, USUAL_BINS if asked is None else asked, kind)
    return BinnedColumn(name, kind, made, may_miss)


def few_values(kind: Kind, ends: tuple[Any, Any], most: int) -> tuple[Any, ...] | None:
    """All values between bounds, where there are not more than so many; None where there are."""
    low, high = ends
    if kind is Kind.INT and high - low < most:
        return tuple(range(int(low), int(high) + 1))
    if kind is Kind.DATE and (high - low).days < most:
        return tuple(low + datetime.timedelta(day) for day in range((high - low).days + 1))
    single = not low < high or (kind is Kind.FLOAT and float(low) == float(high))
    return ((float(low) if kind is Kind.FLOAT else low),) if single else None


def stated_edges(name: str, kind: Kind, stated: Sequence[Any], ends: tuple[Any, Any] | None) -> tuple[Edge, ...]:
    """Edges as somebody states them, in rising order; the bounds, where there are any, are the outermost ones."""
    edges = [_edge(name, kind, edge) for edge in stated]
    if any(not low < high for low, high in itertools.pairwise(edges)):
        raise BadArgument(f"the bins of {name}", "edges in rising order, none twice", len(edges))
    if ends is not None:
        if edges and (edges[0] < ends[0] or edges[-1] > ends[1]):
            raise BadArgument(f"the bins of {name}", "edges within its bounds", len(edges))
        edges = sorted({*edges, *ends})
    if len(edges) > MOST_CODES:
        raise _too_many(name, len(edges))
    if len(edges) < 2:
        raise BadArgument(f"the bins of {name}", "a number of bins, or two or more edges", len(edges))
    return tuple(edges)


def _edge(name: str, kind: Kind, edge: object) -> Any:
    what = f"an edge of {name}"
    if not kind.temporal:
        number = rational(edge, what)  # type: ignore[arg-type]
        if kind is Kind.INT and number.denominator != 1:
            raise BadArgument(what, "a whole number, as its values are", "another")
        return number
    return _moment(what, edge, kind)


def _moment(what: str, given: object, kind: Kind) -> datetime.date:
    """A day or a moment, as it is or as a text such as 2026-01-31."""
    try:
        read = datetime.datetime.fromisoformat(given) if isinstance(given, str) else given
    except ValueError:
        read = None
    moment = None if read != read else moment_of(read)
    if moment is None:
        raise BadArgument(what, "a date or a datetime", given)
    return moment.date() if kind is Kind.DATE else moment


def _asked(column: Column, bins: Bins | None) -> int | list[Edge] | None:
    """What is asked of a column's bins: of all columns together it is asked only of those that have bins."""
    if isinstance(bins, Mapping) and column.name in bins and column.kind not in BINNED:
        must = f"of columns of numbers, days or times; {column.name} is {column.kind.value}"
        raise BadArgument("bins", must, column.name)
    return _asked_of(column.name, bins)


def _asked_of(name: str, bins: Bins | None) -> int | list[Edge] | None:
    asked = bins.get(name) if isinstance(bins, Mapping) else bins
    if asked is None:
        return None
    if isinstance(asked, Sequence | np.ndarray) and not isinstance(asked, str):
        return list(asked)
    count = integer(asked, f"the bins of {name}", least=1)
    if count > MOST_CODES:
        raise _too_many(name, count)
    return count


def _temporal(stated: object) -> bool:
    return isinstance(stated, tuple | list) and any(isinstance(end, datetime.date) for end in stated)


def _ends(name: str, stated: object, kind: Kind) -> tuple[Any, Any]:
    if kind not in BINNED:
        raise BadArgument("between", f"of columns of numbers, days or times; {name} is {kind.value}", name)
    if not kind.temporal:
        number = Number.read(name, stated)
        return number.lower, number.upper
    if not isinstance(stated, tuple | list) or len(stated) != 2:
        raise BadArgument(f"between of {name}", "a pair (first, last)", stated)
    first, last = (_moment(f"between of {name}", end, kind) for end in stated)
    if first > last:
        raise BadArgument(f"between of {name}", "in order, the first one first", stated)
    return first, last


def check_names(wanted: Sequence[str], known: Sequence[str], *stated: object) -> None:
    """Refuses columns that there are not, or that are named twice, and names what may have been meant."""
    if isinstance(wanted, str) or not wanted or not all(isinstance(name, str) for name in wanted):
        raise BadArgument("columns", "a list of one or more names of columns", wanted)
    if len(set(wanted)) != len(wanted):
        raise BadArgument("columns", "names of columns, none twice", wanted)
    for name in (*wanted, *(name for one in stated if isinstance(one, Mapping) for name in one)):
        if name not in known:
            must = f"columns that there are: {', '.join(known)}{did_you_mean(str(name), list(known), HINT)}"
            raise BadArgument("columns", must, name)


def _unknown(name: str, *, table: bool, kind: Kind | None = None) -> BadArgument:
    where = "in the codebook, or " if table else ""
    must = (
        f"known of {name}: which codes it has must not be read off the data. State them {where}here, from what anybody "
        f"knows: between={{{name!r}: (lower, upper)}} for numbers and times, categories={{{name!r}: [...]}} for the "
        f"rest; or leave the column out, columns=[...]"
    )
    if table and kind is Kind.TEXT:
        must += f"; or buy them for a part of the loss: buy=[{name!r}]"
    if table and kind in (Kind.INT, Kind.FLOAT):
        must += f"; or buy bounds first: session.buy_bounds(columns=[{name!r}], ...)"
    return BadArgument("bounds or categories", must, None)


def _too_many(name: str, many: int) -> BadArgument:
    must = (
        f"such that it has at most {MOST_CODES:,} codes: a table with another column would be larger than memory. "
        f"State fewer bins, bins={{{name!r}: 16}}; group categories; or buy those that many have: buy=[{name!r}]"
    )
    return BadArgument(f"the column {name}", must, many)


def _listed(values: object) -> list[object]:
    if isinstance(values, np.ndarray) and values.dtype.kind == "M":
        values = values.astype("datetime64[us]")  # nanoseconds would come out as numbers
    made: list[object] = values.tolist() if isinstance(values, np.ndarray) else list(values)  # type: ignore[call-overload]
    return [value.as_py() if hasattr(value, "as_py") else value for value in made]
