"""Laws: the exact distribution of what a measurement returns, for auditing. Never used to make a release."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import product
from math import prod
from typing import final

from flint import arb

from sfumato.core.domains import Data
from sfumato.core.looks import looks
from sfumato.errors import BadArgument
from sfumato.exact import BITS, ball, precision
from sfumato.noise.distribution import Noise


class Law(ABC):
    """A discrete distribution over outcomes; probabilities are balls at the working precision."""

    @abstractmethod
    def probability(self, outcome: Data) -> arb:
        """Encloses the probability of one outcome."""

    @abstractmethod
    def outcomes(self, missed: Fraction) -> Iterable[Data]:
        """Lists outcomes that carry all but a given mass."""


@final
class Masses(Mapping[Data, arb]):
    """A number for each outcome, of any kind: those that look alike are one, and only those (core/looks.py)."""

    def __init__(self, pairs: Iterable[tuple[Data, arb]] = ()) -> None:
        self._known: dict[Hashable, tuple[Data, arb]] = {}
        with precision(BITS):
            for outcome, mass in pairs:
                before = self._known.get(key := looks(outcome))
                self._known[key] = (outcome, mass) if before is None else (before[0], before[1] + mass)

    def __getitem__(self, outcome: Data) -> arb:
        return self._known[looks(outcome)][1]

    def __iter__(self) -> Iterator[Data]:
        return (outcome for outcome, _ in self._known.values())

    def __len__(self) -> int:
        return len(self._known)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Masses) and self._known.keys() == other._known.keys() and self._equal(other)

    def _equal(self, other: Masses) -> bool:
        return all(mass == other._known[key][1] for key, (_, mass) in self._known.items())

    __hash__ = None  # type: ignore[assignment]  # as of other mappings

    def __repr__(self) -> str:
        return f"Masses({list(self._known.values())})"


@final
@dataclass(frozen=True)
class FiniteLaw(Law):
    """A distribution over finitely many outcomes."""

    probabilities: Mapping[Data, arb]

    def __post_init__(self) -> None:
        if not isinstance(self.probabilities, Masses):
            object.__setattr__(self, "probabilities", Masses(self.probabilities.items()))

    def probability(self, outcome: Data) -> arb:
        return self.probabilities.get(outcome, ball(0))

    def outcomes(self, missed: Fraction) -> Iterable[Data]:
        return self.probabilities.keys()

    def through(self, function: Callable[[Data], Data]) -> FiniteLaw:
        """The distribution of a function of the outcome."""
        return FiniteLaw(Masses((function(outcome), mass) for outcome, mass in self.probabilities.items()))


def distinct(outcomes: Iterable[Data]) -> Iterable[Data]:
    """Each of some outcomes once, in their order: the first of those that look alike."""
    first: dict[Hashable, Data] = {}
    for outcome in outcomes:
        first.setdefault(looks(outcome), outcome)
    return first.values()


@final
@dataclass(frozen=True)
class ShiftedLaw(Law):
    """The distribution of a whole number plus noise."""

    noise: Noise
    centre: int

    def probability(self, outcome: Data) -> arb:
        return self.noise.pmf(int(outcome) - self.centre)

    def outcomes(self, missed: Fraction) -> Iterable[Data]:
        low = self.centre + self.noise.quantile(missed / 2)
        high = self.centre + self.noise.quantile(1 - missed / 2)
        return range(low, high + 1)


@final
@dataclass(frozen=True)
class ProductLaw(Law):
    """The joint distribution of independent outcomes, as tuples."""

    parts: tuple[Law, ...]

    def probability(self, outcome: Data) -> arb:
        with precision(BITS):
            return prod((part.probability(each) for part, each in zip(self.parts, outcome, strict=True)), start=ball(1))

    def outcomes(self, missed: Fraction) -> Iterable[Data]:
        share = missed / max(1, len(self.parts))
        return product(*(part.outcomes(share) for part in self.parts))


@final
@dataclass(frozen=True)
class MixtureLaw(Law):
    """One of several distributions, drawn with weights that add up to 1."""

    parts: tuple[tuple[Fraction, Law], ...]

    def probability(self, outcome: Data) -> arb:
        with precision(BITS):
            return sum((ball(weight) * part.probability(outcome) for weight, part in self.parts), start=ball(0))

    def outcomes(self, missed: Fraction) -> Iterable[Data]:
        return distinct(outcome for _, part in self.parts for outcome in part.outcomes(missed))


@final
@dataclass(frozen=True)
class Remembered(Law):
    """A law that works out each probability once."""

    law: Law
    known: dict[Hashable, arb] = field(default_factory=dict)

    def probability(self, outcome: Data) -> arb:
        if (key := looks(outcome)) not in self.known:
            self.known[key] = self.law.probability(outcome)
        return self.known[key]

    def outcomes(self, missed: Fraction) -> Iterable[Data]:
        return self.law.outcomes(missed)


def finite_law(law: Law) -> FiniteLaw:
    """Writes out a law of finitely many outcomes; refuses one without end."""
    if isinstance(law, FiniteLaw):
        return law
    if endless(law) or not all(isinstance(leaf, FiniteLaw | ShiftedLaw) for leaf in leaves(law)):
        raise BadArgument("the law of one outcome", "over finitely many outcomes, to be listed", "more")
    return FiniteLaw({outcome: law.probability(outcome) for outcome in law.outcomes(Fraction(0))})


def endless(law: Law) -> bool:
    """Tells whether some part of a law is noise without end."""
    return any(isinstance(leaf, ShiftedLaw) and None in leaf.noise.support for leaf in leaves(law))


def leaves(law: Law) -> Iterator[Law]:
    """The laws that a law is put together from."""
    match law:
        case ProductLaw(parts=parts):
            for part in parts:
                yield from leaves(part)
        case MixtureLaw(parts=weighed):
            for _, part in weighed:
                yield from leaves(part)
        case _:
            yield law
