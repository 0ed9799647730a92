"""Files that Polars is given: Parquet where it is, or copied so that every cell is taken; texts; those of Arrow."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import count, islice
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any, final

import polars as pl

from sfumato.errors import BadArgument
from sfumato.query.engines.inputs.parquet_files import opened, plain, sound_texts
from sfumato.query.engines.inputs.text_files import (
    JSON,
    LONGEST,
    Row,
    delimiter_of,
    json_rows,
    separated_rows,
    well_formed,
)
from sfumato.query.engines.polars.held import Held
from sfumato.query.engines.polars.scope import ONE

if TYPE_CHECKING:
    import pyarrow as pa

IPC = (".arrow", ".ipc", ".feather")

BATCH = 50_000
"""The number of rows that are handed over at once."""


def parquet_types(file: Path) -> dict[str, Any] | None:
    """The columns of a Parquet file and their types, by Parquet's own words in its footer; None where it has none."""
    import pyarrow as pa

    try:
        with opened(file) as held:
            schema = held.schema_arrow
            repeated = [name for name in schema.names if schema.names.count(name) > 1]
            return {name: _type_of(schema.field(name).type) for name in schema.names if name not in repeated}
    except (pa.ArrowException, OSError, ValueError):
        return None


def _type_of(kind: pa.DataType) -> pl.DataType:
    """The type of Polars for one of Arrow; one that nothing reads where Polars has none."""
    import pyarrow as pa

    try:
        return pl.Series(sound_texts(plain(pa.array([], kind)), kind)).dtype
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException, pa.ArrowException, TypeError, ValueError):
        return pl.Object()


def wide_decimals(file: Path) -> list[str]:
    """Names columns with decimals of more digits than Polars has."""
    import pyarrow as pa

    with opened(file) as held:
        return [
            one.name for one in held.schema_arrow if pa.types.is_decimal256(getattr(one.type, "value_type", one.type))
        ]


def in_96_bits(file: Path, names: list[str]) -> bool:
    """Tells whether a column holds times in 96 bits, of which Polars' own reader makes others where they are far."""
    with opened(file) as held:
        schema = held.schema
        columns = (schema.column(place) for place in range(len(schema)))
        return any(one.physical_type == "INT96" and one.path.split(".")[0] in names for one in columns)


def parquet_batches(files: list[Path], names: list[str]) -> Iterator[pa.Table]:
    """The wanted columns of Parquet files, some rows at a time: what is no value of its column's type is missing."""
    import pyarrow as pa

    for path in files:
        with opened(path) as file:
            there = file.schema_arrow.names
            places = [there.index(name) for name in names]
            # A name with a dot may stand for a part of another column: then everything is read.
            dotted = len(set(there)) < len(there) or any("." in name for name in there)
            wanted = list(range(len(there))) if dotted else sorted(set(places))
            for batch in file.iter_batches(columns=[there[place] for place in wanted]):
                columns = [plain(batch.column(wanted.index(place))) for place in places]
                texts = [file.schema_arrow.types[place] for place in places]
                made = [sound_texts(one, kind) for one, kind in zip(columns, texts, strict=True)]
                yield pa.table(dict(zip(names, made, strict=True)))


def parquet_table(files: list[Path], names: list[str]) -> pa.Table | None:
    """Parquet files as a table of Arrow in which every cell was taken; None where they cannot be read."""
    import pyarrow as pa

    try:
        batches = list(parquet_batches(files, names))
        return pa.concat_tables(batches) if batches else _none(files[0], names)
    except (pa.ArrowException, OSError, ValueError):
        return None


def _none(file: Path, names: list[str]) -> pa.Table:
    import pyarrow as pa

    with opened(file) as held:
        schema = held.schema_arrow
        empty = {name: plain(pa.array([], schema.field(name).type)) for name in names}
        return pa.table({name: sound_texts(one, schema.field(name).type) for name, one in empty.items()})


@final
class Spill:
    """A temporary folder, made when it is first needed."""

    def __init__(self) -> None:
        self._folder, self._numbers = "", count(1)

    def place(self) -> str:
        """A new file in the folder."""
        self._folder = self._folder or tempfile.mkdtemp(prefix="sfumato-")
        return os.path.join(self._folder, f"{next(self._numbers)}.arrow")

    def remove(self) -> None:
        """Removes the folder, with all that is in it."""
        if self._folder:
            shutil.rmtree(self._folder, ignore_errors=True)


@final
@dataclass(frozen=True)
class Views:
    """The Parquet tables that are read where they are, until one of them makes a question fail."""

    spill: Spill
    tables: dict[str, tuple[list[Path], list[str], Held]] = field(default_factory=dict)
    lock: Lock = field(default_factory=Lock)

    def view(self, name: str, files: list[Path], names: list[str], held: Held) -> pl.LazyFrame:
        """The rows of files where they are. Nothing that they state about their rows is looked at."""
        if any(in_96_bits(file, names) for file in files):
            return self._copy(name, files, names, held, renamed=False)
        self.tables[name] = (files, names, held)
        return pl.concat(_scanned(file, names, held) for file in files)

    def copied(self) -> Mapping[str, pl.LazyFrame] | None:
        """Makes copies of all of them that take every cell; None where there is nothing left to try again."""
        with self.lock:
            if not self.tables:
                return None
            made = {name: self._copy(name, *table) for name, table in self.tables.items()}
            self.tables.clear()
            return made

    def _copy(
        self, name: str, files: list[Path], names: list[str], held: Held, *, renamed: bool = True
    ) -> pl.LazyFrame:
        import pyarrow as pa

        place = self.spill.place()
        writer: Any = None
        try:
            for table in parquet_batches(files, names):
                writer = writer or pa.ipc.new_file(place, table.schema)
                writer.write_table(table)
            if writer is None:
                return (
                    held.empty if renamed else pl.LazyFrame(schema={one: kept[1] for one, kept in held.columns.items()})
                )
            writer.close()
        except (pa.ArrowException, OSError):
            pass
        else:
            scanned = pl.scan_ipc(place, glob=False, hive_partitioning=False)
            if not renamed:
                return scanned
            shown = [
                pl.col(one).cast(kept_as, strict=False).alias(ours) for one, (ours, kept_as, _) in held.columns.items()
            ]
            return scanned.select(shown).with_columns(pl.lit(1, dtype=pl.Int8).alias(ONE))
        raise RuntimeError(f"The files of {name} could not be copied.")


def _scanned(file: Path, names: list[str], held: Held) -> pl.LazyFrame:
    scan = pl.scan_parquet(file, use_statistics=False, hive_partitioning=False, glob=False)
    types = scan.collect_schema()
    return scan.select(_own(unflagged(one, types[one]), types[one], held.columns[one][1]) for one in names)


def _own(column: pl.Expr, noted: pl.DataType, held: pl.DataType) -> pl.Expr:
    """A column by Parquet's own type, where Polars goes by what Arrow's writers noted of theirs (words, durations)."""
    if noted == held:
        return column
    return column.to_physical().cast(held) if isinstance(noted, pl.Duration) else column.cast(held, strict=False)


def unflagged(name: str, held: pl.DataType) -> pl.Expr:
    """A column without what its file says about the order of its values, which nobody has checked: what Polars takes
    for sorted it only looks at the ends of, also where it is told to look at no statistics."""
    return pl.col(name).map_batches(_by_arrow, return_dtype=held, is_elementwise=True)


def _by_arrow(column: pl.Series) -> pl.Series:
    return pl.Series(column.name, column.to_arrow())


def ipc_table(files: list[Path]) -> pa.Table:
    """Files of Arrow as a table."""
    import pyarrow as pa

    try:
        parts = []
        for file in files:
            with pa.memory_map(str(file)) as source:
                parts.append(pa.ipc.open_file(source).read_all())
        return pa.concat_tables(parts)
    except (pa.ArrowException, OSError):
        pass
    raise BadArgument("data", "files of Arrow with the same columns, which can be read", "something else")


def text_table(files: list[Path], names: list[str], wanted: list[str]) -> tuple[pa.Table, int]:
    """Text files as a table of texts, and how many rows could not be read: by Arrow's own reader where it surely reads
    them as they are, and otherwise row by row."""
    if files[0].suffix.lower() in JSON:
        return _row_by_row((row for file in files for row in json_rows(file, wanted)), wanted)
    delimiter = delimiter_of(files[0])
    if all(delimiter_of(file) == delimiter and well_formed(file, delimiter, len(names)) for file in files):
        quick = _quick(files, names, wanted, delimiter)
        if quick is not None:
            return quick, 0
    return _row_by_row((row for file in files for row in separated_rows(file, names, wanted)), wanted)


def _quick(files: list[Path], names: list[str], wanted: list[str], delimiter: str) -> pa.Table | None:
    """Files without damage, by a reader that refuses records with too many or too few fields."""
    import pyarrow as pa
    from pyarrow import csv

    named = [name or f"unnamed {place}" for place, name in enumerate(names)]
    reading = csv.ReadOptions(column_names=named, skip_rows=1, use_threads=False, block_size=LONGEST * 8)
    parsing = csv.ParseOptions(delimiter=delimiter, newlines_in_values=True, ignore_empty_lines=len(names) > 1)
    types = dict.fromkeys(named, pa.large_string())
    converting = csv.ConvertOptions(
        column_types=types, include_columns=wanted, null_values=[""], strings_can_be_null=True, check_utf8=True
    )
    try:
        return pa.concat_tables(csv.read_csv(str(file), reading, parsing, converting) for file in files)
    except (pa.ArrowException, OSError):
        return None


def _row_by_row(rows: Iterator[Row | None], wanted: list[str]) -> tuple[pa.Table, int]:
    """Rows of texts; those that could not be read are left out, and counted."""
    import pyarrow as pa

    schema = pa.schema([(name, pa.large_string()) for name in wanted])
    batches, lost = [], 0
    while some := list(islice(rows, BATCH)):
        kept = [row for row in some if row is not None]
        lost += len(some) - len(kept)
        columns = list(zip(*kept, strict=True)) if kept else [()] * len(wanted)
        batches.append(pa.record_batch([pa.array(column, pa.large_string()) for column in columns], schema))
    return pa.Table.from_batches(batches, schema), lost
