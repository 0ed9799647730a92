"""Spelling: expressions and statistics as SQL, in one normal form: one tree, one text, wherever it came from.

What the front end for SQL can read, it reads back as the same tree. Nothing here looks at data: constants are what
somebody wrote or bound.
"""

from __future__ import annotations

import datetime
import re
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import NamedTuple, TypeAlias

from sfumato.query.nodes.expressions import Call, Column, Expression, Literal
from sfumato.query.nodes.operators import OPERATORS
from sfumato.query.nodes.operators.record import ADDED, AND, COMPARED, NOT, OR, SIGNED, WHOLE
from sfumato.query.nodes.questions import (
    Count,
    CountDistinct,
    CountUnits,
    Covariance,
    Deviation,
    Histogram,
    Item,
    Mean,
    MeanDistinct,
    Moment,
    Quantile,
    Statistic,
    StatisticValue,
    Sum,
    SumDistinct,
    TopValues,
    Variance,
)
from sfumato.release.render.words import clean


class Piece(NamedTuple):
    """A text, and how tightly it holds together when operators stand beside it."""

    text: str
    strength: int = WHOLE

    def at(self, least: int) -> str:
        """The text, in parentheses where it holds together less tightly than ``least``."""
        return self.text if self.strength >= least else f"({self.text})"


Leaf: TypeAlias = Callable[[Expression], Piece]
"""Says what a column, or the released value of a statistic, is called where an expression stands."""

_PLAIN = re.compile(r"[A-Za-z_][A-Za-z0-9_]*", re.ASCII)

_WORDS = """
all alter and anti any array as asc asof between both by case check collate column connect_by_root constraint create
cross cube current_catalog current_date current_time current_timestamp current_user default desc describe distinct drop
else end except false fetch for force foreign from full glob grant group having if ilike in inner insert install
intersect interval into is join lateral leading left like limit localtime localtimestamp lock map natural not notnull
null offset on only or order outer partitioned_by pivot positional primary qualify references regexp returning revoke
right rlike rollback rollup select semi session_user set summarize table tablesample then trailing true uncache union
unique unpivot using values when where window with xor
"""
RESERVED = frozenset(_WORDS.split())
"""Names that mean something else to a reader of SQL, and stand in quotation marks."""


def named(name: str) -> str:
    """Writes a name, in quotation marks where it needs them.

    >>> named("minutes"), named("select"), named("two words")
    ('minutes', '"select"', '"two words"')
    """
    if _PLAIN.fullmatch(name) and name.lower() not in RESERVED:
        return name
    doubled = name.replace('"', '""')
    return f'"{doubled}"'


def constant(value: object) -> Piece:
    """Writes a constant, by which it can be told from every other: 1 is whole and 1.0 is not.

    >>> constant("it's").text, constant(1.0).text, constant(datetime.date(2024, 1, 31)).text
    ("'it''s'", '1.0', "DATE '2024-01-31'")
    >>> print(constant("a tab:\\t").text)
    E'a tab:\\x09'
    """
    match value:
        case None:
            return Piece("NULL")
        case bool():
            return Piece("TRUE" if value else "FALSE")
        case int() | float():
            return Piece(repr(value + 0), SIGNED if value < 0 else WHOLE)  # −0.0 is 0.0
        case datetime.datetime():
            return Piece(f"TIMESTAMP '{value.isoformat(sep=' ')}'")
        case datetime.date():
            return Piece(f"DATE '{value.isoformat()}'")
    return Piece(_quoted(str(value)))


def _quoted(text: str) -> str:
    """Writes a text; letters that no form of a record shows as they are stand as the bytes that they are made of."""
    doubled = text.replace("'", "''")
    if clean(text) == text:
        return f"'{doubled}'"
    letters = (sign if clean(sign) == sign else _bytes(sign) for sign in doubled.replace("\\", "\\\\"))
    return f"E'{''.join(letters)}'"


def _bytes(sign: str) -> str:
    return "".join(f"\\x{byte:02x}" for byte in sign.encode())


def plainly(leaf: Expression) -> Piece:
    """Names a column by its own name, and a released value by the statistic that it is of."""
    if isinstance(leaf, StatisticValue):
        return Piece(statistic_text(leaf.statistic, plainly))
    return Piece(named(leaf.name) if isinstance(leaf, Column) else type(leaf).__name__)


def spelled(made: Expression, leaf: Leaf = plainly) -> Piece:
    """Writes an expression.

    >>> from sfumato.query.nodes.kinds import Kind
    >>> from sfumato.query.nodes.operators import call
    >>> age = Column("age", Kind.INT)
    >>> one = Literal(1, Kind.INT)
    >>> spelled(call("mul", call("add", age, one), age)).text
    '(age + 1) * age'
    """
    match made:
        case Literal(value):
            return constant(value)
        case Call(operator, (left, right)) if (infix := OPERATORS[operator].infix) is not None:
            sign, strength = infix
            least = strength + 1 if strength == COMPARED else strength  # comparisons do not follow one another
            return Piece(f"{spelled(left, leaf).at(least)} {sign} {spelled(right, leaf).at(strength + 1)}", strength)
        case Call(operator, parts):
            return _called(operator, parts, leaf)
    return leaf(made)


def _called(operator: str, parts: tuple[Expression, ...], leaf: Leaf) -> Piece:
    first = parts[0]
    match operator:
        case "and" | "or":
            strength = AND if operator == "and" else OR
            return Piece(f" {operator.upper()} ".join(spelled(one, leaf).at(NOT) for one in parts), strength)
        case "not":
            return _not(first, leaf)
        case "neg":  # of a constant it is an operation, and two signs in a row begin a comment
            return Piece(f"-{_wrapped(first, leaf) if isinstance(first, Literal) else _whole(first, leaf)}", SIGNED)
        case "is_null" | "in" | "like":
            return _told(operator, parts, leaf, "")
        case "case":
            return Piece(_case(parts, leaf))
        case "concat":
            return _joined(parts, leaf)
    if text := OPERATORS[operator].text:
        return Piece(text.format(*(spelled(part, leaf).text for part in parts)))
    return Piece(f"{operator.upper()}({_listed(parts, leaf)})")


def _not(inner: Expression, leaf: Leaf) -> Piece:
    if isinstance(inner, Call) and inner.operator in ("is_null", "in", "like"):
        return _told(inner.operator, inner.parts, leaf, "NOT ")
    return Piece(f"NOT {_whole(inner, leaf)}", NOT)


def _told(operator: str, parts: tuple[Expression, ...], leaf: Leaf, turned: str) -> Piece:
    first = _whole(parts[0], leaf)
    match operator:
        case "is_null":
            return Piece(f"{first} IS {turned}NULL", COMPARED)
        case "in":
            return Piece(f"{first} {turned}IN ({_listed(parts[1:], leaf)})", COMPARED)
    return Piece(f"{first} {turned}LIKE {_whole(parts[1], leaf)}", COMPARED)


def _case(parts: tuple[Expression, ...], leaf: Leaf) -> str:
    pairs = zip(parts[0:-1:2], parts[1::2], strict=True)
    steps = [f"WHEN {spelled(when, leaf).text} THEN {spelled(then, leaf).text}" for when, then in pairs]
    last = parts[-1]
    other = [] if isinstance(last, Literal) and last.value is None else [f"ELSE {spelled(last, leaf).text}"]
    return " ".join(("CASE", *steps, *other, "END"))


def _joined(parts: tuple[Expression, ...], leaf: Leaf) -> Piece:
    """Writes texts put together: CONCAT takes missing ones for empty, and || does not."""
    filled = [_filled(part) for part in parts]
    if all(part is not None for part in filled):
        return Piece(f"CONCAT({_listed([part for part in filled if part is not None], leaf)})")
    return Piece(" || ".join(_whole(part, leaf) for part in parts), ADDED if len(parts) > 1 else WHOLE)


def _filled(part: Expression) -> Expression | None:
    """The operand that CONCAT was given: a constant, or an expression where missing values count as empty text."""
    match part:
        case Literal():
            return part
        case Call("coalesce", (inner, Literal(value=""))) if not isinstance(inner, Literal):
            return inner
    return None


def _whole(made: Expression, leaf: Leaf) -> str:
    return spelled(made, leaf).at(WHOLE)


def _wrapped(made: Expression, leaf: Leaf) -> str:
    return f"({spelled(made, leaf).text})"


def _listed(parts: Sequence[Expression], leaf: Leaf) -> str:
    return ", ".join(spelled(part, leaf).text for part in parts)


UNITS = "COUNT_UNITS()"
"""A count of units where no column says which unit a row belongs to."""


def statistic_text(statistic: Statistic, leaf: Leaf, unit: str = "") -> str:
    """Writes a statistic; ``unit`` is the column that holds the units' ids, where there is one."""
    if isinstance(statistic, Item) and statistic.of != TopValues(statistic.of.of, 1, statistic.where):
        return f"{statistic_text(statistic.of, leaf, unit)}[{statistic.place + 1}]"
    made = _aggregate(statistic, leaf, unit)
    return made if statistic.where is None else f"{made} FILTER (WHERE {spelled(statistic.where, leaf).text})"


def _aggregate(statistic: Statistic, leaf: Leaf, unit: str) -> str:
    of = _listed(statistic.operands, leaf)
    distinct = "DISTINCT " * isinstance(statistic, SumDistinct | MeanDistinct)
    match statistic:
        case Count():
            return f"COUNT({of or '*'})"
        case CountUnits():
            return f"COUNT(DISTINCT {unit})" if unit else UNITS
        case CountDistinct():
            return f"COUNT(DISTINCT {of})"
        case Sum() | SumDistinct():
            return f"SUM({distinct}{of})"
        case Mean() | MeanDistinct():
            return f"AVG({distinct}{of})"
        case Variance(sample=sample, root=root):
            return f"{'STDDEV' if root else 'VAR'}_{'SAMP' if sample else 'POP'}({of})"
        case Covariance(sample=sample, scaled=scaled):
            return f"CORR({of})" if scaled else f"COVAR_{'SAMP' if sample else 'POP'}({of})"
        case Moment(name=name, sample=sample):
            return f"{name.upper()}{'' if sample else '_POP'}({of})"
        case Deviation():
            return f"MAD({of})"
        case Item():
            return f"MODE({of})"
        case Quantile(at=at):
            short = {Fraction(0): "MIN", Fraction(1): "MAX", Fraction(1, 2): "MEDIAN"}.get(at)
            return f"QUANTILE({of}, {_share(at)})" if short is None else f"{short}({of})"
        case Histogram(edges=edges):
            return f"HISTOGRAM({of}, [{', '.join(map(end_text, edges))}])"
        case TopValues(most=most):
            return f"TOP_K({of}, {most})"
    raise TypeError(type(statistic))


def _share(at: Fraction) -> str:
    """Writes a share exactly: as a decimal, where it has an end."""
    rest, tens = at.denominator, 0
    while rest > 1:
        if 10**tens % at.denominator == 0:
            digits = at.numerator * 10**tens // at.denominator
            return f"0.{digits:0{tens}d}"
        if tens > at.denominator.bit_length():
            return str(at)
        tens += 1
    return str(at)


def end_text(end: float | Fraction) -> str:
    """Writes an end of a range in full; those that are equal are written alike, whatever they were made of.

    >>> end_text(1234567.5), end_text(Fraction(5)), end_text(5.0)
    ('1234567.5', '5', '5')
    """
    return str(int(end)) if float(end).is_integer() and -(2**63) < end < 2**63 else repr(float(end))
