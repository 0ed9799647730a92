"""Shares of a limit: whatever the kind, the weights and the order, parts compose to the limit and never beyond it."""

from __future__ import annotations

import math
from fractions import Fraction
from functools import reduce
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import sfumato as sf
from sfumato.accounting.shares import share_of

AMOUNTS = st.fractions(0, 50, max_denominator=1000)
CHANCES = st.fractions(0, 1, max_denominator=10**6)
ORDERS = st.fractions(Fraction(11, 10), 64, max_denominator=10)
EXACT = [
    st.builds(sf.Pure, AMOUNTS),
    st.builds(sf.Approx, AMOUNTS, CHANCES),
    st.builds(sf.ZCDP, AMOUNTS),
    st.builds(sf.GDP, AMOUNTS),
    st.builds(lambda square: sf.GDP.of_square(square), AMOUNTS),
    st.builds(lambda rho: sf.convert(sf.ZCDP(rho), sf.Renyi), AMOUNTS),
]
TABLES = st.builds(sf.Renyi, st.dictionaries(ORDERS, AMOUNTS, min_size=1, max_size=5))
APPROXIMATE = st.builds(sf.ApproxZCDP, AMOUNTS, CHANCES)
WEIGHTS = st.lists(st.fractions(Fraction(1, 100), 100, max_denominator=100), min_size=1, max_size=7)


def together(parts: list[Any]) -> Any:
    return reduce(lambda spent, part: spent.then(part), parts, type(parts[0]).nothing())


def shares(limit: sf.Loss, weights: list[Fraction]) -> list[sf.Loss]:
    return list(sf.split(limit, {f"part {place}": weight for place, weight in enumerate(weights)}).values())


@given(st.one_of(EXACT), WEIGHTS, st.randoms(use_true_random=False))
def test_parts_compose_to_the_limit_exactly(limit: sf.Loss, weights: list[Fraction], order: Any) -> None:
    parts = shares(limit, weights)
    order.shuffle(parts)
    assert together(parts) == limit


@given(TABLES, WEIGHTS)
def test_parts_of_a_table_compose_to_it_at_every_order(limit: sf.Renyi, weights: list[Fraction]) -> None:
    found = together(shares(limit, weights))
    assert found.within(limit)
    assert all(found.at(order) == limit.at(order) for order in limit.orders().listed or ())


@given(APPROXIMATE, WEIGHTS)
def test_parts_of_approximate_zcdp_stay_within_it(limit: sf.ApproxZCDP, weights: list[Fraction]) -> None:
    found = together(shares(limit, weights))
    assert found.within(limit) and found.rho == limit.rho
    assert found.delta >= limit.delta * (1 - limit.delta)


@given(st.one_of(*EXACT, TABLES, APPROXIMATE), WEIGHTS, WEIGHTS)
def test_parts_may_be_split_again(limit: sf.Loss, weights: list[Fraction], again: list[Fraction]) -> None:
    first, *rest = shares(limit, weights)
    assert together([*shares(first, again), *rest]).within(limit)


@given(st.one_of(*EXACT, TABLES, APPROXIMATE), st.fractions(0, 1, max_denominator=100))
def test_a_larger_share_is_never_less(limit: sf.Loss, share: Fraction) -> None:
    assert share_of(limit, share).within(share_of(limit, Fraction(1)))
    assert share_of(limit, share).within(limit)


@given(st.integers(1, 8))
def test_equal_and_ranked_shares(count: int) -> None:
    names = [f"q{place}" for place in range(count)]
    assert set(sf.split(sf.Pure(1), names).values()) == {sf.Pure(Fraction(1, count))}
    ranked = list(sf.split(sf.Pure(1), names, ranked=True).values())
    assert [part.epsilon / ranked[-1].epsilon for part in ranked] == list(range(count, 0, -1))


@pytest.mark.parametrize("limit", [sf.Pure(math.inf), sf.ZCDP(math.inf), sf.GDP(math.inf), sf.Approx(math.inf, 0)])
def test_no_limit_stays_none(limit: sf.Loss) -> None:
    assert shares(limit, [Fraction(1), Fraction(2)]) == [limit, limit]
    assert share_of(limit, Fraction(0)) == type(limit).nothing()


def test_wrong_splits_would_be_noticed() -> None:
    """δ given to every part, and μ taken for what adds up: the first is unsafe, the second wasteful."""
    unsafe = [sf.Approx(Fraction(1, 2), 1e-6)] * 2
    assert not together(unsafe).within(sf.Approx(1, 1e-6))
    assert together([sf.GDP(Fraction(1, 2))] * 2) != sf.GDP(1)
    assert not together([sf.GDP(1)] * 2).within(sf.GDP(1))
    power = [sf.ApproxZCDP(0, Fraction(3, 5))] * 2
    assert not together(power).within(sf.ApproxZCDP(0, Fraction(4, 5)))
