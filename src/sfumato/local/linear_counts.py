"""Counts that are sums of one independent term for each person, whose mean and variance are known."""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from statistics import NormalDist
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from sfumato.accounting.losses.measures import Pure
from sfumato.errors import BadArgument
from sfumato.exact import Number, probability
from sfumato.local.reports import NONE_REJECTED, Rejected


@final
@dataclass(frozen=True, eq=False)
class LinearCounts:
    """Unbiased counts of people, with the variance that each person who is counted, or is not, adds to them.

    ``counted`` and ``uncounted`` are these two variances, for each count. Counts may be negative, or more than there
    are people. Intervals speak of the people who reported.
    """

    labels: Sequence[Hashable]
    users: int
    counts: NDArray[np.float64]
    counted: NDArray[np.float64]
    uncounted: NDArray[np.float64]
    loss: Pure
    rejected: Rejected = NONE_REJECTED

    @property
    def shares(self) -> NDArray[np.float64]:
        """The unbiased estimate of the share of people; no number where nobody reported."""
        return self.counts / self.users if self.users else np.full(len(self.counts), math.nan)

    @property
    def deviations(self) -> NDArray[np.float64]:
        """The standard deviation of each count, at the count that was estimated (moved into what is possible)."""
        at = np.clip(self.counts, 0, self.users)
        spread: NDArray[np.float64] = np.sqrt(np.maximum(at * self.counted + (self.users - at) * self.uncounted, 0))
        return spread

    def interval(self, confidence: Number = Fraction(95, 100)) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """The counts within z of their own standard deviations of what was estimated (score intervals)."""
        z = normal_quantile(confidence)
        rise = self.counted - self.uncounted
        # (seen − c)² = z² (users · uncounted + rise · c)
        half = self.counts + z * z * rise / 2
        inside = np.maximum(half * half - self.counts**2 + z * z * self.users * self.uncounted, 0)
        low, high = half - np.sqrt(inside), half + np.sqrt(inside)
        return np.clip(low, 0, self.users), np.clip(high, 0, self.users)

    def top(self, k: int) -> list[tuple[Hashable, float]]:
        """The k largest counts, largest first."""
        order = np.argsort(-self.counts, kind="stable")[:k]
        return [(self.labels[int(place)], float(self.counts[place])) for place in order]

    def rows(self, confidence: Number = Fraction(95, 100)) -> list[dict[str, Any]]:
        """One row for each count, with the ends of its interval."""
        low, high = self.interval(confidence)
        return [
            {"value": self.labels[at], "count": float(count), "low": float(low[at]), "high": float(high[at])}
            for at, count in enumerate(self.counts)
        ]

    def __str__(self) -> str:
        width = float(np.mean(self.deviations)) * 1.96 if len(self.counts) else 0.0
        first = ", ".join(f"{label}: {count:.0f}" for label, count in self.top(3))
        return f"{len(self.counts)} counts of {self.users} people, each ± {width:.0f} (95%), {self.loss}; {first}, …"


def normal_quantile(confidence: Number) -> float:
    """How many standard deviations a normal number is off its mean at most, with a confidence."""
    level = probability(confidence, "confidence")
    if not 0 < level < 1:
        raise BadArgument("confidence", "greater than 0 and less than 1", confidence)
    return NormalDist().inv_cdf(float((1 + level) / 2))
