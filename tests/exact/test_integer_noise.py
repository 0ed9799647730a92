"""Clamped, staircase and binomial noise: whole output distributions against the claimed loss."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest

from sfumato.accounting.facts.log_concave import log_concave_delta
from sfumato.accounting.losses.measures import Approx, Pure
from sfumato.audit.brute_force import brute_delta, brute_epsilon, outcome_probabilities
from sfumato.core.domains import Integers
from sfumato.core.metrics import L1, Absolute
from sfumato.core.space import Space, scalar, vector
from sfumato.errors import BadArgument
from sfumato.mechanisms.integer_noise import binomial, censored_laplace, staircase
from sfumato.noise.binomial import Binomial
from sfumato.noise.bounded import Truncated
from sfumato.noise.discrete_laplace import DiscreteLaplace
from sfumato.release.record import Failure

pytestmark = pytest.mark.sharp_balls

TINY = Fraction(1, 10**20)


def test_A1_079_truncated_geometric() -> None:
    scale = 1 / Fraction(math.log(2))
    law = outcome_probabilities(scalar(int) >> censored_laplace(scale=scale, between=(0, 10)), 0)
    assert sorted(law) == list(range(11))
    for outcome, expected in ((0, 0.666667), (1, 0.166667), (10, 6.51042e-4)):
        assert abs(float(law[outcome]) / expected - 1) < 1e-5
    assert float(sum(law.values())) == pytest.approx(1, abs=1e-15)


@pytest.mark.parametrize("scale", ["1/2", "1", "3"])
@pytest.mark.parametrize("distance", [1, 2, 4])
def test_clamping_keeps_the_loss_and_is_tight(scale: str, distance: int) -> None:
    measurement = scalar(int) >> censored_laplace(scale=Fraction(scale), between=(0, 5))
    low, high = brute_epsilon(measurement, range(-1, 8), d_in=distance)
    claimed = measurement.map(distance).epsilon
    assert claimed == distance / Fraction(scale)
    assert claimed - TINY <= low <= high <= claimed + TINY


def test_clamped_vectors() -> None:
    measurement = vector(int, size=2, metric=L1()) >> censored_laplace(scale=2, between=(0, 2))
    members = list(itertools.product(range(3), repeat=2))
    for distance in (1, 2):
        low, high = brute_epsilon(measurement, members, d_in=distance)
        assert Fraction(distance, 2) - TINY <= low <= high <= Fraction(distance, 2) + TINY
    values = measurement([1, 2]).value
    assert values.dtype == np.int64 and set(values.tolist()) <= {0, 1, 2}


def test_a_range_taken_from_the_data_would_leak() -> None:
    """Clamping to a range that moves with the data is no post-processing: the ends tell the data apart."""
    wide, narrow = (scalar(int) >> censored_laplace(scale=1, between=(0, end)) for end in (5, 4))
    assert 5 in outcome_probabilities(wide, 3) and 5 not in outcome_probabilities(narrow, 3)


def test_clamping_beyond_64_bits_and_bad_ranges() -> None:
    huge = 2**80
    assert (scalar(int) >> censored_laplace(scale=1, between=(huge, huge + 1)))(0).value == huge
    far = (vector(int, size=1, metric=L1()) >> censored_laplace(scale=1, between=(huge, huge + 1)))([3]).value
    assert far.tolist() == [huge]
    quarters = Space(Integers(step=Fraction(1, 4)), Absolute())
    assert 0 <= (quarters >> censored_laplace(scale=1, between=(0, 1)))(2).value <= 1
    with pytest.raises(BadArgument, match="wide enough"):
        Space(Integers(step=Fraction(4)), Absolute()) >> censored_laplace(scale=1, between=(1, 2))
    with pytest.raises(BadArgument, match="exact values"):
        scalar(float) >> censored_laplace(scale=1, between=(0, 1))


@pytest.mark.parametrize(("width", "step"), [(1, 1), (3, 1), (3, 2), (3, 3), (4, 2)])
@pytest.mark.parametrize("distance", [1, 2, 3, 4, 5, 9])
def test_staircase_is_sound_and_tight(width: int, step: int, distance: int) -> None:
    measurement = scalar(int) >> staircase(epsilon="0.5", width=width, step=step)
    low, high = brute_epsilon(measurement, range(11), d_in=distance, missed=Fraction(1, 100))
    claimed = measurement.map(distance).epsilon
    assert claimed == Fraction(1, 2) * -(-distance // width)
    assert claimed - TINY <= low <= high <= claimed + TINY


def test_staircase_of_width_one_is_discrete_laplace() -> None:
    noise = DiscreteLaplace(Fraction(2))
    law = (scalar(int) >> staircase(epsilon="0.5", width=1)).law(0)  # type: ignore[misc]
    assert all(law.probability(z).overlaps(noise.pmf(z)) for z in range(-9, 10))


def test_a_linear_map_for_the_staircase_would_be_wrong() -> None:
    """Half a width costs a whole epsilon: d_in · epsilon / width is refuted."""
    measurement = scalar(int) >> staircase(epsilon=1, width=4)
    low, _ = brute_epsilon(measurement, range(3), d_in=2, missed=Fraction(1, 100))
    assert low > Fraction(2, 4)
    assert measurement.map(2) == Pure(1)


def test_staircase_beats_laplace_at_large_epsilon() -> None:
    stairs = (scalar(int) >> staircase(epsilon=4, width=20)).law(0)  # type: ignore[misc]
    spread = DiscreteLaplace(Fraction(20, 4))
    inside = sum((stairs.probability(z) for z in range(-8, 9)), start=0)
    assert inside > 1 - spread.tail(9)


@pytest.mark.parametrize("trials", [2, 4, 10, 16])
@pytest.mark.parametrize("epsilon", ["0", "0.1", "1", "3"])
@pytest.mark.parametrize("distance", [1, 2, 3])
def test_binomial_delta_is_exact(trials: int, epsilon: str, distance: int) -> None:
    measurement = scalar(int) >> binomial(trials, epsilon=epsilon)
    low, high = brute_delta(measurement, range(4), epsilon=Fraction(epsilon), d_in=distance)
    loss = measurement.map(distance)
    assert isinstance(loss, Approx) and loss.epsilon == Fraction(epsilon)
    assert loss.delta - TINY <= low <= high <= loss.delta + TINY


def test_binomial_loses_everything_beyond_its_reach() -> None:
    measurement = scalar(int) >> binomial(4, epsilon=1)
    assert measurement.map(5).delta == 1 and measurement.map(math.inf).delta == 1
    assert measurement.map(0) == Approx(0, 0)
    assert measurement.map(4).delta < 1
    assert measurement.how.failure is Failure.DISTINGUISHING


def test_binomial_at_many_trials_is_quick_and_small() -> None:
    loss = (scalar(int) >> binomial(1_000_000, epsilon="0.1")).map(1)
    assert 0 < loss.delta < Fraction(1, 10**100)


def test_bounded_log_concave_noise_in_general() -> None:
    noise = Truncated.within(DiscreteLaplace(Fraction(2)), radius=6)
    for shift in (1, 3):
        for epsilon in (Fraction(0), Fraction(1, 4), Fraction(shift, 2), Fraction(5)):
            found = log_concave_delta(noise, shift=shift, epsilon=epsilon)
            factor = Fraction(math.exp(epsilon))
            direct = sum(
                max(0.0, float(noise.pmf(y)) - float(factor) * float(noise.pmf(y - shift))) for y in range(-6, 7)
            )
            assert float(found) == pytest.approx(direct, abs=1e-14)
    with pytest.raises(BadArgument, match="bounded"):
        log_concave_delta(DiscreteLaplace(Fraction(1)), shift=1, epsilon=Fraction(1))
    with pytest.raises(BadArgument, match="symmetric"):
        log_concave_delta(Binomial(4, centred=False), shift=1, epsilon=Fraction(1))


@pytest.mark.parametrize("bad", [0, -1, math.nan, math.inf, None, True])
def test_bad_parameters_are_refused(bad: object) -> None:
    with pytest.raises(BadArgument):
        staircase(epsilon=bad, width=1)  # type: ignore[arg-type]
    with pytest.raises(BadArgument):
        censored_laplace(scale=bad, between=(0, 1))  # type: ignore[arg-type]
    with pytest.raises(BadArgument):
        binomial(bad, epsilon=1)  # type: ignore[arg-type]


def test_vectors_without_a_theorem_are_refused() -> None:
    for made in (staircase(epsilon=1, width=2), binomial(10, epsilon=1)):
        with pytest.raises(BadArgument, match="not known"):
            vector(int, size=2, metric=L1()) >> made
    with pytest.raises(BadArgument, match="even"):
        binomial(3, epsilon=1)
    with pytest.raises(BadArgument, match="at least the values' step"):
        Space(Integers(step=Fraction(4)), Absolute()) >> staircase(epsilon=1, width=2)
