"""Where the rows of a store are: in a table of its DuckDB file, or in Parquet files, one for each batch."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, final

import numpy as np
from numpy.typing import NDArray

from sfumato.errors import BadArgument
from sfumato.local.collecting.faults import StoreUnavailable
from sfumato.local.collecting.sql_sums import Relation, column_names
from sfumato.local.reports import Layout

if TYPE_CHECKING:
    import duckdb
    import pyarrow as pa

FILES_AT_ONCE = 1000
"""How many Parquet files one query reads."""


class Writer(Protocol):
    """Takes the reports of one batch."""

    def write(self, cells: NDArray[np.int64], bits: NDArray[np.uint64]) -> None:
        """Adds some reports."""

    def finish(self) -> None:
        """Makes durable what the transaction does not."""

    def forget(self) -> None:
        """Removes what the transaction does not roll back."""


class Keeping(Protocol):
    """Keeps the reports of a store."""

    def begin(self, rows: duckdb.DuckDBPyConnection, question: int, layout: Layout) -> None:
        """Makes room for a new question."""

    def writer(self, rows: duckdb.DuckDBPyConnection, question: int, batch: int, layout: Layout) -> Writer:
        """What takes the reports of a batch."""

    def relations(self, question: int, batches: Sequence[int], *, chosen: Sequence[int] | None) -> Iterator[Relation]:
        """Where the reports of some batches are, all of them if none are chosen."""


def cell_type(layout: Layout) -> np.dtype[Any]:
    """The smallest type that holds every cell."""
    return np.min_scalar_type(max(layout.cells - 1, 0))


SQL_TYPES = {1: "UTINYINT", 2: "USMALLINT", 4: "UINTEGER", 8: "UBIGINT"}


def _arrow(cells: NDArray[np.int64], bits: NDArray[np.uint64], layout: Layout, batch: int) -> pa.Table:
    import pyarrow as pa

    numbers = np.full(len(cells), batch, dtype=np.int32)
    words = {name: np.ascontiguousarray(bits[:, place]) for place, name in enumerate(column_names(layout))}
    return pa.table({"batch": numbers, "cell": cells.astype(cell_type(layout)), **words})


@final
class RowsInTable:
    """A table for each question, in the DuckDB file itself."""

    def begin(self, rows: duckdb.DuckDBPyConnection, question: int, layout: Layout) -> None:
        """Makes the table of a question."""
        words = "".join(f", {name} UBIGINT NOT NULL" for name in column_names(layout))
        cell = SQL_TYPES[cell_type(layout).itemsize]
        rows.execute(f"CREATE TABLE sfumato_reports_{question} (batch INTEGER NOT NULL, cell {cell} NOT NULL{words})")

    def writer(self, rows: duckdb.DuckDBPyConnection, question: int, batch: int, layout: Layout) -> TableWriter:
        """Inserts within the transaction."""
        return TableWriter(rows, question, batch, layout)

    def relations(self, question: int, batches: Sequence[int], *, chosen: Sequence[int] | None) -> Iterator[Relation]:
        """The table, or its rows of some batches."""
        where = "TRUE" if chosen is None else f"batch IN ({', '.join(map(str, chosen))})" if chosen else "FALSE"
        yield Relation(f"sfumato_reports_{question}", "rowid", where=where)


@final
class TableWriter:
    """Inserts reports; the transaction makes them durable, or takes them back."""

    def __init__(self, rows: duckdb.DuckDBPyConnection, question: int, batch: int, layout: Layout) -> None:
        self._rows, self._table, self._batch, self._layout = rows, f"sfumato_reports_{question}", batch, layout

    def write(self, cells: NDArray[np.int64], bits: NDArray[np.uint64]) -> None:
        """Adds some reports."""
        self._rows.register("new_reports", _arrow(cells, bits, self._layout, self._batch))
        self._rows.execute(f"INSERT INTO {self._table} SELECT * FROM new_reports")
        self._rows.unregister("new_reports")

    def finish(self) -> None:
        """Nothing is left to do."""

    def forget(self) -> None:
        """Nothing is left behind."""


@final
class RowsInFiles:
    """A Parquet file for each batch, beside the DuckDB file that says which of them count."""

    def __init__(self, folder: Path) -> None:
        if any(sign in str(folder.resolve()) for sign in "*?["):
            raise BadArgument(
                "place", "a folder without * ? [ in its path, which queries read as a pattern", str(folder)
            )
        self._folder = folder

    def file(self, question: int, batch: int) -> Path:
        """The file of a batch."""
        return self._folder / f"question-{question}" / f"batch-{batch:08d}.parquet"

    def begin(self, rows: duckdb.DuckDBPyConnection, question: int, layout: Layout) -> None:
        """Makes the folder of a question."""
        self.file(question, 0).parent.mkdir(exist_ok=True)
        _make_durable(self._folder)

    def writer(self, rows: duckdb.DuckDBPyConnection, question: int, batch: int, layout: Layout) -> FileWriter:
        """Writes a file, which the transaction then names."""
        return FileWriter(self.file(question, batch), batch, layout)

    def relations(self, question: int, batches: Sequence[int], *, chosen: Sequence[int] | None) -> Iterator[Relation]:
        """The files of some batches."""
        for first in range(0, len(batches), FILES_AT_ONCE):
            files = [self.file(question, batch) for batch in batches[first : first + FILES_AT_ONCE]]
            if not all(file.is_file() for file in files):
                raise StoreUnavailable("it is damaged: files of batches that it has are not there")
            names = ", ".join("'" + str(file).replace("'", "''") + "'" for file in files)
            yield Relation(f"read_parquet([{names}], file_row_number=true)", "file_row_number", each="batch, ")


@final
class FileWriter:
    """Writes the Parquet file of one batch beside its place, and puts it there once it is whole and on the disk."""

    def __init__(self, path: Path, batch: int, layout: Layout) -> None:
        self._path, self._batch, self._layout = path, batch, layout
        self._half = path.with_suffix(".half")
        self._writer: Any = None

    def write(self, cells: NDArray[np.int64], bits: NDArray[np.uint64]) -> None:
        """Adds some reports."""
        table = _arrow(cells, bits, self._layout, self._batch)
        self._open(table.schema).write_table(table)

    def _open(self, schema: pa.Schema) -> Any:
        import pyarrow.parquet

        if self._writer is None:
            self._writer = pyarrow.parquet.ParquetWriter(self._half, schema)
        return self._writer

    def finish(self) -> None:
        """Puts the file in its place, durably."""
        nobody = np.zeros(0, dtype=np.int64), np.zeros((0, self._layout.words), dtype=np.uint64)
        self._open(_arrow(*nobody, self._layout, self._batch).schema).close()
        _make_durable(self._half)
        os.replace(self._half, self._path)
        _make_durable(self._path.parent)

    def forget(self) -> None:
        """Removes a file that is half written."""
        with suppress(OSError, ValueError):
            if self._writer is not None:
                self._writer.close()
        self._half.unlink(missing_ok=True)


def _make_durable(path: Path) -> None:
    """Waits until a file, or the names in a folder, are on the disk."""
    try:
        handle = os.open(path, os.O_RDONLY)
    except PermissionError:  # Windows opens no folders
        return
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
