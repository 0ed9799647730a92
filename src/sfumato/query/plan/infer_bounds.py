"""Infers bounds of what statistics are of from conditions: WHERE, FILTER, and those of a CASE; within units, too.

``AVG(x) … WHERE x BETWEEN 0 AND 100`` has bounds, though the codebook states none: no other row is counted. Whatever is
inferred here is enforced once more where numbers are added up, on their grid, so that no price rests on it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import fields, replace
from typing import Any

from sfumato.query.nodes.expressions import Call, Column, Expression
from sfumato.query.nodes.narrowing import Known, left_by, narrowed
from sfumato.query.nodes.operators import call
from sfumato.query.nodes.questions import Question, Statistic, StatisticValue
from sfumato.query.nodes.relations import PerUnit, Relation
from sfumato.query.plan.grounding import conjuncts, ground
from sfumato.query.plan.query_plan import QueryPlan


def infer_bounds(plan: QueryPlan) -> QueryPlan:
    """Before: bounds of the codebook. After: what statistics are of has bounds that conditions leave, too."""
    question = plan.question
    known = bounds_by_conditions(question.source)
    return replace(
        plan,
        question=replace(
            question,
            columns=tuple((name, _released(made, known)) for name, made in question.columns),
            having=None if question.having is None else _released(question.having, known),
            order=tuple(replace(one, by=_released(one.by, known)) for one in question.order),
        ),
    )


def bounds_by_conditions(source: Relation) -> Known:
    """The columns of a relation that the conditions on its way bound more narrowly, each as it is known then."""
    below = ground(source)
    left = left_by(below.conditions)
    known = {}
    for column in source.fields:
        told = below.fields.get(column.name)
        between = None if told is None else narrowed(told, left).facts.between
        if between is not None and between != column.facts.between:
            known[column] = replace(column, facts=replace(column.facts, between=between))
    return known


def bounds_inferred(question: Question) -> Iterator[tuple[str, Any]]:
    """The columns whose bounds were inferred, as far as statistics look at them, and these bounds."""
    yield from _narrower((of for one in question.statistics for of in one.operands), question.source)
    yield from _narrower_within(question.source)


def _narrower_within(relation: Relation) -> Iterator[tuple[str, Any]]:
    """The same of what is folded within units."""
    if isinstance(relation, PerUnit):
        yield from _narrower((one.of for one in relation.folds if one.of is not None), relation.source)
    for source in relation.sources:
        yield from _narrower_within(source)


def _narrower(made: Iterable[Expression], source: Relation) -> Iterator[tuple[str, Any]]:
    for column in (column for of in made for column in of.columns()):
        own = source.field(column.name)
        if own is not None and column.facts.between not in (None, own.facts.between):
            yield column.name, column.facts.between


def _released(made: Expression, known: Known) -> Expression:
    match made:
        case StatisticValue(statistic=statistic):
            return replace(made, statistic=bounded_statistic(statistic, known))
        case Call(parts=parts):
            return replace(made, parts=tuple(_released(part, known) for part in parts))
    return made


def bounded_statistic(statistic: Statistic, known: Known) -> Statistic:
    """A statistic of expressions with the bounds that its own condition leaves, beside what is known of all rows."""
    here = known if statistic.where is None else _also(known, statistic.where)
    parts: Mapping[str, Any] = {one.name: getattr(statistic, one.name) for one in fields(statistic)}  # type: ignore[arg-type]
    changed = {
        name: bounded_statistic(part, known) if isinstance(part, Statistic) else bounded(part, here)
        for name, part in parts.items()
        if name != "where" and isinstance(part, Statistic | Expression)
    }
    return replace(statistic, **changed)  # type: ignore[type-var]


def bounded(made: Expression, known: Known) -> Expression:
    """Rebuilds an expression with what is known of its columns; in a choice, each value by its condition too."""
    match made:
        case Column():
            return known.get(made, made)
        case Call(operator="case", parts=(*pairs, otherwise)):
            parts = []
            for condition, then in zip(pairs[::2], pairs[1::2], strict=True):
                parts += [condition, bounded(then, _also(known, condition))]
            return call("case", *parts, bounded(otherwise, known))
        case Call(operator=operator, parts=parts):
            return call(operator, *(bounded(part, known) for part in parts))
    return made


def _also(known: Known, condition: Expression) -> Known:
    """What is known of columns where a condition is true besides; whether they are missing is left as it was."""
    left = left_by(conjuncts(narrowed(condition, known)))
    sure = {column: known.get(column, column).facts.nullable for column in left}
    more = {column: replace(one, facts=replace(one.facts, nullable=sure[column])) for column, one in left.items()}
    return {**known, **more}
