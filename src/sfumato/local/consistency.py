"""Estimated counts made possible: not negative, adding up. All of it is post-processing."""

from __future__ import annotations

from collections.abc import Callable
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

from sfumato.errors import BadArgument

Counts = NDArray[np.float64]


def consistent(counts: Counts, users: int, deviation: float, method: str) -> Counts:
    """Counts of at least 0 that add up to the number of people, by the method of that name."""
    if method not in METHODS:
        raise BadArgument("method", f"one of {', '.join(METHODS)}", method)
    return METHODS[method](counts, users, deviation)


def norm_sub(counts: Counts, users: int, deviation: float = 0.0) -> Counts:
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


def base_cut(counts: Counts, users: int, deviation: float) -> Counts:
    """Drops counts that chance alone would reach, once in twenty, among so many values; spreads the rest of people."""
    least = NormalDist().inv_cdf(1 - 0.05 / (2 * len(counts))) * deviation
    kept = np.where(counts > least, counts, 0.0)
    if kept.sum() > users:
        return norm_sub(kept, users)
    spread: Counts = kept + (users - kept.sum()) / len(kept)
    return spread


def power_law(counts: Counts, users: int, deviation: float) -> Counts:
    """Moves counts towards what a power law with their head would leave for the tail, by how noisy they are."""
    order = np.argsort(-counts, kind="stable")
    falling = counts[order]
    clear = int(np.sum(falling > 3 * deviation))
    if clear < 3:
        return norm_sub(counts, users)
    ranks = np.arange(1, len(counts) + 1, dtype=np.float64)
    slope, level = np.polyfit(np.log(ranks[:clear]), np.log(falling[:clear]), 1, w=np.sqrt(falling[:clear]))
    expected = np.exp(level + slope * np.log(ranks))
    trust = expected**2 / (expected**2 + deviation**2)
    shrunk = np.empty_like(counts)
    shrunk[order] = trust * falling + (1 - trust) * expected
    return norm_sub(shrunk, users)


METHODS: dict[str, Callable[[Counts, int, float], Counts]] = {
    "norm_sub": norm_sub,
    "base_cut": base_cut,
    "power_law": power_law,
}
