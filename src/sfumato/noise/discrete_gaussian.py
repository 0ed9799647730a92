"""The discrete Gaussian distribution."""

from __future__ import annotations

import math
from fractions import Fraction
from functools import lru_cache
from typing import final

import numpy as np
from flint import arb
from numpy.typing import NDArray

from sfumato.entropy import Entropy
from sfumato.exact import BITS, Number, Root, ball, positive, precision, root, up
from sfumato.noise.blocks import BlockSampler, block_table
from sfumato.noise.digits import DigitSampler
from sfumato.noise.discrete_laplace import unfold
from sfumato.noise.distribution import Noise, running
from sfumato.noise.gaussian_sums import normaliser, spread, tail_sum, whole_root
from sfumato.noise.sampling import Integers, Sampler, draw_array
from sfumato.plain import record

WIDEST = 1 << 55
"""Below this σ, |Z| >= 2^62 has a chance below exp(-8000): 64-bit integers do."""

TABLED = 4096
"""Up to this scale, masses are summed one by one for error bars; beyond, the noise is all but continuous."""

SMALLEST_SQUARE = 1e-300
"""Smaller squares of a scale count as this one: either noise is 0 as far as floats can tell, and none divides by 0."""

BLOCKS_PER_SIGMA = 6
"""σ is 2^5 to 2^6 blocks wide; about one draw in a hundred is rejected, and the table stays small."""


@final
@record("DiscreteGaussian")
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

    symmetric = True

    def __post_init__(self) -> None:
        if not isinstance(self.scale, Root):
            object.__setattr__(self, "scale", positive(self.scale, "scale"))

    @classmethod
    def from_square(cls, square: Number) -> DiscreteGaussian:
        """Makes the distribution with the square root of a rational as its scale."""
        return cls(root(positive(square, "square")))

    @property
    def square(self) -> Fraction:
        """The exact square of the scale."""
        return self.scale.square if isinstance(self.scale, Root) else self.scale**2

    def sample(self, entropy: Entropy) -> int:
        return self._sampler().one(entropy)

    def samples(self, count: int, entropy: Entropy) -> Integers:
        return draw_array(self._sampler(), count=count, entropy=entropy, wide=whole_root(self.square) >= WIDEST)

    def pmf(self, value: int, *, bits: int = BITS) -> arb:
        with precision(bits):
            return ball(-Fraction(value * value) / (2 * self.square)).exp() / normaliser(self.square)

    def cdf(self, value: int, *, bits: int = BITS) -> arb:
        with precision(bits):
            return self.upper_tail(-value, bits=bits) if value < 0 else 1 - self.upper_tail(value + 1, bits=bits)

    def upper_tail(self, value: int, *, bits: int = BITS) -> arb:
        with precision(bits):
            if value < 1:
                return 1 - self.upper_tail(1 - value, bits=bits)
            return tail_sum(self.square, start=value) / _normaliser(*self.square.as_integer_ratio(), bits)

    def variance(self, *, bits: int = BITS) -> arb:
        """Encloses the variance, which is at most scale²."""
        with precision(bits):
            return spread(self.square)

    def words(self, step: Fraction = Fraction(1)) -> str:
        """Names the family and the scale."""
        return f"Gaussian, scale {up(root(self.square * step**2)):.6g}"

    def quick_tails(self, points: NDArray[np.float64]) -> tuple[NDArray[np.float64], float]:
        """P(Z >= point): from a table, or for large scales from the continuous law (proofs/accuracy.md#sums)."""
        if self.square > TABLED**2:
            deviation = up(root(self.square))
            scaled = ((points - 0.5) / (deviation * math.sqrt(2))).tolist()
            return np.array([0.5 * math.erfc(x) for x in scaled]), 0.05 / deviation**2
        reach, tails = _tails(float(self.square))
        places = np.clip(points + reach, -1, 2 * reach + 1).astype(np.int64)
        return np.where(places < 0, 1.0, tails[places]), 0.0

    @property
    def support(self) -> tuple[None, None]:
        """Every integer."""
        return None, None

    def _sampler(self) -> Sampler:
        # Whole numbers as keys: hashing a Fraction costs more than drawing a number.
        if isinstance(self.scale, Root):
            return _from_square(self.scale.square.numerator, self.scale.square.denominator)
        return _from_scale(self.scale.numerator, self.scale.denominator)


@lru_cache(maxsize=256)
def _normaliser(numerator: int, denominator: int, bits: int) -> arb:
    """The normaliser of a square, in so many bits: a search for an error bar asks for it again and again."""
    with precision(bits):
        return normaliser(Fraction(numerator, denominator))


@lru_cache(maxsize=64)
def _tails(square: float) -> tuple[int, NDArray[np.float64]]:
    """A reach, and P(Z >= point) for the points from -reach to reach, then 0 for all beyond."""
    reach = math.ceil(10 * math.sqrt(square)) + 10
    points = np.arange(-reach, reach + 1, dtype=np.float64)
    masses = np.exp(-(points**2) / (2 * max(square, SMALLEST_SQUARE)))
    tails = running(masses[::-1])[::-1]
    return reach, np.append(np.minimum(tails / tails[0], 1.0), 0.0)


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
