"""Profiles and trade-off curves against mechanisms small enough to list: every set of outcomes, every product."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import product as pairs

import pytest
from tests.exact.enumerated import response

from sfumato.accounting.losses.divergence import hockey_stick
from sfumato.accounting.losses.measures import Approx
from sfumato.accounting.losses.profile import Profile
from sfumato.accounting.losses.profile_points import delta_at
from sfumato.accounting.losses.trade_off import TradeOff, gaussian_trade_off
from sfumato.accounting.pld.finite_law import composed, law_of
from sfumato.exact import BITS, ball, log_up, precision

Masses = list[tuple[Fraction, Fraction]]
"""Outcome by outcome, its probability on one data set and on its neighbour."""


def geometric(steps: int) -> Masses:
    """Answers 0 … steps with ratios of 2 down to 1/2: a clamped geometric mechanism between neighbours 0 and steps."""
    here = [Fraction(2) ** -place for place in range(steps)] + [Fraction(2) ** -(steps - 1)]
    total = sum(here)
    return [(one / total, other / total) for one, other in zip(here, reversed(here), strict=True)]


def together(*parts: Masses) -> Masses:
    """All outcomes of independent mechanisms on the same data."""
    return [
        (math.prod(here for here, _ in outcome), math.prod(there for _, there in outcome)) for outcome in pairs(*parts)
    ]


def true_delta(masses: Masses, epsilon: Fraction) -> tuple[Fraction, Fraction]:
    """Encloses the least δ at an ε, in the worse direction."""
    with precision(BITS):
        left = {place: ball(here) for place, (here, _) in enumerate(masses)}
        right = {place: ball(there) for place, (_, there) in enumerate(masses)}
        found = [hockey_stick(left, right, epsilon), hockey_stick(right, left, epsilon)]
    return Fraction(max(low for low, _ in found)), Fraction(max(high for _, high in found))


def true_misses(masses: Masses, alarms: Fraction) -> Fraction:
    """The least misses of any test, by Neyman and Pearson: take outcomes in falling order of likelihood ratio."""
    order = sorted(masses, key=lambda mass: mass[1] / mass[0] if mass[0] else Fraction(10**9), reverse=True)
    left, found = alarms, Fraction(0)
    for here, there in order:
        share = Fraction(1) if here <= left else left / here
        left -= share * here
        found += share * there
    return 1 - found


def stated(masses: Masses) -> Profile:
    """A mechanism's profile stated at the losses of its outcomes, which is all of it."""
    losses = {Fraction(log_up(max(here / there, there / here))) for here, there in masses if here and there}
    return Profile([(loss, true_delta(masses, loss)[1]) for loss in losses | {Fraction(0)}])


MECHANISMS = {
    "response": response(3),
    "leaky": response(2, leak=Fraction(1, 50)),
    "geometric": geometric(3),
}
GRID = [Fraction(step, 8) for step in range(40)]


@pytest.mark.parametrize("name", MECHANISMS)
def test_P1_072_a_profile_stated_at_its_corners_is_all_of_it(name: str) -> None:
    masses = MECHANISMS[name]
    profile = stated(masses)
    for epsilon in GRID:
        low, high = true_delta(masses, epsilon)
        assert low <= profile.delta(epsilon) <= high + Fraction(1, 10**30)


@pytest.mark.parametrize("name", MECHANISMS)
def test_the_pair_has_the_profile_it_was_made_of(name: str) -> None:
    profile = stated(MECHANISMS[name])
    law = law_of(profile.points)
    unit = 1 << law.bits
    assert sum(law.masses) + law.infinite == unit
    with precision(2 * BITS):
        atoms = {loss: ball(Fraction(mass, unit)) for loss, mass in zip(law.losses, law.masses, strict=True)}
        there = {loss: mass * ball(-loss).exp() for loss, mass in atoms.items()}
        assert sum(there.values(), ball(0)) < 1 + ball(Fraction(1, 10**35))
        for epsilon in GRID:
            claimed = profile.delta(epsilon)
            here = {**atoms, "infinite": ball(Fraction(law.infinite, unit))}
            _, high = hockey_stick(here, there, epsilon, bits=2 * BITS)
            assert claimed - Fraction(1, 10**36) <= high < claimed + Fraction(1, 10**30)
        for epsilon, delta in profile.points:
            assert hockey_stick(here, there, epsilon, bits=2 * BITS)[1] >= delta


@pytest.mark.parametrize(("one", "other"), list(pairs(MECHANISMS, MECHANISMS)))
def test_composition_is_the_brute_force_product(one: str, other: str) -> None:
    profile = stated(MECHANISMS[one]).then(stated(MECHANISMS[other]))
    joint = together(MECHANISMS[one], MECHANISMS[other])
    for epsilon in GRID:
        low, high = true_delta(joint, epsilon)
        assert low <= profile.delta(epsilon) <= high + Fraction(1, 10**30)


def test_composition_of_five_is_the_brute_force_product_and_a_smaller_loss_would_not_do() -> None:
    masses = response(Fraction(3, 2), leak=Fraction(1, 1000))
    joint = together(*[masses] * 5)
    profile = stated(masses).times(5)
    timid = Profile([(Fraction(99, 100) * epsilon, delta) for epsilon, delta in stated(masses).points]).times(5)
    broken = 0
    for epsilon in [Fraction(step, 10) for step in range(21)]:
        low, high = true_delta(joint, epsilon)
        assert low <= profile.delta(epsilon) <= high + Fraction(1, 10**30)
        broken += timid.delta(epsilon) < low
    assert broken > 0


@pytest.mark.parametrize("most", [4, 5, 6])
def test_thinning_only_raises_the_profile(most: int) -> None:
    one, other = stated(geometric(4)).points, stated(response(Fraction(3, 2), leak=Fraction(1, 1000))).points
    exact = composed(one, other)
    thin = composed(one, other, most=most)
    assert len(exact) > len(thin)
    assert all(delta_at(thin, epsilon) >= delta_at(exact, epsilon) - Fraction(1, 10**35) for epsilon in GRID)
    assert any(delta_at(thin, epsilon) > delta_at(exact, epsilon) for epsilon in GRID)


def chain(leak: Fraction) -> list[list[Fraction]]:
    """Clamped geometric answers on data sets 0, 1 and 2, each told openly with a probability: outcomes per data set."""
    told = [[Fraction(3, 4), Fraction(1, 6), Fraction(1, 12)], [Fraction(1, 4), Fraction(1, 2), Fraction(1, 4)]]
    answers = [*told, list(reversed(told[0]))]
    opened = [[leak if place == data else Fraction(0) for place in range(3)] for data in range(3)]
    return [[(1 - leak) * mass for mass in row] + open_row for row, open_row in zip(answers, opened, strict=True)]


@pytest.mark.parametrize("leak", [Fraction(0), Fraction(1, 50)], ids=str)
def test_groups_of_two_against_a_chain_of_three_data_sets(leak: Fraction) -> None:
    rows = chain(leak)
    near, ends = [list(zip(rows[0], rows[data], strict=True)) for data in (1, 2)]
    promise = Profile.of(Approx(log_up(Fraction(3)), leak))
    assert all(true_delta(near, epsilon)[0] <= promise.delta(epsilon) for epsilon in GRID)
    profile, curve = promise.group(2), TradeOff.of(promise).group(2)
    for epsilon in GRID:
        assert true_delta(ends, epsilon)[0] <= profile.delta(epsilon)
    for step in range(25):
        assert curve.at(Fraction(step, 24)) <= true_misses(ends, Fraction(step, 24))
    if leak == 0:  # the chain is as easy to tell apart as its steps allow, and the curve says so
        assert all(
            true_misses(ends, rate) - curve.at(rate) < Fraction(1, 10**30) for rate in (Fraction(1, 12), Fraction(1, 4))
        )
        assert true_delta(ends, Fraction(99, 100) * profile.points[-1][0])[0] > 0


def test_A1_128_group_of_three() -> None:
    grouped = Profile.of(Approx("0.1", "1e-6")).group(3)
    assert float(grouped.delta("0.3")) == pytest.approx(3.32657e-6, rel=1e-5)
    assert grouped.delta("0.3") < Fraction("4.04958e-6")


@pytest.mark.parametrize(("one", "other"), list(pairs(MECHANISMS, MECHANISMS)))
def test_the_product_of_curves_is_the_brute_force_product(one: str, other: str) -> None:
    curves = [exact_curve(MECHANISMS[name]) for name in (one, other)]
    joint = together(MECHANISMS[one], MECHANISMS[other])
    found = curves[0].then(curves[1])
    for step in range(25):
        assert found.at(Fraction(step, 24)) == true_misses(joint, Fraction(step, 24))


def exact_curve(masses: Masses) -> TradeOff:
    """The trade-off curve of a mechanism, by its corners."""
    order = sorted(masses, key=lambda mass: mass[1] / mass[0] if mass[0] else Fraction(10**9), reverse=True)
    corners = [(Fraction(0), Fraction(1))]
    for here, there in order:
        corners.append((corners[-1][0] + here, corners[-1][1] - there))
    lowest = {alpha: min(beta for at, beta in corners if at == alpha) for alpha, _ in corners}
    return TradeOff(lowest.items())


def test_long_products_of_curves_stay_below_the_brute_force_product() -> None:
    masses = geometric(2)
    curve, joint = exact_curve(masses), masses
    for _ in range(5):
        curve, joint = curve.then(exact_curve(masses)), together(joint, masses)
    hidden = TradeOff.of(stated(masses)).times(6)
    for step in range(13):
        truth = true_misses(joint, Fraction(step, 12))
        assert curve.at(Fraction(step, 12)) == truth
        assert truth - Fraction(1, 10**20) < hidden.at(Fraction(step, 12)) <= truth


@pytest.mark.parametrize("name", MECHANISMS)
def test_a_curve_and_its_profile_say_the_same(name: str) -> None:
    profile = stated(MECHANISMS[name])
    curve = TradeOff.of(profile)
    for step in range(25):
        rate = Fraction(step, 24)
        truth = true_misses(MECHANISMS[name], rate)
        assert truth - Fraction(1, 10**30) < curve.at(rate) <= truth
    back = curve.profile()
    for epsilon in GRID:
        assert profile.delta(epsilon) <= back.delta(epsilon) + Fraction(1, 10**35)
        assert back.delta(epsilon) <= profile.delta(epsilon) + Fraction(1, 10**30)


def test_A1_140_A2_001_approximate_privacy_as_a_curve() -> None:
    curve = TradeOff.of(Approx(1, "1e-6"))
    assert float(curve.at("0.2")) == pytest.approx(0.4563426, abs=5e-8)
    assert float(curve.at("0.5")) == pytest.approx(0.1839394, abs=5e-8)


def test_A1_141_gaussian_curve_by_tangents_is_below_and_near() -> None:
    curve, truth = TradeOff.gaussian(1), gaussian_trade_off(1)
    for step in range(41):
        exact = truth(Fraction(step, 40))
        assert exact - 4e-4 < float(curve.at(Fraction(step, 40))) <= exact
    assert TradeOff.nothing().at("0.5") == Fraction(1, 2)


def test_A1_136_ten_gaussians_as_a_profile() -> None:
    """Ten with σ = 5: δ(1) = 0.0244210, from above and within half a percent."""
    found = float(Profile.gaussian("0.2").times(10).delta(1))
    assert 0.0244210 < found < 0.0244210 * 1.005
