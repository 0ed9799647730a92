"""Wrong interpreters: each has one mistake that a query engine might make. The laws must catch every one."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

from tests.reference.interpreter import Answers, Identity, Key, Owned, Reference, Row
from tests.reference.reading import is_number, read

from sfumato.query.nodes.expressions import Call, Column, Expression
from sfumato.query.nodes.kinds import Kind, Value
from sfumato.query.nodes.relations import Join, Match, Owner
from sfumato.query.plan.engine_plan import Bound, Cells, ExactAggregate, Rows, Total
from sfumato.query.plan.grids import Grid


def half_up(value: float) -> int:
    """Rounds halves away from 0."""
    return int(math.copysign(math.floor(abs(value) + 0.5), value))


class NanKept(Reference):
    """Reads NaN as a value."""

    def read(self, held: Any, column: Column) -> Value:
        nan = column.kind is Kind.FLOAT and isinstance(held, float) and math.isnan(held)
        return math.nan if nan else super().read(held, column)


class InfinityClamped(Reference):
    """Clamps infinities into bounds instead of leaving them out."""

    def read(self, held: Any, column: Column) -> Value:
        if column.kind is Kind.FLOAT and isinstance(held, float) and math.isinf(held) and column.facts.between:
            held = math.copysign(1e300, held)
        return super().read(held, column)


class HalvesAway(Reference):
    """Rounds halves away from 0."""

    def steps(self, grid: Grid, value: Any) -> int:
        kept = min(max(value, grid.low), grid.high) - grid.centre
        return kept if isinstance(kept, int) else half_up(kept * 2.0**grid.exponent)


class ReadTruncated(Reference):
    """Cuts fractions off where whole numbers are read."""

    def read(self, held: Any, column: Column) -> Value:
        return super().read(int(held) if column.kind is Kind.INT and is_number(held) else held, column)


class NotClamped(Reference):
    """Trusts the table to obey its bounds."""

    def read(self, held: Any, column: Column) -> Value:
        return read(held, Column(column.name, column.kind))


class GroupsNotBounded(Reference):
    """Forgets how many groups a unit may be in."""

    def kept(self, groups: Any, bound: Bound) -> Any:
        return super().kept(groups, Bound(None, bound.rows, bound.cut))


class RowsNotBounded(Reference):
    """Forgets how many rows of a unit count in a group."""

    def number(self, tally: ExactAggregate, key: Key, units: Any, every: Any, bound: Bound) -> int:
        return super().number(tally, key, units, every, Bound() if isinstance(tally, Rows) else bound)


class SumsNotScaled(Reference):
    """Forgets to scale sums down."""

    def number(self, tally: ExactAggregate, key: Key, units: Any, every: Any, bound: Bound) -> int:
        return super().number(tally, key, units, every, Bound() if isinstance(tally, Total) else bound)


class BoundedApart(Reference):
    """Bounds each number by its own rows, so that two numbers of one unit are about different ones."""

    def number(self, tally: ExactAggregate, key: Key, units: Any, every: Any, bound: Bound) -> int:
        own = {
            unit: sum(tally.where is None or self.value(tally.where, row) is True for row in rows)
            for unit, rows in units.items()
        }
        return super().number(tally, key, units, own, bound)


class ScaledDown(Reference):
    """Rounds scaled sums down instead of towards 0."""

    def scaled(self, total: int, count: int, bound: Bound) -> int:
        return total if bound.rows is None or count <= bound.rows else total * bound.rows // count


class RowsCounted(Reference):
    """Takes the first rows where the first groups are meant: row_number for dense_rank."""

    def kept(self, groups: Any, bound: Bound) -> Any:
        left: dict[Identity, int] = defaultdict(lambda: 10**9 if bound.groups is None else bound.groups)
        found = {}
        for unit, key in sorted(groups, key=lambda place: self.order.group(*place)):
            rows = self.cut(unit, key, groups[unit, key], bound)[: left[unit]]
            left[unit] -= len(rows)
            if rows:
                found[unit, key] = rows
        return found


class NobodyIsSomebody(Reference):
    """Takes all rows without an id for one person's."""

    def somebody(self, unit: Identity) -> bool:
        return True


class IdsCut(Reference):
    """Cuts ids as it cuts texts, so that two people become one."""

    def units(self, owner: Owner, raw: Mapping[str, Any]) -> list[Identity]:
        return [
            tuple(part[:1000] if isinstance(part, str) else part for part in unit) for unit in super().units(owner, raw)
        ]


class CutAfterwards(Reference):
    """Bounds the whole group, not each unit."""

    def number(self, tally: ExactAggregate, key: Key, units: Any, every: Any, bound: Bound) -> int:
        found = super().number(tally, key, units, every, Bound())
        return found if bound.rows is None or isinstance(tally, Total) else min(found, bound.rows * len(units))


class MissingMatches(Reference):
    """Lets missing values match one another in a join."""

    def joined(self, join: Join) -> list[Owned]:
        right = self.rows(join.right)
        found = []
        for unit, row in self.rows(join.left):
            matching = [
                other
                for owner, other in right
                if (not join.right.private or owner == unit) and all(row[a] == other[b] for a, b in join.on)
            ]
            if not matching and join.match is Match.LEFT:
                matching = [dict.fromkeys(column.name for column in join.right.fields)]
            found += [Owned(unit, {**row, **other}) for other in matching]
        return found


class UnitsMixed(Reference):
    """Joins the rows of one unit with those of others."""

    def joined(self, join: Join) -> list[Owned]:
        right = self.rows(join.right)
        return [
            Owned(unit, {**row, **other})
            for unit, row in self.rows(join.left)
            for _, other in right
            if all(row[a] is not None and row[a] == other[b] for a, b in join.on)
        ]


class MissingKeysDropped(Reference):
    """Leaves out rows with a missing key."""

    def cells(self, cells: Cells) -> Answers:
        return {place: numbers for place, numbers in super().cells(cells).items() if None not in place[0]}


class BoundedBeforeListed(Reference):
    """Bounds units before rows with other keys are left out."""

    def cells(self, cells: Cells) -> Answers:
        if cells.listed is None:
            return super().cells(cells)
        every = Cells(cells.source, cells.keys, cells.tallies, cells.bound, None, cells.inner)
        public = set(zip(*cells.listed.columns, strict=True))
        return {place: numbers for place, numbers in super().cells(every).items() if place[0] in public}


class MissingIsTrue(Reference):
    """Keeps rows whose condition is missing."""

    def value(self, expression: Expression, row: Row) -> Value:
        found = super().value(expression, row)
        return True if found is None and expression.kind is Kind.BOOL and isinstance(expression, Call) else found


class Wrapping(Reference):
    """Lets whole numbers wrap around."""

    def value(self, expression: Expression, row: Row) -> Value:
        found = super().value(expression, row)
        if (
            found is None
            and isinstance(expression, Call)
            and expression.operator in WHOLE
            and expression.kind is Kind.INT
        ):
            parts: Sequence[Any] = [self.value(part, row) for part in expression.parts]
            if all(type(part) is int for part in parts):
                return (WHOLE[expression.operator](*parts) + 2**63) % 2**64 - 2**63
        return found


WHOLE: dict[str, Any] = {"add": int.__add__, "mul": int.__mul__, "sub": int.__sub__, "neg": int.__neg__}


class AllDifferent(Reference):
    """Keeps all different values of a unit."""

    def different(self, of: Expression, unit: Identity, key: Key, rows: list[Row], bound: Bound) -> list[Value]:
        return super().different(of, unit, key, rows, Bound())


LESS_EXACT = (
    NanKept,
    InfinityClamped,
    HalvesAway,
    ReadTruncated,
    NotClamped,
    ScaledDown,
    BoundedApart,
    RowsCounted,
    NobodyIsSomebody,
    CutAfterwards,
    MissingMatches,
    MissingKeysDropped,
    BoundedBeforeListed,
    MissingIsTrue,
    Wrapping,
)
"""Interpreters that give other numbers."""

LESS_PRIVATE = (GroupsNotBounded, RowsNotBounded, SumsNotScaled, IdsCut, CutAfterwards, UnitsMixed, AllDifferent)
"""Interpreters by which one unit moves the numbers too far."""
