"""Widths of many sums at once: never below the exact quantile, and hardly above it."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.profiles import examples

from sfumato.noise.discrete_gaussian import DiscreteGaussian
from sfumato.noise.discrete_laplace import DiscreteLaplace
from sfumato.release.sums import sum_above
from sfumato.release.waves import Wave, _sines, widths

noises = st.one_of(
    st.sampled_from(["1/10", "1/2", "1", "7/2", "40", "1000000"]).map(lambda scale: DiscreteLaplace(Fraction(scale))),
    st.sampled_from(["1/9", "1/2", "1", "5", "900", "1000000"]).map(
        lambda square: DiscreteGaussian.from_square(Fraction(square))
    ),
)
terms = st.lists(st.tuples(noises, st.integers(1, 12), st.integers(1, 4)), min_size=1, max_size=3)


@settings(max_examples=examples(40), deadline=None)
@given(terms, st.sampled_from(["1/2", "1/20", "1/100", "1/10000"]))
def test_widths_are_those_of_the_exact_law_or_a_little_more(
    given_terms: list[tuple[Wave, int, int]], missed: str
) -> None:
    """`sum_above` lays the law on its lattice, exactly here, where all weights are whole numbers."""
    each = tuple((noise, Fraction(weight)) for noise, weight, times in given_terms for _ in range(times))
    exact, rarer = (float(sum_above(each, Fraction(missed) * share / 2)) for share in (1, Fraction(98, 100)))
    weights = np.array([[weight for _, weight, _ in given_terms]], dtype=float)
    found = widths(
        [noise for noise, _, _ in given_terms], weights, [times for _, _, times in given_terms], float(Fraction(missed))
    )[0]
    spread = math.sqrt(sum(times * w**2 * float(noise.variance().mid()) for noise, w, times in given_terms))
    step = min(weight for _, weight, _ in given_terms)
    # The least whole t with P(W > t) at most so much; the blurred sum may be that rare just above the step before.
    assert found > exact - step
    assert found <= rarer + 0.04 * spread + 0.02 * max(weight for _, weight, _ in given_terms)


@pytest.mark.parametrize("scale", ["3", "12"])
def test_the_chance_to_miss_is_never_more_than_stated(scale: str) -> None:
    """Enumerated: the law of a sum with weights that have no common step, from the masses of its parts."""
    one, other = DiscreteLaplace(Fraction(scale)), DiscreteGaussian.from_square(Fraction(scale) ** 2)
    reach = int(40 * float(Fraction(scale)))
    values = np.arange(-reach, reach + 1)
    masses = [
        np.exp(-np.abs(values) / float(Fraction(scale))),
        np.exp(-(values**2) / (2 * float(Fraction(scale)) ** 2)),
    ]
    law = np.outer(masses[0] / masses[0].sum(), masses[1] / masses[1].sum())
    for weight in (0.317, 1.9):
        sums = np.abs(values[:, None] + weight * values[None, :])
        for missed in (0.3, 0.05, 0.001):
            width = widths([one, other], np.array([[1.0, weight]]), [1, 1], missed)[0]
            assert law[sums > width].sum() <= missed
            assert law[sums > width * 0.95].sum() > missed * 0.98


def test_very_rare_misses_are_bounded_too() -> None:
    noise = DiscreteLaplace(Fraction(10))
    for missed in (1e-6, 1e-9, 1e-15):
        width = widths([noise], np.ones((1, 1)), [1], missed)[0]
        assert noise.half_width(1 - Fraction(missed)) <= width + 1
        assert width <= 1.4 * float(noise.half_width(1 - Fraction(missed)))


def test_no_noise_has_no_width() -> None:
    assert widths([DiscreteLaplace(Fraction(10))], np.zeros((2, 1)), [3], 0.05).tolist() == [0.0, 0.0]


@pytest.mark.parametrize("count", [128, 256, 1 << 13])
def test_sums_of_sines_are_those_that_are_added_up_one_by_one(count: int) -> None:
    steps, rng = np.arange(1, count + 1), np.random.default_rng(1)
    waves, angles = rng.random((3, count)) / steps, np.array([0.1, 1.5, math.pi])
    plainly = (waves * np.sin(angles[:, None] * steps)).sum(axis=1)
    assert np.abs(_sines(waves, angles) - plainly).max() < 1e-12
