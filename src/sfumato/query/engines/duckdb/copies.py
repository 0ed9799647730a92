"""Copies of text files and data frames in DuckDB: texts are read once, by the codebook's types, when they are copied.

Beside a column that says to whom a row belongs there is one with its exact values, because what is read of an id may be
rounded. What a text did not read as may be flagged row by row, for the holder of the data (`column_checks`).
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias, final

from sfumato.errors import BadArgument
from sfumato.query.engines.duckdb.dialect import DUCKDB
from sfumato.query.engines.duckdb.identity import NOBODY, named_text
from sfumato.query.engines.duckdb.reading import is_value, parsed
from sfumato.query.engines.inputs.text_files import (
    JSON,
    LONGEST,
    Row,
    delimiter_of,
    has_quotes,
    header_of,
    json_rows,
    separated_rows,
    well_formed,
)
from sfumato.query.engines.sql.held import Held
from sfumato.query.engines.sql.statement import Piece, Scope, Statement, listing, literal, quoted
from sfumato.query.nodes.expressions import Column
from sfumato.query.nodes.kinds import FIRST_DAY, LAST_DAY, Kind
from sfumato.query.nodes.relations import Scan

if TYPE_CHECKING:
    import duckdb
    import pyarrow as pa

Run: TypeAlias = Callable[[str, str], list[tuple[Any, ...]]]
"""Runs a statement; the second text says what the data must be for it to succeed."""

BATCH = 50_000
"""The number of rows that are handed over at once."""

READABLE = "NOT starts_with({0}, chr(0) || chr(0))"
"""What is not marked as a value that no text can hold (`python_values.UNREADABLE`)."""


@final
class Notes:
    """What the holder of the data may know of a copy: how many rows could not be read, which columns are flagged.

    A column ``c3`` that is flagged stands beside ``w3``, which is true where a text is no value of its type.
    """

    def __init__(self) -> None:
        self.rows = 0
        self.flagged: set[str] = set()


@final
@dataclass(frozen=True)
class Copy:
    """A copy in the making: where it is, what it is of, and which of its columns say to whom a row belongs."""

    place: str
    scan: Scan
    keys: Collection[str]
    notes: Notes
    flags: bool = False

    def made(self, run: Run, source: str, types: Mapping[str, str], texts: Collection[str], must: str) -> Held:
        """Makes the table of a source with columns of these types; those that are ``texts`` are read now."""
        scope, columns, held, exact = Scope(Statement(DUCKDB), {}), [], {}, dict[str, str | None]()
        for number, column in enumerate(self.scan.columns):
            raw = Piece(f"r{number}")
            if column.name not in texts:
                held[column.name] = (f"c{number}", types[column.name], column.kind)
                columns.append(f"{raw.text} AS c{number}")
                continue
            held[column.name] = (f"c{number}", DUCKDB.types[column.kind], column.kind)
            columns += self._read(column, number, raw, scope)
            exact[column.name] = self._exact(column, number)
            if exact[column.name] == f"e{number}":
                columns.append(f"{named_text(raw, column.kind, scope, column.facts.written).text} AS e{number}")
        for number, items in enumerate(self.scan.lists, start=len(self.scan.columns)):
            held[items.column] = (f"c{number}", types[items.column], items.item.kind)
            columns.append(f"r{number} AS c{number}")
        names = [*(column.name for column in self.scan.columns), *(items.column for items in self.scan.lists)]
        inner = listing(f"{quoted(name)} AS r{number}" for number, name in enumerate(names))
        below = scope.over(f"SELECT {inner} FROM {source}")
        run(f"CREATE TABLE {self.place} AS SELECT {listing(columns)} FROM ({below})", must)
        written = {one.name: one.facts.written for one in self.scan.columns if one.facts.written}
        return Held(self.place, held, exact, written, self.scan.owner)

    def _exact(self, column: Column, number: int) -> str | None:
        """Names the column with the exact values; texts are that themselves."""
        if column.name not in self.keys:
            return None
        return f"c{number}" if column.kind is Kind.TEXT else f"e{number}"

    def _read(self, column: Column, number: int, raw: Piece, scope: Scope) -> Iterator[str]:
        if column.kind is Kind.TEXT:
            kept = NOBODY if column.name in self.keys else f"CASE WHEN {READABLE} THEN {{0}} END"
            value = scope.fill(kept, raw)
            unread = scope.fill(f"NOT {READABLE}", raw)
        else:
            value = scope.named(parsed(raw, "VARCHAR", column.kind, scope, column.facts.written))
            unread = scope.fill(
                "({1} AND NOT {0})", reads(value, column.kind, scope), is_value(raw, "VARCHAR", column.kind, scope)
            )
        yield f"{value.text} AS c{number}"
        if self.flags:
            self.notes.flagged.add(column.name)
            yield f"coalesce({unread.text}, FALSE) AS w{number}"


def reads(value: Piece, kind: Kind, scope: Scope) -> Piece:
    """Tells whether what was parsed is a value of a kind, whatever its bounds are."""
    if kind is Kind.FLOAT:
        return scope.fill("coalesce(isfinite({0}), FALSE)", value)
    if kind.temporal:
        days = f"BETWEEN DATE '{FIRST_DAY}' AND DATE '{LAST_DAY}'"
        return scope.fill(f"coalesce(CAST({{0}} AS DATE) {days}, FALSE)", value)
    if kind is Kind.INT:  # wide types hold numbers of more than 64 bits
        return scope.fill("(TRY_CAST({0} AS BIGINT) IS NOT NULL)", value)
    return scope.fill("({0} IS NOT NULL)", value)


def copied_files(copy: Copy, files: list[Path], connection: duckdb.DuckDBPyConnection, run: Run) -> Held:
    """Copies text files: with DuckDB's own reader where it surely reads them as they are, and otherwise row by row."""
    wanted = [column.name for column in copy.scan.columns]
    if files[0].suffix.lower() in JSON:
        rows = (row for file in files for row in json_rows(file, wanted))
        return _row_by_row(copy, rows, connection, run)
    names, delimiter = header_of(files), delimiter_of(files[0])
    if all(delimiter_of(file) == delimiter and well_formed(file, delimiter, len(names)) for file in files):
        quick = _quick(files, names, delimiter)
        try:
            return copy.made(run, quick, dict.fromkeys(wanted, "VARCHAR"), wanted, "CSV files that can be read")
        except BadArgument:
            pass  # a row is too long or too short, or not in UTF-8
    rows = (row for file in files for row in separated_rows(file, names, wanted))
    return _row_by_row(copy, rows, connection, run)


def _quick(files: list[Path], names: list[str], delimiter: str) -> str:
    """DuckDB's reader of CSV files. It reads files with quotes in one thread: where one starts to read must not
    decide what is inside of them."""
    unnamed = " ".join(["unnamed", *names])  # which is longer than every name, and so none of them
    named = [name or f"{unnamed} {place}" for place, name in enumerate(names)]
    columns = "{" + listing(f"{literal(name)}: 'VARCHAR'" for name in named) + "}"
    quotes = any(has_quotes(file) for file in files)
    return (
        f"read_csv([{listing(literal(str(file)) for file in files)}], columns = {columns}, auto_detect = false,"
        f" header = true, delim = {literal(delimiter)}, quote = '\"', escape = '\"', strict_mode = true,"
        f" max_line_size = {LONGEST}, parallel = {str(not quotes).lower()}, hive_partitioning = false)"
    )


def _row_by_row(copy: Copy, rows: Iterator[Row | None], connection: duckdb.DuckDBPyConnection, run: Run) -> Held:
    """Copies rows of texts; those that could not be read are left out, and counted."""
    import pyarrow as pa

    wanted = [column.name for column in copy.scan.columns]
    schema = pa.schema([(name, pa.string()) for name in wanted])

    def batches() -> Iterator[pa.RecordBatch]:
        while some := list(islice(rows, BATCH)):
            kept = [row for row in some if row is not None]
            copy.notes.rows += len(some) - len(kept)
            yield pa.record_batch([pa.array(column, pa.string()) for column in _columns(kept, wanted)], schema)

    connection.register("given", pa.RecordBatchReader.from_batches(schema, batches()))
    try:
        return copy.made(run, "given", dict.fromkeys(wanted, "VARCHAR"), wanted, "text files that can be read")
    finally:
        connection.unregister("given")


def _columns(rows: list[Row], names: list[str]) -> list[tuple[str | None, ...]]:
    return list(zip(*rows, strict=True)) if rows else [()] * len(names)
