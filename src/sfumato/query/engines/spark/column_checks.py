"""What of some data did not read by its codebook: for the holder of the data, and for nobody else."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from sfumato.errors import BadArgument
from sfumato.query.engines.data_check import ColumnCheck, TableCheck
from sfumato.query.engines.spark.dialect import SPARK
from sfumato.query.engines.spark.reading import TEXT, as_kind, is_value, parsed
from sfumato.query.engines.spark.statements import written_out
from sfumato.query.engines.sql.held import Held
from sfumato.query.engines.sql.reading import read
from sfumato.query.engines.sql.statement import Piece, Scope, Statement, listing
from sfumato.query.nodes.expressions import Column
from sfumato.query.nodes.kinds import FIRST_DAY, LAST_DAY, Kind
from sfumato.query.nodes.relations import Scan

FORMS = {
    Kind.INT: "numbers such as 12, 12.0 or 1e5",
    Kind.FLOAT: "numbers such as 12, 0.5 or 1e-05; a decimal comma needs decimal: ',' in the codebook",
    Kind.BOOL: "true and false, yes and no, t and f, y and n, 1 and 0",
    Kind.DATE: "days such as 2012-01-31, 2012/1/31 or 20120131; others need format: in the codebook, as '%d/%m/%Y'",
    Kind.TIME: "times such as 2012-01-31T23:59:59Z; others need format: in the codebook, as '%d/%m/%Y %H:%M'",
    Kind.TEXT: "texts",
}
"""What reads as each kind, for whoever has something else."""


def checked_tables(session: Any, tables: Mapping[str, Scan], held: Mapping[str, Held]) -> Iterator[TableCheck]:
    """Counts what does not read, table by table."""
    for name, scan in tables.items():
        statement = Statement(SPARK)
        scope = Scope(statement, {})
        asked = ["count(*)"]
        for column in scan.columns:
            asked += _counts(column, held[name], scope)
        rows, *numbers = _asked(session, asked, scope, statement, held[name])
        columns = tuple(
            ColumnCheck(column.name, column.kind.value, values, rows - values, unread, outside)
            for column, values, unread, outside in zip(
                scan.columns, numbers[0::3], numbers[1::3], numbers[2::3], strict=True
            )
        )
        yield TableCheck(name, rows, 0, columns)


def refuse_columns(session: Any, tables: Mapping[str, Scan], held: Mapping[str, Held]) -> None:
    """Refuses texts of which none reads by the codebook's type: every question about them would be paid for, and
    answered by noise. This is the one thing about values that opening tells, to whoever opens."""
    for name, scan in tables.items():
        table = held[name]
        texts = [one for one in scan.columns if one.kind is not Kind.TEXT and table.columns[one.name][1] == TEXT]
        if not texts:
            continue
        statement = Statement(SPARK)
        scope = Scope(statement, {})
        asked = []
        for column in texts:
            _, does_read, unread = _told(column, table, scope)
            asked += [f"max(CASE WHEN {piece.text} THEN 1 ELSE 0 END)" for piece in (does_read, unread)]
        numbers = _asked(session, asked, scope, statement, table)
        for column, reading, failing in zip(texts, numbers[0::2], numbers[1::2], strict=True):
            if failing and not reading:
                _refuse_unread(name, column)


def _refuse_unread(table: str, column: Column) -> None:
    raise BadArgument(
        "data",
        f"a source in which {table}.{column.name} reads as {column.kind.value}: {FORMS[column.kind]} "
        "('sfumato codebook check' tells how many values of each column do not read); or without this column",
        "values of which none does",
    )


def _asked(session: Any, asked: list[str], scope: Scope, statement: Statement, table: Held) -> list[int]:
    text = f"SELECT {listing(asked)} FROM ({scope.over(f'SELECT * FROM {table.name}')}) AS q"
    return [int(number or 0) for number in session.sql(written_out(text, statement)).collect()[0]]


def _told(column: Column, table: Held, scope: Scope) -> tuple[Piece, Piece, Piece]:
    """Tells of each row whether a value is held, whether it reads as its type, and whether it is held and does not."""
    raw, held, kind = table.columns[column.name]
    value_read = parsed(Piece(raw), held, kind, scope, column.facts.written)
    does_read = scope.named(reads(value_read, kind, scope))
    value = scope.named(is_value(Piece(raw), held, kind, scope))
    return value, does_read, scope.fill("({0} AND NOT {1})", value, does_read)


def reads(value: Piece, kind: Kind, scope: Scope) -> Piece:
    """Tells whether what was parsed is a value of a kind, whatever its bounds are."""
    if kind is Kind.FLOAT:
        return scope.fill("coalesce(abs({0}) < CAST('Infinity' AS DOUBLE), FALSE)", value)
    if kind.temporal:
        days = f"BETWEEN DATE '{FIRST_DAY}' AND DATE '{LAST_DAY}'"
        return scope.fill(f"coalesce(CAST({{0}} AS DATE) {days}, FALSE)", value)
    if kind is Kind.INT:  # wide types hold numbers of more than 64 bits
        within = "{0} >= -9223372036854775808BD AND {0} < 9223372036854775808BD"
        return scope.fill(f"coalesce({within}, FALSE)", value)
    return scope.fill("({0} IS NOT NULL)", value)


def _counts(column: Column, table: Held, scope: Scope) -> Iterator[str]:
    """What counts the values of a column that are held, unread and outside."""
    raw, held, kind = table.columns[column.name]
    value, _, unread = _told(column, table, scope)
    before = as_kind(Piece(raw), held, kind, scope, column.facts.written)
    after = read(Piece(raw), held, kind, column.facts, scope)
    limited = column.facts.keys is not None or column.facts.between is not None
    yield f"count(*) FILTER (WHERE {value.text})"
    yield f"count(*) FILTER (WHERE {unread.text})"
    outside = scope.fill("({0} IS NOT NULL AND NOT {0} <=> {1})", before, after)
    yield f"count(*) FILTER (WHERE {outside.text if limited else 'FALSE'})"
