"""Specials: statistics that are not sums. They are found from the counts of rows in the public bins of each group."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import pairwise
from typing import TYPE_CHECKING, Any, final

import numpy as np

from sfumato.accounting.measures import ZCDP, Loss, Pure
from sfumato.core.act import Act
from sfumato.core.spread import Spread, Whole
from sfumato.entropy import Entropy
from sfumato.errors import NoDistance, QueryRefused
from sfumato.exact import rational_up, root
from sfumato.guarantee import guarantee
from sfumato.query.cells import Cells, Computed, Listed, Rows
from sfumato.query.expressions import Expression, Literal
from sfumato.query.kinds import Kind, Value
from sfumato.query.operators import call
from sfumato.query.parts import Part, Priced
from sfumato.query.passes.bounds import Placed
from sfumato.query.post import Released
from sfumato.query.questions import Answered, Histogram, Item, Question, Statistic, TopValues, statistics_in
from sfumato.query.relations import Relation
from sfumato.query.vectors import Array

MOST_ITEMS = 1000
"""A list becomes at most so many columns."""


@final
@dataclass(frozen=True, eq=False)
class Counts:
    """Is how many rows of each group lie in which bin, for bins that have rows: by group, then by bin. Private."""

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
        """Gives the counts of all bins, group by group."""
        found = np.zeros((len(self), bins), dtype=np.int64)
        found[np.repeat(np.arange(len(self)), np.diff(self.starts)), self.bins] = self.rows
        return found


class Way(ABC):
    """Is how statistics are found from counts of rows in bins."""

    @property
    @abstractmethod
    def bin(self) -> Expression:
        """Is what the engine groups by inside each group; rows in which it is missing are not looked at."""

    @property
    def counted(self) -> Rows:
        """Is what the engine counts in each bin; in steps (`Rows.bits`) where units are scaled down and not cut."""
        return Rows()

    @abstractmethod
    def places(self, values: Sequence[Value]) -> Array:
        """Gives the place of each value of `bin` among the public bins; −1 for missing ones and those in none."""

    @abstractmethod
    def priced(self, special: Special, share: Pure | ZCDP) -> SpecialAt:
        """Gives the mechanism that costs a unit no more than a share."""

    @abstractmethod
    def width(self, special: Special, share: float, *, gaussian: bool) -> float:
        """Gives about how far off an answer is for a share (ε, or ρ)."""


@final
@dataclass(frozen=True)
class Special(Part):
    """Is one or several statistics that are found together: by one way, from the rows that one condition is true for.

    ``apart`` is the distance between neighbours for which a share is to be kept.
    """

    statistics: tuple[Statistic, ...]
    spread: Spread
    apart: int
    way: Way

    def priced(self, share: Pure | ZCDP) -> SpecialAt:
        return self.way.priced(self, share)

    def width(self, share: float, *, gaussian: bool) -> float:
        return self.way.width(self, share, gaussian=gaussian)

    def serves(self, statistic: Statistic) -> bool:
        """Tells whether a statistic, or a list that it is a cell of, is found here."""
        return any(statistic in (one, one.of if isinstance(one, Item) else one) for one in self.statistics)

    def cells(self, source: Relation, keys: tuple[Expression, ...], listed: Listed | None, placed: Placed) -> Cells:
        """Gives what the engine computes. Rows without a bin take room as others do, as they do in counts and sums: so
        all numbers of a question are about the same part of a unit.
        """
        asked, found = self.statistics[0].where, self.way.bin
        bins = found if asked is None else call("case", asked, found, Literal(None, found.kind))
        bound = replace(placed.bound, cut=placed.bound.rows is not None and not self.way.counted.bits)
        return Cells(source, keys, (self.way.counted,), bound, listed, (bins,))


@final
@dataclass(frozen=True)
class Run:
    """Is a special of a level, with what the engine computes for it."""

    special: Special
    cells: Cells


class Choosing(Way):
    """Makes private choices, at a temperature."""

    @abstractmethod
    def one_row(self, measure: type[Loss], temperature: Fraction) -> Loss:
        """Gives what is lost when one row is added to, or removed from, one group."""

    def width(self, special: Special, share: float, *, gaussian: bool) -> float:
        given = ZCDP(Fraction(share)) if gaussian else Pure(Fraction(share))
        return float(self.temperature(special, given))

    def temperature(self, special: Special, share: Pure | ZCDP) -> Fraction:
        """Gives the temperature at which a unit loses no more than a share: all losses fall with it, or its square."""
        spread, one = special.spread, self.one_row(type(share), Fraction(1))
        whole = unit_loss(one, spread.rows, spread.squares, special.apart)
        if isinstance(whole, Pure) and isinstance(share, Pure):
            return Fraction(whole.epsilon) / Fraction(share.epsilon)
        if isinstance(whole, ZCDP) and isinstance(share, ZCDP):
            return Fraction(rational_up(root(Fraction(whole.rho) / Fraction(share.rho))))
        raise TypeError(type(share))


class SpecialAt(Priced):
    """Is a special with its mechanism settled."""

    @abstractmethod
    def draw(self, counts: Counts, entropy: Entropy) -> tuple[Array, ...]:
        """Gives one whole number for each statistic and group: all that is taken from the counts."""

    @abstractmethod
    def released(self, drawn: Sequence[Array], confidence: Fraction) -> dict[Statistic, Released]:
        """Makes the statistics of what was drawn: post-processing."""

    @property
    @abstractmethod
    def proofs(self) -> tuple[str, ...]:
        """Are the proofs of what it costs."""

    @property
    @abstractmethod
    def mechanism(self) -> str:
        """Is what the mechanism is called."""

    @property
    @abstractmethod
    def words(self) -> tuple[str, str]:
        """Say what is found, and how."""

    def error(self, confidence: Fraction) -> str:
        """Says how far off it is, with a confidence; nothing, where that hangs on the data."""
        return ""


@guarantee(
    claim="Pure: distance · rows · the loss of one row; zCDP: distance² · squares · the loss of one row",
    proof="proofs/query_specials.md#units",
    reviewed="7e1a0271a7e4",
)
def unit_loss(one: Loss, rows: Whole, squares: Whole, distance: int) -> Pure | ZCDP:
    """Gives what a mechanism costs that runs in every group, when a unit's rows are spread so over the groups."""
    match one:
        case Pure(epsilon=epsilon):
            return Pure(epsilon * rows * distance if distance else 0)
        case ZCDP(rho=rho):
            return ZCDP(rho * squares * distance**2 if distance else 0)
    raise TypeError(type(one))


class ChosenAt(SpecialAt):
    """Is a special that makes private choices in every group, at a temperature."""

    if TYPE_CHECKING:
        special: Special
        way: Choosing
        measure: type[Loss]
        temperature: Fraction

    @property
    def mechanism(self) -> str:
        return "exponential mechanism"

    def loss(self, distance: int) -> Pure | ZCDP:
        spread = self.special.spread
        return unit_loss(self._one_row, spread.rows, spread.squares, distance)

    def draw(self, counts: Counts, entropy: Entropy) -> tuple[Array, ...]:
        act = Act(("private choice", self), counts, moved_rows, self._at, self.loss)
        return entropy.settle(act, lambda: self.chosen(counts, entropy))

    @abstractmethod
    def chosen(self, counts: Counts, entropy: Entropy) -> tuple[Array, ...]:
        """Makes the choices."""

    def _at(self, moved: Sequence[int]) -> Pure | ZCDP:
        return unit_loss(self._one_row, sum(moved), sum(rows**2 for rows in moved), 1)

    @property
    def _one_row(self) -> Loss:
        return self.way.one_row(self.measure, self.temperature)


def moved_rows(left: Counts, right: Counts) -> tuple[int, ...]:
    """Gives how many rows each group has on one side only."""
    if len(left) != len(right):
        raise NoDistance("counts of bins", "they are of different numbers of groups.")
    found = []
    for ours, theirs in zip(left, right, strict=True):
        here, there = (Counter(dict(zip(bins.tolist(), rows.tolist(), strict=True))) for bins, rows in (ours, theirs))
        found.append(((here - there) + (there - here)).total())
    return tuple(found)


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
    """Gives whole numbers as steps from the lowest, moved into so many; −1 for missing ones."""
    missing = np.fromiter((value is None for value in values), dtype=np.bool_, count=len(values))
    whole = [0 if value is None else value for value in values] if missing.any() else values
    found = np.clip(np.asarray(whole, dtype=np.int64), low, low + many - 1) - low
    return np.where(missing, -1, found)


def expanded(question: Question) -> Question:
    """Gives the same question with a column for each cell of a list: the bins of a histogram, the top values in order.

    Lists stand alone in a column; what is computed, filtered or sorted by is one number.
    """
    computed = (question.having, *(one.by for one in question.order), *_parts(question))
    for made in computed:
        if made is not None and any(one.kind is Kind.LIST for one in statistics_in(made)):
            raise QueryRefused(
                "a histogram, or the most frequent values, become several columns of the answer, so they stand alone: "
                "compute with these columns once you have the answer."
            )
    taken = {name for name, made in question.columns if made.kind is not Kind.LIST}
    columns: list[tuple[str, Expression]] = []
    for name, made in question.columns:
        if not isinstance(made, Answered) or made.kind is not Kind.LIST:
            columns.append((name, made))
            continue
        for ending, item in items(made.statistic):
            found = f"{name}_{ending}"
            while found in taken:
                found += "_"
            taken.add(found)
            columns.append((found, Answered(item)))
    return replace(question, columns=tuple(columns))


def _parts(question: Question) -> Iterator[Expression]:
    for _, made in question.columns:
        yield from made.parts


def items(statistic: Statistic) -> list[tuple[str, Item]]:
    """Gives the cells of a list with what their columns are called: edges of bins, or ranks from 1."""
    match statistic:
        case Histogram(edges=edges) if len(edges) > MOST_ITEMS + 1:
            raise QueryRefused(f"a histogram has at most {MOST_ITEMS:,} bins; got {len(edges) - 1:,}.")
        case Histogram(edges=edges):
            bins = pairwise(edges)
            return [(f"{low}_{high}", Item(statistic, place)) for place, (low, high) in enumerate(bins)]
        case TopValues(most=most) if most > MOST_ITEMS:
            raise QueryRefused(f"at most {MOST_ITEMS:,} top values are found; got {most:,}.")
        case TopValues(most=most):
            return [(str(place + 1), Item(statistic, place)) for place in range(most)]
    raise TypeError(type(statistic))
