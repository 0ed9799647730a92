"""The negative binomial distribution without 0, its limit the logarithmic one among them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from itertools import count as numbers
from typing import final

from flint import arb, ctx

from sfumato.entropy import Entropy
from sfumato.errors import BadArgument
from sfumato.exact import BITS, ball, positive, precision, rational
from sfumato.guarantee import guarantee
from sfumato.noise.digits import REACH, DigitSampler
from sfumato.noise.distribution import Noise
from sfumato.noise.inversion import TABLE_BITS, WORD, IndexLaw, InversionTable, resolve
from sfumato.noise.sampling import Deferred, Integers, draw_array

PATIENCE = 8
LONGEST_TABLE = 1 << 13
"""Entries of a table; what lies beyond is found by inversion, one number at a time."""

LARGEST_SHAPE = 1000


@final
@dataclass(frozen=True)
class TruncatedNegativeBinomial(Noise):
    """Draws integers z >= 1 with P(z) proportional to (1 - stop)^z Γ(z + shape) / z!.

    With shape 1 this is the number of tosses up to the first head of chance ``stop``; with shape 0 it is logarithmic.

    Takes:      shape, a rational greater than -1 and at most 1000; stop, a rational in (0, 1)
    Guarantee:  exactly this law (proofs/negative_binomial.md#law)
    Cost:       2 bytes of entropy, where the mean is up to a few hundred

    >>> TruncatedNegativeBinomial(Fraction(1), Fraction(1, 100)).quantile(Fraction(1, 2))
    69
    """

    shape: Fraction
    stop: Fraction

    def __post_init__(self) -> None:
        object.__setattr__(self, "shape", rational(self.shape, "shape"))
        object.__setattr__(self, "stop", positive(self.stop, "stop"))
        if not -1 < self.shape <= LARGEST_SHAPE:
            raise BadArgument("shape", "greater than -1 and at most 1000", self.shape)
        if self.stop >= 1:
            raise BadArgument("stop", "less than 1", self.stop)

    def sample(self, entropy: Entropy) -> int:
        return _sampler(self.shape, self.stop).one(entropy)

    def samples(self, count: int, entropy: Entropy) -> Integers:
        return draw_array(_sampler(self.shape, self.stop), count=count, entropy=entropy, wide=False)

    def pmf(self, value: int, *, bits: int = BITS) -> arb:
        with precision(bits):
            return arb(0) if value < 1 else mass_at(self.shape, self.stop, value)

    def cdf(self, value: int, *, bits: int = BITS) -> arb:
        with precision(bits):
            return 1 - self.upper_tail(value + 1, bits=bits)

    def upper_tail(self, value: int, *, bits: int = BITS) -> arb:
        with precision(bits):
            return arb(1) if value <= 1 else mass_from(self.shape, self.stop, value)

    def mean(self, *, bits: int = BITS) -> arb:
        with precision(bits):
            return first_mass(self.shape, self.stop) * ball(self.stop) ** ball(-1 - self.shape)

    def variance(self, *, bits: int = BITS) -> arb:
        with precision(bits):
            mean = self.mean(bits=bits)
            return mean * (1 + ball((1 + self.shape) * (1 - self.stop) / self.stop) - mean)

    def mean_power(self, x: arb) -> arb:
        """Encloses E[x^Z] for x in [0, 1], at the working precision."""
        return generating(self.shape, self.stop, x)

    @property
    def support(self) -> tuple[int, None]:
        """Every integer from 1 on."""
        return 1, None


@guarantee(
    claim="P(Z = 1) = shape (1 - stop) / (stop^-shape - 1), and (1 - stop) / ln(1 / stop) at shape 0",
    proof="proofs/negative_binomial.md#law",
    reviewed="c4db507147d9",
)
def first_mass(shape: Fraction, stop: Fraction) -> arb:
    """Encloses the probability of 1."""
    surprise = -ball(stop).log()
    if shape == 0:
        return ball(1 - stop) / surprise
    return ball(shape * (1 - stop)) / (ball(shape) * surprise).expm1()


@guarantee(
    claim="P(Z = z) = P(Z = 1) (1 - stop)^(z - 1) Γ(z + shape) / (Γ(1 + shape) z!)",
    proof="proofs/negative_binomial.md#law",
    reviewed="d51cef2ef4c1",
)
def mass_at(shape: Fraction, stop: Fraction, value: int) -> arb:
    """Encloses the probability of an integer of at least 1."""
    with precision(ctx.prec + 2 * (value.bit_length() + int(abs(shape)).bit_length()) + 32):
        ways = ball(value + shape).lgamma() - ball(1 + shape).lgamma() - arb(value + 1).lgamma()
        return first_mass(shape, stop) * (ways + (value - 1) * ball(-stop).log1p()).exp()


@guarantee(
    claim="P(Z >= z) = P(Z = z) 2F1(1, 1 - shape; z + 1; -(1 - stop) / stop) / stop",
    proof="proofs/negative_binomial.md#tail",
    reviewed="de0a4f5a48af",
)
def mass_from(shape: Fraction, stop: Fraction, value: int) -> arb:
    """Encloses the probability of an integer of at least 1, and of all above it."""
    if shape == 1:
        return ((value - 1) * ball(-stop).log1p()).exp()
    onwards = ball(-(1 - stop) / stop).hypgeom_2f1(arb(1), ball(1 - shape), arb(value + 1))
    return mass_at(shape, stop, value) * onwards / ball(stop)


@guarantee(
    claim="E[x^Z] = ((1 - (1 - stop) x)^-shape - 1) / (stop^-shape - 1), at shape 0 ln(1 - (1 - stop) x) / ln stop",
    proof="proofs/negative_binomial.md#generating",
    reviewed="4f86a3181d30",
)
def generating(shape: Fraction, stop: Fraction, x: arb) -> arb:
    """Encloses the generating function at a point in [0, 1]."""
    here, whole = -(ball(-(1 - stop)) * x).log1p(), -ball(stop).log()
    if shape == 0:
        return here / whole
    return (ball(shape) * here).expm1() / (ball(shape) * whole).expm1()


@guarantee(claim="index j is the integer j + 1", proof="proofs/negative_binomial.md#sampler", reviewed="ac01add7e3ce")
def runs_law(shape: Fraction, stop: Fraction) -> IndexLaw:
    """The law for inversion: index j is the integer j + 1."""
    return IndexLaw(lambda index: 1 - mass_from(shape, stop, index + 1))


def runs_masses(shape: Fraction, stop: Fraction) -> Iterator[arb]:
    """Yields F(1), F(2), … of `runs_law` by a recurrence, as far as a table may need."""
    term, total = first_mass(shape, stop), arb(0)
    for value in numbers(1):
        total += term
        yield total
        term *= ball((1 - stop) * (value + shape) / (value + 1))


@lru_cache(maxsize=64)
def _sampler(shape: Fraction, stop: Fraction) -> Deferred:
    law = runs_law(shape, stop)
    length = min(LONGEST_TABLE, int(REACH * (1 + shape) / stop) + 1)

    def build() -> DigitSampler:
        with precision(TABLE_BITS):
            masses = (mass for _, mass in zip(range(length), runs_masses(shape, stop), strict=False))
            return DigitSampler.of(InversionTable.of(law, masses), base=lambda index: index + 1)

    return Deferred(
        direct=lambda entropy: 1 + resolve(law, entropy.bits(WORD), WORD, entropy), build=build, patience=PATIENCE
    )
