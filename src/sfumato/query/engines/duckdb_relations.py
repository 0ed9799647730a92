"""Relations as SQL of DuckDB: a SELECT with the unit's identity as u0, u1 and the fields as f0, f1 and so on.

Names of the query never reach DuckDB, so that none can clash with another one or with the identity.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import final

from sfumato.query.engines.duckdb_expressions import FINITE, cast, steps, truncated, value
from sfumato.query.engines.duckdb_reading import as_kind, enforced, identity, read
from sfumato.query.engines.duckdb_text import TYPES, Ends, Piece, Scope, Statement, listing, mixed, numbered
from sfumato.query.expressions import Column, Expression
from sfumato.query.kinds import Kind
from sfumato.query.relations import (
    Fold,
    Folded,
    Join,
    Keep,
    Match,
    Owner,
    PerUnit,
    Relation,
    Scan,
    Select,
    Union,
    Where,
)


@final
@dataclass(frozen=True)
class Held:
    """Is a table as DuckDB holds it: its name there, and for each column its name there, its type and its kind."""

    name: str
    columns: Mapping[str, tuple[str, str, Kind]]


@final
@dataclass(frozen=True)
class Source:
    """Is a SELECT: how many columns hold the unit's identity, where each field is, and what numbers are bounded by."""

    text: str
    units: int
    fields: Mapping[str, str]
    held: Mapping[str, Ends]

    @property
    def identity(self) -> list[str]:
        """Are the columns that hold the identity."""
        return [f"u{place}" for place in range(self.units)]

    def scope(self, statement: Statement) -> Scope:
        """Gives what expressions on it can look at."""
        return Scope(statement, self.fields, self.held)


def _made(text: str, units: int, fields: tuple[Column, ...], held: Mapping[str, Ends]) -> Source:
    return Source(text, units, {column.name: f"f{place}" for place, column in enumerate(fields)}, held)


@final
@dataclass(frozen=True)
class Relations:
    """Makes relations on the tables of a source into SQL."""

    tables: Mapping[str, Held]
    statement: Statement

    def source(self, relation: Relation) -> Source:
        """Gives the SELECT of a relation."""
        match relation:
            case Scan():
                return self._scan(relation)
            case Where():
                return self._where(relation)
            case Select():
                return self._select(relation)
            case Join():
                return self._join(relation)
            case Union():
                return self._union(relation)
            case Keep():
                return self._keep(relation)
            case PerUnit():
                return self._per_unit(relation)
        raise TypeError(relation)

    def _scan(self, scan: Scan) -> Source:
        table, owner = self.tables[scan.table], scan.owner or Owner()
        scope = _raw(table, self.statement)
        made = {}
        for place, column in enumerate(scan.columns):
            raw, held, _ = table.columns[column.name]
            made[f"f{place}"] = read(Piece(raw), held, column.kind, column.facts, scope)
        fields = list(made)
        way = [table, *(self.tables[hop.table] for hop in owner.hops)]
        parts = [(scope, made), *((_raw(one, self.statement), {}) for one in way[1:])]
        if owner.id:
            self._identify(owner, way, parts)
        units = 0 if not owner.id else 1 if owner.window is None else 2
        text = _joined(way, parts, fields, units=units)
        bounds = {column.name: enforced(column.kind, column.facts) for column in scan.columns}
        return _made(text, units, scan.columns, {name: ends for name, ends in bounds.items() if ends is not None})

    def _identify(self, owner: Owner, way: list[Held], parts: list[tuple[Scope, dict[str, Piece]]]) -> None:
        """Puts the id, the window and the two sides of each foreign key among what is read of the tables on the way."""
        raw, held, kind = way[-1].columns[owner.id]
        parts[-1][1]["u0"] = identity(Piece(raw), held, kind, parts[-1][0])
        for place, hop in enumerate(owner.hops):
            for part, name, column in ((place, "leaves", hop.column), (place + 1, "arrives", hop.key)):
                raw, held, kind = way[part].columns[column]
                parts[part][1][name] = as_kind(Piece(raw), held, kind, parts[part][0])
        if owner.window is not None:
            column, word = owner.window
            part = next(place for place, table in enumerate(way) if column in table.columns)
            raw, held, kind = way[part].columns[column]
            scope = parts[part][0]
            parts[part][1]["u1"] = truncated(as_kind(Piece(raw), held, kind, scope), word, kind, scope)

    def _where(self, where: Where) -> Source:
        below = self.source(where.source)
        scope = below.scope(self.statement)
        condition = cast(where.condition, Kind.BOOL, scope)
        kept = listing([*below.identity, *below.fields.values()])
        text = f"SELECT {kept or '1 AS one'} FROM ({scope.over(below.text)}) WHERE {condition.text}"
        return Source(text, below.units, below.fields, below.held)

    def _select(self, select: Select) -> Source:
        below = self.source(select.source)
        scope = below.scope(self.statement)
        made = [f"{value(of, scope).text} AS f{place}" for place, (_, of) in enumerate(select.columns)]
        text = f"SELECT {listing([*below.identity, *made]) or '1 AS one'} FROM ({scope.over(below.text)})"
        same = {
            name: below.held[of.name] for name, of in select.columns if isinstance(of, Column) and of.name in below.held
        }
        return _made(text, below.units, select.fields, same)

    def _join(self, join: Join) -> Source:
        left, right = self.source(join.left), self.source(join.right)
        if join.right.private and not (left.units and left.units == right.units):
            raise TypeError(join)
        same = [f"a.{name} = b.{name}" for name in right.identity]
        for ours, theirs in join.on:
            kinds = {_kind(join.left, ours), _kind(join.right, theirs)}
            one, other = f"a.{left.fields[ours]}", f"b.{right.fields[theirs]}"
            if len(kinds) > 1:
                one, other = f"CAST({one} AS DOUBLE)", f"CAST({other} AS DOUBLE)"
            same.append(f"{one} = {other}")
        columns = [f"a.{name}" for name in (*left.identity, *left.fields.values())]
        columns += [f"b.{name} AS f{len(left.fields) + place}" for place, name in enumerate(right.fields.values())]
        how = "LEFT JOIN" if join.match is Match.LEFT else "JOIN"
        text = (
            f"SELECT {listing(columns) or '1 AS one'} FROM ({left.text}) AS a {how} ({right.text}) AS b"
            f" ON {' AND '.join(same) or 'TRUE'}"
        )
        return _made(text, left.units, join.fields, {**left.held, **right.held})

    def _union(self, union: Union) -> Source:
        below = [self.source(part) for part in union.parts]
        columns = [*below[0].identity, *(f"f{place}" for place in range(len(union.fields)))]
        texts = [f"(SELECT {listing(columns) or '1 AS one'} FROM ({one.text}))" for one in below]
        return _made(" UNION ALL ".join(texts), below[0].units, union.fields, {})

    def _keep(self, keep: Keep) -> Source:
        """Leaves out rows of a unit beyond the bound: by a hash of the unit, all values and the number of the row among
        those that are alike (these would else stay or go together), then by the values.
        """
        below = self.source(keep.source)
        if not below.units:
            raise TypeError(keep)
        names = [*below.identity, *below.fields.values()]
        alike = numbered(names, below.text)
        order = listing([mixed([*names, "j"]), *below.fields.values(), "j"])
        rank = f"row_number() OVER (PARTITION BY {listing(below.identity)} ORDER BY {order})"
        text = f"SELECT {listing(names)} FROM (SELECT *, {rank} AS r FROM ({alike})) WHERE r <= {int(keep.rows)}"
        return Source(text, below.units, below.fields, below.held)

    def _per_unit(self, per: PerUnit) -> Source:
        below = self.source(per.source)
        if not below.units:
            raise TypeError(per)
        scope = below.scope(self.statement)
        made = [f"{key(of, scope).text} AS k{place}" for place, (_, of) in enumerate(per.by)]
        groups = [*below.identity, *(f"k{place}" for place in range(len(per.by)))]
        folded = Scope(self.statement, {})
        found = []
        for folds in per.folds:
            inputs, aggregates, template = fold(folds, scope)
            names = [self.statement.name("v") for _ in inputs]
            made += [f"{piece.text} AS {name}" for piece, name in zip(inputs, names, strict=True)]
            found.append((names, aggregates, template))
        aggregated, results = [], []
        for names, aggregates, template in found:
            made_of = [self.statement.name("g") for _ in aggregates]
            aggregated += [f"{shape.format(*names)} AS {name}" for shape, name in zip(aggregates, made_of, strict=True)]
            results.append(folded.fill(template, *map(Piece, made_of)))
        rows = f"SELECT {listing([*below.identity, *made])} FROM ({scope.over(below.text)})"
        grouped = f"SELECT {listing([*groups, *aggregated])} FROM ({rows}) GROUP BY {listing(groups)}"
        results = [
            folded.fill(FINITE, piece) if one.column.kind is Kind.FLOAT else piece
            for one, piece in zip(per.folds, results, strict=True)
        ]
        fields = [*(Piece(f"k{place}") for place in range(len(per.by))), *results]
        named = [f"{piece.text} AS f{place}" for place, piece in enumerate(fields)]
        text = f"SELECT {listing([*below.identity, *named])} FROM ({folded.over(grouped)})"
        return _made(text, below.units, per.fields, {})


def key(of: Expression, scope: Scope) -> Piece:
    """Gives an expression to group by: of floats, the zero without a sign."""
    found = value(of, scope)
    return scope.fill("({0} + CAST(0 AS DOUBLE))", found) if of.kind is Kind.FLOAT else found


def fold(folded: Folded, scope: Scope) -> tuple[list[Piece], list[str], str]:
    """Gives what a fold looks at, the aggregates of that, and what is made of them: exact, in any order of rows."""
    if folded.of is None:
        return [], ["count(*)"], "{0}"
    of = folded.of
    match folded.fold:
        case Fold.COUNT:
            return [value(of, scope)], ["count({0})"], "{0}"
        case Fold.DISTINCT:
            return [value(of, scope)], ["count(DISTINCT {0})"], "{0}"
        case Fold.MIN | Fold.MAX:
            return [key(of, scope)], [f"{folded.fold.value}({{0}})"], "{0}"
    if folded.grid is None and of.kind is not Kind.INT:
        raise TypeError(folded)
    steps_of = value(of, scope) if folded.grid is None else steps(of, folded.grid, scope)
    whole = "TRY_CAST({0} AS BIGINT)"
    if of.kind is Kind.INT:
        total = whole
    else:
        # DuckDB rounds wide numbers twice; their texts are rounded once.
        total = f"coalesce(CAST({whole} AS DOUBLE), CAST(CAST({{0}} AS VARCHAR) AS DOUBLE))"
        if folded.grid is not None and folded.grid.exponent:
            total = f"({total} / {scope.statement.bind(2.0**folded.grid.exponent, Kind.FLOAT)})"
    sums = ["coalesce(sum({0}), 0)"]
    if folded.fold is Fold.SUM:
        return [steps_of], sums, f"CAST({total} AS {TYPES[of.kind]})"
    mean = f"CASE WHEN {{1}} > 0 THEN CAST({total} AS DOUBLE) / CAST({{1}} AS DOUBLE) END"
    return [steps_of], [*sums, "count({0})"], mean


def _raw(table: Held, statement: Statement) -> Scope:
    return Scope(statement, {name: raw for name, (raw, _, _) in table.columns.items()})


def _joined(way: list[Held], parts: list[tuple[Scope, dict[str, Piece]]], fields: list[str], *, units: int) -> str:
    """Gives the SELECT of a table whose rows belong to whomever the last table on the way says."""
    tables: list[str] = []
    found: dict[str, str] = {}
    for place, (table, (scope, made)) in enumerate(zip(way, parts, strict=True)):
        columns = listing(f"{piece.text} AS {name}" for name, piece in made.items()) or "1 AS one"
        below = scope.over(f"SELECT * FROM {table.name}")
        on = f" ON w{place - 1}.leaves = w{place}.arrives" if place else ""
        tables.append(f"(SELECT {columns} FROM ({below})) AS w{place}{on}")
        found |= {name: f"w{place}.{name}" for name in made}
    kept = [f"u{place}" for place in range(units)]
    text = f"SELECT {listing(found[name] for name in (*kept, *fields)) or '1 AS one'} FROM {' JOIN '.join(tables)}"
    return text + (f" WHERE {' AND '.join(f'{found[name]} IS NOT NULL' for name in kept)}" if kept else "")


def _kind(relation: Relation, name: str) -> Kind | None:
    found = relation.field(name)
    return None if found is None else found.kind
