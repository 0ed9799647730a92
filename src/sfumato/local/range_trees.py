"""Trees over ordered values: from noisy shares of the nodes of all levels to shares that add up, and back.

Level l cuts the list of values into nodes of ``widths[l]`` values each (the last one may have fewer); each width
divides the one before. The root is all values, of share 1. The fit is that of least squares, weighted by the variance
of each level (Hay, Rastogi, Miklau and Suciu 2010, arXiv 0904.0942, here for any branching and number of values): from
the leaves up each node is averaged with the sum of its children, and from the root down what is missing to a parent is
spread over its children in proportion to their variances. The fit is linear, so that any sum of leaves is a sum of what
was measured, with weights that `measured_weights` finds by going the same way backwards.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TypeAlias, final

import numpy as np
from numpy.typing import NDArray

Floats: TypeAlias = NDArray[np.float64]


@final
@dataclass(frozen=True, eq=False)
class Tree:
    """The nodes of all levels below the root, and the variance of what was measured on each level."""

    size: int
    widths: tuple[int, ...]
    variances: tuple[float, ...]

    def nodes(self, level: int) -> int:
        """The number of nodes of a level."""
        return -(-self.size // self.widths[level])

    @cached_property
    def _starts(self) -> list[NDArray[np.int64]]:
        """For each level the first node of each parent."""
        starts = [np.zeros(1, dtype=np.int64)]
        for above, below in zip(self.widths, self.widths[1:], strict=False):
            starts.append(np.arange(-(-self.size // above), dtype=np.int64) * (above // below))
        return starts

    @cached_property
    def _parents(self) -> list[NDArray[np.int64]]:
        """For each level the parent of each node."""
        return [
            np.repeat(np.arange(len(starts)), np.diff(starts, append=self.nodes(level)))
            for level, starts in enumerate(self._starts)
        ]

    def _over(self, level: int, nodes: Floats) -> Floats:
        """Sums of the children of each node of the level above."""
        sums: Floats = np.add.reduceat(nodes, self._starts[level])
        return sums

    @cached_property
    def _spreads(self) -> list[Floats]:
        """The variance of each node, once the levels below have been taken into account."""
        spreads = [np.full(self.nodes(len(self.widths) - 1), self.variances[-1])]
        for level in range(len(self.widths) - 2, -1, -1):
            below, own = self._over(level + 1, spreads[0]), self.variances[level]
            spreads.insert(0, own * below / (own + below))
        return spreads

    @cached_property
    def _own(self) -> list[Floats]:
        """The weight of what was measured of each node, against the sum of its children."""
        own = [
            self._over(level + 1, self._spreads[level + 1])
            / (self.variances[level] + self._over(level + 1, self._spreads[level + 1]))
            for level in range(len(self.widths) - 1)
        ]
        return [*own, np.ones(self.nodes(len(self.widths) - 1))]

    @cached_property
    def _taken(self) -> list[Floats]:
        """The part of what is missing to its parent that each node takes."""
        return [spread / self._over(level, spread)[self._parents[level]] for level, spread in enumerate(self._spreads)]

    def fitted(self, measured: list[Floats]) -> Floats:
        """The fitted shares of all values."""
        raised = [measured[-1]]
        for level in range(len(self.widths) - 2, -1, -1):
            own = self._own[level]
            raised.insert(0, own * measured[level] + (1 - own) * self._over(level + 1, raised[0]))
        above = np.ones(1)
        for level, nodes in enumerate(raised):
            missing = above - self._over(level, nodes)
            above = nodes + self._taken[level] * missing[self._parents[level]]
        return above

    def measured_weights(self, asked: Floats) -> list[Floats]:
        """The weight of each measured node in a weighted sum of fitted leaves."""
        below, left = asked, list[Floats]()
        for level in range(len(self.widths) - 1, -1, -1):
            above = self._over(level, self._taken[level] * below)
            left.insert(0, below - above[self._parents[level]])
            below = above
        weights, more = [], np.zeros(self.nodes(0))
        for level, own in enumerate(self._own):
            whole = left[level] + more
            weights.append(own * whole)
            if level + 1 < len(self.widths):
                more = ((1 - own) * whole)[self._parents[level + 1]]
        return weights


@final
@dataclass(frozen=True, eq=False)
class Haar:
    """Halves of halves: on each level the difference of the two halves of each node is measured."""

    size: int
    widths: tuple[int, ...]

    def fitted(self, measured: list[Floats]) -> Floats:
        """The shares of all values: each node is split by its difference; one without a second half is its first."""
        above = np.ones(1)
        for width, differences in zip(self.widths, measured, strict=True):
            nodes = -(-self.size // width)
            split = np.stack((above + differences, above - differences), axis=1).reshape(-1)[:nodes] / 2
            if nodes % 2:
                split[-1] = above[-1]
            above = split
        return above

    def measured_weights(self, asked: Floats) -> list[Floats]:
        """The weight of each difference in a weighted sum of the shares of values."""
        below, weights = asked, list[Floats]()
        for _ in self.widths:
            halves = np.append(below, below[-1]) if len(below) % 2 else below
            weights.insert(0, (halves[0::2] - halves[1::2]) / 2)
            below = (halves[0::2] + halves[1::2]) / 2
        return weights


def widths_of(size: int, branching: int) -> tuple[int, ...]:
    """The widths of the nodes of all levels below the root.

    >>> widths_of(100, 4), widths_of(5, 2)
    ((64, 16, 4, 1), (4, 2, 1))
    """
    widths = [1]
    while widths[0] * branching < size:
        widths.insert(0, widths[0] * branching)
    return tuple(widths)
