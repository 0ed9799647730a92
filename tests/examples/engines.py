"""Every engine, opened on tables in memory: the one place to add an engine to the conformance tests."""

from __future__ import annotations

from collections.abc import Mapping
from types import SimpleNamespace
from typing import Any, Protocol

from tests.examples.spark import spark_session
from tests.reference.sqlite import open_sqlite

from sfumato.query.engines.duckdb.sources import open_source
from sfumato.query.engines.protocol import Engine
from sfumato.query.engines.spark.sources import open_source as open_spark_source
from sfumato.query.nodes.relations import Scan


class Opening(Protocol):
    """Opens tables, each of Arrow or of columns of Python values, as scans describe them."""

    def __call__(self, data: Mapping[str, Any], tables: Mapping[str, Scan], *, threads: int = 1) -> Engine: ...


def open_duckdb(data: Mapping[str, Any], tables: Mapping[str, Scan], *, threads: int = 1) -> Engine:
    """Opens tables in DuckDB."""
    return open_source(data, SimpleNamespace(tables=tables), threads=threads)  # type: ignore[arg-type]


def open_in_sqlite(data: Mapping[str, Any], tables: Mapping[str, Scan], *, threads: int = 1) -> Engine:
    """Opens tables in SQLite, which has one thread."""
    return open_sqlite(data, tables)


def open_spark(data: Mapping[str, Any], tables: Mapping[str, Scan], *, threads: int = 1) -> Engine:
    """Opens tables in Spark."""
    return open_spark_source(data, SimpleNamespace(tables=tables), spark_session())  # type: ignore[arg-type]


ENGINES: dict[str, Opening] = {"DuckDB": open_duckdb, "SQLite": open_in_sqlite, "Spark": open_spark}
