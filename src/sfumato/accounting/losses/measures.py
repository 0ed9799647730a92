"""Privacy losses as values: each knows how to compose with its own kind, to compare, and to print itself.

A loss, a limit and a remainder are the same type. Different kinds never mix: ``Pure(1) <= ZCDP(1)`` is an error,
because the numbers mean different things; `convert` holds the theorems that relate them.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Sequence
from fractions import Fraction
from html import escape
from operator import le
from typing import Self, TypeVar, final

from sfumato.accounting.losses.amounts import amount, less, multiple, six_digits_down, sum_of_largest, total
from sfumato.errors import BadArgument, NoProvenRoute
from sfumato.exact import Extended, Number, ball, digits_up, integer, probability, rational_up, text, upper
from sfumato.guarantee import guarantee
from sfumato.plain import record


class Loss(ABC):
    """A privacy loss; closed under post-processing."""

    @abstractmethod
    def then(self, other: Self) -> Self:
        """Composes two losses on the same data, the second mechanism chosen in the light of the first one's answer."""

    @abstractmethod
    def within(self, limit: Self) -> bool:
        """Tells whether this loss is no more than the limit, of the same kind."""

    @classmethod
    @abstractmethod
    def nothing(cls) -> Self:
        """The loss of something that does not depend on the data."""

    @classmethod
    @abstractmethod
    def widest(cls, losses: Sequence[Self], *, count: int = 1) -> Self:
        """A loss that no composition of ``count`` of these exceeds; nothing at all where there are none.

        That is what parallel parts cost together, where one unit is in at most ``count`` of them.
        """

    @abstractmethod
    def group(self, size: int) -> Self:
        """The loss for groups of up to ``size`` units that change together."""

    def _repr_html_(self) -> str:
        """What notebooks show: the loss as it is written, and as it is read."""
        return f"<code>{escape(repr(self))}</code> {escape(str(self))}"

    def times(self, count: int) -> Self:
        """Composes a loss with itself, ``count`` times in all."""
        whole = integer(count, "count", least=0)
        if whole == 0:
            return self.nothing()
        composed = self
        for digit in f"{whole:b}"[1:]:
            composed = composed.then(composed).then(self) if digit == "1" else composed.then(composed)
        return composed

    def minus(self, spent: Self) -> Self:
        """What is left of this limit: the loss which, composed with what was spent, gives the limit."""
        raise NoProvenRoute(f"there is no rule for what is left of {type(self).__name__}.")

    def meet(self, other: Self) -> Self:
        """Finds the largest loss that is within both."""
        for one, limit in ((self, other), (other, self)):
            if one.within(limit):
                return one
        raise NoProvenRoute(f"there is no rule for what is within two {type(self).__name__} losses at once.")

    def scaled(self, share: Fraction) -> Self:
        """Takes a share: parts with shares that make up 1 compose to this loss, or to a little less."""
        raise NoProvenRoute(NOT_SUMMED)

    def rounded(self, rounding: Callable[[Extended], Extended]) -> Self:
        """Rounds each number of which the loss is made: up, for something that is charged, down for what is left.

        A loss that is made of more than numbers stays as it is; so does one that is short already.
        """
        return self

    def str_down(self) -> str:
        """Prints the loss with its digits rounded down, so that what is printed as left still fits.

        >>> Pure("1/3").str_down(), str(Pure("1/3"))
        ('ε = 0.333333', 'ε = 0.333334')
        """
        return str(self.rounded(six_digits_down))

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


NOT_SUMMED = (
    "this kind of loss has no shares that add up to it again. State the limit as Pure, Approx, ZCDP, ApproxZCDP or "
    "GDP, or as Renyi at chosen orders, such as sf.Renyi({2: 0.5, 8: 1.0}); sf.convert says what it comes to."
)


class Additive(Loss):
    """A loss of one or a few numbers, its amounts, each of which adds up when mechanisms are composed."""

    @property
    def amounts(self) -> tuple[Extended, ...]:
        """What adds up: ε, or ε and δ, ρ, μ²; the one that buys accuracy first. Its fields, if it does not say more."""
        return tuple(vars(self).values())

    @classmethod
    def of_amounts(cls, *amounts: Extended) -> Self:
        """Makes the loss of these amounts; a δ beyond 1 becomes 1."""
        return cls(*amounts)

    def within(self, limit: Self) -> bool:
        self._same(limit)
        return all(map(le, self.amounts, limit.amounts))

    @classmethod
    def widest(cls, losses: Sequence[Self], *, count: int = 1) -> Self:
        parts, meeting = cls._read(losses, count)
        columns = zip(*(loss.amounts for loss in parts), strict=True)
        return cls.of_amounts(*(sum_of_largest(column, meeting) for column in columns)) if parts else cls.nothing()

    @guarantee(
        claim="what was spent, composed with the remainder, is the limit",
        proof="proofs/privacy_filters.md#left",
        reviewed="a1dc79e01466",
    )
    def minus(self, spent: Self) -> Self:
        self._same(spent)
        return self.of_amounts(*map(less, self.amounts, spent.amounts))

    def meet(self, other: Self) -> Self:
        if self.within(other) or other.within(self):
            return super().meet(other)
        return self.of_amounts(*map(min, self.amounts, other.amounts))

    @guarantee(
        claim="parts with shares s ≥ 0 of one limit, the s adding up to at most 1, compose to at most the limit",
        proof="proofs/shares.md#parts",
        reviewed="eb511439e826",
    )
    def scaled(self, share: Fraction) -> Self:
        return self.of_amounts(*(multiple(share, one) for one in self.amounts))

    def rounded(self, rounding: Callable[[Extended], Extended]) -> Self:
        exact = self.amounts
        amounts = tuple(map(rounding, exact))
        return self if amounts == exact else self.of_amounts(*amounts)

    def __repr__(self) -> str:
        numbers = (f"{name}={text(rational_up(value))}" for name, value in vars(self).items())
        return f"{type(self).__name__}({', '.join(numbers)})"


@final
@record("Pure", repr=False)
class Pure(Additive):
    """Pure ε-differential privacy: every outcome's probability changes by a factor of at most exp(ε).

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

    @classmethod
    def nothing(cls) -> Pure:
        return cls(0)

    @guarantee(claim="size · epsilon", proof="proofs/group_privacy.md#pure", reviewed="2c2317b05b19")
    def group(self, size: int) -> Pure:
        return Pure(multiple(integer(size, "size", least=1), self.epsilon))

    def __str__(self) -> str:
        return f"ε = {digits_up(self.epsilon)}"


@final
@record("Approx", repr=False)
class Approx(Additive):
    """Approximate (ε, δ)-differential privacy: as `Pure`, but for events of probability up to δ.

    The δ of a group grows with exp(ε) for each further unit, so a group is weaker than as many uses of the mechanism:

    >>> Approx(0.1, 1e-6).times(3), Approx(0.1, 1e-6).group(3)
    (Approx(epsilon=0.3, delta=3e-06), Approx(epsilon=0.3, delta=3.326573676235817e-06…))
    """

    epsilon: Extended
    delta: Fraction

    def __init__(self, epsilon: Number, delta: Number) -> None:
        object.__setattr__(self, "epsilon", amount(epsilon, "epsilon"))
        object.__setattr__(self, "delta", probability(delta, "delta"))

    @classmethod
    def of_amounts(cls, *amounts: Extended) -> Approx:
        epsilon, delta = amounts
        return cls(epsilon, min(delta, 1))

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
        return limit.delta == 1 or super().within(limit)

    @guarantee(
        claim="as for any amounts that add up; a limit that promises nothing leaves itself",
        proof="proofs/privacy_filters.md#left",
        reviewed="fb402d939965",
    )
    def minus(self, spent: Approx) -> Approx:
        return self if self.delta == 1 else super().minus(spent)

    @classmethod
    def nothing(cls) -> Approx:
        return cls(0, 0)

    @guarantee(
        claim="size · epsilon, delta (exp(size epsilon) − 1) / (exp(epsilon) − 1), rounded up and at most 1",
        proof="proofs/group_privacy.md#approximate",
        reviewed="eb730a471f5d",
    )
    def group(self, size: int) -> Approx:
        members, one = integer(size, "size", least=1), self.epsilon
        if members == 1 or self.delta == 0:
            return Approx(multiple(members, one), self.delta)
        if one == math.inf:
            return Approx(math.inf, 1)
        exact = Fraction(one)
        factor = members if exact == 0 else upper(lambda: ball(members * exact).expm1() / ball(exact).expm1())
        return Approx(members * exact, 1 if factor == math.inf else min(Fraction(1), self.delta * Fraction(factor)))

    def __str__(self) -> str:
        return f"ε = {digits_up(self.epsilon)}, δ = {digits_up(self.delta)}"


@final
@record("ZCDP", repr=False)
class ZCDP(Additive):
    """ρ-zero-concentrated differential privacy: the Rényi divergence of order α is at most αρ, for every α > 1."""

    rho: Extended

    def __init__(self, rho: Number) -> None:
        object.__setattr__(self, "rho", amount(rho, "rho"))

    @guarantee(claim="rhos add up", proof="proofs/losses.md#zcdp", reviewed="a64aa4461405")
    def then(self, other: ZCDP) -> ZCDP:
        self._same(other)
        return ZCDP(total((self.rho, other.rho)))

    @classmethod
    def nothing(cls) -> ZCDP:
        return cls(0)

    @guarantee(claim="size² · rho", proof="proofs/group_privacy.md#zcdp", reviewed="5cc074b2b18f")
    def group(self, size: int) -> ZCDP:
        return ZCDP(multiple(integer(size, "size", least=1) ** 2, self.rho))

    def __str__(self) -> str:
        return f"ρ = {digits_up(self.rho)} (zCDP)"


@final
@record("BoundedRange", repr=False)
class BoundedRange(Loss):
    """η-bounded range: the privacy loss of all outcomes lies in one interval of length η; implies `Pure(η)`."""

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
    """The lesser of two losses that both hold; the first where they cannot be compared."""
    try:
        return other if other.within(one) else one
    except NoProvenRoute:
        return one
