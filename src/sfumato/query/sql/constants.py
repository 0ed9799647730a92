"""Constants: numbers, texts, days and times as they are written, read exactly and within limits."""

from __future__ import annotations

import datetime
from decimal import Decimal, InvalidOperation
from fractions import Fraction

from sqlglot import exp

from sfumato.errors import QueryRefused
from sfumato.query.nodes.expressions import Literal
from sfumato.query.nodes.kinds import LEAST_INT, LONGEST_TEXT, MOST_INT, Kind
from sfumato.query.nodes.literals import literal, value_of
from sfumato.query.sql.parameters import Parameters
from sfumato.query.sql.refusals import only

FARTHEST = 400
"""Numbers have at most this many digits before and after the point: others are no doubles, and would take long."""

NULL = Literal(None, Kind.BOOL)


def decimal(text: str) -> Fraction:
    """Reads a number exactly as it is written.

    >>> decimal("1e-6")
    Fraction(1, 1000000)
    """
    try:
        number = Decimal(text) if len(text) <= FARTHEST else Decimal("nan")
    except InvalidOperation:
        number = Decimal("nan")
    if not number.is_finite() or abs(number.adjusted()) > FARTHEST:
        raise QueryRefused(f"{text[:40]} is no number that can be read.")
    return Fraction(number)


def number(text: str, *, negative: bool = False) -> Literal:
    """Reads a number: whole, if it is written with digits only; else the nearest float. Refuses what does not fit."""
    exact = -decimal(text) if negative else decimal(text)
    if text.isdecimal():
        if not LEAST_INT <= exact <= MOST_INT:
            raise QueryRefused(f"{text[:40]} does not fit into 64 bits; write it with a point, as a float.")
        return Literal(int(exact), Kind.INT)
    try:
        return Literal(float(exact) + 0.0, Kind.FLOAT)
    except OverflowError:
        raise QueryRefused(f"{text[:40]} is larger than any float.") from None


def constant(node: exp.Expr, parameters: Parameters) -> Literal | None:
    """Reads a constant, written or bound; None for anything else."""
    match node:
        case exp.Literal(this=str(text)):
            return quoted(text) if node.is_string else number(text)
        case exp.Neg(this=exp.Literal(this=str(text)) as inner) if not inner.is_string:
            return number(text, negative=True)
        case exp.Paren(this=exp.Expr() as inner):
            return constant(inner, parameters)
        case exp.Boolean():
            return Literal(bool(node.this), Kind.BOOL)
        case exp.Null():
            return NULL
        case exp.Placeholder():
            return parameters.literal(node)
        case exp.RawString(this=str(text)) | exp.ByteString(this=str(text)):  # ByteString: E'…', which is a text here
            return quoted(text)
        case exp.Cast(this=exp.Literal(this=str(text)) as inner, to=exp.DataType() as kind) if inner.is_string:
            only(node, "this", "to")
            temporal = {exp.DType.DATE: Kind.DATE, **dict.fromkeys(TIMES, Kind.TIME)}.get(kind.this)
            return None if temporal is None else moment(text, temporal)
    return None


TIMES = (exp.DType.TIMESTAMP, exp.DType.TIMESTAMPNTZ, exp.DType.DATETIME)
"""The types of times without a zone."""


def quoted(text: str) -> Literal:
    """Reads a text; refuses one that is longer than any value can be."""
    if len(text) > LONGEST_TEXT:
        raise QueryRefused(f"a text has {len(text)} characters; at most {LONGEST_TEXT} are kept of any.")
    return Literal(text, Kind.TEXT)


def moment(text: str, kind: Kind) -> Literal:
    """Reads a day or a time from ISO text; refuses other forms."""
    try:
        when = datetime.date.fromisoformat(text) if kind is Kind.DATE else datetime.datetime.fromisoformat(text)
        return literal(value_of(when))
    except (ValueError, OverflowError):
        form = "2024-01-31" if kind is Kind.DATE else "2024-01-31 10:00:00"
        raise QueryRefused(f"{text[:40]!r} is no {kind.value}: write it as in '{form}'.") from None


def share(node: exp.Expr, parameters: Parameters) -> Fraction:
    """Reads a number exactly as it is written; a bound float by its shortest form."""
    if isinstance(node, exp.Literal) and not node.is_string:
        return decimal(node.name)
    given = constant(node, parameters)
    if given is None or not given.kind.numeric or given.value is None:
        raise QueryRefused("a share is written as a number between 0 and 1.")
    return Fraction(repr(given.value))
