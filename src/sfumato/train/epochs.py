"""Batches that go through all units before they begin again: random allocation, and shuffled data cut into batches."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any, TypeAlias, final

import numpy as np
import torch
from numpy.typing import NDArray

from sfumato.accounting.events import Allocated, Event, Repeat, Sampled, WithoutReplacement
from sfumato.accounting.relation import Relation
from sfumato.entropy import Entropy
from sfumato.errors import BadArgument, Several
from sfumato.guarantee import guarantee
from sfumato.noise.uniform import below_many, permutation
from sfumato.train.batches import Batches, Places, Sampler, check_units, read_counts

Turns: TypeAlias = NDArray[np.int64]
"""The steps of an epoch in which each unit takes part: a line for each unit."""


class Epochs(Batches):
    """Batches of which the units are dealt out among the steps of an epoch when it begins.

    How an epoch goes on depends on how it was dealt, so it is priced as a whole, also where only its first steps ran.
    """

    epochs: int
    steps_per_epoch: int

    @abstractmethod
    def deal(self, units: int, entropy: Entropy) -> Turns:
        """Deals out so many units for one epoch."""

    @property
    def anew(self) -> bool:
        return False

    def first(self, steps: int) -> Batches:
        return replace(self, epochs=-(-steps // self.steps_per_epoch))  # type: ignore[type-var]

    def start(self, units: int, entropy: Entropy) -> Sampler:
        return _Dealt(lambda: self.deal(units, entropy), units, self.steps_per_epoch)


@final
class _Dealt(Sampler):
    """The batches of one run as they were dealt.

    A run that goes on in the middle of an epoch without what was saved of it has empty batches until the next one:
    dealt once more, a unit could take part more often than is paid for.
    """

    def __init__(self, deal: Callable[[], Turns], units: int, steps: int) -> None:
        self._deal, self._units, self._steps = deal, units, steps
        self._epoch, self._turns = -1, np.zeros((0, 1), dtype=np.int64)

    @guarantee(
        claim="a unit is in the batch of a step if it was dealt so when the epoch began; they are dealt once in each",
        proof="proofs/training.md#epochs",
        reviewed="f2371a0f16ff",
    )
    def draw(self, step: int) -> Places:
        epoch, turn = divmod(step, self._steps)
        if turn == 0 and epoch > self._epoch:
            self._epoch, self._turns = epoch, self._deal()
        if epoch != self._epoch:
            return np.zeros(0, dtype=np.int64)
        return np.flatnonzero((self._turns == turn).any(axis=1))

    def state(self) -> dict[str, Any]:
        return {"epoch": self._epoch, "turns": torch.from_numpy(self._turns)}

    def load(self, state: dict[str, Any]) -> None:
        turns = state["turns"].numpy()
        if state["epoch"] >= 0 and len(turns) != self._units:
            raise BadArgument("the data", "of the units that were dealt out when it was saved", "another number")
        self._epoch, self._turns = int(state["epoch"]), turns


@final
@dataclass(frozen=True)
class AllocatedBatches(Epochs):
    """Each unit is in exactly ``participations`` steps of every epoch, drawn for each unit by itself (balls in bins).

    Every unit has its turn, and batches differ in size. ``size`` is a public number of units, near the true one.
    """

    epochs: int
    steps_per_epoch: int
    size: int
    participations: int = 1
    steps: int = field(init=False, repr=False)

    def __post_init__(self) -> None:
        read_counts(self, "epochs", "steps_per_epoch", "size", "participations")
        object.__setattr__(self, "steps", self.epochs * self.steps_per_epoch)
        if self.participations > self.steps_per_epoch:
            must = "at most the steps of an epoch"
            raise BadArgument("participations", must, Several(self.participations, self.steps_per_epoch))

    @property
    def expected(self) -> Fraction:
        return Fraction(self.size * self.participations, self.steps_per_epoch)

    @property
    def relation(self) -> Relation:
        return Relation.ADD_REMOVE

    def event(self, noise: Event) -> Event:
        return Repeat(Allocated(noise, self.steps_per_epoch, self.participations), self.epochs)

    @guarantee(
        claim="each unit's set of steps is uniform among the sets of so many, independently of all other units",
        proof="proofs/training.md#allocated",
        reviewed="1e9bee0d0f56",
    )
    def deal(self, units: int, entropy: Entropy) -> Turns:
        """Deals out so many units: a set of steps for each, by one more step at a time (Floyd's way)."""
        turns = np.empty((units, self.participations), dtype=np.int64)
        for place in range(self.participations):
            last = self.steps_per_epoch - self.participations + place
            drawn = below_many(last + 1, count=units, entropy=entropy)
            again = (turns[:, :place] == drawn[:, None]).any(axis=1)
            turns[:, place] = np.where(again, last, drawn)
        return turns


@final
@dataclass(frozen=True)
class ShuffledBatches(Epochs):
    """The units are shuffled for each epoch and cut into batches of ``batch``: disjoint ones, the last perhaps smaller.

    That nobody knows who is in which batch saves nothing that is proved: every epoch costs what one step with all units
    does. How many units there are is public, and neighbours exchange one.
    """

    batch: int
    epochs: int
    size: int
    steps_per_epoch: int = field(init=False, repr=False)
    steps: int = field(init=False, repr=False)

    def __post_init__(self) -> None:
        read_counts(self, "batch", "epochs", "size")
        if self.batch > self.size:
            raise BadArgument("batch", "at most the size", Several(self.batch, self.size))
        object.__setattr__(self, "steps_per_epoch", -(-self.size // self.batch))
        object.__setattr__(self, "steps", self.epochs * self.steps_per_epoch)

    @property
    def expected(self) -> Fraction:
        return Fraction(self.batch)

    @property
    def relation(self) -> Relation:
        return Relation.CHANGE_ONE

    def event(self, noise: Event) -> Event:
        return Repeat(Sampled(noise, WithoutReplacement(self.size, self.size)), self.epochs)

    def start(self, units: int, entropy: Entropy) -> Sampler:
        check_units(units, self.size)
        return super().start(units, entropy)

    @guarantee(
        claim="every unit is in exactly one batch of an epoch; which does not depend on what any unit holds",
        proof="proofs/training.md#shuffled",
        reviewed="4f64d394359e",
    )
    def deal(self, units: int, entropy: Entropy) -> Turns:
        """Deals out so many units: in random order, so many after each other into each batch."""
        turns = np.empty((units, 1), dtype=np.int64)
        turns[permutation(units, entropy=entropy), 0] = np.arange(units) // self.batch
        return turns
