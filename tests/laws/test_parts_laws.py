"""Laws of data in parts: maps against every way in which rows can fall, drawn at random; members stay members."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator
from fractions import Fraction
from functools import reduce
from typing import Any

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given, settings
from tests.profiles import examples

import sfumato as sf
from sfumato.combinators.parallel import parallel_loss
from sfumato.core.grouped_distance import GroupedDistance
from sfumato.entropy import ReplayEntropy
from sfumato.transforms.group_bounds import groups_of_a_unit, rows_in_a_group

VOUCHED = sf.claim("for this test")
wholes = st.one_of(st.integers(0, 5), st.just(math.inf))
spreads = st.builds(GroupedDistance, wholes, wholes, wholes)
small = st.builds(GroupedDistance, st.integers(0, 3), st.integers(0, 6), st.integers(0, 4))


def falls(spread: GroupedDistance, parts: int) -> Iterator[tuple[int, ...]]:
    """Every way in which rows can fall into so many parts within a spread."""
    for v in itertools.product(range(int(spread.largest) + 1), repeat=parts):
        if sum(v) <= spread.rows and sum(map(bool, v)) <= spread.parts:
            yield v


@given(spreads, spreads)
def test_spreads_are_ordered_and_joined(left: GroupedDistance, right: GroupedDistance) -> None:
    both = left.wider(right)
    assert left <= both and right <= both and left <= left
    assert (left <= right and right <= left) == (left == right)
    assert GroupedDistance(left.parts, left.rows, left.largest) == left
    assert sf.PartDistance().read((left.parts, left.rows, left.largest)) == left


@given(small, st.lists(st.fractions(0, 3), min_size=3, max_size=3), st.sampled_from(["Pure", "ZCDP", "GDP", "Approx"]))
def test_no_way_to_fall_costs_more_than_the_map(spread: GroupedDistance, sizes: list[Fraction], kind: str) -> None:
    """Losses that grow like groups, slower, or jump: the composition over any fall is within the bound."""
    curves: dict[str, Callable[[Fraction, Any], sf.Loss]] = {
        "Pure": lambda one, rows: sf.Pure(min(one * rows, Fraction(7, 2))),
        "ZCDP": lambda one, rows: sf.ZCDP(one * rows**2),
        "GDP": lambda one, rows: sf.GDP(one * rows),
        "Approx": lambda one, rows: sf.Approx(one * rows, min(Fraction(1), one / 100 * 2**rows * bool(rows))),
    }
    curve, measure = curves[kind], getattr(sf, kind)
    bound = parallel_loss(spread, lambda rows: [curve(one, rows) for one in sizes], measure, 3)
    if spread.rows == 0:
        assert bound == measure.nothing()
    worst = Fraction(0)
    for v in falls(spread, 3):
        true = reduce(measure.then, (curve(one, n) for one, n in zip(sizes, v, strict=True) if n), measure.nothing())
        assert true.within(bound)
        worst = max(
            worst, getattr(true, {"Pure": "epsilon", "ZCDP": "rho", "GDP": "square", "Approx": "epsilon"}[kind])
        )
    if kind in ("ZCDP", "GDP"):
        assert worst == (bound.rho if kind == "ZCDP" else bound.square)


def test_the_law_catches_a_bound_that_is_too_small() -> None:
    """One part at the largest number of rows is not all: the rows that are left fall elsewhere."""
    ones = [sf.Pure(1), sf.Pure(1)]
    naive = sf.Pure.widest([one.group(2) for one in ones])
    assert parallel_loss(GroupedDistance(2, 3, 2), lambda rows: [sf.Pure(rows)] * 2, sf.Pure, 2) == sf.Pure(3)
    assert not sf.Pure(3).within(naive)


COLUMNS = ("a", "b", "c")
unit_rows = st.lists(st.tuples(*[st.integers(0, 1)] * 3), max_size=6)
column_sets = st.sets(st.sampled_from(COLUMNS), min_size=1).map(frozenset)


def groups(rows: list[tuple[int, ...]], columns: frozenset[str]) -> dict[tuple[int, ...], int]:
    found: dict[tuple[int, ...], int] = {}
    for row in rows:
        key = tuple(value for name, value in zip(COLUMNS, row, strict=True) if name in columns)
        found[key] = found.get(key, 0) + 1
    return found


@given(unit_rows, st.lists(column_sets, max_size=4), st.lists(column_sets, max_size=4), column_sets)
def test_descriptors_that_hold_for_a_unit_carry_to_other_groupings(
    rows: list[tuple[int, ...]], counted: list[frozenset[str]], sized: list[frozenset[str]], wanted: frozenset[str]
) -> None:
    most = {columns: max(1, len(groups(rows, columns))) for columns in counted}
    each = {columns: max(1, *groups(rows, columns).values(), 0) for columns in sized}
    here = groups(rows, wanted)
    assert len(here) <= groups_of_a_unit(wanted, most)
    assert max(here.values(), default=0) <= rows_in_a_group(wanted, each)


any_float = st.one_of(st.sampled_from([0.0, -0.0, 1.0, math.nan, math.inf, -math.inf, 1.7e308]), st.floats(-3, 3))
whole = st.one_of(st.sampled_from([0, 1, 2**63, -(10**30)]), st.integers(-2, 2))
letters = st.sampled_from(["x", "y", "z"])
PEOPLE = sf.frame({"id": int, "letter": str, "value": sf.Floats(nan=True, infinite=True)})
table = st.lists(st.tuples(whole, letters, any_float), max_size=6)


def pack(rows: list[tuple[Any, ...]]) -> dict[str, list[Any]]:
    return {name: [row[i] for row in rows] for i, name in enumerate(("id", "letter", "value"))}


MAKERS = {
    "keys": lambda: sf.group_by("letter", keys=["x", "y", "absent"]),
    "other": lambda: sf.group_by("letter", "id", keys=[("x", 0), ("y", 2**63)], other=True),
    "floats": lambda: sf.group_by("value", keys=[0.0, 1, math.inf]),
    "labels": lambda: sf.transforms.random_parts(3),
    "identifiers": lambda: sf.transforms.random_parts(3, by="id", claim=VOUCHED),
    "float identifiers": lambda: sf.transforms.random_parts(2, by="value", claim=VOUCHED),
    "aggregates": lambda: sf.sample_and_aggregate(len, int, parts=3, default=0, claim=VOUCHED),
    "failing": lambda: sf.sample_and_aggregate(
        lambda part: 1 / part["id"][0], parts=2, between=(-1, 1), default=0, claim=VOUCHED
    ),
}
every = pytest.mark.parametrize("make", MAKERS.values(), ids=MAKERS.keys())


@every
@settings(max_examples=examples(40))
@given(rows=table)
def test_images_are_members_and_data_is_not_changed(make: Callable[[], Any], rows: list[tuple[Any, ...]]) -> None:
    made, data = PEOPLE >> make(), pack(rows)
    before = repr(data)
    image = made(data, entropy=ReplayEntropy(3))
    assert made.target.domain.member(image)
    assert repr(data) == before
    if made.randomized and isinstance(image, tuple):
        assert sum(len(part["id"]) for part in image) == len(rows)


@pytest.mark.parametrize("name", ["keys", "other", "floats"])
@settings(max_examples=examples(60))
@given(common=table, added=table)
def test_neighbours_stay_within_the_map(name: str, common: list[Any], added: list[Any]) -> None:
    made = PEOPLE >> MAKERS[name]()
    left, right = pack(common), pack([*added[:3], *common])
    assert made.target.distance(made(left), made(right)) <= made.map(len(added[:3]))


@pytest.mark.parametrize("keys", [["x", "y"], ["z"]])
@settings(max_examples=examples(60))
@given(rows=st.lists(letters, min_size=4, max_size=4), changed=st.lists(letters, min_size=2, max_size=2))
def test_exchanged_rows_stay_within_the_map(keys: list[str], rows: list[str], changed: list[str]) -> None:
    made = sf.vector(str, size=4) >> sf.group_by(keys=keys)
    other = [*changed, *rows[2:]]
    apart = made.source.distance(rows, other)
    assert made.target.distance(made(rows), made(other)) <= made.map(apart)


@every
def test_maps_are_monotone_and_start_at_nothing(make: Callable[[], Any]) -> None:
    made = PEOPLE >> make()
    ladder = [made.map(d_in) for d_in in (0, 1, 2, 3, 10, 10**30, math.inf)]
    assert ladder[0] in (0, GroupedDistance(0, 0, 0))
    assert all(low <= high for low, high in itertools.pairwise(ladder))
    assert made.check(1, ladder[1]) and made.steps and made.proofs


@settings(max_examples=examples(60))
@given(st.lists(st.tuples(letters, whole), max_size=8))
def test_groups_and_sizes_agree_with_counts(rows: list[tuple[str, int]]) -> None:
    space = sf.frame({"letter": str, "number": int})
    data = {"letter": [letter for letter, _ in rows], "number": [number for _, number in rows]}
    grouped = space >> sf.group_by("letter", keys=["x", "y"], other=True)
    counts = (space >> sf.select("letter") >> sf.count_by(["x", "y"], other=True))(data)
    assert np.array_equal((grouped >> sf.transforms.sizes())(data), counts)
    added = (grouped >> sf.transforms.sums(-5, 5, column="number"))(data)
    clamped = [max(-5, min(5, number)) for number in data["number"]]
    wanted = [sum(n for letter, n in zip(data["letter"], clamped, strict=True) if letter == key) for key in "xyz"]
    assert added.tolist() == wanted
