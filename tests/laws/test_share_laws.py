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
from sfumato.errors import NoProvenRoute

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
ALIKE = st.fixed_dictionaries({2: AMOUNTS, 8: AMOUNTS})
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
    assert limit.scaled(share).within(limit.scaled(Fraction(1)))
    assert limit.scaled(share).within(limit)


@given(st.one_of(*EXACT[:-1], TABLES, APPROXIMATE), st.fractions(0, 1, max_denominator=100))
def test_what_is_left_and_what_is_spent_make_the_limit(limit: sf.Loss, share: Fraction) -> None:
    spent = limit.scaled(share)
    whole = spent.then(limit.minus(spent))
    assert whole.within(limit) and limit.within(whole)


@pytest.mark.parametrize("kind", [*EXACT[:-1], st.builds(sf.Renyi, ALIKE), APPROXIMATE])
@given(st.data())
def test_what_two_limits_allow_is_within_both(kind: st.SearchStrategy[sf.Loss], data: st.DataObject) -> None:
    one, other, smaller = (data.draw(kind) for _ in range(3))
    both = one.meet(other)
    assert both.within(one) and both.within(other)
    if smaller.within(one) and smaller.within(other):
        assert smaller.within(both)


@given(st.one_of(*EXACT, TABLES, APPROXIMATE), st.integers(0, 20))
def test_a_loss_is_rounded_number_by_number(loss: sf.Loss, bits: int) -> None:
    up = loss.rounded(lambda value: value if value == math.inf else Fraction(math.ceil(value * 2**bits), 2**bits))
    down = loss.rounded(lambda value: value if value == math.inf else Fraction(math.floor(value * 2**bits), 2**bits))
    assert down.within(loss) and loss.within(up)
    assert loss.rounded(lambda value: value) is loss


@pytest.mark.parametrize(
    "loss", [sf.accounting.BoundedRange(1), sf.Profile([(1, 0.1)]), sf.accounting.TradeOff([(0, 1), (1, 0)])]
)
def test_what_has_no_shares_says_so(loss: sf.Loss) -> None:
    for arithmetic in (lambda: loss.scaled(Fraction(1, 2)), lambda: loss.minus(loss)):
        with pytest.raises(NoProvenRoute):
            arithmetic()
    assert loss.meet(loss) == loss and loss.str_down() == str(loss)


@given(st.integers(1, 8))
def test_equal_and_ranked_shares(count: int) -> None:
    names = [f"q{place}" for place in range(count)]
    assert set(sf.split(sf.Pure(1), names).values()) == {sf.Pure(Fraction(1, count))}
    ranked = list(sf.split(sf.Pure(1), names, ranked=True).values())
    assert [part.epsilon / ranked[-1].epsilon for part in ranked] == list(range(count, 0, -1))


@pytest.mark.parametrize("limit", [sf.Pure(math.inf), sf.ZCDP(math.inf), sf.GDP(math.inf), sf.Approx(math.inf, 0)])
def test_no_limit_stays_none(limit: sf.Loss) -> None:
    assert shares(limit, [Fraction(1), Fraction(2)]) == [limit, limit]
    assert limit.scaled(Fraction(0)) == type(limit).nothing()


def test_wrong_splits_would_be_noticed() -> None:
    """δ given to every part, and μ taken for what adds up: the first is unsafe, the second wasteful."""
    unsafe = [sf.Approx(Fraction(1, 2), 1e-6)] * 2
    assert not together(unsafe).within(sf.Approx(1, 1e-6))
    assert together([sf.GDP(Fraction(1, 2))] * 2) != sf.GDP(1)
    assert not together([sf.GDP(1)] * 2).within(sf.GDP(1))
    power = [sf.ApproxZCDP(0, Fraction(3, 5))] * 2
    assert not together(power).within(sf.ApproxZCDP(0, Fraction(4, 5)))
