"""The mean of people's numbers, from reports each of which can be read as an unbiased guess of its sender's number."""

from __future__ import annotations

import math
from abc import abstractmethod
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from statistics import NormalDist
from typing import TYPE_CHECKING, Any, Protocol, final

import numpy as np
from numpy.typing import NDArray

from sfumato.accounting.losses.measures import Pure
from sfumato.errors import BadArgument
from sfumato.exact import Number, integer, probability
from sfumato.local.numbers import Numbers
from sfumato.local.protocol import LocalProtocol, Tally
from sfumato.local.reach import normal_reach
from sfumato.local.reports import NONE_REJECTED, Rejected


class MeanProtocol(LocalProtocol["MeanEstimate"], Protocol):
    """A protocol for the mean of numbers: every report is *read* as a number whose mean is the sender's place.

    Readings are unbiased at every place, and their variance is known exactly. Places count in steps from ``low``.
    """

    if TYPE_CHECKING:  # a field of each protocol, as the loss is

        @property
        def numbers(self) -> Numbers:
            """The public grid on which people's numbers stand."""

    @abstractmethod
    def total(self, counts: NDArray[np.int64]) -> Fraction:
        """The sum of the readings of all reports, from how often each cell came."""

    @abstractmethod
    def variance(self, place: int) -> Fraction:
        """The exact variance of a reading, in steps², of somebody at a place; largest in the middle or at the ends."""

    @property
    @abstractmethod
    def ends(self) -> tuple[Fraction, Fraction]:
        """The least and the largest reading."""

    def domain(self) -> dict[str, Any]:
        """The public grid."""
        return self.numbers.domain()

    def input_of(self, value: Any) -> Any:
        """The place of a number on the grid."""
        return self.numbers.place(value)

    def inputs_of(self, values: Any) -> Any:
        """The places of many numbers."""
        return self.numbers.places(values)

    @property
    def worst_variance(self) -> Fraction:
        """The largest variance of a reading, of all places."""
        return max(self.variance(place) for place in (0, self.numbers.steps // 2))

    def mean_squared_error(self, *, users: int) -> Fraction:
        """The expected squared error of the mean of so many people's numbers, for the worst of all data; exact.

        >>> from sfumato.local.two_valued import TwoValuedMean
        >>> round(float(TwoValuedMean(Numbers(-1, 1), Pure(1)).mean_squared_error(users=100)), 4)
        0.0468
        """
        return self.worst_variance * self.numbers.step**2 / integer(users, "users", least=1)

    def estimate(self, tally: Tally) -> MeanEstimate:
        """The mean reading, with intervals."""
        total, variance = self.total(tally.sums[:, 0]), self.worst_variance
        return MeanEstimate(self.numbers, tally.users, total, variance, self.ends, self.loss, tally.rejected)


@final
@dataclass(frozen=True)
class MeanEstimate:
    """The estimated mean of the people who reported, and how far off it may be.

    It is unbiased for their numbers as they stand on the public grid, and may lie outside of the bounds; `interval`
    does not. The grid moves a number by half a step at most (`rounding`), and what is outside of the bounds into them.
    """

    numbers: Numbers
    users: int
    total: Fraction
    variance: Fraction
    ends: tuple[Fraction, Fraction]
    loss: Pure
    rejected: Rejected = NONE_REJECTED

    @cached_property
    def mean(self) -> float:
        """The unbiased estimate; no number where nobody reported."""
        return float(self.numbers.point(self.total / self.users)) if self.users else math.nan

    @property
    def sum(self) -> float:
        """The unbiased estimate of the sum of all people's numbers."""
        return float(Fraction(self.numbers.low) * self.users + self.numbers.step * self.total)

    @property
    def deviation(self) -> float:
        """The standard deviation of the mean, for the worst data: the mean of no data has a larger one."""
        return math.sqrt(self.variance / self.users) * float(self.numbers.step) if self.users else math.inf

    @property
    def rounding(self) -> float:
        """Half a step of the grid: no number was moved further, and so neither was the mean."""
        return float(self.numbers.step / 2)

    @property
    def influence(self) -> float:
        """How far a single false report can move the mean."""
        return float((self.ends[1] - self.ends[0]) * self.numbers.step / self.users) if self.users else math.inf

    def interval(self, confidence: Number = Fraction(95, 100), *, certain: bool = False) -> tuple[float, float]:
        """The means that the reports do not speak against, inside the bounds.

        A mean is inside if the sum of readings is within z standard deviations of the sum to be expected, for the worst
        data, with a correction for few people (`reach.normal_reach`). ``certain`` takes the deviation from Bernstein's
        inequality: wider by a third or more, and never wrong more often than stated, be it for two people.
        """
        level = probability(confidence, "confidence")
        if not 0 < level < 1:
            raise BadArgument("confidence", "greater than 0 and less than 1", confidence)
        if not self.users:
            return self.numbers.low, self.numbers.high
        jump, variance = float(self.ends[1] - self.ends[0]), float(self.variance)
        tail = NormalDist().inv_cdf(float((1 + level) / 2))
        normal = normal_reach(tail, variance=variance, jump=jump, users=self.users)
        away = Fraction(self._bernstein(float(1 - level)) if certain else float(normal))
        middle = self.total / self.users
        inside = (min(max(middle + way, Fraction(0)), Fraction(self.numbers.steps)) for way in (-away, away))
        low, high = (float(self.numbers.point(end)) for end in inside)
        return low, high

    def _bernstein(self, error: float) -> float:
        rare = math.log(2 / error)
        jump = float(self.ends[1] - self.ends[0]) * rare / 3
        return (jump + math.sqrt(jump * jump + 2 * self.users * self.variance * rare)) / self.users

    def __str__(self) -> str:
        low, high = self.interval()
        return f"mean {self.mean:.6g} of {self.users} people, {low:.6g} to {high:.6g} (95%), {self.loss}"
