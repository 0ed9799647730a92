"""One monotone search: the least (or greatest) parameter that keeps a promise."""

from __future__ import annotations

import math
import struct
from collections.abc import Callable
from fractions import Fraction

from sfumato.errors import BadArgument, CannotCalibrate, Several

SMALLEST, LARGEST = 2.0**-900, 2.0**900
"""The floats among which a real parameter is sought."""


MOST_STEPS, LONGEST_STEP = 60, 3.0
"""How many steps `about` may take, and how far one goes at most, on a logarithmic scale."""

FINEST = 2.0**-52
"""Steps this small, relatively, lead to the next float at most."""


def least(good: Callable[[Fraction], bool], *, what: str = "parameter", near: float | None = None) -> Fraction:
    """Finds the least positive float at which a monotone condition holds; the answer itself is good.

    The condition must be false and then true as the parameter grows. What is passed in and handed back is the float's
    exact value, so the caller's own rounding cannot move the answer to the wrong side. ``near`` is where the answer
    may be (`about`): it changes how often the condition is asked, and not the answer.

    >>> least(lambda scale: scale >= Fraction(1, 3)) >= Fraction(1, 3)
    True
    """
    low, high = _encode(SMALLEST), _encode(LARGEST)
    return _decode(_search(lambda code: good(_decode(code)), low, high, what, _code_near(near)))


def greatest(good: Callable[[Fraction], bool], *, what: str = "parameter", near: float | None = None) -> Fraction:
    """Finds the greatest positive float at which a condition that is true and then false still holds."""
    low, high = _encode(SMALLEST), _encode(LARGEST)
    code = _code_near(near)
    return _decode(-_search(lambda code: good(_decode(-code)), -high, -low, what, None if code is None else -code))


def about(height: Callable[[float], float], *, start: float) -> float | None:
    """About where a function that falls meets 0, from a positive ``start`` on; None if it is not found.

    It goes along secants on a logarithmic scale, inside what is known to hold the place. The function may be worked out
    in any way: what is found only tells `least` and `greatest` where to begin.

    >>> round(about(lambda scale: 2.0 - scale * scale, start=1.0), 12)
    1.414213562373
    """
    place, value, slope = start, height(start), -1.0
    low, high = SMALLEST, LARGEST
    for _ in range(MOST_STEPS):
        if not math.isfinite(value) or value == 0:
            break
        low, high = (place, high) if value > 0 else (low, place)
        following = place * math.exp(min(max(-value / slope, -LONGEST_STEP), LONGEST_STEP))
        if abs(following - place) <= FINEST * place:
            break
        if not low < following < high:
            following = math.sqrt(low) * math.sqrt(high)
            if following == place:  # nothing lies between what is known any more
                break
        reached = height(following)
        steep = (reached - value) / math.log1p((following - place) / place)
        place, value, slope = following, reached, steep if steep < 0 else -1.0
    return place if math.isfinite(value) else None


def least_integer(good: Callable[[int], bool], *, low: int = 1, high: int = 1 << 62, what: str = "parameter") -> int:
    """Finds the least whole number at which a monotone condition holds."""
    return _search(good, low, high, what)


def greatest_integer(good: Callable[[int], bool], *, low: int = 1, high: int = 1 << 62, what: str = "parameter") -> int:
    """Finds the greatest whole number at which a condition that is true and then false still holds."""
    return -_search(lambda code: good(-code), -high, -low, what)


def _search(good: Callable[[int], bool], low: int, high: int, what: str, near: int | None = None) -> int:
    if low > high:
        raise BadArgument("the search interval", "not empty", Several(low, high))
    if near is not None and (around := _around(good, low, high, near)) is not None:
        return _halved(good, *around)
    if good(low):
        if not good(high):
            raise CannotCalibrate(
                f"the loss does not move in one direction with this {what}, so there is nothing to search."
            )
        return low
    if not good(high):
        raise CannotCalibrate(f"no {what} meets what was asked for: even the most private one misses it.")
    return _halved(good, low, high)


def _halved(good: Callable[[int], bool], low: int, high: int) -> int:
    """The least place that is good, between one that is not and one that is."""
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if good(middle) else (middle, high)
    return high


def _around(good: Callable[[int], bool], low: int, high: int, near: int) -> tuple[int, int] | None:
    """A place that is not good and one that is, found by strides that double, from one near by; None at the ends."""
    kept, stride = good(near), 1
    before = near
    while low < (place := before - stride if kept else before + stride) < high:
        if good(place) != kept:
            return (place, before) if kept else (before, place)
        before, stride = place, 2 * stride
    return None


def _encode(value: float) -> int:
    """Numbers the positive floats in order, so that bisection takes equal steps in relative size."""
    code: int = struct.unpack("<q", struct.pack("<d", value))[0]
    return code


def _code_near(value: float | None) -> int | None:
    return _encode(value) if value is not None and SMALLEST < value < LARGEST else None


def _decode(code: int) -> Fraction:
    return Fraction(struct.unpack("<d", struct.pack("<q", code))[0])
