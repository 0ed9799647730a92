"""Joins of rows of different units: for all units of a small domain, beside others, one of them moves the numbers as
far as the theorem says and no further (proofs/meetings.md); whoever counts half of it is found out."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from itertools import combinations, combinations_with_replacement, product
from typing import Any, TypeAlias

import pyarrow as pa
import pytest
from tests.examples.questions import SAID, Neighbours, declared, farthest, interpreted, obeys, shifts
from tests.reference.duck import computed
from tests.reference.planning import catalog_of, planned
from tests.reference.worlds import PERSON, ROW, Held, World

import sfumato as sf
from sfumato.core.grouped_distance import GroupedDistance
from sfumato.query.plan.compiled_query import CompiledQuery
from sfumato.query.plan.engine_plan import Bound
from sfumato.transforms.meetings import moved_by_meeting, net_of_meeting

TABLES = {
    name: {
        "columns": {
            "u": {"type": "int"},
            "k": {"categories": ["a", "b"], **SAID},
            value: {"categories": [0, 1], **SAID},
            "w" + name: {"type": "int", "between": [-1, 1], **SAID},
        }
    }
    for name, value in (("s", "x"), ("t", "y"))
}
BOOK: dict[str, Any] = {"codebook": 1, "title": "Two", "unit": {"protects": "a person", "id": "u"}, "tables": TABLES}
CATALOG = catalog_of(BOOK)
ROWS_ARE_UNITS = catalog_of({**BOOK, "unit": {"protects": "a row"}})
TYPES = {"s": ("u", "k", "x", "ws"), "t": ("u", "k", "y", "wt")}

Side: TypeAlias = tuple[tuple[str, int], ...]
Person: TypeAlias = tuple[Side, Side]
"""The rows of one person in both tables: a key, and a value."""

ONE: list[Side] = [(), *(((key, value),) for key in "ab" for value in (0, 1))]
TWO: list[Side] = list(combinations_with_replacement([("a", 0), ("a", 1), ("b", 1)], 2))
PEOPLE: list[Person] = [*product(ONE, ONE), *((two, other) for two in TWO for other in ((), *TWO))]
"""Everybody with at most a row in each table, and some with two."""

FULL = [((("a", 1),), (("b", 1),)), ((("b", 1),), (("a", 1),))]
CROWDS: list[list[Person]] = [[], FULL, FULL[1:], [((("a", 1), ("a", 0)), (("b", 0), ("a", 0))), FULL[1]]]
"""Who else is there: nobody, people who fill every key, one of them, or one with two rows on each side."""


def world_of(people: Sequence[Person], scans: Any = CATALOG.tables, unit: str = PERSON) -> World:
    held = {}
    for place, name in enumerate(("s", "t")):
        rows = [
            dict(zip(TYPES[name], (u, key, value, 1 if value else -1), strict=True))
            for u, person in enumerate(people, 1)
            for key, value in person[place]
        ]
        kinds = (pa.int64(), pa.string(), pa.int64(), pa.int64())
        held[name] = Held(dict(zip(TYPES[name], kinds, strict=True)), rows)
    return World(dict(scans), held, unit)


@cache
def all_neighbours() -> tuple[Neighbours, ...]:
    alone = [world_of(others) for others in CROWDS]
    return tuple(
        (world_of([*others, one]), world) for others, world in zip(CROWDS, alone, strict=True) for one in PEOPLE
    )


JOIN = "FROM s JOIN t ON s.k = t.k"
QUESTIONS: dict[str, tuple[str, int, int, bool]] = {
    "count": (f"SELECT COUNT(*) AS n {JOIN}", 1, 1, True),
    "by others": (f"SELECT x + y AS z, COUNT(*) AS n {JOIN} GROUP BY z", 1, 1, True),
    "by key": (f"SELECT t.k AS k, COUNT(*) AS n {JOIN} GROUP BY t.k", 1, 1, False),
    "some": (f"SELECT COUNT(*) FILTER (WHERE x + y = 1) AS n {JOIN}", 1, 1, True),
    "either": (f"SELECT COUNT_IF(x + y = 2) AS n, COUNT_IF(x + y = 1) AS m {JOIN}", 1, 1, False),
    "signed": (f"SELECT SUM(ws * wt) AS n {JOIN}", 1, 1, True),
    "values": (f"SELECT COUNT(DISTINCT x + 2 * y) AS n {JOIN}", 1, 1, True),
    "two of each": (f"SELECT x + y AS z, COUNT(*) AS n, SUM(ws) AS s {JOIN} GROUP BY z", 2, 2, False),
    "with itself": ("SELECT o.x AS x, COUNT(*) AS n FROM s JOIN s AS o ON s.k = o.k GROUP BY o.x", 2, 1, False),
    "conditions": (f"SELECT COUNT(*) AS n {JOIN} AND x < y", 1, 1, False),
    "three": (f"SELECT o.x AS x, COUNT(*) AS n {JOIN} JOIN s AS o ON o.k = t.k GROUP BY o.x", 1, 1, False),
}
NAMED = pytest.mark.parametrize("name", QUESTIONS)


def ready_for(name: str) -> CompiledQuery:
    text, rows, matches, _ = QUESTIONS[name]
    return planned(text, CATALOG, loss=sf.Pure(1), max_rows=rows, max_matches=matches)


@NAMED
def test_one_person_moves_a_join_of_different_people_as_far_as_declared_and_no_further(name: str) -> None:
    ready = ready_for(name)
    (found,), (most,) = farthest(ready, all_neighbours(), interpreted), declared(ready)
    for tally in most:
        assert found[tally][0] <= most[tally][0] and found[tally][1] <= most[tally][1]
        assert found[tally] == most[tally] or not QUESTIONS[name][3], (found[tally], most[tally])
    assert all(level.cells.bound == Bound() for level in ready.levels)


def test_the_engine_moves_no_further_either() -> None:
    pairs, questions = all_neighbours()[7::23], {name: ready_for(name) for name in QUESTIONS}
    worlds = {id(world): world for pair in pairs for world in pair}
    found = {  # one world after another: to open one takes longest
        (place, id(ready)): computed(world, ready.levels[0].cells)
        for place, world in worlds.items()
        for ready in questions.values()
    }
    for name, ready in questions.items():
        assert obeys(ready, pairs, lambda world, _, ready=ready: found[id(world), id(ready)]), name  # type: ignore[misc]


@pytest.mark.parametrize(
    "text",
    [
        f"SELECT s.k AS k, COUNT(*) AS n, AVG(ws) AS m {JOIN} GROUP BY ROLLUP (s.k)",
        f"SELECT CASE WHEN x > y THEN 'up' END AS c, COUNT(y) AS n {JOIN} GROUP BY c",
        f"SELECT COUNT(*) AS n FROM (SELECT x {JOIN} UNION ALL SELECT y {JOIN}) WHERE x = 1",
        "SELECT COUNT(*) AS n FROM (SELECT u, k, COUNT(*) AS c FROM s GROUP BY u, k) AS p JOIN t USING (k) WHERE c = y",
    ],
)
def test_what_is_made_of_such_rows_moves_no_further_than_declared(text: str) -> None:
    assert obeys(planned(text, CATALOG, loss=sf.Pure(1), max_rows=1, max_matches=1), all_neighbours()[::2])


def test_numbers_of_which_a_row_moves_one_move_by_what_comes_and_by_what_goes() -> None:
    """One row comes into the one count and another goes from the other: both are priced as one, and by both rows."""
    ready = ready_for("either")
    assert [len(members) for members in ready.levels[0].sets] == [2]
    together = max(
        sum(abs(move) for cells in moved.values() for move in cells)
        for pair in all_neighbours()
        for moved in shifts(ready, pair, interpreted)
    )
    assert {most[0] for most in declared(ready)[0].values()} == {together} == {4}


def test_by_key_what_comes_takes_the_place_of_what_goes() -> None:
    """Groups by the key move by half of all that comes and goes, in as many groups as a person has rows."""
    (level,), (other,) = ready_for("by key").levels, ready_for("by others").levels
    (tally,) = level.tallies
    assert level.influence(tally).spread == GroupedDistance(2, 2, 2)
    assert other.influence(*other.tallies).spread == GroupedDistance(4, 4, 2)
    floats = {
        name: {"columns": {"u": {"type": "int"}, "k": {"type": kind}}} for name, kind in (("s", "float"), ("t", "int"))
    }
    catalog = catalog_of({**BOOK, "tables": floats})
    text, keys = f"SELECT t.k AS k, COUNT(*) AS n {JOIN} GROUP BY t.k", sf.KeySet.of(k=[0, 1])
    (level,) = planned(text, catalog, loss=sf.Pure(1), keys=keys, max_rows=1, max_matches=1).levels
    assert level.influence(*level.tallies).spread.rows == 4, "a float may be the key of several whole numbers"


@pytest.mark.parametrize(("text", "most"), [(f"SELECT COUNT(*) AS n {JOIN}", 1), (QUESTIONS["with itself"][0], 4)])
def test_rows_that_are_units_are_on_one_side_unless_their_table_is_on_both(text: str, most: int) -> None:
    ready = planned(text, ROWS_ARE_UNITS, loss=sf.Pure(1), max_matches=1)
    table = "t" if most == 1 else "s"
    pairs = []
    for world, _ in all_neighbours()[len(PEOPLE) : len(PEOPLE) + 25]:
        rows = {name: held.rows for name, held in world.held.items()}
        before, after = (
            World(dict(ROWS_ARE_UNITS.tables), {n: replace(h, rows=r[n]) for n, h in world.held.items()}, ROW)
            for r in (rows, {**rows, table: rows[table][:-1]})
        )
        pairs.append((before, after))
    assert obeys(ready, pairs)
    (declares,) = declared(ready)
    assert [one[0] for one in declares.values()] == [most]


# The theorem by itself, on every change of both sides.


def test_a_join_moves_as_the_theorem_says_for_all_changes_of_both_sides() -> None:
    """Rows come into and go from both sides of one key; the order is a number of their own."""
    reached: dict[tuple[int, int], int] = {}
    for most, changed in product((1, 2, 3), product(range(3), repeat=4)):
        came, went, also_came, also_went = changed
        rows, others = came + went, also_came + also_went
        for places in combinations(range(6), rows):
            new, old = set(places[:came]), set(places[came:])
            stays = [place for place in range(6) if place not in new | old]
            before, after = (sorted((*stays, *own))[:most] for own in (old, new))
            for there in combinations(range(4), others):
                fresh, gone = set(there[:also_came]), set(there[also_came:])
                stay = [place for place in range(4) if place not in fresh | gone]
                one, two = (sorted((*stay, *own))[:most] for own in (gone, fresh))
                left, right = set(product(before, one)), set(product(after, two))
                bound = moved_by_meeting(rows + others, most)
                assert len(left ^ right) <= bound
                assert max(len(left - right), len(right - left)) <= bound / 2
                place = (rows + others, most)
                reached[place] = max(reached.get(place, 0), len(left ^ right))
    assert all(reached[1, most] == moved_by_meeting(1, most) for most in (1, 2, 3))


def test_what_is_endless_stays_so() -> None:
    assert moved_by_meeting(math.inf, 3) == moved_by_meeting(3, math.inf) == math.inf and moved_by_meeting(0, 3) == 0
    assert net_of_meeting(GroupedDistance(9, math.inf, math.inf), by_key=False).largest == math.inf
