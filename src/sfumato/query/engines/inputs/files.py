"""Files and tables as they are given: which files a path means, which data is a table's, and what tells data apart."""

from __future__ import annotations

import glob
import hashlib
import os
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any, NoReturn, final

from sfumato.errors import BadArgument
from sfumato.query.engines.inputs.tables import is_sqlite
from sfumato.query.engines.protocol import Given
from sfumato.query.nodes.relations import Scan

PARQUET = (".parquet", ".pq")

SMALL = 64 << 20
"""Parquet files of up to this many bytes together are copied into memory: each question then takes less time."""


def by_table(data: Given, tables: Collection[str], several: Collection[str] = ()) -> Mapping[str, Given]:
    """For each table of the codebook the data that it is in; files that end in ``several`` may hold all of them."""
    if isinstance(data, Mapping) and all(name in data for name in tables):
        return data
    if len(tables) == 1 or (is_path(data) and Path(data).suffix.lower() in several) or is_sqlite(data):
        return dict.fromkeys(tables, data)
    return _refuse(f"given for each table: {{table: …}} with {', '.join(tables)}", data)


def is_path(data: Given) -> bool:
    """Tells whether data is a path or a pattern of paths."""
    return isinstance(data, str | os.PathLike)


def files_of(given: str | os.PathLike[str]) -> list[Path]:
    """The files of a path or a glob, in order: this list is what is read from now on."""
    path = os.fspath(given)
    paths = [path] if os.path.isfile(path) else sorted(glob.glob(path, recursive=True))
    files = [Path(os.path.abspath(one)) for one in paths if os.path.isfile(one)]
    if not files:
        _refuse("a file that there is, or a pattern such as 'visits/*.parquet'", path)
    if any(sign in str(file) for file in files for sign in "*?[]{}"):
        _refuse("files whose names hold none of * ? [ ] { }", path)
    return files


def identifying(tables: Mapping[str, Scan]) -> dict[str, set[str]]:
    """The columns of each table that say to whom a row belongs: ids, and both ends of foreign keys."""
    columns: dict[str, set[str]] = {name: set() for name in tables}
    for name, scan in tables.items():
        place = name
        for hop in () if scan.owner is None else scan.owner.hops:
            columns[place].add(hop.column)
            columns.setdefault(hop.table, set()).add(hop.key)
            place = hop.table
        if scan.owner is not None and scan.owner.id:
            columns[place].add(scan.owner.id)
    return columns


def mark_of(file: Path, part: bytes) -> bytes:
    """Marks the content of a file that is too large to be read whole: by its size and a part that tells of the rest."""
    return f"file {file.stat().st_size} ".encode() + part


def whole(file: Path) -> bytes:
    """Marks a file by a digest of every byte."""
    with file.open("rb") as held:
        return hashlib.file_digest(held, "sha256").digest()


@final
class Digest:
    """A file that keeps nothing but the digest of what is written to it."""

    closed = False

    def __init__(self) -> None:
        self.digest = hashlib.sha256()

    def write(self, data: bytes) -> int:
        """Takes bytes in."""
        self.digest.update(data)
        return len(data)

    def flush(self) -> None:
        """Does nothing."""

    def close(self) -> None:
        """Does nothing."""


def digest_of(table: Any) -> bytes:
    """A digest of an Arrow table, as it would be sent to somebody, column by column.

    How columns are cut into chunks is no part of it: whoever reads a file with several threads cuts it anew each time.
    """
    import pyarrow as pa

    sink = Digest()
    for column in (table.select([name]).combine_chunks() for name in table.schema.names):
        with pa.ipc.new_stream(pa.PythonFile(sink, mode="w"), column.schema) as stream:
            stream.write_table(column)
    return sink.digest.digest()


def _refuse(must: str, got: object) -> NoReturn:
    raise BadArgument("data", must, got if isinstance(got, str) else type(got).__name__)
