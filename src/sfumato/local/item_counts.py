"""How many people have each item of a list in their sets, and how large the sets are."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from sfumato.exact import Number
from sfumato.local.frequency import Frequencies
from sfumato.local.intervals import read_confidence, score_interval
from sfumato.local.leaders import Leader


@final
@dataclass(frozen=True, eq=False)
class ItemCounts:
    """Estimated counts of items over people's sets, with intervals, and of the sizes of the sets.

    An item's count is the number of people who have it, where who has more than ``most`` items counts for most / (her
    number of items) in each of them. Estimates are unbiased for these counts, and may be negative.
    """

    listed: Frequencies
    """The items, each by itself: they do not add up to the number of people."""
    dummies: NDArray[np.int64]
    """The support of the dummies, which fill up small sets: number j is in all sets of fewer than most − j items."""

    @property
    def most(self) -> int:
        """The size to which sets are padded."""
        return len(self.dummies)

    @property
    def users(self) -> int:
        """How many people reported."""
        return self.listed.users

    @property
    def counts(self) -> NDArray[np.float64]:
        """The unbiased estimate of each item's count."""
        return self.listed.counts

    @property
    def deviations(self) -> NDArray[np.float64]:
        """The standard deviation of each count."""
        return self.listed.deviations

    def interval(self, confidence: Number = Fraction(95, 100)) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """The counts that the reports do not speak against, for each item by itself: lower and upper ends."""
        return self.listed.interval(confidence)

    def top(self, k: int) -> list[tuple[Hashable, float]]:
        """The k items with the largest counts, largest first."""
        return self.listed.top(k)

    def leaders(self, k: int, *, confidence: Number = Fraction(95, 100)) -> list[Leader]:
        """The k items with the largest counts, and which of them are certain (`Frequencies.leaders`)."""
        return self.listed.leaders(k, confidence=confidence)

    def rows(self, confidence: Number = Fraction(95, 100)) -> list[dict[str, Any]]:
        """One row for each item: its count with the ends of its interval."""
        return self.listed.rows(confidence)

    @property
    def at_most(self) -> NDArray[np.float64]:
        """The unbiased estimates of how many people have at most 0, 1, …, most − 1 items."""
        return replace(self.listed, support=self.dummies[::-1]).counts

    @property
    def full(self) -> float:
        """The unbiased estimate of how many people have ``most`` items or more: only theirs may count for less."""
        return float(self.users - self.at_most[-1])

    def full_interval(self, confidence: Number = Fraction(95, 100)) -> tuple[float, float]:
        """An interval for how many people have ``most`` items or more."""
        chances = (self.listed.supports_truth, self.listed.supports_other)
        low, high = score_interval(self.dummies[:1], self.users, chances, read_confidence(confidence))
        return self.users - float(high[0]), self.users - float(low[0])

    def __str__(self) -> str:
        return f"items of sets, {self.listed}; {self.full:.0f} people have {self.most} items or more"
