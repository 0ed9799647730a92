"""Relations as SQL: a SELECT with the unit's identity as u0, u1 and the fields as f0, f1 and so on.

Names of the query never reach the engine, so that none can clash with another one or with the identity.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import final

from sfumato.query.engines.bounding import FirstRows, Incoming
from sfumato.query.engines.sizes import Ends, ends, enforced
from sfumato.query.engines.sql.bounding import kept_rows
from sfumato.query.engines.sql.dialect import Dialect
from sfumato.query.engines.sql.expressions import cast, truncated, value
from sfumato.query.engines.sql.folds import fold, key
from sfumato.query.engines.sql.held import Held, item_type
from sfumato.query.engines.sql.reading import read
from sfumato.query.engines.sql.source import Source, made_source
from sfumato.query.engines.sql.statement import Piece, Scope, Statement, listing
from sfumato.query.engines.sql.windows import windowed
from sfumato.query.nodes.expressions import Column, Expression
from sfumato.query.nodes.kinds import MOST_ROWS, Kind
from sfumato.query.nodes.operators import call
from sfumato.query.nodes.relations import (
    COMPARISONS,
    Join,
    Keep,
    Listed,
    Match,
    Meet,
    Owner,
    PerUnit,
    Relation,
    Scan,
    Select,
    Union,
    Where,
    Windowed,
)


@final
@dataclass(frozen=True)
class Relations:
    """Makes relations on the tables of a source into SQL, in the dialect of the statement.

    What stands for one of them may be ``given``, with more fields than it has: joins and conditions keep these.
    """

    tables: Mapping[str, Held]
    statement: Statement
    given: tuple[Relation, Source] | None = None

    @property
    def _dialect(self) -> Dialect:
        return self.statement.dialect

    def source(self, relation: Relation) -> Source:
        """The SELECT of a relation."""
        if self.given is not None and relation is self.given[0]:
            return self.given[1]
        match relation:
            case Scan():
                return self._scan(relation)
            case Listed():
                return self._listed(relation)
            case Where():
                return self._where(relation)
            case Select():
                return self._select(relation)
            case Join():
                return self._join(relation)
            case Meet():
                return self._meet(relation)
            case Union():
                return self._union(relation)
            case Keep():
                return self._keep(relation)
            case PerUnit():
                return self._per_unit(relation)
            case Windowed():
                return windowed(relation, self.source(relation.source), self.statement)
        raise TypeError(relation)

    def _scan(self, scan: Scan, conditions: Sequence[Expression] = ()) -> Source:
        """The rows of a table for which conditions are true: what these look at is read before all else.

        No engine is let to do that by itself: it would hand conditions to the scan, which believes what a file states.
        """
        table, owner = self.tables[scan.table], scan.owner or Owner()
        first = {column.name for condition in conditions for column in condition.columns()}
        base = self._chosen(scan, conditions, first) if conditions else self._rows(scan)
        scope = _raw(table, self.statement)
        made = {}
        for place, column in enumerate(scan.fields):
            name = f"f{place}"
            made[name] = Piece(name) if column.name in first else self._read(scan, place, scope)
        fields = list(made)
        way = [table, *(self.tables[hop.table] for hop in owner.hops)]
        parts = [(scope, made), *((_raw(one, self.statement), {}) for one in way[1:])]
        if owner.id:
            self._identify(owner, way, parts)
        units = 0 if not owner.id else 1 if owner.window is None else 2
        text = _joined(base, way, parts, fields, units=units)
        return made_source(text, units, scan.fields, _bounds(scan.fields))

    def _chosen(self, scan: Scan, conditions: Sequence[Expression], first: Collection[str]) -> str:
        """The rows of a table, as they are held and with the columns that conditions look at, that meet these."""
        scope = _raw(self.tables[scan.table], self.statement)
        fields = {column.name: f"f{place}" for place, column in enumerate(scan.fields) if column.name in first}
        made = [
            f"{self._read(scan, place, scope).text} AS {fields[column.name]}"
            for place, column in enumerate(scan.fields)
            if column.name in first
        ]
        held = f"SELECT {listing(['*', *made])} FROM ({scope.over(self._rows(scan))}) AS q"
        seen = Scope(self.statement, fields, _bounds(scan.fields))
        kept = " AND ".join(f"({cast(condition, Kind.BOOL, seen).text})" for condition in conditions)
        return f"SELECT * FROM ({seen.over(held)}) AS q WHERE {kept}"

    def _rows(self, scan: Scan) -> str:
        """The rows of a table as they are held, or one for each item of lists: i0, i1, …, the first ones of a row."""
        table = self.tables[scan.table]
        text = f"SELECT * FROM {table.name}"
        for place, items in enumerate(scan.unnested):
            raw, held, _ = table.columns[items.column]
            template = self._dialect.unnest_kept if items.kept else self._dialect.unnest
            most = MOST_ROWS if items.most is None else items.most
            text = f"SELECT *, {template.format(raw, item_type(held), int(most))} AS i{place} FROM ({text}) AS q"
        return text

    def _read(self, scan: Scan, place: int, scope: Scope) -> Piece:
        """Reads a field of a table, or an item of a list of it."""
        table, column, item = self.tables[scan.table], scan.fields[place], place - len(scan.columns)
        if item >= 0:
            held = item_type(table.columns[scan.unnested[item].column][1])
            return read(Piece(f"i{item}"), held, column.kind, column.facts, scope)
        raw, held, _ = table.columns[column.name]
        return read(Piece(raw), held, column.kind, column.facts, scope)

    def _identify(self, owner: Owner, way: list[Held], parts: list[tuple[Scope, dict[str, Piece]]]) -> None:
        """Puts the id, the window and the two sides of each foreign key among what is read of the tables on the way."""
        parts[-1][1]["u0"] = way[-1].identity(
            owner.id, self._form_of_ids(way[-1].form(owner.id, self._dialect)), parts[-1][0]
        )
        for place, hop in enumerate(owner.hops):
            ends = (
                ("leaves", way[place], hop.column, parts[place]),
                ("arrives", way[place + 1], hop.key, parts[place + 1]),
            )
            wanted = self._dialect.columns.common(table.form(column, self._dialect) for _, table, column, _ in ends)
            for name, table, column, (scope, made) in ends:
                made[name] = table.identity(column, wanted, scope)
        if owner.window is not None:
            column, word = owner.window
            part = next(place for place, table in enumerate(way) if column in table.columns)
            raw, held, kind = way[part].columns[column]
            scope = parts[part][0]
            when = self._dialect.columns.as_kind(Piece(raw), held, kind, scope, way[part].written.get(column, ""))
            parts[part][1]["u1"] = truncated(when, word, kind, scope)

    def _form_of_ids(self, ours: str) -> str:
        """The form of ids, the same in all tables: rows of two of them may meet in a join."""
        owners = [(table, table.owner) for table in self.tables.values() if table.owner is not None and table.owner.id]
        forms = [
            (self.tables[owner.hops[-1].table] if owner.hops else table).form(owner.id, self._dialect)
            for table, owner in owners
            if not owner.hops or owner.hops[-1].table in self.tables
        ]
        return self._dialect.columns.common([ours, *forms])

    def _listed(self, listed: Listed) -> Source:
        """Rows that the question states, as a table of public values."""
        kinds, rows = [column.kind for column in listed.columns], listed.rows
        name = self.statement.table(tuple(zip(kinds, zip(*rows, strict=True), strict=True)))
        fields = listing(f"k{place} AS f{place}" for place in range(len(kinds)))
        return made_source(f"SELECT {fields} FROM {name}", 0, listed.columns, {})

    def _where(self, where: Where) -> Source:
        conditions, source = [where.condition], where.source
        while isinstance(source, Where):
            conditions, source = [source.condition, *conditions], source.source
        if isinstance(source, Scan):
            return self._scan(source, conditions)
        below = self.source(where.source)
        scope = below.scope(self.statement)
        condition = cast(where.condition, Kind.BOOL, scope)
        kept = listing([*below.identity, *below.fields.values()])
        text = f"SELECT {kept or '1 AS one'} FROM ({scope.over(below.text)}) AS q WHERE {condition.text}"
        return Source(text, below.units, below.fields, below.held)

    def _select(self, select: Select) -> Source:
        below = self.source(select.source)
        scope = below.scope(self.statement)
        made = [f"{value(of, scope).text} AS f{place}" for place, (_, of) in enumerate(select.columns)]
        text = f"SELECT {listing([*below.identity, *made]) or '1 AS one'} FROM ({scope.over(below.text)}) AS q"
        within = {name: between for name, of in select.columns if (between := ends(of, scope)) is not None}
        return made_source(text, below.units, select.fields, within)

    def _join(self, join: Join) -> Source:
        left, right = self.source(join.left), self.source(join.right)
        if join.right.private and not (left.units and left.units == right.units):
            raise TypeError(join)
        if join.match.filters:
            return self._filtered(join, left, right)
        columns = [f"a.{name}" for name in (*left.identity, *left.fields.values())]
        columns += [f"b.{name} AS f{len(left.fields) + place}" for place, name in enumerate(right.fields.values())]
        how = "LEFT JOIN" if join.match is Match.LEFT else "JOIN"
        text = (
            f"SELECT {listing(columns) or '1 AS one'} FROM ({left.text}) AS a {how} ({right.text}) AS b"
            f" ON {self._matched(join, left, right, ('a', 'b'))}"
        )
        fields = {name: f"f{place}" for place, name in enumerate((*left.fields, *right.fields))}
        return Source(text, left.units, fields, {**left.held, **right.held})

    def _meet(self, meet: Meet) -> Source:
        """Joins the first rows of each key on both sides; nothing says any more whose a row is."""
        left, ours = self._met(meet, meet.left, 0)
        right, theirs = self._met(meet, meet.right, 1)
        columns = [f"a.{name}" for name in left.fields.values()]
        columns += [f"b.{name} AS f{len(left.fields) + place}" for place, name in enumerate(right.fields.values())]
        same = " AND ".join(f"a.m{place} = b.m{place}" for place in range(len(meet.on)))
        text = f"SELECT {listing(columns)} FROM ({ours}) AS a JOIN ({theirs}) AS b ON {same}"
        return made_source(text, 0, meet.fields, {**left.held, **right.held})

    def _met(self, meet: Meet, side: Relation, place: int) -> tuple[Source, str]:
        """One side of a meeting: its first rows of each key m0, m1 …, in an order of values, whoever's they are."""
        if meet.most is None:
            raise TypeError(meet)
        below = self.source(side)
        scope, fields = below.scope(self.statement), {column.name: column for column in side.fields}
        made = {}
        for number, pair in enumerate(meet.on):
            alike = _kind(meet.left, pair[0]) is _kind(meet.right, pair[1])  # else they are compared as floats
            compared = fields[pair[place]] if alike else call("to_float", fields[pair[place]])
            made[f"m{number}"] = key(compared, scope).text
        keys, rows = tuple(made), tuple(below.fields.values())
        columns = listing([*rows, *(f"{text} AS {name}" for name, text in made.items())])
        there = " AND ".join(f"{name} IS NOT NULL" for name in keys)
        text = f"SELECT * FROM (SELECT {columns} FROM ({scope.over(below.text)}) AS q) AS q WHERE {there}"
        return below, kept_rows(FirstRows(Incoming(keys + rows), (), keys, rows, meet.most), text, self.statement)

    def _filtered(self, join: Join, left: Source, right: Source) -> Source:
        """The rows of the left that match something on the right, or nothing."""
        names = (self.statement.name("left"), self.statement.name("right"))
        template = self._dialect.semi_join if join.match is Match.SEMI else self._dialect.anti_join
        text = template.format(*names, self._matched(join, left, right, names))
        text = f"WITH {names[0]} AS ({left.text}), {names[1]} AS ({right.text}) {text}"
        return Source(text, left.units, left.fields, left.held)

    def _matched(self, join: Join, left: Source, right: Source, names: tuple[str, str]) -> str:
        """The condition that two rows match, of tables with these names."""
        ours, theirs = names
        same = [f"{ours}.{name} = {theirs}.{name}" for name in right.identity]
        pairs = [(one, "=", other) for one, other in join.on]
        for one, symbol, other in (*pairs, *((one, COMPARISONS[how], other) for one, how, other in join.compared)):
            if symbol == "=" and _is_id(join.left, one) and _is_id(join.right, other):
                continue  # the identities are equal already, and what was read of them may not be
            kinds = {_kind(join.left, one), _kind(join.right, other)}
            sides = [f"{ours}.{left.fields[one]}", f"{theirs}.{right.fields[other]}"]
            if len(kinds) > 1:
                sides = [f"CAST({side} AS {self._dialect.types[Kind.FLOAT]})" for side in sides]
            same.append(f" {symbol} ".join(sides))
        return " AND ".join(same) or "TRUE"

    def _union(self, union: Union) -> Source:
        below = [self.source(part) for part in union.parts]
        columns = [*below[0].identity, *(f"f{place}" for place in range(len(union.fields)))]
        texts = [f"SELECT {listing(columns) or '1 AS one'} FROM ({one.text}) AS q" for one in below]
        return made_source(" UNION ALL ".join(texts), below[0].units, union.fields, {})

    def _keep(self, keep: Keep) -> Source:
        """Leaves out rows of a unit beyond the bound; where that is for the sake of work, hardly anybody has more."""
        below = self.source(keep.source)
        if not below.units:
            raise TypeError(keep)
        units, values = tuple(below.identity), tuple(below.fields.values())
        incoming = Incoming(units + values, cheap=is_cheap(keep.source))
        plan = FirstRows(incoming, units, units, values, keep.rows, rarely=keep.work)
        return Source(kept_rows(plan, below.text, self.statement), below.units, below.fields, below.held)

    def _per_unit(self, per: PerUnit) -> Source:
        below = self.source(per.source)
        if per.private and not below.units:
            raise TypeError(per)
        scope = below.scope(self.statement)
        made = [f"{key(of, scope).text} AS k{place}" for place, (_, of) in enumerate(per.by)]
        groups = [*below.identity, *(f"k{place}" for place in range(len(per.by)))]
        folded = Scope(self.statement, {})
        folds_made = []
        for folds in per.folds:
            inputs, aggregates, template = fold(folds, scope)
            names = [self.statement.name("v") for _ in inputs]
            made += [f"{piece.text} AS {name}" for piece, name in zip(inputs, names, strict=True)]
            folds_made.append((names, aggregates, template))
        aggregated, results = [], []
        for names, aggregates, template in folds_made:
            made_of = [self.statement.name("g") for _ in aggregates]
            aggregated += [f"{shape.format(*names)} AS {name}" for shape, name in zip(aggregates, made_of, strict=True)]
            results.append(folded.fill(template, *map(Piece, made_of)))
        rows = f"SELECT {listing([*below.identity, *made]) or '1 AS one'} FROM ({scope.over(below.text)}) AS q"
        grouped = f"SELECT {listing([*groups, *aggregated]) or 'count(*) AS one'} FROM ({rows}) AS q"
        grouped += f" GROUP BY {listing(groups)}" if groups else ""
        results = [
            folded.fill(self._dialect.finite, piece) if one.column.kind is Kind.FLOAT else piece
            for one, piece in zip(per.folds, results, strict=True)
        ]
        fields = [*(Piece(f"k{place}") for place in range(len(per.by))), *results]
        named = [f"{piece.text} AS f{place}" for place, piece in enumerate(fields)]
        text = f"SELECT {listing([*below.identity, *named]) or '1 AS one'} FROM ({folded.over(grouped)}) AS q"
        return made_source(text, below.units, per.fields, {})


def is_cheap(relation: Relation) -> bool:
    """Tells whether to read a relation anew takes no longer than to keep it."""
    return isinstance(relation, Scan | Select | Where)


def no_fewer_rows(relation: Relation) -> Relation:
    """A relation in which every unit has as many rows as in this one, or more, and that is quicker to count."""
    while isinstance(relation, Select | Where):  # one takes each row as it is, the other leaves some out
        relation = relation.source
    return replace(relation, columns=()) if isinstance(relation, Scan) else relation


def _raw(table: Held, statement: Statement) -> Scope:
    return Scope(statement, {name: raw for name, (raw, _, _) in table.columns.items()})


def _bounds(columns: Iterable[Column]) -> dict[str, Ends]:
    """What reading moves the numbers of columns into."""
    bounds = {column.name: enforced(column.kind, column.facts) for column in columns}
    return {name: ends for name, ends in bounds.items() if ends is not None}


def _joined(
    base: str, way: list[Held], parts: list[tuple[Scope, dict[str, Piece]]], fields: list[str], *, units: int
) -> str:
    """The SELECT of rows of a table, the base, that belong to whomever the last table on the way says."""
    tables: list[str] = []
    places: dict[str, str] = {}
    for place, (table, (scope, made)) in enumerate(zip(way, parts, strict=True)):
        columns = listing(f"{piece.text} AS {name}" for name, piece in made.items()) or "1 AS one"
        below = scope.over(f"SELECT * FROM {table.name}" if place else base)
        on = f" ON w{place - 1}.leaves = w{place}.arrives" if place else ""
        tables.append(f"(SELECT {columns} FROM ({below}) AS q) AS w{place}{on}")
        places |= {name: f"w{place}.{name}" for name in made}
    kept = [f"u{place}" for place in range(units)]
    text = f"SELECT {listing(places[name] for name in (*kept, *fields)) or '1 AS one'} FROM {' JOIN '.join(tables)}"
    return text + (f" WHERE {' AND '.join(f'{places[name]} IS NOT NULL' for name in kept)}" if kept else "")


def _is_id(relation: Relation, name: str) -> bool:
    column = relation.field(name)
    return column is not None and column.unit == 0


def _kind(relation: Relation, name: str) -> Kind | None:
    column = relation.field(name)
    return None if column is None else column.kind
