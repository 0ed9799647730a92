"""Laws of queries: engines agree with the reference interpreter, one unit moves the numbers by no more than it may, and
nothing depends on the order of rows. Plans and data are random; wrong interpreters show that the laws can fail."""

from __future__ import annotations

import random
from contextlib import closing, suppress
from dataclasses import replace
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given, settings
from tests.profiles import examples
from tests.reference import postgres
from tests.reference.choices import Seeded
from tests.reference.duck import (
    answers,
    by_rank,
    computed,
    computed_by_value,
    computed_in_pieces,
    opened,
    tables,
)
from tests.reference.interpreter import ByValue, Reference
from tests.reference.laws import agree, interpreted, interpreted_by, neighbours, plainly
from tests.reference.obeying import obeys, shown
from tests.reference.plans import Case, any_expression, by_row, case, cases, cells, expression, relation
from tests.reference.sqlite import open_sqlite
from tests.reference.worlds import PERSON, POOLS, Held, World, world
from tests.reference.wrong import LESS_EXACT, LESS_PRIVATE

from sfumato.query.engines import bounding
from sfumato.query.engines.bounding import ScaleDown
from sfumato.query.engines.sql import cells as sql_cells
from sfumato.query.nodes.expressions import Column
from sfumato.query.nodes.kinds import Kind
from sfumato.query.nodes.operators import call
from sfumato.query.nodes.relations import Owner, Scan, Select, Union, Where
from sfumato.query.plan.engine_plan import Bound, Cells, Rows, Total, Units

PARTS = [*range(3), *(pytest.param(part, marks=pytest.mark.nightly) for part in range(3, 10))]
"""Random cases are cut into parts, so that workers share them; most of them are for the night."""


def seeds(part: int, many: int) -> range:
    """Gives the seeds of one part."""
    return range(part * many, (part + 1) * many)


# The engine and the interpreter agree, to the integer.


@pytest.mark.parametrize("part", PARTS)
def test_cells_agree(part: int) -> None:
    for seed in seeds(part, 40):
        choices = Seeded(seed)
        here = world(choices)
        for _ in range(5):
            agree(Case(here, cells(choices, here)), computed_by_value, by_rank)


def test_cells_agree_where_units_with_too_many_rows_are_looked_for_first(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is meant for many numbers at once (`ScaleDown.apart`), here with few."""
    written: list[ScaleDown] = []
    made = sql_cells.apart_numbers
    monkeypatch.setattr(bounding, "WIDE", 0)
    monkeypatch.setattr(sql_cells, "apart_numbers", lambda plan, *rest: written.append(plan) or made(plan, *rest))
    for seed in range(60):
        choices = Seeded(seed)
        here = world(choices)
        drawn = cells(choices, here)
        tallies = tuple(tally for tally in drawn.tallies if isinstance(tally, Rows | Total))
        one = Cells(drawn.source, (), tallies or (Rows(),), Bound(rows=1 + seed % 3))
        agree(Case(here, one), computed_by_value, by_rank)
    assert len(written) > 10


@settings(max_examples=examples(50))
@given(cases())
def test_cells_agree_on_what_hypothesis_finds(one: Case) -> None:
    agree(one, computed_by_value, by_rank)


@pytest.mark.parametrize("seed, most_rows", [(52_666, 12), (70_376, 25)])
def test_an_operand_may_be_there_twice(seed: int, most_rows: int) -> None:
    """DuckDB 2.0 breaks off where it copies a plan in which a function has the same column twice."""
    agree(case(Seeded(seed), most_rows=most_rows), computed_by_value, by_rank)


@pytest.mark.parametrize("part", PARTS)
def test_cells_agree_in_another_dialect(part: int) -> None:
    """What the shared back end takes for granted of an engine, SQLite does not have."""
    computed_there = 0
    for seed in seeds(part, 8):
        choices = Seeded(seed)
        here = world(choices)
        for _ in range(3):
            one = Case(here, cells(choices, here))
            known = tables(here, one.cells)
            engine = open_sqlite({name: here.held[name].arrow() for name in known}, known, by_hash=False)
            with suppress(RuntimeError), closing(engine):
                agree(one, lambda _, asked, engine=engine: answers(engine.run(asked), asked), by_rank)
                computed_there += 1
    assert computed_there > 15


@pytest.mark.parametrize("part", PARTS)
@pytest.mark.parametrize("sort", ["usual", "mixed", "values"])
def test_cells_agree_on_a_server(sort: str, part: int) -> None:
    """PostgreSQL raises where others give NULL, and holds ids and texts in types of its own."""
    compared = 0
    for seed in seeds(part, 6):
        choices = Seeded(20_000 + seed)
        here = world(choices, mixed=sort == "mixed")
        for _ in range(3):
            drawn = by_row(choices, here, many=12, depth=3) if sort == "values" else cells(choices, here)
            if (case := postgres.asked(Case(here, drawn))) is not None:
                agree(case, postgres.computed_by_value, by_rank)
                compared += 1
    assert compared > 9


@pytest.mark.parametrize("part", PARTS)
def test_values_of_expressions_agree(part: int) -> None:
    for seed in seeds(part, 25):
        choices = Seeded(seed)
        here = world(choices)
        for _ in range(4):
            agree(Case(here, by_row(choices, here, many=12, depth=3)), computed_by_value, by_rank)


def test_logarithms_and_powers_agree_but_for_the_last_bits() -> None:
    for seed in range(100):
        choices = Seeded(seed)
        here = world(choices)
        source = here.scans["visits"]
        asked = [call(name, expression(choices, source.fields, kind, 1)) for name in ("ln", "exp") for kind in NUMERIC]
        logarithms = Cells(source, (source.columns[-1], *asked), (Rows(),))
        left, right = computed(here, logarithms), by_rank(here, logarithms)
        assert len(left) == len(right)
        for (one, _), (other, _) in zip(sorted(left, key=first), sorted(right, key=first), strict=True):
            for a, b in zip(one[1:], other[1:], strict=True):
                assert (a is None and b is None) or a == pytest.approx(b, rel=1e-14, abs=1e-300)


NUMERIC = (Kind.INT, Kind.FLOAT)


def first(place: Any) -> Any:
    """Gives the number of a row."""
    return place[0][0]


def test_images_agree() -> None:
    duck = opened(hashed=True).engine(world(Seeded(0)), {})
    for seed in range(200):
        choices = Seeded(seed)
        leaves = [
            (Column(f"c{n}", kind), list(dict.fromkeys(choices.some(LEAVES[kind], 0, 4))))
            for n, kind in enumerate(choices.some(tuple(POOLS), 1, 3))
        ]
        made = [any_expression(choices, [column for column, _ in leaves], 2) for _ in range(choices.whole(1, 3))]
        assert duck.images(made, leaves) == Reference({}, ByValue()).images(made, leaves)


LEAVES = {
    kind: [value for value in pool if value is None or (value == value and value not in (float("inf"), -float("inf")))]
    for kind, pool in POOLS.items()
}


# One unit moves the numbers by no more than its bound allows.


@pytest.mark.parametrize("part", PARTS)
def test_neighbours_are_close_by_the_interpreter(part: int) -> None:
    for seed in seeds(part, 200):
        neighbours(case(Seeded(seed)), interpreted)


@pytest.mark.parametrize("part", PARTS)
def test_neighbours_are_close_on_a_server(part: int) -> None:
    for seed in seeds(part, 4):
        if (one := postgres.asked(case(Seeded(30_000 + seed)))) is not None:
            neighbours(one, postgres.computed, most=2)


@pytest.mark.parametrize("part", PARTS)
def test_neighbours_are_close_by_the_engine(part: int) -> None:
    for seed in seeds(part, 20):
        neighbours(case(Seeded(10_000 + seed)), computed, most=2)


def test_a_unit_with_thousands_of_rows_and_groups_moves_little() -> None:
    for seed in range(5):
        neighbours(case(Seeded(seed), most_rows=2000), computed, most=1)


def test_the_hash_decides_and_not_the_value() -> None:
    """The true hash is in use elsewhere: it does not take what comes first, and not the same from everybody."""
    types = {"user": pa.int64(), "x": pa.int64()}
    rows = [{"user": user, "x": x} for user in range(200) for x in range(10)]
    source = Scan("t", (Column("user", Kind.INT), Column("x", Kind.INT)), Owner("user"))
    kept = Cells(source, (Column("x", Kind.INT),), (Units(),), Bound(3, 1))
    here = World({}, {"t": Held(types, rows)}, PERSON)
    assert computed_by_value(here, kept) == {((x,), ()): (200,) for x in range(3)}
    found = computed(here, kept)
    assert sum(numbers[0] for numbers in found.values()) == 600
    assert len(found) == 10
    assert all(30 < numbers[0] < 90 for numbers in found.values())


# What the engine is free to decide changes nothing.


def test_the_order_of_rows_changes_nothing() -> None:
    for seed in range(60):
        one = case(Seeded(seed))
        rows = {name: random.Random(seed).sample(rows, len(rows)) for name, rows in one.world.rows.items()}
        agree(one, computed, lambda here, asked: computed(here.with_rows(rows), asked))  # noqa: B023


def test_pieces_of_data_and_threads_change_nothing() -> None:
    for seed in range(30):
        one = case(Seeded(seed), most_rows=30)
        agree(one, computed, computed_in_pieces)


# Plans that mean the same give the same.


def rewritten(one: Cells, seed: int) -> list[tuple[Cells, Cells]]:
    """Gives pairs of cells that mean the same."""
    choices = Seeded(seed)
    source = one.source
    a, b = (expression(choices, source.fields, Kind.BOOL, 2) for _ in range(2))
    same = Select(source, tuple((column.name, column) for column in source.fields))
    yes, no = Where(source, a), Where(source, call("not", a))
    unknown = Where(source, call("is_null", a))
    pairs = [
        (Where(Where(source, a), b), Where(source, call("and", a, b))),
        (Where(Where(source, a), b), Where(Where(source, b), a)),
        (Where(source, call("not", call("or", a, b))), Where(source, call("and", call("not", a), call("not", b)))),
        (source, same),
        (source, Union((yes, no, unknown))),
        (Union((yes, no)), Union((no, yes))),
    ]
    return [(replace(one, source=left), replace(one, source=right)) for left, right in pairs]


@pytest.mark.parametrize("compute", [interpreted, computed], ids=["interpreter", "duckdb"])
def test_plans_that_mean_the_same_give_the_same(compute: Any) -> None:
    for seed in range(25):
        one = case(Seeded(seed))
        for left, right in rewritten(one.cells, seed):
            assert plainly(compute(one.world, left), left) == plainly(compute(one.world, right), right)


# Facts: what is said of columns and expressions is true of every value.


@pytest.mark.parametrize("obedient", [True, False], ids=["obedient", "disobedient"])
@pytest.mark.parametrize("part", PARTS)
def test_facts_hold(part: int, obedient: bool) -> None:
    """Bounds and keys hold for all data; that nothing is missing, where the data is as its codebook says."""
    for seed in seeds(part, 100):
        choices = Seeded(seed)
        here = world(choices, obedient=obedient)
        source = relation(choices, here)
        reference = Reference(here.rows, ByValue())
        asked = [*source.fields, *(any_expression(choices, source.fields, 3) for _ in range(6))]
        for _, row in reference.rows(source):
            for made in asked:
                value = reference.value(made, row)
                right = obeys(value, made.kind, made.facts) or (value is None and not obedient)
                assert right, (shown(made), value, made.facts)


# The laws can fail: each mistake is caught.


@pytest.mark.parametrize("wrong", (*LESS_EXACT, *LESS_PRIVATE), ids=lambda wrong: wrong.__name__)
def test_a_wrong_engine_does_not_agree(wrong: type[Reference]) -> None:
    with pytest.raises(AssertionError):
        for seed in range(3000):
            one = case(Seeded(seed))
            agree(one, interpreted_by(wrong), interpreted)
            agree(
                Case(one.world, by_row(Seeded(seed), one.world, many=12, depth=2)), interpreted_by(wrong), interpreted
            )


@pytest.mark.parametrize("wrong", LESS_PRIVATE, ids=lambda wrong: wrong.__name__)
def test_a_wrong_engine_is_moved_too_far(wrong: type[Reference]) -> None:
    with pytest.raises(AssertionError):
        for seed in range(3000):
            neighbours(case(Seeded(seed)), interpreted_by(wrong))
