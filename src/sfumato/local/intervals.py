"""Intervals for counts that are read from support: what the reports do not speak against."""

from __future__ import annotations

import math
from fractions import Fraction
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

from sfumato.errors import BadArgument
from sfumato.exact import Number, probability


def read_confidence(confidence: Number) -> Fraction:
    """A confidence between 0 and 1."""
    level = probability(confidence, "confidence")
    if not 0 < level < 1:
        raise BadArgument("confidence", "greater than 0 and less than 1", confidence)
    return level


def deviations_within(confidence: Fraction) -> float:
    """How many standard deviations to both sides hold so much of a normal law, far out in its tails too."""
    return -NormalDist().inv_cdf(float((1 - confidence) / 2))


def least_support(users: int, chance: float, alarm: float) -> int:
    """The least support that so many reports, each by such a chance, reach with chance ``alarm`` at most.

    By a bound on the tail of a binomial law that exceeds it by little: its first term, times the sum of a geometric
    series that falls more slowly (Feller 1968, VI.3). One more than there are reports stands for none.

    >>> least_support(100, 0.5, 0.05), least_support(3, 0.5, 0.05)
    (60, 4)
    """

    def likely(support: int) -> bool:
        ways = math.lgamma(users + 1) - math.lgamma(support + 1) - math.lgamma(users - support + 1)
        first = ways + support * math.log(chance) + (users - support) * math.log1p(-chance)
        series = (support + 1) * (1 - chance) / (support + 1 - (users + 1) * chance)
        return first + math.log(series) > math.log(alarm)

    low, high = math.floor((users + 1) * chance), users + 1  # at the mean it is likely, and beyond all it is not
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if likely(middle) else (low, middle)
    return high


def score_interval(
    support: NDArray[np.int64],
    users: int,
    chances: tuple[Fraction, Fraction],
    confidence: Fraction,
    extra: float | NDArray[np.float64] = 0.0,
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """The counts at which the support that was seen is not unlikely: lower and upper ends.

    ``chances`` are those that a report supports its own value, and another one. A count is inside if the support is
    within z standard deviations, plus half a person, of what is expected at that count (a score interval with
    correction for continuity). ``extra`` is a variance of counts from elsewhere.
    """
    z = deviations_within(confidence)

    def end(seen: NDArray[np.float64], z: float) -> NDArray[np.float64]:
        """Solves seen = expected(count) − z · deviation(count) for the count."""
        truth, other = float(chances[0]), float(chances[1])
        gain, steady = truth - other, other * (1 - other)
        rise = truth * (1 - truth) - steady
        gap = seen - users * other
        # gain² c² − (2 gain gap + z² rise) c + gap² − z² (users · steady + gain² extra) = 0
        half = (2 * gain * gap + z * z * rise) / 2
        fixed = users * steady + gain * gain * extra
        inside = half * half - gain * gain * (gap * gap - z * z * fixed)
        ends: NDArray[np.float64] = (half + np.sign(z) * np.sqrt(np.maximum(inside, 0))) / gain**2
        return ends

    lower = end(support.astype(np.float64) - 0.5, -z)
    upper = end(support.astype(np.float64) + 0.5, z)
    return np.clip(lower, 0, users), np.clip(upper, 0, users)
