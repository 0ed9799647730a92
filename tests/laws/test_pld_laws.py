"""Laws of privacy-loss distributions, tried on every dominating pair there is."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from fractions import Fraction
from functools import reduce

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import sfumato as sf
from sfumato.accounting.losses.bracket import Bracket
from sfumato.accounting.losses.pld import PLD
from sfumato.accounting.pld.pairs.allocated import AllocatedPair
from sfumato.accounting.pld.pairs.blanked import BlankedGaussianPair
from sfumato.accounting.pld.pairs.either import EitherPair, RangePair
from sfumato.accounting.pld.pairs.exchanged import ExchangedNoisePair
from sfumato.accounting.pld.pairs.finite import ApproxPair, FinitePair, ResponsePair
from sfumato.accounting.pld.pairs.gaussian import ExchangedGaussianPair, GaussianPair
from sfumato.accounting.pld.pairs.gaussian_mixture import GaussianMixturePair
from sfumato.accounting.pld.pairs.integer import IntegerNoisePair
from sfumato.accounting.pld.pairs.laplace import LaplacePair
from sfumato.accounting.pld.pairs.mixed import MixedPair
from sfumato.accounting.pld.pairs.order import dominates, either
from sfumato.accounting.pld.pairs.pair import Pair
from sfumato.accounting.pld.pairs.redrawn import RedrawnGaussianPair
from sfumato.accounting.pld.pairs.sampled import AddedPair, ExchangedPair, RemovedPair
from sfumato.accounting.pld.pairs.table import TablePair
from sfumato.exact import ball, precision
from sfumato.noise import DiscreteGaussian, DiscreteLaplace

Two = tuple[Pair, Pair]
"""A pair, and one of the same class with one or more parameters moved to the dearer side."""

amounts = st.fractions(Fraction(1, 20), 2, max_denominator=20)
rates = st.fractions(Fraction(1, 20), Fraction(4, 5), max_denominator=20)
leaks = st.fractions(0, Fraction(1, 10), max_denominator=50)
extras = st.fractions(0, 1, max_denominator=10)
more_rates = st.fractions(0, Fraction(1, 10), max_denominator=20)
noises = st.builds(lambda scale: DiscreteLaplace(1 / scale), amounts)
bells = st.builds(
    lambda square: DiscreteGaussian.from_square(1 / square), st.fractions(Fraction(1, 4), 2, max_denominator=4)
)
inner = st.one_of(
    st.builds(lambda one, more: (ResponsePair(one), ResponsePair(one + more)), amounts, extras),
    st.builds(lambda one, more: (GaussianPair(one), GaussianPair(one + more)), amounts, extras),
)


def listed(loss: Fraction, mass: Fraction, leak: Fraction) -> FinitePair:
    """A law with two atoms about a middle, made its own mirror image as every listed law must be."""
    stated = [(Fraction(0), mass * (1 - Fraction(1) / (1 + loss)) + leak), (loss, leak)]
    return sf.Profile(stated).pair()


def sampled(kind: Callable[[Pair, Fraction], Pair]) -> st.SearchStrategy[Two]:
    return st.builds(lambda two, rate, more: (kind(two[0], rate), kind(two[1], rate + more)), inner, rates, more_rates)


MADE: dict[type[Pair], st.SearchStrategy[Two]] = {
    ResponsePair: st.builds(
        lambda one, more, options: (ResponsePair(one, options), ResponsePair(one + more, options)),
        amounts,
        extras,
        st.integers(2, 6),
    ),
    ApproxPair: st.builds(
        lambda one, more, leak, other: (ApproxPair(one, leak), ApproxPair(one + more, leak + other)),
        amounts,
        extras,
        leaks,
        leaks,
    ),
    FinitePair: st.builds(
        lambda loss, more, mass, leak: (listed(loss, mass, Fraction(0)), listed(loss + more, mass, leak)),
        amounts,
        extras,
        rates,
        leaks,
    ),
    GaussianPair: st.builds(lambda one, more: (GaussianPair(one), GaussianPair(one + more)), amounts, extras),
    ExchangedGaussianPair: st.builds(
        lambda one, more, rate, other: (
            ExchangedGaussianPair(one, rate),
            ExchangedGaussianPair(one + more, rate + other),
        ),
        amounts,
        extras,
        rates,
        more_rates,
    ),
    LaplacePair: st.builds(lambda one, more: (LaplacePair(one), LaplacePair(one + more)), amounts, extras),
    RangePair: st.builds(lambda one, more: (RangePair(one), RangePair(one + more)), amounts, extras),
    IntegerNoisePair: st.builds(
        lambda noise, shift, more: (IntegerNoisePair(noise, shift), IntegerNoisePair(noise, shift + more)),
        st.one_of(noises, bells),
        st.integers(1, 3),
        st.integers(0, 2),
    ),
    EitherPair: st.builds(
        lambda two, one: (
            EitherPair((two[0], LaplacePair(one))),
            EitherPair((two[1], LaplacePair(one), RangePair(one))),
        ),
        inner,
        amounts,
    ),
    AllocatedPair: st.builds(
        lambda base, steps, turned: (AllocatedPair(base, steps, turned),) * 2,
        st.sampled_from([GaussianPair(1), LaplacePair(Fraction(1, 2)), ResponsePair(1, 3)]),
        st.integers(2, 4),
        st.booleans(),
    ),
    RemovedPair: sampled(RemovedPair),
    AddedPair: sampled(AddedPair),
    ExchangedPair: sampled(ExchangedPair),
    MixedPair: st.builds(
        lambda two, rate: (MixedPair(two, (1 - rate, rate)), MixedPair((two[1], two[1]), (1 - rate, rate))),
        inner,
        rates,
    ),
    TablePair: st.builds(
        lambda two, mass: (
            TablePair((mass, 1 - mass), (mass * two, 1 - mass * two)),
            TablePair((mass, 1 - mass), (mass * two / 2, 1 - mass * two / 2)),
        ),
        rates,
        rates,
    ),
    RedrawnGaussianPair: st.builds(
        lambda one, more, rate, other: (
            RedrawnGaussianPair(one, [(1, rate / 2), (3, rate / 4)]),
            RedrawnGaussianPair(one + more, [(1, rate / 2), (3, rate / 4 + other / 4)]),
        ),
        amounts,
        extras,
        rates,
        more_rates,
    ),
    BlankedGaussianPair: st.builds(
        lambda one, more, rate, other: (
            BlankedGaussianPair(one, rate / 2),
            BlankedGaussianPair(one + more, rate / 2 + other / 4),
        ),
        amounts,
        extras,
        rates,
        more_rates,
    ),
    GaussianMixturePair: st.builds(
        lambda one, more, rate, other: (
            GaussianMixturePair([one, 2 * one], [rate / 2, rate / 4]),
            GaussianMixturePair([one, 2 * one + more], [rate / 2, rate / 4 + other / 4]),
        ),
        amounts,
        extras,
        rates,
        more_rates,
    ),
    ExchangedNoisePair: st.builds(
        lambda one, more, rate, other: (
            ExchangedNoisePair(LaplacePair(one), rate),
            ExchangedNoisePair(LaplacePair(one + more), rate + other),
        ),
        amounts,
        extras,
        rates,
        more_rates,
    ),
}

OTHER = {
    "less noise": (
        IntegerNoisePair(DiscreteLaplace(Fraction(3)), 1),
        IntegerNoisePair(DiscreteLaplace(Fraction(2)), 1),
    ),
    "a narrower bell": tuple(IntegerNoisePair(DiscreteGaussian(Fraction(scale)), 2) for scale in (3, 2)),
    "fewer options": (ResponsePair(1, 7), ResponsePair(1, 3)),
    "no sampling": (RemovedPair(LaplacePair(1), Fraction(1, 2)), LaplacePair(1)),
    "an exchange": (RemovedPair(GaussianPair(1), Fraction(1, 5)), ExchangedGaussianPair(1, Fraction(1, 5))),
    "any bounded range": (IntegerNoisePair(DiscreteLaplace(Fraction(1)), 1), ResponsePair(1)),
    "any pure loss": (RangePair(1), ResponsePair(1)),
    "any approximate loss": (ResponsePair(1), ApproxPair(1, Fraction(1, 100))),
}

EPSILONS = st.sampled_from([Fraction(0), Fraction(1, 10), Fraction(1, 2), Fraction(3, 2), Fraction(4)])
DELTAS = st.sampled_from([Fraction(1, 10), Fraction(1, 1000), Fraction(1, 10**6)])
ROUGH = 1e-2
"""Laws need no narrow brackets, and wide ones are quick."""

every_pair = pytest.mark.parametrize("kind", MADE, ids=lambda kind: kind.__name__)
few = settings(deadline=None, max_examples=3)


def concrete(kind: type[Pair]) -> Iterator[type[Pair]]:
    for below in kind.__subclasses__():
        yield from concrete(below)
        if not getattr(below, "__abstractmethods__", None) and below.__module__.startswith(
            "sfumato.accounting.pld.pairs."
        ):
            yield below


def at_most(one: Bracket, other: Bracket) -> bool:
    """Tells whether two enclosed numbers may be in this order."""
    return one.lower <= other.upper


def test_every_pair_is_tried() -> None:
    assert set(MADE) == set(concrete(Pair))


@every_pair
@few
@given(st.data())
def test_repeating_is_composing(kind: type[Pair], data: st.DataObject) -> None:
    once = PLD.of(data.draw(MADE[kind])[0])
    count = data.draw(st.integers(1, 5))
    one_by_one = reduce(PLD.then, [once] * count, PLD.nothing())
    repeated = sf.total(
        sf.events.Repeat(sf.events.Stated(once), count), PLD, relation=sf.accounting.Relation.ADD_REMOVE
    )
    assert one_by_one == once.times(count) == repeated and hash(one_by_one) == hash(repeated)
    assert once.times(2).times(count) == once.times(count).times(2)
    assert once.then(PLD.nothing()) == PLD.nothing().then(once) == once.times(1) == once
    assert once.times(0) == PLD.nothing()


@every_pair
@few
@given(st.data())
def test_order_does_not_matter(kind: type[Pair], data: st.DataObject) -> None:
    drawn = [data.draw(MADE[kind])[0], data.draw(MADE[kind])[1], data.draw(inner)[0]]
    parts = [PLD.of(pair) for pair in drawn]
    there, back = reduce(PLD.then, parts), reduce(PLD.then, data.draw(st.permutations(parts)))
    assert there == back and repr(there) == repr(back)
    epsilon = data.draw(EPSILONS)
    assert there.delta(epsilon, tolerance=ROUGH) == back.delta(epsilon, tolerance=ROUGH)
    assert parts[0].then(parts[1]).then(parts[2]) == parts[0].then(parts[1].then(parts[2]))


@every_pair
@few
@given(st.data())
def test_brackets_fall_and_fit_together(kind: type[Pair], data: st.DataObject) -> None:
    loss = PLD.of(data.draw(MADE[kind])[0], data.draw(st.integers(1, 4)))
    small, large = sorted((data.draw(EPSILONS), data.draw(EPSILONS)))
    first, second = (loss.delta(epsilon, tolerance=ROUGH) for epsilon in (small, large))
    assert at_most(second, first)
    assert 0 <= second.lower <= second.upper <= 1 and 0 <= first.lower <= first.upper <= 1
    rare, often = sorted((data.draw(DELTAS), data.draw(DELTAS)))
    more, less = (loss.epsilon(delta, tolerance=ROUGH) for delta in (rare, often))
    assert at_most(less, more) and less.lower >= 0
    # δ at an ε that is large enough for it is small enough, and the other way about.
    if less.upper < float("inf"):
        assert loss.delta(Fraction(less.upper), tolerance=ROUGH).lower <= often
    if less.lower > 0:
        assert loss.delta(Fraction(less.lower), tolerance=ROUGH).upper >= often


@every_pair
@few
@given(st.data())
def test_a_finer_tolerance_meets_a_rough_one(kind: type[Pair], data: st.DataObject) -> None:
    loss = PLD.of(data.draw(MADE[kind])[0], data.draw(st.integers(1, 4)))
    epsilon, delta = data.draw(EPSILONS), data.draw(DELTAS)
    for rough, fine in (
        (loss.delta(epsilon, tolerance=ROUGH), loss.delta(epsilon)),
        (loss.epsilon(delta, tolerance=ROUGH), loss.epsilon(delta)),
    ):
        assert at_most(rough, fine) and at_most(fine, rough)


def dearer(small: Pair, large: Pair, epsilon: Fraction, count: int) -> None:
    one, other = PLD.of(small, count), PLD.of(large, count)
    assert at_most(one.delta(epsilon, tolerance=ROUGH), other.delta(epsilon, tolerance=ROUGH))
    assert not (dominates(small, large) and small != large)
    if dominates(large, small):
        assert one <= other and PLD.widest([one, other]) == other
    assert one <= other.times(2) or not dominates(large, small)


@every_pair
@few
@given(st.data())
def test_every_parameter_costs(kind: type[Pair], data: st.DataObject) -> None:
    small, large = data.draw(MADE[kind])
    dearer(small, large, data.draw(EPSILONS), data.draw(st.integers(1, 3)))


@pytest.mark.parametrize("name", OTHER)
@pytest.mark.parametrize("epsilon", [Fraction(0), Fraction(1, 2), Fraction(2)], ids=str)
def test_what_is_stronger_costs_more(name: str, epsilon: Fraction) -> None:
    small, large = OTHER[name]
    dearer(small, large, epsilon, 3)
    strict = PLD.of(small, 3).delta(epsilon), PLD.of(large, 3).delta(epsilon)
    assert strict[0].upper < strict[1].upper or strict[1].upper == 0  # not by accident


@every_pair
@few
@given(st.data())
def test_every_further_use_costs(kind: type[Pair], data: st.DataObject) -> None:
    loss, other = PLD.of(data.draw(MADE[kind])[0]), PLD.of(data.draw(inner)[0])
    epsilon = data.draw(EPSILONS)
    alone, twice, both = (it.delta(epsilon, tolerance=ROUGH) for it in (loss, loss.times(2), loss.then(other)))
    assert at_most(alone, twice) and at_most(alone, both)
    assert loss <= loss.times(2) and loss <= loss.then(other) and not loss.times(2) <= loss


@every_pair
@few
@given(st.data())
def test_a_group_of_one_is_itself(kind: type[Pair], data: st.DataObject) -> None:
    loss = PLD.of(data.draw(MADE[kind])[0]).times(2)
    assert loss.group(1) == loss
    if kind is GaussianPair:
        assert loss.group(2).group(3) == loss.group(6) == loss.times(36)
    elif kind in (LaplacePair, RangePair, IntegerNoisePair):
        assert loss.group(2).group(3) == loss.group(6)


@every_pair
@few
@given(st.data())
def test_turning_twice_changes_nothing_and_turning_once_no_answer(kind: type[Pair], data: st.DataObject) -> None:
    pair = data.draw(MADE[kind])[0]
    assert pair.reversed().reversed() == pair and hash(pair.reversed().reversed()) == hash(pair)
    epsilon = data.draw(EPSILONS)
    there, back = (PLD.of(way, 2).delta(epsilon, tolerance=ROUGH) for way in (pair, pair.reversed()))
    assert there == back


@every_pair
@settings(deadline=None, max_examples=2)
@given(st.data())
def test_conversions_never_improve(kind: type[Pair], data: st.DataObject) -> None:
    loss, delta, epsilon = PLD.of(data.draw(MADE[kind])[0], 2), data.draw(DELTAS), data.draw(EPSILONS)
    point = sf.convert(loss, sf.Approx, delta=delta)
    assert point.epsilon >= loss.epsilon(delta).lower and point.delta >= delta
    if point.epsilon < 40:
        back = sf.convert(point, PLD)
        assert at_most(loss.delta(epsilon, tolerance=ROUGH), back.delta(epsilon, tolerance=ROUGH))
        assert at_most(loss.times(2).delta(epsilon, tolerance=ROUGH), back.times(2).delta(epsilon, tolerance=ROUGH))


@every_pair
@settings(deadline=None, max_examples=1)
@given(st.data())
def test_profiles_of_distributions_never_improve(kind: type[Pair], data: st.DataObject) -> None:
    loss = PLD.of(data.draw(MADE[kind])[0])
    promised = sf.convert(loss, sf.Profile)
    for epsilon in (Fraction(0), Fraction(1, 3), Fraction(2)):
        assert loss.delta(epsilon).lower <= promised.delta(epsilon)


@every_pair
@few
@given(st.data())
def test_the_larger_of_two_pairs_is_no_smaller_than_either(kind: type[Pair], data: st.DataObject) -> None:
    one, other, epsilon = data.draw(MADE[kind])[0], data.draw(inner)[1], data.draw(EPSILONS)
    both = either(one, other)
    with precision(128):
        x = ball(epsilon).exp()
        heights = [line.here - x * line.there for line in (pair.lines()(ball(epsilon)) for pair in (one, other, both))]
        assert not heights[2] < heights[0].max(heights[1]) - 1e-25
    found = [PLD.of(pair, 2).delta(epsilon, tolerance=ROUGH) for pair in (one, other, both)]
    assert at_most(found[0], found[2]) and at_most(found[1], found[2])
    assert kind is EitherPair or PLD.of(one) <= PLD.of(both)
    assert PLD.of(other) <= PLD.of(both)
