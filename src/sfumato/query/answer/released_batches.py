"""Released rows as batches of Arrow: what the columns of a written release are, decided before any row is there."""

from __future__ import annotations

import datetime
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any, final

import numpy as np

from sfumato.query.answer.assemble import Drawn, LevelColumns
from sfumato.query.nodes.expressions import Column, Expression
from sfumato.query.nodes.kinds import LEAST_INT, MOST_INT, Kind
from sfumato.query.nodes.operators.released import Released
from sfumato.query.nodes.questions import statistics_in
from sfumato.release.answer import Role
from sfumato.release.vectors import Array, Vector
from sfumato.release.written import WrittenColumn

if TYPE_CHECKING:
    import pyarrow as pa

FAR = 1 << 40
"""Sums of whole numbers up to this size stay within 64 bits for as many rows as a table has in practice."""

MADE_UP: Mapping[Kind, Any] = {
    Kind.BOOL: False,
    Kind.INT: 0,
    Kind.FLOAT: 0.0,
    Kind.TEXT: "",
    Kind.DATE: datetime.date(2000, 1, 1),
    Kind.TIME: datetime.datetime(2000, 1, 1),
}
"""A key of each kind, to see what columns are like: it is no datum."""


@final
@dataclass(frozen=True)
class ReleasedColumn:
    """A column of a written release: how it is made, its kind in the file, and whether it has intervals.

    ``key`` is the place of the key that it is, where it is one and nothing else.
    """

    written: WrittenColumn
    kind: Kind
    key: int | None = None

    @property
    def names(self) -> tuple[str, ...]:
        """The names that it has in the file: its own, and those of the ends of its intervals."""
        column = self.written
        return (column.name, column.low, column.high) if column.low else (column.name,)


def columns_in(columns: LevelColumns, confidence: Fraction) -> tuple[ReleasedColumn, ...]:
    """What the columns will be, for all data: seen on one group that is made up, with zeros."""
    question, level = columns.question, columns.level
    keys = tuple(as_objects([MADE_UP[question.keys[at][1].kind]]) for at in level.places)
    numbers = {tally: np.zeros(1, np.int64) for tally in columns.noises}
    if level.chooser is not None:
        numbers[level.chooser] = np.zeros(1, np.int64)
    with np.errstate(all="ignore"):
        made = columns.made(Drawn(keys, numbers), confidence)
    taken = {name for name, _ in question.columns}
    places = {question.keys[at][0]: place for place, at in enumerate(level.places)}
    released = []
    for name, expression in question.columns:
        cells = made[name]
        noisy = any(True for _ in statistics_in(expression))
        low, high = _ends(name, taken) if noisy and isinstance(cells, Vector) else ("", "")
        key = places.get(expression.name) if isinstance(expression, Column) else None
        column = WrittenColumn(name, Role.VALUE if noisy else Role.KEY, low, high)
        released.append(ReleasedColumn(column, _kind(expression, cells, columns), key))
    return tuple(released)


def _ends(name: str, taken: set[str]) -> tuple[str, str]:
    """Names the ends of intervals as answers do: n_low and n_high, with underscores where those are taken."""
    ends = []
    for end in ("low", "high"):
        named = f"{name}_{end}"
        while named in taken:
            named += "_"
        taken.add(named)
        ends.append(named)
    return ends[0], ends[1]


def _kind(made: Expression, cells: Released, columns: LevelColumns) -> Kind:
    """The kind in the file: whole numbers that might grow beyond 64 bits are written as floats, whatever they are."""
    if not isinstance(cells, Vector) or isinstance(made, Column):
        return made.kind
    tallies = [tally for one in statistics_in(made) for tally in columns.recipes[one].tallies]
    far = any(columns.level.influence(tally).most >= FAR for tally in tallies)
    return Kind.INT if cells.whole and not far else Kind.FLOAT


def computed_with(columns: LevelColumns) -> frozenset[int]:
    """The places of the keys whose values something is computed from: others are only passed on."""
    question = columns.question
    used = set() if question.having is None else {column.name for column in question.having.columns()}
    for _, made in question.columns:
        if not isinstance(made, Column):
            used |= {column.name for column in made.columns()}
    return frozenset(place for place, at in enumerate(columns.level.places) if question.keys[at][0] in used)


def schema_of(columns: Sequence[ReleasedColumn]) -> pa.Schema:
    """The types of the columns of a written release."""
    import pyarrow as pa

    fields = []
    for column in columns:
        name, *ends = column.names
        fields += [pa.field(name, arrow_type(column.kind)), *(pa.field(end, pa.float64()) for end in ends)]
    return pa.schema(fields)


def arrow_type(kind: Kind) -> pa.DataType:
    """The type of Arrow that a kind of values is written in."""
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


def batch_of(
    columns: Sequence[ReleasedColumn], made: Mapping[str, Released], keys: Mapping[int, Sequence[Any]]
) -> pa.RecordBatch:
    """Lays released cells out as a batch; of ``keys``, made cells are places among these, and else themselves."""
    import pyarrow as pa

    arrays: list[pa.Array] = []
    for column in columns:
        cells, kind = made[column.written.name], arrow_type(column.kind)
        if column.key is not None and column.key in keys:
            arrays.append(_taken(keys[column.key], cells, kind))
        elif isinstance(cells, Vector):
            arrays += _numbers(cells, column)
        else:
            arrays.append(pa.array(cells.tolist(), kind))
    return pa.RecordBatch.from_arrays(arrays, schema=schema_of(columns))


def _taken(keys: Sequence[Any], places: Released, kind: pa.DataType) -> pa.Array:
    """The keys at some places, as a column."""
    import pyarrow as pa

    if isinstance(places, Vector):
        raise TypeError(places)
    if isinstance(keys, pa.Array):
        return keys.take(pa.array(places, pa.int64())).cast(kind)
    return pa.array(as_objects(keys)[places].tolist(), kind)


def _numbers(cells: Vector, column: ReleasedColumn) -> list[pa.Array]:
    """A column of numbers with its ends; None where there is no answer, and where then nothing is known."""
    import pyarrow as pa

    missing = np.isnan(cells.floats)
    values = _within_64_bits(cells.values) if column.kind is Kind.INT else cells.floats
    arrays = [pa.array(values, arrow_type(column.kind), mask=missing)]
    nowhere = missing & ~(np.isfinite(cells.low) & np.isfinite(cells.high))
    ends = (cells.low, cells.high) if column.written.low else ()
    return [*arrays, *(pa.array(end, pa.float64(), mask=nowhere) for end in ends)]


def _within_64_bits(values: Array) -> Array:
    """Whole numbers as 64 bits hold them; one that is further out becomes the farthest that there is."""
    if values.dtype == np.int64:
        return values
    if values.dtype == object:
        return np.array([min(max(int(value), LEAST_INT), MOST_INT) for value in values], dtype=np.int64)
    floats = np.nan_to_num(np.asarray(values, dtype=np.float64))
    inside = np.where(np.abs(floats) < 2.0**63, floats, 0.0).astype(np.int64)
    return np.where(floats >= 2.0**63, MOST_INT, np.where(floats <= -(2.0**63), LEAST_INT, inside))


def as_objects(values: Sequence[Any]) -> Array:
    """Values as an array of Python objects, which conditions and expressions are worked out on."""
    if isinstance(values, np.ndarray):
        return values
    made = np.empty(len(values), dtype=object)
    made[:] = values.to_pylist() if hasattr(values, "to_pylist") else list(values)
    return made
