"""What holds for every profile and every trade-off curve."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import pairwise

from hypothesis import given, settings
from hypothesis import strategies as st
from tests.profiles import examples

from sfumato.accounting.losses.measures import Approx
from sfumato.accounting.losses.piecewise_linear import Corners, lower_hull
from sfumato.accounting.losses.profile import Profile
from sfumato.accounting.losses.trade_off import TradeOff, least_misses

SLACK = Fraction(1, 10**30)

epsilons = st.fractions(0, 5, max_denominator=20)
deltas = st.fractions(0, 1, max_denominator=50)
rates = st.fractions(0, 1, max_denominator=40)
profiles = st.builds(Profile, st.lists(st.tuples(epsilons, deltas), min_size=1, max_size=4))


@st.composite
def curves(draw: st.DrawFn) -> TradeOff:
    """Any convex curve with a few corners, symmetric or not."""
    inner = draw(st.lists(st.tuples(rates, rates), max_size=3))
    below = [(alpha, min(beta, 1 - alpha)) for alpha, beta in inner]
    start = draw(st.fractions(0, 1, max_denominator=20))
    hull: Corners = lower_hull([(Fraction(0), start), *below, (Fraction(1), Fraction(0))])
    return TradeOff(hull)


few = settings(deadline=None, max_examples=examples(25))
some = settings(deadline=None, max_examples=examples(60))


@some
@given(profiles)
def test_profiles_are_written_once(profile: Profile) -> None:
    assert Profile(profile.points) == profile
    assert profile.points[0][0] == 0
    assert all(a[0] < b[0] and a[1] > b[1] for a, b in pairwise(profile.points))


@some
@given(profiles, epsilons, epsilons)
def test_profiles_fall_and_are_convex(profile: Profile, one: Fraction, other: Fraction) -> None:
    low, high = sorted((one, other))
    middle = (low + high) / 2
    ends = profile.delta(low), profile.delta(high)
    assert ends[0] >= ends[1]
    share = (math.exp(high) - math.exp(middle)) / (math.exp(high) - math.exp(low)) if low < high else 1.0
    assert float(profile.delta(middle)) <= share * float(ends[0]) + (1 - share) * float(ends[1]) + 1e-12


@some
@given(profiles, deltas)
def test_epsilon_and_delta_are_each_other_s_inverse(profile: Profile, delta: Fraction) -> None:
    epsilon = profile.epsilon(delta)
    if epsilon == math.inf:
        assert delta < profile.points[-1][1]
    else:
        assert profile.delta(epsilon) <= delta + SLACK
        less = Fraction(epsilon) - Fraction(1, 10**6)
        assert less < 0 or profile.delta(less) > delta - SLACK


@few
@given(profiles, profiles, epsilons)
def test_composition_does_not_depend_on_the_order_and_never_helps(one: Profile, other: Profile, at: Fraction) -> None:
    both, back = one.then(other), other.then(one)
    assert abs(both.delta(at) - back.delta(at)) < SLACK
    assert both.delta(at) >= max(one.delta(at), other.delta(at)) - SLACK


@few
@given(profiles, st.integers(1, 4), epsilons)
def test_repeating_is_composing(profile: Profile, count: int, at: Fraction) -> None:
    slowly = Profile.nothing()
    for _ in range(count):
        slowly = slowly.then(profile)
    assert abs(profile.times(count).delta(at) - slowly.delta(at)) < SLACK


@few
@given(st.tuples(epsilons, deltas), st.tuples(epsilons, deltas))
def test_basic_composition_is_never_better(one: tuple[Fraction, Fraction], other: tuple[Fraction, Fraction]) -> None:
    both = Profile([one]).then(Profile([other]))
    assert both.delta(one[0] + other[0]) <= min(Fraction(1), one[1] + other[1]) + SLACK


@some
@given(profiles, profiles, st.integers(1, 4), epsilons)
def test_order_of_profiles(one: Profile, other: Profile, size: int, at: Fraction) -> None:
    widest = Profile.widest([one, other])
    assert Profile.nothing() <= one <= one
    assert one <= widest
    assert other <= widest
    assert widest.delta(at) >= max(one.delta(at), other.delta(at)) - SLACK
    assert one <= one.group(size)
    assert one.group(1) == one
    if one <= other:
        assert one.delta(at) <= other.delta(at)


@few
@given(st.lists(profiles, min_size=1, max_size=3), st.integers(1, 3), epsilons)
def test_widest_covers_every_choice(losses: list[Profile], count: int, at: Fraction) -> None:
    widest = Profile.widest(losses, count=count)
    chosen = losses[:count]
    together = chosen[0]
    for loss in chosen[1:]:
        together = together.then(loss)
    assert widest.delta(at) >= together.delta(at) - SLACK


@some
@given(curves(), curves(), rates)
def test_order_of_curves(one: TradeOff, other: TradeOff, rate: Fraction) -> None:
    widest = TradeOff.widest([one, other])
    assert TradeOff.nothing() <= one <= one
    assert one <= widest
    assert other <= widest
    assert widest.at(rate) <= min(one.at(rate), other.at(rate))
    assert (one <= other) == all(one.at(alpha) >= other.at(alpha) for alpha, _ in (*one.points, *other.points))
    assert TradeOff(one.points) == one


@some
@given(curves(), curves(), curves(), rates)
def test_products_of_curves(one: TradeOff, other: TradeOff, third: TradeOff, rate: Fraction) -> None:
    both = one.then(other)
    assert both == other.then(one)
    assert one.then(TradeOff.nothing()) == one
    assert both.at(rate) <= min(one.at(rate), other.at(rate))
    assert both.then(third) == one.then(other.then(third))


@few
@given(curves(), st.integers(1, 5), rates)
def test_groups_of_curves_are_chains(curve: TradeOff, size: int, rate: Fraction) -> None:
    alarms = rate
    for _ in range(size):
        alarms = 1 - curve.at(alarms)
    assert curve.group(size).at(rate) == 1 - alarms


@some
@given(st.lists(st.tuples(epsilons, deltas), min_size=1, max_size=4), rates)
def test_the_curve_of_promises_is_the_best_of_their_lines(
    promises: list[tuple[Fraction, Fraction]], rate: Fraction
) -> None:
    curve = TradeOff.of(*(Approx(*promise) for promise in promises))
    best = max(least_misses(Approx(*promise), rate) for promise in promises)
    # The profile also knows what the promises imply together; it may say more, but never less.
    assert curve.at(rate) >= best - SLACK


@some
@given(curves(), rates, epsilons)
def test_a_curve_is_what_its_profile_says(curve: TradeOff, rate: Fraction, epsilon: Fraction) -> None:
    profile = curve.profile()
    # Both orders of neighbours keep the curve, so the way back may only find more.
    assert TradeOff.of(profile).at(rate) >= curve.at(rate) - SLACK
    misses = least_misses(Approx(epsilon, profile.delta(epsilon)), rate)
    assert misses <= TradeOff.of(profile).at(rate) + SLACK
