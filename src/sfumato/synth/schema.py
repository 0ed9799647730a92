"""What is public about a table that is to be synthesised: its columns, the codes of each, and what cannot occur.

Nothing here is read off the data. A column of which neither bounds nor values are known is refused, by name.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeAlias, cast, final

import numpy as np

from sfumato.entropy import Entropy
from sfumato.errors import BadArgument, did_you_mean
from sfumato.exact import integer, rational
from sfumato.learn.columns import Between, Categories, Category, Number, stated_column
from sfumato.learn.sources import columns_of
from sfumato.query.frame import Frame
from sfumato.query.nodes.expressions import Column
from sfumato.query.nodes.kinds import Kind, kind_of
from sfumato.synth.columns import BinnedColumn, CodedColumn, Codes, Edge, ListedColumn, even_edges, number_of
from sfumato.synth.graph.domain import Domain

if TYPE_CHECKING:
    import pyarrow as pa

Bins: TypeAlias = "int | Mapping[str, int | Sequence[Edge]]"
"""How many bins numbers and times have; or, by the names of columns, how many or which edges."""

USUAL_BINS = 16
"""A column of numbers has so many bins, unless it is said how many: more of them cost accuracy in every table."""

MOST_VALUES = 32
"""A range of whole numbers or days with no more values than this is a list of them; else it is cut into bins."""

MOST_CODES = 20_000
"""A column with more codes cannot be held in tables with others: its values must be bought, or put into groups."""


@final
@dataclass(frozen=True)
class Schema:
    """The columns of a table with their codes."""

    columns: tuple[CodedColumn, ...]

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


def schema_of_table(
    table: Frame,
    *,
    columns: Sequence[str] | None = None,
    bins: Bins | None = None,
    between: Mapping[str, object] | None = None,
    categories: Mapping[str, Sequence[Hashable]] | None = None,
) -> Schema:
    """Reads what a codebook, or what is stated here, says of the columns of a table; ids of units are left out."""
    fields = {one.name: one for one in table.relation.fields}
    wanted = [name for name, one in fields.items() if one.unit is None] if columns is None else list(columns)
    _check_names(wanted, list(fields), bins, between, categories)
    for name in wanted:
        if fields[name].unit is not None:
            must = "columns that say something about people, not whose a row is: leave it out"
            raise BadArgument("columns", must, name)
    return Schema(tuple(_of_field(fields[name], bins, between, categories) for name in wanted))


def schema_of_rows(
    rows: object,
    *,
    columns: Sequence[str] | None = None,
    bins: Bins | None = None,
    between: Mapping[str, object] | None = None,
    categories: Categories | None = None,
) -> Schema:
    """Reads what is stated of the columns of rows that one holds; their types are those of the frame."""
    names, values = columns_of(rows)
    wanted = names if columns is None else list(columns)
    _check_names(wanted, names, bins, between, categories)
    held = dict(zip(names, values, strict=True))
    made: list[CodedColumn] = []
    for name in wanted:
        known = stated_column(name, 0, cast(Between, between), categories)
        if isinstance(known, Category):
            made.append(ListedColumn(name, kind_of(known.values[0]), known.values))
        elif isinstance(known, Number):
            whole = str(getattr(held[name], "dtype", "")).lower().startswith(("int", "uint"))
            kind = Kind.INT if whole else Kind.FLOAT
            made.append(_binned(name, kind, known.lower, known.upper, _asked(name, bins), may_miss=True))
        else:
            raise _unknown(name, table=False)
    return Schema(tuple(made))


def _of_field(
    column: Column,
    bins: Bins | None,
    between: Mapping[str, object] | None,
    categories: Mapping[str, Sequence[Hashable]] | None,
) -> CodedColumn:
    name, kind, facts = column.name, column.kind, column.facts
    asked = _asked(name, bins)
    if categories is not None and name in categories:
        return ListedColumn(name, kind, Category.read(name, categories[name]).values, facts.nullable)
    ends = facts.between if between is None or name not in between else _ends(name, between[name], kind)
    many = facts.many(kind)
    named = isinstance(bins, Mapping) and name in bins  # how many bins there are otherwise is not said of categories
    if many is not None and ((facts.keys is not None and not named) or (asked is None and many <= MOST_VALUES)):
        if many > MOST_CODES:
            raise _too_many(name, many)
        return ListedColumn(name, kind, tuple(facts.listed(kind) or ()), facts.nullable)
    if ends is None or kind not in (Kind.INT, Kind.FLOAT, Kind.DATE, Kind.TIME):
        raise _unknown(name, table=True)
    low, high = ends
    if not np.isfinite(number_of(low)) or not np.isfinite(number_of(high)):
        raise _unknown(name, table=True)
    return _binned(name, kind, low, high, asked, may_miss=facts.nullable)


def _binned(
    name: str, kind: Kind, low: Edge, high: Edge, asked: int | Sequence[Edge] | None, *, may_miss: bool
) -> CodedColumn:
    """Bins between bounds: so many of one width, or with stated edges; one value, where the bounds are equal."""
    if isinstance(asked, Sequence):
        edges = tuple(edge if kind.temporal else rational(edge, f"an edge of {name}") for edge in asked)  # type: ignore[arg-type]
        return BinnedColumn(name, kind, edges, may_miss)
    if not low < high:  # type: ignore[operator]
        value: Any = int(low) if kind is Kind.INT else float(low) if kind is Kind.FLOAT else low  # type: ignore[arg-type]
        return ListedColumn(name, kind, (value,), may_miss)
    return BinnedColumn(name, kind, even_edges(low, high, USUAL_BINS if asked is None else asked, kind), may_miss)


def _asked(name: str, bins: Bins | None) -> int | Sequence[Edge] | None:
    asked = bins.get(name) if isinstance(bins, Mapping) else bins
    if asked is None or (isinstance(asked, Sequence | np.ndarray) and not isinstance(asked, str)):
        return asked if asked is None else list(asked)
    count = integer(asked, f"the bins of {name}", least=1)
    if count > MOST_CODES:
        raise _too_many(name, count)
    return count


def _ends(name: str, stated: object, kind: Kind) -> tuple[Edge, Edge]:
    if kind.temporal and isinstance(stated, Sequence) and len(stated) == 2:
        return stated[0], stated[1]
    number = Number.read(name, stated)
    return number.lower, number.upper


def _check_names(wanted: Sequence[str], known: Sequence[str], *stated: object) -> None:
    if isinstance(wanted, str) or not wanted or len(set(wanted)) != len(wanted):
        raise BadArgument("columns", "one or more names of columns, none twice", wanted)
    for name in (*wanted, *(name for one in stated if isinstance(one, Mapping) for name in one)):
        if name not in known:
            must = f"columns that there are: {', '.join(known)}{did_you_mean(str(name), list(known))}"
            raise BadArgument("columns", must, name)


def _unknown(name: str, *, table: bool) -> BadArgument:
    where = "in the codebook, or " if table else ""
    must = (
        f"known of {name}: which codes it has must not be read off the data. State them {where}here, from what anybody "
        f"knows: between={{{name!r}: (lower, upper)}} for numbers and times, categories={{{name!r}: [...]}} for the "
        f"rest; or leave the column out, columns=[...]"
    )
    if table:
        must += f"; or buy them for a part of the loss: buy=[{name!r}]"
    return BadArgument("bounds or categories", must, None)


def _too_many(name: str, many: int) -> BadArgument:
    must = (
        f"such that it has at most {MOST_CODES:,} codes: a table with another column would be larger than memory. "
        f"State fewer bins, bins={{{name!r}: 16}}; group categories; or buy those that many have: buy=[{name!r}]"
    )
    return BadArgument(f"the column {name}", must, many)


def _listed(values: object) -> list[object]:
    made: list[object] = values.tolist() if isinstance(values, np.ndarray) else list(values)  # type: ignore[call-overload]
    return [value.as_py() if hasattr(value, "as_py") else value for value in made]
