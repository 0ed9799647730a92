"""Refuses what public facts answer already: a condition that no row can meet, so that the answer could only be 0.

``COUNT(*) … WHERE delay > 120`` is 0 whatever the data is, where delays are moved into [-8, 64] when they are read.
Whoever asks means something else, and would pay for noise around 0.
"""

from __future__ import annotations

import datetime
from collections.abc import Iterator

from sfumato.errors import QueryRefused
from sfumato.query.expressions import Call, Column, Expression, Literal
from sfumato.query.kinds import Kind
from sfumato.query.passes.grounding import conjuncts
from sfumato.query.questions import Histogram, Item, Question, Statistic
from sfumato.query.relations import Join, Match, PerUnit, Relation, Union, Where
from sfumato.query.truths import reached, truths
from sfumato.query.words import expression_words

MOST_LISTED = 6
"""So many values of a list are shown."""


def refuse_impossible(question: Question) -> None:
    """Refuses a question of which a part can only be 0, by public facts; says which condition, and what is known."""
    for condition in (*_empty(question.source), *_folds(question.source)):
        _refuse(condition)
    for one in question.statistics:
        for condition in _of_nothing(one):
            _refuse(condition)


def _empty(relation: Relation) -> list[Expression]:
    """Gives a condition that no row can meet and without which the relation has no rows; none where there is none."""
    match relation:
        case Where(source=source, condition=condition):
            return _empty(source) or _never(condition)
        case Union(parts=parts):
            found = [_empty(part) for part in parts]
            return found[0] if all(found) else []
        case Join(left=left, right=right, match=match):
            return _empty(left) or (_empty(right) if match is Match.INNER else [])
    return [one for source in relation.sources for one in _empty(source)]


def _folds(relation: Relation) -> Iterator[Expression]:
    """Gives impossible conditions inside sums of each unit that can only be 0."""
    if isinstance(relation, PerUnit):
        for folded in relation.folds:
            yield from () if folded.of is None else _only_zero(folded.of)
    for source in relation.sources:
        yield from _folds(source)


def _of_nothing(statistic: Statistic) -> Iterator[Expression]:
    """Gives impossible conditions that leave a statistic nothing to be about."""
    if statistic.where is not None:
        yield from _never(statistic.where)
    for of in statistic.operands:
        yield from _only_zero(of)
    match statistic:
        case Histogram(of=of, edges=edges) | Item(of=Histogram(of=of, edges=edges)):
            inside = Call("and", (_compared("ge", of, edges[0]), _compared("le", of, edges[-1])), Kind.BOOL)
            yield from _never(inside)


def _compared(operator: str, of: Expression, edge: float) -> Expression:
    return Call(operator, (of, Literal(edge, Kind.INT if isinstance(edge, int) else Kind.FLOAT)), Kind.BOOL)


def _never(condition: Expression) -> list[Expression]:
    """Gives the part of a condition that makes it impossible, if something does."""
    if True in truths(condition):
        return []
    return [next((part for part in conjuncts(condition) if True not in truths(part)), condition)]


def _only_zero(of: Expression) -> list[Expression]:
    """Gives an impossible condition of a choice, if without it nothing is left but 0 or missing values."""
    if not isinstance(of, Call) or of.operator != "case" or not all(map(_nothing, reached(of.parts))):
        return []
    return [one for one in of.parts[0:-1:2] if True not in truths(one)][:1]


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
