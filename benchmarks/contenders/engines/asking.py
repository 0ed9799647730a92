"""The question on each engine, asked of sfumato, and by hand of what sfumato asks."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any

import sfumato as sf
from contenders.engines import by_hand
from contenders.engines.cases import MEMORY, visits
from contenders.engines.tables import BEHIND
from contenders.query.asking import LIMIT, QUESTION, codebook, losses
from contenders.query.cases import MOST_GROUPS, MOST_ROWS, Size
from contenders.query.turns import Way

TABLE = "visits"


def ours(data: Any, **chosen: Any) -> Way:
    """The question as sfumato answers it, with people as the unit."""
    data_set = sf.Dataset({TABLE: data}, codebook=codebook(people=True), **chosen)
    session, loss = data_set.session(limit=LIMIT, ledger="memory:"), losses()
    return lambda: session.sql(QUESTION, loss=loss(), max_groups=MOST_GROUPS, max_rows_per_group=MOST_ROWS)


@contextmanager
def duckdb(files: str) -> Iterator[Way]:
    """By hand in DuckDB, within the same limit on memory."""
    import duckdb

    with duckdb.connect(config={"memory_limit": MEMORY}) as connection:
        connection.read_parquet(files).create_view(TABLE)
        text = by_hand.DUCKDB.format(visits=TABLE)
        yield lambda: connection.execute(text).fetchall()


@contextmanager
def polars(scan: Any) -> Iterator[Way]:
    """By hand in Polars."""
    yield lambda: by_hand.polars(scan).collect(engine="streaming")


@contextmanager
def postgres(address: str) -> Iterator[Way]:
    """By hand in PostgreSQL, with as much memory for each step as sfumato asks for."""
    import psycopg

    text = by_hand.POSTGRES.format(visits=TABLE).encode()
    with psycopg.connect(address, autocommit=True) as connection:
        connection.execute(f"SET work_mem = '{sf.engines.Postgres().work_mem}'".encode())
        yield lambda: connection.execute(text).fetchall()


@contextmanager
def spark(frame: Any) -> Iterator[Way]:
    """By hand in the same session of Spark."""
    text = by_hand.SPARK.format(visits=TABLE)
    yield lambda: frame.sparkSession.sql(text).collect()


HAND: Mapping[str, Callable[[Any], AbstractContextManager[Way]]] = {
    "duckdb": duckdb,
    "polars": polars,
    "postgres": postgres,
    "spark": spark,
}


@contextmanager
def ways(engine: str, folder: Path, size: Size) -> Iterator[Mapping[str, Way]]:
    """The question as sfumato answers it, and by hand."""
    with BEHIND[engine](visits(folder, size), TABLE) as (data, chosen), HAND[engine](data) as hand:
        yield {"ours": ours(data, **chosen), "hand": hand}
