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
    from sfumato.query.answer.explanation import Explanation, Rows
    from sfumato.query.answer.shape import ShapedColumn
    from sfumato.query.plan.compiled_query import CompiledQuery
    from sfumato.query.plan.query_plan import QueryPlan
    from sfumato.query.sql.reading import Statement

REMEMBERED = 256
"""How many questions are kept read, settled, planned and explained, and of how many forms it is known how far off
answers are."""

BY_VALUE = frozenset({str, bytes, int, bool, type(None)})
BY_WORDS = frozenset({float, Decimal, datetime.date, datetime.datetime, datetime.time, datetime.timedelta})
"""Types of values that are equal and not the same: 1.0 and 1.00, one moment in two time zones."""

Made = TypeVar("Made")


@final
class Remembered(Generic[Made]):
    """Keeps so many things, those that were asked for last. Safe for threads; two may work the same thing out."""

    def __init__(self, most: int) -> None:
        self._most, self._lock = most, threading.Lock()
        self._kept: OrderedDict[_Key, Made] = OrderedDict()

    def get(self, key: Hashable, make: Callable[[], Made]) -> Made:
        """What is kept under a key, or else what is made now; what cannot be made is not kept."""
        once = _Key(key)
        with self._lock:
            if once in self._kept:
                self._kept.move_to_end(once)
                return self._kept[once]
        made = make()
        with self._lock:
            self._kept[once] = made
            while len(self._kept) > self._most:
                self._kept.popitem(last=False)
        return made

    def __len__(self) -> int:
        return len(self._kept)


@final
class _Key:
    """A key whose hash is worked out once: questions are long."""

    __slots__ = ("_hash", "key")

    def __init__(self, key: Hashable) -> None:
        self.key, self._hash = key, hash(key)

    def __hash__(self) -> int:
        return self._hash

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Key) and self.key == other.key


@final
class Worked:
    """What was read, settled, planned and explained on the tables of a data set.

    ``finished`` are questions from which answers can be made, and ``expected`` how far off these are, ``others`` also
    at other prices: of all three everything is the key but which rows are asked about (`CompiledQuery.finishing`), so
    that nothing need be worked out anew for another condition.
    """

    def __init__(self) -> None:
        self.read: Remembered[Statement] = Remembered(REMEMBERED)
        self.settled: Remembered[QueryPlan] = Remembered(REMEMBERED)
        self.planned: Remembered[CompiledQuery] = Remembered(REMEMBERED)
        self.explained: Remembered[Explanation] = Remembered(REMEMBERED)
        self.shaped: Remembered[tuple[ShapedColumn, ...]] = Remembered(REMEMBERED)
        self.finished: Remembered[None] = Remembered(REMEMBERED)
        self.expected: Remembered[Rows] = Remembered(REMEMBERED)
        self.others: Remembered[Rows] = Remembered(REMEMBERED)


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
