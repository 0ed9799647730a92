"""Specials: statistics that are not sums. They are found from the counts of rows in the public bins of each group."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, final

import numpy as np

from sfumato.accounting.facts import parameter_within
from sfumato.accounting.losses.measures import ZCDP, Loss, Pure
from sfumato.core.grouped_distance import GroupedDistance, Whole
from sfumato.core.random_step import RandomStep
from sfumato.entropy import Entropy
from sfumato.errors import NoDistance
from sfumato.guarantee import guarantee
from sfumato.query.nodes.expressions import Expression, Literal
from sfumato.query.nodes.kinds import Value
from sfumato.query.nodes.operators import call
from sfumato.query.nodes.operators.released import Released
from sfumato.query.nodes.questions import Item, Statistic
from sfumato.query.nodes.relations import Relation
from sfumato.query.plan.bounds import Placed
from sfumato.query.plan.engine_plan import Cells, Computed, PublicKeys, Rows
from sfumato.query.plan.parts import Part, Priced
from sfumato.release.vectors import Array


@final
@dataclass(frozen=True, eq=False)
class Counts:
    """How many rows of each group lie in which bin, for bins that have rows: by group, then by bin. Private."""

    starts: Array
    bins: Array
    rows: Array

    @staticmethod
    def of(groups: Array, bins: Array, rows: Array, size: int) -> Counts:
        """Sorts cells; those of no group or bin (−1) are left out, those of one bin added up."""
        kept = (groups >= 0) & (bins >= 0)
        groups, bins, rows = groups[kept], bins[kept], rows[kept]
        order = np.lexsort((bins, groups))
        groups, bins, rows = groups[order], bins[order], rows[order]
        first = np.flatnonzero((np.diff(groups, prepend=-1) != 0) | (np.diff(bins, prepend=-1) != 0))
        if len(first) < len(rows):
            groups, bins, rows = groups[first], bins[first], np.add.reduceat(rows, first)
        return Counts(np.searchsorted(groups, np.arange(size + 1)), bins, rows)

    def __len__(self) -> int:
        return len(self.starts) - 1

    def __iter__(self) -> Iterator[tuple[Array, Array]]:
        for start, end in zip(self.starts[:-1], self.starts[1:], strict=True):
            yield self.bins[start:end], self.rows[start:end]

    def dense(self, bins: int) -> Array:
        """The counts of all bins, empty ones included, group by group."""
        table = np.zeros((len(self), bins), dtype=np.int64)
        table[np.repeat(np.arange(len(self)), np.diff(self.starts)), self.bins] = self.rows
        return table


class SelectionMechanism(ABC):
    """A way to find statistics from counts of rows in bins."""

    @property
    @abstractmethod
    def bin(self) -> Expression:
        """The expression that the engine groups by inside each group; rows in which it is missing are not looked at."""

    @property
    def counted(self) -> Rows:
        """What the engine counts in each bin; in steps (`Rows.bits`) where units are scaled down and not cut."""
        return Rows()

    @abstractmethod
    def places(self, values: Sequence[Value]) -> Array:
        """The place of each value of `bin` among the public bins; −1 for missing ones and those in none."""

    @abstractmethod
    def priced(self, special: Special, share: Pure | ZCDP) -> SpecialAt:
        """Settles on the mechanism that costs a unit no more than a share."""

    @abstractmethod
    def width(self, special: Special, share: float, *, gaussian: bool) -> float:
        """About how far off an answer is for a share (ε, or ρ)."""


@final
@dataclass(frozen=True)
class Special(Part):
    """One or several statistics that are found together: in one way, from the rows that one condition is true for.

    ``d_in`` is the distance between neighbours for which a share is to be kept.
    """

    statistics: tuple[Statistic, ...]
    spread: GroupedDistance
    d_in: int
    way: SelectionMechanism

    def priced(self, share: Pure | ZCDP) -> SpecialAt:
        return self.way.priced(self, share)

    def width(self, share: float, *, gaussian: bool) -> float:
        return self.way.width(self, share, gaussian=gaussian)

    def serves(self, statistic: Statistic) -> bool:
        """Tells whether a statistic, or a list that it is a cell of, is found here."""
        return any(statistic in (one, one.of if isinstance(one, Item) else one) for one in self.statistics)

    def cells(self, source: Relation, keys: tuple[Expression, ...], listed: PublicKeys | None, placed: Placed) -> Cells:
        """What the engine computes for it in each group and bin.

        Rows without a bin take room as others do, as they do in counts and sums: so all numbers of a question are about
        the same part of a unit.
        """
        asked, bin_of = self.statistics[0].where, self.way.bin
        bins = bin_of if asked is None else call("case", asked, bin_of, Literal(None, bin_of.kind))
        bound = replace(placed.bound, cut=placed.bound.rows is not None and not self.way.counted.bits)
        return Cells(source, keys, (self.way.counted,), bound, listed, (bins,))


@final
@dataclass(frozen=True)
class Run:
    """A special of a level, with what the engine computes for it."""

    special: Special
    cells: Cells


class Choosing(SelectionMechanism):
    """Makes private choices, at a temperature."""

    @abstractmethod
    def one_row(self, measure: type[Loss], temperature: Fraction) -> Loss:
        """The loss when one row is added to, or removed from, one group."""

    def width(self, special: Special, share: float, *, gaussian: bool) -> float:
        given = ZCDP(Fraction(share)) if gaussian else Pure(Fraction(share))
        return float(self.temperature(special, given))

    def temperature(self, special: Special, share: Pure | ZCDP) -> Fraction:
        """The temperature at which a unit loses no more than a share: all losses fall with it, or its square."""
        spread, one = special.spread, self.one_row(type(share), Fraction(1))
        whole = unit_loss(one, spread.rows, spread.squares, special.d_in)
        return parameter_within(whole, share)


class SpecialAt(Priced):
    """A special with its mechanism settled."""

    @abstractmethod
    def draw(self, counts: Counts, entropy: Entropy) -> tuple[Array, ...]:
        """Draws one whole number for each statistic and group: all that is taken from the counts."""

    @abstractmethod
    def released(self, drawn: Sequence[Array], confidence: Fraction) -> dict[Statistic, Released]:
        """Makes the statistics of what was drawn: post-processing."""

    @property
    @abstractmethod
    def proofs(self) -> tuple[str, ...]:
        """The proofs of what it costs, as places in proofs/."""

    @property
    @abstractmethod
    def mechanism(self) -> str:
        """The name of the mechanism, as releases state it."""

    @property
    @abstractmethod
    def words(self) -> tuple[str, str]:
        """Say what is found, and how."""

    def error(self, confidence: Fraction) -> str:
        """Says how far off it is, with a confidence; nothing, where that depends on the data."""
        return ""

    def rank_error(self, confidence: Fraction) -> int | None:
        """How many rows the rank of what is found is off, at most; None where it has no rank, or that is not known."""
        return None


@guarantee(
    claim="Pure: distance · rows · the loss of one row; zCDP: distance² · squares · the loss of one row",
    proof="proofs/query_specials.md#units",
    reviewed="7e1a0271a7e4",
)
def unit_loss(one: Loss, rows: Whole, squares: Whole, distance: int) -> Pure | ZCDP:
    """The loss of a mechanism that runs in every group, from what one row costs and how a unit's rows are spread."""
    match one:
        case Pure(epsilon=epsilon):
            return Pure(epsilon * rows * distance if distance else 0)
        case ZCDP(rho=rho):
            return ZCDP(rho * squares * distance**2 if distance else 0)
    raise TypeError(type(one))


class ChosenAt(SpecialAt):
    """A special that makes private choices in every group, at a temperature."""

    special: Special
    way: Choosing
    measure: type[Loss]
    temperature: Fraction

    @property
    def mechanism(self) -> str:
        return "exponential mechanism"

    def over(self, spread: GroupedDistance) -> ChosenAt:
        return replace(self, special=replace(self.special, spread=spread))  # type: ignore[type-var]  # all are records

    def loss(self, distance: int) -> Pure | ZCDP:
        spread = self.special.spread
        return unit_loss(self._one_row, spread.rows, spread.squares, distance)

    def draw(self, counts: Counts, entropy: Entropy) -> tuple[Array, ...]:
        act = RandomStep(("private choice", self), counts, moved_rows, self._at, self.loss)
        return entropy.perform(act, lambda: self.chosen(counts, entropy))

    @abstractmethod
    def chosen(self, counts: Counts, entropy: Entropy) -> tuple[Array, ...]:
        """Makes the choices."""

    def _at(self, moved: Sequence[int]) -> Pure | ZCDP:
        return unit_loss(self._one_row, sum(moved), sum(rows**2 for rows in moved), 1)

    @property
    def _one_row(self) -> Loss:
        return self.way.one_row(self.measure, self.temperature)


def moved_rows(left: Counts, right: Counts) -> tuple[int, ...]:
    """How many rows each group has on one side only; refuses sides with different numbers of groups."""
    if len(left) != len(right):
        raise NoDistance("counts of bins", "they are of different numbers of groups.")
    moved = []
    for ours, theirs in zip(left, right, strict=True):
        here, there = (Counter(dict(zip(bins.tolist(), rows.tolist(), strict=True))) for bins, rows in (ours, theirs))
        moved.append(((here - there) + (there - here)).total())
    return tuple(moved)


def counted(run: Run, computed: Computed, shown: Sequence[Array]) -> Counts:
    """Lays out what the engine gave for the groups that are shown; groups without rows have no bins."""
    rows = np.asarray(computed.numbers[0], dtype=np.int64)
    bins = run.special.way.places(computed.inner[0])
    if run.cells.listed is not None:
        groups = np.asarray(computed.places, dtype=np.int64)
        return Counts.of(groups, bins, rows, len(shown[0]))
    if not shown:
        return Counts.of(np.zeros(len(rows), dtype=np.int64), bins, rows, 1)
    wanted = {key: place for place, key in enumerate(zip(*map(_plain, shown), strict=True))}
    given = zip(*map(_plain, computed.keys), strict=True)
    groups = np.fromiter((wanted.get(key, -1) for key in given), dtype=np.int64, count=len(rows))
    return Counts.of(groups, bins, rows, len(shown[0]))


def _plain(values: Any) -> Sequence[Value]:
    return values.tolist() if isinstance(values, np.ndarray) else values  # type: ignore[no-any-return]


def whole_places(values: Sequence[Value], low: int, many: int) -> Array:
    """Whole numbers as steps from the lowest, moved into ``many`` places; −1 for missing ones."""
    missing = np.zeros(len(values), dtype=np.bool_)
    whole: Sequence[Value] = values
    if None in values:
        missing = np.fromiter((value is None for value in values), dtype=np.bool_, count=len(values))
        whole = [0 if value is None else value for value in values]
    places = np.clip(np.asarray(whole, dtype=np.int64), low, low + many - 1) - low
    return np.where(missing, -1, places)
