"""Facts: what is public about the values of a column or an expression. A new column has new facts, or none."""

from __future__ import annotations

import datetime
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from math import ceil, floor
from typing import TypeAlias, final

from sfumato.exact import Extended
from sfumato.query.kinds import Kind, Value

Ends: TypeAlias = tuple[Extended, Extended] | tuple[datetime.date, datetime.date]
"""The least and the greatest value, both included; of numbers, one end may be infinite."""

MOST_VALUES = 100_000
"""A range of whole numbers or days with more values than this is no list of keys."""


@final
@dataclass(frozen=True)
class Facts:
    """Is what is public about values: bounds, all values they may have, and whether some may be missing.

    Bounds of numbers hold for every row, because rows are moved into them when they are read. ``keys`` never holds
    None: ``nullable`` says that there may be missing values besides. ``written`` says how a table's texts are written:
    days and times in the letters of strptime, decimals by their sign; what is made of a column knows nothing of that.
    """

    between: Ends | None = None
    keys: tuple[Value, ...] | None = None
    nullable: bool = True
    written: str = ""

    def listed(self, kind: Kind) -> tuple[Value, ...] | None:
        """Gives all values there can be, where these are finitely many, known ones; None, where there may be more."""
        if self.keys is not None:
            return self.keys
        if kind is Kind.BOOL:
            return (False, True)
        match self.between:
            case (datetime.date() as low, datetime.date() as high) if kind is Kind.DATE:
                days = (high - low).days + 1
                return tuple(low + datetime.timedelta(day) for day in range(days)) if days <= MOST_VALUES else None
            case (Fraction() as low, Fraction() as high) if kind is Kind.INT:
                first, last = ceil(low), floor(high)
                return tuple(range(first, last + 1)) if last - first < MOST_VALUES else None
        return None

    @property
    def numbers(self) -> tuple[Fraction, Fraction] | None:
        """Are the bounds of numbers, where both are finite."""
        match self.between:
            case (Fraction() as low, Fraction() as high):
                return low, high
        return None


def nullable_if(parts: Iterable[Facts]) -> bool:
    """Tells whether something may be missing because one of its parts may be."""
    return any(part.nullable for part in parts)
