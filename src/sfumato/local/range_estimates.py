"""What reports on a tree of ordered values tell: counts of ranges, the distribution, quantiles, with their errors."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from statistics import NormalDist
from typing import TypeAlias, final

import numpy as np
from numpy.typing import NDArray

from sfumato.accounting.losses.measures import Pure
from sfumato.errors import BadArgument
from sfumato.exact import Number, probability
from sfumato.local.consistency import norm_sub
from sfumato.local.range_trees import Haar, Tree
from sfumato.local.reports import Rejected
from sfumato.local.response import Response
from sfumato.local.signed import SignedResponse
from sfumato.local.unary import UnaryEncoding
from sfumato.local.values import Values

Floats: TypeAlias = NDArray[np.float64]
Level: TypeAlias = Response | UnaryEncoding | SignedResponse


@final
@dataclass(frozen=True)
class RangeCount:
    """An unbiased count of the people in a range, and its standard deviation; it may be negative."""

    count: float
    deviation: float
    users: int

    def interval(self, confidence: Number = Fraction(95, 100)) -> tuple[float, float]:
        """The counts that the reports do not speak against: lower and upper end."""
        width = normal_width(confidence) * self.deviation
        return max(0.0, self.count - width), min(float(self.users), self.count + width)


@final
@dataclass(frozen=True, eq=False)
class RangeEstimate:
    """Estimated shares of ordered values, and of all ranges of them; unbiased, with the errors that chance has made.

    Each person told of one level of a tree; ``asked`` are how many told of each, ``measured`` what they told. Estimates
    speak of all who reported. Where nobody told of a level, nothing is estimated.
    """

    values: Values
    parts: tuple[Level, ...]
    tree: Tree | Haar
    asked: tuple[int, ...]
    measured: tuple[Floats, ...]
    loss: Pure
    rejected: Rejected

    @property
    def users(self) -> int:
        """How many reports were counted."""
        return sum(self.asked)

    @cached_property
    def shares(self) -> Floats:
        """The unbiased estimate of the share of each value; no numbers where a level was asked of nobody."""
        if not all(self.asked):
            return np.full(len(self.values), np.nan)
        return self.tree.fitted(list(self.measured))

    @property
    def counts(self) -> Floats:
        """The unbiased estimate of how many people have each value."""
        return self.shares * self.users

    def consistent(self) -> Floats:
        """Counts of at least 0 that add up to the number of people: the nearest ones, at no cost."""
        return norm_sub(self.counts, self.users)

    def count(self, low: Hashable, high: Hashable) -> RangeCount:
        """How many people have a value from ``low`` to ``high``, both included."""
        first, last = self.values.place(low), self.values.place(high)
        if first > last:
            raise BadArgument("low and high", "in the order of the values", (low, high))
        share = float(self.shares[first : last + 1].sum())
        return RangeCount(share * self.users, self._deviation(first, last + 1) * self.users, self.users)

    def cdf(self) -> Floats:
        """The share of people with each value or one before it: rising from 0 to 1.

        The mean of the least rising curve above the unbiased one and the largest below it: in no place farther from the
        true curve than the unbiased one is at its worst place.
        """
        raw = np.cumsum(self.shares)
        risen = (np.maximum.accumulate(raw) + np.minimum.accumulate(raw[::-1])[::-1]) / 2
        rising: Floats = np.clip(risen, 0, 1)
        rising[-1] = 1 if self.users else np.nan
        return rising

    def quantile(self, share: Number) -> Hashable:
        """The first value up to which there is such a share of people."""
        wanted = float(probability(share, "share"))
        rising = self._known(self.cdf())
        return self.values[self._first(lambda place: float(rising[place]), wanted)]

    @property
    def median(self) -> Hashable:
        """The first value up to which there are half of all people."""
        return self.quantile(Fraction(1, 2))

    def quantile_interval(self, share: Number, confidence: Number = Fraction(95, 100)) -> tuple[Hashable, Hashable]:
        """The values that the reports do not speak against as a quantile, found by bisection: first and last."""
        wanted, width = float(probability(share, "share")), normal_width(confidence)
        rising = self._known(self.cdf())

        def end(z: float) -> int:
            return self._first(lambda place: float(rising[place]) + z * self._deviation(0, place + 1), wanted)

        return self.values[end(width)], self.values[end(-width)]

    def _known(self, shares: Floats) -> Floats:
        if not all(self.asked):
            raise BadArgument("reports", "so many that every level was asked of somebody", f"{self.users}")
        return shares

    def _first(self, rising: Callable[[int], float], wanted: float) -> int:
        """The first place where a rising curve is as high as wanted; the last place if it nowhere is."""
        low, high = 0, len(self.values) - 1
        while low < high:
            middle = (low + high) // 2
            low, high = (low, middle) if rising(middle) >= wanted else (middle + 1, high)
        return low

    def _deviation(self, first: int, after: int) -> float:
        if not all(self.asked):
            return float("nan")
        variance = range_variance(self.parts, self.tree, self.asked, self._possible, range(first, after))
        return math.sqrt(variance)

    @cached_property
    def _possible(self) -> Floats:
        return norm_sub(self.shares, 1)


def normal_width(confidence: Number) -> float:
    """How many standard deviations to each side hold a normal number with a confidence."""
    level = probability(confidence, "confidence")
    if not 0 < level < 1:
        raise BadArgument("confidence", "greater than 0 and less than 1", confidence)
    return NormalDist().inv_cdf(float((1 + level) / 2))


def range_variance(
    parts: Sequence[Level], tree: Tree | Haar, asked: Sequence[float], shares: Floats, places: range
) -> float:
    """The exact variance of the estimated share of a range, if people have such shares and so many told of each level.

    People of a level are drawn from all without replacement, so that what chance adds on one level it takes from others
    (proofs/local_several.md#ranges).
    """
    inside = np.zeros(len(shares))
    inside[places.start : places.stop] = 1
    people = float(sum(asked))
    several = people / (people - 1) if people > 1 else 0.0
    share = float(inside @ shares)
    variance = -several * share * (1 - share) / people
    for part, width, weights, told in zip(parts, tree.widths, tree.measured_weights(inside), asked, strict=True):
        nodes = np.add.reduceat(shares, np.arange(0, len(shares), width))
        noise, means = answer_variance(part, weights, nodes)
        spread = float(means**2 @ nodes) - float(means @ nodes) ** 2
        variance += (noise + several * spread) / told
    return max(variance, 0.0)


def answer_variance(part: Level, weights: Floats, nodes: Floats) -> tuple[float, Floats]:
    """What noise adds to the variance of a weighted sum of what a report tells, and its mean for each node."""
    if isinstance(part, SignedResponse):
        means = np.stack((weights, -weights), axis=1).reshape(-1)[: len(nodes)]
        return float(weights @ weights) / float(part.truth) ** 2 - float(means**2 @ nodes), means
    truth, other = float(part.supports_truth), float(part.supports_other)
    gain, squares = truth - other, weights**2
    if isinstance(part, UnaryEncoding):
        rise = truth * (1 - truth) - other * (1 - other)
        return float(squares @ (other * (1 - other) + rise * nodes)) / gain**2, weights
    reported = float(squares @ (other + gain * nodes))
    return (reported - float((other * weights.sum() + gain * weights) ** 2 @ nodes)) / gain**2, weights
