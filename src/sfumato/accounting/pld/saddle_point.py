"""Where to look: a rough law of the privacy loss in floats, its saddle point, and the lattice that a width needs.

Nothing here is certified, and nothing needs to be: a poor choice makes a bracket wide, never wrong.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import final

import numpy as np
from flint import arb
from numpy.typing import NDArray

from sfumato.accounting.pld.lattice import joined_masses, profile_values
from sfumato.accounting.pld.pairs.pair import Pair

Floats = NDArray[np.float64]

STEEPEST = 1e6
"""The largest tilt that is tried."""

NARROW = 1e-2
"""A tilt that leaves less than this share of the variance shows the end of a bounded law, and is steep enough."""

MOST_CELLS = 1 << 16
"""No smooth law is cut into many more cells than this."""

CLOSEST, MOST_HINTS = 2.0**-24, 2048
"""Hints lie at least this share of their range apart, and are no more than this many."""

FAR = 22.0
"""Windows are left to aliases of at most about exp(-FAR) of the tilted mass."""


@final
@dataclass(frozen=True)
class Sketch:
    """A rough law of one pair's loss, and how often it is used."""

    losses: Floats
    masses: Floats
    count: int


def sketch(pair: Pair, count: int, tail: float) -> Sketch:
    """Draws a rough law of a pair's loss through its hints."""
    hints = thinned(pair.hints(tail))
    if len(hints) == 1:
        hints = [hints[0] - 2.0**-20, *hints, hints[0] + 2.0**-20]
    lines = pair.lines()
    losses = [arb(hint) for hint in hints]
    ratios = [loss.exp() for loss in losses]
    masses = joined_masses(profile_values([lines(loss) for loss in losses], ratios), ratios)
    weights = np.nan_to_num(np.array([float(mass.mid()) for mass in masses]), nan=0.0, posinf=0.0)
    return Sketch(np.array(hints), np.maximum(weights, 0.0) + 1e-300, count)


def thinned(hints: Sequence[float]) -> list[float]:
    """Puts hints in order and leaves out those too close to tell apart, or too many to be of use.

    >>> thinned([0.5, 0.0, 0.5 + 1e-12, 1.0])
    [0.0, 0.5, 1.0]
    """
    rising = sorted(set(hints))
    close = (rising[-1] - rising[0]) * CLOSEST
    kept = rising[:1]
    for hint in rising[1:-1]:
        if kept[-1] + close < hint < rising[-1] - close:
            kept.append(hint)
    return kept[:: -(-len(kept) // MOST_HINTS)] + rising[-1:] * (len(rising) > 1)


@final
class Sketches:
    """The rough laws of a whole composition, side by side."""

    def __init__(self, parts: Sequence[Sketch]) -> None:
        self.parts = tuple(parts)
        longest = max(part.losses.size for part in parts)
        self._losses = np.array([np.pad(part.losses, (0, longest - part.losses.size), mode="edge") for part in parts])
        self._masses = np.array([np.pad(part.masses, (0, longest - part.masses.size)) for part in parts])
        self._counts = np.array([part.count for part in parts], dtype=float)

    def end(self, sign: int) -> float:
        """The largest (or smallest) loss that all uses together can have."""
        return sum(part.count * float(part.losses[-1 if sign > 0 else 0]) for part in self.parts)

    def widest(self) -> float:
        """The widest range of losses of one use."""
        return max(float(part.losses[-1] - part.losses[0]) for part in self.parts)

    def farthest(self) -> float:
        """The largest loss of one use, either way."""
        return max(float(np.max(np.abs(part.losses))) for part in self.parts)

    def shares(self, tilt: float) -> list[float]:
        """The part of the tilted variance that belongs to all uses of each pair."""
        spreads = self._counts * self._moments(tilt)[2]
        return [float(share) for share in spreads / max(np.sum(spreads), 1e-300)]

    def _moments(self, tilt: float) -> tuple[Floats, Floats, Floats]:
        exponents = tilt * self._losses
        most = np.max(exponents, axis=1)
        grown = self._masses * np.exp(exponents - most[:, np.newaxis])
        total = np.sum(grown, axis=1)
        means = np.sum(grown * self._losses, axis=1) / total
        spreads = np.sum(grown * (self._losses - means[:, np.newaxis]) ** 2, axis=1) / total
        return most + np.log(total), means, spreads

    def log_moment(self, tilt: float) -> tuple[float, float, float]:
        """ln E exp(tilt·loss) over all uses, with its first two derivatives."""
        value, mean, spread = (float(np.sum(self._counts * moment)) for moment in self._moments(tilt))
        return value, mean, spread


def tilt_for_delta(sketches: Sketches, delta: float) -> float:
    """Finds the tilt at which the saddle-point estimate of δ is about the one wanted."""
    wanted, wide = math.log(delta), sketches.log_moment(0.0)[2]

    def too_gentle(tilt: float) -> bool:
        value, mean, spread = sketches.log_moment(tilt)
        width = math.sqrt(2 * math.pi * spread) + 1 / (1 + tilt)
        estimate = value - tilt * mean - math.log(tilt) - math.log1p(tilt) - math.log(width)
        return (min(estimate, 0.0) > wanted or mean <= 0) and spread > NARROW * wide

    return _bisect(too_gentle)


def tilt_for_epsilon(sketches: Sketches, epsilon: float) -> float:
    """Finds the tilt under which the mean loss is about the ε wanted."""
    wide = sketches.log_moment(0.0)[2]

    def too_gentle(tilt: float) -> bool:
        _, mean, spread = sketches.log_moment(tilt)
        return mean < epsilon and spread > NARROW * wide

    return _bisect(too_gentle)


def _bisect(too_gentle: Callable[[float], bool]) -> float:
    low, high = 1e-3, 2e-3
    if not too_gentle(low):
        return low
    while high < STEEPEST and too_gentle(high):
        low, high = high, 2 * high
    for _ in range(8):
        middle = math.sqrt(low * high)
        low, high = (middle, high) if too_gentle(middle) else (low, middle)
    return low


def reach(sketches: Sketches, tilt: float, *, sign: int) -> tuple[float, float]:
    """How far the tilted law reaches from its mean, to one side, and the extra tilt that shows it.

    By Chernoff's inequality with an extra tilt e, the mass beyond K'(tilt + e) is at most exp(K(tilt + e) − K − e·K').
    Where no extra tilt shows enough, the law is taken whole, and the extra tilt is 0.
    """
    base, mean, spread = sketches.log_moment(tilt)
    most = 600 / max(sketches.widest(), 1e-290)
    low, high = 0.0, 1 / max(math.sqrt(spread), 1e-290)
    while high <= most and _rarity(sketches, tilt, sign * high, base) < FAR:
        low, high = high, 2 * high
    if high > most:
        return sign * (sketches.end(sign) - mean), 0.0
    for _ in range(8):
        middle = (low + high) / 2
        low, high = (middle, high) if _rarity(sketches, tilt, sign * middle, base) < FAR else (low, middle)
    return sign * (sketches.log_moment(tilt + sign * high)[1] - mean), sign * high


def _rarity(sketches: Sketches, tilt: float, extra: float, base: float) -> float:
    value, mean, _ = sketches.log_moment(tilt + extra)
    return extra * mean - (value - base)


def cells(part: Sketch, tilt: float, added: float, step: float) -> list[int]:
    """Lattice places that cut a smooth law into few cells which add about this much variance to one use.

    With mass w in a stretch of length c, cut into n cells, joining the dots adds about w·(c/n)²/6. The least number of
    cells for a given sum has n proportional to the cube root of w·c². Widths are powers of two of the step: where they
    change from cell to cell, the law from below loses.
    """
    exponents = np.log(part.masses) + tilt * part.losses
    weights = np.exp(exponents - np.max(exponents))
    lengths = np.diff(part.losses)
    masses = (weights[1:] + weights[:-1]) / (2 * np.sum(weights))
    needs = np.cbrt(masses * lengths**2)
    total = max(float(np.sum(needs)), 1e-290)
    counts = np.maximum(1.0, needs * min(math.sqrt(total / max(6 * added, 1e-290)), MOST_CELLS / total))
    wanted = np.maximum(1.0, lengths / counts / step)
    ends = np.floor(part.losses / step).astype(np.int64)
    place, last, piece = int(ends[0]) - 1, int(ends[-1]) + 2, 0
    places = [place]
    while place < last:
        while piece + 1 < wanted.size and place >= ends[piece + 1]:
            piece += 1
        width = 1 << int(math.log2(float(wanted[piece])))
        while place % width:
            width //= 2
        place = min(place + width, last)
        places.append(place)
    return places
