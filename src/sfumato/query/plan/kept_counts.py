"""Counts of kept rows without picking them: where only how many rows a unit has matters, none need be sorted."""

from __future__ import annotations

from dataclasses import replace

from sfumato.guarantee import guarantee
from sfumato.query.nodes.relations import Keep
from sfumato.query.plan.engine_plan import Cells, Rows, Units


@guarantee(
    claim="the same whole numbers, whatever the data: of n rows of a unit, min(n, m) are kept, whichever they are",
    proof="proofs/query.md#kept-counts",
    reviewed="599ccf0cd1e7",
)
def without_picking(cells: Cells) -> Cells:
    """The same numbers of all rows, where they are counts of rows and of units in one group; else as they are."""
    source, bound = cells.source, cells.bound
    if not isinstance(source, Keep) or cells.keys or cells.inner or bound.cut:
        return cells
    if any(tally not in (Rows(), Units()) for tally in cells.tallies):
        return cells
    most = source.rows if bound.rows is None else min(source.rows, bound.rows)
    return replace(cells, source=source.source, bound=replace(bound, rows=most))
