"""Arrays of non-negative floats with a wide exponent, for sums of many products that would leave the range of floats.

Only correctly rounded IEEE operations (+, ×, ÷) and exact ones (frexp, ldexp) are used, and nothing is subtracted, so
every result has a small relative error. What is made of these numbers only steers draws.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import final

import numpy as np
from numpy.typing import NDArray

from sfumato.exact import BITS, ball, precision
from sfumato.guarantee import guarantee

NOTHING = -(1 << 60)
"""The exponent of 0; that of any other number here is less than 2⁵⁹ in size."""

DEEPEST = -1100
"""A number shifted by this many bits is 0."""


@final
@dataclass(frozen=True, eq=False)
class Wide:
    """An array of numbers mantissa × 2^exponent, with mantissas in [½, 1), or 0."""

    mantissas: NDArray[np.float64]
    exponents: NDArray[np.int64]

    @classmethod
    def of(cls, numbers: NDArray[np.float64]) -> Wide:
        return _normal(numbers, np.zeros(numbers.shape, dtype=np.int64))

    @classmethod
    def joined(cls, parts: list[Wide]) -> Wide:
        return cls(
            np.concatenate([part.mantissas for part in parts]), np.concatenate([part.exponents for part in parts])
        )

    def __len__(self) -> int:
        return len(self.mantissas)

    def __getitem__(self, places: slice) -> Wide:
        return Wide(self.mantissas[places], self.exponents[places])

    @guarantee(claim="the sum, within a relative 2^-52", proof="proofs/ordered_points.md#wide", reviewed="60821713de9e")
    def plus(self, other: Wide) -> Wide:
        """Adds entry by entry; the smaller is shifted, and lost where it is too small to matter."""
        top = np.maximum(self.exponents, other.exponents)
        first = np.ldexp(self.mantissas, np.maximum(self.exponents - top, DEEPEST))
        return _normal(first + np.ldexp(other.mantissas, np.maximum(other.exponents - top, DEEPEST)), top)

    @guarantee(
        claim="the product, within a relative 2^-53", proof="proofs/ordered_points.md#wide", reviewed="cecbbbb74e02"
    )
    def times(self, other: Wide) -> Wide:
        """Multiplies entry by entry, or by one number."""
        return _normal(self.mantissas * other.mantissas, self.exponents + other.exponents)


def _normal(numbers: NDArray[np.float64], exponents: NDArray[np.int64]) -> Wide:
    mantissas, shifts = np.frexp(numbers)
    return Wide(mantissas, np.where(mantissas == 0, NOTHING, exponents + shifts))


def nothing(count: int) -> Wide:
    """An array of zeros."""
    return Wide(np.zeros(count), np.full(count, NOTHING))


@guarantee(claim="exp(-x), within a relative 2^-52", proof="proofs/ordered_points.md#wide", reviewed="c060921bf609")
def exp_near(x: Fraction) -> Wide:
    """Computes exp(-x) as an array of one number."""
    with precision(BITS):
        digits, exponent = (int(part) for part in ball(-x).exp().mid().man_exp())
    mantissa, shift = math.frexp(float(digits))
    return Wide(np.array([mantissa]), np.array([exponent + shift], dtype=np.int64))


@guarantee(
    claim="exp(-rate i) for i = 0 … count - 1, within a relative 2^-46",
    proof="proofs/ordered_points.md#wide",
    reviewed="52533e246baa",
)
def powers(rate: Fraction, count: int) -> Wide:
    """Lists the powers of exp(-rate): each from one of half the size, so that few roundings meet."""
    listed = Wide.of(np.ones(1))
    while len(listed) < count:
        listed = Wide.joined([listed, listed.times(exp_near(rate * len(listed)))])
    return listed[:count]


@guarantee(
    claim="entry e is the sum of exp(-rate i) values[e - i] over i = 0 … length - 1, within a relative 2^-45",
    proof="proofs/ordered_points.md#wide",
    reviewed="2c4df4cb985f",
)
def fading_sums(values: Wide, rate: Fraction, length: int) -> Wide:
    """Adds up the last ``length`` values at each place, those further back with less weight, by doubling windows."""
    total, done = nothing(len(values)), 0
    window, size = values, 1
    while size <= length:
        if length & size:
            total, done = _behind(total, window, rate, done), done + size
        size *= 2
        if size <= length:
            window = _behind(window, window, rate, size // 2)
    return total


def _behind(front: Wide, back: Wide, rate: Fraction, places: int) -> Wide:
    """Adds to each entry the one ``places`` before it, faded."""
    if places >= len(front):
        return front
    faded = back[: len(back) - places].times(exp_near(rate * places))
    return Wide.joined([front[:places], front[places:].plus(faded)])
