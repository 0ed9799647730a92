"""What is asked of every engine, and of how many rows; the question and the visits are those of the query benchmark.

It needs numpy only, since it is imported in all environments.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np

from contenders.query.cases import MILLION, SITES, SKEW, TEN_MILLION, Array, Size

HUNDRED_MILLION = Size("100m", 100_000_000, 10_000_000)
SIZES = {size.name: size for size in (MILLION, TEN_MILLION, HUNDRED_MILLION)}
ENGINES = ("duckdb", "polars", "postgres", "spark")
PIECE = 10_000_000
"""Rows of one file: as many as are drawn at a time."""

MEMORY = "4GB"
"""What an engine may have for 10⁸ rows."""

PAGES = 10_000_000
"""The number of groups that are found and given noise in a cluster."""

COLUMNS = 16
"""Numbers of each row in the files for curves."""


def visits(folder: Path, size: Size) -> Path:
    """The files of visits of a size, as a folder of Parquet files."""
    return folder / f"visits-{size.name}"


def pieces(size: Size) -> Iterator[dict[str, Array]]:
    """Draws visits as `contenders.query.cases.draw` does, but so many at a time that memory holds them."""
    people = np.random.default_rng(size.people).permutation(size.people)
    shares = np.cumsum(1 / np.arange(1, size.people + 1) ** SKEW)
    for place, start in enumerate(range(0, size.rows, PIECE)):
        random, rows = np.random.default_rng([size.rows, size.people, place]), min(PIECE, size.rows - start)
        ranks = np.searchsorted(shares, random.random(rows) * shares[-1])
        yield {
            "user_id": people[np.minimum(ranks, size.people - 1)].astype(np.int64),
            "site": random.integers(0, SITES, rows),
            "minutes": random.gamma(2, 20, rows),
        }
