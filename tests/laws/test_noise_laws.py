"""Laws that hold for every distribution and every parameter."""

from __future__ import annotations

import math
import pickle
from fractions import Fraction

import numpy as np
import pytest
from flint import arb
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.examples.events import final_classes
from tests.examples.noises import FAMILIES, NOISES, SUMMED, UNBOUNDED, scales, small
from tests.profiles import examples

import sfumato.noise
from sfumato.entropy import ReplayEntropy
from sfumato.exact import ball, precision
from sfumato.noise import (
    Censored,
    DiscreteGaussian,
    DiscreteLaplace,
    Noise,
    Truncated,
    choose,
    enclosure,
    permutation,
)
from sfumato.noise.distribution import least, running
from sfumato.plain import load

inner_chances = st.fractions(min_value=Fraction(1, 10**6), max_value=1 - Fraction(1, 10**6), max_denominator=10**9)


@given(NOISES, st.integers(-(10**16), 10**16) | st.integers(-100, 100))
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


@given(NOISES, st.integers(0, 10**16) | st.integers(0, 100))
@settings(max_examples=examples(60))
def test_two_sided_tails_add_up(noise: Noise, distance: int) -> None:
    with precision(128):
        expected = noise.upper_tail(distance) + noise.cdf(-distance) if distance else arb(1)
        assert noise.tail(distance).overlaps(expected)


@given(NOISES, inner_chances)
@settings(max_examples=examples(80))
def test_quantile_is_the_least(noise: Noise, p: Fraction) -> None:
    found = noise.quantile(p)
    assert enclosure(noise.cdf(found, bits=256))[1] >= p
    assert enclosure(noise.cdf(found - 1, bits=256))[0] < p


@given(NOISES, inner_chances)
@settings(max_examples=examples(60))
def test_half_width_is_the_least(noise: Noise, confidence: Fraction) -> None:
    found = noise.half_width(confidence)
    assert enclosure(noise.tail(found + 1, bits=256))[0] <= 1 - confidence
    assert found == 0 or enclosure(noise.tail(found, bits=256))[1] > 1 - confidence


@given(NOISES, st.integers(0, 2**32))
@settings(max_examples=examples(80))
def test_samples_lie_in_the_support_and_replay(noise: Noise, seed: int) -> None:
    low, high = noise.support
    for drawn in (noise.samples(20, ReplayEntropy(seed)), [noise.sample(ReplayEntropy(seed)) for _ in range(3)]):
        assert all((low is None or low <= value) and (high is None or value <= high) for value in drawn)
    assert np.array_equal(noise.samples(5, ReplayEntropy(seed)), noise.samples(5, ReplayEntropy(seed)))


@given(UNBOUNDED)
@settings(max_examples=examples(40))
def test_samples_are_as_large_as_the_variance_says(noise: Noise) -> None:
    """The chance that a draw is 60 standard deviations out is below 1e-15 for each of these laws."""
    drawn = noise.samples(50, ReplayEntropy(1))
    low, high = enclosure(noise.variance())
    assert 0 < low <= high or high < Fraction(1, 10**6)
    assert all(Fraction(int(value)) ** 2 <= 3600 * high + 1 for value in drawn)


@given(NOISES)
@settings(max_examples=examples(40))
def test_records_are_values(noise: Noise) -> None:
    noise.sample(ReplayEntropy(0))
    again = pickle.loads(pickle.dumps(noise))
    assert again == noise
    assert hash(again) == hash(noise)
    assert np.array_equal(again.samples(9, ReplayEntropy(0)), noise.samples(9, ReplayEntropy(0)))


@given(NOISES, st.integers(0, 10**6) | st.integers(0, 60))
@settings(max_examples=examples(100))
def test_symmetric_noise_is_the_same_on_both_sides_and_falls(noise: Noise, value: int) -> None:
    if noise.symmetric:
        with precision(128):
            assert noise.pmf(value).overlaps(noise.pmf(-value))
            assert not noise.pmf(value + 1) > noise.pmf(value)


@pytest.mark.parametrize("name", SUMMED)
def test_symmetric_noise_says_so(name: str) -> None:
    noise, values = SUMMED[name]
    assert noise.symmetric is all(noise.pmf(value).overlaps(noise.pmf(-value)) for value in values)


@given(NOISES, st.integers(-(10**6), 10**6))
@settings(max_examples=examples(100))
def test_quick_tails_are_near_the_exact_ones(noise: Noise, start: int) -> None:
    points = np.arange(start, start + 5, dtype=np.float64)
    quick = noise.quick_tails(points)
    if quick is not None:
        tails, low = quick
        for point, tail in zip(points.tolist(), tails.tolist(), strict=True):
            exact = float(noise.upper_tail(int(point)).mid())
            assert -low - 1e-13 <= tail - exact <= 1e-13 + low


@given(st.lists(st.floats(0, 1), max_size=500))
def test_running_sums_are_sums(values: list[float]) -> None:
    sums = running(np.array(values, dtype=np.float64))
    assert all(abs(total - math.fsum(values[: place + 1])) <= 1e-12 for place, total in enumerate(sums.tolist()))


def test_every_noise_is_among_the_examples() -> None:
    load(sfumato.noise)
    ours = {kind for kind in final_classes(Noise) if kind.__module__.startswith("sfumato.noise.")}
    assert ours - {family.kind for family in FAMILIES} == set()


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
