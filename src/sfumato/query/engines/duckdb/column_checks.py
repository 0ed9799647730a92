"""What of some data did not read by its codebook: for the holder of the data, and for nobody else.

Everything here looks at data for nothing, so nothing here is reachable from a data set or a session. It is called while
a source is opened, and what it finds goes to whoever opened it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, TypeAlias

from sfumato.errors import BadArgument
from sfumato.query.engines.data_check import FORMS, ColumnCheck, TableCheck
from sfumato.query.engines.duckdb.copies import Notes, reads
from sfumato.query.engines.duckdb.dialect import DUCKDB
from sfumato.query.engines.duckdb.reading import as_kind, is_text, is_value, parsed
from sfumato.query.engines.sql.held import Held
from sfumato.query.engines.sql.reading import read
from sfumato.query.engines.sql.statement import Piece, Scope, Statement, listing
from sfumato.query.nodes.expressions import Column
from sfumato.query.nodes.kinds import Kind
from sfumato.query.nodes.relations import Scan

if TYPE_CHECKING:
    import duckdb

Look: TypeAlias = Callable[
    ["duckdb.DuckDBPyConnection", Mapping[str, Scan], Mapping[str, Held], Mapping[str, Notes]], None
]
"""Looks at tables that were just opened, with what was noted while they were copied."""


def checked_tables(
    connection: duckdb.DuckDBPyConnection,
    tables: Mapping[str, Scan],
    held: Mapping[str, Held],
    notes: Mapping[str, Notes],
) -> Iterator[TableCheck]:
    """Counts what does not read, table by table."""
    for name, scan in tables.items():
        noted = notes.get(name, Notes())
        statement = Statement(DUCKDB)
        scope = Scope(statement, {})
        asked = ["count(*)"]
        for column in scan.columns:
            asked += _counts(column, held[name], noted, scope)
        text = f"SELECT {listing(asked)} FROM ({scope.over(f'SELECT * FROM {held[name].name}')})"
        rows, *numbers = _row(connection, text, statement)
        columns = tuple(
            ColumnCheck(column.name, column.kind.value, values, rows - values, unread, outside)
            for column, values, unread, outside in zip(
                scan.columns, numbers[0::3], numbers[1::3], numbers[2::3], strict=True
            )
        )
        yield TableCheck(name, rows, noted.rows, columns)


def refuse_columns(
    connection: duckdb.DuckDBPyConnection,
    tables: Mapping[str, Scan],
    held: Mapping[str, Held],
    notes: Mapping[str, Notes],
) -> None:
    """Refuses texts of which none reads by the codebook's type, and takes the flags off the others.

    This is the one thing about values that opening tells, to whoever opens: every question about such a column would
    be paid for, and answered by noise.
    """
    for name, scan in tables.items():
        table, noted = held[name], notes.get(name, Notes())
        for column in scan.columns:
            _, held_as, kind = table.columns[column.name]
            if column.name in noted.flagged or (is_text(held_as) and kind is not Kind.TEXT):
                _refuse_unread(connection, column, table, noted, name)
        while noted.flagged:  # one by one, so that this may be called again where it broke off
            connection.execute(f"ALTER TABLE {table.name} DROP COLUMN {_flag(table, noted.flagged.pop())}")


def _refuse_unread(connection: duckdb.DuckDBPyConnection, column: Column, table: Held, notes: Notes, name: str) -> None:
    scope = Scope(Statement(DUCKDB), {})
    _, does_read, unread = _told(column, table, notes, scope)
    source = scope.over(f"SELECT * FROM {table.name}")
    some = [
        connection.execute(f"SELECT 1 FROM ({source}) WHERE {piece.text} LIMIT 1").fetchall()
        for piece in (does_read, unread)
    ]
    if some[1] and not some[0]:
        raise BadArgument(
            "data",
            f"a source in which {name}.{column.name} reads as {column.kind.value}: {FORMS[column.kind]} "
            "('sfumato codebook check' tells how many values of each column do not read); or without this column",
            "values of which none does",
        )


def _told(column: Column, table: Held, notes: Notes, scope: Scope) -> tuple[Piece, Piece, Piece]:
    """Tells of each row whether a value is held, whether it reads as its type, and whether it is held and does not."""
    raw, held, kind = table.columns[column.name]
    value_read = parsed(Piece(raw), held, kind, scope, column.facts.written)
    does_read = scope.named(reads(value_read, kind, scope))
    if column.name in notes.flagged:
        unread = Piece(_flag(table, column.name))
        return scope.fill("({0} OR {1})", does_read, unread), does_read, unread
    value = scope.named(is_value(Piece(raw), held, kind, scope))
    return value, does_read, scope.fill("({0} AND NOT {1})", value, does_read)


def _counts(column: Column, table: Held, notes: Notes, scope: Scope) -> Iterator[str]:
    """What counts the values of a column that are held, unread and outside."""
    raw, held, kind = table.columns[column.name]
    value, _, unread = _told(column, table, notes, scope)
    before = as_kind(Piece(raw), held, kind, scope, column.facts.written)
    after = read(Piece(raw), held, kind, column.facts, scope)
    limited = column.facts.keys is not None or column.facts.between is not None
    yield f"count(*) FILTER ({value.text})"
    yield f"count(*) FILTER ({unread.text})"
    outside = scope.fill("({0} IS NOT NULL AND {0} IS DISTINCT FROM {1})", before, after)
    yield f"count(*) FILTER ({outside.text if limited else 'FALSE'})"


def _flag(table: Held, column: str) -> str:
    return "w" + table.columns[column][0].removeprefix("c")


def _row(connection: duckdb.DuckDBPyConnection, text: str, statement: Statement) -> tuple[int, ...]:
    import pyarrow as pa

    for name, columns in statement.lists.items():
        made = {f"k{place}": pa.array(list(values)) for place, (_, values) in enumerate(columns)}
        connection.register(name, pa.table(made))
    return connection.execute(text, statement.bound(text)).fetchall()[0]
