"""A throw-away DuckDB: works SQL out over released numbers and public tables, and can reach nothing else.

Each run is a new database in memory that is given its tables, is closed to files, extensions and settings before it
sees the text, and is gone afterwards. No private table is ever in it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import closing
from threading import Timer
from typing import Any

from sfumato.errors import QueryRefused
from sfumato.query.engines.duckdb.connection import SETTINGS, duckdb_module
from sfumato.query.engines.duckdb.dialect import DUCKDB
from sfumato.query.engines.scratch import Given
from sfumato.query.engines.sql.statement import listing, quoted
from sfumato.query.nodes.kinds import Kind

LIMITS = {
    **SETTINGS,
    "error_on_division_by_zero": "false",  # what has no value is missing
    "ieee_floating_point_ops": "false",
    "memory_limit": "1GB",
    "preserve_insertion_order": "true",
    "temp_directory": "",
    "threads": "1",
}
"""No files, no extensions, little memory, one thread: the same tables and the same text give the same rows."""

LONGEST_RUN = 60
"""Seconds after which a run is broken off."""

WIDE = "HUGEINT"
"""The type of released whole numbers: noise, and sums of it, may be larger than 64 bits."""


def worked_out(text: str, tables: Mapping[str, Sequence[Given]]) -> list[tuple[str, list[Any]]]:
    """Runs one SELECT over some tables; gives its columns in order, as names and Python values.

    Refuses a SELECT that fails, and says nothing of why: what an engine says may quote what it holds.
    """
    import pyarrow as pa

    duckdb = duckdb_module()
    with closing(duckdb.connect(":memory:", config=LIMITS)) as connection:
        clock = Timer(LONGEST_RUN, connection.interrupt)
        clock.daemon = True
        clock.start()
        try:
            connection.execute("SET enable_external_access = false")  # last: some settings are refused after it
            for name, columns in tables.items():
                _load(connection, name, columns)
            connection.execute("SET lock_configuration = true")
            done = connection.execute(text)
            names, rows = [column[0] for column in done.description or ()], done.fetchall()
        except (duckdb.Error, pa.ArrowException, MemoryError, OverflowError):
            raise QueryRefused("a name, a type or an operation in it does not fit") from None
        finally:
            clock.cancel()
    cells = list(zip(*rows, strict=True)) if rows else [()] * len(names)
    return [(name, list(column)) for name, column in zip(names, cells, strict=True)]


def _load(connection: Any, name: str, columns: Sequence[Given]) -> None:
    """Makes a table with stated types: they follow from the question, never from what happens to be in it."""
    import pyarrow as pa

    arrays = [_array(pa, column) for column in columns]
    connection.register("handed in", pa.table(arrays, names=[f"c{place}" for place in range(len(columns))]))
    made = listing(
        f"CAST(c{place} AS {WIDE if column.wide else DUCKDB.types[column.kind]}) AS {quoted(column.name)}"
        for place, column in enumerate(columns)
    )
    connection.execute(f'CREATE TABLE {quoted(name)} AS SELECT {made} FROM "handed in"')
    connection.unregister("handed in")


def _array(pa: Any, column: Given) -> Any:
    types = {Kind.BOOL: pa.bool_(), Kind.INT: pa.int64(), Kind.FLOAT: pa.float64(), Kind.TEXT: pa.string()}
    types |= {Kind.DATE: pa.date32(), Kind.TIME: pa.timestamp("us")}
    return pa.array(list(column.values), pa.decimal128(38, 0) if column.wide else types[column.kind])
