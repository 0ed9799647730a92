"""The last iterate of noisy gradient descent: followed exactly where all is Gaussian, on a grid inside a set."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from numpy.typing import NDArray

from sfumato.accounting import events as ev
from sfumato.accounting.compose import total
from sfumato.accounting.facts.gaussian import exact_gaussian_delta
from sfumato.accounting.facts.iterates import iterate_square, remembered_square
from sfumato.accounting.leaf_losses import square
from sfumato.accounting.losses.concentrated import GDP
from sfumato.accounting.losses.measures import ZCDP
from sfumato.accounting.meaning.explanation import explain
from sfumato.accounting.plans.account import account
from sfumato.accounting.plans.attainability import attained
from sfumato.accounting.relation import Relation
from sfumato.errors import BadArgument
from sfumato.exact import root

Floats = NDArray[np.float64]


@pytest.mark.parametrize("steps", [1, 2, 7, 50])
@pytest.mark.parametrize("strong", [Fraction(0), Fraction(1, 2), Fraction(1)])
def test_without_a_set_quadratic_losses_reach_the_bound(steps: int, strong: Fraction) -> None:
    """Means and variances of X ↦ X − η(mX + [unit]·Δ + N(0, σ²)), followed exactly."""
    rate, scale, shift = Fraction(1, 2), Fraction(3), Fraction(2)
    mean, variance = Fraction(0), Fraction(0)
    for _ in range(steps):
        mean = (1 - rate * strong) * mean + rate * shift
        variance = (1 - rate * strong) ** 2 * variance + (rate * scale) ** 2
    event = ev.LastIterate(scale, steps=steps, learning_rate=rate, smoothness=1, strong_convexity=strong, shift=shift)
    assert mean**2 / variance <= square(event) <= mean**2 / variance * (1 + Fraction(1, 10**20))
    assert attained(event, Relation.ADD_REMOVE)
    if not strong:
        assert total(event, ZCDP) == total(ev.Repeat(ev.Gaussian(scale, shift), steps), ZCDP)


PLACES = 161


def kernel(drift: float, curve: float, scale: float, width: float) -> Floats:
    """One projected noisy step on [0, width]: from and to both ends, which hold what would leave, and a grid."""
    grid = np.linspace(0, width, PLACES)
    points = np.concatenate(([0.0, width], grid))
    centres = points - curve * (points - width / 2) + drift
    inner = np.exp(-((grid[None, :] - centres[:, None]) ** 2) / (2 * scale**2))
    inner *= (grid[1] - grid[0]) / (scale * math.sqrt(2 * math.pi))
    inner[:, [0, -1]] /= 2
    below = [math.erfc(centre / (scale * math.sqrt(2))) / 2 for centre in centres]
    above = [math.erfc((width - centre) / (scale * math.sqrt(2))) / 2 for centre in centres]
    return np.column_stack((below, above, inner))


def iterate(steps: int, drift: float, curve: float, scale: float, width: float, start: float) -> Floats:
    """The law of the last iterate: masses on both ends, then on the grid."""
    law = np.zeros(PLACES + 2)
    law[2 + round(start / width * (PLACES - 1))] = 1.0
    step = kernel(drift, curve, scale, width)
    for _ in range(steps):
        law = law @ step
    assert abs(law.sum() - 1) < 1e-3
    return law


def hockey(here: Floats, there: Floats, epsilon: float) -> float:
    return float(np.maximum(here - math.exp(epsilon) * there, 0).sum())


CASES = [(2, 1.0, 0.0), (6, 1.0, 0.0), (30, 1.0, 0.0), (30, 2.0, 0.0), (12, 1.0, 0.25)]


@pytest.mark.parametrize(("steps", "width", "curve"), CASES)
def test_in_a_set_no_run_exceeds_the_bound(steps: int, width: float, curve: float) -> None:
    """Linear (or quadratic) losses that push apart, from either end and from the middle."""
    scale, shift = 0.5, 0.25
    event = ev.LastIterate(
        Fraction(scale), steps=steps, learning_rate=1, smoothness=1, strong_convexity=Fraction(curve),
        diameter=Fraction(width), shift=Fraction(shift),
    )  # fmt: skip
    claimed = square(event)
    assert claimed <= square(ev.LastIterate(Fraction(scale), steps=steps, learning_rate=1, smoothness=1, shift=shift))
    for start in (0.0, width / 2):
        for drifts in ((shift / 2, -shift / 2), (shift, 0.0), (0.0, -shift)):
            here, there = (iterate(steps, drift, curve, scale, width, start) for drift in drifts)
            for epsilon in (0.2, 1.0):
                bound = float(exact_gaussian_delta(Fraction(epsilon), root(claimed), Fraction(1)))
                assert hockey(here, there, epsilon) <= bound + 1e-3
                assert hockey(there, here, epsilon) <= bound + 1e-3


def test_a_quarter_of_the_bound_would_be_wrong() -> None:
    """In a wide set the bound is that of all steps, which is reached; later it is four sets' widths, not one."""
    here, there = (iterate(6, drift, 0.0, 0.5, 6.0, 3.0) for drift in (0.125, -0.125))
    claimed = iterate_square(6, Fraction(1), Fraction(24)) / 4
    assert claimed == Fraction(6, 4)
    reached = hockey(here, there, 0.2)
    assert reached > 2 * float(exact_gaussian_delta(Fraction("0.2"), root(claimed / 4), Fraction(1)))
    assert math.isclose(reached, float(exact_gaussian_delta(Fraction("0.2"), root(claimed), Fraction(1))), abs_tol=5e-3)


def test_the_best_number_of_steps_is_found() -> None:
    for apart in (Fraction(1, 3), Fraction(5), Fraction(37, 2)):
        assert iterate_square(40, Fraction(1), apart) == min(
            Fraction(40), *(Fraction(k + apart) ** 2 / k for k in range(1, 41))
        )
        for contraction in (Fraction(1, 2), Fraction(9, 10)):
            every = [remembered_square(k, contraction, apart) for k in range(1, 41)]
            least = min(remembered_square(40, contraction, Fraction(0)), *every)
            assert least <= iterate_square(40, contraction, apart) <= least * (1 + Fraction(1, 10**9))
    assert iterate_square(10**12, Fraction(1), Fraction(100)) == 400
    assert iterate_square(5, Fraction(0), Fraction(100)) == 1
    assert total(ev.LastIterate(1, steps=5, learning_rate=1, smoothness=1, shift=0), GDP) == GDP(0)


def test_what_is_taken_on_trust_is_said() -> None:
    event = ev.LastIterate(20, steps=10**6, learning_rate="0.1", smoothness=4, diameter=2)
    report = account(ev.Sequence(ev.Gaussian(5), event), delta=1e-6)
    assert report.assumptions == (event.assumptions,)
    assert "if the loss over all data is convex and 4-smooth" in str(report) and "diameter 2" in str(report)
    assert "This holds if the loss over all data is convex" in explain(report)
    assert not account(ev.Gaussian(5), delta=1e-6).assumptions
    with pytest.raises(BadArgument, match="at most 2 / smoothness"):
        ev.LastIterate(1, steps=5, learning_rate=1, smoothness=3)
    with pytest.raises(BadArgument, match="at most the smoothness"):
        ev.LastIterate(1, steps=5, learning_rate=1, smoothness=1, strong_convexity=2)
