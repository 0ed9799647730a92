"""Days and times in Polars: worked out on whole numbers where Polars would raise, wrap around or leave all years."""

from __future__ import annotations

import datetime
from collections.abc import Callable

import polars as pl

from sfumato.query.nodes.kinds import FIRST_DAY, LAST_DAY, Kind
from sfumato.query.nodes.operators.time import PERIODS, SHIFTS

DATE, TIME, WHOLE = pl.Date(), pl.Datetime("us"), pl.Int64()

SINCE_1970 = 62_135_596_800_000_000
"""The microseconds from the beginning of the year 1 to that of 1970."""

A_DAY = PERIODS["day"]
EPOCH = datetime.date(1970, 1, 1)
DAYS = ((FIRST_DAY - EPOCH).days, (LAST_DAY - EPOCH).days)
MOMENTS = (DAYS[0] * A_DAY, (DAYS[1] + 1) * A_DAY - 1)
"""The first and the last day, and moment, that there are, since 1970."""

TRUNCATED = {"second": "1s", "minute": "1m", "hour": "1h", "day": "1d", "week": "1w", "month": "1mo"}
TRUNCATED |= {"quarter": "1q", "year": "1y"}


def number(moment: pl.Expr) -> pl.Expr:
    """A day or a time as it is held: days or microseconds since 1970."""
    return moment.to_physical().cast(WHOLE)


def of_days(days: pl.Expr) -> pl.Expr:
    """Days since 1970 as a day; missing outside of all years."""
    return pl.when(days.is_between(*DAYS)).then(days).cast(pl.Int32).cast(DATE)


def of_microseconds(since: pl.Expr) -> pl.Expr:
    """Microseconds since 1970 as a time; missing outside of all years."""
    return pl.when(since.is_between(*MOMENTS)).then(since).cast(TIME)


def to_time(moment: pl.Expr, kind: Kind) -> pl.Expr:
    """A day as its midnight; a time as it is."""
    return of_microseconds(number(moment) * A_DAY) if kind is Kind.DATE else moment


def to_date(moment: pl.Expr, kind: Kind) -> pl.Expr:
    """The day of a time; a day as it is."""
    return of_days(number(moment) // A_DAY) if kind is Kind.TIME else moment


def truncated(moment: pl.Expr, word: str, kind: Kind) -> pl.Expr:
    """The start of the stretch of time that a moment lies in; nothing lies before the first year."""
    if word != "decade":
        return moment.dt.truncate(TRUNCATED[word])
    year = moment.dt.year().cast(WHOLE)
    day = of_days(days_of(pl.when(year < 10).then(1).otherwise(year // 10 * 10), pl.lit(1), pl.lit(1)))
    return to_time(day, Kind.DATE) if kind is Kind.TIME else day


def days_of(year: pl.Expr, month: pl.Expr, day: pl.Expr) -> pl.Expr:
    """The days from 1970 to a day of the calendar, worked out from its numbers: nothing is looked up or refused."""
    year, month, day = (part.cast(WHOLE) for part in (year, month, day))
    counted = pl.when(month <= 2).then(year - 1).otherwise(year)  # years that begin in March
    of_year = (153 * ((month + 9) % 12) + 2) // 5 + day - 1
    return counted * 365 + counted // 4 - counted // 100 + counted // 400 + of_year - 719_468


def length_of_month(year: pl.Expr, month: pl.Expr) -> pl.Expr:
    """How many days a month has."""
    leap = (year % 4 == 0) & ((year % 100 != 0) | (year % 400 == 0))
    february = pl.when(leap).then(29).otherwise(28)
    return pl.when(month == 2).then(february).when(month.is_in([4, 6, 9, 11])).then(30).otherwise(31).cast(WHOLE)


def shifted(moment: pl.Expr, many: pl.Expr, unit: str, kind: Kind) -> pl.Expr:
    """A moment that is moved; missing where it leaves the years that there are."""
    many = pl.when(many.is_between(-SHIFTS[unit], SHIFTS[unit])).then(many)
    if unit == "month":
        return _by_months(moment, many, kind)
    if kind is Kind.DATE:
        return of_days(number(moment) + many)
    return of_microseconds(number(moment) + many * PERIODS[unit])


def _by_months(moment: pl.Expr, many: pl.Expr, kind: Kind) -> pl.Expr:
    months = moment.dt.year().cast(WHOLE) * 12 + moment.dt.month().cast(WHOLE) - 1 + many
    year, month = months // 12, months % 12 + 1
    day = pl.min_horizontal(moment.dt.day().cast(WHOLE), length_of_month(year, month))
    days = pl.when(year.is_between(1, 9999)).then(days_of(year, month, day))
    if kind is Kind.DATE:
        return of_days(days)
    return of_microseconds(days * A_DAY + number(moment) % A_DAY)


def periods(moment: pl.Expr, unit: str, kind: Kind) -> pl.Expr:
    """How many such stretches of time have begun since the beginning of the year 1."""
    year, month = moment.dt.year().cast(WHOLE), moment.dt.month().cast(WHOLE)
    match unit:
        case "month" | "quarter":
            return ((year - 1) * 12 + month - 1) // (3 if unit == "quarter" else 1)
        case "year":
            return year - 1
        case "decade":
            return year // 10
    since = number(moment) * A_DAY if kind is Kind.DATE else number(moment)
    return (since + SINCE_1970) // PERIODS[unit]


def formatted(moment: pl.Expr, form: str, kind: Kind) -> pl.Expr:
    """A moment in a format, in English. Some formats without a sign are words of Polars."""
    letters = form.split("%%")
    if not any("%" in part for part in letters):
        return pl.when(moment.is_not_null()).then(pl.lit("%".join(letters), dtype=pl.String))
    return to_time(moment, kind).dt.strftime("%%".join(part.replace("%f", "%6f") for part in letters))


def to_text(moment: pl.Expr, kind: Kind) -> pl.Expr:
    """A day or a time as in ISO 8601, without zeros at the end of fractions of a second."""
    if kind is Kind.DATE:
        return moment.dt.strftime("%Y-%m-%d")
    fine = moment.dt.strftime("%Y-%m-%d %H:%M:%S%.6f").str.strip_chars_end("0")
    return pl.when(number(moment) % 1_000_000 == 0).then(moment.dt.strftime("%Y-%m-%d %H:%M:%S")).otherwise(fine)


def _part(name: str) -> Callable[[pl.Expr], pl.Expr]:
    return lambda moment: getattr(moment.dt, name)().cast(WHOLE)


PARTS: dict[str, Callable[[pl.Expr], pl.Expr]] = {
    **{name: _part(name) for name in ("year", "quarter", "month", "week", "day", "weekday")},
    **{name: _part(name) for name in ("hour", "minute", "second")},
    "isoyear": _part("iso_year"),
    "dayofyear": _part("ordinal_day"),
}
"""Parts of days and times."""
