"""Shuffled reports written out for a few units, against the certified bound."""

from __future__ import annotations

import itertools
import math
from collections import Counter
from fractions import Fraction

import pytest

from sfumato.accounting.amplify.blanket import Hidden, Tail, hidden_delta
from sfumato.accounting.amplify.shuffle import approximate_delta
from sfumato.accounting.losses.divergence import hockey_stick
from sfumato.exact import ball, enclose, endpoints, exp_down, exp_up, log_up, precision

TWO, FOUR = (Fraction(log_up(Fraction(base))) for base in (2, 4))
"""ln 2 and ln 4, from just above."""

EPSILONS = [Fraction(0), Fraction(1, 10), Fraction(1, 3), Fraction(3, 5)]

Randomizer = dict[str, dict[str, Fraction]]


def response(options: int, base: int) -> Randomizer:
    """Is k-ary randomized response with exp(ε0) = base."""
    names = "abcd"[:options]
    low = Fraction(1, base + options - 1)
    return {x: {y: base * low if x == y else low for y in names} for x in names}


BINARY, TERNARY = response(2, 2), response(3, 2)
SKEW: Randomizer = {  # all quotients at most 2, and a third input that hides neither of the others
    "a": {"u": Fraction(4, 10), "v": Fraction(2, 10), "w": Fraction(4, 10)},
    "b": {"u": Fraction(2, 10), "v": Fraction(4, 10), "w": Fraction(4, 10)},
    "c": {"u": Fraction(4, 10), "v": Fraction(4, 10), "w": Fraction(2, 10)},
}


def shuffled(randomizer: Randomizer, inputs: tuple[str, ...]) -> dict[tuple[str, ...], Fraction]:
    law: Counter[tuple[str, ...]] = Counter()
    outputs = sorted({y for row in randomizer.values() for y in row})
    for reports in itertools.product(outputs, repeat=len(inputs)):
        law[tuple(sorted(reports))] += math.prod(randomizer[x][y] for x, y in zip(inputs, reports, strict=True))
    return dict(law)


def delta(left: dict[tuple[str, ...], Fraction], right: dict[tuple[str, ...], Fraction], epsilon: Fraction) -> Fraction:
    """Gives the divergence, from below."""
    factor = Fraction(exp_up(epsilon))
    return sum((max(Fraction(0), mass - factor * right[y]) for y, mass in left.items()), Fraction(0))


@pytest.mark.parametrize("epsilon", EPSILONS)
@pytest.mark.parametrize("reports", [1, 2, 3, 5])
@pytest.mark.parametrize("name", ["BINARY", "TERNARY", "SKEW"])
def test_every_randomizer_stays_below_the_bound(name: str, reports: int, epsilon: Fraction) -> None:
    randomizer: Randomizer = {"BINARY": BINARY, "TERNARY": TERNARY, "SKEW": SKEW}[name]
    bound = hidden_delta(TWO, reports, epsilon)
    for rest in itertools.combinations_with_replacement(sorted(randomizer), reports - 1):
        for first, second in itertools.permutations(sorted(randomizer), 2):
            left, right = (shuffled(randomizer, (one, *rest)) for one in (first, second))
            assert delta(left, right, epsilon) <= bound


def test_one_report_is_randomized_response_itself() -> None:
    for epsilon in EPSILONS:
        true = delta(shuffled(BINARY, ("a",)), shuffled(BINARY, ("b",)), epsilon)
        assert true <= hidden_delta(TWO, 1, epsilon) <= true + Fraction(1, 10**30)


@pytest.mark.parametrize("reports", [2, 3, 6])
def test_the_sum_is_that_of_the_two_counts(reports: int) -> None:
    """Written out with balls: how many reports hide, how they fall, and the one that is hidden."""
    base = Fraction(exp_down(TWO))
    lie = 1 / (base + 1)
    laws: list[Counter[tuple[int, int]]] = [Counter(), Counter()]
    for hiding in range(reports):
        chance = math.comb(reports - 1, hiding) * (2 * lie) ** hiding * (1 - 2 * lie) ** (reports - 1 - hiding)
        for ups in range(hiding + 1):
            mass = chance * math.comb(hiding, ups) / 2**hiding
            for law, truth in zip(laws, (1 - lie, lie), strict=True):
                law[ups + 1, hiding - ups] += mass * truth
                law[ups, hiding - ups + 1] += mass * (1 - truth)
    for epsilon in EPSILONS:
        left, right = ({y: ball(mass) for y, mass in law.items()} for law in laws)
        low, high = hockey_stick(left, right, epsilon)
        assert low - Fraction(1, 10**30) <= hidden_delta(TWO, reports, epsilon) <= high + Fraction(1, 10**30)


def test_the_bound_is_close_to_what_binary_responses_reach() -> None:
    """So that a bound with, say, twice as many hiding reports would be found out."""
    epsilon, rest = Fraction(1, 10), ("a",) * 3 + ("b",) * 3
    true = delta(shuffled(BINARY, ("a", *rest)), shuffled(BINARY, ("b", *rest)), epsilon)
    assert hidden_delta(TWO, 7, epsilon) / 2 < true
    assert hidden_delta(TWO, 40, epsilon) < true


def test_fewer_hiding_reports_than_for_binary_responses_would_not_be_needed() -> None:
    """Four options at exp(ε0) = 4 hide less than two, and are still below."""
    quaternary = response(4, 4)
    for epsilon in (Fraction(1, 5), Fraction(1)):
        worst = max(
            delta(shuffled(quaternary, ("a", *rest)), shuffled(quaternary, ("b", *rest)), epsilon)
            for rest in itertools.combinations_with_replacement("abcd", 3)
        )
        assert 0 < worst <= hidden_delta(FOUR, 4, epsilon)


@pytest.mark.parametrize(("coins", "heads"), [(0, 0), (1, 0), (1, 1), (9, 4), (9, 9), (400, 260), (401, 0)])
def test_tails_of_fair_coins(coins: int, heads: int) -> None:
    with precision(256):
        for tail in (Tail.at(coins, heads), Tail.at(coins - 1, heads).more_coins() if heads < coins else None):
            if tail is not None:
                beyond = Fraction(sum(math.comb(coins, k) for k in range(heads + 1, coins + 1)), 2**coins)
                check(tail, Fraction(math.comb(coins, heads), 2**coins), beyond)
        if heads < coins:
            more = Tail.at(coins, heads).more_heads()
            beyond = Fraction(sum(math.comb(coins, k) for k in range(heads + 2, coins + 1)), 2**coins)
            check(more, Fraction(math.comb(coins, heads + 1), 2**coins), beyond)


def check(tail: Tail, mass: Fraction, beyond: Fraction) -> None:
    for found, true in ((tail.mass, mass), (tail.beyond, beyond)):
        low, high = endpoints(found)
        assert low <= true <= high
        assert Fraction(high) - Fraction(low) < Fraction(1, 10**60)


def test_numbers_outside_the_span_are_counted() -> None:
    """What is summed up and what is bounded make at least 1 together, and the bounded part is negligible."""
    hidden = Hidden(TWO, 10_000)
    low, high = hidden.span
    assert 0 < low < high < 10_000
    with precision(256):
        inside = sum((mass for _, mass in hidden.masses()), ball(0))
        outside = hidden.outside()
    least, most = enclose(lambda: inside + outside, 256)
    assert least <= 1 + Fraction(1, 10**60)
    assert most >= 1 - Fraction(1, 10**60)
    assert 0 < endpoints(outside)[1] < Fraction(1, 10**40)


LEAK = Fraction(1, 50)
"""With this chance a unit reports what it has, in letters of their own."""


def leaking(randomizer: Randomizer) -> Randomizer:
    """Is a randomizer that keeps (ε0, LEAK): each input now and then shows itself."""
    return {
        x: {y: mass * (1 - LEAK) for y, mass in row.items()} | {name.upper(): LEAK * (x == name) for name in randomizer}
        for x, row in randomizer.items()
    }


@pytest.mark.parametrize("epsilon", EPSILONS)
@pytest.mark.parametrize(("name", "reports"), [("BINARY", 1), ("BINARY", 4), ("SKEW", 2)])
def test_randomizers_that_leak_stay_below_the_bound(name: str, reports: int, epsilon: Fraction) -> None:
    randomizer = leaking({"BINARY": BINARY, "SKEW": SKEW}[name])
    bound, pure = approximate_delta(TWO, LEAK, reports, epsilon), hidden_delta(TWO, reports, epsilon)
    worst = max(
        delta(shuffled(randomizer, (first, *rest)), shuffled(randomizer, (second, *rest)), epsilon)
        for rest in itertools.combinations_with_replacement(sorted(randomizer), reports - 1)
        for first, second in itertools.permutations(sorted(randomizer), 2)
    )
    assert worst <= bound
    # What leaks is not in the bound for pure randomizers, which this test tells from the other.
    assert name != "BINARY" or reports > 1 or worst > pure


@pytest.mark.parametrize("chance", [Fraction(1, 4), Fraction(3, 4)])
def test_units_that_may_stay_out_are_reports_like_any_other(chance: Fraction) -> None:
    joining = {x: {y: chance * mass for y, mass in row.items()} | {"-": 1 - chance} for x, row in SKEW.items()}
    for epsilon in EPSILONS:
        for rest in itertools.combinations_with_replacement("abc", 3):
            sides = [shuffled(joining, (first, *rest)) for first in "ab"]
            assert delta(*sides, epsilon) <= hidden_delta(TWO, 4, epsilon)
