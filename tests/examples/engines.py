"""Every engine, opened on tables in memory: the one place to add an engine to the conformance tests."""

from __future__ import annotations

from collections.abc import Mapping
from types import SimpleNamespace
from typing import Any, Protocol

from tests.examples.postgres_tables import open_in_postgres
from tests.examples.spark import opened_in_spark
from tests.reference.sqlite import open_sqlite

from sfumato.query.engines.duckdb.sources import open_source
from sfumato.query.engines.polars.sources import open_source as open_in_polars
from sfumato.query.engines.protocol import Engine
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


def open_polars(data: Mapping[str, Any], tables: Mapping[str, Scan], *, threads: int = 1) -> Engine:
    """Opens tables in Polars, whose threads are set for the whole process."""
    return open_in_polars(data, SimpleNamespace(tables=tables))  # type: ignore[arg-type]


def open_spark(data: Mapping[str, Any], tables: Mapping[str, Scan], *, threads: int = 1) -> Engine:
    """Opens tables in Spark."""
    return opened_in_spark(data, tables)


ENGINES: dict[str, Opening] = {
    "DuckDB": open_duckdb,
    "SQLite": open_in_sqlite,
    "PostgreSQL": open_in_postgres,
    "Polars": open_polars,
    "Spark": open_spark,
}

SLOW = frozenset({"Spark"})
"""Engines that take long for a statement: these tests are for the night, and a short form of them is by itself."""

WITHOUT_NUL = frozenset({"PostgreSQL"})
"""Engines whose texts cannot hold the character U+0000: they refuse a question that compares with it."""
