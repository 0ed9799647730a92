"""Reading columns of Polars: from whatever type a column has to the kind and the domain that its codebook states.

The first table of docs/semantics.md. A value that is none of the kind becomes missing; a type of which no value could
be one is refused when a source is opened. Times and decimals are read as the whole numbers that they are held as:
casts of Polars raise for some of them, wrap around for others, and cut decimals off.
"""

from __future__ import annotations

import datetime
from fractions import Fraction

import polars as pl

from sfumato.query.engines.inputs.python_values import UNREADABLE
from sfumato.query.engines.polars.expressions import among
from sfumato.query.engines.polars.moments import A_DAY, of_days, of_microseconds, to_date, to_time
from sfumato.query.engines.polars.scope import TYPES, Piece, Scope, typed
from sfumato.query.engines.polars.text_reading import is_missing_word, of_text
from sfumato.query.engines.polars.texts import short
from sfumato.query.engines.polars.whole_numbers import clamped, finite, rounded, to_whole
from sfumato.query.engines.sizes import enforced
from sfumato.query.nodes.facts import Facts
from sfumato.query.nodes.kinds import LEAST_INT, MOST_INT, Kind, kind_of

LEAST, MOST = Fraction(LEAST_INT), Fraction(MOST_INT)


def is_text(held: pl.DataType) -> bool:
    """Tells whether a type of Polars holds texts."""
    return isinstance(held, pl.String | pl.Categorical | pl.Enum)


def readable(kind: Kind, held: pl.DataType) -> bool:
    """Tells whether a value of a type can be read as a kind."""
    if is_text(held):
        return True
    match kind:
        case Kind.INT | Kind.FLOAT:
            return held.is_numeric()
        case Kind.BOOL:
            return isinstance(held, pl.Boolean)
        case Kind.DATE | Kind.TIME:
            return isinstance(held, pl.Date | pl.Datetime)
    return False


def text_in(held: pl.DataType, raw: Piece, scope: Scope) -> Piece:
    """The text of a value, for types that hold texts."""
    return raw if isinstance(held, pl.String) else scope.fill(lambda one: one.cast(pl.String), raw, times=1)


def as_kind(
    raw: Piece, held: pl.DataType, kind: Kind, scope: Scope, written: str = "", *, loose: bool = False
) -> Piece:
    """Reads a column as values of a kind, before any bounds; ``loose`` texts stand for values of Python."""
    if is_text(held):
        text = text_in(held, raw, scope)
        if kind is not Kind.TEXT:
            return of_text(text, kind, scope, written)
        return scope.fill(_readable, text) if loose else text
    if kind is Kind.INT:
        return _whole(raw, held, scope)
    if kind is Kind.FLOAT:
        parsed = as_float(raw, held, scope)
        return scope.fill(finite, parsed) if held.is_float() else parsed
    return _moment(raw, held, kind, scope) if kind.temporal else raw


def _readable(text: pl.Expr) -> pl.Expr:
    """What is not marked as a value that no text can hold."""
    return pl.when(~text.str.starts_with(UNREADABLE)).then(text)


def _whole(raw: Piece, held: pl.DataType, scope: Scope) -> Piece:
    if isinstance(held, pl.Decimal):
        return scope.fill(lambda number: to_whole(_rounded_steps(steps_of(number, held), held.scale)), raw, times=12)
    if held.is_float():
        return scope.fill(lambda number: rounded(number.cast(pl.Float64)), raw, times=1)
    return raw if held == TYPES[Kind.INT] else scope.fill(to_whole, raw, times=1)


def as_float(raw: Piece, held: pl.DataType, scope: Scope) -> Piece:
    """Numbers as floats, each rounded once; they may be infinite, or NaN."""
    if isinstance(held, pl.Decimal):  # Polars rounds twice; texts are rounded once

        def make(number: pl.Expr) -> pl.Expr:
            return pl.when(steps_of(number, held).is_not_null()).then(number).cast(pl.String).cast(pl.Float64)

        return scope.fill(make, raw, times=3)
    return raw if held == TYPES[Kind.FLOAT] else scope.fill(lambda one: one.cast(pl.Float64), raw, times=1)


def steps_of(number: pl.Expr, held: pl.Decimal) -> pl.Expr:
    """A decimal as a whole number of its last places; missing where it has more digits than its type."""
    steps, most = number.to_physical().cast(pl.Int128), 10**held.precision - 1
    return pl.when(steps.is_between(pl.lit(-most, dtype=pl.Int128), pl.lit(most, dtype=pl.Int128))).then(steps)


def _rounded_steps(steps: pl.Expr, places: int) -> pl.Expr:
    if not places:
        return steps
    by = pl.lit(10**places, dtype=pl.Int128)
    whole, rest = steps // by, steps % by
    up = (rest > by - rest) | ((rest == by - rest) & (whole % 2 == 1))
    return whole + up.cast(pl.Int128)


def microseconds(raw: pl.Expr, held: pl.DataType) -> pl.Expr:
    """A day or a time as microseconds since 1970, in UTC; missing where these do not fit into 64 bits."""
    number = raw.to_physical().cast(pl.Int64)
    if isinstance(held, pl.Date):
        return number * A_DAY
    unit = held.time_unit if isinstance(held, pl.Datetime) else "us"
    if unit == "ns":
        return _from_nanoseconds(number.cast(pl.Int128))
    return number if unit == "us" else to_whole(number.cast(pl.Int128) * 1000)


def _from_nanoseconds(number: pl.Expr) -> pl.Expr:
    """Nanoseconds as microseconds, halves away from 0; the largest number is no time: to others it is infinity."""
    size = (number.abs() + 500) // 1000
    signed = pl.when(number < 0).then(0 - size).otherwise(size)
    return pl.when(number.abs() != MOST_INT).then(to_whole(signed))


def _moment(raw: Piece, held: pl.DataType, kind: Kind, scope: Scope) -> Piece:
    if isinstance(held, pl.Date):
        day = scope.fill(lambda one: of_days(one.to_physical().cast(pl.Int64)), raw)
        return day if kind is Kind.DATE else scope.fill(lambda one: to_time(one, Kind.DATE), day)
    time = scope.fill(lambda one: of_microseconds(microseconds(one, held)), raw)
    return time if kind is Kind.TIME else scope.fill(lambda one: to_date(one, Kind.TIME), time, times=3)


def read(raw: Piece, held: pl.DataType, kind: Kind, facts: Facts, scope: Scope, *, loose: bool = False) -> Piece:
    """Reads a column of a type of Polars as its codebook describes it."""
    if kind is Kind.FLOAT and facts.keys is None and not is_text(held):
        return _bounded_float(as_float(raw, held, scope), facts, scope)
    value = as_kind(raw, held, kind, scope, facts.written, loose=loose)
    if facts.keys is not None:
        listed = [key for key in facts.keys if kind_of(key) is kind or (kind_of(key), kind) == (Kind.INT, Kind.FLOAT)]
        value = scope.named(value)
        return scope.fill(lambda there, one: pl.when(there).then(one), among(value, listed, kind, scope), value)
    match kind:
        case Kind.FLOAT:
            return _bounded_float(value, facts, scope)
        case Kind.INT:
            ends = enforced(kind, facts)
            if ends is None:
                return _half_bounded(value, facts, scope)
            low, high = (typed(end, kind) for end in ends)
            return scope.fill(lambda number: number.clip(low, high), value, times=1)
        case Kind.TEXT:
            return scope.fill(short, value, times=3)
        case Kind.DATE | Kind.TIME:
            return _within(value, kind, facts, scope)
    return value


def _bounded_float(parsed: Piece, facts: Facts, scope: Scope) -> Piece:
    """A float in its bounds, with a zero that has no sign; missing where it is infinite or NaN."""
    ends = enforced(Kind.FLOAT, facts)
    if ends is None:
        return scope.fill(lambda number: finite(number + 0.0), parsed)
    low, high = (typed(end, Kind.FLOAT) for end in ends)
    return scope.fill(lambda number: pl.when(number.is_finite()).then(number.clip(low, high) + 0.0), parsed)


def _half_bounded(value: Piece, facts: Facts, scope: Scope) -> Piece:
    """A whole number in bounds of which one may be infinite."""
    match facts.between:
        case (low, high) if not isinstance(low, datetime.date) and not isinstance(high, datetime.date):
            ends = enforced(Kind.INT, Facts((max(low, LEAST), min(high, MOST))))
            if ends is not None:
                least, most = (typed(end, Kind.INT) for end in ends)
                return scope.fill(clamped, value, Piece(least), Piece(most), times=3)
    return value


def _within(value: Piece, kind: Kind, facts: Facts, scope: Scope) -> Piece:
    """Days and times within the bounds of the codebook; others are missing."""
    match facts.between:
        case (datetime.date() as first, datetime.date() as last):
            ends = [Piece(typed(end, kind)) for end in (first, last)]
            return scope.fill(lambda one, low, high: pl.when(one.is_between(low, high)).then(one), value, *ends)
    return value


def is_value(raw: Piece, held: pl.DataType, kind: Kind, scope: Scope) -> Piece:
    """Tells whether something is held that should read as a value: neither missing nor NaN nor a word for missing."""
    if held.is_float():
        return scope.fill(lambda number: number.is_not_nan().fill_null(False), raw)
    if is_text(held) and kind is not Kind.TEXT:
        return scope.fill(lambda one: (~is_missing_word(one)).fill_null(False), text_in(held, raw, scope), times=1)
    return scope.fill(lambda one: one.is_not_null(), raw, times=1)
