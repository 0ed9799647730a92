"""What Gaussian noise costs in (ε, δ): the exact curve, its inverses, and the classical formula for ε up to 1.

All numbers are certified: a δ, an ε or a scale that is handed back is never below the true one. The first four
functions are about continuous noise, as in textbooks; releases draw the discrete Gaussian, whose exact curve the last
two give.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from functools import lru_cache

from flint import arb

from sfumato.accounting.plans.search import about, least
from sfumato.accounting.pld.crossing import log_ratio
from sfumato.errors import BadArgument
from sfumato.exact import (
    BITS,
    Distance,
    Number,
    Root,
    as_distance,
    ball,
    endpoints,
    integer,
    non_negative,
    positive,
    precision,
    rational,
    rational_up,
    root,
    squared,
    upper,
)
from sfumato.guarantee import guarantee
from sfumato.noise.discrete_gaussian import DiscreteGaussian

SHARPNESS = Fraction(1, 1 << 64)
"""A δ is worked out until it is known to this relative error."""

TINY = Fraction(1, 1 << 10_000)
"""A δ below this is reported as this: balls reach further down than rationals fit into memory."""

TINY_BALL = ball(TINY)
"""The same as a ball: a power of two is exact at any precision."""

FAR = 14_000
"""P(Z >= t) <= exp(-t²/2s²) is below `TINY` where t²/s² is more than this, for 2·10⁴·ln 2 < 14 000."""

MOST_BITS = 1 << 15
"""Beyond this precision a δ is taken as it stands."""


def gaussian_delta(epsilon: Number, *, scale: Number | Root, sensitivity: Number | Root = 1) -> Fraction:
    """The least δ for which *continuous* Gaussian noise keeps (ε, δ), rounded up.

    That is the noise of the textbooks. What `gaussian()` draws is discrete: see `discrete_gaussian_delta`.

    >>> round(float(gaussian_delta(1, scale=1)), 7)
    0.1269367
    """
    shift, size = _sensitivity(sensitivity), _scale(scale)
    return exact_gaussian_delta(non_negative(epsilon, "epsilon"), shift, size)


@guarantee(
    claim="delta = Phi(D/2s - eps s/D) - exp(eps) Phi(-D/2s - eps s/D), rounded up",
    proof="proofs/gaussian_calibration.md#analytic",
    reviewed="628ab954bf0c",
)
def exact_gaussian_delta(epsilon: Fraction, sensitivity: Distance, scale: Distance) -> Fraction:
    """δ(ε) of continuous Gaussian noise between neighbours that are exactly the sensitivity apart."""
    if sensitivity == 0:
        return Fraction(0)
    return _sharpened(lambda bits: _gaussian_parts(ball(epsilon), ball_of(sensitivity) / ball_of(scale)))


def _gaussian_parts(epsilon: arb, shift: arb) -> tuple[arb, arb]:
    """Encloses a quick bound of δ(ε), and δ(ε) itself, of noise of scale 1 between neighbours a shift apart."""
    middle, reach = epsilon / shift, shift / 2
    above = gaussian_upper_tail(middle - reach)
    # Where the first term is tiny, so is δ, and the exponential may be too large even for a ball.
    return above, above if above < TINY_BALL else above - epsilon.exp() * gaussian_upper_tail(middle + reach)


def _excess(delta: Fraction, parts: tuple[arb, arb]) -> float:
    """About the logarithm of how far a δ is above another one; no number where it is not known well enough."""
    return float((parts[1] / ball(delta)).log().mid()) if parts[1] > 0 else math.nan


def mu_near(epsilon: Fraction, delta: Fraction) -> float | None:
    """About the greatest μ that keeps an (ε, δ): where a search for it may begin."""
    far = 2 * _log_above(delta)
    start = max(2 * float(epsilon) / (math.sqrt(far + 2 * float(epsilon)) + math.sqrt(far)), float(delta), 1e-300)
    with precision(BITS):
        price = ball(epsilon)
        return about(lambda mu: -_excess(delta, _gaussian_parts(price, arb(mu))), start=start)


def epsilon_near(mu: Distance, delta: Fraction) -> float | None:
    """About the least ε that μ keeps at a δ: where a search for it may begin."""
    with precision(BITS):
        shift = ball_of(mu)
        size = float(shift.mid())
        start = size * (size / 2 + math.sqrt(2 * _log_above(delta)))
        return about(lambda epsilon: _excess(delta, _gaussian_parts(arb(epsilon), shift)), start=start)


def _log_above(delta: Fraction) -> float:
    """About ln(1 / δ)."""
    return math.log(delta.denominator) - math.log(delta.numerator)


def _sharpened(parts: Callable[[int], tuple[arb, arb]]) -> Fraction:
    """An upper bound of a δ that is sharp to a relative 2⁻⁶⁴; of two enclosed upper bounds the better one."""
    bits = BITS
    while True:
        with precision(bits):
            ceiling, delta = parts(bits)
            low, high = unit_bounds(delta)
            high = min(high, unit_bounds(ceiling)[1])
        if bits >= MOST_BITS or high == TINY or (low > 0 and high - low <= low * SHARPNESS):
            return high
        bits *= 2


def unit_bounds(value: arb) -> tuple[Fraction, Fraction]:
    """Encloses a probability by rationals, the upper one at least `TINY`."""
    if not value.is_finite():
        return Fraction(0), Fraction(1)
    least_value, most_value = value.lower(), value.upper()
    low = endpoints(least_value)[0] if least_value > TINY_BALL and least_value < 1 else Fraction(0)
    if most_value < TINY_BALL:
        return Fraction(0), TINY
    high = endpoints(most_value)[1] if most_value < 1 else Fraction(1)
    return Fraction(low), min(Fraction(1), Fraction(high))


def gaussian_upper_tail(value: arb) -> arb:
    """Encloses the probability that a standard normal variable is above a value."""
    tail: arb = (value / arb(2).sqrt()).erfc() / 2
    return tail


def gaussian_epsilon(delta: Number, *, scale: Number | Root, sensitivity: Number | Root = 1) -> Fraction:
    """The least ε for which *continuous* Gaussian noise keeps (ε, δ), rounded up to a float.

    That is the noise of the textbooks. What `gaussian()` draws is discrete: see `discrete_gaussian_delta`.

    >>> round(float(gaussian_epsilon(1e-6, scale=4.224679)), 4)
    1.0
    """
    allowed, shift, size = _delta(delta), _sensitivity(sensitivity), _scale(scale)
    if exact_gaussian_delta(Fraction(0), shift, size) <= allowed:
        return Fraction(0)
    near = epsilon_near(root(Fraction(squared(shift)) / Fraction(squared(size))), allowed)
    return least(lambda epsilon: exact_gaussian_delta(epsilon, shift, size) <= allowed, what="epsilon", near=near)


def analytic_sigma(epsilon: Number, *, delta: Number, sensitivity: Number | Root = 1) -> Fraction:
    """The least scale of *continuous* Gaussian noise that keeps (ε, δ), rounded up to a float; for every ε ≥ 0.

    That is the noise of the textbooks. What `gaussian()` draws is discrete: see `discrete_gaussian_delta`.

    >>> round(float(analytic_sigma(1, delta=1e-6)), 6)
    4.224679
    """
    allowed, shift, price = _delta(delta), _sensitivity(sensitivity), non_negative(epsilon, "epsilon")
    if shift == 0:
        raise BadArgument("sensitivity", "greater than 0: what never moves needs no noise", sensitivity)
    mu = mu_near(price, allowed)
    near = None if mu is None else float(rational_up(shift)) / mu
    return least(lambda scale: exact_gaussian_delta(price, shift, scale) <= allowed, what="scale", near=near)


@guarantee(
    claim="scale = D sqrt(2 ln(1.25 / delta)) / epsilon keeps (epsilon, delta), for epsilon at most 1",
    proof="proofs/gaussian_calibration.md#classical",
    reviewed="89c3ccf893b2",
)
def classical_sigma(epsilon: Number, *, delta: Number, sensitivity: Number | Root = 1) -> Fraction:
    """The classical scale of *continuous* Gaussian noise for (ε, δ), rounded up; refused beyond ε = 1, its proof.

    That is the noise of the textbooks. What `gaussian()` draws is discrete: see `discrete_gaussian_delta`.

    >>> round(float(classical_sigma(1, delta=1e-6)), 6)
    5.298803
    """
    price, allowed, shift = positive(epsilon, "epsilon"), _delta(delta), _sensitivity(sensitivity)
    if price > 1:
        raise BadArgument("epsilon", "at most 1 for the classical formula; analytic_sigma holds for every ε", epsilon)
    ratio = Fraction(5, 4) / allowed
    return Fraction(upper(lambda: ball_of(shift) * (2 * ball(ratio).log()).sqrt() / ball(price)))


def discrete_gaussian_delta(noise: DiscreteGaussian, *, shift: int, epsilon: Number) -> Fraction:
    """The least δ for which discrete Gaussian noise keeps (ε, δ) between whole numbers a shift apart, rounded up.

    >>> round(float(discrete_gaussian_delta(DiscreteGaussian(Fraction(1)), shift=1, epsilon=1)), 4)
    0.1414
    """
    return exact_discrete_delta(noise, abs(integer(shift, "shift")), non_negative(epsilon, "epsilon"))


@guarantee(
    claim="delta = P(Z > eps s²/D - D/2) - exp(eps) P(Z > eps s²/D + D/2), rounded up",
    proof="proofs/gaussian_calibration.md#discrete",
    reviewed="3e8acd5e7354",
)
def exact_discrete_delta(noise: DiscreteGaussian, shift: int, epsilon: Fraction) -> Fraction:
    """δ(ε) of discrete Gaussian noise between whole numbers exactly a shift apart."""
    if shift == 0:
        return Fraction(0)
    middle = epsilon * noise.square / shift
    near = math.floor(middle - Fraction(shift, 2)) + 1
    if near > 0 and Fraction(near) ** 2 > FAR * noise.square:
        return TINY

    def parts(bits: int) -> tuple[arb, arb]:
        above = noise.upper_tail(near, bits=bits)
        return above, above - ball(epsilon).exp() * noise.upper_tail(near + shift, bits=bits)

    return _sharpened(parts)


def discrete_gaussian_epsilon(noise: DiscreteGaussian, *, shift: int, delta: Number) -> Fraction:
    """The least ε for which discrete Gaussian noise keeps (ε, δ), rounded up to a float.

    >>> noise = DiscreteGaussian(Fraction(5))
    >>> 0.83 < discrete_gaussian_epsilon(noise, shift=1, delta=1e-6) < 0.85
    True
    """
    allowed, moved = _delta(delta), abs(integer(shift, "shift"))
    if exact_discrete_delta(noise, moved, Fraction(0)) <= allowed:
        return Fraction(0)

    @lru_cache
    def reached(epsilon: Fraction) -> Fraction:
        return exact_discrete_delta(noise, moved, epsilon)

    start = epsilon_near(root(moved * moved / noise.square), allowed) or 1.0
    near = about(lambda epsilon: log_ratio(reached(Fraction(epsilon)), allowed), start=start)
    return least(lambda epsilon: reached(epsilon) <= allowed, what="epsilon", near=near)


def ball_of(distance: Distance) -> arb:
    """The tightest ball around a finite distance."""
    return ball(distance.square).sqrt() if isinstance(distance, Root) else ball(Fraction(distance))


def _sensitivity(value: Number | Root) -> Distance:
    read = as_distance(value, "sensitivity")
    if read == math.inf:
        raise BadArgument("sensitivity", "finite; bound the values first", value)
    return read


def _scale(value: Number | Root) -> Distance:
    return value if isinstance(value, Root) else positive(value, "scale")


def _delta(value: Number) -> Fraction:
    read = rational(value, "delta")
    if not 0 < read < 1:
        raise BadArgument("delta", "greater than 0 and less than 1", value)
    return read
