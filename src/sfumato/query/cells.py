"""Cells: what an engine computes: for each group, whole numbers on a public grid.

An engine is a calculator. It is given a relation, the columns to group by, how much of each unit to keep, and what to
add up; it gives whole numbers. It never sees noise, losses or the ledger, and what it gives never leaves without noise.
"""

from __future__ import annotations

from abc import ABC
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, final

from numpy.typing import NDArray

from sfumato.query.expressions import Expression
from sfumato.query.grids import Grid
from sfumato.query.kinds import Value
from sfumato.query.relations import Relation


@final
@dataclass(frozen=True)
class Term:
    """Is a numeric expression on a grid."""

    of: Expression
    grid: Grid


class Tally(ABC):  # noqa: B024  # what it has are fields of the records below
    """Is one whole number for each group, made of the rows for which ``where`` is true (all of them, if None).

    All tallies of rows and sums are bounded alike. Of a unit with n rows in a group, whatever is in them, and n more
    than ``Bound.rows`` = m, each of its numbers s becomes s·m / n, rounded towards 0: as if m rows were there that are
    like its own on average. So shares and averages of what is kept are those of what was there.
    """

    if TYPE_CHECKING:
        where: Expression | None


@final
@dataclass(frozen=True)
class Rows(Tally):
    """Counts rows in which ``of`` is not missing (all rows, if None), each as 2 to the power of ``bits`` steps.

    Where units are scaled down, a part of their rows counts as a fraction: steps make room for it.
    """

    of: Expression | None = None
    where: Expression | None = None
    bits: int = 0


@final
@dataclass(frozen=True)
class Total(Tally):
    """Adds up products of terms over the rows in which none of them is missing."""

    terms: tuple[Term, ...]
    where: Expression | None = None


@final
@dataclass(frozen=True)
class Units(Tally):
    """Counts units that have a row; each counts once in a group."""

    where: Expression | None = None


@final
@dataclass(frozen=True)
class Distinct(Tally):
    """Counts the different values of an expression that are not missing.

    Of each unit and group only so many different values are kept as ``Bound.rows`` allows, the first by hash.
    """

    of: Expression
    where: Expression | None = None


@final
@dataclass(frozen=True)
class Bound:
    """Is how much of each unit is kept: so many groups, and so much in each; None: all, for it is bounded already.

    Which groups of a unit are kept is decided by hashes of its identity and the groups' keys: by that unit's rows
    alone. With ``cut``, rows beyond ``rows`` are left out, as if drawn at random; else numbers are scaled down (see
    `Tally`), which is as good on average and has less variance. Where rows are the units, nothing is ever cut.
    """

    groups: int | None = None
    rows: int | None = None
    cut: bool = False


@final
@dataclass(frozen=True)
class Listed:
    """Is a list of public keys: a column for each expression that is grouped by, all of one length, no row twice.

    ``certain`` says that every row's key is among them by what is known of its columns, so that nothing need be looked
    up before units are bounded; else rows with other keys are left out first.
    """

    columns: tuple[tuple[Value, ...], ...]
    certain: bool = False

    def __len__(self) -> int:
        return len(self.columns[0]) if self.columns else 1


@final
@dataclass(frozen=True)
class Cells:
    """Is what to compute: for each group (or each public key) of a relation, one whole number for each tally.

    Without keys there is one group, which is there even if no row is. ``inner`` are further keys of the tallies (such
    as the bin of a histogram) that make cells inside a group but are no groups: `Bound.groups` does not count them.
    """

    source: Relation
    keys: tuple[Expression, ...]
    tallies: tuple[Tally, ...]
    bound: Bound = Bound()
    listed: Listed | None = None
    inner: tuple[Expression, ...] = ()


@final
@dataclass(frozen=True)
class Computed:
    """Is what an engine gives back: for each cell its keys, and its whole numbers, in the order of the tallies.

    ``places`` holds for each cell the place of its key in `Listed`, where keys were listed; ``keys`` one sequence of
    values for each key otherwise, in the order of the keys (missing values first). ``inner`` likewise. Numbers are
    NumPy arrays of int64, or of Python ints where they are larger.
    """

    numbers: tuple[NDArray[Any], ...]
    places: NDArray[Any] | None = None
    keys: tuple[Sequence[Value], ...] = ()
    inner: tuple[Sequence[Value], ...] = ()
