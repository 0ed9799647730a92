"""Noise on a Poisson sample with one unit exchanged: every data set written out, against the pair that is claimed."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import combinations, compress, permutations, product

import pytest
from flint import acb, arb
from tests.examples.pairs import (
    BITS,
    LOSSES,
    TINY,
    Outcomes,
    below,
    check_lines,
    noisy_sums,
    poisson_sums,
    profile_of,
)

from sfumato.accounting.compose import total
from sfumato.accounting.events import (
    Gaussian,
    Laplace,
    Noise,
    Poisson,
    Repeat,
    Sampled,
    TruncatedPoisson,
    WithReplacement,
)
from sfumato.accounting.losses.pld import PLD
from sfumato.accounting.plans.account import account
from sfumato.accounting.pld.pairs.exchanged import ExchangedNoisePair
from sfumato.accounting.pld.pairs.gaussian import GaussianPair
from sfumato.accounting.pld.pairs.integer import IntegerNoisePair
from sfumato.accounting.pld.pairs.laplace import LaplacePair
from sfumato.accounting.pld.pairs.mixed import MixedPair
from sfumato.accounting.pld.pairs.pair import Pair
from sfumato.accounting.pld.pairs.sampled import RemovedPair
from sfumato.accounting.relation import Relation
from sfumato.exact import ball, precision
from sfumato.noise.discrete_gaussian import DiscreteGaussian
from sfumato.noise.discrete_laplace import DiscreteLaplace

SCALE = Fraction(3, 2)
RATES = [Fraction(1, 10), Fraction(3, 4)]


def claimed(scale: Fraction, rate: Fraction) -> ExchangedNoisePair:
    return ExchangedNoisePair(IntegerNoisePair(DiscreteLaplace(scale), 1), rate)


@pytest.mark.parametrize("rate", RATES, ids=str)
@pytest.mark.parametrize("others", [0, 1, 2])
def test_no_exchange_in_a_poisson_sample_exceeds_the_pair_and_one_reaches_it(rate: Fraction, others: int) -> None:
    pair = claimed(SCALE, rate)
    for rest in product((-1, 0, 1), repeat=others):
        for mine, other in product((-1, 0, 1), repeat=2):
            laws = [poisson_sums((*rest, value), rate) for value in (mine, other)]
            with precision(BITS):
                gaps = list(below(pair, noisy_sums(laws, SCALE), LOSSES))
            assert all(gap > -TINY for gap in gaps)
            if (mine, other) == (1, -1) and not any(rest):
                assert all(gap < TINY for gap in gaps)


@pytest.mark.parametrize("rate", RATES, ids=str)
def test_a_little_more_noise_would_be_claimed_too_good(rate: Fraction) -> None:
    laws = [poisson_sums((value,), rate) for value in (1, -1)]
    with precision(BITS):
        outcomes = noisy_sums(laws, SCALE)
        assert any(gap < -TINY for gap in below(claimed(SCALE * Fraction(101, 100), rate), outcomes, LOSSES))
        assert any(gap < -TINY for gap in below(claimed(SCALE, rate * Fraction(99, 100)), outcomes, LOSSES))


def cut_sums(data: tuple[int, ...], rate: Fraction, most: int) -> dict[int, Fraction]:
    """The sum over a Poisson sample of which, where it is too large, a random part is taken."""
    law: dict[int, Fraction] = {}
    for kept in product((0, 1), repeat=len(data)):
        sample = tuple(compress(data, kept))
        parts = list(combinations(sample, min(most, len(sample))))
        for part in parts:
            weight = rate ** sum(kept) * (1 - rate) ** (len(kept) - sum(kept)) / len(parts)
            law[sum(part)] = law.get(sum(part), Fraction(0)) + weight
    return law


def only(loss: PLD) -> Pair:
    (((pair, _),),) = loss.alternatives
    return pair


@pytest.mark.parametrize("most", [1, 2])
@pytest.mark.parametrize("rate", [Fraction(1, 10), Fraction(1, 3)], ids=str)
def test_samples_that_are_cut_never_exceed_their_pair(rate: Fraction, most: int) -> None:
    sampling = TruncatedPoisson(rate, most=most, population=3)
    plan = Sampled(Noise(DiscreteLaplace(SCALE)), sampling)
    more, other = (only(total(plan, PLD, relation=relation)) for relation in (Relation.ADD_REMOVE, Relation.CHANGE_ONE))
    assert isinstance(more, MixedPair) and isinstance(other, MixedPair)
    exceeded = []
    for rest in product((-1, 0, 1), repeat=2):
        without = cut_sums(rest, rate, most)
        ways = [cut_sums((*rest, mine), rate, most) for mine in (-1, 0, 1)]
        with precision(BITS):
            for law in ways:
                added = noisy_sums((law, without), SCALE), noisy_sums((without, law), SCALE)
                for pair, outcomes in zip((more, more.reversed()), added, strict=True):
                    assert all(gap > -TINY for gap in below(pair, outcomes, LOSSES))
                exceeded += [gap < -TINY for gap in below(more.pairs[0], added[0], LOSSES)]
            for one, two in permutations(ways, 2):
                assert all(gap > -TINY for gap in below(other, noisy_sums((one, two), SCALE), LOSSES))
    assert any(exceeded) or (rate, most) != (Fraction(1, 3), 1)  # as if nothing were ever cut would be wrong


def leaning(shift: int, square: Fraction, rate: Fraction) -> Outcomes:
    """Discrete Gaussian noise about 0 and, with the chance of the rate, about the shift or about minus the shift."""
    reach = math.ceil(math.sqrt(700 * square)) + shift
    weights = {k: (-ball(k * k / (2 * square))).exp() for k in range(-reach - shift, reach + shift + 1)}
    whole = sum(weights.values(), arb(0))
    masses = {k: weight / whole for k, weight in weights.items()}

    def mixed(k: int, lean: int) -> arb:
        return ball(1 - rate) * masses[k] + ball(rate) * masses[k - lean]

    return [(mixed(k, shift), mixed(k, -shift)) for k in range(-reach, reach + 1)]


@pytest.mark.parametrize(("draws", "population"), [(1, 3), (2, 2), (3, 2), (2, 3)])
def test_draws_with_replacement_never_exceed_their_pair(draws: int, population: int) -> None:
    square = Fraction(9)
    bell = Noise(DiscreteGaussian.from_square(square))
    pair = only(total(Sampled(bell, WithReplacement(draws, population)), PLD, relation=Relation.CHANGE_ONE))
    with precision(BITS):
        reach = range(-70, 71)
        weights = {k: (-ball(k * k / (2 * square))).exp() for k in range(-80, 81)}
        whole = sum(weights.values(), arb(0))

        def answers(data: tuple[int, ...]) -> list[arb]:
            sums = [sum(drawn) for drawn in product(data, repeat=draws)]
            return [sum((weights[k - moved] for moved in sums), arb(0)) / (whole * len(sums)) for k in reach]

        gaps = [
            gap
            for rest in product((-1, 0, 1), repeat=population - 1)
            for mine, other in permutations((-1, 0, 1), 2)
            for gap in below(pair, list(zip(answers((mine, *rest)), answers((other, *rest)), strict=True)), LOSSES)
        ]
    assert all(gap > -TINY for gap in gaps)
    assert draws > 1 or any(gap < TINY for gap in gaps)  # a single draw, among units that all pull the other way


@pytest.mark.parametrize("rate", [Fraction(1, 100), Fraction(3, 4)], ids=str)
@pytest.mark.parametrize(("square", "shift"), [(Fraction(4), 1), (Fraction(16), 5)], ids=str)
def test_lines_of_discrete_gaussian_noise_meet_the_listed_masses(rate: Fraction, square: Fraction, shift: int) -> None:
    pair = ExchangedNoisePair(IntegerNoisePair(DiscreteGaussian.from_square(square), shift), rate)
    with precision(BITS):
        profile = profile_of(leaning(shift, square, rate))
    check_lines(pair, profile, LOSSES, close=arb(2) ** -60)


@pytest.mark.parametrize("rate", [Fraction(1, 10**9), Fraction(1, 10), Fraction(99, 100)], ids=str)
@pytest.mark.parametrize("ratio", [Fraction(1, 10), Fraction(1), Fraction(7)], ids=str)
def test_lines_of_laplace_noise_meet_their_integral(ratio: Fraction, rate: Fraction) -> None:
    """Piece by piece, where the densities are smooth; outside, the loss is level."""
    pair = ExchangedNoisePair(LaplacePair(ratio), rate)
    assert pair.largest is not None
    losses = [pair.largest * place / 8 for place in (-9, -7, -4, -1, 0, 1, 3, 6, 7, 9)]

    def profile(x: arb) -> arb:
        r, q = ball(ratio), ball(rate)

        def density(y: acb, lean: int) -> acb:
            return ((1 - q) * (-side * y).exp() + q * (-r - lean * y).exp()) / 2  # no more signs change on [-r, r]

        heads = (((1 - q) * (-r).exp() + q) / 2, ((1 - q) * (-r).exp() + q * (-2 * r).exp()) / 2)
        found = (heads[0] - x * heads[1]).max(arb(0)) + (heads[1] - x * heads[0]).max(arb(0))
        for side in (-1, 1):
            low, high = (arb(0), r) if side > 0 else (-r, arb(0))
            for _ in range(BITS):  # the difference rises, so it is positive above one point
                middle = (low + high).mid() / 2
                rises = (density(acb(middle), -1) - x * density(acb(middle), 1)).real > 0
                low, high = (low, middle) if rises else (middle, high)
            top = r if side > 0 else arb(0)
            found += acb.integral(lambda y, _: density(y, -1) - x * density(y, 1), acb(high), acb(top)).real
        return found

    check_lines(pair, profile, losses, close=arb(2) ** -60)


def test_the_rows_use_it_and_the_loss_of_one_use_is_the_tight_one() -> None:
    one, whole = Sampled(Laplace(1), Poisson("0.1")), Sampled(Noise(DiscreteLaplace(Fraction(3)), 2), Poisson("0.1"))
    assert total(one, PLD, relation=Relation.CHANGE_ONE) == PLD.of(ExchangedNoisePair(LaplacePair(1), "0.1"))
    found = total(whole, PLD, relation=Relation.CHANGE_ONE)
    assert found == PLD.of(ExchangedNoisePair(IntegerNoisePair(DiscreteLaplace(Fraction(3)), 2), "0.1"))
    spent = account(one, delta=1e-5, relation=Relation.CHANGE_ONE, ways=(PLD,))
    assert 0.2235 < spent.epsilon.upper < 0.22386  # while twice the shift, at this rate, would cost 0.494
    all_of_it = total(Sampled(Laplace(1), Poisson(1)), PLD, relation=Relation.CHANGE_ONE)
    assert all_of_it == PLD.of(LaplacePair(2))
    whole_part = Sampled(Noise(DiscreteLaplace(Fraction(3)), "1.5"), Poisson(1))  # answers move by 1, if at all
    found = total(whole_part, PLD, relation=Relation.CHANGE_ONE)
    assert found == PLD.of(IntegerNoisePair(DiscreteLaplace(Fraction(3)), 2))


def test_a_rare_cut_costs_nearly_nothing() -> None:
    plain = account(Repeat(Sampled(Gaussian(1), Poisson("0.01")), 1000), delta=1e-6, ways=(PLD,)).epsilon.upper
    cut = TruncatedPoisson("0.01", most=200, population=10**4)
    found = account(Repeat(Sampled(Gaussian(1), cut), 1000), delta=1e-6, ways=(PLD,)).epsilon.upper
    assert plain < found < plain * Fraction(10001, 10000)  # while a conversion would cost 16.94
    never = TruncatedPoisson("0.01", most=100, population=100)
    assert total(Sampled(Gaussian(1), never), PLD, relation=Relation.ADD_REMOVE) == PLD.of(
        RemovedPair(GaussianPair(1), "0.01")
    )
    always = TruncatedPoisson(1, most=10, population=100)
    assert total(Sampled(Gaussian(1), always), PLD, relation=Relation.ADD_REMOVE) == PLD.of(
        RemovedPair(GaussianPair(4), "0.1")
    )
