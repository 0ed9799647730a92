"""A number known between two rationals: what a numerical answer of the accountant is, and a float to work with."""

from __future__ import annotations

import math
from collections.abc import Callable
from decimal import ROUND_FLOOR
from fractions import Fraction
from typing import Self, final

from sfumato.errors import BadArgument, Several
from sfumato.exact import FLOAT_POWER, Distance, Extended, decimal_of, digits_up, down, up
from sfumato.plain import record


@final
@record("Bracket", repr=False)
class Bracket(float):
    """A certified enclosure: the number is at least ``lower`` and at most ``upper``, both exact.

    It is a float, to be used like any other: the upper end, rounded up (`as_read`).

    >>> Bracket(Fraction(1), Fraction(2)).width
    Fraction(1, 1)
    >>> print(Bracket(Fraction(2, 3), Fraction(5, 7)))
    0.714286 (at least 0.666666)
    >>> 2 * Bracket(Fraction(1, 4), Fraction(1, 2)), Bracket(Fraction(1, 4), Fraction(1, 2)).upper
    (1.0, Fraction(1, 2))
    """

    lower: Extended
    upper: Extended

    def __new__(cls, lower: Extended, upper: Extended) -> Self:
        return super().__new__(cls, as_read(upper))

    def __getnewargs__(self) -> tuple[Extended, Extended]:  # type: ignore[override]  # what `__new__` takes
        return self.lower, self.upper

    def __post_init__(self) -> None:
        if not self.lower <= self.upper:
            raise BadArgument("lower", "at most upper", Several(self.lower, self.upper))

    def __eq__(self, other: object) -> bool:
        if isinstance(other, Bracket):
            return (self.lower, self.upper) == (other.lower, other.upper)
        return float(self) == other

    __hash__ = float.__hash__

    @property
    def width(self) -> Extended:
        """How far the two ends are apart."""
        return Fraction(0) if self.lower == self.upper else self.upper - self.lower

    def __contains__(self, value: float) -> bool:
        return self.lower <= value <= self.upper

    def __repr__(self) -> str:
        return f"Bracket({down(self.lower)!r}, {up(self.upper)!r})"

    def __str__(self) -> str:
        return f"{digits_up(self.upper)} (at least {digits_down(self.lower)})"


def as_read(value: Distance, side: Callable[[Distance], float] = up) -> float:
    """The float that is printed, and read, as a number; where there is none, the nearest on a side (`up` or `down`).

    That one is on the side of the number both as it is and as the decimal that is read.

    >>> as_read(Fraction("1e-6")), as_read(Fraction(2, 3)), as_read(Fraction(2, 3), down)
    (1e-06, 0.6666666666666667, 0.6666666666666666)
    """
    near, away = side(value), math.inf if side is up else -math.inf
    if math.isinf(near):
        return near
    beside = (near, math.nextafter(near, -away))
    exact = next((each for each in beside if Fraction(repr(each)) == value), None)
    if exact is not None:
        return exact
    kept = Fraction(repr(near)) >= value if side is up else Fraction(repr(near)) <= value
    return near if kept else math.nextafter(near, away)


def digits_down(value: Extended, digits: int = 6) -> str:
    """Writes a number with a few digits, six unless told, rounded down.

    >>> digits_down(Fraction(2, 3)), digits_down(Fraction(5)), digits_down(Fraction(2, 3 * 10**400), digits=3)
    ('0.666666', '5', '6.66e-401')
    """
    if value in (math.inf, -math.inf):
        return f"{value}"
    rounded = decimal_of(Fraction(value), digits, ROUND_FLOOR)
    beyond_floats = abs(rounded.adjusted()) > FLOAT_POWER
    return f"{rounded:g}" if beyond_floats else f"{float(rounded):.{digits}g}"
