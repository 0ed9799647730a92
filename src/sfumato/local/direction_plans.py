"""How many public directions a report of a vector chooses from, how many of them are near, and what that gains.

Of N normal numbers (the entries of N directions along one unit vector), the K largest have a mean that depends on N and
K alone. All here is about errors of estimates, in floats; no loss rests on it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from statistics import NormalDist
from typing import final

import numpy as np
from numpy.typing import NDArray

CLOSE = 1.02
"""An error of so many times the least is settled for, and as much more for groups that are shared."""

MOST_CELLS = 1 << 24
"""Directions of all groups together."""

MOST_DIRECTIONS = 1 << 14


@final
@dataclass(frozen=True)
class Gains:
    """What a report adds of its vector (``gain``), the square of that along it, and what groups have in common."""

    gain: float
    along: float
    shared: float

    def noise(self, users: int, groups: int) -> float:
        """About the variance of one entry of a mean of unit vectors, over reports and over the public key.

        People of one group share its directions, and what is off in these for all of them does not average out.
        """
        return (1 / users + self.shared / groups) / self.gain**2

    def squared_error(self, size: int, *, users: int, groups: int) -> float:
        """About the expected squared error of the mean of short vectors, summed over entries; less for longer ones."""
        return (size - 1) * self.noise(users, groups) + self.along / self.gain**2 / users


@final
@dataclass(frozen=True)
class DirectionPlan:
    """So many directions in a group, of which so many are near."""

    directions: int
    near: int
    groups: int
    error: float


def gains(directions: int, near: int, truth: float) -> Gains:
    """The gain of a report that is one of the near directions with a chance, else one of the others."""
    mean, square = _largest(directions, near)
    others = directions - near
    gain = truth * mean - (1 - truth) * mean * near / others
    along = truth * square + (1 - truth) * (directions - square * near) / others
    return Gains(gain, along, truth**2 / near + (1 - truth) ** 2 / others)


@lru_cache(maxsize=4096)
def _largest(directions: int, near: int) -> tuple[float, float]:
    """The expected mean, and the expected mean square, of the largest of so many normal numbers."""
    z = np.linspace(-9, 9, 3601)
    density = np.exp(-z * z / 2) / math.sqrt(2 * math.pi)
    above = np.array([math.erfc(each / math.sqrt(2)) / 2 for each in z])
    among = directions / near * density * _at_most(near - 1, directions - 1, above) * (z[1] - z[0])
    return float((z * among).sum()), float((z * z * among).sum())


def _at_most(most: int, trials: int, chance: NDArray[np.float64]) -> NDArray[np.float64]:
    """The chance of at most so many successes."""
    logs = np.concatenate([[0.0], np.cumsum(np.log(np.arange(1, trials + 1)))])
    counts = np.arange(most + 1)
    ways = logs[trials] - logs[counts] - logs[trials - counts]
    inside = np.clip(chance, 1e-300, 1 - 1e-16)
    yes, no = np.log(inside), np.log1p(-inside)
    total: NDArray[np.float64] = np.zeros(len(chance))
    for start in range(0, most + 1, 256):
        some = slice(start, start + 256)
        total += np.exp(ways[some, None] + counts[some, None] * yes + (trials - counts[some, None]) * no).sum(axis=0)
    return np.minimum(total, 1.0)


def greatest_gain(epsilon: float) -> tuple[float, float]:
    """The gain with any number of directions (PrivUnitG), and the share of them that is near.

    >>> round(greatest_gain(1.0)[0], 4)
    0.3975
    """
    shares = np.geomspace(1e-12, 0.5, 4001)
    found = np.array([_height(share) for share in shares]) * math.expm1(epsilon) / (shares * math.expm1(epsilon) + 1)
    best = int(np.argmax(found))
    return float(found[best]), float(shares[best])


def _height(share: float) -> float:
    """The normal density where so large a share lies above."""
    return NormalDist().pdf(NormalDist().inv_cdf(1 - share))


@lru_cache(maxsize=256)
def best_plan(epsilon: float, users: int) -> DirectionPlan:
    """The fewest directions, a power of 2, with nearly the least error for so many people."""
    share, plans, directions = greatest_gain(epsilon)[1], [], 2
    while directions <= MOST_DIRECTIONS:
        tried = {max(1, min(directions - 1, round(share * directions * by))) for by in (0.7, 0.85, 1, 1.2, 1.5)}
        plans.append(min((_plan(directions, near, epsilon, users) for near in tried), key=lambda plan: plan.error))
        directions *= 2
    least = min(plan.error for plan in plans)
    return next(plan for plan in plans if plan.error <= least * CLOSE)


def _plan(directions: int, near: int, epsilon: float, users: int) -> DirectionPlan:
    found = gains(directions, near, 1 / (1 + (directions - near) / near * math.exp(-epsilon)))
    enough = math.ceil(found.shared * users / (CLOSE - 1))
    groups = max(1, min(enough, users, MOST_CELLS // directions))
    return DirectionPlan(directions, near, groups, found.noise(users, groups))
