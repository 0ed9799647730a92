"""Tables in other forms than frames and files: rows of dictionaries, records of NumPy, lazy frames, SQLite.

Each is taken as it is now, and becomes columns; nothing in it decides how anything else in it is read.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterable, Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np

from sfumato.errors import BadArgument

MAGIC = b"SQLite format 3\0"
"""What every SQLite file begins with, whatever its name ends in."""

SQLITE = (".sqlite", ".sqlite3", ".db3")

DECLARED = {
    "INT": "BIGINT",
    "CHAR": "VARCHAR",
    "CLOB": "VARCHAR",
    "TEXT": "VARCHAR",
    "REAL": "DOUBLE",
    "FLOA": "DOUBLE",
    "DOUB": "DOUBLE",
    "NUMERIC": "DOUBLE",
    "DECIMAL": "DOUBLE",
    "BOOL": "BOOLEAN",
    "DATETIME": "TIMESTAMP",
    "TIMESTAMP": "TIMESTAMP",
    "DATE": "DATE",
}
"""Parts of the types that columns of SQLite are declared with, and the engine's names of these, the first that fits."""


def is_table(data: object) -> bool:
    """Tells whether data is a table in one of the forms that this module reads."""
    return is_lazy(data) or _is_records(data) or is_rows(data) or hasattr(data, "__dataframe__")


def is_rows(data: object) -> bool:
    """Tells whether data is a list of dictionaries, one for each row; entries that are none will be left out."""
    return isinstance(data, list | tuple) and any(isinstance(row, Mapping) for row in data)


def is_lazy(data: object) -> bool:
    """Tells whether data is a plan of a frame, which gives its rows when it is collected."""
    return callable(getattr(data, "collect_schema", None)) and callable(getattr(data, "collect", None))


def _is_records(data: object) -> bool:
    return isinstance(data, np.ndarray) and data.dtype.names is not None and data.ndim == 1


def plain_table(data: Any, wanted: Iterable[str] | None = None) -> Any:
    """A table as a frame, or as columns by name; what is none of these forms comes back as it is.

    ``wanted`` are the columns to take of rows; without them all that any row has.
    """
    if _is_records(data):
        return {name: data[name] for name in data.dtype.names}
    if is_rows(data) or (isinstance(data, list | tuple) and not data):
        rows = [row for row in data if isinstance(row, Mapping)]
        names = dict.fromkeys(name for row in rows for name in row) if wanted is None else wanted
        return {str(name): [row.get(name) for row in rows] for name in names}
    if is_lazy(data):
        return data.collect()
    if hasattr(data, "__dataframe__") and not hasattr(data, "__arrow_c_stream__"):
        from pyarrow import interchange

        try:
            return interchange.from_dataframe(data)
        except Exception:  # whatever another library does, the message is ours
            raise BadArgument("data", "a data frame that can be read as Arrow", type(data).__name__) from None
    return data


def is_sqlite(data: object) -> bool:
    """Tells whether data is the path of one SQLite file, by what the file begins with."""
    if not isinstance(data, str | os.PathLike):
        return False
    try:
        with Path(data).open("rb") as file:
            return file.read(len(MAGIC)) == MAGIC
    except (OSError, ValueError):
        return False


def sqlite_schema(file: str | os.PathLike[str]) -> dict[str, dict[str, str]]:
    """The tables of a SQLite file, their columns, and the engine's names of the types that these were declared with.

    A type binds nobody in SQLite: values of others are read one by one, or are missing.
    """
    with closing(_opened(file)) as connection:
        tables = [name for (name,) in _rows(connection, "SELECT name FROM sqlite_schema WHERE type = 'table'")]
        return {
            table: {
                str(row[1]): _declared(str(row[2])) for row in _rows(connection, f"PRAGMA table_info({_quoted(table)})")
            }
            for table in tables
            if not table.startswith("sqlite_")
        }


def sqlite_columns(file: str | os.PathLike[str], table: str, wanted: Sequence[str]) -> dict[str, list[Any]]:
    """The wanted columns of a table in a SQLite file, those that there are, as values of Python."""
    with closing(_opened(file)) as connection:
        kinds = _rows(connection, "SELECT type FROM sqlite_schema WHERE name = ?", (table,))
        if kinds != [("table",)]:
            must = f"a SQLite file in which {table} is a table: a view may mix the rows of several people"
            raise BadArgument("data", must, "a view" if kinds else "none")
        known = {row[1] for row in _rows(connection, f"PRAGMA table_info({_quoted(table)})")}
        names = [name for name in wanted if name in known]
        if not names:
            return {}
        rows = _rows(connection, f"SELECT {', '.join(map(_quoted, names))} FROM {_quoted(table)}")
        return {name: [row[place] for row in rows] for place, name in enumerate(names)}


def _opened(file: str | os.PathLike[str]) -> sqlite3.Connection:
    connection = sqlite3.connect(f"{Path(file).resolve().as_uri()}?mode=ro", uri=True)
    connection.text_factory = lambda raw: raw.decode("utf-8", "surrogateescape")
    return connection


def _rows(connection: sqlite3.Connection, text: str, parameters: tuple[str, ...] = ()) -> list[tuple[Any, ...]]:
    try:
        return connection.execute(text, parameters).fetchall()
    except (sqlite3.Error, OverflowError):
        failed = BadArgument("data", "a SQLite file that can be read", "something else")
    raise failed


def _declared(kind: str) -> str:
    return next((engine for part, engine in DECLARED.items() if part in kind.upper()), "")


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'
