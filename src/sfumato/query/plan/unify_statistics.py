"""Unifies statistics: what can be asked in several ways becomes one, that is computed, noised and paid for once.

``SUM(CASE WHEN c THEN 1 ELSE 0 END)``, ``COUNT_IF(c)``, ``COUNT(CASE WHEN c THEN 1 END)`` and ``COUNT(*) FILTER (WHERE
c)`` are all the number of rows in which c is true.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TypeVar

from sfumato.query.build.relation import all_of
from sfumato.query.nodes.expressions import Call, Expression, Literal
from sfumato.query.nodes.kinds import Kind
from sfumato.query.nodes.operators import call, is_missing
from sfumato.query.nodes.questions import Count, OfOne, Question, Statistic, StatisticValue, Sum
from sfumato.query.plan.query_plan import QueryPlan

One = TypeVar("One", bound="Count | OfOne")


def unify_statistics(plan: QueryPlan) -> QueryPlan:
    """Before: statistics as they were written. After: those that are the same number are equal."""
    return replace(plan, question=unified(plan.question))


def unified(question: Question) -> Question:
    """Spells each statistic of a question in one way, so that equal ones are bought once."""
    return replace(
        question,
        columns=tuple((name, _released(made)) for name, made in question.columns),
        having=None if question.having is None else _released(question.having),
        order=tuple(replace(one, by=_released(one.by)) for one in question.order),
    )


def _released(made: Expression) -> Expression:
    match made:
        case StatisticValue(statistic=statistic):
            return replace(made, statistic=spelled_alike(statistic))
        case Call(parts=parts):
            return replace(made, parts=tuple(map(_released, parts)))
    return made


def spelled_alike(statistic: Statistic) -> Statistic:
    """Rewrites a statistic in the one way that all of its spellings share."""
    match statistic:
        case Sum(of=of, where=where) if (condition := _indicated(of)) is not None:
            return spelled_alike(Count(None, _both(where, condition)))
        case Sum(of=Call(operator="case", parts=(_, then, otherwise))) if _nothing(otherwise, then.kind):
            return spelled_alike(_chosen(statistic))
        case Count(of=Literal(value=value)) if value is not None:
            return spelled_alike(replace(statistic, of=None))
        case Count(of=None, where=Call(operator="not", parts=(Call(operator="is_null", parts=(of,)),))):
            return spelled_alike(Count(of))
        case Count(of=Call(operator="case", parts=(_, _, otherwise))) if is_missing(otherwise):
            return spelled_alike(_chosen(statistic))
        case OfOne(of=Call(operator="case", parts=(_, then, otherwise), kind=kind)) if (
            is_missing(otherwise) and then.kind is kind
        ):
            return spelled_alike(_chosen(statistic))
    return statistic


def _chosen(statistic: One) -> One:
    """Turns a choice between a value and nothing into the value, with the condition as the statistic's ``where``."""
    condition, then, _ = statistic.of.parts  # type: ignore[union-attr]
    return replace(statistic, of=then, where=_both(statistic.where, condition))  # type: ignore[type-var]


def _nothing(value: Expression, kind: Kind) -> bool:
    """Tells whether a value adds nothing to a sum of a kind."""
    return is_missing(value) or (isinstance(value, Literal) and value.value == 0 and value.kind is kind)


def _indicated(of: Expression) -> Expression | None:
    """The condition for which a number is 1; None where it may be anything else than 0, 1 or missing."""
    match of:
        case Literal(value=1, kind=Kind.INT):
            return Literal(True, Kind.BOOL)
        case Call(operator="to_int", parts=(condition,)) if condition.kind is Kind.BOOL:
            return condition
        case Call(operator="case", parts=parts, kind=Kind.INT):
            values = (*parts[1::2], parts[-1])
            if not all(is_missing(value) or _is_bit(value) for value in values):
                return None
            ones = [Literal(_is_bit(value) and value.value == 1, Kind.BOOL) for value in values]  # type: ignore[attr-defined]
            if [one.value for one in ones] == [True, False]:
                return parts[0]
            conditions = parts[0:-1:2]
            return call("case", *(part for pair in zip(conditions, ones, strict=False) for part in pair), ones[-1])
    return None


def _is_bit(value: Expression) -> bool:
    return isinstance(value, Literal) and value.kind is Kind.INT and value.value in (0, 1)


def _both(one: Expression | None, other: Expression) -> Expression | None:
    """The condition that both are true; None where neither asks for anything."""
    given = [part for part in (one, other) if part is not None and part != Literal(True, Kind.BOOL)]
    return all_of(given) if given else None
