"""Every kind and size of source that data can be opened from, as a table of writers: a new kind is one line here."""

from __future__ import annotations

import csv
import datetime
import json
import math
import shutil
import sqlite3
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import duckdb
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.reference.duck import answers, tables
from tests.reference.interpreter import Answers
from tests.reference.laws import Compute
from tests.reference.worlds import World

from sfumato.query.engines.duckdb.engine import DuckDBEngine
from sfumato.query.engines.duckdb.sources import open_source
from sfumato.query.engines.inputs.files import SMALL
from sfumato.query.engines.polars.engine import PolarsEngine
from sfumato.query.engines.polars.sources import open_source as open_in_polars
from sfumato.query.nodes.relations import Scan
from sfumato.query.plan.engine_plan import Cells

EACH = 3
"""Rows of a row group: several groups of several rows, in small tables."""


@dataclass(frozen=True)
class Kind:
    """Is one kind of source: how a table is given in it, and how many bytes of Parquet are copied.

    A ``text`` has no types. With ``settled`` the table is read as after a cell that DuckDB's reader broke off at.
    ``opens`` is the engine that opens it.
    """

    given: Callable[[pa.Table, Path], Any]
    small: int = SMALL
    text: bool = False
    settled: bool = False
    opens: str = "DuckDB"


def pandas_frame(table: pa.Table, _: Path) -> Any:
    return table.to_pandas()


def polars_frame(table: pa.Table, _: Path) -> Any:
    return pl.from_arrow(table)


def columns(table: pa.Table, _: Path) -> Any:
    return {name: table.column(name).to_pylist() for name in table.column_names}


def pandas_objects(table: pa.Table, _: Path) -> Any:
    return table.to_pandas().astype(object)


def in_chunks(table: pa.Table, _: Path) -> Any:
    return pa.concat_tables([table.slice(start, EACH) for start in range(0, max(1, len(table)), EACH)])


def csv_file(table: pa.Table, path: Path, delimiter: str = ",") -> Any:
    file = path.with_suffix(".csv" if delimiter == "," else ".tsv")
    with file.open("w", encoding="utf-8", newline="") as lines:
        writer = csv.writer(lines, delimiter=delimiter)
        writer.writerow(table.column_names)
        writer.writerows([_text(row[name]) for name in table.column_names] for row in table.to_pylist())
    return file


def tsv_file(table: pa.Table, path: Path) -> Any:
    return csv_file(table, path, "\t")


def broken_csv(table: pa.Table, path: Path) -> Any:
    """Gives a CSV file that ends in a row with a field too many, in which a byte is none of UTF-8."""
    file: Path = csv_file(table, path)
    with file.open("ab") as lines:
        lines.write(b"\xff," * len(table.column_names) + b"0\r\n")
    return file


def json_file(table: pa.Table, path: Path) -> Any:
    file = path.with_suffix(".jsonl")
    file.write_text("".join(line + "\n" for line in _json_rows(table)))
    return file


def json_list(table: pa.Table, path: Path) -> Any:
    file = path.with_suffix(".json")
    file.write_text(f"[{', '.join(_json_rows(table))}]")
    return file


def _json_rows(table: pa.Table) -> list[str]:
    return [json.dumps({name: _plain(value) for name, value in row.items()}) for row in table.to_pylist()]


def _text(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return "" if value is None else value.isoformat() if isinstance(value, datetime.date) else str(value)


def _plain(value: Any) -> Any:
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value.isoformat() if isinstance(value, datetime.date) else value


def by_pyarrow(table: pa.Table, path: Path) -> Any:
    file = path.with_suffix(".parquet")
    pq.write_table(table, file, row_group_size=EACH, write_page_index=True)
    return file


def by_polars(table: pa.Table, path: Path) -> Any:
    file = path.with_suffix(".parquet")
    pl.DataFrame(pl.from_arrow(table)).write_parquet(file, row_group_size=EACH, statistics="full")
    return file


def several_files(table: pa.Table, path: Path) -> Any:
    path.mkdir()
    half = len(table) // 2
    for name, part in (("a", table.slice(0, half)), ("b", table.slice(half))):
        pq.write_table(part, path / f"{name}.parquet")
    return str(path / "*.parquet")


def database(table: pa.Table, path: Path) -> Any:
    file = path.with_suffix(".duckdb")
    with duckdb.connect(str(file)) as writing:
        writing.register("given", table)
        writing.execute(f'CREATE TABLE "{path.name}" AS FROM given')
    return file


def rows(table: pa.Table, _: Path) -> Any:
    return table.to_pylist()


def records(table: pa.Table, _: Path) -> Any:
    return table.to_pandas().to_records(index=False)


class Interchange:
    """Has the protocol of data frames, and nothing else. The protocol has no days: they are texts."""

    def __init__(self, table: pa.Table) -> None:
        days = [field.with_type(pa.string()) if field.type == pa.date32() else field for field in table.schema]
        self._table = table.cast(pa.schema(days))

    def __dataframe__(self, **options: Any) -> Any:
        return self._table.__dataframe__(**options)


def sqlite_file(table: pa.Table, path: Path) -> Any:
    file, names = path.with_suffix(".db"), table.column_names
    with closing(sqlite3.connect(file)) as writing, writing:
        writing.execute(f'CREATE TABLE "{path.name}" ({", ".join(map(_named, names))})')
        cells = ([_stored(row[name]) for name in names] for row in table.to_pylist())
        writing.executemany(f'INSERT INTO "{path.name}" VALUES ({", ".join("?" * len(names))})', cells)
    return file


def _named(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def _stored(value: Any) -> Any:
    whole = isinstance(value, int) and not isinstance(value, bool) and -(2**63) <= value < 2**63
    return value if value is None or whole or isinstance(value, str | float | bytes) else _text(value)


def arrow_file(table: pa.Table, path: Path) -> Any:
    file = path.with_suffix(".arrow")
    with pa.ipc.new_file(str(file), table.schema) as writing:
        writing.write_table(table, max_chunksize=EACH)
    return file


def lazy_files(table: pa.Table, path: Path) -> Any:
    """Gives a plan over a file, of which every column is said to be sorted."""
    sorted_by = [pq.SortingColumn(place) for place in range(table.num_columns)]
    pq.write_table(table, path.with_suffix(".parquet"), row_group_size=EACH, sorting_columns=sorted_by)
    return pl.scan_parquet(path.with_suffix(".parquet"))


def flagged_frame(table: pa.Table, _: Path) -> Any:
    """Gives a frame of which every column is said to be sorted, and is not."""
    frame = pl.DataFrame(pl.from_arrow(table))
    return frame.with_columns(pl.all().set_sorted())


def flagged_file(table: pa.Table, path: Path) -> Any:
    """Gives a file of which every column is said to be sorted, and is not."""
    lazy_files(table, path)
    return path.with_suffix(".parquet")


KINDS: dict[str, Kind] = {
    "Arrow": Kind(lambda table, _: table),
    "Arrow in chunks": Kind(in_chunks),
    "pandas": Kind(pandas_frame),
    "pandas objects": Kind(pandas_objects),
    "polars": Kind(polars_frame),
    "dict": Kind(columns),
    "CSV": Kind(csv_file, text=True),
    "CSV with a broken row": Kind(broken_csv, text=True),
    "TSV": Kind(tsv_file, text=True),
    "JSON": Kind(json_file, text=True),
    "JSON list": Kind(json_list, text=True),
    "Parquet, copied": Kind(by_pyarrow),
    "Parquet by pyarrow": Kind(by_pyarrow, small=0),
    "Parquet by polars": Kind(by_polars, small=0),
    "Parquet, several files": Kind(several_files, small=0),
    "Parquet, after a broken cell": Kind(by_pyarrow, small=0, settled=True),
    "DuckDB file": Kind(database),
    "SQLite file": Kind(sqlite_file),
    "rows": Kind(rows),
    "records of NumPy": Kind(records),
    "lazy frame": Kind(lambda table, _: pl.DataFrame(pl.from_arrow(table)).lazy()),
    "interchange": Kind(lambda table, _: Interchange(table)),
}
POLARS = {
    "Arrow": Kind(lambda table, _: table),
    "lazy frame": Kind(lambda table, _: pl.DataFrame(pl.from_arrow(table)).lazy()),
    "lazy file": Kind(lazy_files, small=0),
    "frame with flags": Kind(flagged_frame),
    "pandas objects": Kind(pandas_objects),
    "dict": Kind(columns),
    "CSV": Kind(csv_file, text=True),
    "CSV with a broken row": Kind(broken_csv, text=True),
    "JSON": Kind(json_file, text=True),
    "Parquet, copied": Kind(by_pyarrow),
    "Parquet by pyarrow": Kind(by_pyarrow, small=0),
    "Parquet by polars": Kind(by_polars, small=0),
    "Parquet with flags": Kind(flagged_file, small=0),
    "Parquet, several files": Kind(several_files, small=0),
    "Parquet, after a broken cell": Kind(by_pyarrow, small=0, settled=True),
    "Arrow file": Kind(arrow_file),
    "SQLite file": Kind(sqlite_file),
}
"""Kinds of source that Polars opens: those that it reads in a way of its own."""

KINDS |= {f"{name}, in Polars": replace(kind, opens="Polars") for name, kind in POLARS.items()}

DAILY = ("lazy frame", "CSV with", "Parquet by polars", "Parquet with flags", "Parquet, after")
NIGHTLY = [name for name, kind in KINDS.items() if kind.opens == "Polars" and not name.startswith(DAILY)]
"""What is opened in Polars, too, and read there as some other kind is."""


def parted(kinds: Iterable[str]) -> list[Any]:
    """Gives kinds, of which some are for the night."""
    return [pytest.param(one, marks=pytest.mark.nightly) if one in NIGHTLY else one for one in kinds]


OTHER_TYPED = ("Arrow", "polars", "lazy", "frame with flags")
TYPED = [
    name
    for name in KINDS
    if name in ("Arrow", "polars")
    or "Parquet" in name
    or "DuckDB" in name
    or (name.endswith("in Polars") and name.startswith(OTHER_TYPED))
]
"""Those that hold every type of Arrow as it is."""


def no_other_way() -> bool:
    raise AssertionError("a question broke off at tables that hold no broken cell")


@contextmanager
def opened(
    kind: Kind, held: Mapping[str, pa.Table], scans: Mapping[str, Scan]
) -> Iterator[DuckDBEngine | PolarsEngine]:
    """Opens tables of a kind; their files are gone afterwards. A question that breaks off is not asked once more: that
    would read the tables in another way, and hide what was wrong with this one."""
    folder = Path(tempfile.mkdtemp(prefix="sfumato-fuzz-"))
    engine: DuckDBEngine | PolarsEngine | None = None
    catalog: Any = SimpleNamespace(tables=scans)
    try:
        given = {name: kind.given(table, folder / name) for name, table in held.items()}
        if kind.opens == "Polars":
            engine = open_in_polars(given, catalog, small=kind.small)
            if kind.settled:
                assert engine._settle()
        else:
            engine = open_source(given, catalog, threads=2, small=kind.small)
            if kind.settled:
                assert engine._otherwise()
        engine._otherwise = no_other_way
        yield engine
    finally:
        if engine is not None:
            engine.close()
        shutil.rmtree(folder)


def computed_from(name: str) -> Compute:
    """Gives the way to compute cells from sources of a kind."""

    def compute(world: World, cells: Cells) -> Answers:
        scans = tables(world, cells)
        with opened(KINDS[name], {table: world.held[table].arrow() for table in scans}, scans) as engine:
            return answers(engine.run(cells), cells)

    return compute
