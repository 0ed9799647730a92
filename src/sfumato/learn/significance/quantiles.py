"""Intervals of quantiles: from noisy counts in public bins, at whose edges one-sided tests of a share are asked."""

from __future__ import annotations

from math import ceil, nan
from typing import Unpack

import numpy as np

from sfumato.entropy import Entropy
from sfumato.exact import Number as AnyNumber
from sfumato.exact import probability
from sfumato.guarantee import guarantee
from sfumato.learn.columns import Bins, Floats
from sfumato.learn.significance.asking import Bounds, Paying, Terms, number_column, one_array
from sfumato.learn.significance.draws import NoiseLaw, binomials
from sfumato.learn.significance.finding import IntervalEstimate
from sfumato.learn.significance.ranks import Edges
from sfumato.query.frame import Frame

BINS = 200
"""Bins between the bounds, unless it is said: an interval begins and ends at their edges."""


def quantile_interval(
    data: object,
    at: AnyNumber = 0.5,
    *,
    column: str | None = None,
    between: Bounds = None,
    bins: Edges = BINS,
    **paying: Unpack[Paying],
) -> IntervalEstimate:
    """Estimates a quantile of a population (the median), with an interval that counts noise and drawing, privately.

    ``quantile_interval(x, 0.9, between=(0, 10), epsilon=1)`` on numbers that one holds, or of a table
    ``column="score"``. Counts in public ``bins`` are released with noise; the interval begins and ends at their edges,
    and holds for numbers of any kind, continuous or not. Finer bins place it better and add noise, as the root of their
    number: where bounds are much wider than the numbers, state edges. Confidences above 1 − 4/``simulations`` give the
    bounds (proofs/significance.md#quantiles).

    >>> import numpy as np
    >>> found = quantile_interval(np.arange(5000.0) % 10, between=(0, 10), bins=20, epsilon=1)
    >>> low, high = found.interval()
    >>> 3 <= low < high <= 7
    True
    """
    terms, level = Terms.read(paying), float(probability(at, "at"))
    number = number_column(data, column, between, "x")
    source = terms.source(data, (number,), () if isinstance(data, Frame) else (one_array(data),))
    binned = Bins.read(number, bins)
    release, counts, law = terms.released(source.chosen([(0, binned)]), [(0, 1)])
    edges = np.array([float(number.lower), *binned.edges, float(number.upper)])
    apart, under = quantile_statistics(counts, law, level, terms.simulations, terms.drawing)
    asked = f"what is the {'median' if level == 0.5 else f'{level:g} quantile'} of {number.name}?"

    def ends(confidence: float) -> tuple[float, float]:
        low, high = passed(apart, under, (1 - confidence) / 2)
        return float(edges[low]), float(edges[high])

    value = nan if counts.sum() < 1 else float(edges[1 + np.argmin(np.abs(apart))]) if len(apart) else nan
    return IntervalEstimate(asked, value, ends, release, float(counts.sum()))


def quantile_statistics(
    counts: Floats, law: NoiseLaw, level: float, count: int, entropy: Entropy
) -> tuple[Floats, Floats]:
    """At each edge how many rows too many are below it, and draws of that if the edge were the quantile.

    With B rows below the edge and A above, (1 − level)B − level·A; draws have about the most rows that there may be.
    """
    below = np.cumsum(counts)[:-1]
    apart = below - level * counts.sum()
    spread = np.sqrt(len(counts)) * law.deviation
    people = max(ceil((float(counts.sum()) + 2 * spread) / law.together), 1)
    hits = law.together * (binomials(np.full(count, float(people)), level, entropy) - level * people)
    noise = law.draw(count, entropy)
    return np.asarray(apart), hits[:, None] + np.cumsum(noise, axis=1)[:, :-1] - level * noise.sum(axis=1)[:, None]


@guarantee(
    claim="the quantile is below the first end with probability at most missed, and above the second so too",
    proof="proofs/significance.md#quantiles",
    reviewed="e40c7232c628",
)
def passed(apart: Floats, under: Floats, missed: float) -> tuple[int, int]:
    """The edges at which an interval begins and ends, the bounds among them as the first and the last.

    From the left, edges are passed as long as each has too few rows below to be the quantile or more; from the right,
    as long as each has too many. The first that is not passed ends it, so that one test alone can be wrong.
    """
    if not len(apart):
        return 0, 1
    few = (under <= apart).mean(axis=0) + 1 / len(under) <= missed
    many = (under >= apart).mean(axis=0) + 1 / len(under) <= missed
    low = int(np.argmin(np.append(few, False)))
    high = int(np.argmin(np.append(many[::-1], False)))
    return low, len(apart) + 1 - high
