"""Cells: what an engine computes: for each group, whole numbers on a public grid.

An engine is a calculator. It is given a relation, the columns to group by, how much of each unit to keep, and what to
add up; it gives whole numbers. It never sees noise, losses or the ledger, and what it gives never leaves without noise.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from math import prod
from typing import Any, TypeAlias, final

import numpy as np
from numpy.typing import NDArray

from sfumato.query.nodes.expressions import Expression
from sfumato.query.nodes.kinds import Value
from sfumato.query.nodes.relations import Relation
from sfumato.query.plan.grids import Grid


@final
@dataclass(frozen=True)
class Term:
    """A numeric expression on a grid."""

    of: Expression
    grid: Grid


@final
@dataclass(frozen=True)
class Rows:
    """Counts rows in which ``of`` is not missing (all rows, if None), each as 2 to the power of ``bits`` steps.

    Where units are scaled down, a part of their rows counts as a fraction: steps make room for it.
    """

    of: Expression | None = None
    where: Expression | None = None
    bits: int = 0


@final
@dataclass(frozen=True)
class Total:
    """Adds up products of terms over the rows in which none of them is missing."""

    terms: tuple[Term, ...]
    where: Expression | None = None


@final
@dataclass(frozen=True)
class Units:
    """Counts units that have a row; each counts once in a group."""

    where: Expression | None = None


@final
@dataclass(frozen=True)
class Distinct:
    """Counts the different values of an expression that are not missing; with ``others``, combinations without one.

    With a ``grid`` values are steps of it, which are added up instead of counted if they are ``summed``. Of each unit
    and group at most ``Bound.rows`` different values are kept, the first by hash.
    """

    of: Expression
    where: Expression | None = None
    others: tuple[Expression, ...] = ()
    grid: Grid | None = None
    summed: bool = False

    @property
    def operands(self) -> tuple[Expression, ...]:
        """All that is looked at in a row, besides the condition."""
        return (self.of, *self.others)


ExactAggregate: TypeAlias = Rows | Total | Units | Distinct
"""One whole number for each group, made of the rows for which ``where`` is true (all of them, if None).

All of rows and sums are bounded alike. Of a unit with n rows in a group, whatever is in them, and n more than
``Bound.rows`` = m, each of its numbers s becomes s·m / n, rounded towards 0: as if m rows were there that are like its
own on average. So shares and averages of what is kept are those of what was there."""


@final
@dataclass(frozen=True)
class Bound:
    """How much of each unit is kept: how many groups, and how much in each; None: all, for it is bounded already.

    Which groups of a unit are kept is decided by hashes of its identity and the groups' keys: by that unit's rows
    alone. With ``cut``, rows beyond ``rows`` are left out, as if drawn at random; else numbers are scaled down (see
    `ExactAggregate`), which is as good on average and has less variance. Where rows are the units, nothing is ever cut.
    """

    groups: int | None = None
    rows: int | None = None
    cut: bool = False


@final
@dataclass(frozen=True)
class PublicKeys:
    """A list of public keys: a column for each expression that is grouped by, all of one length, no row twice.

    ``certain`` says that every row's key is among them by what is known of its columns, so that nothing needs to be
    looked up before units are bounded; otherwise rows with other keys are left out first.
    """

    columns: tuple[tuple[Value, ...], ...]
    certain: bool = False

    def __hash__(self) -> int:
        return self._hash

    @cached_property
    def _hash(self) -> int:
        """Worked out once: there may be very many."""
        return hash(self.columns)

    def __len__(self) -> int:
        return len(self.columns[0]) if self.columns else 1


@final
@dataclass(frozen=True)
class Cells:
    """What to compute: for each group (or each public key) of a relation, one whole number for each tally.

    Without keys there is one group, which is there even if no row is. ``inner`` are further keys of the tallies (such
    as the bin of a histogram) that make cells inside a group but are no groups: `Bound.groups` does not count them.
    """

    source: Relation
    keys: tuple[Expression, ...]
    tallies: tuple[ExactAggregate, ...]
    bound: Bound = Bound()
    listed: PublicKeys | None = None
    inner: tuple[Expression, ...] = ()

    @cached_property
    def kept(self) -> dict[str, Any]:
        """What engines wrote down for these very cells, by their names: they rehearse and run the same."""
        return {}


@final
@dataclass(frozen=True)
class Marginals:
    """Contingency tables to count of the same rows: how many have each combination of codes, for sets of columns.

    Every field of the source holds whole numbers from 0 up to its number of ``codes`` less 1, and none is missing. The
    tables stand one after another, in each of them the last column running fastest.
    """

    source: Relation
    codes: tuple[int, ...]
    cliques: tuple[tuple[int, ...], ...]

    @property
    def sizes(self) -> tuple[int, ...]:
        """The number of cells of each table."""
        return tuple(prod(self.codes[place] for place in clique) for clique in self.cliques)

    @property
    def cells(self) -> tuple[Cells, ...]:
        """The same, table by table, for engines that know no better way."""
        fields = self.source.fields
        return tuple(Cells(self.source, tuple(fields[place] for place in clique), (Rows(),)) for clique in self.cliques)

    def laid_out(self, table: int, computed: Computed) -> NDArray[np.int64]:
        """The counts of one table with all its cells, from those that occur."""
        made, cell = np.zeros(self.sizes[table], np.int64), np.zeros(len(computed.numbers[0]), np.int64)
        for place, codes in zip(self.cliques[table], computed.keys, strict=True):
            cell = cell * self.codes[place] + np.asarray(codes, np.int64)
        made[cell] = computed.numbers[0]
        return made


@final
@dataclass(frozen=True)
class Computed:
    """What an engine returns: for each cell its keys, and its whole numbers, in the order of the tallies.

    ``places`` holds for each cell the place of its key in `PublicKeys`, where there are any; ``keys`` one sequence of
    values for each key otherwise, in the order of the keys (missing values first). ``inner`` likewise. Numbers are
    NumPy arrays of int64, or of Python ints where they are larger.
    """

    numbers: tuple[NDArray[Any], ...]
    places: NDArray[Any] | None = None
    keys: tuple[Sequence[Value], ...] = ()
    inner: tuple[Sequence[Value], ...] = ()
