"""A regression on many rows behind a ledger, people as the unit, next to the same bounded sums by hand in DuckDB."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from itertools import combinations_with_replacement, count
from pathlib import Path
from typing import Any

import duckdb

import sfumato as sf
from contenders.query.turns import in_turns, report_memory

WIDTH, EACH, MOST = 9, 10, 20
"""Nine features and a target; a person has ten rows on average, and twenty of them count at most."""

FEATURES = [f"x{place}" for place in range(WIDTH)]
UNIFORM = "2 * (hash(i * 31 + {0}) / 18446744073709551616.0) - 1"


def written(folder: Path, rows: int) -> Path:
    """Writes the rows to a file, unless they are there."""
    path = folder / f"rows_{rows}.parquet"
    if not path.exists():
        features = ", ".join(f"{UNIFORM.format(place)} AS {name}" for place, name in enumerate(FEATURES))
        whose = f"CAST(hash(i + 77) % {rows // EACH} AS BIGINT) AS person"
        target = " + ".join(f"{place + 1} * {name}" for place, name in enumerate(FEATURES))
        drawn = f"SELECT {whose}, {features} FROM range({rows}) t(i)"
        made = f"SELECT *, ({target}) / 45 AS y FROM ({drawn})"
        duckdb.execute(f"COPY ({made}) TO '{path}' (FORMAT parquet)")
    return path


def ours(path: Path) -> Callable[[], Any]:
    """Gives the fit; its loss differs a little every time, since what was answered before takes no time."""
    bounds = dict.fromkeys((*FEATURES, "y"), (-1, 1))
    session = sf.Dataset(path, unit="person", between=bounds).session(limit=sf.ZCDP(10**6), ledger="memory:")
    numbers = count()

    def fit() -> object:
        model = sf.learn.LinearRegression(loss=sf.ZCDP(1 + next(numbers) / 1000))
        return model.fit(session.table(), features=FEATURES, target="y", max_rows=MOST)

    return fit


def by_hand(path: Path) -> Callable[[], Any]:
    """Gives all sums of products of bounded doubles, with a weight for people who have too many rows."""
    connection = duckdb.connect()
    connection.read_parquet(str(path)).create_view("t")
    bounded = ", ".join(f"greatest(-1, least(1, {name})) AS {name}" for name in (*FEATURES, "y"))
    cells = combinations_with_replacement(["w", *FEATURES, "y"], 2)
    sums = ", ".join(f"sum({one} * {other})" if one == "w" else f"sum(w * {one} * {other})" for one, other in cells)
    weights = f"SELECT person, least(1, {MOST} / count(*)) AS w FROM t WHERE person IS NOT NULL GROUP BY person"
    text = f"SELECT {sums} FROM (SELECT w, {bounded} FROM t JOIN ({weights}) USING (person))"
    return lambda: connection.execute(text).fetchall()


WAYS = {"ours": ours, "hand": by_hand}


def main(folder: str, rows: str, only: str = "") -> None:
    """Takes the time of processors for both, in turns; or runs one of them once, and says how much memory that took."""
    path = written(Path(folder), int(rows))
    if only:
        WAYS[only](path)()
        report_memory(rows, only)
    else:
        in_turns(rows, {name: way(path) for name, way in WAYS.items()}, rounds=5, clock=time.process_time)


main(*sys.argv[1:])
