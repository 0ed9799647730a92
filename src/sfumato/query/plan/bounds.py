"""Places contribution bounds: as late as is sound, just before rows become cells, and only where facts do not do it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import final

from sfumato.core.grouped_distance import GroupedDistance, Whole
from sfumato.errors import QueryRefused
from sfumato.query.nodes.expressions import Expression
from sfumato.query.nodes.kinds import MOST_ROWS
from sfumato.query.plan.contribution_facts import Reach
from sfumato.query.plan.engine_plan import Bound, Distinct, ExactAggregate, Rows, Total, Units
from sfumato.release.record import Cut, Cutting
from sfumato.transforms.meetings import net_of_meeting

THE_QUESTION, THE_CODEBOOK = "the question", "the codebook"


@final
@dataclass(frozen=True)
class Placed:
    """How much of a unit is kept, how its rows then spread over the groups, and why.

    ``facts`` are what holds without cutting anything, ``cuts`` what is cut so that it holds. ``values`` say how
    different values spread, where a unit has fewer of them than rows.
    """

    bound: Bound
    spread: GroupedDistance
    facts: tuple[str, ...] = ()
    cuts: tuple[Cut, ...] = ()
    values: tuple[tuple[ExactAggregate, GroupedDistance], ...] = ()

    @property
    def why(self) -> tuple[str, ...]:
        """The cuts and the facts, as people read them."""
        return (*map(str, self.cuts), *self.facts)

    def also(self, cuts: tuple[Cut, ...]) -> Placed:
        """Adds cuts that were made elsewhere; bounds stay as they are."""
        return replace(self, cuts=(*self.cuts, *cuts))

    def spread_of(self, tally: ExactAggregate) -> GroupedDistance:
        """How what a tally counts of a unit spreads over the groups: its rows, or its different values."""
        return dict(self.values).get(tally, self.spread)


@final
@dataclass(frozen=True)
class Wanted:
    """How much of a unit is to be kept, by the question or by the codebook; None where nobody says."""

    groups: int | None = None
    rows: int | None = None
    source: str = THE_QUESTION


def wanted(keys: Sequence[Expression], groups: int | None, rows: int | None, kept: Reach) -> Wanted:
    """Decides how much of a unit to keep: as the question says, or else as the codebook does."""
    if groups is not None or rows is not None:
        return Wanted(groups, rows)
    within = replace(kept, rows=math.inf) if kept.groups or kept.rows_each else Reach()  # else rows in all are cut
    known = (None if most == math.inf else int(most) for most in (within.groups_by(keys), within.rows_in(keys)))
    return Wanted(next(known), next(known), THE_CODEBOOK)


def placed(
    keys: Sequence[Expression],
    tallies: Sequence[ExactAggregate],
    reach: Reach,
    wanted: Wanted,
    *,
    listed: int | None,
    by_rows: bool,
    who: str,
    kept: Kept | None = None,
) -> Placed:
    """Decides how a unit is bounded; refuses where one could be in groups, or have rows, without limit.

    ``listed`` is the number of public keys, where there are any: nobody is in more groups than there are. ``kept`` says
    that rows in all were cut before, which ``reach`` knows of: what follows from that is no fact about the data.
    """
    most = math.inf if listed is None else max(1, listed)
    known_groups = min(reach.groups_by(keys), most)
    if by_rows:
        if wanted.source == THE_QUESTION and (wanted.groups or wanted.rows):
            raise QueryRefused(
                "rows are the units here, and nothing says which of them belong together, so that none are cut: leave "
                "out max_groups= and max_rows_per_group=; or protect people, by an id in the codebook."
            )
        return _rows(reach, known_groups, who)
    before = reach if kept is None else kept.before
    in_all = None if kept is None else kept.cut(who)
    groups = _least(known_groups, wanted.groups, min(before.groups_by(keys), most), "group", f"of {who}", wanted.source)
    rows = _rows_each(keys, reach, before, wanted, who)
    if groups.bound == math.inf:
        raise QueryRefused(_endless(who, "be in any number of groups", "max_groups=4"))
    _check_modest(who, groups)
    once = max((_of_one(tally, reach) for tally in tallies), default=1)
    if once <= rows.bound and once < math.inf:
        said = f"{who} counts once in a group" if once == 1 else f"different values of {who}: at most {once:,}"
        rows = _Bounded(once, fact=said)
    if rows.bound == math.inf:
        raise QueryRefused(_endless(who, "have any number of rows in a group", "max_rows_per_group=10"))
    _check_modest(who, rows)
    spread = GroupedDistance(groups.bound, reach.rows, rows.bound)
    return Placed(
        Bound(groups.cut_to, rows.cut_to),
        spread,
        tuple(fact for fact in (groups.fact if keys else "", rows.fact) if fact),
        tuple(cut for cut in (in_all, groups.cut, rows.cut) if cut is not None),
        tuple((tally, _values(tally, keys, reach, spread)) for tally in tallies if isinstance(tally, Distinct)),
    )


def _of_one(tally: ExactAggregate, reach: Reach) -> Whole:
    """The most that one unit adds to a tally in a group, whatever rows it has there."""
    if isinstance(tally, Units):
        return 1
    return reach.values_of(tally.operands) if isinstance(tally, Distinct) else math.inf


def _values(tally: Distinct, keys: Sequence[Expression], reach: Reach, spread: GroupedDistance) -> GroupedDistance:
    """How the different values of a unit spread over the groups: no more than its rows do."""
    pairs, most = reach.values_of(tally.operands, keys), reach.values_of(tally.operands)
    return GroupedDistance(spread.parts, min(spread.rows, pairs), min(spread.largest, most))


def scales(keys: Sequence[Expression], reach: Reach, wanted: Wanted) -> bool:
    """Tells whether units may have to be scaled down to a number of rows in each group."""
    return _rows_each(keys, reach, reach, wanted, "").cut_to is not None


@final
@dataclass(frozen=True)
class Kept:
    """A cut of each unit to ``rows`` rows in all, out of what one could have ``before``; and who says so."""

    rows: int
    before: Reach
    source: str

    def cut(self, who: str) -> Cut | None:
        """The cut as it is reported; None where no unit can have more rows."""
        said = f"at most {_many(self.rows, 'row')} of {who} {'is' if self.rows == 1 else 'are'} kept"
        return Cut(Cutting.UNITS, said, self.source) if self.rows < self.before.rows else None


@final
@dataclass(frozen=True)
class _Bounded:
    """A bound that holds: what must be cut for it (None: nothing), with that cut, or else why it holds."""

    bound: Whole
    cut_to: int | None = None
    cut: Cut | None = None
    fact: str = ""


def _rows_each(keys: Sequence[Expression], reach: Reach, before: Reach, wanted: Wanted, who: str) -> _Bounded:
    """The bound on rows in each group. A fact about it is enforced by cutting: reading may put two keys into one."""
    where, stated = f"of {who} in each group" if keys else f"of {who}", reach.rows_in(keys)
    if stated < reach.rows and (wanted.rows is None or stated <= wanted.rows):
        said = f"{_counted(int(stated), 'row', where)}, a fact that is held by cutting where it is not so"
        return _Bounded(stated, int(stated), Cut(Cutting.UNITS, said, THE_CODEBOOK))
    return _least(reach.rows, wanted.rows, before.rows, "row", where, wanted.source)


def _rows(reach: Reach, groups: Whole, who: str) -> Placed:
    """Bounds units that are rows, or that share them: by facts alone, for nothing says which rows belong together."""
    if reach.rows == math.inf:
        raise QueryRefused(
            f"a row of {who} may match any number of rows of a public table here, so nothing bounds what it can move. "
            "State the key of the public table in the codebook (key: [column]), and join on it."
        )
    _check_modest(who, _Bounded(reach.rows))
    return Placed(
        Bound(),
        GroupedDistance(groups, reach.rows, reach.rows),
        (f"rows: each becomes at most {reach.rows}; how many a unit has is part of the price",),
    )


def of_meetings(bounded: Placed, keys: Sequence[Expression], reach: Reach, alone: Sequence[ExactAggregate]) -> Placed:
    """Says how rows spread that come and go together, where joins put rows of different units beside each other.

    Numbers that are priced ``alone`` move by what comes or by what goes, if no row takes away what another one adds.
    """
    net = net_of_meeting(bounded.spread, by_key=reach.knows_groups(keys))
    many = int(bounded.spread.rows)
    said = f"by joins of different units one of them moves at most {many:,} rows: {many // 2:,} come and as many go"
    one_signed = tuple((tally, net) for tally in alone if _of_one_sign(tally))
    return replace(bounded, facts=(said,), values=one_signed)


def _of_one_sign(tally: ExactAggregate) -> bool:
    """Tells whether no row takes away from a tally what another one adds to it."""
    if isinstance(tally, Total):
        return all(low >= 0 or high <= 0 for low, high in (term.grid.ends for term in tally.terms))
    return isinstance(tally, Rows | Distinct)


def _check_modest(who: str, *bounds: _Bounded) -> None:
    """Refuses bounds beyond all tables: noise that hides so much is no answer, and sums would not fit."""
    if any(one.bound > MOST_ROWS for one in bounds):
        raise QueryRefused(
            f"{who} could have more than {MOST_ROWS:,} groups or rows here, more than there are in any table. Say how "
            "much of each to keep, such as max_groups=4 and max_rows_per_group=10."
        )


def _least(known: Whole, wanted: int | None, before: Whole, what: str, where: str, source: str) -> _Bounded:
    """The bound that holds: by cutting, by what was cut ``before`` it, or by a fact."""
    if wanted is not None and wanted < known:
        return _Bounded(wanted, wanted, Cut(Cutting.UNITS, _counted(wanted, what, where), source))
    if known < before:
        return _Bounded(known, fact=f"{what}s {where}: at most {known:,}, since no more rows are kept")
    return _Bounded(known, fact=f"{what}s {where}: at most {known:,}, a fact: nothing is cut")


def _counted(most: int, what: str, where: str) -> str:
    return f"at most {_many(most, what)} {where} count{'s' * (most == 1)}"


def _many(number: int, what: str) -> str:
    return f"{number:,} {what}{'s' * (number != 1)}"


def _endless(who: str, what: str, write: str) -> str:
    return (
        f"{who} could {what} here, and no noise hides that. Say how much of each to keep, {write} (the rest is left "
        "out); or state in the codebook what is so in every possible table (contributions: …); or buy a bound with a "
        "part of the loss: session.contributions(…)."
    )
