"""What a unit moves by chance, under Gaussian noise: against integrals on a fine grid, in one dimension and in two."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from numpy.typing import NDArray

from sfumato.accounting import events as ev
from sfumato.accounting.compose import total
from sfumato.accounting.losses.pld import PLD
from sfumato.accounting.losses.renyi import Renyi
from sfumato.accounting.plans.account import account
from sfumato.accounting.plans.attainability import attained
from sfumato.accounting.pld.pairs.gaussian import GaussianPair
from sfumato.accounting.pld.pairs.gaussian_mixture import GaussianMixturePair
from sfumato.accounting.pld.pairs.sampled import RemovedPair
from sfumato.accounting.relation import Relation
from sfumato.errors import BadArgument
from sfumato.exact import ball, precision

Floats = NDArray[np.float64]
THREE = ev.GaussianMixture(1, [0, "1/2", 2], chances=["1/2", "3/8", "1/8"])
ALWAYS = ev.GaussianMixture(2, [1, 3, "5/2"], chances=["1/2", "1/4", "1/4"])


def densities(event: ev.GaussianMixture, moves: list[Floats], places: list[Floats]) -> tuple[Floats, Floats]:
    """The two densities at places of a grid, where the moves go as they are given, in units of the noise."""

    def about(centre: Floats) -> Floats:
        squares = sum((place - middle) ** 2 for place, middle in zip(places, centre, strict=True))
        return np.asarray(np.exp(-squares / 2) / (2 * math.pi) ** (len(places) / 2))

    mixed = sum(float(chance) * about(move) for chance, move in zip(event.chances, moves, strict=True))
    return np.asarray(mixed), about(np.zeros(len(places)))


def excess(here: Floats, there: Floats, epsilon: float, area: float) -> float:
    return float(np.maximum(here - math.exp(epsilon) * there, 0).sum() * area)


GRID = np.linspace(-9, 11, 20_001)
PLANE = list(np.meshgrid(np.linspace(-7, 7, 281), np.linspace(-7, 7, 281)))


@pytest.mark.parametrize("event", [THREE, ALWAYS])
def test_the_pair_has_the_profile_of_the_densities(event: ev.GaussianMixture) -> None:
    here, there = densities(event, [np.array([float(shift / event.scale)]) for shift in event.shifts], [GRID])
    pair = total(event, PLD, relation=Relation.ADD_REMOVE).alternatives[0][0][0]
    assert isinstance(pair, GaussianMixturePair)
    for turned in (False, True):
        first, second = (there, here) if turned else (here, there)
        for epsilon in (-3.0, -0.6, -0.1, 0.0, 0.3, 1.0, 2.5):
            with precision(128):
                line = (pair.reversed() if turned else pair).lines()(ball(Fraction(epsilon)))
            height = float(line.here.mid()) - math.exp(epsilon) * float(line.there.mid())
            assert math.isclose(height, excess(first, second, epsilon, 1e-3), abs_tol=1e-6)
            assert float(line.here.rad()) < 1e-25 and float(line.there.rad()) < 1e-25
            for other in (-2.0, 0.2, 1.5):  # a supporting line lies below the profile everywhere
                below = float(line.here.mid()) - math.exp(other) * float(line.there.mid())
                assert below <= excess(first, second, other, 1e-3) + 1e-6
    assert pair.reversed().reversed() == pair


@pytest.mark.parametrize("angle", [0.0, 0.4, math.pi / 2, math.pi])
@pytest.mark.parametrize("turned", [False, True])
def test_moves_in_any_direction_cost_no_more_and_those_in_one_as_much(angle: float, turned: bool) -> None:
    lengths = [float(shift) for shift in THREE.shifts]
    moves = [np.array([0.0, 0.0]), lengths[1] * np.array([math.cos(angle), math.sin(angle)]), np.array([lengths[2], 0])]
    here, there = densities(THREE, moves, PLANE)
    if turned:
        here, there = there, here
    loss = total(THREE, PLD, relation=Relation.ADD_REMOVE).alternatives[0][0][0]
    for epsilon in (0.1, 0.5, 1.5):
        with precision(128):
            line = (loss.reversed() if turned else loss).lines()(ball(Fraction(epsilon)))
        claimed = float(line.here.mid()) - math.exp(epsilon) * float(line.there.mid())
        truth = excess(here, there, epsilon, 0.05**2)
        assert truth <= claimed + 2e-4
        if angle == 0.0:
            assert truth >= claimed - 2e-4
        elif claimed > 0.01:
            assert truth < claimed


@pytest.mark.parametrize("event", [THREE, ALWAYS])
def test_renyi_curves_bound_both_directions(event: ev.GaussianMixture) -> None:
    here, there = densities(event, [np.array([float(shift / event.scale)]) for shift in event.shifts], [GRID])
    curve = total(event, Renyi, relation=Relation.ADD_REMOVE)
    for order in (1.5, 2.0, 4.0):
        for first, second in ((here, there), (there, here)):
            moment = float((first**order * second ** (1 - order)).sum() * 1e-3)
            assert math.log(moment) / (order - 1) <= float(curve.at(order)) * (1 + 1e-9)


def test_simple_mixtures_are_what_they_are() -> None:
    one = ev.GaussianMixture(2, [0, 1, 1, 3], chances=["1/2", "1/4", "1/4", 0])
    assert one.drawn == {1: Fraction(1, 2)}
    assert total(one, PLD, relation=Relation.ADD_REMOVE) == PLD.of(RemovedPair(GaussianPair(Fraction(1, 4)), "1/2"))
    assert total(ev.GaussianMixture(2, [1], chances=[1]), PLD, relation=Relation.ZERO_OUT) == PLD.of(
        GaussianPair(Fraction(1, 4))
    )
    assert total(ev.GaussianMixture(2, [0, 1], chances=[1, 0]), PLD, relation=Relation.CHANGE_ONE) == PLD.nothing()
    sampled = total(one, Renyi, relation=Relation.ADD_REMOVE)
    assert sampled == total(ev.Sampled(ev.Gaussian(2), ev.Poisson("1/2")), Renyi, relation=Relation.ADD_REMOVE)


def test_a_sample_of_a_mixture_is_a_mixture() -> None:
    sampled = account(ev.Sampled(THREE, ev.Poisson("1/5")), epsilon=1)
    shares = ["9/10", "3/40", "1/40"]
    assert sampled.delta.lower <= account(ev.GaussianMixture(1, THREE.shifts, chances=shares), epsilon=1).delta.upper
    assert account(ev.GaussianMixture(1, THREE.shifts, chances=shares), epsilon=1).delta.lower <= sampled.delta.upper


@pytest.mark.parametrize("event", [THREE, ev.GaussianMixture(1, [0, 1], chances=["9/10", "1/10"])])
def test_an_exchange_of_units_that_move_opposite_ways_costs_no_more_than_stated(event: ev.GaussianMixture) -> None:
    """Each unit is drawn by itself: mixture against mixture, which is more than either direction of presence."""
    moves = [np.array([float(shift / event.scale)]) for shift in event.shifts]
    here, there = (densities(event, [side * move for move in moves], [GRID])[0] for side in (1, -1))
    presence, stated = (total(event, PLD, relation=each) for each in (Relation.ADD_REMOVE, Relation.CHANGE_ONE))
    for epsilon in (0.5, 2.0):
        truth = float(np.maximum(here - math.exp(epsilon) * there, 0).sum() * 1e-3)
        assert presence.delta(epsilon).upper < truth <= stated.delta(epsilon).upper


def test_a_mixture_is_attained_for_presence_alone_and_refused_where_it_is_none() -> None:
    assert attained(THREE, Relation.ADD_REMOVE) and not attained(THREE, Relation.CHANGE_ONE)
    with pytest.raises(BadArgument, match="relation"):
        total(THREE, PLD)
    with pytest.raises(BadArgument, match="adding up to 1"):
        ev.GaussianMixture(1, [0, 1], chances=["1/2", "1/4"])
    with pytest.raises(BadArgument, match="at most 1 together"):
        GaussianMixturePair([1, 2], ["3/4", "1/2"])
