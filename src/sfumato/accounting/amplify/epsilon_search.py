"""Where the curve of shuffled reports comes down to a δ: looked for roughly first, then sharply."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import TypeAlias

from sfumato.accounting.amplify.tilted_sum import NOISE, ROUGH
from sfumato.exact import Extended, up

CLOSE = Fraction(1, 1 << 24)
"""An ε is sought until its δ, or the ε itself, is this close to the goal, relatively."""

NEAR = Fraction(1, 1 << 10)
"""A δ that is so near the goal is looked at sharply."""

PATIENCE = 16
"""A search that has not ended after so many steps goes on by halves."""

Curve: TypeAlias = Callable[[Fraction, float], Fraction]
"""A certified δ at an ε, by a sum with so much noise on it: with more it is found sooner, and a little larger."""


def least_epsilon(delta_at: Curve, allowed: Fraction, *, most: Fraction, wide: float) -> Fraction:
    """About the least ε where a falling curve is at most the δ allowed; always a point that was checked, or the most.

    ``wide`` is about how far the privacy loss spreads: a hint.
    """
    found, middle, aim = delta_at(Fraction(0), ROUGH), Fraction(0), _height(allowed * (1 - CLOSE / 2))
    if found <= allowed:
        return middle
    seen, low, high, noise, steps = [(middle, _height(found))], middle, most, ROUGH, 0
    middle = min(most / 2, Fraction(wide * aim))
    while high - low > CLOSE * high:
        if not low < middle < high or steps > PATIENCE:
            middle = (low + high) / 2
        found, steps = delta_at(middle, noise), steps + 1
        if noise != NOISE and (abs(found - allowed) <= NEAR * allowed or steps == PATIENCE):
            # What was too much elsewhere was so only roughly; the slope is known.
            rough, found = found, min(found, delta_at(middle, NOISE))
            seen = [(place, height + _height(found) - _height(rough)) for place, height in seen]
            noise, low = NOISE, Fraction(0)
        if noise == NOISE and allowed * (1 - CLOSE) <= found <= allowed:
            return middle
        low, high = (low, middle) if found <= allowed else (middle, high)
        seen = [*seen[-1:], (middle, _height(found))]
        middle = _guess(aim, *seen)
    return high


def _guess(aim: float, one: tuple[Fraction, float], other: tuple[Fraction, float]) -> Fraction:
    """About the ε of a height, on the straight line through two others; below 0 where there is none."""
    rise = other[1] - one[1]
    share = (aim - one[1]) / rise if rise else math.inf
    return Fraction(up(one[0] + (other[0] - one[0]) * Fraction(share))) if math.isfinite(share) else Fraction(-1)


def _height(delta: Extended) -> float:
    """√ln(1/δ), which grows nearly in proportion to ε; infinite where δ is 0."""
    exact = Fraction(delta)
    if exact == 0:
        return math.inf
    return math.sqrt(max(0.0, math.log(exact.denominator) - math.log(exact.numerator)))
