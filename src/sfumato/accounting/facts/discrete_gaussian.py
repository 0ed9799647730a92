"""What discrete Gaussian noise costs."""

from __future__ import annotations

import math
from fractions import Fraction

from flint import arb

from sfumato.accounting.concentrated import GDP
from sfumato.accounting.facts.table import fact
from sfumato.accounting.measures import ZCDP
from sfumato.accounting.renyi import Renyi
from sfumato.accounting.shapes import Linear
from sfumato.exact import Distance, ball, power_of_two, rational_up, squared, upper
from sfumato.guarantee import guarantee
from sfumato.noise.discrete_gaussian import DiscreteGaussian

LEAST_SQUARE = Fraction(1, 4)
"""Noise of a smaller scale² hardly hides a single step: no finite Gaussian loss is on file for it."""


@fact(DiscreteGaussian, ZCDP)
@guarantee(claim="rho = shift² / (2 scale²), in L2", proof="proofs/additive.md#gaussian", reviewed="0c606ebf38b5")
def discrete_gaussian_zcdp(noise: DiscreteGaussian, shift: Distance) -> ZCDP:
    """Gives the zCDP loss of independent noise on each coordinate, when neighbours are an L2 distance apart."""
    return ZCDP(squared(shift) / (2 * noise.square))


@fact(DiscreteGaussian, Renyi)
@guarantee(claim="order · shift² / (2 scale²), in L2", proof="proofs/additive.md#gaussian", reviewed="e861abc13dc3")
def discrete_gaussian_renyi(noise: DiscreteGaussian, shift: Distance) -> Renyi:
    """Gives the Rényi loss of independent noise on each coordinate, when neighbours are an L2 distance apart."""
    return Renyi.of(Linear(squared(shift) / (2 * noise.square)))


@fact(DiscreteGaussian, GDP)
@guarantee(
    claim="mu = shift times that of one step, in L2", proof="proofs/additive.md#gaussian-gdp", reviewed="c647329c7d73"
)
def discrete_gaussian_gdp(noise: DiscreteGaussian, shift: Distance) -> GDP:
    """Gives the Gaussian loss of independent noise on each coordinate, when neighbours are an L2 distance apart."""
    if noise.square < LEAST_SQUARE:
        return GDP(math.inf)
    of_a_step = upper(lambda: one_step(noise.square, rounded(noise.square)))
    return GDP(Fraction(rational_up(shift)) * Fraction(of_a_step))


def rounded(square: Fraction) -> Fraction:
    """Gives how much of scale² is taken to be rounding to whole numbers; any v below scale² is sound.

    Floats steer, and only the power of two below scale² counts, so that the loss is the same on every machine.
    """
    octave = power_of_two(square)
    power = octave.numerator.bit_length() - octave.denominator.bit_length()
    best = Fraction(round(64 * (math.log(1600) + 1.5 * power * math.log(2)) / (2 * math.pi**2)), 64)
    return min(best, octave * Fraction(3, 4))


@guarantee(
    claim="mu = 1 / sqrt(scale² - v) + 2 sqrt(2 pi) log((1 + eta) / (1 - eta)), eta = 2 sum of exp(-2 pi² v j²)",
    proof="proofs/additive.md#gaussian-gdp",
    reviewed="ceaacaf8d95e",
)
def one_step(square: Fraction, part: Fraction) -> arb:
    """Encloses the μ of noise on one number that moves by 1."""
    pi = arb.pi()
    ripple = 2 * sum(((-2 * pi**2 * ball(part * j * j)).exp() for j in (1, 2, 3)), arb(0))
    ripple += 4 * (-2 * pi**2 * ball(16 * part)).exp()  # all that follows: each term is less than half of the last
    kept = ((1 + ripple) / (1 - ripple)).log()
    return 1 / ball(square - part).sqrt() + 2 * (2 * pi).sqrt() * kept
