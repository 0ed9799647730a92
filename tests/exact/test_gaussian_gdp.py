"""The Gaussian loss of discrete Gaussian noise, against every corner of its trade-off curve."""

from __future__ import annotations

import math
from collections.abc import Iterator
from fractions import Fraction
from itertools import product

import pytest
from flint import arb

import sfumato as sf
from sfumato.accounting.facts import loss_of
from sfumato.accounting.facts.discrete_gaussian import one_step, rounded
from sfumato.accounting.facts.gaussian import ball_of, exact_gaussian_delta, gaussian_upper_tail
from sfumato.accounting.losses.concentrated import GDP
from sfumato.exact import ball, precision, root
from sfumato.noise.discrete_gaussian import DiscreteGaussian

SCALES = [Fraction(1, 2), Fraction(7, 10), Fraction(1), Fraction(3, 2), Fraction(21, 5), Fraction(20), Fraction(1000)]
BITS = 256


def corners(noise: DiscreteGaussian, shift: int) -> Iterator[tuple[arb, arb]]:
    """Gives how often Z and Z + shift are at least n, for n from one far tail to the other."""
    reach = int(9 * noise.scale) + shift  # type: ignore[arg-type]
    for n in range(-reach, reach + 1, max(1, reach // 40)):
        yield noise.upper_tail(n, bits=BITS), noise.upper_tail(n - shift, bits=BITS)


def told_apart(alpha: arb, power: arb, mu: arb) -> bool:
    """Tells whether a test is certainly better than any test between N(0, 1) and N(mu, 1)."""
    threshold = arb(2).sqrt() * (2 * alpha).erfcinv()
    return bool(power > gaussian_upper_tail(threshold - mu))


@pytest.mark.parametrize("scale", SCALES, ids=str)
@pytest.mark.parametrize("shift", [1, 2, 5])
def test_no_test_tells_neighbours_better_apart_than_is_claimed(scale: Fraction, shift: int) -> None:
    noise = DiscreteGaussian(scale)
    claimed = loss_of(noise, GDP, Fraction(shift))
    assert isinstance(claimed, GDP)
    with precision(BITS):
        assert not any(told_apart(*corner, ball_of(claimed.mu)) for corner in corners(noise, shift))


@pytest.mark.parametrize("scale", SCALES[2:6], ids=str)
def test_the_loss_of_the_textbooks_does_not_hold(scale: Fraction) -> None:
    noise = DiscreteGaussian(scale)
    with precision(BITS):
        assert any(told_apart(*corner, 1 / ball(scale)) for corner in corners(noise, 1))


def test_in_vectors_the_whole_profile_is_below() -> None:
    noise, reach = DiscreteGaussian(Fraction(1)), range(-12, 13)
    shift = (1, 2)
    claimed = loss_of(noise, GDP, root(5))
    assert isinstance(claimed, GDP)
    with precision(BITS):
        pmf = {z: noise.pmf(z, bits=BITS) for z in range(-15, 16)}
        for epsilon in (Fraction(0), Fraction(1, 2), Fraction(2), Fraction(5)):
            factor, delta = ball(epsilon).exp(), arb(0)
            for x, y in product(reach, reach):
                gain = pmf[x - shift[0]] * pmf[y - shift[1]] - factor * pmf[x] * pmf[y]
                delta += gain if gain > 0 else arb(0)
            assert delta <= ball(exact_gaussian_delta(epsilon, claimed.mu, Fraction(1)))
            assert not delta <= ball(exact_gaussian_delta(epsilon, claimed.mu, Fraction(3, 2)))


@pytest.mark.parametrize(
    ("scale", "most"), [("1/2", 2.3), ("1", 1.28), ("4.2", 1.018), ("20", 1.0011), ("1000", 1.000001)]
)
def test_it_is_nearly_the_loss_of_continuous_noise(scale: str, most: float) -> None:
    size = Fraction(scale)
    claimed = loss_of(DiscreteGaussian(size), GDP, Fraction(1))
    assert isinstance(claimed, GDP)
    assert 1 < float(claimed.mu) * float(size) <= most


@pytest.mark.parametrize("square", [Fraction(1), Fraction(17, 3), Fraction(10**6), Fraction(1 << 120)])
def test_what_is_taken_for_rounding_is_sound_and_about_best(square: Fraction) -> None:
    taken = rounded(square)
    assert 0 < taken < square
    with precision(BITS):
        found = one_step(square, taken)
        others = [taken * other for other in (Fraction(3, 4), Fraction(5, 4)) if taken * other < square]
        assert all(found < ball(Fraction(102, 100)) * one_step(square, other) for other in others)


def test_noise_that_hides_nothing_has_none() -> None:
    assert loss_of(DiscreteGaussian(Fraction(2, 5)), GDP, Fraction(1)) == GDP(math.inf)


def test_events_of_vectors_have_distributions_now() -> None:
    noise = sf.events.Noise(DiscreteGaussian(Fraction(169, 40)), 1, coordinates=12)
    assert 1 <= float(sf.account(noise, delta=1e-6).epsilon.upper) < 1.03
    assert float(sf.convert(sf.total(noise, sf.ZCDP), sf.Approx, delta=1e-6).epsilon) > 1.07
