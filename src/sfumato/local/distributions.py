"""What reports of windows tell of a distribution: likely shares of buckets, and intervals that suppose nothing."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from statistics import NormalDist
from typing import final

import numpy as np
from numpy.typing import NDArray

from sfumato.accounting.losses.measures import Pure
from sfumato.errors import BadArgument
from sfumato.exact import Number, probability
from sfumato.local.expectation import Fit, likeliest, smoothed
from sfumato.local.linear_reads import LinearReads
from sfumato.local.numbers import Buckets
from sfumato.local.reports import NONE_REJECTED, Rejected
from sfumato.local.windows import Window

ROUNDS = 10_000
"""Rounds of a search for shares, at most."""

Floats = NDArray[np.float64]
Interval = tuple[float, float]


@final
@dataclass(frozen=True, eq=False)
class Distribution:
    """How the numbers of the people who reported are distributed over buckets.

    ``shares`` and what is read from them (`cdf`, `quantile`, `mean`, `share`) are likely guesses, smoothed and never
    negative. They may be biased, above all where a distribution has spikes; `sharp` has no smoothing. Intervals are
    made of unbiased readings of the reports, with the largest variance of any distribution, and hold for all of them.
    Within a bucket a guess takes numbers for evenly spread, an interval takes nothing for granted. Numbers from the
    upper bound on count as just below it, those below the lower bound as on it.
    """

    buckets: Buckets
    window: Window
    counts: NDArray[np.int64]
    loss: Pure
    rejected: Rejected = NONE_REJECTED
    smooth: bool = True

    @property
    def users(self) -> int:
        """How many reports were counted."""
        return int(self.counts.sum())

    @property
    def sharp(self) -> Distribution:
        """The same reports, with the likeliest shares of all."""
        return Distribution(self.buckets, self.window, self.counts, self.loss, self.rejected, smooth=False)

    @cached_property
    def fit(self) -> Fit:
        """The shares, and how near they are to the likeliest ones."""
        if not self.users:
            return Fit(np.full(self.buckets.count, math.nan), 0.0, 0)
        return (smoothed if self.smooth else likeliest)(self.counts, self.window, rounds=ROUNDS)

    @property
    def shares(self) -> Floats:
        """The share of people in each bucket; no numbers where nobody reported."""
        return self.fit.shares

    @cached_property
    def _rising(self) -> Floats:
        return np.concatenate([[0.0], np.minimum(np.cumsum(self.shares), 1.0)])

    def cdf(self, value: Number) -> float:
        """The share of people with a smaller number."""
        return float(np.interp(float(value), self.buckets.edges, self._rising))

    def share(self, low: Number, high: Number) -> float:
        """The share of people with a number from ``low`` up to ``high``."""
        return self.cdf(high) - self.cdf(low)

    def quantile(self, chance: Number) -> float:
        """The number below which such a share of people have theirs."""
        level = float(probability(chance, "chance"))
        rising, edges = self._rising, self.buckets.edges
        if not self.users:
            return math.nan
        place = int(np.searchsorted(rising, level * rising[-1], side="left"))
        if place == 0:
            return float(edges[np.searchsorted(rising, 0.0, side="right") - 1])
        part = (level * rising[-1] - rising[place - 1]) / (rising[place] - rising[place - 1])
        return float(edges[place - 1] + part * (edges[place] - edges[place - 1]))

    @property
    def median(self) -> float:
        """The number that as many people are below as above."""
        return self.quantile("1/2")

    @property
    def mean(self) -> float:
        """The mean of the middles of buckets."""
        return float(self.shares @ self._middles)

    @property
    def variance(self) -> float:
        """The variance of the people's numbers, evenly spread in each bucket."""
        width = (self.buckets.high - self.buckets.low) / self.buckets.count
        return float(self.shares @ (self._middles - self.mean) ** 2) + width**2 / 12

    @property
    def _middles(self) -> Floats:
        edges = self.buckets.edges
        return (edges[:-1] + edges[1:]) / 2

    def mean_interval(self, confidence: Number = "0.95") -> Interval:
        """Where the mean may be: half a bucket more on either side, for where people are in theirs."""
        edges = self.buckets.edges
        if not self.users:
            return self.buckets.low, self.buckets.high
        low, high = self._reads.interval(edges[:-1], edges[1:], _tail(confidence))
        return max(float(low), self.buckets.low), min(float(high), self.buckets.high)

    def share_interval(self, low: Number, high: Number, confidence: Number = "0.95") -> Interval:
        """Where the share of people with a number from ``low`` up to ``high`` may be."""
        least, most = float(low), float(high)
        if not least <= most:
            raise BadArgument("the range", "two numbers, the first not above the second", (low, high))
        if not self.users:
            return 0.0, 1.0
        edges, reads = self.buckets.edges, self._reads
        inner = reads.below(_last(edges, most)) - reads.above(_first(edges, least))
        outer = reads.above(_first(edges, most)) - reads.below(_last(edges, least))
        first, last = reads.interval(inner, outer, _tail(confidence))
        return max(float(first), 0.0), min(float(last), 1.0)

    def cdf_interval(self, value: Number, confidence: Number = "0.95") -> Interval:
        """Where the share of people with a smaller number may be."""
        return self.share_interval(self.buckets.low, max(float(value), self.buckets.low), confidence)

    def quantile_interval(self, chance: Number, confidence: Number = "0.95") -> Interval:
        """Where a quantile may be: from the first to the last bucket that the reports do not rule out for it."""
        level, tail = float(probability(chance, "chance")), _tail(confidence)
        edges = self.buckets.edges
        if not self.users:
            return self.buckets.low, self.buckets.high
        low, high = self._reads.bands(tail)
        possible = np.flatnonzero((low[:-1] <= level) & (high[1:] >= level))
        if not len(possible):
            return self.buckets.low, self.buckets.high
        return float(edges[possible[0]]), float(edges[possible[-1] + 1])

    @cached_property
    def _reads(self) -> LinearReads:
        return LinearReads.of(self.window, self.counts)

    def rows(self) -> list[dict[str, float]]:
        """One row for each bucket: its ends and its share."""
        edges = self.buckets.edges
        return [
            {"low": float(edges[at]), "high": float(edges[at + 1]), "share": float(share)}
            for at, share in enumerate(self.shares)
        ]

    def __str__(self) -> str:
        low, middle, high = (self.quantile(chance) for chance in ("1/4", "1/2", "3/4"))
        return f"{self.users} people, quartiles {low:.4g}, {middle:.4g}, {high:.4g}, mean {self.mean:.4g}, {self.loss}"


def _tail(confidence: Number) -> float:
    """How many standard deviations a side may be off."""
    level = probability(confidence, "confidence")
    if not 0 < level < 1:
        raise BadArgument("confidence", "greater than 0 and less than 1", confidence)
    return NormalDist().inv_cdf(float((1 + level) / 2))


def _last(edges: Floats, value: float) -> int:
    """The last edge that is not above a value."""
    return max(int(np.searchsorted(edges, value, side="right")) - 1, 0)


def _first(edges: Floats, value: float) -> int:
    """The first edge that is not below a value."""
    return min(int(np.searchsorted(edges, value, side="left")), len(edges) - 1)
