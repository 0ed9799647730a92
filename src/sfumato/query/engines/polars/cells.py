"""Cells in Polars: rows with their keys and with what is added up, bounded unit by unit (`bounding`), then in order.

Keys that are texts, floats or several are looked up in their list, or numbered, before units are bounded: a number is
what a rank has room for. A number depends on everybody's keys, so that their hash decides which groups of a unit are
kept; their order, which tells two with the same hash apart, is nobody's.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import final

import polars as pl

from sfumato.query.engines.bounding import Names, RowColumns, bounding_plan
from sfumato.query.engines.operands import constant
from sfumato.query.engines.polars.bounding import bounded_numbers
from sfumato.query.engines.polars.expressions import cast, key, value
from sfumato.query.engines.polars.numbers_on_grids import product
from sfumato.query.engines.polars.relations import Relations
from sfumato.query.engines.polars.scope import TYPES, Piece, Scope, chosen
from sfumato.query.engines.polars.source import Source
from sfumato.query.nodes.expressions import Expression
from sfumato.query.nodes.kinds import Kind
from sfumato.query.plan.engine_plan import Cells, Distinct, ExactAggregate, PublicKeys, Rows, Total, Units

PLACE, HASHED = "place", "hashed"


@final
@dataclass(frozen=True)
class Inputs:
    """The columns v1, v2, … that aggregates look at: for each one, or None where it counts all rows."""

    made: dict[str, pl.Expr] = field(default_factory=dict)
    counted: dict[tuple[Expression | None, frozenset[Expression]], str] = field(default_factory=dict)
    columns: list[str | None] = field(default_factory=list)

    def add(self, piece: Piece) -> str:
        """The column that holds something."""
        name = f"v{len(self.made) + 1}"
        self.made[name] = piece.made
        return name


def frame_of(cells: Cells, relations: Relations) -> pl.LazyFrame:
    """The frame: columns k0, k1, … or place, then i0, i1, … of inner keys, then n0, n1, … of tallies, in order."""
    source = relations.source(cells.source)
    scope = source.scope(relations.names)
    made = {f"k{place}": key(of, scope).made for place, of in enumerate(cells.keys)}
    made |= {f"i{place}": key(of, scope).made for place, of in enumerate(cells.inner)}
    inputs = _inputs(cells, scope)
    rows = chosen(scope.over(source.frame), {**made, **inputs.made}, source.identity)
    return CellFrame(cells, source, inputs, relations).ordered(rows)


def _inputs(cells: Cells, scope: Scope) -> Inputs:
    """What aggregates look at. Sums come first: what counts the same rows looks at the same column."""
    inputs = Inputs()
    times = cells.bound.rows or 1
    totals: dict[int, str] = {}
    for place, tally in enumerate(cells.tallies):
        if isinstance(tally, Total):
            made = product([(term.of, term.grid) for term in tally.terms], scope, times=times)
            totals[place] = inputs.add(_where(made, tally, scope))
            inputs.counted.setdefault((tally.where, frozenset(term.of for term in tally.terms)), totals[place])
    for place, tally in enumerate(cells.tallies):
        match tally:
            case Total():
                inputs.columns.append(totals[place])
            case Rows(None, None) | Units(None):
                inputs.columns.append(None)
            case Rows() | Units():
                inputs.columns.append(_presence(tally, inputs, scope))
            case Distinct():
                inputs.columns.append(inputs.add(_where(_different(tally, scope), tally, scope)))
    return inputs


def _different(tally: Distinct, scope: Scope) -> Piece:
    """What is to be counted once: a value, steps of a grid, or values side by side where none of them is missing."""
    if tally.grid is not None:
        return product([(tally.of, tally.grid)], scope, times=1)
    pieces = [key(of, scope) for of in tally.operands]
    if len(pieces) == 1:
        return pieces[0]

    def beside(*made: pl.Expr) -> pl.Expr:
        there = pl.all_horizontal(one.is_not_null() for one in made)
        return pl.when(there).then(pl.struct(*(one.alias(f"d{place}") for place, one in enumerate(made))))

    return scope.fill(beside, *pieces)


def _presence(tally: Rows | Units, inputs: Inputs, scope: Scope) -> str:
    of = tally.of if isinstance(tally, Rows) else None
    what = (tally.where, frozenset(() if of is None else (of,)))
    if what not in inputs.counted:
        one = pl.lit(1, dtype=pl.Int8)
        there = Piece(one)
        if of is not None:
            there = scope.fill(lambda made: pl.when(made.is_not_null()).then(one), value(of, scope), times=1)
        inputs.counted[what] = inputs.add(_where(there, tally, scope))
    return inputs.counted[what]


def _where(piece: Piece, tally: ExactAggregate, scope: Scope) -> Piece:
    if tally.where is None:
        return piece
    condition = cast(tally.where, Kind.BOOL, scope)
    return scope.fill(lambda met, made: pl.when(met).then(made), condition, piece, times=1)


@final
@dataclass(frozen=True)
class CellFrame:
    """Puts the frame together, from the rows with their keys and inputs to numbers in order."""

    cells: Cells
    source: Source
    inputs: Inputs
    relations: Relations

    def ordered(self, rows: pl.LazyFrame) -> pl.LazyFrame:
        """The whole frame: numbers with their keys or places, in order."""
        cells, keys = self.cells, tuple(f"k{place}" for place in range(len(self.cells.keys)))
        wide = len(keys) > 1 or any(of.kind in (Kind.TEXT, Kind.FLOAT) for of in cells.keys)
        shown = keys
        if cells.listed is not None and keys:
            shown = (PLACE,)
            numbers = self._listed(rows, keys, cells.listed, before=wide or not cells.listed.certain)
        elif wide and cells.bound.groups is not None and self.source.identity:
            numbers = self._numbered(rows, keys)
        else:
            numbers = self._bounded(rows, keys, keys)
        order = [*shown, *self._inner]
        made = [f"n{place}" for place in range(len(cells.tallies))]
        numbers = chosen(numbers, {}, [*order, *made])
        return numbers.sort(order, nulls_last=False) if order else numbers

    def _bounded(self, rows: pl.LazyFrame, keys: Names, hashed: Names) -> pl.LazyFrame:
        values = (*self._inner, *self.inputs.made)
        units = tuple(self.source.identity)
        columns = RowColumns(units, keys, hashed, self._inner, values, tuple(self.inputs.columns))
        return bounded_numbers(bounding_plan(self.cells, columns), rows, self.relations.hashing)

    @property
    def _inner(self) -> Names:
        return tuple(f"i{place}" for place in range(len(self.cells.inner)))

    def _listed(self, rows: pl.LazyFrame, keys: Names, public: PublicKeys, *, before: bool) -> pl.LazyFrame:
        """Looks keys up in their list ``before`` units are bounded, so that rows with others do not count; or after."""
        listed = listed_frame(self.cells, public)
        if before:
            looked_up = rows.join(listed, on=list(keys), how="inner", nulls_equal=True)
            return self._bounded(looked_up, (PLACE,), (PLACE,))
        return self._bounded(rows, keys, keys).join(listed, on=list(keys), how="inner", nulls_equal=True)

    def _numbered(self, rows: pl.LazyFrame, keys: Names) -> pl.LazyFrame:
        """Numbers keys in their order before units are bounded, and names them afterwards."""
        codes = rows.select(keys).unique().sort(keys, nulls_last=True).with_row_index(PLACE)
        codes = codes.with_columns(self.relations.hashing.hashed(keys).alias(HASHED)).cache()
        coded = rows.join(codes, on=list(keys), how="inner", nulls_equal=True)
        numbers = self._bounded(coded, (PLACE,), (HASHED,))
        return numbers.join(codes.drop(HASHED), on=PLACE, how="inner")


def listed_frame(cells: Cells, public: PublicKeys) -> pl.LazyFrame:
    """Public keys as columns k0, k1, …, and the place of each row."""
    made = [
        pl.Series(f"k{place}", [constant(one, of.kind) for one in values], dtype=TYPES[of.kind])
        for place, (of, values) in enumerate(zip(cells.keys, public.columns, strict=True))
    ]
    return pl.LazyFrame(made).with_row_index(PLACE)
