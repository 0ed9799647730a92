"""Random allocation against what can be counted or integrated: never below the truth, and close to it."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import combinations, product

import numpy as np
import pytest
from flint import arb

from sfumato.accounting import events as ev
from sfumato.accounting.compose import total
from sfumato.accounting.facts.gaussian import gaussian_upper_tail
from sfumato.accounting.losses.concentrated import GDP
from sfumato.accounting.losses.measures import Approx, Pure
from sfumato.accounting.losses.pld import PLD
from sfumato.accounting.plans.account import account
from sfumato.accounting.pld.allocated_profile import Allocated
from sfumato.accounting.pld.evaluate import once
from sfumato.accounting.pld.pairs.allocated import AllocatedPair
from sfumato.accounting.pld.pairs.gaussian import GaussianPair
from sfumato.accounting.pld.pairs.pair import Pair
from sfumato.accounting.pld.pairs.table import TablePair
from sfumato.accounting.relation import Relation
from sfumato.exact import precision

HERE = tuple(Fraction(share, 20) for share in (12, 5, 2, 1))
THERE = tuple(Fraction(share, 20) for share in (2, 6, 7, 5))
LITTLE_NOISE = ev.Allocated(ev.Gaussian("1/4"), steps=2)
RATIOS = [Fraction(10**number, 7**number) for number in range(7)]


def bound(pair: Pair, ratio: Fraction) -> float:
    """The δ that a pair is said to have at exp(ε) = ratio, from above."""
    return float(once(pair.lines(), Fraction(math.log(ratio)))[1])


def counted(steps: int, ratio: Fraction, *, often: int = 1) -> tuple[Fraction, Fraction]:
    """The exact δ of a unit in so many of a few steps, with it first and without it first."""
    runs = list(combinations(range(steps), often))
    sides = []
    for outcome in product(range(len(HERE)), repeat=steps):
        absent = math.prod((THERE[place] for place in outcome), start=Fraction(1))
        present = sum(
            math.prod(
                (HERE[place] if step in drawn else THERE[place] for step, place in enumerate(outcome)),
                start=Fraction(1),
            )
            for drawn in runs
        ) / len(runs)
        sides.append((present, absent))
    forward = sum((max(Fraction(0), one - ratio * other) for one, other in sides), Fraction(0))
    return forward, sum((max(Fraction(0), other - ratio * one) for one, other in sides), Fraction(0))


@pytest.mark.parametrize("steps", [2, 3, 4])
def test_listed_outcomes_are_counted_from_above_and_closely(steps: int) -> None:
    pair = AllocatedPair(TablePair(HERE, THERE), steps)
    for ratio in RATIOS:
        for side, exact in zip((pair, pair.reversed()), counted(steps, ratio), strict=True):
            assert exact * (1 - Fraction(1, 10**9)) <= bound(side, ratio) <= float(exact) * 1.02 + 2e-4
    # One step more would be too little: the comparison can fail.
    wrong = AllocatedPair(TablePair(HERE, THERE), steps + 1)
    assert any(bound(wrong, ratio) < counted(steps, ratio)[0] for ratio in RATIOS)


@pytest.mark.parametrize(("steps", "often"), [(3, 2), (4, 2), (4, 3)])
def test_several_participations_cost_at_most_as_many_allocations(steps: int, often: int) -> None:
    event = ev.Allocated(ev.Stated(PLD.of_table(HERE, THERE)), steps, often)
    loss = total(event, PLD, relation=Relation.ADD_REMOVE)
    for ratio in RATIOS:
        said = float(loss.delta(math.log(ratio)).upper)
        assert max(counted(steps, ratio, often=often)) * (1 - Fraction(1, 10**9)) <= said


def integrated(square: Fraction, ratio: float, cells: int = 1500) -> tuple[float, float]:
    """Encloses δ of Gaussian noise and two steps: ½ E h₁(2x − r) over the other step, which grows with its noise.

    h₁(y) = E(r − y)₊ is known; between two quantiles of the noise it lies between its values there.
    """
    with precision(80):
        mu = arb(square.numerator) / arb(square.denominator)
        mu = mu.sqrt()

        def call(noise: float) -> arb:
            left = 2 * arb(ratio) - (mu * noise - mu * mu / 2).exp()
            if not left > 0:
                return 1 - left
            middle = left.log() / mu
            return gaussian_upper_tail(middle - mu / 2) - left * gaussian_upper_tail(middle + mu / 2)

        edge = float(((2 * arb(ratio)).log() / mu + mu / 2).mid())
        places = [-9.0 + (edge + 9.0) * number / cells for number in range(cells + 1)]
        heights, tails = [call(place) for place in places], [gaussian_upper_tail(arb(place)) for place in places]
        rest = (1 - 2 * arb(ratio)) * tails[-1] + gaussian_upper_tail(arb(places[-1]) - mu)
        low = rest + sum((height * (tails[k] - tails[k + 1]) for k, height in enumerate(heights[:-1])), arb(0))
        high = (
            rest
            + heights[0] * (1 - tails[0])
            + sum((height * (tails[k] - tails[k + 1]) for k, height in enumerate(heights[1:])), arb(0))
        )
        return float((low / 2).lower()), float((high / 2).upper())


@pytest.mark.parametrize(
    ("square", "epsilons"),
    [(Fraction(1), (0.0, 1.0, 3.0, 4.5)), (Fraction(9), (1.0, 12.0)), (Fraction(36), (1.0, 20.0))],
)
def test_two_steps_of_gaussian_noise_agree_with_the_integral(square: Fraction, epsilons: tuple[float, ...]) -> None:
    pair = AllocatedPair(GaussianPair(square), 2)
    for epsilon in epsilons:
        low, high = integrated(square, math.exp(epsilon))
        said = float(once(pair.lines(), Fraction(epsilon))[1])
        assert high < low * 1.02
        assert low <= said <= high * 1.004


def test_many_steps_are_close_to_a_plain_sum() -> None:
    # A second way, in plain floats: ratios on a fine lattice, added up by numpy's transform.
    steps, width, places, epsilon = 400, 0.02, 1 << 17, 0.3
    points = np.arange(1, places + 1) * width
    heights = np.array(
        [0.5 * (math.erfc((math.log(x) - 0.5) / 2**0.5) - x * math.erfc((math.log(x) + 0.5) / 2**0.5)) for x in points]
    )
    heights = np.concatenate([[1.0], heights])
    masses = np.concatenate([[1 + (heights[1] - 1) / width], np.diff(heights, 2) / width])
    law = np.fft.irfft(np.fft.rfft(masses, 1 << 18) ** steps, 1 << 18)
    mean = np.arange(1 << 18) * width / steps
    near = float(np.sum(law * np.maximum(mean - math.exp(epsilon), 0)))
    said = float(once(AllocatedPair(GaussianPair(1), steps).lines(), Fraction(epsilon))[1])
    assert near * 0.998 <= said <= near * 1.002


@pytest.mark.parametrize("steps", [2, 3, 5])
def test_a_small_mean_needs_small_ratios_and_that_is_reached(steps: int) -> None:
    """Ratios are 0 or 2, evenly: below 2/T the mean is below x only where all of them are 0."""
    made = Allocated(TablePair((Fraction(0), Fraction(1)), (Fraction(1, 2), Fraction(1, 2))), steps)
    points = np.array([1e-9, 0.01, 1.9 / steps])
    said, exact = made.all_low(points), points / 2**steps
    assert (exact <= said).all() and (said <= exact * (1 + 1e-9)).all()


def test_little_noise_saves_the_logarithm_of_the_steps() -> None:
    """Where one ratio alone decides, a step among T costs ln T less than one that is known (σ = 1/4, two steps)."""
    known, hidden = (account(event, delta=1e-5).epsilon.upper for event in (ev.Gaussian("1/4"), LITTLE_NOISE))
    assert abs(float(known - hidden) - math.log(2)) < 0.01


def test_what_a_step_leaks_is_leaked_once() -> None:
    """A leak of 1/20 in one of nine steps: beyond all finite losses exactly that is left, and not twice as much."""
    leaky = ev.Allocated(ev.Stated(Approx(2, "0.05")), steps=9)
    assert 0.05 <= total(leaky, PLD, relation=Relation.ADD_REMOVE).delta(3).upper < 0.0501


def test_allocation_is_dearer_the_fewer_steps_and_never_dearer_than_a_known_step() -> None:
    prices = [PLD.of(GaussianPair(1)).epsilon(1e-6).upper]
    prices += [PLD.of(AllocatedPair(GaussianPair(1), steps)).epsilon(1e-6).upper for steps in (2, 20)]
    assert prices == sorted(prices, reverse=True)


def test_kinds_without_a_saving_cost_the_steps_themselves() -> None:
    event = ev.Allocated(ev.Gaussian(2), 100, 3)
    assert total(event, GDP, relation=Relation.ADD_REMOVE) == total(ev.Repeat(ev.Gaussian(2), 3), GDP)
    assert total(event, GDP, relation=Relation.CHANGE_ONE) == total(ev.Repeat(ev.Gaussian(1), 3), GDP)
    assert total(ev.Allocated(ev.Response(1), 9), Pure, relation=Relation.CHANGE_ONE) == Pure(1)


def test_an_exchange_costs_more_than_presence_and_less_than_a_known_exchange() -> None:
    event = ev.Allocated(ev.Gaussian(2), 20)
    present, exchanged = (
        total(event, PLD, relation=relation).epsilon(1e-6) for relation in (Relation.ADD_REMOVE, Relation.CHANGE_ONE)
    )
    known = total(ev.Gaussian(1), PLD).epsilon(1e-6)
    assert present.upper < exchanged.lower < exchanged.upper < known.lower
