"""Truths: what a condition can be, by public facts alone: true, false, or missing.

Bounds, categories and lists of the codebook hold for every row, because values are moved into them, or become missing,
when they are read. So a condition that they leave no room for is known to be true for no row, before anything is paid.
Nothing that can be is called impossible; what is called possible need not be.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Sequence
from fractions import Fraction
from functools import reduce
from itertools import product
from math import inf
from typing import Any, TypeAlias

from sfumato.exact import Extended
from sfumato.query.nodes.expressions import Call, Expression, Literal
from sfumato.query.nodes.kinds import Kind, Value
from sfumato.query.nodes.operators import is_missing
from sfumato.query.nodes.ranges import nearest_float

Truth: TypeAlias = bool | None
Truths: TypeAlias = frozenset[Truth]

MOST_PAIRS = 10_000
"""Lists are compared value by value where there are no more pairs than this, else by their ends."""

YES: Truths = frozenset({True})
NO: Truths = frozenset({False})
MISSING: Truths = frozenset({None})
COMPARED: dict[str, Callable[[Any, Any], bool]] = {
    "eq": operator.eq,
    "ne": operator.ne,
    "lt": operator.lt,
    "le": operator.le,
    "gt": operator.gt,
    "ge": operator.ge,
}


def truths(condition: Expression) -> Truths:
    """All that a condition can be: no row makes it anything else.

    >>> from fractions import Fraction
    >>> from sfumato.query.nodes.expressions import Column
    >>> from sfumato.query.nodes.facts import Facts
    >>> from sfumato.query.nodes.operators import call
    >>> delay = Column("delay", Kind.INT, Facts((Fraction(-8), Fraction(64)), nullable=False))
    >>> truths(call("gt", delay, Literal(120, Kind.INT)))
    frozenset({False})
    """
    match condition:
        case Literal(value=value):
            return frozenset({None if value is None else bool(value)})
        case Call(operator="not", parts=(part,)):
            return frozenset(None if one is None else not one for one in truths(part))
        case Call(operator="and" | "or" as name, parts=parts):
            return reduce(_and if name == "and" else _or, map(truths, parts))
        case Call(operator="is_null", parts=(part,)):
            return YES if is_missing(part) else NO | (YES if part.facts.nullable else frozenset())
        case Call(operator="case", parts=parts):
            return frozenset().union(*map(truths, reached(parts)))
        case Call(operator="coalesce", parts=parts):
            return _first(parts)
        case Call(operator="in", parts=(part, *values)):
            return _any_equal(part, values)
        case Call(operator=name, parts=(left, right)) if name in COMPARED:
            return _compared(name, left, right)
    listed = condition.facts.listed(Kind.BOOL) or ()
    return frozenset(map(bool, listed)) | (MISSING if condition.facts.nullable else frozenset())


def reached(parts: Sequence[Expression]) -> list[Expression]:
    """The values of a choice that can come to be chosen: of conditions and values in turn, and the last one."""
    chosen = []
    for condition, value in zip(parts[0:-1:2], parts[1::2], strict=True):
        can_be = truths(condition)
        if True in can_be:
            chosen.append(value)
        if can_be == YES:
            return chosen
    return [*chosen, parts[-1]]


def _and(left: Truths, right: Truths) -> Truths:
    return frozenset(False if False in pair else None if None in pair else True for pair in product(left, right))


def _or(left: Truths, right: Truths) -> Truths:
    return frozenset(True if True in pair else None if None in pair else False for pair in product(left, right))


def _first(parts: Sequence[Expression]) -> Truths:
    """What the first of several conditions that is not missing can be."""
    so_far: Truths = frozenset()
    for part in parts:
        can_be = truths(part)
        so_far |= can_be - MISSING
        if None not in can_be:
            return so_far
    return so_far | MISSING


def _any_equal(part: Expression, values: Sequence[Expression]) -> Truths:
    each = [_compared("eq", part, value) for value in values]
    can_be = MISSING & frozenset().union(*each)
    if any(True in one for one in each):
        can_be |= YES
    own = part.facts.listed(part.kind) if _many(part) * len(values) <= MOST_PAIRS else None
    sure = own and all(any(_alike(one, value) for value in values) for one in own)
    return can_be if sure else can_be | NO


def _alike(value: Value, other: Expression) -> bool:
    return isinstance(other, Literal) and other.value is not None and value == other.value


def _compared(name: str, left: Expression, right: Expression) -> Truths:
    """What a comparison can be; without values on one side it is missing."""
    missing = MISSING if left.facts.nullable or right.facts.nullable else frozenset()
    if is_missing(left) or is_missing(right):
        return MISSING
    floats = Kind.FLOAT in (left.kind, right.kind)
    if _many(left) * _many(right) <= MOST_PAIRS:
        ours, theirs = (part.facts.listed(part.kind) or () for part in (left, right))
        pairs = product(_floats(ours), _floats(theirs)) if floats else product(ours, theirs)
        return missing | frozenset(COMPARED[name](one, other) for one, other in pairs)
    one, other = (_ends(part, floats=floats) for part in (left, right))
    return missing | (YES | NO if one is None or other is None else _by_ends(name, one, other))


def _by_ends(name: str, left: tuple[Any, Any], right: tuple[Any, Any]) -> Truths:
    """Compares all values between two ends with all between two others."""
    if name in ("eq", "ne"):
        equal = left[0] <= right[1] and right[0] <= left[1], not left[0] == left[1] == right[0] == right[1]
        true, false = equal if name == "eq" else equal[::-1]
    else:
        (low, high), (least, most) = (left, right) if name in ("lt", "le") else (right, left)
        true, false = (low < most, high >= least) if name in ("lt", "gt") else (low <= most, high > least)
    return (YES if true else frozenset()) | (NO if false else frozenset())


def _many(part: Expression) -> float:
    """How many values there can be, at least 1; infinity where they are not listed."""
    many = part.facts.many(part.kind)
    return inf if many is None else max(many, 1)


def _floats(values: Iterable[Any]) -> list[float]:
    return [float(value) for value in values]


def _ends(part: Expression, *, floats: bool) -> tuple[Any, Any] | None:
    """The least and the greatest value, as ``floats`` if asked to; None where they are not known."""
    ends: tuple[Any, Any] | None = part.facts.between
    if ends is None and part.facts.keys:
        ends = min(part.facts.keys), max(part.facts.keys)  # type: ignore[type-var]
    if ends is None or not part.kind.numeric:
        return ends
    low, high = (end if isinstance(end, Fraction) or end in (-inf, inf) else Fraction(end) for end in ends)
    return (_as_float(low), _as_float(high)) if floats else (low, high)


def _as_float(end: Extended) -> Extended:
    return nearest_float(end) if isinstance(end, Fraction) else end
