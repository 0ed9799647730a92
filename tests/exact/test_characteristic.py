"""Characteristic functions: closed forms against sums and known numbers, and the Fourier accountant against others."""

from __future__ import annotations

import cmath
import math
from fractions import Fraction

import pytest

import sfumato as sf
from sfumato.accounting import events
from sfumato.accounting.events import Event
from sfumato.accounting.losses.concentrated import GDP
from sfumato.accounting.losses.measures import ZCDP, Approx, Pure
from sfumato.accounting.pld.characteristic import CharacteristicFunction, characteristic
from sfumato.errors import BadArgument
from sfumato.noise.discrete_laplace import DiscreteLaplace

WIDE = events.Noise(DiscreteLaplace(Fraction(3, 2)), shift=4)


def direct(masses: dict[float, float], t: float) -> complex:
    """E e^(itZ) as a plain sum."""
    return sum(mass * cmath.exp(1j * t * loss) for loss, mass in masses.items())


@pytest.mark.parametrize("t", [0, 0.25, 1, 7])
def test_P1_077_closed_forms_are_the_sums_they_stand_for(t: float) -> None:
    eta = 0.125
    assert characteristic(events.Gaussian(scale=2)).at(t) == pytest.approx(cmath.exp(1j * eta * t - eta * t * t))
    odds = math.e + 2
    response = {1.0: math.e / odds, -1.0: 1 / odds, 0.0: 1 / odds}
    assert characteristic(events.Response(epsilon=1, options=3)).at(t) == pytest.approx(direct(response, t))
    q = math.exp(-2 / 3)
    noise = {y: (1 - q) / (1 + q) * q ** abs(y) for y in range(-150, 151)}
    losses: dict[float, float] = {}
    for y, mass in noise.items():
        loss = (abs(y - 4) - abs(y)) * 2 / 3
        losses[loss] = losses.get(loss, 0) + mass
    assert characteristic(WIDE).at(t) == pytest.approx(direct(losses, t), abs=1e-12)
    steps = 20_000
    inside = sum(
        math.exp(-y) / 2 * cmath.exp(1j * t * (2 - 2 * y)) for y in ((i + 0.5) * 2 / steps for i in range(steps))
    )
    atoms = cmath.exp(2j * t) / 2 + math.exp(-2) / 2 * cmath.exp(-2j * t)
    assert characteristic(events.Laplace(scale=1, shift=2)).at(t) == pytest.approx(atoms + inside * 2 / steps, abs=1e-7)


def test_A1_084_one_gaussian() -> None:
    once = characteristic(events.Gaussian(scale=1))
    assert float(once.delta(1).upper) == pytest.approx(0.1269367, abs=5e-8)
    assert once.delta(1).width < Fraction(1, 10**20)
    assert characteristic(events.Stated(GDP(1))) == once
    assert characteristic(events.Repeat(events.Gaussian(scale=2), 4)).epsilon(0.1269367).upper == pytest.approx(
        1, abs=1e-5
    )


@pytest.mark.parametrize(
    ("plan", "epsilon"),
    [
        (events.Repeat(events.Gaussian(scale=30), 1000), 8),
        (events.Repeat(events.Response(epsilon=0.1), 100), 1),
        (events.Repeat(events.Stated(Pure("0.1")), 100), 2.5),
        (events.Repeat(events.Stated(Approx("0.1", 1e-6)), 10), 0.55),
        (events.Repeat(WIDE, 20), 9),
        (events.Repeat(events.Laplace(scale=10), 50), 1),
        (events.Sequence(events.Gaussian(scale=10), events.Repeat(events.Laplace(scale=10), 5)), 0.4),
        (events.Sequence(events.Response(1), events.Gaussian(scale=3), events.Response(epsilon=0.5, options=4)), 1),
    ],
    ids=repr,
)
def test_P1_136_the_fourier_accountant_agrees_with_privacy_loss_distributions(plan: Event, epsilon: float) -> None:
    ours, theirs = characteristic(plan).delta(epsilon), sf.account(plan, epsilon=epsilon).delta
    assert max(ours.lower, theirs.lower) <= min(ours.upper, theirs.upper)
    assert ours.width <= ours.upper / 100


def test_small_deltas_keep_their_digits() -> None:
    bracket = characteristic(events.Repeat(events.Gaussian(scale=30), 1000)).delta(14)
    assert 0 < bracket.lower <= bracket.upper < 1e-35
    assert bracket.width < bracket.upper / 10**6


def test_epsilons_enclose() -> None:
    for plan in (events.Repeat(events.Response(epsilon=0.5), 8), events.Repeat(events.Gaussian(scale=5), 10)):
        ours, theirs = characteristic(plan).epsilon(1e-4), sf.account(plan, delta=1e-4).epsilon
        assert max(ours.lower, theirs.lower) <= min(ours.upper, theirs.upper)
        assert ours.width < Fraction(1, 10**5)


def test_ends() -> None:
    nothing = CharacteristicFunction(())
    assert nothing.delta(0).upper == 0 == nothing.epsilon(0).upper and nothing.at(3) == 1
    assert characteristic(events.Response(epsilon=0)).delta(0).upper == 0
    assert characteristic(events.Noise(DiscreteLaplace(Fraction(2)), shift="0.5")).delta(0).upper == 0
    once = characteristic(events.Response(epsilon=1))
    assert once.delta(1).upper == 0 and once.epsilon(0).lower <= 1 <= once.epsilon(0).upper
    rare = characteristic(events.Stated(Approx(1, Fraction(1, 8))))
    assert rare.epsilon(0.1).lower == math.inf and rare.times(2).delta(2).lower == 1 - Fraction(49, 64)
    assert once.then(rare).delta(2).lower == Fraction(1, 8)
    assert rare.then(characteristic(events.Gaussian(scale=1))).epsilon(Fraction(1, 8)).lower == math.inf


@pytest.mark.parametrize(
    "event",
    [
        events.Sampled(events.Gaussian(scale=1), events.Poisson(0.1)),
        events.Stated(ZCDP(1)),
        events.Gaussian(scale=1, shift=math.inf),
        events.Noise(DiscreteLaplace(Fraction(2)), shift=1, coordinates=2),
    ],
    ids=lambda event: type(event).__name__,
)
def test_what_has_no_closed_form_is_sent_to_the_accountant(event: Event) -> None:
    with pytest.raises(BadArgument, match=r"sf\.account"):
        characteristic(event)
