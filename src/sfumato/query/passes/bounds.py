"""Places contribution bounds: as late as is sound, just before rows become cells, and only where facts do not do it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import final

from sfumato.core.spread import Spread, Whole
from sfumato.errors import QueryRefused
from sfumato.query.cells import Bound, Distinct, Tally, Units
from sfumato.query.expressions import Expression
from sfumato.query.reach import Reach

THE_QUESTION = "the question"


@final
@dataclass(frozen=True)
class Placed:
    """Is how much of a unit is kept, how its rows then spread over the groups, and why.

    ``values`` say how different values spread, where a unit has fewer of them than rows.
    """

    bound: Bound
    spread: Spread
    why: tuple[str, ...]
    values: tuple[tuple[Tally, Spread], ...] = ()

    def spread_of(self, tally: Tally) -> Spread:
        """Gives how what a tally counts of a unit spreads over the groups."""
        return dict(self.values).get(tally, self.spread)


@final
@dataclass(frozen=True)
class Wanted:
    """Is how much of a unit is to be kept, by the question or by the codebook; None where nobody says."""

    groups: int | None = None
    rows: int | None = None
    source: str = THE_QUESTION


def wanted(keys: Sequence[Expression], groups: int | None, rows: int | None, kept: Reach) -> Wanted:
    """Gives how much of a unit to keep: as the question says, or else as the codebook does."""
    if groups is not None or rows is not None:
        return Wanted(groups, rows)
    within = replace(kept, rows=math.inf) if kept.groups or kept.rows_each else Reach()  # else rows in all are cut
    known = (None if most == math.inf else int(most) for most in (within.groups_by(keys), within.rows_in(keys)))
    return Wanted(next(known), next(known), "the codebook")


def placed(
    keys: Sequence[Expression],
    tallies: Sequence[Tally],
    reach: Reach,
    wanted: Wanted,
    *,
    listed: int | None,
    by_rows: bool,
    who: str,
) -> Placed:
    """Decides how a unit is bounded; refuses where one could be in groups, or have rows, without limit.

    ``listed`` is the number of public keys, where there are any: nobody is in more groups than there are.
    """
    known_groups = min(reach.groups_by(keys), math.inf if listed is None else max(1, listed))
    if by_rows:
        if wanted.source == THE_QUESTION and (wanted.groups or wanted.rows):
            raise QueryRefused(
                "rows are the units here, and nothing says which of them belong together, so that none are cut: leave "
                "out groups= and rows_each=; or protect people, by an id in the codebook."
            )
        return _rows(reach, known_groups, who)
    groups, cut_groups, why_groups = _least(known_groups, wanted.groups, "groups of a unit", wanted.source)
    rows, cut_rows, why_rows = _rows_each(keys, reach, wanted)
    if groups == math.inf:
        raise QueryRefused(_endless(who, "be in any number of groups", "groups=4"))
    most = max((_of_one(tally, reach) for tally in tallies), default=1)
    if most <= rows and most < math.inf:
        cut_rows, rows = None, most
        why_rows = "each unit counts once a group" if most == 1 else f"different values of a unit: at most {most}"
    if rows == math.inf:
        raise QueryRefused(_endless(who, "have any number of rows in a group", "rows_each=10"))
    spread = Spread(groups, reach.rows, rows)
    values = tuple((tally, _values(tally, keys, reach, spread)) for tally in tallies if isinstance(tally, Distinct))
    return Placed(Bound(cut_groups, cut_rows), spread, (why_groups, why_rows), values)


def _of_one(tally: Tally, reach: Reach) -> Whole:
    """Gives how much one unit adds to a tally in a group at most, whatever rows it has there."""
    if isinstance(tally, Units):
        return 1
    return reach.values_of(tally.of) if isinstance(tally, Distinct) else math.inf


def _values(tally: Distinct, keys: Sequence[Expression], reach: Reach, spread: Spread) -> Spread:
    """Gives how the different values of a unit spread over the groups: no more than its rows do."""
    pairs, most = reach.values_of(tally.of, keys), reach.values_of(tally.of)
    return Spread(spread.parts, min(spread.rows, pairs), min(spread.largest, most))


def scales(keys: Sequence[Expression], reach: Reach, wanted: Wanted) -> bool:
    """Tells whether units may have to be scaled down to a number of rows in each group."""
    return _rows_each(keys, reach, wanted)[1] is not None


def _rows_each(keys: Sequence[Expression], reach: Reach, wanted: Wanted) -> tuple[Whole, int | None, str]:
    """Gives the bound on rows in each group. A fact about it is held by cutting: reading may put two keys into one."""
    what, stated = "rows of a unit in each group", reach.rows_in(keys)
    if stated < reach.rows and (wanted.rows is None or stated <= wanted.rows):
        return stated, int(stated), f"{what}: at most {stated}, a fact, and cut where it does not hold"
    return _least(reach.rows, wanted.rows, what, wanted.source)


def _rows(reach: Reach, groups: Whole, who: str) -> Placed:
    """Bounds units that are rows: by facts alone, for nothing says which rows belong together."""
    if reach.rows == math.inf:
        raise QueryRefused(
            f"a row of {who} may match any number of rows of a public table here, so nothing bounds what it can move. "
            "State the key of the public table in the codebook (key: [column]), and join on it."
        )
    return Placed(
        Bound(),
        Spread(groups, reach.rows, reach.rows),
        (f"rows: each becomes at most {reach.rows}; how many a unit has is part of the price",),
    )


def _least(known: Whole, wanted: int | None, what: str, source: str) -> tuple[Whole, int | None, str]:
    """Gives the bound that holds, what must be cut for it (None: nothing), and why."""
    if wanted is not None and wanted < known:
        return wanted, wanted, f"{what}: at most {wanted}, cut by {source}"
    return known, None, f"{what}: at most {known}, a fact: nothing to cut"


def _endless(who: str, what: str, write: str) -> str:
    return (
        f"{who} could {what} here, and no noise hides that. Say how much of each to keep, {write} (the rest is left "
        "out); or state in the codebook what is so in every possible table (contributions: …); or buy a bound with a "
        "part of the loss: session.contributions(…)."
    )
