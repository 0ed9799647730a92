"""How well the reports of a local protocol hide each other once they are shuffled: three public numbers.

In nearly all protocols for one value each value owns a set of reports. Against a law that is the same for all values,
the reports in a value's own set are likelier, all by one factor, and all others less likely, all by another. The chance
of the own set, its share of the common law, and the share that two sets have in common decide what the shuffler hides.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable
from fractions import Fraction
from functools import cached_property
from itertools import product
from typing import TypeAlias, final

from sfumato.errors import BadArgument
from sfumato.exact import Extended, Number, exp_up, integer, log_up, non_negative, probability
from sfumato.plain import record

Kinds: TypeAlias = tuple[tuple[Fraction, Fraction, Fraction], ...]
"""Kinds of reports on two values: the chance of each in what all values have in common, under the one and the other."""

MOST_KINDS = 1 << 12
"""A report that answers several questions may be of so many kinds."""


class Hides(ABC):
    """What is known of how well shuffled reports of a protocol hide each other."""

    @property
    @abstractmethod
    def atoms(self) -> Kinds:
        """Kinds of reports on the two values that are told apart most easily."""

    @property
    @abstractmethod
    def epsilon0(self) -> Extended:
        """The pure loss of one report, rounded up."""


@final
@record("Hiding")
class Hiding(Hides):
    """A local randomizer that reports from a value's own set with chance ``inside``, and else from outside of it.

    ``share`` is what the own set has of a law common to all values, of which both parts of a report are; ``overlap`` is
    the least that the own sets of two values have in common. An overlap of 0 is right where share is at most 1/2.

    >>> float(Hiding.of_response(4, "1/2").variation)
    0.3333333333333333
    """

    inside: Fraction
    share: Fraction
    overlap: Fraction

    def __init__(self, inside: Number, *, share: Number, overlap: Number = 0) -> None:
        object.__setattr__(self, "inside", probability(inside, "inside"))
        object.__setattr__(self, "share", probability(share, "share"))
        object.__setattr__(self, "overlap", probability(overlap, "overlap"))
        if not 0 < self.share < 1:
            raise BadArgument("share", "greater than 0 and less than 1", share)
        if not self.share <= self.inside < 1:
            raise BadArgument("inside", "at least the share of the own set and less than 1", inside)
        if not max(Fraction(0), 2 * self.share - 1) <= self.overlap <= self.share:
            raise BadArgument("overlap", "between 2 share - 1 and the share of the own set", overlap)

    @classmethod
    def of_response(cls, options: int, truth: Number) -> Hiding:
        """Randomized response: the true one of ``options`` with chance ``truth``, else another, all alike."""
        return cls(truth, share=Fraction(1, integer(options, "options", least=2)))

    @classmethod
    def of_bits(cls, own: Number, other: Number) -> Hiding:
        """One bit for each value, each set by itself: the own one with chance ``own``, each ``other`` with its."""
        share = probability(other, "other")
        return cls(own, share=share, overlap=share * share)

    @classmethod
    def of_hashing(cls, buckets: int, truth: Number, *, collisions: Number = 0) -> Hiding:
        """A public hash drawn for each report, and randomized response on its buckets.

        ``collisions`` is the least chance with which any two values fall into one bucket; 0 is always right.
        """
        share = Fraction(1, integer(buckets, "buckets", least=2))
        return cls(truth, share=share, overlap=share * probability(collisions, "collisions"))

    @classmethod
    def of_subsets(cls, options: int, size: int, inside: Number) -> Hiding:
        """A random set of ``size`` of the options: with chance ``inside`` one of those that hold the value."""
        many = integer(options, "options", least=2)
        some = integer(size, "size", least=1, most=many - 1)
        return cls(inside, share=Fraction(some, many), overlap=Fraction(some * (some - 1), many * (many - 1)))

    @classmethod
    def of_hadamard(cls, inside: Number) -> Hiding:
        """Rows of a Hadamard matrix but the constant one: each owns half of the columns, two share a quarter."""
        return cls(inside, share=Fraction(1, 2), overlap=Fraction(1, 4))

    @classmethod
    def of_epsilon(cls, epsilon0: Number) -> Hiding:
        """Binary randomized response at ε0, rounded up: no local randomizer that is pure at ε0 hides less.

        That holds for a report by itself and as one of several questions; for a part of `HidingAllOf` it is not proved.
        """
        grown = exp_up(non_negative(epsilon0, "epsilon0"))
        if not isinstance(grown, Fraction):
            raise BadArgument("epsilon0", "less than a million", epsilon0)
        return cls(grown / (grown + 1), share=Fraction(1, 2))

    @property
    def blanket(self) -> Fraction:
        """The chance that a report is drawn from what all values have in common."""
        return (1 - self.inside) / (1 - self.share)

    @property
    def ratio(self) -> Fraction:
        """The greatest quotient of the chances of a report under two values: the exponential of ε0."""
        return self.inside / self.share / self.blanket

    @property
    def epsilon0(self) -> Extended:
        """The pure loss of one report, rounded up."""
        return log_up(self.ratio)

    @property
    def variation(self) -> Fraction:
        """The greatest distance of the laws of reports on two values, in total variation."""
        return (self.share - self.overlap) * (self.inside / self.share - self.blanket)

    @property
    def atoms(self) -> Kinds:
        """Kinds of reports on two values: in the own set of one, of the other, of both, of none."""
        out, into = self.blanket, self.inside / self.share
        only = self.share - self.overlap
        kinds = (
            (only * out, only * into, only * out),
            (only * out, only * out, only * into),
            (self.overlap * out, self.overlap * into, self.overlap * into),
            ((1 - only - self.share) * out, (1 - only - self.share) * out, (1 - only - self.share) * out),
        )
        return tuple(kind for kind in kinds if kind[0])


@final
@record("HidingOneOf")
class HidingOneOf(Hides):
    """A report on one of several questions, drawn with chances in proportion to public whole weights, and named in it.

    >>> yes, many = Hiding.of_response(2, "3/4"), Hiding.of_response(10, "1/4")
    >>> HidingOneOf((yes, many), (1, 1)).epsilon0 == yes.epsilon0
    True
    """

    parts: tuple[Hides, ...]
    weights: tuple[int, ...]

    def __post_init__(self) -> None:
        parts = _several(self.parts)
        weights = tuple(integer(one, "a weight", least=1) for one in self.weights)
        if len(weights) != len(parts):
            raise BadArgument("weights", "one for each question", weights)
        object.__setattr__(self, "parts", parts)
        object.__setattr__(self, "weights", weights)

    @cached_property
    def atoms(self) -> Kinds:
        """The kinds of all questions, each as likely as its question is."""
        whole = sum(self.weights)
        shares = [Fraction(weight, whole) for weight in self.weights]
        listed = ((share, kind) for share, part in zip(shares, self.parts, strict=True) for kind in part.atoms)
        return _merged((share * hide, share * one, share * other) for share, (hide, one, other) in listed)

    @property
    def epsilon0(self) -> Extended:
        """The largest loss of the questions."""
        return max(part.epsilon0 for part in self.parts)


@final
@record("HidingAllOf")
class HidingAllOf(Hides):
    """A report that answers several questions at once, each by a randomizer of its own whose own sets are known.

    >>> HidingAllOf((Hiding.of_response(2, "3/4"), Hiding.of_response(2, "3/4"))).epsilon0 == 2 * log_up(Fraction(3))
    True
    """

    parts: tuple[Hides, ...]

    def __post_init__(self) -> None:
        parts = _several(self.parts)
        if not all(isinstance(part, Hiding) for part in parts):
            raise BadArgument("parts", "records of kind Hiding: other reports may hide less well together", parts)
        object.__setattr__(self, "parts", parts)
        if len(self.atoms) > MOST_KINDS:
            raise BadArgument("parts", f"of at most {MOST_KINDS} kinds of reports together", len(self.atoms))

    @cached_property
    def atoms(self) -> Kinds:
        """A kind for each row of kinds, those alike merged after every question."""
        together: Kinds = ((Fraction(1), Fraction(1), Fraction(1)),)
        for part in self.parts:
            if len(together) > MOST_KINDS:
                break
            pairs = product(together, part.atoms)
            together = _merged((a * p, b * q, c * r) for (a, b, c), (p, q, r) in pairs)
        return together

    @property
    def epsilon0(self) -> Extended:
        """The losses of all questions together."""
        return sum((part.epsilon0 for part in self.parts), Fraction(0))


def _several(parts: object) -> tuple[Hides, ...]:
    listed = tuple(parts) if isinstance(parts, list | tuple) else ()
    if not listed or not all(isinstance(part, Hides) for part in listed):
        raise BadArgument("parts", "one or more records such as Hiding.of_response(10, 0.25)", parts)
    return listed


def _merged(kinds: Iterable[tuple[Fraction, Fraction, Fraction]]) -> Kinds:
    """Kinds whose chances are in the same proportions are one kind."""
    found: dict[tuple[Fraction, Fraction], tuple[Fraction, Fraction, Fraction]] = {}
    for hide, one, other in kinds:
        before = found.get((one / hide, other / hide), (Fraction(0),) * 3)
        found[one / hide, other / hide] = (before[0] + hide, before[1] + one, before[2] + other)
    return tuple(found.values())
