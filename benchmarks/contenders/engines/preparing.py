"""Writes the visits that engines are asked about. It runs in sfumato's environment."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from contenders.engines.cases import COLUMNS, pieces, visits
from contenders.query.cases import Size

ROWS_AT_ONCE = 1_000_000


def write_visits(folder: Path, size: Size) -> None:
    """Writes the visits of one size, unless they are there."""
    place = visits(folder, size)
    if (place / "_SUCCESS").exists():
        return
    place.mkdir(parents=True, exist_ok=True)
    for number, columns in enumerate(pieces(size)):
        pq.write_table(pa.table(columns), place / f"part-{number:03}.parquet", row_group_size=ROWS_AT_ONCE)
    (place / "_SUCCESS").touch()


def wide(folder: Path, groups: int, rows: int) -> Path:
    """The folder of rows with so many groups and many columns."""
    return folder / f"wide-{rows}-{groups}"


def write_wide(folder: Path, groups: int, rows: int, columns: int = COLUMNS) -> None:
    """Writes rows of people in groups, each with so many numbers, unless they are there; ten rows a person."""
    place = wide(folder, groups, rows)
    if (place / "_SUCCESS").exists():
        return
    place.mkdir(parents=True, exist_ok=True)
    for start in range(0, rows, ROWS_AT_ONCE):
        many, random = min(ROWS_AT_ONCE, rows - start), np.random.default_rng([groups, rows, start])
        numbers = {f"x{place}": random.integers(0, 100, many).astype(np.int32) for place in range(columns)}
        table = {"user_id": random.integers(0, max(1, rows // 10), many), "page": random.integers(0, groups, many)}
        pq.write_table(pa.table({**table, **numbers}), place / f"part-{start // ROWS_AT_ONCE:03}.parquet")
    (place / "_SUCCESS").touch()
