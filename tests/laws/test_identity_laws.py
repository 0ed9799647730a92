"""Identity is what a source holds: the engine and the interpreter agree whose a row is, whatever type ids are held in,
and no unit moves the numbers by more than it may, also where ids look alike."""

from __future__ import annotations

import pytest
from tests.reference.choices import Seeded
from tests.reference.duck import by_rank, computed, computed_by_value
from tests.reference.laws import agree, neighbours
from tests.reference.plans import Case, cells
from tests.reference.worlds import world

PARTS = [0, 1, *(pytest.param(part, marks=pytest.mark.nightly) for part in (2, 3))]


@pytest.mark.parametrize("part", PARTS)
def test_engine_and_interpreter_agree_whose_a_row_is(part: int) -> None:
    for seed in range(part * 60, part * 60 + 60):
        choices = Seeded(seed)
        here = world(choices, mixed=True)
        for _ in range(3):
            agree(Case(here, cells(choices, here)), computed_by_value, by_rank)


@pytest.mark.parametrize("part", PARTS)
def test_neighbours_are_close_where_ids_look_alike(part: int) -> None:
    for seed in range(10_000 + part * 25, 10_025 + part * 25):
        choices = Seeded(seed)
        here = world(choices, mixed=True)
        neighbours(Case(here, cells(choices, here)), computed, most=2)
