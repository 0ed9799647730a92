"""Accuracy: α(β), β(α) and scale(α, β), on the safe side and sharp."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest

from sfumato.accounting.facts.gaussian import analytic_sigma
from sfumato.accounting.losses.measures import Pure
from sfumato.core.calibrate import accuracy
from sfumato.core.custom import measurement
from sfumato.core.space import scalar, vector
from sfumato.errors import BadArgument
from sfumato.exact import rational_up, root, up
from sfumato.mechanisms.additive import laplace
from sfumato.noise.discrete_gaussian import DiscreteGaussian
from sfumato.noise.discrete_laplace import DiscreteLaplace
from sfumato.release.claim import claim
from sfumato.textbook.accuracy import (
    chance_of,
    error_of,
    expected_error,
    gaussian_error_bound,
    scale_for_accuracy,
)
from sfumato.textbook.continuous import Gaussian, Laplace
from sfumato.transforms.aggregate import count, mean, sum
from sfumato.transforms.rowwise import clamp

FAMILIES = [Laplace, Gaussian, DiscreteLaplace, DiscreteGaussian]


def test_A1_070_laplace() -> None:
    assert up(error_of(Laplace(Fraction(1)), beta=0.05)) == pytest.approx(2.995732, abs=6e-7)


def test_A1_071_average_age() -> None:
    ages = vector(float, size=10_000) >> clamp(0, 100) >> mean()
    for epsilon, scale, alpha in ((Fraction(1, 2), "0.02", 0.0599146), (Fraction(1), "0.01", 0.0299573)):
        noisy = ages >> laplace(scale=scale)
        assert noisy.map(1) == Pure(epsilon)
        assert up(error_of(Laplace(Fraction(scale)), beta=0.05)) == pytest.approx(alpha, abs=6e-8)
        assert accuracy(noisy) == pytest.approx(alpha, abs=1e-7)


def test_A1_072_histogram_error() -> None:
    assert expected_error(Laplace(Fraction(2))) == 2


def test_A1_073_ten_thousand_names() -> None:
    one = Laplace(Fraction(1))
    union = error_of(one, beta=0.05, coordinates=10_000, union=True)
    exact = error_of(one, beta=0.05, coordinates=10_000)
    assert up(union) == pytest.approx(12.20607, abs=6e-6)
    assert up(exact) == pytest.approx(12.18054, abs=6e-6)
    assert chance_of(one, alpha=exact, coordinates=10_000) <= Fraction(5, 100)
    assert chance_of(one, alpha=exact, coordinates=10_000, union=True) > Fraction(5, 100)


def test_A1_074_expected_l1_error() -> None:
    assert expected_error(Laplace(Fraction(1)), coordinates=10_000) == 10_000


def test_P1_142_discrete_laplace() -> None:
    noise = DiscreteLaplace(Fraction(1))
    assert up(chance_of(noise, alpha=4)) == pytest.approx(0.0267796, abs=6e-8)
    assert error_of(noise, beta=0.05) == 4
    for m in range(1, 9):
        exact = 2 * math.exp(-m / 3) / (1 + math.exp(-1 / 3))
        assert up(chance_of(DiscreteLaplace(Fraction(3)), alpha=m)) == pytest.approx(exact, rel=1e-12)
    assert chance_of(noise, alpha="3.5") == chance_of(noise, alpha=4)
    assert accuracy(scalar(int) >> laplace(scale=1)) == 3


def test_A1_087_E1_21_gaussian() -> None:
    one = Gaussian(Fraction(1))
    assert up(error_of(one, beta=0.05)) == pytest.approx(1.959964, abs=6e-7)
    assert up(gaussian_error_bound(1, beta=0.05)) == pytest.approx(2.716203, abs=6e-7)
    printed = math.sqrt(math.log(1 / 0.05))
    assert printed == pytest.approx(1.730818, abs=6e-7)
    assert up(chance_of(one, alpha=printed)) == pytest.approx(0.0834842, abs=6e-8)


@pytest.mark.parametrize("coordinates", [1, 2, 100])
@pytest.mark.parametrize("beta", ["0.3", "0.05", "1e-9"])
def test_P1_143_closed_bound_holds_for_both_kinds(coordinates: int, beta: str) -> None:
    bound = gaussian_error_bound(3, beta=beta, coordinates=coordinates)
    assert chance_of(Gaussian(Fraction(3)), alpha=bound, coordinates=coordinates, union=True) <= Fraction(beta)
    assert chance_of(DiscreteGaussian(Fraction(3)), alpha=bound, coordinates=coordinates, union=True) <= Fraction(beta)


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("coordinates", [1, 7])
@pytest.mark.parametrize("union", [False, True])
@pytest.mark.parametrize("beta", ["0.5", "0.05", "1e-12"])
def test_P1_140_three_ways_round(family: type, coordinates: int, union: bool, beta: str) -> None:
    noise, asked = family(Fraction(5, 2)), {"coordinates": coordinates, "union": union}
    alpha = error_of(noise, beta=beta, **asked)
    assert chance_of(noise, alpha=alpha, **asked) <= Fraction(beta) * (1 + Fraction(1, 10**15))
    smaller = alpha - 1 if family in (DiscreteLaplace, DiscreteGaussian) else Fraction(math.nextafter(float(alpha), 0))
    assert chance_of(noise, alpha=smaller, **asked) > Fraction(beta)
    scale = scale_for_accuracy(family, alpha=alpha, beta=beta, **asked)
    assert scale >= Fraction(5, 2) * (1 - Fraction(1, 10**15))
    assert error_of(family(scale), beta=beta, **asked) <= alpha
    larger = Fraction(math.nextafter(float(scale), math.inf))
    assert error_of(family(larger), beta=beta, **asked) > alpha


def test_certain_misses_need_no_error() -> None:
    assert error_of(Laplace(Fraction(1)), beta=1) == 0
    assert chance_of(Laplace(Fraction(1)), alpha=0) == 1
    assert chance_of(DiscreteLaplace(Fraction(1)), alpha=0, coordinates=3) == 1


@pytest.mark.parametrize("family", FAMILIES)
def test_far_tails_neither_crash_nor_vanish(family: type) -> None:
    """A chance below 2⁻¹⁰⁰⁰⁰ is reported as that: balls reach further than rationals fit into memory."""
    far = chance_of(family(Fraction(1)), alpha=10**6, coordinates=2)
    assert 0 < far <= Fraction(1, 2**9000)
    assert chance_of(Gaussian(Fraction(1)), alpha=10**40, union=True, coordinates=5) > 0
    assert 0 < expected_error(DiscreteLaplace(Fraction(1, 10**40))) < Fraction(1, 2**9000)


@pytest.mark.parametrize("scale", [Fraction(1, 3), Fraction(2), Fraction(50)])
def test_expected_error_of_discrete_laplace(scale: Fraction) -> None:
    noise = DiscreteLaplace(scale)
    reach = int(60 * scale) + 60
    summed = math.fsum(2 * z * float(noise.pmf(z)) for z in range(1, reach))
    assert up(expected_error(noise)) == pytest.approx(summed, rel=1e-12)
    assert up(expected_error(Gaussian(scale))) == pytest.approx(float(scale) * math.sqrt(2 / math.pi))


def test_P1_146_E1_23_gaussian_noise_gains_the_root_of_the_dimension() -> None:
    """The d-dimensional binary mean of n people: Δ₁ = d/n, Δ₂ = √d/n; root mean square errors in L2."""
    size, epsilon, delta = 1000, 1, "1e-6"

    def laplace_error(d: int) -> float:
        return math.sqrt(2 * d) * d / (size * epsilon)

    def gaussian_error(d: int) -> float:
        sensitivity = root(Fraction(d, size**2))
        return math.sqrt(d) * float(analytic_sigma(epsilon, delta=delta, sensitivity=sensitivity))

    gains = {d: laplace_error(d) / gaussian_error(d) for d in (1, 4, 16, 64, 256)}
    assert gains[1] < 1 < gains[64]
    for d in (1, 4, 16, 64):
        assert gains[4 * d] / gains[d] == pytest.approx(2, rel=1e-9)
    assert rational_up(root(Fraction(16, size**2))) == Fraction(4, size)


def test_P1_147_knowing_the_size_helps() -> None:
    unknown = vector(int, between=(90, 100)) >> sum()
    known = vector(int, between=(90, 100), size=100) >> sum()
    assert (unknown.map(4), known.map(2)) == (400, 20)


def test_accuracy_of_a_measurement_follows_its_confidence() -> None:
    noisy = vector(int) >> count() >> laplace(scale=10)
    widths = [accuracy(noisy, confidence=level) for level in ("0.5", "0.95", "0.999")]
    assert widths == sorted(widths)
    assert widths[1] == DiscreteLaplace(Fraction(10)).half_width("0.95")


def test_measurements_without_an_error_on_file_say_so() -> None:
    own = measurement(
        scalar(int), Pure, function=lambda x, _: x, map=lambda d: Pure(math.inf if d else 0), claim=claim("none")
    )
    with pytest.raises(BadArgument, match="with a known error"):
        accuracy(own)


@pytest.mark.parametrize(
    "ask",
    [
        lambda: error_of(Laplace(Fraction(1)), beta=0),
        lambda: error_of(Laplace(Fraction(1)), beta=1.5),
        lambda: error_of(Laplace(Fraction(1)), beta=math.nan),
        lambda: error_of(Laplace(Fraction(1)), beta=0.1, coordinates=0),
        lambda: chance_of(Laplace(Fraction(1)), alpha=-1),
        lambda: scale_for_accuracy(Laplace, alpha=0, beta=0.1),
        lambda: scale_for_accuracy(Laplace, alpha=1, beta=1),
        lambda: gaussian_error_bound(0, beta=0.1),
        lambda: expected_error(DiscreteGaussian(Fraction(1))),
    ],
)
def test_bad_numbers(ask: object) -> None:
    with pytest.raises(BadArgument):
        ask()
