"""Geometric variables by their digits.

The digits of a geometric variable are independent, so a variable of any scale is a few table look-ups: one for the
leading part (with the sign, where there is one) and one for each lower digit. Nothing is ever rejected.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import final

import numpy as np
from flint import arb
from numpy.typing import NDArray

from sfumato.entropy import Entropy
from sfumato.exact import ball, precision
from sfumato.guarantee import guarantee
from sfumato.noise.inversion import CELL, CELLS, TABLE_BITS, IndexLaw, InversionTable
from sfumato.noise.sampling import Integers, as_integers, put, saturated

PLAIN_SCALE = 16
"""Up to this scale one table holds every value that ever occurs in practice."""

DIGIT_BITS = 11
"""The most bits in one lower digit."""

REACH = 48
"""A table of a geometric leaves out less than exp(-48) < 2^-69: that, times the scale, is how far it must reach."""


@guarantee(
    claim="P(digit = d) is proportional to exp(-d place / scale) for d in 0 … size - 1",
    proof="proofs/geometric.md#digits",
    reviewed="02ee5c33f95b",
)
def digit_law(scale: Fraction, *, place: int, size: int) -> IndexLaw:
    """The law of the digit with a place value in a geometric variable."""
    step = Fraction(place) / scale

    def below(index: int) -> arb:
        return ball(-index * step).expm1() / ball(-size * step).expm1()

    return IndexLaw(below, size)


def digit_masses(scale: Fraction, *, place: int, size: int) -> Iterator[arb]:
    """Yields the digit's F(1) … F(size) by a recurrence that only ever adds positive terms."""
    step = ball(-Fraction(place) / scale)
    ratio, weight, total = step.exp(), arb(1), arb(0)
    first = step.expm1() / (step * size).expm1()
    for _ in range(size - 1):
        total += weight * first
        weight *= ratio
        yield total
    yield arb(1)


def lower_bits(scale: Fraction) -> int:
    """How many binary digits the lookup tables split off: none for a small scale."""
    if scale <= PLAIN_SCALE:
        return 0
    return (scale.numerator // scale.denominator).bit_length() - 3


@final
@dataclass(frozen=True, eq=False)
class DigitSampler:
    """Draws base(V) XOR R, for a leading index V and lower digits R that are independent.

    Guarantee:  V and each digit have exactly their laws (proofs/inversion.md#table)
    Cost:       one look-up and 2 bytes of entropy for V and for each digit
    """

    leading: InversionTable
    base: Callable[[int], int]
    bases: NDArray[np.int64]
    lower: tuple[tuple[InversionTable, int], ...]

    @classmethod
    def of(
        cls, leading: InversionTable, *, base: Callable[[int], int], lower: tuple[tuple[InversionTable, int], ...] = ()
    ) -> DigitSampler:
        """Joins a leading part to lower digits (each a table and the bit it starts at)."""
        bases = np.array([saturated(base(index)) for index in range(len(leading.limits))], dtype=np.int64)
        return cls(leading, base, bases, lower)

    def one(self, entropy: Entropy) -> int:
        heads = entropy.bits(CELL * (1 + len(self.lower)))
        value = self.base(self.leading.after(heads % CELLS, entropy))
        for table, shift in self.lower:
            heads >>= CELL
            value ^= table.after(heads % CELLS, entropy) << shift
        return value

    def many(self, count: int, entropy: Entropy) -> Integers:
        """Draws an array of integers, of Python's where 64 bits do not hold one of them."""
        index, beyond = self.leading.many(count, entropy)
        value = self.bases.take(index)
        for place in beyond:
            value[place] = 0
        for table, shift in self.lower:
            digit, _ = table.many(count, entropy)
            value ^= digit.astype(np.int64) << shift
        far = as_integers([self.base(index) ^ int(value[place]) for place, index in beyond.items()])
        return put(value, np.array(list(beyond), dtype=np.int64), far) if beyond else value


def lower_tables(scale: Fraction) -> tuple[tuple[InversionTable, int], ...]:
    """Builds the tables of the lower digits of a geometric variable, each with the bit it starts at."""
    left, shift, tables = lower_bits(scale), 0, []
    while left > 0:
        width = -(-left // -(-left // DIGIT_BITS))
        law = digit_law(scale, place=1 << shift, size=1 << width)
        with precision(TABLE_BITS):
            table = InversionTable.of(law, digit_masses(scale, place=1 << shift, size=1 << width))
        tables.append((table, shift))
        left, shift = left - width, shift + width
    return tuple(tables)
