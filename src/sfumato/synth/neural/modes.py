"""Modes of a column of numbers, fitted to noisy counts: what a number is measured from (mode-specific normalisation).

Counts were paid for; whatever is made of them costs nothing more (proofs/neural_synthesis.md#statistics).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np
from numpy.typing import NDArray

ROUNDS = 60
"""Rounds of expectation and maximisation: few bins settle long before."""

FAINT = 0.02
"""A mode with less than this share of all rows is left out."""

WIDE = 4.0
"""A number is looked for within so many spreads of its mode's centre."""


@final
@dataclass(frozen=True)
class Mode:
    """A hill in the counts of a column: its centre and its spread, in places of bins."""

    centre: float
    spread: float

    @property
    def reach(self) -> float:
        """How far from the centre the numbers −1 and 1 are."""
        return WIDE * self.spread

    def scaled(self, code: float) -> float:
        """A place of a bin as a number between −1 and 1."""
        return float(np.clip((code - self.centre) / self.reach, -1.0, 1.0))


def whole_range(bins: int) -> tuple[Mode]:
    """One mode that reaches over all bins: what is known without any counts.

    >>> whole_range(11)[0].scaled(0), whole_range(11)[0].scaled(10)
    (-1.0, 1.0)
    """
    half = max(bins - 1, 1) / 2
    return (Mode((bins - 1) / 2, half / WIDE),)


def fitted_modes(counts: NDArray[np.float64], most: int) -> tuple[Mode, ...]:
    """The modes of noisy counts of bins in order, at most so many: a mixture of normal laws that fits them best.

    Counts below 0 count as none; where nothing is left, one mode reaches over all. Nothing is drawn.

    >>> [round(mode.centre) for mode in fitted_modes(np.array([1, 8, 1, 0, 0, 0, 0, 2, 9, 2.0]), 2)]
    [1, 8]
    """
    weights = np.maximum(counts, 0.0)
    if weights.sum() <= 0 or len(counts) < 2 or most < 2:
        return whole_range(len(counts))
    weights /= weights.sum()
    places = np.arange(len(counts), dtype=np.float64)
    centres = np.interp((np.arange(most) + 0.5) / most, np.cumsum(weights), places)
    spreads = np.full(most, max(len(counts) / (2 * most), 0.5))
    shares = np.full(most, 1 / most)
    for _ in range(ROUNDS):
        near = (
            shares[:, None]
            / spreads[:, None]
            * np.exp(-((places - centres[:, None]) ** 2) / (2 * spreads[:, None] ** 2))
        )
        owned = weights * near / np.maximum(near.sum(axis=0), 1e-300)
        shares = owned.sum(axis=1)
        held = np.maximum(shares, 1e-12)
        centres = np.where(shares > 1e-12, (owned * places).sum(axis=1) / held, centres)
        away = (owned * (places - centres[:, None]) ** 2).sum(axis=1) / held
        spreads = np.sqrt(np.maximum(away, 0.25))  # half a bin: codes are not told apart below that
    kept = np.flatnonzero(shares >= FAINT)
    found = sorted((float(centres[place]), float(spreads[place])) for place in kept)
    return _apart([Mode(*each) for each in found]) or whole_range(len(counts))


def _apart(modes: list[Mode]) -> tuple[Mode, ...]:
    """Without modes whose centres are less than a spread from the one before."""
    kept: list[Mode] = []
    for mode in modes:
        if not kept or mode.centre - kept[-1].centre > max(mode.spread, kept[-1].spread):
            kept.append(mode)
        elif mode.spread > kept[-1].spread:
            kept[-1] = mode
    return tuple(kept)
