"""Groups and vectors: the pairs that stand for them, against chains of neighbours and vectors that are listed."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import product

import pytest
from flint import arb
from tests.examples.pairs import laplace_mass

from sfumato.accounting.compose import total
from sfumato.accounting.events import Gaussian as GaussianEvent
from sfumato.accounting.events import Noise, Poisson, Sampled
from sfumato.accounting.leaf_losses import noise_pld
from sfumato.accounting.losses.divergence import hockey_stick
from sfumato.accounting.losses.measures import Approx
from sfumato.accounting.losses.pld import PLD
from sfumato.accounting.losses.profile import Profile
from sfumato.accounting.losses.trade_off import TradeOff
from sfumato.accounting.pld.pairs.either import RangePair
from sfumato.accounting.pld.pairs.finite import ApproxPair, ResponsePair
from sfumato.accounting.pld.pairs.integer import IntegerNoisePair
from sfumato.accounting.pld.pairs.laplace import LaplacePair
from sfumato.accounting.pld.pairs.pair import Pair
from sfumato.accounting.relation import Relation
from sfumato.errors import NoProvenRoute
from sfumato.exact import BITS, ball, precision, root
from sfumato.noise.discrete_gaussian import DiscreteGaussian
from sfumato.noise.discrete_laplace import DiscreteLaplace

TINY = Fraction(1, 10**15)
BELL, PEAK = DiscreteGaussian(Fraction(1)), DiscreteLaplace(Fraction(3, 2))
PLACES = [Fraction(place, 4) for place in range(13)]


def fine_profile(pair: Pair) -> Profile:
    """Many promises of one pair: its own profile, from above, read at sixty places."""
    loss = PLD.of(pair)
    return Profile([(Fraction(place, 20), Fraction(loss.delta(Fraction(place, 20)).upper)) for place in range(60)])


@pytest.mark.parametrize("size", [2, 3])
@pytest.mark.parametrize(
    "pair", [ResponsePair(1), ResponsePair("0.4"), IntegerNoisePair(PEAK, 1), IntegerNoisePair(PEAK, 2)], ids=repr
)
def test_groups_of_stepped_pairs_are_chains_of_their_curves(pair: Pair, size: int) -> None:
    """Their trade-off curves have few corners, so that chaining them is exact: no smaller pair would do."""
    end = Fraction(PLD.of(pair).end()[0][0])
    steps = {abs(Fraction(place)) * end / 2 for place in range(3)}
    exact = Profile([(place, Fraction(PLD.of(pair).delta(place).upper)) for place in steps])
    chained = TradeOff.of(exact).group(size).profile()
    group = PLD.of(pair).group(size)
    for place in PLACES:
        assert abs(Fraction(group.delta(place).upper) - chained.delta(place)) < TINY


@pytest.mark.parametrize("pair", [LaplacePair(1), RangePair(1), IntegerNoisePair(BELL, 1)], ids=repr)
def test_groups_of_other_pairs_are_chains_too(pair: Pair) -> None:
    """A list of promises is from above, so chaining it is no sharper, and it is nearly as sharp."""
    chained = TradeOff.of(fine_profile(pair)).group(2).profile()
    group = PLD.of(pair).group(2)
    for place in PLACES[:8]:
        found = Fraction(group.delta(place).upper)
        assert found <= chained.delta(place) + TINY
        assert chained.delta(place) < found + Fraction(1, 500)


def test_a_group_keeps_what_no_pair_of_its_own_kind_stands_for() -> None:
    """(ε, δ): the leak of a group is that of every step; alternatives may be met one after the other."""
    leaking = PLD.of(ApproxPair(1, "0.01")).group(2)
    exact = TradeOff.of(Approx(1, "0.01")).group(2).profile()
    for place in PLACES:
        assert exact.delta(place) - TINY <= leaking.delta(place).upper < exact.delta(place) + Fraction(1, 10**6)
    sampled = total(Sampled(GaussianEvent(1), Poisson("0.1")), PLD, relation=Relation.ADD_REMOVE)
    assert sampled.delta(1).upper < sampled.group(2).delta(1).upper < 1


def test_alternatives_are_met_one_after_the_other_by_a_group() -> None:
    """A response between the first two, a leak between the next: the ends are further apart than two leaks are."""
    alone = [PLD.of(ResponsePair(1)), PLD.of(ApproxPair(0, "0.1"))]
    group, place = PLD.widest(alone).group(2), Fraction("1.5")
    with precision(BITS):
        truth = ball(1).exp() / (ball(1).exp() + 1)
        here = {0: truth, 1: 1 - truth}
        there = {0: (1 - truth) * ball(Fraction(9, 10)), 1: truth * ball(Fraction(9, 10)), 2: ball(Fraction(1, 10))}
    low = Fraction(max(hockey_stick(*way, place)[0] for way in ((here, there), (there, here))))
    assert low <= group.delta(place).upper
    assert group.delta(0).upper >= hockey_stick(here, there, Fraction(0))[0]
    assert all(loss.group(2).delta(place).upper <= group.delta(place).upper for loss in alone)
    assert hockey_stick(here, there, Fraction(0))[0] > alone[1].group(2).delta(0).upper


def vector_law(masses: Sequence[Sequence[arb]]) -> dict[tuple[int, ...], arb]:
    """The product of laws of single numbers."""
    law: dict[tuple[int, ...], arb] = {}
    for places in product(*(range(len(row)) for row in masses)):
        mass = arb(1)
        for row, place in zip(masses, places, strict=True):
            mass *= row[place]
        law[places] = mass
    return law


@pytest.mark.parametrize("moved", [(2, 0), (1, 1), (1, -1), (0, 1), (3, 0), (1, 2)], ids=str)
def test_laplace_noise_on_vectors_is_dominated_by_one_coordinate(moved: tuple[int, int]) -> None:
    """Every direction of an L1 distance, the ends standing for all beyond; one coordinate alone reaches the pair."""
    distance = sum(map(abs, moved))
    pair = total(Noise(PEAK, distance, coordinates=2), PLD)
    assert pair == total(Noise(PEAK, distance), PLD)
    with precision(BITS):
        rows = {
            shift: [
                laplace_mass(PEAK.scale, place - shift, beyond=(place == 6) - (place == -6)) for place in range(-6, 7)
            ]
            for shift in (-1, 0, 1, 2, 3)
        }
        here, there = (vector_law([rows[shift] for shift in centre]) for centre in ((0, 0), moved))
    for place in PLACES[:9]:
        low, high = hockey_stick(here, there, place)
        found = Fraction(pair.delta(place).upper)
        assert low <= found + TINY
        if 0 in moved:
            assert found <= high + TINY


@pytest.mark.parametrize(("square", "coordinates", "ones"), [(1, 3, 1), (2, 3, 2), (3, 3, 3), (3, 2, 2), (2, 1, 1)])
def test_gaussian_noise_on_vectors_that_move_by_less_than_two(square: int, coordinates: int, ones: int) -> None:
    """All vectors of whole numbers that short are of ones; the most of them is the worst, and is the pair."""
    pair = total(Noise(BELL, root(Fraction(square)), coordinates=coordinates), PLD)
    with precision(BITS):
        weights = {k: (-ball(Fraction(k * k, 2))).exp() for k in range(-11, 12)}
        whole = sum(weights.values(), arb(0))
        still = [weights[k] / whole for k in range(-10, 11)]
        step = [weights[k - 1] / whole for k in range(-10, 11)]
        pairs = [(a, b) for a, b in zip(still, step, strict=True)]
        losses: dict[int, tuple[arb, arb]] = {0: (arb(1), arb(1))}
        for _ in range(ones):
            summed: dict[int, tuple[arb, arb]] = {}
            for before, (left, right) in losses.items():
                for k, (a, b) in enumerate(pairs):
                    old = summed.get(before + k, (arb(0), arb(0)))
                    summed[before + k] = (old[0] + left * a, old[1] + right * b)
            losses = summed
        here, there = ({k: masses[side] for k, masses in losses.items()} for side in (0, 1))
    for place in PLACES[:9]:
        low, high = hockey_stick(here, there, place)
        assert low - TINY <= pair.delta(place).upper <= Fraction(high) * Fraction(1001, 1000)


def test_other_vectors_are_refused_or_counted_by_their_gaussian_loss() -> None:
    four = total(Noise(DiscreteGaussian(Fraction(5)), 2, coordinates=4), PLD)
    assert four.epsilon(1e-6).upper > total(Noise(DiscreteGaussian(Fraction(5)), 2), PLD).epsilon(1e-6).upper
    with pytest.raises(NoProvenRoute, match="less than 2 in L2"):
        noise_pld(Noise(BELL, 2, coordinates=4))
