"""The textbook's algorithms in plain numpy: right on paper, with floating-point noise that is neither exact nor secure.

All of them protect against one row that is added or removed.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from functools import partial

import numpy as np

from contenders.algorithms.cases import (
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

GENERATOR = np.random.default_rng()

EXPONENTS = 20
"""Bounds are sought among the powers of two from 2⁻²⁰ to 2²⁰, on either side of 0."""

SURE = 1 - 1e-6
"""The chance that no empty bin of the histogram of exponents passes for a full one."""

COUNT_SHARE = 0.25
"""The part of a mean's loss that goes into the number of rows; the sum gets the rest."""


def quantile(rows: Array, alpha: float, epsilon: float, lower: float, upper: float) -> float:
    """Chooses a gap between sorted rows by the exponential mechanism, then a point in it (Smith 2011).

    The score −|rank − α n| has sensitivity 1, and the mechanism the factor 2.
    """
    edges = np.concatenate([[lower], rows, [upper]])
    scores = -np.abs(np.arange(len(rows) + 1) - alpha * len(rows))
    with np.errstate(divide="ignore"):
        weights = np.log(np.diff(edges)) + epsilon / 2 * scores
    place = int(np.argmax(weights + GENERATOR.gumbel(size=len(weights))))
    return float(GENERATOR.uniform(edges[place], edges[place + 1]))


def independent(case: Quantiles, rows: Array) -> Array:
    """Asks for each quantile by itself, at an equal part of the loss."""
    ordered, epsilon = np.sort(rows), case.epsilon / len(case.alphas)
    return np.sort([quantile(ordered, alpha, epsilon, *case.bounds) for alpha in case.shares])


def recursive(case: Quantiles, rows: Array) -> Array:
    """Asks for the middle quantile, splits there, and goes on in both parts (Kaplan, Schnapp, Stemmer 2022).

    Each layer gets an equal part of the loss; there are as many as the longest path of choices has.
    """
    epsilon = case.epsilon / len(case.alphas).bit_length()

    def split(rows: Array, alphas: Sequence[Fraction], lower: float, upper: float) -> list[float]:
        if not alphas:
            return []
        middle = len(alphas) // 2
        root = alphas[middle]
        point = quantile(rows, float(root), epsilon, lower, upper)
        place = int(np.searchsorted(rows, point))
        left = split(rows[:place], [alpha / root for alpha in alphas[:middle]], lower, point)
        above = [(alpha - root) / (1 - root) for alpha in alphas[middle + 1 :]]
        return [*left, point, *split(rows[place:], above, point, upper)]

    return np.array(split(np.sort(rows), case.alphas, *case.bounds))


def binary_tree(case: Ranges, rows: Array) -> Array:
    """Adds noise to every node of a binary tree but the root, and answers ranges from the fewest nodes."""
    leaves = case.bins
    nodes = np.zeros(2 * leaves)
    nodes[leaves:] = case.counts(rows)
    for place in range(leaves - 1, 0, -1):
        nodes[place] = nodes[2 * place] + nodes[2 * place + 1]
    nodes += GENERATOR.laplace(0, math.log2(leaves) / case.epsilon, 2 * leaves)
    nodes[1] = nodes[2] + nodes[3]
    first, last = case.asked[:, 0] + leaves, case.asked[:, 1] + leaves
    sums = np.zeros(len(first))
    while np.any(first < last):
        open_left, open_right = (first < last) & (first % 2 == 1), (first < last) & (last % 2 == 1)
        sums += np.where(open_left, nodes[first], 0) + np.where(open_right, nodes[last - 1], 0)
        first, last = (first + open_left) // 2, (last - open_right) // 2
    return sums


def thresholded(case: Keys, rows: Array) -> frozenset[int]:
    """Lists the keys whose count passes a threshold with Laplace noise."""
    keys, counts = np.unique(rows, return_counts=True)
    noisy = counts + GENERATOR.laplace(0, 1 / case.epsilon, len(counts))
    return frozenset(keys[noisy >= 1 + math.log(1 / (2 * DELTA)) / case.epsilon].tolist())


def bounds_by_exponents(rows: Array, epsilon: float) -> tuple[float, float]:
    """Finds bounds from a noisy histogram of signs and exponents: the outermost bins that are surely not empty."""
    sizes = np.abs(rows)
    exponents = np.floor(np.log2(np.clip(sizes, 2.0**-EXPONENTS, 2.0 ** (EXPONENTS - 1)))) + EXPONENTS
    places = np.where(sizes < 2.0**-EXPONENTS, 0, np.sign(rows) * (exponents + 1)).astype(np.int64)
    bins = 4 * EXPONENTS + 1
    noisy = np.bincount(places + 2 * EXPONENTS, minlength=bins) + GENERATOR.laplace(0, 1 / epsilon, bins)
    threshold = -math.log(2 - 2 * SURE ** (1 / bins)) / epsilon
    full = np.flatnonzero(noisy >= min(threshold, noisy.max())) - 2 * EXPONENTS
    return edge(int(full[0]), outer=full[0] < 0), edge(int(full[-1]), outer=full[-1] >= 0)


def edge(place: int, *, outer: bool) -> float:
    """Gives the end of a bin farther from 0, or the nearer one; of the bin around 0, the upper or the lower one."""
    if place == 0:
        return 2.0**-EXPONENTS if outer else -(2.0**-EXPONENTS)
    return math.copysign(2.0 ** (abs(place) - EXPONENTS - 1 + outer), place)


def clamped_mean(rows: Array, epsilon: float, lower: float, upper: float) -> float:
    """Adds noise to the sum of what is left and right of the middle of the bounds, and to the number of rows."""
    middle, radius = (lower + upper) / 2, (upper - lower) / 2
    total = float((np.clip(rows, lower, upper) - middle).sum())
    total += GENERATOR.laplace(0, radius / (epsilon * (1 - COUNT_SHARE))) if radius else 0.0
    count = max(1.0, len(rows) + GENERATOR.laplace(0, 1 / (epsilon * COUNT_SHARE)))
    return float(np.clip(middle + total / count, lower, upper))


def mean_by_exponents(case: Mean, rows: Array) -> float:
    """Spends half of the loss on bounds from exponents and half on the mean between them."""
    return clamped_mean(rows, case.epsilon / 2, *bounds_by_exponents(rows, case.epsilon / 2))


def mean_by_quantiles(case: Mean, outside: float, rows: Array) -> float:
    """Spends half of the loss on two quantiles between the widest bounds and half on the mean between them."""
    ordered = np.sort(rows)
    ends = [quantile(ordered, alpha, case.epsilon / 4, -WIDEST, WIDEST) for alpha in (outside, 1 - outside)]
    return clamped_mean(ordered, case.epsilon / 2, min(ends), max(ends))


def main() -> None:
    """Answers every case."""
    report_version("numpy")
    for case in (*QUANTILE, *QUANTILES):
        trial(case, way="each", work=partial(independent, case))
    for case in QUANTILES:
        trial(case, way="splitting", work=partial(recursive, case))
    for ranges in RANGES:
        trial(ranges, way="binary tree", work=partial(binary_tree, ranges))
    for keys in KEYS:
        trial(keys, way="threshold", work=partial(thresholded, keys))
    for mean in MEAN:
        trial(mean, way="exponents", work=partial(mean_by_exponents, mean))
        for outside in OUTSIDE:
            trial(mean, way=f"quantiles {outside:g}", work=partial(mean_by_quantiles, mean, outside))


if __name__ == "__main__":
    main()
