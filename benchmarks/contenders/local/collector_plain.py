"""DuckDB by hand on the same stores: a plain count of each cell, or a plain sum of each bit, without any check."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb
import numpy as np

from contenders.local.stored import STORES, Stored, race


def plain(stored: Stored, place: Path, connection: duckdb.DuckDBPyConnection) -> Callable[[], Any]:
    """The query that one would write."""
    table = f"read_parquet('{place}/question-1/*.parquet')" if place.is_dir() else "sfumato_reports_1"
    if stored.protocol.layout.bits:
        sums = ", ".join(f"sum((word_{at >> 6} >> {at & 63}) & 1)" for at in range(stored.values))
        return lambda: connection.execute(f"SELECT {sums} FROM {table}").fetchall()[0]

    def counts() -> Any:
        rows = connection.execute(f"SELECT cell, count(*) FROM {table} GROUP BY cell").fetchnumpy()
        every = np.zeros(stored.values, dtype=np.int64)
        every[rows["cell"]] = rows["count_star()"]
        return every

    return counts


def main() -> None:
    """Sums up every store."""
    for stored in STORES:
        with stored.filled() as place:
            file = place / "index.duckdb" if place.is_dir() else place
            with duckdb.connect(str(file)) as connection:
                race(stored, plain(stored, place, connection))


main()
