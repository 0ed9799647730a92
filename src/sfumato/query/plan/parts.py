"""Parts of a question: what is released of the data by itself, and what each costs with its noise settled."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import reduce
from typing import TypeAlias, TypeVar, final

from sfumato.accounting.events import Event, Stated
from sfumato.accounting.events import Noise as NoiseEvent
from sfumato.accounting.facts import has_fact, loss_of, noise_within
from sfumato.accounting.losses.concentrated import GDP
from sfumato.accounting.losses.measures import ZCDP, Approx, Pure
from sfumato.core.grouped_distance import GroupedDistance
from sfumato.core.metrics import L1, L2, Metric
from sfumato.core.random_step import RandomStep
from sfumato.core.rows import canonical
from sfumato.errors import BadArgument, NoDistance
from sfumato.exact import Distance, rational_up, squared
from sfumato.guarantee import guarantee
from sfumato.mechanisms.unknown_keys import KeyNoise, key_noise, loss_of_a_row
from sfumato.noise.distribution import Noise
from sfumato.query.plan.sensitivity import Influence
from sfumato.release.vectors import Array

Counted: TypeAlias = tuple[tuple[Array, ...], Array]
"""The keys that occur, column by column, and their counts."""

Additive = TypeVar("Additive", Pure, ZCDP, GDP, Pure | ZCDP)


class Part(ABC):
    """A release from the data by itself, which can be priced in pure and in concentrated terms."""

    @abstractmethod
    def priced(self, share: Pure | ZCDP) -> Priced:
        """Settles on the mechanism that costs a unit no more than a share."""

    @abstractmethod
    def width(self, share: float, *, gaussian: bool) -> float:
        """About how far off an answer is for a share (ε, or ρ): to choose between the two kinds of noise."""


class Priced(ABC):
    """A part with its mechanism settled."""

    @abstractmethod
    def loss(self, distance: int) -> Pure | ZCDP:
        """The loss at a distance in units."""

    @abstractmethod
    def over(self, spread: GroupedDistance) -> Priced:
        """The same mechanism, for units whose rows spread otherwise over the groups."""

    def gaussian_loss(self, distance: int) -> GDP | None:
        """The loss in Gaussian terms, where there is a theorem: as a rule more exact than in ρ."""
        return None

    def event(self, distance: int) -> Event:
        """Describes what runs to the accountant: by the Gaussian loss where there is one, else by `loss`."""
        return Stated(self.gaussian_loss(distance) or self.loss(distance))


@final
@dataclass(frozen=True)
class NoisyCells(Part):
    """A vector of whole numbers, one for each cell, that gets noise in every cell.

    ``d_in`` is the distance between neighbours for which a share is to be kept.
    """

    influence: Influence
    d_in: int = 1

    def priced(self, share: Pure | ZCDP) -> PricedCells:
        length = self.influence.l1 if isinstance(share, Pure) else self.influence.l2
        return PricedCells(self.influence, noise_within(share, self.d_in * length))

    def width(self, share: float, *, gaussian: bool) -> float:
        if gaussian:
            return 1.96 * self.d_in * math.sqrt(float(squared(self.influence.l2)) / (2 * share))
        return 3.0 * self.d_in * float(rational_up(self.influence.l1)) / share


@final
@dataclass(frozen=True)
class PricedCells(Priced):
    """A vector of whole numbers with the noise that every cell gets."""

    influence: Influence
    noise: Noise

    def over(self, spread: GroupedDistance) -> PricedCells:
        return replace(self, influence=Influence.of(spread, self.influence.most))

    def loss(self, distance: int) -> Pure | ZCDP:
        return self.at(distance * (self.influence.l1 if self.pure else self.influence.l2))

    def gaussian_loss(self, distance: int) -> GDP | None:
        loss = loss_of(self.noise, GDP, distance * self.influence.l2) if has_fact(self.noise, GDP) else None
        return loss if isinstance(loss, GDP) and loss.mu != math.inf else None

    def event(self, distance: int) -> Event:
        return self.event_at(distance * (self.influence.l1 if self.pure else self.influence.l2))

    @property
    def pure(self) -> bool:
        """Tells whether the noise is priced in ε by the L1 distance; otherwise it is in ρ, by L2."""
        return has_fact(self.noise, Pure)

    def at(self, shift: Distance) -> Pure | ZCDP:
        """The loss between numbers that are ``shift`` apart."""
        loss = loss_of(self.noise, Pure if self.pure else ZCDP, shift)
        if not isinstance(loss, Pure | ZCDP):
            raise BadArgument("what noise costs", "pure or concentrated", loss)
        return loss

    def act(self, numbers: Array) -> RandomStep:
        """The random step that adds the noise to numbers."""
        return RandomStep(("noise", self), numbers, self._apart, self.at, self.loss, event=self.event_at)

    def event_at(self, shift: Distance) -> Event:
        """Describes the noise on numbers that are so far apart; nearer than √2, one of them moves, and by 1."""
        return NoiseEvent(self.noise, shift, coordinates=1 if squared(shift) < 2 else 2)

    def _apart(self, left: Array, right: Array) -> Distance:
        metric: Metric = L1() if self.pure else L2()
        if len(left) != len(right):
            raise NoDistance(metric, "the vectors have different lengths.")
        moved = left != right  # of very many numbers, few move
        apart: Distance = metric.distance(left[moved], right[moved])
        return apart


@guarantee(
    claim="vectors of which a row moves one only, by spreads that are alike, cost together what the dearest one does",
    proof="proofs/query.md#exclusive",
    reviewed="ace7a312ea03",
)
def dearest(losses: Sequence[Additive]) -> Additive:
    """The joint loss of vectors of which a row moves only one: the largest."""
    kinds = {type(loss) for loss in losses}
    if len(kinds) != 1:
        raise BadArgument("losses", "of one kind, and at least one of them", [kind.__name__ for kind in kinds])
    return max(losses, key=lambda loss: loss.amounts)


@final
@dataclass(frozen=True)
class Exclusive(Part):
    """Several vectors of which a row moves only one: each gets all of the share."""

    members: tuple[NoisyCells, ...]

    def priced(self, share: Pure | ZCDP) -> ExclusiveAt:
        return ExclusiveAt(tuple(member.priced(share) for member in self.members))

    def width(self, share: float, *, gaussian: bool) -> float:
        each = [one.width(share, gaussian=gaussian) for one in self.members]
        return math.exp(sum(map(math.log, each)) / len(each)) if min(each) > 0 else 0.0


def priced_as_one(influences: Sequence[Influence], d_in: int) -> Part:
    """Makes one part of one vector, or of several of which a row moves only one."""
    members = tuple(NoisyCells(one, d_in) for one in influences)
    return members[0] if len(members) == 1 else Exclusive(members)


@final
@dataclass(frozen=True)
class ExclusiveAt(Priced):
    """Several vectors of which a row moves only one, each with its noise."""

    members: tuple[PricedCells, ...]

    def over(self, spread: GroupedDistance) -> ExclusiveAt:
        return ExclusiveAt(tuple(member.over(spread) for member in self.members))

    def loss(self, distance: int) -> Pure | ZCDP:
        return dearest([member.loss(distance) for member in self.members])

    def gaussian_loss(self, distance: int) -> GDP | None:
        losses = [member.gaussian_loss(distance) for member in self.members]
        known = [one for one in losses if one is not None]
        return dearest(known) if len(known) == len(losses) else None


@final
@dataclass(frozen=True)
class Choice:
    """How one unit can move the counts by which keys are chosen: by up to ``rows`` rows in each of up to ``keys`` keys.

    ``d_in`` is the distance between neighbours for which a loss is to be kept.
    """

    keys: int
    rows: int
    d_in: int = 1


@final
@dataclass(frozen=True)
class Selection:
    """How keys that nobody listed are chosen: by noise on the count of each key that occurs."""

    noise: KeyNoise
    choice: Choice

    def over(self, spread: GroupedDistance) -> Selection:
        """The same choice, for units whose rows spread otherwise over the keys."""
        return Selection(self.noise, Choice(int(spread.parts), int(spread.largest)))

    def loss(self, distance: int) -> Approx:
        """The loss of the choice at a distance in units."""
        return selection_loss(self.noise.one_row, self.choice.keys, self.choice.rows, distance)

    def at(self, moved: Sequence[int]) -> Approx:
        """The loss of the choice between counts that move by ``moved`` in each key: the keys' losses, composed."""
        each = (selection_loss(self.noise.one_row, 1, rows, 1) for rows in moved)
        return reduce(lambda spent, one: spent.then(one), each, Approx.nothing())

    def act(self, keys: tuple[Array, ...], counts: Array) -> RandomStep:
        """The random step that chooses keys by their counts."""
        return RandomStep(
            ("choice of keys", self), (keys, counts), moved_counts, self.at, lambda d_in: self.loss(int(d_in))
        )


def moved_counts(left: Counted, right: Counted) -> tuple[int, ...]:
    """How far the count of each key moves, for keys where it does; a key that does not occur counts 0."""
    ours, theirs = (
        {tuple(map(canonical, key)): int(count) for *key, count in zip(*keys, counts, strict=True)}
        for keys, counts in (left, right)
    )
    moved = (abs(ours.get(key, 0) - theirs.get(key, 0)) for key in ours.keys() | theirs.keys())
    return tuple(sorted(rows for rows in moved if rows))


@guarantee(
    claim="of rows in one key, their group loss; of several keys, composed; of several units, their group loss",
    proof="proofs/query.md#selection",
    reviewed="ee4347ffa98b",
)
def selection_loss(one_row: Approx, keys: int, rows: int, distance: int) -> Approx:
    """The loss of choosing keys, when one unit has ``keys`` keys and ``rows`` rows in each."""
    if distance == 0:
        return Approx.nothing()
    return one_row.group(rows * distance) if keys == 1 else one_row.group(rows).times(keys).group(distance)


def selecting(loss: Approx, choice: Choice) -> Selection:
    """Settles on the choice of keys that costs a unit no more than a loss."""
    if not 0 < loss.epsilon < math.inf or not 0 < loss.delta < 1:
        raise BadArgument("loss", "Approx(ε, δ) with ε and δ above 0, where keys are not listed", str(loss))
    each = loss.scaled(Fraction(1, choice.keys))
    return Selection(key_noise(*loss_of_a_row(each, choice.rows * choice.d_in, exchanged=False)), choice)
