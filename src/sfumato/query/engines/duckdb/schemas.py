"""Schemas: the names and types of columns that a file states by itself, read without looking at any value."""

from __future__ import annotations

import os
from collections.abc import Mapping
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sfumato.errors import BadArgument
from sfumato.query.engines.duckdb.connection import connected, duckdb_module
from sfumato.query.engines.duckdb.sources import DATABASES
from sfumato.query.engines.inputs.files import PARQUET, files_of
from sfumato.query.engines.inputs.frames import schema_table
from sfumato.query.engines.inputs.tables import SQLITE, is_sqlite, is_table, sqlite_schema
from sfumato.query.engines.inputs.text_files import SEPARATED, header_of
from sfumato.query.engines.protocol import Given

if TYPE_CHECKING:
    import duckdb
    import pyarrow as pa

NOT_SAID = ""
"""The type of a column of a text file, which has none: to guess one is to look at values."""

OF_SQL = {
    **dict.fromkeys(("HUGEINT", "UTINYINT", "USMALLINT", "UINTEGER", "UBIGINT", "UHUGEINT"), "BIGINT"),
    **dict.fromkeys(("TIMESTAMP_S", "TIMESTAMP_MS", "TIMESTAMP_NS"), "TIMESTAMP"),
    "TIMESTAMPTZ_NS": "TIMESTAMPTZ",
}
"""Types that DuckDB alone has, and SQL's word for what they are; others have that already."""


def schema_of(data: Given, name: str = "data") -> dict[str, dict[str, str]]:
    """The tables of a file, a pattern or a frame, their columns, and SQL's words for the types of these.

    Of a Parquet file its footer is read, of a CSV file its first line, of a database its catalog; of a frame its types.
    A frame is called ``name``; several, in a mapping, are called what they are there.
    """
    return {
        table: {column: _in_sql(held) for column, held in columns.items()}
        for table, columns in _own_schema(data, name).items()
    }


def _in_sql(held: str) -> str:
    word, bracket, size = held.partition("[")
    return OF_SQL.get(word, word) + bracket + size


def _own_schema(data: Given, name: str) -> dict[str, dict[str, str]]:
    """The same, in DuckDB's words."""
    if isinstance(data, Mapping) and data and all(map(_is_part, data.values())):
        return {table: _of_part(part, table) for table, part in data.items()}
    if not isinstance(data, str | os.PathLike):
        return {name: _of_frame(data)}
    if is_sqlite(data):
        return sqlite_schema(data)
    path = os.fspath(data)
    files = files_of(path)
    suffix = files[0].suffix.lower()
    if suffix in DATABASES and len(files) == 1:
        return _of_database(files[0])
    if suffix in PARQUET:
        return {_named(path, files): _of_parquet(files[0])}
    if suffix in SEPARATED:
        return {_named(path, files): dict.fromkeys(filter(None, header_of(files)), NOT_SAID)}
    known = (*PARQUET, *SEPARATED, *DATABASES, *SQLITE)
    must = f"a file that says which columns it has ({', '.join(known)}); of others the codebook is written by hand"
    raise BadArgument("data", must, path)


def _named(path: str, files: list[Path]) -> str:
    """Names a table after its file, or after the folder of several."""
    return files[0].stem if len(files) == 1 else files[0].parent.name or Path(path).stem


def _is_part(data: object) -> bool:
    """Tells whether data is a table by itself, and no column of one."""
    frame = hasattr(data, "__arrow_c_stream__") and hasattr(data, "columns")
    return frame or is_table(data) or isinstance(data, str | os.PathLike | Mapping)


def _of_part(data: Given, name: str) -> dict[str, str]:
    """The columns of a table that was given under a name: of a database, those of the table that it has so."""
    tables = _own_schema(data, name)
    if name not in tables and len(tables) > 1:
        raise BadArgument("data", f"a database with a table {name}", ", ".join(tables))
    return tables[name] if name in tables else next(iter(tables.values()))


def _of_frame(data: Given) -> dict[str, str]:
    table, names = schema_table(data)
    with closing(connected()) as connection:
        types = {name: _held_as(connection, table.select([name])) for name in table.column_names}
    return {name: types.get(name, NOT_SAID) for name in names}


def _held_as(connection: duckdb.DuckDBPyConnection, column: pa.Table) -> str:
    """The engine's type of a column; that of Arrow where the engine has none."""
    try:
        connection.register("given", column)
        return str(connection.execute("DESCRIBE SELECT * FROM given").fetchall()[0][1])
    except duckdb_module().Error:
        return str(column.schema.types[0])


def _of_parquet(file: Path) -> dict[str, str]:
    text = "'" + str(file).replace("'", "''") + "'"
    return _described(f"read_parquet({text}, hive_partitioning = false)", "a Parquet file that can be read")


def _of_database(file: Path) -> dict[str, dict[str, str]]:
    must = "a DuckDB file that can be read, with tables"
    rows = _rows("SELECT table_name, column_name, data_type FROM duckdb_columns() WHERE NOT internal", must, file)
    tables: dict[str, dict[str, str]] = {}
    for table, column, kind in rows:
        tables.setdefault(table, {})[column] = kind
    if not tables:
        raise BadArgument("data", must, file.name)
    return tables


def _described(source: str, must: str) -> dict[str, str]:
    return {row[0]: row[1] for row in _rows(f"DESCRIBE SELECT * FROM {source}", must)}


def _rows(text: str, must: str, database: Path | None = None) -> list[tuple[Any, ...]]:
    """Runs a statement about a schema; whatever goes wrong, the message is ours."""
    module = duckdb_module()
    try:
        with closing(connected()) as connection:
            if database is not None:
                place = "'" + str(database).replace("'", "''") + "'"
                connection.execute(f"ATTACH {place} AS opened (READ_ONLY)")
            rows: list[tuple[Any, ...]] = connection.execute(text).fetchall()
            return rows
    except (module.Error, UnicodeError):
        failed = BadArgument("data", must, "something else")
    raise failed
