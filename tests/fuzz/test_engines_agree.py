"""All engines at once: the same random plan on the same nasty tables gives the same whole numbers, or is refused.

The reference interpreter judges each of them. Where nothing is cut, all numbers must be its own. Where rows or groups
of a unit are left out, engines may differ in which ones, and not in how many: then units are counted over all groups,
and rows in each group if no groups were left out.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing
from dataclasses import replace

import pytest
from tests.examples.engines import ENGINES, SLOW, Opening
from tests.reference.choices import Seeded
from tests.reference.duck import answers, tables
from tests.reference.interpreter import Answers, ByValue, Identity, Key, Reference
from tests.reference.laws import interpreted, plainly
from tests.reference.plans import Case, cells
from tests.reference.worlds import ROW, World, world
from tests.reference.wrong import GroupsNotBounded, HalvesAway, RowsNotBounded

from sfumato.errors import QueryRefused
from sfumato.query.engines.needs import needs_of_cells, refuse_lacking
from sfumato.query.nodes.relations import Keep, Meet, Relation
from sfumato.query.plan.engine_plan import Bound, Cells, Rows, Units

PARTS = [0, *(pytest.param(part, marks=pytest.mark.nightly) for part in range(1, 20))]
ENOUGH = 10**9
"""More rows than there are."""

NESTED = "SQLite"
"""An engine for tests, which is not told what statements it takes for too deeply nested."""

Computing = Callable[[World, Cells], Answers]


def computed_by(opening: Opening) -> Computing:
    """Computes cells with an engine; refuses what it lacks, as the planner does."""

    def compute(here: World, asked: Cells) -> Answers:
        known = tables(here, asked)
        with closing(opening({name: here.held[name].arrow() for name in known}, known)) as engine:
            refuse_lacking(engine.name, engine.lacks, needs_of_cells(asked))
            engine.prepare(asked)
            return answers(engine.run(asked), asked)

    return compute


def by_name(refusal: str) -> bool:
    """Tells whether a refusal names what an engine lacks."""
    return "cannot run this question" not in refusal


def nothing_is_cut(case: Case) -> bool:
    """Tells whether all rows of all units are kept: inside the relation, and of it."""
    reference = Reference(case.world.rows, ByValue())
    for one in relations(case.cells.source):
        if isinstance(one, Keep) and len(reference.rows(one)) < len(reference.rows(one.source)):
            return False
        if isinstance(one, Meet) and len(reference.rows(one)) < len(reference.rows(replace(one, most=ENOUGH))):
            return False
    groups: dict[Identity, set[Key]] = defaultdict(set)
    rows: dict[tuple[Identity, Key], int] = defaultdict(int)
    for unit, row in reference.rows(case.cells.source):
        key = tuple(reference.value(of, row) for of in case.cells.keys)
        groups[unit].add(key)
        rows[unit, key] += 1
    bound = case.cells.bound
    return max(map(len, groups.values()), default=0) <= (bound.groups or math.inf) and (
        max(rows.values(), default=0) <= (bound.rows or math.inf)
    )


def relations(relation: Relation) -> Iterator[Relation]:
    yield relation
    for source in relation.sources:
        yield from relations(source)


def how_many(found: Answers, asked: Cells) -> object:
    """What must be the same whichever rows and groups of a unit are kept."""
    if any(isinstance(one, Keep | Meet) for one in relations(asked.source)) or asked.inner:
        return None
    units = [place for place, tally in enumerate(asked.tallies) if tally == Units()]
    kept: list[object] = [sum(numbers[place] for numbers in found.values()) for place in units]
    if asked.bound.groups is None:
        rows = [place for place, tally in enumerate(asked.tallies) if tally == Rows()]
        kept += [{key: numbers[place] for key, numbers in found.items() if numbers[place]} for place in rows]
    return kept


def judged(case: Case, engines: Mapping[str, Computing]) -> list[str]:
    """The engines that answer otherwise than the reference, each with what it gave; and how it should have been."""
    expected = plainly(interpreted(case.world, case.cells), case.cells)
    whole = nothing_is_cut(case)
    faults = []
    for name, compute in engines.items():
        try:
            found = plainly(compute(case.world, case.cells), case.cells)
        except QueryRefused as refusal:
            if by_name(str(refusal)) or name == NESTED:
                continue
            faults.append(f"{name} refuses it, and says not what it lacks: {refusal}")
            continue
        agrees = found == expected if whole else how_many(found, case.cells) == how_many(expected, case.cells)
        if not agrees:
            faults.append(f"{name} gives {found}, and not {expected}")
    return faults


def storable(here: World) -> World:
    """Takes U+0000 out of texts, which a server cannot hold."""
    return here.with_rows(
        {
            name: [{column: _without_nul(value) for column, value in row.items()} for row in rows]
            for name, rows in here.rows.items()
        }
    )


def _without_nul(value: object) -> object:
    return value.replace("\0", "\1") if isinstance(value, str) else value


def cases(part: int, many: int) -> Iterator[Case]:
    for seed in range(part * many, part * many + many):
        choices = Seeded(700_000 + seed)
        here = storable(world(choices, most_rows=choices.of((4, 12, 40))))
        asked = cells(choices, here)
        counts = (Rows(),) if here.unit == ROW else (Rows(), Units())
        asked = replace(asked, tallies=tuple(dict.fromkeys((*asked.tallies, *counts))))
        if choices.often(2):  # every second one is bounded loosely enough that nothing is cut
            asked = replace(asked, bound=Bound(None if asked.bound.groups is None else 50, 50, asked.bound.cut))
        yield Case(here, asked)


@pytest.mark.parametrize("part", PARTS)
def test_all_engines_agree(part: int) -> None:
    """Slow engines are asked at night; by day others hold them against the interpreter, where they are open already."""
    computing = {name: computed_by(opening) for name, opening in ENGINES.items()}
    quick = {name: compute for name, compute in computing.items() if name not in SLOW}
    whole = 0
    for seed, case in enumerate(cases(part, 10)):
        faults = judged(case, computing if part else quick)
        assert not faults, "\n".join([f"seed {seed} of part {part}: {case.cells}", *faults])
        whole += nothing_is_cut(case)
    assert whole and (part or whole < 10)  # by chance, nothing is cut in some of the other parts


@pytest.mark.parametrize("wrong", [HalvesAway, RowsNotBounded, GroupsNotBounded], ids=lambda wrong: wrong.__name__)
def test_an_engine_that_differs_is_caught(wrong: type[Reference]) -> None:
    def compute(here: World, asked: Cells) -> Answers:
        return wrong(here.rows, ByValue()).cells(asked)

    assert any(judged(case, {"wrong": compute}) for part in range(30) for case in cases(part, 10))
