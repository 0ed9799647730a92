"""The whole output distribution of additive noise, on small domains, against the claimed loss."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest

from sfumato.accounting.losses.divergence import hockey_stick, max_divergence, renyi
from sfumato.accounting.losses.measures import ZCDP, Pure
from sfumato.audit.brute_force import brute_epsilon, brute_renyi, outcome_probabilities
from sfumato.core.domains import Floats, Integers, Vector
from sfumato.core.measurement import Measurement
from sfumato.core.metrics import L1, L2
from sfumato.core.space import Space, scalar, vector
from sfumato.exact import power_of_two, precision, up
from sfumato.mechanisms.additive import gaussian, laplace
from sfumato.mechanisms.gridding import LARGEST, exact_add, nearest_floats, nearest_step, nearest_steps
from sfumato.mechanisms.integer_noise import censored_laplace

TINY = Fraction(1, 10**20)


@pytest.mark.parametrize("scale", ["1/3", "1", "2.5", "7"])
@pytest.mark.parametrize("distance", [1, 2, 3])
def test_laplace_is_sound_and_tight_on_integers(scale: str, distance: int) -> None:
    measurement = scalar(int) >> laplace(scale=Fraction(scale))
    low, high = brute_epsilon(measurement, range(4), d_in=distance, missed=Fraction(1, 10**9))
    claimed = measurement.map(distance).epsilon
    assert high <= claimed + TINY
    assert low >= claimed - TINY, "the bound is attained at the centre"
    assert claimed == distance / Fraction(scale)


def test_laplace_is_sound_and_tight_in_l1() -> None:
    measurement = vector(int, size=2, metric=L1()) >> laplace(scale=2)
    members = list(itertools.product(range(2), repeat=2))
    for distance, claimed in ((1, Fraction(1, 2)), (2, Fraction(1))):
        low, high = brute_epsilon(measurement, members, d_in=distance, missed=Fraction(1, 1000))
        assert claimed - TINY <= low <= high <= claimed + TINY


def test_a_laplace_scale_that_is_too_small_would_be_noticed() -> None:
    claimed = (scalar(int) >> laplace(scale=2)).map(1).epsilon
    actual = scalar(int) >> laplace(scale=Fraction(19, 10))
    low, _ = brute_epsilon(actual, range(3), missed=Fraction(1, 10**6))
    assert low > claimed


@pytest.mark.parametrize("scale", ["1/2", "1", "3"])
@pytest.mark.parametrize("order", [2, 3, 8])
def test_gaussian_is_sound_and_tight_at_whole_orders(scale: str, order: int) -> None:
    measurement = scalar(int) >> gaussian(scale=Fraction(scale))
    rho = measurement.map(2).rho
    assert rho == 4 / (2 * Fraction(scale) ** 2)
    low, high = brute_renyi(measurement, (0, 1, 2), order=Fraction(order), d_in=2, missed=Fraction(1, 10**400))
    assert high <= order * rho + TINY
    assert low >= order * rho - Fraction(1, 10**12), "attained at whole orders (the missed tail is tiny)"


def test_gaussian_is_sound_at_fractional_orders_and_in_l2() -> None:
    measurement = vector(int, size=2, metric=L2()) >> gaussian(scale=1)
    for order in (Fraction(3, 2), Fraction(5, 2)):
        low, high = brute_renyi(measurement, [(0, 0), (1, 1)], order=order, d_in=2, missed=Fraction(1, 10**8))
        distance_squared = 2
        assert high <= order * distance_squared / 2 + TINY
        assert low > 0
    assert up((vector(int, size=2, metric=L2()) >> gaussian(scale=1)).map(2).rho) == 2.0


def test_gaussian_has_no_finite_pure_loss() -> None:
    measurement = scalar(int) >> gaussian(scale=1)
    losses = [brute_epsilon(measurement, (0, 1), missed=Fraction(1, 10**k))[0] for k in (2, 8, 30)]
    assert losses == sorted(losses) and losses[-1] > 5


def test_exact_aggregates_keep_their_own_step() -> None:
    quarters = Space(Integers(step=Fraction(1, 4)), scalar(int).metric)
    measurement = quarters >> laplace(scale=1)
    assert measurement.map(1) == Pure(1)
    low, high = brute_epsilon(measurement, range(5), d_in=1, missed=Fraction(1, 10**6))
    assert 1 - TINY <= low <= high <= 1 + TINY
    assert isinstance(measurement(3).value, float)


@pytest.mark.parametrize("steps", [0.25, 0.5, 1, 1.5, 2.75])
def test_rounding_floats_is_within_its_map(steps: float) -> None:
    """Neighbours at any real distance, at every offset from the grid: the shift in steps never exceeds the map."""
    measurement = scalar(float) >> laplace(scale=4, step=1)
    offsets = [k / 16 for k in range(-40, 41)]
    claimed = measurement.map(steps).epsilon * 4
    moved = max(abs(nearest_step(x + steps, Fraction(1)) - nearest_step(x, Fraction(1))) for x in offsets)
    assert moved == claimed == math.ceil(steps)


def test_rounding_half_to_even_would_break_the_map() -> None:
    assert abs(round(1.5) - round(0.5)) == 2 > 1
    assert nearest_step(1.5, Fraction(1)) - nearest_step(0.5, Fraction(1)) == 1


def test_rounding_vectors_l1_is_tight() -> None:
    measurement = vector(float, size=3, metric=L1()) >> laplace(scale=1, step=1)
    grid = [-0.5, -0.25, 0.0, 0.25, 0.49]
    worst = 0
    for x in itertools.product(grid, repeat=3):
        for move in itertools.product((0, 0.25, 0.5, 0.75, 1.0), repeat=3):
            if sum(move) <= 1:
                a = nearest_steps(np.array(x), Fraction(1))
                b = nearest_steps(np.array(x) + np.array(move), Fraction(1))
                worst = max(worst, int(np.abs(a - b).sum()))
    assert worst == 3 == measurement.map(1).epsilon


def test_vector_and_scalar_rounding_agree_and_are_exact_at_any_size() -> None:
    values = [
        0.5,
        -0.5,
        1.5,
        0.49999999999999994,
        -0.49999999999999994,
        -1e-320,
        1e-320,
        -0.0,
        2.0**52 + 1,
        2.0**60,
        3e15,
    ]
    for exponent in (-3, 0, 3):
        step = Fraction(2) ** exponent
        expected = [math.floor(Fraction(value) / step + Fraction(1, 2)) for value in values]
        assert nearest_steps(np.array(values), step).tolist() == expected
        assert [nearest_step(value, step) for value in values] == expected
    huge = nearest_steps(np.array([1e300, -1e300]), Fraction(1, 2**40))
    assert huge.dtype == object and huge[0] == int(Fraction(1e300) * 2**40)


def test_adding_is_exact_and_never_wraps() -> None:
    ends = np.iinfo(np.int64)
    got = exact_add(np.array([ends.max, ends.min, 5]), np.array([1, -1, -7]))
    assert got.tolist() == [2**63, -(2**63) - 1, -2] and got.dtype == object
    assert exact_add(np.array([2**80], dtype=object), np.array([1]))[0] == 2**80 + 1
    assert exact_add(np.array([2**63], dtype=object), np.array([-1])).dtype == np.int64


@pytest.mark.parametrize("noise", [-5, -1, 0, 1, 2**40], ids=str)
def test_the_kind_of_array_that_leaves_depends_on_the_noisy_sums_alone(noise: int) -> None:
    """2⁶³ − 1 and 2⁶³ are neighbours: the same noisy sum must look the same, whichever of them it came from."""
    outcome = 2**63 + noise
    small = exact_add(np.array([2**63 - 1]), np.array([noise + 1]))
    large = exact_add(np.array([2**63], dtype=object), np.array([noise]))
    assert small.tolist() == large.tolist() == [outcome]
    assert small.dtype == large.dtype == (np.int64 if outcome < 2**63 else object)


@pytest.mark.parametrize("between", [(0, 10), (2**63 - 3, 2**63 + 3)], ids=["within 64 bits", "beyond"])
def test_clamped_sums_of_neighbours_at_the_end_of_64_bits_have_the_same_support(between: tuple[int, int]) -> None:
    mechanism = vector(int, size=1, metric=L1()) >> censored_laplace(scale=4, between=between)
    seen = [
        {(value.dtype.kind, int(value[0])) for value in (mechanism([start]).value for _ in range(400))}
        for start in (2**63 - 1, 2**63)
    ]
    # Each of the seven outcomes has a chance above 0.09 on both sides: none is missed but once in 10^15 runs.
    assert seen[0] == seen[1]


@pytest.mark.parametrize(
    "step", [Fraction(1, 3), Fraction(5, 7 * 2**60), Fraction(2**1000), Fraction(1, 2**1060)], ids=str
)
def test_released_floats_are_the_nearest_to_the_grid_values_on_every_path(step: Fraction) -> None:
    whole = np.array([0, 1, -1, 3, 12345, -(10**9), 2**52 + 1, 2**53 + 1, 2**62 + 12345])
    for values in (whole[:0], whole[:1], whole[:5], whole):
        fast, slow = nearest_floats(values, step), nearest_floats(values.astype(object), step)
        exact = [min(max(int(x) * step, -Fraction(LARGEST)), Fraction(LARGEST)) for x in values]
        assert fast.tolist() == slow.tolist() == [float(x) for x in exact]
        assert fast.dtype == slow.dtype == np.float64


def test_the_error_of_floats_on_a_grid_of_ones_covers_the_rounding() -> None:
    assert (scalar(float) >> laplace(scale=1, step=1))(0.5).half_width == 3.5
    assert (scalar(int) >> laplace(scale=1))(0).half_width == 3


def test_integers_beyond_64_bits_work() -> None:
    release = (scalar(int) >> laplace(scale=1))(2**100)
    assert abs(release.value - 2**100) < 2000
    column = (vector(int, size=2, metric=L1()) >> laplace(scale=1))([2**100, 1])
    assert abs(int(column.value[0]) - 2**100) < 2000


@pytest.mark.parametrize("scale", [1e-6, 1e-3, 1, 1e6, 1e15])
def test_any_sensible_scale_works(scale: float) -> None:
    for family in (laplace, gaussian):
        number = (scalar(float) >> family(scale=scale))(0.0)
        assert math.isfinite(number.value) and abs(number.value) < 60 * scale
        assert 0 < number.half_width < 5 * scale


def test_power_of_two() -> None:
    assert [power_of_two(Fraction(x)) for x in ("1", "3", "0.3", "1024", "1023")] == [1, 2, Fraction(1, 4), 1024, 512]


@pytest.mark.parametrize("bad", [0, -1, math.nan, math.inf, "x", True])
def test_bad_scales_are_refused(bad: object) -> None:
    with pytest.raises(ValueError, match="scale must be"):
        laplace(scale=bad)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="scale must be"):
        gaussian(scale=bad)  # type: ignore[arg-type]


def test_half_width_covers() -> None:
    """The error bar leaves out no more than it says, and one step less would leave out more."""
    measurement = scalar(int) >> laplace(scale=5)
    half = measurement(0).half_width
    law = measurement.law(0)  # type: ignore[misc]
    with precision(128):
        inside = sum(law.probability(k) for k in range(-half, half + 1))
        less = sum(law.probability(k) for k in range(-half + 1, half))
    assert inside >= 0.95 > less


def test_the_loss_kinds() -> None:
    assert (scalar(int) >> laplace(scale=1)).measure is Pure
    assert (scalar(int) >> gaussian(scale=1)).measure is ZCDP


def test_the_true_delta_of_laplace_is_zero_at_its_epsilon_and_positive_below() -> None:
    measurement: Measurement = scalar(int) >> laplace(scale=1)
    here = outcome_probabilities(measurement, 0, missed=Fraction(1, 10**9))
    law = measurement.law(1)  # type: ignore[misc]
    there = {outcome: law.probability(outcome) for outcome in here}
    assert hockey_stick(here, there, Fraction(1))[1] < Fraction(1, 10**20)
    assert hockey_stick(here, there, Fraction(9, 10))[0] > Fraction(1, 100)
    assert max_divergence(here, here) == (0, 0) or max_divergence(here, here)[1] < TINY
    assert renyi(here, there, Fraction(2))[0] > 0


def test_floats_need_a_grid_and_aggregates_have_one() -> None:
    with pytest.raises(ValueError, match="a power of two"):
        scalar(float) >> laplace(scale=1, step=3)
    with pytest.raises(ValueError, match="left out for exact values"):
        scalar(int) >> laplace(scale=1, step=1)
    assert Vector(Floats(), size=2).member([1.0, 2.0])
