"""Refuses what public facts answer already: a condition that no row can meet, so that the answer could only be 0.

``COUNT(*) … WHERE delay > 120`` is 0 whatever the data is, where delays are moved into [-8, 64] when they are read.
Whoever asks means something else, and would pay for noise around 0.
"""

from __future__ import annotations

import datetime
from collections.abc import Callable, Iterator
from itertools import islice
from typing import TypeAlias

from sfumato.errors import QueryRefused
from sfumato.query.answer.words import expression_words
from sfumato.query.engines.protocol import PublicTables
from sfumato.query.nodes.expressions import Call, Column, Expression, Literal
from sfumato.query.nodes.kinds import Kind
from sfumato.query.nodes.narrowing import left_by, narrowed
from sfumato.query.nodes.questions import Histogram, Item, Statistic
from sfumato.query.nodes.relations import Join, Match, PerUnit, Relation, Union, Where
from sfumato.query.nodes.truths import COMPARED, reached, truths
from sfumato.query.plan.grounding import Ground, conjuncts
from sfumato.query.plan.keys import KeyFinder
from sfumato.query.plan.query_plan import QueryPlan

MOST_LISTED = 6
"""This many values of a list are shown."""

Never: TypeAlias = Callable[[Expression], bool]
"""Tells of a condition whether no row can meet it."""


def refuse_impossible(plan: QueryPlan) -> QueryPlan:
    """Before: any conditions. After: no part of the answer is 0 whatever the data, as far as public facts tell."""
    question, never = plan.question, never_by(plan.opened.engine)
    for condition in (*empty(question.source, never), *_folds(question.source, never)):
        _refuse(condition)
    for one in question.statistics:
        for condition in _of_nothing(one, never):
            _refuse(condition)
    return plan


def never_by(tables: PublicTables) -> Never:
    """Decides by bounds and lists, and by trying out the values of columns that have few, in public ``tables``."""
    public = KeyFinder(tables, Ground({}), ())

    def never(condition: Expression) -> bool:
        left = narrowed(condition, left_by(conjuncts(condition)))  # by what all parts say, more is known of each
        return True not in truths(left) or (not _plain(condition) and public.never(left))

    return never


def empty(relation: Relation, never: Never) -> list[Expression]:
    """A condition that no row can meet and without which the relation has no rows; none where there is none."""
    match relation:
        case Where(source=source, condition=condition):
            return empty(source, never) or _impossible(condition, never)
        case Union(parts=parts):
            empties = [empty(part, never) for part in parts]
            return empties[0] if all(empties) else []
        case PerUnit(by=()) if not relation.private:  # which has a row whatever is in its source
            return []
        case Join(left=left, right=right, match=match):
            return empty(left, never) or (empty(right, never) if match in (Match.INNER, Match.SEMI) else [])
    return [one for source in relation.sources for one in empty(source, never)]


def _folds(relation: Relation, never: Never) -> Iterator[Expression]:
    """Impossible conditions inside sums of each unit that can only be 0."""
    if isinstance(relation, PerUnit):
        for folded in relation.folds:
            yield from () if folded.of is None else _only_zero(folded.of, never)
    for source in relation.sources:
        yield from _folds(source, never)


def _of_nothing(statistic: Statistic, never: Never) -> Iterator[Expression]:
    """Impossible conditions that leave a statistic nothing to be about."""
    if statistic.where is not None:
        yield from _impossible(statistic.where, never)
    for of in statistic.operands:
        yield from _only_zero(of, never)
    match statistic:
        case Histogram(of=of, edges=edges) | Item(of=Histogram(of=of, edges=edges)):
            inside = Call("and", (_compared("ge", of, edges[0]), _compared("le", of, edges[-1])), Kind.BOOL)
            yield from _impossible(inside, never)


def _compared(operator: str, of: Expression, edge: float) -> Expression:
    return Call(operator, (of, Literal(edge, Kind.INT if isinstance(edge, int) else Kind.FLOAT)), Kind.BOOL)


def _impossible(condition: Expression, never: Never) -> list[Expression]:
    """The part of a condition that makes it impossible, or all of it, if something does."""
    return list(islice(filter(never, dict.fromkeys((*conjuncts(condition), condition))), 1))


def _plain(condition: Expression) -> bool:
    """Tells whether a condition compares columns with constants, each once: ranges and lists then tell all."""
    columns = [column.name for column in condition.columns()]
    return len(columns) == len(set(columns)) and _compares(condition)


def _compares(condition: Expression) -> bool:
    if isinstance(condition, Call) and condition.operator in ("and", "or", "not"):
        return all(map(_compares, condition.parts))
    compared = isinstance(condition, Call) and condition.operator in (*COMPARED, "in", "is_null")
    return not condition.parts or (compared and not any(part.parts for part in condition.parts))


def _only_zero(of: Expression, never: Never) -> list[Expression]:
    """An impossible condition of a choice, if without it nothing is left but 0 or missing values."""
    if not isinstance(of, Call) or of.operator != "case":
        return []
    pairs = list(zip(of.parts[0:-1:2], of.parts[1::2], strict=True))
    impossible = [condition for condition, _ in pairs if never(condition)]
    left = [part for pair in pairs if pair[0] not in impossible for part in pair]
    return impossible[:1] if all(map(_nothing, reached([*left, of.parts[-1]]))) else []


def _nothing(value: Expression) -> bool:
    return isinstance(value, Literal) and (value.value is None or (value.kind.numeric and value.value == 0))


def _refuse(condition: Expression) -> None:
    known = [said for column in dict.fromkeys(condition.columns()) if (said := _known(column))]
    why = f" {'; '.join(known)}." if known else ""
    raise QueryRefused(
        f"{expression_words(condition)} can be true for no row, by what is public:{why or ' it is so by itself.'} The "
        "answer would be 0 whatever the data is, and its noise would cost as much as any other. Ask within what the "
        "codebook states, or correct that (between, categories, nullable)."
    )


def _known(column: Column) -> str:
    """Says what is public about the values of a column, and what becomes of others."""
    facts, name = column.facts, column.name
    sure = "" if facts.nullable else ", and is never missing"
    if facts.keys is not None:
        values = ", ".join(map(str, facts.keys[:MOST_LISTED])) + ", …" * (len(facts.keys) > MOST_LISTED)
        return f"{name} is one of {values}{sure} (other values are read as missing)"
    match facts.between:
        case (datetime.date() as low, datetime.date() as high):
            return f"{name} lies from {low} to {high}{sure} (what lies beyond is read as missing)"
        case (low, high):
            return f"{name} lies in [{float(low):g}, {float(high):g}]{sure} (values beyond are moved into these bounds)"
    return f"{name} is {column.kind.value}{sure}" if sure else ""
