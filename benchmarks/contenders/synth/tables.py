"""Writes every table for all contenders: codes for those who have numpy alone, and Parquet for us."""

from __future__ import annotations

import csv

import numpy as np
import pyarrow
from pyarrow import parquet

from contenders.synth.cases import FOLDER, HELD_OUT, ROWS, TABLES, Array, Table, made_up


def codes(table: Table) -> tuple[Array, list[str], list[int]]:
    """All rows of a table, with the names and sizes of its columns."""
    if table.columns is None:
        rows, sizes = made_up(table.width, round(ROWS / (1 - HELD_OUT)))
        return rows, [f"c{place}" for place in range(table.width)], sizes
    with table.raw.open() as file:
        read = list(csv.DictReader(file))
    columns = [meant.codes(np.array([row[name] for row in read])) for name, meant in table.columns.items()]
    return np.stack(columns, axis=1).astype(np.uint8), list(table.columns), [m.size for m in table.columns.values()]


def write(table: Table) -> None:
    """Writes one table, a fifth of its rows apart; which ones a fixed seed says."""
    rows, names, sizes = codes(table)
    rows = rows[np.random.default_rng(20).permutation(len(rows))]
    kept = round(len(rows) * (1 - HELD_OUT))
    np.savez(table.file, rows=rows[:kept], test=rows[kept:], names=np.array(names), sizes=np.array(sizes))
    held = {"person": np.arange(kept)} | {name: rows[:kept, place].astype(np.int64) for place, name in enumerate(names)}
    parquet.write_table(pyarrow.table(held), table.parquet)


def main() -> None:
    """Writes what is not there yet and can be made."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    for table in TABLES.values():
        if not table.there and (table.columns is None or table.raw.exists()):
            write(table)


if __name__ == "__main__":
    main()
