"""What of some data did not read by its codebook: for the holder of the data, and for nobody else.

Everything here looks at data for nothing, so nothing here is reachable from a data set or a session. It is called while
a table is opened or checked, and what it finds goes to whoever holds the data.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from sfumato.errors import BadArgument
from sfumato.query.engines.data_check import ColumnCheck, TableCheck
from sfumato.query.engines.postgres.reading import as_kind, is_text, is_value
from sfumato.query.engines.sql.held import Held
from sfumato.query.engines.sql.reading import read
from sfumato.query.engines.sql.statement import Piece, Scope, Statement, listing
from sfumato.query.nodes.expressions import Column
from sfumato.query.nodes.kinds import Kind
from sfumato.query.nodes.relations import Scan

if TYPE_CHECKING:
    from sfumato.query.engines.postgres.engine import PostgresEngine


def checked_table(engine: PostgresEngine, name: str, scan: Scan) -> TableCheck:
    """Counts what does not read."""
    statement, held = Statement(engine.dialect), engine.held[name]
    scope = Scope(statement, {})
    asked = ["count(*) AS n0"]
    for column in scan.columns:
        asked += [f"{text} AS n{len(asked) + place}" for place, text in enumerate(_counts(column, held, scope))]
    text = f"SELECT {listing(asked)} FROM ({scope.over(f'SELECT * FROM {held.name}')}) AS q"
    answer = engine.answer(text, statement, few=True)
    rows, *numbers = (int(answer.numbers(f"n{place}")[0]) for place in range(len(asked)))
    columns = tuple(
        ColumnCheck(column.name, column.kind.value, values, rows - values, unread, outside)
        for column, values, unread, outside in zip(
            scan.columns, numbers[0::3], numbers[1::3], numbers[2::3], strict=True
        )
    )
    return TableCheck(name, rows, 0, columns)


def refuse_unread(engine: PostgresEngine, name: str, scan: Scan) -> None:
    """Refuses a column of texts that has values of which none reads by the codebook's type.

    This is the one thing about values that opening tells, to whoever opens: every question about such a column would
    be paid for, and answered by noise.
    """
    held = engine.held[name]
    for column in scan.columns:
        _, kind_held, kind = held.columns[column.name]
        if not is_text(kind_held) or kind is Kind.TEXT:
            continue
        statement = Statement(engine.dialect)
        scope = Scope(statement, {})
        value, does_read = _told(column, held, scope)
        source = scope.over(f"SELECT * FROM {held.name}")
        asked = [
            f"EXISTS (SELECT 1 FROM ({source}) AS q WHERE {condition}) AS {told}"
            for condition, told in ((does_read.text, "some"), (f"{value.text} AND NOT {does_read.text}", "unread"))
        ]
        answer = engine.answer(f"SELECT {listing(asked)}", statement, few=True)
        if answer.values("unread", Kind.BOOL) == [True] and answer.values("some", Kind.BOOL) == [False]:
            raise BadArgument(
                "data",
                f"a table in which {name}.{column.name} reads as {column.kind.value} ('sfumato codebook check' tells "
                "how many values of each column do not read); or without this column",
                "values of which none does",
            )


def _told(column: Column, held: Held, scope: Scope) -> tuple[Piece, Piece]:
    """Tells of each row whether a value is held, and whether it reads as its type."""
    raw, kind_held, kind = held.columns[column.name]
    value = scope.named(is_value(Piece(raw), kind_held, kind, scope))
    made = as_kind(Piece(raw), kind_held, kind, scope, column.facts.written)
    return value, scope.named(scope.fill("({0} IS NOT NULL)", made))


def _counts(column: Column, held: Held, scope: Scope) -> Iterator[str]:
    """What counts the values of a column that are held, unread and outside."""
    raw, kind_held, kind = held.columns[column.name]
    value, does_read = _told(column, held, scope)
    before = as_kind(Piece(raw), kind_held, kind, scope, column.facts.written)
    after = read(Piece(raw), kind_held, kind, column.facts, scope)
    limited = column.facts.keys is not None or column.facts.between is not None
    yield f"count(*) FILTER (WHERE {value.text})"
    yield f"count(*) FILTER (WHERE {value.text} AND NOT {does_read.text})"
    outside = scope.fill("({0} IS NOT NULL AND {0} IS DISTINCT FROM {1})", before, after)
    yield f"count(*) FILTER (WHERE {outside.text if limited else 'FALSE'})"
