"""Parquet files, read so that no cell can make reading fail: the way that is taken where DuckDB's reader breaks off.

DuckDB reads a Parquet file where it is, which is fast, and raises at a cell that its type cannot hold: milliseconds of
a year far away, a text that is not UTF-8. Then the table is copied once, through Arrow, with texts as bytes and times
as whole numbers; DuckDB makes its own types of these, and what it cannot make one of is missing. All other cells are
the same in both ways, and nothing but the time it takes says which of them was taken. Both go by Parquet's own types:
what Arrow's writers note of theirs beside them (words for dictionaries, durations) is passed over.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, final

from sfumato.query.engines.inputs.parquet_files import opened, plain
from sfumato.query.engines.sql.held import Held, item_type
from sfumato.query.engines.sql.statement import listing

if TYPE_CHECKING:
    import duckdb
    import pyarrow as pa


@final
@dataclass(frozen=True)
class ParquetTable:
    """A table in Parquet files: for each file, the places in it of the columns that are held."""

    held: Held
    files: tuple[Path, ...]
    places: tuple[tuple[int, ...], ...]

    def copy(self, connection: duckdb.DuckDBPyConnection, name: str) -> None:
        """Makes a table of it, in which cells that cannot be read are missing."""
        given = f"{name}_given"
        connection.register(given, self._reader())
        types = {row[0]: row[1] for row in connection.execute(f"DESCRIBE {given}").fetchall()}
        columns = listing(f"{_made(ours, types[ours], held)} AS {ours}" for ours, held, _ in self.held.columns.values())
        connection.execute(f"CREATE TABLE {name} AS SELECT {columns} FROM {given}")
        connection.unregister(given)

    def rounded(self) -> list[str]:
        """Names columns that DuckDB reads as floats and that hold none: decimals of more digits than it has, which it
        rounds in a way of its own."""
        import pyarrow as pa

        try:
            types = self._types()
        except (pa.ArrowException, OSError):  # a file that Arrow does not know is DuckDB's alone
            return []
        columns = zip(self.held.columns, types, strict=True)
        return [name for name, kind in columns if pa.types.is_decimal256(getattr(kind, "value_type", kind))]

    def _types(self) -> list[pa.DataType]:
        """Arrow's types of the columns that are held."""
        with opened(self.files[0]) as first:
            types = first.schema_arrow.types
        return [types[place] for place in self.places[0]]

    def _reader(self) -> pa.RecordBatchReader:
        import pyarrow as pa

        columns = zip(self.held.columns.values(), self._types(), strict=True)
        schema = pa.schema([(ours, plain(pa.array([], kind)).type) for (ours, _, _), kind in columns])
        return pa.RecordBatchReader.from_batches(schema, self._batches(schema))

    def _batches(self, schema: pa.Schema) -> Iterator[pa.RecordBatch]:
        import pyarrow as pa

        for path, places in zip(self.files, self.places, strict=True):
            with opened(path) as file:
                names = file.schema_arrow.names
                wanted = sorted(set(places))
                # A name with a dot may stand for a part of another column: then everything is read.
                if len(set(names)) < len(names) or any("." in name for name in names):
                    wanted = list(range(len(names)))
                for batch in file.iter_batches(columns=[names[place] for place in wanted]):
                    made = [plain(batch.column(wanted.index(place))) for place in places]
                    cast = [one.cast(kind) for one, kind in zip(made, schema.types, strict=True)]
                    yield pa.RecordBatch.from_arrays(cast, schema=schema)


def _made(name: str, given: str, held: str) -> str:
    """The text that makes a value of one of DuckDB's types of what Arrow handed over."""
    if held == "VARCHAR" and given == "BLOB":
        return f"TRY(decode({name}))"
    if given != held and item_type(held):
        return f"list_transform({name}, lambda one: {_made('one', item_type(given), item_type(held))})"
    return name if given == held else f"TRY_CAST({name} AS {held})"


@final
class InPlace:
    """The Parquet tables that DuckDB reads where they are, each a view, until one of them makes a question fail."""

    def __init__(self, connection: duckdb.DuckDBPyConnection, views: Sequence[ParquetTable]) -> None:
        self._connection, self._views, self._lock = connection, list(views), Lock()

    def perform(self) -> bool:
        """Makes copies of all of them that take every cell; tells whether there is anything left to try again."""
        with self._lock:
            there = bool(self._views)
            for table in self._views:
                name = table.held.name
                with self._connection.cursor() as cursor:
                    table.copy(cursor, f"{name}_copy")
                    cursor.execute(f"CREATE OR REPLACE VIEW {name} AS FROM {name}_copy")
            self._views.clear()
            return there
