"""Query plans under nasty neighbours, on the engine itself: one unit moves exact numbers no further than declared."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from tests.examples.questions import CATALOG, QUESTIONS, TYPES, declared, farthest, obeys, ready_for
from tests.fuzz.plans import HUGE, nasty_case, stays_close
from tests.reference.choices import Seeded
from tests.reference.duck import computed
from tests.reference.interpreter import Reference
from tests.reference.laws import Compute, interpreted_by
from tests.reference.plans import case
from tests.reference.polar import computed as computed_in_polars
from tests.reference.worlds import PERSON, Held, World
from tests.reference.wrong import LESS_PRIVATE

PARTS = [*range(3), *(pytest.param(part, marks=pytest.mark.nightly) for part in range(3, 6))]
NAMED = pytest.mark.parametrize("name", sorted(QUESTIONS))


@pytest.mark.parametrize("part", PARTS)
def test_random_plans(part: int) -> None:
    for seed in range(part * 8, part * 8 + 8):
        choices = Seeded(500_000 + seed)
        stays_close(choices, nasty_case(choices), computed)


@pytest.mark.parametrize("part", [0, *(pytest.param(part, marks=pytest.mark.nightly) for part in range(1, 6))])
def test_random_plans_in_polars(part: int) -> None:
    for seed in range(part * 8, part * 8 + 8):
        choices = Seeded(900_000 + seed)
        stays_close(choices, nasty_case(choices), computed_in_polars)


@pytest.mark.parametrize("compute", [computed, computed_in_polars], ids=["DuckDB", "Polars"])
def test_texts_of_a_megabyte(compute: Compute) -> None:
    for seed in range(8 if compute is computed else 2):
        choices = Seeded(600_000 + seed)
        stays_close(choices, nasty_case(choices, huge=True), compute, most=1)


# Whole questions, with the bounds that the planner declares.

KEYS = ("a", "b", None, "", "A", "\0", HUGE, "🙂")
NUMBERS = (-1, 0, 2, 3, None, 2**53 + 1, 2**63 - 1, -(2**63), 90)
IDS = (1, 2, 3, 2**53, 2**53 + 1, -(2**63), None)


def nasty_pair(seed: int) -> tuple[World, World]:
    """Gives a table, and the same without one person; what belongs to nobody is in both."""
    choices = Seeded(seed)
    many = choices.of((1, 3, 12, 40))
    rows = [
        {"u": choices.of(IDS), "k": choices.of(KEYS), "f": choices.of(KEYS), "x": choices.of(NUMBERS)}
        for _ in range(many)
    ]
    gone = choices.of([row["u"] for row in rows if row["u"] is not None] or [1])
    return table_of(rows), table_of([row for row in rows if row["u"] != gone])


def table_of(rows: list[dict[str, Any]]) -> World:
    return World(dict(CATALOG.tables), {"t": Held(TYPES, rows)}, PERSON)


@NAMED
def test_questions_on_nasty_tables(name: str) -> None:
    assert obeys(ready_for(name), [nasty_pair(seed) for seed in range(5)], computed)


@NAMED
def test_questions_on_nasty_tables_in_polars(name: str) -> None:
    assert obeys(ready_for(name), [nasty_pair(seed) for seed in range(5, 7)], computed_in_polars)


# One person with a million rows.

MILLION = 1_000_000


@dataclass(frozen=True)
class Columns:
    """Is a table that is made column by column."""

    columns: dict[str, Any]

    def arrow(self) -> pa.Table:
        return pa.table(self.columns, schema=pa.schema(list(TYPES.items())))


def crowded(rows_of_one: int) -> World:
    """Gives a table in which ten people have a few rows each, and one has very many."""
    place = np.arange(rows_of_one + 30)
    keys = pa.array(["a", "b", "c", None]).take(pa.array(place % 4))
    columns = {
        "u": pa.array(np.where(place < 30, place % 10, 77)),
        "k": keys,
        "f": pa.array([f"f{number}" for number in range(1000)]).take(pa.array(place % 1000)),
        "x": pa.array(np.where(place < 30, 0, place * np.int64(6_364_136_223_846_793_005))),  # wraps: of both signs
    }
    return World(dict(CATALOG.tables), {"t": Columns(columns)}, PERSON)  # type: ignore[dict-item]


@pytest.fixture(scope="module")
def crowds() -> Sequence[tuple[World, World]]:
    """Gives the table with a million rows of one person, and without them."""
    return [(crowded(MILLION), crowded(0))]


CROWDED = [
    *((computed, name) for name in ("count", "groups", "join", "people", "sum", "totals", "values", "within")),
    *((computed_in_polars, name) for name in ("groups", "join", "values")),
]


@pytest.mark.parametrize(("compute", "name"), CROWDED, ids=range(len(CROWDED)))
def test_one_person_with_a_million_rows(compute: Compute, name: str, crowds: Sequence[tuple[World, World]]) -> None:
    ready = ready_for(name)
    reached = farthest(ready, crowds, compute)
    for found, most in zip(reached, declared(ready), strict=True):
        for tally, (l1, l2) in found.items():
            assert l1 <= most[tally][0] and l2 <= most[tally][1]
    assert any(l1 for found in reached for l1, _ in found.values()), "the person with a million rows is seen"


# The check can fail.


@pytest.mark.parametrize("wrong", LESS_PRIVATE, ids=lambda wrong: wrong.__name__)
def test_a_wrong_engine_is_caught(wrong: type[Reference]) -> None:
    with pytest.raises(AssertionError):
        for seed in range(3000):
            choices = Seeded(seed)
            stays_close(choices, case(choices), interpreted_by(wrong))
