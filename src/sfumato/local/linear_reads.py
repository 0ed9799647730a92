"""Unbiased readings of reports of windows: whatever is linear in the shares of places, with its largest variance.

Reports have the law outside + gain · [cell in window]. The laws of different places are linearly independent, so that
each linear question g of the shares has readings a of cells whose mean is g(place) at every place; the ones taken here
have the least variance where all cells are alike, which for much noise they nearly are.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import final

import numpy as np
from numpy.typing import NDArray

from sfumato.local.expectation import covered, within
from sfumato.local.reach import normal_reach
from sfumato.local.windows import Window

Floats = NDArray[np.float64]


@final
@dataclass(frozen=True, eq=False)
class LinearReads:
    """Readings of the counts of reports in cells.

    A share below an edge cannot be read well by itself where places are many. It lies between the means of the shares
    below the edges just before it and just behind it: these can, and they are ``reach`` edges long.
    """

    window: Window
    counts: NDArray[np.int64]
    reach: int

    @classmethod
    def of(cls, window: Window, counts: NDArray[np.int64]) -> LinearReads:
        """Readings with the reach that makes intervals shortest for a flat distribution."""
        tried = []
        reach = 1
        while reach <= (window.steps + 2) // 2:
            reads = cls(window, counts, reach)
            middle = reads.below((window.steps + 1) // 2)
            noise = math.sqrt(float(reads.variance(reads.readings(middle), middle)) / int(counts.sum()))
            tried.append((reach / (window.steps + 1) + 4 * noise, reads))
            reach *= 2
        return min(tried, key=lambda one: one[0])[1]

    def below(self, edge: int | NDArray[np.int64]) -> Floats:
        """For each place, the share of the ``reach`` edges up to one that it is below; a column for each edge."""
        away = np.subtract.outer(np.arange(self.window.steps + 1.0), edge)
        ramp: Floats = np.clip(-away / self.reach, 0, 1)
        return ramp

    def above(self, edge: int | NDArray[np.int64]) -> Floats:
        """For each place, the share of the ``reach`` edges from one on that it is below; beyond the last, it is."""
        return self.below(edge + self.reach - 1)

    def readings(self, question: Floats) -> Floats:
        """What each cell counts, for a question: the least squares of all unbiased readings, about their mean.

        All laws have sum 1, so that a constant moves readings and answers alike. Readings of sum 0 see the windows only
        and not what is the same for all cells, which for small ε is nearly everything.
        """
        inverse, window = inverse_overlaps(self.window), self.window
        own, flat = covered(inverse @ question, window), covered(inverse.sum(axis=0), window)
        level = np.tensordot(flat, own, 1) / (flat @ flat)
        away = own - np.multiply.outer(flat, level)
        read: Floats = away / float(window.inside - window.outside) + level
        return read

    def variance(self, readings: Floats, question: Floats) -> Floats:
        """The largest variance of a reading, over all places that a person may have."""
        squares = readings**2
        outside, gain = float(self.window.outside), float(self.window.inside - self.window.outside)
        second = outside * squares.sum(axis=0) + gain * within(squares, self.window)
        most: Floats = np.max(second - question**2, axis=0)
        return np.maximum(most, 0.0)  # that of a constant question is 0, or by rounding a little less

    def interval(self, lower: Floats, upper: Floats, tail: float) -> tuple[Floats, Floats]:
        """Where the answer of one question is not above, and that of another one not below, the truth."""
        (low, low_off), (high, high_off) = (self._read(question, tail) for question in (lower, upper))
        return low - low_off, high + high_off

    def _read(self, question: Floats, tail: float) -> tuple[Floats, Floats]:
        """The unbiased answer, and how far it may be off."""
        readings, users = self.readings(question), int(self.counts.sum())
        variance, jump = self.variance(readings, question), np.ptp(readings, axis=0)
        return self.counts @ readings / users, normal_reach(tail, variance=variance, jump=jump, users=users)

    def bands(self, tail: float) -> tuple[Floats, Floats]:
        """For each edge, between what the share of people below it may be."""
        edges = np.arange(self.window.steps + 2)
        low, high = self.interval(self.below(edges), self.above(edges), tail)
        low[0], high[-1] = 0.0, 1.0
        return np.clip(low, 0, 1), np.clip(high, 0, 1)


@lru_cache(maxsize=4)
def inverse_overlaps(window: Window) -> Floats:
    """The inverse of how many cells the windows of any two places share."""
    places = np.arange(window.steps + 1)
    inverse: Floats = np.linalg.inv(np.maximum(window.width - np.abs(places[:, None] - places[None, :]), 0.0))
    return inverse
