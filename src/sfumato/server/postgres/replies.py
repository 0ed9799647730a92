"""Answers on their way to the wire: releases and explanations as columns of PostgreSQL's types and rows of texts."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from sfumato.query.answer.explanation import Explanation
from sfumato.query.answer.shape import ShapedColumn, shape_of
from sfumato.query.nodes.kinds import Kind
from sfumato.release.answer import Answer as Table
from sfumato.release.answer import AnswerColumn
from sfumato.server.postgres.answers import BOOL, DATE, FLOAT8, INT8, TEXT, TIMESTAMP, Answer, Column
from sfumato.server.postgres.faults import Fault
from sfumato.server.postgres.values import text_of

OIDS = {
    Kind.BOOL: BOOL,
    Kind.INT: INT8,
    Kind.FLOAT: FLOAT8,
    Kind.TEXT: TEXT,
    Kind.DATE: DATE,
    Kind.TIME: TIMESTAMP,
    Kind.LIST: TEXT,
}
INT8_ENDS = -(2**63), 2**63 - 1
Row = tuple[str | None, ...]


def columns_of(shape: Sequence[ShapedColumn], *, bounds: bool) -> tuple[Column, ...]:
    """The columns of an answer to come; with ``bounds``, the ends of error bars follow each that has one."""
    made, taken = [], {column.name for column in shape}
    for column in shape:
        made.append(Column(column.name, OIDS[column.kind]))
        for end in ("low", "high") if bounds and column.barred else ():
            name = f"{column.name}_{end}"
            while name in taken:
                name += "_"
            taken.add(name)
            made.append(Column(name, FLOAT8))
    return tuple(made)


def answered(table: Table, shape: Sequence[ShapedColumn], *, bounds: bool) -> Answer:
    """An answer in the shape that it was said to have."""
    if [one.name for one in shape] != [one.name for one in table.columns]:
        shape = shape_of(table)
    columns = columns_of(shape, bounds=bounds)
    parts: list[list[str | None]] = []
    for said, column in zip(shape, table.columns, strict=True):
        parts.append(_texts(column.values.tolist(), OIDS[said.kind]))
        if bounds and said.barred:
            parts += [_end(column, column.low), _end(column, column.high)]
    rows = tuple(zip(*parts, strict=True))
    return Answer(columns, rows, f"SELECT {len(rows)}")


def _end(column: AnswerColumn, cells: Any) -> list[str | None]:
    return [None] * len(column) if cells is None else _texts(cells.tolist(), FLOAT8)


def _texts(cells: Iterable[object], oid: int) -> list[str | None]:
    if oid == INT8:
        return [_whole(cell) for cell in cells]
    if oid == FLOAT8:
        return [text_of(float(cell)) if isinstance(cell, int | float) else None for cell in cells]
    return [text_of(cell) for cell in cells]


def _whole(cell: object) -> str | None:
    if cell is None or (isinstance(cell, float) and cell != cell):
        return None
    if isinstance(cell, int | float) and cell == int(cell) and INT8_ENDS[0] <= cell <= INT8_ENDS[1]:
        return str(int(cell))
    raise Fault("22003", "a number of the answer is no whole number of 64 bits", hint="Write CAST(… AS DOUBLE).")


def explained(explanation: Explanation) -> Answer:
    """An explanation as lines of text, as PostgreSQL gives them."""
    lines = str(explanation).splitlines()
    return Answer((Column("QUERY PLAN", TEXT),), tuple((line,) for line in lines), "EXPLAIN")


def listed(name: str, value: str) -> Answer:
    """One setting."""
    return Answer((Column(name, TEXT),), ((value,),), "SHOW")


def copied(answer: Answer, options: Sequence[str]) -> Iterator[bytes]:
    """The rows of an answer as COPY writes them: as CSV, or as texts with tabs between."""
    names = [tuple(column.name for column in answer.columns)] if "HEADER" in options else []
    write = _comma_line if "CSV" in options else _tab_line
    for cells in (*names, *answer.rows):
        yield write(cells).encode("utf-8", "replace")


def _comma_line(cells: Row) -> str:
    held = io.StringIO()
    csv.writer(held, lineterminator="\n").writerow(["" if cell is None else cell for cell in cells])
    return held.getvalue()


ESCAPED = str.maketrans({"\\": "\\\\", "\t": "\\t", "\n": "\\n", "\r": "\\r", "\b": "\\b", "\f": "\\f", "\v": "\\v"})


def _tab_line(cells: Row) -> str:
    return "\t".join("\\N" if cell is None else cell.translate(ESCAPED) for cell in cells) + "\n"
