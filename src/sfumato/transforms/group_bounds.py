"""Bounds on how the rows of one unit fall into groups: public facts about some columns, carried to others."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypeAlias, final

from sfumato.core.grouped_distance import Whole
from sfumato.errors import BadArgument
from sfumato.exact import integer
from sfumato.guarantee import guarantee

Columns: TypeAlias = frozenset[str]

Descriptors: TypeAlias = int | Mapping[str | tuple[str, ...], int]
"""A bound for the grouping at hand, or bounds by column or by tuple of columns."""


VALUE = ""
"""Stands for the one column of data that has no names: grouping by it is grouping by value, never by nothing."""


@guarantee(
    claim="rows of one unit in a group by some columns are no more than in a group by fewer of them",
    proof="proofs/parts.md#rows-each",
    reviewed="5d9e91abdb48",
)
def rows_in_a_group(grouping: Columns, bounds: Mapping[Columns, int]) -> Whole:
    """The most rows of one unit in one group; infinity where no bound carries over."""
    return min((most for columns, most in bounds.items() if columns <= grouping), default=math.inf)


@guarantee(
    claim="groups by some columns that one unit is in are at most the product of its groups by sets of columns that "
    "together hold them",
    proof="proofs/parts.md#most-groups",
    reviewed="6363d23711a1",
)
def groups_of_a_unit(grouping: Columns, bounds: Mapping[Columns, int]) -> Whole:
    """The most groups that one unit is in; infinity where the bounds leave out a column."""
    least: dict[Columns, Whole] = {frozenset(): 1}
    for columns, most in bounds.items():
        for covered, groups in list(least.items()):
            now = covered | (columns & grouping)
            least[now] = min(least.get(now, math.inf), groups * most)
    return least.get(grouping, math.inf)


@final
@dataclass(frozen=True)
class GroupBounds:
    """How the rows of one unit fall into groups: how many groups at most, and how many rows in each."""

    groups: Whole
    each: Whole


def read_bounds(
    grouping: tuple[str, ...],
    known: tuple[str, ...],
    max_groups: Descriptors | None,
    max_rows_per_group: Descriptors | None,
) -> GroupBounds:
    """Reads descriptors and carries them to the columns of a grouping."""
    wanted = frozenset(grouping or (VALUE,))
    return GroupBounds(
        groups_of_a_unit(wanted, _by_columns(max_groups, wanted, known, "max_groups")),
        rows_in_a_group(wanted, _by_columns(max_rows_per_group, wanted, known, "max_rows_per_group")),
    )


def _by_columns(stated: Descriptors | None, grouping: Columns, known: tuple[str, ...], name: str) -> dict[Columns, int]:
    if stated is None:
        return {}
    if not isinstance(stated, Mapping):
        return {grouping: integer(stated, name, least=1)}
    by_columns = {}
    for columns, most in stated.items():
        named = (columns,) if isinstance(columns, str) else tuple(columns)
        for column in named:
            if column not in known:
                raise BadArgument(f"a column of {name}", f"one of {', '.join(known) or 'none'}", column)
        by_columns[frozenset(named)] = integer(most, name, least=1)
    return by_columns
