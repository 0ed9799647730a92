"""Sums over the points of the square lattice of exp(-rate |z|), |z| the Euclidean length: certified at any rate.

A large rate is summed point by point, with a bound on the rest. A small rate goes through Poisson's summation formula,
where a handful of zeta values give every digit: the lattice points themselves would be millions.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import final

from flint import arb, ctx

from sfumato.exact import ball, precision
from sfumato.guarantee import guarantee

FEW_POINTS = 2
"""From this rate on the points are summed one by one; below it the series of zeta values has ratio 0.11 or less."""

GUARD_BITS = 32
HALF = Fraction(1, 2)


@final
@dataclass(frozen=True, eq=False)
class LatticeSums:
    """The sum of exp(-rate |z|) over the lattice, and that of |z| exp(-rate |z|), as balls."""

    weight: arb
    moment: arb


@lru_cache(maxsize=64)
def lattice_sums(rate: Fraction, bits: int) -> LatticeSums:
    """Encloses both sums, to a relative error of about 2^-bits."""
    with precision(bits + GUARD_BITS):
        return by_points(rate) if rate >= FEW_POINTS else by_zeta(rate)


@guarantee(
    claim="encloses the sums of exp(-rate |z|) and |z| exp(-rate |z|) over all z in Z^2, for rate >= 1",
    proof="proofs/planar_laplace.md#points",
    reviewed="4c6a23ad9f2a",
)
def by_points(rate: Fraction) -> LatticeSums:
    """Sums the points of a square, and bounds those outside it; needs a rate of at least 1."""
    speed, reach = ball(rate), math.ceil((ctx.prec + 16) / rate) + 2
    weight, moment = arb(1), arb(0)
    for far in range(1, reach + 1):
        for across in range(far + 1):
            length = arb(far * far + across * across).sqrt()
            part = (4 if across in (0, far) else 8) * (-speed * length).exp()
            weight += part
            moment += part * length
    first = reach + 1
    rest = 8 * first**2 * (-speed * first).exp() / (1 - ball(Fraction(first + 1, first) ** 2) * (-speed).exp())
    outside = arb(0, rest.upper())
    return LatticeSums(weight + outside, moment + outside)


@guarantee(
    claim="encloses the sums of exp(-rate |z|) and |z| exp(-rate |z|) over all z in Z^2, for rate <= 2",
    proof="proofs/planar_laplace.md#zeta",
    reviewed="51b3b6f4772d",
)
def by_zeta(rate: Fraction) -> LatticeSums:
    """Sums 2π/r² + r/(4π²) Σ C(-3/2, j) (r/2π)^2j Z(3/2 + j) and its derivative; needs a rate of at most 2."""
    speed, turn = ball(rate), 2 * arb.pi()
    ratio = (speed / turn) ** 2
    terms = 8 + math.ceil(ctx.prec * math.log(2) / -math.log(min(float(rate) ** 2 / 39, 0.104)))
    weight, moment, binomial, power = arb(0), arb(0), arb(1), arb(1)
    for j in range(terms):
        term = binomial * power * epstein(j + 3 * HALF)
        weight += term
        moment -= (2 * j + 1) * term
        binomial *= -ball((j + 3 * HALF) / (j + 1))
        power *= ratio
    last = 10 * (2 * terms + 1) * (terms + 1) * power
    growth = ball(Fraction((2 * terms + 3) * (terms + 2), (2 * terms + 1) * (terms + 1)))
    rest = arb(0, (last / (1 - growth * ratio)).upper())
    scale = 1 / turn**2
    return LatticeSums(turn / speed**2 + speed * scale * (weight + rest), 2 * turn / speed**3 + scale * (moment + rest))


@guarantee(
    claim="encloses the sum of |k|^-2s over k in Z^2 without 0, for s > 1",
    proof="proofs/planar_laplace.md#zeta",
    reviewed="11e5df1df23d",
)
def epstein(s: Fraction) -> arb:
    """Encloses Epstein's zeta function of the square lattice, 4 ζ(s) β(s)."""
    place = ball(s)
    beta = (place.zeta(ball(Fraction(1, 4))) - place.zeta(ball(Fraction(3, 4)))) / arb(4) ** place
    return 4 * place.zeta() * beta
