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

from flint import acb, acb_mat, arb

from sfumato.accounting.facts.gaussian import gaussian_upper_tail
from sfumato.accounting.pld.rounding_correction import Coins, unspread
from sfumato.accounting.pld.sampled_moments import Line, Part, Quadrature, geometric
from sfumato.exact import Extended, ball, endpoints, precision
from sfumato.guarantee import guarantee

REACH, FARTHER = 3, (4, 6, 9, 16)
"""How many standard deviations of the smoothing chords reach, and where moves beyond that are counted."""


FEW_USES = 1000
"""A part that is used more often than this is not damped but wide, where its frequencies end."""


@final
@dataclass(frozen=True)
class Contour:
    """How a composition is inverted: the tilt, a steeper one for aliases, the period of ε, and how many frequencies.

    ``square`` is that of all Gaussian pairs, ``smoothing`` that of one more which is added to make the sum end;
    ``lines`` and ``places`` say for each part where its nodes lie, and where it is wide.
    """

    tilt: Fraction
    steeper: Fraction
    period: Fraction
    rows: int
    columns: int
    square: Fraction
    smoothing: Fraction
    lines: tuple[Line, ...]
    places: tuple[tuple[Fraction, ...], ...]
    bits: int


@final
class Inverted:
    """The inverted moments of a composition, ready to bound δ at any ε."""

    def __init__(self, parts: Sequence[Part], contour: Contour, *, variation: Fraction) -> None:
        self.contour = contour
        with precision(contour.bits):
            smoothing = ball(contour.smoothing).sqrt() / (2 * arb.pi()).sqrt()
            self.variation = arb((ball(variation) + smoothing).upper()).min(arb(1))
            self._prepare(parts)

    def _prepare(self, parts: Sequence[Part]) -> None:
        contour = self.contour
        self.tilt, self.spacing = ball(contour.tilt), 2 * arb.pi() / ball(contour.period)
        square = ball(contour.square + contour.smoothing)
        size = contour.rows * contour.columns
        made = [Quadrature(part, line) for part, line in zip(parts, contour.lines, strict=True)]
        masses = [(one, one.lost(), part.count) for one, part in zip(made, parts, strict=True)]
        self.cuts = [(one.loss(one.end), here * count, there * count) for one, (here, there), count in masses]
        self.lost = sum((here for _, here, _ in self.cuts), arb(0))
        moments = [one.moment(self.tilt) for one in made]
        self.level = log_total(moments, parts, self.tilt, square)
        steeper = ball(contour.steeper)
        self.steep = log_total([one.moment(steeper) for one in made], parts, steeper, square)
        spectra = [
            one.spectrum(self.tilt, spacing=self.spacing, rows=contour.rows, columns=contour.columns) for one in made
        ]
        table = []
        for place in range(size):
            s = acb(self.tilt, self.spacing * place)
            value = ((s * (s + 1) - self.tilt * (self.tilt + 1)) * square / 2).exp() / (s * (s + 1))
            for part, total, spectrum in zip(parts, moments, spectra, strict=True):
                value *= (spectrum[place] / total) ** part.count
            table.append(value if place else value / 2)
        self.table = acb_mat(contour.rows, contour.columns, table)
        wide = [
            one.layers(self.tilt, total, places)
            for one, total, places in zip(made, moments, contour.places, strict=True)
        ]
        last = self.spacing * size
        least = [
            one.damped(self.tilt, total, last) if part.count <= FEW_USES else arb(1)
            for one, total, part in zip(made, moments, parts, strict=True)
        ]
        self.rest = beyond_last(wide, least, parts, square, self.spacing, size)
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
        with precision(self.contour.bits):
            place = ball(epsilon)
            high = endpoints(self.summed(place) - self.aliases(place)[0] + self.beyond_ends(place)[1])[1]
            return min(Fraction(1), max(Fraction(0), high)) if high == high else Fraction(1)

    def below(self, epsilon: Fraction) -> Extended:
        """A lower bound of δ(ε)."""
        with precision(self.contour.bits):
            place = ball(epsilon)
            low = endpoints(self.summed(place) - self.aliases(place)[1])[0]
            low = max(Fraction(0), low) if low == low else Fraction(0)
            low = min(Fraction(1), low + endpoints(self.beyond_ends(place)[0])[0])
            return low if self.coins is None else unspread(self.coins, low, lambda move: self.above(epsilon - move))


def log_total(moments: Sequence[arb], parts: Sequence[Part], tilt: arb, square: arb) -> arb:
    """Encloses K(tilt) = ln E e^(tilt·Z) of a whole composition."""
    powers = (moment.log() * part.count for moment, part in zip(moments, parts, strict=True))
    return sum(powers, tilt * (tilt + 1) * square / 2)


@guarantee(
    claim="sum over k > m of |Phi| / |s (s+1)| <= D / (spacing² m), D = e^(-t² square/2) times the product of all "
    "min(1 - sum of mass (1 - sup sinc), damped)^count",
    proof="proofs/contour.md#decay",
    reviewed="7f96bd636d12",
)
def beyond_last(
    wide: Sequence[Sequence[tuple[arb, arb]]],
    damped: Sequence[arb],
    parts: Sequence[Part],
    square: arb,
    spacing: arb,
    size: int,
) -> arb:
    """Bounds the terms of the sum that are left out."""
    last = spacing * size
    power = -square * last * last / 2
    for layers, least, part in zip(wide, damped, parts, strict=True):
        kept = arb(1)
        for mass, length in layers:
            angle = last * length / 2
            kept -= mass * (1 - (angle.sin() / angle if angle <= 2 else arb(1).min(1 / angle)))
        power += arb(kept.upper()).min(least).log() * part.count
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
