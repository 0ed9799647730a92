"""Operands made alike, as SQL does: texts that are written for numbers, days or truth values; 0 and 1 for those."""

from __future__ import annotations

import datetime
import operator
import sys
from fractions import Fraction
from typing import Any

from sfumato.errors import QueryRefused
from sfumato.query.answer.words import expression_words
from sfumato.query.nodes.expressions import Call, Column, Expression, Literal
from sfumato.query.nodes.kinds import LEAST_INT, MOST_INT, Kind
from sfumato.query.nodes.operators import OPERATORS, call, is_missing
from sfumato.query.nodes.operators.record import Operator
from sfumato.query.nodes.operators.time import SHIFTS, periods, shifted
from sfumato.query.sql.constants import decimal, moment, number

ARITHMETIC = ("neg", "add", "sub", "mul", "div", "mod", "int_div")
WORDS = {Kind.BOOL: "a truth value", Kind.INT: "a number", Kind.FLOAT: "a number", Kind.TEXT: "a text"}
WORDS |= {Kind.DATE: "a day", Kind.TIME: "a time"}
TRUTHS = {"true": True, "t": True, "yes": True, "false": False, "f": False, "no": False}
FOLDED = {"add": operator.add, "sub": operator.sub, "mul": operator.mul, "div": operator.truediv}


def fitted(name: str, *parts: Expression) -> Expression:
    """Makes an operation, of operands that were made alike where it does not take them as they are."""
    rule, kinds = OPERATORS[name], tuple(part.kind for part in parts)
    if name in ARITHMETIC:
        parts = tuple(as_number(part) for part in parts)
    elif rule.result(kinds) is None:
        parts = alike(*parts, compares=rule.sql is not None and rule.sql.compares)
        _check_compared(rule, parts)
    return folded(call(name, *parts))


def _check_compared(rule: Operator, parts: tuple[Expression, ...]) -> None:
    """Refuses to compare what is of different kinds, and says what to write for either of them."""
    compares = rule.sql is not None and rule.sql.compares and not any(map(is_missing, parts))
    if compares and rule.result(tuple(part.kind for part in parts)) is None:
        said = " and ".join(f"{expression_words(part)} is {WORDS[part.kind]}" for part in parts)
        texts = next((part for part in parts if part.kind is Kind.TEXT), None)
        hint = "" if texts is None else _hint(texts, by_column=isinstance(texts, Column))
        dates = " Write days as in DATE '2024-01-31'." if any(part.kind.temporal for part in parts) else ""
        raise QueryRefused(f"{said}: they cannot be compared.{dates or hint}")


def _hint(texts: Expression, *, by_column: bool) -> str:
    """What to write where a text is compared with a number: columns of text files are texts, unless it is stated."""
    words = expression_words(texts)
    cast = f"CAST({words} AS INT), or AS DOUBLE"
    if not by_column:
        return f" Put constants in quotes, or write {cast}."
    return (
        f" Where it holds numbers, as a column of a text file may, state so where the data is opened, "
        f"between={{{words!r}: (lower, upper)}}, or its type in the codebook; or write {cast}. Where it holds texts, "
        "put constants in quotes."
    )


def alike(*parts: Expression, compares: bool = False) -> tuple[Expression, ...]:
    """Makes operands one kind, where one of them says which; what is written for it must read as one.

    Truth values beside numbers are numbers; but 0 and 1 that they are compared with are truth values.
    """
    kinds = {part.kind for part in parts if not is_missing(part)}
    numeric = kinds & {Kind.INT, Kind.FLOAT}
    if len(kinds) < 2 or kinds <= {Kind.INT, Kind.FLOAT}:
        return parts
    if kinds & {Kind.DATE, Kind.TIME}:
        return tuple(as_moment(part, Kind.TIME if Kind.TIME in kinds else Kind.DATE) for part in parts)
    if Kind.BOOL in kinds and (not numeric or (compares and all(map(_is_bit, parts)))):
        return tuple(map(_as_truth, parts))
    return tuple(as_number(part, beside=parts) for part in parts) if numeric else parts


def as_moment(part: Expression, kind: Kind) -> Expression:
    """Reads a text that is written for a day or a time, and takes a day beside times for its midnight."""
    if isinstance(part, Literal) and isinstance(part.value, str):
        return moment(part.value, kind)
    return folded(call("to_time", part)) if part.kind is Kind.DATE and kind is Kind.TIME else part


def _is_bit(part: Expression) -> bool:
    """Tells whether something is a truth value, or written as 0 or 1."""
    return part.kind is Kind.BOOL or (isinstance(part, Literal) and part.value in (0, 1))


def _as_truth(part: Expression) -> Expression:
    if not isinstance(part, Literal) or part.value is None or part.kind is Kind.BOOL:
        return part
    value = TRUTHS.get(part.value.lower()) if isinstance(part.value, str) else part.value == 1
    if value is None:
        raise QueryRefused(f"{str(part.value)[:40]!r} is neither true nor false: write TRUE or FALSE.")
    return Literal(value, Kind.BOOL)


def as_number(part: Expression, beside: tuple[Expression, ...] = ()) -> Expression:
    """Reads a text that is written for a number, and takes truth values for 1 and 0; others stay as they are."""
    if part.kind is Kind.BOOL and not is_missing(part):
        return call("to_int", part)
    if part.kind is not Kind.TEXT or not isinstance(part, Literal) or not isinstance(part.value, str):
        return part
    text = part.value.strip()
    try:
        decimal(text)
    except QueryRefused:
        raise QueryRefused(f"{part.value[:40]!r} is no number{_what_there_is(beside)}") from None
    return number(text.removeprefix("-"), negative=text.startswith("-"))


def _what_there_is(beside: tuple[Expression, ...]) -> str:
    """Says which numbers it was compared with."""
    other = next((part for part in beside if part.kind.numeric and not isinstance(part, Literal)), None)
    if other is None:
        return ": write one."
    ends = other.facts.numbers
    between = "" if ends is None else f", from {float(ends[0]):g} to {float(ends[1]):g}"
    return f", and {expression_words(other)} holds numbers{between}: write {expression_words(other)} = 1, say."


def folded(made: Call) -> Expression:
    """Works out what is made of constants alone: numbers exactly as they are written, rounded once, and moments.

    ``0.06 - 0.01`` is 0.05, and ``DATE '1998-12-01' - INTERVAL 90 DAY`` a day, so that both say something of a column
    that is compared with them.
    """
    values: list[Any] = [part.value for part in made.parts if isinstance(part, Literal)]
    if len(values) < len(made.parts) or None in values:
        return made
    if made.operator in FOLDED and not all(part.kind.numeric for part in made.parts):
        return made  # the days between two constants
    worked_out = _number(made, values) if made.operator in FOLDED else _moment(made.operator, values)
    return made if worked_out is None else Literal(worked_out, made.kind)


def _number(made: Call, values: list[Any]) -> int | float | None:
    left, right = (Fraction(repr(one)) for one in values)
    if made.operator == "div" and not right:
        return None
    exact = FOLDED[made.operator](left, right)
    if made.kind is Kind.INT:
        return int(exact) if LEAST_INT <= exact <= MOST_INT else None
    return float(exact) + 0.0 if abs(exact) <= sys.float_info.max else None


def _moment(operator: str, values: list[Any]) -> Any:
    when = values[0]
    match operator:
        case "shift":
            return shifted(*values) if abs(values[1]) <= SHIFTS[values[2]] else None
        case "periods":
            return periods(*values)
        case "to_time" if type(when) is datetime.date:
            return datetime.datetime.combine(when, datetime.time.min)
        case "to_date" if type(when) is datetime.datetime:
            return when.date()
    return None
