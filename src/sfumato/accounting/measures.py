"""Privacy losses as values: each knows how to compose with its own kind, to compare, and to print itself.

A loss, a limit and a remainder are the same type. Different kinds never mix: ``Pure(1) <= ZCDP(1)`` is an error,
because the numbers mean different things; `convert` holds the theorems that relate them.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from fractions import Fraction
from typing import Self, final

from sfumato.errors import BadArgument, NoProvenRoute
from sfumato.exact import Extended, Number, digits_up, non_negative, probability, text_up


def _amount(value: Number, name: str) -> Extended:
    if isinstance(value, float) and value == math.inf:
        return math.inf
    return non_negative(value, name)


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

    def __le__(self, limit: Self) -> bool:
        return self.within(limit)

    def _same(self, other: object) -> None:
        if type(other) is not type(self):
            raise NoProvenRoute(
                f"{type(self).__name__} and {type(other).__name__} are different kinds of privacy loss and cannot be "
                "compared or added. For Gaussian noise in terms of (ε, δ) see sf.gaussian_mechanism and "
                "sf.discrete_gaussian_epsilon."
            )


@final
@dataclass(frozen=True, repr=False)
class Pure(Loss):
    """Is pure ε-differential privacy: every outcome's probability changes by a factor of at most exp(ε).

    >>> Pure(0.1).then(Pure(0.2)) == Pure(0.3)
    True
    """

    epsilon: Extended

    def __init__(self, epsilon: Number) -> None:
        object.__setattr__(self, "epsilon", _amount(epsilon, "epsilon"))

    def then(self, other: Pure) -> Pure:
        self._same(other)
        return Pure(self.epsilon + other.epsilon)

    def within(self, limit: Pure) -> bool:
        self._same(limit)
        return self.epsilon <= limit.epsilon

    @classmethod
    def nothing(cls) -> Pure:
        return cls(0)

    def __repr__(self) -> str:
        return f"Pure(epsilon={text_up(self.epsilon)})"

    def __str__(self) -> str:
        return f"ε = {digits_up(self.epsilon)}"


@final
@dataclass(frozen=True, repr=False)
class Approx(Loss):
    """Is approximate (ε, δ)-differential privacy: as `Pure`, but for events of probability up to δ."""

    epsilon: Extended
    delta: Fraction

    def __init__(self, epsilon: Number, delta: Number) -> None:
        object.__setattr__(self, "epsilon", _amount(epsilon, "epsilon"))
        object.__setattr__(self, "delta", probability(delta, "delta"))

    def then(self, other: Approx) -> Approx:
        self._same(other)
        return Approx(self.epsilon + other.epsilon, min(Fraction(1), self.delta + other.delta))

    def within(self, limit: Approx) -> bool:
        self._same(limit)
        return limit.delta == 1 or (self.epsilon <= limit.epsilon and self.delta <= limit.delta)

    @classmethod
    def nothing(cls) -> Approx:
        return cls(0, 0)

    def __repr__(self) -> str:
        return f"Approx(epsilon={text_up(self.epsilon)}, delta={text_up(self.delta)})"

    def __str__(self) -> str:
        return f"ε = {digits_up(self.epsilon)}, δ = {digits_up(self.delta)}"


@final
@dataclass(frozen=True, repr=False)
class ZCDP(Loss):
    """Is ρ-zero-concentrated differential privacy: the Rényi divergence of order α is at most αρ, for every α > 1."""

    rho: Extended

    def __init__(self, rho: Number) -> None:
        object.__setattr__(self, "rho", _amount(rho, "rho"))

    def then(self, other: ZCDP) -> ZCDP:
        self._same(other)
        return ZCDP(self.rho + other.rho)

    def within(self, limit: ZCDP) -> bool:
        self._same(limit)
        return self.rho <= limit.rho

    @classmethod
    def nothing(cls) -> ZCDP:
        return cls(0)

    def __repr__(self) -> str:
        return f"ZCDP(rho={text_up(self.rho)})"

    def __str__(self) -> str:
        return f"ρ = {digits_up(self.rho)} (zCDP)"


@final
@dataclass(frozen=True, repr=False)
class BoundedRange(Loss):
    """Is η-bounded range: the privacy loss of all outcomes lies in one interval of length η; implies `Pure(η)`."""

    eta: Extended

    def __init__(self, eta: Number) -> None:
        object.__setattr__(self, "eta", _amount(eta, "eta"))

    def then(self, other: BoundedRange) -> BoundedRange:
        self._same(other)
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

    def __repr__(self) -> str:
        return f"BoundedRange(eta={text_up(self.eta)})"

    def __str__(self) -> str:
        return f"η = {digits_up(self.eta)} (bounded range)"


def check_kind(measure: type[Loss], allowed: tuple[type[Loss], ...], what: str) -> None:
    """Refuses a kind of loss for which the mechanism has no theorem."""
    if measure not in allowed:
        names = " or ".join(kind.__name__ for kind in allowed)
        got = measure.__name__ if isinstance(measure, type) else measure
        raise BadArgument(f"the measure of {what}", names, got)
