"""Intervals hold the exact value as often as they say, and not much more often: worked out from the laws of the noise.

Nothing here is drawn. Coverage is a sum over all outcomes of the noise (or an integral, where it is as good as
continuous), of the chance of each times whether the interval of the release that has it holds the exact value.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from functools import cache
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import sfumato as sf
from sfumato.noise.discrete_gaussian import DiscreteGaussian
from sfumato.noise.discrete_laplace import DiscreteLaplace
from sfumato.noise.distribution import Noise
from sfumato.release.interval import Interval
from sfumato.release.linear import Linear, _wide
from sfumato.release.record import Noised, Release
from sfumato.release.sums import Laid, Terms, lattice_sum, split_above, sum_above

Floats = NDArray[np.float64]

SURE = 0.95
ROUNDING = 1e-9
"""What is lost here by cutting tails and by floats, at most."""

FINE = Fraction(1 << 40)


def released(value: Any, noise: Noise, step: Fraction = Fraction(1), **more: Any) -> Release:
    return Release(value, sf.Pure(1), "one row", sf.release.How("noise"), noise=Noised(noise, step, **more))


def number(value: Any, noise: Noise, step: Fraction = Fraction(1)) -> sf.release.Estimate:
    found = released(value, noise, step).estimate()
    assert isinstance(found, sf.release.Estimate)
    return found


def one(found: Interval | list[Interval] | None) -> Interval:
    assert isinstance(found, Interval)
    return found


@cache
def masses(noise: Any, tiny: Fraction = Fraction(1, 10**11)) -> dict[int, float]:
    """Gives the probabilities of all outcomes but for a tiny chance."""
    return {z: float(noise.pmf(z)) for z in range(noise.quantile(tiny), noise.quantile(1 - tiny) + 1)}


def of_sum(terms: Terms) -> tuple[Floats, Floats, Fraction]:
    """Gives the outcomes, in steps, and the probabilities of a sum, by adding up over all outcomes of each term."""
    step = Fraction(1, math.lcm(*(weight.denominator for _, weight in terms)))
    if len(terms) > 3:  # in whole steps, and many
        chances = np.ones(1)
        for noise, _ in terms:
            chances = np.convolve(chances, list(masses(noise, Fraction(1, 10**10)).values()))
        return np.arange(len(chances)) - len(chances) // 2.0, chances, step
    outcomes, chances = np.zeros(1), np.ones(1)
    for noise, weight in terms:
        found = masses(noise, Fraction(1, 10**10))
        moves = np.array([int(z * weight / step) for z in found], dtype=np.float64)
        outcomes, back = np.unique(np.add.outer(outcomes, moves).ravel(), return_inverse=True)
        chances = np.bincount(back, weights=np.multiply.outer(chances, np.array(list(found.values()))).ravel())
    return outcomes, chances, step


def coverage(noise: Noise, truth: int, interval: Callable[[int], Interval]) -> float:
    return math.fsum(chance for z, chance in masses(noise).items() if truth in interval(truth + z))


# One number, and vectors.

MECHANISMS = {
    "laplace": sf.scalar(int) >> sf.laplace(scale=30),
    "narrow laplace": sf.scalar(int) >> sf.laplace(scale="0.7"),
    "gaussian": sf.scalar(int) >> sf.gaussian(scale=30),
    "staircase": sf.scalar(int) >> sf.mechanisms.staircase(epsilon="0.1", width=3),
    "binomial": sf.scalar(int) >> sf.mechanisms.binomial(2000, epsilon=1),
    "truncated": sf.scalar(int) >> sf.mechanisms.truncated_laplace(scale=20, reach=100),
    "above": sf.scalar(int) >> sf.mechanisms.upper_estimate(scale=20, reach=100),
    "below": sf.scalar(int) >> sf.mechanisms.lower_estimate(scale=20, reach=100),
}


@pytest.mark.parametrize("name", MECHANISMS)
@pytest.mark.parametrize("sure", [Fraction(1, 2), Fraction(9, 10), Fraction(95, 100), Fraction(999, 1000)])
def test_P1_140_one_number_is_covered_as_stated(name: str, sure: Fraction) -> None:
    mechanism = MECHANISMS[name]
    noised = mechanism.noise
    assert noised is not None

    def interval(value: int) -> Interval:
        release = Release(value + noised.offset, sf.Pure(1), "one row", sf.release.How("noise"), noise=noised)
        return one(release.interval(sure))

    found = coverage(noised.noise, 17, interval)
    assert found >= sure - ROUNDING
    if name != "narrow laplace":
        assert found <= sure + Fraction(3, 100)
    law = mechanism.law(17)  # type: ignore[misc]
    assert float(law.probability(17 + noised.offset + 3)) == pytest.approx(float(noised.noise.pmf(3)))


def test_P1_140_P3_133_a_release_states_what_its_half_width_states() -> None:
    for mechanism in MECHANISMS.values():
        if mechanism.noise is None or mechanism.noise.offset or "truncated" in mechanism.how.mechanism:
            continue
        release = mechanism(100)
        interval = one(release.interval())
        assert interval.ends == (release.value - release.half_width, release.value + release.half_width)
        assert interval.confidence == release.confidence


@pytest.mark.parametrize("family", [DiscreteLaplace, DiscreteGaussian])
@pytest.mark.parametrize("size", [1, 2, 10])
def test_P1_141_vectors_are_covered_together(family: type, size: int) -> None:
    noise = family(Fraction(1000))
    intervals = released(np.zeros(size, dtype=int), noise, coordinates=size).interval()
    assert isinstance(intervals, list) and len(intervals) == size
    together = math.prod(1 - float(noise.tail(int(interval.high) + 1)) for interval in intervals)
    assert SURE <= together <= 0.9505
    union = noise.half_width(1 - Fraction(5, 100) / size)
    assert size == 1 or (1 - float(noise.tail(union + 1))) ** size > together
    stated = (sf.vector(int, size=size, metric=sf.L1()) >> sf.laplace(scale=1000))([0] * size).half_width
    assert family is DiscreteGaussian or stated == intervals[0].high


def test_the_union_bound_covers_more_than_it_says_and_the_exact_share_does_not() -> None:
    noise, size = DiscreteLaplace(Fraction(10**5)), 10
    exact, union = ((1 - float(noise.tail(half + 1))) ** size for half in widths(noise, size))
    assert SURE <= exact < 0.95001 < 0.951 < union


def widths(noise: Noise, size: int) -> tuple[int, int]:
    intervals = released([0] * size, noise, coordinates=size).interval()
    assert isinstance(intervals, list)
    return int(intervals[0].high), noise.half_width(1 - Fraction(5, 100) / size)


@pytest.mark.parametrize("step", [Fraction(1, 10), Fraction(1, 3), Fraction(1, 1 << 40), Fraction(7)])
def test_values_in_steps_are_covered_though_floats_are_released(step: Fraction) -> None:
    """Float rounding loses nothing, not even on the edge: the float tells which whole number of steps it stands for."""
    noise, truth = DiscreteLaplace(Fraction(30)), 12345
    found = coverage(
        noise, 0, lambda z: shifted(one(released(float((truth + z) * step), noise, step).interval()), truth, step)
    )
    assert SURE <= found <= 0.97


def shifted(interval: Interval, truth: int, step: Fraction) -> Interval:
    return Interval(*(float(Fraction(end) / step - truth) for end in interval.ends), interval.confidence)


def test_rounding_to_the_grid_and_to_floats_widens_the_interval() -> None:
    noise = DiscreteLaplace(Fraction(1))
    assert one(released(0.0, noise, rounding=Fraction(1, 2)).interval()).ends == (-3.5, 3.5)
    far = 2.0**60 + 2**12
    assert one(released(far, noise).interval()).ends == (far - 256, far + 256)  # half the gap between floats there
    assert one(released(2**60 + 1, noise).interval()).ends == (2**60 - 2, 2**60 + 4)
    largest = math.nextafter(math.inf, 0)
    assert one(released(largest, noise).interval()).ends == (-math.inf, math.inf)


# Sums.

L10, L30, G10, G3 = (
    DiscreteLaplace(Fraction(10)),
    DiscreteLaplace(Fraction(30)),
    DiscreteGaussian(Fraction(10)),
    DiscreteGaussian(Fraction(3)),
)
STAIRS = sf.noise.Staircase(Fraction(1, 2), 8, 3)
SUMS: dict[str, list[tuple[Noise, Fraction]]] = {
    "difference": [(L10, Fraction(1)), (L10, Fraction(-1))],
    "gaussian difference": [(G10, Fraction(1)), (G10, Fraction(-1))],
    "both kinds": [(L10, Fraction(1)), (G10, Fraction(2)), (G3, Fraction(-3))],
    "no common step": [(L10, Fraction(3, 10)), (L30, Fraction(71, 1000))],
    "mean of a known size": [(L30, Fraction(1, 25)), (G10, Fraction(1, 25))],
    "staircase and coins": [(STAIRS, Fraction(1)), (sf.noise.Binomial(400), Fraction(1, 3))],
    "one in the shadow": [(L30, Fraction(1)), (G3, Fraction(1, 100))],
    "a hundred bins": [(L10, Fraction(1))] * 100,
    "ten": [(DiscreteLaplace(Fraction(2)), Fraction(1))] * 5 + [(DiscreteGaussian(Fraction(2)), Fraction(1))] * 5,
}


@pytest.mark.parametrize("name", SUMS)
@pytest.mark.parametrize("sure", [Fraction(1, 2), Fraction(95, 100), Fraction(9999, 10000)])
def test_sums_are_covered_as_stated(name: str, sure: Fraction) -> None:
    terms = SUMS[name]
    total = sum((number(5, noise) * weight for noise, weight in terms), number(0, L10) * 0)
    interval = one(total.interval(sure))
    outcomes, chances, step = of_sum(tuple(terms))
    value = Fraction(5) * sum(weight for _, weight in terms)
    low, high = (float((value - Fraction(end)) / step) for end in (interval.high, interval.low))
    found = math.fsum(chances[(outcomes >= low - 1e-6) & (outcomes <= high + 1e-6)])
    assert found >= sure - ROUNDING
    assert found <= sure + (1 - sure) / (3 if name == "ten" else 5)  # that one is coarse


@pytest.mark.parametrize("name", ["difference", "gaussian difference", "both kinds", "a hundred bins", "ten"])
def test_adding_up_the_ends_covers_too_much(name: str) -> None:
    terms = SUMS[name]
    ends = sum(abs(weight) * noise.half_width(Fraction(95, 100)) for noise, weight in terms)
    outcomes, chances, step = of_sum(tuple(terms))
    assert math.fsum(chances[np.abs(outcomes) <= float(ends / step) + 1e-6]) > 0.97
    assert ends > sum_above(tuple(terms), Fraction(1, 40))


def two_laplace(t: float) -> float:
    """Gives P(|X + Y| <= t) for two Laplace variables of scale 1."""
    return 1 - math.exp(-t) * (1 + t / 2)


def test_sums_of_noise_on_fine_grids_are_covered_as_stated() -> None:
    """There is no coarse common step here: the sum is laid on a lattice, each term rounded up."""
    fine, other = DiscreteLaplace(FINE), DiscreteLaplace(FINE * Fraction(4, 3))
    total = number(0.0, fine, 1 / FINE) - number(0.0, other, Fraction(3, 4) / FINE)
    assert SURE <= two_laplace(one(total.interval()).high) <= 0.9501
    normal, wide = DiscreteGaussian(FINE), DiscreteGaussian(FINE * 3)
    weighted = number(0.0, normal, 1 / FINE) * 4 + number(0.0, wide, 1 / FINE)
    assert SURE <= math.erf(one(weighted.interval()).high / 5 / math.sqrt(2)) <= 0.9502
    many = sum((number(0.0, DiscreteGaussian(FINE + k), 1 / FINE) for k in range(40)), weighted * 0)
    assert SURE <= math.erf(one(many.interval()).high / math.sqrt(80)) <= 0.951
    assert sum_above(((fine, 1 / FINE),), Fraction(1, 40)) == Fraction(fine.quantile(Fraction(39, 40))) / FINE


def laid(size: int, first: int, times: int, seed: int) -> Laid:
    """Is some law on lattice points, in which small and large masses lie side by side."""
    masses = 2.0 ** np.random.default_rng(seed).uniform(-30, 0, size)
    return Laid(masses / masses.sum(), first, times, 0.0)


@pytest.mark.parametrize("counts", [(1,), (7,), (2, 3), (1, 1, 4)], ids=str)
def test_sums_on_the_lattice_are_within_their_error_of_exact_ones(counts: tuple[int, ...]) -> None:
    terms = [laid(40 + 11 * place, -17 - place, times, place) for place, times in enumerate(counts)]
    size = 256  # small, so that sums wrap around
    computed, error = lattice_sum(terms, size)
    law = {0: Fraction(1)}
    for term in terms:
        for _ in range(term.times):
            law = circled(law, term, size)
    wrong = math.sqrt(sum((Fraction(float(mass)) - law.get(place, 0)) ** 2 for place, mass in enumerate(computed)))
    assert wrong <= error < 1e-13
    assert error < math.dist(computed, np.roll(computed, 1))


def circled(law: dict[int, Fraction], term: Laid, size: int) -> dict[int, Fraction]:
    """Adds one term to a sum on a circle, exactly."""
    found: dict[int, Fraction] = {}
    for place, mass in law.items():
        for more, chance in zip(term.places.tolist(), term.masses.tolist(), strict=True):
            where = (place + more) % size
            found[where] = found.get(where, Fraction(0)) + mass * Fraction(chance)
    return found


def test_very_high_confidence_is_never_too_narrow() -> None:
    """Where floats cannot tell, every term gets its share of the chance to miss."""
    terms = ((DiscreteLaplace(FINE), 1 / FINE), (DiscreteLaplace(FINE), 1 / FINE))
    missed = Fraction(1, 10**15)
    found = sum_above(terms, missed)
    assert found == split_above(terms, missed)
    assert 1 - two_laplace(float(found)) <= 2 * missed
    certain = one((number(1, L10) + number(1, L10)).interval(1))
    assert certain.ends == (-math.inf, math.inf)
    bounded = sf.noise.Binomial(10)
    assert one((number(1, bounded) + 2 * number(1, bounded)).interval(1)).ends == (3 - 15, 3 + 15)


def test_noise_that_is_not_symmetric_has_an_interval_that_is_not() -> None:
    noise = sf.noise.Truncated(DiscreteLaplace(Fraction(20)), -10, 200)
    assert not noise.symmetric
    assert SURE <= coverage(noise, 3, lambda value: one(released(value, noise).interval())) <= 0.965
    total = one((number(0, noise) - 2 * number(0, noise)).interval())
    outcomes, chances, _ = of_sum(((noise, Fraction(1)), (noise, Fraction(-2))))
    found = math.fsum(chances[(-outcomes >= total.low) & (-outcomes <= total.high)])
    assert SURE <= found <= 0.96
    assert abs(total.low) < 0.7 * total.high
    assert (number(5, noise) / number(100, L10)).interval() is None


def test_the_same_release_is_the_same_noise() -> None:
    a, b = number(10, L10), number(20, L10)
    assert one((a - a).interval()).ends == (0, 0)
    assert one((a + a).interval()) == one((2 * a).interval())
    assert one((a + b - b).interval()) == one(a.interval())
    wide, narrow = one((a + a).interval()), one((a + b).interval())
    assert wide.high - wide.low > narrow.high - narrow.low
    release = released([1, 2], L10, coordinates=2)
    first, second = release.estimate()  # type: ignore[misc]
    again, _ = release.estimate()  # type: ignore[misc]
    assert one((first - again).interval()).ends == (0, 0)
    assert one((first - second).interval()).ends != (0, 0)


# Ratios.


def fieller_width(top: Noise, bottom: Noise, ratio: Fraction, step: Fraction) -> tuple[Fraction, Fraction]:
    """Gives the quantile of |Z_S - r Z_N|, and the width that the interval may use instead."""
    terms = ((top, step), (bottom, -ratio)) if ratio else ((top, step),)
    least = Fraction(sum_above(terms, Fraction(1, 40)))
    return least, least + step


RATIOS = [
    pytest.param(DiscreteLaplace(Fraction(20)), DiscreteLaplace(Fraction(10)), Fraction(1), id="laplace counts"),
    pytest.param(DiscreteGaussian(Fraction(200)), DiscreteGaussian(Fraction(5)), Fraction(1, 10), id="gaussian sum"),
    pytest.param(DiscreteGaussian(FINE), DiscreteLaplace(Fraction(4)), 20 / FINE, id="fine sum"),
]


@pytest.mark.parametrize(("top", "bottom", "step"), RATIOS)
@pytest.mark.parametrize("ratio", [Fraction(0), Fraction(1, 2), Fraction(-7), Fraction(10, 3)])
def test_ratios_are_held_where_and_only_where_fieller_says(
    top: Noise, bottom: Noise, step: Fraction, ratio: Fraction
) -> None:
    """The exact ratio is held iff |S - r N| is at most the quantile of |Z_S - r Z_N|, or a hair more.

    That is true of as many outcomes as stated: whatever the noisy denominator, as long as its interval leaves out 0.
    """
    width, outer = fieller_width(top, bottom, ratio, step)
    reach = bottom.half_width(Fraction(95, 100))
    for noisy in (reach + 1, 2 * reach, 5 * reach):
        for side in (-1, 1):
            centre = (ratio * noisy + side * width) / step
            inside = math.floor(centre) if side > 0 else math.ceil(centre)
            assert holds(inside * step, top, step, noisy, bottom, ratio)
            if noisy >= 5 * reach:
                outside = round((ratio * noisy + side * (outer * Fraction(102, 100) + step)) / step)
                assert not holds(outside * step, top, step, noisy, bottom, ratio)


def holds(over: Fraction, top: Noise, step: Fraction, under: int, bottom: Noise, ratio: Fraction) -> bool:
    value = int(over) if step == 1 else float(over)
    return float(ratio) in one((number(value, top, step) / number(under, bottom)).interval())


@pytest.mark.parametrize("bottom", [DiscreteLaplace(Fraction(4)), DiscreteGaussian(Fraction(4))])
@pytest.mark.parametrize(("over", "under"), [(300, 1000), (0, 60), (60, 40), (-90, 30), (5, 12), (10, 2), (3, -25)])
def test_ratios_of_counts_are_covered_as_stated(bottom: Noise, over: int, under: int) -> None:
    """By the criterion of the test above, over all outcomes of both noises; small denominators are always covered."""
    top = DiscreteLaplace(Fraction(20))
    ratio = Fraction(over, under)
    width, outer = fieller_width(top, bottom, ratio, Fraction(1))
    least, most = ratio_coverage(top, bottom, over, under, (width, outer * Fraction(102, 100) + 1))
    assert least >= SURE - ROUNDING
    if under >= 60:
        assert most <= 0.97


def outcomes_of(top: Noise, bottom: Noise, over: int, under: int) -> tuple[Floats, Floats, Floats]:
    first, second = masses(top), masses(bottom)
    noisy_over, noisy_under = np.meshgrid(over + np.array(list(first)), under + np.array(list(second)), indexing="ij")
    return noisy_over, noisy_under, np.multiply.outer(list(first.values()), list(second.values()))


def ratio_coverage(top: Noise, bottom: Noise, over: int, under: int, sizes: tuple[Fraction, ...]) -> list[float]:
    noisy_over, noisy_under, chances = outcomes_of(top, bottom, over, under)
    open_ended = np.abs(noisy_under) <= bottom.half_width(Fraction(95, 100))
    apart = np.abs(noisy_over - over / under * noisy_under)
    return [math.fsum(chances[open_ended | (apart <= float(size) + 1e-9)]) for size in sizes]


def test_naive_ratios_fail() -> None:
    """Dividing the ends covers too much; forgetting the noise of the denominator far too little."""
    top, bottom, over, under = DiscreteLaplace(Fraction(20)), DiscreteLaplace(Fraction(10)), 300, 100
    noisy_over, noisy_under, chances = outcomes_of(top, bottom, over, under)
    wide, reach = (noise.half_width(Fraction(95, 100)) for noise in (top, bottom))
    positive = noisy_under > reach
    ratio = over / under
    with np.errstate(divide="ignore", invalid="ignore"):
        ends = [
            (noisy_over + side * wide) / (noisy_under - side * np.sign(noisy_over + side * wide) * reach)
            for side in (-1, 1)
        ]
        forgotten = np.abs(noisy_over / noisy_under - ratio) <= wide / np.abs(noisy_under)
    of_ends = math.fsum(chances[~positive | ((ends[0] <= ratio) & (ratio <= ends[1]))])
    assert of_ends > 0.97
    assert math.fsum(chances[forgotten]) < 0.93
    width, outer = fieller_width(top, bottom, Fraction(3), Fraction(1))
    assert SURE <= ratio_coverage(top, bottom, over, under, (width, outer))[0] <= 0.97


def test_denominators_that_may_be_zero_give_no_end_and_no_exception() -> None:
    for under in (-30, -3, 0, 7, 30):
        share = number(100, L10) / number(under, L10)
        assert one(share.interval()).ends == (-math.inf, math.inf)
        assert math.isnan(share.value) == (under == 0)
    edge = one((number(100, L10) / number(32, L10)).interval())
    assert math.isfinite(edge.low) and edge.low < 100 / 32 < edge.high < 1000
    assert one((number(0, L10) / number(10**6, L10)).interval()).high < 1e-4


def test_ratios_that_share_noise() -> None:
    """A share of a whole, a / (a + b): both lines of the fraction carry the noise of a."""
    a, b = number(640, L10), number(360, L10)
    share = one((a / (a + b)).interval())
    odds = one((b / a).interval())
    assert share.low == pytest.approx(1 / (1 + odds.high), rel=2e-3)  # the same statement in other words
    assert share.high == pytest.approx(1 / (1 + odds.low), rel=2e-3)
    assert one((a / a).interval()).ends == (1, 1)
    assert one(((a + b) / (2 * b + 2 * a)).interval()).ends == (0.5, 0.5)
    assert one((1 + a / b).interval()).high == pytest.approx(1 + one((a / b).interval()).high, rel=1e-12)


def test_ratios_follow_signs_and_scales() -> None:
    a, b = number(700, L30), number(100, L10)
    plain = one((a / b).interval())
    assert one((-a / b).interval()).ends == pytest.approx((-plain.high, -plain.low), rel=1e-9)
    assert one((a / -b).interval()).ends == pytest.approx((-plain.high, -plain.low), rel=1e-9)
    assert one((3 * a / b).interval()).ends == pytest.approx((3 * plain.low, 3 * plain.high), rel=3e-3)
    assert one((a / b * 3 + 1).interval()).ends == pytest.approx((3 * plain.low + 1, 3 * plain.high + 1), rel=3e-3)
    inverse = one((1 / b).interval())
    assert inverse.ends == pytest.approx((1 / 130, 1 / 70), rel=2e-3)
    assert inverse.low <= 1 / 130 and inverse.high >= 1 / 70


def test_widths_of_ratios_rise_with_the_weights() -> None:
    """What the sweep rests on: a width for the largest weights does for all smaller ones."""
    small = DiscreteLaplace(Fraction(2))
    for top, bottom in ((small, small), (G3, small), (STAIRS, G3)):
        over = Linear(Fraction(0), {source(top): Fraction(1)})
        under = Linear(Fraction(0), {source(bottom): Fraction(1)})
        width = _wide(over, under, Fraction(95, 100))
        for most in (Fraction(1, 7), Fraction(1), Fraction(22, 7)):
            stated = Fraction(width(lambda s, n, most=most: abs(s) + most * abs(n)))  # type: ignore[misc]
            for part in range(1, 20):
                outcomes, chances, step = of_sum(((top, Fraction(1)), (bottom, most * part / 19)))
                assert math.fsum(chances[np.abs(outcomes) > float(stated / step) + 1e-6]) <= 0.05


def source(noise: Noise) -> Any:
    [(found, _)] = number(0, noise)._top.weights.items()
    return found


# After the arithmetic.


@pytest.mark.parametrize("truth", [0, 1, 5, 100])
@pytest.mark.parametrize("noise", [L10, G10])
def test_P1_150_clipped_and_rounded_counts_are_covered(noise: Noise, truth: int) -> None:
    plain = coverage(noise, truth, lambda value: one(number(value, noise).interval()))
    clipped = coverage(noise, truth, lambda value: one(number(value, noise).clipped(0).interval()))
    rounded = coverage(noise, truth, lambda value: one(number(value, noise).clipped(0).through(round).interval()))
    assert clipped == rounded and SURE <= plain <= 0.97
    assert clipped == plain if truth else clipped >= plain  # at 0 itself, an interval far below becomes 0 alone
    assert one(number(-50, noise).clipped(0, 10).interval()).low >= 0


@pytest.mark.parametrize("truth", [0, 3, 400])
def test_monotone_functions_are_covered(truth: int) -> None:
    roots = coverage_of(truth, lambda x: x.clipped(0).through(math.sqrt), math.sqrt(truth))
    falling = coverage_of(truth, lambda x: x.through(lambda v: -3 * v, increasing=False), -3.0 * truth)
    affine = coverage_of(truth, lambda x: 1 - 2 * x.clipped(0) / 4, 1 - truth / 2)
    assert SURE <= falling <= 0.97
    assert roots == affine == falling if truth else roots == affine > falling
    if truth:  # where the logarithm has no value, nothing is said: that is right too
        assert coverage_of(truth, lambda x: x.through(math.log), math.log(truth)) >= roots


def coverage_of(truth: int, step: Callable[[sf.release.Estimate], sf.release.Estimate], exact: float) -> float:
    found = masses(L10)
    return math.fsum(p for z, p in found.items() if exact in one(step(number(truth + z, L10)).interval()))
