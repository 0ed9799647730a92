"""What is called impossible is: no row of any table makes such a condition true, or has a key that was left out."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.reference.choices import Choices, Drawn, Seeded
from tests.reference.interpreter import ByValue, Reference
from tests.reference.obeying import shown
from tests.reference.plans import expression, relation
from tests.reference.worlds import world

from sfumato.errors import QueryRefused
from sfumato.query.nodes import truths as module
from sfumato.query.nodes.kinds import Kind
from sfumato.query.nodes.operators import call
from sfumato.query.nodes.relations import Where
from sfumato.query.nodes.truths import truths
from sfumato.query.plan.grounding import ground
from sfumato.query.plan.keys import KeyFinder
from sfumato.query.plan.refuse_impossible import empty as called_empty
from sfumato.query.plan.refuse_impossible import never_by

PARTS = range(2)


def seeds(part: int, many: int) -> range:
    return range(part * many, (part + 1) * many)


def check_truths(choices: Choices, told: Counter[bool]) -> None:
    """Compares what conditions are in the rows of a made-up relation with what they can be."""
    here = world(choices, obedient=True)
    source = relation(choices, here)
    asked = [expression(choices, source.fields, Kind.BOOL, 3) for _ in range(6)]
    known = [truths(one) for one in asked]
    for one, can_be in zip(asked, known, strict=True):
        told[True in can_be] += any(True for _ in one.columns())
    for _, row in Reference(here.rows, ByValue()).rows(source):
        for one, can_be in zip(asked, known, strict=True):
            value = Reference(here.rows, ByValue()).value(one, row)
            assert value in can_be, (shown(one), value, can_be)


@pytest.mark.parametrize("part", PARTS)
def test_conditions_are_only_what_they_can_be(part: int) -> None:
    told: Counter[bool] = Counter()
    for seed in seeds(part, 100):
        check_truths(Seeded(seed), told)
    assert told[False] > 20, "some conditions on columns are known to be true for no row"


@given(data=st.data())
def test_conditions_are_only_what_they_can_be_by_hypothesis(data: Any) -> None:
    check_truths(Drawn(data.draw), Counter())


@pytest.mark.parametrize(
    ("name", "wrong"),
    [
        ("_and", lambda left, right: frozenset({True}) & left & right or frozenset({False})),
        ("_by_ends", lambda name, left, right: frozenset({left[0] < right[1] if name != "eq" else left == right})),
        ("_first", lambda parts: truths(parts[0])),
    ],
)
def test_a_wrong_rule_is_caught(name: str, wrong: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, name, wrong)
    with pytest.raises(AssertionError):
        for seed in range(600):
            check_truths(Seeded(seed), Counter())


@pytest.mark.parametrize("part", PARTS)
def test_relations_that_are_called_empty_are(part: int) -> None:
    """Conditions stand anywhere in a relation: below joins, unions and sums of each unit."""
    empty = 0
    for seed in seeds(part, 150):
        choices = Seeded(seed)
        here = world(choices, obedient=True)
        source = relation(choices, here, depth=3)
        if choices.often(2):
            source = Where(source, expression(choices, source.fields, Kind.BOOL, 2))
        reference: Any = Reference(here.rows, ByValue())
        if called_empty(source, never_by(reference)):
            empty += 1
            assert not reference.rows(source), source
    assert empty > 3


def some_key(choices: Choices, fields: Any) -> Any:
    """Makes something to group by, mostly of columns that have lists."""
    few = [column for column in fields if column.facts.listed(column.kind) is not None]
    if few and choices.often(3):
        return choices.of(few)
    return expression(choices, fields, choices.of((Kind.BOOL, Kind.INT, Kind.TEXT)), 1)


@pytest.mark.parametrize("part", PARTS)
def test_every_row_has_one_of_the_keys_that_are_left(part: int) -> None:
    fewer = 0
    for seed in seeds(part, 100):
        choices = Seeded(seed)
        here = world(choices, obedient=True)
        source = relation(choices, here)
        for _ in range(choices.whole(0, 2)):
            listed = some_key(choices, source.fields)
            condition = call("not", call("is_null", listed)) if choices.often(2) else None
            source = Where(source, condition or expression(choices, source.fields, Kind.BOOL, 2))
        keys = [(f"k{place}", some_key(choices, source.fields)) for place in range(choices.whole(1, 2))]
        reference: Any = Reference(here.rows, ByValue())
        told = [tuple(reference.value(key, row) for _, key in keys) for _, row in reference.rows(source)]
        try:
            left = KeyFinder(reference, ground(source), keys).listed(keys, None)
        except QueryRefused as refused:
            assert "hardly two rows" in str(refused) or not told
            continue
        if left is None:
            continue
        allowed = set(zip(*left.columns, strict=True))
        assert set(told) <= allowed, (source, keys)
        unasked = KeyFinder(reference, ground(without_conditions(source)), keys).listed(keys, None)
        fewer += unasked is not None and len(unasked) > len(allowed)
    assert fewer > 3, "conditions leave out some"


def without_conditions(source: Any) -> Any:
    """Gives a relation without its last conditions."""
    while isinstance(source, Where):
        source = source.source
    return source
