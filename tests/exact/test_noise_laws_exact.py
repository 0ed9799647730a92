"""Masses, tails and moments of every distribution, and the law that each sampler's parts make up together."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from flint import arb
from tests.exact.scripted_entropy import ScriptedEntropy, halves, words
from tests.examples.noises import SUMMED

from sfumato.exact import ball, precision
from sfumato.noise import (
    Binomial,
    Censored,
    DiscreteGaussian,
    DiscreteLaplace,
    Geometric,
    Staircase,
    Truncated,
    enclosure,
)
from sfumato.noise.blocks import BlockSampler, block_table
from sfumato.noise.digits import DIGIT_BITS, digit_law, lower_bits, lower_tables
from sfumato.noise.discrete_laplace import folded_law, unfold, unfold_blocks
from sfumato.noise.gaussian_sums import direct_sum, normaliser, tail_sum
from sfumato.noise.inversion import IndexLaw
from sfumato.textbook.continuous import Exponential, Gaussian, Gumbel, Laplace, Reference, TruncatedLaplace, two_sided

every_law = pytest.mark.parametrize("name", SUMMED)


@every_law
def test_masses_add_up_and_agree_with_cdf_and_tails(name: str) -> None:
    noise, values = SUMMED[name]
    with precision(128):
        total = arb(0)
        for value in values:
            mass = noise.pmf(value)
            total += mass
            assert (noise.cdf(value) - noise.cdf(value - 1)).overlaps(mass)
            assert (noise.cdf(value - 1) + noise.upper_tail(value)).overlaps(arb(1))
            assert mass.rad() < arb(2) ** -110
        assert abs(total - 1) < arb(2) ** -85


@every_law
def test_variance_is_the_sum(name: str) -> None:
    noise, values = SUMMED[name]
    with precision(128):
        mean = sum((value * noise.pmf(value) for value in values), arb(0))
        second = sum(((value - mean) ** 2 * noise.pmf(value) for value in values), arb(0))
        assert abs(second - noise.variance()) < arb(2) ** -60


@every_law
def test_quantiles_and_half_widths_are_least(name: str) -> None:
    noise, _ = SUMMED[name]
    for p in (Fraction(1, 100), Fraction(1, 3), Fraction(1, 2), Fraction(97, 100)):
        found = noise.quantile(p)
        assert enclosure(noise.cdf(found))[1] >= p > enclosure(noise.cdf(found - 1))[0]
        half = noise.half_width(p)
        assert enclosure(noise.tail(half + 1))[0] <= 1 - p
        assert half == 0 or enclosure(noise.tail(half))[1] > 1 - p


@every_law
def test_support_is_where_the_mass_is(name: str) -> None:
    noise, values = SUMMED[name]
    low, high = noise.support
    possible = [value for value in values if noise.pmf(value) > 0]
    assert low is None or min(possible) == low
    assert high is None or max(possible) == high


@every_law
def test_nothing_lies_outside_the_support(name: str) -> None:
    noise, _ = SUMMED[name]
    low, high = noise.support
    if low is not None:
        assert noise.cdf(low - 1) == 0
        assert noise.upper_tail(low) == 1
        assert noise.pmf(low - 1) == 0
    if high is not None:
        assert noise.cdf(high) == 1
        assert noise.upper_tail(high + 1) == 0
        assert noise.pmf(high + 1) == 0


@pytest.mark.parametrize("trials", [1, 2, 9, 400])
def test_binomial_against_whole_numbers(trials: int) -> None:
    noise = Binomial(trials, centred=False)
    with precision(128):
        for heads in range(0, trials + 1, 1 + trials // 20):
            exact = Fraction(sum(math.comb(trials, k) for k in range(heads, trials + 1)), 2**trials)
            low, high = enclosure(noise.upper_tail(heads))
            assert low <= exact <= high
            assert high - low < Fraction(1, 2**115)


def test_A1_078_discrete_laplace() -> None:
    noise = DiscreteLaplace(Fraction(1))
    assert float(noise.pmf(0)) == pytest.approx(0.4621172, abs=5e-8)
    assert float(noise.pmf(1)) == float(noise.pmf(-1)) == pytest.approx(0.1700034, abs=5e-8)
    assert float(noise.variance()) == pytest.approx(1.841347, abs=5e-7)
    assert float(noise.tail(4)) == pytest.approx(0.0267796, abs=5e-8)
    # α is the least m with P(|Z| >= m) <= β: one more than the half-width, which asks for P(|Z| > t) <= β.
    assert noise.half_width(Fraction(95, 100)) + 1 == 4


@pytest.mark.parametrize("scale", [Fraction(1, 3), Fraction(1), Fraction(25)])
def test_P1_142_discrete_laplace_tail_formula(scale: Fraction) -> None:
    noise = DiscreteLaplace(scale)
    for m in (1, 2, 17):
        with precision(128):
            assert (2 * ball(-m / scale).exp() / (1 + ball(-1 / scale).exp())).overlaps(noise.tail(m))


def test_A1_079_truncated_geometric() -> None:
    scale = Fraction("1.442695040888963407359924681")  # 1 / ln 2
    clamped = Censored(DiscreteLaplace(scale), 0, 10)
    assert float(clamped.pmf(0)) == pytest.approx(0.666667, abs=5e-7)
    assert float(clamped.pmf(1)) == pytest.approx(0.166667, abs=5e-7)
    assert float(clamped.pmf(10)) == pytest.approx(6.51042e-4, abs=5e-10)


def test_A1_147_truncated_laplace_stays_in_its_range() -> None:
    noise = Truncated.within(DiscreteLaplace(Fraction(3)), radius=10)
    drawn = 1000 + noise.samples(50_000, ScriptedEntropy(b"")) + 10
    assert (drawn.min(), drawn.max()) == (1000, 1020)
    assert noise.quantile(0) == -10
    assert noise.quantile(1) == 10
    assert noise.half_width(1) == 10


def test_A1_075_laplace_variance() -> None:
    assert Laplace(Fraction(3)).variance() == 18


def test_A1_080_mass_that_a_cut_removes() -> None:
    removed = TruncatedLaplace(Fraction(1), Fraction(1000)).removed()
    with precision(128):
        assert float(removed.log() / arb(10).log()) == pytest.approx(-434.60, abs=5e-3)
        assert removed.overlaps(arb(-1000).exp() / 2)


REFERENCES: list[Reference] = [
    Laplace(Fraction(3, 2), Fraction(1)),
    Gaussian(Fraction(2), Fraction(-1)),
    Gumbel(Fraction(1, 2), Fraction(3)),
    Exponential(Fraction(4)),
    TruncatedLaplace(Fraction(2), Fraction(5)),
]


@pytest.mark.parametrize("reference", REFERENCES, ids=repr)
def test_P1_096_continuous_references(reference: Reference) -> None:
    """Density against differences of the cdf, quantile against the cdf, moments against a Riemann sum."""
    with precision(128):
        for p in (Fraction(1, 50), Fraction(1, 2), Fraction(9, 10)):
            x = Fraction(enclosure(reference.quantile(p))[0])
            assert abs(reference.cdf(x) - ball(p)) < arb(2) ** -100
            assert (reference.cdf(x) + reference.upper_tail(x)).overlaps(arb(1))
            step = Fraction(1, 1 << 20)
            slope = (reference.cdf(x + step) - reference.cdf(x - step)) / ball(2 * step)
            assert abs(slope - reference.pdf(x)) < arb(2) ** -18
    low, high, step = Fraction(-45), Fraction(100), Fraction(1, 16)
    count = int((high - low) / step)
    points = [low + step * (2 * k + 1) / 2 for k in range(count)]
    weights = [float(reference.cdf(point + step / 2) - reference.cdf(point - step / 2)) for point in points]
    mean = math.fsum(float(point) * weight for point, weight in zip(points, weights, strict=True))
    second = math.fsum((float(point) - mean) ** 2 * weight for point, weight in zip(points, weights, strict=True))
    assert mean == pytest.approx(float(reference.mean()), abs=0.002)
    assert second == pytest.approx(float(reference.variance()), rel=0.002)


def test_P1_096_sums_and_tail_bound_of_gaussians() -> None:
    assert Gaussian(Fraction(3), Fraction(1)).plus(Gaussian(Fraction(4), Fraction(2))) == (3, 25)
    for t in (Fraction(1, 2), Fraction(2), Fraction(6)):
        with precision(128):
            assert two_sided(Gaussian(Fraction(1)), distance=t) <= 2 * ball(-(t**2) / 2).exp()
    assert two_sided(Laplace(Fraction(2)), distance=0) == 1


@pytest.mark.parametrize("scale", [Fraction(17), Fraction(70, 3), Fraction(1000), Fraction(2**40), Fraction(10**15)])
def test_digits_make_up_the_geometric_law(scale: Fraction) -> None:
    """The product of the digits' laws and the leading law is the mass of the discrete Laplace, for chosen integers."""
    noise, shift, tables = DiscreteLaplace(scale), lower_bits(scale), lower_tables(scale)
    assert sum(len(table.limits).bit_length() - 1 for table, _ in tables) == shift
    assert all(len(table.limits) <= 1 << DIGIT_BITS for table, _ in tables)
    leading = folded_law(scale, width=1 << shift)
    for value in (0, 1, -1, 2, -2, 37, -1000, int(scale), -int(scale), 5 * int(scale) + 3):
        negative = value < 0
        magnitude = -1 - value if negative else value
        index = 2 * (magnitude >> shift) + negative
        assert unfold_blocks(index, shift=shift) ^ (magnitude & (1 << shift) - 1) == value
        with precision(256):
            mass = leading.mass_below(index + 1) - leading.mass_below(index)
            for table, place in tables:
                digit = magnitude >> place & len(table.limits) - 1
                mass *= table.law.mass_below(digit + 1) - table.law.mass_below(digit)
            assert abs(mass / noise.pmf(value, bits=256) - 1) < arb(2) ** -150


def test_digits_are_independent_in_a_complete_enumeration() -> None:
    """All pairs of digits (4 × 8) and the leading part reproduce P(G = g) for g < 32 × 6."""
    scale, geometric = Fraction(9, 2), Geometric(Fraction(9, 2))
    low, high = digit_law(scale, place=1, size=4), digit_law(scale, place=4, size=8)
    with precision(200):

        def mass(law: IndexLaw, k: int) -> arb:
            return law.mass_below(k + 1) - law.mass_below(k)

        for lead, second, first in product(range(6), range(8), range(4)):
            top = ball(-32 * lead / scale).exp() * -ball(Fraction(-32) / scale).expm1()
            found = top * mass(high, second) * mass(low, first)
            assert abs(found - geometric.pmf(32 * lead + 4 * second + first, bits=200)) < arb(2) ** -190


def test_unfold_lists_every_integer_once() -> None:
    assert sorted(unfold(index) for index in range(1001)) == list(range(-500, 501))


@pytest.mark.parametrize("sigma", [64, 100, 1000])
@pytest.mark.parametrize("sigmas", [0, 1, 4, 12, 35])
def test_euler_maclaurin_agrees_with_term_by_term_sums(sigma: int, sigmas: int) -> None:
    start = max(1, sigma * sigmas)
    with precision(128):
        fast, slow = tail_sum(Fraction(sigma**2), start=start), direct_sum(Fraction(sigma**2), start=start)
        assert fast.overlaps(slow)
        assert fast.rel_accuracy_bits() > 105


@pytest.mark.parametrize(
    "scale", [Fraction(1, 10**60), Fraction(1, 10**6), Fraction(1), Fraction(63), Fraction(64), Fraction(10**9)]
)
@pytest.mark.parametrize("value", [10**16, 10**30, 10**60])
def test_masses_too_small_for_their_exponents_are_still_enclosed(scale: Fraction, value: int) -> None:
    """exp(-10^44) and less: sums must end, and give a small ball around or above 0."""
    for noise in (DiscreteGaussian(scale), DiscreteLaplace(scale), Geometric(scale), Staircase(1 / scale, 3, 1)):
        for chance in (noise.upper_tail(value), noise.pmf(value), 1 - noise.cdf(value)):
            assert chance.is_finite()
            assert chance < arb(10) ** -6 or scale * 100 > value
            assert not chance < 0
        assert noise.variance().is_finite()
        assert noise.quantile(Fraction(99, 100)) <= 100 * scale + 3


@pytest.mark.parametrize("square", [Fraction(1, 100), Fraction(1), Fraction(101, 100), Fraction(50), Fraction(5000)])
def test_normaliser_both_ways(square: Fraction) -> None:
    with precision(128):
        assert normaliser(square).overlaps(2 * direct_sum(square, start=0) - 1)


def block_sampler(square: Fraction, shift: int) -> BlockSampler:
    return BlockSampler.of(square, shift=shift, blocks=block_table(square, width=1 << shift))


@pytest.mark.parametrize(
    ("square", "shift"), [(Fraction(10**4), 1), (Fraction(7 * 10**6, 3), 5), (Fraction(10**24), 34)]
)
def test_blocks_places_and_coins_make_up_the_gaussian(square: Fraction, shift: int) -> None:
    """Envelope × uniform place × acceptance is proportional to the mass, by one constant for all integers."""
    sampler, law = block_sampler(square, shift), block_table(square, width=1 << shift).law
    noise, constants = DiscreteGaussian.from_square(square), []
    for value in (0, 1, -1, 2, -2, 3 << shift, -(3 << shift), (7 << shift) - 1, -(7 << shift) + 1, 40 << shift):
        magnitude = ~value if value < 0 else value
        index, place = 2 * (magnitude >> shift) + (value < 0), magnitude & (1 << shift) - 1
        nearest = (index >> 1 << shift) + (index & 1)
        assert int(sampler.bases[index]) ^ place == value
        with precision(256):
            keep = ball(-Fraction(place * (2 * nearest + place)) / (2 * square)).exp()
            mass = (law.mass_below(index + 1) - law.mass_below(index)) * keep
            constants.append(mass / noise.pmf(value, bits=256))
    assert all(
        abs(constant / constants[0] - 1) < arb(2) ** -40 and constant.overlaps(constants[0]) for constant in constants
    )


@pytest.mark.parametrize(("square", "shift"), [(Fraction(10**4), 1), (Fraction(10**10), 11), (Fraction(2**100), 45)])
def test_the_squeeze_never_keeps_what_could_be_rejected(square: Fraction, shift: int) -> None:
    sampler, width = block_sampler(square, shift), 1 << shift
    coins = arb(2) ** sampler.coin_bits
    with precision(128):
        for index in range(len(sampler.squeeze)):
            nearest = (index >> 1 << shift) + (index & 1)
            least = ball(-Fraction((width - 1) * (2 * nearest + width - 1)) / (2 * square)).exp()
            assert int(sampler.squeeze[index]) <= least * coins
            looser = ball(-Fraction(width * (2 * nearest + 2 + width)) / (2 * square)).exp()
            assert int(sampler.squeeze[index]) > looser * coins * (1 - arb(2) ** -38) - 2


@pytest.mark.parametrize(("square", "shift"), [(Fraction(10**6), 4), (Fraction(10**24), 34)])
@pytest.mark.parametrize("index", [0, 1, 40, 41, 300, 301])
def test_coins_near_acceptance_are_decided_rightly(square: Fraction, shift: int, index: int) -> None:
    """Coins a little off exp(-x) are decided by floats; on its 52 digits exactly, by further digits 0 and 1."""
    sampler = block_sampler(square, shift)
    place = (1 << shift) - 2
    nearest = (index >> 1 << shift) + (index & 1)
    exponent = Fraction((nearest + place) ** 2 - nearest**2) / (2 * square)
    with precision(256):
        found = (ball(-exponent).exp() * arb(2) ** 52).floor().unique_fmpz()
    assert found is not None
    more = 52 - sampler.coin_bits
    value = np.array([-(nearest + place) if index & 1 else nearest + place], dtype=np.int64)
    ones = (1 << 64) - 1
    for change, digits, kept in ((0, 0, True), (0, ones, False), (-(2**14), None, True), (2**14, None, False)):
        coin, rest = int(found) + change >> more, int(found) + change & (1 << more) - 1
        entropy = ScriptedEntropy(words(rest << 64 - more) + (b"" if digits is None else words(digits)))
        coins = np.array([coin], dtype=sampler.squeeze.dtype)
        before = entropy.drawn
        decided = sampler._keep(value, np.array([place], dtype=np.int64), coins, entropy)
        assert decided.tolist() == [kept]
        assert entropy.drawn - before == (8 if digits is None else 16)


def test_a_rejected_integer_is_drawn_again() -> None:
    """A coin of all ones is rejected far out in a block; the array then holds the next draw instead."""
    sampler = block_sampler(Fraction(10**6), 4)
    index = 200
    head = int(np.flatnonzero(sampler.blocks.cells == index)[0])
    clear = int(np.flatnonzero(sampler.blocks.cells == 0)[0])
    rejected = b"\xff" * 4
    kept = (7).to_bytes(4, "little")
    script = halves(head) + rejected + words((1 << 64) - 1) + halves(clear) + kept
    assert sampler.many(1, ScriptedEntropy(script)).tolist() == [7]
    assert sampler.many(1, ScriptedEntropy(halves(head) + kept)).tolist() == [(100 << 4) + 7]


def test_a_block_beyond_the_table_is_drawn_exactly() -> None:
    """Forces the last word, so that the block lies beyond the table; the value must be a far one, no artefact."""
    sampler = block_sampler(Fraction(10**6), 4)
    entropy = ScriptedEntropy(b"\xff" * 2 + words((1 << 64) - 1) + b"")
    value = int(sampler.many(1, entropy)[0])
    assert abs(value) > 9000
