"""Operators that compare, join conditions, and choose."""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from typing import Any

from sfumato.query.nodes.kinds import Kind
from sfumato.query.nodes.operators import released
from sfumato.query.nodes.operators.record import (
    COMPARED,
    Kinds,
    Operator,
    Sql,
    all_of_kind,
    common,
    fixed,
    if_all,
    register,
    same,
    sometimes,
)
from sfumato.query.nodes.ranges import hull

B, I, F, T, D, M = Kind.BOOL, Kind.INT, Kind.FLOAT, Kind.TEXT, Kind.DATE, Kind.TIME  # noqa: E741
BOTH = ("this", "expression")


def _compared(given: Kinds) -> Kind | None:
    """Takes operands that can be compared."""
    return B if common(given) is not None else None


def _choice(given: Kinds) -> Kind | None:
    """Takes conditions and values in turn, and at last a value for all other cases."""
    conditions, values = given[0:-1:2], (*given[1::2], given[-1])
    return common(values) if len(given) % 2 and set(conditions) == {B} else None


def _if_a_value(kinds: Kinds, operands: Sequence[bool]) -> bool:
    return any((*operands[1::2], operands[-1]))


def _comparison(name: str, node: str, sign: str, symbol: str, compare: Callable[[Any, Any], bool]) -> Operator:
    return Operator(
        name, _compared, "two values of one kind", 2, 2, sql=Sql((node,), BOTH, compares=True, sign=True),
        infix=(sign, COMPARED), symbol=symbol, released=released.compared(compare),
    )  # fmt: skip


register(
    _comparison("eq", "EQ", "=", "==", operator.eq),
    _comparison("ne", "NEQ", "<>", "!=", operator.ne),
    _comparison("lt", "LT", "<", "<", operator.lt),
    _comparison("le", "LTE", "<=", "<=", operator.le),
    _comparison("gt", "GT", ">", ">", operator.gt),
    _comparison("ge", "GTE", ">=", ">=", operator.ge),
    Operator("and", all_of_kind(B), "conditions", 1, symbol="&", released=released.conjunction),
    Operator("or", all_of_kind(B), "conditions", 1, symbol="|", released=released.disjunction),
    Operator(
        "not", fixed(B, B), "a condition", 1, 1, sql=Sql(("Not",), sign=True), symbol="~", released=released.opposite
    ),
    Operator("is_null", lambda given: B, "a value", 1, 1, lambda _, __: False, released=released.missing),
    Operator("in", _compared, "a value and constants of its kind", 2, constants=(1, None), released=released.among),
    Operator(
        "case", _choice, "conditions and values of one kind", 3, missing=_if_a_value,
        range=lambda parts: hull((*parts[1::2], parts[-1])), released=released.first_true,
    ),
    Operator(
        "coalesce", same(B, I, F, T, D, M), "values of one kind", 1, missing=if_all, range=hull,
        sql=Sql(("Coalesce",), ("this", "expressions")), released=released.first_there,
    ),
    Operator(
        "nullif", same(B, I, F, T, D, M), "two values of one kind", 2, 2, sometimes,
        range=lambda parts: hull(parts[:1]), sql=Sql(("Nullif",), BOTH), released=released.unless_equal,
    ),
)  # fmt: skip
