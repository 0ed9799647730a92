"""A reference interpreter of the query nodes: slow, in exact Python integers, and obviously right.

Tables are lists of rows, each a dict of what the table holds. A row of a private relation stands beside the identity of
the unit that it belongs to. What an engine may decide for itself (which groups, rows and values of a unit are kept) is
an argument: an `Order`.
"""

from __future__ import annotations

import itertools
import math
import operator
from abc import ABC, abstractmethod
from collections import defaultdict
from collections.abc import Hashable, Iterable, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple, TypeAlias

from tests.reference.reading import read
from tests.reference.texts import identity
from tests.reference.values import evaluate, held, truncated

from sfumato.query.nodes.expressions import Column, Expression
from sfumato.query.nodes.kinds import Kind, Value
from sfumato.query.nodes.relations import (
    Fold,
    Folded,
    Join,
    Keep,
    Listed,
    Match,
    Meet,
    Owner,
    PerUnit,
    Placed,
    Placing,
    Relation,
    Scan,
    Select,
    Union,
    Where,
    Windowed,
)
from sfumato.query.plan.engine_plan import Bound, Cells, Distinct, ExactAggregate, Rows, Total, Units
from sfumato.query.plan.grids import Grid

Identity: TypeAlias = tuple[Hashable, ...]
Row: TypeAlias = dict[str, Value]
Key: TypeAlias = tuple[Value, ...]
Tables: TypeAlias = Mapping[str, Sequence[Mapping[str, Any]]]
Answers: TypeAlias = dict[tuple[Key, Key], tuple[int, ...]]
"""For each group and cell inside it, one number for each tally."""


class Owned(NamedTuple):
    """Is a row and the identity of its unit; of public rows there is none."""

    unit: Identity
    row: Row


class Order(ABC):
    """Says what of a unit comes first: the part that engines decide."""

    @abstractmethod
    def group(self, unit: Identity, key: Key) -> Any:
        """Gives the place of a group among those of a unit."""

    @abstractmethod
    def row(self, unit: Identity, key: Key, inner: Key, row: Row, reference: Reference) -> Any:
        """Gives the place of a row among those of a unit and group."""

    @abstractmethod
    def kept(self, unit: Identity, row: Row) -> Any:
        """Gives the place of a row among all rows of a unit."""

    @abstractmethod
    def met(self, row: Row) -> Any:
        """Gives the place of a row among all rows of a key, whoever's they are."""

    @abstractmethod
    def value(self, unit: Identity, key: Key, value: Value) -> Any:
        """Gives the place of a value among the different ones of a unit and group."""


class ByValue(Order):
    """Takes what is least by value first, whoever's it is; missing values before all others."""

    def group(self, unit: Identity, key: Key) -> Any:
        return ordered(key)

    def row(self, unit: Identity, key: Key, inner: Key, row: Row, reference: Reference) -> Any:
        return ordered(tuple(row.values()))

    def kept(self, unit: Identity, row: Row) -> Any:
        return ordered(tuple(row.values()))

    def met(self, row: Row) -> Any:
        return ordered(tuple(row.values()))

    def value(self, unit: Identity, key: Key, value: Value) -> Any:
        return ordered((value,))


def ordered(key: Key) -> Any:
    """Gives a tuple of values as something that can be sorted: missing values come first."""
    return tuple((value is not None, 0 if value is None else value) for value in key)


def last_missing(key: Iterable[Value]) -> Any:
    """Gives values as something that can be sorted: missing values come last."""
    return tuple((value is None, 0 if value is None else value) for value in key)


class Reference:
    """Computes what a query means."""

    def __init__(self, tables: Tables, order: Order) -> None:
        self.tables = tables
        self.order = order
        self._by_key: dict[tuple[str, str], dict[Hashable, list[Mapping[str, Any]]]] = {}

    # Relations

    def rows(self, relation: Relation) -> list[Owned]:
        """Gives the rows of a relation."""
        match relation:
            case Scan():
                return list(self.scanned(relation))
            case Listed(columns, rows):
                names = [column.name for column in columns]
                return [Owned((), dict(zip(names, row, strict=True))) for row in rows]
            case Where(source, condition):
                return [one for one in self.rows(source) if self.value(condition, one.row) is True]
            case Select(source, columns):
                return [Owned(unit, self.made(columns, row)) for unit, row in self.rows(source)]
            case Join():
                return list(self.joined(relation))
            case Meet():
                return list(self.met(relation))
            case Union(parts):
                return [one for part in parts for one in self.rows(part)]
            case Keep(source, rows):
                return list(self.first(self.rows(source), rows))
            case PerUnit(source, by, folds):
                return list(self.folded(self.rows(source), by, folds, always=not (by or relation.private)))
            case Windowed():
                return list(self.windowed(relation))
        raise TypeError(relation)

    def first(self, owned: list[Owned], most: int) -> Iterable[Owned]:
        """Gives so many rows of each unit."""
        units: dict[Identity, list[Row]] = defaultdict(list)
        for unit, row in owned:
            units[unit].append(row)
        for unit, rows in units.items():
            kept = sorted(rows, key=lambda row: self.order.kept(unit, row))[:most]
            yield from (Owned(unit, row) for row in kept)

    def value(self, expression: Expression, row: Row) -> Value:
        """Gives the value of an expression in a row."""
        return evaluate(expression, row)

    def read(self, held: Any, column: Column) -> Value:
        """Gives what a table holds as a value of a column."""
        return read(held, column)

    def made(self, columns: Iterable[tuple[str, Expression]], row: Row) -> Row:
        """Gives new columns of a row."""
        return {name: self.value(expression, row) for name, expression in columns}

    def scanned(self, scan: Scan) -> Iterable[Owned]:
        """Gives the rows of a table, each with its unit; those of nobody are left out."""
        for place, raw in enumerate(self.tables[scan.table]):
            plain = {column.name: self.read(raw[column.name], column) for column in scan.columns}
            for items in self.items(scan, raw):
                row = {**plain, **items}
                if scan.owner is None:
                    yield Owned((), row)
                elif not scan.owner.id:
                    yield Owned((scan.table, place), row)
                else:
                    yield from (Owned(unit, row) for unit in self.units(scan.owner, raw))

    def items(self, scan: Scan, raw: Mapping[str, Any]) -> Iterable[Row]:
        """Gives the items that a row of a table becomes rows with: each of one list with each of another."""
        lists = [((raw[one.column] or [])[: one.most] or [None] * one.kept, one.item) for one in scan.unnested]
        for chosen in itertools.product(*(some for some, _ in lists)):
            yield {item.name: self.read(one, item) for one, (_, item) in zip(chosen, lists, strict=True)}

    def units(self, owner: Owner, raw: Mapping[str, Any]) -> Iterable[Identity]:
        """Gives the unit that a row belongs to, by what the tables hold; of a row of nobody there is none."""
        for way in self.ways(owner, raw):
            name = identity(way[-1][owner.id])
            if owner.window is None:
                found: Identity = (name,)
            else:
                column, word = owner.window
                when = next(row for row in way if column in row)[column]
                found = (name, None if when is None else truncated(when, word))
            if self.somebody(found):
                yield found

    def somebody(self, unit: Identity) -> bool:
        """Tells whether an identity is one."""
        return all(part is not None for part in unit)

    def ways(self, owner: Owner, raw: Mapping[str, Any]) -> list[list[Mapping[str, Any]]]:
        """Gives the rows on the way from a row to the table with its id: at most one way, for keys do not repeat."""
        ways = [[raw]]
        for hop in owner.hops:
            held = self.by_key(hop.table, hop.key)
            ways = [[*way, there] for way in ways for there in held.get(identity(way[-1][hop.column]), ())]
        return ways

    def by_key(self, table: str, key: str) -> Mapping[Hashable, Sequence[Mapping[str, Any]]]:
        """Gives the rows of a table by a key: exactly, whatever they hold it in. Missing keys lead nowhere."""
        if (table, key) not in self._by_key:
            found: dict[Hashable, list[Mapping[str, Any]]] = defaultdict(list)
            for row in self.tables[table]:
                found[identity(row[key])].append(row)
            self._by_key[table, key] = {name: rows for name, rows in found.items() if name is not None}
        return self._by_key[table, key]

    def joined(self, join: Join) -> Iterable[Owned]:
        """Gives each row on the left with each on the right that it matches."""
        right = self.rows(join.right)
        nothing: Row = dict.fromkeys(column.name for column in join.right.fields)
        on = [pair for pair in join.on if not self.are_ids(join, *pair)]
        for unit, row in self.rows(join.left):
            found = [
                other
                for owner, other in right
                if (not join.right.private or owner == unit)
                and all(row[a] is not None and row[a] == other[b] for a, b in on)
                and all(self.compare(how, row[a], other[b]) for a, how, b in join.compared)
            ]
            if join.match.filters:
                yield from [Owned(unit, row)] if bool(found) is (join.match is Match.SEMI) else []
                continue
            if not found and join.match is Match.LEFT:
                found = [nothing]
            yield from (Owned(unit, {**row, **other}) for other in found)

    def met(self, meet: Meet) -> Iterable[Owned]:
        """Gives each of the first rows of a key on the left with each on the right; each such row is nobody's."""
        kinds = [{side.field(name).kind for side, name in zip(meet.sources, pair, strict=True)} for pair in meet.on]  # type: ignore[union-attr]
        first: list[dict[Key, list[Owned]]] = []
        for place, side in enumerate(meet.sources):
            rows: dict[Key, list[Owned]] = defaultdict(list)
            for owned in self.rows(side):
                values: list[Any] = [owned.row[pair[place]] for pair in meet.on]
                if None not in values:
                    key = tuple(
                        float(value) if len(kind) > 1 else value for value, kind in zip(values, kinds, strict=True)
                    )
                    rows[key].append(owned)
            first.append({key: self.of_key(found, meet.most) for key, found in rows.items()})
        left, right = first
        both = ((one, other) for key in left for one in left[key] for other in right.get(key, ()))
        for place, (one, other) in enumerate(both):
            yield Owned(("met", place), {**one.row, **other.row})

    def of_key(self, rows: list[Owned], most: int | None) -> list[Owned]:
        """Gives the first rows of a key."""
        assert most is not None
        return sorted(rows, key=lambda one: self.order.met(one.row))[:most]

    def compare(self, how: str, one: Any, other: Any) -> bool:
        """Tells whether two values compare in a way; missing ones never do."""
        return one is not None and other is not None and getattr(operator, how)(one, other)

    def are_ids(self, join: Join, left: str, right: str) -> bool:
        """Tells whether two columns hold ids: those of one unit are the same, whatever was read of them."""
        one, other = join.left.field(left), join.right.field(right)
        return one is not None and other is not None and one.unit == other.unit == 0

    def folded(
        self, rows: list[Owned], by: Sequence[tuple[str, Expression]], folds: Sequence[Folded], *, always: bool = False
    ) -> Iterable[Owned]:
        """Gives one row for each unit and group; ``always``: one of all public rows, also where there are none."""
        groups: dict[tuple[Identity, Key], list[Row]] = defaultdict(list, {((), ()): []} if always else {})
        for unit, row in rows:
            groups[unit, tuple(self.made(by, row).values())].append(row)
        for (unit, key), members in groups.items():
            keys = dict(zip((name for name, _ in by), key, strict=True))
            yield Owned(unit, {**keys, **{one.column.name: self.fold(one, members) for one in folds}})

    def windowed(self, window: Windowed) -> Iterable[Owned]:
        """Gives each row with what the rows of its unit make of its place among them."""
        parts: dict[tuple[Identity, Key], list[Row]] = defaultdict(list)
        for unit, row in self.rows(window.source):
            parts[unit, self.key(window.by, row)].append(row)
        for (unit, _), rows in parts.items():
            rows.sort(key=lambda row: last_missing(row.values()))
            for made, down in reversed(window.order):  # sorting keeps the order of what is equal
                there = [row for row in rows if self.value(made, row) is not None]
                missing = [row for row in rows if self.value(made, row) is None]
                values: Any = partial(self.value, made)
                rows = [*sorted(there, key=values, reverse=down), *missing]
            keys = [self.key([made for made, _ in window.order], row) for row in rows]
            for place, row in enumerate(rows):
                added = {one.column.name: self.placed(one, place, rows, keys) for one in window.added}
                yield Owned(unit, {**row, **added})

    def placed(self, one: Placed | Folded, place: int, rows: list[Row], keys: list[Key]) -> Value:
        """Gives what a row gets by its place among rows, of which ``keys`` are what they were sorted by."""
        first = keys.index(keys[place])
        if isinstance(one, Folded):
            return self.fold(one, [row for row, key in zip(rows, keys, strict=True) if keys.index(key) <= first])
        match one.placing:
            case Placing.ROW_NUMBER:
                return place + 1
            case Placing.RANK:
                return first + 1
            case Placing.DENSE_RANK:
                return len(set(keys[: first + 1]))
        where = {Placing.FIRST: 0, Placing.LAST: len(rows) - 1, Placing.LAG: place - one.steps}
        there = where.get(one.placing, place + one.steps)
        return self.value(one.of, rows[there]) if one.of is not None and 0 <= there < len(rows) else None

    def fold(self, folded: Folded, rows: list[Row]) -> Value:
        """Gives one value for the rows of one unit and group."""
        if folded.of is None:
            return len(rows)
        values: list[Any] = [value for row in rows if (value := self.value(folded.of, row)) is not None]
        match folded.fold:
            case Fold.COUNT:
                return len(values)
            case Fold.DISTINCT:
                return len(set(values))
            case Fold.MIN:
                return min(values, default=None)
            case Fold.MAX:
                return max(values, default=None)
        total = self.sum(values, folded.grid, folded.of.kind)
        if folded.fold is Fold.SUM:
            return total
        return None if total is None or not values else held(float(total) / len(values), Kind.FLOAT)

    def sum(self, values: Sequence[Any], grid: Grid | None, kind: Kind) -> Any:
        """Adds up steps of a grid, exactly."""
        steps = sum(value if grid is None else self.steps(grid, value) for value in values)
        if kind is Kind.INT:
            return held(steps, Kind.INT)
        exponent = 0 if grid is None else grid.exponent
        return held(float(steps) / 2.0**exponent, Kind.FLOAT)

    def steps(self, grid: Grid, value: Any) -> int:
        """Puts a number on a grid."""
        return grid.steps(value)

    # Cells

    def cells(self, cells: Cells) -> Answers:
        """Gives whole numbers for each cell that has a row, for each listed key, and where there are no keys."""
        owned = [
            (unit, self.key(cells.keys, row), self.key(cells.inner, row), row) for unit, row in self.rows(cells.source)
        ]
        public = None if cells.listed is None else set(zip(*cells.listed.columns, strict=True))
        if cells.listed is not None and public is not None and not cells.keys:
            public = {()}
        if cells.listed is not None and not cells.listed.certain and public is not None:
            owned = [one for one in owned if one[1] in public]
        groups: dict[tuple[Identity, Key], list[tuple[Key, Row]]] = defaultdict(list)
        for unit, key, inner, row in owned:
            groups[unit, key].append((inner, row))
        by_rows = rows_are_units(cells.source)
        bound = Bound() if by_rows else cells.bound
        kept = self.kept(groups, bound)
        answers = self.tallied(kept, cells, bound)
        if public is not None:
            answers = {place: numbers for place, numbers in answers.items() if place[0] in public}
        nothing = (0,) * len(cells.tallies)
        expected = [] if cells.inner else [()] if not cells.keys else public or ()
        return {**{(key, ()): nothing for key in expected}, **answers}

    def key(self, keys: Sequence[Expression], row: Row) -> Key:
        """Gives the key of a row."""
        return tuple(self.value(expression, row) for expression in keys)

    def kept(
        self, groups: Mapping[tuple[Identity, Key], list[tuple[Key, Row]]], bound: Bound
    ) -> dict[tuple[Identity, Key], list[tuple[Key, Row]]]:
        """Keeps so many groups of each unit, and with ``cut`` so many rows in each."""
        of_units: dict[Identity, list[Key]] = defaultdict(list)
        for unit, key in groups:
            of_units[unit].append(key)
        chosen: dict[tuple[Identity, Key], list[tuple[Key, Row]]] = {}
        for unit, keys in of_units.items():
            keys.sort(key=lambda key: self.order.group(unit, key))
            for key in keys[: bound.groups]:
                chosen[unit, key] = self.cut(unit, key, groups[unit, key], bound)
        return chosen

    def cut(self, unit: Identity, key: Key, rows: list[tuple[Key, Row]], bound: Bound) -> list[tuple[Key, Row]]:
        """Leaves out rows of a unit and group that are too many."""
        if not bound.cut:
            return rows
        return sorted(rows, key=lambda one: self.order.row(unit, key, *one, self))[: bound.rows]

    def tallied(
        self, kept: Mapping[tuple[Identity, Key], list[tuple[Key, Row]]], cells: Cells, bound: Bound
    ) -> Answers:
        """Adds up what is left of every unit."""
        parts: dict[tuple[Key, Key], dict[Identity, list[Row]]] = defaultdict(lambda: defaultdict(list))
        every = {place: len(rows) for place, rows in kept.items()}
        for (unit, key), rows in kept.items():
            for inner, row in rows:
                parts[key, inner][unit].append(row)
        return {
            place: tuple(
                self.number(tally, place[0], units, {unit: every[unit, place[0]] for unit in units}, bound)
                for tally in cells.tallies
            )
            for place, units in parts.items()
        }

    def number(
        self,
        tally: ExactAggregate,
        key: Key,
        units: Mapping[Identity, list[Row]],
        every: Mapping[Identity, int],
        bound: Bound,
    ) -> int:
        """Gives the number of one cell; ``every`` says how many rows each unit has in the whole group."""
        asked = {
            unit: [row for row in rows if tally.where is None or self.value(tally.where, row) is True]
            for unit, rows in units.items()
        }
        match tally:
            case Rows():
                return sum(self.scaled(self.count(tally, rows), every[unit], bound) for unit, rows in asked.items())
            case Total():
                return sum(self.scaled(self.total(tally, rows), every[unit], bound) for unit, rows in asked.items())
            case Units():
                return sum(bool(rows) for rows in asked.values())
            case Distinct():
                found = {one for unit, rows in asked.items() for one in self.different(tally, unit, key, rows, bound)}
                return sum(found) if tally.summed else len(found)
        raise TypeError(tally)

    def count(self, tally: Rows, rows: list[Row]) -> int:
        """Gives a unit's number of rows, in steps."""
        of = tally.of
        return sum(of is None or self.value(of, row) is not None for row in rows) * 2**tally.bits

    def total(self, tally: Total, rows: list[Row]) -> int:
        """Gives a unit's sum."""
        return sum(made for row in rows if (made := self.product(tally, row)) is not None)

    def product(self, tally: Total, row: Row) -> int | None:
        """Gives the product of the steps of a row; missing where a term is."""
        values: list[Any] = [self.value(term.of, row) for term in tally.terms]
        if any(value is None for value in values):
            return None
        return math.prod(self.steps(term.grid, value) for term, value in zip(tally.terms, values, strict=True))

    def scaled(self, total: int, count: int, bound: Bound) -> int:
        """Gives s·m / n, towards 0, where a unit has n > m rows in the group."""
        if bound.rows is None or count <= bound.rows:
            return total
        size = abs(total) * bound.rows // count
        return -size if total < 0 else size

    def different(self, tally: Distinct, unit: Identity, key: Key, rows: list[Row], bound: Bound) -> list[Any]:
        """Gives the different values of a unit that are kept."""
        found = {value for row in rows if (value := self.beside(tally, row)) is not None}
        return sorted(found, key=lambda value: self.order.value(unit, key, value))[: bound.rows]

    def beside(self, tally: Distinct, row: Row) -> Any:
        """Gives what is counted once: a value, steps of a grid, or values side by side of which none is missing."""
        values: list[Any] = [self.value(of, row) for of in tally.operands]
        if any(value is None for value in values):
            return None
        if tally.grid is not None:
            return self.steps(tally.grid, values[0])
        return values[0] if len(values) == 1 else tuple(values)

    # Images

    def images(self, made: Sequence[Expression], leaves: Sequence[tuple[Column, Sequence[Value]]]) -> tuple[Key, ...]:
        """Gives the different tuples that expressions take when columns run through lists."""
        names = [column.name for column, _ in leaves]
        found = {
            self.key(made, dict(zip(names, values, strict=True)))
            for values in itertools.product(*(values for _, values in leaves))
        }
        return tuple(sorted(found, key=ordered))


def rows_are_units(relation: Relation) -> bool:
    """Tells whether each row of the tables is a unit by itself."""
    match relation:
        case Scan(owner=owner):
            return owner is not None and not owner.id
        case Meet():
            return True
    return any(rows_are_units(source) for source in relation.sources if source.private)
