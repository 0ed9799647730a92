"""Moments E e^(sZ) of the privacy loss of sampled Gaussian noise, for complex s, with a proved error.

The integral over the outcome is taken by the trapezoidal rule along a line above the real axis: there the integrand
of every frequency t ≥ 0 is damped, and a few hundred nodes serve all of them, whatever the rate and the count. Where a
dozen digits do, all parts are worked out at once with arrays of floats; else one at a time, with balls.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import final

import numpy as np
from flint import acb, arb, ctx, fmpz_mat

from sfumato.accounting.pld.float_balls import WIDER, Balls, Complexes, modulus
from sfumato.accounting.pld.fourier import UNIT
from sfumato.accounting.pld.sampled_parts import Line, Mixtures, Part
from sfumato.exact import ball
from sfumato.guarantee import guarantee

NARROW = 2.0**-48
"""Balls that are wider than this are not worth to be added up."""

CHUNK = 1 << 19
"""No more powers of floats than this are held at a time, unless one part has more."""

INFINITE = arb("inf")


@final
class Quadrature:
    """The nodes of one part, with their losses and weights; used inside one `precision`."""

    def __init__(self, part: Part, line: Line) -> None:
        self.part = part
        self._mu, self._half = ball(part.square).sqrt(), ball(part.square) / 2
        end, bend = ball(line.end), ball(line.bend)
        height, unit = ball(line.height), ball(line.step) / (2 * arb.pi()).sqrt()
        left, step = ball(line.left), ball(line.step)
        mixes = [(ball(1 - rate), ball(rate)) for rate in (part.above, part.below)]
        self.losses: list[acb] = []
        self.weights: list[acb] = []
        for place in range(int((line.right - line.left) / line.step) + 1):
            grown = ((end - acb(left + place * step, height)) / bend).exp()
            outcome = end - bend * (1 + grown).log()
            first = self._logarithm(outcome, *mixes[0])
            self.losses.append(first - self._logarithm(-outcome, *mixes[1]))
            self.weights.append((first - outcome * outcome / 2).exp() * (unit * grown / (1 + grown)))

    def _logarithm(self, outcome: acb, kept: arb, rate: arb) -> acb:
        """ln g at an outcome; 0 at a rate of 0."""
        return acb(0) if rate.is_zero() else (kept + rate * (self._mu * outcome - self._half).exp()).log()

    def moment(self, tilt: arb) -> arb:
        """The sum for E e^(tilt·Z) of what is not cut off."""
        terms = (weight * (tilt * loss).exp() for weight, loss in zip(self.weights, self.losses, strict=True))
        return sum(terms, acb(0)).real

    def spectrum(self, tilt: arb, *, spacing: arb, rows: int, columns: int) -> tuple[list[acb], arb]:
        """Sums for E e^((tilt + ik·spacing)Z), of what is not cut off, k < rows·columns, and how far each is off."""
        turns = [acb(-loss.imag, loss.real) * spacing for loss in self.losses]
        weights = [weight * (tilt * loss).exp() for weight, loss in zip(self.weights, self.losses, strict=True)]
        return summed_powers(weights, turns, rows=rows, columns=columns)


@final
class FloatQuadrature:
    """The nodes of several parts, a row for each, in double precision."""

    def __init__(self, parts: Sequence[Part], lines: Sequence[Line]) -> None:
        known = Mixtures(parts, lines)
        count = max(int((line.right - line.left) / line.step) + 1 for line in lines)
        places = known.left + known.step * Balls.exact(np.arange(count)) + known.height * Balls.exact(1j)
        power = known.power(places)
        bent = (power.exp() + 1.0).log()
        outcome = known.end - known.bend * bent
        first = known.logarithm(outcome, 0)
        self._losses = first - known.logarithm(-outcome, 1)
        unit = known.step.log() - Balls.column([(2 * arb.pi()).log() / 2])
        self._base = unit + first - outcome * outcome * 0.5 + power - bent

    def weights(self, tilt: arb) -> tuple[Balls, list[float]]:
        """The weights of all nodes at a tilt, each row over e to some power, and the powers."""
        powers = self._base + self._losses * Balls.column([tilt])
        rough = np.where(np.isfinite(powers.rad), powers.mid.real, -np.inf)
        tops = np.max(rough, axis=1, keepdims=True)
        tops = tops + np.log(np.maximum(np.abs(np.sum(np.exp(powers.mid - tops), axis=1, keepdims=True)), 1e-9))
        return (powers - Balls.exact(tops)).exp(), tops[:, 0].tolist()

    @guarantee(
        claim="sums over j of w_j exp(ikz_j), k < rows columns, each off by at most the sum of |w_j| (2 rows (r + 4u) "
        "+ 2 columns (s + 4u) + 4 (J + 4) u) and the radii of the w_j",
        proof="proofs/contour.md#powers",
        reviewed="8f1762648fa7",
    )
    def spectrum(self, tilt: arb, *, spacing: arb, rows: int, columns: int) -> tuple[Balls, list[float]]:
        """Sums for E e^((tilt + ik·spacing)Z), k < rows·columns, each row over e to some power, and the powers."""
        weights, tops = self.weights(tilt)
        turns = self._losses * Balls.column([spacing]) * Balls.exact(1j)
        ratios, leaps = turns.exp(), (turns * float(columns)).exp()
        count = weights.mid.shape[1]
        apart = 2 * rows * (leaps.rad + 4 * UNIT) + 2 * columns * (ratios.rad + 4 * UNIT) + 4 * (count + 4) * UNIT
        apart = np.where(apart <= 0.5, apart, np.inf)
        off = np.sum(weights.rad * 2 + modulus(weights.mid) * apart, axis=1, keepdims=True) * (1 + 2.0**-30) * WIDER
        sums = np.empty((weights.mid.shape[0], rows * columns), dtype=np.complex128)
        stride = max(1, CHUNK // (count * max(rows, columns)))
        for start in range(0, weights.mid.shape[0], stride):
            chunk = slice(start, start + stride)
            fine = powers(ratios.mid[chunk], columns) * weights.mid[chunk, None, :]
            products = np.einsum("prj,pcj->prc", powers(leaps.mid[chunk], rows), fine)
            sums[chunk] = products.reshape(products.shape[0], -1)
        return Balls(sums, np.broadcast_to(off, sums.shape)), tops


def powers(ratios: Complexes, count: int) -> Complexes:
    """Powers 0 … count − 1 along a new second axis, by doubling."""
    table = np.ones((ratios.shape[0], count, ratios.shape[1]), dtype=np.complex128)
    size, square = 1, ratios[:, None, :]
    while size < count:
        more = min(size, count - size)
        table[:, size : size + more] = table[:, :more] * square
        size, square = size * 2, square * square
    return table


@guarantee(
    claim="sums over j of w_j exp(k turn_j), k < rows columns, within 2^(top - bits) J (8 (rows + columns) + 32), for "
    "turns with no positive real part",
    proof="proofs/contour.md#powers",
    reviewed="8edf82f79b57",
)
def summed_powers(weights: Sequence[acb], turns: Sequence[acb], *, rows: int, columns: int) -> tuple[list[acb], arb]:
    """Sums of weighted powers, in whole numbers of a small unit, and how far each part of a sum may be off."""
    top = max(0, *(math.frexp(float(weight.abs_upper()))[1] for weight in weights))
    firsts, ratios = [weight * arb(2) ** -top for weight in weights], [turn.exp() for turn in turns]
    leaps = [(turn * columns).exp() for turn in turns]
    widest = max(float(part.rad()) for one in (*firsts, *ratios, *leaps) for part in (one.real, one.imag))
    if not widest < NARROW:
        return [acb(0)] * (rows * columns), INFINITE
    bits = min(int(ctx.prec), -math.frexp(widest)[1] - 2)
    fine = [fixed_powers(ratio, first, columns, bits) for ratio, first in zip(ratios, firsts, strict=True)]
    coarse = [fixed_powers(leap, acb(1), rows, bits) for leap in leaps]
    right_real, right_imag = (fmpz_mat([one[part] for one in fine]) for part in (0, 1))
    left_real, left_imag = (fmpz_mat([one[part] for one in coarse]).transpose() for part in (0, 1))
    real = left_real * right_real - left_imag * right_imag
    imag = left_real * right_imag + left_imag * right_real
    size = arb(2) ** (top - 2 * bits)
    sums = [acb(arb(x) * size, arb(y) * size) for x, y in zip(real.entries(), imag.entries(), strict=True)]
    return sums, arb(2) ** (top - bits) * (len(weights) * (8 * (rows + columns) + 32))


def fixed_powers(ratio: acb, first: acb, count: int, bits: int) -> tuple[list[int], list[int]]:
    """Real and imaginary parts of first·ratioᵏ in whole numbers of 2^−bits, each rounded down."""
    unit = arb(2) ** bits
    numbers = (first.real, first.imag, ratio.real, ratio.imag)
    x, y, right, up = (_floor(number.mid() * unit) for number in numbers)
    reals, imags = [x], [y]
    for _ in range(count - 1):
        x, y = (x * right - y * up) >> bits, (x * up + y * right) >> bits
        reals.append(x)
        imags.append(y)
    return reals, imags


def _floor(value: arb) -> int:
    """The whole number not above an exact one."""
    whole = value.floor().unique_fmpz()
    if whole is None:
        raise ArithmeticError("a number without radius has a whole part")
    return int(whole)


def geometric(ratio: acb, first: acb, count: int) -> list[acb]:
    """The first numbers of a geometric series."""
    values = [first]
    for _ in range(count - 1):
        values.append(values[-1] * ratio)
    return values
