"""OpenDP, from the parts that its released version has; all protect against one row that is added or removed.

What it claims was compared with what is known. Its counts over unknown keys claim the δ of the next higher threshold (a
count equal to the threshold is released, but not counted in δ), so the threshold here is the least one whose true δ
holds. Its way to make data of a known size is not used, nor any other path that is known to claim too much.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import opendp.prelude as dp

from contenders.algorithms.cases import (
    ALONE,
    DELTA,
    KEYS,
    MEAN,
    OUTSIDE,
    QUANTILE,
    QUANTILES,
    RANGES,
    WIDEST,
    Array,
    Keys,
    Mean,
    Quantiles,
    Ranges,
)
from contenders.algorithms.trials import trial
from side_by_side.stopwatch import report_version

CANDIDATES = (1000, 10_000)
"""Candidates of a quantile lie evenly between the bounds."""

LEAVES = 1024
BRANCHINGS = (4, 11, 16)
"""The best of many that were tried: its own helper aims at larger ones, and is one of the ways beside these."""

DECADES = 9
"""Bounds of a mean are sought among powers from the widest value down to this many decades below it."""

COUNT_SHARE = 0.25
"""The part of a mean's loss that goes into the number of rows; the sum gets the rest."""

Work = Callable[[Array], Any]

transformations: Any = dp.t
"""Its transformations, some of which have no types."""


def numbers() -> tuple[Any, Any]:
    """Gives the space of columns of floats, one row added or removed."""
    return dp.vector_domain(dp.atom_domain(T=float, nan=False)), dp.symmetric_distance()


def calibrated(make: Callable[[float], Any], epsilon: float) -> Any:
    """Gives the measurement with the least scale that keeps ε, as the library's own search finds it."""
    return make(dp.binary_search_param(make, d_in=1, d_out=epsilon))


def quantile(candidates: Sequence[float], alpha: float, epsilon: float) -> Any:
    """Scores candidates and gives the noisy best one."""
    measure = dp.max_divergence()
    return calibrated(lambda scale: numbers() >> dp.m.then_private_quantile(measure, candidates, alpha, scale), epsilon)


def each(case: Quantiles, count: int) -> Work:
    """Asks for each quantile by itself, at an equal part of the loss."""
    candidates = np.linspace(*case.bounds, count).tolist()
    releases = [quantile(candidates, alpha, case.epsilon / len(case.alphas)) for alpha in case.shares]
    return lambda rows: np.sort([release(rows.tolist()) for release in releases])


def tree(counting: Any, leaves: int, branching: int, epsilon: float) -> Any:
    """Adds noise to all nodes of a tree of counts and makes them consistent; gives the leaves."""
    grown = counting >> dp.t.then_b_ary_tree(leaves, branching)
    noisy = calibrated(lambda scale: grown >> dp.m.then_laplace(scale), epsilon)
    return noisy >> dp.t.make_consistent_b_ary_tree(branching)


def quantiles_of_tree(case: Quantiles, branching: int) -> Work:
    """Reads all quantiles off one tree of counts."""
    edges = np.linspace(*case.bounds, LEAVES + 1).tolist()
    binned = numbers() >> transformations.then_find_bin(edges[1:-1])
    counting = binned >> dp.t.then_count_by_categories(list(range(LEAVES)), null_category=False)
    read = dp.t.make_quantiles_from_counts(edges, case.shares)
    release = tree(counting, LEAVES, branching, case.epsilon) >> read
    return lambda rows: np.array(release(rows.tolist()))


def ranges(case: Ranges, branching: int | None) -> Work:
    """Counts the rows of each bin, with noise on a tree above them, or on the bins alone."""
    column = dp.vector_domain(dp.atom_domain(T=int)), dp.symmetric_distance()
    counting = column >> dp.t.then_count_by_categories(list(range(case.bins)), null_category=False)
    if branching is None:
        release = calibrated(lambda scale: counting >> dp.m.then_laplace(scale), case.epsilon)
    else:
        release = tree(counting, case.bins, branching, case.epsilon)
    return lambda rows: case.sums(np.array(release(rows.tolist())))


def keys(case: Keys) -> Work:
    """Lists the keys whose noisy count reaches the least threshold that truly keeps δ."""
    column = dp.vector_domain(dp.atom_domain(T=int)), dp.symmetric_distance()
    # A key of one row is released with the chance that the noise is at least threshold − 1.
    reach = math.log(1 / (DELTA * (1 + math.exp(-case.epsilon)))) / case.epsilon
    threshold = 1 + math.ceil(reach)
    release = column >> dp.t.then_count_by() >> dp.m.then_laplace_threshold(1 / case.epsilon, threshold=threshold)
    epsilon, delta = release.map(1)
    if epsilon > case.epsilon * (1 + 1e-9) or delta > DELTA:
        raise RuntimeError(f"OpenDP states ({epsilon}, {delta})")
    return lambda rows: frozenset(release(rows.tolist()))


def mean(case: Mean, outside: float) -> Work:
    """Spends half of the loss on two quantiles, and half on the sum and the number of rows between them.

    What lies on either side of the middle of the bounds is added up, which is the best that its parts allow.
    """
    powers = np.geomspace(WIDEST / 10**DECADES, WIDEST, CANDIDATES[0])
    candidates = np.concatenate([-powers[::-1], [0.0], powers]).tolist()
    ends = [quantile(candidates, alpha, case.epsilon / 4) for alpha in (outside, 1 - outside)]
    half = case.epsilon / 2
    counted = calibrated(lambda scale: numbers() >> dp.t.then_count() >> dp.m.then_laplace(scale), half * COUNT_SHARE)

    def work(rows: Array) -> float:
        lower, upper = sorted(end(rows.tolist()) for end in ends)
        middle, radius = (lower + upper) / 2, max((upper - lower) / 2, 1e-9)
        added = numbers() >> dp.t.then_clamp((-radius, radius)) >> transformations.then_sum()
        summed = calibrated(lambda scale: added >> dp.m.then_laplace(scale), half * (1 - COUNT_SHARE))
        total, count = summed((rows - middle).tolist()), max(1, counted(rows.tolist()))
        return float(np.clip(middle + total / count, lower, upper))

    return work


def main() -> None:
    """Answers every case."""
    report_version("opendp")
    dp.enable_features("contrib")
    for case in QUANTILE:
        for count in CANDIDATES:
            trial(case, way=f"{count} candidates", work=each(case, count))
    for case in ALONE:
        trial(case, way="each", work=each(case, CANDIDATES[0]))
    for case in QUANTILES:
        for branching in BRANCHINGS[:2]:
            trial(case, way=f"tree of {branching}", work=quantiles_of_tree(case, branching))
    for asked in RANGES:
        trial(asked, way="bins", work=ranges(asked, None))
        for branching in (*BRANCHINGS, dp.t.choose_branching_factor(asked.bins)):
            chosen = f"tree of {branching}" if branching in BRANCHINGS else "tree, its choice"
            trial(asked, way=chosen, work=ranges(asked, branching))
    for unknown in KEYS:
        trial(unknown, way="threshold", work=keys(unknown))
    for unbounded in MEAN:
        for outside in OUTSIDE:
            trial(unbounded, way=f"quantiles {outside:g}", work=mean(unbounded, outside))


if __name__ == "__main__":
    main()
