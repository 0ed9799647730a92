"""Keys with numbers: counts, means, their intervals, more pairs than planned, columns, bad input."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from sfumato import local
from sfumato.entropy import ReplayEntropy
from sfumato.errors import BadArgument
from sfumato.local import device
from sfumato.local.device import WHOLE

PEOPLE = 20_000
KEYS = ("food", "rent", "travel", "none")


def population() -> tuple[Any, Any, Any]:
    """Everybody has food, two in three rent, one in four travel; nobody the last key."""
    at = np.arange(PEOPLE)
    pairs = [
        (person, key, number)
        for person in at.tolist()
        for key, number, has in (
            ("food", 20 + person % 11, True),
            ("rent", 80.0, person % 3 > 0),
            ("travel", person % 101, person % 4 == 0),
        )
        if has
    ]
    persons = np.array([person for person, _, _ in pairs])
    counts = np.bincount(persons, minlength=PEOPLE)
    return counts, np.array([key for _, key, _ in pairs]), np.array([float(number) for _, _, number in pairs])


@pytest.mark.parametrize("way", ["response", "bits"])
def test_counts_and_means_are_covered(way: str) -> None:
    protocol = local.key_values(KEYS, between=(0, 100), most=3, loss=2, way=way)
    columns, source = population(), ReplayEntropy(3)
    inputs = protocol.inputs_of(columns)
    truth = np.array([np.sum(columns[1] == key) for key in KEYS])
    means = np.array([columns[2][columns[1] == key].mean() for key in KEYS[:3]])
    counted, centred, squares = [], [], []
    told = protocol.aggregate([])
    for _ in range(60):
        reports = local.Reports(protocol.head, protocol.layout, *protocol.draw(inputs, source))
        told = protocol.aggregate(reports)
        low, high = told.interval()
        counted.append((low <= truth) & (truth <= high))
        low, high = told.mean_interval()
        centred.append((low[:3] <= means) & (means <= high[:3]))
        squares.append(((told.counts - truth) / told.deviations) ** 2)
    assert np.mean(counted) > 0.9 and np.mean(centred) > 0.9
    assert np.mean(squares) == pytest.approx(1, abs=0.3)
    assert told.top(1)[0][0] == "food" and told.rows()[3]["key"] == "none"


def test_a_key_that_nobody_has_may_have_any_mean() -> None:
    protocol = local.key_values(KEYS, between=(-5, 5), most=1, loss=1, way="response")
    told = protocol.aggregate(protocol.randomize_many([{"food": 5}] * 500, entropy=ReplayEntropy(1)))
    low, high = told.mean_interval()
    assert (low[3], high[3]) == (-5, 5) and low[0] > 0
    empty = protocol.aggregate([])
    assert np.isnan(empty.means).all() and empty.mean_interval()[0].tolist() == [-5.0] * 4


def test_of_who_has_more_pairs_each_counts_for_less() -> None:
    protocol = local.key_values(range(8), between=(0, 1), most=2, loss=4)
    people = [dict.fromkeys(range(8), 1)] * 5_000
    told = protocol.aggregate(protocol.randomize_many(people, entropy=ReplayEntropy(2)))
    assert told.counts == pytest.approx(np.full(8, 5_000 * 2 / 8), abs=600)
    assert told.means == pytest.approx(np.ones(8), abs=0.2)


def test_columns_and_mappings_are_drawn_alike() -> None:
    protocol = local.key_values(KEYS, between=(0, 100), most=2, loss=1)
    people: list[Any] = [{}, {"rent": 100}, {"food": 0, "travel": 50.5}, [("none", 1)]]
    columns = (
        np.array([0, 1, 2, 1]), np.array(["rent", "food", "travel", "none"]), np.array([100, 0, 50.5, 1]),
    )  # fmt: skip
    drawn = [protocol.randomize_many(one, entropy=ReplayEntropy(4)).messages() for one in (people, columns)]
    assert drawn[0] == drawn[1]


def test_numbers_are_rounded_to_ends_without_bias() -> None:
    protocol = local.key_values(KEYS, between=(-1, 3), most=2, loss=1)
    assert protocol.input_of({"food": 0, "rent": 3, "travel": -1}) == [[0, WHOLE // 4], [1, WHOLE], [2, 0]]
    assert protocol.input_of({"food": np.float64(1)}) == [[0, WHOLE // 2]]


def test_more_keys_want_bits_and_more_pairs_want_response() -> None:
    ways = {(keys, most): local.key_values(range(keys), between=(0, 1), most=most, loss=1).way
            for keys in (2, 2000) for most in (1, 50)}  # fmt: skip
    assert ways == {(2, 1): "response", (2, 50): "response", (2000, 1): "bits", (2000, 50): "response"}


def test_bounds_belong_to_the_recipe() -> None:
    """Reports made with other bounds are of another protocol."""
    one, other = (local.key_values(KEYS, between=(0, top), most=2, loss=1) for top in (1, 2))
    assert one.head != other.head
    with pytest.raises(BadArgument, match="the same"):
        one.aggregate([other.randomize({"food": 1})])


@pytest.mark.parametrize(
    ("pairs", "problem"),
    [
        ({"salt": 1}, "listed values"),
        ({"food": 101}, "between 0.0 and 100.0"),
        ({"food": math.nan}, "between"),
        ({"food": math.inf}, "between"),
        ({"food": True}, "between"),
        ({"food": "1"}, "between"),
        ([("food", 1), ("food", 2)], "no key twice"),
        ("food", "a mapping"),
        (5, "a mapping"),
        ([("food",)], "a mapping"),
    ],
)
def test_pairs_that_are_none_are_refused_without_showing_them(pairs: Any, problem: str) -> None:
    protocol = local.key_values(KEYS, between=(0, 100), most=2, loss=1)
    for refused in (lambda: protocol.randomize(pairs), lambda: protocol.randomize_many([pairs])):
        with pytest.raises(BadArgument, match=problem):
            refused()
    with pytest.raises(ValueError, match="must"):
        device.Client.read(protocol.publish()).randomize(pairs, octets=bytes)


@pytest.mark.parametrize(
    ("columns", "problem"),
    [
        (([2], ["food", "food"], [1, 2]), "no key twice"),
        (([1], ["food", "rent"], [1, 2]), "how many each"),
        (([-1, 2], ["food"], [1]), "how many each"),
        (([1], ["food"], [math.nan]), "between"),
        (([1.5], ["food"], [1]), "how many each"),
    ],
)
def test_columns_that_do_not_fit_are_refused(columns: tuple[Any, ...], problem: str) -> None:
    protocol = local.key_values(KEYS, between=(0, 100), most=2, loss=1)
    with pytest.raises(BadArgument, match=problem):
        protocol.randomize_many(tuple(np.array(one) for one in columns))


@pytest.mark.parametrize(
    ("make", "problem"),
    [
        (lambda: local.key_values(["a"], between=(0, 1), most=1, loss=1), "at least two"),
        (lambda: local.key_values(KEYS, between=(1, 1), most=1, loss=1), "lower one first"),
        (lambda: local.key_values(KEYS, between=(-1e308, 1e308), most=1, loss=1), "apart"),
        (lambda: local.key_values(KEYS, between=(0, math.inf), most=1, loss=1), "finite"),
        (lambda: local.key_values(KEYS, between=(0, 1), most=0, loss=1), "at least 1"),
        (lambda: local.key_values(KEYS, between=(0, 1), most=1, loss=0), "above 0"),
        (lambda: local.key_values(KEYS, between=(0, 1), most=1, loss=1, way="hash"), "response, bits"),
    ],
)
def test_what_cannot_be_asked_is_refused(make: Callable[[], Any], problem: str) -> None:
    with pytest.raises(BadArgument, match=problem):
        make()


def test_one_report_of_nothing_is_a_report() -> None:
    protocol = local.key_values(KEYS, between=(0, 1), most=2, loss=1)
    sent = device.Client.read(protocol.publish()).randomize({}, octets=ReplayEntropy(1).octets)
    assert protocol.tally([sent]).users == 1
    assert json.loads(protocol.publish())["recipe"]["between"] == ["0.0", "1.0"]
