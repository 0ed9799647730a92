"""What a store knows of each batch: its key, when it was, and how many messages were kept and refused."""

from __future__ import annotations

import datetime
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TypeAlias, final

from sfumato.errors import BadArgument
from sfumato.local.reports import Rejected

Period: TypeAlias = str | datetime.date
LONGEST_NAME = 200


@final
@dataclass(frozen=True)
class Batch:
    """One batch of a store: how many of its reports were kept, and how many messages were not, and why.

    ``repeated`` says that it was there already, with the same content, and was not counted again.
    """

    key: str
    period: str
    accepted: int
    rejected: Rejected
    repeated: bool = False

    @property
    def received(self) -> int:
        """How many messages came in all."""
        return self.accepted + self.rejected.total

    def __str__(self) -> str:
        again = " (it was there already)" if self.repeated else ""
        rejected = ", ".join(f"{many:,} {why}" for why, many in vars(self.rejected).items() if many)
        return f"{self.accepted:,} of {self.received:,} messages kept{again}" + (f": {rejected}" if rejected else "")


def read_name(name: object, what: str) -> str:
    """A name that is kept, such as the key of a batch."""
    if not isinstance(name, str) or not 0 < len(name) <= LONGEST_NAME or not name.isprintable():
        raise BadArgument(what, f"a text of 1 to {LONGEST_NAME} letters", name)
    return name


def read_period(period: Period | None) -> str:
    """The name of a period; a date is its own, and none is the empty text."""
    if isinstance(period, datetime.date):
        return period.isoformat()
    return "" if period is None else read_name(period, "period")


def read_chosen(chosen: Period | Iterable[Period] | None, what: str) -> tuple[str, ...] | None:
    """Names of batches or periods: one, several, or None for all."""
    if chosen is None:
        return None
    if isinstance(chosen, str | datetime.date):
        chosen = [chosen]
    if not isinstance(chosen, Iterable):
        raise BadArgument(what, "a name, or a list of names", chosen)
    return tuple(read_period(one) for one in chosen)
