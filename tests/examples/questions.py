"""Whole questions on small tables of people, how far one person moves their numbers, and what is declared."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from functools import cache
from typing import Any, TypeAlias

import pyarrow as pa
from tests.reference.interpreter import Answers, ByValue, Reference
from tests.reference.planning import catalog_of, planned
from tests.reference.worlds import PERSON, Held, World

import sfumato as sf
from sfumato.exact import rational_up, squared
from sfumato.query.plan.compiled_query import CompiledQuery
from sfumato.query.plan.engine_plan import Cells, ExactAggregate
from sfumato.query.plan.grouping_sets import Level

SAID = {"source": "a test"}
BOOK: dict[str, Any] = {
    "codebook": 1,
    "title": "Small tables",
    "unit": {"protects": "a person", "id": "u"},
    "tables": {
        "t": {
            "columns": {
                "u": {"type": "int"},
                "k": {"categories": ["a", "b"], **SAID},
                "f": {"type": "str"},
                "x": {"type": "int", "between": [-1, 2], **SAID},
            }
        }
    },
}
CATALOG = catalog_of(BOOK)
TYPES = {"u": pa.int64(), "k": pa.string(), "f": pa.string(), "x": pa.int64()}

Person: TypeAlias = tuple[tuple[str, int], ...]
"""The rows of one person: a key, and a number."""

ROWS: tuple[tuple[str, int], ...] = (("a", 2), ("a", -1), ("b", 2))
PEOPLE: tuple[Person, ...] = tuple(
    rows for many in range(1, 4) for rows in itertools.combinations_with_replacement(ROWS, many)
)
"""Everybody with at most three rows."""


def world_of(people: Sequence[Person]) -> World:
    """Gives the table of some people, whose ids are 1, 2, …; nobody is there who has no rows."""
    rows = [{"u": u, "k": k, "f": k, "x": x} for u, rows in enumerate(people, 1) for k, x in rows]
    return World(dict(CATALOG.tables), {"t": Held(TYPES, rows)}, PERSON)


Neighbours: TypeAlias = tuple[World, World]


@cache
def all_neighbours() -> tuple[Neighbours, ...]:
    """Gives every pair of a table with at most two people, and the table without the last of them."""
    alone = [(world_of([one]), world_of([])) for one in PEOPLE]
    return (*alone, *((world_of([one, two]), world_of([one])) for one in PEOPLE for two in PEOPLE))


def interpreted(world: World, cells: Cells) -> Answers:
    return Reference(world.rows, ByValue()).cells(cells)


Compute: TypeAlias = Callable[[World, Cells], Answers]
Shifts: TypeAlias = dict[ExactAggregate, list[int]]


def numbers_of(ready: CompiledQuery, world: World, compute: Compute) -> list[Answers]:
    """Gives the numbers of each level; where levels are sums of the finest one, those sums."""
    finest = next(level for level in ready.levels if level.summed is None)
    cells = compute(world, finest.cells)
    return [_summed(level, finest, cells) if level.summed else compute(world, level.cells) for level in ready.levels]


def _summed(level: Level, finest: Level, cells: Answers) -> Answers:
    assert finest.listed is not None and level.summed is not None
    found: Answers = {}
    for key, place in zip(zip(*finest.listed.columns, strict=True), level.summed, strict=True):
        before, here = found.get(((place,), ()), (0,) * len(level.tallies)), cells.get((key, ()))
        found[(place,), ()] = before if here is None else tuple(a + b for a, b in zip(before, here, strict=True))
    return found


def shifts(ready: CompiledQuery, pair: Neighbours, compute: Compute) -> Iterator[Shifts]:
    """Gives for each level how far each number moves between neighbours, tally by tally."""
    both = (numbers_of(ready, world, compute) for world in pair)
    for level, left, right in zip(ready.levels, *both, strict=True):
        zero = (0,) * len(level.cells.tallies)
        keys = sorted(left.keys() | right.keys(), key=repr)
        moved = [[a - b for a, b in zip(left.get(key, zero), right.get(key, zero), strict=True)] for key in keys]
        yield {tally: [row[place] for row in moved] for place, tally in enumerate(level.cells.tallies)}


QUESTIONS: dict[str, tuple[str, dict[str, Any], bool]] = {
    "count": ("SELECT COUNT(*) AS n FROM t", {"max_rows_per_group": 2}, True),
    "groups": ("SELECT k, COUNT(*) AS n FROM t GROUP BY k", {"max_groups": 1, "max_rows_per_group": 2}, True),
    "both groups": ("SELECT k, COUNT(*) AS n FROM t GROUP BY k", {"max_groups": 2, "max_rows_per_group": 1}, True),
    "sum": ("SELECT k, SUM(x) AS s FROM t GROUP BY k", {"max_groups": 1, "max_rows_per_group": 2}, True),
    "mean": ("SELECT k, AVG(x) AS m FROM t GROUP BY k", {"max_groups": 2, "max_rows_per_group": 1}, True),
    "spread": ("SELECT VAR_POP(x) AS v FROM t", {"max_rows_per_group": 2}, True),
    "tails": ("SELECT SKEWNESS(x) AS s, KURTOSIS(x) AS t FROM t", {"max_rows_per_group": 2}, True),
    "people": ("SELECT k, COUNT(DISTINCT u) AS n FROM t GROUP BY k", {"max_groups": 1}, True),
    "different": ("SELECT k, SUM(DISTINCT x) AS n FROM t GROUP BY k", {"max_groups": 1, "max_rows_per_group": 1}, True),
    "each once": ("SELECT AVG(DISTINCT x) AS m, SUM(DISTINCT x) AS s FROM t", {"max_rows_per_group": 2}, False),
    "combined": ("SELECT COUNT(DISTINCT k, x) AS n FROM t", {"max_rows_per_group": 2}, True),
    "values": ("SELECT k, COUNT(DISTINCT x) AS n FROM t GROUP BY k", {"max_groups": 1, "max_rows_per_group": 2}, True),
    "within": ("SELECT SUM(CLAMP(s, 0, 4)) AS n FROM (SELECT u, SUM(x) AS s FROM t GROUP BY u)", {}, True),
    "filter": (
        "SELECT k, COUNT(*) FILTER (WHERE x > 0) AS n FROM t GROUP BY k",
        {"max_groups": 1, "max_rows_per_group": 2},
        True,
    ),
    "where": ("SELECT k, SUM(x) AS n FROM t WHERE x > 0 GROUP BY k", {"max_groups": 2, "max_rows_per_group": 1}, True),
    "twice": (
        "SELECT COUNT(*) AS n FROM (SELECT u, k FROM t UNION ALL SELECT u, k FROM t)",
        {"max_rows_per_group": 3},
        True,
    ),
    "join": ("SELECT COUNT(*) AS n FROM t JOIN t AS o ON t.u = o.u", {"max_rows_per_group": 4}, True),
    "totals": ("SELECT k, COUNT(*) AS n FROM t GROUP BY ROLLUP (k)", {"max_groups": 1, "max_rows_per_group": 2}, True),
    "case": (
        "SELECT CASE WHEN x > 0 THEN 'up' END AS c, COUNT(*) AS n FROM t GROUP BY c",
        {"max_groups": 1, "max_rows_per_group": 2},
        True,
    ),
}
ONE = sf.Pure(1)


def ready_for(name: str, loss: Any = ONE) -> CompiledQuery:
    text, bounds, _ = QUESTIONS[name]
    return planned(text, CATALOG, loss=loss, **bounds)


def farthest(
    ready: CompiledQuery, pairs: Sequence[Neighbours], compute: Compute
) -> list[dict[ExactAggregate, tuple[int, int]]]:
    """Gives for each level and tally the largest L1 and squared L2 distance between neighbours."""
    found: list[dict[ExactAggregate, tuple[int, int]]] = [
        dict.fromkeys(level.cells.tallies, (0, 0)) for level in ready.levels
    ]
    for pair in pairs:
        for place, moved in enumerate(shifts(ready, pair, compute)):
            for tally, cells in moved.items():
                l1, l2 = found[place][tally]
                found[place][tally] = (
                    max(l1, sum(map(abs, cells))),
                    max(l2, sum(cell * cell for cell in cells)),
                )
    return found


def declared(ready: CompiledQuery) -> list[dict[ExactAggregate, tuple[Fraction, Fraction]]]:
    return [
        {
            tally: (Fraction(rational_up(one.l1)), Fraction(squared(one.l2)))
            for tally in level.cells.tallies
            for one in [level.influence(tally)]
        }
        for level in ready.levels
    ]


def obeys(ready: CompiledQuery, pairs: Sequence[Neighbours], compute: Compute = interpreted) -> bool:
    """Tells whether no pair of neighbours is farther apart than declared."""
    reached, allowed = farthest(ready, pairs, compute), declared(ready)
    return all(
        found[tally][0] <= most[tally][0] and found[tally][1] <= most[tally][1]
        for found, most in zip(reached, allowed, strict=True)
        for tally in most
    )
