"""How often somebody may ask. Counted in this process alone: with several workers each counts for itself."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Iterable, Mapping
from typing import final

from sfumato.server.problems import Refused

REMEMBERED = 20_000
"""People and addresses of which is kept how often they came; the oldest are forgotten."""


@final
class Buckets:
    """Lets each name through ``burst`` times at once, and ``second`` times a second for good."""

    def __init__(self, burst: float, second: float, now: Callable[[], float]) -> None:
        self._burst, self._second, self._now = burst, second, now
        self._levels: OrderedDict[str, tuple[float, float]] = OrderedDict()
        self._lock = threading.Lock()

    def take(self, name: str) -> None:
        """Counts one more, or refuses it (429) with the time after which it will be let through."""
        now = self._now()
        with self._lock:
            level, seen = self._levels.pop(name, (self._burst, now))
            level = min(self._burst, level + (now - seen) * self._second)
            let = level >= 1
            self._levels[name] = (level - 1 if let else level, now)
            if len(self._levels) > REMEMBERED:
                self._levels.popitem(last=False)
        if not let:
            raise too_many((1 - level) / self._second)


@final
class Failures:
    """Makes whoever fails wait: the first times not at all, then twice as long after each failure.

    Names are given with how often they may fail before: a person at one address seldom, an address or a person more
    often, so that nobody locks others out with a few guesses.
    """

    def __init__(self, delay: float, longest: float, now: Callable[[], float]) -> None:
        self._delay, self._longest, self._now = delay, longest, now
        self._counts: OrderedDict[str, tuple[int, float]] = OrderedDict()
        self._lock = threading.Lock()

    def check(self, names: Iterable[str]) -> None:
        """Refuses (429) whoever has to wait still, under any of the names."""
        now = self._now()
        with self._lock:
            until = max((self._counts[name][1] for name in names if name in self._counts), default=now)
        if until > now:
            raise too_many(until - now)

    def failed(self, names: Mapping[str, int]) -> None:
        """Counts a failure under each of the names, which may fail so often before they have to wait."""
        now = self._now()
        with self._lock:
            for name, free in names.items():
                count = min(self._counts.pop(name, (0, now))[0] + 1, 1_000)
                wait = 0.0 if count <= free else min(self._longest, self._delay * 2.0 ** (count - free - 1))
                self._counts[name] = (count, now + wait)
                if len(self._counts) > REMEMBERED:
                    self._counts.popitem(last=False)

    def succeeded(self, name: str) -> None:
        """Forgets the failures under a name."""
        with self._lock:
            self._counts.pop(name, None)


def too_many(wait: float) -> Refused:
    """The refusal of one request too many."""
    seconds = max(1, int(wait) + 1)
    return Refused(
        429, f"There were too many requests. Try again after {seconds} s.", headers={"Retry-After": str(seconds)}
    )
