"""What is made of reported cells: where people probably are, and the best guess for one of them.

All of this works on reports and public knowledge, so it costs nothing. Floats do; no claim on privacy rests on them.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sfumato.errors import BadArgument
from sfumato.noise.lattice_sums import lattice_sums

MOST_CELLS = 2500
"""Up to so many cells a chance for each pair of cells is kept."""

WIDEST = 2000
"""How many cells the noise may reach beyond the region where its law is summed."""

TAIL = 45.0
"""Noise beyond this over the rate has a chance below 1e-17."""

CLOSE = 0.01
"""The search for the likeliest counts ends when nothing could make the reports more than e^0.01 times as likely."""

Floats = NDArray[np.float64]


@final
@dataclass(frozen=True, eq=False)
class PlaceDensity:
    """How many people each cell probably has.

    ``counts`` has a row and a column for each cell of the region and adds up to ``total``, the number of reports. No
    counts make the reports more than exp(``slack``) times as likely.
    """

    counts: Floats
    total: int
    slack: float
    rounds: int


@final
@dataclass(frozen=True, eq=False)
class PlaceRemap:
    """The best guess for each reported cell, and the mean error without and with it, under the prior.

    Errors are in the unit of the distances: metres on the map for `Places`.
    """

    table: NDArray[np.int64]
    error_before: float
    error_after: float


def cell_law(rate: Fraction, size: tuple[int, int]) -> Floats:
    """The chance of each reported cell from each true one, where noise outside the region comes back to its border."""
    rows, columns = size
    if rows * columns > MOST_CELLS:
        raise BadArgument("region", f"of at most {MOST_CELLS} cells for this; take a larger step", rows * columns)
    reach = math.ceil(TAIL / float(rate))
    if reach > WIDEST:
        raise BadArgument("step", f"larger: noise reaches {reach} cells, and this sums at most {WIDEST}", float(rate))
    far = np.arange(max(rows, columns) + reach, dtype=np.float64)
    weights = np.exp(-float(rate) * np.hypot(far[:, None], far[None, :]))
    kernel = weights / float(lattice_sums(rate, 64).weight.mid())
    short, long = min(size), max(size)  # the short side first: what is between has short² · (long + reach) numbers
    along = border_sums(kernel, short)
    both = border_sums(np.moveaxis(along, 2, 0), long)
    order = (2, 0, 3, 1) if rows == short else (0, 2, 1, 3)
    chances = both.transpose(order).reshape(rows * columns, rows * columns)
    law: Floats = chances / chances.sum(axis=1, keepdims=True)
    return law


def border_sums(kernel: Floats, cells: int) -> Floats:
    """Puts a symmetric law, listed from 0 up on its first axis, on a row of cells: entry (from, to, …) is a chance."""
    tail = np.cumsum(kernel[::-1], axis=0)[::-1]
    start, end = np.indices((cells, cells))
    law: Floats = kernel[np.abs(end - start)]
    if cells == 1:
        law[0] = 2 * tail[:1] - kernel[:1]
        return law
    law[:, 0] = tail[np.arange(cells)]
    law[:, -1] = tail[cells - 1 - np.arange(cells)]
    return law


def likeliest_density(law: Floats, counts: NDArray[np.int64], *, rounds: int, shape: tuple[int, int]) -> PlaceDensity:
    """Finds the likeliest shares of the cells by expectation and maximisation, and how near the best they are."""
    total, cells = int(counts.sum()), len(counts)
    shares, slack, done = np.full(cells, 1 / cells), 0.0, 0
    if total == 0:
        return PlaceDensity(np.zeros(shape), 0, 0.0, 0)
    observed = np.flatnonzero(counts)
    chances, parts = law[:, observed], counts[observed] / total
    while done < rounds:
        done += 1
        rise = chances @ (parts / (shares @ chances))
        slack = total * float(max(rise.max() - 1, 0))
        if slack <= CLOSE:
            break
        shares = shares * rise
        shares /= shares.sum()
    return PlaceDensity((shares * total).reshape(shape), total, slack, done)


def remap_cells(law: Floats, prior: ArrayLike, middles: Floats) -> PlaceRemap:
    """Finds for each report the cell with the least mean distance from where its sender is, given a public prior."""
    distances = np.hypot(*(middles[:, None, axis] - middles[None, :, axis] for axis in range(2)))
    return best_choices(law, prior, distances)


def best_choices(law: Floats, prior: ArrayLike, distances: Floats) -> PlaceRemap:
    """Finds for each outcome the choice with the least mean distance from the truth, given a public prior."""
    weights = np.asarray(prior, dtype=np.float64).reshape(-1)
    if weights.shape != law.shape[:1] or not np.isfinite(weights).all() or (weights < 0).any() or not weights.any():
        raise BadArgument("prior", f"{law.shape[0]} weights of at least 0, not all 0", prior)
    joint = (weights / weights.sum())[:, None] * law
    costs = joint.T @ distances
    table = np.argmin(costs, axis=1)
    outcomes = np.arange(len(table))
    stay = costs[outcomes, outcomes]
    table = np.where(costs[outcomes, table] < stay, table, outcomes)
    return PlaceRemap(table, float(stay.sum()), float(costs[outcomes, table].sum()))
