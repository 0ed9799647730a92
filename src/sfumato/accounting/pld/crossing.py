"""Two floats, close to each other, on either side of the place at which a falling bound meets a level."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction

from sfumato.exact import Extended

CLOSE = 1e-9
"""The search for ε ends at this relative width."""


def crossing(
    bound: Callable[[Fraction], Extended], delta: Fraction, *, start: float, scale: float
) -> tuple[Extended, Extended]:
    """Finds two floats, close to each other, at which a falling bound is above δ and not above it.

    The bound is asked at both, so that they hold however the search went. Where the bound is nowhere above δ the first
    is 0; where it is nowhere at most δ the second is infinite.
    """

    def height(epsilon: float) -> float:
        # The exact comparison decides; the logarithm only steers.
        value = bound(Fraction(epsilon))
        steered = log_ratio(value, delta) if 0 < value < math.inf else math.copysign(1e9, value - 1)
        return max(steered, 5e-324) if value > delta else min(steered, 0.0)

    left = right = max(0.0, start)
    high = low = height(left)
    stride = 1e-6 * max(scale, start, 1e-12)
    while high <= 0:
        if left <= 0 or start - left > 40 * scale + 1:
            return Fraction(0), Fraction(left)
        right, low = left, high
        left, stride = max(0.0, left - stride), stride * 8
        high = height(left)
    while low > 0:
        if right - start > 40 * scale + 1:
            return Fraction(left), math.inf
        left, high = right, low
        right, stride = right + stride, stride * 8
        low = height(right)
    return narrowed(height, left, right, high, low)


def log_ratio(value: Extended, other: Fraction) -> float:
    """About ln(value / other), however large or small the two are.

    >>> round(log_ratio(Fraction(1, 10**400), Fraction(1, 10**399)), 6)
    -2.302585
    """
    ratio = Fraction(value) / other
    if 2 * abs(ratio - 1) < 1:
        return math.log1p(float(ratio - 1))
    return math.log(ratio.numerator) - math.log(ratio.denominator)


def narrowed(
    height: Callable[[float], float], left: float, right: float, high: float, low: float
) -> tuple[Fraction, Fraction]:
    """Brings two floats together about a zero of a falling function, by false position with halved weights."""
    side = 0
    for turn in range(60):
        close = CLOSE * right
        if right - left <= close:
            break
        halved = turn > 20 or high > 1e6 or low < -1e6 or high == low
        middle = left + (right - left) * (0.5 if halved else high / (high - low))
        middle = min(max(middle, left + close / 4), right - close / 4)
        value = height(middle)
        if value > 0:
            left, high, low, side = middle, value, low / 2 if side > 0 else low, 1
        else:
            right, low, high, side = middle, value, high / 2 if side < 0 else high, -1
    return Fraction(left), Fraction(right)
