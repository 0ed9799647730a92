"""What every distribution on the integers can do.

A distribution is a record of its parameters. Sampling, masses, tails and quantiles all read the same record, so that an
error bar cannot disagree with the noise that was drawn. Masses are Arb balls: certain to enclose the true number.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import fields
from fractions import Fraction
from statistics import NormalDist

import numpy as np
from flint import arb
from numpy.typing import NDArray

from sfumato.entropy import Entropy
from sfumato.errors import BadArgument
from sfumato.exact import BITS, Number, Root, ball, endpoints, precision, probability
from sfumato.noise.sampling import Integers

EQUAL_BITS = 4096
"""Two numbers that agree to this many bits are taken to be equal; rationals of a law here are then truly equal."""

SECANTS = 8
"""How many secants are tried for a place to begin a search at."""

MOST_BITS = 2048
"""Numbers of this many bits are short."""

TINY_EXPONENT = -(1 << 13)
TINY = Fraction(1, 1 << (1 << 13))
SHARPEST = 1 << 20


class Noise(ABC):
    """A distribution on the integers with an exact sampler and certified masses."""

    @abstractmethod
    def sample(self, entropy: Entropy) -> int:
        """Draws one integer, of any size."""

    @abstractmethod
    def samples(self, count: int, entropy: Entropy) -> Integers:
        """Draws an array of independent integers: 64-bit ones, or Python's where those do not hold them all."""

    @abstractmethod
    def pmf(self, value: int, *, bits: int = BITS) -> arb:
        """Encloses P(Z = value)."""

    @abstractmethod
    def cdf(self, value: int, *, bits: int = BITS) -> arb:
        """Encloses P(Z <= value)."""

    @abstractmethod
    def upper_tail(self, value: int, *, bits: int = BITS) -> arb:
        """Encloses P(Z >= value)."""

    @abstractmethod
    def variance(self, *, bits: int = BITS) -> arb:
        """Encloses the variance."""

    @property
    @abstractmethod
    def support(self) -> tuple[int | None, int | None]:
        """The least and the greatest possible value; None where there is none."""

    @property
    def symmetric(self) -> bool:
        """Tells whether −Z has the law of Z, and no value is likelier than one nearer to 0; no where unknown."""
        return False

    @property
    def is_moderate(self) -> bool:
        """Tells whether its numbers are short enough that its error bars take about a second, whoever wrote them."""
        return all(_is_moderate(getattr(self, part.name)) for part in fields(self))  # type: ignore[arg-type]  # a record

    @property
    def family(self) -> str:
        """The name of its family, as readers know it."""
        return type(self).__name__.removeprefix("Discrete")

    def words(self, step: Fraction = Fraction(1)) -> str:
        """Says what it is, in the unit in which a whole number is so large a step."""
        return self.family

    def quick_tails(self, points: NDArray[np.float64]) -> tuple[NDArray[np.float64], float] | None:
        """P(Z >= point) for many whole numbers, within 1e-13, and by how much more it may be too low.

        None where tails are worked out one by one, from balls.
        """
        return None

    def tail(self, distance: int, *, bits: int = BITS) -> arb:
        """Encloses P(|Z| >= distance)."""
        if distance <= 0:
            return arb(1)
        with precision(bits):
            above = self.upper_tail(distance, bits=bits)
            return 2 * above if self.symmetric else above + self.cdf(-distance, bits=bits)

    def quantile(self, p: Number) -> int:
        """The least z with P(Z <= z) >= p."""
        wanted = probability(p, "p")
        low, high = self.support
        if (wanted == 0 and low is None) or (wanted == 1 and high is None):
            raise BadArgument("p", "strictly between 0 and 1, for the distribution is unbounded", p)
        if low is not None and wanted == 0:
            return low
        if high is not None and wanted == 1:
            return high
        # Whichever tail is small is compared: next to 1, probabilities that differ may agree to any number of bits.
        rare = min(wanted, 1 - wanted)
        near = self._near(2 * rare) if self.symmetric and low is high is None and 2 * rare < 1 else 0
        if 2 * wanted <= 1:
            value = least(lambda place: at_least(lambda bits: self.cdf(place, bits=bits), wanted), near=-near)
        else:
            beyond = 1 - wanted
            value = least(lambda place: at_most(lambda bits: self.upper_tail(place + 1, bits=bits), beyond), near=near)
        return value if low is None else max(value, low)

    def half_width(self, confidence: Number) -> int:
        """The least t with P(|Z| > t) <= 1 - confidence: the error bar at that confidence."""
        missed = 1 - probability(confidence, "confidence")
        low, high = self.support
        if missed == 0 and (low is None or high is None):
            raise BadArgument("confidence", "less than 1, for the distribution is unbounded", confidence)
        if missed == 1:
            return 0
        if low is not None and high is not None and missed == 0:
            return max(abs(low), abs(high))
        near = self._near(missed)
        return least(lambda t: t >= 0 and at_most(lambda bits: self.tail(t + 1, bits=bits), missed), near=near)

    def _near(self, missed: Fraction) -> int:
        """About the error bar, by secants of the tail's logarithm; it decides only where the search for it begins."""
        with precision(BITS):
            wanted, width = ball(missed).log(), max(1, _whole(self.variance().sqrt() * _deviations(missed)))
            places, depths = [0, width], [arb(0), self.tail(width + 1).log()]
            for _ in range(SECANTS):
                if depths[0].overlaps(depths[1]) or abs(places[1] - places[0]) <= 1:
                    break
                slope = (depths[1] - depths[0]) / (places[1] - places[0])
                place = max(0, places[1] + _whole((wanted - depths[1]) / slope))
                places, depths = [places[1], place], [depths[1], self.tail(place + 1).log()]
        return places[1]


def _is_moderate(value: object) -> bool:
    match value:
        case Noise():
            return value.is_moderate
        case Root():
            return _bits(value.square) <= 2 * MOST_BITS
        case int() | Fraction():
            return _bits(value) <= MOST_BITS
        case tuple():
            return all(map(_is_moderate, value))
    return False


def _bits(value: int | Fraction) -> int:
    return max(value.numerator.bit_length(), value.denominator.bit_length())


def running(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Adds up floats, in blocks of about √n, so that rounding adds up to at most (2√n + 4) units of the whole."""
    width = math.isqrt(len(values)) + 1
    blocks = np.zeros((-(-len(values) // width), width))
    blocks.reshape(-1)[: len(values)] = values
    sums = np.cumsum(blocks, axis=1)
    sums[1:] += np.cumsum(sums[:-1, -1])[:, np.newaxis]
    return np.asarray(sums.reshape(-1)[: len(values)])


def enclosure(value: arb) -> tuple[Fraction, Fraction]:
    """Rational bounds around a finite ball, without losing any of its sharpness.

    A bound closer to 0 than `TINY` moves outward, to 0 or to `TINY`: the rational of exp(-10^12) would fill the memory.

    >>> enclosure(arb(3) / 4)
    (Fraction(3, 4), Fraction(3, 4))
    """
    if not value.is_finite():
        raise BadArgument("value", "a finite ball", value)
    with precision(min(max(value.bits(), value.rel_accuracy_bits(), 0) + 128, SHARPEST)):
        return _rational(value.lower()), -_rational(-value.upper())


def _rational(bound: arb) -> Fraction:
    """An exact ball as a rational, or a rational below it where it is tiny."""
    if abs(bound) < arb(2) ** TINY_EXPONENT:
        return Fraction(0) if bound >= 0 else -TINY
    return Fraction(endpoints(bound)[0])


def at_least(value: Callable[[int], arb], bound: Fraction) -> bool:
    """Decides value >= bound with certainty, sharpening the ball as long as needed."""
    bits = BITS
    while bits <= EQUAL_BITS:
        with precision(bits):
            enclosed, limit = value(bits), ball(bound)
            if enclosed >= limit:
                return True
            if enclosed < limit:
                return False
        bits *= 2
    return True


def at_most(value: Callable[[int], arb], bound: Fraction) -> bool:
    """Decides value <= bound with certainty, sharpening the ball as long as needed."""
    return at_least(lambda bits: -value(bits), -bound)


def _deviations(missed: Fraction) -> int:
    """How many standard deviations, about, Gaussian noise is within but for a chance of so much; at least 1."""
    return max(1, round(-NormalDist().inv_cdf(max(float(missed) / 2, 1e-300))))


def _whole(value: arb) -> int:
    """A whole number near the middle of a ball; 0 where there is none."""
    return int(value.mid().floor().fmpz()) if value.is_finite() else 0


def least(holds: Callable[[int], bool], *, near: int = 0) -> int:
    """Finds the least integer from which on a monotone statement holds; the search begins at ``near``."""
    step = 1
    if holds(near):
        while holds(near - step):
            step *= 2
        low, high = near - step, near - step // 2
    else:
        while not holds(near + step):
            step *= 2
        low, high = near + step // 2, near + step
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if holds(middle) else (middle, high)
    return high
