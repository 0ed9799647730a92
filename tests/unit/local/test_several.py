"""Several attributes and joint tables: whose answers, what errs how much, tables that agree, bad input."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import sfumato as sf
from sfumato import local
from sfumato.entropy import ReplayEntropy
from sfumato.errors import BadArgument
from sfumato.local.all_of import AllOf
from sfumato.local.joint_tables import component
from sfumato.local.one_of import OneOf
from sfumato.local.one_true import OneTrue
from sfumato.local.response import Response
from sfumato.local.unary import UnaryEncoding
from sfumato.local.values import Values

YES = Values(["yes", "no"])
LISTS: dict[str, Any] = {"sex": ["f", "m"], "age": range(70), "city": range(5)}
PEOPLE = 6000


def population() -> dict[str, Any]:
    at = np.arange(PEOPLE)
    return {"age": at * at % 70, "sex": np.where(at % 3 == 0, "f", "m"), "city": (at // 7) % 5}


def nested() -> AllOf:
    inner = OneOf((UnaryEncoding.optimized(Values(range(66)), sf.Pure(1)), Response(YES, sf.Pure(1))))
    return AllOf((Response(Values(range(130)), sf.Pure(1)), UnaryEncoding.symmetric(YES, sf.Pure(1)), inner))


@pytest.mark.parametrize("how", ["sample", "split", "fake"])
def test_counts_of_attributes_are_near_the_truth(how: str) -> None:
    protocol, data = local.attributes(LISTS, loss=sf.Pure(3), users=PEOPLE, how=how), population()
    told = protocol.aggregate(protocol.randomize_many(data, entropy=ReplayEntropy(4)))
    assert list(told) == ["sex", "age", "city"] and protocol.loss == sf.Pure(3)
    for name, counted in told.items():
        truth = np.array([np.mean(data[name] == value) for value in LISTS[name]])
        asked = counted.users / PEOPLE
        spread = np.sqrt(counted.deviations**2 / counted.users**2 + truth * (1 - asked) / counted.users)
        assert np.all(np.abs(counted.shares - truth) < 6 * spread + 1e-9)
        assert counted.users == PEOPLE or how == "sample"


def test_the_best_way_is_taken_and_said() -> None:
    plans = local.attribute_plans(LISTS, loss=1, users=PEOPLE)
    assert plans[0].how == "sample" and {plan.how for plan in plans} == {"sample", "split", "fake"}
    assert plans[0].protocol == local.attributes(LISTS, loss=1, users=PEOPLE)
    assert "drawn in public" in str(plans[0]) and f"{plans[0].error:.3g}" in str(plans[0])
    assert [plan.error for plan in plans] == sorted(plan.error for plan in plans)
    assert local.attribute_plans(LISTS, loss=20, users=PEOPLE)[0].how == "split"


@pytest.mark.parametrize("how", ["sample", "split", "fake"])
def test_the_error_that_is_planned_is_the_one_that_comes(how: str) -> None:
    lists = {"a": range(3), "b": range(8)}
    plan = next(one for one in local.attribute_plans(lists, loss=2, users=900) if one.how == how)
    data, source = {"a": np.arange(900) % 3, "b": np.arange(900) % 8}, ReplayEntropy(9)
    squares = []
    for _ in range(200):
        told = plan.protocol.aggregate(plan.protocol.randomize_many(data, entropy=source))
        squares.append(np.mean([np.mean((told[name].shares - 1 / len(own)) ** 2) for name, own in lists.items()]))
    assert np.mean(squares) ** 0.5 == pytest.approx(plan.error, rel=0.05)


def test_messages_of_all_questions_that_no_device_sends_are_rejected() -> None:
    protocol = nested()
    layout = protocol.layout
    sent = protocol.randomize((129, "yes", (65, "no")), entropy=ReplayEntropy(3))
    assert protocol.tally([sent]).users == 1 and layout.bits == 130 + 2 + 3 + 3 * 66
    whole = int.from_bytes(sent[5:], "little")
    cell = next(place for place in range(130) if whole >> place & 1)
    asked = (whole >> 132 & 7).bit_length() - 1
    forged = {
        "two cells": whole | 1 << (cell + 1) % 130,
        "no cell": whole & ~(1 << cell),
        "both of one question": whole | 7 << 132,
        "bits of an answer that was not given": whole | 1 << (135 + 66 * ((asked + 1) % 3)),
        "beyond the last bit": whole | 1 << layout.bits,
    }
    for why, bits in forged.items():
        message = sent[:5] + bits.to_bytes(layout.size, "little")
        assert protocol.tally([message, sent]).rejected.invalid == 1, why


def test_sums_of_nested_questions_are_those_of_each_alone() -> None:
    protocol, at = nested(), np.arange(900)
    columns = [at % 130, np.where(at % 2, "yes", "no"), [at % 66, np.where(at % 5, "yes", "no")]]
    reports = protocol.randomize_many(columns, entropy=ReplayEntropy(2))
    first, second, (third, fourth) = protocol.aggregate(reports.messages())
    assert first.users == second.users == third.users + fourth.users == 900
    inputs = protocol.inputs_of(columns)
    source = ReplayEntropy(2)
    for part, own, tally in zip(protocol.parts, inputs, protocol.split(protocol.tally(reports)), strict=True):
        cells, bits = part.draw(own, source)
        alone = part.tally(local.Reports(part.head, part.layout, cells, bits))
        assert np.array_equal(alone.sums, tally.sums)


def test_answers_may_be_named_or_in_order() -> None:
    protocol = local.attributes(LISTS, loss=1, users=10)
    named = protocol.input_of({"age": 3, "city": 2, "sex": "m"})
    assert named == protocol.input_of(["m", 3, 2]) == protocol.input_of(("m", 3, 2)) == [1, 3, 2]


@pytest.mark.parametrize(
    ("answers", "problem"),
    [
        ({"age": 3, "city": 2}, "one each"),
        ({"age": 3, "city": 2, "sex": "m", "name": "x"}, "one each"),
        ({"age": 3, "city": 2, "sex": "x"}, "listed values"),
        (["m", 3], "list of 3"),
        ("mmm", "list of 3"),
        (7, "list of 3"),
    ],
)
def test_answers_that_are_not_of_the_domain_are_refused_without_showing_them(answers: Any, problem: str) -> None:
    for protocol in (local.attributes(LISTS, loss=1, users=10), local.attributes(LISTS, loss=1, users=10, how="fake")):
        with pytest.raises(BadArgument, match=problem):
            protocol.randomize(answers)


@pytest.mark.parametrize(
    ("make", "problem"),
    [
        (lambda: local.attributes({}, loss=1, users=10), "mapping"),
        (lambda: local.attributes([range(3)], loss=1, users=10), "mapping"),  # type: ignore[arg-type]
        (lambda: local.attributes({"a": ["one"]}, loss=1, users=10), "at least two"),
        (lambda: local.attributes(LISTS, loss=0, users=10), "above 0"),
        (lambda: local.attributes(LISTS, loss=1, users=0), "at least 1"),
        (lambda: local.attributes(LISTS, loss=1, users=10, how="guess"), "sample, split, fake"),
        (lambda: AllOf(()), "one for each question"),
        (lambda: AllOf((Response(Values(range(1 << 20)), sf.Pure(1)),) * 2), "bits"),
        (lambda: OneTrue((nested(),)), "for counts"),  # type: ignore[arg-type]
        (lambda: OneTrue((Response(YES, sf.Pure(1)),), (1, 2)), "one for each question"),
        (lambda: local.Attributes(("a", "a"), OneOf((Response(YES, sf.Pure(1)),) * 2)), "different texts"),
        (lambda: local.Attributes(("a",), OneOf((Response(YES, sf.Pure(1)),) * 2)), "one for each"),
        (lambda: local.joint(LISTS, loss=1, users=10, marginals=4), "at most 3"),
        (lambda: local.joint(LISTS, loss=1, users=10, marginals=[["age", "name"]]), "groups of some of"),
        (lambda: local.joint(LISTS, loss=1, users=10, marginals=[]), "at least one"),
        (lambda: local.joint(LISTS, loss=1, users=10, how="parities"), "which fit"),
    ],
)
def test_what_cannot_be_asked_is_refused(make: Callable[[], Any], problem: str) -> None:
    with pytest.raises(BadArgument, match=problem):
        make()


def test_one_attribute_is_asked_of_everybody() -> None:
    for how in ("sample", "split", "fake"):
        protocol = local.attributes({"a": range(4)}, loss=1, users=100, how=how)
        told = protocol.aggregate(protocol.randomize_many({"a": [1] * 100}, entropy=ReplayEntropy(1)))
        assert told["a"].users == 100
        plain = local.frequencies(range(4), loss=1, users=100)
        assert told["a"].supports_truth == plain.supports_truth


def correlated(users: int) -> dict[str, Any]:
    at = np.arange(users)
    first = at % 3
    return {"a": first, "b": at // 3 % 4, "c": (first + at // 12 % 2) % 3}


TABLES = {"a": range(3), "b": range(4), "c": range(3)}


@pytest.mark.parametrize("how", ["product", "marginals"])
def test_tables_agree_and_are_near_the_truth(how: str) -> None:
    users, data = 60_000, correlated(60_000)
    protocol = local.joint(TABLES, loss=2, users=users, marginals=2, how=how)
    told = protocol.aggregate(protocol.randomize_many(data, entropy=ReplayEntropy(6)))
    pair, turned, other, single = told.table("a", "c"), told.table("c", "a"), told.table("a", "b"), told.table("a")
    assert np.array_equal(pair.shares.T, turned.shares)
    assert pair.shares.sum() == pytest.approx(1) and pair.counts.sum() == pytest.approx(users)
    assert pair.shares.sum(axis=1) == pytest.approx(single.shares)
    assert other.shares.sum(axis=1) == pytest.approx(single.shares)
    truth = np.zeros((3, 3))
    np.add.at(truth, (data["a"], data["c"]), 1 / users)
    assert np.all(np.abs(pair.shares - truth) < 5 * pair.deviation)
    assert pair.share(2, 0) == pair.shares[2, 0]
    assert pair.consistent().min() >= 0 and pair.consistent().sum() == pytest.approx(1)
    low, high = pair.interval()
    assert np.all(low <= high) and low.min() >= 0


@pytest.mark.parametrize("how", ["product", "marginals", "parities"])
def test_deviations_of_tables_are_those_that_come(how: str) -> None:
    bits: dict[str, Any] = {name: [False, True] for name in "abcd"}
    at, source, squares, said = np.arange(4000), ReplayEntropy(3), [], 0.0
    protocol = local.joint(bits, loss=1, users=4000, marginals=2, how=how)
    data = {name: (at >> place & 1).astype(bool) for place, name in enumerate("abcd")}
    for _ in range(150):
        told = protocol.aggregate(protocol.randomize_many(data, entropy=source)).table("a", "c")
        squares.append(np.mean((told.shares - 0.25) ** 2))
        said = told.deviation
    assert np.mean(squares) ** 0.5 == pytest.approx(said, rel=0.1)
    plan = next(one for one in local.joint_plans(bits, loss=1, users=4000, marginals=2) if one.how == how)
    assert said == pytest.approx(plan.error, rel=0.05)


def test_tables_that_overlap_tell_more_than_each_alone() -> None:
    protocol = local.joint(TABLES, loss=1, users=9000, marginals=2, how="marginals")
    told = protocol.aggregate(protocol.randomize_many(correlated(9000), entropy=ReplayEntropy(1)))
    alone = local.joint(TABLES, loss=1, users=9000, marginals=[["a", "b"]], how="marginals")
    third = alone.aggregate(alone.randomize_many({k: v[:3000] for k, v in correlated(9000).items()}))
    assert told.table("a").deviation < 0.9 * third.table("a").deviation


def test_a_joint_table_is_whole_where_it_is_small_and_pairs_where_it_is_not() -> None:
    assert local.joint(TABLES, loss=1, users=100).tables == ((0, 1, 2),)
    large = {name: range(20) for name in "abc"}
    assert local.joint(large, loss=1, users=100).tables == ((0, 1), (0, 2), (1, 2))
    told = local.joint(large, loss=1, users=100).aggregate([])
    with pytest.raises(BadArgument, match="tell of together"):
        told.table("a", "b")
    with pytest.raises(BadArgument, match="some of a, b, c"):
        told.table("x")
    with pytest.raises(BadArgument, match="different"):
        told.table("a", "a")


def test_components_of_a_table_add_up_to_it() -> None:
    shares = np.arange(24, dtype=float).reshape(2, 3, 4) ** 2 / 4324
    whole = np.full((2, 3, 4), shares.sum() / 24)
    for kept in [(0,), (1,), (2,), (0, 1), (0, 2), (1, 2), (0, 1, 2)]:
        part = component(shares, (0, 1, 2), kept)
        assert np.allclose(part.sum(axis=0), 0)
        whole += part.reshape([n if axis in kept else 1 for axis, n in enumerate((2, 3, 4))]) * part.size / 24
    assert np.allclose(whole, shares)
