"""Bounds the work that one unit makes: private tables are joined within a unit, and rows multiply with every join.

A unit with 30 rows makes 729 million of them in a join of a table with itself five times. Who has many rows would be
seen by the time that a question takes, and could stop everybody's questions. So of each side of such joins only so many
rows of a unit are kept that all sides together make at most `MOST_JOINED`: by the order that `Keep` has, which is of
that unit's rows alone (proofs/query.md#relations). Sides that facts bound already are left as they are.

Public tables repeat rows too. How often is public, and the same for everybody, so nothing is cut for it; but a question
in which one row would become more than that is refused.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import final

from sfumato.core.spread import Whole
from sfumato.errors import QueryRefused
from sfumato.query.reach import Matches
from sfumato.query.relations import Join, Keep, PerUnit, Relation, Scan, Select, Union, Where
from sfumato.release.record import Cut, Cutting

MOST_JOINED = 10**6
"""One unit makes at most so many rows in joins of private tables."""

Rows = Callable[[Relation], Whole]
"""Gives how many rows of a relation one unit can have, by facts."""


@final
@dataclass(frozen=True)
class Work:
    """Is a relation whose joins are bounded, and what was cut for that."""

    relation: Relation
    cuts: tuple[Cut, ...] = ()


def worked(relation: Relation, rows: Rows, matches: Matches) -> Work:
    """Gives a relation in which no unit makes more than so many rows by joins of private relations."""
    _check_repeated(relation, matches)
    cuts: dict[Cut, None] = {}

    def bounded(part: Relation) -> Relation:
        if not (isinstance(part, Join) and _joins(part)):
            return _mapped(part, bounded)
        sides = _sides(part)
        most = _each([rows(side) for side in sides], _copies(part, matches))
        if most < math.inf:
            said = f"at most {most:,} rows of a unit are kept on each of {len(sides)} sides of joins"
            cuts[Cut(Cutting.UNITS, said, f"so that nobody makes more than {MOST_JOINED:,} rows by joining")] = None
        return _cut(part, most, rows, bounded)

    return Work(bounded(relation), tuple(cuts))


def _each(known: list[Whole], copies: int) -> Whole:
    """Gives how many rows of a unit each side may have for the product to stay small; infinity: facts see to it.

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
    """Gives the largest whole number whose power is at most another; 1 where there is none."""
    found: int = round(number ** (1 / degree)) + 1
    while found > 1 and found**degree > number:
        found -= 1
    return found


def _joins(relation: Relation) -> bool:
    """Tells whether rows of a unit are joined with one another here, before they become one row for each group."""
    match relation:
        case Join(right=right) if right.private:
            return True
        case PerUnit() | Scan():
            return False
    return any(_joins(source) for source in relation.sources if source.private)


def _sides(relation: Relation) -> list[Relation]:
    """Gives the private relations that are joined with one another; of a union, the sides of all of its parts."""
    if not _joins(relation):
        return [relation]
    return [side for source in relation.sources if source.private for side in _sides(source)]


def _copies(relation: Relation, matches: Matches) -> int:
    """Gives how often public tables repeat rows that joins have made."""
    if not _joins(relation):
        return 1
    below = math.prod(_copies(source, matches) for source in relation.sources if source.private)
    if isinstance(relation, Join) and not relation.right.private:
        return below * max(1, int(matches(relation)))
    return below


def _check_repeated(relation: Relation, matches: Matches) -> int:
    """Gives how often public tables repeat a row of the private ones at most; refuses more than is ever made."""
    times = math.prod(_check_repeated(source, matches) for source in relation.sources if source.private)
    if isinstance(relation, Join) and not relation.right.private:
        times *= max(1, int(matches(relation)))
    if times > MOST_JOINED:
        raise QueryRefused(
            f"by joins with public tables one row becomes {times:,} here, and at most {MOST_JOINED:,} are made: join "
            "on the keys of those tables, or count their rows first, in a public table of its own."
        )
    return 1 if isinstance(relation, PerUnit) else times


def _cut(relation: Relation, most: Whole, rows: Rows, bounded: Callable[[Relation], Relation]) -> Relation:
    """Gives joins whose sides have at most so many rows of each unit."""
    if _joins(relation):
        return _mapped(relation, lambda part: _cut(part, most, rows, bounded) if part.private else part)
    side = bounded(relation)
    return side if rows(relation) <= most else Keep(side, int(most), work=True)


def _mapped(relation: Relation, change: Callable[[Relation], Relation]) -> Relation:
    """Gives a relation with its sources changed."""
    match relation:
        case Where(source=source) | Select(source=source) | PerUnit(source=source) | Keep(source=source):
            return replace(relation, source=change(source))
        case Join(left=left, right=right):
            return replace(relation, left=change(left), right=change(right))
        case Union(parts=parts):
            return replace(relation, parts=tuple(map(change, parts)))
    return relation
