"""Exclusive conditions: those of which no row meets two, by what they say; numbers under them are priced as one.

Pivots ask for many: ``SUM(CASE WHEN k = 'a' THEN x END), SUM(CASE WHEN k = 'b' THEN x END)``. One row moves one of
them, so all together cost what the dearest does (proofs/query.md#exclusive). What is not seen to be exclusive here is
taken not to be.
"""

from __future__ import annotations

import datetime
import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import final

from sfumato.query.build.relation import all_of
from sfumato.query.nodes.expressions import Call, Expression, Literal
from sfumato.query.nodes.kinds import Kind, Value
from sfumato.query.nodes.operators import call
from sfumato.query.plan.engine_plan import ExactAggregate, Rows, Total
from sfumato.query.plan.grounding import conjuncts

TURNED = {"lt": "gt", "le": "ge", "gt": "lt", "ge": "le", "eq": "eq", "ne": "ne"}
"""What a comparison becomes when its sides change places."""

DENIED = {"lt": "ge", "le": "gt", "gt": "le", "ge": "lt", "eq": "ne", "ne": "eq"}
"""What a comparison becomes when it is not so; missing operands make neither true."""


@lru_cache(maxsize=64)
def exclusive_sets(tallies: tuple[ExactAggregate, ...]) -> tuple[tuple[ExactAggregate, ...], ...]:
    """Puts tallies into sets, in order, so that no row moves two of a set; most stand alone."""
    sets: list[list[tuple[ExactAggregate, Expression | None]]] = []
    for tally in tallies:
        rows = rows_of(tally)
        for members in sets:
            if all(exclusive(rows, other) for _, other in members):
                members.append((tally, rows))
                break
        else:
            sets.append([(tally, rows)])
    return tuple(tuple(tally for tally, _ in members) for members in sets)


def rows_of(tally: ExactAggregate) -> Expression | None:
    """A condition that every row meets which moves a tally; None where any row may, or more than its rows do."""
    match tally:
        case Rows(of=of):
            held = [] if of is None else [of]
        case Total(terms=terms):
            held = [term.of for term in terms]
        case _:
            return None
    there: list[Expression] = [call("not", call("is_null", of)) for of in held]
    parts = there if tally.where is None else [*there, tally.where]
    return all_of(parts) if parts else None


def exclusive(one: Expression | None, other: Expression | None) -> bool:
    """Tells whether no row can meet both conditions; if it says no, some may, or it cannot tell."""
    if one is None or other is None:
        return False
    for first, second in ((one, other), (other, one)):
        if isinstance(first, Call) and first.operator == "or":
            return all(exclusive(part, second) for part in first.parts)
    here, there = ([said(part) for part in conjuncts(condition)] for condition in (one, other))
    return (
        any(first.against(second) for first in here for second in there) or _some_or(one, other) or _some_or(other, one)
    )


def _some_or(one: Expression, other: Expression) -> bool:
    """Tells whether a part of a conjunction that is a choice of several rules the other condition out, each of them."""
    choices = (part for part in conjuncts(one) if isinstance(part, Call) and part.operator == "or")
    return any(all(exclusive(part, other) for part in choice.parts) for choice in choices if choice != one)


@final
@dataclass(frozen=True)
class Said:
    """What follows about an expression where a condition is true.

    ``missing``: that it is; else it is there, and if anything is said about its values, one ``of`` some, none of the
    ``other`` ones, or between ``low`` and ``high``, without an end that is ``open``.
    """

    about: Expression
    missing: bool = False
    of: tuple[Value, ...] | None = None
    other: tuple[Value, ...] = ()
    low: float | int = -math.inf
    high: float | int = math.inf
    open: tuple[bool, bool] = (False, False)
    whole: bool = False

    def against(self, there: Said) -> bool:
        """Tells whether both cannot be true."""
        if self.about != there.about:
            return False
        if self.missing or there.missing:
            return self.missing != there.missing
        for here, against in ((self, there), (there, self)):
            if here.of is not None and all(against._excludes(value, whole=here.whole) for value in here.of):
                return True
        return self._below(there) or there._below(self)

    def _excludes(self, value: Value, *, whole: bool) -> bool:
        """Tells whether the expression cannot be equal to a value, as another condition compares it."""
        if self.of is not None:
            return all(_differ(value, one, exactly=whole and self.whole) for one in self.of)
        if any(type(value) is type(one) and value == one for one in self.other):
            return True
        number = number_of(value)
        if number is None:
            return False
        point = Said(self.about, low=number, high=number, whole=whole)
        return point._below(self) or self._below(point)

    def _below(self, there: Said) -> bool:
        """Tells whether all that is said here lies below all that is said there."""
        high, low = self.high, there.low
        closed = not (self.open[1] or there.open[0])
        if not (self.whole and there.whole):  # one of both compares floats: whole numbers may meet there
            high, low = float(high), float(low)
            closed = closed or self.whole or there.whole
        return high < low or (high == low and not closed)


def number_of(value: Value) -> int | float | None:
    """Maps a value to a number that keeps its order among values of its kind; None where there is none."""
    if isinstance(value, datetime.datetime):
        return (value - datetime.datetime.min) // datetime.timedelta(microseconds=1)
    if isinstance(value, datetime.date):
        return value.toordinal()
    number = isinstance(value, int | float) and not isinstance(value, bool) and not math.isnan(value)
    return value if number and isinstance(value, int | float) else None


def _differ(one: Value, other: Value, *, exactly: bool) -> bool:
    """Tells whether nothing is equal to both values; as floats, unless whole numbers are compared exactly."""
    if isinstance(one, int | float) and isinstance(other, int | float) and bool not in (type(one), type(other)):
        return one != other if exactly else float(one) != float(other)
    return type(one) is type(other) and one != other


def said(condition: Expression) -> Said:
    """Reads what a condition says; at least that it is true itself."""
    match condition:
        case Call(operator="is_null", parts=(of,)):
            return Said(of, missing=True)
        case Call(operator="not", parts=(Call(operator="is_null", parts=(of,)),)):
            return Said(of)
        case Call(operator="not", parts=(Call(operator=operator, parts=(left, right)),)) if operator in DENIED:
            return _compared(DENIED[operator], left, right) or Said(condition.parts[0], of=(False,))
        case Call(operator="not", parts=(Call(operator="in", parts=(of, *values)),)):
            listed = _constants(values)
            return Said(condition.parts[0], of=(False,)) if listed is None else Said(of, other=listed)
        case Call(operator="not", parts=(of,)):
            return Said(of, of=(False,))
        case Call(operator="in", parts=(of, *values)):
            listed = _constants(values)
            return Said(condition, of=(True,)) if listed is None else Said(of, of=listed, whole=_whole(of, listed))
        case Call(operator=operator, parts=(left, right)) if operator in DENIED:
            return _compared(operator, left, right) or Said(condition, of=(True,))
    return Said(condition, of=(True,))


def _compared(operator: str, left: Expression, right: Expression) -> Said | None:
    if isinstance(left, Literal) and not isinstance(right, Literal):
        return _compared(TURNED[operator], right, left)
    if not isinstance(right, Literal) or isinstance(left, Literal) or right.value is None:
        return None
    value, whole = right.value, _whole(left, (right.value,))
    if operator in ("eq", "ne"):
        return Said(left, of=(value,), whole=whole) if operator == "eq" else Said(left, other=(value,), whole=whole)
    number = number_of(value)
    if number is None:
        return None
    end = number if whole else float(number)
    if operator in ("lt", "le"):
        return Said(left, high=end, open=(False, operator == "lt"), whole=whole)
    return Said(left, low=end, open=(operator == "gt", False), whole=whole)


def _constants(values: Sequence[Expression]) -> tuple[Value, ...] | None:
    constants = [value.value for value in values if isinstance(value, Literal) and value.value is not None]
    return tuple(constants) if len(constants) == len(values) else None


def _whole(of: Expression, values: Sequence[Value]) -> bool:
    """Tells whether whole numbers are compared, exactly; so are days and times."""
    return of.kind.temporal or (of.kind is Kind.INT and all(type(value) is int for value in values))
