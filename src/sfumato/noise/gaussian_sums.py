"""Certified sums of exp(-z² / 2σ²) over integers, for any σ² > 0.

Small σ is summed term by term with a geometric bound on what is left out; large σ by the Euler-Maclaurin formula with a
proven remainder. Everything is a ball at the working precision of the caller.
"""

from __future__ import annotations

import math
from fractions import Fraction

from flint import arb, ctx, fmpq

from sfumato.exact import ball
from sfumato.guarantee import guarantee

SUMMED_BELOW = 24
"""Term-by-term sums are used below this σ; above, Euler-Maclaurin needs few terms."""

STEEP = 4
"""Term-by-term sums are also used from σ²/4 on, where each term is less than exp(-1/4) times the one before."""

MOST_TERMS = 120


def whole_root(square: Fraction) -> int:
    """The whole part of σ, given σ²."""
    return math.isqrt(square.numerator // square.denominator)


@guarantee(
    claim="sum over b >= start of exp(-(b width + offset)² / 2σ²)",
    proof="proofs/discrete_gaussian.md#direct",
    reviewed="6230f935035c",
)
def direct_sum(square: Fraction, *, start: int, width: int = 1, offset: int = 0) -> arb:
    """Sums term by term until a geometric bound on the rest is negligible; for start, offset >= 0 and width >= 1."""
    first = start * width + offset
    term = ball(-Fraction(first * first) / (2 * square)).exp()
    ratio = ball(-Fraction((2 * first + width) * width) / (2 * square)).exp()
    fall = ball(-Fraction(width * width) / square).exp()
    negligible = arb(2) ** -ctx.prec
    total = arb(0)
    while True:
        total += term
        term *= ratio
        rest = term / (1 - ratio)
        if rest <= negligible * total or not term > 0:  # so small that the ball touches 0: no use in going on
            return total + arb(0).union(rest)
        ratio *= fall


@guarantee(
    claim="sum over z >= start of exp(-z² / 2σ²), for start >= 0",
    proof="proofs/discrete_gaussian.md#tails",
    reviewed="4f696e5c5314",
)
def tail_sum(square: Fraction, *, start: int) -> arb:
    """Sums exp(-z² / 2σ²) over the integers from a start on."""
    if whole_root(square) < SUMMED_BELOW or STEEP * start >= square:
        return direct_sum(square, start=start)
    sigma = ball(square).sqrt()
    place = start / sigma
    height = (-place * place / 2).exp()
    gauss = (arb.pi() / 2).sqrt() * (place / arb(2).sqrt()).erfc()
    if not gauss > 0:  # so far out that the ball touches 0
        return height.union(height * (1 + ball(square / start)))
    total = sigma * gauss + height / 2
    before, here, power, factorial, rest = arb(1), place, 1 / sigma, 1, arb(0)
    for half in range(1, MOST_TERMS + 1):
        order = 2 * half
        factorial *= order * (order - 1)
        total += height * here * power * arb(fmpq.bernoulli(order)) / factorial
        size = (arb(factorial) * (2 * arb.pi()).sqrt() * gauss).sqrt()
        if place * place > 4 * order + 2:  # beyond all zeros of the Hermite polynomial, whose integral is then known
            size = size.min(height * here)
        rest = 4 * power / (2 * arb.pi()) ** order * size
        if rest <= total * arb(2) ** -ctx.prec:
            break
        before, here = here, place * here - (order - 1) * before
        before, here = here, place * here - order * before
        power /= sigma * sigma
    return total + rest.union(-rest)


def power_sum(rate: arb, *, power: int) -> arb:
    """Sums k^power exp(-rate k²) over k >= 1, for a rate above 0.4."""
    negligible = arb(2) ** -ctx.prec
    total, k = arb(0), 1
    while True:
        total += arb(k) ** power * (-rate * k * k).exp()
        k += 1
        term = arb(k) ** power * (-rate * k * k).exp()
        ratio = (arb(k + 1) / k) ** power * (-rate * (2 * k + 1)).exp()
        if ratio < 1 and (term <= negligible * total or not term > 0):
            return total + arb(0).union(term / (1 - ratio))


@guarantee(
    claim="sum over all integers z of exp(-z² / 2σ²)",
    proof="proofs/discrete_gaussian.md#normaliser",
    reviewed="e58ffcf71710",
)
def normaliser(square: Fraction) -> arb:
    """Sums exp(-z² / 2σ²) over all integers, directly or by Poisson's formula, whichever is fast."""
    if square <= 1:
        return 1 + 2 * power_sum(ball(1 / (2 * square)), power=0)
    return (2 * arb.pi() * ball(square)).sqrt() * (1 + 2 * power_sum(2 * arb.pi() ** 2 * ball(square), power=0))


@guarantee(
    claim="the variance of the law proportional to exp(-z² / 2σ²)",
    proof="proofs/discrete_gaussian.md#variance",
    reviewed="7086000c9a3b",
)
def spread(square: Fraction) -> arb:
    """Encloses the variance: directly, or as σ² minus the correction that Poisson's formula gives."""
    if square <= 1:
        rate = ball(1 / (2 * square))
        return 2 * power_sum(rate, power=2) / (1 + 2 * power_sum(rate, power=0))
    rate, exact = 2 * arb.pi() ** 2 * ball(square), ball(square)
    correction = 2 * power_sum(rate, power=2) / (1 + 2 * power_sum(rate, power=0))
    return exact - 4 * arb.pi() ** 2 * exact**2 * correction
