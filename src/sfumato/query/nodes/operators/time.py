"""Operators on days and times."""

from __future__ import annotations

import datetime
from calendar import monthrange
from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import lru_cache
from typing import Any

from sfumato.errors import QueryRefused
from sfumato.query.nodes.expressions import Expression, Literal
from sfumato.query.nodes.facts import MOST_VALUES, Ends
from sfumato.query.nodes.kinds import Kind, Value
from sfumato.query.nodes.operators.record import Kinds, Operator, Result, fixed, one_of, register, sometimes
from sfumato.query.nodes.ranges import Rule, moved, numbers

I, T, D, M = Kind.INT, Kind.TEXT, Kind.DATE, Kind.TIME  # noqa: E741

TIME_UNITS = ("second", "minute", "hour", "day", "week", "month", "quarter", "year", "decade")
"""What `date_trunc` cuts to; weeks begin on Monday. Days are cut to days and longer stretches only."""

DAYS_FROM = TIME_UNITS.index("day")

SHIFTS = {"month": 120_000, "day": 3_652_059, "microsecond": 315_537_897_600_000_000}
"""What days and times are moved by, and by how many at most: no two years that there are lie further apart."""

A_MOMENT = "a day or a time"
MOMENT = one_of(I, D, M)


# Moments of Python, which constants and bounds are computed with


def shifted(when: Any, many: int, unit: str) -> Any:
    """Moves a day or a time by months, days or microseconds; None where that is in no year that there is.

    >>> shifted(datetime.date(2024, 1, 31), 1, "month")
    datetime.date(2024, 2, 29)
    """
    try:
        if unit != "month":
            return when + datetime.timedelta(**{f"{unit}s": many})
        year, month = divmod(when.year * 12 + when.month - 1 + many, 12)
        return when.replace(year=year, month=month + 1, day=min(when.day, monthrange(year, month + 1)[1]))
    except (ValueError, OverflowError):  # also of years below 1, which the calendar does not know
        return None


def start_of(when: Any, unit: str) -> Any:
    """The beginning of the stretch of time that a day or a time lies in, or of the first year, if it is before that.

    >>> start_of(datetime.date(2024, 5, 31), "quarter")
    datetime.date(2024, 4, 1)
    """
    if unit in TIME_UNITS[:DAYS_FROM]:
        kept = {"second": {}, "minute": {"second": 0}, "hour": {"minute": 0, "second": 0}}[unit]
        return when.replace(microsecond=0, **kept)
    day = datetime.date(when.year, when.month, when.day)
    if unit == "week":
        day -= datetime.timedelta(day.weekday())
    elif unit != "day":
        year = max(when.year // 10 * 10, 1) if unit == "decade" else when.year
        month = {"month": when.month, "quarter": (when.month - 1) // 3 * 3 + 1}.get(unit, 1)
        day = datetime.date(year, month, 1)
    return datetime.datetime(day.year, day.month, day.day) if isinstance(when, datetime.datetime) else day


PERIODS: dict[str, int] = {
    "microsecond": 1,
    "millisecond": 1_000,
    "second": 1_000_000,
    "minute": 60_000_000,
    "hour": 3_600_000_000,
    "day": 86_400_000_000,
    "week": 604_800_000_000,
}
"""Stretches of time that are all alike, in microseconds. The first day there is, 0001-01-01, was a Monday."""

BY_CALENDAR = ("month", "quarter", "year", "decade")
"""Stretches of which some are longer than others."""


def periods(when: Any, unit: str) -> int:
    """How many such stretches of time have begun since the first of them, at the beginning of the year 1.

    >>> periods(datetime.date(2, 2, 1), "month"), periods(datetime.date(1, 1, 8), "week")
    (13, 1)
    """
    if unit in BY_CALENDAR:
        months = (when.year - 1) * 12 + when.month - 1
        return int({"month": months, "quarter": months // 3, "year": months // 12, "decade": when.year // 10}[unit])
    moment = datetime.datetime.combine(when, datetime.time.min) if type(when) is datetime.date else when
    passed: datetime.timedelta = moment - datetime.datetime.min
    return int(passed // datetime.timedelta(microseconds=PERIODS[unit]))


LETTERS: dict[str, str] = {
    **dict.fromkeys("Ymdbj", "day"),
    **dict.fromkeys("yBaAuwGV", "day"),
    **dict.fromkeys("HIMSfp", "time"),
    "%": "",
}
"""What may follow % in the format of a text, and what of a moment it shows."""

WITHOUT_YEAR = frozenset("mbBaAuw%")
"""Letters that have few values, whatever the year."""


def check_format(form: str) -> None:
    """Refuses formats of days and times with letters other than the known ones."""
    letters = form.split("%%")
    signs = [part[:1] for piece in letters for part in piece.split("%")[1:]]
    if len(form) > 100 or not form.isprintable() or any(not sign or sign not in LETTERS for sign in signs):
        known = " ".join(f"%{sign}" for sign in LETTERS)
        raise QueryRefused(f"STRFTIME takes a format of at most 100 characters with {known}; others differ by engine.")


def written(when: Any, form: str) -> str:
    """Writes a day or a time in a format, in English, as every engine must."""
    moment = datetime.datetime.combine(when, datetime.time.min) if type(when) is datetime.date else when
    year, week, weekday = moment.isocalendar()
    month, clock = MONTHS[moment.month - 1], f"{moment:%H%M%S%f}"
    names = {
        "Y": f"{moment.year:04d}", "y": f"{moment.year % 100:02d}", "m": f"{moment.month:02d}", "b": month[:3],
        "B": month, "d": f"{moment.day:02d}", "j": f"{moment.timetuple().tm_yday:03d}", "G": f"{year:04d}",
        "V": f"{week:02d}", "a": WEEKDAYS[weekday - 1][:3], "A": WEEKDAYS[weekday - 1], "u": f"{weekday}",
        "w": f"{weekday % 7}",
        "H": clock[:2], "I": f"{(moment.hour + 11) % 12 + 1:02d}", "M": clock[2:4], "S": clock[4:6], "f": clock[6:],
        "p": "AM" if moment.hour < 12 else "PM", "%": "%",
    }  # fmt: skip
    first, *pieces = form.split("%")
    text, percent = first, False
    for piece in pieces:
        if percent or piece:
            text += piece if percent else names[piece[0]] + piece[1:]
            percent = False
        else:
            text, percent = f"{text}%", True
    return text


MONTHS = (
    "January", "February", "March", "April", "May", "June",
    "July", "August", "September", "October", "November", "December",
)  # fmt: skip
WEEKDAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")


# Kinds, checks and facts


def _unless_read(kinds: Kinds, operands: Sequence[bool]) -> bool:
    """Says that texts may be no day or time."""
    return operands[0] or kinds[0] is T


def _cut_time(given: Kinds) -> Kind | None:
    """Takes a day or a time and a word."""
    return given[0] if len(given) == 2 and given[0].temporal and given[1] is T else None


def _with_word(kind: Kind) -> Result:
    return lambda given: kind if _cut_time(given) is not None else None


def _moved(given: Kinds) -> Kind | None:
    return given[0] if len(given) == 3 and given[0].temporal and given[1:] == (I, T) else None


def word_of(parts: Sequence[Expression]) -> str:
    """The word that an operation ends with."""
    word = parts[-1]
    return word.value if isinstance(word, Literal) and isinstance(word.value, str) else ""


def _check(what: str, *words: str, since: int = 0) -> Callable[[Sequence[Expression]], None]:
    """Refuses words other than some; of days, those before place ``since``."""

    def check(parts: Sequence[Expression]) -> None:
        allowed = words if parts[0].kind is M else words[since:]
        if word_of(parts) not in allowed:
            raise QueryRefused(f"{what} {', '.join(allowed[:-1])} or {allowed[-1]}.")

    return check


def _check_written(parts: Sequence[Expression]) -> None:
    check_format(word_of(parts))


def _trunc(parts: tuple[Expression, ...]) -> Ends | None:
    return moved(lambda at: start_of(at, word_of(parts)))(parts)


def _starts(parts: tuple[Expression, ...]) -> tuple[Value, ...] | None:
    """All beginnings of stretches of time between the ends of what is cut to them."""
    ends, unit = _trunc(parts), word_of(parts)
    return None if ends is None or (parts[0].kind is D and unit == "day") else _listed_starts(*ends, unit)


@lru_cache(maxsize=16)
def _listed_starts(first: Any, last: Any, unit: str) -> tuple[Value, ...] | None:
    many = periods(last, unit) - periods(first, unit) + 1
    if many > MOST_VALUES:
        return None
    by = "month" if unit in BY_CALENDAR else "day" if type(first) is datetime.date else "microsecond"
    width = {"month": 1, "quarter": 3, "year": 12, "decade": 120}.get(unit) or PERIODS[unit] // PERIODS[by]
    return tuple(dict.fromkeys(start_of(shifted(first, place * width, by), unit) for place in range(many)))


def _shift(parts: tuple[Expression, ...]) -> Ends | None:
    """Bounds what is moved, where no value is moved out of the years that there are."""
    ends, many = parts[0].facts.between, numbers(parts[1])
    match ends, many:
        case (datetime.date() as first, datetime.date() as last), (low, high):
            unit = word_of(parts)
            if max(abs(low), abs(high)) > SHIFTS[unit]:
                return None
            shift = shifted(first, int(low.__ceil__()), unit), shifted(last, int(high.__floor__()), unit)
            return None if None in shift else shift
    return None


def _periods(parts: tuple[Expression, ...]) -> Ends | None:
    unit, kind = word_of(parts), parts[0].kind
    ends = moved(lambda at: Fraction(periods(at, unit)))(parts)
    last = datetime.datetime.max if kind is M else datetime.date.max
    return ends or (Fraction(0), Fraction(periods(last, unit)))


def _texts(parts: tuple[Expression, ...]) -> tuple[Value, ...] | None:
    """All texts that a format can give, where only days matter and these are bounded, or years do not matter."""
    form, ends = word_of(parts), parts[0].facts.between
    shown = {piece[:1] or "%" for piece in form.split("%")[1:]}
    if any(LETTERS.get(sign) == "time" for sign in shown):
        return None
    match ends:
        case (datetime.date() as first, datetime.date() as last):
            pass
        case _ if shown <= WITHOUT_YEAR:
            first, last = datetime.date(2000, 1, 1), datetime.date(2027, 12, 31)  # all months with all weekdays
        case _:
            return None
    return _listed_texts(first.toordinal(), last.toordinal(), form)


@lru_cache(maxsize=16)
def _listed_texts(first: int, last: int, form: str) -> tuple[Value, ...] | None:
    if last - first >= MOST_VALUES:
        return None
    days = map(datetime.date.fromordinal, range(first, last + 1))
    return tuple(dict.fromkeys(written(day, form) for day in days))


def _year(parts: tuple[Expression, ...]) -> Ends | None:
    return moved(lambda at: Fraction(at.year))(parts) or (Fraction(1), Fraction(9999))


def _iso_year(parts: tuple[Expression, ...]) -> Ends | None:
    return moved(lambda at: Fraction(at.isocalendar()[0]))(parts) or (Fraction(1), Fraction(9999))


def _part(part: Callable[[Any], int], low: int, high: int, within: Callable[[Any], object]) -> Rule:
    """Bounds a part of days or times: by all that there is, unless both ends lie in the same stretch."""

    def bounded(parts: tuple[Expression, ...]) -> Ends | None:
        match parts[0].facts.between:
            case (datetime.date() as first, datetime.date() as last) if within(first) == within(last):
                return Fraction(part(first)), Fraction(part(last))
        return Fraction(low), Fraction(high)

    return bounded


def _extracted(
    name: str, bounded: Rule, largest: int, word: str = "", result: Result = MOMENT, takes: str = A_MOMENT
) -> Operator:
    """Makes the operator that takes a part out of a moment."""
    text = f"EXTRACT({word or name.upper()} FROM {{0}})"
    return Operator(name, result, takes, 1, 1, range=bounded, largest=largest, text=text)


def _clock(name: str, most: int, within: Callable[[Any], object]) -> Operator:
    """Makes the operator that takes a part out of the time of day."""
    bounded = _part(lambda at: getattr(at, name), 0, most, within)
    return _extracted(name, bounded, most, "", fixed(I, M), "a time")


def _iso_week(at: Any) -> tuple[int, int]:
    return at.isocalendar()[:2]  # type: ignore[no-any-return]


register(
    _extracted("year", _year, 9999),
    _extracted("isoyear", _iso_year, 9999),
    _extracted("quarter", _part(lambda at: (at.month + 2) // 3, 1, 4, lambda at: at.year), 4),
    _extracted("month", _part(lambda at: at.month, 1, 12, lambda at: at.year), 12),
    _extracted("week", _part(lambda at: at.isocalendar()[1], 1, 53, lambda at: at.isocalendar()[0]), 53),
    _extracted("day", _part(lambda at: at.day, 1, 31, lambda at: (at.year, at.month)), 31),
    _extracted("dayofyear", _part(lambda at: at.timetuple().tm_yday, 1, 366, lambda at: at.year), 366, "DOY"),
    _extracted("weekday", _part(lambda at: at.isoweekday(), 1, 7, _iso_week), 7, "ISODOW"),
    _clock("hour", 23, lambda at: at.date()),
    _clock("minute", 59, lambda at: (at.date(), at.hour)),
    _clock("second", 59, lambda at: (at.date(), at.hour, at.minute)),
    Operator(
        "date_trunc", _cut_time, "a day or a time, and a word", 2, 2, range=_trunc, listed=_starts,
        constants=(1, 2), check=_check("date_trunc cuts to", *TIME_UNITS, since=DAYS_FROM),
        text="DATE_TRUNC({1}, {0})",
    ),
    Operator(
        "periods", _with_word(I), "a day or a time, and a word", 2, 2, range=_periods, constants=(1, 2), word=True,
        check=_check("DATE_DIFF counts in", *PERIODS, *BY_CALENDAR), largest=SHIFTS["microsecond"],
        text="DATE_DIFF({1}, DATE '0001-01-01', {0})",
    ),
    Operator(
        "shift", _moved, "a day or a time, a whole number and a word", 3, 3, sometimes, exact=True, range=_shift,
        constants=(2, 3), word=True, check=_check("a day is moved by", *reversed(SHIFTS), since=1),
        text="DATEADD({2}, {1}, {0})",
    ),
    Operator(
        "strftime", _with_word(T), "a day or a time, and a format", 2, 2, listed=_texts, constants=(1, 2),
        check=_check_written,
    ),
    Operator(
        "to_date", one_of(D, D, M, T), A_MOMENT, 1, 1, _unless_read,
        range=moved(lambda at: datetime.date(at.year, at.month, at.day)), text="CAST({0} AS DATE)",
    ),
    Operator(
        "to_time", one_of(M, D, M, T), A_MOMENT, 1, 1, _unless_read, text="CAST({0} AS TIMESTAMP)",
        range=moved(lambda at: datetime.datetime.combine(at, datetime.time.min) if type(at) is datetime.date else at),
    ),
)  # fmt: skip
