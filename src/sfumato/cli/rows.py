"""Rows that one holds oneself, from a file and back: what a model predicts for."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sfumato.cli.exits import misused
from sfumato.errors import BadArgument

if TYPE_CHECKING:
    import pyarrow as pa


def read_rows(path: Path) -> pa.Table:
    """Reads a CSV, Parquet or JSON file as a table of Arrow; of CSV, the types are worked out from the values."""
    import pyarrow.csv
    import pyarrow.json
    import pyarrow.parquet

    readers = {".csv": pyarrow.csv.read_csv, ".parquet": pyarrow.parquet.read_table, ".json": pyarrow.json.read_json}
    read = readers.get(path.suffix.lower())
    if read is None:
        misused(f"rows to predict for are read from a file that ends in {', '.join(readers)}; got {path.name}.")
    try:
        return read(path)
    except (OSError, pyarrow.ArrowException):
        misused(f"{path} cannot be read as {path.suffix.lower().removeprefix('.').upper()}.")


def write_rows(rows: pa.Table, added: Mapping[str, Any], path: Path | None) -> None:
    """Writes rows with columns added: as Parquet where the file's name says so, else as CSV."""
    import pyarrow.csv
    import pyarrow.parquet

    for name, values in added.items():
        rows = rows.append_column(name, pyarrow.array(values.tolist()))
    try:
        if path is None:
            pyarrow.csv.write_csv(rows, sys.stdout.buffer)
        elif path.suffix.lower() == ".parquet":
            pyarrow.parquet.write_table(rows, path)
        else:
            pyarrow.csv.write_csv(rows, path)
    except OSError:
        raise BadArgument("--output", "a file that can be written", str(path)) from None
