"""Sums of stored reports by SQL: how many came in each cell, and how many of those had each bit set.

Bits are stored in words. Masks keep several bits of a word at once, far apart, so that one SQL sum counts several bits
in *lanes* of one number: two lanes of 32 digits, or four of 16 where rows are also grouped in runs that are short
enough. So a word costs 32 or 16 sums and not 64.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, final

import numpy as np
from numpy.typing import NDArray

from sfumato.local.collecting.faults import StoreUnavailable
from sfumato.local.reports import Layout

if TYPE_CHECKING:
    import duckdb

RUN: Final = 15
"""A run is 2^15 rows: a lane of 16 digits counts twice as many."""
FEW_CELLS = 16
"""With more cells, runs of each would be many and short."""
MOST_ROWS = (1 << 32) - 1
"""What a lane of 32 digits can count."""


@final
@dataclass(frozen=True)
class Relation:
    """Rows with columns ``cell``, ``batch`` and a word for every 64 bits; ``row`` numbers them (of ``each`` batch)."""

    source: str
    row: str
    each: str = ""
    where: str = "TRUE"


def column_names(layout: Layout) -> list[str]:
    """The columns of the words."""
    return [f"word_{place}" for place in range(layout.words)]


def sums_query(relation: Relation, layout: Layout) -> tuple[str, int]:
    """The query, and how many lanes its sums have.

    >>> sums_query(Relation("reports", "rowid"), Layout(5))
    ('SELECT cell, count(*) AS reports FROM reports WHERE TRUE GROUP BY cell', 1)
    """
    rest = f" FROM {relation.source} WHERE {relation.where} GROUP BY cell"
    if not layout.bits:
        return "SELECT cell, count(*) AS reports" + rest, 1
    lanes = 4 if layout.cells <= FEW_CELLS else 2
    width = 64 // lanes
    mask = sum(1 << (width * lane) for lane in range(lanes))
    # A word that is shifted may have its top bit in a lane: the cast keeps all values, and sums signed numbers faster.
    sums = [
        f"sum((({word} >> {shift}) & {mask})::BIGINT)::UBIGINT"
        for word in column_names(layout)
        for shift in range(width)
    ]
    runs = f", {relation.each}({relation.row} >> {RUN})" if lanes == 4 else ""
    return f"SELECT cell, count(*) AS reports, {', '.join(sums)}{rest}{runs}", lanes


def stored_sums(connection: duckdb.DuckDBPyConnection, relation: Relation, layout: Layout) -> NDArray[np.int64]:
    """The sums of a tally, worked out by the engine."""
    query, lanes = sums_query(relation, layout)
    sums = np.zeros((layout.cells, 1 + layout.bits), dtype=np.int64)
    for rows in connection.sql(query).to_arrow_reader(1 << 12):
        cells, reports = rows.column(0).to_numpy().astype(np.int64), rows.column(1).to_numpy()
        if len(cells) and not 0 <= cells.min() <= cells.max() < layout.cells:
            raise StoreUnavailable("it is damaged: it holds reports that no device could have sent")
        if lanes == 2 and len(reports) and reports.max() > MOST_ROWS:
            raise StoreUnavailable(f"more than {MOST_ROWS:,} reports in a cell are summed up by periods or batches")
        np.add.at(sums[:, 0], cells, reports)
        if layout.bits:
            packed = np.stack([rows.column(place).to_numpy() for place in range(2, rows.num_columns)], axis=1)
            np.add.at(sums[:, 1:], cells, unpacked(packed, lanes)[:, : layout.bits])
    return sums


def unpacked(packed: NDArray[np.uint64], lanes: int) -> NDArray[np.int64]:
    """The counts of all bits, in their order, from sums of lanes."""
    width = 64 // lanes
    apart = np.ascontiguousarray(packed.astype("<u8", copy=False)).view(f"<u{width // 8}")
    words = apart.reshape(len(packed), packed.shape[1] // width, width, lanes)
    return words.transpose(0, 1, 3, 2).reshape(len(packed), -1).astype(np.int64)
