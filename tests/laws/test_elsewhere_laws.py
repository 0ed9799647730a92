"""What is written for other databases computes what the engine does: random plans, on nasty tables, read back."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import duckdb
import pytest
from tests.reference.choices import Seeded
from tests.reference.duck import computed_by_value
from tests.reference.elsewhere import computed_elsewhere, held_by
from tests.reference.laws import agree
from tests.reference.plans import Case, cells
from tests.reference.worlds import world

from sfumato.errors import QueryRefused
from sfumato.query.engines.elsewhere.database import Database, Words
from sfumato.query.engines.elsewhere.databases import DATABASES, SNOWFLAKE, SQL_SERVER

PARTS = [0, *(pytest.param(part, marks=pytest.mark.nightly) for part in range(1, 24))]
EVERY = pytest.mark.parametrize("database", DATABASES, ids=lambda database: database.name)


def with_words(database: Database, **words: str) -> Database:
    return replace(database, words=replace(database.words, **words))


def as_it_is_tried(database: Database) -> Database:
    """A database as it reads texts here: DuckDB does not overlook blanks at their ends."""
    return with_words(database, text="{0}", first_letters="LEFT({0}, {1})") if database is SQL_SERVER else database


def cases(database: Database, seeds: range) -> Iterator[Case]:
    for seed in seeds:
        choices = Seeded(10_000 + seed)
        here = held_by(database, world(choices, fancy=False))
        yield Case(here, cells(choices, here))


def tried(database: Database, seeds: range) -> int:
    """Tries plans; gives how many of them are written for a database."""
    agreed = 0
    for case in cases(database, seeds):
        try:
            agree(case, computed_elsewhere(as_it_is_tried(database)), computed_by_value)
            agreed += 1
        except QueryRefused:
            pass
    return agreed


@EVERY
@pytest.mark.parametrize("part", PARTS)
def test_what_is_written_agrees(database: Database, part: int) -> None:
    assert tried(database, range(part * 20, part * 20 + 20)) >= 3


WRONG: dict[str, tuple[Words, int]] = {
    "halves away from 0": (replace(SNOWFLAKE.words, even="SIGN({0}) * FLOOR(ABS({0}) + 0.5)"), 170),
    "infinities are numbers": (
        replace(SNOWFLAKE.words, infinity=("CAST('-inf' AS {0})", "CAST('nan' AS {0})")),
        170,
    ),
    "missing keys do not meet": (replace(SNOWFLAKE.words, same="({0} = {1})"), 25),
    "shares are rounded": (replace(SNOWFLAKE.words, quotient="CAST(ROUND({0} / {1}) AS BIGINT)"), 25),
    "texts are long": (replace(SNOWFLAKE.words, first_letters="LEFT({0}, {1} + 5)"), 30),
}
"""Words that are wrong, and a plan from which on it shows soon."""


@pytest.mark.parametrize("name", WRONG)
def test_wrong_words_do_not_agree(name: str) -> None:
    words, first = WRONG[name]
    with pytest.raises((AssertionError, duckdb.Error)):
        tried(replace(SNOWFLAKE, words=words), range(first, first + 400))
