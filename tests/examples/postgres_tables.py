"""Tables of Arrow in a PostgreSQL server that lives as long as the process, for tests of engines."""

from __future__ import annotations

import atexit
import datetime
from collections import deque
from collections.abc import Iterable, Mapping
from contextlib import ExitStack
from functools import lru_cache
from itertools import count
from typing import Any
from urllib.parse import unquote

import pyarrow as pa
import pytest

from sfumato.query.engines.inputs.frames import columns_of
from sfumato.query.engines.postgres.engine import PostgresEngine
from sfumato.query.engines.postgres.opening import Postgres
from sfumato.query.engines.sql.statement import quoted
from sfumato.query.nodes.relations import Scan

KEPT = 40
"""Tables that are there at once; who opens another loses the oldest one."""

NO_NUL = "\1"
"""Stands for the character that no text of PostgreSQL can hold."""


@lru_cache(None)
def address() -> str:
    """Starts the server and gives the address of an empty database; skips where PostgreSQL is not installed."""
    pytest.importorskip("psycopg", reason="needs psycopg")
    from side_by_side.postgres_server import running

    stack = ExitStack()
    server = stack.enter_context(running())
    if server is None:
        stack.close()
        pytest.skip("needs PostgreSQL (scripts/debian-packages)")
    atexit.register(stack.close)
    with connection(server.url()) as made:
        for setting in ("fsync = off", "synchronous_commit = off", "full_page_writes = off", "autovacuum = off"):
            made.execute(f"ALTER SYSTEM SET {setting}".encode())
        made.execute(b"SELECT pg_reload_conf()")
        made.execute(b"CREATE DATABASE engines")
    return str(server.url("engines"))


def connection(url: str) -> Any:
    import psycopg

    return psycopg.connect(url, autocommit=True)


@lru_cache(None)
def writer() -> Any:
    """Gives the connection that makes tables."""
    made = connection(address())
    atexit.register(made.close)
    return made


TABLES: deque[str] = deque()
NUMBERS = count()


def type_of(held: pa.DataType) -> str:
    """Gives the type of the server for one of Arrow."""
    if pa.types.is_decimal(held):
        return f"numeric({held.precision},{held.scale})"
    if pa.types.is_list(held):
        return f"{type_of(held.value_type)}[]"
    known = {
        "int8": "int2", "int16": "int2", "int32": "int4", "int64": "int8", "uint64": "numeric(20,0)", "float": "float4",
        "double": "float8", "string": "text", "large_string": "text", "bool": "bool", "date32[day]": "date",
        "timestamp[us]": "timestamp", "timestamp[us, tz=UTC]": "timestamptz", "null": "text", "uint8": "int2",
        "uint16": "int4", "uint32": "int8",
    }  # fmt: skip
    return known[str(held)]


def stored(value: Any) -> Any:
    """Gives a value as the server can hold it."""
    if isinstance(value, str):
        return value.replace("\0", NO_NUL)
    if isinstance(value, list):
        return [stored(one) for one in value]
    if isinstance(value, datetime.datetime) and value.tzinfo is not None:
        return f"{value.replace(tzinfo=None).isoformat(' ')}+00"
    return value


def write(table: pa.Table, name: str, *, at: Any = None) -> None:
    """Writes a table under a name."""
    made = at or writer()
    columns = ", ".join(f"{quoted(field.name)} {type_of(field.type)}" for field in table.schema)
    made.execute(f"CREATE UNLOGGED TABLE {quoted(name)} ({columns})".encode())
    if len(table) and table.num_columns:
        rows = zip(*(column.to_pylist() for column in table.columns), strict=True)
        with made.cursor().copy(f"COPY {quoted(name)} FROM STDIN".encode()) as copy:
            for row in rows:
                copy.write_row([stored(value) for value in row])
    elif len(table):
        for _ in range(len(table)):
            made.execute(f"INSERT INTO {quoted(name)} DEFAULT VALUES".encode())


def written(data: Any, scan: Scan) -> str:
    """Writes the columns of a table that a scan describes; gives its address."""
    lists = [items.column for items in scan.lists]
    made, _ = columns_of(data, [*(column.name for column in scan.columns), *lists], lists)
    name = f"made {next(NUMBERS)}"
    while len(TABLES) >= KEPT:
        writer().execute(f"DROP TABLE IF EXISTS {quoted(TABLES.popleft())}".encode())
    write(made, name)
    TABLES.append(name)
    return f"{address()}&table={name.replace(' ', '%20')}"


def drop(addresses: Iterable[str]) -> None:
    """Drops tables that were written."""
    for one in addresses:
        name = unquote(one.rpartition("table=")[2])
        writer().execute(f"DROP TABLE IF EXISTS {quoted(name)}".encode())
        TABLES.remove(name)


def open_in_postgres(data: Mapping[str, Any], tables: Mapping[str, Scan], *, threads: int = 1) -> PostgresEngine:
    """Opens tables in PostgreSQL."""
    given = {name: written(data[name], scan) for name, scan in tables.items()} or address()
    workers = None if threads > 1 else 0
    return Postgres(parallel_workers=workers)._opened(given, tables, look=False)
