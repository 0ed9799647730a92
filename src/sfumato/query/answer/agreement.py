"""The noise on numbers after their totals were made to agree: each is a weighted mean of all noisy numbers.

Least squares is linear: the estimate of a number is a sum of all that was released, of every level, with public
weights. If the keys are all combinations of some values, the weights follow from how many values there are: two cells
are alike if they agree in the same keys. Else they are worked out one by one, for as many cells as that is quick for.
"""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias, final

import numpy as np

from sfumato.query.plan.grouping_sets import Level
from sfumato.release.blurred import Law
from sfumato.release.vectors import Array
from sfumato.release.waves import Wave

MOST_CELLS = 300
"""The most keys of the finest level for which weights are worked out one by one, where keys are no product of lists."""

MOST_LAWS = 32
"""The most different laws of one level; a level with more of them gets none."""

DIGITS = 12
"""Weights that agree to this many digits count as one; the difference is part of how far numbers may be off."""

Laws: TypeAlias = tuple[tuple[Law, ...], Array]
"""The laws that there are in a level, and which of them each cell has."""


@final
@dataclass(frozen=True)
class Cube:
    """Grouping sets over all combinations of values: the number of values of each key, and the keys of each set."""

    sizes: Mapping[int, int]
    sets: tuple[frozenset[int], ...]

    @staticmethod
    def of(levels: Sequence[Level], finest: Level) -> Cube | None:
        """Reads levels as a cube; None where the finest has no list of keys, or its keys are not all combinations."""
        if finest.listed is None:
            return None
        sizes = {at: len(set(column)) for at, column in zip(finest.places, finest.listed.columns, strict=True)}
        sets = tuple(frozenset(level.places) for level in levels)
        cells = [1 if level.listed is None else len(level.listed) for level in levels]
        full = all(many == math.prod(sizes[at] for at in one) for many, one in zip(cells, sets, strict=True))
        return Cube(sizes, sets) if full else None

    def weights(self, own: int, spreads: Sequence[float]) -> list[Counter[float]]:
        """The weights with which each level enters a number of level ``own``, and how often each weight occurs.

        ``spreads`` are the variances of the levels' noises. M, the sum of A'A / variance over the levels, is a sum of
        products of identities and of matrices of ones, one factor for each key: numbers that vary along some keys, T,
        and add up to 0 along each of them, it multiplies by a number μ(T).
        """
        weights = []
        for other, spread in zip(self.sets, spreads, strict=True):
            both = sorted(self.sets[own] & other)
            around = math.prod(self.sizes[at] for at in self.sizes if at not in self.sets[own] | other)
            more = math.prod(self.sizes[at] for at in other - self.sets[own])
            inverse = {part: 1 / self._curved(frozenset(part), spreads) for part in _subsets(both)}
            here: Counter[float] = Counter()
            for same in _subsets(both):
                weight = (
                    sum(self._factor(part, same, both) * curved for part, curved in inverse.items()) * around / spread
                )
                times = more * math.prod(self.sizes[at] - 1 for at in both if at not in same)
                if times:
                    here[_rounded(weight)] += times
            weights.append(here)
        return weights

    def _factor(self, part: tuple[int, ...], same: tuple[int, ...], both: Sequence[int]) -> float:
        """The entry of the projection on numbers that vary along ``part``, for cells that agree in ``same``."""
        return math.prod((float(at in same) - 1 / self.sizes[at]) if at in part else 1 / self.sizes[at] for at in both)

    def _curved(self, part: frozenset[int], spreads: Sequence[float]) -> float:
        """The factor μ(T): a sum over the levels that have all keys of T, each with as many cells as it adds up."""
        return sum(
            math.prod(self.sizes[at] for at in self.sizes if at not in one) / spread
            for one, spread in zip(self.sets, spreads, strict=True)
            if part <= one
        )


def _subsets(keys: Sequence[int]) -> list[tuple[int, ...]]:
    return [part for many in range(len(keys) + 1) for part in itertools.combinations(keys, many)]


def _rounded(weight: float) -> float:
    return round(weight, DIGITS)


def laws_of(levels: Sequence[Level], noises: Sequence[Wave], spreads: Sequence[float]) -> list[Laws | None]:
    """The laws of the noise on agreed numbers of one tally, for each level; None where there would be too many."""
    finest = next(level for level in levels if level.summed is None)
    cube = Cube.of(levels, finest)
    if cube is not None:
        cells = [1 if level.listed is None else len(level.listed) for level in levels]
        laws = [_law(cube.weights(own, spreads), noises) for own in range(len(levels))]
        return [((law,), np.zeros(size, dtype=np.intp)) for law, size in zip(laws, cells, strict=True)]
    if finest.listed is None or len(finest.listed) > MOST_CELLS:
        return [None] * len(levels)
    laws_by_level = [_listed_laws(rows, noises) for rows in _dense(levels, len(finest.listed), spreads)]
    return [None if len(laws) > MOST_LAWS else (laws, which) for laws, which in laws_by_level]


def _law(weights: Sequence[Mapping[float, int]], noises: Sequence[Wave]) -> Law:
    return tuple(
        (noise, weight, times)
        for noise, here in zip(noises, weights, strict=True)
        for weight, times in sorted(here.items())
        if weight
    )


def _dense(levels: Sequence[Level], size: int, spreads: Sequence[float]) -> list[list[Array]]:
    """For each level, one matrix per level: the weights of that level's noisy numbers in the first one's estimates."""
    sums = []
    for level in levels:
        places = np.arange(size) if level.summed is None else np.array(level.summed)
        cells = 1 if level.listed is None else len(level.listed)
        sums.append((places[None, :] == np.arange(cells)[:, None]).astype(np.float64))
    curved = sum((one.T @ one / spread for one, spread in zip(sums, spreads, strict=True)), np.zeros((size, size)))
    inverse = np.linalg.inv(curved)
    return [[own @ inverse @ other.T / spread for other, spread in zip(sums, spreads, strict=True)] for own in sums]


def _listed_laws(matrices: Sequence[Array], noises: Sequence[Wave]) -> Laws:
    """Groups the cells of a level by the law of their noise, which the weights in their rows decide."""
    known: dict[Law, int] = {}
    which = []
    for at in range(len(matrices[0])):
        law = _law([Counter(np.round(np.abs(matrix[at]), DIGITS).tolist()) for matrix in matrices], noises)
        which.append(known.setdefault(law, len(known)))
    return tuple(known), np.array(which, dtype=np.intp)
