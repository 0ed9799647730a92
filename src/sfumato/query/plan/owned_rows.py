"""Rows of tables with whose they are, for mechanisms that treat all rows of a unit together."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from sfumato.core.domains import Custom, Data
from sfumato.core.grouped_distance import AnyDistance
from sfumato.core.identifiers import Identifiers
from sfumato.core.space import Space
from sfumato.core.transformation import Transformation
from sfumato.errors import QueryRefused
from sfumato.exact import Distance
from sfumato.guarantee import guarantee
from sfumato.query.build.settings import Settings
from sfumato.query.nodes.relations import Relation
from sfumato.query.plan.engine_plan import Bound, Cells, Rows
from sfumato.query.plan.open_tables import OpenTables
from sfumato.query.plan.stable import Entry, entries_named, rows_planned, units_between, words_of

PROOF = "proofs/query.md#owned"

OWNER = "owner"
"""The column that says whose a row is; the others are named by their places, "0", "1", …"""


@guarantee(
    claim="as many owners are added or removed, with all their rows, as units", proof=PROOF, reviewed="818a1d6ae2dd"
)
def owners_moved(d_in: AnyDistance) -> Distance:
    """How many owners lie between the rows of databases that far apart."""
    return units_between(d_in)


def owned_rows_of_tables(
    source: Relation, entries: Sequence[Entry], opened: OpenTables, *, max_rows: int | None
) -> Transformation:
    """The rows of tables, a column for each entry, and whose each is; of a unit at most ``max_rows``.

    Numbers are between −1 and 1, categories are their places in the list; rows that lack something are left out.
    """
    ids = [one for one in source.fields if one.unit is not None]
    if opened.catalog.by_rows or not ids:
        raise QueryRefused("rows are to be counted by their owners here, and the table has no id: select it too.")
    plan = rows_planned(entries_named(source, entries, made=True, beside=ids), opened, Settings(max_rows=max_rows))
    cells = Cells(plan.question.source, plan.question.source.fields[: len(entries) + len(ids)], (Rows(),), Bound())
    opened.engine.prepare(cells)
    who = opened.catalog.codebook.protects
    return Transformation(
        opened.space,
        Space(Custom(f"rows of {len(entries)} columns, each with its owner", is_owned), Identifiers(OWNER)),
        lambda data, _: _owned(data, cells, len(entries)),
        owners_moved,
        (words_of(source, entries, opened), f"at most {plan.reach.rows:,} rows of {who}, which stay together"),
        (PROOF,),
    )


def is_owned(data: Data) -> bool:
    """Tells whether something is rows with owners."""
    return isinstance(data, Mapping) and OWNER in data and len({len(column) for column in data.values()}) == 1


def _owned(data: Data, cells: Cells, entries: int) -> dict[str, Data]:
    computed = data.engine.run(cells)
    times = np.asarray(computed.numbers[0], dtype=np.int64)
    columns = {str(place): np.repeat(np.asarray(computed.keys[place], np.float64), times) for place in range(entries)}
    names = list(zip(*(list(part) for part in computed.keys[entries:]), strict=True))
    return {OWNER: [name for name, many in zip(names, times.tolist(), strict=True) for _ in range(many)], **columns}
