"""Facts: what is public about the values of a column or an expression. A new column has new facts, or none."""

from __future__ import annotations

import datetime
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from math import ceil, floor
from typing import TypeAlias, final

from sfumato.exact import Extended
from sfumato.query.nodes.kinds import Kind, Value

Ends: TypeAlias = tuple[Extended, Extended] | tuple[datetime.date, datetime.date]
"""The least and the greatest value, both included; of numbers, one end may be infinite."""

MOST_VALUES = 100_000
"""A range of whole numbers or days with more values than this is no list of keys."""


@final
@dataclass(frozen=True)
class Facts:
    """What is public about values: bounds, all values they may have, and whether some may be missing.

    Bounds of numbers hold for every row, because rows are moved into them when they are read. ``keys`` never holds
    None: ``nullable`` says that there may be missing values besides. ``written`` says how a table's texts are written:
    days and times in the letters of strptime, decimals by their sign; what is made of a column knows nothing of that.
    """

    between: Ends | None = None
    keys: tuple[Value, ...] | None = None
    nullable: bool = True
    written: str = ""

    def listed(self, kind: Kind) -> tuple[Value, ...] | None:
        """All values there can be, where they are known and finitely many; None where there may be more."""
        if self.keys is not None:
            return self.keys
        if kind is Kind.BOOL:
            return (False, True)
        many = self.many(kind)
        match self.between:
            case (datetime.date() as low, _) if many is not None:
                return _days(low, many)
            case (Fraction() as low, _) if many is not None:
                return tuple(range(ceil(low), ceil(low) + many))
        return None

    def many(self, kind: Kind) -> int | None:
        """How many values there can be, without listing them; None where `listed` returns None."""
        if self.keys is not None or kind is Kind.BOOL:
            return 2 if self.keys is None else len(self.keys)
        match self.between:
            case (datetime.date() as low, datetime.date() as high) if kind is Kind.DATE:
                many = (high - low).days + 1
            case (Fraction() as low, Fraction() as high) if kind is Kind.INT:
                many = max(0, floor(high) - ceil(low) + 1)
            case _:
                return None
        return many if many <= MOST_VALUES else None

    @property
    def numbers(self) -> tuple[Fraction, Fraction] | None:
        """The bounds of numbers, where both are finite."""
        match self.between:
            case (Fraction() as low, Fraction() as high):
                return low, high
        return None


@lru_cache(maxsize=16)
def _days(first: datetime.date, many: int) -> tuple[datetime.date, ...]:
    return tuple(first + datetime.timedelta(day) for day in range(many))


def nullable_if(parts: Iterable[Facts]) -> bool:
    """Tells whether something may be missing because one of its parts may be."""
    return any(part.nullable for part in parts)
