"""Tails, quantiles and ranges far out, where near-equal numbers cancel and 64 bits end."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from flint import arb

from sfumato.accounting.facts.gaussian import discrete_gaussian_delta, discrete_gaussian_epsilon
from sfumato.entropy import ReplayEntropy
from sfumato.errors import BadArgument
from sfumato.exact import ball, precision
from sfumato.noise import Binomial, Categorical, Censored, DiscreteGaussian, DiscreteLaplace, Truncated, Uniform
from sfumato.noise.bounded import mass_between
from sfumato.noise.distribution import Noise
from sfumato.noise.gaussian_sums import direct_sum, tail_sum
from sfumato.textbook.continuous import Exponential, Gaussian, Gumbel

FAR = 10**20


@pytest.mark.parametrize("sigma", [64, 100, 1000])
@pytest.mark.parametrize("bits", [64, 300])
def test_gaussian_tails_are_sharp_however_far_out(sigma: int, bits: int) -> None:
    square = sigma**2 + Fraction(1, 3)
    starts = [0, 1, sigma, 5 * sigma, 8 * sigma, 12 * sigma, 16 * sigma, 30 * sigma, 60 * sigma, 80 * sigma]
    for start in [*starts, sigma**2 // 4 - 1, sigma**2 // 4, 7 * sigma**2]:
        with precision(bits):
            found = tail_sum(square, start=start)
        with precision(2 * bits):
            assert found.overlaps(direct_sum(square, start=start))
        assert found.rel_accuracy_bits() > bits - 30


@pytest.mark.parametrize("sigma", [10**6, 10**15, 2**70])
@pytest.mark.parametrize("place", [1, 10, 50, 118, 1000])
def test_wide_gaussian_tails_are_the_integral_nearly(sigma: int, place: int) -> None:
    # P(Z >= t) is the normal tail from t - 1/2 on, up to a relative (place² + 1) / 24σ² and higher orders
    found = DiscreteGaussian(Fraction(sigma)).upper_tail(place * sigma)
    normal = Gaussian(Fraction(sigma)).upper_tail(place * sigma - Fraction(1, 2), bits=300)
    with precision(300):
        assert abs(found / normal - 1) < ball(Fraction(place**2 + 2, 20 * sigma**2)) + ball(Fraction(1, 10**25))
    assert found.rel_accuracy_bits() > 100


def test_a_tiny_delta_of_wide_discrete_noise_is_sharp() -> None:
    noise, epsilon = DiscreteGaussian(Fraction(100)), Fraction(80, 100)
    delta = discrete_gaussian_delta(noise, shift=1, epsilon=epsilon)
    with precision(512):
        first, second = (direct_sum(noise.square, start=start) for start in (8000, 8001))
        true = (first - ball(epsilon).exp() * second) * noise.pmf(0, bits=512)
        assert true <= ball(delta) * (1 + arb(2) ** -60)
        assert ball(delta) <= true * (1 + arb(2) ** -60)


def test_the_epsilon_of_narrow_discrete_noise_is_the_least() -> None:
    # Z is 0 up to e^-500000, so δ(ε) = 1 - exp(ε - 500 000) nearly, below 10^-6 from ε = 500 000 + ln(1 - 10^-6) on
    found = discrete_gaussian_epsilon(DiscreteGaussian(Fraction(1, 1000)), shift=1, delta=1e-6)
    assert abs(500_000 - found - Fraction(1, 10**6)) < Fraction(1, 10**9)


@pytest.mark.parametrize(
    "noise",
    [DiscreteLaplace(Fraction(1)), DiscreteGaussian(Fraction(63)), DiscreteGaussian(Fraction(100))],
)
@pytest.mark.parametrize("digits", [1, 30, 400, 2000])
def test_quantiles_are_mirror_images_however_close_to_1(noise: Noise, digits: int) -> None:
    # no tie here, so the least z with P(Z <= z) >= 1 - p is minus the least with P(Z <= z) >= p
    p = Fraction(1, 10**digits)
    low, high = noise.quantile(p), noise.quantile(1 - p)
    assert high == -low
    assert noise.upper_tail(high + 1) <= ball(p) < noise.upper_tail(high)


@pytest.mark.parametrize(
    ("noise", "p", "wanted"),
    [
        (Uniform(10), Fraction(3, 10), 2),
        (Uniform(10), Fraction(6, 10), 5),
        (Categorical((Fraction(1),) * 3), Fraction(1, 3), 0),
        (Categorical((Fraction(1),) * 3), Fraction(2, 3), 1),
        (Binomial(3, centred=False), Fraction(1, 2), 1),
        (Binomial(3, centred=False), Fraction(7, 8), 2),
        (Truncated(Uniform(10), 2, 5), Fraction(1, 4), 2),
        (Truncated(Uniform(10), 2, 5), Fraction(3, 4), 4),
    ],
)
def test_quantiles_at_exact_ties(noise: Noise, p: Fraction, wanted: int) -> None:
    assert noise.quantile(p) == wanted
    assert noise.quantile(p + Fraction(1, 10**40)) == wanted + 1


@pytest.mark.parametrize(
    ("noise", "low", "high"),
    [
        (DiscreteLaplace(Fraction(10**60)), -10, 10),
        (DiscreteLaplace(Fraction(10**150)), -10, 3),
        (DiscreteGaussian(Fraction(100)), 10_000, 10_010),
        (DiscreteGaussian(Fraction(100)), -10_010, -10_000),
        (Binomial(1000, centred=False), 10, 20),
        (Binomial(1000, centred=False), 980, 990),
    ],
)
def test_a_very_unlikely_range_is_drawn_exactly(noise: Noise, low: int, high: int) -> None:
    truncated = Truncated(noise, low, high)
    with precision(512):
        whole = sum((noise.pmf(value, bits=512) for value in range(low, high + 1)), arb(0))
        for value in range(low, high + 1):
            found = truncated.pmf(value)
            assert found.overlaps(noise.pmf(value, bits=512) / whole)
            assert found.rel_accuracy_bits() > 50
    entropy = ReplayEntropy(5)
    assert low <= truncated.sample(entropy) <= high
    drawn = truncated.samples(1000, entropy)
    assert low <= drawn.min() and drawn.max() <= high
    assert mass_between(noise, low=low, high=high, bits=128).overlaps(whole)


def test_arrays_of_a_range_beyond_64_bits_stay_in_it() -> None:
    wide = DiscreteLaplace(Fraction(FAR))
    for noise in (
        Truncated(wide, FAR, FAR + 100),
        Truncated(wide, -FAR - 100, -FAR),
        Censored(DiscreteLaplace(Fraction(1)), FAR, FAR + 100),
        Censored(DiscreteLaplace(Fraction(1)), -FAR - 100, -FAR),
    ):
        drawn = noise.samples(200, ReplayEntropy(1))
        low, high = noise.support
        assert drawn.dtype == object
        assert all(low <= value <= high for value in drawn)
    near = Censored(DiscreteLaplace(Fraction(1)), -FAR, FAR).samples(200, ReplayEntropy(1))
    assert near.dtype == np.int64


@pytest.mark.parametrize("weights", [(1, 0, 1), (1, 0, 2)])
def test_a_range_without_mass_is_refused(weights: tuple[int, ...]) -> None:
    gap = Truncated(Categorical(tuple(map(Fraction, weights))), 1, 1)
    with pytest.raises(BadArgument, match="can hit"):
        gap.sample(ReplayEntropy(1))


def test_reference_quantiles_are_sharp_at_both_ends() -> None:
    tiny, scale = Fraction(1, 10**60), Fraction(3)
    for reference in (Gaussian(scale), Gumbel(scale), Exponential(scale)):
        for p in (tiny, 1 - tiny):
            assert reference.quantile(p).rel_accuracy_bits() > 90
    assert (Gaussian(scale).quantile(tiny) + Gaussian(scale).quantile(1 - tiny)).contains(0)
    assert Exponential(scale).quantile(tiny).overlaps(Exponential(scale).quantile(tiny, bits=400))
    assert Gumbel(scale).quantile(1 - tiny).overlaps(Gumbel(scale).quantile(1 - tiny, bits=400))
