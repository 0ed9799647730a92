"""Cells as SQL: rows with their keys and with what is added up, bounded unit by unit (`bounding`), then in order.

Keys that are texts, or several, are looked up in their list or numbered before units are bounded, because units are
sorted by them; a number depends on everybody's keys, so that their hash decides which groups of a unit are kept.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import final

from sfumato.query.engines.bounding import Names, RowColumns, bounding_plan
from sfumato.query.engines.sql.bounding import bounded_numbers, same
from sfumato.query.engines.sql.expressions import cast, largest, product, value
from sfumato.query.engines.sql.folds import key
from sfumato.query.engines.sql.relations import Relations, is_cheap
from sfumato.query.engines.sql.source import Source
from sfumato.query.engines.sql.statement import Piece, Scope, Statement, listing
from sfumato.query.nodes.expressions import Expression
from sfumato.query.nodes.kinds import Kind
from sfumato.query.plan.engine_plan import Cells, Distinct, ExactAggregate, PublicKeys, Rows, Total, Units


@final
@dataclass(frozen=True)
class Inputs:
    """The columns v1, v2, … that aggregates look at: for each one, or None where it counts all rows."""

    made: dict[str, str] = field(default_factory=dict)
    counted: dict[tuple[Expression | None, frozenset[Expression]], str] = field(default_factory=dict)
    columns: list[str | None] = field(default_factory=list)

    def add(self, text: str) -> str:
        """The column that holds something."""
        return self.made.setdefault(text, f"v{len(self.made) + 1}")


def statement_of(cells: Cells, relations: Relations) -> str:
    """The statement: columns k0, k1, … or place, then i0, i1, … of inner keys, then n0, n1, … of tallies."""
    source = relations.source(cells.source)
    scope = source.scope(relations.statement)
    keys = [narrow(of, scope) if source.units else key(of, scope) for of in cells.keys]
    inner = [narrow(of, scope) if source.units else key(of, scope) for of in cells.inner]
    inputs = _inputs(cells, scope)
    columns = [f"{piece.text} AS k{place}" for place, piece in enumerate(keys)]
    columns += [f"{piece.text} AS i{place}" for place, piece in enumerate(inner)]
    columns += [f"{text} AS {name}" for text, name in inputs.made.items()]
    rows = f"SELECT {listing([*source.identity, *columns]) or '1 AS one'} FROM ({scope.over(source.text)})"
    return CellStatement(cells, source, inputs, relations.statement).ordered(rows)


def narrow(of: Expression, scope: Scope) -> Piece:
    """A key in as few bytes as its bounds allow: units are sorted by it."""
    grouped, most = key(of, scope), largest(of, scope)
    types = [] if of.kind is not Kind.INT or most is None else scope.statement.dialect.key_types
    narrowest = next((name for bits, name in types if most is not None and most < 2**bits), None)
    return grouped if narrowest is None else scope.fill(f"CAST({{0}} AS {narrowest})", grouped)


def _inputs(cells: Cells, scope: Scope) -> Inputs:
    """What aggregates look at. Sums come first: what counts the same rows looks at the same column."""
    inputs = Inputs()
    times = cells.bound.rows or 1
    totals: dict[int, str] = {}
    for place, tally in enumerate(cells.tallies):
        if isinstance(tally, Total):
            made = product([(term.of, term.grid) for term in tally.terms], scope, times=times)
            totals[place] = inputs.add(_where(made, tally, scope).text)
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
                inputs.columns.append(inputs.add(_where(_different(tally, scope), tally, scope).text))
    return inputs


def _different(tally: Distinct, scope: Scope) -> Piece:
    """What is to be counted once: a value, steps of a grid, or values side by side where none of them is missing."""
    if tally.grid is not None:
        return product([(tally.of, tally.grid)], scope, times=1)
    pieces = [value(of, scope) for of in tally.operands]
    if len(pieces) == 1:
        return pieces[0]
    places = [f"{{{place}}}" for place in range(len(pieces))]
    there = " AND ".join(f"{place} IS NOT NULL" for place in places)
    beside = scope.statement.dialect.distinct_tuple.format(listing(places))
    return scope.fill(f"CASE WHEN {there} THEN {beside} END", *pieces)


def _presence(tally: Rows | Units, inputs: Inputs, scope: Scope) -> str:
    of = tally.of if isinstance(tally, Rows) else None
    what = (tally.where, frozenset(() if of is None else (of,)))
    if what not in inputs.counted:
        there = Piece("1") if of is None else scope.fill("CASE WHEN {0} IS NOT NULL THEN 1 END", value(of, scope))
        inputs.counted[what] = inputs.add(_where(there, tally, scope).text)
    return inputs.counted[what]


def _where(piece: Piece, tally: ExactAggregate, scope: Scope) -> Piece:
    if tally.where is None:
        return piece
    return scope.fill("CASE WHEN {0} THEN {1} END", cast(tally.where, Kind.BOOL, scope), piece)


@final
@dataclass(frozen=True)
class CellStatement:
    """Puts the statement together, from the rows with their keys and inputs to numbers in order."""

    cells: Cells
    source: Source
    inputs: Inputs
    statement: Statement

    def ordered(self, rows: str) -> str:
        """The whole statement: numbers with their keys or places, in order."""
        cells, keys = self.cells, tuple(f"k{place}" for place in range(len(self.cells.keys)))
        wide = len(keys) > 1 or any(of.kind is Kind.TEXT for of in cells.keys)
        shown = keys
        if cells.listed is not None and keys:
            shown = ("place",)
            numbers = self._listed(rows, keys, cells.listed, before=wide or not cells.listed.certain)
        elif cells.listed is None and wide and self.source.identity and cells.bound.groups is not None:
            numbers = self._numbered(rows, keys)
        else:
            numbers = self._bounded(rows, keys, keys)
        order = listing(f"{name} NULLS FIRST" for name in (*shown, *self._inner))
        return f"SELECT * FROM ({numbers})" + (f" ORDER BY {order}" if order else "")

    def _bounded(self, rows: str, keys: Names, hashed: Names) -> str:
        values = (*self._inner, *self.inputs.made.values())
        units = tuple(self.source.identity)
        columns = RowColumns(units, keys, hashed, self._inner, values, tuple(self.inputs.columns))
        return bounded_numbers(bounding_plan(self.cells, columns), rows, self.statement)

    @property
    def _inner(self) -> Names:
        return tuple(f"i{place}" for place in range(len(self.cells.inner)))

    @property
    def _others(self) -> list[str]:
        """The columns of rows besides their keys."""
        return [f"a.{name}" for name in (*self.source.identity, *self._inner, *self.inputs.made.values())]

    def _listed(self, rows: str, keys: Names, public: PublicKeys, *, before: bool) -> str:
        """Looks keys up in their list ``before`` units are bounded, so that rows with others do not count; or after."""
        columns = tuple(zip((of.kind for of in self.cells.keys), public.columns, strict=True))
        listed = self.statement.table(columns)
        if not before:
            numbers = self._bounded(rows, keys, keys)
            return f"SELECT b.place, a.* FROM ({numbers}) AS a JOIN {listed} AS b ON {same('a', 'b', keys)}"
        columns_kept = listing([*self._others, "b.place"])
        looked_up = f"SELECT {columns_kept} FROM ({rows}) AS a JOIN {listed} AS b ON {same('a', 'b', keys)}"
        return self._bounded(looked_up, ("place",), ("place",))

    def _numbered(self, rows: str, keys: Names) -> str:
        """Numbers keys in their order before units are bounded, and names them afterwards.

        A number depends on everybody's keys, their order and their hash on nobody's: these decide which ones are kept.
        """
        dialect, by = self.statement.dialect, listing(keys)
        order = listing(f"{name} NULLS LAST" for name in keys)
        number = f"CAST(row_number() OVER (ORDER BY {order}) AS {dialect.number_type}) AS place"
        hashed = f"{dialect.key_hash.format(by)} AS h"
        codes = f"SELECT *, {number}, {hashed} FROM (SELECT DISTINCT {by} FROM coming)"
        columns = listing([*self._others, "b.place", "b.h"])
        coded = f"SELECT {columns} FROM coming AS a JOIN codes AS b ON {same('a', 'b', keys)}"
        word = dialect.anew if is_cheap(self.cells.source) else dialect.once
        parts = [f"coming AS {word} ({rows})", f"codes AS {dialect.once} ({codes})"]
        numbers = self._bounded(coded, ("place",), ("h",))
        shown = listing(f"b.{name}" for name in keys)
        return f"WITH {listing(parts)} SELECT {shown}, a.* FROM ({numbers}) AS a JOIN codes AS b ON a.place = b.place"
