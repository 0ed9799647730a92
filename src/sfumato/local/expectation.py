"""The likeliest distribution behind reports of windows, by expectation and maximisation in linear time a round.

All of this works on reports and public numbers, so it costs nothing. Floats do; no claim on privacy rests on them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np
from numpy.typing import NDArray

from sfumato.local.windows import Window

CLOSE = 0.01
"""The search for the likeliest shares ends when nothing could make the reports more than e^0.01 times as likely."""

STILL = 1e-3
"""The search for smooth shares ends when a round makes the reports less than e^0.001 times as likely (Li et al.)."""

FINE = 512
"""With so many places or more, smoothing has the weights ¼, ½, ¼; with fewer, it spreads over no longer a way."""

Floats = NDArray[np.float64]


@final
@dataclass(frozen=True, eq=False)
class Fit:
    """Shares that make reports likely; no shares make them more than exp(``slack``) times as likely."""

    shares: Floats
    slack: float
    rounds: int


def covered(shares: Floats, window: Window) -> Floats:
    """For each cell, what the places whose windows have it add up to (stride 1); along the first axis."""
    sums = np.concatenate([np.zeros((1, *shares.shape[1:])), np.cumsum(shares, axis=0)])
    ends = np.arange(1, window.cells + 1)
    found: Floats = sums[np.minimum(ends, len(shares))] - sums[np.maximum(ends - window.width, 0)]
    return found


def within(cells: Floats, window: Window) -> Floats:
    """For each place, what the cells of its window add up to (stride 1); along the first axis."""
    sums = np.concatenate([np.zeros((1, *cells.shape[1:])), np.cumsum(cells, axis=0)])
    found: Floats = sums[window.width :] - sums[: -window.width]
    return found


def likeliest(counts: NDArray[np.int64], window: Window, *, rounds: int) -> Fit:
    """Finds the likeliest shares, and how near the best they are.

    If every reported cell is made likelier by at most a share s when a person moves to some place, the logarithm of the
    likelihood is concave, and no shares have more than s a report on top.
    """
    return _climb(counts, window, rounds, smooth=False)


def smoothed(counts: NDArray[np.int64], window: Window, *, rounds: int) -> Fit:
    """Finds likely shares that are smoothed in each round (Li et al. 2020), by weights a/2, 1 − a, a/2.

    With a = ½ on few places, as there, shares end up nearly flat. So a falls with the square of the number of places:
    as much is moved, as far along the range, as by ½ on 512 of them.
    """
    return _climb(counts, window, rounds, smooth=True)


def _climb(counts: NDArray[np.int64], window: Window, rounds: int, *, smooth: bool) -> Fit:
    reports, places = int(counts.sum()), window.steps + 1
    outside, gain = float(window.outside), float(window.inside - window.outside)
    spread = min(1.0, places / FINE) ** 2 / 2
    shares, slack, likelihood = np.full(places, 1 / places), np.inf, -np.inf
    for done in range(rounds):
        expected = outside + gain * covered(shares, window)
        rates = counts / expected
        rise = (outside * rates.sum() + gain * within(rates, window)) / reports
        slack = reports * max(float(rise.max()) - 1, 0.0)
        now = float(counts @ np.log(expected))
        if slack <= CLOSE or (smooth and now - likelihood < STILL):
            return Fit(shares, slack, done)
        likelihood, shares = now, shares * rise
        if smooth:
            edged = np.concatenate([shares[:1], shares, shares[-1:]])
            shares = shares * (1 - spread) + (edged[:-2] + edged[2:]) * (spread / 2)
        shares /= shares.sum()
    return Fit(shares, slack, rounds)
