"""The discrete Laplace distribution (two-sided geometric)."""

from __future__ import annotations

import math
from collections.abc import Iterator
from fractions import Fraction
from functools import lru_cache, partial
from typing import final

import numpy as np
from flint import arb
from numpy.typing import NDArray

from sfumato.entropy import Entropy
from sfumato.exact import BITS, ball, positive, precision, up
from sfumato.guarantee import guarantee
from sfumato.noise.digits import REACH, DigitSampler, lower_bits, lower_tables
from sfumato.noise.distribution import Noise
from sfumato.noise.inversion import TABLE_BITS, WORD, IndexLaw, InversionTable, resolve
from sfumato.noise.sampling import Deferred, Integers, draw_array
from sfumato.plain import record

WIDEST = 1 << 52
"""Up to this scale |Z| >= 2^62 has a chance below exp(-1024): 64-bit integers do."""

PATIENCE = 8


@final
@record("DiscreteLaplace")
class DiscreteLaplace(Noise):
    """Draws integers with P(z) proportional to exp(-|z| / scale).

    Takes:      scale, a rational greater than 0
    Guarantee:  P(Z = z) = tanh(1 / (2 scale)) exp(-|z| / scale), exactly (proofs/discrete_laplace.md#law)
    Cost:       2 bytes of entropy up to scale 16, and 2 more for every 11 bits of scale

    >>> DiscreteLaplace(Fraction(1)).half_width(Fraction(95, 100))
    3
    """

    scale: Fraction

    symmetric = True

    def __post_init__(self) -> None:
        object.__setattr__(self, "scale", positive(self.scale, "scale"))

    def sample(self, entropy: Entropy) -> int:
        return _sampler(self.scale.numerator, self.scale.denominator).one(entropy)

    def samples(self, count: int, entropy: Entropy) -> Integers:
        sampler = _sampler(self.scale.numerator, self.scale.denominator)
        return draw_array(sampler, count=count, entropy=entropy, wide=self.scale > WIDEST)

    def pmf(self, value: int, *, bits: int = BITS) -> arb:
        with precision(bits):
            return (ball(1 / self.scale) / 2).tanh() * ball(-abs(value) / self.scale).exp()

    def cdf(self, value: int, *, bits: int = BITS) -> arb:
        with precision(bits):
            return self.upper_tail(-value, bits=bits) if value < 0 else 1 - self.upper_tail(value + 1, bits=bits)

    def upper_tail(self, value: int, *, bits: int = BITS) -> arb:
        """Encloses P(Z >= value): exp(-value / scale) / (1 + exp(-1 / scale)) for value >= 1."""
        with precision(bits):
            if value < 1:
                return 1 - self.upper_tail(1 - value, bits=bits)
            return ball(-value / self.scale).exp() / (1 + ball(-1 / self.scale).exp())

    def variance(self, *, bits: int = BITS) -> arb:
        """Encloses the variance, 2 a / (1 - a)² with a = exp(-1 / scale)."""
        with precision(bits):
            return 2 * ball(-1 / self.scale).exp() / ball(-1 / self.scale).expm1() ** 2

    def words(self, step: Fraction = Fraction(1)) -> str:
        """Names the family and the scale."""
        return f"Laplace, scale {up(self.scale * step):.6g}"

    def quick_tails(self, points: NDArray[np.float64]) -> tuple[NDArray[np.float64], float]:
        """P(Z >= point) by its formula."""
        rate = max(float(1 / self.scale), 1e-300)
        size = np.where(points >= 1, points, 1 - points)
        tail = np.exp(-np.minimum(size * rate, 700.0)) / (1 + math.exp(-rate))
        return np.where(points >= 1, tail, 1 - tail), 0.0

    @property
    def support(self) -> tuple[None, None]:
        """Every integer."""
        return None, None


def unfold(index: int) -> int:
    """The integer at a place in the order 0, -1, 1, -2, 2 and so on."""
    return (index >> 1) ^ -(index & 1)


@guarantee(
    claim="index 2j + n has the mass of the integers z with z div width = j (n = 0), or (-1 - z) div width = j (n = 1)",
    proof="proofs/discrete_laplace.md#law",
    reviewed="c173e76a8703",
)
def folded_law(scale: Fraction, *, width: int) -> IndexLaw:
    """The law of the block of a discrete Laplace variable, in the order 0, -1, 1, -2, 2, … of blocks."""

    def below(index: int) -> arb:
        block, negative = divmod(index, 2)
        remaining = ball(-block * width / scale).exp()
        if not negative:
            return 1 - remaining
        ratio, step = ball(-1 / scale).exp(), ball(-width / scale).exp()
        return 1 - remaining * (ratio + step) / (1 + ratio)

    return IndexLaw(below)


def folded_masses(scale: Fraction, *, width: int) -> Iterator[arb]:
    """Yields F(1), F(2), … of `folded_law` by a recurrence, as far as a table needs."""
    ratio, step = ball(-1 / scale).exp(), ball(-width / scale).exp()
    share = (ratio + step) / (1 + ratio)
    remaining = arb(1)
    for _ in range(int(REACH * scale / width) + 1):
        yield 1 - remaining * share
        remaining *= step
        yield 1 - remaining


@lru_cache(maxsize=64)
def _sampler(numerator: int, denominator: int) -> Deferred:
    scale = Fraction(numerator, denominator)
    plain = folded_law(scale, width=1)
    start = WORD + scale.numerator.bit_length()

    def direct(entropy: Entropy) -> int:
        return unfold(resolve(plain, entropy.bits(start), start, entropy))

    def build() -> DigitSampler:
        shift = lower_bits(scale)
        with precision(TABLE_BITS):
            leading = InversionTable.of(folded_law(scale, width=1 << shift), folded_masses(scale, width=1 << shift))
        base = partial(unfold_blocks, shift=shift)
        return DigitSampler.of(leading, base=base, lower=lower_tables(scale))

    return Deferred(direct=direct, build=build, patience=PATIENCE)


def unfold_blocks(index: int, *, shift: int) -> int:
    """The integer in a block of 2^shift that has 0 for all lower digits."""
    return (index >> 1 << shift) ^ -(index & 1)
