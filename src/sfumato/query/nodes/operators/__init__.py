"""Operators: every operation on values of one row, a record each, and `call`, which applies them.

`call` is the only way to make a `Call`: it checks kinds and works out facts, so that a tree of expressions is right by
construction. What each operator gives, for every value, is laid down in docs/semantics.md.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from sfumato.errors import QueryRefused
from sfumato.query.nodes.expressions import Call, Expression, Literal
from sfumato.query.nodes.facts import Facts, nullable_if
from sfumato.query.nodes.kinds import LEAST_INT, MOST_INT, Kind
from sfumato.query.nodes.operators import arithmetic, functions, logic, text, time  # noqa: F401  # which register theirs
from sfumato.query.nodes.operators.record import OPERATORS, Kinds, Operator, common, is_missing

__all__ = ["OPERATORS", "call", "common", "is_missing"]


def call(operator: str, *parts: Expression) -> Call:
    """Makes an operation on expressions, or says why it cannot be one.

    >>> from fractions import Fraction
    >>> from sfumato.query.nodes.expressions import Column
    >>> minutes = Column("minutes", Kind.INT, Facts(between=(Fraction(0), Fraction(90))))
    >>> call("add", minutes, Literal(10, Kind.INT)).facts.between
    (Fraction(10, 1), Fraction(100, 1))
    """
    rule = OPERATORS[operator]
    kinds = tuple(part.kind for part in parts)
    fits = rule.least <= len(parts) <= (rule.most or len(parts))
    known = kinds if operator == "is_null" else _without_nulls(operator, parts, kinds)
    known = known if fits and rule.result(known) else kinds
    parts = tuple(Literal(None, kind) if is_missing(part) else part for part, kind in zip(parts, known, strict=True))
    kind = rule.result(known) if fits else None
    if kind is None:
        got = ", ".join(kind.value for kind in kinds)
        raise QueryRefused(f"{operator} takes {rule.takes}; got {got or 'nothing'}.")
    start, end = rule.constants
    if not all(isinstance(part, Literal) for part in parts[start:end]):
        raise QueryRefused(f"{operator} takes a column first and then constants: {rule.takes}.")
    if rule.check is not None:
        rule.check(parts)
    return Call(operator, tuple(parts), kind, _facts(rule, kind, parts))


def _without_nulls(operator: str, parts: Sequence[Expression], kinds: Kinds) -> Kinds:
    """The kinds, where a NULL that was written out takes that of its neighbours; in a choice, that of its values."""
    conditions = range(0, len(parts) - 1, 2) if operator == "case" else range(0)
    others = [kinds[place] for place in range(len(parts)) if place not in conditions and not is_missing(parts[place])]
    usual = common(tuple(others)) if others else None
    sure = (
        (Kind.BOOL if place in conditions else usual or kind) if is_missing(part) else kind
        for place, (part, kind) in enumerate(zip(parts, kinds, strict=True))
    )
    return tuple(sure)


def _facts(rule: Operator, kind: Kind, parts: Sequence[Expression]) -> Facts:
    operands = [part.facts for part in parts]
    nullable = rule.missing(tuple(part.kind for part in parts), [facts.nullable for facts in operands])
    ends = None if rule.range is None else rule.range(tuple(parts))
    known = Facts(ends, None if rule.listed is None else rule.listed(tuple(parts)), nullable)
    exact = known.numbers
    if kind is Kind.INT and exact is not None and not LEAST_INT <= exact[0] <= exact[1] <= MOST_INT:
        return Facts(None, None, nullable)
    sure = rule.exact and kind is not Kind.FLOAT and (exact is not None or (kind.temporal and ends is not None))
    return replace(known, nullable=nullable_if(operands)) if sure else known
