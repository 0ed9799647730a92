"""Moments E e^(sZ) of the privacy loss of sampled Gaussian noise, for complex s, with a proved error.

The integral over the outcome is taken by the trapezoidal rule along a line above the real axis: there the integrand
of every frequency t ≥ 0 is damped, and a few hundred nodes serve all of them, whatever the rate and the count.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from typing import final

from flint import acb, arb, ctx, fmpz_mat

from sfumato.accounting.facts.gaussian import gaussian_upper_tail
from sfumato.accounting.pld.pairs.gaussian import ExchangedGaussianPair, GaussianPair
from sfumato.accounting.pld.pairs.pair import Pair
from sfumato.accounting.pld.pairs.sampled import AddedPair, RemovedPair
from sfumato.exact import ball
from sfumato.guarantee import guarantee

NARROW = 2.0**-48
"""Balls that are wider than this are not worth to be added up."""

CELLS = 8
"""Bounds of integrals use this many cells to a standard deviation of the noise."""

INFINITE = arb("inf")


@final
@dataclass(frozen=True)
class Part:
    """Uses of one sampled Gaussian pair: its loss is ln g(y) − ln g′(−y), g(y) = 1 − q + q·exp(μy − μ²/2).

    ``above`` is the rate q of the first, ``below`` that of the second; y is standard normal with density g·φ.
    """

    square: Fraction
    above: Fraction
    below: Fraction
    count: int


@guarantee(
    claim="removed: g at rate q against 1; added: 1 against g(-y); exchanged: both",
    proof="proofs/contour.md#parts",
    reviewed="681c39e85005",
)
def part_of(pair: Pair, count: int) -> Part | None:
    """The part of a pair of sampled Gaussian noise; None for any other."""
    nothing = Fraction(0)
    match pair:
        case RemovedPair(pair=GaussianPair(square=square), rate=rate):
            return Part(square, rate, nothing, count)
        case AddedPair(pair=GaussianPair(square=square), rate=rate):
            return Part(square, nothing, rate, count)
        case ExchangedGaussianPair(square=square, rate=rate) if rate < 1:
            return Part(square, rate, rate, count)
    return None


@final
@dataclass(frozen=True)
class Line:
    """A line of nodes u = ``left`` + jη + i·``height`` up to ``right``, and the ``end`` above which outcomes are cut.

    Nodes stand for the outcomes y = end − s·ln(1 + exp((end − u)/s)), which bend down to the end; s is ``bend``.
    """

    left: Fraction
    right: Fraction
    step: Fraction
    height: Fraction
    end: Fraction
    bend: Fraction


@final
class Quadrature:
    """The nodes of one part, with their losses, weights, and bounds of what they miss; used inside one `precision`."""

    def __init__(self, part: Part, line: Line) -> None:
        self.part, self.line = part, line
        self.mu = ball(part.square).sqrt()
        self.half = ball(part.square) / 2
        self.end, self.bend = ball(line.end), ball(line.bend)
        height, unit = ball(line.height), ball(line.step) / (2 * arb.pi()).sqrt()
        self.losses: list[acb] = []
        self.weights: list[acb] = []
        for place in range(int((line.right - line.left) / line.step) + 1):
            grown = ((self.end - acb(ball(line.left + place * line.step), height)) / self.bend).exp()
            outcome = self.end - self.bend * (1 + grown).log()
            first = self._logarithm(outcome, self.part.above)
            self.losses.append(first - self._logarithm(-outcome, self.part.below))
            self.weights.append((first - outcome * outcome / 2).exp() * (unit * grown / (1 + grown)))
        self._cells = self._envelope()

    def _logarithm(self, outcome: acb, rate: Fraction) -> acb:
        """ln g at an outcome; 0 at a rate of 0."""
        if rate == 0:
            return acb(0)
        return (ball(1 - rate) + ball(rate) * (self.mu * outcome - self.half).exp()).log()

    @guarantee(
        claim="the masses above the end: (1-q) P(N > end) + q P(N > end - mu) under the first law, the same with q' "
        "and -mu under the second, which is no larger",
        proof="proofs/contour.md#cut",
        reviewed="8993d4d15cae",
    )
    def lost(self) -> tuple[arb, arb]:
        """Encloses the masses that one use has above the end, under the first law and under the second."""
        if not (self.end > 0 and (self.part.above == 0 or self.end > self.mu / 2)):
            return arb(1), arb(0, 1)
        first, second = ball(self.part.above), ball(self.part.below)
        plain = gaussian_upper_tail(self.end)
        return (
            (1 - first) * plain + first * gaussian_upper_tail(self.end - self.mu),
            (1 - second) * plain + second * gaussian_upper_tail(self.end + self.mu),
        )

    def _real(self, place: arb, rate: Fraction) -> arb:
        """g at a real outcome."""
        return ball(1 - rate) + ball(rate) * (self.mu * place - self.half).exp()

    def _modulus(self, place: arb) -> arb:
        """The least ln |g′| at outcomes −(place + iv), v up to twice the height."""
        rate = self.part.below
        if rate == 0:
            return arb(0)
        grown, kept = ball(rate) * (-self.mu * place - self.half).exp(), ball(1 - rate)
        turned = (2 * self.mu * ball(self.line.height)).cos()
        return (kept * kept + 2 * kept * grown * turned + grown * grown).log() / 2

    def _envelope(self) -> list[tuple[arb, arb, arb]]:
        """For each cell bounds of ln g, of −ln|g′|, and of the logarithm of the density's integral."""
        line, width = self.line, Fraction(1, CELLS)
        ends = [ball(line.left + place * width) for place in range(int((line.right - line.left) / width) + 2)]
        twice = 2 * ball(line.height)
        unit = (ball(width) / (2 * arb.pi()).sqrt()).log() + twice * twice / 2
        cells = []
        for left, right in pairwise(ends):
            low, slow = self._outcomes(left)[0], ((self.end - left) / self.bend).exp()
            high = self._outcomes(right)[1]
            nearest = arb(0) if low <= 0 <= high else low.abs_lower().min(high.abs_lower())
            base = unit - nearest * nearest / 2 - (1 + slow**-2).log() / 2
            cells.append((self._real(high, self.part.above).log(), -self._modulus(high), base))
        return cells

    @guarantee(
        claim="from a frequency T on, |E e^((tilt + it)Z)| is at most the integral of |F| along the line, damped by "
        "exp(-T Im Z)",
        proof="proofs/contour.md#damping",
        reviewed="f5f0235d24d6",
    )
    def damped(self, tilt: arb, total: arb, last: arb) -> arb:
        """Bounds |E e^((tilt + it)Z)| / E e^(tilt·Z) for all t from ``last`` on: sharp where uses are few."""
        line, width = self.line, Fraction(1, CELLS)
        height, inside = ball(line.height), self._beyond(tilt)
        for place, (first, second, base) in enumerate(self._cells):
            left, right = (ball(line.left + (place + end) * width) for end in (0, 1))
            above = self._bent(acb(right, height)).imag
            lowest, highest = self._outcomes(left)[0], self._outcomes(right)[1]
            turns = [self._logarithm(acb(lowest, turn), self.part.above).imag for turn in (above, height)]
            angle = turns[0].min(turns[1]) - self._logarithm(-acb(highest, above), self.part.below).imag
            power = (tilt + 1) * first + tilt * second + base - 3 * height * height / 2
            inside += (power - last * angle.nonnegative_part()).exp()
        return arb((inside / total).upper()) if self._legal() else INFINITE

    def _bent(self, place: acb) -> acb:
        """The outcome that a node stands for."""
        return self.end - self.bend * (1 + ((self.end - place) / self.bend).exp()).log()

    def _outcomes(self, place: arb) -> tuple[arb, arb]:
        """Bounds of the real parts of the outcomes that belong to place + iv, v up to twice the height."""
        grown = ((self.end - place) / self.bend).exp()
        return self.end - self.bend * (1 + grown).log(), self.end - self.bend * (1 + grown * grown).log() / 2

    @guarantee(
        claim="the integral differs from the sum by at most 2 A / (exp(2 pi height / step) - 1) and what lies beyond "
        "the ends, for every t >= 0",
        proof="proofs/contour.md#quadrature",
        reviewed="a7f4c4a0bbee",
    )
    def missed(self, tilt: arb) -> arb:
        """Bounds the error of the sum for E e^((tilt + it)Z), the same for all t ≥ 0."""
        if not self._legal():
            return INFINITE
        beyond, inside = self._beyond(tilt), arb(0)
        for first, second, base in self._cells:
            inside += ((tilt + 1) * first + tilt * second + base).exp()
        turns = (2 * arb.pi() * ball(self.line.height / self.line.step)).expm1()
        return arb(((inside + beyond) * 2 / turns + beyond).upper())

    def _legal(self) -> bool:
        """Tells whether the strip up to twice the height is free of singularities, and bends to the right side."""
        twice = 2 * ball(self.line.height)
        angle = twice * self.mu * (2 if self.part.below else 1)
        return bool(angle < arb.pi() and twice < self.bend * arb.pi() / 2)

    @guarantee(
        claim="left of the ends the integrand falls with the normal density, right of them with exp(-u/bend)",
        proof="proofs/contour.md#beyond",
        reviewed="9778be9a3e01",
    )
    def _beyond(self, tilt: arb) -> arb:
        """Bounds what integral and sum have beyond the ends, on any line up to twice the height."""
        left, right = ball(self.line.left), ball(self.line.right)
        lowest = self._outcomes(right)[0]
        if not (left < 0 < lowest):
            return INFINITE
        step, twice = ball(self.line.step), 2 * ball(self.line.height)
        total = arb(0)
        for place, nearest, length in (
            (left, left, 1 / -left + step),
            (self.end, lowest, ((self.end - right) / self.bend).exp() * (self.bend + step)),
        ):
            high = (tilt + 1) * self._real(place, self.part.above).log() - tilt * self._modulus(place)
            total += (high + (twice * twice - nearest * nearest) / 2).exp() * length
        return total

    def moment(self, tilt: arb) -> arb:
        """Encloses E e^(tilt·Z) of what is not cut off."""
        terms = (weight * (tilt * loss).exp() for weight, loss in zip(self.weights, self.losses, strict=True))
        return sum(terms, acb(0)).real + self.missed(tilt) * arb(0, 1)

    def spectrum(self, tilt: arb, *, spacing: arb, rows: int, columns: int) -> list[acb]:
        """Encloses E e^((tilt + ik·spacing)Z), of what is not cut off, for k = 0 … rows·columns − 1."""
        turns = [acb(-loss.imag, loss.real) * spacing for loss in self.losses]
        weights = [weight * (tilt * loss).exp() for weight, loss in zip(self.weights, self.losses, strict=True)]
        sums, missed = summed_powers(weights, turns, rows=rows, columns=columns)
        slack = arb(0, (self.missed(tilt) + missed).upper())
        return [acb(value.real + slack, value.imag + slack) for value in sums]

    @guarantee(
        claim="the tilted loss has at least the density of these uniform laws together: level sets of a step function",
        proof="proofs/contour.md#decay",
        reviewed="94d2ccb9edbd",
    )
    def layers(self, tilt: arb, total: arb, places: Sequence[Fraction]) -> list[tuple[arb, arb]]:
        """(mass, length) of uniform laws of the loss that are, together, part of the tilted law between outcomes."""
        ends = [ball(place) for place in places if place <= self.line.end]
        heights = [arb((self._least_density(tilt, *cell) / total).lower()) for cell in pairwise(ends)]
        top = max(range(len(heights)), key=lambda place: float(heights[place].mid()))
        first, last, level = top, top, heights[top]
        uniform = []
        while first <= last and level > 0:
            wider = [heights[place] for place in (first - 1, last + 1) if 0 <= place < len(heights)]
            following = max(wider, key=lambda height: float(height.mid()), default=arb(0)).min(level)
            length = arb((self.loss(ends[last + 1]) - self.loss(ends[first])).lower())
            uniform.append((arb((length * (level - following)).lower()).nonnegative_part(), length))
            if first > 0 and (last + 2 > len(heights) or heights[first - 1].mid() >= heights[last + 1].mid()):
                first -= 1
            elif last + 1 < len(heights):
                last += 1
            else:
                break
            level = following
        return uniform

    def _least_density(self, tilt: arb, left: arb, right: arb) -> arb:
        """A number that the density of the loss, tilted but not normalised, is not below between two outcomes."""
        farthest = left.abs_upper().max(right.abs_upper())
        power = (tilt + 1) * self._real(left, self.part.above).log() - farthest * farthest / 2
        power -= tilt * self._real(-left, self.part.below).log()
        slope = self._share(right, self.part.above) + self._share(-left, self.part.below)
        return arb((power.exp() / (slope * self.mu * (2 * arb.pi()).sqrt())).lower())

    def loss(self, place: arb) -> arb:
        """The loss at a real outcome."""
        return (self._real(place, self.part.above) / self._real(-place, self.part.below)).log()

    def _share(self, place: arb, rate: Fraction) -> arb:
        """How much of g at a real outcome is due to the unit."""
        return 1 - ball(1 - rate) / self._real(place, rate)


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
