"""Noisy counts made non-negative, whole and true to totals: nearest, idempotent, deterministic."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import product

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given, settings
from tests.profiles import examples

import sfumato as sf
from sfumato.errors import BadArgument

counts = sf.stats.consistent_counts
numbers = st.lists(st.one_of(st.integers(-6, 9), st.floats(-6, 9)), min_size=1, max_size=7)


def squares(left: object, right: object) -> Fraction:
    return sum(((Fraction(a) - Fraction(b)) ** 2 for a, b in zip(left, right, strict=True)), Fraction(0))  # type: ignore[call-overload]


@settings(max_examples=examples(60))
@given(numbers, st.integers(0, 12))
def test_whole_counts_keep_the_total_and_do_not_move_again(noisy: list[float], total: int) -> None:
    made = counts(noisy, total)
    assert made.dtype == np.int64 and (made >= 0).all() and made.sum() == total
    assert counts(made, total).tolist() == made.tolist() == counts(made).tolist()
    free = counts(noisy)
    kept = sum((max(Fraction(value), Fraction(0)) for value in noisy), Fraction(0))
    assert (free >= 0).all() and free.sum() == math.floor(kept + Fraction(1, 2))
    assert counts(free).tolist() == free.tolist()


@settings(max_examples=examples(60))
@given(st.lists(st.one_of(st.integers(-3, 5), st.floats(-3, 5)), min_size=1, max_size=3), st.integers(0, 5))
def test_whole_counts_are_the_nearest_of_all(noisy: list[float], total: int) -> None:
    """Brute force over every list of whole numbers with that sum."""
    best = min(squares(noisy, other) for other in product(range(total + 1), repeat=len(noisy)) if sum(other) == total)
    assert squares(noisy, counts(noisy, total).tolist()) == best


@settings(max_examples=examples(60))
@given(numbers, st.one_of(st.integers(0, 9), st.fractions(0, 9, max_denominator=8)), st.randoms())
def test_projection_is_nearest(noisy: list[float], total: Fraction, chance: object) -> None:
    """At the nearest point x every other point y of the simplex has (noisy − x)·(y − x) <= 0: corners suffice."""
    made = counts(noisy, total, whole=False)
    assert (made >= 0).all() and abs(made.sum() - float(total)) < 1e-9
    for corner in range(len(noisy)):
        away = [float(total) * (place == corner) - value for place, value in enumerate(made)]
        assert float(np.dot(np.array(noisy, dtype=float) - made, away)) <= 1e-7
    assert np.allclose(counts(made, total, whole=False), made, atol=1e-12)


def test_ties_go_to_earlier_places_and_remainders_decide() -> None:
    assert counts([0.5, 0.5, 0.5], 2).tolist() == [1, 1, 0]
    assert counts([1.25, 2.5, 0.25], 4).tolist() == [1, 3, 0]
    assert counts([5.5, -2.0, 3.2], 8).tolist() == [5, 0, 3]
    assert counts([3, -1], 0).tolist() == [0, 0] and counts([]).tolist() == []
    assert counts([-4.0, 1.5, 2.25]).tolist() == [0, 2, 2]
    assert counts([-4.0, 1.5], whole=False).tolist() == [0.0, 1.5]


def test_huge_and_exact_numbers() -> None:
    assert counts([1, 2], 2**70).tolist() == [2**69, 2**69]
    assert counts([Fraction(1, 3)] * 3, 1).tolist() == [1, 0, 0]
    assert counts(np.array([2**62, 5, -(2**62)]), 2**62).tolist() == [2**62 - 2, 2, 0]
    assert counts([1e300, -1e300]).sum() == int(1e300)
    assert counts([5e-324, 1.0], 1).tolist() == [0, 1]


def test_groups_keep_their_own_totals() -> None:
    made = counts([1.25, 1.25, 0.5, -3.0, 9.0], {"a": 4, "b": 1}, groups=["a", "a", "b", "b", "a"])
    assert made[[0, 1, 4]].sum() == 4 and made[[2, 3]].sum() == 1
    assert made.tolist() == [0, 0, 1, 0, 4]
    free = counts([1.4, 1.4, 0.4, 0.4], groups="xxyy")
    assert free.tolist() == [2, 1, 1, 0]
    for label, places in (("x", [0, 1]), ("y", [2, 3])):
        assert free[places].tolist() == counts([[1.4, 1.4, 0.4, 0.4][place] for place in places]).tolist(), label


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda: counts([1, math.nan]), "finite"),
        (lambda: counts([[1, 2]]), "finite"),
        (lambda: counts(np.ones((2, 2))), "a list"),
        (lambda: counts("12"), "a list"),
        (lambda: counts([1], -1), "0"),
        (lambda: counts([1], "0.5"), "whole number"),
        (lambda: counts([], 3), "no counts"),
        (lambda: counts([1], {"a": 1}), "unless groups"),
        (lambda: counts([1], 1, groups=["a"]), "total for each label"),
        (lambda: counts([1, 2], groups=["a"]), "one label"),
        (lambda: counts([1], {"b": 1}, groups=["a"]), "for every group"),
    ],
)
def test_what_cannot_be_is_refused(make: object, said: str) -> None:
    with pytest.raises(BadArgument, match=said):
        make()  # type: ignore[operator]
