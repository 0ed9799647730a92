"""δ(ε) of sampled Gaussian noise by the inversion of its moments along a vertical line, with certified bounds.

One sum over frequencies gives δ(ε) and its aliases, which are not negative: it is an upper bound as it stands, and a
lower bound once the aliases are bounded. Nothing is put on a lattice, so that neither the number of uses nor the rate
costs sharpness.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from typing import final

import numpy as np
from flint import acb, acb_mat, arb

from sfumato.accounting.facts.gaussian import gaussian_upper_tail
from sfumato.accounting.pld.envelopes import FEW_PARTS, Envelopes
from sfumato.accounting.pld.float_balls import Balls
from sfumato.accounting.pld.laplace_moments import LaplacePart, laplace_spectrum, log_moment
from sfumato.accounting.pld.rounding_correction import Coins, unspread
from sfumato.accounting.pld.sampled_moments import FloatQuadrature, Quadrature, geometric
from sfumato.accounting.pld.sampled_parts import Line, Part, loss_at, lost
from sfumato.exact import Extended, ball, endpoints, precision
from sfumato.guarantee import guarantee

REACH, FARTHER = 3, (4, 6, 9, 16)
"""How many standard deviations of the smoothing chords reach, and where moves beyond that are counted."""

FEW_USES = 1000
"""A part that is used more often, or beside more than `FEW_PARTS`, is not damped but wide at its last frequency."""

LEAST_BITS = 80
"""The precision of balls around what was worked out with floats."""


@final
@dataclass(frozen=True)
class Known:
    """A composition with known moments: sampled Gaussian parts, Laplace parts, and all Gaussian pairs by one square."""

    sampled: tuple[Part, ...]
    laplace: tuple[LaplacePart, ...]
    square: Fraction

    @property
    def uses(self) -> int:
        """How many uses all parts have."""
        return sum(part.count for part in self.sampled) + sum(part.count for part in self.laplace)


@final
@dataclass(frozen=True)
class Contour:
    """How a composition is inverted: the tilt, a steeper one for aliases, the period of ε, and how many frequencies.

    ``smoothing`` is the square of a Gaussian pair which is added to make the sum end; ``lines`` and ``places`` say for
    each sampled part where its nodes lie, and where it is wide. Without ``bits`` moments are worked out with floats.
    """

    tilt: Fraction
    steeper: Fraction
    period: Fraction
    rows: int
    columns: int
    smoothing: Fraction
    lines: tuple[Line, ...]
    places: tuple[tuple[float, ...], ...]
    bits: int | None


@final
class Inverted:
    """The inverted moments of a composition, ready to bound δ at any ε."""

    def __init__(self, known: Known, contour: Contour, *, variation: Fraction) -> None:
        self.contour, self.bits = contour, contour.bits or LEAST_BITS
        with precision(self.bits), np.errstate(all="ignore"):
            smoothing = ball(contour.smoothing).sqrt() / (2 * arb.pi()).sqrt()
            self.variation = arb((ball(variation) + smoothing).upper()).min(arb(1))
            self._prepare(known)

    def _prepare(self, known: Known) -> None:
        contour = self.contour
        self.tilt, self.spacing = ball(contour.tilt), 2 * arb.pi() / ball(contour.period)
        square = ball(known.square + contour.smoothing)
        masses = [(part, line, lost(part, line)) for part, line in zip(known.sampled, contour.lines, strict=True)]
        self.cuts = [
            (loss_at(part, ball(line.end)), here * part.count, there * part.count)
            for part, line, (here, there) in masses
        ]
        self.lost = sum((here for _, here, _ in self.cuts), arb(0))
        steeper, size = ball(contour.steeper), contour.rows * contour.columns
        sampled = sampled_spectrum(known.sampled, contour, self.tilt, steeper, self.spacing)
        values, level, decay = sampled.values, sampled.level, sampled.decay
        self.steep = sampled.steep + log_moment(known.laplace, steeper) + steeper * (steeper + 1) * square / 2
        if known.laplace:
            others, more = laplace_spectrum(
                known.laplace, self.tilt, spacing=self.spacing, rows=contour.rows, columns=contour.columns
            )
            values, level = [one * other for one, other in zip(values, others.enclosed(), strict=True)], level + more
            decay += log_moment(known.laplace, self.tilt) - more
        self.level = level + self.tilt * (self.tilt + 1) * square / 2
        table = []
        for place, value in enumerate(values):
            s = acb(self.tilt, self.spacing * place)
            sized = ((s * (s + 1) - self.tilt * (self.tilt + 1)) * square / 2).exp() / (s * (s + 1))
            table.append(value * sized if place else value * sized / 2)
        self.table = acb_mat(contour.rows, contour.columns, table)
        self.rest = beyond_last(decay, square, self.spacing, size)
        self.coins = spread(contour.smoothing) if contour.smoothing else None

    @guarantee(
        claim="delta plus its aliases = exp(K - a eps) (1/period) sum over k of exp(-i t eps) Phi(a + it) / (s (s+1))",
        proof="proofs/contour.md#inversion",
        reviewed="1237f6fcc5f7",
    )
    def summed(self, epsilon: arb) -> arb:
        """Encloses δ(ε) of what is kept and smoothed, with all its aliases."""
        turn = acb(0, -self.spacing * epsilon)
        rows = geometric((turn * self.contour.columns).exp(), acb(1), self.contour.rows)
        columns = geometric(turn.exp(), acb(1), self.contour.columns)
        total = (acb_mat([rows]) * self.table * acb_mat([[value] for value in columns]))[0, 0].real
        sized = (self.level - self.tilt * epsilon).exp() * self.spacing / arb.pi()
        return sized * (total + self.rest * arb(0, 1))

    @guarantee(
        claim="below: between (1 - lost) / (e^(aw) - 1) - e^eps / (e^((a+1)w) - 1) and that with all that is lost and "
        "the total variation, w the period, if it is at least eps; above: Chernoff's bound at the steeper tilt",
        proof="proofs/contour.md#aliases",
        reviewed="8f57256f3d63",
    )
    def aliases(self, epsilon: arb) -> tuple[arb, arb]:
        """(lower, upper) bounds of the sum of all aliases at ε."""
        steeper, period = ball(self.contour.steeper), ball(self.contour.period)
        largest = steeper * steeper.log() - (steeper + 1) * (steeper + 1).log()
        above = (self.steep - steeper * epsilon + largest).exp() / ((steeper - self.tilt) * period).expm1()
        once = 1 / (self.tilt * period).expm1()
        if not epsilon <= period:
            return arb(0), once + above
        again = epsilon.exp() / ((self.tilt + 1) * period).expm1()
        return (1 - self.lost) * once - again, once - (1 - self.lost - self.variation) * again + above

    @guarantee(
        claim="one use with a loss z above the end adds between p (1 - lost) - e^eps q and, for z >= eps, "
        "p - e^eps q (1 - T)",
        proof="proofs/contour.md#cut",
        reviewed="0f25c35c5f0b",
    )
    def beyond_ends(self, epsilon: arb) -> tuple[arb, arb]:
        """(lower, upper) bounds of what outcomes above the ends add to δ(ε)."""
        low = high = arb(0)
        grown = epsilon.exp()
        for loss, here, there in self.cuts:
            low += (here * (1 - self.lost) - grown * there).lower().max(arb(0))
            high += here - grown * there * (1 - self.variation) if loss >= epsilon else here
        return low, high

    def above(self, epsilon: Fraction) -> Extended:
        """An upper bound of δ(ε)."""
        with precision(self.bits):
            place = ball(epsilon)
            high = endpoints(self.summed(place) - self.aliases(place)[0] + self.beyond_ends(place)[1])[1]
            return min(Fraction(1), max(Fraction(0), high)) if high == high else Fraction(1)

    def below(self, epsilon: Fraction) -> Extended:
        """A lower bound of δ(ε)."""
        with precision(self.bits):
            place = ball(epsilon)
            low = endpoints(self.summed(place) - self.aliases(place)[1])[0]
            low = max(Fraction(0), low) if low == low else Fraction(0)
            low = min(Fraction(1), low + endpoints(self.beyond_ends(place)[0])[0])
            return low if self.coins is None else unspread(self.coins, low, lambda move: self.above(epsilon - move))


@final
@dataclass(frozen=True)
class Spectrum:
    """Moments of a composition along a line, over e^``level``; ln E e^(θZ) at the steeper tilt; and the logarithm of a
    bound of the former from the last frequency on.
    """

    values: list[acb]
    level: arb
    steep: arb
    decay: arb


def sampled_spectrum(parts: Sequence[Part], contour: Contour, tilt: arb, steeper: arb, spacing: arb) -> Spectrum:
    """The moments of sampled Gaussian parts, with floats or with balls."""
    size, nothing = contour.rows * contour.columns, arb(0)
    if not parts:
        return Spectrum([acb(1)] * size, nothing, nothing, nothing)
    bounds, counts = Envelopes(parts, contour.lines), [part.count for part in parts]
    slack = [[arb(0, missed) for missed in bounds.missed(place)] for place in (tilt, steeper)]
    if contour.bits is None:
        values, totals, steep, level = _by_floats(parts, contour, slack, tilt, steeper, spacing)
    else:
        values, totals, steep = _by_balls(parts, contour, slack, tilt, steeper, spacing)
        level = log_total(totals, counts)
    last = spacing * size
    left = bounds.spread(tilt, totals, contour.places, last)
    if len(parts) <= FEW_PARTS:
        damped = bounds.damped(tilt, last)
        left = [
            one.min(arb((least / total).upper())) if count <= FEW_USES else one
            for one, least, total, count in zip(left, damped, totals, counts, strict=True)
        ]
    decay = log_total(left, counts) + log_total(totals, counts) - level
    return Spectrum(values, level, log_total(steep, counts), decay)


def _by_balls(
    parts: Sequence[Part], contour: Contour, slack: list[list[arb]], tilt: arb, steeper: arb, spacing: arb
) -> tuple[list[acb], list[arb], list[arb]]:
    """Values over the product of all moments at the tilt, and each part's moments at both tilts."""
    nodes = [Quadrature(part, line) for part, line in zip(parts, contour.lines, strict=True)]
    totals, steep = (
        [one.moment(place) + missed for one, missed in zip(nodes, misses, strict=True)]
        for place, misses in ((tilt, slack[0]), (steeper, slack[1]))
    )
    values = [acb(1)] * (contour.rows * contour.columns)
    for one, part, total, missed in zip(nodes, parts, totals, slack[0], strict=True):
        sums, off = one.spectrum(tilt, spacing=spacing, rows=contour.rows, columns=contour.columns)
        wrong = acb(missed + off * arb(0, 1), missed + off * arb(0, 1))
        values = [value * ((one + wrong) / total) ** part.count for value, one in zip(values, sums, strict=True)]
    return values, totals, steep


def _by_floats(
    parts: Sequence[Part], contour: Contour, slack: list[list[arb]], tilt: arb, steeper: arb, spacing: arb
) -> tuple[list[acb], list[arb], list[arb], arb]:
    """The same with floats; values are over e to a power that comes too."""
    nodes = FloatQuadrature(parts, contour.lines)
    sums, tops = nodes.spectrum(tilt, spacing=spacing, rows=contour.rows, columns=contour.columns)
    scales = [arb(top).exp() for top in tops]
    missed = [[float((2 * one.rad() / scale).upper())] for one, scale in zip(slack[0], scales, strict=True)]
    sums = Balls(sums.mid, sums.rad + np.array(missed))
    values = sums.raised([part.count for part in parts]).prod().enclosed()
    totals = [one.real * scale for one, scale in zip(sums[:, 0].enclosed(), scales, strict=True)]
    weights, powers = nodes.weights(steeper)
    steep = [
        one.real * arb(power).exp() + miss
        for one, power, miss in zip(weights.sum().enclosed(), powers, slack[1], strict=True)
    ]
    return values, totals, steep, sum((arb(top) * part.count for top, part in zip(tops, parts, strict=True)), arb(0))


def log_total(moments: Sequence[arb], counts: Sequence[int]) -> arb:
    """Encloses the logarithm of a product of powers."""
    return sum((moment.log() * count for moment, count in zip(moments, counts, strict=True)), arb(0))


@guarantee(
    claim="sum over k > m of |Phi| / |s (s+1)| <= D / (spacing² m), D = e^(decay - t² square/2)",
    proof="proofs/contour.md#decay",
    reviewed="cc7c4d1763f6",
)
def beyond_last(decay: arb, square: arb, spacing: arb, size: int) -> arb:
    """Bounds the terms of the sum that are left out."""
    last = spacing * size
    power = arb(decay.upper()) - square * last * last / 2
    return arb((power.exp() / (spacing * spacing * (size - 1))).upper())


@guarantee(
    claim="masses of N(h²/2, h²), gathered outwards, as those of coins",
    proof="proofs/contour.md#smoothing",
    reviewed="d01a9077dcff",
)
def spread(square: Fraction) -> Coins:
    """The law of the loss of the Gaussian pair that smooths, in the form in which it can be taken off again."""
    deviation = Fraction(math.sqrt(square))
    reach, *farther = (deviation * times for times in (REACH, *FARTHER))
    width = ball(square).sqrt()

    def mass(low: Fraction | None, high: Fraction, sign: int) -> arb:
        """P(low < loss ≤ high) under the first law (sign 1), or under the second."""
        centre = sign * ball(square) / 2
        upper = gaussian_upper_tail((ball(high) - centre) / width)
        return (1 if low is None else gaussian_upper_tail((ball(low) - centre) / width)) - upper

    zero, end = Fraction(0), ball(reach)
    up = (mass(zero, reach, -1) - mass(zero, reach, 1)) / (-end).expm1()
    down = (mass(-reach, zero, -1) - mass(-reach, zero, 1)) / end.expm1()
    stay = mass(-reach, reach, 1) - up - down
    far = [(high, mass(low, high, 1)) for low, high in pairwise((reach, *farther))]
    lost = gaussian_upper_tail((ball(farther[-1]) - ball(square) / 2) / width)
    return Coins(reach, stay, up, down, ((-reach, mass(None, -reach, 1)), *far), lost)
