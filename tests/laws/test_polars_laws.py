"""Laws of queries on Polars: it agrees with the reference interpreter, no unit moves its numbers by more than it may,
and neither the order of rows nor how they are cut into pieces changes anything."""

from __future__ import annotations

import random
from types import SimpleNamespace

import pyarrow as pa
import pytest
from tests.reference.choices import Seeded
from tests.reference.duck import by_rank
from tests.reference.interpreter import ByValue, Reference
from tests.reference.laws import agree, neighbours
from tests.reference.plans import Case, any_expression, by_row, case, cells
from tests.reference.polar import computed, computed_by_value, computed_in_pieces
from tests.reference.worlds import PERSON, POOLS, Held, World, world

from sfumato.query.engines.polars.sources import open_source
from sfumato.query.nodes.expressions import Column
from sfumato.query.nodes.kinds import Kind
from sfumato.query.nodes.relations import Owner, Scan
from sfumato.query.plan.engine_plan import Bound, Cells, Rows, Units

PARTS = [0, *(pytest.param(part, marks=pytest.mark.nightly) for part in range(1, 8))]
"""Random cases are cut into parts; most of them are for the night."""


def seeds(part: int, many: int, start: int = 0) -> range:
    """Gives the seeds of one part."""
    return range(start + part * many, start + (part + 1) * many)


@pytest.mark.parametrize("part", PARTS)
def test_cells_agree(part: int) -> None:
    for seed in seeds(part, 80):
        choices = Seeded(seed)
        here = world(choices)
        for _ in range(4):
            agree(Case(here, cells(choices, here)), computed_by_value, by_rank)


@pytest.mark.parametrize("part", PARTS)
def test_values_of_expressions_agree(part: int) -> None:
    for seed in (117, *seeds(part, 50)):  # there, a float is divided by one number for all rows
        choices = Seeded(seed)
        here = world(choices)
        for _ in range(4):
            agree(Case(here, by_row(choices, here, many=12, depth=3)), computed_by_value, by_rank)


@pytest.mark.parametrize("part", PARTS)
def test_it_agrees_whose_a_row_is(part: int) -> None:
    for seed in seeds(part, 60):
        choices = Seeded(seed)
        here = world(choices, mixed=True)
        for _ in range(3):
            agree(Case(here, cells(choices, here)), computed_by_value, by_rank)


@pytest.mark.parametrize("part", PARTS)
def test_neighbours_are_close(part: int) -> None:
    for seed in seeds(part, 15, start=10_000):
        neighbours(case(Seeded(seed)), computed, most=2)
        choices = Seeded(seed)
        here = world(choices, mixed=True)
        neighbours(Case(here, cells(choices, here)), computed, most=1)


def test_a_unit_with_thousands_of_rows_and_groups_moves_little() -> None:
    for seed in range(3):
        neighbours(case(Seeded(seed), most_rows=2000), computed, most=1)


def test_the_hash_decides_and_not_the_value() -> None:
    """It does not take what comes first, and not the same from everybody: groups, rows and keys of several columns."""
    types = {"user": pa.int64(), "x": pa.int64(), "t": pa.string()}
    rows = [{"user": user, "x": x, "t": f"{x}"} for user in range(200) for x in range(10)]
    x, t = Column("x", Kind.INT), Column("t", Kind.TEXT)
    source = Scan("t", (Column("user", Kind.INT), x, t), Owner("user"))
    here = World({}, {"t": Held(types, rows)}, PERSON)
    for keys, tally, bound in (((x,), Units(), Bound(3, 1)), ((x, t), Rows(), Bound(3)), ((t,), Units(), Bound(3, 1))):
        kept = Cells(source, keys, (tally,), bound)
        assert len(computed_by_value(here, kept)) == 3
        found = computed(here, kept)
        assert sum(numbers[0] for numbers in found.values()) == 600
        assert len(found) == 10
        assert all(30 < numbers[0] < 90 for numbers in found.values())


def test_the_order_of_rows_and_pieces_of_data_change_nothing() -> None:
    for seed in range(40):
        one = case(Seeded(seed), most_rows=20)
        rows = {name: random.Random(seed).sample(rows, len(rows)) for name, rows in one.world.rows.items()}
        agree(one, computed, lambda here, asked: computed_in_pieces(here.with_rows(rows), asked))  # noqa: B023


def test_images_agree() -> None:
    engine = open_source({}, SimpleNamespace(tables={}))  # type: ignore[arg-type]
    for seed in range(100):
        choices = Seeded(seed)
        leaves = [
            (Column(f"c{n}", kind), list(dict.fromkeys(choices.some(LEAVES[kind], 0, 4))))
            for n, kind in enumerate(choices.some(tuple(POOLS), 1, 3))
        ]
        made = [any_expression(choices, [column for column, _ in leaves], 2) for _ in range(choices.whole(1, 3))]
        assert engine.images(made, leaves) == Reference({}, ByValue()).images(made, leaves)


LEAVES = {
    kind: [value for value in pool if value is None or (value == value and value not in (float("inf"), -float("inf")))]
    for kind, pool in POOLS.items()
}
