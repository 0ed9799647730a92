"""The meaning of every operation on values, once more: plain Python on one value at a time, from docs/semantics.md.

It shares no code with any engine: where the two differ, one of them is wrong.
"""

from __future__ import annotations

import calendar
import datetime
import math
import re
from collections.abc import Callable, Mapping
from typing import Any

from tests.reference.texts import read_text

from sfumato.query.nodes.expressions import Call, Column, Expression, Literal
from sfumato.query.nodes.kinds import LONGEST_TEXT, Kind, Value

ROUNDED_BY_ENGINE = ("ln", "log10", "log2", "exp", "sin", "cos", "tan", "asin", "acos", "atan", "sinh", "cosh", "tanh")
ROUNDED_BY_ENGINE += ("atan2", "power")
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
            values = [evaluate(part, row) for part in parts]
            if parts[0].kind is Kind.TEXT and operator in READ:
                return None if values[0] is None else read(values[0], kind)
            return held(applied(operator, values), kind)
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


def remainder(left: Any, right: Any) -> Any:
    if right == 0:
        return None
    if isinstance(left, float):
        return math.fmod(left, right)
    rest = abs(left) % abs(right)
    return -rest if left < 0 else rest


def root(value: Any) -> float | None:
    return None if value < 0 else math.sqrt(value)


def logarithm(value: Any) -> float | None:
    return None if value <= 0 else math.log(float(value))


def quotient(left: int, right: int) -> int | None:
    if right == 0:
        return None
    whole = abs(left) // abs(right)
    return whole if (left < 0) == (right < 0) else -whole


def finite_or_missing(function: Callable[..., float]) -> Callable[..., float | None]:
    """Gives a function that is missing where Python's has no finite value."""

    def total(*values: Any) -> float | None:
        try:
            return function(*map(float, values))
        except (ValueError, OverflowError, ZeroDivisionError):
            return None

    return total


READ = ("to_int", "to_float", "to_bool", "to_date", "to_time")


def read(text: str, kind: Kind) -> Value:
    """Gives what a text says of a kind, as columns of texts are read."""
    found = read_text(text, kind)
    if found is None:
        return None
    if kind is Kind.INT:
        return held(round(found), kind)
    if kind is Kind.FLOAT:
        try:
            return held(float(found), kind)
        except OverflowError:
            return None
    return found.date() if kind is Kind.DATE else found  # type: ignore[no-any-return]


def text_of(value: Any) -> str:
    """Gives the text of a value: truth values in words, moments as in ISO, without zeros at the end of seconds."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, datetime.datetime):
        whole = value.replace(microsecond=0).isoformat(" ")
        return f"{whole}.{value.microsecond:06d}".rstrip("0") if value.microsecond else whole
    return str(value)


def regular(pattern: str) -> re.Pattern[str]:
    """Gives a pattern as Python reads it: at the end is only the end, and blanks are those of ASCII but one."""
    made, place, inside = "", 0, False
    while place < len(pattern):
        sign = pattern[place : place + (2 if pattern[place] == "\\" else 1)]
        inside = (inside or sign == "[") and sign != "]"
        blank = "\\t\\n\\f\\r "
        meant = {"\\s": blank if inside else f"[{blank}]", "\\S": f"[^{blank}]", "$": "$" if inside else r"\Z"}
        made += meant.get(sign, sign)
        place += len(sign)
    flags = re.ASCII
    return re.compile(made, flags)


def extracted(text: str, pattern: str, group: int) -> str:
    found = regular(pattern).search(text)
    return "" if found is None else found[group] or ""


def split(text: str, separator: str, place: int) -> str:
    parts = text.split(separator)
    return parts[place - 1] if place <= len(parts) else ""


def padded(text: str, many: int, fill: str, *, left: bool) -> str:
    missing = (fill * many)[: max(many - len(text), 0)]
    return (missing + text if left and missing else text + missing)[:many]


def shifted(when: Any, many: int, unit: str) -> Any:
    """Moves a moment; months end at their last day. Nothing is in no year that there is."""
    try:
        if unit != "month":
            return when + datetime.timedelta(**{f"{unit}s": many})
        months = when.year * 12 + (when.month - 1) + many
        year, month = months // 12, months % 12 + 1
        if not 1 <= year <= 9999:
            return None
        return when.replace(year=year, month=month, day=min(when.day, calendar.monthrange(year, month)[1]))
    except OverflowError:
        return None


MICROSECONDS = {"microsecond": 1, "millisecond": 10**3, "second": 10**6, "minute": 6 * 10**7, "hour": 36 * 10**8}
MICROSECONDS |= {"day": 864 * 10**8, "week": 7 * 864 * 10**8}


def begun(when: Any, unit: str) -> int:
    """Counts the stretches of time that have begun since the year 1 began."""
    if unit in MICROSECONDS:
        since = midnight(when) - datetime.datetime(1, 1, 1)
        return ((since.days * 86400 + since.seconds) * 10**6 + since.microseconds) // MICROSECONDS[unit]
    if unit == "decade":
        return int(when.year // 10)
    return int(((when.year - 1) * 12 + when.month - 1) // {"month": 1, "quarter": 3, "year": 12}[unit])


def formatted(when: Any, form: str) -> str:
    """Gives a moment in a format; years have four digits."""
    four = f"{when.year:04d}"
    iso = f"{when.isocalendar()[0]:04d}"
    parts = re.split("(%.)", form)
    shown = {"%Y": four, "%y": four[2:], "%G": iso, "%%": "%"}
    return "".join(shown.get(part) or (when.strftime(part) if part[:1] == "%" else part) for part in parts)


def like(text: str, pattern: str) -> bool:
    rules = {"%": ".*", "_": "."}
    return re.fullmatch("".join(rules.get(sign) or re.escape(sign) for sign in pattern), text, re.DOTALL) is not None


def truncated(when: Any, word: str) -> Any:
    """Gives the start of the stretch of time that a day or a time lies in."""
    if word in ("hour", "minute", "second"):
        kept = ("hour", "minute", "second").index(word) + 4
        return datetime.datetime(*when.timetuple()[:kept])
    day = when.date() if isinstance(when, datetime.datetime) else when
    first = {
        "day": lambda: day,
        "week": lambda: day - datetime.timedelta(day.weekday()),
        "month": lambda: day.replace(day=1),
        "quarter": lambda: day.replace(month=quarter(day) * 3 - 2, day=1),
        "year": lambda: day.replace(month=1, day=1),
        "decade": lambda: datetime.date(max(day.year - day.year % 10, 1), 1, 1),
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
    "trunc": math.trunc,
    "int_div": quotient,
    "sqrt": root,
    "ln": logarithm,
    "log10": finite_or_missing(math.log10),
    "log2": finite_or_missing(math.log2),
    **{name: finite_or_missing(getattr(math, name)) for name in ("exp", "sin", "cos", "tan", "asin", "acos", "atan")},
    **{name: finite_or_missing(getattr(math, name)) for name in ("sinh", "cosh", "tanh")},
    "atan2": finite_or_missing(lambda height, width: math.atan2(height + 0.0, width + 0.0)),
    "power": finite_or_missing(math.pow),
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
    "reverse": lambda text: text[::-1],
    "trim": lambda text, signs=" ": text.strip(signs),
    "ltrim": lambda text, signs=" ": text.lstrip(signs),
    "rtrim": lambda text, signs=" ": text.rstrip(signs),
    "lpad": lambda text, many, fill: padded(text, many, fill, left=True),
    "rpad": lambda text, many, fill: padded(text, many, fill, left=False),
    "right": lambda text, many: text[max(len(text) - many, 0) :],
    "replace": lambda text, old, new: text.replace(old, new)[:LONGEST_TEXT],
    "split_part": split,
    "strpos": lambda text, other: text.find(other) + 1,
    "starts_with": str.startswith,
    "ends_with": str.endswith,
    "contains": lambda text, other: other in text,
    "regexp_matches": lambda text, pattern: regular(pattern).search(text) is not None,
    "regexp_full_match": lambda text, pattern: regular(pattern).fullmatch(text) is not None,
    "regexp_extract": extracted,
    "regexp_replace": lambda text, pattern, new, word: regular(pattern).sub(
        lambda _: new, text, count=0 if word == "g" else 1
    )[:LONGEST_TEXT],
    "to_text": text_of,
    "to_bool": lambda value: value != 0,
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
    "second": lambda when: when.second,
    "isoyear": lambda when: when.isocalendar()[0],
    "week": lambda when: when.isocalendar()[1],
    "dayofyear": lambda when: when.timetuple().tm_yday,
    "periods": begun,
    "shift": shifted,
    "strftime": formatted,
    "date_trunc": truncated,
    "to_date": day_of,
    "to_time": midnight,
}
"""Operations that give a missing value where an operand is missing."""
