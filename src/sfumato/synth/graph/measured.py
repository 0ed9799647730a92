"""Noisy counts of one marginal: all that is ever known of the data."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TypeAlias, final

import numpy as np
from numpy.typing import NDArray

from sfumato.errors import BadArgument
from sfumato.synth.graph.domain import Domain

Floats: TypeAlias = NDArray[np.float64]

MOST_COUNT = 2.0**53
"""Noisy counts beyond this, either way, are read as this: no table has so many rows."""

LEAST_SHARE, LEAST_DEVIATION = 1e-3, 1e-6
"""No deviation counts as smaller than this share of the largest, so that no answer drowns the others by more, nor as
smaller than this number of rows."""


@final
@dataclass(frozen=True, eq=False)
class Measured:
    """Noisy answers about the counts of some columns, with independent noise of one standard deviation on each.

    ``counts`` has the shape of the columns. With ``queries``, a matrix whose rows are linear questions about the
    flattened counts (ranges, prefixes), it is the vector of their noisy answers. Whatever the noise made of the answers
    is accepted: what is no number counts as 0, and what is too large for a table as 2⁵³.
    """

    columns: tuple[str, ...]
    counts: Floats
    deviation: float
    queries: Floats | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "columns", tuple(self.columns))
        counts = np.nan_to_num(np.array(self.counts, dtype=np.float64), nan=0.0, posinf=np.inf, neginf=-np.inf)
        object.__setattr__(self, "counts", np.clip(counts, -MOST_COUNT, MOST_COUNT))
        if len(set(self.columns)) != len(self.columns):
            raise BadArgument("columns", "different columns", list(self.columns))
        if not (math.isfinite(self.deviation) and self.deviation >= 0):
            raise BadArgument("deviation", "a number of at least 0", self.deviation)
        object.__setattr__(self, "deviation", float(self.deviation))
        if self.queries is not None:
            self._check_queries(np.array(self.queries, dtype=np.float64))

    def _check_queries(self, queries: Floats) -> None:
        if queries.ndim != 2 or not np.isfinite(queries).all():
            raise BadArgument("queries", "a matrix of finite numbers, a row for each question", queries.shape)
        if self.counts.shape != queries.shape[:1]:
            raise BadArgument("counts", f"{len(queries)} answers, one for each query", self.counts.shape)
        object.__setattr__(self, "queries", queries)

    def check(self, domain: Domain) -> None:
        """Refuses answers that do not fit a domain."""
        shape = domain.shape(self.columns)
        if self.queries is None and self.counts.shape != shape:
            raise BadArgument("counts", f"of shape {shape}, that of {', '.join(self.columns)}", self.counts.shape)
        if self.queries is not None and self.queries.shape[1] != math.prod(shape):
            raise BadArgument("queries", f"a matrix of {math.prod(shape)} columns, one a cell", self.queries.shape)


def deviations(measured: Sequence[Measured]) -> list[float]:
    """The deviations that answers are weighted by: none under `LEAST_SHARE` of the largest; 1 where all are 0."""
    largest = min(max((one.deviation for one in measured), default=0.0), MOST_COUNT) or 1.0
    least = max(LEAST_SHARE * largest, LEAST_DEVIATION) if any(one.deviation for one in measured) else 1.0
    return [min(max(one.deviation, least), MOST_COUNT) for one in measured]


def total_of(measured: Iterable[Measured]) -> float:
    """The estimate of the number of rows with the least variance among unbiased ones, and at least 1.

    The sum of a marginal's noisy counts has variance cells · deviation²; each sum weighs by one over that. Of queries,
    the combination with the least variance that adds up to all rows is taken, if there is one.
    """
    measured = list(measured)
    estimates = [_sum_of(one, deviation) for one, deviation in zip(measured, deviations(measured), strict=True)]
    weights = [1 / variance for _, variance in estimates]
    if not sum(weights) > 0:
        return 1.0
    return max(1.0, sum(weight * sum_ for weight, (sum_, _) in zip(weights, estimates, strict=True)) / sum(weights))


def _sum_of(one: Measured, deviation: float) -> tuple[float, float]:
    """What one measured marginal says of the number of rows, with the variance; infinite if it says nothing."""
    if one.queries is None:
        return float(one.counts.sum()), one.counts.size * deviation**2
    ones = np.ones(one.queries.shape[1])
    if not one.queries.size:
        return 0.0, math.inf
    combination = np.linalg.lstsq(one.queries.T, ones, rcond=None)[0]
    if not np.allclose(one.queries.T @ combination, ones, atol=1e-8):
        return 0.0, math.inf
    return float(combination @ one.counts), float(combination @ combination) * deviation**2
