"""Exact numbers: rationals, square roots, balls, and the one place where rounding happens.

Privacy numbers are `Fraction`s (or `Root`s, or `math.inf`) inside the library and become floats once, at the edge:
losses with `up`, limits with `down`. Transcendental numbers are in Arb balls, and enter as a rational on the safe side.
"""

from __future__ import annotations

import math
import operator
import os
import re
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from decimal import MAX_EMAX, MIN_EMIN, ROUND_CEILING, ROUND_FLOOR, Context, Decimal
from fractions import Fraction
from functools import total_ordering
from typing import TypeAlias, final

from flint import arb, ctx, fmpq

from sfumato.errors import BadArgument

Number: TypeAlias = int | float | str | Decimal | Fraction
"""What people type. Read as the decimal they see: ``0.1`` is one tenth."""

Extended: TypeAlias = Fraction | float
"""A rational, or ``math.inf`` (the only float that is stored)."""

BITS = 128
"""Default precision of ball arithmetic, in bits."""

EXPONENT_MOST = 1 << 20
"""Numbers with a larger binary exponent than this (either way) are bounded, not written out."""

MOST_DIGITS, FLOAT_POWER = 16, 300
"""How many digits are written out, and between which powers of ten floats hold them all."""

_precision_lock = threading.RLock()


def rational(value: Number, name: str = "number") -> Fraction:
    """Reads a finite number exactly as it is written.

    >>> rational(0.1) * 10 == 1
    True
    """
    match value:
        case bool():
            raise BadArgument(name, "a number", value)
        case Fraction():
            return value
        case int():
            return Fraction(value)
        case float():
            if not math.isfinite(value):
                raise BadArgument(name, "finite", value)
            return Fraction(repr(float(value)))
        case Decimal() | str():
            try:
                return Fraction("" if re.search(r"[eE][-+]?[\d_]{5,}", str(value)) else value)  # it would take hours
            except (ValueError, OverflowError, ZeroDivisionError):
                raise BadArgument(name, "a finite number", value) from None
    if hasattr(value, "item") and getattr(value, "ndim", None) == 0:
        plain = value.item()
        if type(plain) is not type(value):  # NumPy's long double gives itself
            return rational(plain, name)
    raise BadArgument(name, "a number", value)


def positive(value: Number, name: str) -> Fraction:
    """Reads a number that must be greater than zero."""
    number = rational(value, name)
    if number <= 0:
        raise BadArgument(name, "greater than 0", value)
    return number


def non_negative(value: Number, name: str) -> Fraction:
    """Reads a number that must not be negative."""
    number = rational(value, name)
    if number < 0:
        raise BadArgument(name, "at least 0", value)
    return number


def probability(value: Number, name: str) -> Fraction:
    """Reads a number in [0, 1]."""
    number = rational(value, name)
    if not 0 <= number <= 1:
        raise BadArgument(name, "between 0 and 1", value)
    return number


def integer(value: object, name: str, *, least: int | None = None, most: int | None = None) -> int:
    """Reads a whole number; refuses floats, even whole ones, and booleans."""
    try:
        whole = None if isinstance(value, bool) else operator.index(value)  # type: ignore[arg-type]  # refused below
    except TypeError:
        whole = None
    if whole is None:
        raise BadArgument(name, "a whole number", value)
    if least is not None and whole < least:
        raise BadArgument(name, f"a whole number of at least {least}", value)
    if most is not None and whole > most:
        raise BadArgument(name, f"a whole number of at most {most:,}", value)
    return whole


@final
@total_ordering
@dataclass(frozen=True, eq=False)
class Root:
    """The square root of a rational that is no perfect square; keeps L2 distances exact."""

    square: Fraction

    def __post_init__(self) -> None:
        if self.square <= 0 or _rational_root(self.square) is not None:
            raise BadArgument("square", "greater than 0 and no perfect square (exact.root reads any)", self.square)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Root) and self.square == other.square

    def __lt__(self, other: Root | Extended | int) -> bool:
        if isinstance(other, Root):
            return self.square < other.square
        if other == math.inf:
            return True
        return other > 0 and self.square < Fraction(other) ** 2

    def __hash__(self) -> int:
        return hash(("root", self.square))

    def __mul__(self, factor: Fraction | int) -> Root | Fraction:
        return root(self.square * Fraction(factor) ** 2)

    __rmul__ = __mul__

    def __truediv__(self, divisor: Fraction | int) -> Root | Fraction:
        return self * (1 / Fraction(divisor))

    def __float__(self) -> float:
        return up(self)

    def __repr__(self) -> str:
        return f"√{self.square}"


Distance: TypeAlias = Fraction | Root | float
"""A distance between values: rational, a square root, or ``math.inf``."""


def root(square: Fraction | int) -> Root | Fraction:
    """The exact square root of a rational: a rational again where it is one."""
    square = Fraction(square)
    if square < 0:
        raise BadArgument("square", "at least 0", square)
    exact = _rational_root(square)
    return Root(square) if exact is None else exact


def _rational_root(square: Fraction) -> Fraction | None:
    top, bottom = math.isqrt(square.numerator), math.isqrt(square.denominator)
    exact = top * top == square.numerator and bottom * bottom == square.denominator
    return Fraction(top, bottom) if exact else None


def squared(distance: Distance) -> Extended:
    """The exact square of a distance."""
    match distance:
        case Root():
            return distance.square
        case Fraction():
            return distance**2
        case _:
            return math.inf if distance == math.inf else Fraction(distance) ** 2


def as_distance(value: Number | Root, name: str = "distance") -> Distance:
    """Reads a distance: a number of at least zero, a `Root`, or infinity."""
    if isinstance(value, Root):
        return value
    if isinstance(value, float) and value == math.inf:
        return math.inf
    return non_negative(value, name)


def rational_up(distance: Distance) -> Extended:
    """The distance itself when rational, else a rational just above it (within 2⁻¹²⁷ of it, relatively)."""
    if isinstance(distance, Root):
        square = distance.square
        return upper(lambda: ball(square).sqrt())
    return distance


def up(value: Distance | int) -> float:
    """The least float that is not below the value."""
    if isinstance(value, Root):
        near = _near_root(value.square)
        while near < math.inf and Fraction(near) ** 2 < value.square:
            near = math.nextafter(near, math.inf)
        while near > 0 and Fraction(below := math.nextafter(near, 0)) ** 2 >= value.square:
            near = below
        return near
    if value in (math.inf, -math.inf):
        return float(value)
    exact = Fraction(value)
    try:
        near = exact.numerator / exact.denominator
    except OverflowError:
        return math.inf if exact > 0 else -math.nextafter(math.inf, 0)
    return near if Fraction(near) >= exact else math.nextafter(near, math.inf)


def _near_root(square: Fraction) -> float:
    """A float within a few steps of a square root, also where the square itself is beyond the floats."""
    half = (square.numerator.bit_length() - square.denominator.bit_length()) // 2
    try:
        return math.ldexp(math.sqrt(square / Fraction(4) ** half), half)
    except OverflowError:
        return math.inf


def down(value: Distance | int) -> float:
    """The greatest float that is not above the value."""
    if isinstance(value, Root):
        return math.nextafter(up(value), 0)  # a root is no rational, so no float is equal to it
    return math.inf if value == math.inf else 0.0 - up(-value)


def power_of_two(value: Fraction) -> Fraction:
    """The greatest power of two that is not above a positive rational.

    >>> power_of_two(Fraction(1, 3))
    Fraction(1, 4)
    """
    near = Fraction(2) ** (value.numerator.bit_length() - value.denominator.bit_length())
    return near if near <= value else near / 2


def nearest_whole(value: Fraction) -> int:
    """Rounds to the nearest whole number, halves up: monotone, and it commutes with adding whole numbers.

    Rounding halves to even does not, so it must not be used where a distance matters (proofs/gridding.md).
    """
    return math.floor(value + Fraction(1, 2))


def common_step(*points: Fraction) -> Fraction:
    """The largest step of which all points are whole multiples; some step where all of them are 0.

    >>> common_step(Fraction(1, 2), Fraction(1, 3))
    Fraction(1, 6)
    """
    top = math.gcd(*(point.numerator for point in points))
    return Fraction(top or 1, math.lcm(*(point.denominator for point in points)))


def text(value: Extended) -> str:
    """Writes a number so that what reads it gets the same number; one that takes many digits ends in "…".

    >>> text(Fraction(3, 5)), text(Fraction(1, 3)), text(Fraction(1, 10**400)), text(Fraction(2) / 3**50)
    ('0.6', "'1/3'", "'1E-400'", '2.7859111381970765e-24…')
    """
    if value == math.inf:
        return "inf"
    exact, short = Fraction(value), decimal_of(Fraction(value), MOST_DIGITS, ROUND_FLOOR)
    near = repr(float(exact)) if abs(short.adjusted()) <= FLOAT_POWER else "0"
    if Fraction(near) == exact:
        return near
    if exact.denominator.bit_length() + exact.numerator.bit_length() < 3 * MOST_DIGITS or Fraction(short) == exact:
        return f"'{short if Fraction(short) == exact else exact}'"
    return f"{short}…".replace("E", "e") if near == "0" else f"{down(exact)!r}…"


def decimal_of(value: Fraction, digits: int, rounding: str) -> Decimal:
    """A decimal of ``digits`` digits beside a number, or the number itself where that has no more."""
    widest = Context(prec=digits, rounding=rounding, Emin=MIN_EMIN, Emax=MAX_EMAX)
    return widest.normalize(widest.divide(Decimal(value.numerator), Decimal(value.denominator)))


def _renew_lock() -> None:
    """Replaces the lock in a forked child: threads that wait for the old one exist only in the parent."""
    global _precision_lock
    _precision_lock = threading.RLock()


# A fork waits until no other thread is inside `precision`, so that the child starts with a free lock and no precision
# that a thread of the parent was about to put back.
if hasattr(os, "register_at_fork"):  # Windows has no forks
    os.register_at_fork(
        before=lambda: _precision_lock.acquire(),
        after_in_parent=lambda: _precision_lock.release(),
        after_in_child=_renew_lock,
    )


def digits_up(value: Distance, digits: int = 6) -> str:
    """Writes a number with a few digits, six unless told, rounded up.

    >>> digits_up(Fraction(1, 3)), digits_up(Fraction(5)), digits_up(Fraction(2, 3 * 10**400), digits=3)
    ('0.333334', '5', '6.67e-401')
    """
    if value in (math.inf, -math.inf):
        return f"{value}"
    rounded = decimal_of(Fraction(rational_up(value)), digits, ROUND_CEILING)
    beyond_floats = abs(rounded.adjusted()) > FLOAT_POWER
    return f"{rounded:g}" if beyond_floats else f"{float(rounded):.{digits}g}"


@contextmanager
def precision(bits: int) -> Iterator[None]:
    """Sets the working precision of balls; one thread at a time, since python-flint keeps it globally."""
    with _precision_lock:
        before = ctx.prec
        ctx.prec = bits
        try:
            yield
        finally:
            ctx.prec = before


def ball(value: Fraction | int) -> arb:
    """The tightest ball around a rational at the working precision."""
    exact = Fraction(value)
    return arb(fmpq(exact.numerator, exact.denominator))


def endpoints(value: arb) -> tuple[Extended, Extended]:
    """Rational bounds that enclose a ball; infinite ones where it is not finite."""
    if not value.is_finite():
        return -math.inf, math.inf
    return -_not_below(-value.lower()), _not_below(value.upper())


def _not_below(point: arb) -> Extended:
    """An exact ball's number as a rational; beyond 2^±EXPONENT_MOST, something near that is not below it."""
    mantissa, exponent = (int(part) for part in point.man_exp())
    if abs(exponent) <= EXPONENT_MOST:
        return Fraction(mantissa << exponent) if exponent >= 0 else Fraction(mantissa, 1 << -exponent)
    if exponent > 0:
        return math.inf if mantissa > 0 else -(Fraction(2) ** EXPONENT_MOST)
    return Fraction(2) ** (mantissa.bit_length() - EXPONENT_MOST) if mantissa > 0 else Fraction(0)


def enclose(compute: Callable[[], arb], bits: int = BITS) -> tuple[Extended, Extended]:
    """Evaluates with balls at a precision, and bounds the result by rationals."""
    with precision(bits):
        return endpoints(compute())


def upper(compute: Callable[[], arb], bits: int = BITS) -> Extended:
    """A rational that is certainly not below the value."""
    return enclose(compute, bits)[1]


def lower(compute: Callable[[], arb], bits: int = BITS) -> Extended:
    """A rational that is certainly not above the value."""
    return enclose(compute, bits)[0]


def floor_of(compute: Callable[[], arb], bits: int = BITS, most: int = 1 << 20) -> int:
    """The floor of a real number, raising the precision until it is certain.

    A number that *is* a whole number cannot be told from one just below it by balls: exact numbers must not come here.
    """
    while bits <= most:
        low, high = enclose(compute, bits)
        if low != -math.inf and high != math.inf and math.floor(low) == math.floor(high):
            return math.floor(low)
        bits *= 2
    raise ArithmeticError("the floor could not be decided; is the number exactly whole?")


def log_up(value: Extended) -> Extended:
    """A rational not below ln(value), for value > 0; exactly 0 at 1."""
    if value == math.inf:
        return math.inf
    if value <= 0:
        raise BadArgument("value", "greater than 0", value)
    exact = Fraction(value)
    return Fraction(0) if exact == 1 else upper(lambda: ball(exact).log())


def log_down(value: Extended) -> Extended:
    """A rational not above ln(value), for value > 0; exactly 0 at 1."""
    return -log_up(1 / Fraction(value)) if value != math.inf else math.inf


def exp_up(value: Fraction | int) -> Extended:
    """A rational not below exp(value), or infinity where that is astronomical; exactly 1 at 0."""
    return Fraction(1) if value == 0 else upper(lambda: ball(value).exp())


def exp_down(value: Fraction | int) -> Fraction:
    """A rational not above exp(value); exactly 1 at 0."""
    return Fraction(1) if value == 0 else max(Fraction(0), Fraction(lower(lambda: ball(value).exp())))
