"""Intervals of a variance, or of a standard deviation: from noisy sums of powers up to the fourth."""

from __future__ import annotations

from dataclasses import dataclass
from math import nan, sqrt
from typing import Unpack, final

from sfumato.entropy import Entropy
from sfumato.learn.columns import Floats, Square
from sfumato.learn.significance.asking import Bounds, Paying, Terms, number_column, one_array
from sfumato.learn.significance.draws import NoiseLaw, normals
from sfumato.learn.significance.finding import Ends, IntervalEstimate, reach_of
from sfumato.query.frame import Frame

POWERS = [(0, 0), (0, 1), (0, 2), (1, 2), (2, 2)]
"""Of s and t = 2s² − 1, the sums of 1, s, t, st and t²: those of all powers of s up to the fourth."""


def variance_interval(
    data: object,
    *,
    column: str | None = None,
    between: Bounds = None,
    standard_deviation: bool = False,
    **paying: Unpack[Paying],
) -> IntervalEstimate:
    """Estimates the variance of a population, with an interval that counts noise and the drawing of rows, privately.

    ``variance_interval(x, between=(0, 10), epsilon=1)`` on numbers that one holds, or of a table ``column="score"``;
    ``standard_deviation=True`` gives the root of all of it. Sums of powers up to the fourth are released with noise,
    once: the fourth says how sure the second is, so that the interval needs no normal numbers. It is approximate where
    rows are few and skewed (proofs/significance.md#variance).

    >>> import numpy as np
    >>> found = variance_interval(np.arange(5000.0) % 10, between=(0, 9), epsilon=1)
    >>> low, high = found.interval()
    >>> 7 < low < 8.25 < high < 10
    True
    """
    terms = Terms.read(paying)
    number = number_column(data, column, between, "x")
    source = terms.source(data, (number,), () if isinstance(data, Frame) else (one_array(data),))
    release, sums, law = terms.released(source.chosen([(0, number), (0, Square(number))]), POWERS)
    rows, unit = float(sums[0]), number.half**2
    asked = f"what is the {'standard deviation' if standard_deviation else 'variance'} of {number.name}?"
    value, ends = (nan, anything) if rows < 2 else variance_ends(sums, law, terms.simulations, terms.drawing)

    def scaled(confidence: float) -> tuple[float, float]:
        low, high = (end * unit for end in ends(confidence))
        return (sqrt(low), sqrt(high)) if standard_deviation else (low, high)

    return IntervalEstimate(asked, sqrt(value * unit) if standard_deviation else value * unit, scaled, release, rows)


@final
@dataclass(frozen=True, eq=False)
class Powers:
    """Noisy moments of scaled numbers: rows, mean, variance, and the variance of squared deviations over its square."""

    rows: float
    mean: float
    variance: float
    tails: float

    @classmethod
    def of(cls, sums: Floats, law: NoiseLaw) -> Powers:
        """Reads released sums; where noise hides the fourth power, its largest value that bounds allow."""
        rows = max(float(sums[0]), 2.0)
        first, doubled, mixed, squared = (float(one) / rows for one in sums[1:])
        m, second = min(max(first, -1.0), 1.0), (1 + doubled) / 2
        third, fourth = (mixed + first) / 2, (squared + 4 * second - 1) / 4
        variance = min(max(second - m * m, 0.0), 1 - m * m)
        around = fourth - 4 * m * third + 6 * m * m * second - 3 * m**4 + law.deviation / rows
        widest = variance * (farthest(m) - variance)
        spread = min(max(around - variance**2, 0.0), widest)
        return cls(rows, m, variance * rows / (rows - 1), spread / variance**2 if variance > 0 else 0.0)


def anything(_: float) -> tuple[float, float]:
    """Where the variance of scaled numbers is if nothing is known."""
    return 0.0, 1.0


def farthest(mean: float) -> float:
    """The largest square of a distance from a mean that bounds allow."""
    return (1 + abs(mean)) ** 2


def variance_ends(sums: Floats, law: NoiseLaw, count: int, entropy: Entropy) -> tuple[float, Ends]:
    """The variance of scaled numbers, and where it is: the variances from which this one is not too far."""
    seen = Powers.of(sums, law)
    people = max(seen.rows / law.together, 2.0)
    noise = law.draw(count, entropy)
    m = seen.mean
    moved = (noise[:, 0] + noise[:, 2]) / 2 - 2 * m * noise[:, 1] + m * m * noise[:, 0]
    unseen, added = farthest(m) ** 2 / people**2, law.variance * ((0.5 + m * m) ** 2 + 0.25 + 4 * m * m) / seen.rows**2
    drawing = normals((count,), entropy)

    def width(variance: float) -> tuple[float, float]:
        """The variances, by the drawing of rows and by the noise, of what is released if this were the true one."""
        return variance**2 * seen.tails / people + unseen, added

    rows, noisy = width(seen.variance)
    under = (sqrt(rows) * drawing + moved / seen.rows) / sqrt(rows + noisy)

    def end(reach: float, low: float, high: float, *, upper: bool) -> float:
        for _ in range(50):
            middle = (low + high) / 2
            near = abs(middle - seen.variance) <= reach * sqrt(sum(width(middle)))
            low, high = (middle, high) if near == upper else (low, middle)
        return high if upper else low

    def ends(confidence: float) -> tuple[float, float]:
        reach = reach_of(under, "two-sided", confidence)
        return end(reach, 0.0, seen.variance, upper=False), end(reach, seen.variance, 1.0, upper=True)

    return seen.variance, ends
