"""What discrete Gaussian noise costs."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction

from flint import arb

from sfumato.accounting.facts.table import buys, fact
from sfumato.accounting.losses.concentrated import GDP
from sfumato.accounting.losses.measures import ZCDP
from sfumato.accounting.losses.renyi import Renyi
from sfumato.accounting.pld.pairs.integer import SHIFTED, ShiftedNoise, ceiling, masses_below, thinned
from sfumato.accounting.pld.pairs.pair import Line, Lines
from sfumato.accounting.renyi.mechanism_curves import Linear
from sfumato.exact import Distance, ball, power_of_two, rational_up, squared, up, upper
from sfumato.guarantee import guarantee
from sfumato.noise.discrete_gaussian import DiscreteGaussian

LEAST_SQUARE = Fraction(1, 4)
"""Noise of a smaller scale² hardly hides a single step: no finite Gaussian loss is on file for it."""


@fact(DiscreteGaussian, ZCDP, in_vectors=True)
@guarantee(claim="rho = shift² / (2 scale²), in L2", proof="proofs/additive.md#gaussian", reviewed="0c606ebf38b5")
def discrete_gaussian_zcdp(noise: DiscreteGaussian, shift: Distance) -> ZCDP:
    """The zCDP loss of independent noise on each coordinate, when neighbours are an L2 distance apart."""
    return ZCDP(squared(shift) / (2 * noise.square))


@buys(ZCDP)
@guarantee(
    claim="scale² = shift² / (2 rho), in L2: the loss at the shift is rho",
    proof="proofs/additive.md#within",
    reviewed="9342265fc1b2",
)
def gaussian_within(loss: ZCDP, shift: Distance) -> DiscreteGaussian:
    """The noise that a zCDP loss pays for when neighbours are an L2 distance apart."""
    return DiscreteGaussian.from_square(Fraction(squared(shift)) / (2 * Fraction(loss.rho)))


@fact(DiscreteGaussian, Renyi, in_vectors=True)
@guarantee(claim="order · shift² / (2 scale²), in L2", proof="proofs/additive.md#gaussian", reviewed="e861abc13dc3")
def discrete_gaussian_renyi(noise: DiscreteGaussian, shift: Distance) -> Renyi:
    """The Rényi loss of independent noise on each coordinate, when neighbours are an L2 distance apart."""
    return Renyi.of(Linear(squared(shift) / (2 * noise.square)))


@fact(DiscreteGaussian, GDP, in_vectors=True)
@guarantee(
    claim="mu = shift times that of one step, in L2", proof="proofs/additive.md#gaussian-gdp", reviewed="c647329c7d73"
)
def discrete_gaussian_gdp(noise: DiscreteGaussian, shift: Distance) -> GDP:
    """The Gaussian loss of independent noise on each coordinate, when neighbours are an L2 distance apart."""
    if noise.square < LEAST_SQUARE:
        return GDP(math.inf)
    of_a_step = upper(lambda: one_step(noise.square, rounded(noise.square)))
    return GDP(Fraction(rational_up(shift)) * Fraction(of_a_step))


def rounded(square: Fraction) -> Fraction:
    """How much of scale² is taken to be rounding to whole numbers; any v below scale² is sound.

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


@guarantee(
    claim="the best test at a loss l rejects k < s/2 - l sigma²/s",
    proof="proofs/pairs.md#discrete-gaussian",
    reviewed="43cd8d3d9489",
)
def discrete_gaussian_lines(noise: DiscreteGaussian, shift: int) -> Lines:
    """Prepares the lines of discrete Gaussian noise about 0 against the same about a shift."""
    square, half, below = ball(noise.square / shift), ball(Fraction(shift, 2)), masses_below(noise)

    def line(loss: arb) -> Line:
        last = ceiling(half - loss * square) - 1
        return Line(below(last), below(last - shift))

    return line


def discrete_gaussian_cut(noise: DiscreteGaussian, shift: int, rate: Fraction) -> Callable[[arb], arb]:
    """Prepares the outcome, whole or not, at which a loss is met, for discrete Gaussian noise."""
    square, kept = ball(noise.square), ball(1 - rate)
    weight = ball(rate) * (-ball(shift**2) / (2 * square)).exp()

    def cut(loss: arb) -> arb:
        ratio = loss.exp()
        linear = -kept * loss.expm1()
        surd = (linear**2 + 4 * ratio * weight**2).sqrt()
        # Of two equal forms of the root, the one that does not cancel.
        root = 2 * ratio * weight / (linear + surd) if linear.mid() > 0 else (surd - linear) / (2 * weight)
        crossing: arb = root.log() * square / shift
        return crossing

    return cut


def _hints(noise: DiscreteGaussian, shift: int, tail: float) -> list[float]:
    square = up(noise.square)
    reach = math.ceil(math.sqrt(-2 * math.log(tail) * square)) + 1
    return [shift * (place - shift / 2) / square for place in thinned(range(-reach, reach + shift + 1))]


SHIFTED[DiscreteGaussian] = ShiftedNoise(
    discrete_gaussian_lines,
    _hints,
    largest=lambda noise, shift: None,
    pitch=lambda noise, shift: (2 - shift % 2) * shift / (2 * noise.square),
    cut=discrete_gaussian_cut,
)
