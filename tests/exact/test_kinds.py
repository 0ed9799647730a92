"""People and firms on all small tables: what leaves costs each of them no more than claimed, exactly, at the rows that
a firm takes with it; with half of what a cut person can move, or with rows counted where people are cut, it is more.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from functools import cache
from itertools import combinations_with_replacement, product
from typing import Any

import pyarrow as pa
import pytest
from tests.reference.interpreter import ByValue, Reference
from tests.reference.planning import catalog_of, planned
from tests.reference.worlds import PERSON, Held, World

import sfumato as sf
from sfumato.core.grouped_distance import GroupedDistance
from sfumato.core.identifiers import SharedIdentifiers
from sfumato.query.plan import taken_rows
from sfumato.query.plan.compiled_query import CompiledQuery
from sfumato.query.plan.engine_plan import Cells
from sfumato.query.plan.selection_statistics import ChosenAt

SAID = {"source": "a test"}
COLUMNS = {
    "u": {"type": "int"},
    "f": {"type": "int"},
    "k": {"categories": ["a", "b"], **SAID},
    "s": {"type": "str"},
    "x": {"type": "int", "between": [-1, 1], **SAID},
}
TYPES = {"u": pa.int64(), "f": pa.int64(), "k": pa.string(), "s": pa.string(), "x": pa.int64()}
METRIC = SharedIdentifiers("u")


@cache
def catalog(by: str) -> Any:
    """A table of jobs in which a person has two rows: by a fact, or not known."""
    people = {"people": {"rows": 2, **SAID}} if by == "fact" else {}
    bounds = {**people, "firms": {"rows": 4, **SAID}}
    units = {"people": {"protects": "a person", "id": "u"}, "firms": {"protects": "a firm", "id": "f"}}
    return catalog_of(
        {"codebook": 1, "title": "Jobs", "units": units, "tables": {"t": {"columns": COLUMNS, "contributions": bounds}}}
    )


ROWS = [*product((1, 2), (("a", 1), ("a", -1), ("b", 1)))]
PEOPLE = [rows for many in range(3) for rows in combinations_with_replacement(ROWS, many)]
"""Everybody with at most two rows: of two firms, with a key and a number."""


def table(people: Any, *, without: int = 0) -> dict[str, list[Any]]:
    rows = [(u, f, k, k, x) for u, own in enumerate(people, 1) for f, (k, x) in own if f != without]
    return {name: [row[place] for row in rows] for place, name in enumerate(TYPES)}


@cache
def neighbours() -> list[tuple[dict[str, list[Any]], dict[str, list[Any]]]]:
    """Every table of two people that has a row of firm 1, and the table without that firm."""
    both = [pair for pair in combinations_with_replacement(PEOPLE, 2) if any(f == 1 for own in pair for f, _ in own)]
    return [(table(pair), table(pair, without=1)) for pair in both]


def answers(by: str, data: dict[str, list[Any]], cells: Cells) -> Any:
    rows = [dict(zip(data, row, strict=True)) for row in zip(*data.values(), strict=True)]
    world = World(dict(catalog(by).tables), {"t": Held(TYPES, rows)}, PERSON)
    return Reference(world.rows, ByValue()).cells(cells)


def moved(by: str, cells: Cells, pair: Any) -> Iterator[list[int]]:
    """How far the cells of each tally move between neighbours."""
    left, right = (answers(by, one, cells) for one in pair)
    zero = (0,) * len(cells.tallies)
    for place in range(len(cells.tallies)):
        yield [left.get(key, zero)[place] - right.get(key, zero)[place] for key in left.keys() | right.keys()]


def true_loss(ready: CompiledQuery, by: str, pair: Any) -> Fraction:
    """The loss between neighbours: of Laplace noise exactly, of choices by the theorem on rows of each group."""
    spent = Fraction(0)
    for level, noises, specials in zip(ready.levels, ready.noises, ready.specials, strict=True):
        apart = dict(zip(level.cells.tallies, moved(by, level.cells, pair), strict=True)) if level.cells.tallies else {}
        spent += sum(sum(map(abs, apart[tally])) / Fraction(part.noise.scale) for tally, part in noises.items())  # type: ignore[attr-defined]
        for run, special in zip(level.runs, specials, strict=True):
            assert isinstance(special, ChosenAt)
            spent += special._at([sum(map(abs, cells)) for cells in moved(by, run.cells, pair)]).amounts[0]
    return spent


QUESTIONS: dict[str, tuple[str, str, dict[str, Any], Fraction]] = {
    "count": ("fact", "SELECT COUNT(*) AS n FROM t", {}, Fraction(1, 2)),
    "groups": ("fact", "SELECT k, COUNT(*) AS n FROM t GROUP BY k", {}, Fraction(1, 2)),
    "sum": ("fact", "SELECT k, SUM(x) AS s FROM t WHERE x <> 0 GROUP BY k", {}, Fraction(1, 2)),
    "people": ("fact", "SELECT k, COUNT(DISTINCT u) AS n FROM t GROUP BY k", {}, Fraction(1, 2)),
    "values": ("fact", "SELECT COUNT(DISTINCT x) AS n FROM t", {}, Fraction(1, 2)),
    "twice": ("fact", "SELECT COUNT(*) AS n FROM (SELECT u FROM t UNION ALL SELECT u FROM t)", {}, Fraction(1, 2)),
    "median": ("fact", "SELECT MEDIAN(x) AS m FROM t", {}, Fraction(1, 2)),
    "within": (
        "fact",
        "SELECT SUM(CLAMP(s, -2, 2)) AS n FROM (SELECT u, SUM(x) AS s FROM t GROUP BY u)",
        {},
        Fraction(2),
    ),
    "cut rows": ("unknown", "SELECT SUM(x) AS s FROM t", {"max_rows": 1}, Fraction(2)),
    "cut groups": (
        "unknown",
        "SELECT k, COUNT(*) AS n FROM t GROUP BY k",
        {"max_groups": 1, "max_rows_per_group": 1},
        Fraction(2),
    ),
    "scaled": ("unknown", "SELECT SUM(x) AS s FROM t", {"max_rows_per_group": 1}, Fraction(2)),
}
"""Who bounds people, the question, what is cut, and what a taken row, or else person, costs of a person's loss."""


def ready_for(name: str) -> CompiledQuery:
    by, text, cut, _ = QUESTIONS[name]
    return planned(text, catalog(by), loss=sf.Pure(1), **cut)


def worst(ready: CompiledQuery, by: str) -> Fraction:
    """The greatest part of the claimed loss that any pair of neighbours has, at the rows that the firm takes."""
    measurement = ready.measurement(Fraction(95, 100))
    claimed = {}
    found = Fraction(0)
    for pair in neighbours():
        taken = METRIC.taken(*pair)
        if taken not in claimed:
            claimed[taken] = measurement.map(taken).amounts[0]
        found = max(found, true_loss(ready, by, pair) / Fraction(claimed[taken]))
    return found


REACHED = ("count", "groups", "sum", "people", "twice", "median", "cut rows")


@pytest.mark.parametrize("name", QUESTIONS)
def test_a_firm_loses_what_is_claimed_and_no_more(name: str) -> None:
    by, _, _, each = QUESTIONS[name]
    ready = ready_for(name)
    most = worst(ready, by)
    assert most == 1 if name in REACHED else most <= 1
    assert (ready.copies is None) == (each == 2)
    distance = GroupedDistance(2, 4, 2)
    assert ready.measurement(Fraction(95, 100)).map(distance).amounts[0] == each * (2 if ready.copies is None else 4)


@pytest.mark.parametrize("name", ["cut rows", "cut groups"])
def test_where_people_are_cut_rows_alone_do_not_say_what_a_firm_moves(name: str) -> None:
    assert worst(replace(ready_for(name), copies=1), QUESTIONS[name][0]) > 1


def test_a_person_who_is_cut_counts_twice(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(taken_rows, "units_apart", lambda taken: int(taken.parts))
    assert worst(ready_for("cut rows"), "unknown") > 1


@pytest.mark.parametrize("people", [2, 3])
def test_a_firm_is_twice_as_many_people_away_as_it_has(people: int) -> None:
    rows = [own for own in PEOPLE if len(own) == 2][:9]
    for some in combinations_with_replacement(rows, people):
        before, after = table(some), table(some, without=1)
        assert METRIC.distance(before, after) <= taken_rows.units_apart(METRIC.taken(before, after))


def test_keys_are_chosen_at_what_rows_cost() -> None:
    ready = planned("SELECT s, COUNT(*) AS n FROM t GROUP BY s", catalog("fact"), loss=sf.Approx(1, "1e-3"))
    [selection], [level] = ready.pricing.selections, ready.levels
    place = level.cells.tallies.index(level.chooser)  # type: ignore[arg-type]
    for pair in neighbours()[::7]:
        cells = [*moved("fact", level.cells, pair)][place]
        rows = int(METRIC.taken(*pair).rows)
        allowed = selection.over(GroupedDistance(1, 1, 1)).loss(rows)
        assert selection.at([abs(one) for one in cells if one]).within(allowed)
