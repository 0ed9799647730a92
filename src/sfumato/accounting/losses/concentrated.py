"""Losses that concentrate: approximate zCDP, and Gaussian differential privacy."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from functools import reduce
from heapq import nlargest
from typing import final

from sfumato.accounting.losses.amounts import amount, less, multiple, six_digits_down, sum_of_largest, total
from sfumato.accounting.losses.measures import ZCDP, Additive, Approx, Loss, Pure
from sfumato.errors import NoProvenRoute
from sfumato.exact import (
    Distance,
    Extended,
    Number,
    Root,
    as_distance,
    digits_up,
    down,
    integer,
    probability,
    root,
    squared,
)
from sfumato.guarantee import guarantee
from sfumato.plain import record

LONGEST = 1 << 12
"""A probability whose denominator has more bits than this is rounded up to `SHORT` of them."""

SHORT = 256


@final
@record("ApproxZCDP", repr=False)
class ApproxZCDP(Additive):
    """δ-approximate ρ-zCDP: `ZCDP` between what is left of both distributions when at most δ of each is set aside.

    >>> ApproxZCDP(0.5, 0.1).then(ApproxZCDP(0.5, 0.1))
    ApproxZCDP(rho=1.0, delta=0.19)
    """

    rho: Extended
    delta: Fraction

    def __init__(self, rho: Number, delta: Number) -> None:
        object.__setattr__(self, "rho", amount(rho, "rho"))
        object.__setattr__(self, "delta", probability(delta, "delta"))

    @classmethod
    def of_amounts(cls, *amounts: Extended) -> ApproxZCDP:
        rho, delta = amounts
        return cls(rho, min(delta, 1))

    @guarantee(
        claim="rhos add up, delta = 1 − (1 − delta₁)(1 − delta₂)",
        proof="proofs/losses.md#approximate-zcdp",
        reviewed="d395cc350c52",
    )
    def then(self, other: ApproxZCDP) -> ApproxZCDP:
        self._same(other)
        return ApproxZCDP(total((self.rho, other.rho)), _shortened(1 - (1 - self.delta) * (1 - other.delta)))

    def within(self, limit: ApproxZCDP) -> bool:
        self._same(limit)
        return limit.delta == 1 or super().within(limit)

    @guarantee(
        claim="rho − rho_spent, and the delta with (1 − delta_spent)(1 − delta_left) = 1 − delta; all where delta is 1",
        proof="proofs/privacy_filters.md#left",
        reviewed="e40b27f31dc8",
    )
    def minus(self, spent: ApproxZCDP) -> ApproxZCDP:
        self._same(spent)
        if self.delta == 1:
            return self
        return ApproxZCDP(less(self.rho, spent.rho), (self.delta - spent.delta) / (1 - spent.delta))

    @classmethod
    def nothing(cls) -> ApproxZCDP:
        return cls(0, 0)

    @classmethod
    def widest(cls, losses: Sequence[ApproxZCDP], *, count: int = 1) -> ApproxZCDP:
        parts, meeting = cls._read(losses, count)
        most = reduce(cls.then, (cls(0, part) for part in nlargest(meeting, (loss.delta for loss in parts))), cls(0, 0))
        return cls(sum_of_largest((loss.rho for loss in parts), meeting), most.delta)

    @guarantee(
        claim="size² · rho where nothing is set aside; else refused",
        proof="proofs/group_privacy.md#zcdp",
        reviewed="95075aee720b",
    )
    def group(self, size: int) -> ApproxZCDP:
        if integer(size, "size", least=1) == 1 or self.delta == 0:
            return ApproxZCDP(multiple(size**2, self.rho), self.delta)
        raise NoProvenRoute(
            "there is no theorem on file for groups under approximate zCDP: what is set aside for one pair of "
            "neighbours need not be what is set aside for the next. Turn it into (ε, δ) first, "
            "sf.convert(loss, sf.Approx, delta=…), and take the group of that."
        )

    def __str__(self) -> str:
        return f"ρ = {digits_up(self.rho)} (zCDP), δ = {digits_up(self.delta)}"


def _shortened(delta: Fraction) -> Fraction:
    """A probability itself, or where it takes too many digits to write one just above it."""
    if delta.denominator.bit_length() <= LONGEST:
        return delta
    bits = SHORT + delta.denominator.bit_length() - delta.numerator.bit_length()
    return Fraction(-((-delta.numerator << bits) // delta.denominator), 1 << bits)


@final
@record("GDP", repr=False)
class GDP(Additive):
    """μ-Gaussian differential privacy: neighbours are as hard to tell apart as N(0, 1) and N(μ, 1), or harder.

    >>> GDP(3).then(GDP(4)) == GDP(5)
    True
    """

    mu: Distance

    def __init__(self, mu: Number | Root) -> None:
        object.__setattr__(self, "mu", as_distance(mu, "mu"))

    @property
    def square(self) -> Extended:
        """μ², which is what adds up."""
        return squared(self.mu)

    @classmethod
    def of_square(cls, square: Extended) -> GDP:
        """Makes the loss whose μ² is given, exactly."""
        return cls(math.inf if square == math.inf else root(Fraction(square)))

    @property
    def amounts(self) -> tuple[Extended]:
        return (self.square,)

    @classmethod
    def of_amounts(cls, *amounts: Extended) -> GDP:
        return cls.of_square(*amounts)

    @guarantee(claim="squares of mu add up", proof="proofs/losses.md#gaussian", reviewed="5fddaee0ae5b")
    def then(self, other: GDP) -> GDP:
        self._same(other)
        return GDP.of_square(total((self.square, other.square)))

    @classmethod
    def nothing(cls) -> GDP:
        return cls(0)

    @guarantee(claim="size · mu", proof="proofs/group_privacy.md#gaussian", reviewed="f67f60d8462e")
    def group(self, size: int) -> GDP:
        return GDP.of_square(multiple(integer(size, "size", least=1) ** 2, self.square))

    def str_down(self) -> str:
        return str(GDP(six_digits_down(down(self.mu))))

    def __str__(self) -> str:
        return f"μ = {digits_up(self.mu)} (Gaussian)"


COMMON_KINDS: tuple[type[Loss], ...] = (Pure, Approx, ZCDP, GDP)
"""The kinds in which losses are shown to people, beside their own."""
