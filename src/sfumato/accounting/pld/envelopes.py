"""What sums over nodes miss, and how the spectra of sampled Gaussian noise decay: bounds, for many parts at once.

Bounds need few digits: they are worked out with arrays of balls in double precision, a row for each part.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import final

import numpy as np
from flint import arb

from sfumato.accounting.pld.float_balls import Balls, Floats
from sfumato.accounting.pld.sampled_parts import Line, Mixtures, Part, column
from sfumato.exact import ball
from sfumato.guarantee import guarantee

CELLS, FEW_PARTS = 8, 8
"""Bounds of integrals use this many cells to a standard deviation of the noise; half as many where parts are more."""

INFINITE = arb("inf")


@final
class Envelopes:
    """Bounds of the integrands of several parts along their lines; used inside one `precision`."""

    def __init__(self, parts: Sequence[Part], lines: Sequence[Line]) -> None:
        self._known = known = Mixtures(parts, lines)
        self._cut = CELLS if len(parts) <= FEW_PARTS else CELLS // 2
        count = max(int((line.right - line.left) * self._cut) + 1 for line in lines)
        self._ends = known.left + Balls.exact(np.arange(count + 1) / self._cut)
        self._low, self._high = self._outcomes(self._ends)
        places = joined(self._high[:, 1:], known.left, known.end)
        self._first, self._second = known.logarithm(places, 0), -self._modulus(places)
        twice, lowest = known.height * known.height * 2.0, self._outcomes(known.right)[0]
        self._base = joined(self._inside() + twice, *(end + twice for end in self._beyond(lowest)))
        bounded = (known.left.upper() < 0) & (lowest.lower() > 0)
        self._legal = [
            bool(sure) and legal(part, line) for part, line, sure in zip(parts, lines, bounded[:, 0], strict=True)
        ]

    def _outcomes(self, place: Balls) -> tuple[Balls, Balls]:
        """Bounds of the real parts of the outcomes that belong to place + iv, v up to twice the height."""
        known, power = self._known, self._known.power(place)
        low, high = (power.exp() + 1.0).log(), ((power * 2.0).exp() + 1.0).log()
        return known.end - known.bend * low, known.end - known.bend * high * 0.5

    def _modulus(self, place: Balls) -> Balls:
        """The least ln |g′| at outcomes −(place + iv), v up to twice the height."""
        known = self._known
        if known.plain[1]:
            return Balls.exact(np.zeros(place.mid.shape))
        grown, kept = known.rates[1] * (-(known.mu * place) - known.half).exp(), known.kept[1]
        turned = (known.mu * known.height * Balls.exact(2j)).exp().real
        return (kept * kept + kept * grown * turned * 2.0 + grown * grown).log() * 0.5

    def _inside(self) -> Balls:
        """For each cell a bound of the logarithm of the integral of φ·|y′|, up to the factor exp(V²/2)."""
        below, above = self._low.lower()[:, :-1], self._high.upper()[:, 1:]
        nearest = Balls.exact(np.where((below <= 0) & (above >= 0), 0.0, np.minimum(np.abs(below), np.abs(above))))
        slope = ((self._known.power(self._ends[:, :-1]) * -2.0).exp() + 1.0).log()
        unit = Balls.column([-(self._cut * (2 * arb.pi()).sqrt()).log()])
        return unit - (nearest * nearest + slope) * 0.5

    @guarantee(
        claim="left of the ends the integrand falls with the normal density, right of them with exp(-u/bend)",
        proof="proofs/contour.md#beyond",
        reviewed="339edbc8eb67",
    )
    def _beyond(self, lowest: Balls) -> tuple[Balls, Balls]:
        """Logarithms of bounds of φ·|y′|, added up and integrated beyond the ends, up to the factor exp(V²/2)."""
        known = self._known
        lengths = column([line.step - 1 / line.left if line.left < 0 else Fraction(1) for line in known.lines])
        left = lengths.log() - known.left * known.left * 0.5
        right = (known.bend + known.step).log() + known.power(known.right) - lowest * lowest * 0.5
        return left, right

    @guarantee(
        claim="the integral differs from the sum by at most 2 A / (exp(2 pi height / step) - 1) and what lies beyond "
        "the ends, for every t >= 0",
        proof="proofs/contour.md#quadrature",
        reviewed="39966c52b7e9",
    )
    def missed(self, tilt: arb) -> list[arb]:
        """Bounds the error of each part's sum for E e^((tilt + it)Z), the same for all t ≥ 0."""
        cells, tops = self._cells(tilt, Balls.exact(0.0))
        bounds = []
        for line, row, top, legal_ in zip(self._known.lines, cells, tops, self._legal, strict=True):
            turns = (2 * arb.pi() * ball(line.height / line.step)).expm1()
            both = arb(float(np.sum(row))) * 2 / turns + arb(float(np.sum(row[-2:])))
            bounds.append(arb((both * SUMMED * arb(top).exp()).upper()) if legal_ else INFINITE)
        return bounds

    def _cells(self, tilt: arb, less: Balls) -> tuple[Floats, list[float]]:
        """Bounds of the integral of |F| over every cell, and beyond the ends, over e to the powers that come too."""
        slope = Balls.column([tilt])
        powers = (slope + 1.0) * self._first + slope * self._second + self._base - less
        tops = np.max(powers.mid.real, axis=1, keepdims=True)
        return (powers - Balls.exact(tops)).exp().upper(), tops[:, 0].tolist()

    @guarantee(
        claim="from a frequency T on, |E e^((tilt + it)Z)| is at most the integral of |F| along the line, damped by "
        "exp(-T Im Z)",
        proof="proofs/contour.md#damping",
        reviewed="9db8df379c02",
    )
    def damped(self, tilt: arb, last: arb) -> list[arb]:
        """Bounds |E e^((tilt + it)Z)| of each part for all t from ``last`` on: sharp where uses are few."""
        known, upwards = self._known, Balls.exact(1j)
        height = known.height * upwards
        bent = (known.power(self._ends[:, 1:] + height).exp() + 1.0).log()
        above = (known.bend * bent * -1.0).imag
        low, high = self._low[:, :-1], self._high[:, 1:]
        turns = [known.logarithm(low + turn, 0).imag.lower() for turn in (above * upwards, height)]
        angle = np.minimum(*turns) + (-known.logarithm(-(high + above * upwards), 1)).imag.lower()
        angle = np.maximum(0.0, angle - np.abs(angle) * 2.0**-40)
        lowered = Balls.exact(angle) * Balls.column([last]) + known.height * known.height * 1.5
        cells, tops = self._cells(tilt, joined(lowered, *[Balls.exact(np.zeros((angle.shape[0], 1)))] * 2))
        return [
            arb((arb(float(np.sum(row))) * SUMMED * arb(top).exp()).upper()) if sure else INFINITE
            for row, top, sure in zip(cells, tops, self._legal, strict=True)
        ]

    @guarantee(
        claim="from a frequency T on, |E e^((tilt + it)Z)| <= E e^(tilt Z) less mass (1 - sup sinc) over uniform laws "
        "that are together part of the tilted law: level sets of a step function",
        proof="proofs/contour.md#decay",
        reviewed="731bc825c621",
    )
    def spread(self, tilt: arb, totals: Sequence[arb], places: Sequence[Sequence[float]], last: arb) -> list[arb]:
        """Bounds |E e^((tilt + it)Z)| / E e^(tilt·Z) of each part for all t from ``last`` on: sharp for many uses."""
        known = self._known
        ends = Balls.exact(np.array(places))
        slope, total = Balls.column([tilt]), Balls.column([one.log() for one in totals])
        logs = [known.logarithm(ends, 0), known.logarithm(-ends, 1)]
        losses = logs[0] - logs[1]
        far = np.maximum(np.abs(ends.upper()), np.abs(ends.lower()))
        farthest = Balls.exact(np.maximum(far[:, 1:], far[:, :-1]))
        power = (slope + 1.0) * logs[0][:, :-1] - slope * logs[1][:, :-1] - farthest * farthest * 0.5 - total
        shares = [self._share(ends[:, 1:], logs[0][:, 1:], 0), self._share(-ends[:, :-1], logs[1][:, :-1], 1)]
        steep = (shares[0] + shares[1]) * known.mu * Balls.column([(2 * arb.pi()).sqrt()])
        kept = ends.upper()[:, 1:] <= known.end.lower()
        heights = np.where(kept, power.exp().lower() / steep.upper() * (1 - 2.0**-40), 0.0)
        frequency = float(last.lower())
        return [decayed(*layers(*one), frequency) for one in zip(heights, losses.lower(), losses.upper(), strict=True)]

    def _share(self, outcome: Balls, log: Balls, side: int) -> Balls:
        """How much of g is due to the unit."""
        known = self._known
        return known.rates[side] * (known.mu * outcome - known.half - log).exp()


SUMMED = 1 + 2.0**-30
"""Covers the rounding of sums of a few thousand numbers that are not negative."""


def joined(*columns: Balls) -> Balls:
    """Puts columns side by side."""
    return Balls(
        np.concatenate([one.mid for one in columns], axis=1), np.concatenate([one.rad for one in columns], axis=1)
    )


def legal(part: Part, line: Line) -> bool:
    """Tells whether the strip up to twice the height is free of singularities, and bends to the right side."""
    twice = 2 * ball(line.height)
    angle = twice * ball(part.square).sqrt() * (2 if part.below else 1)
    return bool(angle < arb.pi() and twice < ball(line.bend) * arb.pi() / 2)


def layers(heights: Floats, low: Floats, high: Floats) -> tuple[Floats, Floats]:
    """Masses and lengths of uniform laws that are together below a density with these least heights in its cells.

    ``low`` and ``high`` enclose the ends of the cells. The heights are first lowered to rise once and then fall.
    """
    sure = np.where(np.isfinite(heights), np.maximum(heights, 0.0), 0.0)
    top = int(np.argmax(sure))
    sure[top:] = np.minimum.accumulate(sure[top:])
    sure[: top + 1] = np.minimum.accumulate(sure[: top + 1][::-1])[::-1]
    levels = np.unique(sure)
    first = np.argmax(sure[None, :] >= levels[:, None], axis=1)
    last = sure.size - np.argmax(sure[None, ::-1] >= levels[:, None], axis=1)
    apart = (low[last] - high[first]) * (1 - 2.0**-40)
    lengths = np.where(np.isfinite(apart), np.maximum(0.0, apart), 0.0)
    return np.diff(levels, prepend=0.0) * lengths * (1 - 2.0**-40), lengths


def decayed(masses: Floats, lengths: Floats, frequency: float) -> arb:
    """A bound of |E e^(itU)|, from a frequency on, for a law of which uniform ones are part."""
    angle = frequency * lengths / 2 * (1 - 2.0**-40)
    square = np.minimum(angle, 2.0) ** 2
    sup = np.where(angle <= 2, 1 - square / 6 + square * square / 120, 1 / np.maximum(angle, 2.0))
    gain = float(np.sum(masses * np.maximum(0.0, 1 - sup - 2.0**-40)))
    return arb(min(1.0, max(0.0, 1 - gain * (1 - 2.0**-30) + 2.0**-50)))
