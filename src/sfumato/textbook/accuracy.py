"""Accuracy of additive noise: how far off (α), how often (β), and which scale gives both.

An answer is (α, β)-accurate when it is off by α *or more* with probability at most β. Everything is read from the
noise record that the sampler draws from, and rounded to the safe side: α and β up, scales down.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import TypeAlias

from flint import arb

from sfumato.accounting.facts.gaussian import unit_bounds
from sfumato.accounting.plans.search import greatest, least, least_integer
from sfumato.errors import BadArgument, CannotCalibrate
from sfumato.exact import BITS, Number, ball, integer, non_negative, positive, precision, probability, upper
from sfumato.guarantee import guarantee
from sfumato.noise.discrete_laplace import DiscreteLaplace
from sfumato.noise.distribution import Noise, at_most
from sfumato.release.interval import share_of_each
from sfumato.textbook.continuous import Gaussian, Laplace, two_sided

AdditiveNoise: TypeAlias = Noise | Laplace | Gaussian
"""What the statements here are about; the first in whole steps, the others as textbooks have them."""

WIDEST = 1000
"""Noise that is α / (1 - β) times this wide is below α with less than probability 1 - β (proofs/accuracy.md#wide)."""

NARROWEST = 10_000
"""Noise this many times narrower than α all but never reaches it."""


def error_of(noise: AdditiveNoise, *, beta: Number, coordinates: int = 1, union: bool = False) -> Fraction:
    """The least α that the noise reaches with probability at most β, on any of some independent coordinates.

    ``union`` takes the simpler bound β / coordinates for each instead of the exact share.

    >>> error_of(DiscreteLaplace(Fraction(1)), beta=0.05)
    Fraction(4, 1)
    >>> round(float(error_of(Laplace(Fraction(1)), beta=0.05)), 6)
    2.995732
    """
    share = share_of_each(_beta(beta), coordinates=integer(coordinates, "coordinates", least=1), union=union)
    if share == 1:
        return Fraction(0)

    def good(alpha: Fraction | int) -> bool:
        return at_most(lambda bits: chance_of_one(noise, Fraction(alpha), bits=bits), share)

    return Fraction(least_integer(good)) if _whole(noise) else least(good, what="error")


def chance_of(noise: AdditiveNoise, *, alpha: Number, coordinates: int = 1, union: bool = False) -> Fraction:
    """The probability β that the noise reaches α on any of some independent coordinates, rounded up.

    >>> round(float(chance_of(DiscreteLaplace(Fraction(1)), alpha=4)), 7)
    0.0267796
    """
    error, number = non_negative(alpha, "alpha"), integer(coordinates, "coordinates", least=1)
    with precision(BITS):
        return chance_of_any(chance_of_one(noise, error), coordinates=number, union=union)


def level_of(noise: AdditiveNoise, *, beta: Number, coordinates: int = 1) -> Fraction:
    """The least level that none of some independent noises exceeds, but for a probability of at most β.

    Empty bins of a noisy histogram stay at or below it: what is above holds data.

    >>> level_of(DiscreteLaplace(Fraction(1)), beta=0.05)
    Fraction(2, 1)
    """
    share = share_of_each(_beta(beta), coordinates=integer(coordinates, "coordinates", least=1), union=False)
    if share >= Fraction(1, 2):
        raise BadArgument("beta", "less than 1/2 for each coordinate, or no level above 0 is needed", beta)

    def kept(level: Fraction | int) -> bool:
        if isinstance(noise, Noise):
            return at_most(lambda bits: noise.upper_tail(int(level) + 1, bits=bits), share)
        return at_most(lambda bits: noise.upper_tail(noise.location + level, bits=bits), share)

    return Fraction(least_integer(kept, low=0)) if _whole(noise) else least(kept, what="level")


def scale_for_accuracy(
    family: Callable[[Fraction], AdditiveNoise],
    *,
    alpha: Number,
    beta: Number,
    coordinates: int = 1,
    union: bool = False,
) -> Fraction:
    """The greatest scale (a float's exact value) at which noise reaches α with probability at most β.

    >>> round(float(scale_for_accuracy(Laplace, alpha=2.995733, beta=0.05)), 6)
    1.0
    """
    error = positive(alpha, "alpha")
    if _whole(family(Fraction(1))):
        error = Fraction(math.ceil(error))
    share = share_of_each(_beta(beta), coordinates=integer(coordinates, "coordinates", least=1), union=union)
    if share == 1:
        raise BadArgument("beta", "less than 1: noise of any scale misses with probability at most 1", beta)
    wide, narrow = error * WIDEST / (1 - share), error / NARROWEST

    def reached(scale: Fraction) -> bool:
        return at_most(lambda bits: chance_of_one(family(scale), error, bits=bits), share)

    # Far outside, the answer is known, and the tails need not be worked out; the end is checked all the same.
    found = greatest(lambda scale: scale < wide and (scale <= narrow or reached(scale)), what="scale")
    if not reached(found):
        raise CannotCalibrate("no scale within reason misses as rarely as this beta asks.")
    return found


@guarantee(
    claim="1 - (1 - p)^d for independent coordinates, at most d p for any, rounded up",
    proof="proofs/accuracy.md#coordinates",
    reviewed="fc8b42eaa287",
)
def chance_of_any(one: arb, *, coordinates: int, union: bool) -> Fraction:
    """How often any of some coordinates is off, when each is off with an enclosed probability."""
    if coordinates == 1:
        return unit_bounds(one)[1]
    if union or not one < 1:
        return unit_bounds(one * coordinates)[1]
    return unit_bounds(-((-one).log1p() * coordinates).expm1())[1]


@guarantee(
    claim="P(|Z| >= alpha), read from the noise; whole numbers reach alpha when they reach ceil(alpha)",
    proof="proofs/accuracy.md#tails",
    reviewed="e9a73d2cabcf",
)
def chance_of_one(noise: AdditiveNoise, alpha: Fraction, *, bits: int = BITS) -> arb:
    """Encloses the probability that noise is off by alpha or more."""
    if isinstance(noise, Noise):
        return noise.tail(math.ceil(alpha), bits=bits)
    return two_sided(noise, distance=alpha, centre=noise.location, bits=bits)


@guarantee(
    claim="P(max |Z_i| >= s sqrt(2 ln(2 d / beta))) <= beta for Gaussian noise, discrete or not",
    proof="proofs/accuracy.md#gaussian-bound",
    reviewed="5f25afb63825",
)
def gaussian_error_bound(scale: Number, *, beta: Number, coordinates: int = 1) -> Fraction:
    """The closed form σ √(2 ln(2 d / β)), an upper bound of the error of Gaussian noise on d coordinates.

    >>> round(float(gaussian_error_bound(1, beta=0.05)), 6)
    2.716203
    """
    size, ratio = positive(scale, "scale"), 2 * integer(coordinates, "coordinates", least=1) / _beta(beta)
    return Fraction(upper(lambda: ball(size) * (2 * ball(ratio).log()).sqrt()))


@guarantee(
    claim="E|Z| = b for Laplace, s sqrt(2/pi) for Gaussian, 1 / sinh(1/r) for discrete Laplace noise, rounded up",
    proof="proofs/accuracy.md#expected",
    reviewed="5a1cdca0ce07",
)
def expected_error(noise: DiscreteLaplace | Laplace | Gaussian, *, coordinates: int = 1) -> Fraction:
    """The expected L1 error of independent noise on some coordinates, rounded up.

    >>> expected_error(Laplace(Fraction(2)), coordinates=3)
    Fraction(6, 1)
    """
    number, scale = integer(coordinates, "coordinates", least=1), noise.scale
    match noise:
        case Laplace():
            return number * scale
        case Gaussian():
            return number * Fraction(upper(lambda: ball(scale) * (2 / arb.pi()).sqrt()))
        case DiscreteLaplace():
            if scale <= 1:  # then E|Z| < 1, and may be too small for a rational
                return number * unit_bounds(-2 * ball(-1 / scale).exp() / ball(-2 / scale).expm1())[1]
            return number * Fraction(upper(lambda: 1 / ball(1 / scale).sinh()))
        case _:
            raise BadArgument("noise", "Laplace, Gaussian or discrete Laplace", type(noise).__name__)


def _whole(noise: AdditiveNoise) -> bool:
    return isinstance(noise, Noise)


def _beta(value: Number) -> Fraction:
    read = probability(value, "beta")
    if read == 0:
        raise BadArgument("beta", "greater than 0: no noise with unbounded tails is always near", value)
    return read
