"""What reports on pairs of a key and a number tell: how many people have each key, and the mean of their numbers."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, TypeAlias, final

import numpy as np
from numpy.typing import NDArray

from sfumato.accounting.losses.measures import Pure
from sfumato.exact import Number
from sfumato.local.range_estimates import normal_width
from sfumato.local.reports import Rejected
from sfumato.local.values import Values

Floats: TypeAlias = NDArray[np.float64]


@final
@dataclass(frozen=True)
class PairLaw:
    """How often a report supports the low and the high end of a key, exactly.

    An end that was drawn is supported with chance ``truth``, any other with ``other``; both ends of a key together with
    ``both_truth`` if one of them was drawn, else with ``both_other``. A pair is drawn with chance 1 / ``most``.
    """

    truth: Fraction
    other: Fraction
    both_truth: Fraction
    both_other: Fraction
    most: int

    @property
    def gain(self) -> Fraction:
        """What having a key adds to the mean of the support of its two ends."""
        return (self.truth - self.other) / self.most

    @property
    def _both(self) -> tuple[Fraction, Fraction]:
        """The chance that both ends are supported, without and with the key."""
        return self.both_other, self.both_other + (self.both_truth - self.both_other) / self.most

    @property
    def sum_variances(self) -> tuple[Fraction, Fraction]:
        """The variance of the support of both ends of a key, of somebody without it and with it."""
        single = (2 * self.other, 2 * self.other + self.gain)
        without, having = (one + 2 * both - one**2 for one, both in zip(single, self._both, strict=True))
        return without, having

    @property
    def difference_squares(self) -> tuple[Fraction, Fraction]:
        """The mean square of the support of the high end less that of the low one, without and with the key."""
        single = (2 * self.other, 2 * self.other + self.gain)
        without, having = (one - 2 * both for one, both in zip(single, self._both, strict=True))
        return without, having

    def variance(self, *, users: int, count: Number = 0) -> Fraction:
        """The exact variance of the estimated count of a key that ``count`` of ``users`` people have."""
        without, having = self.sum_variances
        return ((users - Fraction(count)) * without + Fraction(count) * having) / self.gain**2

    def mean_variance(self, ratio: Floats, users: int, having: Floats) -> tuple[Floats, Floats]:
        """A and B of the variance A + B μ² of the difference less μ times the sum, μ being the true mean of a key.

        Means are on the scale from −1 to 1. Where people with the key do not all have the same number, the variance is
        less by gain² for each square of what they differ from the mean.
        """
        none, own = (float(one) for one in self.difference_squares)
        flat, steep = (float(one) for one in self.sum_variances)
        gain, other = float(self.gain), float(self.other)
        more = steep + gain**2 - 2 * gain * (1 - 2 * other) - flat
        return users * none + having * (own - none), users * flat + having * more


@final
@dataclass(frozen=True, eq=False)
class KeyValueEstimate:
    """Estimated counts of all keys, and means of the numbers that people have with them.

    Counts are unbiased if nobody has more than ``most`` pairs: of somebody who has more, each counts as most / pairs.
    Means are ratios of two unbiased estimates, cut to the bounds, and no numbers where nobody seems to have the key.
    """

    keys: Values
    between: tuple[float, float]
    users: int
    low: NDArray[np.int64]
    high: NDArray[np.int64]
    law: PairLaw
    loss: Pure
    rejected: Rejected

    @property
    def _sums(self) -> Floats:
        """The support of both ends, less what it is without the key."""
        sums: Floats = (self.low + self.high).astype(np.float64) - float(2 * self.users * self.law.other)
        return sums

    @property
    def _differences(self) -> Floats:
        differences: Floats = (self.high - self.low).astype(np.float64)
        return differences

    @property
    def counts(self) -> Floats:
        """The unbiased estimate of how many people have each key."""
        return self._sums / float(self.law.gain)

    @property
    def deviations(self) -> Floats:
        """The standard deviation of each count, at the count that was estimated (moved into what is possible)."""
        without, having = (float(one) for one in self.law.sum_variances)
        at = np.clip(self.counts, 0, self.users)
        spread: Floats = np.sqrt((self.users - at) * without + at * having) / float(self.law.gain)
        return spread

    @property
    def totals(self) -> Floats:
        """The unbiased estimate of the sum of people's numbers with each key."""
        low, high = self.between
        totals: Floats = (low + high) / 2 * self.counts + (high - low) / 2 * self._differences / float(self.law.gain)
        return totals

    @property
    def means(self) -> Floats:
        """The estimated mean of the numbers of those who have each key."""
        counts, (low, high) = self.counts, self.between
        means = np.full(len(counts), np.nan)
        some = counts > 0
        means[some] = np.clip(self.totals[some] / counts[some], low, high)
        return means

    def interval(self, confidence: Number = Fraction(95, 100)) -> tuple[Floats, Floats]:
        """The counts that the reports do not speak against, for each key by itself: lower and upper ends."""
        z = normal_width(confidence)
        without, having = (float(one) for one in self.law.sum_variances)
        gain, rise = float(self.law.gain), having - without
        ends = []
        for side, seen in ((-1, self._sums - 0.5), (1, self._sums + 0.5)):
            # (seen − gain c)² = z² (users · without + rise c)
            half = (2 * gain * seen + z * z * rise) / 2
            inside = half**2 - gain**2 * (seen**2 - z * z * self.users * without)
            ends.append(np.clip((half + side * np.sqrt(np.maximum(inside, 0))) / gain**2, 0, self.users))
        return ends[0], ends[1]

    def mean_interval(self, confidence: Number = Fraction(95, 100)) -> tuple[Floats, Floats]:
        """The means that the reports do not speak against (Fieller 1954), for each key by itself.

        All that is between the bounds, where it is not clear that anybody has the key.
        """
        z, (low, high) = normal_width(confidence), self.between
        sums, differences = self._sums, self._differences
        level, rise = self.law.mean_variance(differences, self.users, np.clip(self.counts, 0, self.users))
        square, cross = sums**2 - z * z * rise, sums * differences
        inside = cross**2 - square * (differences**2 - z * z * level)
        clear = (square > 0) & (sums > 0) & (inside >= 0)
        ends = []
        for side in (-1, 1):
            ratio = np.full(len(sums), float(side))
            ratio[clear] = (cross[clear] + side * np.sqrt(inside[clear])) / square[clear]
            ends.append((low + high) / 2 + (high - low) / 2 * np.clip(ratio, -1, 1))
        return ends[0], ends[1]

    def rows(self, confidence: Number = Fraction(95, 100)) -> list[dict[str, Any]]:
        """One row for each key: its count and its mean, with the ends of their intervals."""
        columns = (self.counts, *self.interval(confidence), self.means, *self.mean_interval(confidence))
        names = ("count", "low", "high", "mean", "mean_low", "mean_high")
        return [
            {
                "key": self.keys[place],
                **{name: float(column[place]) for name, column in zip(names, columns, strict=True)},
            }
            for place in range(len(self.keys))
        ]

    def top(self, k: int) -> list[tuple[Hashable, float, float]]:
        """The k keys with the largest counts, largest first, with their counts and means."""
        counts, means = self.counts, self.means
        order = np.argsort(-counts, kind="stable")[:k]
        return [(self.keys[int(place)], float(counts[place]), float(means[place])) for place in order]
