"""Batches that take turns: every unit belongs to one part, and the parts come one after another, again and again."""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, final

import numpy as np
import torch

from sfumato.accounting.events import Cyclic, Event, Gaussian, MatrixFactorization, SampledFactorization, Toeplitz
from sfumato.accounting.facts.strategies import Strategy
from sfumato.accounting.relation import Relation
from sfumato.entropy import Entropy
from sfumato.errors import BadArgument
from sfumato.exact import Distance, Number, Root, integer, probability, root, squared
from sfumato.guarantee import guarantee
from sfumato.noise.bernoulli import Bernoulli
from sfumato.noise.uniform import below_many
from sfumato.train.batches import Batches, Places, Sampler

PROOF = "proofs/correlated_training.md"


@final
@dataclass(frozen=True)
class CyclicBatches(Batches):
    """Each unit is dealt to one of ``period`` parts, at random and once; part i modulo the period has step i.

    A unit takes part in at most every ``period``-th step: with probability ``rate`` each, anew in each. ``size`` is a
    public number of units, near the true one: sums are divided by rate · size / period.
    """

    period: int
    steps: int
    size: int
    rate: Fraction = Fraction(1)
    neighbours: Relation = Relation.ADD_REMOVE
    """Which data sets count as neighbours: one that is exchanged for another takes its part."""

    def __post_init__(self) -> None:
        for name in ("period", "steps", "size"):
            object.__setattr__(self, name, integer(getattr(self, name), name, least=1))
        object.__setattr__(self, "rate", probability(self.rate, "rate"))
        if self.rate == 0:
            raise BadArgument("rate", "greater than 0: what is never drawn teaches nothing", self.rate)

    @property
    def expected(self) -> Fraction:
        return self.rate * self.size / self.period

    @property
    def relation(self) -> Relation:
        return self.neighbours

    def under(self, relation: Relation) -> CyclicBatches:
        return replace(self, neighbours=relation)

    def event(self, noise: Event) -> Event:
        if not isinstance(noise, Gaussian):
            raise BadArgument("noise", "Gaussian, in batches that take turns", type(noise).__name__)
        return self.factorized(noise.scale, Toeplitz([1], steps=self.steps), shift=noise.shift)

    @guarantee(
        claim="C·G + Z, where a unit may be drawn in every period-th step alone; for C = 1, fresh noise in each step",
        proof=f"{PROOF}#steps",
        reviewed="5d671552b7c7",
    )
    def factorized(self, scale: Number | Root, strategy: Strategy, *, shift: Distance = Fraction(1)) -> Event:
        """What all steps are, where the noise of all of them is C⁻¹·Z, for Z of a scale and a strategy C."""
        if self.rate == 1:
            moved = root(4 * Fraction(squared(shift))) if self.neighbours is Relation.CHANGE_ONE else shift
            return MatrixFactorization(scale, strategy, participation=Cyclic(self.period), shift=moved)
        return SampledFactorization(scale, strategy, period=self.period, rate=self.rate, shift=shift)

    def start(self, units: int, entropy: Entropy) -> Sampler:
        return _Turns(self, units, entropy)


@final
class _Turns(Sampler):
    """The parts of one run, which are dealt before its first step and kept."""

    def __init__(self, batches: CyclicBatches, units: int, entropy: Entropy) -> None:
        self._batches, self._entropy = batches, entropy
        self._part = deal(units, batches.period, entropy)
        self._kept = False

    @guarantee(
        claim="units of part step modulo period alone, each with probability rate, independently",
        proof=f"{PROOF}#turns",
        reviewed="c2d399e93f6e",
    )
    def draw(self, step: int) -> Places:
        turn = np.flatnonzero(self._part == step % self._batches.period)
        if self._batches.rate == 1:
            return turn
        return turn[np.flatnonzero(Bernoulli(self._batches.rate).samples(len(turn), self._entropy))]

    def check(self, taken: int) -> None:
        if taken and not self._kept:
            must = "one that goes on from what save() saved: units dealt anew could have a turn too early"
            raise BadArgument("a training whose first steps are taken", must, f"{taken:,} steps taken")
        self._kept = True

    def state(self) -> dict[str, Any]:
        return {"part": torch.from_numpy(self._part)}

    def load(self, state: dict[str, Any]) -> None:
        part = state["part"].numpy()
        if len(part) != len(self._part):
            raise BadArgument("the data", "the one that was trained on, unit by unit", "another number of units")
        self._part, self._kept = part, True


@guarantee(
    claim="each unit is in each part with the same chance, independently",
    proof=f"{PROOF}#turns",
    reviewed="6a8eaf710362",
)
def deal(units: int, period: int, entropy: Entropy) -> Places:
    """Deals units into parts without a look at any of them."""
    return below_many(period, count=units, entropy=entropy)
