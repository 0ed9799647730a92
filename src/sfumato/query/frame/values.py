"""What can be made of a value in each row: numbers, texts, days and times, each by a method of its own name."""

from __future__ import annotations

import datetime
from abc import ABC, abstractmethod
from collections.abc import Sequence
from itertools import pairwise
from typing import Self, TypeAlias

from sfumato.errors import BadArgument
from sfumato.exact import integer, positive, rational
from sfumato.query.asking import check_edges

Constant: TypeAlias = bool | int | float | str | datetime.date | None
"""A constant that stands beside a column; a text is a constant, not the name of a column."""


class Values(ABC):
    """Is a value for each row, of which other values can be made; see docs/semantics.md for what each one is."""

    @abstractmethod
    def applied(self, operator: str, *others: Constant | Self) -> Self:
        """Gives an operation on this value and others."""

    def clamp(self, low: float, high: float) -> Self:
        """Moves numbers into bounds, which come from public knowledge and never from the data."""
        return self.applied("clamp", low, high)

    def between(self, low: Constant | Self, high: Constant | Self) -> Self:
        """Tells whether values lie between two, both included."""
        return self.applied("ge", low).applied("and", self.applied("le", high))

    def is_null(self) -> Self:
        """Tells whether values are missing."""
        return self.applied("is_null")

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
        """Gives the least of several values."""
        return self.applied("least", *others)

    def greatest(self, *others: Constant | Self) -> Self:
        """Gives the greatest of several values."""
        return self.applied("greatest", *others)

    def abs(self) -> Self:
        """Gives absolute values."""
        return self.applied("abs")

    def sign(self) -> Self:
        """Gives −1, 0 or 1."""
        return self.applied("sign")

    def floor(self) -> Self:
        """Rounds down to whole numbers."""
        return self.applied("floor")

    def ceil(self) -> Self:
        """Rounds up to whole numbers."""
        return self.applied("ceil")

    def round(self) -> Self:
        """Rounds to whole numbers, halves to the even one."""
        return self.applied("round")

    def sqrt(self) -> Self:
        """Gives square roots; missing for negative numbers."""
        return self.applied("sqrt")

    def ln(self) -> Self:
        """Gives natural logarithms; missing for what has none."""
        return self.applied("ln")

    def exp(self) -> Self:
        """Gives powers of e."""
        return self.applied("exp")

    def to_int(self) -> Self:
        """Gives whole numbers: rounded, and 1 for true."""
        return self.applied("to_int")

    def to_float(self) -> Self:
        """Gives floats."""
        return self.applied("to_float")

    def bin(self, width: float, origin: float = 0) -> Self:
        """Gives the lower edge of the bin that a number lies in: of bins so wide, one of which begins at ``origin``.

        >>> from sfumato.query.frame.columns import col
        >>> col("minutes").bin(10)
        ((col('minutes') / 10).floor() * 10)
        """
        positive(width, "width")
        if rational(origin, "origin") == 0:
            return self.applied("div", width).floor().applied("mul", width)
        return self.applied("sub", origin).bin(width).applied("add", origin)

    def cut(self, edges: Sequence[float], *, labels: Sequence[str] | None = None) -> Self:
        """Gives the label of the interval that a number lies in; what lies outside the edges is missing.

        An interval goes from an edge, included, to the next; the last one is closed. Labels are such as ``[0, 10)``.
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

    def lower(self) -> Self:
        """Gives texts in small letters."""
        return self.applied("lower")

    def upper(self) -> Self:
        """Gives texts in capitals."""
        return self.applied("upper")

    def trim(self) -> Self:
        """Takes spaces off both ends."""
        return self.applied("trim")

    def length(self) -> Self:
        """Counts characters."""
        return self.applied("length")

    def substring(self, first: int, many: int) -> Self:
        """Gives so many characters from the first one on, which counts from 1."""
        return self.applied("substring", integer(first, "first", least=1), integer(many, "many", least=0))

    def concat(self, *others: Constant | Self) -> Self:
        """Puts texts one after another."""
        return self.applied("concat", *others)

    def like(self, pattern: str) -> Self:
        """Tells whether texts match a pattern: ``%`` is any text, ``_`` any character."""
        return self.applied("like", pattern)

    def truncate(self, to: str) -> Self:
        """Gives the beginning of the hour, day, week, month, quarter or year."""
        return self.applied("date_trunc", to)

    def year(self) -> Self:
        """Gives the year of a day or time."""
        return self.applied("year")

    def quarter(self) -> Self:
        """Gives the quarter, 1 to 4."""
        return self.applied("quarter")

    def month(self) -> Self:
        """Gives the month, 1 to 12."""
        return self.applied("month")

    def day(self) -> Self:
        """Gives the day of the month."""
        return self.applied("day")

    def weekday(self) -> Self:
        """Gives the day of the week, 1 (Monday) to 7."""
        return self.applied("weekday")

    def hour(self) -> Self:
        """Gives the hour of a time."""
        return self.applied("hour")

    def minute(self) -> Self:
        """Gives the minute of a time."""
        return self.applied("minute")

    def to_date(self) -> Self:
        """Gives the day of a time."""
        return self.applied("to_date")

    def to_time(self) -> Self:
        """Gives the midnight that begins a day."""
        return self.applied("to_time")
