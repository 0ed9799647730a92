"""Lower ends: given only where some mechanism that fits the plan reaches them."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest
from flint import arb

import sfumato as sf
from sfumato.accounting.amplify.draws import drawn_often
from sfumato.accounting.losses.pld import PLD, covering
from sfumato.accounting.plans.attainability import attained
from sfumato.accounting.pld.crossing import crossing
from sfumato.accounting.pld.lattice import lattice_law
from sfumato.accounting.pld.pairs.either import EitherPair, RangePair
from sfumato.accounting.pld.pairs.finite import ApproxPair, FinitePair, ResponsePair
from sfumato.accounting.pld.pairs.gaussian import GaussianPair
from sfumato.accounting.pld.pairs.integer import IntegerNoisePair
from sfumato.accounting.pld.pairs.laplace import LaplacePair
from sfumato.accounting.pld.pairs.mixed import MixedPair
from sfumato.accounting.pld.pairs.pair import Pair
from sfumato.accounting.pld.pairs.sampled import RemovedPair
from sfumato.exact import precision
from sfumato.noise import DiscreteLaplace

e = sf.events
AR, CO = sf.accounting.Relation.ADD_REMOVE, sf.accounting.Relation.CHANGE_ONE
TENTH = Fraction(1, 10)

KNOWN = [
    (e.Gaussian(2), CO),
    (e.Sequence(e.Laplace(2), e.Repeat(e.Response(1), 3)), CO),
    (e.Noise(DiscreteLaplace(Fraction(3)), shift=2), AR),
    (e.Stated(sf.Approx(1, 1e-6)), AR),
    (e.Sampled(e.Gaussian(2), e.Poisson(TENTH)), CO),
    (e.Sampled(e.Response(1), e.Poisson(TENTH)), AR),
    (e.Parallel(e.Laplace(2), e.Response(1)), AR),
    (e.Tree(3, steps=9, separation=4), AR),
]
UNKNOWN = [
    (e.Shuffled(e.Response(1), 100), CO),
    (e.Sequence(e.Parallel(e.Laplace(2), e.Response(1))), AR),
    (e.Repeat(e.Repeat(e.Parallel(e.Laplace(2), e.Response(1)), 1), 4), AR),
    (e.Parallel(e.Laplace(2), e.Response(1)), CO),
    (e.Mixture(e.Laplace(2), e.Response(1), weights=(TENTH, 1 - TENTH)), AR),
    (e.Sampled(e.Response(1), e.Poisson(TENTH)), CO),
    (e.Sampled(e.Laplace(2), e.WithoutReplacement(1, 10)), CO),
    (e.RepeatAndSelect(e.Laplace(2), e.PoissonRuns(2)), AR),
    (e.Stated(sf.ZCDP(1)), AR),
    (e.Tree(3, steps=9, separation=3), AR),
]


@pytest.mark.parametrize(("event", "relation"), KNOWN, ids=lambda it: type(it).__name__)
def test_where_pairs_are_reached_the_bracket_is_narrow(event: e.Event, relation: sf.accounting.Relation) -> None:
    assert attained(event, relation)
    found = sf.account(event, delta=1e-5, relation=relation).epsilon
    assert 0 < found.lower <= found.upper < found.lower * Fraction(102, 100)


@pytest.mark.parametrize(("event", "relation"), UNKNOWN, ids=lambda it: type(it).__name__)
def test_elsewhere_no_lower_end_is_claimed(event: e.Event, relation: sf.accounting.Relation) -> None:
    assert not attained(event, relation)
    assert sf.account(event, delta=0.01, relation=relation).epsilon.lower == 0


def test_shuffling_is_composed_by_its_own_theorem() -> None:
    """Through the pure loss of one report the fifty rounds would cost 47.6."""
    once = e.Shuffled(e.Response(1), 10**4)
    assert sf.account(once, delta=1e-6, relation=CO).epsilon.upper < Fraction(1, 20)
    assert sf.account(e.Repeat(once, 50), delta=1e-6, relation=CO).epsilon.upper < Fraction(2, 5)


@pytest.mark.parametrize(
    ("leak", "asked"),
    [(Fraction(1, 3), Fraction(0.3333333333333333)), (Fraction(1, 10**6), Fraction(1, 10**6) - Fraction(1, 10**24))],
)
def test_no_epsilon_is_given_where_the_leak_alone_is_more(leak: Fraction, asked: Fraction) -> None:
    """A δ below the leak by less than a float can tell: no finite ε holds."""
    with pytest.raises(sf.errors.NoProvenRoute, match="no finite answer"):
        sf.account(e.Stated(sf.Approx(1, leak)), delta=asked, ways=(PLD,))


def test_the_search_decides_exactly() -> None:
    delta = Fraction(1e-6)
    just_above = delta * (1 + Fraction(1, 2**60))
    assert crossing(lambda epsilon: just_above, delta, start=1.0, scale=1.0)[1] == math.inf
    tiny = Fraction(1, 10**400)
    assert crossing(lambda epsilon: tiny, tiny, start=1.0, scale=1.0) == (0, 0)


@pytest.mark.parametrize(
    ("loss", "delta", "end"),
    [
        (PLD.of(ResponsePair(1), 4), Fraction(1, 10**15), 4),
        (PLD.of(ResponsePair(14), 3), Fraction(1, 10**300), 42),
        (PLD.of(ApproxPair(1, Fraction(1, 10**7)), 2), Fraction(2, 10**7), 2),
        (PLD([[(LaplacePair(5), 1), (ResponsePair(Fraction(1, 18)), 8)]]), Fraction(1, 10**20), 5 + Fraction(8, 18)),
    ],
)
def test_epsilon_is_never_above_the_largest_loss(loss: PLD, delta: Fraction, end: Fraction) -> None:
    assert loss.epsilon(delta).upper <= end
    assert loss.delta(end).upper <= delta


def test_what_nobody_can_tell_apart_costs_nothing() -> None:
    assert PLD.of(ResponsePair(Fraction(1, 10**20)), 2).epsilon(1e-6).upper == 0
    assert PLD.of(RemovedPair(GaussianPair(10**6), TENTH)).epsilon(0.2).upper == 0
    assert PLD.of(FinitePair((), 1)).delta(3).lower == 1


@pytest.mark.parametrize("shift", [1024, 1025, 2049, 10**6])
def test_fine_grids_keep_their_last_loss(shift: int) -> None:
    """The largest loss carries half of the mass; left out of the hints, it was counted as infinite."""
    found = PLD.of(IntegerNoisePair(DiscreteLaplace(Fraction(10 * shift)), shift), 100).epsilon(1e-6)
    assert found.upper == pytest.approx(4.69267, abs=1e-3) and found.upper - found.lower < Fraction(1, 1000)


def test_few_uses_of_a_sample_have_a_lower_end() -> None:
    found = PLD.of(RemovedPair(GaussianPair(9), Fraction(1, 100))).delta(3)
    assert Fraction("0.00098") < found.lower <= found.upper < Fraction("0.00099")


def test_equal_alternatives_are_kept_once() -> None:
    """Two pairs that dominate each other, one of them written in another way: one stays, and it is not nothing."""
    wide, narrow = GaussianPair(2), GaussianPair(1)
    found = PLD([[(wide, 1)], [(EitherPair((wide, narrow)), 1)]])
    assert len(found.alternatives) == 1 and not found <= PLD.nothing()
    plan = e.Sequence(e.Laplace(10), e.Parallel(e.Laplace(3), e.Stated(PLD.of(EitherPair((LaplacePair("1/3"),))))))
    assert sf.account(plan, delta=1e-6).epsilon.upper <= Fraction(13, 30)


def test_many_parts_have_no_lower_end_that_is_not_theirs() -> None:
    def part(place: int) -> e.Event:
        return e.Sequence(
            e.Repeat(e.Laplace(Fraction(10000, 1000 + place)), 100),
            e.Repeat(e.Response(Fraction(1066 - place, 10000)), 100),
        )

    plan = e.Parallel(*map(part, range(66)))
    worst = max(sf.account(part(place), delta=1e-6).epsilon.upper for place in (0, 32, 65))
    assert sf.account(plan, delta=1e-6).epsilon.lower <= worst


def test_an_exchange_may_go_either_way_each_time() -> None:
    """A stated distribution whose two sides differ, met one way round and then the other."""
    pair = RemovedPair(ResponsePair(6), Fraction(7, 10))
    both_ways = PLD([[(pair, 1), (pair.reversed(), 1)]]).delta("4.44")
    plan = e.Repeat(e.Stated(PLD.of(pair)), 2)
    assert sf.account(plan, epsilon="4.44", relation=CO).delta.upper >= both_ways.lower
    assert sf.account(plan, epsilon="4.44", relation=AR).delta.upper < both_ways.lower


def test_one_composition_covers_several() -> None:
    gaussian, laplace, response = GaussianPair(1), LaplacePair(1), ResponsePair(1)
    alternatives = (((gaussian, 1),), ((laplace, 3),), ((response, 2),))
    found = dict(covering(alternatives))
    assert sum(found.values()) == 3
    assert found[EitherPair((gaussian, laplace, response))] == 1 and found[laplace] == 1
    assert found[EitherPair((laplace, response))] == 1
    whole = PLD(alternatives).times(2)
    for one in alternatives:
        assert PLD([one]).times(2).delta(1).lower <= whole.delta(1).upper


def test_what_leaks_has_a_finite_loss_after_sampling() -> None:
    """Without the unit, the outcome that only it could not give: its loss is -ln(1 - q), not infinite and not 0."""
    pair = ApproxPair(0, TENTH)
    added = RemovedPair(pair, "1/2").reversed()
    assert added.largest == pytest.approx(math.log(2), abs=1e-12) and added.largest >= math.log(2)
    both = PLD([[(RemovedPair(pair, "1/2"), 1), (added, 1)]])
    for epsilon, exact in ((0, "0.095"), ("0.1", "0.09027"), ("0.3", "0.07926"), ("0.6", "0.05800")):
        found = both.delta(epsilon)
        assert found.lower - Fraction(1, 10**4) <= Fraction(exact) <= found.upper + Fraction(1, 10**5)
    assert both.epsilon("0.07").upper > Fraction(3, 10)


@pytest.mark.parametrize("pair", [RemovedPair(RangePair(2), "1/100"), GaussianPair(1), LaplacePair(1)], ids=str)
@pytest.mark.parametrize("places", [[-30, 0, 7, 10, 76, 89], [-900, -899, 0, 1, 400], [0, 10, 500, 2000]], ids=str)
def test_the_law_from_below_stays_below_in_its_first_cells(pair: Pair, places: list[int]) -> None:
    with precision(128):
        law, lines = lattice_law(pair, places, Fraction(1, 1000), anchored=True), pair.lines()
        for place in range(places[0] - 20, places[-1] + 20, 3):
            ratio = (arb(place) / 1000).exp()
            line = lines(arb(place) / 1000)
            shares = [
                (mass, 1 - ratio / (arb(at) / 1000).exp()) for at, mass in zip(law.places, law.below, strict=True)
            ]
            below = sum((mass * share for mass, share in shares if share > 0), arb(0)) - law.short
            assert float(below.mid()) <= float((line.here - ratio * line.there).mid()) + 1e-25


def test_one_use_is_read_off_its_profile() -> None:
    """(1 - q) Q + q P against Q where P leaks: δ(ε) = q·h(1 + (e^ε - 1)/q), worked out by hand at ε = 0.1."""
    found = PLD.of(RemovedPair(ApproxPair("1/2", TENTH), "1/2")).delta(TENTH)
    inner = 1 + 2 * math.expm1(0.1)
    exact = (0.1 + 0.9 * (math.exp(0.5) - inner) / (math.exp(0.5) + 1)) / 2
    assert float(found.upper) == pytest.approx(exact, abs=1e-12) and found.width < Fraction(1, 10**12)
    laplace = PLD.of(LaplacePair(1)).epsilon(1e-5)
    assert float(laplace.upper) == pytest.approx(1 + 2 * math.log1p(-1e-5), abs=1e-8)
    assert PLD.of(ApproxPair(1, TENTH)).epsilon("0.05").upper == math.inf


def test_lists_are_asked_for() -> None:
    for wrong in (lambda: MixedPair(3, [1]), lambda: MixedPair([LaplacePair(1)], 5), lambda: PLD.widest(5)):
        with pytest.raises(sf.errors.BadArgument):
            wrong()
    with pytest.raises(sf.errors.NoProvenRoute, match="too many"):
        drawn_often(10**12, Fraction(1, 2))


def test_a_single_loss_and_its_search_end() -> None:
    """Hints of a law at one point have no width: the search must move all the same."""
    assert PLD.of(ApproxPair(0, TENTH)).epsilon("0.05").upper == math.inf
    assert PLD.of(FinitePair(((0, Fraction(9, 10)),), TENTH)).epsilon("0.05").upper == math.inf


def test_losses_beyond_what_balls_can_tell_are_only_bounded() -> None:
    found = PLD.of(LaplacePair(10**10), 2).epsilon(1e-6)
    assert (found.lower, found.upper) == (0, 2 * 10**10)
