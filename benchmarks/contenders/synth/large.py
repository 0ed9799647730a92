"""Many rows: a fit behind a ledger and rows drawn from it, next to the same marginals by plain SQL in DuckDB."""

from __future__ import annotations

import sys
import time
from itertools import combinations
from pathlib import Path

import duckdb

from contenders.synth.cases import DELTA
from contenders.synth.runs import gigabytes, processors
from side_by_side.stopwatch import report

SIZES = (10, 12, 7, 5, 10, 12, 5, 3, 6, 11)
NAMES = [f"c{place}" for place in range(len(SIZES))]


def written(folder: Path, rows: int) -> Path:
    """Writes the rows, unless they are there: two times in three a column follows from the one before it."""
    path = folder / f"rows_{rows}.parquet"
    if path.exists():
        return path
    text = f"SELECT i AS person, CAST(hash(i) % {SIZES[0]} AS UTINYINT) AS c0 FROM range({rows}) t(i)"
    for place, size in enumerate(SIZES[1:], 1):
        follows, chance = f"(c{place - 1} * 5 + 3) % {size}", f"hash(person * 31 + {place}) % 3 < 2"
        fresh = f"CAST(hash(person * 37 + {place}) % {size} AS UTINYINT)"
        text = (
            f"SELECT *, CAST(CASE WHEN {chance} THEN {follows} ELSE {fresh} END AS UTINYINT) AS c{place} FROM ({text})"
        )
    duckdb.execute(f"COPY ({text}) TO '{path}' (FORMAT parquet)")
    return path


def hand(path: Path) -> None:
    """Counts all marginals of one and two columns, each by a query of its own."""
    begun, spent = time.perf_counter(), processors()
    connection = duckdb.connect()
    connection.read_parquet(str(path)).create_view("t")
    for columns in [*((name,) for name in NAMES), *combinations(NAMES, 2)]:
        listed = ", ".join(columns)
        connection.execute(f"SELECT {listed}, count(*) FROM t GROUP BY {listed}").fetchall()
    facts = {"seconds": time.perf_counter() - begun, "processors": processors() - spent}
    report("DuckDB", kind="hand", **facts, gigabytes=gigabytes())


def ours(path: Path, rows: int, method: str) -> None:
    """Fits a model, and draws as many rows from it."""
    import sfumato as sf
    from contenders.synth.sfumato import opened

    begun, spent = time.perf_counter(), processors()
    loss = sf.Approx(1, DELTA)
    session = opened(path, dict(zip(NAMES, SIZES, strict=True))).session(limit=loss, ledger="memory:")
    recipe = sf.synth.MST(loss=loss) if method == "mst" else sf.synth.AIM(loss=loss)
    synthetic = recipe.fit(session.table(), max_rows=1)
    fitted, had = time.perf_counter(), processors()
    facts = {"seconds": fitted - begun, "processors": had - spent}
    made = synthetic.sample(rows)
    facts |= {"rate": len(made) / (time.perf_counter() - fitted), "busy": len(made) / (processors() - had)}
    report(method, kind="fit", **facts, gigabytes=gigabytes())


def main(folder: str, rows: str, way: str) -> None:
    """Writes the rows, counts them by hand, or fits them."""
    path = written(Path(folder), int(rows))
    if way == "hand":
        hand(path)
    elif way != "rows":
        ours(path, int(rows), way)


main(*sys.argv[1:])
