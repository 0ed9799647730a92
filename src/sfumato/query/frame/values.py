"""What can be made of a value in each row: numbers, texts, days and times, each by its method."""

from __future__ import annotations

import datetime
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any, Self, TypeAlias, TypeVar

from sfumato.errors import BadArgument
from sfumato.exact import integer, positive, rational
from sfumato.query.build.question import check_edges

Constant: TypeAlias = bool | int | float | str | datetime.date | None
"""A constant that stands beside a column; a text is a constant, not the name of a column."""


V = TypeVar("V", bound="Values")


def _of_several(operator: str, said: str) -> Callable[..., Any]:
    """Makes the method that applies an operator to this value and others."""

    def method(self: V, *others: Constant | V) -> V:
        return self.applied(operator, *others)

    method.__name__, method.__qualname__, method.__doc__ = operator, f"Values.{operator}", said
    return method


def _of_one(operator: str, said: str) -> Callable[[V], V]:
    """Makes the method that applies an operator of one operand."""

    def method(self: V) -> V:
        return self.applied(operator)

    method.__name__, method.__qualname__, method.__doc__ = operator, f"Values.{operator}", said
    return method


class Values(ABC):
    """A value for each row, of which other values can be made; see docs/semantics.md for what each one is."""

    @abstractmethod
    def applied(self, operator: str, *others: Constant | Self) -> Self:
        """Applies an operation to this value and others."""

    def clip(self, low: float, high: float) -> Self:
        """Moves numbers into bounds, which come from public knowledge and never from the data."""
        return self.applied("clamp", low, high)

    def between(self, low: Constant | Self, high: Constant | Self) -> Self:
        """Tells whether values lie between two, both included."""
        return self.applied("ge", low).applied("and", self.applied("le", high))

    is_null = _of_one("is_null", "Tells whether values are missing.")

    def is_in(self, values: Sequence[Constant]) -> Self:
        """Tells whether values are among some constants."""
        if isinstance(values, str) or not len(values) or any(value is None for value in values):
            raise BadArgument("is_in", "a list of at least one constant, none of them missing", values)
        return self.applied("in", *values)

    def fill_null(self, value: Constant | Self) -> Self:
        """Puts a value where one is missing."""
        return self.applied("coalesce", value)

    def null_if(self, value: Constant | Self) -> Self:
        """Makes values missing that equal another."""
        return self.applied("nullif", value)

    def least(self, *others: Constant | Self) -> Self:
        """The least of several values."""
        return self.applied("least", *others)

    def greatest(self, *others: Constant | Self) -> Self:
        """The greatest of several values."""
        return self.applied("greatest", *others)

    abs = _of_one("abs", "Gives absolute values.")
    sign = _of_one("sign", "Gives −1, 0 or 1.")
    floor = _of_one("floor", "Rounds down to whole numbers.")
    ceil = _of_one("ceil", "Rounds up to whole numbers.")
    round = _of_one("round", "Rounds to whole numbers, halves to the even one.")
    trunc = _of_one("trunc", "Rounds towards 0 to whole numbers.")
    sqrt = _of_one("sqrt", "Gives square roots; missing for negative numbers.")
    ln = _of_one("ln", "Gives natural logarithms; missing for what has none.")
    log10 = _of_one("log10", "Gives logarithms to the base 10; missing for what has none.")
    log2 = _of_one("log2", "Gives logarithms to the base 2; missing for what has none.")
    exp = _of_one("exp", "Gives powers of e.")
    power = _of_several("power", "Raises floats to a power; missing where that is no finite number.")
    sin = _of_one("sin", "Gives sines of angles, in radians.")
    cos = _of_one("cos", "Gives cosines of angles, in radians.")
    tan = _of_one("tan", "Gives tangents of angles, in radians.")
    asin = _of_one("asin", "Gives the angles that have such sines; missing outside −1 to 1.")
    acos = _of_one("acos", "Gives the angles that have such cosines; missing outside −1 to 1.")
    atan = _of_one("atan", "Gives the angles that have such tangents.")
    atan2 = _of_several("atan2", "Gives the angle of the point with this height and another distance.")
    sinh = _of_one("sinh", "Gives hyperbolic sines.")
    cosh = _of_one("cosh", "Gives hyperbolic cosines.")
    tanh = _of_one("tanh", "Gives hyperbolic tangents.")
    to_int = _of_one("to_int", "Gives whole numbers: rounded, and 1 for true.")
    to_float = _of_one("to_float", "Gives floats.")
    to_bool = _of_one("to_bool", "Gives truth values: of numbers, whether they differ from 0.")
    to_text = _of_one("to_text", "Gives texts, of anything but floats.")

    def bin(self, width: float, origin: float = 0) -> Self:
        """The lower edge of the bin that a number lies in: bins are ``width`` wide, and one begins at ``origin``.

        >>> from sfumato.query.frame.columns import col
        >>> col("minutes").bin(10)
        ((col('minutes') / 10).floor() * 10)
        """
        positive(width, "width")
        if rational(origin, "origin") == 0:
            return self.applied("div", width).floor().applied("mul", width)
        return self.applied("sub", origin).bin(width).applied("add", origin)

    def cut(self, edges: Sequence[float], *, labels: Sequence[str] | None = None) -> Self:
        """The label of the interval that a number lies in; what lies outside the edges is missing.

        An interval goes from an edge, included, to the next; the last one is closed. Labels look like ``[0, 10)``
        unless others are given.
        """
        check_edges(edges)
        inner = [f"[{low}, {high})" for low, high in pairwise(edges[:-1])]
        names = [*inner, f"[{edges[-2]}, {edges[-1]}]"] if labels is None else list(labels)
        if len(names) != len(edges) - 1 or len(set(names)) != len(names):
            raise BadArgument("labels", f"{len(edges) - 1} different texts, one for each interval", names)
        steps: list[Constant | Self] = [None]
        for edge, name in zip(edges[1:-1], names, strict=False):
            steps += [self.applied("lt", edge), name]
        return self.applied("lt", edges[0]).applied("case", *steps, self.applied("le", edges[-1]), names[-1], None)

    lower = _of_one("lower", "Gives texts in small letters.")
    upper = _of_one("upper", "Gives texts in capitals.")
    trim = _of_several("trim", "Takes spaces, or given characters, off both ends.")
    ltrim = _of_several("ltrim", "Takes spaces, or given characters, off the beginning.")
    rtrim = _of_several("rtrim", "Takes spaces, or given characters, off the end.")
    reverse = _of_one("reverse", "Gives texts from the end to the beginning.")
    lpad = _of_several("lpad", "Fills texts up at the beginning: to a length, with given characters.")
    rpad = _of_several("rpad", "Fills texts up at the end: to a length, with given characters.")
    right = _of_several("right", "Takes so many characters from the end.")
    replace = _of_several("replace", "Puts a text wherever another one is.")
    split_part = _of_several("split_part", "Takes a part, counted from 1, of what a separator separates.")
    strpos = _of_several("strpos", "Gives the place of another text, counted from 1; 0 where it is not there.")
    starts_with = _of_several("starts_with", "Tells whether texts begin with another.")
    ends_with = _of_several("ends_with", "Tells whether texts end with another.")
    contains = _of_several("contains", "Tells whether texts contain another.")
    regexp_matches = _of_several("regexp_matches", "Tells whether a regular expression matches a part of texts.")
    regexp_full_match = _of_several("regexp_full_match", "Tells whether a regular expression matches all of texts.")
    regexp_extract = _of_several("regexp_extract", "Takes what a group of a regular expression matches, 0 for all.")
    regexp_replace = _of_several("regexp_replace", "Puts a text where a regular expression matches: 'g' everywhere.")
    length = _of_one("length", "Counts characters.")

    def substring(self, first: int, many: int) -> Self:
        """Takes ``many`` characters from place ``first`` on, counted from 1."""
        return self.applied("substring", integer(first, "first", least=1), integer(many, "many", least=0))

    def concat(self, *others: Constant | Self) -> Self:
        """Puts texts one after another."""
        return self.applied("concat", *others)

    def like(self, pattern: str) -> Self:
        """Tells whether texts match a pattern: ``%`` is any text, ``_`` any character."""
        return self.applied("like", pattern)

    def truncate(self, to: str) -> Self:
        """The beginning of the hour, day, week, month, quarter or year."""
        return self.applied("date_trunc", to)

    strftime = _of_several("strftime", "Writes days and times in a format, such as ``%Y-%m``.")
    shift = _of_several("shift", "Moves days and times by a number of ``month``, ``day`` or ``microsecond``.")
    periods = _of_several("periods", "Counts the hours, days, weeks, months … that began since the year 1 did.")
    isoyear = _of_one("isoyear", "Gives the year that the week belongs to.")
    week = _of_one("week", "Gives the week of the year, 1 to 53, as ISO 8601 counts.")
    dayofyear = _of_one("dayofyear", "Gives the day of the year, 1 to 366.")
    second = _of_one("second", "Gives the second of a time.")
    year = _of_one("year", "Gives the year of a day or time.")
    quarter = _of_one("quarter", "Gives the quarter, 1 to 4.")
    month = _of_one("month", "Gives the month, 1 to 12.")
    day = _of_one("day", "Gives the day of the month.")
    weekday = _of_one("weekday", "Gives the day of the week, 1 (Monday) to 7.")
    hour = _of_one("hour", "Gives the hour of a time.")
    minute = _of_one("minute", "Gives the minute of a time.")
    to_date = _of_one("to_date", "Gives the day of a time.")
    to_time = _of_one("to_time", "Gives the midnight that begins a day.")
