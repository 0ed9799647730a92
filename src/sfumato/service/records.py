"""Records of a service beside the ledger: people, tokens, data sets, jobs. Each has a kind, a name and a version.

What was spent and what was decided is in the book, which nobody can change; what is here can be. Whoever writes says
which version they have seen (`Kept.version`), so that of two that change one record one is told to look again.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, final

from sfumato.errors import BadArgument

NEW = 0
"""The version of a record that is not there yet."""

RESTORE = "restore"
"""The kind, and the name, of the record that says that a backup is being brought in, and that this is not done."""

LONGEST_NAME = 300


@final
@dataclass(frozen=True)
class Kept:
    """A record as it is: its name, how often it was written, and what it says (as JSON holds it)."""

    name: str
    version: int
    said: dict[str, Any]


class Records(ABC):
    """Keeps records in a database that several workers share. Every write is durable when it returns.

    Safe for threads. A fault is a `ServiceUnavailable` with our words.
    """

    @abstractmethod
    def get(self, kind: str, name: str) -> Kept | None:
        """A record; None where there is none."""

    def with_named(self, kind: str, name: str, other: str, part: str) -> tuple[Kept, Kept | None] | None:
        """A record, and the one of an ``other`` kind whose name it says in a ``part``, as they are at one moment or one
        after the other; None where there is none."""
        kept = self.get(kind, name)
        return None if kept is None else (kept, self.get(other, kept.said[part]))

    @abstractmethod
    def all(self, kind: str, begins: str = "") -> list[Kept]:
        """All records of a kind whose names begin so, by name."""

    @abstractmethod
    def put(self, kind: str, name: str, said: dict[str, Any], *, expecting: int) -> Kept:
        """Writes a record in place of the version that is expected (`NEW`: none), or raises `ChangedMeanwhile`."""

    @abstractmethod
    def remove(self, kind: str, name: str, *, expecting: int) -> None:
        """Removes a record of the version that is expected, or raises `ChangedMeanwhile`."""

    @abstractmethod
    def close(self) -> None:
        """Lets go of the database."""

    def need(self, kind: str, name: str) -> Kept:
        """A record that must be there."""
        kept = self.get(kind, name)
        if kept is None:
            raise BadArgument(kind, "one that there is", name)
        return kept


def checked_record(kind: str, name: str) -> str:
    """The name of a record; refuses what no store could hold."""
    if not isinstance(name, str) or not name or len(name) > LONGEST_NAME or not name.isprintable():
        raise BadArgument(f"the name of a {kind}", f"a line of at most {LONGEST_NAME} letters", name)
    return name


def records_at(address: str) -> Records:
    """Opens the records at an address such as that of a ledger: ``sqlite:///path``, ``postgresql://…``, ``memory:``."""
    from sfumato.ledger.addresses import MEMORY, SERVERS

    if address.startswith(SERVERS):
        from sfumato.service.records_postgres import PostgresRecords

        return PostgresRecords(address)
    from sfumato.service.records_sqlite import SqliteRecords

    return SqliteRecords(None if address == MEMORY else address)
