"""The least μ: closed forms, curves by brute force, and that a smaller μ, or a wrong rule, is noticed."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import product

import pytest

from sfumato.accounting.compose import total
from sfumato.accounting.events import Event, Gaussian, Laplace, Poisson, Repeat, Response, Sampled, Sequence
from sfumato.accounting.facts.gaussian import exact_gaussian_delta
from sfumato.accounting.losses.measures import ZCDP, Approx, Pure
from sfumato.accounting.losses.pld import PLD
from sfumato.accounting.losses.profile import Profile
from sfumato.accounting.losses.trade_off import TradeOff, least_gaussian_misses
from sfumato.accounting.plans.least_mu import least_mu, mu_of
from sfumato.accounting.relation import Relation
from sfumato.errors import BadArgument, NoProvenRoute
from sfumato.exact import Extended, ball, enclose, root


def gaussian_delta(epsilon: Fraction, mu: Extended) -> Fraction:
    return exact_gaussian_delta(epsilon, Fraction(mu), Fraction(1))


def distribution(event: Event) -> PLD:
    return total(event, PLD, relation=Relation.ADD_REMOVE)


@pytest.mark.parametrize("epsilon", ["0.01", "1", "5"])
def test_pure_losses_have_a_closed_form(epsilon: str) -> None:
    """2 Φ⁻¹(e^ε / (1 + e^ε)): Dong, Roth and Su 2022, Section 2.2, through the one corner (1 / (1 + e^ε)) twice."""
    exact = Fraction(epsilon)
    low, high = enclose(lambda: 2 * ball(2).sqrt() * (2 / (1 + ball(exact).exp())).erfcinv())
    found = least_mu(Pure(exact))
    assert float(found.lower) == pytest.approx(float(low), rel=1e-15) and found.upper >= low
    assert float(found) == pytest.approx(float(high), rel=1e-15)


def test_gaussian_noise_has_its_own_mu() -> None:
    found = least_mu(distribution(Repeat(Gaussian(3), 10)))
    assert found.lower <= root(Fraction(10, 9)) <= found.upper and found.width < Fraction(1, 10**30)
    granted = least_mu(distribution(Repeat(Gaussian(3), 10)), delta=1e-6)
    assert granted.lower <= found.upper and granted.upper < found.upper * Fraction(1002, 1000)


PLANS: dict[str, tuple[Event, str]] = {
    "laplace": (Laplace(1), "0"),
    "laplaces": (Repeat(Laplace(5), 4), "0"),
    "responses": (Repeat(Response(0.5), 3), "0"),
    "a mixed plan": (Sequence(Laplace(2), Gaussian(2)), "1e-3"),
    "training": (Repeat(Sampled(Gaussian(2), Poisson(0.1)), 40), "1e-3"),
}


@pytest.mark.parametrize(("event", "delta"), PLANS.values(), ids=PLANS)
def test_the_whole_curve_is_below_and_no_smaller_mu_will_do(event: Event, delta: str) -> None:
    loss, granted = distribution(event), Fraction(delta)
    found = least_mu(loss, delta=granted, tolerance=0.02)
    assert found.lower > 0 and found.width <= Fraction(found.upper) / 50
    end = Fraction(loss.epsilon(granted).upper if granted else 1)
    places = [end * step / 12 for step in range(14)]
    curve = {place: loss.delta(place, tolerance=1e-3) for place in places}
    assert all(curve[place].lower <= gaussian_delta(place, found.upper) + granted for place in places)
    for less in (Fraction(9, 10), Fraction(49, 50)):
        smaller = Fraction(found.lower) * less
        assert any(gaussian_delta(place, smaller) + granted < curve[place].lower for place in places)


def test_enumerated_responses() -> None:
    """Every outcome of three answers, and the best test for every set of them: the corners by brute force."""
    odds, once = Fraction(5, 3), (Fraction(5, 8), Fraction(3, 8))
    outcomes = [
        (math.prod(once[bit] for bit in bits), math.prod(once[1 - bit] for bit in bits))
        for bits in product((0, 1), repeat=3)
    ]
    ordered = sorted(outcomes, key=lambda masses: masses[1] / masses[0], reverse=True)
    corners, alpha, beta = [(Fraction(0), Fraction(1))], Fraction(0), Fraction(1)
    for null, other in ordered:
        alpha, beta = alpha + null, beta - other
        corners.append((alpha, beta))
    low, high = mu_of(tuple(corners))
    for place in range(1, 200):
        rate = Fraction(place, 200)
        best = TradeOff(corners).at(rate)
        assert least_gaussian_misses(Fraction(high), rate) <= best
    epsilon = Fraction(math.log(odds))
    found = least_mu(distribution(Repeat(Response(epsilon), 3)))
    assert float(found) == pytest.approx(float(high), rel=1e-6) and found.lower <= high * Fraction(1001, 1000)
    assert any(least_gaussian_misses(Fraction(low) * Fraction(99, 100), a) > b for a, b in corners)


def test_curves_of_every_kind_and_what_has_no_mu() -> None:
    profile = Profile([(1, 0), (0.5, 0.1)])
    assert float(least_mu(TradeOff.of(profile))) == pytest.approx(float(least_mu(profile)), rel=1e-12)
    assert least_mu(profile) < least_mu(Pure(1))
    assert least_mu(Approx(1, 1e-6)) == math.inf
    granted = least_mu(Approx(1, 1e-6), delta=1e-6)
    assert granted <= least_mu(Pure(1)) <= granted * 1.00001
    assert least_mu(Pure(0)) == 0 == least_mu(PLD.nothing())
    with pytest.raises(NoProvenRoute, match="holds but for a small δ"):
        least_mu(distribution(Repeat(Sampled(Gaussian(2), Poisson(0.1)), 4)))
    with pytest.raises(BadArgument, match="loss must be"):
        least_mu(ZCDP(1))  # type: ignore[arg-type]
