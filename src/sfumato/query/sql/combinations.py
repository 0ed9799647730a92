"""Combinations: columns side by side, as COUNT(DISTINCT a, b) and COUNT(DISTINCT (a, b)) look at them."""

from __future__ import annotations

import datetime
from collections.abc import Sequence

from sqlglot import exp

from sfumato.query.nodes.expressions import Expression, Literal
from sfumato.query.nodes.kinds import Kind, Value
from sfumato.query.nodes.operators import call
from sfumato.query.sql.scalars import Scalars

STAND_INS: dict[Kind, Value] = {
    Kind.BOOL: False,
    Kind.INT: 0,
    Kind.FLOAT: 0.0,
    Kind.TEXT: "",
    Kind.DATE: datetime.date(2000, 1, 1),
    Kind.TIME: datetime.datetime(2000, 1, 1),
}
"""What stands for a missing value of each kind, beside the word that it is missing."""


def combination(nodes: Sequence[exp.Expr], rows: Scalars) -> list[Expression]:
    """Reads columns side by side. ``(a, b)`` is a value also where a part of it is missing; of ``a, b`` none may be."""
    match nodes:
        case [exp.Tuple(expressions=[one]) | exp.Paren(this=one)]:
            return combination([one], rows)
        case [exp.Tuple(expressions=parts)]:
            return [made for part in parts for made in _never_missing(rows.read(part))]
    return [rows.read(one) for one in nodes]


def _never_missing(of: Expression) -> list[Expression]:
    """Values that are there, and agree exactly where two values are equal or both are missing."""
    if not of.facts.nullable:
        return [of]
    return [call("coalesce", of, Literal(STAND_INS[of.kind], of.kind)), call("is_null", of)]
