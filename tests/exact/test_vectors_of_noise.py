"""Noise on vectors moved in L1 against noise on one number (proofs/peers.md#vectors), by whole laws in rationals.

With P(z) proportional to r^|z| and a shift of a, all outcomes up to 0, and all from a on, have one likelihood ratio:
the law is finite, and the masses are rational.
"""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise, product
from math import prod

import pytest

Law = list[tuple[Fraction, Fraction]]

RATIO = Fraction(2, 3)


def shifted(shift: int) -> Law:
    """The masses of each outcome about 0 and about the shift, outcomes of one likelihood ratio together."""
    end = 1 / (1 + RATIO)
    between = [
        ((1 - RATIO) / (1 + RATIO) * RATIO**z, (1 - RATIO) / (1 + RATIO) * RATIO ** (shift - z))
        for z in range(1, shift)
    ]
    law = [(end, end * RATIO**shift), *between, (end * RATIO**shift, end)] if shift else [(Fraction(1), Fraction(1))]
    assert sum(null for null, _ in law) == sum(other for _, other in law) == 1
    return law


def vector(shifts: tuple[int, ...]) -> Law:
    return [
        (prod((null for null, _ in masses), start=Fraction(1)), prod((other for _, other in masses), start=Fraction(1)))
        for masses in product(*map(shifted, shifts))
    ]


def leak(law: Law, factor: Fraction) -> Fraction:
    """The hockey-stick divergence at e^ε = factor."""
    return sum((max(Fraction(0), null - factor * other) for null, other in law), Fraction(0))


def noticed(vector_law: Law, number: Law, shift: int) -> bool:
    """Tells whether a vector leaks more than a number at one of all factors at which a curve can bend, or between."""
    bends = [RATIO**-power for power in range(-shift, shift + 1)]
    between = [(low + high) / 2 for low, high in pairwise(bends)]
    return any(leak(vector_law, factor) > leak(number, factor) for factor in bends + between)


@pytest.mark.parametrize("shifts", [(1, 1), (2, 1), (3, 2), (1, 1, 1), (2, 0, 3), (1, 1, 1, 1), (2, 2, 1)])
def test_a_vector_is_no_easier_to_notice_than_a_number_moved_as_far(shifts: tuple[int, ...]) -> None:
    whole = sum(shifts)
    assert not noticed(vector(shifts), shifted(whole), whole)
    assert noticed(vector(shifts), shifted(whole - 1), whole)
