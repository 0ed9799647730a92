"""Pages: a few of many things in the order of the book, and where the next few begin."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import islice
from typing import Generic, Protocol, TypeVar, final

from sfumato.errors import BadArgument

MOST = 500
"""How many things one page has, at most."""


class Numbered(Protocol):
    """Something with a number that grows."""

    @property
    def number(self) -> int:
        """Its place in the order."""


Thing = TypeVar("Thing", bound=Numbered)


@final
@dataclass(frozen=True)
class Page(Generic[Thing]):
    """Some things in order; ``after`` is what to ask for next, None where there is no more."""

    items: tuple[Thing, ...]
    after: int | None = None

    @staticmethod
    def of(things: Iterable[Thing], many: int) -> Page[Thing]:
        """Takes as many as a page has of things that come in order."""
        found = tuple(islice(things, checked_many(many) + 1))
        items = found[:many]
        return Page(items, items[-1].number if len(found) > many else None)


def checked_many(many: object, most: int = MOST) -> int:
    """The size of a page; refuses one that nobody could read."""
    if type(many) is not int or not 1 <= many <= most:
        raise BadArgument("many", f"a whole number from 1 to {most}", many)
    return many


def checked_after(after: object) -> int:
    """The number after which a page begins."""
    if type(after) is not int or not 0 <= after < 1 << 62:
        raise BadArgument("after", "a whole number, 0 or more", after)
    return after
