"""Laws that hold for every distribution and every parameter."""

from __future__ import annotations

import pickle
from fractions import Fraction

import numpy as np
from flint import arb
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.profiles import examples

from sfumato.entropy import ReplayEntropy
from sfumato.exact import ball, precision
from sfumato.noise import (
    Bernoulli,
    BernoulliExp,
    Binomial,
    Categorical,
    Censored,
    DiscreteGaussian,
    DiscreteLaplace,
    Geometric,
    Noise,
    Poisson,
    Staircase,
    Truncated,
    TruncatedNegativeBinomial,
    Uniform,
    choose,
    enclosure,
    permutation,
)
from sfumato.noise.distribution import least

scales = st.one_of(
    st.fractions(min_value=Fraction(1, 10**6), max_value=10**3, max_denominator=10**7),
    st.integers(1, 10**15).map(Fraction),
    st.floats(min_value=1e-6, max_value=1e15, allow_nan=False).map(Fraction),
)
small = st.fractions(min_value=Fraction(1, 50), max_value=40, max_denominator=1000)
chances = st.fractions(min_value=0, max_value=1, max_denominator=10**9)
inner_chances = st.fractions(min_value=Fraction(1, 10**6), max_value=1 - Fraction(1, 10**6), max_denominator=10**9)

unbounded = st.one_of(
    scales.map(DiscreteLaplace),
    scales.map(Geometric),
    scales.map(DiscreteGaussian),
    scales.map(DiscreteGaussian.from_square),
    st.builds(
        lambda decay, width, step: Staircase(decay, width, 1 + step % width),
        st.fractions(min_value=Fraction(1, 10**6), max_value=20, max_denominator=10**6),
        st.integers(1, 10**6),
        st.integers(0, 10**6),
    ),
)
counts = st.one_of(
    st.builds(
        TruncatedNegativeBinomial,
        st.fractions(min_value=Fraction(-9, 10), max_value=9, max_denominator=100),
        st.fractions(min_value=Fraction(1, 1000), max_value=Fraction(99, 100), max_denominator=10**6),
    ),
    st.fractions(min_value=Fraction(1, 100), max_value=10**4, max_denominator=100).map(Poisson),
)
bounded = st.one_of(
    chances.map(Bernoulli),
    small.map(BernoulliExp),
    st.integers(1, 10**18).map(Uniform),
    st.integers(0, 200).map(lambda half: Binomial(2 * half)),
    st.integers(0, 300).map(lambda trials: Binomial(trials, centred=False)),
    st.lists(chances, min_size=1, max_size=6).filter(any).map(lambda weights: Categorical(tuple(weights))),
    st.builds(lambda scale, radius: Truncated.within(DiscreteLaplace(scale), radius=radius), small, st.integers(0, 90)),
    st.builds(
        lambda s, low, size: Censored(DiscreteGaussian(s), low, low + size),
        small,
        st.integers(-50, 50),
        st.integers(0, 50),
    ),
)
noises = st.one_of(unbounded, counts, bounded)


@given(noises, st.integers(-(10**16), 10**16) | st.integers(-100, 100))
@settings(max_examples=examples(150))
def test_mass_cdf_and_tail_fit_together(noise: Noise, value: int) -> None:
    with precision(128):
        mass, below, above = noise.pmf(value), noise.cdf(value - 1), noise.upper_tail(value + 1)
        assert (mass + below + above).overlaps(arb(1))
        assert noise.cdf(value).overlaps(below + mass)
        assert noise.upper_tail(value).overlaps(above + mass)
        for chance in (mass, below, above):
            assert not chance < 0
            assert not chance > 1


@given(noises, st.integers(0, 10**16) | st.integers(0, 100))
@settings(max_examples=examples(60))
def test_two_sided_tails_add_up(noise: Noise, distance: int) -> None:
    with precision(128):
        expected = noise.upper_tail(distance) + noise.cdf(-distance) if distance else arb(1)
        assert noise.tail(distance).overlaps(expected)


@given(noises, inner_chances)
@settings(max_examples=examples(80))
def test_quantile_is_the_least(noise: Noise, p: Fraction) -> None:
    found = noise.quantile(p)
    assert enclosure(noise.cdf(found, bits=256))[1] >= p
    assert enclosure(noise.cdf(found - 1, bits=256))[0] < p


@given(noises, inner_chances)
@settings(max_examples=examples(60))
def test_half_width_is_the_least(noise: Noise, confidence: Fraction) -> None:
    found = noise.half_width(confidence)
    assert enclosure(noise.tail(found + 1, bits=256))[0] <= 1 - confidence
    assert found == 0 or enclosure(noise.tail(found, bits=256))[1] > 1 - confidence


@given(noises, st.integers(0, 2**32))
@settings(max_examples=examples(80))
def test_samples_lie_in_the_support_and_replay(noise: Noise, seed: int) -> None:
    low, high = noise.support
    for drawn in (noise.samples(20, ReplayEntropy(seed)), [noise.sample(ReplayEntropy(seed)) for _ in range(3)]):
        assert all((low is None or low <= value) and (high is None or value <= high) for value in drawn)
    assert np.array_equal(noise.samples(5, ReplayEntropy(seed)), noise.samples(5, ReplayEntropy(seed)))


@given(unbounded)
@settings(max_examples=examples(40))
def test_samples_are_as_large_as_the_variance_says(noise: Noise) -> None:
    """The chance that a draw is 60 standard deviations out is below 1e-15 for each of these laws."""
    drawn = noise.samples(50, ReplayEntropy(1))
    low, high = enclosure(noise.variance())
    assert 0 < low <= high or high < Fraction(1, 10**6)
    assert all(Fraction(int(value)) ** 2 <= 3600 * high + 1 for value in drawn)


@given(noises)
@settings(max_examples=examples(40))
def test_records_are_values(noise: Noise) -> None:
    noise.sample(ReplayEntropy(0))
    again = pickle.loads(pickle.dumps(noise))
    assert again == noise
    assert hash(again) == hash(noise)
    assert np.array_equal(again.samples(9, ReplayEntropy(0)), noise.samples(9, ReplayEntropy(0)))


@given(small, st.integers(-60, 60), st.integers(0, 30))
@settings(max_examples=examples(40))
def test_truncation_conditions_and_censoring_moves_mass(scale: Fraction, low: int, size: int) -> None:
    noise, high = DiscreteLaplace(scale), low + size
    with precision(256):
        whole = noise.cdf(high, bits=256) - noise.cdf(low - 1, bits=256)
        for value in (low, low + size // 2, high):
            assert (Truncated(noise, low, high).pmf(value) * whole).overlaps(noise.pmf(value, bits=256))
        censored = Censored(noise, low, high)
        total = sum((censored.pmf(value, bits=256) for value in range(low, high + 1)), arb(0))
        assert total.overlaps(arb(1))


@given(scales)
@settings(max_examples=examples(60))
def test_gaussian_variance_is_at_most_the_square(scale: Fraction) -> None:
    noise = DiscreteGaussian(scale)
    assert not noise.variance() > ball(noise.square)


@given(st.integers(0, 300), st.integers(0, 1000))
@settings(max_examples=examples(40))
def test_permutations_and_choices_have_no_repeats(size: int, seed: int) -> None:
    assert sorted(permutation(size, entropy=ReplayEntropy(seed)).tolist()) == list(range(size))
    k = seed % (size + 1)
    chosen = choose(size, k=k, entropy=ReplayEntropy(seed)).tolist()
    assert len(set(chosen)) == k
    assert all(0 <= place < size for place in chosen)


@given(st.integers(-(10**20), 10**20))
def test_least_finds_the_turn(turn: int) -> None:
    assert least(lambda value: value >= turn) == turn
