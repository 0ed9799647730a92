"""Schemas: the names and types of columns that data states by itself, in words that a codebook can be drafted from."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

import polars as pl

from sfumato.errors import BadArgument
from sfumato.query.engines.inputs.files import PARQUET, files_of
from sfumato.query.engines.inputs.frames import schema_table
from sfumato.query.engines.inputs.tables import SQLITE, is_sqlite, is_table, sqlite_schema
from sfumato.query.engines.inputs.text_files import SEPARATED, header_of
from sfumato.query.engines.polars.files import IPC, ipc_table, parquet_types
from sfumato.query.engines.polars.running import schema_of_frame
from sfumato.query.engines.protocol import Given

NOT_SAID = ""
"""The type of a column of a text file, which has none: to guess one is to look at values."""

WORDS: dict[type[pl.DataType], str] = {
    pl.Boolean: "BOOLEAN",
    pl.Int8: "SMALLINT",
    pl.Int16: "SMALLINT",
    pl.Int32: "INTEGER",
    pl.Int64: "BIGINT",
    pl.Int128: "BIGINT",
    pl.UInt8: "BIGINT",
    pl.UInt16: "BIGINT",
    pl.UInt32: "BIGINT",
    pl.UInt64: "BIGINT",
    pl.UInt128: "BIGINT",
    pl.Float32: "FLOAT",
    pl.Float64: "DOUBLE",
    pl.String: "VARCHAR",
    pl.Categorical: "VARCHAR",
    pl.Enum: "VARCHAR",
    pl.Date: "DATE",
    pl.Null: "VARCHAR",
    pl.Binary: "BLOB",
    pl.Duration: "INTERVAL",
    pl.Time: "TIME",
}


def word(held: pl.DataType) -> str:
    """A type of Polars in a word that `codebook.draft.kind_of` knows, as far as it has any for it."""
    if isinstance(held, pl.Decimal):
        return f"DECIMAL({held.precision},{held.scale})"
    if isinstance(held, pl.Datetime):
        return "TIMESTAMP WITH TIME ZONE" if held.time_zone else "TIMESTAMP"
    if isinstance(held, pl.List | pl.Array):
        inner = held.inner
        return f"{word(inner if isinstance(inner, pl.DataType) else inner())}[]"
    return WORDS.get(type(held), str(held))


def schema_of(data: Given, name: str = "data") -> Mapping[str, Mapping[str, str]]:
    """The tables of a file, a pattern or a frame, their columns, and the engine's types of these.

    Of a Parquet file its footer is read, of a CSV file its first line; of a frame its types, of a lazy one those of its
    plan. A frame is called ``name``; several, in a mapping, are called what they are there.
    """
    if isinstance(data, Mapping) and data and all(map(_is_part, data.values())):
        return {table: next(iter(schema_of(part, table).values())) for table, part in data.items()}
    if isinstance(data, pl.LazyFrame):
        types = schema_of_frame(data)
        if types is None:
            raise BadArgument("data", "a lazy frame that can be collected", "something else")
        return {name: {column: word(held) for column, held in types.items()}}
    if not isinstance(data, str | os.PathLike):
        return {name: _of_frame(data)}
    if is_sqlite(data):
        return sqlite_schema(data)
    return {_named(os.fspath(data)): _of_files(data)}


def _named(path: str) -> str:
    """Names a table after its file, or after the folder of several."""
    files = files_of(path)
    return files[0].stem if len(files) == 1 else files[0].parent.name or Path(path).stem


def _of_files(path: str | os.PathLike[str]) -> dict[str, str]:
    files = files_of(path)
    suffix = files[0].suffix.lower()
    if suffix in PARQUET:
        types = parquet_types(files[0])
        if types is not None:
            return {column: word(held) for column, held in types.items()}
    elif suffix in IPC:
        return _of_frame(ipc_table(files))
    elif suffix in SEPARATED:
        return dict.fromkeys(filter(None, header_of(files)), NOT_SAID)
    known = (*PARQUET, *IPC, *SEPARATED, *SQLITE)
    must = f"a file that says which columns it has ({', '.join(known)}); of others the codebook is written by hand"
    raise BadArgument("data", must, os.fspath(path))


def _is_part(data: object) -> bool:
    """Tells whether data is a table by itself, and no column of one."""
    frame = hasattr(data, "__arrow_c_stream__") and hasattr(data, "columns")
    return frame or is_table(data) or isinstance(data, str | os.PathLike | Mapping)


def _of_frame(data: Given) -> dict[str, str]:
    import pyarrow as pa

    table, names = schema_table(data)
    types = {}
    for name in table.column_names:
        try:
            if pa.types.is_decimal256(table.schema.field(name).type):  # of which Polars has no more than the type
                raise TypeError(name)
            types[name] = word(pl.DataFrame(pl.from_arrow(table.select([name]))).dtypes[0])
        except (pl.exceptions.PolarsError, pl.exceptions.PanicException, TypeError, ValueError):
            types[name] = str(table.schema.field(name).type)
    return {name: types.get(name, NOT_SAID) for name in names}
