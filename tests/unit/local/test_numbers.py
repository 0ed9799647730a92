"""Grids of numbers: one place in Python, in arrays and in JavaScript, however nasty the numbers; bad input."""

from __future__ import annotations

import math
import sys
from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd
import pytest
from tests.examples.local_vectors import Stream
from tests.unit.local.javascript import in_javascript

from sfumato.errors import BadArgument
from sfumato.local import Buckets, Numbers, device
from sfumato.local.device import WHOLE
from sfumato.local.numbers import MOST_STEPS
from sfumato.local.published import published

TINY = 5e-324
HUGE = sys.float_info.max
RANGES = (
    (0.0, 1.0),
    (-0.1, 0.2),
    (0.1, 0.7),
    (-1 / 3, 1e9),
    (1e16, 1e16 + 64),
    (0.0, 1e-310),
    (-HUGE / 2**22, HUGE / 2**22),
    (1.0, 1.0000000000000002),
    (-273.15, 100.0),
)
COUNTS = (1, 2, 10, 27720, MOST_STEPS)


def nasty(low: float, high: float, count: int) -> list[float]:
    """Numbers around the ends, the places and the middles between places, and far outside."""
    rng = np.random.default_rng(7)
    inside = [low + (high - low) * share for share in rng.random(20)]
    halves = [low + (high - low) * (int(at) + 0.5) / count for at in rng.integers(0, count, 10)]
    near = [low, high, (low + high) / 2, *halves]
    moved = [math.nextafter(one, way) for one in near for way in (-math.inf, math.inf)]
    return [*near, *moved, *inside, 0.0, -0.0, TINY, -TINY, 1e-300, HUGE, -HUGE, 1 / 3]


@pytest.mark.parametrize("count", COUNTS)
@pytest.mark.parametrize("ends", RANGES)
def test_places_are_the_nearest_and_arrays_find_the_same(ends: tuple[float, float], count: int) -> None:
    grid, values = Numbers(*ends, count), nasty(*ends, count)
    places = [grid.place(value) for value in values]
    assert grid.places(np.array(values)).tolist() == places == grid.places(values).tolist()
    for value, place in zip(values, places, strict=True):
        inside = min(max(Fraction(value), Fraction(grid.low)), Fraction(grid.high))
        assert abs(inside - grid.point(place)) <= grid.step * (Fraction(1, 2) + Fraction(1, 1 << 30))
    assert (grid.place(ends[0]), grid.place(ends[1])) == (0, count)
    order = np.sort(values)
    assert np.all(np.diff(grid.places(order)) >= 0)


@pytest.mark.parametrize("count", [2, 10, 1000])
@pytest.mark.parametrize("ends", RANGES)
def test_buckets_of_arrays_are_those_of_devices(ends: tuple[float, float], count: int) -> None:
    buckets, values = Buckets(*ends, count), nasty(*ends, count)
    found = [buckets.bucket(value) for value in values]
    assert buckets.buckets(np.array(values)).tolist() == found
    assert (buckets.bucket(ends[0]), buckets.bucket(ends[1])) == (0, count - 1)
    assert min(found) == 0 and max(found) == count - 1


def test_whole_numbers_stand_in_the_bucket_that_begins_with_them() -> None:
    assert Buckets(0, 100, 100).buckets(np.arange(101)).tolist() == [*range(100), 99]
    assert Buckets(0, 1, 10).buckets(np.arange(11) / 10).tolist() == [*range(10), 9]
    assert Numbers(1, 5, 4).places(np.array([1, 2, 3, 4, 5], dtype=np.uint8)).tolist() == [0, 1, 2, 3, 4]


def told_places(domain: dict[str, Any], places: int, values: list[Any]) -> list[dict[str, Any]]:
    """Vectors whose message is the place itself: the windows are one cell wide and always told."""
    recipe = {"kind": "window", "cells": places, "bits": 0, "stride": 1, "width": 1, "truth": WHOLE}
    text, vectors = published(recipe, domain), []
    client = device.Client.read(text)
    for value in values:
        stream = Stream("place")
        sent = client.randomize(value, octets=stream)
        vectors.append({"published": text, "value": value, "octets": stream.taken.hex(), "message": sent.hex()})
    return vectors


def test_javascript_finds_the_same_places() -> None:
    vectors, found = [], []
    for ends in RANGES:
        for count in COUNTS:
            grid, values = Numbers(*ends, count), [*nasty(*ends, count), 10**400, -(10**400), 1 << 60, (1 << 60) + 1]
            vectors += told_places(grid.domain(), count + 1, values)
            found += [grid.place(value) for value in values]
        buckets = Buckets(*ends, 999)
        vectors += told_places(buckets.domain(), 999, nasty(*ends, 999))
        found += [buckets.bucket(value) for value in nasty(*ends, 999)]
    answers = in_javascript(vectors, [])["made"]
    assert [one["message"] for one in answers] == [one["message"] for one in vectors]
    assert [int.from_bytes(bytes.fromhex(one["message"])[device.HEAD :], "little") for one in vectors] == found


WRONG = ("1", None, [1], True, {"a": 1})


def test_devices_refuse_what_is_no_number() -> None:
    recipe = {"kind": "window", "cells": 11, "bits": 0, "stride": 1, "width": 1, "truth": WHOLE}
    text, uneven = published(recipe, Numbers(0, 1, 10).domain()), published(recipe, Numbers(0, 1, 11).domain())
    client = device.Client.read(text)
    for value in (*WRONG, math.nan):
        with pytest.raises(ValueError, match="a number, and not NaN"):
            client.randomize(value, octets=bytes)
    with pytest.raises(ValueError, match="does not have the length"):
        device.Client.read(uneven)
    asked = [{"published": text, "value": value} for value in WRONG] + [{"published": uneven, "value": 1}]
    refusals = in_javascript([], asked)["refusals"]
    assert refusals[:-1] == ["the value must be a number, and not NaN"] * len(WRONG)
    assert refusals[-1] == "the grid of numbers does not have the length that the recipe states"


def test_infinities_are_outside_and_nan_is_refused_unseen() -> None:
    grid = Numbers(-1, 1, 10)
    assert [grid.place(value) for value in (-math.inf, math.inf, 10**400, -(10**400))] == [0, 10, 10, 0]
    assert grid.places(np.array([-math.inf, math.inf])).tolist() == [0, 10]
    for values in ([0.5, math.nan], np.array([0.5, math.nan]), [0.5, None], ["secret"], np.array(["a"]), [True]):
        with pytest.raises(BadArgument, match="NaN") as refused:
            grid.places(values)
        assert "secret" not in str(refused.value)
    for wrong in (np.zeros((2, 2)), np.array([True]), np.array([1j])):
        with pytest.raises(BadArgument, match="a column of numbers"):
            grid.places(wrong)
    with pytest.raises(BadArgument, match="not NaN"):
        grid.place(math.nan)


def test_columns_of_all_kinds_are_read() -> None:
    grid = Numbers(0, 10, 10)
    for column in (
        [1, 2.4, 11],
        (1, 2.4, 11),
        np.array([1, 2.4, 11], dtype=np.float32),
        np.array([1, 2.4, 11], dtype=object),
        pd.Series([1, 2.4, 11]),
        iter([1, np.float64(2.4), np.int8(11)]),
    ):
        assert grid.places(column).tolist() == [1, 2, 10]
    assert grid.places([]).tolist() == [] == grid.places(np.array([])).tolist()


@pytest.mark.parametrize(
    ("ends", "steps", "said"),
    [
        ((1, 1), 5, "the first below the second"),
        ((2, 1), 5, "the first below the second"),
        ((0, 5e-325), 5, "the first below the second"),
        ((0, math.inf), 5, "finite"),
        ((math.nan, 1), 5, "finite"),
        ((0, 10**400), 5, "narrower"),
        ((-HUGE, HUGE), 5, "narrower"),
        ((0, HUGE), 5, "narrower"),
        ((0, 1), 0, "at least 1"),
        ((0, 1), MOST_STEPS + 1, "at most"),
    ],
)
def test_impossible_grids_are_refused(ends: tuple[Any, Any], steps: int, said: str) -> None:
    with pytest.raises(BadArgument, match=said):
        Numbers(*ends, steps)


def test_decimals_are_the_floats_that_they_are_written_as() -> None:
    assert Numbers("0.1", Fraction(7, 10)) == Numbers(0.1, 0.7)  # type: ignore[arg-type]
    assert Numbers(0, 1).domain() == {"numbers": {"low": 0.0, "high": 1.0, "steps": 27720}}
