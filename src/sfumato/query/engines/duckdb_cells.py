"""Cells as SQL of DuckDB: what one unit may add is bounded by that unit's rows alone, then everything is added up.

Groups of a unit are ranked by a hash of its identity and their keys, then by the keys: so many ranks are so many
groups, whatever the hash does, and which ones they are depends on that unit's rows alone. Rows of the first groups are
kept. Then, of the ways that are right, the cheapest is taken:

- direct: rows are units, or nothing more is bounded: rows are added up;
- corrected: rows are added up, and the few units that have more than m rows in a group are looked at once more: what
  scaling takes away from them is added, with its sign;
- scaled: rows become one cell for each unit and group, each cell is scaled down, and cells are added up;
- cut: rows of a unit and group are ranked as groups are, too many are left out, and the others are added up. Rows that
  look alike are numbered first, and the number is hashed too: else they would stay or go together, and what a unit has
  often would count no more than what it has once.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import final

from sfumato.query.cells import Cells, Distinct, Rows, Tally, Total, Units
from sfumato.query.engines.duckdb_expressions import cast, largest, product, value
from sfumato.query.engines.duckdb_relations import Relations, Source, key
from sfumato.query.engines.duckdb_text import Piece, Scope, Statement, listing, mixed, numbered
from sfumato.query.expressions import Expression
from sfumato.query.kinds import Kind
from sfumato.query.relations import Scan, Select, Where


@final
@dataclass(frozen=True)
class Inputs:
    """Are the columns v1, v2, … that tallies look at: for each tally one, or None where it counts all rows."""

    made: dict[str, str] = field(default_factory=dict)
    counted: dict[tuple[Expression | None, frozenset[Expression]], str] = field(default_factory=dict)
    columns: list[str | None] = field(default_factory=list)

    def add(self, text: str) -> str:
        """Gives the column that holds something."""
        return self.made.setdefault(text, f"v{len(self.made) + 1}")


def statement_of(cells: Cells, relations: Relations) -> str:
    """Gives the statement: columns k0, k1, … or place, then i0, i1, … of inner keys, then n0, n1, … of tallies."""
    source = relations.source(cells.source)
    scope = source.scope(relations.statement)
    keys = [narrow(of, scope) if source.units else key(of, scope) for of in cells.keys]
    inner = [key(of, scope) for of in cells.inner]
    inputs = _inputs(cells, scope)
    columns = [f"{piece.text} AS k{place}" for place, piece in enumerate(keys)]
    columns += [f"{piece.text} AS i{place}" for place, piece in enumerate(inner)]
    columns += [f"{text} AS {name}" for text, name in inputs.made.items()]
    rows = f"SELECT {listing([*source.identity, *columns]) or '1 AS one'} FROM ({scope.over(source.text)})"
    shape = Shape(cells, source, inputs, relations.statement)
    return shape.ordered(rows)


def narrow(of: Expression, scope: Scope) -> Piece:
    """Gives a key in as few bytes as its bounds allow: units are sorted by it."""
    found, most = key(of, scope), largest(of, scope)
    if of.kind is not Kind.INT or most is None or most >= 2**31:
        return found
    return scope.fill(f"CAST({{0}} AS {'SMALLINT' if most < 2**15 else 'INTEGER'})", found)


def _inputs(cells: Cells, scope: Scope) -> Inputs:
    """Gives what tallies look at. Sums come first: what counts the same rows looks at the same column."""
    found = Inputs()
    times = cells.bound.rows or 1
    totals: dict[int, str] = {}
    for place, tally in enumerate(cells.tallies):
        if isinstance(tally, Total):
            made = product([(term.of, term.grid) for term in tally.terms], scope, times=times)
            totals[place] = found.add(_where(made, tally, scope).text)
            found.counted.setdefault((tally.where, frozenset(term.of for term in tally.terms)), totals[place])
    for place, tally in enumerate(cells.tallies):
        match tally:
            case Total():
                found.columns.append(totals[place])
            case Rows(None, None) | Units(None):
                found.columns.append(None)
            case Rows() | Units():
                found.columns.append(_presence(tally, found, scope))
            case Distinct(of):
                found.columns.append(found.add(_where(value(of, scope), tally, scope).text))
    return found


def _presence(tally: Rows | Units, found: Inputs, scope: Scope) -> str:
    of = tally.of if isinstance(tally, Rows) else None
    what = (tally.where, frozenset(() if of is None else (of,)))
    if what not in found.counted:
        there = Piece("1") if of is None else scope.fill("CASE WHEN {0} IS NOT NULL THEN 1 END", value(of, scope))
        found.counted[what] = found.add(_where(there, tally, scope).text)
    return found.counted[what]


def _where(piece: Piece, tally: Tally, scope: Scope) -> Piece:
    if tally.where is None:
        return piece
    return scope.fill("CASE WHEN {0} THEN {1} END", cast(tally.where, Kind.BOOL, scope), piece)


@final
@dataclass(frozen=True)
class Shape:
    """Puts the statement together, from the rows with their keys and inputs to numbers in order."""

    cells: Cells
    source: Source
    inputs: Inputs
    statement: Statement

    @property
    def units(self) -> list[str]:
        """Are the columns with the unit's identity."""
        return self.source.identity

    @property
    def looked_up(self) -> bool:
        """Tells whether keys are looked up in their list before units are bounded, and rows with others left out."""
        cells = self.cells
        if cells.listed is None or not cells.keys:
            return False
        return not cells.listed.certain or self._wide

    @property
    def coded(self) -> bool:
        """Tells whether keys are numbered in their order first: units are sorted by keys, and numbers are narrow."""
        return self.cells.listed is None and self._wide and bool(self.units) and self.cells.bound.groups is not None

    @property
    def _wide(self) -> bool:
        return len(self.cells.keys) > 1 or any(of.kind is Kind.TEXT for of in self.cells.keys)

    @property
    def keys(self) -> list[str]:
        """Are the columns that rows are grouped by; one place in a list, once keys have been looked up."""
        return ["place"] if self.looked_up or self.coded else [f"k{place}" for place in range(len(self.cells.keys))]

    @property
    def inner(self) -> list[str]:
        """Are the columns with inner keys."""
        return [f"i{place}" for place in range(len(self.cells.inner))]

    @property
    def groups(self) -> list[str]:
        """Are the columns that make a cell."""
        return [*self.keys, *self.inner]

    def ordered(self, rows: str) -> str:
        """Gives the whole statement: numbers with their keys or places, in order."""
        cells, keys = self.cells, [f"k{place}" for place in range(len(self.cells.keys))]
        same = _same("a", "b", keys)
        shown = keys
        if self.coded:
            found = self._coded(rows, keys)
        elif cells.listed is None or not keys:
            found = self.numbers(rows)
        else:
            shown = ["place"]
            columns = tuple(zip((of.kind for of in cells.keys), cells.listed.columns, strict=True))
            listed = self.statement.table(columns)
            if self.looked_up:
                rows = f"SELECT a.* EXCLUDE ({listing(keys)}), b.place FROM ({rows}) AS a JOIN {listed} AS b ON {same}"
                found = self.numbers(rows)
            else:
                found = f"SELECT b.place, a.* FROM ({self.numbers(rows)}) AS a JOIN {listed} AS b ON {same}"
        order = listing(f"{name} NULLS FIRST" for name in [*shown, *self.inner])
        return f"SELECT * FROM ({found})" + (f" ORDER BY {order}" if order else "")

    def _coded(self, rows: str, keys: list[str]) -> str:
        """Numbers keys before units are bounded, and names them afterwards.

        A number depends on everybody's keys, their order and their hash on nobody's: these decide which ones are kept.
        """
        again = "NOT " * isinstance(self.cells.source, Scan | Select | Where)
        order = listing(f"{name} NULLS LAST" for name in keys)
        number = f"CAST(row_number() OVER (ORDER BY {order}) AS UINTEGER) AS place"
        codes = f"SELECT *, {number}, hash({listing(keys)}) AS h FROM (SELECT DISTINCT {listing(keys)} FROM coming)"
        coded = f"SELECT a.* EXCLUDE ({listing(keys)}), b.place, b.h FROM coming AS a JOIN codes AS b"
        parts = [f"coming AS {again}MATERIALIZED ({rows})", f"codes AS MATERIALIZED ({codes})"]
        found = self.numbers(f"{coded} ON {_same('a', 'b', keys)}")
        shown = listing(f"b.{name}" for name in keys)
        return f"WITH {listing(parts)} SELECT {shown}, a.* FROM ({found}) AS a JOIN codes AS b ON a.place = b.place"

    def numbers(self, rows: str) -> str:
        """Gives the numbers n0, n1, … of each cell."""
        bound, tallies = self.cells.bound, self.cells.tallies
        asked = any(isinstance(tally, Units) and tally.where is not None for tally in tallies)
        different = any(isinstance(tally, Distinct) for tally in tallies)
        ranked = bound.groups is not None and bool(self.keys)
        if not self.units:
            return self.direct(rows)
        if bound.cut and bound.rows is not None:
            return self.direct(self.cut(self.ranked(rows) if ranked else rows, bound.rows))
        has_units = any(isinstance(tally, Units) for tally in tallies)
        if different and (ranked or has_units or bound.rows is not None):
            return self.beside_distinct(self.ranked(rows) if ranked else rows)
        if ranked and not asked and not self.inner:
            return self.corrected(rows)
        if ranked or has_units or bound.rows is not None:
            return self.scaled(self.ranked(rows) if ranked else rows)
        return self.direct(rows)

    def direct(self, rows: str, *, first: str = "") -> str:
        """Adds up rows. A unit is counted by the row that is its ``first`` one in a group, where one is marked."""
        found = []
        for place, (tally, column) in enumerate(zip(self.cells.tallies, self.inputs.columns, strict=True)):
            match tally:
                case Total():
                    text = f"coalesce(sum({column}), 0)"
                case Distinct():
                    text = f"count(DISTINCT {column})"
                case Units() if first:
                    text = f"count(*) FILTER ({first})"
                case Units() if self.units:
                    unit = self.units[0] if len(self.units) == 1 else f"({listing(self.units)})"
                    text = f"count(DISTINCT {unit})" + (f" FILTER ({column} IS NOT NULL)" if column else "")
                case Rows(bits=bits):
                    text = _steps(f"count({column or '*'})", bits)
                case _:
                    text = f"count({column or '*'})"
            found.append(f"{text} AS n{place}")
        return _grouped(self.groups, found, rows)

    @property
    def _window(self) -> str:
        """Is the order of a unit's groups: by hash, then by key, so that the rows of a group are peers."""
        hashed = [*self.units, *(["h"] if self.coded else self.keys)]
        chosen = f"CAST({mixed(hashed)} >> 48 AS USMALLINT)"
        return f"(PARTITION BY {listing(self.units)} ORDER BY {listing([chosen, *self.keys])})"

    def ranked(self, rows: str, *, more: str = "") -> str:
        """Leaves out groups of a unit beyond the bound; ``more`` are further columns of the window w."""
        most = int(self.cells.bound.groups or 0)
        rank = f"SELECT *, dense_rank() OVER w AS r{more} FROM ({rows}) WINDOW w AS {self._window}"
        return f"SELECT * EXCLUDE (r) FROM ({rank}) WHERE r <= {most}"

    def corrected(self, rows: str) -> str:
        """Adds up the rows that are kept, and what scaling takes away from units with too many of them in a group."""
        most = self.cells.bound.rows
        has_units = any(isinstance(tally, Units) for tally in self.cells.tallies)
        if most is None and not has_units:
            return self.direct(self.ranked(rows))
        # The place of a row among those of its unit and group, from 0: which row has which changes nothing.
        kept = self.ranked(rows, more=", row_number() OVER w - rank() OVER w AS i")
        if most is None:
            return self.direct(kept, first="i = 0")
        cell = self.units + self.keys
        big = f"SELECT {listing(cell)} FROM kept WHERE i = {int(most)}"
        large = f"SELECT kept.* FROM kept SEMI JOIN ({big}) AS big ON {_same('kept', 'big', cell)}"
        numbers = [f"n{place}" for place in range(len(self.cells.tallies))]
        added = listing(f"CAST(coalesce(sum({name}), 0) AS HUGEINT) AS {name}" for name in numbers)
        both = f"{self.direct('FROM kept', first='i = 0')} UNION ALL {self.scaled(large, less=True)}"
        groups = f" GROUP BY {listing(self.keys)}" if self.keys else ""
        return f"WITH kept AS MATERIALIZED ({kept}) SELECT {listing([*self.keys, added])} FROM ({both}){groups}"

    def scaled(self, rows: str, *, less: bool = False) -> str:
        """Makes one cell of each unit and group, scales it down, and adds cells up; or only what that takes away."""
        groups = [*self.units, *self.groups]
        aggregates: dict[str, str] = {"count(*)": "c0"}
        found = []
        for place, (tally, column) in enumerate(zip(self.cells.tallies, self.inputs.columns, strict=True)):
            summed = f"coalesce(sum({column}), 0)" if isinstance(tally, Total) else f"count({column or '*'})"
            plain = aggregates.setdefault(summed, f"c{len(aggregates)}")
            if isinstance(tally, Units):
                text = "0" if less else f"count(*) FILTER ({plain} > 0)"
            else:
                steps = _steps(plain, tally.bits if isinstance(tally, Rows) else 0)
                kept = self._least(plain) if tally == Rows() and not self.inner else self._scaled(steps)
                text = f"coalesce(sum({kept}{f' - {steps}' if less else ''}), 0)"
            found.append(f"{text} AS n{place}")
        columns = [*groups, *(f"{text} AS {name}" for text, name in aggregates.items())]
        cells = f"SELECT {listing(columns)} FROM ({rows}) GROUP BY {listing(groups)}"
        every = f"sum(c0) OVER (PARTITION BY {listing(self.units + self.keys)})" if self.inner else "c0"
        return _grouped(self.groups, found, f"SELECT *, {every} AS every FROM ({cells})")

    def _least(self, count: str) -> str:
        """Gives the count of all rows, scaled down: it is the bound itself where it is more."""
        most = self.cells.bound.rows
        return count if most is None else f"least({count}, {int(most)})"

    def _scaled(self, number: str) -> str:
        """Gives a number of a unit scaled down, towards 0, where ``every`` row of it in the group is too many.

        The divisor is never 0, and no product too large, in whichever branch.
        """
        most = self.cells.bound.rows
        if most is None:
            return number
        fewer = f"CAST({number} AS HUGEINT) * {int(most)} // greatest(every, {int(most)})"
        return f"CASE WHEN every <= {int(most)} THEN {number} ELSE {fewer} END"

    def cut(self, rows: str, most: int) -> str:
        """Leaves out rows of a unit and group beyond the bound: by a hash of all that is looked at and of their number
        among those that look alike, then by that.
        """
        names = [*self.inner, *self.inputs.made.values()]
        cell = self.units + self.keys
        alike = numbered(cell + names, rows)
        by = listing([mixed([*self.units, *names, "j"]), *names, "j"])
        rank = f"row_number() OVER (PARTITION BY {listing(cell)} ORDER BY {by})"
        return f"SELECT * EXCLUDE (r, j) FROM (SELECT *, {rank} AS r FROM ({alike})) WHERE r <= {int(most)}"

    def beside_distinct(self, kept: str) -> str:
        """Counts different values beside what is scaled: each count is a query of its own on the rows that are kept."""
        tallies = self.cells.tallies
        others = [place for place, tally in enumerate(tallies) if not isinstance(tally, Distinct)]
        less = replace(self.cells, tallies=tuple(tallies[place] for place in others))
        columns = [self.inputs.columns[place] for place in others]
        rest = Shape(less, self.source, replace(self.inputs, columns=columns), self.statement)
        parts = [f"kept AS MATERIALIZED ({kept})", f"cells AS ({rest.scaled('FROM kept')})"]
        found = {place: f"cells.n{new}" for new, place in enumerate(others)}
        joined = ""
        for place, tally in enumerate(tallies):
            if isinstance(tally, Distinct):
                parts.append(f"d{place} AS ({self._different(str(self.inputs.columns[place]))})")
                joined += f" LEFT JOIN d{place} ON {_same('cells', f'd{place}', self.groups)}"
                found[place] = f"coalesce(d{place}.n, 0)"
        shown = [f"cells.{name}" for name in self.groups] + [f"{found[place]} AS n{place}" for place in sorted(found)]
        return f"WITH {listing(parts)} SELECT {listing(shown)} FROM cells{joined}"

    def _different(self, column: str) -> str:
        most, within = self.cells.bound.rows, self.units + self.groups
        rows = f"SELECT {listing([*within, column])} FROM kept WHERE {column} IS NOT NULL"
        if most is not None:
            by = f"{mixed([*self.units, column])}, {column}"
            rank = f"dense_rank() OVER (PARTITION BY {listing(within)} ORDER BY {by})"
            rows = f"SELECT * FROM (SELECT *, {rank} AS r FROM ({rows})) WHERE r <= {int(most)}"
        return _grouped(self.groups, [f"count(DISTINCT {column}) AS n"], rows)


def _steps(count: str, bits: int) -> str:
    """Gives a count in steps, so many to a row; wide enough for any count."""
    return f"CAST({count} AS HUGEINT) * {2**bits}" if bits else count


def _same(left: str, right: str, names: list[str]) -> str:
    return " AND ".join(f"{left}.{name} IS NOT DISTINCT FROM {right}.{name}" for name in names) or "TRUE"


def _grouped(by: list[str], found: list[str], rows: str) -> str:
    groups = f" GROUP BY {listing(by)}" if by else ""
    return f"SELECT {listing([*by, *found]) or 'count(*) AS one'} FROM ({rows}){groups}"
