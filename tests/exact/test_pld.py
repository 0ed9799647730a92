"""Composed privacy-loss distributions against laws that are multiplied out, outcome by outcome, in rationals.

Likelihood ratios here are rational, so every mass and every δ is. The library takes logarithms, which are not: each
case is made twice, with all of them rounded up and with all of them rounded down, and the truth lies between the two.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise, product

import pytest
from flint import arb
from tests.exact.enumerated import response

import sfumato as sf
from sfumato.accounting import events as ev
from sfumato.accounting.losses.bracket import Bracket
from sfumato.accounting.losses.pld import PLD
from sfumato.accounting.pld.evaluate import TOLERANCE
from sfumato.accounting.pld.pairs.either import EitherPair
from sfumato.accounting.pld.pairs.finite import ApproxPair, FinitePair, ResponsePair
from sfumato.accounting.pld.pairs.integer import IntegerNoisePair
from sfumato.accounting.pld.pairs.pair import Pair
from sfumato.accounting.pld.pairs.sampled import AddedPair, ExchangedPair, RemovedPair
from sfumato.exact import Extended, ball, endpoints, log_down, log_up, precision
from sfumato.noise import DiscreteLaplace

Outcomes = list[tuple[Fraction, Fraction]]
"""The masses of every outcome under the two distributions."""

Law = dict[Extended, Fraction]
"""The mass that the first distribution puts on each likelihood ratio; impossible outcomes are left out."""

Log = Callable[[Fraction], Fraction]

ONE, HALF, THIRD, TENTH = Fraction(1), Fraction(1, 2), Fraction(1, 3), Fraction(1, 10)
ADD_REMOVE, CHANGE_ONE = sf.accounting.Relation.ADD_REMOVE, sf.accounting.Relation.CHANGE_ONE


def two_sided_geometric(odds: Fraction, shift: int) -> Outcomes:
    """Noise with P(z) proportional to odds to the power of −|z|, about 0 and about the shift; tails are summed."""
    decay = 1 / odds

    def at(place: int) -> Fraction:
        return (1 - decay) / (1 + decay) * decay ** abs(place)

    def up_to(place: int) -> Fraction:
        return decay**-place / (1 + decay) if place < 0 else 1 - decay ** (place + 1) / (1 + decay)

    inner = [(at(k), at(k - shift)) for k in range(1, shift)]
    return [(up_to(0), up_to(-shift)), *inner, (1 - up_to(shift - 1), 1 - up_to(-1))]


def turned(outcomes: Outcomes) -> Outcomes:
    return [(q, p) for p, q in outcomes]


def sampled(outcomes: Outcomes, rate: Fraction) -> Outcomes:
    return [((1 - rate) * q + rate * p, q) for p, q in outcomes]


def exchanged(outcomes: Outcomes, rate: Fraction) -> Outcomes:
    """The bound for samples of fixed size: what favours the first after sampling, and its mirror image."""
    above = [(p, q) for p, q in sampled(outcomes, rate) if p > q]
    rest = 1 - sum(p + q for p, q in above)
    return [*above, *turned(above), (rest, rest)]


def law_of(outcomes: Outcomes) -> Law:
    found: Law = {}
    for p, q in outcomes:
        if p:
            ratio: Extended = p / q if q else math.inf
            found[ratio] = found.get(ratio, Fraction(0)) + p
    return found


def multiplied(uses: Iterable[tuple[Law, int]]) -> Law:
    """All outcomes of all uses, by their likelihood ratios."""
    whole: Law = {ONE: ONE}
    for law, count in uses:
        for _ in range(count):
            made: Law = {}
            for (ratio, mass), (factor, share) in product(whole.items(), law.items()):
                made[ratio * factor] = made.get(ratio * factor, Fraction(0)) + mass * share
            whole = made
    return whole


def exact_delta(law: Law, x: Fraction) -> Fraction:
    """The definition: P(S) − x·Q(S) for the set S of outcomes with a ratio above x."""
    return sum((p if r == math.inf else p * (1 - x / r) for r, p in law.items() if r > x), Fraction(0))


@dataclass(frozen=True)
class Case:
    """A composition, made from logarithms that are rounded one way or the other, and its true laws, one a direction.

    Losses that share a step lie on the lattice, and little is lost; others are moved to lattice points.
    """

    make: Callable[[Log], PLD]
    ways: list[Law]
    loose: bool = False

    def delta(self, x: Fraction) -> Fraction:
        return max(exact_delta(law, x) for law in self.ways)


def alike(pair: Callable[[Log], Pair], outcomes: Outcomes, count: int, *, loose: bool = False) -> Case:
    """One pair that is as hard to tell apart either way, used several times."""
    return Case(lambda log: PLD.of(pair(log), count), [multiplied([(law_of(outcomes), count)])], loose)


def poisson(
    pair: Callable[[Log], Pair], outcomes: Outcomes, rate: Fraction, count: int, *, kind: type[Pair] = RemovedPair
) -> Case:
    there = sampled(outcomes, rate)
    ways = [multiplied([(law_of(way), count)]) for way in (there, turned(there))]
    return Case(lambda log: PLD.of(kind(pair(log), rate), count), ways, loose=True)


def noise(odds: Fraction, shift: int) -> Callable[[Log], Pair]:
    return lambda log: IntegerNoisePair(DiscreteLaplace(1 / log(odds)), shift)


def listed_case(count: int) -> Case:
    masses = {ONE / 4: Fraction(1, 20), ONE / 2: Fraction(1, 8), ONE: Fraction(1, 4), ONE * 2: Fraction(2, 5)}
    lost = Fraction(1, 1000)
    rest = 1 - lost - sum(masses.values())
    law: Law = {**masses, Fraction(8): rest, math.inf: lost}

    def make(log: Log) -> PLD:
        atoms = tuple((log(ratio) if ratio != 1 else Fraction(0), mass) for ratio, mass in law.items() if ratio < 9)
        return PLD.of(FinitePair(atoms, lost), count)

    return Case(make, [multiplied([(law, count)])], loose=True)


def mixed_case() -> Case:
    """Everything at once, of which the sampled part is another one in the other direction."""
    three, bell, rate = Fraction(3), two_sided_geometric(Fraction(3), 2), Fraction(1, 4)
    parts = [
        (response(three), 2),
        (response(three, 5, leak=TENTH / 100), 1),
        (bell, 2),
        (sampled(response(three), rate), 2),
    ]

    def make(log: Log) -> PLD:
        first = PLD.of(ResponsePair(log(three))).times(2)
        # k options with a leak: no pair on file, so it is listed.
        share = (1 - TENTH / 100) / (three + 4)
        atoms = ((-log(three), share), (0, 3 * share), (log(three), three * share))
        second = PLD.of(FinitePair(atoms, TENTH / 100))
        third = PLD.of(noise(three, 2)(log)).times(2)
        fourth = PLD.of(RemovedPair(ResponsePair(log(three)), rate))
        return fourth.then(first).then(third).then(second).then(fourth)

    there = multiplied((law_of(outcomes), count) for outcomes, count in parts)
    back = multiplied((law_of(turned(outcomes)), count) for outcomes, count in parts)
    return Case(make, [there, back], loose=True)


def cases() -> Iterator[tuple[str, Case]]:
    two, three = Fraction(2), Fraction(3)
    near = Fraction(11, 10)
    yield "a coin", alike(lambda log: ResponsePair(log(three)), response(three), 10)
    yield "a timid coin", alike(lambda log: ResponsePair(log(near)), response(near), 10)
    yield "a sure coin", alike(lambda log: ResponsePair(log(Fraction(10**6))), response(Fraction(10**6)), 3)
    yield "seven options", alike(lambda log: ResponsePair(log(two), 7), response(two, 7), 8)
    leak = Fraction(1, 10**4)
    yield "a coin that leaks", alike(lambda log: ApproxPair(log(two), leak), response(two, 2, leak=leak), 6)
    for shift in (1, 2, 5):
        yield f"noise, shift {shift}", alike(noise(two, shift), two_sided_geometric(two, shift), 6)
    yield "a listed law", listed_case(4)
    for rate in (Fraction(1, 100), Fraction(3, 4)):
        yield f"sampled coin, {rate}", poisson(lambda log: ResponsePair(log(three)), response(three), rate, 7)
    yield "sampled options", poisson(lambda log: ResponsePair(log(three), 4), response(three, 4), TENTH, 5)
    yield "sampled noise", poisson(noise(two, 3), two_sided_geometric(two, 3), THIRD, 4)
    yield "an added unit", poisson(lambda log: ResponsePair(log(three)), response(three), THIRD, 4, kind=AddedPair)
    fixed = exchanged(two_sided_geometric(two, 2), THIRD)
    yield "a sample of fixed size", alike(lambda log: ExchangedPair(noise(two, 2)(log), THIRD), fixed, 5, loose=True)
    yield "a mixture", mixed_case()


CASES = dict(cases())
RATIOS = [Fraction(place, 8) for place in (8, 9, 12, 18, 27, 48, 72, 2**9, 3**9, 10**7)]
DELTAS = [Fraction(digits) for digits in ("0.6", "0.3", "0.05", "0.002", "1e-4", "1e-7", "1e-15")]


def checked_ratios(case: Case) -> list[Fraction]:
    """Ratios between those that can occur, and some of those themselves: there the profile has its corners."""
    corners = sorted({ratio for law in case.ways for ratio in law if 1 <= ratio < math.inf})
    return [*RATIOS, *(Fraction(ratio) for ratio in corners[:: 1 + len(corners) // 4])]


@pytest.mark.parametrize("name", CASES)
def test_the_exact_delta_is_in_the_bracket(name: str) -> None:
    case = CASES[name]
    most, fewest = case.make(log_up), case.make(log_down)
    for x in checked_ratios(case):
        true = case.delta(x)
        high, low = most.delta(log_down(x)), fewest.delta(log_up(x))
        assert low.lower <= true <= high.upper
        assert high.width <= (Fraction(1, 100) if case.loose else true / 10**6 + Fraction(1, 10**11))


@pytest.mark.parametrize("name", CASES)
def test_the_exact_epsilon_is_in_the_bracket(name: str) -> None:
    """ε(δ) is at least what has a larger δ, and at most what has no larger one."""
    case = CASES[name]
    most, fewest = case.make(log_up), case.make(log_down)
    for delta in DELTAS:
        lower, upper = fewest.epsilon(delta).lower, most.epsilon(delta).upper
        with precision(192):
            if lower > 0:
                assert not ball_delta(case, lower) < ball(delta)
            if upper < math.inf:
                assert not ball_delta(case, upper) > ball(delta)
                # Near the largest loss of all δ falls without limit, and less can be told.
                width = 100 * TOLERANCE if case.loose else TOLERANCE / 100
                assert delta < Fraction(1, 10**8) or upper - lower <= width * max(1, upper)
        lost = max(law.get(math.inf, Fraction(0)) for law in case.ways)
        assert lost < delta or upper == math.inf


def ball_delta(case: Case, epsilon: Extended) -> arb:
    """δ at the exponential of a rational, which is none."""
    x = ball(Fraction(epsilon)).exp()
    most = arb(0)
    for law in case.ways:
        kept = [(p, r) for r, p in law.items() if r == math.inf or not ball(Fraction(r)) < x]
        value = sum((ball(p) if r == math.inf else ball(p) * (1 - x / ball(Fraction(r))) for p, r in kept), arb(0))
        most = most.max(value)
    return most


def misses(found: Bracket, true: Fraction) -> bool:
    return not found.lower <= true <= found.upper


@pytest.mark.parametrize("percent", [99, 101])
@pytest.mark.parametrize("name", CASES)
def test_one_percent_more_or_less_is_noticed(name: str, percent: int) -> None:
    """If every logarithm is wrong by one in a hundred, the exact δ is outside: above or below, as it must be."""
    case = CASES[name]
    wrong = case.make(lambda ratio: log_up(ratio) * Fraction(percent, 100))
    asked = [x for x in checked_ratios(case) if case.delta(x) > Fraction(1, 10**12)]
    found = [(wrong.delta(log_up(x)), case.delta(x)) for x in asked]
    assert any(misses(bracket, true) for bracket, true in found)
    assert all(bracket.lower <= true if percent < 100 else true <= bracket.upper for bracket, true in found)


@pytest.mark.parametrize("name", ["a coin", "noise, shift 2", "sampled coin, 3/4", "a listed law"])
def test_one_use_more_or_less_is_noticed(name: str) -> None:
    case = CASES[name]
    ((pair, count),) = case.make(log_up).alternatives[0]
    for wrong in (count - 1, count + 1):
        found = [(PLD.of(pair, wrong).delta(log_up(x)), case.delta(x)) for x in RATIOS[:6]]
        assert any(misses(bracket, true) for bracket, true in found)
        assert all(bracket.lower <= true if wrong < count else true <= bracket.upper for bracket, true in found)


def test_far_tails_are_as_sharp_as_the_middle() -> None:
    """Three hundred coins: δ down to 1e-20 is known to five digits, and ε to six."""
    odds, count = Fraction(11, 10), 300
    case = alike(lambda log: ResponsePair(log(odds)), response(odds), count)
    most, fewest = case.make(log_up), case.make(log_down)
    for power in (0, 5, 50, 100, 160):
        x = odds**power
        true, high, low = case.delta(x), most.delta(log_down(x)), fewest.delta(log_up(x))
        assert low.lower <= true <= high.upper and high.width < true / 10**5
    for digits in (3, 9, 20):
        delta = Fraction(1, 10**digits)
        lower, upper = fewest.epsilon(delta).lower, most.epsilon(delta).upper
        with precision(192):
            assert ball_delta(case, lower) >= ball(delta) >= ball_delta(case, upper)
        assert upper - lower < Fraction(1, 10**6)


def geometric(log: Log) -> DiscreteLaplace:
    return DiscreteLaplace(1 / log(Fraction(2)))


def drawn(event: ev.Event, sampling: ev.Sampling) -> ev.Event:
    return ev.Sampled(event, sampling)


ROUTES: dict[str, tuple[Callable[[Log], ev.Event], sf.accounting.Relation, int]] = {
    "a coin": (lambda log: ev.Response(log(Fraction(3))), ADD_REMOVE, 10),
    "seven options": (lambda log: ev.Response(log(Fraction(2)), 7), ADD_REMOVE, 8),
    "a coin that leaks": (lambda log: ev.Stated(sf.Approx(log(Fraction(2)), "1e-4")), CHANGE_ONE, 6),
    "noise, shift 2": (lambda log: ev.Noise(geometric(log), shift=Fraction(5, 2)), ADD_REMOVE, 6),
    "sampled options": (lambda log: drawn(ev.Response(log(Fraction(3)), 4), ev.Poisson(TENTH)), ADD_REMOVE, 5),
    "a sample of fixed size": (
        lambda log: drawn(ev.Noise(geometric(log)), ev.WithoutReplacement(2, 6)),
        CHANGE_ONE,
        5,
    ),
}


@pytest.mark.parametrize("name", ROUTES)
def test_plans_thens_and_times_are_one_composition(name: str) -> None:
    case, (step, relation, count) = CASES[name], ROUTES[name]
    for log in (log_up, log_down):
        once = sf.total(step(log), PLD, relation=relation)
        one_by_one = PLD.nothing()
        for _ in range(count):
            one_by_one = one_by_one.then(once)
        plan = ev.Sequence(step(log), ev.Repeat(step(log), count - 1))
        made = sf.total(plan, PLD, relation=relation)
        assert made == one_by_one == once.times(count) == case.make(log)


def worse_of(first: Outcomes, second: Outcomes) -> Law:
    """The law whose profile is the larger of two: broken lines, with corners where one breaks or both cross."""
    laws = law_of(first), law_of(second)

    def height(x: Fraction) -> Fraction:
        return max(exact_delta(law, x) for law in laws)

    corners = sorted({Fraction(r) for law in laws for r in law if r < math.inf} | {Fraction(0)})
    for left, right in pairwise(corners):
        gaps = [exact_delta(laws[0], x) - exact_delta(laws[1], x) for x in (left, right)]
        if gaps[0] * gaps[1] < 0:
            corners.append(left + (right - left) * gaps[0] / (gaps[0] - gaps[1]))
    corners.sort()
    heights = [height(x) for x in corners]
    slopes = [(b - a) / (y - x) for a, b, x, y in zip(heights, heights[1:], corners, corners[1:], strict=False)]
    masses = {x: x * (after - s) for x, s, after in zip(corners[1:], slopes, [*slopes[1:], Fraction(0)], strict=True)}
    return {**{x: mass for x, mass in masses.items() if mass}, math.inf: heights[-1]}


@pytest.mark.parametrize("count", [1, 2, 5])
def test_parallel_parts_cost_the_worst_that_each_use_can_meet(count: int) -> None:
    """Which of two parts a unit meets may change from use to use: every choice is below, and one law is enclosed."""
    one, other = response(Fraction(4)), response(Fraction(3, 2), leak=TENTH)
    both = worse_of(one, other)
    assert sum(both.values()) == 1 and all(mass >= 0 for mass in both.values())

    def made(log: Log) -> PLD:
        parts = PLD.of(ResponsePair(log(Fraction(4)))), PLD.of(ApproxPair(log(Fraction(3, 2)), TENTH))
        return PLD.widest(parts).times(count)

    if count > 1:
        assert isinstance(made(log_up).alternatives[0][0][0], EitherPair)
    choices = [multiplied([(law_of(one), k), (law_of(other), count - k)]) for k in range(count + 1)]
    case = Case(made, [multiplied([(both, count)])])
    for x in (ONE, Fraction(5, 4), Fraction(3, 2), Fraction(4), Fraction(20), Fraction(500)):
        high, low = made(log_up).delta(log_down(x)), made(log_down).delta(log_up(x))
        assert max(exact_delta(law, x) for law in choices) <= high.upper
        if count > 1:
            assert low.lower <= case.delta(x) <= high.upper


def test_samples_that_are_exchanged_stay_below_their_bound_when_composed() -> None:
    """A Poisson sample of one unit with value 1 against −1, three times, with places −1 to 1 and what lies beyond."""
    tail, level, rate = THIRD, THIRD, THIRD  # of noise with decay 1/2: P(Z >= 1) and P(Z = 0)
    still = [tail / 2, level / 2, level, level / 2, tail / 2]
    moved = [tail / 4, level / 4, level / 2, level, tail]
    ends = [[(1 - rate) * p + rate * q for p, q in zip(still, way, strict=True)] for way in (moved, moved[::-1])]
    assert sum(still) == sum(moved) == 1
    real = multiplied([(law_of(list(zip(*ends, strict=True))), 3)])
    plan = ev.Repeat(drawn(ev.Noise(geometric(log_up)), ev.Poisson(rate)), 3)
    claimed = sf.total(plan, PLD, relation=CHANGE_ONE)
    too_little = PLD.of(ExchangedPair(IntegerNoisePair(geometric(log_down), 1), rate), 3)
    asked = [Fraction(place, 4) for place in (4, 5, 6, 8)]
    assert all(exact_delta(real, x) <= claimed.delta(log_down(x)).upper for x in asked)
    assert any(exact_delta(real, x) > too_little.delta(log_up(x)).upper for x in asked)


@pytest.mark.parametrize("count", [2, 10])
def test_losses_on_a_common_step_with_questions_on_its_points(count: int) -> None:
    """Whole and third ε together, asked at their own sums: balls stand for the masses, the losses are exact."""
    with precision(256):
        law: dict[Fraction, arb] = {Fraction(0): arb(1)}
        for epsilon, options in ((ONE, 2), (THIRD, 5)):
            growth = ball(epsilon).exp()
            share = 1 / (growth + options - 1)
            parts = {epsilon: growth * share, -epsilon: share, Fraction(0): (options - 2) * share}
            for _ in range(count):
                made: dict[Fraction, arb] = {}
                for (loss, mass), (move, weight) in product(law.items(), parts.items()):
                    made[loss + move] = made.get(loss + move, arb(0)) + mass * weight
                law = made
        loss = PLD.of(ResponsePair(1), count).then(PLD.of(ResponsePair(THIRD, 5), count))
        for epsilon in [Fraction(place, 6) for place in (0, 1, 2, 3, 6, 10, 20, 8 * count)]:
            true = sum((mass * -ball(epsilon - at).expm1() for at, mass in law.items() if at > epsilon), arb(0))
            low, high = endpoints(true)
            found = loss.delta(epsilon)
            assert found.lower <= high and low <= found.upper
            assert found.width <= Fraction(1, 10**8)
            if epsilon == Fraction(8 * count, 6):  # the largest loss of all
                assert high == 0
