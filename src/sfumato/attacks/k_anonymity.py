"""k-anonymity by generalisation: cells are told less exactly, as little as will do, until each class has k rows.

The lattice of all combinations of levels is searched in order of loss, so that what is found is the least lossy one.
The loss of a cell is the share of the other values of its column that it can no longer be told apart from: 0 for a cell
as it was, 1 for one that could be anything, and 1 for each cell of a row that is left out (Iyengar 2002, Transforming
Data to Satisfy Privacy Constraints, KDD). The loss of a table is the mean over the cells of its quasi-identifiers.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from fractions import Fraction
from functools import cached_property
from itertools import pairwise, product
from numbers import Real
from typing import TypeAlias, final

import numpy as np
from numpy.typing import NDArray

from sfumato.attacks.tables import Cell, Given, Rows, matched, read_table, read_targets
from sfumato.attacks.uniqueness import class_numbers
from sfumato.errors import BadArgument, Several
from sfumato.exact import Number, integer, positive, probability, rational, text
from sfumato.release.progress import Progress, reporting

ANYTHING = "*"
MOST_COMBINATIONS = 1_000_000


class Rule(ABC):
    """How the cells of one column are made coarser and coarser.

    Level 0 leaves them as they are, and the last level, which every rule has, hides them. A custom rule says how many
    levels there are between, and what each makes of a cell.
    """

    @property
    @abstractmethod
    def steps(self) -> int:
        """Counts the levels between the first and the last."""

    @abstractmethod
    def step(self, cell: Cell, level: int) -> Cell:
        """A cell at a level between the first and the last."""

    def coarsen(self, cell: Cell, level: int) -> Cell:
        """A cell at any level; a missing cell stays missing, until the last level hides it."""
        if level > self.steps:
            return ANYTHING
        return cell if level == 0 or cell is None or cell is math.nan else self.step(cell, level)


@final
@dataclass(frozen=True)
class Prefix(Rule):
    """Keeps fewer and fewer first letters of a text, such as a ZIP code: ``Prefix(3, 2)`` tells 303**, then 30***.

    The stars tell how long a text is; where no letter is kept, not even that is told.

    >>> Prefix(3, 2).coarsen("30309", 2)
    '30***'
    """

    kept: tuple[int, ...]

    def __init__(self, *kept: int) -> None:
        counts = tuple(integer(count, "a number of letters", least=0) for count in kept)
        if not counts or any(more <= fewer for more, fewer in pairwise(counts)):
            raise BadArgument("the numbers of letters to keep", "one or more, each less than the one before", kept)
        object.__setattr__(self, "kept", counts)

    @property
    def steps(self) -> int:
        return len(self.kept)

    def step(self, cell: Cell, level: int) -> Cell:
        """The first letters, and a star for each of the others."""
        if not isinstance(cell, str):
            raise BadArgument(
                "a column with the rule Prefix", "texts: as numbers, ZIP codes lose zeros", type(cell).__name__
            )
        kept = self.kept[level - 1]
        return cell[:kept] + "*" * (len(cell) - kept) if kept else ANYTHING


Band: TypeAlias = tuple[Fraction, Fraction]


@final
@dataclass(frozen=True)
class Bands(Rule):
    """Puts numbers into wider and wider bands: of a width, or listed as pairs of bounds that both belong to the band.

    >>> Bands(5, 10).coarsen(33, 1), Bands(5, 10).coarsen(33, 2)
    ('[30, 35)', '[30, 40)')
    >>> Bands([(18, 24), (25, 30)]).coarsen(27, 1)
    '[25, 30]'
    """

    ladder: tuple[Fraction | tuple[Band, ...], ...]

    def __init__(self, *ladder: Number | list[tuple[Number, Number]]) -> None:
        if not ladder:
            raise BadArgument("Bands", "given a width, or a list of bands", ())
        rungs = tuple(_bands(rung) if isinstance(rung, list) else positive(rung, "a width") for rung in ladder)
        object.__setattr__(self, "ladder", rungs)

    @property
    def steps(self) -> int:
        return len(self.ladder)

    def step(self, cell: Cell, level: int) -> Cell:
        """The band that a number is in."""
        if not isinstance(cell, Real | Decimal) or isinstance(cell, bool):
            raise BadArgument("a column with the rule Bands", "numbers", type(cell).__name__)
        if math.isinf(cell):
            return cell
        bands, value = self.ladder[level - 1], Fraction(cell)
        if isinstance(bands, Fraction):
            low = math.floor(value / bands) * bands
            return f"[{_bound(low)}, {_bound(low + bands)})"
        for low, high in bands:
            if low <= value <= high:
                return f"[{_bound(low)}, {_bound(high)}]"
        raise BadArgument("the bands of a column", "such that each of its numbers is in one", "a number in none")


def _bound(value: Fraction) -> str:
    return str(value.numerator) if value.denominator == 1 else text(value)


def _bands(pairs: Sequence[tuple[Number, Number]]) -> tuple[Band, ...]:
    if not pairs or any(not isinstance(pair, list | tuple) or len(pair) != 2 for pair in pairs):
        raise BadArgument("a list of bands", "pairs of bounds, one pair or more", pairs)
    bands = sorted((rational(low, "a lower bound"), rational(high, "an upper bound")) for low, high in pairs)
    for low, high in bands:
        if low > high:
            raise BadArgument("a band", "a lower bound, then an upper one", Several(low, high))
    for (_, high), (low, _) in pairwise(bands):
        if low <= high:
            must = "apart from each other: both bounds belong to a band, so 75-80 and 80-85 would share 80"
            raise BadArgument("bands", must, pairs)
    return tuple(bands)


@final
@dataclass(frozen=True)
class Generalised:
    """A table made k-anonymous: its columns, the level of each, what that lost, which rows are left out.

    ``loss`` lies between 0, nothing hidden, and 1, all hidden.
    """

    columns: Mapping[str, tuple[Cell, ...]] = field(repr=False)
    k: int
    rules: Mapping[str, Rule]
    levels: Mapping[str, int]
    loss: Fraction
    suppressed: tuple[int, ...] = field(repr=False)

    def coarsen(self, known: Given) -> Rows:
        """Makes what is known of targets as coarse, so that an attacker can look them up."""
        people = read_targets(known)
        columns = {
            name: _coarsen_column(people.column(name), self.rules[name], self.levels[name])
            for name in self.rules
            if name in people.columns
        }
        return people.replaced(columns)

    def __str__(self) -> str:
        rows = len(next(iter(self.columns.values())))
        levels = ", ".join(
            f"{name} at level {level} of {self.rules[name].steps + 1}" for name, level in self.levels.items()
        )
        return (
            f"a table of {rows} rows, k = {self.k}: {levels}; loss {float(self.loss):.3g}, "
            f"rows left out: {len(self.suppressed)}"
        )


def generalise(
    table: Given,
    k: int,
    rules: Mapping[str, Rule],
    *,
    suppress: Number = 0,
    progress: Progress | None = None,
) -> Generalised:
    """Makes a table k-anonymous on the columns that have rules, with the least loss; drop identifiers first.

    ``suppress`` is the share of rows that may be left out. k-anonymity does not protect: see `homogeneity`,
    `background_knowledge` and `intersection`.

    >>> people = {"zip": ["30309", "30457", "19456", "19445"], "age": [33, 35, 67, 64]}
    >>> made = generalise(people, 2, {"zip": Prefix(3, 2), "age": Bands(5, 10)})
    >>> made.columns["zip"], dict(made.levels)
    (('30***', '30***', '19***', '19***'), {'zip': 2, 'age': 2})
    """
    lattice = _Lattice.of(read_table(table), rules)
    return lattice.best(k, probability(suppress, "suppress"), progress)


def generalisation_losses(
    table: Given,
    ks: Iterable[int],
    rules: Mapping[str, Rule],
    *,
    suppress: Number = 0,
    progress: Progress | None = None,
) -> tuple[tuple[int, float], ...]:
    """The least loss for each k: what privacy of this kind costs as k grows, to be drawn.

    >>> people = {"age": [31, 33, 35, 64]}
    >>> generalisation_losses(people, [1, 2, 4], {"age": Bands(50)})
    ((1, 0.0), (2, 1.0), (4, 1.0))
    """
    lattice, share = _Lattice.of(read_table(table), rules), probability(suppress, "suppress")
    wanted, losses = [integer(k, "k", least=1) for k in ks], list[tuple[int, float]]()
    with reporting(progress, "generalising") as tell:
        for k in wanted:
            losses.append((k, float(lattice.best(k, share, lambda done, steps: None).loss)))
            tell(len(losses), len(wanted))
    return tuple(losses)


@final
@dataclass(frozen=True, eq=False)
class _Lattice:
    """A table at every level: for each column and level, what each row tells, and how many values that could be."""

    table: Rows
    rules: Mapping[str, Rule]
    codes: Mapping[str, tuple[NDArray[np.int64], ...]]
    spread: Mapping[str, tuple[NDArray[np.int64], ...]]
    values: Mapping[str, int]

    @staticmethod
    def of(table: Rows, rules: Mapping[str, Rule]) -> _Lattice:
        """Codes every column at every level of its rule."""
        if not isinstance(rules, Mapping):
            raise BadArgument("rules", "Prefix(…) or Bands(…) for each column, by its name", rules)
        names = table.chosen(rules, "rules")
        if any(not isinstance(rule, Rule) for rule in rules.values()):
            raise BadArgument("rules", "Prefix(…) or Bands(…) for each column", dict(rules))
        if math.prod(rule.steps + 2 for rule in rules.values()) > MOST_COMBINATIONS:
            raise BadArgument(
                "rules", f"such that there are at most {MOST_COMBINATIONS} combinations of levels", "more"
            )
        codes, spread, values = {}, {}, {}
        for name in names:
            exact = table.codes(name)
            cells = [table.columns[name][place] for place in np.unique(exact, return_index=True)[1].tolist()]
            by_level = [_codes(cells, rules[name], level) for level in range(rules[name].steps + 2)]
            codes[name], values[name] = tuple(codes_at[exact] for codes_at in by_level), len(cells)
            spread[name] = tuple(np.bincount(codes_at)[codes_at][exact] for codes_at in by_level)
        return _Lattice(table, rules, codes, spread, values)

    @cached_property
    def nodes(self) -> list[tuple[Fraction, tuple[int, ...]]]:
        """All combinations of levels with their losses where no row is left out, the least lossy first."""
        cells = len(self.codes) * len(self.table)
        losses = [
            [Fraction(int((counts - 1).sum()), max(1, self.values[name] - 1) * cells) for counts in self.spread[name]]
            for name in self.codes
        ]
        ways = product(*(enumerate(column) for column in losses))
        return sorted((sum((loss for _, loss in way), Fraction(0)), tuple(level for level, _ in way)) for way in ways)

    def best(self, k: int, suppress: Fraction, progress: Progress | None) -> Generalised:
        """Finds the combination of levels of the least loss that reaches k; of equal ones the first, level by level."""
        least, rows = integer(k, "k", least=1), len(self.table)
        if least > rows:
            raise BadArgument("k", f"at most the number of rows, {rows}", k)
        nodes, everyone = self.nodes, np.ones(rows, dtype=np.bool_)
        best = (*nodes[-1], everyone)  # all hidden: one class of all rows
        with reporting(progress, "searching levels") as tell:
            for place, (floor, node) in enumerate(nodes):
                if floor > best[0]:
                    break
                in_large = self._large(node, least)
                if in_large.any() and rows - int(in_large.sum()) <= suppress * rows:
                    loss = floor if in_large.all() else self._loss(node, in_large)
                    best = min(best, (loss, node, in_large), key=lambda candidate: candidate[:2])
                tell(place + 1, len(nodes))
        return self._generalised(*best, least)

    def _large(self, node: tuple[int, ...], k: int) -> NDArray[np.bool_]:
        """Marks the rows with at least k rows in their class."""
        numbers = class_numbers([codes[level] for codes, level in zip(self.codes.values(), node, strict=True)])
        return np.asarray(np.bincount(numbers)[numbers] >= k)

    def _loss(self, node: tuple[int, ...], in_large: NDArray[np.bool_]) -> Fraction:
        total = Fraction(len(node) * int((~in_large).sum()))
        for name, level in zip(self.codes, node, strict=True):
            others = int((self.spread[name][level][in_large] - 1).sum())
            total += Fraction(others, max(1, self.values[name] - 1))
        return total / (len(node) * len(self.table))

    def _generalised(self, loss: Fraction, node: tuple[int, ...], in_large: NDArray[np.bool_], k: int) -> Generalised:
        levels = dict(zip(self.codes, node, strict=True))
        left = self.table.kept(np.flatnonzero(in_large).tolist())
        columns = {
            name: _coarsen_column(column, self.rules[name], levels[name]) if name in levels else column
            for name, column in left.columns.items()
        }
        return Generalised(columns, k, dict(self.rules), levels, loss, tuple(np.flatnonzero(~in_large).tolist()))


def _codes(cells: Sequence[Cell], rule: Rule, level: int) -> NDArray[np.int64]:
    seen: dict[Cell, int] = {}
    return np.array([seen.setdefault(matched(rule.coarsen(cell, level)), len(seen)) for cell in cells], dtype=np.int64)


def _coarsen_column(cells: Sequence[Cell], rule: Rule, level: int) -> tuple[Cell, ...]:
    """Makes a column coarser, each of its different values once."""
    seen: dict[Cell, Cell] = {}
    for cell in cells:
        if (key := matched(cell)) not in seen:
            seen[key] = rule.coarsen(cell, level)
    return tuple(seen[matched(cell)] for cell in cells)
