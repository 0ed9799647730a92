"""Trade-off curves against every test there is, on mechanisms small enough to list all tests."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import norm

from sfumato.accounting.losses.measures import ZCDP, Approx, Pure
from sfumato.accounting.losses.trade_off import gaussian_trade_off, least_misses, trade_off
from sfumato.errors import BadArgument
from sfumato.exact import log_up

TRUTHFUL = Fraction(3, 4)
EPSILON = log_up(TRUTHFUL / (1 - TRUTHFUL))
rates = st.fractions(0, 1, max_denominator=1000)


def leaky_response(delta: Fraction) -> list[tuple[Fraction, Fraction]]:
    """Randomized response that tells the truth openly with probability delta: masses on both neighbours."""
    told = (1 - delta) * TRUTHFUL
    lied = (1 - delta) * (1 - TRUTHFUL)
    return [(delta, Fraction(0)), (Fraction(0), delta), (told, lied), (lied, told)]


def all_tests(outcomes: list[tuple[Fraction, Fraction]]) -> list[tuple[Fraction, Fraction]]:
    """False alarms and misses of every deterministic test; random ones are mixtures of these."""
    found = []
    for accuse in product((0, 1), repeat=len(outcomes)):
        alarms = sum((left for (left, _), yes in zip(outcomes, accuse, strict=True) if yes), Fraction(0))
        misses = sum((right for (_, right), yes in zip(outcomes, accuse, strict=True) if not yes), Fraction(0))
        found.append((alarms, misses))
    return found


def best_misses(tests: list[tuple[Fraction, Fraction]], rate: Fraction) -> Fraction:
    """The least misses of any mixture of two tests with exactly a rate of false alarms, or of one with fewer."""
    best = min(misses for alarms, misses in tests if alarms <= rate)
    for (a, miss_a), (b, miss_b) in product(tests, repeat=2):
        if a <= rate < b:
            share = (rate - a) / (b - a)
            best = min(best, miss_a + share * (miss_b - miss_a))
    return best


@pytest.mark.parametrize("delta", [Fraction(0), Fraction(1, 100), Fraction(1, 5)])
@pytest.mark.parametrize("rate", [Fraction(step, 12) for step in range(13)])
def test_no_test_beats_the_curve_and_the_best_one_meets_it(delta: Fraction, rate: Fraction) -> None:
    tests = all_tests(leaky_response(delta))
    claimed = least_misses(Approx(EPSILON, delta), rate)
    best = best_misses(tests, rate)
    assert claimed <= best
    assert best - claimed < Fraction(1, 10**20)
    # A loss that is too small by a hundredth claims more than is true somewhere on the way down.
    if Fraction(1, 12) <= rate <= Fraction(1, 6):
        assert least_misses(Approx(Fraction(99, 100) * EPSILON, delta), rate) > best


def test_A1_140_approximate_curve() -> None:
    curve = trade_off(Approx(1, 1e-6))
    assert curve(0.2) == pytest.approx(0.4563426, abs=5e-8)
    assert curve(0.5) == pytest.approx(0.1839394, abs=5e-8)


def test_A1_141_gaussian_curve_and_perfect_privacy() -> None:
    curve = gaussian_trade_off(1)
    assert curve(0.2) == pytest.approx(0.4370792, abs=5e-8)
    assert curve(0.5) == pytest.approx(0.1586553, abs=5e-8)
    assert trade_off(Pure(0))(0.5) == 0.5
    assert gaussian_trade_off(0)(0.5) == 0.5


@given(st.floats(0.01, 4), st.floats(0.001, 0.999))
def test_gaussian_curve_against_scipy(shift: float, rate: float) -> None:
    assert gaussian_trade_off(shift)(rate) == pytest.approx(norm.cdf(norm.ppf(1 - rate) - shift), rel=1e-9, abs=1e-12)


@given(st.floats(0, 5), st.floats(0, 1), rates)
def test_curves_are_between_nothing_and_perfect_privacy(epsilon: float, delta: float, rate: Fraction) -> None:
    curves = [trade_off(Approx(epsilon, delta)), gaussian_trade_off(epsilon)]
    for curve in curves:
        assert 0 <= curve(rate) <= 1 - rate


@given(st.floats(0.01, 3), rates, rates)
def test_curves_fall(epsilon: float, one: Fraction, other: Fraction) -> None:
    low, high = sorted((one, other))
    for curve in (trade_off(Approx(epsilon, 0.01)), gaussian_trade_off(epsilon)):
        assert curve(low) >= curve(high)


def test_several_losses_give_the_best_of_their_lines() -> None:
    parts = [Approx(0, 0.3), Pure(1), Approx(3, 1e-3)]
    for step in range(11):
        assert trade_off(*parts)(Fraction(step, 10)) == max(trade_off(part)(Fraction(step, 10)) for part in parts)


def test_an_infinite_loss_promises_nothing() -> None:
    assert trade_off(Pure(math.inf))(0) == 0


@pytest.mark.parametrize("losses", [(), (ZCDP(1),), (0.5,)])
def test_other_losses_are_refused(losses: tuple[object, ...]) -> None:
    with pytest.raises(BadArgument, match="Pure or Approx"):
        trade_off(*losses)  # type: ignore[arg-type]


@pytest.mark.parametrize("rate", [-0.1, 1.1, math.nan, "x"])
def test_rates_outside_zero_and_one_are_refused(rate: object) -> None:
    for curve in (trade_off(Pure(1)), gaussian_trade_off(1)):
        with pytest.raises(BadArgument):
            curve(rate)  # type: ignore[arg-type]
