"""How large a Parquet file is when it is read, by what its footer says: before anything of it is."""

from __future__ import annotations

from pathlib import Path

WIDTH = 8
"""Octets that a value counts as at least: pages that repeat one value a thousand million times are a few octets."""

LONGEST_TEXT, MOST_PARTS = 16 << 20, 1_000_000
"""The most that texts and lists of a footer may have."""


def unpacked_size(file: Path) -> int | None:
    """The octets that a Parquet file comes to when it is read; None where its footer cannot be read."""
    import pyarrow.parquet as pq
    from pyarrow import ArrowException

    limits = {"thrift_string_size_limit": LONGEST_TEXT, "thrift_container_size_limit": MOST_PARTS}
    try:
        with pq.ParquetFile(file, **limits) as opened:
            said = opened.metadata
            groups = [said.row_group(number) for number in range(said.num_row_groups)]
            parts = [group.column(number) for group in groups for number in range(group.num_columns)]
            counted = sum(max(part.total_uncompressed_size, WIDTH * part.num_values, 0) for part in parts)
            size: int = max(counted, WIDTH * said.num_rows)
            return size
    except (ArrowException, OSError, ValueError):
        return None
