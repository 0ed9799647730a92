"""One question, written as a data frame and in SQL, is one question: equal nodes, and so one digest and one release."""

from __future__ import annotations

import pytest
from tests.examples.frame_and_sql import PAIRS
from tests.examples.visits import CATALOG

from sfumato.query.answer.normal_text import normal_text as in_words
from sfumato.query.sql import read_sql


@pytest.mark.parametrize("name", PAIRS)
def test_both_give_the_same_question(name: str) -> None:
    frame, text = PAIRS[name]
    asked, read = frame().question, read_sql(text, CATALOG).question
    assert asked == read
    assert repr(asked) == repr(read)  # with what is known of every column


@pytest.mark.parametrize("name", PAIRS)
def test_both_are_recorded_in_the_same_words(name: str) -> None:
    frame, text = PAIRS[name]
    asked, read = frame().question, read_sql(text, CATALOG).question
    assert read is not None
    words = in_words(asked, CATALOG.tables)
    assert words == in_words(read, CATALOG.tables)
    assert read_sql(words, CATALOG).question == asked


def test_other_questions_differ() -> None:
    asked = [read_sql(text, CATALOG).question for _, text in PAIRS.values()]
    same = [(one, other) for one in range(len(asked)) for other in range(one) if asked[one] == asked[other]]
    assert not same
