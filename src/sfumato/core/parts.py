"""Partitioned data: data sets side by side under public keys, and how far apart two partitions are."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, field
from typing import final

from sfumato.core.domains import Data, Domain, Frame, Matrix, Vector, categories
from sfumato.core.grouped_distance import DistanceLike, GroupedDistance, read_spread
from sfumato.core.metrics import AddRemove, ChangeOne, DatasetMetric, Metric, Unit
from sfumato.errors import BadArgument, NoDistance, Unseen


@final
@dataclass(frozen=True)
class Parts(Domain):
    """Tuples of data sets, one for each public key; each has its own domain of rows.

    >>> str(Parts(("f", "m"), (Vector(categories(["yes", "no"])),) * 2))
    "2 parts, each any number of {'yes', 'no'}"
    """

    keys: tuple[Hashable, ...]
    rows: tuple[Vector | Matrix | Frame, ...]

    def __post_init__(self) -> None:
        object.__setattr__(self, "keys", categories(self.keys).values)
        object.__setattr__(self, "rows", tuple(self.rows))
        if len(self.rows) != len(self.keys):
            raise BadArgument("the domains of the parts", "one for each key", len(self.rows))
        for rows in self.rows:
            if not isinstance(rows, Vector | Matrix | Frame):
                raise BadArgument("the domain of a part", "a collection of rows", Unseen())

    def member(self, value: Data) -> bool:
        if not isinstance(value, tuple | list) or len(value) != len(self.rows):
            return False
        return all(rows.member(part) for rows, part in zip(self.rows, value, strict=True))

    def __str__(self) -> str:
        alike = len(set(self.rows)) == 1
        return f"{len(self.keys)} parts, " + (f"each {self.rows[0]}" if alike else f"the first {self.rows[0]}")


@final
@dataclass(frozen=True)
class PartDistance(Metric):
    """Gathers the distances between corresponding parts: how many differ, their sum, and the largest.

    A plain number of rows is read as that many rows that may fall anyhow: 1 is GroupedDistance(1, 1, 1).

    >>> PartDistance().distance((["a", "b"], []), (["a", "c"], ["d"]))
    GroupedDistance(parts=2, rows=3, largest=2)
    """

    rows: DatasetMetric = field(default_factory=AddRemove)

    def __post_init__(self) -> None:
        if not isinstance(self.rows, AddRemove | ChangeOne):
            raise BadArgument("the distance inside a part", "AddRemove() or ChangeOne()", self.rows)

    def distance(self, left: Data, right: Data) -> GroupedDistance:
        if len(left) != len(right):
            raise NoDistance(self, "there are different numbers of parts.")
        apart = [self.rows.distance(ours, theirs) for ours, theirs in zip(left, right, strict=True)]
        return GroupedDistance(sum(map(bool, apart)), sum(apart), max(apart, default=0))

    def misfit(self, domain: Domain) -> str | None:
        if not isinstance(domain, Parts):
            return "it needs data in parts: group_by(…) or random_parts(…) first."
        if isinstance(self.rows, AddRemove) and any(rows.size is not None for rows in domain.rows):
            return "parts of a public size exchange rows: use PartDistance(ChangeOne())."
        return next(filter(None, map(self.rows.misfit, domain.rows)), None)

    def unit(self, distance: GroupedDistance) -> str:
        rows = self.rows.unit(distance.rows)
        if distance.rows == 1:
            return f"{rows} in one part"
        most = "" if distance.largest == distance.rows else f", at most {distance.largest} in each"
        return f"{rows} in one part" if distance.parts == 1 else f"{rows} in at most {distance.parts} parts{most}"

    def read(self, distance: DistanceLike | Unit) -> GroupedDistance:
        return read_spread(self._own(distance))

    def __str__(self) -> str:
        return f"the spread of {self.rows} over parts"
