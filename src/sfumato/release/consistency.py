"""Consistent totals: of noisy numbers in several layers, the weighted least-squares fit, of which all totals are sums.

Everything here works on released numbers alone, so it costs no privacy. Where layers are nested, the fit is found in
two passes (Hay, Rastogi, Miklau and Suciu 2010; why it is the best one is said in proofs/trees.md#consistency); where
they cross, as those of a CUBE do, by conjugate gradients.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import final

import numpy as np

from sfumato.release.vectors import Array

MOST_ROUNDS = 200
"""Conjugate gradients end after this many rounds; there are as many different curvatures as layers, so few will do."""

PRECISE = 1e-12
"""What is left of the misfit when they end, as a share of what it was."""

FLOATS = 1e-13
"""What floats do to a sum of many numbers, as a share of the largest ones."""


@final
@dataclass(frozen=True, eq=False)
class Nesting:
    """Says which node of the layer above each node is part of, from the top layer down, and how noisy each node is.

    ``variances`` holds one array a layer: 0 where a count is known, infinity where it was not released.
    """

    parents: tuple[Array, ...]
    variances: tuple[Array, ...]

    def upward(self, values: Sequence[Array]) -> tuple[list[Array], list[Array]]:
        """The best estimate of every node from what lies in and below it, and the variance of that estimate."""
        best, variances = [values[-1]], [self.variances[-1]]
        for value, own, parent in zip(values[-2::-1], self.variances[-2::-1], self.parents[::-1], strict=True):
            sums = np.bincount(parent, weights=best[0], minlength=len(value))
            spread = np.bincount(parent, weights=variances[0], minlength=len(value))
            weight = _ratio(spread, own + spread)
            best.insert(0, np.where(weight > 0, weight * value, 0.0) + (1 - weight) * sums)
            variances.insert(0, (1 - weight) * spread)
        return best, variances

    def settle(self, values: Sequence[Array]) -> Array:
        """The counts of the last layer of the weighted least-squares fit; upper layers are their sums."""
        best, variances = self.upward(values)
        fitted = best[0]
        for below, variance, parent in zip(best[1:], variances[1:], self.parents, strict=True):
            missing = fitted - np.bincount(parent, weights=below, minlength=len(fitted))
            spread = np.bincount(parent, weights=variance, minlength=len(fitted))
            fitted = below + missing[parent] * _ratio(variance, spread[parent])
        return fitted

    def variance(self, weights: Array) -> float:
        """The variance of a weighted sum of the counts that `settle` gives."""
        _, variances = self.upward([np.zeros(len(own)) for own in self.variances])
        total = 0.0
        for variance, parent, above in zip(variances[:0:-1], self.parents[::-1], variances[-2::-1], strict=True):
            spread = np.bincount(parent, weights=variance, minlength=len(above))
            mean = _ratio(np.bincount(parent, weights=weights * variance, minlength=len(above)), spread)
            total += float(np.sum(weights**2 * variance) - np.sum(mean**2 * spread))
            weights = mean
        return max(0.0, total + float(np.sum(weights**2 * variances[0])))


def _ratio(part: Array, whole: Array) -> Array:
    """Divides; 0 / 0 is 0, where nothing is left to share out, and a finite part of infinity is 0."""
    return np.divide(part, whole, out=np.zeros(len(part)), where=whole > 0)


@final
@dataclass(frozen=True, eq=False)
class BestFit:
    """The finest numbers that fit best, and how far (in L2) they may be from exact least squares."""

    values: Array
    off: float


def best_fit(values: Sequence[Array], variances: Sequence[float], places: Sequence[Array], finest: int) -> BestFit:
    """Fits the numbers of the finest layer to noisy numbers of all layers.

    ``places`` says for each layer which of its numbers each finest number adds to; the noise of a layer has one
    variance. ``finest`` is the place of the finest layer.
    """
    nesting = _nested(variances, places, [len(part) for part in values])
    weights = [min(variances) / one for one in variances]

    def spread(parts: Sequence[Array]) -> Array:
        total = np.zeros(len(values[finest]))
        for part, weight, place in zip(parts, weights, places, strict=True):
            total += weight * part[place]
        return total

    def curved(x: Array) -> Array:
        return spread([sums(x, place, len(part)) for place, part in zip(places, values, strict=True)])

    target = spread(values)
    if nesting is None:
        x = _gradients(curved, target)
    else:
        order, nested = nesting
        x = nested.settle([values[at] for at in order])[places[order[-1]]]
    misfit = np.linalg.norm(target - curved(x))
    left = float(misfit + FLOATS * (np.linalg.norm(target) + np.abs(target).max(initial=0.0)))
    # The normal equations are left with a misfit, and multiply no vector by less than the finest layer's weight.
    return BestFit(x, left / weights[finest])


def sums(values: Array, places: Array, size: int) -> Array:
    """Adds up the numbers of the finest layer to those of another."""
    return np.bincount(places, weights=values, minlength=size)


def _nested(
    variances: Sequence[float], places: Sequence[Array], sizes: Sequence[int]
) -> tuple[list[int], Nesting] | None:
    """The layers from the top down, each part of the one above; None where two of them cross."""
    order = sorted(range(len(sizes)), key=sizes.__getitem__)
    parents = []
    for above, below in pairwise(order):
        parent = np.zeros(sizes[below], dtype=np.intp)
        parent[places[below]] = places[above]
        if not np.array_equal(parent[places[below]], places[above]):
            return None
        parents.append(parent)
    return order, Nesting(tuple(parents), tuple(np.full(sizes[at], variances[at]) for at in order))


def _gradients(curved: Callable[[Array], Array], target: Array) -> Array:
    """Solves the normal equations, the weighted sum of A'A x = A'y, by conjugate gradients."""
    x, left = np.zeros(len(target)), target.copy()
    way, rest = left.copy(), float(left @ left)
    enough = PRECISE**2 * rest
    for _ in range(MOST_ROUNDS):
        if rest <= enough or rest == 0:
            break
        bent = curved(way)
        step = rest / float(way @ bent)
        x, left = x + step * way, left - step * bent
        new = float(left @ left)
        way, rest = left + (new / rest) * way, new
    return x
