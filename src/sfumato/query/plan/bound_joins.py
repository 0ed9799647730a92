"""Bounds the work that one unit makes: private tables are joined within a unit, and rows multiply with every join.

A unit with 30 rows makes 729 million of them in a join of a table with itself five times. Who has many rows would be
seen by the time that a question takes, and could stop everybody's questions. So each side of such joins keeps only as
many rows of a unit as let all sides together make at most `MOST_JOINED`: in the order of `Keep`, which is of that
unit's rows alone (proofs/query.md#relations). Sides that facts bound already are left as they are.

Public tables repeat rows too. How often is public, and the same for everybody, so nothing is cut for it; but a question
in which one row would become more than that is refused.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import TypeGuard

from sfumato.core.grouped_distance import Whole
from sfumato.errors import QueryRefused
from sfumato.query.nodes.relations import Join, Keep, Meet, PerUnit, Relation, Scan
from sfumato.query.nodes.walks import with_sources
from sfumato.query.plan.contribution_facts import Matches, reach_of
from sfumato.query.plan.query_plan import QueryPlan
from sfumato.release.record import Cut, Cutting

MOST_JOINED = 10**6
"""One unit makes at most this many rows in joins of private tables."""

Rows = Callable[[Relation], Whole]
"""How many rows of a relation one unit can have, by facts."""


def bound_joins(plan: QueryPlan) -> QueryPlan:
    """Before: any joins. After: no unit makes more than `MOST_JOINED` rows by joins of private relations."""
    relation, matches = plan.question.source, plan.matches
    _check_repeated(relation, matches)
    cuts: dict[Cut, None] = {}

    def rows(side: Relation) -> Whole:
        return reach_of(side, plan.catalog.reaches, matches).rows

    def bounded(part: Relation) -> Relation:
        if not (isinstance(part, Join) and _joins(part)):
            return _mapped(part, bounded)
        sides = _sides(part)
        most = _each([rows(side) for side in sides], _copies(part, matches))
        if most < math.inf:
            said = f"at most {most:,} rows of a unit are kept on each of {len(sides)} sides of joins"
            cuts[Cut(Cutting.UNITS, said, f"so that nobody makes more than {MOST_JOINED:,} rows by joining")] = None
        return _cut(part, most, rows, bounded)

    return replace(plan, question=replace(plan.question, source=bounded(relation)), cuts=(*plan.cuts, *cuts))


def _each(known: list[Whole], copies: int) -> Whole:
    """The most rows of a unit that each side may have for the product to stay small; infinity where facts bound it.

    Sides that have fewer rows by facts leave more to the others.
    """
    left, sides = MOST_JOINED // copies, sorted(known)
    while sides:
        most = _root(left, len(sides))
        if sides[0] > most:
            return most
        left //= int(sides.pop(0))
    return math.inf


def _root(number: int, degree: int) -> int:
    """The largest whole number with a power that is at most another; 1 where there is none."""
    root: int = round(number ** (1 / degree)) + 1
    while root > 1 and root**degree > number:
        root -= 1
    return root


def _joins(relation: Relation) -> bool:
    """Tells whether rows of a unit are joined with one another here, before they become one row for each group."""
    match relation:
        case Join(right=right) if right.private and not _filters(relation):
            return True
        case PerUnit() | Scan() | Meet():  # each side of a meeting is bounded by itself
            return False
    return any(map(_joins, _multiplied(relation)))


def _filters(join: Join) -> bool:
    """Tells whether a join only keeps rows or not, by equal columns: no pairs of rows are looked at one by one."""
    return join.match.filters and not join.compared


def _repeats(relation: Relation) -> TypeGuard[Join]:
    """Tells whether rows are repeated here as often as they match public ones."""
    return isinstance(relation, Join) and not relation.right.private and not relation.match.filters


def _multiplied(relation: Relation) -> Iterator[Relation]:
    """The private sources whose rows multiply."""
    sources = (relation.left,) if isinstance(relation, Join) and _filters(relation) else relation.sources
    return (source for source in sources if source.private)


def _sides(relation: Relation) -> list[Relation]:
    """The private relations that are joined with one another; of a union, the sides of all of its parts."""
    if not _joins(relation):
        return [relation]
    return [side for source in _multiplied(relation) for side in _sides(source)]


def _copies(relation: Relation, matches: Matches) -> int:
    """How often public tables repeat rows that joins have made."""
    if not _joins(relation):
        return 1
    below = math.prod(_copies(source, matches) for source in _multiplied(relation))
    if _repeats(relation):
        return below * max(1, int(matches(relation)))
    return below


def _check_repeated(relation: Relation, matches: Matches) -> int:
    """Counts how often public tables repeat a row of the private ones at most; refuses more than `MOST_JOINED`."""
    times = math.prod(_check_repeated(source, matches) for source in relation.sources if source.private)
    if _repeats(relation):
        times *= max(1, int(matches(relation)))
    if times > MOST_JOINED:
        raise QueryRefused(
            f"by joins with public tables one row becomes {times:,} here, and at most {MOST_JOINED:,} are made: join "
            "on the keys of those tables, or count their rows first, in a public table of its own."
        )
    return 1 if isinstance(relation, PerUnit) else times


def _cut(relation: Relation, most: Whole, rows: Rows, bounded: Callable[[Relation], Relation]) -> Relation:
    """Cuts each side of joins to at most ``most`` rows of each unit, where facts do not bound it already."""
    if isinstance(relation, Join) and _filters(relation) and _joins(relation.left):
        return replace(relation, left=_cut(relation.left, most, rows, bounded), right=bounded(relation.right))
    if _joins(relation):
        return _mapped(relation, lambda part: _cut(part, most, rows, bounded) if part.private else part)
    side = bounded(relation)
    return side if rows(relation) <= most else Keep(side, int(most), work=True)


def _mapped(relation: Relation, change: Callable[[Relation], Relation]) -> Relation:
    """Rebuilds a relation with its sources changed."""
    return with_sources(relation, list(map(change, relation.sources)))
