"""What a new operator costs: one record. Everything but the engines, which add a template each, follows from it."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

import pytest
from tests.examples.sql import catalog, question, shown
from tests.reference.planning import planned

import sfumato as sf
from sfumato.errors import QueryRefused
from sfumato.query.answer.normal_text import normal_text
from sfumato.query.answer.words import expression_words
from sfumato.query.frame import Frame
from sfumato.query.frame.columns import col
from sfumato.query.nodes.kinds import Kind
from sfumato.query.nodes.operators import OPERATORS
from sfumato.query.nodes.operators.record import SQL_NAMES, Operator, Sql, always_there, register, same, sometimes
from sfumato.query.nodes.operators.released import monotonic as of_released
from sfumato.query.nodes.ranges import monotonic
from sfumato.query.sql import read_sql

TWICE = Operator(
    "twice",
    same(Kind.INT, Kind.FLOAT),
    "a number",
    1,
    1,
    sometimes,
    exact=True,
    range=monotonic(lambda value: 2 * value),
    sql=Sql(names=("twice",)),
    released=of_released(lambda values: 2 * values),
)


@pytest.fixture(autouse=True)
def twice() -> Iterator[None]:
    register(TWICE)
    yield
    del OPERATORS["twice"], SQL_NAMES["twice"]


def test_it_is_read_bounded_and_written() -> None:
    found = question("SELECT SUM(TWICE(age)) AS n FROM visits WHERE TWICE(minutes) > 3")
    assert shown(found) == "where(visits[minutes age], gt(twice(minutes), 3)) | give n=SUM(twice(age))"
    (of,) = found.statistics[0].operands
    assert of.facts.between == (Fraction(0), Fraction(240)) and of.facts.nullable and not always_there(of)
    assert expression_words(of) == "TWICE(age)"
    assert read_sql(normal_text(found, catalog().tables), catalog()).question == found


def test_a_frame_makes_the_same_question() -> None:
    visits = Frame(catalog().table("visits"), None)  # type: ignore[arg-type]
    written = visits.agg(n=col("age").applied("twice").sum()).question
    assert written == question("SELECT SUM(TWICE(age)) AS n FROM visits")
    assert repr(col("age").applied("twice")) == "col('age').twice()"


def test_it_is_applied_to_released_numbers_and_refused_by_its_own_words() -> None:
    ready = planned("SELECT TWICE(COUNT(*)) AS n FROM visits", catalog(), loss=sf.Pure(1), max_rows=1)
    assert ready.how.asked == "SELECT TWICE(COUNT(*)) AS n FROM visits"
    with pytest.raises(QueryRefused, match="twice takes a number; got text"):
        question("SELECT SUM(TWICE(note)) FROM visits")
    with pytest.raises(QueryRefused, match="TRUNC, TWICE, UPPER"):
        question("SELECT SUM(THRICE(age)) FROM visits")
