"""The distance between tables in which rows belong to people: how many people to add or remove, with all their rows."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import final

from sfumato.core.domains import Custom, Data, Domain, Frame, Tables
from sfumato.core.metrics import DatasetMetric
from sfumato.core.rows import canonical, records
from sfumato.errors import BadArgument, NoDistance
from sfumato.exact import Distance


@final
@dataclass(frozen=True)
class Identifiers(DatasetMetric):
    """Counts the identifiers to add or remove, each with all of its rows, to turn one table into the other.

    An identifier that is in one table only counts 1; one that is in both with other rows counts 2: it is removed and
    added again. However many rows it has makes no difference. ``window`` says in words within which stretch of time an
    identifier is one unit, if it is not one for ever.

    >>> before = {"id": [872, 867, 934, 872, 867, 14], "site": list("abcdef")}
    >>> after = {"id": [872, 934, 872, 14], "site": list("acdf")}
    >>> Identifiers("id").distance(before, after)
    Fraction(1, 1)
    """

    column: str
    window: str = ""

    def __post_init__(self) -> None:
        if not isinstance(self.column, str) or not self.column:
            raise BadArgument("the column of identifiers", "a name", self.column)

    def distance(self, left: Data, right: Data) -> Distance:
        ours, theirs = self._rows(left), self._rows(right)
        apart = 0
        for identifier in ours.keys() | theirs.keys():
            if identifier not in ours or identifier not in theirs:
                apart += 1
            elif records(ours[identifier]) != records(theirs[identifier]):
                apart += 2
        return Fraction(apart)

    def _rows(self, data: Data) -> dict[Hashable, list[tuple[Data, ...]]]:
        if not isinstance(data, Mapping) or self.column not in data:
            raise NoDistance(self, f"there is no column {self.column!r} that says who owns a row.")
        rows: dict[Hashable, list[tuple[Data, ...]]] = defaultdict(list)
        for identifier, *row in zip(data[self.column], *(data[name] for name in sorted(data)), strict=True):
            if identifier is None or identifier != identifier:
                raise NoDistance(self, "a row has no identifier, so that nobody knows who owns it.")
            rows[canonical(identifier)].append(tuple(row))
        return rows

    def misfit(self, domain: Domain) -> str | None:
        if isinstance(domain, Tables | Custom):
            return None
        if isinstance(domain, Frame) and self.column in dict(domain.columns):
            return None
        return f"it needs tables in which a column {self.column!r} says who owns each row."

    def unit(self, distance: Distance) -> str:
        many = "one" if distance == 1 else str(distance)
        each = f" in {self.window}" if self.window else ""
        return f"{many} {self.column}{each}, with all rows, added or removed"

    def __str__(self) -> str:
        return f"the distance in {self.column}" + (f" and {self.window}" if self.window else "")
