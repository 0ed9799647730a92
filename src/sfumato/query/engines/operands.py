"""Operands: as which kind an operation takes them, and what a constant is as its kind holds it, in every engine."""

from __future__ import annotations

import datetime
import math
from collections.abc import Sequence

from sfumato.query.nodes.expressions import Call, Expression
from sfumato.query.nodes.kinds import LEAST_INT, MOST_INT, Kind, Value
from sfumato.query.nodes.operators import common, is_missing
from sfumato.query.nodes.operators.functions import FUNCTIONS

FLOATING = frozenset({"div", *(one.name for one in FUNCTIONS)})
"""Operators that take floats."""

PASSES_MISSING = ("and", "or", "is_null", "coalesce", "nullif", "least", "greatest")
"""Operators that are more than missing where an operand is missing."""

MAY_BE_INFINITE = ("exp", "power", "sinh", "cosh", "tan")
MAY_BE_LONG = ("replace", "regexp_replace")


def constant(value: Value, kind: Kind) -> Value:
    """A constant as its kind holds it."""
    match value:
        case int() if kind is Kind.FLOAT:
            return float(value) if abs(value) < 2**1023 else None
        case int() if kind is Kind.INT:
            return value if LEAST_INT <= value <= MOST_INT else None
        case float():
            return value + 0.0 if math.isfinite(value) else None
        case datetime.datetime(tzinfo=datetime.tzinfo()):
            return value.astimezone(datetime.UTC).replace(tzinfo=None)
    return value


def operand_kind(call: Call) -> Kind | None:
    """The kind that all operands are read as; None: each as its own."""
    if call.operator in FLOATING:
        return Kind.FLOAT
    if call.operator in ("eq", "ne", "lt", "le", "gt", "ge"):
        return common_kind(call.parts)
    if call.operator in ("add", "sub", "mul", "mod", "clamp", "least", "greatest", "coalesce", "nullif"):
        return Kind.DATE if common_kind(call.parts) is Kind.DATE else call.kind
    return None


def common_kind(parts: Sequence[Expression]) -> Kind:
    """The kind that all parts have, or can be read as; NULL, written out, takes that of its neighbours."""
    kinds = tuple(part.kind for part in parts if not is_missing(part))
    return common(kinds) or parts[0].kind
