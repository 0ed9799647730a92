"""From values to whole numbers of grid steps and back: the bridge between data and exact integer noise.

Integers and exact aggregates already count steps. Floats are rounded to a power-of-two grid chosen from the public
scale; what the rounding can add to the distance between neighbours is part of the map.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import final

import numpy as np

from sfumato.core.domains import Array, Data, Floats, Integers, Vector, column
from sfumato.core.metrics import L2, Absolute, LInf, Metric
from sfumato.core.space import Space
from sfumato.errors import BadArgument, NotNoisable
from sfumato.exact import Distance, power_of_two, rational_up, root
from sfumato.guarantee import guarantee

FINENESS = 40
"""Floats are rounded to a grid of about scale / 2⁴⁰: far below the noise, and cheap to draw."""

LARGEST = math.nextafter(math.inf, 0)
INT64 = np.iinfo(np.int64)

TINIEST_STEP, HUGEST_STEP = Fraction(1, 1 << 1022), Fraction(1 << 960)
"""64-bit numbers of power-of-two steps between these are floats that neither overflow nor lose bits at the bottom."""


@final
@dataclass(frozen=True)
class Gridded:
    """How the members of a space become whole numbers of steps, and how far apart neighbours then are."""

    element: Floats | Integers
    size: int | None
    norm: type[Metric]
    step: Fraction

    def shift(self, d_in: Distance) -> Distance:
        """The distance between neighbours in steps."""
        if d_in == 0 or d_in == math.inf:
            return d_in
        steps = d_in / self.step
        if isinstance(self.element, Integers):
            return steps
        coordinates = 1 if self.size is None else self.size
        if self.norm is LInf:  # the coordinate that moves most, by itself
            coordinates = min(coordinates, 1)
        return rounded_shift_l2(steps, coordinates) if self.norm is L2 else rounded_shift_l1(steps, coordinates)

    def whole(self, data: Data) -> int | Array:
        """Converts a member to whole numbers of steps."""
        if self.size is None:
            return int(data) if isinstance(self.element, Integers) else nearest_step(float(data), self.step)
        values = column(data, self.element)
        return values if isinstance(self.element, Integers) else nearest_steps(values, self.step)

    def value(self, whole: int | Array) -> Data:
        """Converts noisy whole numbers of steps to values: integers where the step is 1, else nearest floats."""
        if isinstance(self.element, Integers) and self.step == 1:
            return whole
        return nearest_float(whole, self.step) if isinstance(whole, int) else nearest_floats(whole, self.step)


def gridded(space: Space, *, norm: type[Metric], scale: Fraction, step: Fraction | None, verb: str) -> Gridded:
    """Works out the grid for a space, or says what the mechanism needs."""
    domain, metric = space.domain, space.metric
    size: int | None = None
    match domain:
        case Vector(element=Floats() | Integers() as element, size=int()) if type(metric) is norm:
            size = domain.size
        case Floats() | Integers() as element if isinstance(metric, Absolute):
            pass
        case _:
            raise NotNoisable(verb, space, norm())
    if isinstance(element, Integers):
        if step is not None:
            raise BadArgument("step", "left out for exact values: they have a step of their own", step)
        return Gridded(element, size, norm, element.step)
    return Gridded(element, size, norm, power_of_two(scale) / 2**FINENESS if step is None else _checked_step(step))


def _checked_step(step: Fraction) -> Fraction:
    if power_of_two(step) != step:
        raise BadArgument("step", "a power of two, such as 2**-20", step)
    return step


@guarantee(
    claim="vectors at L1 distance d (in steps) are, once rounded, at most ceil(d) + n - 1 apart",
    proof="proofs/gridding.md#rounding",
    reviewed="84ee7ea259a3",
)
def rounded_shift_l1(steps: Distance, coordinates: int) -> Distance:
    """The L1 distance in steps after rounding each coordinate to the grid."""
    return Fraction(math.ceil(rational_up(steps)) + coordinates - 1) if coordinates else Fraction(0)


@guarantee(
    claim="vectors at L2 distance d (in steps) are, once rounded, at most d + sqrt(n) apart; a single number, ceil(d)",
    proof="proofs/gridding.md#rounding",
    reviewed="77d45081dc22",
)
def rounded_shift_l2(steps: Distance, coordinates: int) -> Distance:
    """The L2 distance in steps after rounding each coordinate to the grid."""
    if coordinates <= 1:
        return rounded_shift_l1(steps, coordinates)
    return Fraction(rational_up(steps)) + Fraction(rational_up(root(coordinates)))


def nearest_step(value: float, step: Fraction) -> int:
    """Rounds a finite float to a whole number of power-of-two steps, halves up; exact whatever the size."""
    numerator, denominator = value.as_integer_ratio()
    top, bottom = numerator * step.denominator, denominator * step.numerator
    return (2 * top + bottom) // (2 * bottom)


def nearest_steps(values: Array, step: Fraction) -> Array:
    """Rounds finite floats to whole numbers of power-of-two steps, halves up; exact, as Python ints where 64 bits do
    not do.

    Halves go *up*, not to even, so that rounding commutes with moving by whole steps: the proof needs it.
    """
    exponent = step.numerator.bit_length() - step.denominator.bit_length()
    with np.errstate(over="ignore", under="ignore"):
        scaled = np.ldexp(values, -exponent)
    if not len(values) or float(np.abs(scaled).max()) < 2.0**62:
        floor = np.floor(scaled)
        whole: Array = floor.astype(np.int64) + (scaled - floor >= 0.5)
        return whole
    return np.array([nearest_step(value, step) for value in values.tolist()], dtype=object)


@guarantee(
    claim="the exact sums; whether they come in 64 bits depends on the sums alone",
    proof="proofs/additive.md#sums",
    reviewed="8be24e78be62",
)
def exact_add(whole: Array, noise: Array) -> Array:
    """Adds arrays of whole numbers exactly: in 64 bits where every sum fits, else in Python integers.

    Values that do not fit may still give sums that do, and the other way round: the kind of array that leaves must not
    tell which it was.
    """
    if whole.dtype == object or noise.dtype == object:
        return in_64_bits(whole.astype(object) + noise.astype(object))
    total: Array = whole + noise
    wrapped = ((whole ^ total) & (noise ^ total)) < 0
    return in_64_bits(whole.astype(object) + noise.astype(object)) if wrapped.any() else total


def in_64_bits(whole: Array) -> Array:
    """Stores whole numbers in 64 bits where all of them fit, else leaves them as they are."""
    fits = whole.dtype != object or all(INT64.min <= entry <= INT64.max for entry in whole)
    return whole.astype(np.int64) if fits else whole


def nearest_floats(whole: Array, step: Fraction) -> Array:
    """Floats nearest to whole numbers of steps, at NumPy's speed where that rounds only once."""
    if whole.dtype != object and power_of_two(step) == step and TINIEST_STEP <= step <= HUGEST_STEP:
        return whole * float(step)
    if whole.dtype != object and len(whole) and _is_float(step.denominator):
        most = max(1, -int(whole.min()), int(whole.max()))
        if most * step.numerator <= 1 << 53:
            return (whole * step.numerator) / float(step.denominator)
    return np.array([nearest_float(int(entry), step) for entry in whole], dtype=np.float64)


def nearest_float(whole: int, step: Fraction) -> float:
    """The float nearest to a whole number of steps; the largest ones stand for what lies beyond them."""
    try:
        return whole * step.numerator / step.denominator
    except OverflowError:
        return LARGEST if whole > 0 else -LARGEST


def _is_float(whole: int) -> bool:
    return whole.bit_length() <= 1000 and int(float(whole)) == whole
