"""What can be said of all who were asked, where some of them did not report."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from statistics import NormalDist
from typing import Final, final

import numpy as np
from numpy.typing import NDArray

from sfumato.errors import BadArgument
from sfumato.exact import Number, integer, positive, probability
from sfumato.local.frequency import Frequencies

SURE: Final = Fraction(95, 100)

Counts = NDArray[np.float64]


@final
@dataclass(frozen=True, eq=False)
class Dropouts:
    """Counts of all who were asked, from the reports of some: under no assumption, a bounded one, or at random.

    An estimate speaks of the people who reported. What it says of the others is a matter of why they did not; no
    method can see that in reports. Whether a device reports must not depend on what its report turned out to be.
    """

    estimate: Frequencies
    asked: int

    @property
    def missing(self) -> int:
        """How many did not report."""
        return self.asked - self.estimate.users

    def bounds(self, confidence: Number = SURE, *, ratio: Number | None = None) -> tuple[Counts, Counts]:
        """Counts of all who were asked that cannot be ruled out: lower and upper ends.

        Nothing is assumed of those who are missing, so the ends differ by their number at least. With ``ratio`` it is
        assumed that people with the value report at most so many times as often as all others, and at least one over
        it: the odds of the value among all are then within that factor of those among people who reported.
        """
        low, high = self.estimate.interval(confidence)
        if self.estimate.users == 0:
            return low, high + self.missing
        if ratio is None:
            return low, high + self.missing
        factor = float(positive(ratio, "ratio"))
        if factor < 1:
            raise BadArgument("ratio", "at least 1", ratio)
        shares = low / self.estimate.users, high / self.estimate.users
        least, most = (
            _odds_times(share, by) * self.asked for share, by in zip(shares, (1 / factor, factor), strict=True)
        )
        return np.maximum(low, least), np.minimum(high + self.missing, most)

    def counts_at_random(self) -> Counts:
        """Counts of all who were asked, where who reports has nothing to do with the value: unbiased then only."""
        if self.estimate.users == 0:
            raise BadArgument("the estimate", "of one report at least, to stand for all who were asked", 0)
        scaled: Counts = self.estimate.counts * (self.asked / self.estimate.users)
        return scaled

    def interval_at_random(self, confidence: Number = SURE) -> tuple[Counts, Counts]:
        """Intervals for counts of all who were asked, where those who reported are as if drawn at random from them.

        Their errors are the errors of the protocol, and those of a sample without replacement. A count is inside if
        the estimate is within z standard deviations of it, at that count (a score interval).
        """
        level = probability(confidence, "confidence")
        if not 0 < level < 1:
            raise BadArgument("confidence", "greater than 0 and less than 1", confidence)
        z = NormalDist().inv_cdf(float((1 + level) / 2))
        people, some = self.asked, self.estimate.users
        seen = self.counts_at_random()
        constant, slope, square = self._variance()
        # (seen − c)² = z² (constant + slope c + square c²)
        lead, half, rest = 1 - z * z * square, seen + z * z * slope / 2, seen**2 - z * z * constant
        root = np.sqrt(np.maximum(half**2 - lead * rest, 0))
        step = people / some / float(self.estimate.supports_truth - self.estimate.supports_other) / 2
        low, high = (half - root) / lead - step, (half + root) / lead + step
        return np.clip(low, 0, people), np.clip(high, 0, people)

    def _variance(self) -> tuple[float, float, float]:
        """The variance of a scaled count, as a polynomial of the count among all who were asked."""
        truth, other = self.estimate.supports_truth, self.estimate.supports_other
        people, some = self.asked, self.estimate.users
        gain, scale = (truth - other) ** 2, Fraction(people, some)
        level, rise = other * (1 - other) / gain, (truth * (1 - truth) - other * (1 - other)) / gain
        drawn = Fraction(self.missing, some * max(people - 1, 1))
        return float(scale**2 * some * level), float(scale * rise + drawn * people), float(-drawn)

    def __str__(self) -> str:
        share = self.estimate.users / self.asked
        return (
            f"{self.estimate.users:,} of {self.asked:,} people reported ({share:.1%}). Of the {self.missing:,} others "
            "nothing is known: each count of all can be higher by as many."
        )


def dropouts(estimate: Frequencies, *, asked: int) -> Dropouts:
    """Bounds what an estimate says of all ``asked`` people, of whom only some reported.

    >>> from sfumato.local.response import Response
    >>> from sfumato.local.values import Values
    >>> protocol = Response(Values(["yes", "no"]), 1)
    >>> print(dropouts(protocol.aggregate([protocol.randomize("yes")]), asked=4))
    1 of 4 people reported (25.0%). Of the 3 others nothing is known: each count of all can be higher by as many.
    """
    if not isinstance(estimate, Frequencies):
        raise BadArgument("estimate", "counts of values, as a frequency protocol estimates them", estimate)
    people = integer(asked, "asked", least=1)
    if people < estimate.users:
        raise BadArgument("asked", f"at least the {estimate.users:,} people who reported", asked)
    return Dropouts(estimate, people)


def _odds_times(shares: Counts, factor: float) -> Counts:
    """Shares whose odds are so many times as large."""
    moved: Counts = shares * factor / (1 - shares + shares * factor)
    return moved
