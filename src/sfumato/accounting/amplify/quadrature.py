"""The moments of a sampled Gaussian, E[(1 − q + q exp(μx − μ²/2))^α] for a standard normal x, at every real order α.

The trapezoidal rule converges exponentially here, and its error is bounded *relative to the integral itself*
(proofs/sampled_renyi.md): some hundred points give thirty digits. Floats choose the points; balls evaluate and certify.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import final

import numpy as np
from flint import arb

from sfumato.exact import Extended, ball, upper
from sfumato.guarantee import guarantee

SHARP = 60
"""ln of a moment is worked out to about this many bits, relative to itself."""

MOST_BITS = 2000
"""Beyond this precision a moment is taken as it stands."""

MOST_POINTS = 20_000
"""Orders that would take more points than this get a simpler bound."""

HUGE = 10**9
"""Orders and squared shifts beyond this get the simpler bound at once: floats could not even choose points."""


@final
@dataclass(frozen=True)
class Grid:
    """The points at which an integrand is evaluated: multiples of a step, from ``first`` to ``last`` of them."""

    step: float
    first: int
    last: int

    @classmethod
    def of(cls, order: float, shift: float, bits: float) -> Grid:
        """A grid on which the rule and the cut of its tails are good to this many bits."""
        reach = bits * math.log(2) + 2
        step = math.pi * math.sqrt(2 / reach)
        if step < 2 * shift:  # the strip in which the integrand is analytic is as wide as π / shift
            wide = 0.999 * math.pi / shift
            step = 2 * math.pi * wide / (reach + wide**2 / 2)
        tail = math.sqrt(2 * reach)
        return cls(step, -math.ceil(tail / step), math.ceil((order * shift + tail) / step))

    @property
    def points(self) -> int:
        """How many points there are."""
        return self.last - self.first + 1


def near_log_moment(order: float, rate: float, shift: float) -> float:
    """ln of the moment in floats, without cancellation where it is close to 0; promises nothing."""
    rate = min(max(rate, 1e-300), math.nextafter(1, 0))
    grid = Grid.of(order, shift, 52) if order <= HUGE and shift**2 <= HUGE else None
    if grid is None or grid.points > MOST_POINTS:
        grown, rise = order * (order - 1) * shift**2 / 2, (order - 1) * shift**2 / 2  # as the simpler bound has it
        chord = math.log(rate) + grown if grown > 500 else math.log1p(rate * math.expm1(grown))
        norms = rise + math.log(rate) + math.log1p((1 - rate) / rate * math.exp(-min(rise, 700.0)))
        return min(chord, order * norms)
    x = np.arange(grid.first, grid.last + 1) * grid.step
    loss = shift * x - shift**2 / 2
    scale, half = grid.step / math.sqrt(2 * math.pi), x * x / 2
    height = order * np.logaddexp(math.log1p(-rate), math.log(rate) + loss) - half
    top = float(height.max())
    if top > 30:
        return top + math.log(float(np.exp(height - top).sum()) * scale)
    # The mean of `change` is 0, and taking its multiple off leaves the part that matters.
    change = rate * np.expm1(np.minimum(loss, 700))
    rise = order * np.log1p(change)
    small = np.expm1(np.minimum(rise, 1)) - order * change
    parts = np.where(rise < 1, np.exp(-half) * small, np.exp(rise - half) - np.exp(-half) * (1 + order * change))
    return math.log1p(float(parts.sum()) * scale)


@guarantee(
    claim="ln E[(1 - q + q exp(mu x - mu²/2))^order], x standard normal, rounded up",
    proof="proofs/sampled_renyi.md#quadrature",
    reviewed="55d34c97b317",
)
def log_moment(order: Fraction, rate: Fraction, square: Fraction) -> Extended:
    """ln of the moment for a squared shift μ², rounded up."""
    if order > HUGE or square > HUGE:
        return chord_log_moment(order, rate, square)
    shift = math.sqrt(square)
    size = near_log_moment(float(order), float(rate), shift)
    bits = min(MOST_BITS, SHARP + max(0, math.ceil(-math.log2(size)) if size > 0 else MOST_BITS))
    grid = Grid.of(float(order), shift, bits)
    if grid.points > MOST_POINTS:
        return chord_log_moment(order, rate, square)

    def enclosed() -> arb:
        mean, power, step = ball(square).sqrt(), ball(order), arb(grid.step)
        kept, drawn, half = ball(1 - rate), ball(rate), ball(square) / 2

        def log_height(x: arb) -> arb:
            return power * (kept + drawn * (mean * x - half).exp()).log()

        moment, low, high = arb(0), step * grid.first, step * grid.last
        for point in range(grid.first, grid.last + 1):
            x = step * point
            moment += (log_height(x) - x * x / 2).exp()
        moment *= step / (2 * arb.pi()).sqrt()
        moment += log_height(low).exp() * _normal_above(-low)
        lean = power * mean
        moment += (log_height(high) - lean * high + lean * lean / 2).exp() * _normal_above(high - lean)
        return (moment / (1 - _rule_error(step, mean))).log()

    return min(upper(enclosed, bits + 30), chord_log_moment(order, rate, square))


def _rule_error(step: arb, mean: arb) -> arb:
    """Encloses 2 exp(a²/2) / (exp(2πa/h) − 1), for a strip of half-width a in which the integrand is analytic."""
    wide = 2 * arb.pi() / step if step > 2 * mean else ball(Fraction(999, 1000)) * arb.pi() / mean
    error: arb = 2 * (wide * wide / 2).exp() / (2 * arb.pi() * wide / step).expm1()
    return error


@guarantee(
    claim="at order n: least of n (n - 1) mu²/2, ln(1 - q + q exp of that), n ln(1 - q + q exp((n - 1) mu²/2))",
    proof="proofs/sampled_renyi.md#chord",
    reviewed="8981eaeb5263",
)
def chord_log_moment(order: Fraction, rate: Fraction, square: Fraction) -> Extended:
    """A simple upper bound of ln of the moment: that of always knowing whether the unit was drawn, or of norms."""
    grown, rise = order * (order - 1) * square / 2, (order - 1) * square / 2
    if rate in (0, 1):
        return grown if rate else Fraction(0)

    def norms() -> arb:
        return ball(order) * (ball(rise) + ball(rate).log() + (ball((1 - rate) / rate) * (-ball(rise)).exp()).log1p())

    return min(grown, upper(lambda: (ball(rate) * ball(grown).expm1()).log1p()), upper(norms))


def _normal_above(value: arb) -> arb:
    tail: arb = (value / arb(2).sqrt()).erfc() / 2
    return tail
