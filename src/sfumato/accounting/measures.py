"""Privacy losses as values: each knows how to compose with its own kind, to compare, and to print itself.

A loss, a limit and a remainder are the same type. Different kinds never mix: ``Pure(1) <= ZCDP(1)`` is an error,
because the numbers mean different things; `convert` holds the theorems that relate them.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Self, TypeVar, final

from sfumato.errors import BadArgument, NoProvenRoute
from sfumato.exact import (
    Extended,
    Number,
    ball,
    digits_up,
    integer,
    non_negative,
    probability,
    text,
    upper,
)
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
    read = list(amounts)
    if any(type(one) is float and one == math.inf for one in read):
        return math.inf
    return sum(read[1:], Fraction(read[0])) if read else Fraction(0)


def multiple(count: int, one: Extended) -> Extended:
    """Gives so many times an amount, however often; none of an infinite one is 0."""
    return count * one if one != math.inf else math.inf if count else Fraction(0)


@guarantee(
    claim="the sum of the count largest: no count of these losses add up to more",
    proof="proofs/losses.md#widest",
    reviewed="36874bcc092f",
)
def sum_of_largest(amounts: Iterable[Extended], count: int) -> Extended:
    """Adds up the largest ``count`` of some amounts, all of them where there are fewer."""
    return total(sorted(amounts, reverse=True)[:count])


class Loss(ABC):
    """Is a privacy loss; closed under post-processing."""

    @abstractmethod
    def then(self, other: Self) -> Self:
        """Composes two losses on the same data, the second mechanism chosen in the light of the first one's answer."""

    @abstractmethod
    def within(self, limit: Self) -> bool:
        """Tells whether this loss is no more than the limit, of the same kind."""

    @classmethod
    @abstractmethod
    def nothing(cls) -> Self:
        """Gives the loss of something that does not depend on the data."""

    @classmethod
    @abstractmethod
    def widest(cls, losses: Sequence[Self], *, count: int = 1) -> Self:
        """Gives a loss that no composition of ``count`` of these exceeds; nothing at all where there are none.

        That is what parallel parts cost together, where one unit is in at most ``count`` of them.
        """

    @abstractmethod
    def group(self, size: int) -> Self:
        """Gives the loss for groups of up to ``size`` units that change together."""

    def times(self, count: int) -> Self:
        """Composes a loss with itself, ``count`` times in all."""
        whole = integer(count, "count", least=0)
        if whole == 0:
            return self.nothing()
        found = self
        for digit in f"{whole:b}"[1:]:
            found = found.then(found).then(self) if digit == "1" else found.then(found)
        return found

    def __le__(self, limit: Self) -> bool:
        return self.within(limit)

    def _same(self, other: object) -> None:
        if type(other) is not type(self):
            raise NoProvenRoute(
                f"{type(self).__name__} and {type(other).__name__} are different kinds of privacy loss and cannot be "
                "compared or added. Turn both into one kind first, where theorems allow it: sf.convert(loss, sf.ZCDP), "
                "or sf.convert(loss, sf.Approx, delta=1e-6)."
            )

    @classmethod
    def _read(cls, losses: Sequence[Self], count: int) -> tuple[tuple[Self, ...], int]:
        """Reads the arguments of `widest`: losses of this kind, and how many of them meet."""
        if not isinstance(losses, Iterable):
            raise BadArgument("losses", f"a list of {cls.__name__} losses", losses)
        read = tuple(losses)
        for loss in read:
            cls.nothing()._same(loss)
        return read, integer(count, "count", least=1)


@final
@dataclass(frozen=True, repr=False)
class Pure(Loss):
    """Is pure ε-differential privacy: every outcome's probability changes by a factor of at most exp(ε).

    >>> Pure(0.1).then(Pure(0.2)) == Pure(0.3)
    True
    """

    epsilon: Extended

    def __init__(self, epsilon: Number) -> None:
        object.__setattr__(self, "epsilon", amount(epsilon, "epsilon"))

    @guarantee(claim="epsilons add up", proof="proofs/losses.md#pure", reviewed="7db92accab79")
    def then(self, other: Pure) -> Pure:
        self._same(other)
        return Pure(total((self.epsilon, other.epsilon)))

    def within(self, limit: Pure) -> bool:
        self._same(limit)
        return self.epsilon <= limit.epsilon

    @classmethod
    def nothing(cls) -> Pure:
        return cls(0)

    @classmethod
    def widest(cls, losses: Sequence[Pure], *, count: int = 1) -> Pure:
        parts, meeting = cls._read(losses, count)
        return cls(sum_of_largest((loss.epsilon for loss in parts), meeting))

    @guarantee(claim="size · epsilon", proof="proofs/group_privacy.md#pure", reviewed="2c2317b05b19")
    def group(self, size: int) -> Pure:
        return Pure(multiple(integer(size, "size", least=1), self.epsilon))

    def __repr__(self) -> str:
        return f"Pure(epsilon={text(self.epsilon)})"

    def __str__(self) -> str:
        return f"ε = {digits_up(self.epsilon)}"


@final
@dataclass(frozen=True, repr=False)
class Approx(Loss):
    """Is approximate (ε, δ)-differential privacy: as `Pure`, but for events of probability up to δ.

    The δ of a group grows with exp(ε) for each further unit, so a group is weaker than as many uses of the mechanism:

    >>> Approx(0.1, 1e-6).times(3), Approx(0.1, 1e-6).group(3)
    (Approx(epsilon=0.3, delta=3e-06), Approx(epsilon=0.3, delta=3.326573676235817e-06…))
    """

    epsilon: Extended
    delta: Fraction

    def __init__(self, epsilon: Number, delta: Number) -> None:
        object.__setattr__(self, "epsilon", amount(epsilon, "epsilon"))
        object.__setattr__(self, "delta", probability(delta, "delta"))

    @guarantee(
        claim="epsilons and deltas add up, a delta beyond 1 being 1",
        proof="proofs/losses.md#approximate",
        reviewed="5165f8d57793",
    )
    def then(self, other: Approx) -> Approx:
        self._same(other)
        return Approx(total((self.epsilon, other.epsilon)), min(Fraction(1), self.delta + other.delta))

    def within(self, limit: Approx) -> bool:
        self._same(limit)
        return limit.delta == 1 or (self.epsilon <= limit.epsilon and self.delta <= limit.delta)

    @classmethod
    def nothing(cls) -> Approx:
        return cls(0, 0)

    @classmethod
    def widest(cls, losses: Sequence[Approx], *, count: int = 1) -> Approx:
        parts, meeting = cls._read(losses, count)
        delta = sum_of_largest((loss.delta for loss in parts), meeting)
        return cls(sum_of_largest((loss.epsilon for loss in parts), meeting), min(Fraction(1), Fraction(delta)))

    @guarantee(
        claim="size · epsilon, delta (exp(size epsilon) − 1) / (exp(epsilon) − 1), rounded up and at most 1",
        proof="proofs/group_privacy.md#approximate",
        reviewed="fcec145ebd94",
    )
    def group(self, size: int) -> Approx:
        members, one = integer(size, "size", least=1), self.epsilon
        if members == 1 or self.delta == 0:
            return Approx(multiple(members, one), self.delta)
        if one == math.inf:
            return Approx(math.inf, 1)
        exact = Fraction(one)
        stretch = members if exact == 0 else upper(lambda: ball(members * exact).expm1() / ball(exact).expm1())
        return Approx(members * exact, 1 if stretch == math.inf else min(Fraction(1), self.delta * Fraction(stretch)))

    def __repr__(self) -> str:
        return f"Approx(epsilon={text(self.epsilon)}, delta={text(self.delta)})"

    def __str__(self) -> str:
        return f"ε = {digits_up(self.epsilon)}, δ = {digits_up(self.delta)}"


@final
@dataclass(frozen=True, repr=False)
class ZCDP(Loss):
    """Is ρ-zero-concentrated differential privacy: the Rényi divergence of order α is at most αρ, for every α > 1."""

    rho: Extended

    def __init__(self, rho: Number) -> None:
        object.__setattr__(self, "rho", amount(rho, "rho"))

    @guarantee(claim="rhos add up", proof="proofs/losses.md#zcdp", reviewed="a64aa4461405")
    def then(self, other: ZCDP) -> ZCDP:
        self._same(other)
        return ZCDP(total((self.rho, other.rho)))

    def within(self, limit: ZCDP) -> bool:
        self._same(limit)
        return self.rho <= limit.rho

    @classmethod
    def nothing(cls) -> ZCDP:
        return cls(0)

    @classmethod
    def widest(cls, losses: Sequence[ZCDP], *, count: int = 1) -> ZCDP:
        parts, meeting = cls._read(losses, count)
        return cls(sum_of_largest((loss.rho for loss in parts), meeting))

    @guarantee(claim="size² · rho", proof="proofs/group_privacy.md#zcdp", reviewed="5cc074b2b18f")
    def group(self, size: int) -> ZCDP:
        return ZCDP(multiple(integer(size, "size", least=1) ** 2, self.rho))

    def __repr__(self) -> str:
        return f"ZCDP(rho={text(self.rho)})"

    def __str__(self) -> str:
        return f"ρ = {digits_up(self.rho)} (zCDP)"


@final
@dataclass(frozen=True, repr=False)
class BoundedRange(Loss):
    """Is η-bounded range: the privacy loss of all outcomes lies in one interval of length η; implies `Pure(η)`."""

    eta: Extended

    def __init__(self, eta: Number) -> None:
        object.__setattr__(self, "eta", amount(eta, "eta"))

    @guarantee(
        claim="eta, where the second has none; else refused", proof="proofs/losses.md#range", reviewed="a34f4a79af8f"
    )
    def then(self, other: BoundedRange) -> BoundedRange:
        self._same(other)
        if other.eta == 0:
            return self
        raise NoProvenRoute(
            "bounded ranges do not add up when the second mechanism is chosen after seeing the first "
            "(proofs/top_k.md): state the losses as Pure or ZCDP, which do."
        )

    def within(self, limit: BoundedRange) -> bool:
        self._same(limit)
        return self.eta <= limit.eta

    @classmethod
    def nothing(cls) -> BoundedRange:
        return cls(0)

    @classmethod
    @guarantee(
        claim="the largest eta, where at most one part with a loss meets",
        proof="proofs/losses.md#range",
        reviewed="1230e1e93a37",
    )
    def widest(cls, losses: Sequence[BoundedRange], *, count: int = 1) -> BoundedRange:
        parts, meeting = cls._read(losses, count)
        telling = [loss for loss in parts if loss.eta > 0]
        if meeting > 1 and len(telling) > 1:
            return telling[0].then(telling[1])  # which refuses, and says why
        return max(telling, key=lambda loss: loss.eta, default=cls(0))

    @guarantee(claim="size · eta", proof="proofs/group_privacy.md#range", reviewed="1f208f277d3e")
    def group(self, size: int) -> BoundedRange:
        return BoundedRange(multiple(integer(size, "size", least=1), self.eta))

    def __repr__(self) -> str:
        return f"BoundedRange(eta={text(self.eta)})"

    def __str__(self) -> str:
        return f"η = {digits_up(self.eta)} (bounded range)"


def check_kind(measure: type[Loss], allowed: tuple[type[Loss], ...], what: str) -> None:
    """Refuses a kind of loss for which the mechanism has no theorem."""
    if measure not in allowed:
        names = " or ".join(kind.__name__ for kind in allowed)
        got = measure.__name__ if isinstance(measure, type) else measure
        raise BadArgument(f"the measure of {what}", names, got)


L = TypeVar("L", bound=Loss)


def lesser(one: L, other: L) -> L:
    """Gives the lesser of two losses that both hold; the first where they cannot be compared."""
    try:
        return other if other.within(one) else one
    except NoProvenRoute:
        return one
