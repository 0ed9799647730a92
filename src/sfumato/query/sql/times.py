"""Times: what SQL does with days and times, said with the operators there are."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from sqlglot import exp

from sfumato.query.nodes.expressions import Expression, Literal
from sfumato.query.nodes.kinds import Kind
from sfumato.query.nodes.operators import call
from sfumato.query.nodes.operators.time import PERIODS
from sfumato.query.sql.alike import as_moment, fitted, folded
from sfumato.query.sql.constants import constant
from sfumato.query.sql.forms import Rule, integer, repeated
from sfumato.query.sql.refusals import only, refused

if TYPE_CHECKING:
    from sfumato.query.sql.scalars import Scalars

UNITS: dict[str, tuple[str, int]] = {
    **{unit: ("microsecond", width) for unit, width in PERIODS.items()},
    "day": ("day", 1),
    "week": ("day", 7),
    "month": ("month", 1),
    "quarter": ("month", 3),
    "year": ("month", 12),
    "decade": ("month", 120),
}
"""Units of intervals, each as so many of what days and times are moved by."""

WORDS = {
    **dict.fromkeys(("dayofweek", "weekday"), "dow"),
    **dict.fromkeys(("yearday", "dayofyear"), "doy"),
    **dict.fromkeys(("weekofyear", "isoweek"), "week"),
    **dict.fromkeys(("dayofmonth",), "day"),
    **{short: unit for unit, shorts in {
        "microsecond": "us usec usecs", "millisecond": "ms msec msecs", "second": "s sec secs", "minute": "m min mins",
        "hour": "h hr hrs", "day": "d", "week": "w", "month": "mon mons", "year": "y yr yrs",
    }.items() for short in shorts.split()},
}  # fmt: skip
"""Other words for units and parts of time."""

PLAIN_PARTS = ("year", "isoyear", "quarter", "month", "week", "day", "hour", "minute", "second")
KNOWN_PARTS = (*PLAIN_PARTS, "isodow", "dow", "doy", "decade", "century", "millisecond", "microsecond", "epoch")
"""Parts of days and times that are known."""


def unit_of(word: str) -> str:
    """The unit or part of time that a word means: in the singular, and written out."""
    plain = word.lower().partition("(")[0]
    plain = WORDS.get(plain, plain)
    return plain[:-1] if plain.endswith("s") and plain[:-1] in (*UNITS, *PLAIN_PARTS) else plain


def part_of_time(word: str, value: Expression) -> Expression:
    """Reads a part of a day or a time, as EXTRACT names it; ``dow`` counts days of the week from Sunday, 0."""
    value = as_moment(value, Kind.TIME if value.kind is Kind.TEXT else value.kind)
    match unit_of(word):
        case part if part in PLAIN_PARTS:
            return call(part, value)
        case "isodow":
            return call("weekday", value)
        case "dow":
            return call("mod", call("weekday", value), integer(7))
        case "doy":
            return call("dayofyear", value)
        case "decade":
            return call("int_div", call("year", value), integer(10))
        case "century":
            return call("int_div", call("add", call("year", value), integer(99)), integer(100))
        case "millisecond" | "microsecond" as unit:  # of the minute
            both = (_periods(call("to_time", value), one) for one in (unit, "minute"))
            many = integer(PERIODS["minute"] // PERIODS[unit])
            return call("sub", next(both), call("mul", next(both), many))
        case "epoch":
            return call("div", _since(value, "microsecond"), integer(PERIODS["second"]))
        case "yearweek":
            return call("add", call("mul", call("isoyear", value), integer(100)), call("week", value))
    raise refused(word.upper()[:40], f"known parts of a date are {', '.join(KNOWN_PARTS)}")


def _periods(value: Expression, unit: str) -> Expression:
    return folded(call("periods", value, Literal(unit, Kind.TEXT)))


def _since(value: Expression, unit: str) -> Expression:
    """Counts units since 1970."""
    before = 62_135_596_800_000_000 // PERIODS[unit]
    return fitted("sub", _periods(value, unit), integer(before))


def difference(word: str, end: Expression, start: Expression) -> Expression:
    """Counts the stretches of time that begin between two days or times."""
    end, start = (as_moment(one, one.kind if one.kind.temporal else Kind.DATE) for one in (end, start))
    unit = unit_of(word)
    if unit == "day":
        return call("sub", *(call("to_date", one) if one.kind is Kind.TIME else one for one in (end, start)))
    if unit not in UNITS:
        raise refused(f"DATE_DIFF in {word.upper()[:40]}", f"it counts in {', '.join(UNITS)}")
    late, early = _periods(end, unit), _periods(start, unit)
    return late if early == integer(0) else fitted("sub", late, early)


# Intervals


def interval(scalars: Scalars, node: exp.Expr) -> list[tuple[Expression, str]]:
    """Reads an interval as numbers of months, days and microseconds."""
    only(node, "this", "unit")
    unit = node.args.get("unit")
    given = constant(node.this, scalars.parameters)
    if unit is None:
        text = given.value if given is not None and isinstance(given.value, str) else ""
        parts = re.findall(r"([+-]?\d{1,18}) *([a-zA-Z]+)", text)
        if not parts or re.sub(r"[+-]?\d{1,18} *[a-zA-Z]+|[ ,]", "", text):
            raise refused("this INTERVAL", "write it as in INTERVAL '3 days', or INTERVAL 1 MONTH")
        return [_steps(integer(int(many)), word) for many, word in parts]
    if given is not None and isinstance(given.value, str) and re.fullmatch(r"[+-]?\d{1,18}", given.value.strip()):
        given = integer(int(given.value))
    many = scalars.read(node.this) if given is None else given
    if many.kind is not Kind.INT:
        raise refused("INTERVAL of what is no whole number", "write whole numbers of a smaller unit")
    return [_steps(many, unit.name if not isinstance(unit, exp.Func) else unit.key)]


def _steps(many: Expression, word: str) -> tuple[Expression, str]:
    unit = unit_of(word)
    if unit not in UNITS:
        raise refused(f"INTERVAL in {word.upper()[:40]}", f"it is in {', '.join(UNITS)}")
    by, width = UNITS[unit]
    return (fitted("mul", many, integer(width)) if width > 1 else many), by


def moved(value: Expression, steps: list[tuple[Expression, str]], *, back: bool = False) -> Expression:
    """Moves a day or a time; a day is moved by hours from its midnight. A constant is worked out at once."""
    value = as_moment(value, Kind.TIME if value.kind is Kind.TEXT else value.kind)
    if not value.kind.temporal:
        raise refused("INTERVAL beside what is no date", "add it to a day or a time")
    for many, unit in steps:
        by = fitted("mul", many, integer(-1)) if back else many
        value = as_moment(value, Kind.TIME if unit == "microsecond" else value.kind)
        value = folded(call("shift", value, by, Literal(unit, Kind.TEXT)))
    return value


def _add(scalars: Scalars, node: exp.Expr) -> Expression:
    only(node, "this", "expression")
    left, right = node.this, node.expression
    if isinstance(left, exp.Interval):
        left, right = right, left
    if isinstance(right, exp.Interval):
        return moved(scalars.read(left), interval(scalars, right))
    one, other = scalars.read(left), scalars.read(right)
    if other.kind is Kind.DATE:
        one, other = other, one
    return (
        moved(one, [(other, "day")]) if (one.kind, other.kind) == (Kind.DATE, Kind.INT) else fitted("add", one, other)
    )


def _subtract(scalars: Scalars, node: exp.Expr) -> Expression:
    only(node, "this", "expression")
    one = scalars.read(node.this)
    if isinstance(node.expression, exp.Interval):
        return moved(one, interval(scalars, node.expression), back=True)
    other = scalars.read(node.expression)
    if (one.kind, other.kind) == (Kind.DATE, Kind.INT):
        return moved(one, [(other, "day")], back=True)
    if Kind.TIME in (one.kind, other.kind):
        raise refused("the difference of times", "in what unit? Write DATE_DIFF('minute', earlier, later)")
    days = Kind.DATE in (one.kind, other.kind)
    pair = (as_moment(part, Kind.DATE) for part in (one, other)) if days else (one, other)
    return call("sub", *pair) if days else fitted("sub", *pair)


def _shifted(*, back: bool) -> Rule:
    """Reads DATE_ADD(day, INTERVAL 1 MONTH), DATE_ADD(day, 3) and the like."""

    def rule(scalars: Scalars, node: exp.Expr) -> Expression:
        parts = node.expressions if isinstance(node, exp.Anonymous) else [node.this, node.expression]
        if len(parts) != 2:
            raise refused("DATE_ADD", "it takes a date and an interval, as in DATE_ADD(day, INTERVAL 1 MONTH)")
        value = scalars.read(parts[0])
        steps = interval(scalars, parts[1]) if isinstance(parts[1], exp.Interval) else [(scalars.read(parts[1]), "day")]
        return moved(value, steps, back=back)

    return rule


def _date_add(scalars: Scalars, node: exp.Expr) -> Expression:
    """Reads DATEADD('month', 3, day); the word may stand without quotes."""
    match node.expressions:
        case [exp.Literal(this=str(word)) | exp.Column(this=exp.Identifier(this=str(word))), many, value]:
            return moved(scalars.read(value), [_steps(scalars.read(many), word)])
    raise refused("DATEADD", "it takes a word, a number and a date, as in DATEADD('month', 3, day)")


# Parts and beginnings


def _extract(scalars: Scalars, node: exp.Expr) -> Expression:
    only(node, "this", "expression")
    return part_of_time(node.this.name or node.this.key, scalars.read(node.expression))


def _date_part(scalars: Scalars, node: exp.Expr) -> Expression:
    match node.expressions:
        case [exp.Literal(this=str(word)), value]:
            return part_of_time(word, scalars.read(value))
    raise refused("DATE_PART", "it takes a word and a date, as in DATE_PART('month', day)")


def _named_part(word: str) -> Rule:
    def rule(scalars: Scalars, node: exp.Expr) -> Expression:
        value = node.this if not isinstance(node, exp.Anonymous) else next(iter(node.expressions), None)
        if not isinstance(value, exp.Expr) or len(node.expressions) > 1:
            raise refused(word.upper(), "it takes one date or time")
        return part_of_time(word, scalars.read(value))

    return rule


def _truncated(scalars: Scalars, node: exp.Expr) -> Expression:
    only(node, "this", "unit")
    return call("date_trunc", scalars.read(node.this), Literal(unit_of(node.args["unit"].name), Kind.TEXT))


def _difference(scalars: Scalars, node: exp.Expr) -> Expression:
    only(node, "this", "expression", "unit")
    word = node.args["unit"].name if node.args.get("unit") else "day"
    return difference(word, repeated(scalars.read(node.this)), repeated(scalars.read(node.expression)))


def _written(form: str = "") -> Rule:
    """Writes a day or a time, in a format that is given or else in the one that stands in the text."""

    def rule(scalars: Scalars, node: exp.Expr) -> Expression:
        only(node, "this", "format", "abbreviated")
        given = constant(node.args["format"], scalars.parameters) if not form else Literal(form, Kind.TEXT)
        if given is None or not isinstance(given.value, str):
            raise refused("STRFTIME", "it takes a date and a format, written out, as in STRFTIME(day, '%Y-%m')")
        return call("strftime", scalars.read(node.this), given)

    return rule


def _day_of(scalars: Scalars, node: exp.Expr) -> Expression:
    only(node, "this")
    return call("to_date", scalars.read(node.this))


def _last_day(scalars: Scalars, node: exp.Expr) -> Expression:
    """The last day of the month: the one before the first of the next month."""
    only(node, "this")
    first = call("date_trunc", call("to_date", scalars.read(node.this)), Literal("month", Kind.TEXT))
    return moved(moved(first, [(integer(1), "month")]), [(integer(-1), "day")])


PARTS_BY_NODE = {
    exp.Year: "year", exp.Quarter: "quarter", exp.Month: "month", exp.Week: "week", exp.WeekOfYear: "week",
    exp.Day: "day", exp.DayOfMonth: "day", exp.DayOfYear: "doy", exp.Hour: "hour", exp.Minute: "minute",
    exp.Second: "second", exp.DayOfWeek: "dow", exp.DayOfWeekIso: "isodow", exp.TimeToUnix: "epoch",
}  # fmt: skip

TIME_FORMS: dict[type[exp.Expr], Rule] = {
    exp.Add: _add,
    exp.Sub: _subtract,
    exp.DateAdd: _shifted(back=False),
    exp.Extract: _extract,
    exp.TimestampTrunc: _truncated,
    exp.DateTrunc: _truncated,
    exp.DateDiff: _difference,
    exp.TimestampDiff: _difference,
    exp.TimeToStr: _written(),
    exp.Monthname: _written("%B"),
    exp.Dayname: _written("%A"),
    exp.Date: _day_of,
    exp.LastDay: _last_day,
    **{node: _named_part(word) for node, word in PARTS_BY_NODE.items()},
}
"""Nodes about days and times."""

NAMED_FORMS: dict[str, Rule] = {
    "date_part": _date_part,
    "datepart": _date_part,
    "dateadd": _date_add,
    "date_sub": _shifted(back=True),
    **{word: _named_part(word) for word in ("weekday", "doy", "isoyear", "yearweek", "decade", "century")},
    **{word: _named_part(word) for word in ("millisecond", "microsecond")},
}
"""The same for functions that the parser has no node for."""
