"""The discrete Gaussian distribution."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import final

from flint import arb

from sfumato.entropy import Entropy
from sfumato.exact import BITS, Number, Root, ball, positive, precision, root
from sfumato.noise.blocks import BlockSampler, block_table
from sfumato.noise.digits import DigitSampler
from sfumato.noise.discrete_laplace import unfold
from sfumato.noise.distribution import Noise
from sfumato.noise.gaussian_sums import normaliser, spread, tail_sum, whole_root
from sfumato.noise.sampling import Integers, Sampler, draw_array

WIDEST = 1 << 55
"""Below this σ, |Z| >= 2^62 has a chance below exp(-8000): 64-bit integers do."""

BLOCKS_PER_SIGMA = 6
"""σ is 2^5 to 2^6 blocks wide; about one draw in a hundred is rejected, and the table stays small."""


@final
@dataclass(frozen=True)
class DiscreteGaussian(Noise):
    """Draws integers with P(z) proportional to exp(-z² / 2 scale²).

    Takes:      scale, a rational greater than 0 or the square root of one (`from_square`)
    Guarantee:  exactly that law (proofs/discrete_gaussian.md#law)
    Cost:       2 bytes of entropy up to scale 64, 6 up to about 4 million, else 10

    >>> DiscreteGaussian(Fraction(10)).half_width(Fraction(95, 100))
    20
    >>> DiscreteGaussian.from_square(2).scale
    √2
    """

    scale: Fraction | Root

    def __post_init__(self) -> None:
        if not isinstance(self.scale, Root):
            object.__setattr__(self, "scale", positive(self.scale, "scale"))

    @classmethod
    def from_square(cls, square: Number) -> DiscreteGaussian:
        """Gives the distribution whose scale is the square root of a rational."""
        return cls(root(positive(square, "square")))

    @property
    def square(self) -> Fraction:
        """Is the square of the scale, exactly."""
        return self.scale.square if isinstance(self.scale, Root) else self.scale**2

    def sample(self, entropy: Entropy) -> int:
        """Draws one integer, of any size."""
        return self._sampler().one(entropy)

    def samples(self, count: int, entropy: Entropy) -> Integers:
        """Draws an array of independent integers."""
        return draw_array(self._sampler(), count=count, entropy=entropy, wide=whole_root(self.square) >= WIDEST)

    def pmf(self, value: int, *, bits: int = BITS) -> arb:
        """Encloses P(Z = value)."""
        with precision(bits):
            return ball(-Fraction(value * value) / (2 * self.square)).exp() / normaliser(self.square)

    def cdf(self, value: int, *, bits: int = BITS) -> arb:
        """Encloses P(Z <= value)."""
        with precision(bits):
            return self.upper_tail(-value, bits=bits) if value < 0 else 1 - self.upper_tail(value + 1, bits=bits)

    def upper_tail(self, value: int, *, bits: int = BITS) -> arb:
        """Encloses P(Z >= value)."""
        with precision(bits):
            if value < 1:
                return 1 - self.upper_tail(1 - value, bits=bits)
            return tail_sum(self.square, start=value) / normaliser(self.square)

    def variance(self, *, bits: int = BITS) -> arb:
        """Encloses the variance, which is at most scale²."""
        with precision(bits):
            return spread(self.square)

    @property
    def support(self) -> tuple[None, None]:
        """Is every integer."""
        return None, None

    def _sampler(self) -> Sampler:
        # Whole numbers as keys: hashing a Fraction costs more than drawing a number.
        if isinstance(self.scale, Root):
            return _from_square(self.scale.square.numerator, self.scale.square.denominator)
        return _from_scale(self.scale.numerator, self.scale.denominator)


@lru_cache(maxsize=64)
def _from_scale(numerator: int, denominator: int) -> Sampler:
    return _from_square(numerator**2, denominator**2)


@lru_cache(maxsize=64)
def _from_square(numerator: int, denominator: int) -> Sampler:
    square = Fraction(numerator, denominator)
    shift = max(0, whole_root(square).bit_length() - BLOCKS_PER_SIGMA)
    blocks = block_table(square, width=1 << shift)
    if shift == 0:
        return DigitSampler.of(blocks, base=unfold)
    return BlockSampler.of(square, shift=shift, blocks=blocks)
