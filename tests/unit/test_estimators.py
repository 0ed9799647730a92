"""Estimates from released answers: the acceptance numbers, and what cannot be estimated."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

from sfumato.errors import BadArgument, CannotCalibrate
from sfumato.exact import up
from sfumato.mechanisms.estimators import (
    estimated_count,
    estimated_recall,
    estimated_share,
    estimated_shares,
    noisy_mode,
    valid_counts,
)
from sfumato.mechanisms.response_accuracy import (
    plan_response,
    response_error,
    response_error_at,
    response_variance,
    truth_probability,
)


def test_A1_062_debiasing() -> None:
    assert estimated_share(400, of=1000, p=0.75) == Fraction(3, 10)
    assert estimated_share(200, of=1000, p=0.75) == Fraction(-1, 10), "negative is allowed: the estimate is unbiased"
    assert estimated_count(400, of=1000, p=0.75) == 300


def test_A1_063_fair_coins() -> None:
    share = Fraction(4, 10)
    found = estimated_share(share, of=1, p=0.75)
    assert found == 2 * share - Fraction(1, 2) == Fraction(3, 10)
    no = (share - Fraction(3, 4)) / (1 - 2 * Fraction(3, 4))
    assert 1 - found == Fraction(3, 2) - 2 * share == no == Fraction(7, 10)


def test_A1_064_E1_24_the_printed_estimator_is_not_used() -> None:
    count, yes, p = 1000, 400, Fraction(3, 4)
    printed = (yes + p - 1) / ((2 * p - 1) * count)
    assert printed == Fraction("0.7995")
    assert estimated_share(yes, of=count, p=p) == Fraction(3, 10) != printed


def test_the_share_is_unbiased_exactly() -> None:
    p, people, yes = Fraction(2, 3), 7, 3
    expected_yes = yes * p + (people - yes) * (1 - p)
    assert estimated_share(expected_yes, of=people, p=p) == Fraction(yes, people)


def test_A1_066_E1_25_accuracy_of_randomized_response() -> None:
    p = Fraction(truth_probability(1))
    assert float(response_error_at(1, size=10_000, beta=0.05)) == pytest.approx(0.0483875, rel=1e-5)
    assert up(response_error(p, size=10_000, beta=0.05)) == pytest.approx(0.0483875, rel=1e-5)
    assert float(response_variance(p, size=10_000)) == pytest.approx(9.20674e-5, rel=1e-5)
    assert math.sqrt(response_variance(p, size=10_000)) == pytest.approx(0.00959517, rel=1e-5)
    assert response_error(1 - p, size=10_000, beta=0.05) == response_error(p, size=10_000, beta=0.05), "|2p − 1|"


def test_the_variance_is_that_of_the_estimator() -> None:
    """Enumerates all answers of three people."""
    p, truth = Fraction(3, 4), (True, False, True)
    first = second = Fraction(0)
    for pattern in range(8):
        kept = [bool(pattern >> place & 1) for place in range(3)]
        chance = math.prod(p if keep else 1 - p for keep in kept)
        yes = sum(answer == keep for answer, keep in zip(truth, kept, strict=True))
        estimate = estimated_share(yes, of=3, p=p)
        first, second = first + chance * estimate, second + chance * estimate**2
    assert first == Fraction(2, 3)
    assert second - first**2 == response_variance(p, size=3)


def test_P1_145_the_solver_finds_the_least_truthful_response() -> None:
    plan = plan_response(error="0.05", size=10_000, beta="0.05")
    reached = response_error(plan.p, size=10_000, beta="0.05")
    assert up(reached) <= 0.05
    assert up(response_error(plan.p - Fraction(1, 10**6), size=10_000, beta="0.05")) > 0.05
    assert float(plan.epsilon) == pytest.approx(math.log(plan.p / (1 - plan.p)))
    with pytest.raises(CannotCalibrate, match="too few"):
        plan_response(error="0.001", size=100, beta="0.05")


def test_A1_055_truth_probability() -> None:
    assert truth_probability(1) == pytest.approx(0.7310586, rel=1e-7)
    assert truth_probability(0) == 0.5 and truth_probability(0, options=4) == 0.25
    assert truth_probability(1, options=3) == pytest.approx(math.e / (math.e + 2))


def test_P1_149_histogram_of_k_ary_answers() -> None:
    p, shares = Fraction(2, 5), {"a": Fraction(1, 2), "b": Fraction(1, 3), "c": Fraction(1, 6)}
    other = (1 - p) / 2
    reports = {key: int(1000 * 6 * 5 * (other + (p - other) * share)) for key, share in shares.items()}
    assert estimated_shares(reports, p=p) == shares
    binary = estimated_shares({"yes": 400, "no": 600}, p=0.75)
    assert binary["yes"] == estimated_share(400, of=1000, p=0.75)
    assert sum(estimated_shares({"a": 5, "b": 1, "c": 9, "d": 2}, p="0.6").values()) == 1


def test_P1_150_valid_counts() -> None:
    found = valid_counts(np.array([3.4, -2.2, 0.6, 7.0]))
    assert found.dtype == np.int64 and found.tolist() == [3, 0, 1, 7]


def test_P1_151_mode_from_noisy_counts() -> None:
    assert noisy_mode({"three": 10.5, "four": 12.25, "five": -3}) == "four"
    assert noisy_mode({"first": 1, "second": 1}) == "first"


def test_what_cannot_be_estimated_is_refused() -> None:
    for refused in (
        lambda: estimated_share(1, of=2, p=0.5),
        lambda: estimated_share(1, of=0, p=0.75),
        lambda: estimated_share(math.nan, of=2, p=0.75),
        lambda: estimated_shares({"a": 1, "b": 1}, p="1/2"),
        lambda: estimated_shares({"a": 1}, p=1),
        lambda: estimated_shares({"a": 0, "b": 0}, p="0.75"),
        lambda: estimated_recall(3, expected_positives=0),
        lambda: response_variance(0.5, size=3),
        lambda: response_error(0.75, size=3, beta=0),
        lambda: noisy_mode({}),
        lambda: truth_probability(-1),
    ):
        with pytest.raises(BadArgument):
            refused()  # type: ignore[no-untyped-call]
