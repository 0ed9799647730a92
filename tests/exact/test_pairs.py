"""Dominating pairs against distributions that are listed, or integrated, without any of their formulas."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from itertools import combinations, pairwise, product

import numpy as np
import pytest
from flint import acb, arb
from tests.examples.pairs import (
    BITS,
    LOSSES,
    TINY,
    Outcomes,
    Profile,
    below,
    check_lines,
    laplace_mass,
    noisy_sums,
    poisson_sums,
    profile_of,
)

from sfumato.accounting.losses.pld import PLD
from sfumato.accounting.pld.pairs.either import EitherPair, RangePair, highest_lines
from sfumato.accounting.pld.pairs.finite import ApproxPair, FinitePair, ResponsePair
from sfumato.accounting.pld.pairs.gaussian import ExchangedGaussianPair, GaussianPair
from sfumato.accounting.pld.pairs.integer import IntegerNoisePair
from sfumato.accounting.pld.pairs.laplace import LaplacePair
from sfumato.accounting.pld.pairs.pair import Pair
from sfumato.accounting.pld.pairs.sampled import AddedPair, ExchangedPair, RemovedPair
from sfumato.accounting.pld.pairs.table import TablePair
from sfumato.exact import ball, endpoints, precision
from sfumato.noise.bounded import Truncated
from sfumato.noise.discrete_gaussian import DiscreteGaussian
from sfumato.noise.discrete_laplace import DiscreteLaplace


def response(epsilon: Fraction, options: int = 2, delta: Fraction = Fraction(0)) -> Outcomes:
    growth = ball(epsilon).exp()
    share = ball(1 - delta) / (growth + options - 1)
    others = [(share, share)] * (options - 2)
    return [(ball(delta), arb(0)), (arb(0), ball(delta)), (growth * share, share), (share, growth * share), *others]


def listed(atoms: Sequence[tuple[Fraction, Fraction]], infinite: Fraction) -> Outcomes:
    return [(ball(mass), ball(mass) * (-ball(loss)).exp()) for loss, mass in atoms] + [(ball(infinite), arb(0))]


def discrete_laplace(scale: Fraction, shift: int) -> Outcomes:
    inner = [(laplace_mass(scale, k), laplace_mass(scale, k - shift)) for k in range(1, shift)]
    low = (laplace_mass(scale, 0, beyond=-1), laplace_mass(scale, -shift, beyond=-1))
    high = (laplace_mass(scale, shift, beyond=1), laplace_mass(scale, 0, beyond=1))
    return [low, *inner, high]


def truncated(scale: Fraction, reach: int, shift: int) -> Outcomes:
    weights = {k: (-ball(abs(k) / scale)).exp() for k in range(-reach, reach + 1)}
    whole = sum(weights.values(), arb(0))
    chances = [(weights.get(k, arb(0)), weights.get(k - shift, arb(0))) for k in range(-reach, reach + shift + 1)]
    return [(p / whole, q / whole) for p, q in chances]


def listed_chances(here: Sequence[str], there: Sequence[str]) -> Outcomes:
    return [(ball(Fraction(p)), ball(Fraction(q))) for p, q in zip(here, there, strict=True)]


def discrete_gaussian(square: Fraction, shift: int) -> Outcomes:
    reach = math.ceil(math.sqrt(700 * square)) + shift
    weights = {k: (-ball(k * k / (2 * square))).exp() for k in range(-reach - shift, reach + shift + 1)}
    total = sum(weights.values(), arb(0))
    return [(weights[k] / total, weights[k - shift] / total) for k in range(-reach, reach + shift + 1)]


def reversed_outcomes(outcomes: Outcomes) -> Outcomes:
    return [(q, p) for p, q in outcomes]


def removed(outcomes: Outcomes, rate: Fraction) -> Outcomes:
    return [(ball(1 - rate) * q + ball(rate) * p, q) for p, q in outcomes]


def both_ways(above: Profile) -> Profile:
    """A bound for x >= 1, and its mirror image below."""
    return lambda x: above(x) if x >= 1 else 1 - x + x * above(1 / x)


def exchanged(outcomes: Outcomes, rate: Fraction) -> Profile:
    base, share = profile_of(outcomes), ball(rate)
    return both_ways(lambda x: share * base(1 + (x - 1) / share))


def largest(profiles: Sequence[Profile]) -> Profile:
    def profile(x: arb) -> arb:
        first, *rest = (one(x) for one in profiles)
        for value in rest:
            first = first.max(value)
        return first

    return profile


THIRD, HALF, ONE = Fraction(1, 3), Fraction(1, 2), Fraction(1)
ATOMS = ((Fraction(-1), Fraction(1, 5)), (Fraction(0), Fraction(1, 4)), (Fraction(3, 2), Fraction(1, 2)))
TABLES = (
    (("0.5", "0.3", "0.2"), ("0.2", "0.3", "0.5")),
    (("0.5", "0.25", "0.25", "0"), ("0.125", "0", "0.375", "0.5")),
    (("1/3", "0", "1/3", "1/3"), ("1/6", "0", "1/6", "2/3")),
    (("1", "0"), ("0", "1")),
)
NOISES = (DiscreteLaplace(Fraction(3, 2)), DiscreteLaplace(Fraction(1, 4)))
BELLS = (DiscreteGaussian(Fraction(4)), DiscreteGaussian(Fraction(1, 3)))


def discrete_cases() -> Iterator[tuple[Pair, Callable[[], Profile]]]:
    yield ResponsePair(1), lambda: profile_of(response(ONE))
    yield ResponsePair(THIRD, 50), lambda: profile_of(response(THIRD, 50))
    yield ResponsePair(30), lambda: profile_of(response(Fraction(30)))
    yield ResponsePair("1e-6", 3), lambda: profile_of(response(Fraction("1e-6"), 3))
    yield ApproxPair(1, "1e-9"), lambda: profile_of(response(ONE, delta=Fraction("1e-9")))
    yield ApproxPair(0, THIRD), lambda: profile_of(response(Fraction(0), delta=THIRD))
    yield ApproxPair(1, 1), lambda: profile_of(response(ONE, delta=ONE))
    yield FinitePair(ATOMS, Fraction(1, 20)), lambda: profile_of(listed(ATOMS, Fraction(1, 20)))
    for noise, shift in product(NOISES, (1, 2, 5)):
        yield (
            IntegerNoisePair(noise, shift),
            lambda noise=noise, shift=shift: profile_of(discrete_laplace(noise.scale, shift)),
        )
    for bell, shift in product(BELLS, (1, 2, 5)):
        yield (
            IntegerNoisePair(bell, shift),
            lambda bell=bell, shift=shift: profile_of(discrete_gaussian(bell.square, shift)),
        )
    for noise, shift in product(NOISES, (1, 2, 5, 8, 9)):
        yield (
            IntegerNoisePair(Truncated.within(noise, radius=4), shift),
            lambda noise=noise, shift=shift: profile_of(truncated(noise.scale, 4, shift)),
        )
    for here, there in TABLES:
        yield TablePair(here, there), lambda here=here, there=there: profile_of(listed_chances(here, there))
        yield (
            TablePair(here, there).reversed(),
            lambda here=here, there=there: profile_of(listed_chances(there, here)),
        )
    two = ApproxPair("0.3", "0.05"), ResponsePair("1.25")
    yield (
        EitherPair(two),
        lambda: largest(
            [profile_of(response(Fraction("0.3"), delta=Fraction("0.05"))), profile_of(response(Fraction("1.25")))]
        ),
    )
    yield from sampled_cases()


def sampled_cases() -> Iterator[tuple[Pair, Callable[[], Profile]]]:
    for rate in (Fraction(1, 100), Fraction(9, 10), Fraction(1, 10**12)):
        three, bell = ResponsePair(1, 3), IntegerNoisePair(BELLS[0], 2)
        yield RemovedPair(three, rate), lambda rate=rate: profile_of(removed(response(ONE, 3), rate))
        yield (
            AddedPair(three, rate),
            lambda rate=rate: profile_of(reversed_outcomes(removed(response(ONE, 3), rate))),
        )
        yield ExchangedPair(three, rate), lambda rate=rate: exchanged(response(ONE, 3), rate)
        yield (
            RemovedPair(bell, rate),
            lambda rate=rate: profile_of(removed(discrete_gaussian(BELLS[0].square, 2), rate)),
        )
        yield ExchangedPair(bell, rate), lambda rate=rate: exchanged(discrete_gaussian(BELLS[0].square, 2), rate)

    def nested() -> Outcomes:
        return removed(removed(response(ONE), HALF), THIRD)

    yield RemovedPair(RemovedPair(ResponsePair(1), HALF), THIRD), lambda: profile_of(nested())
    yield AddedPair(RemovedPair(ResponsePair(1), HALF), THIRD), lambda: profile_of(reversed_outcomes(nested()))


def grid_for(pair: Pair) -> list[Fraction]:
    """Losses on, between and beyond the single points of a pair."""
    hints = [Fraction(hint).limit_denominator(10**9) for hint in pair.hints(1e-30)]
    if len(hints) > 14:
        hints = [hints[place * (len(hints) - 1) // 13] for place in range(14)]
    between = [(left + right) / 2 for left, right in pairwise(hints)]
    return sorted({*hints, *between, Fraction(0), hints[0] - 1, hints[-1] + 1, hints[-1] + Fraction(1, 10**6)})


DISCRETE = list(discrete_cases())


@pytest.mark.parametrize(("pair", "oracle"), DISCRETE, ids=[repr(pair)[:70] for pair, _ in DISCRETE])
def test_lines_of_discrete_pairs_meet_the_listed_distributions(pair: Pair, oracle: Callable[[], Profile]) -> None:
    with precision(BITS):
        profile = oracle()
    check_lines(pair, profile, grid_for(pair))


def test_the_check_of_lines_notices_a_slightly_larger_noise() -> None:
    with precision(BITS):
        profile = profile_of(discrete_laplace(Fraction(3, 2) + Fraction(1, 10**15), 2))
    with pytest.raises(AssertionError):
        check_lines(IntegerNoisePair(NOISES[0], 2), profile, grid_for(IntegerNoisePair(NOISES[0], 2)))


Density = Callable[[acb], acb]


def bell(centre: arb) -> Density:
    return lambda y: (-((y - centre) ** 2) / 2).exp() / (2 * acb.pi()).sqrt()


def mixture(rate: Fraction, one: Density, other: Density) -> Density:
    return lambda y: ball(1 - rate) * one(y) + ball(rate) * other(y)


def integrated(p: Density, q: Density, ends: tuple[float, float]) -> Profile:
    """∫ max(0, p − xq) where p/q rises with y: from the place where the difference turns positive, found by halving."""

    def profile(x: arb) -> arb:
        low, high = arb(ends[0]), arb(ends[1])
        if (p(acb(low)) - x * q(acb(low))).real > 0:
            high = low
        for _ in range(200):
            middle = arb(((low + high) / 2).mid())
            positive = (p(acb(middle)) - x * q(acb(middle))).real > 0
            low, high = (low, middle) if positive else (middle, high)
        total: arb = acb.integral(lambda y, _: p(y) - x * q(y), acb(high), acb(ends[1])).real
        return total

    return profile


def smooth_cases() -> Iterator[tuple[Pair, Callable[[], Profile]]]:
    for mu in (Fraction(1, 10), Fraction(1), Fraction(4)):
        ends = (-20.0, 20.0 + float(mu))
        yield GaussianPair(mu**2), lambda mu=mu, ends=ends: integrated(bell(ball(mu)), bell(arb(0)), ends)
        for rate in (Fraction(1, 100), Fraction(2, 3)):
            yield (
                RemovedPair(GaussianPair(mu**2), rate),
                lambda mu=mu, ends=ends, rate=rate: integrated(
                    mixture(rate, bell(arb(0)), bell(ball(mu))), bell(arb(0)), ends
                ),
            )
            yield (
                AddedPair(GaussianPair(mu**2), rate),
                lambda mu=mu, ends=ends, rate=rate: integrated(
                    bell(arb(0)), mixture(rate, bell(arb(0)), bell(-ball(mu))), ends
                ),
            )
            yield (
                ExchangedGaussianPair(mu**2, rate),
                lambda mu=mu, rate=rate: integrated(
                    mixture(rate, bell(arb(0)), bell(ball(mu))),
                    mixture(rate, bell(arb(0)), bell(-ball(mu))),
                    (-20.0 - float(mu), 20.0 + float(mu)),
                ),
            )
            yield (
                ExchangedPair(GaussianPair(mu**2), rate),
                lambda mu=mu, ends=ends, rate=rate: both_ways(
                    integrated(mixture(rate, bell(arb(0)), bell(ball(mu))), bell(arb(0)), ends)
                ),
            )
    yield (
        ExchangedGaussianPair(1, 1),
        lambda: integrated(bell(arb(1)), bell(arb(-1)), (-20.0, 20.0)),
    )


SMOOTH = list(smooth_cases())


@pytest.mark.parametrize(("pair", "oracle"), SMOOTH, ids=[repr(pair) for pair, _ in SMOOTH])
def test_lines_of_smooth_pairs_meet_their_integrals(pair: Pair, oracle: Callable[[], Profile]) -> None:
    with precision(BITS):
        profile = oracle()
    losses = [Fraction(place, 4) for place in (-12, -5, -1, 0, 1, 2, 7, 16)]
    check_lines(pair, profile, losses, close=arb(2) ** -60)


@pytest.mark.parametrize("ratio", [Fraction(1, 10), Fraction(1), Fraction(7)], ids=str)
def test_lines_of_the_laplace_pair_meet_its_integral(ratio: Fraction) -> None:
    # Between 0 and the shift the loss falls with slope −2; outside it is level, so the two ends are single points.
    def profile(x: arb) -> arb:
        inner: arb = acb.integral(lambda y, _: ((-y).exp() - x * (y - r).exp()) / 2, acb(0), acb(cut)).real
        return ((1 - x * (-r).exp()) / 2).max(arb(0)) + inner + (((-r).exp() - x) / 2).max(arb(0))

    losses = [ratio * place / 8 for place in range(-10, 11)]
    for loss in losses:
        with precision(BITS):
            r = ball(ratio)
            # The densities cross where |y − r| − |y| = loss.
            cut = ball(min(max((ratio - loss) / 2, Fraction(0)), ratio))
            height = profile(ball(loss).exp())
        with precision(128):
            here, there = LaplacePair(ratio).lines()(ball(loss))
        with precision(BITS):
            assert abs(here - ball(loss).exp() * there - height) < arb(2) ** -60


EVERY = [*(pair for pair, _ in DISCRETE if not isinstance(pair, FinitePair)), *(pair for pair, _ in SMOOTH)]


@pytest.mark.parametrize("pair", [*EVERY, LaplacePair(2), RangePair(1)], ids=lambda pair: repr(pair)[:70])
def test_the_reverse_is_the_mirror_image(pair: Pair) -> None:
    assert pair.reversed().reversed() == pair
    with precision(128):
        there, back = pair.lines(), pair.reversed().lines()
        for loss in [Fraction(place, 3) for place in range(-9, 10)]:
            x, y = ball(loss).exp(), ball(-loss).exp()
            line, mirrored = there(ball(-loss)), back(ball(loss))
            value = 1 - x + x * (line.here - y * line.there)
            assert abs(mirrored.here - x * mirrored.there - value) <= arb(2) ** -80 * (1 + x)


def subset_sums(data: Sequence[int], size: int) -> dict[int, Fraction]:
    chosen = list(combinations(data, size))
    law: dict[int, Fraction] = {}
    for subset in chosen:
        law[sum(subset)] = law.get(sum(subset), Fraction(0)) + Fraction(1, len(chosen))
    return law


@pytest.mark.parametrize(("population", "sample"), [(3, 1), (3, 2), (4, 2)])
def test_samples_of_fixed_size_never_exceed_their_pair_and_reach_it(population: int, sample: int) -> None:
    scale = Fraction(3, 2)
    pair = ExchangedPair(IntegerNoisePair(DiscreteLaplace(scale), 2), Fraction(sample, population))
    with precision(BITS):
        for rest in product((0, 1, 2), repeat=population - 1):
            laws = [subset_sums((*rest, mine), sample) for mine in (2, 0)]
            there, back = (list(below(pair, noisy_sums(way, scale), LOSSES)) for way in (laws, laws[::-1]))
            assert all(gap > -TINY for gap in [*there, *back])
            if not any(rest):  # nobody else moves the sum: what is worst above 1 one way, is so below 1 the other way
                assert all(min(one.upper(), other.upper()) < TINY for one, other in zip(there, back, strict=True))


@pytest.mark.parametrize("rate", [Fraction(1, 10), Fraction(3, 4)], ids=str)
def test_poisson_samples_never_exceed_their_pairs_and_reach_those_for_presence(rate: Fraction) -> None:
    scale = Fraction(3, 2)
    near, far = IntegerNoisePair(DiscreteLaplace(scale), 1), IntegerNoisePair(DiscreteLaplace(scale), 2)
    with precision(BITS):
        for rest in product((-1, 0, 1), repeat=2):
            without, up, down = (poisson_sums((*rest, mine), rate) for mine in (0, 1, -1))
            there = list(below(RemovedPair(near, rate), noisy_sums((up, without), scale), LOSSES))
            back = list(below(AddedPair(near, rate), noisy_sums((without, up), scale), LOSSES))
            swapped = list(below(ExchangedPair(far, rate), noisy_sums((up, down), scale), LOSSES))
            assert all(gap > -TINY for gap in [*there, *back, *swapped])
            if rest == (0, 0):  # the other units are out of the way: the worst case
                assert all(gap < TINY for gap in [*there, *back])
        too_seldom = RemovedPair(near, rate * Fraction(999, 1000))
        assert any(
            gap < -TINY
            for gap in below(too_seldom, noisy_sums((poisson_sums((1,), rate), poisson_sums((), rate)), scale), LOSSES)
        )


def exponential(scores: Sequence[int], eta: Fraction) -> list[arb]:
    weights = [(ball(eta * score) / 2).exp() for score in scores]
    return [weight / sum(weights, arb(0)) for weight in weights]


def score_pairs(eta: Fraction) -> list[Outcomes]:
    """The exponential mechanism on neighbouring tables of three scores, each of which moves by at most 1."""
    tables = list(product((0, 1), repeat=3))
    found = []
    for one, other in product(tables, tables):
        found.append(list(zip(exponential(one, eta), exponential(other, eta), strict=True)))
    return found


@pytest.mark.parametrize("eta", [Fraction(1, 2), Fraction(3)], ids=str)
def test_the_pair_for_a_range_bounds_the_exponential_mechanism(eta: Fraction) -> None:
    losses = [eta * place / 6 for place in (-7, -4, -1, 0, 1, 3, 5, 6, 8)]
    with precision(BITS):
        for outcomes in score_pairs(eta):
            assert all(gap > -TINY for gap in below(RangePair(eta), outcomes, losses))
        # The laws that reach it: all losses at the two ends of a window of length eta.
        for loss in losses[1:-2]:
            end = ((ball(eta) + ball(loss)) / 2).exp()
            mass = (ball(eta).exp() - end) / (ball(eta).exp() - 1)
            two = [(mass, mass / end), (1 - mass, (1 - mass) * ball(eta).exp() / end)]
            assert all(gap < TINY for gap in below(RangePair(eta), two, [loss]))


def test_the_pair_for_a_range_bounds_adaptive_choices() -> None:
    eta, epsilon = Fraction(1), Fraction(1, 2)
    upper = PLD.of(RangePair(eta), 2).delta(epsilon).upper
    with precision(BITS):
        pairs = score_pairs(eta)
        worst = largest([profile_of(outcomes) for outcomes in pairs])
        x = ball(epsilon).exp()
        # The second table is the worst one for what came out of the first.
        true = max(endpoints(sum((p * worst(x * q / p) for p, q in outcomes), arb(0)))[0] for outcomes in pairs)
    assert upper / 2 < true <= upper


@pytest.mark.parametrize("seed", range(3))
def test_exchanged_gaussians_dominate_every_two_vectors(seed: int) -> None:
    draw = np.random.default_rng(seed)
    mu, rate = 1.5, 0.3
    axis = np.linspace(-9, 9, 361)
    across, along = np.meshgrid(axis, axis)

    def density(centre: Sequence[float]) -> np.ndarray:
        spread = (across - centre[0]) ** 2 + (along - centre[1]) ** 2
        return np.exp(-spread / 2) / (2 * math.pi) * (axis[1] - axis[0]) ** 2

    lines = ExchangedGaussianPair("2.25", "0.3").lines()
    for _ in range(12):
        angles, lengths = draw.uniform(0, 2 * math.pi, 2), mu * np.sqrt(draw.uniform(0, 1, 2))
        one, other = ([length * math.cos(a), length * math.sin(a)] for a, length in zip(angles, lengths, strict=True))
        p, q = ((1 - rate) * density((0, 0)) + rate * density(centre) for centre in (one, other))
        for loss in (-0.6, 0.0, 0.2, 1.0, 2.0):
            here, there = (float(mass.mid()) for mass in lines(arb(loss)))
            assert np.maximum(0, p - math.exp(loss) * q).sum() <= here - math.exp(loss) * there + 1e-4


@pytest.mark.parametrize("turned", [False, True])
def test_the_largest_of_several_profiles_is_not_missed_where_floats_cannot_tell_them_apart(turned: bool) -> None:
    more = Fraction(1, 100) + Fraction(1, 10**20)
    with precision(128):
        both = [ApproxPair(1, Fraction(1, 100)).lines(), ApproxPair(1, more).lines()]
        line = highest_lines(both[::-1] if turned else both)(arb(0))
        truth = ball(more) + ball(1 - more) * (1 - 2 / (1 + arb(1).exp()))
        assert not line.here - line.there < truth
