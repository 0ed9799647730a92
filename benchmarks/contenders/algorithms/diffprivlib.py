"""diffprivlib's tools, as they are called; its noise is floating point.

Its quantiles claim ε for a row that is exchanged and take a score of sensitivity 1, so for a row added or removed they
spend less: max(α, 1 − α) ε. Its mean takes the number of rows as public and claims ε for a row that is exchanged; for a
row added or removed that is too much to claim. Both are called at the ε that they state.
"""

from __future__ import annotations

from functools import partial

import numpy as np
from diffprivlib.tools import histogram, mean, quantile

from contenders.algorithms.cases import ALONE, MEAN, QUANTILE, RANGES, WIDEST, Array, Quantiles, Ranges
from contenders.algorithms.trials import trial
from side_by_side.stopwatch import report_version


def quantiles(case: Quantiles, rows: Array) -> Array:
    """Asks for a list of quantiles, between which the library shares ε out."""
    return np.sort(np.ravel(quantile(rows, case.shares, epsilon=case.epsilon, bounds=case.bounds)))


def ranges(case: Ranges, rows: Array) -> Array:
    """Adds up the counts of a noisy histogram."""
    counts, _ = histogram(rows, epsilon=case.epsilon, bins=case.bins, range=(0, case.bins))
    return case.sums(counts)


def main() -> None:
    """Answers what it can: it has no histogram over unknown keys."""
    report_version("diffprivlib")
    for case in (*QUANTILE, *ALONE):
        trial(case, way="each", work=partial(quantiles, case))
    for asked in RANGES:
        trial(asked, way="histogram", work=partial(ranges, asked))
    for unbounded in MEAN:
        work = partial(mean, epsilon=unbounded.epsilon, bounds=(-WIDEST, WIDEST))
        trial(unbounded, way="widest bounds", work=work)


if __name__ == "__main__":
    main()
