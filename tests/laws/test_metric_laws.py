"""Every distance obeys the axioms of a (pseudo-)metric, exactly and for hard values too (P1-020)."""

from __future__ import annotations

import inspect
import math
from fractions import Fraction

import hypothesis.strategies as st
import pytest
from hypothesis import given

import sfumato.core.metrics as metrics
from sfumato.core.domains import Data
from sfumato.core.metrics import (
    L1,
    L2,
    Absolute,
    AddRemove,
    ChangeOne,
    Discrete,
    Hamming,
    LInf,
    Lp,
    Metric,
    Range,
    Windows,
)
from sfumato.exact import Distance, ball, squared

HARD_FLOATS = [0.0, -0.0, 1.0, -1.5, 0.1, 5e-324, 1.7e308, -1.7e308, math.nan, math.inf, -math.inf]
HARD_INTS = [0, 1, -1, 2**53 + 1, 2**63, -(10**30)]
atoms = st.one_of(st.sampled_from([*HARD_FLOATS, *HARD_INTS, True, "a", "", None]), st.integers(-2, 2))
numbers = st.one_of(
    st.sampled_from([0.0, -0.0, 0.1, 5e-324, 1e308, *HARD_INTS]), st.integers(-3, 3), st.fractions(-3, 3)
)
lists = st.lists(atoms, max_size=5)
fixed_lists = st.lists(atoms, min_size=3, max_size=3)
vectors = st.lists(numbers, min_size=2, max_size=2)

CASES: dict[Metric, st.SearchStrategy[Data]] = {
    AddRemove(): lists,
    ChangeOne(): fixed_lists,
    Hamming(): fixed_lists,
    Windows(length=2): fixed_lists,
    Discrete(): atoms,
    Absolute(): numbers,
    L1(): vectors,
    L2(): vectors,
    LInf(): vectors,
    LInf(monotonic=True): vectors,
    Range(): vectors,
}
every_metric = pytest.mark.parametrize("metric", CASES, ids=str)

# Rounded up, so a sum of two may be below a third by the rounding; the axioms are checked with that slack.
ROUNDED = Lp(Fraction(3))


def test_every_metric_is_here() -> None:
    classes = {thing for thing in vars(metrics).values() if inspect.isclass(thing) and issubclass(thing, Metric)}
    concrete = {thing for thing in classes if vars(thing).get("__final__", False)}
    assert concrete == {type(metric) for metric in [*CASES, ROUNDED]}


def at_most_sum(whole: Distance, left: Distance, right: Distance) -> bool:
    """Decides whole <= left + right exactly, also between square roots."""
    if math.inf in (left, right):
        return True
    a, b, c = Fraction(squared(left)), Fraction(squared(right)), Fraction(squared(whole))
    rest = c - a - b  # whole² <= left² + right² + 2 left right
    return rest <= 0 or rest**2 <= 4 * a * b


@every_metric
@given(data=st.data())
def test_axioms(metric: Metric, data: st.DataObject) -> None:
    a, b, c = (data.draw(CASES[metric]) for _ in range(3))
    assert metric.distance(a, a) == 0
    assert metric.distance(a, b) >= 0
    assert metric.distance(a, b) == metric.distance(b, a)
    assert at_most_sum(metric.distance(a, c), metric.distance(a, b), metric.distance(b, c))


@every_metric
@given(data=st.data())
def test_only_equal_values_are_at_distance_zero(metric: Metric, data: st.DataObject) -> None:
    """Except for the range distance, which is blind to a constant (a pseudo-metric)."""
    a, b = data.draw(CASES[metric]), data.draw(CASES[metric])
    if isinstance(metric, Range):
        assert metric.distance(a, [Fraction(x) + 7 for x in a]) == 0
    elif metric.distance(a, b) == 0:
        assert Discrete().distance(a, b) == 0 or metric.distance(b, a) == 0
        if isinstance(metric, Hamming | Discrete):
            assert [str(x) for x in a or [a]] == [str(x) for x in b or [b]] if isinstance(a, list) else str(a) == str(b)


@given(vectors, vectors, vectors)
def test_axioms_of_a_rounded_norm(a: Data, b: Data, c: Data) -> None:
    one, two, three = ROUNDED.distance(a, b), ROUNDED.distance(b, c), ROUNDED.distance(a, c)
    assert ROUNDED.distance(a, a) == 0
    assert one == ROUNDED.distance(b, a)
    assert three <= (one + two) * (1 + Fraction(1, 2**100))


@given(lists, lists)
def test_exchanging_is_half_of_adding_and_removing(left: list[Data], right: list[Data]) -> None:
    """P1-024, E1-05: additions and removals are twice the edits, not half of them."""
    size = min(len(left), len(right))
    left, right = left[:size], right[:size]
    symmetric, exchanged = AddRemove().distance(left, right), ChangeOne().distance(left, right)
    assert symmetric == 2 * exchanged
    assert exchanged <= Hamming().distance(left, right)


@given(vectors, vectors)
def test_norms_are_ordered(left: Data, right: Data) -> None:
    """P1-017, P1-019: L∞ <= L2 <= L1 <= √2 L2 and range <= 2 L∞."""
    one, two, most = (m.distance(left, right) for m in (L1(), L2(), LInf()))
    assert most <= two <= one
    assert squared(one) <= 2 * squared(two)
    spread = Range().distance(left, right)
    assert spread <= 2 * most
    cubic = ROUNDED.distance(left, right)
    assert ball(cubic) ** 3 + 1 > 0 and most <= cubic * (1 + Fraction(1, 2**100))


@given(vectors, vectors)
def test_one_way_moves(left: Data, right: Data) -> None:
    """P1-018: the monotonic distance is the largest rise plus the largest fall; L∞ for moves in one direction."""
    one_way, most, spread = (m.distance(left, right) for m in (LInf(monotonic=True), LInf(), Range()))
    gaps = [Fraction(a) - Fraction(b) for a, b in zip(left, right, strict=True)]
    assert most <= one_way <= 2 * most
    assert spread <= one_way
    if min(gaps) >= 0 or max(gaps) <= 0:
        assert one_way == most
