"""Expressions in Polars, with exactly the meaning that docs/semantics.md gives them, total for every value.

No operation raises, and none leaves it to a branch of a choice whether an operand suits it. Whole numbers are added up
in 64 bits where bounds that the plan itself enforces prove that the result fits, and otherwise in 128.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import reduce
from typing import Any

import numpy as np
import polars as pl

from sfumato.query.engines.operands import MAY_BE_INFINITE, PASSES_MISSING, common_kind, operand_kind
from sfumato.query.engines.polars.moments import (
    PARTS,
    formatted,
    periods,
    shifted,
    to_date,
    to_text,
    to_time,
    truncated,
)
from sfumato.query.engines.polars.scope import TYPES, Piece, Scope, bound, typed
from sfumato.query.engines.polars.text_reading import of_text
from sfumato.query.engines.polars.texts import OF_EXPRESSIONS, WITH_CONSTANTS
from sfumato.query.engines.polars.whole_numbers import (
    ARITHMETIC,
    clamped,
    finite,
    in_wide,
    int_div,
    remainder,
    rounded,
    sign,
)
from sfumato.query.engines.sizes import MODEST, is_within, largest
from sfumato.query.nodes.expressions import Call, Column, Expression, Literal
from sfumato.query.nodes.kinds import MOST_INT, Kind, Value
from sfumato.query.nodes.operators import is_missing

MANY = 8
"""More operands than these are joined pair by pair, so that none lies deep."""

COMPARED: dict[str, Callable[[pl.Expr, pl.Expr], pl.Expr]] = {
    "eq": lambda left, right: left == right,
    "ne": lambda left, right: left != right,
    "lt": lambda left, right: left < right,
    "le": lambda left, right: left <= right,
    "gt": lambda left, right: left > right,
    "ge": lambda left, right: left >= right,
}


def _within(condition: pl.Expr, value: pl.Expr) -> pl.Expr:
    return pl.when(condition).then(value)


def _log10(value: pl.Expr) -> pl.Expr:
    """The logarithm to the base 10, where it is whole without an error in its last bit."""
    made = value.log10()
    whole = made.round()
    return pl.when(pl.lit(10.0).pow(whole) == value).then(whole).otherwise(made)


def _by_pairs(function: Callable[[Any, Any], Any]) -> Callable[[pl.Expr, pl.Expr], pl.Expr]:
    """A function of NumPy of two floats, in place of one of Polars of which the result is rounded on the way, or hangs
    on whether a row is alone: Polars raises a single row to a power as if the exponent were the same for all."""

    def of_rows(both: pl.Series) -> pl.Series:
        left, right = (both.struct.field(name) for name in ("left", "right"))
        there = (left.is_not_null() & right.is_not_null()).to_numpy()
        # Two rows more, with different numbers: NumPy, too, treats what is the same for all rows in a way of its own.
        rows = [np.append(one.fill_null(1.0).to_numpy(), (1.0, 2.0)) for one in (left, right)]
        with np.errstate(all="ignore"):
            made = function(*rows)[:-2]
        nothing = pl.Series([None], dtype=pl.Float64())
        return pl.Series(both.name, made, dtype=pl.Float64()).zip_with(pl.Series(there), nothing)

    def apply(left: pl.Expr, right: pl.Expr) -> pl.Expr:
        both = pl.struct(left.alias("left"), right.alias("right"))
        return both.map_batches(of_rows, return_dtype=pl.Float64(), is_elementwise=True)

    return apply


_float_mod = _by_pairs(lambda left, right: np.fmod(left, np.where(right == 0, np.nan, right)))


FUNCTIONS: dict[str, Callable[..., pl.Expr]] = {
    "sqrt": lambda value: _within(value >= 0, value).sqrt(),
    "ln": lambda value: _within(value > 0, value).log(),
    "log10": lambda value: _log10(_within(value > 0, value)),
    "log2": lambda value: _within(value > 0, value).log(2),
    "exp": lambda value: value.exp(),
    "power": _by_pairs(np.power),
    "sin": lambda value: value.sin(),
    "cos": lambda value: value.cos(),
    "tan": lambda value: value.tan(),
    "asin": lambda value: _within(value.abs() <= 1, value).arcsin(),
    "acos": lambda value: _within(value.abs() <= 1, value).arccos(),
    "atan": lambda value: value.arctan(),
    "sinh": lambda value: value.sinh(),
    "cosh": lambda value: value.cosh(),
    "tanh": lambda value: value.tanh(),
    # −0.0 is 0.0, and has no angle of its own.
    "atan2": lambda height, width: pl.arctan2(height + 0.0, width + 0.0),
}
WHOLE: dict[str, Callable[[pl.Expr], pl.Expr]] = {
    "floor": lambda value: value.floor(),
    "ceil": lambda value: value.ceil(),
    "round": lambda value: value,
    "to_int": lambda value: value,
    "trunc": lambda value: pl.when(value < 0).then(value.ceil()).otherwise(value.floor()),
}
"""What makes a float whole, before it is rounded to one of 64 bits."""


def _nullif(left: pl.Expr, right: pl.Expr) -> pl.Expr:
    return pl.when(left == right).then(None).otherwise(left)


def _smaller(left: pl.Expr, right: pl.Expr) -> pl.Expr:
    return pl.when(right.is_null() | (left <= right)).then(left).otherwise(right)


def _greater(left: pl.Expr, right: pl.Expr) -> pl.Expr:
    return pl.when(right.is_null() | (left >= right)).then(left).otherwise(right)


PAIRED: dict[str, Callable[[pl.Expr, pl.Expr], pl.Expr]] = {
    "and": lambda left, right: left & right,
    "or": lambda left, right: left | right,
    "least": _smaller,
    "greatest": _greater,
    "coalesce": lambda left, right: pl.coalesce(left, right),
}
"""Operations on any number of operands, two by two."""

PLAIN: dict[str, Callable[..., pl.Expr]] = {
    **COMPARED,
    **OF_EXPRESSIONS,
    **PARTS,
    "not": lambda value: ~value,
    "is_null": lambda value: value.is_null(),
    "nullif": _nullif,
    "sign": sign,
    "int_div": int_div,
    "to_bool": lambda value: value != 0,
}
"""Operations that their operands simply fill."""


def value(expression: Expression, scope: Scope) -> Piece:
    """The expression of Polars for an expression."""
    if id(expression) not in scope.made:
        scope.kept.append(expression)
        scope.made[id(expression)] = _value(expression, scope)
    return scope.made[id(expression)]


def _value(expression: Expression, scope: Scope) -> Piece:
    match expression:
        case Column(name):
            return Piece(pl.col(scope.columns[name]))
        case Literal(held, kind):
            return bound(held, kind)
        case Call("case", parts):
            return _chosen(parts, expression.kind, scope)
        case Call("in", parts):
            kind = common_kind(parts)
            listed = [part.value for part in parts[1:] if isinstance(part, Literal)]
            return among(cast(parts[0], kind, scope), listed, kind, scope)
        case Call():
            return _called(expression, scope)
    raise TypeError(expression)


def _called(call: Call, scope: Scope) -> Piece:
    kind, usual, operator = operand_kind(call), common_kind(call.parts), call.operator
    if operator not in PASSES_MISSING and any(map(is_missing, call.parts)):
        return bound(None, call.kind)
    if operator in WITH_CONSTANTS:
        constants = [part.value for part in call.parts[1:] if isinstance(part, Literal)]
        text = value(call.parts[0], scope)
        return scope.fill(lambda one: WITH_CONSTANTS[operator](one, *constants), text, times=4)
    if call.parts[0].kind.temporal and (made := _of_moments(call, scope)) is not None:
        return made
    pieces = [cast(part, kind or (usual if is_missing(part) else part.kind), scope) for part in call.parts]
    if operator in PAIRED:
        if operator in ("least", "greatest", "coalesce"):  # which pass over what is missing
            pieces = [piece for piece in pieces if not piece.missing] or pieces[:1]
        return _paired(PAIRED[operator], pieces, scope)
    if operator in ("to_int", "to_float", "to_bool", "to_date", "to_time") and call.parts[0].kind is Kind.TEXT:
        return of_text(pieces[0], call.kind, scope)
    if call.kind.numeric and (operator in ARITHMETIC or operator in ("mod", "clamp")):
        return _arithmetic(call, pieces, scope)
    return _converted(call, pieces, scope)


def _converted(call: Call, pieces: Sequence[Piece], scope: Scope) -> Piece:
    held, operator = call.parts[0].kind, call.operator
    if operator in WHOLE:
        if held is Kind.FLOAT:
            return scope.fill(lambda number: rounded(WHOLE[operator](number)), *pieces, times=3)
        return scope.fill(lambda number: number.cast(TYPES[Kind.INT]), *pieces, times=1)
    if operator == "to_float":
        return scope.fill(lambda number: number.cast(TYPES[Kind.FLOAT]), *pieces, times=1)
    if operator in ("to_bool", "to_text") and held is call.kind:
        return pieces[0]
    if operator == "to_text" and held is Kind.BOOL:
        words = (pl.lit(word, dtype=pl.String) for word in ("true", "false"))
        yes, no = words
        return scope.fill(lambda one: pl.when(one).then(yes).when(~one).then(no), *pieces)
    if operator == "to_text":
        return scope.fill(lambda number: number.cast(pl.String), *pieces, times=1)
    if operator in FUNCTIONS:
        made = scope.fill(FUNCTIONS[operator], *pieces)
        return scope.fill(finite, made) if operator in MAY_BE_INFINITE else made
    return scope.fill(PLAIN[operator], *pieces, times=4)


def _of_moments(call: Call, scope: Scope) -> Piece | None:
    """An operation on days and times; None where it is one on any values."""
    moment, kind = value(call.parts[0], scope), call.parts[0].kind
    word = call.parts[-1].value if isinstance(call.parts[-1], Literal) else None
    made: Callable[..., pl.Expr]
    match call.operator, word:
        case "date_trunc", str():
            made = lambda when: truncated(when, word, kind)  # noqa: E731
        case "periods", str():
            made = lambda when: periods(when, word, kind)  # noqa: E731
        case "strftime", str():
            made = lambda when: formatted(when, word, kind)  # noqa: E731
        case "shift", str():
            many = scope.named(value(call.parts[1], scope))
            return scope.fill(lambda when, by: shifted(when, by, word, kind), scope.named(moment), many, times=12)
        case "to_date" | "to_time" | "to_text", _:
            of = {"to_date": to_date, "to_time": to_time, "to_text": to_text}[call.operator]
            made = lambda when: of(when, kind)  # noqa: E731
        case "sub", _:
            days = [cast(part, Kind.DATE, scope) for part in call.parts]
            return scope.fill(_days_between, *days)
        case _:
            return None
    return scope.fill(made, moment, times=4)


def _days_between(left: pl.Expr, right: pl.Expr) -> pl.Expr:
    return left.to_physical().cast(pl.Int64) - right.to_physical().cast(pl.Int64)


def _paired(join: Callable[[pl.Expr, pl.Expr], pl.Expr], pieces: Sequence[Piece], scope: Scope) -> Piece:
    """Joins operands: few of them from the left, many pair by pair, so that the order stays and none lies deep."""
    if len(pieces) > MANY:
        half = len(pieces) // 2
        pieces = [_paired(join, pieces[:half], scope), _paired(join, pieces[half:], scope)]
    return reduce(lambda left, right: scope.fill(join, left, right), pieces)


def _arithmetic(call: Call, pieces: Sequence[Piece], scope: Scope) -> Piece:
    operator = call.operator
    if operator == "clamp":
        return pieces[0] if is_within(call, scope) else scope.fill(clamped, *pieces, times=3)
    if operator == "mod":
        return scope.fill(remainder, *pieces) if call.kind is Kind.INT else _finite(_float_mod, pieces, scope)
    most = largest(call, scope)
    if call.kind is Kind.INT:
        fits = most is not None and most <= MOST_INT
        return scope.fill(ARITHMETIC[operator] if fits else in_wide(operator), *pieces, times=1)
    if most is not None and most < MODEST:
        return scope.fill(ARITHMETIC[operator], *pieces, times=1)
    return _finite(ARITHMETIC[operator], pieces, scope)


def _finite(make: Callable[..., pl.Expr], pieces: Sequence[Piece], scope: Scope) -> Piece:
    return scope.fill(finite, scope.fill(make, *pieces, times=1))


def _chosen(parts: tuple[Expression, ...], kind: Kind, scope: Scope) -> Piece:
    pieces = [cast(part, Kind.BOOL if place % 2 == 0 else kind, scope) for place, part in enumerate(parts[:-1])]
    pieces = _reached([*pieces, cast(parts[-1], kind, scope)])
    if len(pieces) == 1:
        return pieces[0]

    def make(*made: pl.Expr) -> pl.Expr:
        chain: Any = pl
        for place in range(0, len(made) - 1, 2):
            chain = chain.when(made[place]).then(made[place + 1])
        chosen: pl.Expr = chain.otherwise(made[-1])
        return chosen

    return scope.fill(make, *pieces, times=1)


def _reached(pieces: list[Piece]) -> list[Piece]:
    """A choice without conditions that are constants, and with nothing behind one that is true."""
    kept: list[Piece] = []
    for condition, chosen in zip(pieces[0:-1:2], pieces[1::2], strict=True):
        if not condition.constant:
            kept += [condition, chosen]
        elif pl.select(condition.made).item():
            return [*kept, chosen]
    return [*kept, pieces[-1]]


def cast(part: Expression, kind: Kind, scope: Scope) -> Piece:
    """An expression as a kind that it can be read as."""
    if isinstance(part, Literal):
        return bound(part.value, kind)
    made = value(part, scope)
    if part.kind is kind:
        return made
    if kind is Kind.TIME:
        return scope.fill(lambda moment: to_time(moment, part.kind), made)
    if kind is Kind.DATE:
        return scope.fill(lambda moment: to_date(moment, part.kind), made)
    return scope.fill(lambda one: one.cast(TYPES[kind]), made, times=1)


def among(piece: Piece, listed: Sequence[Value], kind: Kind, scope: Scope) -> Piece:
    """Tells whether a value is in a list: missing where the value is."""
    values = [pl.select(typed(one, kind)).item() for one in dict.fromkeys(listed) if one is not None]
    these = pl.lit(pl.Series(values, dtype=TYPES[kind])).implode()
    if not values:
        return scope.fill(lambda one: pl.when(one.is_not_null()).then(pl.lit(False)), piece)
    return scope.fill(lambda one: one.is_in(these), piece, times=1)


def key(of: Expression, scope: Scope) -> Piece:
    """An expression to group by: of floats, the zero without a sign."""
    made = value(of, scope)
    return scope.fill(lambda number: number + 0.0, made, times=1) if of.kind is Kind.FLOAT else made
