"""One monotone search: the least (or greatest) parameter that keeps a promise."""

from __future__ import annotations

import struct
from collections.abc import Callable
from fractions import Fraction

from sfumato.errors import BadArgument, CannotCalibrate, Several

SMALLEST, LARGEST = 2.0**-900, 2.0**900
"""The floats among which a real parameter is sought."""


def least(good: Callable[[Fraction], bool], *, what: str = "parameter") -> Fraction:
    """Finds the least positive float at which a monotone condition holds; the answer itself is good.

    The condition must be false and then true as the parameter grows. What is passed in and handed back is the float's
    exact value, so the caller's own rounding cannot move the answer to the wrong side.

    >>> least(lambda scale: scale >= Fraction(1, 3)) >= Fraction(1, 3)
    True
    """
    return _decode(_search(lambda code: good(_decode(code)), _encode(SMALLEST), _encode(LARGEST), what))


def greatest(good: Callable[[Fraction], bool], *, what: str = "parameter") -> Fraction:
    """Finds the greatest positive float at which a condition that is true and then false still holds."""
    low, high = _encode(SMALLEST), _encode(LARGEST)
    return _decode(-_search(lambda code: good(_decode(-code)), -high, -low, what))


def least_integer(good: Callable[[int], bool], *, low: int = 1, high: int = 1 << 62, what: str = "parameter") -> int:
    """Finds the least whole number at which a monotone condition holds."""
    return _search(good, low, high, what)


def greatest_integer(good: Callable[[int], bool], *, low: int = 1, high: int = 1 << 62, what: str = "parameter") -> int:
    """Finds the greatest whole number at which a condition that is true and then false still holds."""
    return -_search(lambda code: good(-code), -high, -low, what)


def _search(good: Callable[[int], bool], low: int, high: int, what: str) -> int:
    if low > high:
        raise BadArgument("the search interval", "not empty", Several(low, high))
    if good(low):
        if not good(high):
            raise CannotCalibrate(
                f"the loss does not move in one direction with this {what}, so there is nothing to search."
            )
        return low
    if not good(high):
        raise CannotCalibrate(f"no {what} meets what was asked for: even the most private one misses it.")
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if good(middle) else (middle, high)
    return high


def _encode(value: float) -> int:
    """Numbers the positive floats in order, so that bisection takes equal steps in relative size."""
    code: int = struct.unpack("<q", struct.pack("<d", value))[0]
    return code


def _decode(code: int) -> Fraction:
    return Fraction(struct.unpack("<d", struct.pack("<q", code))[0])
