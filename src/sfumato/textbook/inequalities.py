"""Young's and Hölder's inequalities in numbers: self-tests of the arithmetic on which Rényi divergences rest.

Both sides are enclosed by balls. That a gap is negative for certain would refute the arithmetic, not the theorem.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction

from flint import arb

from sfumato.accounting.losses.bracket import Bracket
from sfumato.errors import BadArgument, Several, elements
from sfumato.exact import BITS, Extended, Number, ball, endpoints, non_negative, precision, rational


def conjugate(p: Number | float) -> Extended:
    """The q with 1/p + 1/q = 1; ∞ for 1, and 1 for ∞.

    >>> conjugate(3), conjugate(1), conjugate(math.inf)
    (Fraction(3, 2), inf, Fraction(1, 1))
    """
    if p == math.inf:
        return Fraction(1)
    order = rational(p, "p")
    if order < 1:
        raise BadArgument("p", "at least 1", p)
    return math.inf if order == 1 else order / (order - 1)


def young_gap(a: Number, b: Number, *, p: Number) -> Bracket:
    """Encloses aᵖ/p + b^q/q − ab, which is at least 0 for a, b ≥ 0 and p > 1, and 0 where aᵖ = b^q.

    >>> young_gap(2, 2, p=2).upper < 1e-30, young_gap(1, 3, p=2).lower > 1
    (True, True)
    """
    left, right = non_negative(a, "a"), non_negative(b, "b")
    order, other = rational(p, "p"), conjugate(p)
    if other == math.inf:
        raise BadArgument("p", "greater than 1", p)
    with precision(BITS):
        gap = power(left, order) / ball(order) + power(right, Fraction(other)) / ball(Fraction(other))
        return Bracket(*endpoints(gap - ball(left * right)))


def holder_gap(f: Sequence[Number], g: Sequence[Number], *, p: Number | float) -> Bracket:
    """Encloses ‖f‖ₚ ‖g‖_q − ‖fg‖₁, which is at least 0 for every p in [1, ∞].

    >>> holder_gap([1, 2], [2, 4], p=2).upper < 1e-30, holder_gap([1, 0], [0, 1], p=1).lower
    (True, Fraction(1, 1))
    """
    with elements():
        left, right = ([abs(rational(value, "a value")) for value in values] for values in (f, g))
    if not left or len(left) != len(right):
        raise BadArgument("f and g", "as many values of each, and at least one", Several(len(left), len(right)))
    with precision(BITS):
        product = sum((a * b for a, b in zip(left, right, strict=True)), Fraction(0))
        return Bracket(*endpoints(_norm(left, conjugate(conjugate(p))) * _norm(right, conjugate(p)) - ball(product)))


def _norm(values: list[Fraction], order: Extended) -> arb:
    if order == math.inf:
        return ball(max(values))
    total = sum((power(value, Fraction(order)) for value in values), arb(0))
    return total ** ball(1 / Fraction(order)) if total > 0 else arb(0)


def power(value: Fraction, order: Fraction) -> arb:
    """Encloses a power of a number that is not negative; 0 is 0."""
    return ball(value) ** ball(order) if value else arb(0)
