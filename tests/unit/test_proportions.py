"""Bounds on a probability from hits and trials, against scipy and against enumeration."""

from __future__ import annotations

from fractions import Fraction
from math import comb

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import beta

from sfumato.accounting.meaning.proportions import greatest_probability, least_probability, probability_bounds
from sfumato.errors import BadArgument


@pytest.mark.parametrize(
    ("hits", "trials"), [(1, 1), (1, 3), (10, 10), (500, 1000), (3, 10**6), (500_000, 10**6), (10**6 - 1, 10**6)]
)
def test_bounds_agree_with_the_beta_quantiles(hits: int, trials: int) -> None:
    low, high = probability_bounds(hits, trials, "0.95")
    assert float(low) == pytest.approx(beta.ppf(0.025, hits, trials - hits + 1), rel=1e-6)
    if hits < trials:
        assert 1 - float(high) == pytest.approx(1 - beta.ppf(0.975, hits + 1, trials - hits), rel=1e-6)
    assert low <= Fraction(hits, trials) <= high


@given(st.integers(1, 12), st.fractions(0, 1, max_denominator=50))
def test_bounds_miss_no_more_often_than_they_say(trials: int, chance: Fraction) -> None:
    """Sums the exact probability of all counts whose bound lies on the wrong side of the truth."""
    weights = [comb(trials, hits) * chance**hits * (1 - chance) ** (trials - hits) for hits in range(trials + 1)]
    too_high = sum(w for hits, w in enumerate(weights) if least_probability(hits, trials, "0.9") > chance)
    too_low = sum(w for hits, w in enumerate(weights) if greatest_probability(hits, trials, "0.9") < chance)
    assert too_high <= Fraction(1, 10)
    assert too_low <= Fraction(1, 10)


def test_bounds_are_as_large_as_they_may_be() -> None:
    """Ten hits of ten: the bound is the tenth root of what is missed, and nothing is lost but the last digits."""
    found = least_probability(10, 10, "0.95")
    assert found**10 <= Fraction(5, 100) < (found + Fraction(1, 10**8)) ** 10


def test_nothing_and_everything() -> None:
    assert least_probability(0, 5, "0.95") == 0
    assert greatest_probability(5, 5, "0.95") == 1
    assert greatest_probability(0, 10**9, "0.95") < Fraction(4, 10**9)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ((3, 2, "0.95"), "at most the number of trials"),
        ((0, 0, "0.95"), "trials"),
        ((-1, 2, "0.95"), "hits"),
        ((1, 2, 1), "less than 1"),
        ((1, 2, 2), "confidence"),
        ((1.0, 2, "0.5"), "whole number"),
    ],
)
def test_bad_counts_are_refused(arguments: tuple[int, int, str], words: str) -> None:
    with pytest.raises(BadArgument, match=words):
        least_probability(*arguments)
