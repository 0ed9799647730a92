"""Writing released rows as a table: kept in private first, then published as a whole. Nothing here sees exact numbers.

Rows are drawn once, and then there are two places. A *staged* folder, which only whoever runs this can read, takes what
attempts to draw them write: of attempts that were broken off, repeated or doubled, one is kept and the rest go. What is
*published* is made of what was kept, of nothing else, and does not depend on chance: however often it is tried, by
whom, and wherever it breaks off, the same rows come out. So nobody can see two noisy versions of one number.

What can be seen of a table besides its rows follows from its rows. They are sorted by all of their columns, and their
number decides how many files there are: not in which order, batch or part the groups came, or how many were left out.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from abc import ABC, abstractmethod
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, final

from sfumato.errors import BadArgument, NotPublished
from sfumato.release.written import DOCUMENT, document_at

if TYPE_CHECKING:
    import pyarrow as pa

ROWS_IN_A_FILE = 1 << 22
"""A file has at most so many rows."""

KEPT = "rows.parquet"

NOT_PUBLISHED = (
    "the release was paid for, drawn and kept, but its table could not be put in its place: something else is there, "
    "or the disk is full. Make room and ask the same again: it costs nothing, and has the same rows."
)


class TableWriter(ABC):
    """Writes released rows where an engine can: on this machine, or wherever all of its machines do."""

    @abstractmethod
    def place(self, to: str, form: str) -> str:
        """The full name of the place for a table; refuses a format, or a place, that cannot be written."""

    @abstractmethod
    def is_taken(self, place: str) -> bool:
        """Tells whether something is at a place, be it a release, a broken one or something else."""

    @abstractmethod
    def stage(self, place: str) -> str:
        """Makes a new folder, which nobody else can read, for what will be a table at a place; or refuses to."""

    @abstractmethod
    def keep(self, batches: Iterable[pa.RecordBatch], schema: pa.Schema, staged: str) -> int:
        """Writes rows into a staged folder, all or none; returns their number."""

    @abstractmethod
    def is_kept(self, staged: str) -> bool:
        """Tells whether a staged folder holds all rows of a release."""

    @abstractmethod
    def publish(self, staged: str, place: str, form: str, rows: int, document: str) -> None:
        """Makes the table of the rows that are kept, with its document, at a place where nothing is: all or nothing."""

    @abstractmethod
    def published(self, place: str) -> str | None:
        """The document of the whole release at a place; None where there is none."""

    @abstractmethod
    def discard(self, staged: str) -> None:
        """Removes a staged folder, and all that attempts left in it."""


@final
class LocalTables(TableWriter):
    """Writes folders of Parquet files on this machine."""

    def place(self, to: str, form: str) -> str:
        if form != "parquet":
            raise BadArgument("format", "'parquet', which this engine writes", form)
        path = os.fspath(to) if isinstance(to, str | os.PathLike) else ""
        if not path or "://" in path or "\0" in path:
            raise BadArgument("to", "the path of a folder on this machine that is not there yet", to)
        return os.path.abspath(path)

    def is_taken(self, place: str) -> bool:
        return os.path.lexists(place)

    def stage(self, place: str) -> str:
        above, name = os.path.split(place)
        try:
            os.makedirs(above, exist_ok=True)
            return tempfile.mkdtemp(prefix=f".{name}.", suffix=".staged", dir=above)  # which only we can read
        except OSError:
            raise BadArgument("to", "in a folder that can be written to", place) from None

    def keep(self, batches: Iterable[pa.RecordBatch], schema: pa.Schema, staged: str) -> int:
        import pyarrow.parquet as pq

        rows, begun = 0, os.path.join(staged, "attempt")
        with open(begun, "wb") as file:
            with pq.ParquetWriter(file, schema) as writer:
                for batch in batches:
                    writer.write_batch(batch)
                    rows += batch.num_rows
            _to_disk(file.fileno())
        os.rename(begun, os.path.join(staged, KEPT))
        _folder_to_disk(staged)
        return rows

    def is_kept(self, staged: str) -> bool:
        return bool(staged) and os.path.isfile(os.path.join(staged, KEPT))

    def publish(self, staged: str, place: str, form: str, rows: int, document: str) -> None:
        import pyarrow as pa
        import pyarrow.parquet as pq

        whole = Path(tempfile.mkdtemp(dir=staged)) / "table"
        try:
            whole.mkdir()  # with the rights that new folders have; what it is in has ours
            table = pq.read_table(os.path.join(staged, KEPT))
            table = table.take(_order(table))
            for part in range(files_for(rows)):
                own = table.slice(part * ROWS_IN_A_FILE, ROWS_IN_A_FILE)
                with open(whole / f"part-{part:05d}.parquet", "wb") as file:
                    pq.write_table(own, file)
                    _to_disk(file.fileno())
            with open(whole / DOCUMENT, "w", encoding="utf-8") as file:
                file.write(document)
                _to_disk(file.fileno())
            _folder_to_disk(str(whole))
            os.rename(whole, place)
            _folder_to_disk(os.path.dirname(place))
        except (OSError, pa.ArrowException):
            raise NotPublished(NOT_PUBLISHED) from None

    def published(self, place: str) -> str | None:
        return document_at(Path(place))

    def discard(self, staged: str) -> None:
        if staged:
            shutil.rmtree(staged, ignore_errors=True)


def files_for(rows: int) -> int:
    """How many files a table has: that follows from its rows, which are released."""
    return max(1, -(-rows // ROWS_IN_A_FILE))


def _order(table: pa.Table) -> pa.Array:
    """Puts rows in the order of their cells, column by column: what else they came by is not told."""
    import pyarrow.compute as pc

    return pc.sort_indices(table, sort_keys=[(name, "ascending") for name in table.column_names])


def _to_disk(file: int) -> None:
    os.fsync(file)


def _folder_to_disk(folder: str) -> None:
    opened = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(opened)
    finally:
        os.close(opened)
