"""Sources: files, data frames and databases, opened once in DuckDB, as their codebook describes them.

What is wrong with a source is said when it is opened, to whoever has the data, and names public things only: tables,
columns, types, files. After that DuckDB can read what was opened and nothing else.
"""

from __future__ import annotations

import hashlib
import shutil
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn, final

from sfumato.errors import BadArgument
from sfumato.query.engines.duckdb.column_checks import Look
from sfumato.query.engines.duckdb.connection import connected, duckdb_module
from sfumato.query.engines.duckdb.copies import Copy, Notes, copied_files
from sfumato.query.engines.duckdb.engine import DuckDBEngine
from sfumato.query.engines.duckdb.parquet_cells import InPlace, ParquetTable
from sfumato.query.engines.duckdb.reading import readable
from sfumato.query.engines.inputs.files import (
    PARQUET,
    SMALL,
    by_table,
    digest_of,
    files_of,
    identifying,
    is_path,
    mark_of,
    whole,
)
from sfumato.query.engines.inputs.frames import columns_of
from sfumato.query.engines.inputs.parquet_files import footer_of
from sfumato.query.engines.inputs.tables import SQLITE, is_sqlite, sqlite_columns
from sfumato.query.engines.inputs.text_files import JSON, SEPARATED, header_of
from sfumato.query.engines.protocol import Given
from sfumato.query.engines.sql.held import Held, item_type
from sfumato.query.engines.sql.statement import listing, literal, quoted
from sfumato.query.nodes.catalog import Catalog
from sfumato.query.nodes.relations import Items, Scan

if TYPE_CHECKING:
    import duckdb

DATABASES = (".duckdb", ".ddb", ".db")

UNTYPED = ("NULL", '"NULL"')
"""The type of a column that holds nothing, as files have it in which every value is missing."""


def open_source(
    data: Given,
    catalog: Catalog,
    *,
    memory: str | None = None,
    threads: int | None = None,
    small: int = SMALL,
    public: Mapping[str, Held] | None = None,
    look: Look | None = None,
) -> DuckDBEngine:
    """Opens data in DuckDB, table by table as a catalog describes it; ``memory`` is a limit such as ``'4GB'``.

    Large Parquet files and DuckDB's own tables are read where they are. CSV and JSON files, data frames and Parquet
    files of up to ``small`` bytes together are copied, as they are now. What is in a row never decides whether they
    open. With ``public`` the public tables are opened, and nothing else: that is how all tables are held that questions
    may be about. ``look`` is called with what was opened before that is closed to everybody: it is for the holder of
    the data (`column_checks`).
    """
    spill = tempfile.mkdtemp(prefix="sfumato-")
    limits = {"memory_limit": memory, "threads": None if threads is None else str(threads)}
    connection = connected(temp_directory=spill, **{key: one for key, one in limits.items() if one is not None})
    keys = identifying(catalog.tables)
    opening = Opening(connection, [], [], small, copied=public is not None, keys=keys, flags=look is not None)
    try:
        tables = {name: scan for name, scan in catalog.tables.items() if public is None or not scan.private}
        given = by_table(data, tables, DATABASES) if tables else {}
        held = {name: opening.table(name, scan, given[name]) for name, scan in tables.items()}
        in_place = InPlace(connection, opening.views)
        if look is not None:
            _looked(lambda: look(connection, tables, held, opening.notes), in_place)
        opening.lock()
    except BaseException:
        connection.close()
        shutil.rmtree(spill, ignore_errors=True)
        raise
    return DuckDBEngine(connection, held, marks=opening.marks, spill=spill, otherwise=in_place.perform, known=public)


def _looked(look: Callable[[], None], in_place: InPlace) -> None:
    """Looks at tables; once more, if DuckDB breaks off at a cell of a file that it reads where it is."""
    module = duckdb_module()
    try:
        look()
    except module.Error:
        broken = True
    else:
        return
    try:
        if in_place.perform():
            look()
            broken = False
    except module.Error:
        pass
    if broken:
        _refuse("a source that can be read", "something else")


def _refuse(must: str, got: object) -> NoReturn:
    raise BadArgument("data", must, got if isinstance(got, str) else type(got).__name__)


@final
@dataclass(frozen=True)
class Opening:
    """Opens tables one after another: ``paths`` are those that DuckDB may read later, ``marks`` tell data apart.

    With ``copied`` no database stays attached: there may be other tables in it than those that were opened. ``keys``
    are the columns of each table that say to whom a row belongs. With ``flags``, values of texts that did not read are
    flagged; ``notes`` say where. They are for the holder of the data, and the engine does not have them. Parquet files
    of more than ``small`` bytes become ``views``.
    """

    connection: duckdb.DuckDBPyConnection
    paths: list[str]
    marks: list[tuple[str, bytes]]
    small: int = SMALL
    copied: bool = False
    keys: Mapping[str, set[str]] = field(default_factory=dict)
    notes: dict[str, Notes] = field(default_factory=dict)
    flags: bool = False
    views: list[ParquetTable] = field(default_factory=list)

    def table(self, name: str, scan: Scan, given: Given) -> Held:
        """Makes a table, or a view of one, with columns c0, c1, … for those of a codebook."""
        self.marks.append((name, b"table"))
        place = f"t{len(self.marks)}"
        if not is_path(given):
            return self._copied_frame(place, scan, given)
        if is_sqlite(given):
            return self._copied_frame(
                place, scan, sqlite_columns(given, scan.table, [one.name for one in scan.columns])
            )
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
        known = (*PARQUET, *SEPARATED, *JSON, *DATABASES, *SQLITE)
        return _refuse(f"files that end in {', '.join(known)}", str(given))

    def lock(self) -> None:
        """Shuts DuckDB off permanently from everything but what was opened."""
        self.connection.execute(f"SET allowed_paths = [{listing(map(literal, self.paths))}]")
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
        """The types of columns. One without any, in which everything is missing, is taken for one of texts."""
        described = self._run(f"DESCRIBE SELECT * FROM {source}", must)
        return {row[0]: "VARCHAR" if row[1] in UNTYPED else row[1] for row in described}

    def _held(self, place: str, scan: Scan, types: Mapping[str, str]) -> Held:
        """A table in which every column can be read as its codebook says; refuses, and names, one that cannot."""
        columns = {}
        for number, column in enumerate(scan.columns):
            held = types.get(column.name)
            what = f"{scan.table}.{column.name}"
            if held is None:
                alike = [one.name for one in scan.columns if one.name.casefold() == column.name.casefold()]
                if len(alike) > 1:
                    _refuse(f"columns whose names differ by more than case: rename one of {', '.join(alike)}", what)
                _refuse(f"a source with the column {what}, which the codebook describes (case matters)", "none")
            if readable(column.kind, held) is None:
                shown = held if len(held) < 60 else held[:60] + "…"
                _refuse(f"a source in which {what} can be read as {column.kind.value}", shown)
            columns[column.name] = (f"c{number}", held, column.kind)
        for number, items in enumerate(scan.lists, start=len(scan.columns)):
            columns[items.column] = (f"c{number}", _list_type(scan, items, types), items.item.kind)
        written = {column.name: column.facts.written for column in scan.columns if column.facts.written}
        return Held(place, columns, written=written, owner=scan.owner)

    def _made(self, what: str, held: Held, source: str, *, plain: bool = False) -> None:
        """Makes the view or table; ``plain`` texts have a collation of their own, which is taken off them."""
        columns = []
        for name, (ours, kind, _) in held.columns.items():
            column = quoted(name)
            if kind == "VARCHAR[]" and plain:
                column = f"list_transform({column}, lambda one: decode(encode(one)))"
            elif kind == "VARCHAR":
                column = f"decode(encode({column}))" if plain else f"CAST({column} AS VARCHAR)"
            columns.append(f"{column} AS {ours}")
        self._run(f"CREATE {what} {held.name} AS SELECT {listing(columns)} FROM {source}", "a source that can be read")

    def _parquet(self, place: str, scan: Scan, files: list[Path]) -> Held:
        must = "Parquet files that can be read"
        types_of_files = [
            self._types(f"read_parquet([{literal(str(file))}], hive_partitioning = false)", must) for file in files
        ]
        held = [self._held(place, scan, types) for types in types_of_files]
        if any(one != held[0] for one in held):
            _refuse("Parquet files whose columns have the same types", f"{len(files)} files of {scan.table}")
        places = tuple(tuple(map(list(types).index, held[0].columns)) for types in types_of_files)
        table = ParquetTable(held[0], tuple(files), places)
        for name in table.rounded():
            _refuse(f"a source in which {scan.table}.{name} has at most 38 digits", "a decimal with more")
        source = f"read_parquet([{listing(literal(str(one)) for one in files)}], hive_partitioning = false)"
        small = sum(file.stat().st_size for file in files) <= self.small
        if small:
            self._copied_parquet(table, source, must)
        else:
            self._made("VIEW", held[0], source)
            self.paths.extend(map(str, files))
            self.views.append(table)
        self.marks.extend(
            (scan.table, whole(file) if small else mark_of(file, hashlib.sha256(footer_of(file)).digest()))
            for file in files
        )
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
        self._run(f"ATTACH IF NOT EXISTS {literal(str(files[0]))} AS {alias} (READ_ONLY)", must)
        source = f"{alias}.{quoted(scan.table)}"
        views = self._run(
            f"SELECT count(*) FROM duckdb_views() WHERE database_name = {literal(alias)}"
            f" AND view_name = {literal(scan.table)}",
            must,
        )
        if views[0][0]:
            _refuse(
                f"a DuckDB file in which {scan.table} is a table: a view may mix the rows of several people", "a view"
            )
        held = self._held(place, scan, self._types(source, f"a DuckDB file with a table {scan.table}"))
        collated = self._run(
            f"SELECT count(*) FROM duckdb_tables() WHERE database_name = {literal(alias)} AND sql ILIKE '%collate%'",
            must,
        )
        self._made("TABLE" if self.copied else "VIEW", held, source, plain=bool(collated[0][0]))
        self.marks.append(
            (scan.table, mark_of(files[0], _start(files[0]) + scan.table.encode("utf-8", "surrogatepass")))
        )
        if self.copied:
            self._run(f"DETACH {alias}", must)
        return held

    def _copied_text(self, place: str, scan: Scan, files: list[Path]) -> Held:
        """Reads text files whole, every value as a text, and those as their codebook says: nothing is guessed."""
        names = [one.name for one in scan.columns] if files[0].suffix.lower() in JSON else header_of(files)
        self._held(place, scan, dict.fromkeys(names, "VARCHAR"))
        self.marks.extend((scan.table, whole(file)) for file in files)
        return copied_files(self._copy(place, scan), files, self.connection, self._run)

    def _copied_frame(self, place: str, scan: Scan, given: Given) -> Held:
        lists = [items.column for items in scan.lists]
        made, texts = columns_of(given, [*(column.name for column in scan.columns), *lists], lists)
        known = "columns of types that DuckDB knows"
        try:
            self.connection.register("given", made)
        except duckdb_module().Error:
            made = None
        if made is None:
            _refuse(known, given)
        types = self._types("given", known)
        self._held(place, scan, types)
        held = self._copy(place, scan).made(self._run, "given", types, texts, "a source that can be read")
        self.connection.unregister("given")
        self.marks.append((scan.table, digest_of(made)))
        return held

    def _copy(self, place: str, scan: Scan) -> Copy:
        own = {column.name for column in scan.columns if column.unit is not None}
        notes = self.notes.setdefault(scan.table, Notes())
        return Copy(place, scan, own | self.keys.get(scan.table, set()), notes, self.flags)


def _list_type(scan: Scan, items: Items, types: Mapping[str, str]) -> str:
    """The type of a list column, of which each item can be read as the codebook says; refuses others."""
    held, must = types.get(items.column), f"a source in which {scan.table}.{items.column} is a list of"
    if held is None or readable(items.item.kind, item_type(held)) is None:
        _refuse(f"{must} {items.item.kind.value}", (held or "none")[:60])
    return held


def _start(file: Path) -> bytes:
    """A digest of the headers of a DuckDB file, which change with every write."""
    with file.open("rb") as held:
        return hashlib.sha256(held.read(3 * 4096)).digest()
