"""Reach: how much of a relation one unit can have, by facts of the codebook and by how the relation was made.

Facts belong to columns as they come from a table. A bound by ``visits.day`` holds as long as that column is passed on
unchanged; a column that was computed anew has no such bound, even under the same name.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TypeAlias, final

from sfumato.core.grouped_distance import Whole
from sfumato.guarantee import guarantee
from sfumato.query.nodes.expressions import Call, Column, Expression, Literal
from sfumato.query.nodes.kinds import Kind
from sfumato.query.nodes.narrowing import left_by
from sfumato.query.nodes.relations import (
    Items,
    Join,
    Keep,
    Match,
    Meet,
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
from sfumato.query.plan.grounding import conjuncts
from sfumato.transforms.group_bounds import groups_of_a_unit, rows_in_a_group
from sfumato.transforms.meetings import moved_by_meeting

Origins: TypeAlias = frozenset[str]
"""Columns of tables, as in ``visits.day``."""

Bounds: TypeAlias = Mapping[Origins, int]
HOLDERS: dict[str, tuple[str, ...]] = {
    "hour": ("hour", "day", "week", "month", "quarter", "year"),
    "day": ("day", "week", "month", "quarter", "year"),
    "week": ("week",),
    "month": ("month", "quarter", "year"),
    "quarter": ("quarter", "year"),
    "year": ("year",),
}
"""Stretches of time that hold each stretch as a whole; weeks lie across the ends of months."""

Matches: TypeAlias = Callable[[Join], Whole]
"""The most rows of the public right side of a join that one row can match."""


@final
@dataclass(frozen=True)
class Reach:
    """The most that one unit can have: rows in all, groups by columns, rows in each group by columns.

    ``windows`` are columns of times, each with a stretch of time in which all rows of a unit lie.
    """

    rows: Whole = math.inf
    groups: Bounds = field(default_factory=dict)
    rows_each: Bounds = field(default_factory=dict)
    windows: frozenset[tuple[str, str]] = frozenset()

    def times(self, factor: Whole) -> Reach:
        """The reach after every row becomes ``factor`` rows."""
        if factor == 1:
            return self
        if factor == math.inf:
            return Reach(groups=self.groups, windows=self.windows)
        each = {columns: most * int(factor) for columns, most in self.rows_each.items()}
        return Reach(self.rows * factor if factor else 0, self.groups, each, self.windows)

    def without(self, tables: Iterable[str]) -> Reach:
        """Forgets what is known by columns of some tables."""
        names = tuple(f"{table}." for table in tables)
        groups, each = (
            {columns: most for columns, most in bounds.items() if not any(one.startswith(names) for one in columns)}
            for bounds in (self.groups, self.rows_each)
        )
        windows = frozenset(one for one in self.windows if not one[0].startswith(names))
        return Reach(self.rows, groups, each, windows)

    def groups_by(self, keys: Iterable[Expression]) -> Whole:
        """The most groups that one unit can be in: no more than by columns that decide the group."""
        asked = tuple(keys)
        made = tuple(key for key in asked if not self._one_window(key))
        sides = 1 if made == asked else 2  # the window that the unit is in, and times that are read as missing
        if not any(True for key in made for _ in key.columns()):
            return min(sides, self.rows) if sides > 1 else 1
        origins = frozenset(column.origin for key in made for column in key.columns())
        return self.rows if "" in origins else min(sides * groups_of_a_unit(origins, self.groups), self.rows)

    def knows_groups(self, keys: Iterable[Expression]) -> bool:
        """Tells whether facts about groups cover all columns that keys are made of."""
        origins = frozenset(column.origin for key in keys for column in key.columns())
        return "" not in origins and groups_of_a_unit(origins, self.groups) < math.inf

    def values_of(self, operands: Iterable[Expression], keys: Iterable[Expression] = ()) -> Whole:
        """The most different values of expressions, side by side, of one unit; with keys, in all groups together.

        A unit has one id: what is made of its identity alone has one value, however many rows it has; except where ids
        come from several tables, one below another, which may be read in different ways (bounds are each table's).
        """
        others = [column for of in operands for column in of.columns() if column.unit is None or not column.origin]
        return self.groups_by((*keys, *others))

    def _one_window(self, key: Expression) -> bool:
        """Tells whether a key is the window that a unit lies in, or one that holds it."""
        match key:
            case Call("date_trunc", (Column(origin=origin), Literal(value=word))):
                return any(origin == one and word in HOLDERS[every] for one, every in self.windows)
        return False

    def rows_in(self, keys: Iterable[Expression]) -> Whole:
        """The most rows of one unit that can be in one group: no more than by fewer columns."""
        plain = frozenset(key.origin for key in keys if isinstance(key, Column) and key.origin)
        return min(rows_in_a_group(plain, self.rows_each), self.rows)


def reach_of(relation: Relation, tables: Mapping[str, Reach], matches: Matches) -> Reach:
    """Follows the reach of a unit from tables to what was made of them."""
    match relation:
        case Scan(table=table, unnested=unnested):
            return tables[table].times(items_of_a_row(unnested))
        case Where(source=source, condition=condition):
            before = reach_of(source, tables, matches)
            return replace(before, rows=min([before.rows, *_numbered(source, condition, before)]))
        case Select(source=source) | Windowed(source=source):
            return reach_of(source, tables, matches)
        case Join(left=left, match=match) if match.filters:
            return reach_of(left, tables, matches)
        case Join(left=left, right=right):
            # A table on both sides gives two columns of one origin, which pair anyhow: its facts hold for neither.
            ours = reach_of(left, tables, matches).without(_tables(right))
            theirs = reach_of(right, tables, matches).rows if right.private else matches(relation)
            return ours.times(max(1, theirs) if relation.match is Match.LEFT else theirs)
        case Meet(left=left, right=right, most=most):
            sides = [reach_of(side, tables, matches).rows for side in (left, right)]
            rows = max(sides) if _rows_of_one_side(left, right) else sum(sides)
            moved = moved_by_meeting(rows, math.inf if most is None else most)
            return Reach(moved, {} if rows == math.inf else dict.fromkeys(_keys(relation), int(rows)))
        case Union(parts=parts):
            return _together([reach_of(part, tables, matches) for part in parts])
        case Keep(source=source, work=True):
            return reach_of(source, tables, matches)
        case Keep(source=source, rows=rows):
            before = reach_of(source, tables, matches)
            return replace(before, rows=min(before.rows, rows))
        case PerUnit(source=source, by=by):
            before = reach_of(source, tables, matches)
            others = [made for _, made in by if not (isinstance(made, Column) and made.unit is not None)]
            return replace(before, rows=before.groups_by(others), rows_each={})
    raise TypeError(type(relation))


@guarantee(
    claim="a row of a table becomes at most this many rows, which belong to the unit that it belongs to",
    proof="proofs/query.md#items",
    reviewed="1e9e2361e777",
)
def items_of_a_row(unnested: Sequence[Items]) -> Whole:
    """The most rows that one row becomes where each item of its lists makes one; every list beside every other."""
    return math.prod(math.inf if items.most is None else items.most for items in unnested)


def _numbered(source: Relation, condition: Expression, reach: Reach) -> Iterator[Whole]:
    """The most rows of a unit that are left by conditions on ROW_NUMBER, which no two rows of one part share."""
    for column, left in left_by(conjuncts(condition)).items():
        window, ends = _numbering(source, column.name), left.facts.numbers
        if window is not None and ends is not None and ends[1] < math.inf:
            first = math.ceil(ends[0]) if ends[0] > 1 else 1
            numbers = math.floor(ends[1]) - first + 1
            yield max(1, numbers) * reach.groups_by(window.by)


def _numbering(relation: Relation, name: str) -> Windowed | None:
    """The window in which a column numbers the rows of each unit; None for any other column."""
    match relation:
        case Windowed(source=source, added=added):
            new = [one for one in added if one.column.name == name]
            if not new:
                return _numbering(source, name)
            return relation if isinstance(new[0], Placed) and new[0].placing is Placing.ROW_NUMBER else None
        case Select(source=source, columns=columns):
            made = dict(columns).get(name)
            return _numbering(source, made.name) if isinstance(made, Column) else None
        case Where(source=source):
            return _numbering(source, name)
    return None


def _tables(relation: Relation) -> Iterator[str]:
    """The names of the tables that a relation is made of, repeated as often as it uses them."""
    return (scan.table for scan in _scans(relation))


def _scans(relation: Relation) -> Iterator[Scan]:
    if isinstance(relation, Scan):
        yield relation
    for source in relation.sources:
        yield from _scans(source)


def _rows_of_one_side(left: Relation, right: Relation) -> bool:
    """Tells whether a unit has rows on one side only: it is a row itself, and no table stands on both sides."""
    owners = [scan.owner for side in (left, right) for scan in _scans(side) if scan.owner is not None]
    return not any(owner.id for owner in owners) and not {*_tables(left)} & {*_tables(right)}


def _keys(meet: Meet) -> Iterator[Origins]:
    """The columns of either side that hold the key of a join, where nothing else has the origin of one of them.

    Floats are left out: one of them may be the key of several whole numbers, which are other groups.
    """
    origins = [column.origin for column in meet.fields]
    pairs = [(meet.left.field(one), meet.right.field(other)) for one, other in meet.on]
    for side in zip(*pairs, strict=True):
        known = [column.origin for column in side if column is not None and origins.count(column.origin) == 1]
        floats = any(column is None or column.kind is Kind.FLOAT for pair in pairs for column in pair)
        if len(known) == len(pairs) and "" not in known and not floats:
            yield frozenset(known)


def _together(parts: list[Reach]) -> Reach:
    """The reach in relations one below another: bounds add up, where every part has them."""
    rows: Whole = sum(part.rows for part in parts)
    groups, each = ([part.groups for part in parts], [part.rows_each for part in parts])
    windows = frozenset.intersection(*(part.windows for part in parts))
    return Reach(rows, _summed(groups), _summed(each), windows)


def _summed(bounds: list[Bounds]) -> Bounds:
    shared = set.intersection(*(set(one) for one in bounds))
    return {columns: sum(one[columns] for one in bounds) for columns in shared}
