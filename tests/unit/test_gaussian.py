"""Gaussian calibration: textbook numbers, certified on the safe side; and the exact curve of the discrete Gaussian."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest

import sfumato as sf
from sfumato.accounting.facts.gaussian import (
    TINY,
    analytic_sigma,
    classical_sigma,
    discrete_gaussian_delta,
    discrete_gaussian_epsilon,
    gaussian_delta,
    gaussian_epsilon,
)
from sfumato.accounting.losses.divergence import hockey_stick
from sfumato.accounting.meaning.realised_loss import gaussian_loss_moments, gaussian_realised, laplace_realised
from sfumato.errors import BadArgument
from sfumato.exact import ball, exp_up, precision, root, up
from sfumato.noise.discrete_gaussian import DiscreteGaussian
from sfumato.release.record import Failure
from sfumato.textbook.continuous import Gaussian


@pytest.mark.parametrize(
    ("epsilon", "delta", "sigma"), [(1, 1e-6, 5.298803), (1, 1e-5, 4.844805), (0.5, 1e-5, 9.689611)]
)
def test_A1_081_classical(epsilon: float, delta: float, sigma: float) -> None:
    assert up(classical_sigma(epsilon, delta=delta)) == pytest.approx(sigma, abs=6e-7)


def test_A1_082_E1_02_classical_refuses_large_epsilon() -> None:
    with pytest.raises(BadArgument, match="at most 1 for the classical formula; analytic_sigma holds for every ε"):
        classical_sigma(10, delta=1e-5)
    wrong = classical_sigma(1, delta=1e-5) / 10
    assert up(gaussian_delta(10, scale=wrong)) == pytest.approx(2.26537e-5, abs=6e-11)


@pytest.mark.parametrize("epsilon", ["0.01", "0.1", "0.5", "0.9", 1])
@pytest.mark.parametrize("delta", ["1e-12", "1e-5", "0.1", "0.5", "0.97", "0.999"])
def test_classical_keeps_its_promise_up_to_one(epsilon: object, delta: object) -> None:
    assert gaussian_delta(epsilon, scale=classical_sigma(epsilon, delta=delta)) <= Fraction(delta)


@pytest.mark.parametrize(
    ("epsilon", "delta", "sigma"),
    [
        (1, 1e-6, 4.224679),
        (1, 1e-5, 3.730632),
        (0.5, 1e-5, 7.031827),
        (0.1, 1e-5, 30.74957),
        (5, 1e-5, 0.8918683),
        (10, 1e-5, 0.4998886),
        (1, 1e-9, 5.495266),
    ],
)
def test_A1_083_analytic(epsilon: float, delta: float, sigma: float) -> None:
    found = analytic_sigma(epsilon, delta=delta)
    assert up(found) == pytest.approx(sigma, rel=2e-7)
    assert gaussian_delta(epsilon, scale=found) <= Fraction(repr(delta))
    just_below = Fraction(math.nextafter(float(found), 0))
    assert gaussian_delta(epsilon, scale=just_below) > Fraction(repr(delta))
    assert up(gaussian_epsilon(delta, scale=found)) == pytest.approx(epsilon, rel=1e-9)


def test_A1_084_unit_gaussian() -> None:
    assert up(gaussian_delta(1, scale=1)) == pytest.approx(0.1269367, abs=6e-8)
    mean, variance = gaussian_loss_moments(scale=1)
    assert (mean, variance) == (Fraction(1, 2), 1)
    assert float(Gaussian(Fraction(1), mean).upper_tail(1)) == pytest.approx(0.3085375, abs=6e-8)


def test_A1_085_salaries() -> None:
    sigma = classical_sigma(1, delta=Fraction(1, 100**2), sensitivity=190_000)
    assert up(sigma) == pytest.approx(825286.3, abs=0.06)
    assert up(sigma**2) == pytest.approx(6.810975e11, rel=1e-6)


def test_A1_086_histogram_with_irrational_sensitivity() -> None:
    sigma = classical_sigma(1, delta=Fraction(1, 100**2), sensitivity=root(2))
    assert up(sigma) == pytest.approx(6.142795, abs=6e-7)
    assert up(sigma**2) == pytest.approx(37.73394, abs=6e-6)
    analytic = analytic_sigma(1, delta=Fraction(1, 100**2), sensitivity=root(2))
    assert analytic < sigma
    assert gaussian_delta(1, scale=analytic, sensitivity=root(2)) <= Fraction(1, 100**2)


def test_A1_076_A1_077_laplace_realised_loss() -> None:
    assert [laplace_realised(y, here=10, there=11, scale=1) for y in (7, 10.5, 13)] == [1, 0, -1]
    worst = max(laplace_realised(Fraction(y, 4), here=0, there=1, scale=3) for y in range(-40, 40))
    assert worst == Fraction(1, 3)
    assert up(exp_up(worst)) == pytest.approx(math.exp(1 / 3))


def test_A1_088_gaussian_realised_loss() -> None:
    assert [gaussian_realised(y, here=0, there=1, scale=1) for y in (0, 0.5, 3)] == [Fraction(1, 2), 0, Fraction(-5, 2)]


@pytest.mark.parametrize("scale", [Fraction(1, 2), Fraction(1), Fraction(7, 3)])
@pytest.mark.parametrize("shift", [1, 2, 5])
@pytest.mark.parametrize("epsilon", [0, "0.3", 1, 4])
def test_discrete_delta_is_the_hockey_stick(scale: Fraction, shift: int, epsilon: object) -> None:
    noise = DiscreteGaussian(scale)
    with precision(128):
        here = {z: noise.pmf(z) for z in range(-60, 61)}
        there = {z: noise.pmf(z - shift) for z in range(-60, 61)}
    low, high = hockey_stick(there, here, Fraction(epsilon))
    found = discrete_gaussian_delta(noise, shift=shift, epsilon=epsilon)
    assert low - Fraction(1, 10**25) <= found <= high + Fraction(1, 10**25)
    assert discrete_gaussian_delta(noise, shift=-shift, epsilon=epsilon) == found


def test_discrete_delta_grows_with_the_shift_and_tends_to_the_continuous_one() -> None:
    noise = DiscreteGaussian(Fraction(5))
    deltas = [discrete_gaussian_delta(noise, shift=shift, epsilon=1) for shift in range(6)]
    assert deltas[0] == 0
    assert deltas == sorted(deltas)
    wide = discrete_gaussian_delta(DiscreteGaussian(Fraction(2**40)), shift=2**40, epsilon=1)
    assert up(wide) == pytest.approx(up(gaussian_delta(1, scale=1)), rel=1e-11)


def test_discrete_epsilon_inverts_delta() -> None:
    noise = DiscreteGaussian.from_square(Fraction(26, 10))
    epsilon = discrete_gaussian_epsilon(noise, shift=2, delta=1e-6)
    assert discrete_gaussian_delta(noise, shift=2, epsilon=epsilon) <= Fraction("1e-6")
    below = Fraction(math.nextafter(float(epsilon), 0))
    assert discrete_gaussian_delta(noise, shift=2, epsilon=below) > Fraction("1e-6")
    assert discrete_gaussian_epsilon(noise, shift=0, delta=1e-6) == 0


def test_extremes_neither_crash_nor_hang() -> None:
    assert gaussian_delta(10**6, scale=1) == TINY
    assert gaussian_delta(1, scale=1, sensitivity=0) == 0
    assert gaussian_delta(1, scale=Fraction(1, 10**300)) == 1
    assert gaussian_delta(0, scale=10**300) < Fraction(1, 10**299)
    assert gaussian_epsilon(0.5, scale=10) == 0
    assert discrete_gaussian_delta(DiscreteGaussian(Fraction(1)), shift=1, epsilon=10**9) == TINY
    assert discrete_gaussian_delta(DiscreteGaussian(Fraction(1)), shift=10**20, epsilon=1) == 1
    assert analytic_sigma(0, delta=1e-5) > 39894


def test_small_deltas_keep_their_relative_precision() -> None:
    found = gaussian_delta(30, scale=1)
    with precision(2000):
        middle = ball(30)
        exact = (
            ((middle - ball(Fraction(1, 2))) / ball(2).sqrt()).erfc()
            - ball(30).exp() * ((middle + ball(Fraction(1, 2))) / ball(2).sqrt()).erfc()
        ) / 2
        ratio = ball(found) / exact
        assert ratio >= 1
        assert ratio < ball(1 + Fraction(1, 2**60))


@pytest.mark.parametrize("delta", [0, 1, -0.1, 2, math.nan])
def test_delta_must_lie_strictly_between_0_and_1(delta: float) -> None:
    for ask in (
        lambda: classical_sigma(1, delta=delta),
        lambda: analytic_sigma(1, delta=delta),
        lambda: gaussian_epsilon(delta, scale=1),
        lambda: discrete_gaussian_epsilon(DiscreteGaussian(Fraction(1)), shift=1, delta=delta),
    ):
        with pytest.raises(BadArgument, match="delta"):
            ask()


def test_E1_36_scale_must_be_positive() -> None:
    with pytest.raises(BadArgument, match="scale must be greater than 0"):
        gaussian_delta(1, scale=0)
    with pytest.raises(BadArgument, match="scale"):
        gaussian_realised(1, here=0, there=1, scale=0)


@pytest.mark.parametrize(
    "ask",
    [
        lambda: classical_sigma(0, delta=1e-5),
        lambda: analytic_sigma(-1, delta=1e-5),
        lambda: analytic_sigma(1, delta=1e-5, sensitivity=0),
        lambda: analytic_sigma(1, delta=1e-5, sensitivity=math.inf),
        lambda: gaussian_delta(math.nan, scale=1),
        lambda: discrete_gaussian_delta(DiscreteGaussian(Fraction(1)), shift=0.5, epsilon=1),
    ],
)
def test_bad_numbers(ask: object) -> None:
    with pytest.raises(BadArgument):
        ask()


# Chains that are asked for in another kind of loss


def test_a_chain_is_calibrated_in_the_kind_that_is_asked_for() -> None:
    count = sf.calibrate(lambda scale: sf.scalar(int) >> sf.gaussian(scale), d_in=1, loss=sf.Approx(1, 1e-6))
    assert count.check(1, sf.Approx(1, 1e-6)) and not count.check(1, sf.Approx("0.9999999", 1e-6))
    assert count.how.failure is Failure.GRACEFUL
    assert float(dict(count.how.parameters)["scale"]) == pytest.approx(
        4.2308, abs=1e-3
    )  # by way of ρ: 4.531, of μ: 4.297
    grand = sf.calibrate(lambda scale: sf.scalar(int) >> sf.gaussian(scale), d_in=1000, loss=sf.Approx(1, 1e-6))
    assert float(dict(grand.how.parameters)["scale"]) == pytest.approx(4224.68, abs=0.01)  # that of continuous noise


def test_gaussian_and_renyi_losses_pay_for_gaussian_noise() -> None:
    noisy = sf.scalar(int) >> sf.gaussian(scale=100)
    assert float(sf.convert_measure(noisy, sf.GDP).map(1).mu) == pytest.approx(0.01, rel=1e-4)  # type: ignore[attr-defined]
    assert sf.convert_measure(noisy, sf.GDP).map(0) == sf.GDP(0)
    paid = sf.Dataset(7, name="n", space=sf.scalar(int)).session(limit=sf.GDP(1), ledger="memory:")
    assert paid.run(sf.convert_measure(noisy, sf.GDP)).loss.within(sf.GDP("0.0101"))
    least = sf.calibrate(lambda scale: sf.scalar(int) >> sf.gaussian(scale), d_in=1, loss=sf.Renyi({2: 0.5, 8: 1.0}))
    assert float(dict(least.how.parameters)["scale"]) == pytest.approx(2)


@pytest.mark.parametrize(("delta", "failure"), [(None, Failure.NONE), (1e-6, Failure.GRACEFUL)])
def test_a_delta_that_was_chosen_is_said_to_fail_gracefully(delta: float | None, failure: Failure) -> None:
    asked = sf.convert_measure(sf.scalar(int) >> sf.laplace(scale=2), sf.Approx, delta=delta)
    assert asked.how.failure is failure


def test_what_no_theorem_leads_to_is_refused_when_it_is_asked_for() -> None:
    with pytest.raises(sf.errors.NoProvenRoute, match="from ZCDP to Pure"):
        sf.convert_measure(sf.scalar(int) >> sf.gaussian(scale=2), sf.Pure)
    with pytest.raises(sf.errors.NoProvenRoute):
        sf.calibrate(lambda scale: sf.scalar(int) >> sf.gaussian(scale), d_in=1, loss=sf.Pure(1))
