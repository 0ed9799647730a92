"""Acceptance cases of training with sampled Gaussian noise: the figures of the book and of the numerical accountants.

A figure that the specification computed on a grid is an upper bound that rounding spoils in its last digit; our bracket
must hold the truth, so it may be a little below it, and the wrong answers that are named must not be in it.
"""

from __future__ import annotations

from fractions import Fraction
from functools import cache

import pytest

from sfumato.accounting import events
from sfumato.accounting.compose import total
from sfumato.accounting.convert.renyi import renyi_epsilon
from sfumato.accounting.losses.bracket import Bracket
from sfumato.accounting.losses.pld import PLD
from sfumato.accounting.losses.renyi import Renyi
from sfumato.accounting.relation import Relation
from sfumato.exact import up

STEPS = 3017
"""The Adult data: 30,162 rows in batches of 10."""

PRINTED = (0.0433, 0.0622, 0.0775, 0.0908, 0.1028, 0.1139, 0.1242, 0.1339, 0.1431, 0.1520)
ESTIMATED = (0.0332, 0.0521, 0.0674, 0.0808, 0.0928, 0.1038, 0.1142, 0.1239, 0.1331, 0.1419)
FINE = 1e-5
"""The width of brackets that is asked for: these ε are small."""

LAST_DIGIT = 0.0001
"""What a stated estimate may be off: rounding, and the grid that it was worked out on."""


def training(*, rate: Fraction, noise: float, steps: int, clip: float = 1.0) -> events.Event:
    """Describes DP-SGD: gradients clipped at a norm, and noise in units of it."""
    multiplier, norm = Fraction(str(noise)), Fraction(str(clip))
    step = events.Sampled(events.Gaussian(scale=multiplier * norm, shift=norm), events.Poisson(rate))
    return events.Repeat(step, steps)


def adult(epochs: int, *, noise: float = 1, clip: float = 1) -> events.Event:
    return training(rate=Fraction(1, STEPS), noise=noise, steps=STEPS * epochs, clip=clip)


@cache
def bracket(plan: events.Event, delta: Fraction) -> Bracket:
    return total(plan, PLD, relation=Relation.ADD_REMOVE).epsilon(delta, tolerance=FINE)


def renyi(plan: events.Event, *, basic: bool = False, orders: range | None = None) -> float:
    curve = total(plan, Renyi, relation=Relation.ADD_REMOVE)
    return up(renyi_epsilon(curve, delta=Fraction(1, 1000), basic=basic, orders=orders))


def test_A3_011_linear_regression_by_stochastic_gradients() -> None:
    found = bracket(training(rate=Fraction(1, 100), noise=50, steps=20), Fraction(1, 10**8))
    assert 0.003515 <= found.lower <= found.upper <= 0.003525


@pytest.mark.parametrize("epochs", range(1, 11))
def test_A3_015_adult_epoch_by_epoch(epochs: int) -> None:
    found = bracket(adult(epochs), Fraction(1, 1000))
    estimate, printed = ESTIMATED[epochs - 1], PRINTED[epochs - 1]
    assert estimate - LAST_DIGIT <= found.upper <= printed
    assert found.upper - found.lower < 1e-3 * estimate
    assert abs(found.lower - estimate) <= LAST_DIGIT + 1e-3 * estimate, "and it is the estimate, not just below printed"


@pytest.mark.parametrize(("epochs", "tight", "basic"), [(1, 0.235, 0.498), (10, 0.275, 0.537)])
def test_A3_016_renyi_curves_cannot_reach_the_printed_figures(epochs: int, tight: float, basic: float) -> None:
    """The stated figures are of whole orders; the best real order is a little better, and still far above."""
    plan, orders = adult(epochs), range(2, 65)
    assert abs(renyi(plan, orders=orders) - tight) < 0.0005
    assert abs(renyi(plan, orders=orders, basic=True) - basic) < 0.0005
    assert renyi(plan, orders=orders) > renyi(plan) > 1.5 * PRINTED[epochs - 1]


@pytest.mark.parametrize(
    ("noise", "stated", "finest"),
    [(0.5, 1.573, 1.573400), (0.7, 0.338, 0.338418), (1, 0.142, 0.141933), (2, 0.045, 0.045030), (4, 0.0165, 0.016189)],
    ids=lambda value: f"{value:g}",
)
def test_A3_019_noise_sweep_does_not_depend_on_the_clipping_norm(noise: float, stated: float, finest: float) -> None:
    """The last column is dp_accounting's upper bound on grids of 10⁻⁵ and finer; 0.0165 was worked out on a coarser."""
    found = bracket(adult(10, noise=noise), Fraction(1, 1000))
    assert found.upper <= min((1 + 1e-4) * finest, stated + 0.0005)
    assert found.lower >= 0.998 * finest
    for clip in (0.1, 8):
        assert total(adult(10, noise=noise, clip=clip), PLD, relation=Relation.ADD_REMOVE) == total(
            adult(10, noise=noise), PLD, relation=Relation.ADD_REMOVE
        )
