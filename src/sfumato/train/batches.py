"""Batches: who takes part in each step, drawn in secret; a sampler and the event that it is accounted as are one.

Those here are drawn anew for every step; `epochs` has those that go through all units before they begin again.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TypeAlias, final

import numpy as np
from numpy.typing import NDArray

from sfumato.accounting.events import Event, Poisson, Repeat, Sampled, TruncatedPoisson, WithoutReplacement
from sfumato.accounting.relation import Relation
from sfumato.entropy import Entropy
from sfumato.errors import BadArgument, Several
from sfumato.exact import integer, probability
from sfumato.guarantee import guarantee
from sfumato.noise.bernoulli import Bernoulli
from sfumato.noise.uniform import choose, permutation
from sfumato.train.memory import Memory

Places: TypeAlias = NDArray[np.int64]
"""The units of a batch, by their places."""


class Batches(ABC):
    """A way to draw the units of each step, and what it makes of the noise of one step."""

    steps: int

    @property
    @abstractmethod
    def expected(self) -> Fraction:
        """How many units a batch has on average: sums are divided by it, never by how many there are."""

    @property
    @abstractmethod
    def relation(self) -> Relation:
        """Which data sets count as neighbours."""

    def under(self, relation: Relation) -> Batches:
        """The same batches, with an event for these neighbours."""
        return self

    @abstractmethod
    def event(self, noise: Event) -> Event:
        """What all steps are, where each adds this noise to what its batch adds up to."""

    @abstractmethod
    def start(self, units: int, entropy: Entropy) -> Sampler:
        """The batches of one run out of so many units, step by step."""

    @property
    def anew(self) -> bool:
        """Tells whether each batch is drawn by itself, so that a run may end, or change, after any step."""
        return True

    def resized(self, batch: int) -> Batches:
        """The same with another number of units in a batch, on average."""
        raise BadArgument("batch", "changed where each is drawn by itself", type(self).__name__)

    def first(self, steps: int) -> Batches:
        """The same for the first steps alone, or for so many of them as have a price of their own."""
        return replace(self, steps=steps)  # type: ignore[type-var]


class PoissonRate(Batches):
    """Batches in which each unit is drawn with a probability ``rate``."""

    rate: Fraction
    size: int

    @property
    def expected(self) -> Fraction:
        return self.rate * self.size

    @property
    def relation(self) -> Relation:
        return Relation.ADD_REMOVE

    def resized(self, batch: int) -> Batches:
        return replace(self, rate=rate_of(batch, self.size))  # type: ignore[type-var]


class Sampler(Memory, ABC):
    """The batches of one run: what has to be remembered from step to step, it keeps and can save."""

    @abstractmethod
    def draw(self, step: int) -> Places:
        """Draws the batch of a step, counted from 0."""


@final
class _Anew(Sampler):
    """Batches that are drawn anew for every step, so that there is nothing to remember."""

    def __init__(self, draw: Callable[[], Places]) -> None:
        self._draw = draw

    def draw(self, step: int) -> Places:
        return self._draw()


@final
@dataclass(frozen=True)
class PoissonBatches(PoissonRate):
    """Each unit is in each batch with probability ``rate``, independently; an empty batch counts too.

    ``size`` is a public number of units, near the true one: sums are divided by rate · size.
    """

    rate: Fraction
    steps: int
    size: int

    def __post_init__(self) -> None:
        object.__setattr__(self, "rate", probability(self.rate, "rate"))
        object.__setattr__(self, "steps", integer(self.steps, "steps", least=1))
        object.__setattr__(self, "size", integer(self.size, "size", least=1))
        if self.rate == 0:
            raise BadArgument("rate", "greater than 0: what is never drawn teaches nothing", self.rate)

    def event(self, noise: Event) -> Event:
        return Repeat(Sampled(noise, Poisson(self.rate)), self.steps)

    def start(self, units: int, entropy: Entropy) -> Sampler:
        return _Anew(lambda: self.draw(units, entropy))

    @guarantee(
        claim="each unit is drawn with probability rate, independently of all others and of all other steps",
        proof="proofs/training.md#poisson",
        reviewed="1b176c23c96c",
    )
    def draw(self, units: int, entropy: Entropy) -> Places:
        """Draws a batch out of so many units."""
        return np.flatnonzero(Bernoulli(self.rate).samples(units, entropy))


@final
@dataclass(frozen=True)
class TruncatedPoissonBatches(PoissonRate):
    """`PoissonBatches` of which none is larger than ``most``: of a larger one so many are kept, uniformly at random.

    How many units there are is public, and must be ``size``: how often batches are cut follows from it. A unit that is
    added may push another one out, so this costs a little more; ``most`` well above rate · size hardly ever cuts.
    """

    rate: Fraction
    steps: int
    size: int
    most: int

    def __post_init__(self) -> None:
        drawn = PoissonBatches(self.rate, self.steps, self.size)
        for name in ("rate", "steps", "size"):
            object.__setattr__(self, name, getattr(drawn, name))
        read_counts(self, "most")

    def event(self, noise: Event) -> Event:
        drawn = TruncatedPoisson(self.rate, most=self.most, population=self.size)
        return Repeat(Sampled(noise, drawn), self.steps)

    def start(self, units: int, entropy: Entropy) -> Sampler:
        check_units(units, self.size)
        return _Anew(lambda: self.draw(units, entropy))

    @guarantee(
        claim="each unit with probability rate, independently; of more than `most`, each set of so many equally likely",
        proof="proofs/training.md#truncated",
        reviewed="d05716d85fe7",
    )
    def draw(self, units: int, entropy: Entropy) -> Places:
        """Draws a batch out of so many units."""
        drawn = np.flatnonzero(Bernoulli(self.rate).samples(units, entropy))
        return drawn if len(drawn) <= self.most else np.sort(drawn[choose(len(drawn), k=self.most, entropy=entropy)])


@final
@dataclass(frozen=True)
class FixedBatches(Batches):
    """Every batch has exactly ``batch`` of ``size`` units, drawn without replacement, anew for each step.

    The number of units is public, so neighbours exchange one unit: that costs more than adding or removing one.
    """

    batch: int
    steps: int
    size: int

    def __post_init__(self) -> None:
        read_counts(self, "batch", "steps", "size")
        if self.batch > self.size:
            raise BadArgument("batch", "at most the size", Several(self.batch, self.size))

    def resized(self, batch: int) -> Batches:
        return replace(self, batch=batch)

    @property
    def expected(self) -> Fraction:
        return Fraction(self.batch)

    @property
    def relation(self) -> Relation:
        return Relation.CHANGE_ONE

    def event(self, noise: Event) -> Event:
        return Repeat(Sampled(noise, WithoutReplacement(self.batch, self.size)), self.steps)

    def start(self, units: int, entropy: Entropy) -> Sampler:
        check_units(units, self.size)
        return _Anew(lambda: self.draw(units, entropy))

    @guarantee(
        claim="every set of so many units is equally likely, independently of all other steps",
        proof="proofs/training.md#fixed",
        reviewed="2b387368dd1e",
    )
    def draw(self, units: int, entropy: Entropy) -> Places:
        """Draws a batch out of so many units."""
        return np.sort(permutation(units, entropy=entropy)[: self.batch])


def read_counts(batches: Batches, *names: str) -> None:
    """Reads fields that are whole numbers above 0."""
    for name in names:
        object.__setattr__(batches, name, integer(getattr(batches, name), name, least=1))


def check_units(units: int, size: int) -> None:
    """Refuses data of another number of units than a plan is about, where that number is public."""
    if units != size:
        raise BadArgument("the data", f"of {size} units, as the plan says", "another number")


def rate_of(batch: object, size: int) -> Fraction:
    """With which probability a unit is drawn so that a batch has so many of them on average."""
    many = integer(batch, "batch", least=1)
    if many > size:
        raise BadArgument("batch", f"at most {size:,}, the number of units", batch)
    return Fraction(many, size)
