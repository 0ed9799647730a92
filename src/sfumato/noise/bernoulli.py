"""Coins: with a rational probability, and with probability exp(-x)."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import final

import numpy as np
from flint import arb
from numpy.typing import NDArray

from sfumato.entropy import Entropy
from sfumato.errors import BadArgument
from sfumato.exact import BITS, ball, non_negative, precision, probability
from sfumato.guarantee import guarantee
from sfumato.noise.digits import DigitSampler
from sfumato.noise.distribution import Noise
from sfumato.noise.inversion import WORD, IndexLaw, InversionTable, resolve
from sfumato.noise.sampling import Integers, draw_array
from sfumato.noise.uniform import below_many

FLIP_BITS = 62


@guarantee(claim="true with probability p", proof="proofs/bernoulli.md#rational", reviewed="c3b223875551")
def flip(p: Fraction, *, entropy: Entropy) -> bool:
    """Flips a coin that is true with a rational probability."""
    return entropy.below(p.denominator) < p.numerator


@guarantee(claim="true with probability exp(-x), for x >= 0", proof="proofs/bernoulli.md#exp", reviewed="011db9fa5874")
def flip_exp(x: Fraction, *, entropy: Entropy) -> bool:
    """Flips a coin that is true with probability exp(-x)."""
    return x == 0 or resolve(exp_law(x), entropy.bits(WORD), WORD, entropy) == 0


def exp_law(x: Fraction) -> IndexLaw:
    """The law of index 0 with mass exp(-x), else 1."""
    return IndexLaw(lambda _: ball(-x).exp(), 2)


@guarantee(
    claim="entry i is true with probability numerators[i] / denominator, independently",
    proof="proofs/bernoulli.md#many",
    reviewed="d0b9d7447c77",
)
def flip_many(numerators: NDArray[np.int64], *, denominator: int, entropy: Entropy) -> NDArray[np.bool_]:
    """Flips one coin for each entry, with probabilities over a common denominator of at most 2^62."""
    if not 1 <= denominator <= 1 << FLIP_BITS:
        raise BadArgument("denominator", "between 1 and 2^62", denominator)
    heads: NDArray[np.bool_] = below_many(denominator, count=len(numerators), entropy=entropy) < numerators
    return heads


@final
@dataclass(frozen=True)
class Bernoulli(Noise):
    """Draws 1 with a rational probability, else 0.

    Takes:      p, a rational in [0, 1]
    Guarantee:  P(Z = 1) = p, exactly (proofs/bernoulli.md#rational)
    Cost:       2 bytes of entropy in vectors

    >>> Bernoulli(Fraction(3, 4)).quantile(Fraction(1, 4))
    0
    """

    p: Fraction

    def __post_init__(self) -> None:
        object.__setattr__(self, "p", probability(self.p, "p"))

    def sample(self, entropy: Entropy) -> int:
        return int(flip(self.p, entropy=entropy))

    def samples(self, count: int, entropy: Entropy) -> Integers:
        sampler = _rational(self.p.numerator, self.p.denominator)
        return draw_array(sampler, count=count, entropy=entropy, wide=False)

    def pmf(self, value: int, *, bits: int = BITS) -> arb:
        with precision(bits):
            return ball({0: 1 - self.p, 1: self.p}.get(value, Fraction(0)))

    def cdf(self, value: int, *, bits: int = BITS) -> arb:
        with precision(bits):
            return ball(1 - self.p) if value == 0 else arb(int(value > 0))

    def upper_tail(self, value: int, *, bits: int = BITS) -> arb:
        with precision(bits):
            return ball(self.p) if value == 1 else arb(int(value < 1))

    def variance(self, *, bits: int = BITS) -> arb:
        """Encloses the variance, p (1 - p)."""
        with precision(bits):
            return ball(self.p * (1 - self.p))

    @property
    def support(self) -> tuple[int, int]:
        """0 and 1, or the only possible one."""
        return int(self.p == 1), int(self.p > 0)


@final
@dataclass(frozen=True)
class BernoulliExp(Noise):
    """Draws 1 with probability exp(-x), else 0.

    Takes:      x, a rational of at least 0
    Guarantee:  P(Z = 1) = exp(-x), exactly (proofs/bernoulli.md#exp)
    Cost:       2 bytes of entropy in vectors

    >>> BernoulliExp(Fraction(1)).quantile(Fraction(1, 2))
    0
    """

    x: Fraction

    def __post_init__(self) -> None:
        object.__setattr__(self, "x", non_negative(self.x, "x"))

    def sample(self, entropy: Entropy) -> int:
        return int(flip_exp(self.x, entropy=entropy))

    def samples(self, count: int, entropy: Entropy) -> Integers:
        sampler = _exponential(self.x.numerator, self.x.denominator)
        return draw_array(sampler, count=count, entropy=entropy, wide=False)

    def pmf(self, value: int, *, bits: int = BITS) -> arb:
        with precision(bits):
            if value not in (0, 1):
                return arb(0)
            return ball(-self.x).exp() if value == 1 else -ball(-self.x).expm1()

    def cdf(self, value: int, *, bits: int = BITS) -> arb:
        return self.pmf(0, bits=bits) if value == 0 else arb(int(value > 0))

    def upper_tail(self, value: int, *, bits: int = BITS) -> arb:
        return self.pmf(1, bits=bits) if value == 1 else arb(int(value < 1))

    def variance(self, *, bits: int = BITS) -> arb:
        """Encloses the variance, exp(-x) (1 - exp(-x))."""
        with precision(bits):
            return self.pmf(0, bits=bits) * self.pmf(1, bits=bits)

    @property
    def support(self) -> tuple[int, int]:
        """0 and 1, or 1 alone where x is 0."""
        return int(self.x == 0), 1


@lru_cache(maxsize=64)
def _rational(numerator: int, denominator: int) -> DigitSampler:
    law = IndexLaw(lambda _: ball(Fraction(numerator, denominator)), 2)
    return DigitSampler.of(InversionTable.listing(law, 2), base=lambda index: 1 - index)


@lru_cache(maxsize=64)
def _exponential(numerator: int, denominator: int) -> DigitSampler:
    law = exp_law(Fraction(numerator, denominator))
    return DigitSampler.of(InversionTable.listing(law, 2), base=lambda index: 1 - index)
