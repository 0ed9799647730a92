"""The sizes at which engines are timed, and the cost model that is fitted to them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np

from contenders.query.cases import Array

MOST_ROWS = {"duckdb": 10**8, "polars": 10**8, "postgres": 10**7, "spark": 10**8}
"""How far the curve over rows goes on one machine."""

MOST_GROUPS = {"duckdb": 10**7, "polars": 10**7, "postgres": 10**6, "spark": 10**7}
ROWS = (10**5, 10**6, 10**7, 10**8)
GROUPS = (10, 1_000, 10**5, 10**6, 10**7)
COLUMNS = (1, 4, 16)
USUAL_ROWS, USUAL_GROUPS = 10**6, 1_000
HELD_BACK = 3 * 10**6
"""A number of rows that the model is not fitted to, but checked against."""


@final
@dataclass(frozen=True)
class Point:
    """So many rows in so many groups, of which so many columns are added up."""

    rows: int
    groups: int
    columns: int


def points(engine: str) -> tuple[Point, ...]:
    """The sizes of one engine: rows, groups and columns vary one at a time; and one that is held back."""
    rows = [Point(many, USUAL_GROUPS, 1) for many in ROWS if many <= MOST_ROWS[engine]]
    groups = [Point(max(USUAL_ROWS, many), many, 1) for many in GROUPS if many <= MOST_GROUPS[engine]]
    columns = [Point(USUAL_ROWS, USUAL_GROUPS, many) for many in COLUMNS]
    return tuple(dict.fromkeys((*rows, *groups, *columns, Point(HELD_BACK, 10**4, 2))))


@final
@dataclass(frozen=True)
class CostModel:
    """Seconds per question, per row, per number that is added up, and per group that is found."""

    question: float
    row: float
    number: float
    group: float

    def seconds(self, point: Point) -> float:
        """What a question of this size should take."""
        parts = zip((self.question, self.row, self.number, self.group), _terms(point), strict=True)
        return sum(cost * many for cost, many in parts)


def _terms(point: Point) -> tuple[float, ...]:
    return 1.0, float(point.rows), float(point.rows * point.columns), float(point.groups)


def fitted(measured: dict[Point, float]) -> CostModel:
    """Fits costs, none below 0, so that the mean squared relative error is least."""
    terms = np.array([_terms(point) for point in measured])
    times = np.array(list(measured.values()))
    return CostModel(*_not_negative(terms / times[:, None]))


def _not_negative(shares: Array) -> list[float]:
    """Least squares of rows that should each add up to 1, over all sets of terms that may be left out."""
    best, least = np.zeros(shares.shape[1]), float("inf")
    for kept in range(1, 2 ** shares.shape[1]):
        places = [place for place in range(shares.shape[1]) if kept >> place & 1]
        found = np.linalg.lstsq(shares[:, places], np.ones(len(shares)), rcond=None)[0]
        miss = float(np.sum((shares[:, places] @ found - 1) ** 2))
        if (found >= 0).all() and miss < least:
            best, least = np.zeros(shares.shape[1]), miss
            best[places] = found
    return [float(cost) for cost in best]
