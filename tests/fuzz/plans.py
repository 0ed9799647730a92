"""Neighbouring worlds: one unit is added, leaves, or has all of its rows changed; with values of every nasty sort."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from typing import Any

import pyarrow as pa
from tests.reference.choices import Choices
from tests.reference.interpreter import Answers, Identity
from tests.reference.laws import Compute, bound_of, close, joins, owners, without
from tests.reference.plans import Case, cells
from tests.reference.worlds import PRIVATE, ROW, UNIQUE, Held, World, values, world

from sfumato.core.grouped_distance import GroupedDistance
from sfumato.exact import root
from sfumato.query.plan.engine_plan import Bound, Cells
from sfumato.query.plan.sensitivity import influence

HUGE = "y" * 1_000_000
"""A text of 1 MB."""


def nasty_case(choices: Choices, *, huge: bool = False) -> Case:
    """Makes a plan, and a world in which some unit has many rows or enormous texts."""
    here = world(choices)
    if huge:
        rows = {name: [_enormous(choices, row, here.held[name]) for row in held] for name, held in here.rows.items()}
        here = here.with_rows(rows)
    return Case(here, cells(choices, here))


def _enormous(choices: Choices, row: dict[str, Any], held: Held) -> dict[str, Any]:
    texts = [name for name, kind in held.types.items() if kind == pa.string() and name in ("note", "town", "name")]
    return {**row, **{name: HUGE for name in texts if not choices.often(3)}}


def with_other_rows(choices: Choices, here: World, unit: Identity) -> World:
    """Gives a world in which one unit has other rows: fewer, more, or many alike."""
    whose = owners(here)
    rows = {}
    for name, held in here.rows.items():
        rows[name] = [
            row for row, owner in zip(held, whose.get(name, [None] * len(held)), strict=True) if owner != unit
        ]
        own = [row for row, owner in zip(held, whose.get(name, [None] * len(held)), strict=True) if owner == unit]
        if name in PRIVATE and own and name not in UNIQUE:
            changed = [_changed(choices, choices.of(own), here, name) for _ in range(choices.of((1, 2, 7, 40)))]
            rows[name] = rows[name] + changed
        else:
            rows[name] = rows[name] + own
    return here.with_rows(rows)


def _changed(choices: Choices, row: dict[str, Any], here: World, name: str) -> dict[str, Any]:
    """Gives a row of the same unit, with other values in all columns that say nothing of whose it is."""
    kept = {"user", "person", "order", "day", "row"}
    return {
        column.name: row[column.name]
        if column.name in kept
        else choices.of(values(column, here.held[name].types[column.name]))
        for column in here.scans[name].columns
    }


def units_of(here: World) -> list[Identity]:
    """Gives every unit of a world, in one order."""
    found = dict.fromkeys(unit for table in owners(here).values() for unit in table if unit is not None)
    return sorted(found, key=str)


def stays_close(choices: Choices, case: Case, compute: Compute, *, most: int = 2) -> None:
    """Asserts that no unit moves the numbers by more than is declared: when it leaves, joins, or is another."""
    if case.world.unit == ROW and joins(case.cells.source):
        return
    before = compute(case.world, case.cells)
    for unit in choices.some(units_of(case.world), most, most) if units_of(case.world) else ():
        bound = bound_of(case, unit)
        gone = compute(without(case.world, unit, case.cells.source), case.cells)
        as_declared(before, gone, case.cells, bound)
        if case.world.unit != ROW:
            other = with_other_rows(choices, case.world, unit)
            after = compute(other, case.cells)
            its = bound_of(replace(case, world=other), unit)
            as_declared(compute(without(other, unit, case.cells.source), case.cells), after, case.cells, its)
            as_declared(before, after, case.cells, _both(bound, its))


def _both(one: Bound, other: Bound) -> Bound:
    groups = None if one.groups is None or other.groups is None else one.groups + other.groups
    return Bound(groups, None if one.rows is None or other.rows is None else one.rows + other.rows, one.cut)


def as_declared(before: Answers, after: Answers, asked: Cells, bound: Bound) -> None:
    """Asserts that answers differ in no more groups, and in L1 and L2 by no more, than the influence of one unit."""
    close(before, after, asked, bound)
    if asked.inner and not bound.cut:
        return
    groups = math.inf if bound.groups is None else bound.groups
    rows = math.inf if bound.rows is None else bound.rows
    spread = GroupedDistance(groups, math.inf if math.inf in (groups, rows) else groups * rows, rows)
    for place, tally in enumerate(asked.tallies):
        moves = list(_moves(before, after, place))
        declared = influence(tally, spread)
        assert sum(moves) <= declared.l1 or asked.inner
        assert root(Fraction(sum(move * move for move in moves))) <= declared.l2 or asked.inner


def _moves(before: Answers, after: Answers, place: int) -> Iterator[int]:
    for key in before.keys() | after.keys():
        old, new = before.get(key), after.get(key)
        yield abs((old[place] if old else 0) - (new[place] if new else 0))
