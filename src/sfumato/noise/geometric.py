"""The geometric distribution."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import final

from flint import arb

from sfumato.entropy import Entropy
from sfumato.exact import BITS, ball, positive, precision
from sfumato.guarantee import guarantee
from sfumato.noise.digits import REACH, DigitSampler, lower_bits, lower_tables
from sfumato.noise.distribution import Noise
from sfumato.noise.inversion import TABLE_BITS, WORD, IndexLaw, InversionTable, resolve
from sfumato.noise.sampling import Deferred, Integers, draw_array

WIDEST = 1 << 52
"""Up to this scale Z >= 2^62 has a chance below exp(-1024): 64-bit integers do."""

PATIENCE = 8


@final
@dataclass(frozen=True)
class Geometric(Noise):
    """Draws integers z >= 0 with P(z) proportional to exp(-z / scale).

    Takes:      scale, a rational greater than 0
    Guarantee:  P(Z = z) = (1 - exp(-1 / scale)) exp(-z / scale), exactly (proofs/geometric.md#law)
    Cost:       2 bytes of entropy up to scale 16, and 2 more for every 11 bits of scale

    >>> Geometric(Fraction(10)).quantile(Fraction(1, 2))
    6
    """

    scale: Fraction

    def __post_init__(self) -> None:
        object.__setattr__(self, "scale", positive(self.scale, "scale"))

    def sample(self, entropy: Entropy) -> int:
        return _sampler(self.scale.numerator, self.scale.denominator).one(entropy)

    def samples(self, count: int, entropy: Entropy) -> Integers:
        sampler = _sampler(self.scale.numerator, self.scale.denominator)
        return draw_array(sampler, count=count, entropy=entropy, wide=self.scale > WIDEST)

    def pmf(self, value: int, *, bits: int = BITS) -> arb:
        if value < 0:
            return arb(0)
        with precision(bits):
            return -ball(-1 / self.scale).expm1() * ball(-value / self.scale).exp()

    def cdf(self, value: int, *, bits: int = BITS) -> arb:
        if value < 0:
            return arb(0)
        with precision(bits):
            return -ball(-(value + 1) / self.scale).expm1()

    def upper_tail(self, value: int, *, bits: int = BITS) -> arb:
        with precision(bits):
            return ball(-max(value, 0) / self.scale).exp()

    def variance(self, *, bits: int = BITS) -> arb:
        """Encloses the variance, a / (1 - a)² with a = exp(-1 / scale)."""
        with precision(bits):
            return ball(-1 / self.scale).exp() / ball(-1 / self.scale).expm1() ** 2

    @property
    def support(self) -> tuple[int, None]:
        """Every integer from 0 on."""
        return 0, None


@guarantee(
    claim="index j has the mass of the integers z with z div width = j",
    proof="proofs/geometric.md#law",
    reviewed="410ce82cbd2d",
)
def leading_law(scale: Fraction, *, width: int) -> IndexLaw:
    """The law of the leading part of a geometric variable."""
    step = Fraction(width) / scale
    return IndexLaw(lambda index: -ball(-index * step).expm1())


def leading_masses(scale: Fraction, *, width: int) -> Iterator[arb]:
    """Yields F(1), F(2), … of `leading_law` by a recurrence, as far as a table needs."""
    step, remaining = ball(-width / scale).exp(), arb(1)
    for _ in range(int(REACH * scale / width) + 1):
        remaining *= step
        yield 1 - remaining


@lru_cache(maxsize=64)
def _sampler(numerator: int, denominator: int) -> Deferred:
    scale = Fraction(numerator, denominator)
    plain = leading_law(scale, width=1)
    start = WORD + scale.numerator.bit_length()

    def direct(entropy: Entropy) -> int:
        return resolve(plain, entropy.bits(start), start, entropy)

    def build() -> DigitSampler:
        shift = lower_bits(scale)
        with precision(TABLE_BITS):
            leading = InversionTable.of(leading_law(scale, width=1 << shift), leading_masses(scale, width=1 << shift))
        return DigitSampler.of(leading, base=lambda index: index << shift, lower=lower_tables(scale))

    return Deferred(direct=direct, build=build, patience=PATIENCE)
