"""Laws of whatever computes cells: each takes a case and one or two ways to compute it, and asserts."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, TypeAlias

from tests.reference.interpreter import Answers, ByValue, Identity, Reference
from tests.reference.plans import Case
from tests.reference.worlds import PRIVATE, ROW, WINDOW, World

from sfumato.query.nodes.relations import Join, Meet, Relation, Scan
from sfumato.query.nodes.walks import meetings
from sfumato.query.plan.engine_plan import Bound, Cells, Distinct, ExactAggregate, Rows, Total, Units

Compute: TypeAlias = Callable[[World, Cells], Answers]


def interpreted(world: World, cells: Cells) -> Answers:
    """Computes cells with the reference interpreter."""
    return Reference(world.rows, ByValue()).cells(cells)


def plainly(answers: Answers, cells: Cells) -> Answers:
    """Gives answers without cells of nothing, where absent and 0 mean the same."""
    silent = cells.listed is not None or not cells.keys
    return {place: numbers for place, numbers in answers.items() if any(numbers) or not silent}


def agree(case: Case, one: Compute, other: Compute) -> None:
    """Asserts that two ways give the same numbers."""
    left, right = plainly(one(case.world, case.cells), case.cells), plainly(other(case.world, case.cells), case.cells)
    assert left == right


def scans(relation: Relation) -> Iterable[Scan]:
    """Gives every table in a relation, as often as it is in it."""
    if isinstance(relation, Scan):
        yield relation
    for source in relation.sources:
        yield from scans(source)


def joins(relation: Relation) -> bool:
    """Tells whether there is a join in a relation."""
    return isinstance(relation, Join | Meet) or any(joins(source) for source in relation.sources)


def owners(world: World) -> dict[str, list[Identity | None]]:
    """Gives the unit of each row of each private table."""
    reference = Reference(world.rows, ByValue())
    return {
        name: [
            (name, place) if world.unit == ROW else next(iter(reference.units(world.scans[name].owner, row)), None)  # type: ignore[arg-type]
            for place, row in enumerate(world.rows[name])
        ]
        for name in PRIVATE
    }


def without(world: World, unit: Identity, source: Relation) -> World:
    """Gives a world without the rows of one unit.

    Where a unit is somebody in one window, what foreign keys lead through stays: those rows are of no one window.
    """
    reached = {hop.table for scan in scans(source) if scan.owner for hop in scan.owner.hops}
    stays = reached if world.unit == WINDOW else set()
    whose = owners(world)
    rows = {
        name: [row for row, owner in zip(held, whose[name], strict=True) if owner != unit or name in stays]
        if name in whose
        else held
        for name, held in world.rows.items()
    }
    return world.with_rows(rows)


def neighbours(case: Case, compute: Compute, *, most: int = 3) -> None:
    """Asserts that no unit moves the numbers by more than its bound allows."""
    whose = owners(case.world)
    units = dict.fromkeys(unit for table in whose.values() for unit in table if unit is not None)
    if case.world.unit == ROW and (joins(case.cells.source)):
        return
    before = compute(case.world, case.cells)
    for unit in sorted(units, key=str)[:most]:
        after = compute(without(case.world, unit, case.cells.source), case.cells)
        close(before, after, case.cells, bound_of(case, unit))


def bound_of(case: Case, unit: Identity) -> Bound:
    """Gives the bound of one unit: of a join of different units it is what comes and goes (proofs/meetings.md)."""
    if case.world.unit == ROW:
        return by_rows(case, unit)
    for met in meetings(case.cells.source):
        reference = Reference(case.world.rows, ByValue())
        own = sum(one.unit == unit for side in met.sources for one in reference.rows(side))
        moved = 2 * own * (met.most or 0)
        return Bound(moved, moved)
    return case.cells.bound


def by_rows(case: Case, unit: Identity) -> Bound:
    """Gives the bound of a row that is a unit: it is there as often as its table is."""
    times = sum(scan.table == unit[0] for scan in scans(case.cells.source))
    return Bound(times, times)


def close(before: Answers, after: Answers, cells: Cells, bound: Bound) -> None:
    """Asserts that answers differ by what one unit may change."""
    nothing = (0,) * len(cells.tallies)
    groups: dict[Any, list[tuple[int, ...]]] = {}
    for place in before.keys() | after.keys():
        old, new = before.get(place), after.get(place)
        if old != new:
            moved = tuple(abs(a - b) for a, b in zip(old or nothing, new or nothing, strict=True))
            if any(moved) or (cells.listed is None and cells.keys):
                groups.setdefault(place[0], []).append(moved)
    assert bound.groups is None or len(groups) <= bound.groups
    for changes in groups.values():
        for number, tally in enumerate(cells.tallies):
            most = reach(tally, bound)
            moved_most = [change[number] for change in changes]
            assert most is None or max(moved_most) <= most
            assert most is None or not bound.cut or isinstance(tally, Units) or sum(moved_most) <= most


def reach(tally: ExactAggregate, bound: Bound) -> int | None:
    """Gives by how much one unit may move the number of one group."""
    if isinstance(tally, Units):
        return 1
    if bound.rows is None:
        return None
    if isinstance(tally, Rows):
        return bound.rows << tally.bits
    if isinstance(tally, Distinct):
        return bound.rows * (max(map(abs, tally.grid.ends)) if tally.grid is not None and tally.summed else 1)
    assert isinstance(tally, Total)
    largest = bound.rows
    for term in tally.terms:
        largest *= max(map(abs, term.grid.ends))
    return largest


def interpreted_by(wrong: type[Reference]) -> Compute:
    """Gives a way to compute with a mistake in it; where it breaks off, that is a failure."""

    def compute(here: World, asked: Cells) -> Answers:
        try:
            return wrong(here.rows, ByValue()).cells(asked)
        except (ValueError, OverflowError, TypeError):
            raise AssertionError from None

    return compute
