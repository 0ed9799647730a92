"""Working out: from finished answers and public tables to the table that was asked for. Post-processing only.

What runs is SQL over tables of released numbers, in an engine that is made for it and then thrown away. It costs
nothing, whatever it does: a function of a private answer alone is as private as the answer.
"""

from __future__ import annotations

import datetime
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from fractions import Fraction
from typing import Any, TypeAlias, final

from sfumato.errors import QueryRefused
from sfumato.query.answer.assemble import columns_of
from sfumato.query.engines.registry import worked_out
from sfumato.query.engines.scratch import Given
from sfumato.query.nodes.kinds import Kind, Value
from sfumato.query.nodes.questions import Question
from sfumato.query.nodes.relations import Relation
from sfumato.query.nodes.worked_out import HIDDEN, Barred, Released, WorkedOut
from sfumato.query.plan.compiled_query import CompiledQuery
from sfumato.query.plan.rehearse import SURE, made_up
from sfumato.release.answer import Answer, AnswerColumn, Cells, Role

Tables: TypeAlias = Mapping[str, Sequence[Given]]


def public_table(relation: Relation, rows: Mapping[str, Sequence[Value]]) -> list[Given]:
    """The rows of a public table, as they are handed to the engine."""
    return [Given(column.name, column.kind, rows[column.name]) for column in relation.fields]


def public_answer(rows: Mapping[str, Sequence[Value]]) -> Answer:
    """Rows of public tables in the form of an answer; every column is a key."""
    return Answer(tuple(AnswerColumn(name, list(cells), Role.KEY) for name, cells in rows.items()))


def listed_table(question: Question, groups: Sequence[tuple[Value, ...]]) -> list[Given]:
    """The public keys of a question, as they are handed to the engine."""
    pairs = zip(question.keys, zip(*groups, strict=True) if groups else [()] * len(question.keys), strict=True)
    return [Given(name, key.kind, cells) for (name, key), cells in pairs]


@final
@dataclass(frozen=True)
class Table:
    """A finished answer as it is handed to the engine: its columns, and the ends of those that have error bars."""

    columns: tuple[Given, ...]
    roles: tuple[Role, ...]
    ends: Mapping[str, tuple[Given, Given]]


def released_table(compiled: CompiledQuery, answer: Answer) -> Table:
    """A finished answer, as it is handed to the engine; its types follow from the question alone."""
    kinds = {name: made.kind for name, made in compiled.question.columns}
    ends = {
        one.name: (_end(one.name, one.low), _end(one.name, one.high))
        for one in answer.columns
        if one.low is not None and one.high is not None
    }
    columns = tuple(_given(column, kinds[column.name]) for column in answer.columns)
    return Table(columns, tuple(column.role for column in answer.columns), ends)


def _end(name: str, cells: Cells) -> Given:
    return Given(name, Kind.FLOAT, [_there(cell) for cell in cells.tolist()])


def _there(cell: Any) -> Any:
    return None if isinstance(cell, float) and math.isnan(cell) else cell


def _given(column: AnswerColumn, kind: Kind) -> Given:
    values = [_there(cell) for cell in column.values.tolist()]
    if column.role is Role.KEY or kind is not Kind.INT:
        return Given(column.name, kind, values)
    if any(isinstance(cell, float) and not cell.is_integer() for cell in values):
        return Given(column.name, Kind.FLOAT, values)
    return Given(column.name, Kind.INT, [None if cell is None else int(cell) for cell in values], wide=True)


def rehearsed(worked: WorkedOut, compiled: Mapping[str, CompiledQuery], others: Tables) -> Answer:
    """Works out made-up answers: what cannot run, whatever will be released, is refused unpaid."""
    made = {name: _made_up(one) for name, one in compiled.items()}
    try:
        return worked_answer(worked, made, others, SURE)
    except QueryRefused as refusal:
        said = str(refusal)
    columns = {**others, **{name: table.columns for name, table in made.items()}}
    listed = "; ".join(f"{name} ({', '.join(one.name for one in each)})" for name, each in columns.items())
    raise QueryRefused(f"what stands around the finished answers cannot be worked out: {said}. There are: {listed}.")


def _made_up(compiled: CompiledQuery) -> Table:
    """A made-up answer: of two groups, or of one row where nothing is grouped by."""
    table = released_table(compiled, Answer(columns_of(compiled, [made_up(compiled)], SURE), SURE))
    if compiled.question.keys:
        return table

    def last(one: Given) -> Given:
        return replace(one, values=one.values[-1:])

    ends = {name: (last(low), last(high)) for name, (low, high) in table.ends.items()}
    return Table(tuple(map(last, table.columns)), table.roles, ends)


def worked_answer(worked: WorkedOut, answers: Mapping[str, Table], others: Tables, confidence: Fraction) -> Answer:
    """The table that was asked for, of finished answers and of other tables, which are public."""
    from sfumato.query.sql.bars import barred  # which loads sqlglot

    keys_only = {one.name for one in worked.answers if one.keys_only}
    answers = {name: _without_count(table) if name in keys_only else table for name, table in answers.items()}
    known = {
        name: [
            Released(one.name, role is Role.KEY, one.name in table.ends)
            for one, role in zip(table.columns, table.roles, strict=True)
        ]
        for name, table in answers.items()
    }
    plan = barred(worked.run, known, {name: [one.name for one in columns] for name, columns in others.items()})
    tables = {**others, **{name: table.columns for name, table in answers.items()}}
    for name, (held, ends) in plan.tables.items():
        table = answers[name]
        pairs = [(hidden, end) for one, both in ends.items() for hidden, end in zip(both, table.ends[one], strict=True)]
        tables[held] = (*table.columns, *(replace(end, name=hidden) for hidden, end in pairs))
    columns = worked_out(plan.run, tables)
    hidden = {name for pair in plan.ends.values() for name in pair}
    shown = [(name, cells) for name, cells in columns if not name.startswith(HIDDEN)]
    _check_names([name for name, _ in shown])
    carried = {name: cells for name, cells in columns if name in hidden}
    return Answer(tuple(_column(name, cells, plan, carried, public=not answers) for name, cells in shown), confidence)


def _without_count(table: Table) -> Table:
    """The keys of an answer of which nothing else was asked for: its last column only counts."""
    return Table(table.columns[:-1], table.roles[:-1], {})


def _check_names(names: Sequence[str]) -> None:
    folded = [name.casefold() for name in names]
    twice = [name for place, name in enumerate(names) if folded[place] in folded[:place]]
    if twice:
        raise QueryRefused(f"two columns are called {twice[0]!r}: give one of them another name")


def _column(
    name: str, cells: Sequence[Any], plan: Barred, ends: Mapping[str, Sequence[Any]], *, public: bool
) -> AnswerColumn:
    values = [_plain(cell, name) for cell in cells]
    if public or name.casefold() in plan.keys:
        return AnswerColumn(name, values, Role.KEY)
    pair = plan.ends.get(name.casefold())
    if pair is None:
        return AnswerColumn(name, values, Role.VALUE)
    both = zip(*(map(_there, ends[one]) for one in pair), strict=True)
    low, high = zip(*((None, None) if None in one else one for one in both), strict=True) if values else ((), ())
    known = any(end is not None for end in low)
    return AnswerColumn(name, values, Role.VALUE, *(low, high) if known else (None, None))


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
