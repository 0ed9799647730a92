"""Estimated counts made possible: not negative, adding up. All of it is post-processing, at no cost in privacy.

The best methods use what all counts together say of each. Where most values are nobody's, a count a little above 0 is
likely to be noise. `empirical_bayes` estimates how counts are distributed, and takes for each the mean that is left
when its support is known. In simulations of many sizes, losses and shapes its squared error was the least by far as a
mean, and nowhere more than 1.7 times that of `norm_sub` (docs/local.md, "Possible counts").
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from statistics import NormalDist
from typing import final

import numpy as np
from numpy.typing import NDArray

from sfumato.errors import BadArgument

Counts = NDArray[np.float64]

CELLS, MOST_CELLS = 4, 512
"""Counts are told apart to a fourth of a standard deviation; where that makes too many cells, large ones are wider."""

FEW = 200
"""Of fewer cells the counts between them are tried too."""

FINE = 16.0
"""Up to so many deviations cells are never wider."""

ROUNDS, MOST_ROUNDS = 100, 1000
"""Steps of the algorithm that finds the distribution of counts: three times the root of the number of values, within
these bounds, were best in simulations; more of them sharpen what is noise."""


EXPONENTS = np.arange(0.05, 4.01, 0.05)
"""Exponents of power laws that are tried."""

LEAST_LAW = 10
"""A power law is looked for among so many values."""


@final
@dataclass(frozen=True)
class Seen:
    """How many of the reports support each value, and the chances with which they do."""

    support: Counts
    users: int
    truth: float
    other: float

    @property
    def counts(self) -> Counts:
        """The unbiased counts."""
        return self.count_of(self.support)

    def count_of(self, support: Counts) -> Counts:
        """The unbiased count that belongs to a support."""
        counts: Counts = (support - self.users * self.other) / (self.truth - self.other)
        return counts

    @property
    def level(self) -> float:
        """The variance of the count of a value that nobody has."""
        return self.users * self.other * (1 - self.other) / (self.truth - self.other) ** 2

    @property
    def rise(self) -> float:
        """By how much the variance rises with each person."""
        return (self.truth * (1 - self.truth) - self.other * (1 - self.other)) / (self.truth - self.other) ** 2

    def exponents(self, support: Counts, counts: Counts) -> Counts:
        """The logarithm of how likely each support is at each count, up to a term for each support.

        The deviance of a Poisson number, stretched to the variance that the support has: near a normal law where
        support is large, and skewed as it must be where it is small.
        """
        expected = self.users * self.other + counts * (self.truth - self.other)
        stretch = (self.level + self.rise * counts) * (self.truth - self.other) ** 2 / expected
        seen = support[:, None]
        ratio = np.log(np.maximum(seen, 1e-300) / expected)
        likely: Counts = (seen - expected - seen * ratio) / stretch
        return likely


def consistent(seen: Seen, method: str) -> Counts:
    """Counts of at least 0 that add up to the number of people, by the method of that name."""
    if method not in METHODS:
        raise BadArgument("method", f"one of {', '.join(METHODS)}", method)
    return METHODS[method](seen) if seen.users else np.zeros(len(seen.support))


def norm_sub(counts: Counts, users: int) -> Counts:
    """Subtracts the one number after which what is above 0 adds up: the nearest point of a simplex.

    >>> norm_sub(np.array([7.0, 5.0, -2.0]), 10).tolist()
    [6.0, 4.0, 0.0]
    """
    falling = np.sort(counts)[::-1]
    excess = (np.cumsum(falling) - users) / np.arange(1, len(falling) + 1)
    kept = np.flatnonzero(falling > excess)
    less = excess[kept[-1]] if len(kept) else excess[0]
    near: Counts = np.maximum(counts - less, 0)
    return near


def norm_mul(counts: Counts, users: int) -> Counts:
    """Cuts at 0 and scales: what most other packages do.

    >>> norm_mul(np.array([7.0, 3.0, -2.0]), 20).tolist()
    [14.0, 6.0, 0.0]
    """
    above = np.maximum(counts, 0)
    scaled: Counts = above * (users / above.sum()) if above.any() else np.full(len(counts), users / len(counts))
    return scaled


def base_cut(seen: Seen) -> Counts:
    """Drops counts that chance alone would reach, once in twenty, among so many values; spreads the rest of people."""
    counts, users = seen.counts, seen.users
    least = NormalDist().inv_cdf(1 - 0.05 / (2 * len(counts))) * seen.level**0.5
    kept = np.where(counts > least, counts, 0.0)
    if kept.sum() > users:
        return norm_sub(kept, users)
    spread: Counts = kept + (users - kept.sum()) / len(kept)
    return spread


def likelihood(seen: Seen) -> Counts:
    """The likeliest shares of a population from which people were drawn, of all that are possible.

    Where every report supports one value the law of support is multinomial and the maximum exact; otherwise values are
    taken as binomial numbers that know nothing of each other but their sum.
    """
    support, truth, other = seen.support, seen.truth, seen.other
    if not support.any():
        return np.full(len(support), seen.users / len(support))
    if abs(truth + (len(support) - 1) * other - 1) < 1e-9:
        # Σ S ln(q + (p − q) f) is greatest where f is S/μ − q/(p − q), cut at 0
        shift, falling = other / (truth - other), np.sort(support)[::-1]
        divisors = np.cumsum(falling) / (1 + shift * np.arange(1, len(falling) + 1))
        divisor = divisors[np.flatnonzero(falling > shift * divisors)[-1]]
        shares = np.maximum(support / divisor - shift, 0)
    else:
        shares = _binomial_shares(seen)
    likeliest: Counts = seen.users * shares / shares.sum()
    return likeliest


def _binomial_shares(seen: Seen) -> Counts:
    """Bisects for the price of a share at which the likeliest shares add up to 1."""
    support, users, gain = seen.support, seen.users, seen.truth - seen.other

    def priced(price: float) -> Counts:
        """Where S/a − (n − S)/(1 − a) is the price: the root in [0, 1] of price a² − (n + price) a + S."""
        half = users + price
        root = np.sqrt(np.maximum(half * half - 4 * price * support, 0))
        at = 2 * support / (half + root) if half > 0 else (half - root) / (2 * price)
        shares: Counts = np.maximum((at - seen.other) / gain, 0)
        return shares

    most = float(support.max())
    even = seen.other + gain / len(support)
    low, high = (most / at - (users - most) / (1 - at) for at in (seen.truth, even))  # sums above and below 1
    for _ in range(100):
        middle = (low + high) / 2
        low, high = (middle, high) if priced(middle).sum() > 1 else (low, middle)
    return priced(low)


def empirical_bayes(seen: Seen) -> Counts:
    """The posterior mean of each count under the distribution of counts that makes all supports likeliest.

    The distribution is found by expectation maximisation, without any assumption on its shape (Kiefer and Wolfowitz
    1956; that the means then have nearly the least squared error of all rules that treat values alike: Jiang and Zhang
    2009, arXiv 0908.1709). Counts whose posterior is wide take what is missing to the number of people.
    """
    cells = _told_apart(seen)
    likely = np.exp(cells.exponents)
    weights = np.full(len(cells.grid), 1 / len(cells.grid))
    for _ in range(min(max(ROUNDS, 3 * math.isqrt(len(seen.support))), MOST_ROUNDS)):
        weights *= likely.T @ (cells.many / (likely @ weights)) / cells.many.sum()
    return _posterior_means(seen, cells, weights)


def power_law(seen: Seen) -> Counts:
    """The posterior mean of each count if the sorted counts are a power law, with the exponent that is likeliest.

    Of very few values nobody can say that, and `empirical_bayes` answers.
    """
    size = len(seen.support)
    if size < LEAST_LAW:
        return empirical_bayes(seen)
    cells = _told_apart(seen)
    edges, likely = (cells.grid[1:] + cells.grid[:-1]) / 2, np.exp(cells.exponents)

    def weights(exponent: float) -> Counts:
        """What share of all counts lies next to each point of the grid."""
        first = seen.users / float(np.sum(np.arange(1, size + 1) ** -exponent))
        larger = np.minimum((first / edges) ** (1 / exponent) / size, 1)
        return -np.diff(larger, prepend=1, append=0)

    def fit(exponent: float) -> float:
        return float(cells.many @ np.log(np.maximum(likely @ weights(exponent), 1e-300)))

    return _posterior_means(seen, cells, weights(max(EXPONENTS.tolist(), key=fit)))


@final
@dataclass(frozen=True)
class _Cells:
    """Supports that are nearly alike: the mean and number of each cell; counts that are tried; how likely each is."""

    middles: Counts
    many: Counts
    grid: Counts
    exponents: Counts


def _told_apart(seen: Seen) -> _Cells:
    """Puts supports into cells, and tries counts around each."""
    cells, where, many = np.unique(_cells(seen), return_inverse=True, return_counts=True)
    middles = np.bincount(where, seen.support) / many
    steps = np.unique(np.maximum(cells, 0) + np.arange(-CELLS, CELLS + 1)[:, None]) if len(cells) < FEW else cells
    near = steps[steps >= 0] / CELLS  # in deviations, whose size changes along the way
    along = near * seen.level**0.5 + seen.rise * near**2 / 4
    tried = [along, seen.count_of(middles), np.array([0.0, seen.users / len(where)])]
    grid = np.unique(np.clip(np.concatenate(tried), 0, seen.users))
    exponents = seen.exponents(middles, grid)
    return _Cells(middles, many.astype(np.float64), grid, exponents - exponents.max(axis=1, keepdims=True))


def _cells(seen: Seen) -> NDArray[np.int64]:
    """The cell of each count, on a scale on which all are equally noisy."""
    counts, level = seen.counts, seen.level
    places = 2 * counts / (np.sqrt(np.maximum(level + seen.rise * counts, 0)) + level**0.5)
    fine: NDArray[np.int64] = np.rint(CELLS * places).astype(np.int64)
    if len(np.unique(fine)) <= MOST_CELLS:
        return fine
    wide = np.where(places > FINE, FINE * (1 + np.log(np.maximum(places, FINE) / FINE)), places)
    coarse: NDArray[np.int64] = np.rint(CELLS * wide).astype(np.int64)
    return coarse


def _posterior_means(seen: Seen, cells: _Cells, weights: Counts) -> Counts:
    """The mean of each count, of which so many are at each point of the grid; then what is missing is shared out."""
    joint = np.exp(cells.exponents) * weights
    chances = joint / joint.sum(axis=1, keepdims=True)
    means = chances @ cells.grid
    variances = np.maximum(chances @ cells.grid**2 - means**2, 0)
    moved = seen.counts + np.interp(seen.support, cells.middles, means - seen.count_of(cells.middles))
    loose = np.interp(seen.support, cells.middles, variances)
    shares = loose / loose.sum() if loose.any() else np.full(len(loose), 1 / len(loose))
    return norm_sub(moved + shares * (seen.users - moved.sum()), seen.users)


METHODS: dict[str, Callable[[Seen], Counts]] = {
    "empirical_bayes": empirical_bayes,
    "norm_sub": lambda seen: norm_sub(seen.counts, seen.users),
    "norm_mul": lambda seen: norm_mul(seen.counts, seen.users),
    "base_cut": base_cut,
    "likelihood": likelihood,
    "power_law": power_law,
}
