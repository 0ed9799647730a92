"""Strategies for ranges over ordered bins: which weighted sums to release, so that ranges made of them err least.

A strategy is a public matrix of whole numbers. Its rows times the counts are released with noise of one scale, and
the counts are fitted to them by least squares. Better than sums over the nodes of a tree are

- for Laplace noise, overlapping hats in place of the nodes: no larger in L1, but without jumps at their ends;
- for Gaussian noise, sines, weighted by how much of them ranges contain. No strategy does better than the trace bound,
  and this one is within a few per cent of it.

Which one, and with what weights, decides the error only (proofs/trees.md#strategies); privacy is by the largest column.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import final

import numpy as np

from sfumato.core.domains import Array
from sfumato.stats.tree_plans import FINEST_SHARE, Plan

WIDEST = 1 << 12
"""The most bins that strategies are used for: beyond, their matrices are too large, and trees do."""

FINE = 23
"""Bits of the whole numbers to which entries of the matrix of sines are rounded."""

CORRECTIONS = 2
"""Each correction for that rounding removes all but a thousandth of what is left of it, or more."""

BLOCK = 256
"""Rows of the matrix taken at a time."""


@final
@dataclass(frozen=True, eq=False)
class Hats:
    """The bins themselves, and hats with the widths of a tree's nodes; every column adds up to the same number."""

    matrix: Array
    own: int
    inner: Array

    @staticmethod
    @lru_cache(maxsize=4)
    def of(bins: int, plan: Plan) -> Hats:
        """Makes the hats of a plan: nodes at every width, and each bin shared by the two nodes around it."""
        top = 2 * max(width for width in plan.widths if width < bins)
        parts = list(zip(plan.widths, plan.shares, strict=True))[:-1]
        matrix = np.concatenate([_hats(bins, width, top) * int(share * FINEST_SHARE) for width, share in parts])
        own = top * int(plan.shares[-1] * FINEST_SHARE)
        inner = np.linalg.inv(np.eye(len(matrix)) + (matrix / own) @ (matrix.T / own))
        return Hats(_read_only(matrix.astype(np.int32)), own, _read_only(inner))

    def settle(self, values: Array) -> Array:
        """Fits the counts to noisy values of the rows."""
        rows = len(self.matrix)
        total: Array = self.matrix.T @ values[:rows] + self.own * values[rows:]
        return self.covered(total)

    def covered(self, weights: Array) -> Array:
        """(BᵀB)⁻¹ times a vector, by the inverse of a matrix with one row a hat (Woodbury)."""
        inside: Array = self.matrix.T @ (self.inner @ (self.matrix @ weights)) / self.own**2
        return np.asarray((weights - inside) / self.own**2)


def _hats(bins: int, width: int, top: int) -> Array:
    if width >= bins:
        return np.full((1, bins), top)
    places, nodes = 2 * np.arange(bins) + 1, 2 * width * np.arange(-(-bins // width) + 1)
    hats: Array = np.maximum(0, 2 * width - np.abs(nodes[:, None] - places[None, :])) * (top // (2 * width))
    return hats


@final
@dataclass(frozen=True, eq=False)
class Sines:
    """A sine of every frequency, weighted by rows and by columns, so that all columns are about as long.

    Ranges contain a sine of frequency j with weight 1 / hⱼ², hⱼ = 2 sin(πj / 2(n + 1)). Row j has the weight hⱼ^(−1/2).
    """

    matrix: Array
    rows: Array
    columns: Array
    own: int = 0

    @staticmethod
    @lru_cache(maxsize=1)  # a matrix of 4096 bins takes 67 MB
    def of(bins: int) -> Sines:
        """Makes the sines for a number of bins."""
        count = np.arange(1, bins + 1)
        steps = np.append(0.0, 1 / (2 * np.sin(np.pi * count / (2 * bins + 2))))
        waves = np.fft.fft(steps).real
        rows, columns = np.sqrt(steps[1:]), np.sqrt((bins + 1) / (waves[0] - waves[count % (bins + 1)]))
        rows = rows * (1 << FINE) / (rows.max() * columns.max())
        table = np.sin(np.pi * np.arange(2 * bins + 2) / (bins + 1))
        matrix = np.empty((bins, bins), dtype=np.int32)
        for place in range(bins):
            matrix[place] = np.rint(rows[place] * columns * table[(place + 1) * count % (2 * bins + 2)])
        return Sines(_read_only(matrix), _read_only(rows), _read_only(columns))

    def settle(self, values: Array) -> Array:
        """Solves for the counts of noisy rows: as if entries were not rounded, then corrected for that."""
        counts = _waves(values / self.rows) / self.columns
        for _ in range(CORRECTIONS):
            starts = range(0, len(values), BLOCK)
            reached = np.concatenate([self.matrix[start : start + BLOCK] @ counts for start in starts])
            counts = counts + _waves((values - reached) / self.rows) / self.columns
        return counts

    def covered(self, weights: Array) -> Array:
        """(BᵀB)⁻¹ times a vector, as if the entries of B were not rounded."""
        return _waves(_waves(weights / self.columns) / self.rows**2) / self.columns


def _read_only(shared: Array) -> Array:
    """Makes an array read-only: measurements and what they released share it."""
    shared.flags.writeable = False
    return shared


def _waves(vector: Array) -> Array:
    """The inverse of the matrix of sin(πjk / (n + 1)) times a vector: 2 / (n + 1) times that matrix itself."""
    odd = np.concatenate([[0.0], vector, [0.0], -vector[::-1]])
    return np.asarray(-np.fft.rfft(odd).imag[1 : len(vector) + 1] / (len(vector) + 1))


Strategy = Hats | Sines


@final
@dataclass(frozen=True, eq=False)
class Fit:
    """The least-squares fit of counts to noisy rows of a strategy, and to the total where that is public."""

    strategy: Strategy
    spread: float
    total: int | None = None

    def settle(self, values: Array) -> Array:
        """The counts that fit best."""
        counts = self.strategy.settle(values)
        if self.total is None:
            return counts
        pull = self.strategy.covered(np.ones(len(counts)))
        return np.asarray(counts + pull * ((self.total - counts.sum()) / pull.sum()))

    def variance(self, weights: Array) -> float:
        """The variance of a weighted sum of the counts that `settle` returns."""
        covered = self.strategy.covered(weights)
        squares = float(np.dot(weights, covered))
        if self.total is not None:
            pull = self.strategy.covered(np.ones(len(weights)))
            squares -= float(covered.sum() ** 2 / pull.sum())
        return self.spread * max(0.0, squares)
