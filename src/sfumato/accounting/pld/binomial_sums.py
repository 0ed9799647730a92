"""Sums of binomial terms from one place down, with balls: term by term, or by a certified integral where they are many.

Near the middle of a law of N trials about √N terms matter, which is too many for N = 10¹². The sum is also an integral
of a smooth peak, which takes the same few hundred evaluations whatever N is.
"""

from __future__ import annotations

import math
from typing import final

from flint import acb, acb_poly, arb

from sfumato.guarantee import guarantee

FAST = 0.9375
"""Terms that fall by this factor or faster are added up one by one."""

FEW = 1000
"""As few terms as this are added up one by one in any case."""

NARROW = 0.25
"""The integral is used where its peak is this narrow, relative to the distance from both ends of [0, 1]."""


@guarantee(
    claim="the sum over l <= last of C(count, l) odds^(count - l) / (1 + odds)^count",
    proof="proofs/approx_composition.md#tails",
    reviewed="6e048c83f075",
)
def lower_sum(odds: arb, count: int, last: int, bits: int) -> arb:
    """Encloses the chance of at most ``last`` misses in ``count`` trials with odds of a hit, to about so many bits."""
    if last >= count:
        return arb(1)
    choices = arb(count + 1).lgamma() - arb(last + 1).lgamma() - arb(count - last + 1).lgamma()
    if last > FEW and not odds * last < FAST * (count - last + 1):
        peak = Peak(count - last - 1, last, bits)
        if peak.narrow:
            scale = (choices + peak.logarithm()).exp() * (count - last)
            return scale * peak.integral(odds / (1 + odds))
    first = (choices - last * odds.log() - count * (1 / odds).log1p()).exp()
    return first * walked(odds, count, last, bits)


@guarantee(
    claim="the sum of all terms from one place down, in units of the first: a term is odds l / (count - l + 1) times "
    "the one above it, and the rest below a term is a falling geometric series at most",
    proof="proofs/approx_composition.md#tails",
    reviewed="aef02e233a9e",
)
def walked(odds: arb, count: int, last: int, bits: int) -> arb:
    """Encloses a sum of terms, one by one until the rest is negligible."""
    negligible, unit = arb(2) ** -bits, arb(0.5, 0.5)
    term = total = arb(1)
    for lies in range(last, 0, -1):
        ratio = odds * lies / (count - lies + 1)
        term *= ratio
        if ratio < 1 and term < negligible * total * (1 - ratio):
            return total + unit * term / (1 - ratio)
        total += term
    return total


@final
class Peak:
    """exp(E), with E the logarithm of t^hits (1 − t)^misses less its largest value, as a series around the peak.

    Places are counted in widths s from the peak: E is near −s²/2. Only used inside one `precision`.
    """

    def __init__(self, hits: int, misses: int, bits: int) -> None:
        self.hits, self.misses = hits, misses
        total = hits + misses
        self.top = arb(hits) / total
        self.width = (self.top * (1 - self.top) / total).sqrt()
        self.depth = (bits + total.bit_length() + 8) * arb(2).log()
        self.steps = self.width / self.top, self.width / (1 - self.top)
        reach = (2 * self.depth).sqrt() * 5 / 4  # where E is below −depth, also where the peak leans
        self.reach = reach.mid()
        self.bits = bits

    @property
    def narrow(self) -> bool:
        """Tells whether the series converges fast around the whole peak."""
        left, right = self.steps
        return bool(2 * self.reach * left.max(right) < NARROW)

    def logarithm(self) -> arb:
        """Encloses the logarithm of the largest value of t^hits (1 − t)^misses."""
        return self.hits * self.top.log() + self.misses * (1 - self.top).log()

    @guarantee(
        claim="the integral of exp(E) from 0 to an end of at most 1; what is left out is bounded by its largest value",
        proof="proofs/approx_composition.md#tails",
        reviewed="4b5d5adca86a",
    )
    def integral(self, end: arb) -> arb:
        """Encloses the integral over t, in one piece where it matters."""
        stop = (end - self.top) / self.width
        right = self.reach if stop > self.reach else stop.mid()
        highest = right if right < 0 else arb(0)
        fall = self.reach if highest > -1 else (-self.depth * 3 / 2 / highest).mid()
        left = highest - (fall if fall < self.reach else self.reach)
        bound = (2 * (self.reach - highest)).upper()
        series, rest = self.series(bound)
        level, slack = series(acb(highest)).real.mid(), acb(arb(0, rest), arb(0, rest))

        def value(place: acb, *_analytic: bool) -> acb:
            """Encloses exp(E) in units of its largest value, on the disc where the series holds."""
            return (series(place) - level + slack).exp() if place.abs_upper() < bound else acb("nan")

        some, tolerance = arb(0.5, 0.5), arb(2) ** -self.bits
        inside = acb.integral(value, left, right, rel_tol=tolerance, abs_tol=tolerance).real
        below = some * value(acb(left)).real
        above = some * value(acb(right)).real if stop > self.reach else arb(0)
        blurred = arb(0) if stop > self.reach else arb(0, 1) * stop.rad() * value(acb(stop)).real
        return ((inside + blurred) * self.width + below + above) * level.exp()

    def series(self, bound: arb) -> tuple[acb_poly, arb]:
        """E as a polynomial in s, and how far it may be off where |s| is at most a bound."""
        left, right = self.steps
        most = bound * left.max(right)
        bits = self.bits + (self.hits + self.misses).bit_length() + 8
        order = 2 + math.ceil(bits / -math.log2(float(most)))
        pairs = ((-self.hits * (-left) ** place, self.misses * right**place) for place in range(2, order + 1))
        parts = [(one - two) / place for place, (one, two) in enumerate(pairs, start=2)]
        rest = (self.hits + self.misses) * most ** (order + 1) / ((order + 1) * (1 - most))
        return acb_poly([acb(0), acb(0), *map(acb, parts)]), rest.upper()
