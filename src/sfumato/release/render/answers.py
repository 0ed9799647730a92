"""Says what an answer says: its table in texts, with ± beside each value, and the sentences about it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from decimal import ROUND_FLOOR, ROUND_HALF_EVEN, Decimal
from fractions import Fraction
from itertools import repeat
from typing import Any, TypeAlias

import numpy as np

from sfumato.exact import decimal_of
from sfumato.release.answer import Answer, AnswerColumn, Cells, Role, floats_of
from sfumato.release.interval import OUTWARD, Interval, significant
from sfumato.release.render.document import Table
from sfumato.release.render.words import FLOAT_DIGITS, clean, exactly, number, numeric, percent, width

MOST_ROWS = 1000
"""How many rows any form but JSON and CSV shows, at most."""

LOOKED_AT = 100
"""How many rows are looked at to find out whether a sentence must speak of ± or of intervals."""

LONGEST_KEY = 60
"""Longer texts are cut."""

NULL, MISSING = "NULL", "—"
"""What stands for a key that is null, and for a value that the noise left no answer for."""

LONGEST_WHOLE = 10_000
"""Whole numbers of more bits are shortened even in forms for programs: not every reader takes them."""

FINEST, LARGEST = -9, 10**15
"""Error bars down to this place and numbers below this size say how many digits make sense; others have all of them."""

Written: TypeAlias = tuple[str, str]
"""A value, and ± or an interval beside it."""


def answer_table(answer: Answer, *, most: int = MOST_ROWS) -> Table:
    """Writes the first rows: keys, then each value with its ± in its own column, where one is known."""
    columns: list[list[str]] = []
    head: list[str] = []
    flush: list[int] = []
    for column in answer.columns:
        cells = _cells(column, most)
        if column.role is Role.VALUE:
            flush.append(len(head))
        head.append(clean(column.name, most=LONGEST_KEY))
        columns.append([value for value, _ in cells])
        if column.low is not None:
            head.append("")
            columns.append([beside for _, beside in cells])
    return Table(tuple(zip(*columns, strict=True)), head=tuple(head), right=frozenset(flush), count=len(answer))


def full_table(answer: Answer) -> Table:
    """Writes every row with every digit, the ends of intervals in columns of their own: for programs."""
    parts = answer.parts(intervals=True)
    rows = zip(*(map(_in_full, cells.tolist()) for _, cells in parts), strict=True)
    return Table(tuple(rows), head=tuple(name for name, _ in parts), count=len(answer))


def is_single(answer: Answer) -> bool:
    """Tells whether an answer is one cell, which is shown without a table."""
    return len(answer) == len(answer.columns) == 1


def headline_of(answer: Answer) -> str:
    """Writes the one number of an answer, or how many rows there are and of what."""
    if is_single(answer):
        return " ".join(part for part in _cells(answer.columns[0], 1)[0] if part)
    keys = [column.name for column in answer.keys]
    rows = f"{len(answer)} row{'' if len(answer) == 1 else 's'}"
    by = f" by {_and(keys)}" if keys else ""
    values = _column_names(answer.values)
    return clean(rows + by + (f": {', '.join(values)}" if values else ""), most=200)


def _column_names(columns: Sequence[AnswerColumn]) -> list[str]:
    """Names columns, the bins of one histogram together: by the first and the last of them."""
    groups: dict[object, list[str]] = {}
    for place, column in enumerate(columns):
        groups.setdefault(place if column.bin is None else column.bin.histogram, []).append(column.name)
    return [names[0] if len(names) == 1 else f"{names[0]} … {names[-1]}" for names in groups.values()]


def interval_words(answer: Answer) -> str:
    """Says what the intervals beside the first values hold; nothing where none is known."""
    cells = [beside for column in answer.columns if column.low is not None for _, beside in _cells(column, LOOKED_AT)]
    signs = {beside[0] for beside in cells if beside}
    words = [word for sign, word in (("±", "each ±"), ("[", "each [low, high]")) if sign in signs]
    if not words:
        return ""
    sure = f"{percent(answer.confidence)} confidence"
    return f"at {sure}" if is_single(answer) else f"{' and '.join(words)} holds with {sure}, cell by cell"


def errors_of(answer: Answer) -> str:
    """Writes how wide the intervals of each column are, on one line."""
    ranges = []
    for column in answer.values:
        halves = _halves(column)
        if halves:
            least, most = (_plus_minus(0, half)[1] for half in halves)
            ranges.append(f"{column.name} {least}" + ("" if least == most else f" to {most[2:]}"))
    return f"{', '.join(ranges)} at {percent(answer.confidence)}, cell by cell" if ranges else ""


def _halves(column: AnswerColumn) -> list[Fraction]:
    """The least and the greatest half of the finite intervals of a column, where there are any."""
    if column.low is None or column.high is None:
        return []
    with np.errstate(invalid="ignore", over="ignore"):
        halves = (floats_of(column.high) - floats_of(column.low)) / 2
    finite = halves[np.isfinite(halves)]
    ends = (finite.min(), finite.max()) if len(finite) else ()
    return [Fraction(decimal_of(Fraction(float(end)), FLOAT_DIGITS, ROUND_HALF_EVEN)) for end in ends]


def _cells(column: AnswerColumn, most: int) -> list[Written]:
    values = _first(column.values, most)
    if column.role is Role.KEY:
        return [(key(value), "") for value in values]
    ends = [repeat(None) if cells is None else _first(cells, most) for cells in (column.low, column.high)]
    return [_cell(value, low, high) for value, low, high in zip(values, *ends, strict=False)]


def _first(cells: Cells, most: int) -> Sequence[Any]:
    entries: list[Any] = cells[:most].tolist()
    return entries


def key(value: object) -> str:
    """Writes a key; a text that is empty, or begins or ends with a space, stands in quotation marks.

    >>> key(None), key(""), key(2.5), key("north")
    ('NULL', '""', '2.5', 'north')
    """
    if value is None:
        return NULL
    if isinstance(value, int | float):
        return _in_full(value)
    text = clean(value, most=LONGEST_KEY)
    return f'"{text}"' if text != text.strip() or not text else text


def _cell(value: Any, low: Any, high: Any) -> Written:
    if value is None:
        return MISSING, ""
    if low is None or exactly(value) is None:
        return number(value) if numeric(value) else clean(value, most=LONGEST_KEY), ""
    half = _half(Fraction(value), exactly(low), exactly(high))
    if half is not None:
        return _plus_minus(value, half)
    interval = Interval(low, high, Fraction(0))
    ends = (significant(end, interval, rounding) for end, rounding in zip(interval.ends, OUTWARD, strict=True))
    return significant(value, interval), f"[{', '.join(ends)}]"


def _half(value: Fraction, low: Fraction | None, high: Fraction | None) -> Fraction | None:
    """The half of an interval that lies evenly about its value, but for the rounding of its ends to floats."""
    if low is None or high is None or not low <= value <= high:
        return None
    half = max(value - low, high - value)
    rounding = half / 10**6 + _last_bits(max(abs(low), abs(high)))
    return half if abs(high + low - 2 * value) <= 2 * rounding else None


def _last_bits(value: Fraction) -> Fraction:
    """How far a float and what was computed with it may be off, about: less than a digit that is shown."""
    return value / 2**50


def _plus_minus(value: Any, half: Fraction) -> Written:
    """Writes a value and its ± to two digits of the ±, which is rounded up, and makes up for the value's own rounding.

    >>> _plus_minus(41.3217, Fraction("0.4217")), _plus_minus(1234567.891, Fraction(900)), _plus_minus(7, Fraction(15))
    (('41.32', '± 0.43'), ('1234568', '± 901'), ('7', '± 15'))
    """
    exact = Fraction(value)
    slack = _last_bits(abs(exact) + half)
    whole = exact.denominator == half.denominator == 1
    place = 0 if whole else min(0, decimal_of(half + slack, 1, ROUND_FLOOR).adjusted() - 1)
    if place < FINEST or max(abs(exact), half) >= LARGEST:
        return _in_full(value), f"± {width(half)}"
    step = Fraction(10) ** place
    steps = round(exact / step)
    halves = math.ceil((half + abs(exact - steps * step) - slack) / step)
    return _decimal(steps, place), f"± {_decimal(halves, place)}"


def _decimal(steps: int, place: int) -> str:
    return f"{Decimal(steps).scaleb(place):f}"


def _in_full(value: object) -> str:
    if isinstance(value, int) and value.bit_length() > LONGEST_WHOLE:
        return number(value)
    return "" if value is None else repr(value) if isinstance(value, int | float) else str(value)


def _and(names: Sequence[str]) -> str:
    return " and ".join([", ".join(names[:-1]), names[-1]]) if len(names) > 1 else names[0]
