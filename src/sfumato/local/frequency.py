"""How often each value is, from reports that support some values each.

In all protocols here a report *supports* its true value with one chance, and every other value with a smaller one, the
same for all pairs of values. Counts of support are therefore sums of two binomial numbers, whose mean and variance are
known exactly, whatever people's values are (Wang, Blocki, Li and Jha 2017, theorem 2: "pure" protocols).
"""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Protocol, final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sfumato.accounting.losses.measures import Pure
from sfumato.exact import Number
from sfumato.local.intervals import read_confidence, score_interval
from sfumato.local.protocol import LocalProtocol, Tally
from sfumato.local.published import listed_domain
from sfumato.local.reports import NONE_REJECTED, Rejected
from sfumato.local.values import Values
from sfumato.release.render.displayed import Displayed

if TYPE_CHECKING:
    from sfumato.charts.canvas import Chart
    from sfumato.release.render.document import Document

if TYPE_CHECKING:
    from sfumato.local.leaders import Leader


class FrequencyProtocol(LocalProtocol["Frequencies"], Protocol):
    """A protocol that counts how many people have each of a public list of values."""

    if TYPE_CHECKING:  # a field of each protocol, as the loss is

        @property
        def values(self) -> Values:
            """The public list of values."""

    @property
    @abstractmethod
    def supports_truth(self) -> Fraction:
        """The chance that a report supports the value that its sender has."""

    @property
    @abstractmethod
    def supports_other(self) -> Fraction:
        """The chance that a report supports some one value that its sender does not have."""

    @abstractmethod
    def support(self, sums: NDArray[np.int64]) -> NDArray[np.int64]:
        """How many reports support each value, from the sums of a tally."""

    def domain(self) -> dict[str, Any]:
        """The public list of values."""
        return listed_domain(self.values)

    def input_of(self, value: Any) -> Any:
        """The place of a value in the list."""
        return self.values.place(value)

    def inputs_of(self, values: Any) -> NDArray[Any]:
        """The places of many values."""
        return self.values.places(values)

    def variance(self, *, users: int, count: Number = 0) -> Fraction:
        """The exact variance of the estimated count of a value that ``count`` of ``users`` people have.

        >>> from sfumato.local.response import Response
        >>> protocol = Response(Values(range(4)), Pure(1))
        >>> round(float(protocol.variance(users=100)), 4)
        159.8067
        """
        return support_variance(self.supports_truth, self.supports_other, users, Fraction(count))

    def mean_squared_error(self, *, users: int) -> Fraction:
        """The expected squared error of an estimated share, as a mean over all values: the same for all data."""
        size = len(self.values)
        nobodys, everybodys = self.variance(users=users), self.variance(users=users, count=users)
        return (nobodys * (size - 1) + everybodys) / size / users**2

    def estimate(self, tally: Tally) -> Frequencies:
        """Unbiased counts with intervals."""
        return Frequencies(
            self.values,
            tally.users,
            self.support(tally.sums),
            self.supports_truth,
            self.supports_other,
            self.loss,
            tally.rejected,
        )


def support_variance(truth: Fraction, other: Fraction, users: int, count: Fraction) -> Fraction:
    """The variance of an unbiased count: of two binomial numbers, over the square of what a person adds to them."""
    return (count * truth * (1 - truth) + (users - count) * other * (1 - other)) / (truth - other) ** 2


@final
@dataclass(frozen=True, eq=False, repr=False)
class Frequencies(Displayed):
    """Estimated counts of all values, with the errors that chance has made.

    Counts are unbiased and may be negative, or more than there are people; `consistent` gives counts that are neither,
    and add up. Intervals speak of the people who reported, not of those they may stand for.
    """

    values: Values
    users: int
    support: NDArray[np.int64]
    supports_truth: Fraction
    supports_other: Fraction
    loss: Pure
    rejected: Rejected = NONE_REJECTED

    @property
    def counts(self) -> NDArray[np.float64]:
        """The unbiased estimate of how many people have each value."""
        truth, other = self.supports_truth, self.supports_other
        counts: NDArray[np.float64] = (self.support.astype(np.float64) - float(self.users * other)) / float(
            truth - other
        )
        return counts

    @property
    def shares(self) -> NDArray[np.float64]:
        """The unbiased estimate of the share of people who have each value; no number where nobody reported."""
        return self.counts / self.users if self.users else np.full(len(self.values), math.nan)

    @property
    def deviations(self) -> NDArray[np.float64]:
        """The standard deviation of each count, at the count that was estimated (moved into what is possible)."""
        at = np.clip(self.counts, 0, self.users)
        truth, other = self.supports_truth, self.supports_other
        rise = float((truth * (1 - truth) - other * (1 - other)) / (truth - other) ** 2)
        level = float(self.users * other * (1 - other) / (truth - other) ** 2)
        spread: NDArray[np.float64] = np.sqrt(np.maximum(level + rise * at, 0))
        return spread

    def interval(self, confidence: Number = Fraction(95, 100)) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """The counts that the reports do not speak against, for each value by itself: lower and upper ends.

        They are score intervals with correction for continuity (`intervals.score_interval`).
        """
        chances = (self.supports_truth, self.supports_other)
        return score_interval(self.support, self.users, chances, read_confidence(confidence))

    def consistent(self, method: str = "empirical_bayes") -> NDArray[np.float64]:
        """Counts that are not negative and add up to the number of people: post-processing, at no cost in privacy.

        ``"empirical_bayes"`` estimates from all counts how counts are distributed, and takes the mean that is left of
        each. As a mean over shapes of data, sizes and losses its squared error was the least that was measured, and a
        small part of that of others where noise is large and most values are alike: the page on local privacy has the
        table. It shrinks counts, so that the largest are rather too small, and intervals do not belong to it.

        ``"norm_sub"`` subtracts one number from all and cuts at 0: the nearest possible counts in the sum of squares.
        ``"norm_mul"`` cuts at 0 and scales. ``"likelihood"`` is the maximum of the likelihood: exact where a report
        supports one value, else as if values were told of independently. ``"base_cut"`` keeps only counts that stand
        out of the noise (of more than their number of values would show by chance once in twenty), which suits domains
        where most values are nobody's. ``"power_law"`` takes sorted counts for a power law and fits its exponent.
        """
        from sfumato.local.consistency import Seen, consistent

        seen = Seen(self.support.astype(np.float64), self.users, float(self.supports_truth), float(self.supports_other))
        return consistent(seen, method)

    def leaders(self, k: int, *, confidence: Number = Fraction(95, 100)) -> list[Leader]:
        """The k values with the largest counts, and which of them are among the k largest in truth.

        All of it holds at once with the confidence: the intervals, of all values together, and what is called certain.
        """
        from sfumato.local.leaders import leaders

        return leaders(self, k, confidence)

    def top(self, k: int) -> list[tuple[Hashable, float]]:
        """The k values with the largest counts, largest first."""
        order = np.argsort(-self.counts, kind="stable")[:k]
        counts = self.counts
        return [(self.values[int(place)], float(counts[place])) for place in order]

    def rows(self, confidence: Number = Fraction(95, 100)) -> list[dict[str, Any]]:
        """One row for each value: its count with the ends of its interval."""
        low, high = self.interval(confidence)
        return [
            {"value": self.values[place], "count": float(count), "low": float(low[place]), "high": float(high[place])}
            for place, count in enumerate(self.counts)
        ]

    def document(self) -> Document:
        """The largest counts with their intervals: `print` shows them as text, notebooks as HTML."""
        from sfumato.local.drawing import frequency_sheet

        return frequency_sheet(self)

    def plot(
        self,
        *,
        truth: Mapping[Hashable, Number] | ArrayLike | None = None,
        confidence: Number = Fraction(95, 100),
        title: str | None = None,
    ) -> Chart:
        """Draws the estimated shares with their intervals; beside them true counts, where those are known."""
        from sfumato.local.drawing import plot_frequencies

        return plot_frequencies(self, truth=truth, confidence=confidence, title=title)
