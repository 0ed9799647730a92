"""Cells as SQL: rows with their keys and with what is added up, bounded unit by unit (`bounding`), then in order.

Keys that are texts, or several, are looked up in their list or numbered before units are bounded, because units are
sorted by them; a number depends on everybody's keys, so that their hash decides which groups of a unit are kept. Where
all keys are of a public table that rows are joined with, the rows of that table are numbered, and those joined with get
their numbers with the rest.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import final

from sfumato.query.engines.bounding import Names, RowColumns, ScaleDown, bounding_plan
from sfumato.query.engines.sql.bounding import apart_numbers, bounded_numbers, same
from sfumato.query.engines.sql.dialect import Dialect
from sfumato.query.engines.sql.expressions import cast, largest, product, value
from sfumato.query.engines.sql.folds import key
from sfumato.query.engines.sql.relations import Relations, is_cheap, no_fewer_rows
from sfumato.query.engines.sql.source import Source
from sfumato.query.engines.sql.statement import Piece, Scope, Statement, listing
from sfumato.query.nodes.expressions import Expression
from sfumato.query.nodes.kinds import Kind
from sfumato.query.nodes.relations import Join, Match, Where
from sfumato.query.plan.engine_plan import Cells, Distinct, ExactAggregate, PublicKeys, Rows, Total, Units

PLACE, HASH = "\0place", "\0hash"
"""Fields that no query can name: the number and the hash of the keys that a row of a public table has."""

OFTEN = 4
"""Numbers that are factors of at least so many products each are made such that to multiply them is quick."""


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
    source, public = relations.source(cells.source), ""
    numbered = _is_numbered(cells, relations.statement.dialect)
    if source.units and numbered and (join := _naming_join(cells)) is not None:
        public, right = _numbered_rows(cells, join, relations)
        source = replace(relations, given=(join.right, right)).source(cells.source)
    scope = source.scope(relations.statement)
    keys = [narrow(of, scope) if source.units else key(of, scope) for of in cells.keys]
    inner = [narrow(of, scope) if source.units else key(of, scope) for of in cells.inner]
    inputs = _inputs(cells, scope)
    columns = [f"{piece.text} AS k{place}" for place, piece in enumerate(keys)]
    if public:
        columns = [f"{source.fields[PLACE]} AS place", f"{source.fields[HASH]} AS h"]
    columns += [f"{piece.text} AS i{place}" for place, piece in enumerate(inner)]
    columns += [f"{text} AS {name}" for text, name in inputs.made.items()]
    shown = listing([*source.identity, *columns]) or "1 AS one"

    def over(rows: str) -> str:
        return f"SELECT {shown} FROM ({scope.over(rows)}) AS q"

    return CellStatement(cells, source, inputs, relations, over, public).ordered(over(source.text))


def _is_numbered(cells: Cells, dialect: Dialect) -> bool:
    """Tells whether keys that nobody listed are numbered: units are sorted by them, and they are wide."""
    if not dialect.number_type:
        return False
    wide = len(cells.keys) > 1 or any(of.kind is Kind.TEXT for of in cells.keys)
    return cells.listed is None and wide and cells.bound.groups is not None


def _naming_join(cells: Cells) -> Join | None:
    """The join, below conditions, with a public table that all keys are of; none else."""
    join = cells.source
    while isinstance(join, Where):
        join = join.source
    if not isinstance(join, Join) or join.match is not Match.INNER or join.right.private:
        return None
    return join if all(join.right.field(one.name) for of in cells.keys for one in of.columns()) else None


def _numbered_rows(cells: Cells, join: Join, relations: Relations) -> tuple[str, Source]:
    """Numbers the keys of the public side of a join: their parts of a WITH, and its rows with number and hash."""
    right, statement = relations.source(join.right), relations.statement
    scope, fields = right.scope(statement), list(right.fields.values())
    keys = tuple(f"k{place}" for place in range(len(cells.keys)))
    named = [f"{narrow(of, scope).text} AS {name}" for of, name in zip(cells.keys, keys, strict=True)]
    rows = f"SELECT {listing([*fields, *named])} FROM ({scope.over(right.text)}) AS q"
    columns = listing([*(f"a.{name}" for name in fields), "b.place", "b.h"])
    text = f"SELECT {columns} FROM coming AS a JOIN codes AS b ON {same('a', 'b', keys, statement.dialect)}"
    parts = _codes(rows, keys, statement, cheap=is_cheap(join.right))
    return parts, Source(text, 0, {**right.fields, PLACE: "place", HASH: "h"}, right.held)


def _codes(rows: str, keys: Names, statement: Statement, *, cheap: bool) -> str:
    """The parts of a WITH that number the keys of rows in their order, and hash them."""
    dialect, by = statement.dialect, listing(keys)
    order = listing(f"{name} NULLS LAST" for name in keys)
    number = f"CAST(row_number() OVER (ORDER BY {order}) AS {dialect.number_type}) AS place"
    hashed = f"{dialect.key_hash.format(by)} AS h"
    codes = f"SELECT *, {number}, {hashed} FROM (SELECT DISTINCT {by} FROM coming) AS q"
    return f"coming AS {dialect.anew if cheap else dialect.once} ({rows}), codes AS {dialect.once} ({codes})"


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
    products = [tally.terms for tally in cells.tallies if isinstance(tally, Total) and len(tally.terms) > 1]
    often = len(products) >= OFTEN * len({term for terms in products for term in terms})
    totals: dict[int, str] = {}
    for place, tally in enumerate(cells.tallies):
        if isinstance(tally, Total):
            terms = [(term.of, term.grid) for term in tally.terms]
            made = product(terms, scope, times=times, shared=bool(products), often=often)
            totals[place] = inputs.add(_where(made, tally, scope).text)
            size = math.prod(max(map(abs, term.grid.ends)) for term in tally.terms)
            scope.statement.sizes[totals[place]] = max(size, scope.statement.sizes.get(totals[place], 0))
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
    """Puts the statement together, from the rows with their keys and inputs to numbers in order.

    ``over`` makes keys and inputs, of a SELECT of rows with the source's columns. ``public`` are the parts of a WITH in
    which keys were numbered already: then rows have numbers and no keys.
    """

    cells: Cells
    source: Source
    inputs: Inputs
    relations: Relations
    over: Callable[[str], str]
    public: str = ""

    @property
    def statement(self) -> Statement:
        """The statement that it is a part of."""
        return self.relations.statement

    def ordered(self, rows: str) -> str:
        """The whole statement: numbers with their keys or places, in order."""
        cells, keys = self.cells, tuple(f"k{place}" for place in range(len(self.cells.keys)))
        wide = len(keys) > 1 or any(of.kind is Kind.TEXT for of in cells.keys)
        shown = keys
        if cells.listed is not None and keys:
            shown = ("place",)
            numbers = self._listed(rows, keys, cells.listed, before=wide or not cells.listed.certain)
        elif self.public:
            numbers = self._named(self.public, rows, keys)
        elif _is_numbered(cells, self.statement.dialect) and self.source.identity:
            numbers = self._numbered(rows, keys)
        else:
            numbers = self._bounded(rows, keys, keys)
        order = listing(f"{name} NULLS FIRST" for name in (*shown, *self._inner))
        return f"SELECT * FROM ({numbers}) AS q" + (f" ORDER BY {order}" if order else "")

    def _bounded(self, rows: str, keys: Names, hashed: Names) -> str:
        values = (*self._inner, *self.inputs.made.values())
        units = tuple(self.source.identity)
        cheap = is_cheap(self.cells.source)
        columns = RowColumns(units, keys, hashed, self._inner, values, tuple(self.inputs.columns), cheap)
        plan = bounding_plan(self.cells, columns)
        if isinstance(plan, ScaleDown) and plan.apart and not self.statement.dialect.cells_first:
            source, counted = self.source, self.relations.source(no_fewer_rows(self.cells.source)).text
            return apart_numbers(plan, source.text, source.fields.values(), counted, self.over, self.statement)
        return bounded_numbers(plan, rows, self.statement)

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
        listed, alike = self.statement.table(columns), same("a", "b", keys, self.statement.dialect)
        if not before:
            numbers = self._bounded(rows, keys, keys)
            return f"SELECT b.place, a.* FROM ({numbers}) AS a JOIN {listed} AS b ON {alike}"
        columns_kept = listing([*self._others, "b.place"])
        looked_up = f"SELECT {columns_kept} FROM ({rows}) AS a JOIN {listed} AS b ON {alike}"
        return self._bounded(looked_up, ("place",), ("place",))

    def _numbered(self, rows: str, keys: Names) -> str:
        """Numbers keys in their order before units are bounded, and names them afterwards.

        A number depends on everybody's keys, their order and their hash on nobody's: these decide which ones are kept.
        """
        columns = listing([*self._others, "b.place", "b.h"])
        alike = same("a", "b", keys, self.statement.dialect)
        coded = f"SELECT {columns} FROM coming AS a JOIN codes AS b ON {alike}"
        return self._named(_codes(rows, keys, self.statement, cheap=is_cheap(self.cells.source)), coded, keys)

    def _named(self, codes: str, rows: str, keys: Names) -> str:
        """Bounds units by the numbers of keys, and names the keys afterwards."""
        numbers, shown = self._bounded(rows, ("place",), ("h",)), listing(f"b.{name}" for name in keys)
        return f"WITH {codes} SELECT {shown}, a.* FROM ({numbers}) AS a JOIN codes AS b ON a.place = b.place"
