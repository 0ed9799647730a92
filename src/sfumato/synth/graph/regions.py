"""Marginals that agree with each other wherever they overlap, without a junction tree.

Where a junction tree would be too large, only the measured cliques themselves are kept, as regions, and of a table
behind them only this is asked: that regions agree on the columns they share ('Relaxed Marginal Consistency', McKenna,
Pradhan, Sheldon and Miklau 2021, arXiv 2109.06153). Such pseudo-marginals may be those of no table at all. Given
potentials, they are the nearest to the regions' own densities in relative entropy, summed over regions: a convex
problem, solved by scaling all regions around a set of shared columns to the geometric mean of what they say of it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from typing import final

import numpy as np

from sfumato.synth.graph.domain import Domain
from sfumato.synth.graph.factors import Step, aligned, perform, summing
from sfumato.synth.graph.junction import Columns
from sfumato.synth.graph.measured import Floats

SWEEPS = 200
"""So often regions are scaled to each other at most, for one set of potentials."""

AGREE = 1e-6
"""Regions agree when what they say of shared columns differs by no more than this share of all rows."""

TINY = 1e-200
"""Sums below this count as this, so that no scaling overflows."""


@final
@dataclass(frozen=True, eq=False)
class _Side:
    """One region's view of columns that it shares: how to sum it to them, and how they spread along it."""

    table: Floats
    sums: Floats
    adding: tuple[Step, ...]
    scaling: Floats
    offset: Floats


@final
@dataclass(frozen=True, eq=False)
class Regions:
    """Regions that agree on what they share, with factors laid out as in a propagation.

    Write ``potentials``, then `run`, then read ``expected``. Each run begins with the scalings that the last one ended
    with, so that small changes are quick.
    """

    domain: Domain
    regions: tuple[Columns, ...]
    factors: tuple[Columns, ...]
    potentials: Floats
    expected: Floats

    @staticmethod
    def plan(domain: Domain, factors: Sequence[Sequence[str]]) -> Regions:
        """Makes regions of those factors that lie in no other, and of columns that are in none."""
        speaks = tuple(name for name, size in zip(domain.names, domain.sizes, strict=True) if size > 1)
        inside = tuple(tuple(name for name in speaks if name in set(factor)) for factor in factors)
        sets = list(dict.fromkeys(frozenset(factor) for factor in (*inside, *((name,) for name in speaks)) if factor))
        largest = [one for one in sets if not any(one < other for other in sets)]
        regions = tuple(tuple(name for name in speaks if name in one) for one in largest)
        size = sum(domain.size(factor) for factor in inside)
        return Regions(domain, regions, inside, np.zeros(size), np.zeros(size))

    @property
    def order(self) -> Columns:
        """The columns of more than one code, in the order of the domain."""
        return tuple(name for name, size in zip(self.domain.names, self.domain.sizes, strict=True) if size > 1)

    @property
    def cells(self) -> int:
        """The number of cells in all regions."""
        return sum(self.domain.size(region) for region in self.regions)

    @cached_property
    def _ends(self) -> list[int]:
        return [0, *np.cumsum([self.domain.size(factor) for factor in self.factors], dtype=np.int64).tolist()]

    def part(self, place: int) -> slice:
        """Where a factor stands in the flat vectors."""
        return slice(self._ends[place], self._ends[place + 1])

    @cached_property
    def tables(self) -> tuple[Floats, ...]:
        """The counts of every region after the last run: arrays that the next run overwrites."""
        return tuple(np.zeros(self.domain.shape(region)) for region in self.regions)

    @cached_property
    def _homes(self) -> list[int]:
        sets = [frozenset(region) for region in self.regions]
        return [
            next((place for place, one in enumerate(sets) if one.issuperset(factor)), -1) for factor in self.factors
        ]

    @cached_property
    def _shared(self) -> tuple[tuple[_Side, ...], ...]:
        """For every set of columns that two regions share, the sides of all regions that have it."""
        sets = [frozenset(region) for region in self.regions]
        overlaps = sorted({one & other for one, other in combinations(sets, 2)} - {frozenset()}, key=sorted)
        overlaps.sort(key=len, reverse=True)
        return tuple(
            tuple(self._side(place, overlap) for place, one in enumerate(sets) if overlap <= one)
            for overlap in overlaps
        )

    def _side(self, place: int, overlap: frozenset[str]) -> _Side:
        region, table = self.regions[place], self.tables[place]
        columns = tuple(name for name in region if name in overlap)
        sums, offset = np.zeros(self.domain.size(columns)), np.zeros(self.domain.size(columns))
        sizes = dict(zip(region, self.domain.shape(region), strict=True))
        adding = summing(table, [name in overlap for name in region], sums)
        return _Side(table, sums, tuple(adding), np.ones(aligned(sizes, columns, region)), offset)

    @cached_property
    def _inputs(self) -> tuple[tuple[tuple[Floats, Floats], ...], tuple[Step, ...]]:
        """The potentials along the regions that they belong to, and the sums that lead back."""
        inputs, back = [], []
        for place, (factor, home) in enumerate(zip(self.factors, self._homes, strict=True)):
            if factor:
                region = self.regions[home]
                sizes = dict(zip(region, self.domain.shape(region), strict=True))
                along = self.potentials[self.part(place)].reshape(aligned(sizes, factor, region))
                inputs.append((self.tables[home], along))
                back += summing(self.tables[home], [name in factor for name in region], self.expected[self.part(place)])
        return tuple(inputs), tuple(back)

    def run(self, total: float = 1.0, *, sweeps: int = SWEEPS, agree: float = AGREE) -> float:
        """Turns potentials into counts of regions that agree; returns by how much they still differ."""
        inputs, back = self._inputs
        for table in self.tables:
            table.fill(0.0)
        for table, along in inputs:
            table += along
        for sides in self._shared:
            for side in sides:
                np.add(side.table, side.offset.reshape(side.scaling.shape), out=side.table)
        for table in self.tables:
            np.exp(np.subtract(table, table.max(), out=table), out=table)
            table *= total / table.sum()
        difference = math.inf
        for _ in range(sweeps):
            difference = max((_scale(sides, total) for sides in self._shared), default=0.0)
            if difference <= agree * total:
                break
        perform(back)
        for place, factor in enumerate(self.factors):
            if not factor:
                self.expected[self.part(place)] = total
        return difference


def _scale(sides: Sequence[_Side], total: float) -> float:
    """Scales regions to the geometric mean of what they say of the columns they share; returns how far they were."""
    logs = np.empty((len(sides), len(sides[0].sums)))
    low = high = None
    for side, row in zip(sides, logs, strict=True):
        perform(side.adding)
        np.log(np.maximum(side.sums, TINY, out=row), out=row)
        low = side.sums.copy() if low is None else np.minimum(low, side.sums)
        high = side.sums.copy() if high is None else np.maximum(high, side.sums)
    middle = logs.mean(axis=0)
    middle += math.log(total) - math.log(float(np.exp(middle).sum()))
    for side, row in zip(sides, logs, strict=True):
        np.subtract(middle, row, out=row)
        side.offset[:] += row
        np.exp(row.reshape(side.scaling.shape), out=side.scaling)
        np.multiply(side.table, side.scaling, out=side.table)
    return 0.0 if low is None or high is None else float((high - low).max())
