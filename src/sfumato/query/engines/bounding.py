"""Contribution bounds as a small relational plan: what is kept of each unit, before and while rows are added up.

An engine carries the plan out; what is kept is decided here, in the same way for all of them. Groups, rows and values
of a unit are taken in the order of a hash of its identity and of themselves, then in their own order: so no more are
taken than the bound says, whatever the hash does, and which ones depends on that unit's rows alone.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias, final

from sfumato.guarantee import guarantee
from sfumato.query.plan.engine_plan import Cells, Distinct, ExactAggregate, Units

Names: TypeAlias = tuple[str, ...]

WIDE = 8
"""More numbers than these for each unit at once take long, and much memory: few units should need them."""


@final
@dataclass(frozen=True)
class RowColumns:
    """The columns of rows that wait to be added up: the unit's identity, keys, inner keys and what aggregates look at.

    ``values`` are the inner keys and all that aggregates look at, each column once; ``inputs`` has one of them for each
    aggregate, or None where it counts all rows. ``hashed`` stands for the keys in a hash: it is the keys themselves, or
    a hash of them where they have been numbered. ``cheap``: as in `Incoming`.
    """

    units: Names
    keys: Names
    hashed: Names
    inner: Names
    values: Names
    inputs: tuple[str | None, ...]
    cheap: bool = False

    @property
    def cell(self) -> Names:
        """The unit and its group."""
        return self.units + self.keys


@final
@dataclass(frozen=True)
class Number:
    """A whole number for each cell: an aggregate of a column (of all rows, if None), under a name."""

    name: str
    tally: ExactAggregate
    column: str | None


@final
@dataclass(frozen=True)
class Incoming:
    """All rows. ``cheap`` says that to make them anew takes no longer than to keep them."""

    columns: Names
    cheap: bool = False


@final
@dataclass(frozen=True)
class FirstGroups:
    """The rows of the first ``most`` groups of each unit: by a hash of the unit and ``hashed``, then by the keys.

    Rows of one group have one rank: they stay or go together.
    """

    source: Incoming
    units: Names
    keys: Names
    hashed: Names
    most: int


@final
@dataclass(frozen=True)
class FirstRows:
    """The first ``most`` rows ``within`` each unit (and group): by a hash of the unit, the values and a number, then by
    values and number. The number counts rows that are alike in all of these: else they would stay or go together, and
    what a unit has often would count no more than what it has once.

    ``rarely`` says that hardly any unit has more: engines may look for those that do first.
    """

    source: Incoming | FirstGroups
    units: Names
    within: Names
    values: Names
    most: int
    rarely: bool = False


@final
@dataclass(frozen=True)
class FirstValues:
    """Rows in which a value is there; of each unit and cell those of its first ``most`` different values (all, if
    None): by a hash of the unit and the value, then by the value."""

    source: Incoming | FirstGroups
    units: Names
    within: Names
    value: str
    most: int | None


RowPlan: TypeAlias = Incoming | FirstGroups | FirstRows | FirstValues
"""Rows of which some may have been left out."""


@final
@dataclass(frozen=True)
class AddUp:
    """Adds up rows as they are, for each combination of the columns ``by``. Units are counted by their identity."""

    source: RowPlan
    by: Names
    units: Names
    numbers: tuple[Number, ...]


@final
@dataclass(frozen=True)
class ScaleDown:
    """Adds up one number for each unit and cell, scaled down where the unit has too many rows in the group.

    Of a unit with n > ``most`` rows within ``group``, whatever is in them, a number s becomes s · most / n, rounded
    towards 0; the count of all rows becomes ``most``. None: nothing is scaled. A unit counts once in each cell that it
    has something in. ``corrects`` says that adding rows up, and taking away what scaling takes, gives the same: that is
    quicker where few units have too many rows. ``apart`` says that those are to be looked for first, and the rows of
    all others added up as one cell, as they are: the same again, and quicker where many numbers are made at once.
    """

    source: RowPlan
    by: Names
    units: Names
    group: Names
    numbers: tuple[Number, ...]
    most: int | None
    corrects: bool = False
    apart: bool = False


@final
@dataclass(frozen=True)
class Beside:
    """Numbers of the same rows side by side: counts of different values are 0 where they have no such cell."""

    source: RowPlan
    by: Names
    scaled: ScaleDown
    different: tuple[AddUp, ...]


NumberPlan: TypeAlias = AddUp | ScaleDown | Beside
"""Whole numbers for each cell."""


@guarantee(
    claim="a unit is in at most Bound.groups groups, and adds to each at most what Bound.rows rows, or as many "
    "different values, add; which of its rows count, and for how much, depends on its rows alone",
    proof="proofs/query.md#bounding",
    reviewed="3cd5c6c7d7c4",
)
def bounding_plan(cells: Cells, columns: RowColumns) -> NumberPlan:
    """The numbers of cells, from rows with these columns. Rows without identity are units themselves: all are kept."""
    bound, units, by = cells.bound, columns.units, columns.keys + columns.inner
    pairs = zip(cells.tallies, columns.inputs, strict=True)
    numbers = tuple(Number(f"n{place}", tally, column) for place, (tally, column) in enumerate(pairs))
    incoming = Incoming(columns.cell + columns.values, columns.cheap)
    rows: Incoming | FirstGroups = incoming
    if not units:
        return AddUp(rows, by, units, numbers)
    if bound.groups is not None and columns.keys:
        rows = FirstGroups(incoming, units, columns.keys, columns.hashed, bound.groups)
    counted = [tally for tally in cells.tallies if isinstance(tally, Units)]
    if bound.rows is None and not counted:
        return AddUp(rows, by, units, numbers)
    if bound.rows is not None and bound.cut:
        return AddUp(FirstRows(rows, units, columns.cell, columns.values, bound.rows), by, units, numbers)
    different = [number for number in numbers if isinstance(number.tally, Distinct)]
    others = tuple(number for number in numbers if number not in different)
    if not different:
        corrects = isinstance(rows, FirstGroups) and not columns.inner and all(tally.where is None for tally in counted)
        apart = len(others) > WIDE and not by and not counted and bound.rows is not None and incoming.cheap
        return ScaleDown(rows, by, units, columns.cell, others, bound.rows, corrects, apart)
    counts = tuple(
        AddUp(FirstValues(incoming, units, units + by, str(number.column), bound.rows), by, units, (number,))
        for number in different
    )
    if len(numbers) == 1 and not by:  # there is one cell, whatever is in it
        return counts[0]
    return Beside(rows, by, ScaleDown(incoming, by, units, columns.cell, others, bound.rows), counts)
