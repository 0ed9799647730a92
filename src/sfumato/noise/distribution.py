"""What every distribution on the integers can do.

A distribution is a record of its parameters. Sampling, masses, tails and quantiles all read the same record, so that an
error bar cannot disagree with the noise that was drawn. Masses are Arb balls: certain to enclose the true number.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Protocol

from flint import arb

from sfumato.entropy import Entropy
from sfumato.errors import BadArgument
from sfumato.exact import BITS, Number, ball, endpoints, precision, probability
from sfumato.noise.sampling import Integers

EQUAL_BITS = 4096
"""Two numbers that agree to this many bits are taken to be equal; rationals of a law here are then truly equal."""


TINY_EXPONENT = -(1 << 13)
TINY = Fraction(1, 1 << (1 << 13))
SHARPEST = 1 << 20


class Noise(Protocol):
    """Is a distribution on the integers with an exact sampler and certified masses."""

    def sample(self, entropy: Entropy) -> int:
        """Draws one integer, of any size."""

    def samples(self, count: int, entropy: Entropy) -> Integers:
        """Draws an array of independent integers: 64-bit ones, or Python's where those do not hold them all."""

    def pmf(self, value: int, *, bits: int = BITS) -> arb:
        """Encloses P(Z = value)."""

    def cdf(self, value: int, *, bits: int = BITS) -> arb:
        """Encloses P(Z <= value)."""

    def upper_tail(self, value: int, *, bits: int = BITS) -> arb:
        """Encloses P(Z >= value)."""

    def variance(self, *, bits: int = BITS) -> arb:
        """Encloses the variance."""

    @property
    def support(self) -> tuple[int | None, int | None]:
        """Gives the least and the greatest possible value; None where there is none."""

    def tail(self, distance: int, *, bits: int = BITS) -> arb:
        """Encloses P(|Z| >= distance)."""
        if distance <= 0:
            return arb(1)
        with precision(bits):
            return self.upper_tail(distance, bits=bits) + self.cdf(-distance, bits=bits)

    def quantile(self, p: Number) -> int:
        """Gives the least z with P(Z <= z) >= p."""
        wanted = probability(p, "p")
        low, high = self.support
        if (wanted == 0 and low is None) or (wanted == 1 and high is None):
            raise BadArgument("p", "strictly between 0 and 1, for the distribution is unbounded", p)
        if low is not None and wanted == 0:
            return low
        if high is not None and wanted == 1:
            return high
        # Whichever tail is small is compared: next to 1, probabilities that differ may agree to any number of bits.
        if 2 * wanted <= 1:
            found = least(lambda value: at_least(lambda bits: self.cdf(value, bits=bits), wanted))
        else:
            found = least(lambda value: at_most(lambda bits: self.upper_tail(value + 1, bits=bits), 1 - wanted))
        return found if low is None else max(found, low)

    def half_width(self, confidence: Number) -> int:
        """Gives the least t with P(|Z| > t) <= 1 - confidence: the error bar at that confidence."""
        missed = 1 - probability(confidence, "confidence")
        low, high = self.support
        if missed == 0 and (low is None or high is None):
            raise BadArgument("confidence", "less than 1, for the distribution is unbounded", confidence)
        if missed == 1:
            return 0
        if low is not None and high is not None and missed == 0:
            return max(abs(low), abs(high))
        return least(lambda t: t >= 0 and at_most(lambda bits: self.tail(t + 1, bits=bits), missed))


def enclosure(value: arb) -> tuple[Fraction, Fraction]:
    """Gives rational bounds around a finite ball, without losing any of its sharpness.

    A bound closer to 0 than `TINY` moves outward, to 0 or to `TINY`: the rational of exp(-10^12) would fill the memory.

    >>> enclosure(arb(3) / 4)
    (Fraction(3, 4), Fraction(3, 4))
    """
    if not value.is_finite():
        raise BadArgument("value", "a finite ball", value)
    with precision(min(max(value.bits(), value.rel_accuracy_bits(), 0) + 128, SHARPEST)):
        return _rational(value.lower()), -_rational(-value.upper())


def _rational(bound: arb) -> Fraction:
    """Gives an exact ball as a rational, or a rational below it where it is tiny."""
    if abs(bound) < arb(2) ** TINY_EXPONENT:
        return Fraction(0) if bound >= 0 else -TINY
    return Fraction(endpoints(bound)[0])


def at_least(value: Callable[[int], arb], bound: Fraction) -> bool:
    """Decides value >= bound with certainty, sharpening the ball as long as needed."""
    bits = BITS
    while bits <= EQUAL_BITS:
        with precision(bits):
            found, limit = value(bits), ball(bound)
            if found >= limit:
                return True
            if found < limit:
                return False
        bits *= 2
    return True


def at_most(value: Callable[[int], arb], bound: Fraction) -> bool:
    """Decides value <= bound with certainty, sharpening the ball as long as needed."""
    return at_least(lambda bits: -value(bits), -bound)


def least(holds: Callable[[int], bool]) -> int:
    """Finds the least integer from which on a monotone statement holds."""
    step = 1
    if holds(0):
        while holds(-step):
            step *= 2
        low, high = -step, -(step // 2)
    else:
        while not holds(step):
            step *= 2
        low, high = step // 2, step
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if holds(middle) else (middle, high)
    return high
