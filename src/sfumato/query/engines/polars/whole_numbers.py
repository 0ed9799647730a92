"""Whole numbers in Polars: exact beyond 64 bits, and missing where they do not fit."""

from __future__ import annotations

from collections.abc import Callable

import polars as pl

WIDE, WHOLE, FLOAT = pl.Int128(), pl.Int64(), pl.Float64()


def wide(value: pl.Expr) -> pl.Expr:
    """A whole number in 128 bits."""
    return value.cast(WIDE, strict=False)


def to_whole(value: pl.Expr) -> pl.Expr:
    """A whole number of any size in 64 bits; missing where it does not fit."""
    return value.cast(WHOLE, strict=False)


def negative(value: pl.Expr) -> pl.Expr:
    """A number with the other sign: to wide ones Polars can do nothing of that name."""
    return 0 - value


def rounded(value: pl.Expr) -> pl.Expr:
    """A float as a whole number of 64 bits, the even one of two; missing where none is."""
    return value.round(mode="half_to_even").cast(WHOLE, strict=False)


def finite(value: pl.Expr) -> pl.Expr:
    """A float, or missing where it is infinite or NaN."""
    return pl.when(value.is_finite()).then(value)


def towards_zero(dividend: pl.Expr, divisor: pl.Expr) -> pl.Expr:
    """A quotient of wide numbers without its fraction; missing where the divisor is 0."""
    quotient = dividend.abs() // pl.when(divisor != 0).then(divisor.abs())
    return pl.when((dividend < 0) == (divisor < 0)).then(quotient).otherwise(negative(quotient))


def int_div(dividend: pl.Expr, divisor: pl.Expr) -> pl.Expr:
    """The quotient of whole numbers, towards 0."""
    return to_whole(towards_zero(wide(dividend), wide(divisor)))


def remainder(dividend: pl.Expr, divisor: pl.Expr) -> pl.Expr:
    """What is left of whole numbers, with the sign of the dividend."""
    rest = wide(dividend).abs() % pl.when(divisor != 0).then(wide(divisor).abs())
    return to_whole(pl.when(dividend < 0).then(negative(rest)).otherwise(rest))


def sign(value: pl.Expr) -> pl.Expr:
    """The sign of a number: -1, 0 or 1."""
    return (value > 0).cast(WHOLE) - (value < 0).cast(WHOLE)


def quotient(left: pl.Expr, right: pl.Expr) -> pl.Expr:
    """A quotient of floats, rounded once. To Polars, dividing by one number for all rows is to multiply by its inverse,
    which rounds twice, unless there is one row: so every row gets a divisor of its own."""
    return left / (right + left * 0.0)


ARITHMETIC: dict[str, Callable[..., pl.Expr]] = {
    "neg": lambda value: negative(value),
    "abs": lambda value: value.abs(),
    "add": lambda left, right: left + right,
    "sub": lambda left, right: left - right,
    "mul": lambda left, right: left * right,
    "div": quotient,
}
"""Arithmetic on numbers that are known to have room for what it gives."""


def in_wide(operator: str) -> Callable[..., pl.Expr]:
    """Arithmetic on whole numbers that is exact beyond 64 bits, and missing where the result does not fit."""
    return lambda *values: to_whole(ARITHMETIC[operator](*map(wide, values)))


def clamped(value: pl.Expr, low: pl.Expr, high: pl.Expr) -> pl.Expr:
    """A number moved into bounds; missing where a bound is."""
    inside = pl.when(value < low).then(low).when(value > high).then(high).otherwise(value)
    return pl.when(low.is_not_null() & high.is_not_null()).then(inside)
