"""The mean of what a sum of many equal, independent numbers is above 0, certified from above, for any number of them.

Shuffled reports of one protocol cost such a mean (proofs/shuffling.md#protocols). It is an integral along a line in the
complex plane; a little Gaussian noise on the sum makes the integrand vanish quickly and the mean no smaller, and a sum
over evenly spaced points is no smaller either (proofs/shuffling.md#tilted). So nothing depends on how many reports
there are but one power.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TypeAlias, final

import numpy as np
from flint import arb

from sfumato.accounting.pld.float_balls import TINY, WIDER, Balls, Floats
from sfumato.accounting.pld.fourier import UNIT
from sfumato.exact import Extended, ball, precision, upper
from sfumato.guarantee import guarantee

Atoms: TypeAlias = Sequence[tuple[Fraction, Fraction, Fraction]]
"""Kinds of reports: the chance of each in the blanket, under the one value and under the other."""

MOST_REPORTS = 10**12
"""More reports count as so many."""

NOISE, ROUGH = 1 / 1024, 1 / 128
"""The noise on the sum, against the reciprocal of the tilt; its square halved is about what the mean grows by, and the
time falls as it grows."""

REACH = 9.0
"""The line is cut where the noise alone has come down to exp(−REACH²/2)."""

WIDEST = 16_000.0
"""Angles stay below this, so that their exponentials are known."""

APART, WIDTH = 40.0, 9.0
"""Copies of the sum lie so many reciprocals of the tilt apart, and so many standard deviations."""

NEGLIGIBLE = 2.0**-120
"""A δ below this need not be sharp."""

BITS, LEAST = 192, 1e-100
"""The digits of all but the line itself; numbers smaller than that, or larger than its reciprocal, are left alone."""

GREATEST = 600.0
"""No exponent of a single number may be larger."""


@final
@dataclass(frozen=True)
class Tilt:
    """Where and how finely the integral is taken; chosen by floats, any choice is sound."""

    tilt: float
    step: float
    noise: float

    @classmethod
    def chosen(cls, values: Sequence[float], chances: Sequence[float], count: int, noise: float = NOISE) -> Tilt:
        """The tilt at which the integrand is least on the real line, and a step that keeps copies of the sum apart."""
        top = max(abs(value) for value in values)
        low, high = -30 - math.log(top), math.log(GREATEST / top)

        def height(place: float) -> float:
            return count * _cumulants(values, chances, math.exp(place))[0] - 2 * place

        for _ in range(64):
            third = (high - low) / 3
            low, high = (low, high - third) if height(low + third) < height(high - third) else (low + third, high)
        tilt = math.exp((low + high) / 2)
        deviation = math.sqrt(count * max(0.0, _cumulants(values, chances, tilt)[1])) * tilt
        step = 2 * math.pi / max(APART, WIDTH * deviation)
        digits = 2.0 ** (10 - math.frexp(step)[1])
        return cls(tilt, math.floor(step * digits) / digits, max(noise, REACH * tilt * top / WIDEST))

    @property
    def places(self) -> Floats:
        """The points after the first, in units of the tilt; exact, as the step has ten digits and they are few."""
        return self.step * np.arange(1, math.ceil(REACH / (self.noise * self.step)) + 1, dtype=np.float64)


def _cumulants(values: Sequence[float], chances: Sequence[float], tilt: float) -> tuple[float, float]:
    """About the logarithm of the moment generating function, and its second derivative."""
    grown = math.fsum(c * math.expm1(tilt * v) for v, c in zip(values, chances, strict=True))
    weights = [c * math.exp(tilt * v) / (1 + grown) for v, c in zip(values, chances, strict=True)]
    mean = math.fsum(w * v for v, w in zip(values, weights, strict=True))
    square = math.fsum(w * v * v for v, w in zip(values, weights, strict=True))
    return math.log1p(grown), square - mean * mean


@guarantee(
    claim="(1/n) E(X_1 + ... + X_n)+ is at most this, X = (a - e^epsilon b)/w with chance w for each kind, else 0",
    proof="proofs/shuffling.md#tilted",
    reviewed="149519fc3845",
)
def sum_delta(atoms: Atoms, reports: int, epsilon: Fraction, *, noise: float = NOISE) -> Extended:
    """The δ at an ε of shuffled reports whose kinds have these chances, rounded up; may be infinite at the far end."""
    count, rest = min(reports, MOST_REPORTS), 1 - sum(kind[0] for kind in atoms)
    with precision(BITS):
        values = [ball((a - b) / w) - ball(epsilon).expm1() * ball(b / w) for w, a, b in atoms] + [arb(0)]
        chances = [ball(kind[0]) for kind in atoms] + [ball(rest)]
        near = [float(value) for value in values]
        if not LEAST < max(near) <= max(map(abs, near)) < 1 / LEAST:
            return math.inf
        choice = Tilt.chosen(near, [float(chance) for chance in chances], count, noise)
        tilt, spread, step = map(arb, (choice.tilt, choice.noise, choice.step))
        grown = [chance * (tilt * value).exp() for chance, value in zip(chances, values, strict=True)]
        whole = sum(grown, arb(0))
        quick = upper(lambda: (count * whole.log() - 1).exp() / (count * tilt), BITS)
        if quick < NEGLIGIBLE:
            return quick
        places = choice.places
        weights, angles = (Balls.column(part) for part in ([g / whole for g in grown], [tilt * v for v in values]))
        turned = (weights * (angles * Balls.exact(1j * places)).exp()).sum(axis=0)
        along = float((turned.reshape(1, -1).raised([count])[0] * _smoothed(places, choice.noise)).real.sum().upper())

    def enclosed() -> arb:
        scale = (count * whole.log() + spread * spread / 2).exp() * step / (2 * arb.pi() * count * tilt)
        last = len(places) * (spread * step) ** 2 / 2
        beyond = (-last * (len(places) + 1)).exp() / (1 - (-last).exp())
        total: arb = scale * (1 + 2 * (arb(along) + beyond))
        return total

    return upper(enclosed, BITS) if math.isfinite(along) else math.inf


@guarantee(
    claim="exp(s² ((1 + iy)² - 1)/2)/(1 + iy)² for floats y of up to ten digits more than their count",
    proof="proofs/shuffling.md#tilted",
    reviewed="aa465cf70844",
)
def _smoothed(places: Floats, noise: float) -> Balls:
    """The transform of the noise and of what is above 0, along the line, against their value at its middle."""
    square = places * places
    size = 1 + square
    inverse = (1 - square) / (size * size) + 1j * (-2 * places / (size * size))
    part = Balls(inverse, (16 * UNIT / size) * WIDER + TINY)
    half = Balls.exact(noise) * Balls.exact(noise) * Balls.exact(0.5)
    line = Balls.exact(1j * places) * Balls.exact(2.0 + 1j * places)
    return part * (half * line).exp()
