"""What distributions refuse, and what they do at the ends of the number range."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from flint import arb
from tests.exact.scripted_entropy import ScriptedEntropy, halves, words

from sfumato.entropy import ReplayEntropy, SystemEntropy
from sfumato.errors import BadArgument
from sfumato.exact import Root
from sfumato.noise import (
    Bernoulli,
    BernoulliExp,
    Binomial,
    Categorical,
    Censored,
    DiscreteGaussian,
    DiscreteLaplace,
    Geometric,
    Noise,
    Staircase,
    Truncated,
    Uniform,
    choose,
    enclosure,
    flip_many,
    permutation,
)
from sfumato.noise.digits import DigitSampler
from sfumato.noise.discrete_laplace import _sampler, unfold_blocks
from sfumato.noise.sampling import LARGEST, SMALLEST, Deferred, saturated

ENTROPY = ReplayEntropy(0)


@pytest.mark.parametrize("kind", [DiscreteLaplace, DiscreteGaussian, DiscreteGaussian.from_square, Geometric])
@pytest.mark.parametrize("scale", [0, -1, math.nan, math.inf, -math.inf, True, "wide", None, [1], 0j])
def test_scales_are_positive_finite_numbers(kind: type, scale: object) -> None:
    with pytest.raises(BadArgument):
        kind(scale)


@pytest.mark.parametrize(
    "make",
    [
        lambda: Bernoulli(Fraction(3, 2)),
        lambda: Bernoulli(-1),  # type: ignore[arg-type]
        lambda: Bernoulli(math.nan),  # type: ignore[arg-type]
        lambda: BernoulliExp(Fraction(-1)),
        lambda: Binomial(-2),
        lambda: Binomial(3),
        lambda: Binomial(2.0),  # type: ignore[arg-type]
        lambda: Binomial(2**40),
        lambda: Categorical(()),
        lambda: Categorical((Fraction(0), Fraction(0))),
        lambda: Categorical((Fraction(1), Fraction(-1))),
        lambda: Staircase(Fraction(0), 1, 1),
        lambda: Staircase(Fraction(1), 0, 0),
        lambda: Staircase(Fraction(1), 3, 4),
        lambda: Staircase(Fraction(1), 2**60, 1),
        lambda: Truncated(DiscreteLaplace(Fraction(1)), 3, 2),
        lambda: Truncated(Geometric(Fraction(1)), -5, -1),
        lambda: Censored(DiscreteLaplace(Fraction(1)), 3, 2),
        lambda: Uniform(0),
        lambda: Uniform(2**64),
        lambda: choose(3, k=4, entropy=ENTROPY),
        lambda: permutation(-1, entropy=ENTROPY),
        lambda: flip_many(np.array([1]), denominator=0, entropy=ENTROPY),
        lambda: DiscreteLaplace(Fraction(1)).samples(-1, ENTROPY),
        lambda: DiscreteLaplace(Fraction(1)).samples(2.5, ENTROPY),  # type: ignore[arg-type]
        lambda: DiscreteLaplace(Fraction(1)).quantile(0),
        lambda: DiscreteLaplace(Fraction(1)).quantile(1),
        lambda: DiscreteLaplace(Fraction(1)).quantile(1.5),
        lambda: DiscreteGaussian(Fraction(1)).half_width(1),
        lambda: Geometric(Fraction(1)).quantile(1),
    ],
)
def test_parameters_without_a_law_are_refused(make: object) -> None:
    assert callable(make)
    with pytest.raises(BadArgument):
        make()


def test_numbers_are_read_as_written() -> None:
    assert DiscreteLaplace(0.1).scale == Fraction(1, 10)  # type: ignore[arg-type]
    assert DiscreteLaplace("1e-6").scale == Fraction(1, 10**6)  # type: ignore[arg-type]
    assert DiscreteGaussian.from_square(4).scale == 2
    assert DiscreteGaussian.from_square(2).scale == Root(Fraction(2))
    assert DiscreteGaussian.from_square(2).square == 2


@pytest.mark.parametrize("kind", [DiscreteLaplace, DiscreteGaussian, Geometric])
@pytest.mark.parametrize("scale", [1e-6, 0.3, 7, 1e4, 1e9, 1e15, Fraction(10**12 + 39, 10**9 + 7), 2**49 + 1])
def test_every_scale_draws_64_bit_integers(kind: type, scale: float) -> None:
    noise: Noise = kind(scale)
    drawn = noise.samples(1000, ENTROPY)
    assert drawn.dtype == np.int64
    assert isinstance(noise.sample(ENTROPY), int)
    if scale >= 7:
        spread = float(np.abs(drawn).astype(float).mean())
        assert 0.6 * scale < spread < 1.5 * scale
    if scale < 1e-3:
        assert not drawn.any()


@pytest.mark.parametrize("kind", [DiscreteLaplace, DiscreteGaussian, Geometric])
@pytest.mark.parametrize("scale", [2**60, 10**30, Fraction(10**40, 7)])
def test_scales_beyond_64_bits_draw_unbounded_integers(kind: type, scale: Fraction) -> None:
    noise: Noise = kind(scale)
    drawn = noise.samples(60, ENTROPY)
    assert drawn.dtype == object
    assert all(isinstance(value, int) for value in drawn)
    spread = sum(abs(value) for value in drawn) / 60
    assert 0.4 * scale < spread < 2 * scale
    assert len({value % 64 for value in drawn}) > 20  # low digits are alive


def test_wide_bounded_variants() -> None:
    noise = DiscreteLaplace(Fraction(10**30))
    clamped = Censored(noise, -(10**29), 10**29).samples(200, ENTROPY)
    assert max(clamped) == 10**29 == -min(clamped)
    cut = Truncated.within(noise, radius=10**30).samples(50, ENTROPY)
    assert all(abs(value) <= 10**30 for value in cut)
    assert Censored(DiscreteLaplace(Fraction(5)), -(10**30), 10**30).samples(10, ENTROPY).dtype == np.int64
    unlikely = Truncated(DiscreteGaussian(Fraction(10**6)), 6 * 10**6, 7 * 10**6)
    assert 6 * 10**6 <= unlikely.sample(ENTROPY) <= 7 * 10**6
    assert unlikely.samples(3, ENTROPY).dtype == np.int64


def test_arrays_widen_and_never_wrap() -> None:
    """A top digit so far out that the integer passes 64 bits: forced by all-ones words."""
    scale = Fraction(2**52)
    sampler = _sampler(scale.numerator, 1).table()
    assert isinstance(sampler, DigitSampler)
    digits = len(sampler.lower)
    ones = (1 << 64) - 1
    script = halves(0xFFFF) + words(ones) + words(*[ones] * 60) + halves(*[7] * digits)
    value = sampler.many(1, ScriptedEntropy(script))
    assert value.dtype == object and abs(int(value[0])) > LARGEST, "an exact draw is not cut off, however rare"
    far = sampler.one(ScriptedEntropy(halves(0xFFFF, *[7] * digits) + words(*[ones] * 60)))
    assert abs(far) > LARGEST
    assert (saturated(2**70), saturated(-(2**70)), saturated(5)) == (LARGEST, SMALLEST, 5)
    assert unfold_blocks(3, shift=4) == -1 - 16


def test_the_first_draws_need_no_table() -> None:
    sampler, entropy = _sampler(987_654_321, 1013), SystemEntropy()
    assert isinstance(sampler, Deferred)
    for _ in range(8):
        sampler.one(entropy)
    assert sampler._built is None
    sampler.one(entropy)
    assert sampler._built is not None


def test_few_draws_at_once_need_no_table_either_unless_they_are_replayed() -> None:
    sampler = _sampler(987_654_321, 1017)
    assert isinstance(sampler, Deferred)
    assert len(sampler.many(4, SystemEntropy())) == 4 and sampler._built is None
    assert len(sampler.many(5, SystemEntropy())) == 5 and sampler._built is not None
    again = _sampler(987_654_321, 1019)
    assert isinstance(again, Deferred)
    assert len(again.many(1, ReplayEntropy(4))) == 1 and again._built is not None


def test_replayed_draws_do_not_depend_on_what_was_drawn_before() -> None:
    noise = DiscreteLaplace(Fraction(987_654_323, 1013))
    first = [noise.sample(ReplayEntropy(4)) for _ in range(20)]
    assert len(set(first)) == 1


@pytest.mark.parametrize("count", [0, 1, 16383, 16384, 16385, 40000])
def test_any_count(count: int) -> None:
    for noise in (DiscreteLaplace(Fraction(3)), DiscreteGaussian(Fraction(1000)), Staircase(Fraction(1), 3, 2)):
        assert len(noise.samples(count, ENTROPY)) == count


def test_certain_and_degenerate_laws() -> None:
    assert Bernoulli(Fraction(1)).samples(100, ENTROPY).all()
    assert not Bernoulli(Fraction(0)).samples(100, ENTROPY).any()
    assert BernoulliExp(Fraction(0)).samples(100, ENTROPY).all()
    assert Binomial(0).sample(ENTROPY) == 0
    assert Uniform(1).sample(ENTROPY) == 0
    assert Truncated(DiscreteLaplace(Fraction(1)), 7, 7).sample(ENTROPY) == 7
    assert Bernoulli(Fraction(1, 2)).quantile(Fraction(1, 2)) == 0
    assert Uniform(10).quantile(Fraction(3, 10)) == 2
    assert Bernoulli(Fraction(1, 3)).support == (0, 1)
    assert Bernoulli(Fraction(0)).support == (0, 0)
    assert Geometric(Fraction(1)).quantile(0) == 0
    assert DiscreteLaplace(Fraction(1)).half_width(0) == 0


def test_enclosures_of_tiny_numbers_stay_small() -> None:
    for size in (10**6, 10**12, 10**15):
        low, high = enclosure(DiscreteLaplace(Fraction(1)).upper_tail(size))
        assert low == 0 < high < Fraction(1, 2**8000)
        assert enclosure(-DiscreteLaplace(Fraction(1)).upper_tail(size)) == (-high, 0)
    with pytest.raises(BadArgument):
        enclosure(arb("inf"))
