"""The meaning of every operation on values, once more: plain Python on one value at a time, from docs/semantics.md.

It shares no code with any engine: where the two differ, one of them is wrong.
"""

from __future__ import annotations

import datetime
import math
import re
from collections.abc import Callable, Mapping
from typing import Any

from sfumato.query.nodes.expressions import Call, Column, Expression, Literal
from sfumato.query.nodes.kinds import LONGEST_TEXT, Kind, Value

ROUNDED_BY_ENGINE = ("ln", "exp")
"""Operations whose last bit is the engine's affair."""


def evaluate(expression: Expression, row: Mapping[str, Value]) -> Value:
    """Gives the value of an expression in a row."""
    match expression:
        case Column(name):
            return row[name]
        case Literal(value, kind):
            return held(value, kind)
        case Call("case", parts, kind):
            return held(chosen(parts, row), kind)
        case Call(operator, parts, kind):
            return held(applied(operator, [evaluate(part, row) for part in parts]), kind)
    raise TypeError(expression)


def chosen(parts: tuple[Expression, ...], row: Mapping[str, Value]) -> Value:
    """Gives the first value whose condition is true, or the last one."""
    for condition, value in zip(parts[0:-1:2], parts[1:-1:2], strict=True):
        if evaluate(condition, row) is True:
            return evaluate(value, row)
    return evaluate(parts[-1], row)


def held(value: Any, kind: Kind) -> Value:
    """Gives a result as its kind holds it: missing where it does not fit."""
    if value is None:
        return None
    if kind is Kind.FLOAT:
        return finite(float(value))
    if kind is Kind.INT:
        return int(value) if -(2**63) <= value < 2**63 else None
    return value  # type: ignore[no-any-return]


def finite(value: float) -> float | None:
    """Gives a float that is a number; the zero has no sign."""
    return value + 0.0 if math.isfinite(value) else None


def applied(operator: str, values: list[Any]) -> Any:
    """Gives what an operation makes of values."""
    if operator in PASSES_MISSING:
        return PASSES_MISSING[operator](alike(values))
    if any(value is None for value in values):
        return None
    return OPERATIONS[operator](*alike(values))


def alike(values: list[Any]) -> list[Any]:
    """Makes whole numbers floats, where they meet floats."""
    if not any(isinstance(value, float) for value in values):
        return values
    return [float(value) if type(value) is int else value for value in values]


def all_true(values: list[Any]) -> bool | None:
    if any(value is False for value in values):
        return False
    return None if any(value is None for value in values) else True


def one_true(values: list[Any]) -> bool | None:
    if any(value is True for value in values):
        return True
    return None if any(value is None for value in values) else False


def present(values: list[Any]) -> list[Any]:
    return [value for value in values if value is not None]


PASSES_MISSING: dict[str, Callable[[list[Any]], Any]] = {
    "and": all_true,
    "or": one_true,
    "is_null": lambda values: values[0] is None,
    "coalesce": lambda values: next(iter(present(values)), None),
    "least": lambda values: min(present(values), default=None),
    "greatest": lambda values: max(present(values), default=None),
    "nullif": lambda values: None if values[0] is not None and values[0] == values[1] else values[0],
}
"""Operations that look at missing operands."""


def added(left: Any, right: Any) -> Any:
    return left + right


def subtracted(left: Any, right: Any) -> Any:
    return (left - right).days if isinstance(left, datetime.date) else left - right


def divided(left: Any, right: Any) -> float | None:
    left, right = float(left), float(right)
    return None if right == 0 else left / right


def remainder(left: int, right: int) -> int | None:
    if right == 0:
        return None
    rest = abs(left) % abs(right)
    return -rest if left < 0 else rest


def root(value: Any) -> float | None:
    return None if value < 0 else math.sqrt(value)


def logarithm(value: Any) -> float | None:
    return None if value <= 0 else math.log(float(value))


def power(value: Any) -> float | None:
    return None if float(value) > 709.782712893384 else math.exp(float(value))


def like(text: str, pattern: str) -> bool:
    rules = {"%": ".*", "_": "."}
    return re.fullmatch("".join(rules.get(sign) or re.escape(sign) for sign in pattern), text, re.DOTALL) is not None


def truncated(when: Any, word: str) -> Any:
    """Gives the start of the stretch of time that a day or a time lies in."""
    if word == "hour":
        return when.replace(minute=0, second=0, microsecond=0)
    day = when.date() if isinstance(when, datetime.datetime) else when
    first = {
        "day": lambda: day,
        "week": lambda: day - datetime.timedelta(day.weekday()),
        "month": lambda: day.replace(day=1),
        "quarter": lambda: day.replace(month=quarter(day) * 3 - 2, day=1),
        "year": lambda: day.replace(month=1, day=1),
    }[word]()
    return midnight(first) if isinstance(when, datetime.datetime) else first


def midnight(when: Any) -> datetime.datetime:
    return when if isinstance(when, datetime.datetime) else datetime.datetime(when.year, when.month, when.day)


def day_of(when: Any) -> datetime.date:
    return when.date() if isinstance(when, datetime.datetime) else when  # type: ignore[no-any-return]


def quarter(when: datetime.date) -> int:
    return (when.month + 2) // 3


OPERATIONS: dict[str, Callable[..., Any]] = {
    "neg": lambda value: -value,
    "abs": abs,
    "sign": lambda value: (value > 0) - (value < 0),
    "add": added,
    "sub": subtracted,
    "mul": lambda left, right: left * right,
    "div": divided,
    "mod": remainder,
    "floor": math.floor,
    "ceil": math.ceil,
    "round": round,
    "sqrt": root,
    "ln": logarithm,
    "exp": power,
    "clamp": lambda value, low, high: min(max(value, low), high),
    "to_int": round,
    "to_float": float,
    "eq": lambda left, right: left == right,
    "ne": lambda left, right: left != right,
    "lt": lambda left, right: left < right,
    "le": lambda left, right: left <= right,
    "gt": lambda left, right: left > right,
    "ge": lambda left, right: left >= right,
    "in": lambda value, *listed: value in listed,
    "not": lambda value: not value,
    "lower": str.lower,
    "upper": str.upper,
    "trim": lambda text: text.strip(" "),
    "length": len,
    "substring": lambda text, first, many: text[first - 1 : first - 1 + many],
    "concat": lambda *texts: "".join(texts)[:LONGEST_TEXT],
    "like": like,
    "year": lambda when: when.year,
    "quarter": quarter,
    "month": lambda when: when.month,
    "day": lambda when: when.day,
    "weekday": lambda when: when.isoweekday(),
    "hour": lambda when: when.hour,
    "minute": lambda when: when.minute,
    "date_trunc": truncated,
    "to_date": day_of,
    "to_time": midnight,
}
"""Operations that give a missing value where an operand is missing."""
