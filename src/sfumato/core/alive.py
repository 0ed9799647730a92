"""What is alive in a process, for hooks that must reach all of it, such as those of a fork."""

from __future__ import annotations

import weakref
from collections.abc import Iterator
from contextlib import suppress
from typing import Generic, TypeVar, final

Thing = TypeVar("Thing")


@final
class Alive(Generic[Thing]):
    """The things that were added and are still there.

    None of them leads to another. Of one in a `WeakSet`, the weak reference gives its callback, that the set, and the
    set all the others: whoever holds one ledger would hold every other book of the process. Threads may add at once.
    """

    def __init__(self) -> None:
        self._references: list[weakref.ref[Thing]] = []

    def add(self, thing: Thing) -> None:
        """Adds a thing, for as long as somebody else holds it."""
        self._references.append(weakref.ref(thing))
        for gone in [one for one in tuple(self._references) if one() is None]:
            with suppress(ValueError):  # another thread was faster
                self._references.remove(gone)

    def __iter__(self) -> Iterator[Thing]:
        return (thing for one in tuple(self._references) if (thing := one()) is not None)
