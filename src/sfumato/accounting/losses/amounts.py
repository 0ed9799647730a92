"""The numbers of which losses are made: how amounts that may be infinite are read, added, subtracted and rounded."""

from __future__ import annotations

import math
from collections.abc import Iterable
from decimal import ROUND_FLOOR
from fractions import Fraction

from sfumato.exact import Extended, Number, decimal_of, non_negative
from sfumato.guarantee import guarantee


def amount(value: Number, name: str) -> Extended:
    """Reads a loss: a number of at least 0, or infinity."""
    if type(value) is Fraction and value.numerator >= 0:
        return value
    if isinstance(value, float) and value == math.inf:
        return math.inf
    return non_negative(value, name)


def total(amounts: Iterable[Extended]) -> Extended:
    """Adds up amounts; infinite where one of them is, however large the others are."""
    so_far: Extended | None = None
    for one in amounts:
        if type(one) is float and one == math.inf:
            return math.inf
        exact = one if type(one) is Fraction else Fraction(one)
        so_far = exact if so_far is None else so_far + exact
    return Fraction(0) if so_far is None else so_far


def multiple(count: int | Fraction, one: Extended) -> Extended:
    """Multiplies an amount, however large; none of an infinite one is 0."""
    return count * one if one != math.inf else math.inf if count else Fraction(0)


def less(limit: Extended, spent: Extended) -> Extended:
    """Subtracts from an amount; an infinite one stays infinite."""
    return math.inf if limit == math.inf else Fraction(limit) - Fraction(spent)


def six_digits_down(value: Extended) -> Extended:
    """Rounds down to six digits, so that what is printed still fits."""
    return math.inf if value == math.inf else Fraction(decimal_of(Fraction(value), 6, ROUND_FLOOR))


@guarantee(
    claim="the sum of the count largest: no count of these losses add up to more",
    proof="proofs/losses.md#widest",
    reviewed="36874bcc092f",
)
def sum_of_largest(amounts: Iterable[Extended], count: int) -> Extended:
    """Adds up the largest ``count`` of some amounts, all of them where there are fewer."""
    return total(sorted(amounts, reverse=True)[:count])
