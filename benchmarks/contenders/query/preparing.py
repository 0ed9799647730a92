"""Writes the visits and the exact answers that contenders are compared with. It runs in sfumato's environment."""

from __future__ import annotations

from pathlib import Path

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from contenders.query.by_hand import MIDDLE, PEOPLE, PLAIN, STEP
from contenders.query.cases import SITES, Array, Size, draw

REGIONS, FIRST_DAY = 8, "2024-01-01"
"""The sites lie in so many regions, and all visits in the year from this day on."""

PAGES, VISITS_EACH = 1_000_000, 10
"""The file with very many groups: so many pages, and so many rows of each."""


def write(folder: Path, size: Size) -> None:
    """Writes the visits of one size."""
    columns = draw(size)
    pq.write_table(pa.table(columns), size.visits(folder))
    np.savez(size.columns(folder), allow_pickle=False, **columns)


def write_truth(folder: Path, size: Size) -> None:
    """Writes the exact answers for one size: for all rows, and for people who are cut to their bounds."""
    with duckdb.connect() as engine:
        engine.read_parquet(str(size.visits(folder))).create_view("visits")
        whole = by_site(engine, PLAIN)
        bounded = by_site(engine, PEOPLE)
    sums = bounded["s"] / STEP + MIDDLE * bounded["n"]
    np.savez(
        size.truth(folder),
        whole_count=whole["n"],
        whole_sum=whole["s"],
        whole_mean=whole["s"] / np.maximum(whole["n"], 1),
        bounded_count=bounded["n"],
        bounded_sum=sums,
        bounded_mean=sums / np.maximum(bounded["n"], 1),
    )


def by_site(engine: duckdb.DuckDBPyConnection, question: str) -> dict[str, Array]:
    """Gives counts and sums in the order of sites, 0 where nobody was."""
    found = {"n": np.zeros(SITES), "s": np.zeros(SITES)}
    for site, n, s in engine.execute(f"SELECT site, n, s FROM ({question.format(visits='visits')})").fetchall():
        found["n"][site], found["s"][site] = float(n), float(s)
    return found


def pages(folder: Path) -> Path:
    """Gives the file with very many groups."""
    return folder / "pages.parquet"


def write_pages(folder: Path) -> None:
    """Writes the file with very many groups."""
    numbers = np.random.default_rng(PAGES).permutation(np.repeat(np.arange(PAGES), VISITS_EACH))
    pq.write_table(pa.table({"page": numbers}), pages(folder))


def forms(folder: Path) -> tuple[Path, Path]:
    """Gives the files of visits with days and pages, and of sites with their regions."""
    return folder / "forms.parquet", folder / "sites.parquet"


def write_forms(folder: Path, size: Size) -> None:
    """Writes visits of one size with a day and a page each, as texts, and the public list of sites."""
    columns, random = draw(size), np.random.default_rng(REGIONS)
    days = np.datetime64(FIRST_DAY) + random.integers(0, 366, size.rows).astype("timedelta64[D]")
    pages = [f"/page/{number}" for number in random.zipf(1.3, size.rows) % 50_000]
    visits, sites = forms(folder)
    pq.write_table(pa.table({**columns, "day": days, "page": pages}), visits)
    regions = [f"region {site % REGIONS}" for site in range(SITES)]
    pq.write_table(pa.table({"site": np.arange(SITES), "region": regions}), sites)
