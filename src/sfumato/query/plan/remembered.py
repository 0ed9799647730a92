"""What was worked out before, the latest of it: kept for a data set, so that all sessions on it share it.

Everything here follows from public facts and from what was asked. Nothing is from data, and nothing says who asked.
"""

from __future__ import annotations

import datetime
import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable
from decimal import Decimal
from typing import TYPE_CHECKING, Generic, TypeVar, final

if TYPE_CHECKING:
    from sfumato.query.answer.explanation import Explanation
    from sfumato.query.answer.shape import ShapedColumn
    from sfumato.query.plan.compiled_query import CompiledQuery
    from sfumato.query.plan.query_plan import QueryPlan
    from sfumato.query.sql.reading import Statement

REMEMBERED = 256
"""How many questions are kept read, settled, planned and explained."""

BY_VALUE = frozenset({str, bytes, int, bool, type(None)})
BY_WORDS = frozenset({float, Decimal, datetime.date, datetime.datetime, datetime.time, datetime.timedelta})
"""Types of values that are equal and not the same: 1.0 and 1.00, one moment in two time zones."""

Made = TypeVar("Made")


@final
class Remembered(Generic[Made]):
    """Keeps so many things, those that were asked for last. Safe for threads; two may work the same thing out."""

    def __init__(self, most: int) -> None:
        self._most, self._lock = most, threading.Lock()
        self._kept: OrderedDict[Hashable, Made] = OrderedDict()

    def get(self, key: Hashable, make: Callable[[], Made]) -> Made:
        """What is kept under a key, or else what is made now; what cannot be made is not kept."""
        with self._lock:
            if key in self._kept:
                self._kept.move_to_end(key)
                return self._kept[key]
        made = make()
        with self._lock:
            self._kept[key] = made
            while len(self._kept) > self._most:
                self._kept.popitem(last=False)
        return made

    def __len__(self) -> int:
        return len(self._kept)


@final
class Worked:
    """What was read, settled, planned and explained on the tables of a data set."""

    def __init__(self) -> None:
        self.read: Remembered[Statement] = Remembered(REMEMBERED)
        self.settled: Remembered[QueryPlan] = Remembered(REMEMBERED)
        self.planned: Remembered[CompiledQuery] = Remembered(REMEMBERED)
        self.explained: Remembered[Explanation] = Remembered(REMEMBERED)
        self.shaped: Remembered[tuple[ShapedColumn, ...]] = Remembered(REMEMBERED)


def exactly(value: object) -> Hashable | None:
    """A key for a plain value that tells 1 from 1.0, from 1.00 and from true; None where there is none."""
    if isinstance(value, list | tuple):
        parts = [exactly(part) for part in value]
        return None if any(part is None for part in parts) else (type(value).__name__, *parts)
    if isinstance(value, dict):
        return exactly([(name, value[name]) for name in value])
    if type(value) in BY_VALUE:
        return type(value), value
    return (type(value), repr(value)) if type(value) in BY_WORDS else None
