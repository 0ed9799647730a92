"""What every contender is asked, on which visits, and how wrong an answer is.

It needs numpy only, since it is imported in all their environments. Data come from a fixed seed; noise never does.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, final

import numpy as np

Array = np.ndarray[Any, np.dtype[Any]]

SITES = 1000
MOST_GROUPS, MOST_ROWS = 4, 10
"""A person counts in at most so many groups, and with at most so many rows in each."""

SHORTEST, LONGEST = 0.0, 200.0
EPSILON, DELTA = 1.0, 1e-9
SKEW = 0.7
"""The k-th of all people has 1 / k to this power as many visits as the first."""

MEASURES = ("count", "sum", "mean")
"""What is asked of every site."""

TRUTHS = ("bounded", "whole")
"""An answer is compared with the exact one for people who are cut to their bounds, and with that for all rows."""


@final
@dataclass(frozen=True)
class Size:
    """Is a number of visits and of people who make them."""

    name: str
    rows: int
    people: int

    def visits(self, folder: Path) -> Path:
        """Gives the file of the visits."""
        return folder / f"visits-{self.name}.parquet"

    def columns(self, folder: Path) -> Path:
        """Gives the same visits for those who read no Parquet."""
        return folder / f"visits-{self.name}.npz"

    def truth(self, folder: Path) -> Path:
        """Gives the file of the exact answers."""
        return folder / f"truth-{self.name}.npz"


MILLION = Size("1m", 1_000_000, 100_000)
TEN_MILLION = Size("10m", 10_000_000, 1_000_000)
SMALL = Size("100k", 100_000, 10_000)
SIZES = {size.name: size for size in (SMALL, MILLION, TEN_MILLION)}


def draw(size: Size) -> dict[str, Array]:
    """Draws visits: who, where, and for how many minutes."""
    random = np.random.default_rng([size.rows, size.people])
    shares = np.cumsum(1 / np.arange(1, size.people + 1) ** SKEW)
    ranks = np.searchsorted(shares, random.random(size.rows) * shares[-1])
    return {
        "user_id": random.permutation(size.people)[np.minimum(ranks, size.people - 1)].astype(np.int64),
        "site": random.integers(0, SITES, size.rows),
        "minutes": random.gamma(2, 20, size.rows),
    }


def errors(answer: dict[str, Array], truth: dict[str, Array]) -> dict[tuple[str, str], float]:
    """Gives the mean absolute error over all sites, of each measure and against each truth.

    Means are moved into their public bounds first, and one that is missing to the middle, as anyone could do for free:
    where a noisy count is near 0, the quotient could be anything.
    """
    means = np.nan_to_num(np.asarray(answer["mean"], dtype=float), nan=(SHORTEST + LONGEST) / 2)
    given = {**answer, "mean": np.clip(means, SHORTEST, LONGEST)}
    return {
        (measure, to): float(np.mean(np.abs(np.asarray(given[measure], dtype=float) - truth[f"{to}_{measure}"])))
        for measure in MEASURES
        for to in TRUTHS
    }
