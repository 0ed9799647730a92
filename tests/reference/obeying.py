"""Facts, held against values: what is said of an expression must be true of every row."""

from __future__ import annotations

import math
import sys
from fractions import Fraction
from typing import Any

from sfumato.query.nodes.expressions import Expression
from sfumato.query.nodes.facts import Facts
from sfumato.query.nodes.kinds import Kind, Value


def obeys(value: Value, kind: Kind, facts: Facts) -> bool:
    """Tells whether a value is as its facts say."""
    if value is None:
        return facts.nullable
    if facts.keys is not None and value not in facts.keys:
        return False
    if facts.between is None:
        return True
    low, high = facts.between
    if kind is Kind.FLOAT:
        low, high = nearest(low), nearest(high)
    return low <= value <= high  # type: ignore[operator, no-any-return]


def nearest(end: Any) -> float:
    """Gives the float that is nearest to an end of a range."""
    most = sys.float_info.max
    return end if end in (-math.inf, math.inf) else float(min(max(end, Fraction(-most)), Fraction(most)))


def shown(made: Expression) -> str:
    """Writes an expression down, for messages."""
    parts = ", ".join(map(shown, made.parts))
    operator = getattr(made, "operator", "")
    return f"{operator}({parts})" if operator else repr(getattr(made, "name", getattr(made, "value", None)))
