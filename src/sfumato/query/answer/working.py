"""Working out: from finished answers and public tables to the table that was asked for. Post-processing only.

What runs is SQL over tables of released numbers, in an engine that is made for it and then thrown away. It costs
nothing, whatever it does: a function of a private answer alone is as private as the answer.
"""

from __future__ import annotations

import datetime
import math
from collections.abc import Mapping, Sequence
from decimal import Decimal
from fractions import Fraction
from typing import Any, TypeAlias

from sfumato.errors import QueryRefused
from sfumato.query.answer.assemble import columns_of
from sfumato.query.engines.duckdb.scratch import Given, worked_out
from sfumato.query.nodes.kinds import Kind, Value
from sfumato.query.nodes.questions import Question
from sfumato.query.nodes.relations import Relation
from sfumato.query.nodes.worked_out import WorkedOut
from sfumato.query.plan.compiled_query import CompiledQuery
from sfumato.query.plan.rehearse import SURE, made_up
from sfumato.release.answer import Answer, AnswerColumn, Role

TYPES = {
    Kind.BOOL: "BOOLEAN",
    Kind.INT: "BIGINT",
    Kind.FLOAT: "DOUBLE",
    Kind.TEXT: "VARCHAR",
    Kind.DATE: "DATE",
    Kind.TIME: "TIMESTAMP",
}
"""What the throw-away engine holds public values in."""

WHOLE = "HUGEINT"
"""What it holds released whole numbers in: noise, and sums of it, may be larger than 64 bits."""

Tables: TypeAlias = Mapping[str, Sequence[Given]]


def public_table(relation: Relation, rows: Mapping[str, Sequence[Value]]) -> list[Given]:
    """The rows of a public table, as they are handed to the engine."""
    return [Given(column.name, TYPES[column.kind], rows[column.name]) for column in relation.fields]


def public_answer(rows: Mapping[str, Sequence[Value]]) -> Answer:
    """Rows of public tables in the form of an answer; every column is a key."""
    return Answer(tuple(AnswerColumn(name, list(cells), Role.KEY) for name, cells in rows.items()))


def listed_table(question: Question, groups: Sequence[tuple[Value, ...]]) -> list[Given]:
    """The public keys of a question, as they are handed to the engine."""
    pairs = zip(question.keys, zip(*groups, strict=True) if groups else [()] * len(question.keys), strict=True)
    return [Given(name, TYPES[key.kind], cells) for (name, key), cells in pairs]


def released_table(compiled: CompiledQuery, answer: Answer) -> list[Given]:
    """A finished answer, as it is handed to the engine; its types follow from the question alone."""
    kinds = {name: made.kind for name, made in compiled.question.columns}
    return [_given(column, kinds[column.name]) for column in answer.columns]


def _given(column: AnswerColumn, kind: Kind) -> Given:
    values = [None if isinstance(cell, float) and math.isnan(cell) else cell for cell in column.values.tolist()]
    if column.role is Role.KEY or kind is not Kind.INT:
        return Given(column.name, TYPES[kind], values)
    fractional = any(isinstance(cell, float) and not cell.is_integer() for cell in values)
    if fractional:
        return Given(column.name, TYPES[Kind.FLOAT], values)
    return Given(column.name, WHOLE, [None if cell is None else int(cell) for cell in values])


def rehearsed(worked: WorkedOut, compiled: Mapping[str, CompiledQuery], others: Tables) -> None:
    """Works out made-up answers, and none: what cannot run, whatever will be released, is refused unpaid."""
    made = {name: _made_up(one) for name, one in compiled.items()}
    empty = {name: [Given(one.name, one.type, ()) for one in columns] for name, columns in made.items()}
    try:
        for tables in (made, empty):
            worked_answer(worked, {**others, **tables}, SURE)
    except QueryRefused as refusal:
        why = refusal
    else:
        return
    listed = "; ".join(f"{name} ({', '.join(one.name for one in columns)})" for name, columns in {**others, **made}.items())
    said = str(why) if str(why) != ENGINE else "a name, a type or an operation in it does not fit"
    raise QueryRefused(f"what stands around the finished answers cannot be worked out: {said}. There are: {listed}.")


def _made_up(compiled: CompiledQuery) -> list[Given]:
    """A made-up answer: of two groups, or of one row where nothing is grouped by."""
    table = released_table(compiled, Answer(columns_of(compiled, [made_up(compiled)], SURE), SURE))
    return table if compiled.question.keys else [Given(one.name, one.type, one.values[-1:]) for one in table]


ENGINE = "the engine refused it"


def worked_answer(worked: WorkedOut, tables: Tables, confidence: Fraction) -> Answer:
    """The table that was asked for, of finished answers and public tables."""
    columns = worked_out(worked.run, tables)
    names = [name for name, _ in columns]
    twice = [name for place, name in enumerate(names) if name.casefold() in {one.casefold() for one in names[:place]}]
    if twice:
        raise QueryRefused(f"two columns are called {twice[0]!r}: give one of them another name")
    keys = {} if not worked.answers else {}
    return Answer(tuple(_column(name, cells, keys) for name, cells in columns), confidence)


def _column(name: str, cells: Sequence[Any], keys: Mapping[str, Any]) -> AnswerColumn:
    values = [_plain(cell, name) for cell in cells]
    numbers = any(isinstance(cell, int | float) and not isinstance(cell, bool) for cell in values)
    return AnswerColumn(name, values, Role.VALUE if numbers else Role.KEY)


def _plain(cell: Any, name: str) -> Value:
    """A value as answers hold it; what has no value, and what is no number, is missing."""
    match cell:
        case None | bool() | int() | str() | datetime.date():
            return cell
        case float():
            return cell if math.isfinite(cell) else None
        case Decimal():
            return int(cell) if cell.as_tuple().exponent == 0 else float(cell)
    raise QueryRefused(f"column {name!r} holds neither numbers nor texts nor times, and an answer holds only these")
