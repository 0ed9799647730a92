"""Divergences between two finite distributions, enclosed by balls: the oracles against which every claim is checked."""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping
from fractions import Fraction

from flint import arb

from sfumato.errors import BadArgument
from sfumato.exact import BITS, Extended, ball, enclose, precision

Probabilities = Mapping[Hashable, arb]
"""A finite distribution: outcome → enclosed probability. An outcome that is missing has probability 0."""


def max_divergence(left: Probabilities, right: Probabilities, *, bits: int = BITS) -> tuple[Extended, Extended]:
    """Encloses sup ln(left/right) over outcomes that left can give; infinite where right cannot give one of them.

    >>> truth, lie = ball(Fraction(3, 4)), ball(Fraction(1, 4))
    >>> low, high = max_divergence({0: truth, 1: lie}, {0: lie, 1: truth})
    >>> 1.0986 < low <= high < 1.0987
    True
    """
    low: Extended = Fraction(0)
    high: Extended = Fraction(0)
    with precision(bits):
        for outcome, mass in left.items():
            if mass.is_zero():
                continue
            other = right.get(outcome, ball(0))
            if other.is_zero():
                return math.inf, math.inf
            a, b = enclose((mass / other).log, bits)
            low, high = max(low, a), max(high, b)
    return low, high


def hockey_stick(
    left: Probabilities, right: Probabilities, epsilon: Extended, *, bits: int = BITS
) -> tuple[Extended, Extended]:
    """Encloses δ(ε) = Σ max(0, left − exp(ε)·right): the least δ for which (ε, δ) holds in this direction."""
    with precision(bits):
        total = ball(0)
        for outcome, mass in left.items():
            other = right.get(outcome, ball(0))
            if other.is_zero():
                total += mass
            elif epsilon != math.inf:
                total += (mass - ball(Fraction(epsilon)).exp() * other).nonnegative_part()
        return enclose(lambda: total, bits)


def loss_tail(
    left: Probabilities, right: Probabilities, epsilon: Extended, *, bits: int = BITS
) -> tuple[Extended, Extended]:
    """Encloses the probability under left that the privacy loss exceeds ε: at least δ(ε), as a rule much more."""
    with precision(bits):
        surely, perhaps = ball(0), ball(0)
        for outcome, mass in left.items():
            other = right.get(outcome, ball(0))
            beyond = mass if epsilon == math.inf else mass - ball(Fraction(epsilon)).exp() * other
            if beyond > 0 and (epsilon != math.inf or other.is_zero()):
                surely += mass
            elif not beyond <= 0 and epsilon != math.inf:
                perhaps += mass
        return enclose(lambda: surely, bits)[0], enclose(lambda: surely + perhaps, bits)[1]


def renyi(left: Probabilities, right: Probabilities, order: Fraction, *, bits: int = BITS) -> tuple[Extended, Extended]:
    """Encloses the Rényi divergence of an order above 1."""
    if order <= 1:
        raise BadArgument("the order of a Rényi divergence", "greater than 1", order)
    with precision(bits):
        total = ball(0)
        for outcome, mass in left.items():
            if mass.is_zero():
                continue
            other = right.get(outcome, ball(0))
            if other.is_zero():
                return math.inf, math.inf
            total += mass ** ball(order) * other ** ball(1 - order)
        return enclose(lambda: total.log() / ball(order - 1), bits)


def loss_of_outcome(left: arb, right: arb) -> tuple[Extended, Extended]:
    """Encloses the privacy loss ln(left/right) of one outcome; 0/0 counts as 0, a/0 as +∞, 0/b as −∞."""
    match left.is_zero(), right.is_zero():
        case True, True:
            return Fraction(0), Fraction(0)
        case _, True:
            return math.inf, math.inf
        case True, _:
            return -math.inf, -math.inf
    return enclose(lambda: (left / right).log())
