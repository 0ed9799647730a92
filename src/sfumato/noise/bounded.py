"""Distributions made bounded: conditioned on a range, or clamped to it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import final

import numpy as np
from flint import arb, ctx
from numpy.typing import NDArray

from sfumato.entropy import Entropy
from sfumato.errors import BadArgument, Several
from sfumato.exact import BITS, ball, integer, precision
from sfumato.guarantee import guarantee
from sfumato.noise.digits import DigitSampler
from sfumato.noise.distribution import Noise
from sfumato.noise.inversion import WORD, IndexLaw, InversionTable, resolve
from sfumato.noise.sampling import LARGEST, SMALLEST, Integers, draw_array, saturated
from sfumato.plain import record

OFTEN, SELDOM = Fraction(1, 8), Fraction(1, 1024)
"""A range more likely than this (a short one, which may have a table, and a long one) is hit by drawing until it is."""

LISTED = 1 << 11
"""An unlikely range of up to this many integers gets a table of its own."""

PIECES = 1 << 10
"""A variance is summed over at most this many pieces of the range; each adds its own uncertainty to the ball."""

RARE = Fraction(1, 1 << 100)
"""What lies beyond these quantiles is one piece on each side."""


SHARPEST = 1 << 12
"""Up to this many bits a mass is sharpened that is a small difference of large ones."""


@guarantee(claim="P(low <= Z <= high)", proof="proofs/bounded.md#mass", reviewed="5c5612e730bd")
def mass_between(noise: Noise, *, low: int, high: int, bits: int) -> arb:
    """Encloses the mass of a range, from whichever side loses less, to about half the bits where that can be had."""
    if high < low:
        return arb(0)
    sharp = bits
    while True:
        with precision(sharp):
            above, below = noise.upper_tail(low, bits=sharp), noise.cdf(high, bits=sharp)
            if above < below:
                mass = above - noise.upper_tail(high + 1, bits=sharp)
            else:
                mass = below - noise.cdf(low - 1, bits=sharp)
        if 2 * mass.rel_accuracy_bits() >= bits or sharp >= SHARPEST:
            return mass
        sharp *= 2


def pieces(noise: Noise, *, low: int, high: int) -> Iterator[tuple[int, int]]:
    """Cuts a range into pieces: single integers if there are few, and all that is very unlikely in one."""
    first, last = max(low, noise.quantile(RARE)), min(high, noise.quantile(1 - RARE))
    if high - low < PIECES:
        first, last = low, high
    width = -(-(last - first + 1) // PIECES)
    if low < first:
        yield low, first - 1
    for start in range(first, last + 1, width):
        yield start, min(start + width - 1, last)
    if last < high:
        yield last + 1, high


def range_variance(noise: Noise, *, low: int, high: int, bits: int) -> arb:
    """Encloses the variance of a distribution on a range, sharply where the range has at most `PIECES` integers."""
    centre = noise.quantile(Fraction(1, 2))  # moments about the middle keep the ball small
    first, second = arb(0), arb(0)
    with precision(bits):
        for start, end in pieces(noise, low=low, high=high):
            single = start == end
            mass = noise.pmf(start, bits=bits) if single else mass_between(noise, low=start, high=end, bits=bits)
            place = arb(start - centre).union(arb(end - centre))
            first, second = first + mass * place, second + mass * place * place
        return second - first * first


def checked_range(low: int, high: int) -> tuple[int, int]:
    """Reads a range of integers."""
    low, high = integer(low, "low"), integer(high, "high")
    if low > high:
        raise BadArgument("high", "at least low", high)
    return low, high


@final
@record("Truncated")
class Truncated(Noise):
    """Draws from a distribution conditioned on low <= Z <= high.

    Takes:      a distribution, and a range that it can hit
    Guarantee:  P(Z = z) / P(low <= Z <= high), exactly (proofs/bounded.md#truncated)
    Cost:       that of the distribution over the chance of the range; a table where the range is unlikely and short;
                milliseconds a draw where it is long and less likely than 1 in 1024

    >>> from sfumato.noise.discrete_laplace import DiscreteLaplace
    >>> Truncated.within(DiscreteLaplace(Fraction(10)), radius=10).support
    (-10, 10)
    """

    noise: Noise
    low: int
    high: int

    def __post_init__(self) -> None:
        low, high = checked_range(self.low, self.high)
        least, most = self.noise.support
        object.__setattr__(self, "low", low if least is None else max(low, least))
        object.__setattr__(self, "high", high if most is None else min(high, most))
        if self.low > self.high:
            raise BadArgument("range", "one that the distribution can hit", Several(low, high))

    @classmethod
    def within(cls, noise: Noise, *, radius: int) -> Truncated:
        """Conditions on |Z| <= radius."""
        return cls(noise, -radius, radius)

    def sample(self, entropy: Entropy) -> int:
        if not _hit_often(self):
            return self._listed(entropy)
        while not self.low <= (value := self.noise.sample(entropy)) <= self.high:
            pass
        return value

    def samples(self, count: int, entropy: Entropy) -> Integers:
        if not _hit_often(self):
            far = self.low < SMALLEST or self.high > LARGEST
            if self.high - self.low < LISTED:
                return draw_array(_table(self), count=count, entropy=entropy, wide=far)
            values = np.array([self._listed(entropy) for _ in range(count)], dtype=object)
            return values if far else values.astype(np.int64)
        drawn = self.noise.samples(count, entropy)
        missed = np.flatnonzero((drawn < self.low) | (drawn > self.high))
        while len(missed):
            again = self.noise.samples(len(missed), entropy)
            drawn[missed] = again
            missed = missed[(again < self.low) | (again > self.high)]
        return drawn

    def pmf(self, value: int, *, bits: int = BITS) -> arb:
        if not self.low <= value <= self.high:
            return arb(0)
        with precision(bits):
            return self.noise.pmf(value, bits=bits) / mass_between(self.noise, low=self.low, high=self.high, bits=bits)

    def cdf(self, value: int, *, bits: int = BITS) -> arb:
        return self._share(self.low, min(value, self.high), bits=bits)

    def upper_tail(self, value: int, *, bits: int = BITS) -> arb:
        return self._share(max(value, self.low), self.high, bits=bits)

    def variance(self, *, bits: int = BITS) -> arb:
        """Encloses the variance; a range of more than 1024 integers gives a wider ball."""
        return range_variance(self, low=self.low, high=self.high, bits=bits)

    @property
    def support(self) -> tuple[int, int]:
        return self.low, self.high

    @property
    def symmetric(self) -> bool:
        """True where the range and the distribution are symmetric."""
        return self.low == -self.high and self.noise.symmetric

    def _share(self, low: int, high: int, *, bits: int) -> arb:
        if (low, high) == (self.low, self.high):
            return arb(1)
        sharp = 2 * bits
        with precision(sharp):
            part = mass_between(self.noise, low=low, high=high, bits=sharp)
            return part / mass_between(self.noise, low=self.low, high=self.high, bits=sharp)

    def _listed(self, entropy: Entropy) -> int:
        if self.high - self.low < LISTED:
            return _table(self).one(entropy)
        return self.low + resolve(truncated_law(self), entropy.bits(WORD), WORD, entropy)


@guarantee(
    claim="index k is low + k, with the mass of the distribution given the range",
    proof="proofs/bounded.md#truncated",
    reviewed="1c5138c29109",
)
def truncated_law(truncated: Truncated) -> IndexLaw:
    """The law of a truncated variable, from the low end of its range."""
    low = truncated.low

    def below(index: int) -> arb:
        return truncated.cdf(low + index - 1, bits=ctx.prec)

    return IndexLaw(below, truncated.high - low + 1)


@lru_cache(maxsize=256)
def _hit_often(truncated: Truncated) -> bool:
    mass = mass_between(truncated.noise, low=truncated.low, high=truncated.high, bits=BITS)
    if not mass > 0:
        raise BadArgument("range", "one that the distribution can hit", Several(truncated.low, truncated.high))
    return bool(mass > ball(OFTEN if truncated.high - truncated.low < LISTED else SELDOM))


@lru_cache(maxsize=64)
def _table(truncated: Truncated) -> DigitSampler:
    table = InversionTable.listing(truncated_law(truncated), truncated.high - truncated.low + 1)
    return DigitSampler.of(table, base=lambda index: truncated.low + index)


@final
@dataclass(frozen=True)
class Censored(Noise):
    """Draws from a distribution and clamps to low … high.

    Takes:      a distribution and a range
    Guarantee:  the mass beyond each end lies on that end, exactly (proofs/bounded.md#censored)
    Cost:       that of the distribution

    >>> from sfumato.noise.discrete_laplace import DiscreteLaplace
    >>> Censored(DiscreteLaplace(Fraction(10)), 0, 5).quantile(Fraction(1, 100))
    0
    """

    noise: Noise
    low: int
    high: int

    def __post_init__(self) -> None:
        low, high = checked_range(self.low, self.high)
        object.__setattr__(self, "low", low)
        object.__setattr__(self, "high", high)

    def sample(self, entropy: Entropy) -> int:
        return min(max(self.noise.sample(entropy), self.low), self.high)

    def samples(self, count: int, entropy: Entropy) -> Integers:
        drawn = self.noise.samples(count, entropy)
        if drawn.dtype == object or self.low > LARGEST or self.high < SMALLEST:
            whole: NDArray[np.object_] = np.minimum(np.maximum(drawn.astype(object), self.low), self.high)
            return whole
        return np.minimum(np.maximum(drawn, saturated(self.low)), saturated(self.high))

    def pmf(self, value: int, *, bits: int = BITS) -> arb:
        if not self.low < value < self.high:
            at_end = self.low <= value <= self.high
            return mass_between(self, low=value, high=value, bits=bits) if at_end else arb(0)
        return self.noise.pmf(value, bits=bits)

    def cdf(self, value: int, *, bits: int = BITS) -> arb:
        return self.noise.cdf(value, bits=bits) if self.low <= value < self.high else arb(int(value >= self.high))

    def upper_tail(self, value: int, *, bits: int = BITS) -> arb:
        inside = self.low < value <= self.high
        return self.noise.upper_tail(value, bits=bits) if inside else arb(int(value <= self.low))

    def variance(self, *, bits: int = BITS) -> arb:
        """Encloses the variance; a range of more than 1024 integers gives a wider ball."""
        return range_variance(self, low=self.low, high=self.high, bits=bits)

    @property
    def support(self) -> tuple[int, int]:
        """The part of the range that can be hit."""
        least, most = self.noise.support
        low = self.low if least is None else min(max(least, self.low), self.high)
        high = self.high if most is None else max(min(most, self.high), self.low)
        return low, high
