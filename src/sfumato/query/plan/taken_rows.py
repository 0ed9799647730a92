"""What a question costs units of another kind than the one it bounds, such as firms where people are bounded.

Such a unit takes rows of several units of the first kind with it, and leaves these the rest of their rows. Two theorems
say how far the numbers then move (proofs/query.md#kinds): by the units of which rows are taken, whatever the question
does with them; and by the rows themselves, where every step looks at one row alone and nothing is cut.
"""

from __future__ import annotations

import math

from sfumato.codebook.book import Codebook
from sfumato.core.grouped_distance import GroupedDistance
from sfumato.errors import QueryRefused
from sfumato.guarantee import guarantee
from sfumato.query.nodes.relations import Join, Relation, Scan, Select, Union, Where
from sfumato.query.plan.contribution_facts import Reach, reach_of
from sfumato.query.plan.engine_plan import Bound
from sfumato.query.plan.pricing import Pricing
from sfumato.query.plan.query_plan import QueryPlan


@guarantee(
    claim="rows of at most P units that are all taken away, or all added, are 2 P units that are added or removed",
    proof="proofs/query.md#kinds",
    reviewed="9e0bb0c48cb0",
)
def units_apart(taken: GroupedDistance) -> int:
    """How many units of the first kind lie between data sets that differ by rows of some: each goes, and comes back."""
    if taken.parts == math.inf:
        raise QueryRefused("nothing says of how many units rows are taken here, so that no noise hides them.")
    return 2 * int(taken.parts)


@guarantee(
    claim="where every step is row by row and nothing is cut, a row of a table becomes at most so many rows, each of "
    "which moves what one row moves; else None",
    proof="proofs/query.md#kinds",
    reviewed="6918f9954d16",
)
def copies_of(plan: QueryPlan) -> int | None:
    """How many rows one row of a table becomes in the source of a question; None where it moves more than these."""
    source = plan.question.source
    if not _row_by_row(source) or any(level.cells.bound != Bound() for level in plan.levels):
        return None
    if any(run.cells.bound != Bound() for level in plan.levels for run in level.runs):
        return None
    tables = dict.fromkeys(plan.catalog.reaches, Reach(rows=1))
    copies = reach_of(source, tables, plan.opened.matches).rows
    return None if copies == math.inf else int(copies)


def check_ids(relation: Relation, codebook: Codebook) -> None:
    """Refuses a question on a table that does not say whose its rows are, for every kind of unit."""
    if isinstance(relation, Scan) and relation.private:
        names = {column.name for column in codebook.table(relation.table).columns}
        for kind in codebook.kinds[1:]:
            if kind.id not in names:
                raise QueryRefused(
                    f"nothing says which rows of {relation.table} are of {kind.protects}, who is protected too: there "
                    f"is no column {kind.id} in it. Put the ids of {kind.name} into it, or ask a table that has them."
                )
    for source in relation.sources:
        check_ids(source, codebook)


def _row_by_row(relation: Relation) -> bool:
    """Tells whether each row is made of one row of a private table, whatever other rows there are."""
    match relation:
        case Scan():
            return True
        case Where() | Select() | Union():
            return all(map(_row_by_row, relation.sources))
        case Join(left=left, right=right):
            return not right.private and _row_by_row(left)
    return False


def taken_price(pricing: Pricing, copies: int | None, taken: GroupedDistance) -> tuple[Pricing, int]:
    """The pricing, and the distance in it, at which rows that are taken cost least: by rows, or by units."""
    by_units = pricing, units_apart(taken)
    if copies is None or taken.rows == math.inf:
        return by_units
    by_rows = pricing.over(GroupedDistance(copies, copies, copies)), int(taken.rows)
    cheaper = by_units[0].loss(by_units[1]).within(by_rows[0].loss(by_rows[1]))
    return by_units if cheaper else by_rows
