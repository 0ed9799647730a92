"""A folder of Parquet files as each engine has it: the files themselves, a scan, a table of a server, a frame."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any

import sfumato as sf
from contenders.engines.cases import MEMORY
from side_by_side.postgres_server import running

Behind = tuple[Any, dict[str, Any]]
"""What `Dataset` is given, and what else it is told."""

POSTGRES_TYPES = {"BIGINT": "int8", "INTEGER": "int4", "DOUBLE": "float8"}


@contextmanager
def duckdb(files: Path, table: str) -> Iterator[Behind]:
    """DuckDB within a limit on memory; its own files for what does not fit."""
    yield str(files / "*.parquet"), {"engine": sf.engines.DuckDB(memory=MEMORY)}


@contextmanager
def polars(files: Path, table: str) -> Iterator[Behind]:
    """Polars, which streams the files."""
    import polars

    yield polars.scan_parquet(files / "*.parquet"), {}


@contextmanager
def spark(files: Path, table: str) -> Iterator[Behind]:
    """Spark on two cores of this machine."""
    from contenders.engines.spark_session import started

    session = started(str(files.parent), memory=MEMORY.lower().removesuffix("b"))
    try:
        frame = session.read.parquet(str(files))
        frame.createOrReplaceTempView(table)
        yield frame, {}
    finally:
        session.stop()


@contextmanager
def postgres(files: Path, table: str) -> Iterator[Behind]:
    """PostgreSQL, into which the files are copied."""
    import duckdb
    import psycopg

    with duckdb.connect() as reader, running() as server, tempfile.TemporaryDirectory() as folder:
        if server is None:
            raise SystemExit("PostgreSQL is not installed")
        rows = reader.read_parquet(str(files / "*.parquet"))
        held = zip(rows.columns, (POSTGRES_TYPES[str(one)] for one in rows.types), strict=True)
        written = Path(folder, "rows.csv")
        rows.write_csv(str(written), header=False)
        with psycopg.connect(server.url(), autocommit=True) as connection, connection.cursor() as cursor:
            cursor.execute(f"CREATE TABLE {table} ({', '.join(map(' '.join, held))})".encode())
            with written.open("rb") as lines, cursor.copy(f"COPY {table} FROM STDIN (FORMAT csv)".encode()) as copy:
                while block := lines.read(1 << 20):
                    copy.write(block)
            cursor.execute("VACUUM ANALYZE")
        written.unlink()
        yield server.url(), {}


BEHIND: Mapping[str, Callable[[Path, str], AbstractContextManager[Behind]]] = {
    "duckdb": duckdb,
    "polars": polars,
    "postgres": postgres,
    "spark": spark,
}
