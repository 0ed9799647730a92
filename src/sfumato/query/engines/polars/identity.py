"""Who owns a row, in Polars: ids and keys are compared as the source holds them, exactly, before anything is read.

Columns of one type are compared in that type. Where two tables hold ids in different types, both are written as texts
that are equal for equal values only. Which of the two it is depends on types alone: the same rows of a unit are kept
whatever anybody else's id is.
"""

from __future__ import annotations

from collections.abc import Iterable

import polars as pl

from sfumato.query.engines.inputs.python_values import UNREADABLE
from sfumato.query.engines.polars.moments import A_DAY, of_microseconds, to_text
from sfumato.query.engines.polars.reading import is_text, steps_of, text_in
from sfumato.query.engines.polars.scope import Piece, Scope
from sfumato.query.engines.polars.text_reading import exact_number, is_missing_word, moment_of, trimmed
from sfumato.query.nodes.kinds import Kind

TEXT, WHOLE, WIDE, FLOAT = pl.String(), pl.Int64(), pl.Int128(), pl.Float64()
WIDEST = 2.0**127

BY_ITSELF = "?"
"""The mark before a text that names nothing of its kind: what it looks like may be another's name."""

NANOSECONDS = {"ms": 1_000_000, "us": 1000, "ns": 1}


def form(kind: Kind, held: pl.DataType) -> pl.DataType:
    """The type in which values of a type are compared with one another, exactly."""
    if is_text(held) or kind is Kind.TEXT:
        return TEXT
    if held.is_integer():
        return TEXT if held == pl.UInt128() else WIDE if held in (pl.UInt64(), pl.Int128()) else WHOLE
    return FLOAT if held.is_float() else held


def common(forms: Iterable[pl.DataType]) -> pl.DataType:
    """The type in which values of several forms are compared: one of theirs, or texts."""
    different = set(forms)
    if len(different) == 1:
        return different.pop()
    return WIDE if different == {WHOLE, WIDE} else TEXT


def identity(
    raw: Piece, held: pl.DataType, kind: Kind, wanted: pl.DataType, scope: Scope, written: str = "", *, loose: bool
) -> Piece:
    """An id or a key in a form: uncut, unrounded and unhashed; two are one exactly if they are equal.

    A hash would take two people for one where it collides, and removing one of them would then change what is kept of
    the other.
    """
    if wanted == TEXT:
        return _as_text(raw, held, kind, scope, written, loose=loose)
    if wanted == FLOAT:  # NaN is missing, and the zero has no sign
        return scope.fill(lambda one: pl.when(one.is_not_nan()).then(one.cast(FLOAT) + 0.0), raw)
    if isinstance(held, pl.Decimal):  # what has more digits than the type allows is nobody's
        return scope.fill(lambda one: steps_of(one, held), raw, times=2)
    return raw if wanted == held else scope.fill(lambda one: one.cast(wanted), raw, times=1)


def _as_text(raw: Piece, held: pl.DataType, kind: Kind, scope: Scope, written: str, *, loose: bool) -> Piece:
    if is_text(held):
        text = text_in(held, raw, scope)
        if kind is not Kind.TEXT:
            return named_text(text, kind, scope, written)
        return scope.fill(_somebody, text) if loose else text
    if held.is_float():
        return _of_float(raw, scope)
    if isinstance(held, pl.Decimal):

        def shown(number: pl.Expr) -> pl.Expr:
            return pl.when(steps_of(number, held).is_not_null()).then(number.cast(pl.String))

        return exact_number(scope.named(scope.fill(shown, raw, times=3)), scope)
    if isinstance(held, pl.Date | pl.Datetime):
        return scope.fill(lambda moment: _of_moment(moment, held), raw, times=8)
    return scope.fill(lambda one: one.cast(pl.String), raw, times=1)


def _somebody(text: pl.Expr) -> pl.Expr:
    """A text, unless it stands for a value of Python that nobody can name."""
    return pl.when(text != UNREADABLE).then(text)


def _of_moment(raw: pl.Expr, held: pl.Date | pl.Datetime) -> pl.Expr:
    """The text of a moment in microseconds; of any other, how many units it is away from 1970, behind a mark."""
    number = raw.to_physical().cast(pl.Int64)
    unit, wide = "us", number.cast(pl.Int128)
    if isinstance(held, pl.Date):
        since = wide * A_DAY
    else:
        unit = held.time_unit
        since = wide * 1000 if unit == "ms" else wide if unit == "us" else wide // 1000
    moment = of_microseconds(since.cast(pl.Int64, strict=False))
    text = to_text(moment, Kind.TIME)
    plain = moment.is_not_null() & (number % 1000 == 0) if unit == "ns" else moment.is_not_null()
    scale = A_DAY * 1000 if isinstance(held, pl.Date) else NANOSECONDS[unit]
    return pl.when(plain).then(text).when(raw.is_not_null()).then(BY_ITSELF + (wide * scale).cast(pl.String))


def named_text(text: Piece, kind: Kind, scope: Scope, written: str) -> Piece:
    """The text that names what a text of a kind holds: the exact number or moment; or the text, if it is none."""
    bare = trimmed(text, kind, scope, written)
    if kind.numeric:
        exact = exact_number(bare, scope)
    elif kind.temporal:
        moment = moment_of(bare, scope, written)

        def named(bare: pl.Expr, moment: pl.Expr) -> pl.Expr:
            return pl.when(~bare.str.contains("[.][0-9]{7}")).then(to_text(moment, Kind.TIME))

        exact = scope.fill(named, bare, moment, times=4)
    else:
        exact = scope.fill(lambda one: one.str.to_lowercase(), bare, times=1)

    def somebody(exact: pl.Expr, text: pl.Expr) -> pl.Expr:
        kept = BY_ITSELF + _somebody(text)
        return pl.when(~is_missing_word(text)).then(pl.coalesce(exact, kept))

    return scope.fill(somebody, scope.named(exact), text, times=3)


def _of_float(raw: Piece, scope: Scope) -> Piece:
    """The text of a float: of a whole number all of its digits, of another the shortest that read back."""

    def shown(one: pl.Expr) -> pl.Expr:
        number = one.cast(FLOAT)
        whole = (number == number.floor()) & (number.abs() < WIDEST)
        digits = number.cast(pl.Int128, strict=False).cast(pl.String)
        return pl.when(number.is_not_nan()).then(pl.when(whole).then(digits).otherwise(number.cast(pl.String)))

    text = scope.named(scope.fill(shown, raw, times=5))
    return scope.fill(lambda exact, text: pl.coalesce(exact, text), exact_number(text, scope), text, times=1)
