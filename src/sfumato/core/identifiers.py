"""The distance between tables in which rows belong to people: how many people to add or remove, with all their rows;
and between tables whose rows belong to others too, such as firms: how many rows of how many people."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import final

from sfumato.core.domains import Custom, Data, Domain, Frame, Tables
from sfumato.core.grouped_distance import AnyDistance, DistanceLike, GroupedDistance
from sfumato.core.metrics import DatasetMetric, Unit
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
        ours, theirs = self.rows(left), self.rows(right)
        apart = 0
        for identifier in ours.keys() | theirs.keys():
            if identifier not in ours or identifier not in theirs:
                apart += 1
            elif records(ours[identifier]) != records(theirs[identifier]):
                apart += 2
        return Fraction(apart)

    def rows(self, data: Data) -> dict[Hashable, list[tuple[Data, ...]]]:
        """The rows of each identifier; refuses a row without one."""
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


@final
@dataclass(frozen=True)
class SharedIdentifiers(DatasetMetric):
    """Identifiers whose rows are those of other kinds of units too, as the jobs of people are the jobs of firms.

    A whole number counts identifiers to add or remove, as in `Identifiers`. A `GroupedDistance` counts what another
    kind of unit takes with it: so many ``rows`` to add, or so many to remove, of at most so many identifiers
    (``parts``), at most ``largest`` of each; what else these have stays.

    >>> before = {"id": [1, 1, 2, 3], "firm": list("abab")}
    >>> after = {"id": [1, 3], "firm": list("bb")}
    >>> SharedIdentifiers("id").distance(before, after), SharedIdentifiers("id").taken(before, after)
    (Fraction(3, 1), GroupedDistance(parts=2, rows=2, largest=1))
    """

    column: str

    def __post_init__(self) -> None:
        self._all()

    def _all(self) -> Identifiers:
        return Identifiers(self.column)

    def distance(self, left: Data, right: Data) -> Distance:
        return self._all().distance(left, right)

    def taken(self, left: Data, right: Data) -> GroupedDistance:
        """How many rows are on one side only, of how many identifiers, and how many of one at most."""
        ours, theirs = (
            {name: records(rows) for name, rows in self._all().rows(side).items()} for side in (left, right)
        )
        none = records([])
        apart = [
            ((ours.get(one, none) - theirs.get(one, none)) + (theirs.get(one, none) - ours.get(one, none))).total()
            for one in ours.keys() | theirs.keys()
        ]
        return GroupedDistance(sum(rows > 0 for rows in apart), sum(apart), max(apart, default=0))

    def read(self, distance: DistanceLike | Unit) -> AnyDistance:
        own = self._own(distance)
        return own if isinstance(own, GroupedDistance) else super().read(own)

    def misfit(self, domain: Domain) -> str | None:
        return self._all().misfit(domain)

    def unit(self, distance: AnyDistance) -> str:
        if not isinstance(distance, GroupedDistance):
            return self._all().unit(distance)
        return f"up to {distance.rows} rows of up to {distance.parts} {self.column}, added or removed"

    def __str__(self) -> str:
        return f"the distance in {self.column}, and in rows of it"
