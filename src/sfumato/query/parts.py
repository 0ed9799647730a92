"""Parts of a question: what is released of the data by itself, and what each costs with its noise settled."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import reduce
from typing import TypeAlias, TypeVar, final

from sfumato.accounting.concentrated import GDP
from sfumato.accounting.events import Event
from sfumato.accounting.events import Noise as NoiseEvent
from sfumato.accounting.facts import loss_of
from sfumato.accounting.facts.discrete_gaussian import discrete_gaussian_gdp
from sfumato.accounting.measures import ZCDP, Approx, Pure
from sfumato.core.act import Act
from sfumato.core.metrics import L1, L2, Metric
from sfumato.core.rows import canonical
from sfumato.errors import BadArgument, NoDistance
from sfumato.exact import Distance, Extended, rational_up, squared
from sfumato.guarantee import guarantee
from sfumato.mechanisms.unknown_keys import KeyNoise, key_noise, loss_of_a_row
from sfumato.noise.discrete_gaussian import DiscreteGaussian
from sfumato.noise.discrete_laplace import DiscreteLaplace
from sfumato.noise.distribution import Noise
from sfumato.query.influence import Influence
from sfumato.query.vectors import Array

Counted: TypeAlias = tuple[tuple[Array, ...], Array]
"""The keys that occur, column by column, and their counts."""

Additive = TypeVar("Additive", Pure, ZCDP, GDP, Pure | ZCDP)


def amount_of(loss: Pure | Approx | ZCDP | GDP) -> Extended:
    """Gives the number that adds up of a loss: ε, ρ, or μ²."""
    match loss:
        case Pure(epsilon=amount) | Approx(epsilon=amount) | ZCDP(rho=amount):
            return amount
        case GDP():
            return loss.square


class Part(ABC):
    """Is something that is released of the data, by itself: it can be priced in pure and in concentrated terms."""

    @abstractmethod
    def priced(self, share: Pure | ZCDP) -> Priced:
        """Gives the mechanism that costs a unit no more than a share."""

    @abstractmethod
    def width(self, share: float, *, gaussian: bool) -> float:
        """Gives about how far off an answer is for a share (ε, or ρ): to choose between the two kinds of noise."""


class Priced(ABC):
    """Is a part with its mechanism settled."""

    @abstractmethod
    def loss(self, distance: int) -> Pure | ZCDP:
        """Gives what it costs at a distance in units."""

    def gaussian_loss(self, distance: int) -> GDP | None:
        """Gives what it costs in Gaussian terms, where there is a theorem: as a rule more exactly than in ρ."""
        return None


@final
@dataclass(frozen=True)
class Noisy(Part):
    """Is a vector of whole numbers, one for each cell, that gets noise in every cell.

    ``apart`` is the distance between neighbours for which a share is to be kept.
    """

    influence: Influence
    apart: int = 1

    def priced(self, share: Pure | ZCDP) -> NoisyAt:
        if isinstance(share, Pure):
            return NoisyAt(self.influence, laplace_within(self.apart * self.influence.l1, Fraction(share.epsilon)))
        return NoisyAt(self.influence, gaussian_within(self.apart * self.influence.l2, Fraction(share.rho)))

    def width(self, share: float, *, gaussian: bool) -> float:
        if gaussian:
            return 1.96 * self.apart * math.sqrt(float(squared(self.influence.l2)) / (2 * share))
        return 3.0 * self.apart * float(rational_up(self.influence.l1)) / share


@final
@dataclass(frozen=True)
class NoisyAt(Priced):
    """Is a vector of whole numbers with the noise that every cell gets."""

    influence: Influence
    noise: Noise

    def loss(self, distance: int) -> Pure | ZCDP:
        return self.at(distance * (self.influence.l1 if self.pure else self.influence.l2))

    def gaussian_loss(self, distance: int) -> GDP | None:
        if not isinstance(self.noise, DiscreteGaussian):
            return None
        found = discrete_gaussian_gdp(self.noise, distance * self.influence.l2)
        return None if found.mu == math.inf else found

    @property
    def pure(self) -> bool:
        """Tells whether the noise is priced in ε by the L1 distance; otherwise it is in ρ, by L2."""
        return isinstance(self.noise, DiscreteLaplace)

    def at(self, shift: Distance) -> Pure | ZCDP:
        """Gives what numbers cost that are so far apart."""
        found = loss_of(self.noise, Pure if self.pure else ZCDP, shift)
        if not isinstance(found, Pure | ZCDP):
            raise BadArgument("what noise costs", "pure or concentrated", found)
        return found

    def act(self, numbers: Array) -> Act:
        """Gives the act that adds the noise to numbers."""
        return Act(("noise", self), numbers, self._apart, self.at, self.loss, event=self.event_at)

    def event_at(self, shift: Distance) -> Event:
        """Describes the noise on numbers that are so far apart; nearer than √2, one of them moves, and by 1."""
        return NoiseEvent(self.noise, shift, coordinates=1 if squared(shift) < 2 else 2)  # type: ignore[arg-type]

    def _apart(self, left: Array, right: Array) -> Distance:
        metric: Metric = L1() if self.pure else L2()
        if len(left) != len(right):
            raise NoDistance(metric, "the vectors have different lengths.")
        moved = left != right  # of very many numbers, few move
        found: Distance = metric.distance(left[moved], right[moved])
        return found


@guarantee(
    claim="vectors of which a row moves one only, by spreads that are alike, cost together what the dearest one does",
    proof="proofs/query.md#exclusive",
    reviewed="ab3e2651aaf6",
)
def dearest(losses: Sequence[Additive]) -> Additive:
    """Gives what vectors cost together of which a row moves one only."""
    kinds = {type(loss) for loss in losses}
    if len(kinds) != 1:
        raise BadArgument("losses", "of one kind, and at least one of them", [kind.__name__ for kind in kinds])
    return max(losses, key=amount_of)


@final
@dataclass(frozen=True)
class Exclusive(Part):
    """Is several vectors of which a row moves one only: each gets all of the share."""

    members: tuple[Noisy, ...]

    def priced(self, share: Pure | ZCDP) -> ExclusiveAt:
        return ExclusiveAt(tuple(member.priced(share) for member in self.members))

    def width(self, share: float, *, gaussian: bool) -> float:
        each = [one.width(share, gaussian=gaussian) for one in self.members]
        return math.exp(sum(map(math.log, each)) / len(each)) if min(each) > 0 else 0.0


def priced_as_one(influences: Sequence[Influence], apart: int) -> Part:
    """Gives one vector, or several of which a row moves one only, as one part."""
    members = tuple(Noisy(one, apart) for one in influences)
    return members[0] if len(members) == 1 else Exclusive(members)


@final
@dataclass(frozen=True)
class ExclusiveAt(Priced):
    """Is several vectors of which a row moves one only, each with its noise."""

    members: tuple[NoisyAt, ...]

    def loss(self, distance: int) -> Pure | ZCDP:
        return dearest([member.loss(distance) for member in self.members])

    def gaussian_loss(self, distance: int) -> GDP | None:
        found = [member.gaussian_loss(distance) for member in self.members]
        known = [one for one in found if one is not None]
        return dearest(known) if len(known) == len(found) else None


def laplace_within(l1: Distance, epsilon: Fraction) -> Noise:
    """Gives the Laplace noise that costs ε when neighbours are so far apart in L1."""
    return DiscreteLaplace(max(Fraction(rational_up(l1)), Fraction(1)) / epsilon)


def gaussian_within(l2: Distance, rho: Fraction) -> Noise:
    """Gives the Gaussian noise that costs ρ when neighbours are so far apart in L2."""
    return DiscreteGaussian.from_square(max(Fraction(squared(l2)), Fraction(1)) / (2 * rho))


@final
@dataclass(frozen=True)
class Choice:
    """Is how one unit can move the counts by which keys are chosen: so many keys, each by so many rows.

    ``apart`` is the distance between neighbours for which a loss is to be kept.
    """

    keys: int
    rows: int
    apart: int = 1


@final
@dataclass(frozen=True)
class Selection:
    """Is how keys that nobody listed are chosen: by noise on the count of each key that occurs."""

    noise: KeyNoise
    choice: Choice

    def loss(self, distance: int) -> Approx:
        """Gives what the choice costs at a distance in units."""
        return selection_loss(self.noise.one_row, self.choice.keys, self.choice.rows, distance)

    def at(self, moved: Sequence[int]) -> Approx:
        """Gives what the choice costs where the counts of keys are so far apart: the keys' own losses, composed."""
        each = (selection_loss(self.noise.one_row, 1, rows, 1) for rows in moved)
        return reduce(lambda spent, one: spent.then(one), each, Approx.nothing())

    def act(self, keys: tuple[Array, ...], counts: Array) -> Act:
        """Gives the act that chooses keys by their counts."""
        return Act(("choice of keys", self), (keys, counts), moved_counts, self.at, lambda d_in: self.loss(int(d_in)))


def moved_counts(left: Counted, right: Counted) -> tuple[int, ...]:
    """Gives how far the count of each key moves, of those that move; a key that does not occur counts 0."""
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
    """Gives the loss of choosing keys, when one unit has so many keys and so many rows in each."""
    if distance == 0:
        return Approx.nothing()
    return one_row.group(rows * distance) if keys == 1 else one_row.group(rows).times(keys).group(distance)


def selecting(loss: Approx, choice: Choice) -> Selection:
    """Gives the choice of keys that costs a unit no more than a loss."""
    if not 0 < loss.epsilon < math.inf or not 0 < loss.delta < 1:
        raise BadArgument("loss", "Approx(ε, δ) with ε and δ above 0, where keys are not listed", str(loss))
    each = Approx(Fraction(loss.epsilon) / choice.keys, loss.delta / choice.keys)
    return Selection(key_noise(*loss_of_a_row(each, choice.rows * choice.apart, exchanged=False)), choice)
