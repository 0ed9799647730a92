"""Continuous distributions as references for accuracy statements and plots; they are never sampled.

Every number is an Arb ball that encloses the true value.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Protocol, final

from flint import arb

from sfumato.errors import BadArgument
from sfumato.exact import BITS, Number, ball, positive, precision, probability, rational


class Reference(Protocol):
    """A continuous distribution with certified density, tails and quantiles."""

    def pdf(self, x: Number, *, bits: int = BITS) -> arb:
        """Encloses the density at x."""

    def cdf(self, x: Number, *, bits: int = BITS) -> arb:
        """Encloses P(Y <= x)."""

    def upper_tail(self, x: Number, *, bits: int = BITS) -> arb:
        """Encloses P(Y >= x)."""

    def quantile(self, p: Number, *, bits: int = BITS) -> arb:
        """Encloses the x with P(Y <= x) = p."""

    def mean(self, *, bits: int = BITS) -> arb:
        """Encloses the mean."""

    def variance(self, *, bits: int = BITS) -> arb:
        """Encloses the variance."""


def inside(p: Number) -> Fraction:
    """Reads a probability strictly between 0 and 1."""
    chance = probability(p, "p")
    if chance in (0, 1):
        raise BadArgument("p", "strictly between 0 and 1", p)
    return chance


def logarithm(p: Fraction) -> arb:
    """Encloses ln p, as sharply next to p = 1 as next to 0."""
    return ball(p).log() if 2 * p < 1 else ball(p - 1).log1p()


def two_sided(reference: Reference, *, distance: Number, centre: Number = 0, bits: int = BITS) -> arb:
    """Encloses P(|Y - centre| >= distance)."""
    middle, away = rational(centre, "centre"), rational(distance, "distance")
    if away <= 0:
        return arb(1)
    with precision(bits):
        return reference.upper_tail(middle + away, bits=bits) + reference.cdf(middle - away, bits=bits)


@final
@dataclass(frozen=True)
class Laplace(Reference):
    """The Laplace distribution, with density exp(-|x - location| / scale) / (2 scale).

    >>> Laplace(scale=Fraction(3)).variance() == 18
    True
    """

    scale: Fraction
    location: Fraction = Fraction(0)

    def __post_init__(self) -> None:
        object.__setattr__(self, "scale", positive(self.scale, "scale"))
        object.__setattr__(self, "location", rational(self.location, "location"))

    def pdf(self, x: Number, *, bits: int = BITS) -> arb:
        with precision(bits):
            return ball(-abs(rational(x, "x") - self.location) / self.scale).exp() / ball(2 * self.scale)

    def cdf(self, x: Number, *, bits: int = BITS) -> arb:
        return self.upper_tail(2 * self.location - rational(x, "x"), bits=bits)

    def upper_tail(self, x: Number, *, bits: int = BITS) -> arb:
        away = (rational(x, "x") - self.location) / self.scale
        with precision(bits):
            half = ball(-abs(away)).exp() / 2
            return half if away >= 0 else 1 - half

    def quantile(self, p: Number, *, bits: int = BITS) -> arb:
        chance = inside(p)
        with precision(bits):
            away = ball(2 * min(chance, 1 - chance)).log() * ball(self.scale)
            return ball(self.location) + (away if 2 * chance < 1 else -away)

    def mean(self, *, bits: int = BITS) -> arb:
        """Encloses the mean, the location."""
        with precision(bits):
            return ball(self.location)

    def variance(self, *, bits: int = BITS) -> arb:
        """Encloses the variance, 2 scale²."""
        with precision(bits):
            return ball(2 * self.scale**2)


@final
@dataclass(frozen=True)
class Gaussian(Reference):
    """The normal distribution with mean ``location`` and standard deviation ``scale``.

    >>> round(float(Gaussian(scale=Fraction(1)).quantile(Fraction(975, 1000))), 6)
    1.959964
    """

    scale: Fraction
    location: Fraction = Fraction(0)

    def __post_init__(self) -> None:
        object.__setattr__(self, "scale", positive(self.scale, "scale"))
        object.__setattr__(self, "location", rational(self.location, "location"))

    def pdf(self, x: Number, *, bits: int = BITS) -> arb:
        away = (rational(x, "x") - self.location) / self.scale
        with precision(bits):
            return ball(-(away**2) / 2).exp() / (ball(self.scale) * (2 * arb.pi()).sqrt())

    def cdf(self, x: Number, *, bits: int = BITS) -> arb:
        return self.upper_tail(2 * self.location - rational(x, "x"), bits=bits)

    def upper_tail(self, x: Number, *, bits: int = BITS) -> arb:
        with precision(bits):
            return (ball((rational(x, "x") - self.location) / self.scale) / arb(2).sqrt()).erfc() / 2

    def quantile(self, p: Number, *, bits: int = BITS) -> arb:
        chance = inside(p)
        with precision(bits):
            away = ball(self.scale) * arb(2).sqrt() * ball(2 * min(chance, 1 - chance)).erfcinv()
            return ball(self.location) + (-away if 2 * chance < 1 else away)

    def mean(self, *, bits: int = BITS) -> arb:
        """Encloses the mean, the location."""
        with precision(bits):
            return ball(self.location)

    def variance(self, *, bits: int = BITS) -> arb:
        """Encloses the variance, scale²."""
        with precision(bits):
            return ball(self.scale**2)

    def plus(self, other: Gaussian) -> tuple[Fraction, Fraction]:
        """Mean and variance of the sum with an independent Gaussian, which is Gaussian again."""
        return self.location + other.location, self.scale**2 + other.scale**2


@final
@dataclass(frozen=True)
class Gumbel(Reference):
    """The Gumbel distribution of maxima, with P(Y <= x) = exp(-exp(-(x - location) / scale)).

    >>> round(float(Gumbel(scale=Fraction(1)).cdf(0)), 6)
    0.367879
    """

    scale: Fraction
    location: Fraction = Fraction(0)

    def __post_init__(self) -> None:
        object.__setattr__(self, "scale", positive(self.scale, "scale"))
        object.__setattr__(self, "location", rational(self.location, "location"))

    def _fall(self, x: Number) -> arb:
        return ball((self.location - rational(x, "x")) / self.scale).exp()

    def pdf(self, x: Number, *, bits: int = BITS) -> arb:
        with precision(bits):
            return self._fall(x) * (-self._fall(x)).exp() / ball(self.scale)

    def cdf(self, x: Number, *, bits: int = BITS) -> arb:
        with precision(bits):
            return (-self._fall(x)).exp()

    def upper_tail(self, x: Number, *, bits: int = BITS) -> arb:
        with precision(bits):
            return -(-self._fall(x)).expm1()

    def quantile(self, p: Number, *, bits: int = BITS) -> arb:
        chance = inside(p)
        with precision(bits):
            return ball(self.location) - ball(self.scale) * (-logarithm(chance)).log()

    def mean(self, *, bits: int = BITS) -> arb:
        """Encloses the mean, location + γ scale."""
        with precision(bits):
            return ball(self.location) + arb.const_euler() * ball(self.scale)

    def variance(self, *, bits: int = BITS) -> arb:
        """Encloses the variance, π² scale² / 6."""
        with precision(bits):
            return arb.pi() ** 2 * ball(self.scale**2) / 6


@final
@dataclass(frozen=True)
class Exponential(Reference):
    """The exponential distribution, with P(Y >= x) = exp(-x / scale) for x >= 0.

    >>> Exponential(scale=Fraction(2)).variance() == 4
    True
    """

    scale: Fraction

    def __post_init__(self) -> None:
        object.__setattr__(self, "scale", positive(self.scale, "scale"))

    def pdf(self, x: Number, *, bits: int = BITS) -> arb:
        with precision(bits):
            return self.upper_tail(x, bits=bits) / ball(self.scale) if rational(x, "x") >= 0 else arb(0)

    def cdf(self, x: Number, *, bits: int = BITS) -> arb:
        with precision(bits):
            return -ball(-max(rational(x, "x"), Fraction(0)) / self.scale).expm1()

    def upper_tail(self, x: Number, *, bits: int = BITS) -> arb:
        with precision(bits):
            return ball(-max(rational(x, "x"), Fraction(0)) / self.scale).exp()

    def quantile(self, p: Number, *, bits: int = BITS) -> arb:
        chance = inside(p)
        with precision(bits):
            return -ball(self.scale) * logarithm(1 - chance)

    def mean(self, *, bits: int = BITS) -> arb:
        """Encloses the mean, the scale."""
        with precision(bits):
            return ball(self.scale)

    def variance(self, *, bits: int = BITS) -> arb:
        """Encloses the variance, scale²."""
        with precision(bits):
            return ball(self.scale**2)


@final
@dataclass(frozen=True)
class TruncatedLaplace(Reference):
    """The Laplace distribution around 0, conditioned on |Y| <= radius.

    >>> TruncatedLaplace(scale=Fraction(1), radius=Fraction(10)).cdf(10) == 1
    True
    """

    scale: Fraction
    radius: Fraction

    def __post_init__(self) -> None:
        object.__setattr__(self, "scale", positive(self.scale, "scale"))
        object.__setattr__(self, "radius", positive(self.radius, "radius"))

    def _kept(self) -> arb:
        return -ball(-self.radius / self.scale).expm1()

    def removed(self, *, bits: int = BITS) -> arb:
        """Encloses the mass that the cut takes from each side: exp(-radius / scale) / 2."""
        return Laplace(self.scale).upper_tail(self.radius, bits=bits)

    def pdf(self, x: Number, *, bits: int = BITS) -> arb:
        with precision(bits):
            within = abs(rational(x, "x")) <= self.radius
            return Laplace(self.scale).pdf(x, bits=bits) / self._kept() if within else arb(0)

    def cdf(self, x: Number, *, bits: int = BITS) -> arb:
        return self.upper_tail(-rational(x, "x"), bits=bits)

    def upper_tail(self, x: Number, *, bits: int = BITS) -> arb:
        place = rational(x, "x")
        with precision(bits):
            if abs(place) >= self.radius:
                return arb(int(place < 0))
            if place < 0:
                return 1 - self.upper_tail(-place, bits=bits)
            # exp(-x) - exp(-radius) as a product, which loses nothing where the two are close
            gap = -ball((place - self.radius) / self.scale).expm1()
            return ball(-place / self.scale).exp() * gap / (2 * self._kept())

    def quantile(self, p: Number, *, bits: int = BITS) -> arb:
        chance = inside(p)
        with precision(bits):
            upper = min(chance, 1 - chance)
            away = (2 * ball(upper) * self._kept() + ball(-self.radius / self.scale).exp()).log() * ball(self.scale)
            return away if 2 * chance < 1 else -away

    def mean(self, *, bits: int = BITS) -> arb:
        """Encloses the mean, 0."""
        with precision(bits):
            return arb(0)

    def variance(self, *, bits: int = BITS) -> arb:
        """Encloses the variance, 2 b² - (r² + 2 b r) exp(-r / b) / (1 - exp(-r / b))."""
        with precision(bits):
            lost = ball(self.radius**2 + 2 * self.scale * self.radius) * ball(-self.radius / self.scale).exp()
            return ball(2 * self.scale**2) - lost / self._kept()
