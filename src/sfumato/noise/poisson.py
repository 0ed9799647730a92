"""The Poisson distribution."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from itertools import count as numbers
from typing import final

from flint import arb, ctx

from sfumato.entropy import Entropy
from sfumato.errors import BadArgument
from sfumato.exact import BITS, ball, positive, precision
from sfumato.guarantee import guarantee
from sfumato.noise.digits import DigitSampler
from sfumato.noise.distribution import Noise
from sfumato.noise.inversion import TABLE_BITS, WORD, IndexLaw, InversionTable, resolve
from sfumato.noise.sampling import Deferred, Integers, draw_array

PATIENCE = 8
LONGEST_TABLE = 1 << 13
"""Entries of a table; what lies beyond is found by inversion, one number at a time."""

LARGEST_MEAN = 1 << 20


@final
@dataclass(frozen=True)
class Poisson(Noise):
    """Draws integers z >= 0 with P(z) = exp(-mean) mean^z / z!.

    Takes:      mean, a rational greater than 0, at most 2^20
    Guarantee:  exactly this law (proofs/poisson.md#law)
    Cost:       2 bytes of entropy, where the mean is up to a few thousand

    >>> Poisson(Fraction(10)).quantile(Fraction(1, 2))
    10
    """

    mean: Fraction

    def __post_init__(self) -> None:
        object.__setattr__(self, "mean", positive(self.mean, "mean"))
        if self.mean > LARGEST_MEAN:
            raise BadArgument("mean", "at most 2^20", self.mean)

    def sample(self, entropy: Entropy) -> int:
        return _sampler(self.mean).one(entropy)

    def samples(self, count: int, entropy: Entropy) -> Integers:
        return draw_array(_sampler(self.mean), count=count, entropy=entropy, wide=False)

    def pmf(self, value: int, *, bits: int = BITS) -> arb:
        with precision(bits):
            return arb(0) if value < 0 else poisson_mass(self.mean, value)

    def cdf(self, value: int, *, bits: int = BITS) -> arb:
        with precision(bits):
            return arb(0) if value < 0 else mass_to(self.mean, value)

    def upper_tail(self, value: int, *, bits: int = BITS) -> arb:
        with precision(bits):
            return arb(1) if value <= 0 else mass_from(self.mean, value)

    def variance(self, *, bits: int = BITS) -> arb:
        """Encloses the variance, which is the mean."""
        with precision(bits):
            return ball(self.mean)

    @guarantee(claim="E[x^Z] = exp(mean (x - 1))", proof="proofs/poisson.md#law", reviewed="d5f416871045")
    def mean_power(self, x: arb) -> arb:
        """Encloses E[x^Z] for x in [0, 1], at the working precision."""
        return (ball(self.mean) * (x - 1)).exp()

    @property
    def support(self) -> tuple[int, None]:
        """Every integer from 0 on."""
        return 0, None


@guarantee(claim="exp(-mean) mean^z / z!", proof="proofs/poisson.md#law", reviewed="fc9661ef51a8")
def poisson_mass(mean: Fraction, value: int) -> arb:
    """Encloses the probability of an integer of at least 0."""
    with precision(ctx.prec + 2 * (value.bit_length() + int(mean).bit_length()) + 32):
        return (value * ball(mean).log() - ball(mean) - arb(value + 1).lgamma()).exp()


@guarantee(
    claim="P(Z >= z); beyond the mean a sum whose rest is bounded by a geometric series, else 1 - P(Z <= z - 1)",
    proof="proofs/poisson.md#tails",
    reviewed="5315ccabab6b",
)
def mass_from(mean: Fraction, value: int) -> arb:
    """Encloses the probability of an integer of at least 1, and of all above it."""
    if value <= mean:
        return 1 - mass_to(mean, value - 1)
    term, total, centre, negligible = poisson_mass(mean, value), arb(0), ball(mean), arb(2) ** -ctx.prec
    place, rest = value, arb(1)
    while not rest <= negligible * total:
        total, place = total + term, place + 1
        ratio = centre / place
        term *= ratio
        rest = term / (1 - ratio)
    return total + arb(0).union(rest)


@guarantee(
    claim="P(Z <= z); below the mean a sum whose rest is bounded by a geometric series, else 1 - P(Z >= z + 1)",
    proof="proofs/poisson.md#tails",
    reviewed="41efbe11c76b",
)
def mass_to(mean: Fraction, value: int) -> arb:
    """Encloses the probability of an integer of at least 0, and of all below it."""
    if value + 1 > mean:
        return 1 - mass_from(mean, value + 1)
    term, total, centre, negligible = poisson_mass(mean, value), arb(0), ball(mean), arb(2) ** -ctx.prec
    for place in range(value, -1, -1):
        total += term
        ratio = place / centre
        term *= ratio
        rest = term / (1 - ratio)
        if rest <= negligible * total:
            return total + arb(0).union(rest)
    return total


@guarantee(claim="index j is the integer j", proof="proofs/poisson.md#law", reviewed="2fd18584d319")
def poisson_law(mean: Fraction) -> IndexLaw:
    """The law for inversion: index j is the integer j."""
    return IndexLaw(lambda index: mass_to(mean, index - 1))


def poisson_masses(mean: Fraction) -> Iterator[arb]:
    """Yields F(1), F(2), … of `poisson_law` by a recurrence, as far as a table may need."""
    term, total = ball(-mean).exp(), arb(0)
    for value in numbers(1):
        total += term
        yield total
        term *= ball(mean / value)


@lru_cache(maxsize=64)
def _sampler(mean: Fraction) -> Deferred:
    law = poisson_law(mean)
    length = min(LONGEST_TABLE, int(mean) + 12 * math.isqrt(int(mean)) + 64)

    def build() -> DigitSampler:
        with precision(TABLE_BITS):
            masses = (mass for _, mass in zip(range(length), poisson_masses(mean), strict=False))
            return DigitSampler.of(InversionTable.of(law, masses), base=lambda index: index)

    return Deferred(
        direct=lambda entropy: resolve(law, entropy.bits(WORD), WORD, entropy), build=build, patience=PATIENCE
    )
