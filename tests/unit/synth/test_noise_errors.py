"""Errors known from the noise alone: bounds hold however the synthetic table was made, and are not idle."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from scipy import stats

from sfumato.entropy import ReplayEntropy
from sfumato.errors import BadArgument
from sfumato.noise.discrete_gaussian import DiscreteGaussian
from sfumato.noise.discrete_laplace import DiscreteLaplace
from sfumato.synth.counting import Floats, Rows
from sfumato.synth.graph.domain import Domain
from sfumato.synth.graph.measured import Measured
from sfumato.synth.noise_errors import Noise, l1_reach, l2_upper, largest_reach, noise_error, noise_errors

ROUNDS = 400
FAMILIES = {Noise.GAUSSIAN: DiscreteGaussian(Fraction(12)), Noise.LAPLACE: DiscreteLaplace(Fraction(9))}
DEVIATIONS = {Noise.GAUSSIAN: 12.0, Noise.LAPLACE: float(np.sqrt(1 / (np.cosh(1 / 9) - 1)))}


def drawn(noise: Noise, rounds: int, cells: int, seed: int) -> Floats:
    """Noise of a family, from its own sampler."""
    whole = FAMILIES[noise].samples(rounds * cells, ReplayEntropy(seed))
    return np.asarray(whole, dtype=np.float64).reshape(rounds, cells)


@pytest.mark.parametrize("noise", [Noise.GAUSSIAN, Noise.LAPLACE])
@pytest.mark.parametrize("cells", [1, 2, 10, 100])
def test_the_sum_of_noise_goes_so_far_and_hardly_less_far(noise: Noise, cells: int) -> None:
    sums = np.abs(drawn(noise, 4000, cells, cells)).sum(axis=1)
    for missed in (0.2, 0.05, 0.01):
        reach = l1_reach([(cells, DEVIATIONS[noise])], missed, noise)
        assert np.mean(sums > reach) <= missed + 4 * np.sqrt(missed / 4000)  # exact for one cell, but for sampling
        assert reach < 1.6 * np.quantile(sums, 1 - missed) + 1
    if cells == 100:
        assert l1_reach([(100, 12.0)], 0.05, noise) < 1.12 * np.quantile(sums, 0.95)


@pytest.mark.parametrize("noise", [Noise.GAUSSIAN, Noise.LAPLACE])
def test_the_largest_noise_goes_so_far(noise: Noise) -> None:
    largest = np.abs(drawn(noise, 4000, 20, 5)).max(axis=1)
    reach = largest_reach(20, DEVIATIONS[noise], 0.05, noise)
    assert 0.02 < np.mean(largest > reach) <= 0.05  # and not for nothing: 0.05 but for rounding


def test_groups_of_cells_with_noise_of_their_own_add_up() -> None:
    both = l1_reach([(50, 10.0), (50, 1.0)], 0.05, Noise.GAUSSIAN)
    assert l1_reach([(50, 10.0)], 0.05, Noise.GAUSSIAN) < both < l1_reach([(100, 10.0)], 0.05, Noise.GAUSSIAN)
    assert l1_reach([(50, 10.0), (7, 0.0)], 0.05, Noise.LAPLACE) == l1_reach([(50, 10.0)], 0.05, Noise.LAPLACE)
    assert l1_reach([(5, 0.0)], 0.05, Noise.EITHER) == 0.0
    assert l1_reach([(9, 3.0)], 0.05, Noise.EITHER) == max(
        l1_reach([(9, 3.0)], 0.05, one) for one in (Noise.GAUSSIAN, Noise.LAPLACE)
    )


REAL = np.array([400.0, 250.0, 120.0, 80.0, 60.0, 40.0, 30.0, 15.0, 5.0, 0.0])


def fitted(noisy: Floats, how: str) -> Floats:
    """Synthetic counts, made of noisy ones in several ways: none may break the bounds."""
    match how:
        case "noisy":
            return noisy
        case "cut":
            return np.maximum(noisy, 0.0) * 1000 / np.maximum(noisy, 0.0).sum()
        case "uniform":
            return np.full(10, 100.0)
        case "real":
            return REAL
    return REAL + 2 * (noisy - REAL)  # the worst: noise is counted again


@pytest.mark.parametrize("noise", [Noise.GAUSSIAN, Noise.LAPLACE])
@pytest.mark.parametrize("how", ["noisy", "cut", "uniform", "real", "worst"])
def test_the_true_error_is_within_the_bounds_as_often_as_they_say(noise: Noise, how: str) -> None:
    held, cells_held = 0, 0
    for each in drawn(noise, ROUNDS, 10, 7):
        noisy = REAL + each
        made = fitted(noisy, how)
        found = noise_error(noisy - made, Measured(("a",), noisy, DEVIATIONS[noise]), 1000.0, noise, 0.05)
        truth = np.abs(REAL - made).sum() / 2000
        held += found.low <= truth <= found.high
        cells_held += np.abs(REAL - made).max() / 1000 <= found.cell
    assert held >= 0.95 * ROUNDS and cells_held >= 0.95 * ROUNDS
    if how == "uniform":
        assert found.low > 0.3  # a table that is wrong is found to be


def test_bounds_from_fresh_noise_hold_and_are_narrower() -> None:
    cells, deviation = 200, 12.0
    real = np.linspace(0, 50, cells)
    made = real + np.resize([3.0, -3.0], cells)
    held, narrower = 0, 0
    for each in drawn(Noise.GAUSSIAN, ROUNDS, cells, 11):
        one = Measured(("a",), real + each, deviation)
        fresh, old = (
            noise_error(one.counts - made, one, real.sum(), Noise.GAUSSIAN, 0.05, fresh=flag) for flag in (True, False)
        )
        truth = np.abs(real - made).sum() / (2 * real.sum())
        held += fresh.low <= truth <= fresh.high
        narrower += fresh.high < 0.6 * old.high
    assert held >= 0.95 * ROUNDS and narrower == ROUNDS


def test_the_bound_of_squares_is_that_of_noncentral_chi_square() -> None:
    apart = np.array([30.0, -40.0])
    bound = l2_upper(apart, 10.0, 0.05)
    assert stats.ncx2.cdf(25.0, 2, (bound / 10) ** 2) == pytest.approx(0.05)
    assert l2_upper(np.full(50, 0.1), 10.0, 0.05) == 0.0  # noise is hardly ever so small


def test_marginals_of_rows_are_scaled_to_the_total_and_the_mean_has_an_interval() -> None:
    domain = Domain(("a", "b"), (2, 2))
    rows = Rows(domain, np.array([[0, 0], [1, 1]]))
    measured = [
        Measured(("a",), np.array([52.0, 48.0]), 2.0),
        Measured(("a", "b"), np.array([[50.0, 1.0], [2.0, 47.0]]), 4.0),
    ]
    found = noise_errors(measured, rows, total=100.0)
    assert found.of("a").seen == pytest.approx(0.02)
    assert found.of("b", "a").seen == pytest.approx(0.03)
    low, high = found.mean
    assert low <= 0.025 <= high and found.private
    assert "nothing was spent" in found.to_text()


def test_answers_to_questions_are_compared_with_what_synthetic_rows_answer() -> None:
    rows = Rows(Domain(("a",), (3,)), np.array([[0], [1], [2], [2]]))
    prefixes = Measured(("a",), np.array([1.0, 2.0, 5.0]), 0.0, np.tril(np.ones((3, 3))))
    exact = noise_errors([prefixes], rows).errors[0]
    assert exact.seen == exact.low == exact.high == pytest.approx(1 / 8)


@pytest.mark.parametrize("wrong", [{"measured": []}, {"total": 0.0}, {"confidence": 2}])
def test_bad_input_is_refused(wrong: dict[str, Any]) -> None:
    given = {"measured": [Measured(("a",), np.ones(3), 1.0)], **wrong}
    with pytest.raises(BadArgument):
        noise_errors(given.pop("measured"), Rows(Domain(("a",), (3,)), np.array([[0]])), **given)
