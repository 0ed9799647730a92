"""Pairs of sampled mechanisms against samples that are written out: draws with replacement, cuts, nested samples."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import combinations, permutations, product

import numpy as np
import pytest
from flint import arb
from numpy.typing import NDArray

from sfumato.accounting.amplify.curves_poisson import SampledGaussianCurve
from sfumato.accounting.amplify.cut import chance_of_cut, cut_sizes
from sfumato.accounting.amplify.draws import drawn_often
from sfumato.accounting.amplify.exchange import one_sample
from sfumato.accounting.amplify.quadrature import chord_log_moment, log_moment
from sfumato.accounting.compose import total
from sfumato.accounting.events import (
    Event,
    Gaussian,
    Laplace,
    Noise,
    Poisson,
    Repeat,
    Sampled,
    Sampling,
    Sequence,
    Stated,
    TruncatedPoisson,
    WithoutReplacement,
    WithReplacement,
)
from sfumato.accounting.losses.measures import Approx
from sfumato.accounting.losses.pld import PLD
from sfumato.accounting.losses.renyi import Renyi
from sfumato.accounting.plans.account import account
from sfumato.accounting.pld.pairs.pair import Pair
from sfumato.accounting.pld.pairs.redrawn import RedrawnGaussianPair
from sfumato.accounting.relation import Relation
from sfumato.errors import BadArgument
from sfumato.exact import precision
from sfumato.noise.discrete_gaussian import DiscreteGaussian

Floats = NDArray[np.float64]
GRID = np.linspace(-18.0, 18.0, 36_001)
LOSSES = [-3.0, -1.0, -0.25, 0.0, 0.1, 0.5, 1.0, 2.0, 4.0]
CLOSE = 1e-6


def bells(centres: list[float]) -> Floats:
    """The density of unit noise about one of several centres, all equally likely, on a grid."""
    heights = [np.exp(-((GRID - centre) ** 2) / 2) for centre in centres]
    return np.sum(heights, axis=0) / (len(centres) * math.sqrt(2 * math.pi))


def profile(one: Floats, other: Floats, loss: float) -> float:
    """The definition, as a sum over the grid."""
    return float(np.maximum(one - math.exp(loss) * other, 0).sum()) * float(GRID[1] - GRID[0])


def claimed(pair: Pair, loss: float) -> float:
    with precision(128):
        here, there = pair.lines()(arb(loss))
        value = here - arb(loss).exp() * there
        assert value.rad() < 1e-25
    return float(value.mid())


def redrawn(draws: int, population: int, square: Fraction) -> RedrawnGaussianPair:
    rate, often = drawn_often(draws, Fraction(1, population))
    chances = [(times, rate * weight) for times, weight in often]
    return RedrawnGaussianPair(square, chances, rate - sum(chance for _, chance in chances))


def gaps(pair: Pair, draws: int, population: int, unit: float) -> list[float]:
    """How far all data sets of units -1, 0, 1, which noise of 1/unit is added to, stay below a pair."""
    laws = {
        data: bells([unit * sum(drawn) for drawn in product(data, repeat=draws)])
        for data in product((-1, 0, 1), repeat=population)
    }
    return [
        claimed(pair, loss) - profile(laws[mine, *rest], laws[other, *rest], loss)
        for rest in product((-1, 0, 1), repeat=population - 1)
        for mine, other in permutations((-1, 0, 1), 2)
        for loss in LOSSES
    ]


@pytest.mark.parametrize(("draws", "population"), [(1, 3), (2, 3), (3, 2)])
@pytest.mark.parametrize("unit", [Fraction(1, 2), Fraction(1)], ids=str)
def test_no_draws_with_replacement_exceed_the_pair_and_some_reach_it(
    draws: int, population: int, unit: Fraction
) -> None:
    pair = redrawn(draws, population, 4 * unit**2)
    all_gaps = gaps(pair, draws, population, float(unit))
    assert min(all_gaps) > -CLOSE
    assert sum(gap < CLOSE for gap in all_gaps) >= 2
    less = redrawn(draws, population, 4 * unit**2 * Fraction(9, 10))
    assert min(gaps(less, draws, population, float(unit))) < -CLOSE


def test_hidden_numbers_of_draws_are_reached_by_units_that_all_pull_the_other_way() -> None:
    draws, population, pair = 256, 60_000, redrawn(256, 60_000, Fraction(1))
    chances = [math.comb(draws, k) * population**-k * (1 - 1 / population) ** (draws - k) for k in range(8)]
    one = np.sum([chance * bells([float(k)]) for k, chance in enumerate(chances)], axis=0)
    for loss in (0.01, 0.1, 0.5, 2.0):
        assert claimed(pair, loss) == pytest.approx(profile(one, bells([0.0]), loss), rel=1e-6)


def test_lines_of_redrawn_noise_lie_below_its_profile() -> None:
    pair = redrawn(3, 2, Fraction(1))
    with precision(128):
        lines = pair.lines()
        for at, other in product(LOSSES, repeat=2):
            here, there = lines(arb(at))
            assert float((here - arb(other).exp() * there).mid()) <= claimed(pair, other) + 1e-15


def test_redrawn_pairs_are_checked() -> None:
    for often, lost in (((), 0), (((1, "0.5"),), "0.6"), (((1, "0.5"),), -1), (((0, "0.5"),), 0)):
        with pytest.raises(BadArgument):
            RedrawnGaussianPair(1, often, lost)  # type: ignore[arg-type]
    pair = redrawn(2, 3, Fraction(1))
    assert pair.reversed() == pair and pair.largest is None and pair.pitch is None and pair.smooth


def test_with_replacement_costs_little_more_than_without() -> None:
    def spent(sampling: Sampling, scale: str) -> float:
        plan = Repeat(Sampled(Gaussian(scale), sampling), 4688)
        return float(account(plan, delta=1e-5, relation=Relation.CHANGE_ONE, ways=(PLD,)).epsilon.upper)

    without, again = (spent(sampling(256, 60_000), "2.2") for sampling in (WithoutReplacement, WithReplacement))
    assert without < again < 1.01 * without  # while to tell how often would cost 2.55


def test_the_two_readings_of_a_fixed_size() -> None:
    # Peers' noise multiplier under replace-one is for an exchange; shifts inside a sample are for presence.
    def spent(kind: type[Renyi] | type[PLD], shift: Fraction) -> float:
        plan = Repeat(Sampled(Gaussian("1.1", shift), WithoutReplacement(256, 60_000)), 4688)
        return float(account(plan, delta=1e-5, relation=Relation.CHANGE_ONE, ways=(kind,)).epsilon.upper)

    assert spent(Renyi, Fraction(1, 2)) == pytest.approx(2.846729, rel=1e-4)  # dp_accounting's RDP for 1.1
    assert spent(Renyi, Fraction(1)) == pytest.approx(14.778889, rel=1e-4)  # and for 0.55
    assert spent(PLD, Fraction(1, 2)) < 1.6626 and spent(PLD, Fraction(1)) < 10.209


def binomial(trials: int, rate: Fraction) -> list[Fraction]:
    return [math.comb(trials, k) * rate**k * (1 - rate) ** (trials - k) for k in range(trials + 1)]


@pytest.mark.parametrize(("rate", "most"), [("0.1", 1), ("0.3", 4), ("0.3", 12), ("0.9", 5)])
def test_sizes_of_cut_samples_are_binomial(rate: str, most: int) -> None:
    share, population = Fraction(rate), 20
    more, fewer = binomial(population, share), binomial(population - 1, share)
    exact = sum(more[most:])
    assert 0 <= chance_of_cut(share, most, population) - exact < Fraction(1, 10**40)
    listed = cut_sizes(share, most, (population - 1, population))
    firsts = [first for first, _ in listed]
    assert firsts == sorted(firsts) and firsts[0] == 0 and all(first >= most for first in firsts[1:])
    for (first, chance), end in zip(listed, [*firsts[1:], population + 1], strict=True):
        last = most if first == 0 else end
        assert chance <= min(sum(more[first:last]), sum(fewer[first:last]))
    assert sum(chance for _, chance in listed) > Fraction(7, 10)
    assert 1 - sum(chance for _, chance in cut_sizes(share, most, (population,))) < Fraction(1, 10**40)
    assert cut_sizes(Fraction(1), most, (population - 1, population)) == [(population - 1, 1)]


def test_what_is_known_of_sizes_pays() -> None:
    def spent(most: int) -> float:
        plan = Repeat(Sampled(Gaussian(1), TruncatedPoisson("0.1", most=most, population=500)), 10)
        return float(account(plan, delta=1e-5, ways=(PLD,)).epsilon.upper)

    plain = account(Repeat(Sampled(Gaussian(1), Poisson("0.1")), 10), delta=1e-5, ways=(PLD,)).epsilon.upper
    always = account(Repeat(Sampled(Gaussian("0.5"), Poisson("0.1")), 10), delta=1e-5, ways=(PLD,)).epsilon.upper
    assert plain < spent(60) < always
    assert spent(5) < 0.6 * float(always)  # a unit that is kept among fifty survives a cut to five rarely


def subsets(parts: list[tuple[tuple[int, ...], Fraction]], sampling: Sampling) -> dict[tuple[int, ...], Fraction]:
    law: dict[tuple[int, ...], Fraction] = {}
    for data, weight in parts:
        if isinstance(sampling, WithoutReplacement):
            drawn = [
                (part, Fraction(1, math.comb(len(data), sampling.sample)))
                for part in combinations(data, sampling.sample)
            ]
        else:
            assert isinstance(sampling, Poisson)
            drawn = [
                (part, sampling.rate**size * (1 - sampling.rate) ** (len(data) - size))
                for size in range(len(data) + 1)
                for part in combinations(data, size)
            ]
        for part, chance in drawn:
            law[part] = law.get(part, Fraction(0)) + weight * chance
    return law


@pytest.mark.parametrize(
    ("first", "then"), [(Poisson("0.3"), Poisson("0.6")), (WithoutReplacement(4, 6), WithoutReplacement(2, 4))], ids=str
)
def test_a_sample_of_a_sample_is_one_sample(first: Sampling, then: Sampling) -> None:
    once = one_sample(Sampled(Sampled(Laplace(1), then), first))
    assert once.event == Laplace(1)
    units = [(tuple(range(6)), Fraction(1))]
    assert subsets(list(subsets(units, first).items()), then) == subsets(units, once.sampling)


@pytest.mark.parametrize("relation", list(Relation), ids=str)
def test_nested_samples_cost_what_one_does(relation: Relation) -> None:
    nested = Sampled(Sampled(Sampled(Gaussian(1), Poisson("0.5")), Poisson("0.2")), Poisson("0.1"))
    flat = Sampled(Gaussian(1), Poisson("0.01"))
    for kind in (PLD, Renyi):
        assert total(nested, kind, relation=relation) == total(flat, kind, relation=relation)
    mismatched = Sampled(Sampled(Laplace(1), WithoutReplacement(2, 5)), WithoutReplacement(4, 6))
    assert one_sample(mismatched) == mismatched


@pytest.mark.parametrize(
    ("event", "delta", "epsilon"),
    [
        (Repeat(Stated(Approx(1, Fraction(1, 1000))), 2), 1 - Fraction(999, 1000) ** 2, 2.0),
        (Stated(Approx(0, Fraction(1, 1000))), Fraction(1, 1000), 0.0),
        (
            Sampled(Stated(Approx(1, Fraction(1, 1000))), Poisson("0.1")),
            Fraction(1, 10**4),
            math.log1p(0.1 * math.expm1(1)),
        ),
        (
            Repeat(Sequence(Stated(Approx(1, Fraction(1, 1000))), Laplace(1)), 3),
            1 - Fraction(999, 1000) ** 3,
            6.0,
        ),
    ],
    ids=["promises", "leak", "sample", "with noise"],
)
def test_a_delta_that_is_met_exactly_has_a_finite_epsilon(event: Event, delta: Fraction, epsilon: float) -> None:
    bracket = account(event, delta=delta, ways=(PLD,)).epsilon
    assert float(bracket.upper) == pytest.approx(epsilon, abs=1e-9)
    assert total(event, PLD, relation=Relation.ADD_REMOVE).epsilon(delta * Fraction(999, 1000)).upper == math.inf


def test_sampled_whole_numbers_may_be_taken_for_smooth() -> None:
    plan = Sampled(Noise(DiscreteGaussian(Fraction(40)), 40), Poisson("0.01"))
    whole = total(Repeat(plan, 500), PLD, relation=Relation.ADD_REMOVE).epsilon(1e-6)
    smooth = total(Repeat(Sampled(Gaussian(1), Poisson("0.01")), 500), PLD, relation=Relation.ADD_REMOVE).epsilon(1e-6)
    assert whole.lower < smooth.upper and smooth.lower < whole.upper * Fraction(10001, 10000)
    assert whole.upper - whole.lower < whole.upper / 2000


@pytest.mark.parametrize("order", [5000, 10**4, 10**6, 10**12])
@pytest.mark.parametrize(("rate", "multiplier"), [("0.01", 1), ("0.001", 2), ("0.5", 1)])
def test_extreme_orders_of_a_sampled_gaussian_are_sharp(rate: str, multiplier: int, order: int) -> None:
    share, square = Fraction(rate), Fraction(1, multiplier**2)
    # Of (1 - q + qL)^n the last term alone, q^n E L^n, is a lower bound.
    least = Fraction(order, 2) * square + Fraction(order, order - 1) * Fraction(math.log(share))
    found = Fraction(SampledGaussianCurve(share, square).at(order))
    assert abs(found / least - 1) < Fraction(1, 10**12)
    assert chord_log_moment(Fraction(3), share, square) >= log_moment(Fraction(3), share, square)
