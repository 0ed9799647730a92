"""Questions that other people ask are answered as recorded, and those that cannot be private never are."""

from __future__ import annotations

import pytest

from fixtures import SOURCES, Fixture, recorded


@pytest.mark.parametrize("name", SOURCES)
def test_no_answer_is_lost_and_what_cannot_be_private_is_refused(name: str) -> None:
    fixture, before = Fixture.read(name), recorded()[name]
    questions = list(fixture.questions)
    assert before <= {question.name for question in questions if not question.why}
    asked = [question for question in questions if question.why or question.name in before]
    verdicts = [fixture.asked(question, run=False) for question in asked]
    assert [verdict for verdict in verdicts if verdict.answered is bool(verdict.asked.why)] == []


def test_the_sources_are_large_enough() -> None:
    sizes = {name: sum(not question.why for question in Fixture.read(name).questions) for name in SOURCES}
    assert sizes["tpch"] + len(Fixture.read("tpch").held["impossible"]) == 22
    assert sum(sizes.values()) >= 250
