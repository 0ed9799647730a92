"""Vectors in pieces: how far apart they are where a unit is in few pieces, and may move all of those."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from itertools import accumulate, pairwise
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


@final
@dataclass(frozen=True)
class LargestL1(VectorMetric):
    """The largest of the L1 distances of pieces, which have stated lengths and stand one after another.

    It is that of several tables of the same rows, of which every row is in one cell each: whoever looks at one of them
    sees what that one moves, however many there are.

    >>> LargestL1((2, 3)).distance([1, 0, 5, 0, 0], [0, 1, 5, 0, 3])
    Fraction(3, 1)
    """

    sizes: tuple[int, ...]

    def __post_init__(self) -> None:
        read = tuple(integer(size, "the length of a piece", least=1) for size in self.sizes)
        object.__setattr__(self, "sizes", read)

    @property
    def ends(self) -> tuple[tuple[int, int], ...]:
        """Where each piece begins, and where it ends."""
        return tuple(pairwise(accumulate(self.sizes, initial=0)))

    def distance(self, left: Data, right: Data) -> Distance:
        gaps = [abs(gap) for gap in differences(left, right, self)]
        return max((sum(gaps[start:end], Fraction(0)) for start, end in self.ends), default=Fraction(0))

    def misfit(self, domain: Domain) -> str | None:
        size = domain.size if isinstance(domain, Vector) else None
        needed = sum(self.sizes)
        wrong = size is not None and size != needed
        return f"the pieces have {needed} coordinates, and there are {size}." if wrong else super().misfit(domain)

    def __str__(self) -> str:
        return f"the largest L1 distance of {len(self.sizes)} pieces"
