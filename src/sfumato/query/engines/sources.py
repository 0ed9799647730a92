"""Sources: files, data frames and databases, opened once in DuckDB, as their codebook describes them.

What is wrong with a source is said when it is opened, to whoever has the data, and names public things only: tables,
columns, types, files. After that DuckDB can read what was opened and nothing else.
"""

from __future__ import annotations

import csv
import glob
import hashlib
import os
import shutil
import tempfile
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn, TypeAlias, final

from sfumato.errors import BadArgument
from sfumato.query.catalog import Catalog
from sfumato.query.engines.duckdb import DuckDBEngine
from sfumato.query.engines.duckdb_connection import connected, duckdb_module
from sfumato.query.engines.duckdb_reading import readable
from sfumato.query.engines.duckdb_relations import Held
from sfumato.query.engines.duckdb_text import TYPES, listing, quoted
from sfumato.query.engines.parquet_cells import InPlace, ParquetTable
from sfumato.query.expressions import Column
from sfumato.query.relations import Scan

if TYPE_CHECKING:
    import duckdb

Given: TypeAlias = Any
"""A path or glob, an Arrow table, a data frame, columns of arrays, or any of these for each table."""

DATABASES, PARQUET = (".duckdb", ".ddb", ".db"), (".parquet", ".pq")
SEPARATED, JSON = {".csv": ",", ".tsv": "\t"}, (".json", ".jsonl", ".ndjson")

SMALL = 64 << 20
"""Parquet files of up to so many bytes together are copied into memory: each question then takes less time."""


def open_source(
    data: Given, catalog: Catalog, *, memory: str | None = None, threads: int | None = None, small: int = SMALL
) -> DuckDBEngine:
    """Opens data in DuckDB, table by table as a catalog describes it; ``memory`` is a limit such as ``'4GB'``.

    Large Parquet files and DuckDB's own tables are read where they are. CSV and JSON files, data frames and Parquet
    files of up to ``small`` bytes together are copied, as they are now.
    """
    spill = tempfile.mkdtemp(prefix="sfumato-")
    limits = {"memory_limit": memory, "threads": None if threads is None else str(threads)}
    connection = connected(temp_directory=spill, **{key: one for key, one in limits.items() if one is not None})
    opening = Opening(connection, [], [], small)
    try:
        given = _by_table(data, catalog.tables)
        held = {name: opening.table(name, scan, given[name]) for name, scan in catalog.tables.items()}
        opening.lock()
    except BaseException:
        connection.close()
        shutil.rmtree(spill, ignore_errors=True)
        raise
    in_place = InPlace(connection, opening.views)
    return DuckDBEngine(connection, held, marks=opening.marks, spill=spill, otherwise=in_place.settle)


def _by_table(data: Given, tables: Collection[str]) -> Mapping[str, Given]:
    """Gives for each table of the codebook the data that it is in."""
    if isinstance(data, Mapping) and all(name in data for name in tables):
        return data
    if len(tables) == 1 or (_is_path(data) and Path(data).suffix.lower() in DATABASES):
        return dict.fromkeys(tables, data)
    return _refuse(f"given for each table: {{table: …}} with {', '.join(tables)}", data)


def _is_path(data: Given) -> bool:
    return isinstance(data, str | os.PathLike)


def _refuse(must: str, got: object) -> NoReturn:
    raise BadArgument("data", must, got if isinstance(got, str) else type(got).__name__)


@final
@dataclass(frozen=True)
class Opening:
    """Opens tables one after another: ``paths`` are those that DuckDB may read later, ``marks`` tell data apart.

    Parquet files of more than ``small`` bytes become ``views``.
    """

    connection: duckdb.DuckDBPyConnection
    paths: list[str]
    marks: list[bytes]
    small: int = SMALL
    views: list[ParquetTable] = field(default_factory=list)

    def table(self, name: str, scan: Scan, given: Given) -> Held:
        """Makes a table, or a view of one, whose columns c0, c1, … are those of a codebook."""
        self.marks.append(f"table {name}".encode("utf-8", "surrogatepass"))
        place = f"t{len(self.marks)}"
        if not _is_path(given):
            return self._copied_frame(place, scan, given)
        files = files_of(given)
        suffix = files[0].suffix.lower()
        if any(file.suffix.lower() != suffix for file in files):
            _refuse("files of one kind", str(given))
        if suffix in PARQUET:
            return self._parquet(place, scan, files)
        if suffix in DATABASES:
            return self._database(place, scan, files)
        if suffix in SEPARATED or suffix in JSON:
            return self._copied_text(place, scan, files)
        known = (*PARQUET, *SEPARATED, *JSON, *DATABASES)
        return _refuse(f"files that end in {', '.join(known)}", str(given))

    def lock(self) -> None:
        """Shuts DuckDB off from everything but what was opened, for good."""
        self.connection.execute(f"SET allowed_paths = [{listing(map(_text, self.paths))}]")
        self.connection.execute("SET enable_external_access = false")
        self.connection.execute("SET lock_configuration = true")

    def _run(self, text: str, must: str) -> list[tuple[Any, ...]]:
        """Runs a statement while a source is opened; whatever goes wrong, the message is ours."""
        module = duckdb_module()
        try:
            return self.connection.execute(text).fetchall()
        except (module.Error, UnicodeError):
            failed = BadArgument("data", must, "something else")
        raise failed

    def _types(self, source: str, must: str) -> dict[str, str]:
        return {row[0]: row[1] for row in self._run(f"DESCRIBE SELECT * FROM {source}", must)}

    def _held(self, place: str, scan: Scan, types: Mapping[str, str]) -> Held:
        """Gives a table whose columns can all be read as their codebook says, or says which one cannot."""
        found = {}
        for number, column in enumerate(scan.columns):
            held = types.get(column.name)
            what = f"{scan.table}.{column.name}"
            if held is None:
                _refuse(f"a source with the column {what}, which the codebook describes (case matters)", "none")
            if readable(column.kind, held) is None:
                shown = held if len(held) < 60 else held[:60] + "…"
                _refuse(f"a source in which {what} can be read as {column.kind.value}", shown)
            found[column.name] = (f"c{number}", held, column.kind)
        return Held(place, found)

    def _made(self, what: str, held: Held, source: str, *, plain: bool = False) -> None:
        """Makes the view or table; ``plain`` texts have a collation of their own, which is taken off them."""
        columns = []
        for name, (ours, kind, _) in held.columns.items():
            column = f"decode(encode({quoted(name)}))" if plain and kind == "VARCHAR" else quoted(name)
            columns.append(f"{column} AS {ours}")
        self._run(f"CREATE {what} {held.name} AS SELECT {listing(columns)} FROM {source}", "a source that can be read")

    def _parquet(self, place: str, scan: Scan, files: list[Path]) -> Held:
        must = "Parquet files that can be read"
        found = [self._types(f"read_parquet([{_text(str(file))}], hive_partitioning = false)", must) for file in files]
        held = [self._held(place, scan, types) for types in found]
        if any(one != held[0] for one in held):
            _refuse("Parquet files whose columns have the same types", f"{len(files)} files of {scan.table}")
        places = tuple(tuple(map(list(types).index, held[0].columns)) for types in found)
        table = ParquetTable(held[0], tuple(files), places)
        source = f"read_parquet([{listing(_text(str(one)) for one in files)}], hive_partitioning = false)"
        if sum(file.stat().st_size for file in files) > self.small:
            self._made("VIEW", held[0], source)
            self.paths.extend(map(str, files))
            self.views.append(table)
        else:
            self._copied_parquet(table, source, must)
        self.marks.extend(_mark(file, _footer(file)) for file in files)
        return held[0]

    def _copied_parquet(self, table: ParquetTable, source: str, must: str) -> None:
        """Copies files by DuckDB's own reader, or where it breaks off, so that every cell is taken."""
        import pyarrow as pa

        try:
            self._made("TABLE", table.held, source)
        except BadArgument:
            broken = True
        else:
            return
        try:
            table.copy(self.connection, table.held.name)
            broken = False
        except (duckdb_module().Error, pa.ArrowException, OSError):
            pass
        if broken:
            _refuse(must, "something else")

    def _database(self, place: str, scan: Scan, files: list[Path]) -> Held:
        if len(files) > 1:
            _refuse("one DuckDB file", f"{len(files)} files")
        must = "a DuckDB file that can be read"
        alias = "d" + hashlib.sha256(str(files[0]).encode("utf-8", "surrogatepass")).hexdigest()[:16]
        self._run(f"ATTACH IF NOT EXISTS {_text(str(files[0]))} AS {alias} (READ_ONLY)", must)
        source = f"{alias}.{quoted(scan.table)}"
        views = self._run(
            f"SELECT count(*) FROM duckdb_views() WHERE database_name = {_text(alias)}"
            f" AND view_name = {_text(scan.table)}",
            must,
        )
        if views[0][0]:
            _refuse(
                f"a DuckDB file in which {scan.table} is a table: a view may mix the rows of several people", "a view"
            )
        held = self._held(place, scan, self._types(source, f"a DuckDB file with a table {scan.table}"))
        collated = self._run(
            f"SELECT count(*) FROM duckdb_tables() WHERE database_name = {_text(alias)} AND sql ILIKE '%collate%'", must
        )
        self._made("VIEW", held, source, plain=bool(collated[0][0]))
        self.marks.append(_mark(files[0], _start(files[0])))
        return held

    def _copied_text(self, place: str, scan: Scan, files: list[Path]) -> Held:
        """Reads text files whole, every value as a text, and those as their codebook says: nothing is guessed."""
        if files[0].suffix.lower() in JSON:
            names = [column.name for column in scan.columns]
            source = f"read_json({{}}, columns = {_struct(names)}, format = 'auto', hive_partitioning = false)"
            must = "JSON files that can be read: a list of objects, or an object in each line"
        else:
            names = header_of(files)
            delimiter = _text(delimiter_of(files[0]))
            source = (
                f"read_csv({{}}, columns = {_struct(names)}, auto_detect = false, header = true, delim = {delimiter},"
                " quote = '\"', escape = '\"', strict_mode = true, hive_partitioning = false)"
            )
            must = "CSV files that can be read: in UTF-8, with a header, and as many values in each line"
        held = self._held(place, scan, dict.fromkeys(names, "VARCHAR"))
        columns = listing(_parsed(column, held.columns[column.name][0]) for column in scan.columns)
        of_files = source.format(f"[{listing(_text(str(file)) for file in files)}]")
        self._run(f"CREATE TABLE {place} AS SELECT {columns} FROM {of_files}", must)
        self.marks.extend(_whole(file) for file in files)
        kinds = {
            column.name: (held.columns[column.name][0], TYPES[column.kind], column.kind) for column in scan.columns
        }
        return Held(place, kinds)

    def _copied_frame(self, place: str, scan: Scan, given: Given) -> Held:
        import pyarrow as pa

        must = "a path, an Arrow table, a data frame, or columns of arrays"
        if not (isinstance(given, Mapping) or hasattr(given, "__arrow_c_stream__")):
            _refuse(must, given)
        try:
            made = (
                pa.table({str(name): pa.array(column) for name, column in given.items()})
                if isinstance(given, Mapping)
                else pa.table(given)
            )
            made = made.select(
                [column.name for column in scan.columns if made.schema.get_field_index(column.name) >= 0]
            )
        except (pa.ArrowException, TypeError, ValueError):
            made = None
        if made is None:
            _refuse(f"{must}, with values of one type in each column", given)
        known = "columns of types that DuckDB knows"
        try:
            self.connection.register("given", made)
        except duckdb_module().Error:
            made = None
        if made is None:
            _refuse(known, given)
        held = self._held(place, scan, self._types("given", known))
        self._made("TABLE", held, "given")
        self.connection.unregister("given")
        self.marks.append(_buffers(made))
        return held


def files_of(given: str | os.PathLike[str]) -> list[Path]:
    """Gives the files of a path or a glob, in order: this list is what is read from now on."""
    path = os.fspath(given)
    found = [path] if os.path.isfile(path) else sorted(glob.glob(path, recursive=True))
    files = [Path(os.path.abspath(one)) for one in found if os.path.isfile(one)]
    if not files:
        _refuse("a file that there is, or a pattern such as 'visits/*.parquet'", path)
    if any(sign in str(file) for file in files for sign in "*?[]{}"):
        _refuse("files whose names hold none of * ? [ ] { }", path)
    return files


def _text(value: str) -> str:
    """Gives a public text of the opening, such as a path, as a constant of SQL."""
    return "'" + value.replace("'", "''") + "'"


def _struct(names: Iterable[str]) -> str:
    # Doubled braces: the text is a template for the files.
    return "{{" + listing(f"{_text(name).replace('{', '{{').replace('}', '}}')}: 'VARCHAR'" for name in names) + "}}"


def delimiter_of(file: Path) -> str:
    """Gives what stands between the values of a CSV file: the comma; or the semicolon, where its header has only those.

    Nothing but the header is looked at, which is public.
    """
    usual = SEPARATED[file.suffix.lower()]
    try:
        with file.open(encoding="utf-8-sig", newline="") as lines:
            header = lines.readline()
    except UnicodeError:
        return usual
    return ";" if usual == "," and "," not in header and ";" in header else usual


def header_of(files: list[Path]) -> list[str]:
    """Gives the names of the columns of CSV files: the first line of each, the same in all."""
    found = []
    for file in files:
        try:
            with file.open(encoding="utf-8-sig", newline="") as lines:
                found.append(next(csv.reader(lines, delimiter=delimiter_of(file)), []))
        except (UnicodeError, csv.Error):
            found.append([])
    names = found[0]
    if not names or any(one != names for one in found) or len({name.casefold() for name in names}) < len(names):
        _refuse("CSV files in UTF-8 with the same header, in which no name is there twice", str(files[0].name))
    return names


def _parsed(column: Column, ours: str) -> str:
    text = (readable(column.kind, "VARCHAR") or "NULL").replace("{0}", quoted(column.name))
    return f"TRY_CAST({text} AS {TYPES[column.kind]}) AS {ours}"


def _mark(file: Path, part: bytes) -> bytes:
    about = file.stat()
    return f"file {file.name} {about.st_size} {about.st_mtime_ns} ".encode("utf-8", "surrogatepass") + part


def _footer(file: Path) -> bytes:
    """Gives a digest of the footer of a Parquet file; its length stands before the last four bytes."""
    with file.open("rb") as held:
        held.seek(-8, os.SEEK_END)
        many = int.from_bytes(held.read(4), "little")
        held.seek(-min(8 + many, file.stat().st_size), os.SEEK_END)
        return hashlib.sha256(held.read()).digest()


def _start(file: Path) -> bytes:
    """Gives a digest of the headers of a DuckDB file, which change with every write."""
    with file.open("rb") as held:
        return hashlib.sha256(held.read(3 * 4096)).digest()


def _whole(file: Path) -> bytes:
    with file.open("rb") as held:
        return hashlib.file_digest(held, "sha256").digest()


@final
class Digest:
    """Is a file that keeps nothing but the digest of what is written to it."""

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


def _buffers(table: Any) -> bytes:
    """Gives a digest of an Arrow table, as it would be sent to somebody."""
    import pyarrow as pa

    sink = Digest()
    with pa.ipc.new_stream(pa.PythonFile(sink, mode="w"), table.schema) as stream:
        stream.write_table(table)
    return sink.digest.digest()
