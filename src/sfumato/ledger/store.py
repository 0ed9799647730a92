"""What a place that keeps a book must do: append in one atomic, durable step, and find again. Knows no privacy."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple, Protocol, final

from sfumato.errors import BadArgument, LedgerDamaged

LONGEST_KEY = 2000
"""Bytes of a key or a question: what every store can index."""

GONE = "entries that were read before are no longer in it"


@final
class Row(NamedTuple):
    """An entry as it is stored: its text and digest, and what it can be found by.

    ``key`` is unique to one charge, ``question`` what a stored release answers, ``settles`` the number of the charge
    that a release or a failure belongs to, ``value`` the text of the release that is kept with the entry.
    """

    number: int
    kind: str
    digest: str
    text: str
    key: str | None = None
    question: str | None = None
    settles: int | None = None
    value: str | None = None


class Pen(Protocol):
    """What one writer holds while an entry is decided: nobody else appends in the meantime."""

    @property
    def news(self) -> Sequence[Row]:
        """The rows that were appended since the one that the writer knows, without their values."""

    def by_key(self, key: str) -> Row | None:
        """Finds the charge with a key."""

    def settled(self, number: int) -> Row | None:
        """Finds what settles a charge, without its value."""


@final
class HopefulPen(Pen):
    """The pen of a writer who hopes to be alone: no news, and no key is taken. The unique indexes check it."""

    def __init__(self) -> None:
        self._keys: set[str] = set()
        self._settled: set[int] = set()

    @property
    def news(self) -> Sequence[Row]:
        return ()

    def by_key(self, key: str) -> Row | None:
        self._keys.add(key)
        return None

    def settled(self, number: int) -> Row | None:
        self._settled.add(number)
        return None

    def covered_by(self, rows: Sequence[Row]) -> bool:
        """Tells whether writing the rows would fail if one of our answers was wrong."""
        if not self._keys and not self._settled:
            return True
        return self._keys <= {row.key for row in rows} and self._settled <= {row.settles for row in rows}


Decide = Callable[[Pen], Sequence[Row]]
"""Decides, with the news at hand, which rows to append. May be called again if another writer was faster."""


class Store(ABC):
    """Keeps the rows of one book.

    A store is safe to use from several threads, and from several processes where it lasts. Numbers run 1, 2, 3 …
    without a gap. What `append` has returned survives a crash of the machine (where the store lasts at all).
    """

    @property
    @abstractmethod
    def lasts(self) -> bool:
        """Tells whether the book outlives the process."""

    @abstractmethod
    def append(self, known: int, decide: Decide) -> Sequence[Row]:
        """Appends what is decided, all of it or nothing, after every other writer's rows; gives the news it decided on.

        ``known`` is the number of the last row that the caller has seen. If ``decide`` raises, nothing is appended.
        """

    @abstractmethod
    def rows(self, after: int = 0, *, kinds: Sequence[str] = ()) -> Iterator[Row]:
        """The rows after a number, in order, with their values; of some kinds only, where any are named."""

    @abstractmethod
    def last(self, kind: str) -> Row | None:
        """Finds the last row of a kind."""

    @abstractmethod
    def by_key(self, key: str) -> Row | None:
        """Finds the charge with a key."""

    @abstractmethod
    def by_question(self, question: str) -> Row | None:
        """Finds the last stored release that answers a question, with its value."""

    @abstractmethod
    def settled(self, number: int) -> Row | None:
        """Finds what settles a charge, with its value."""

    @abstractmethod
    def get(self, number: int) -> Row | None:
        """Finds a row by its number, with its value."""

    @abstractmethod
    def secret(self, name: str, made: Callable[[], bytes]) -> bytes:
        """Bytes that are kept beside the book and never leave with it; made when first asked for."""

    @abstractmethod
    def close(self) -> None:
        """Closes the files and connections that the store holds open."""


def checked(rows: Sequence[Row], last: int) -> Sequence[Row]:
    """Returns rows that are to follow a number; refuses a gap, and what not every store could keep."""
    for number, row in enumerate(rows, last + 1):
        if row.number != number:
            raise LedgerDamaged("an entry was to be written twice, or one left out")
        for text in (row.text, row.key, row.question, row.value):
            if text and not storable(text):
                must = "without NUL and without halves of characters (lone surrogates)"
                raise BadArgument("a text", must, "such a one")
        for text in (row.key, row.question):
            if text and len(text.encode()) > LONGEST_KEY:
                raise BadArgument("a key or a question", f"of at most {LONGEST_KEY} bytes", "a longer one")
    return rows


def storable(text: str) -> bool:
    """Tells whether every store can keep a text."""
    if text.isascii():
        return "\0" not in text
    try:
        return b"\0" not in text.encode()
    except UnicodeEncodeError:
        return False
