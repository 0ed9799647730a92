"""Vectors in pieces: how far apart they are where a unit is in few pieces, and may move all of those."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import final

from sfumato.core.domains import Data, Domain, Vector
from sfumato.core.metrics import VectorMetric, differences
from sfumato.exact import Distance, integer


@final
@dataclass(frozen=True)
class PiecewiseLInf(VectorMetric):
    """The sum over pieces of the largest distance in each: coordinates are dealt out to the pieces in turn.

    It is small where a unit is in few pieces, and may move all coordinates of those: sums by class.

    >>> PiecewiseLInf(2).distance([1, 0, 5, 0], [0, 0, 0, 3])
    Fraction(8, 1)
    """

    pieces: int

    def __post_init__(self) -> None:
        object.__setattr__(self, "pieces", integer(self.pieces, "the number of pieces", least=1))

    def distance(self, left: Data, right: Data) -> Distance:
        sizes = [abs(gap) for gap in differences(left, right, self)]
        return sum((max(sizes[place :: self.pieces], default=Fraction(0)) for place in range(self.pieces)), Fraction(0))

    def misfit(self, domain: Domain) -> str | None:
        size = domain.size if isinstance(domain, Vector) else None
        uneven = size is not None and (not size or size % self.pieces)
        return f"{self.pieces} pieces must be of one length." if uneven else super().misfit(domain)

    def __str__(self) -> str:
        return f"the L∞ distance added up over {self.pieces} pieces"
