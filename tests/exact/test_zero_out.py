"""One unit's record blanked: every data set of three values, every sample, the Gaussian mixtures on a fine grid."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from numpy.typing import NDArray

from sfumato.accounting import events as ev
from sfumato.accounting.compose import total
from sfumato.accounting.losses.measures import Approx, Pure
from sfumato.accounting.losses.pld import PLD
from sfumato.accounting.losses.renyi import Renyi
from sfumato.accounting.plans.account import account
from sfumato.accounting.pld.pairs.blanked import BlankedGaussianPair
from sfumato.accounting.pld.pairs.gaussian import GaussianPair
from sfumato.accounting.pld.pairs.pair import Pair
from sfumato.accounting.pld.pairs.sampled import RemovedPair
from sfumato.accounting.relation import Relation
from sfumato.errors import BadArgument, NoProvenRoute
from sfumato.exact import ball, precision

ADD_REMOVE, CHANGE_ONE, ZERO_OUT = Relation.ADD_REMOVE, Relation.CHANGE_ONE, Relation.ZERO_OUT
GRID, SPACING = np.linspace(-9, 9, 6001), 0.003
EPSILONS = (-1.0, -0.2, 0.1, 0.5, 1.5)


def subset_law(values: tuple[int, ...], sample: int, scale: float) -> NDArray[np.float64]:
    """The density of the noisy sum of a uniformly random subset, in units of the noise."""
    sums = [sum(chosen) / scale for chosen in itertools.combinations(values, sample)]
    return np.asarray(sum(np.exp(-((GRID - each) ** 2) / 2) for each in sums) / (len(sums) * math.sqrt(2 * math.pi)))


def height(pair: Pair, epsilon: float) -> float:
    with precision(128):
        here, there = pair.lines()(ball(Fraction(epsilon)))
    return float(here.mid()) - math.exp(epsilon) * float(there.mid())


def largest(sample: int, others: int, scale: float, epsilon: float, *, turned: bool) -> float:
    """The largest δ(ε) of any data set with a unit against the same with its record blank, or back."""
    worst = 0.0
    for rest in itertools.product((-1, 0, 1), repeat=others):
        for mine in (-1, 1):
            laws = [subset_law((*rest, value), sample, scale) for value in (mine, 0)]
            here, there = laws[::-1] if turned else laws
            worst = max(worst, float(np.maximum(here - math.exp(epsilon) * there, 0).sum() * SPACING))
    return worst


@pytest.mark.parametrize(("sample", "others", "scale"), [(1, 1, 1.0), (1, 2, 1.0), (2, 2, 2.0), (2, 3, 1.0)])
@pytest.mark.parametrize("turned", [False, True])
def test_no_subset_exceeds_the_pair_and_some_reach_it(sample: int, others: int, scale: float, turned: bool) -> None:
    event = ev.Sampled(ev.Gaussian(scale), ev.WithoutReplacement(sample, others + 1))
    pair = total(event, PLD, relation=ZERO_OUT).alternatives[0][0][0]
    assert pair == BlankedGaussianPair(Fraction(1) / Fraction(scale) ** 2, Fraction(sample, others + 1))
    for epsilon in EPSILONS:
        truth = largest(sample, others, scale, epsilon, turned=turned)
        claimed = height(pair.reversed() if turned else pair, epsilon)
        assert truth <= claimed + 1e-6
        if sample == 1:  # all the others may lie on the worst side
            assert truth >= claimed - 1e-6


def test_a_fixed_size_does_not_hide_as_a_poisson_sample_does() -> None:
    """In a sample without the unit another takes its place: that tells more than nothing in its place."""
    poisson = RemovedPair(GaussianPair(1), "1/3")
    assert largest(1, 2, 1.0, 0.5, turned=False) > 1.2 * height(poisson, 0.5)
    assert math.isclose(largest(1, 2, 1.0, 0.5, turned=True), height(poisson, 0.5), abs_tol=1e-6)


def test_the_pair_lies_between_presence_and_an_exchange() -> None:
    event = ev.Repeat(ev.Sampled(ev.Gaussian(2), ev.WithoutReplacement(10, 1000)), 500)
    blanked, exchanged = (account(event, delta=1e-6, relation=each).epsilon for each in (ZERO_OUT, CHANGE_ONE))
    poisson = account(ev.Repeat(ev.Sampled(ev.Gaussian(2), ev.Poisson("0.01")), 500), delta=1e-6).epsilon
    assert poisson.upper < blanked.upper < 0.95 * exchanged.upper


def test_a_blank_record_in_a_poisson_sample_is_none() -> None:
    for kind in (PLD, Renyi, Approx):
        inner = ev.Stated(Approx(1, 1e-6)) if kind is Approx else ev.Gaussian(2)
        event = ev.Sampled(inner, ev.Poisson("0.1"))
        assert total(event, kind, relation=ZERO_OUT) == total(event, kind, relation=ADD_REMOVE)


def test_elsewhere_to_be_blanked_is_to_be_exchanged() -> None:
    for sampling in (ev.WithReplacement(3, 10), ev.TruncatedPoisson("0.1", most=3, population=20)):
        event = ev.Sampled(ev.Gaussian(2), sampling)
        assert total(event, PLD, relation=ZERO_OUT) == total(event, PLD, relation=CHANGE_ONE)
    whole = ev.Sampled(ev.Gaussian(2), ev.WithoutReplacement(10, 10))
    assert total(whole, PLD, relation=ZERO_OUT) == total(ev.Gaussian(2), PLD)
    laplace = ev.Sampled(ev.Laplace(2), ev.WithoutReplacement(3, 10))
    for kind in (PLD, Pure, Renyi):
        assert total(laplace, kind, relation=ZERO_OUT) == total(laplace, kind, relation=CHANGE_ONE)


def test_parts_and_stated_losses_are_as_for_presence() -> None:
    parts = ev.Parallel(ev.Laplace(4), ev.Laplace(3))
    assert total(parts, Pure, relation=ZERO_OUT) == total(parts, Pure, relation=ADD_REMOVE)
    stated = ev.Stated(PLD.of(RemovedPair(GaussianPair(1), "1/3")))
    assert total(stated, PLD, relation=ZERO_OUT) == stated.loss != total(stated, PLD, relation=CHANGE_ONE)
    with pytest.raises(NoProvenRoute, match="CHANGE_ONE"):
        total(ev.Shuffled(ev.Response(1), 100), Pure, relation=ZERO_OUT)
    with pytest.raises(BadArgument, match="less than 1"):
        BlankedGaussianPair(1, 1)
