"""sfumato's algorithms with their defaults, at a loss for one row that is added or removed."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np

import sfumato as sf
from contenders.algorithms.cases import (
    DELTA,
    KEYS,
    MEAN,
    QUANTILE,
    QUANTILES,
    RANGES,
    Array,
    Keys,
    Mean,
    Quantiles,
    Ranges,
)
from contenders.algorithms.trials import trial
from side_by_side.stopwatch import report_version

Work = Callable[[Array], Any]


def quantiles(case: Quantiles) -> Work:
    """Chooses one quantile, or several in the way that is best."""
    column, loss = sf.vector(float), sf.Pure(case.epsilon)

    def chosen(temperature: Fraction) -> sf.Measurement:
        return column >> sf.quantile(case.alphas[0], between=case.bounds, temperature=temperature)

    if len(case.alphas) == 1:
        release = sf.calibrate(chosen, d_in=1, loss=loss)
    else:
        release = column >> sf.stats.quantiles(case.alphas, between=case.bounds, loss=loss)
    return lambda rows: np.ravel(release(rows).value)


def ranges(case: Ranges) -> Work:
    """Releases a tree of counts."""
    release = sf.vector(int) >> sf.stats.tree(range(case.bins + 1), loss=sf.Pure(case.epsilon))
    return lambda rows: case.sums(release(rows).value.counts)


def keys(case: Keys) -> Work:
    """Lists the keys that occur often enough."""
    release = sf.vector(int) >> sf.stats.select_keys(loss=sf.Approx(case.epsilon, DELTA))
    return lambda rows: frozenset(release(rows).value)


def mean(case: Mean) -> Work:
    """Finds a mean without bounds; where there are too few rows to locate anything, its answer counts as 0."""
    release = sf.vector(float) >> sf.stats.mean_without_bounds(loss=sf.Pure(case.epsilon))

    def work(rows: Array) -> float:
        found = release(rows).value
        return 0.0 if found is None else float(found.estimate)

    return work


def main() -> None:
    """Answers every case."""
    report_version("sfumato")
    for case in (*QUANTILE, *QUANTILES):
        trial(case, way="best" if len(case.alphas) > 1 else "", work=quantiles(case))
    for asked in RANGES:
        trial(asked, way="tree", work=ranges(asked))
    for unknown in KEYS:
        trial(unknown, way="best chances", work=keys(unknown))
    for unbounded in MEAN:
        trial(unbounded, way="located", work=mean(unbounded))


if __name__ == "__main__":
    main()
