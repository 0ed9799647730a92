"""What would have been released if a null hypothesis held: rows' sums are drawn, and noise of the law that was added.

All of it is made of what was released, after it was paid for: nothing here sees data, and nothing about privacy rests
on it (proofs/significance.md#law).
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from math import sqrt
from typing import Self, final

import numpy as np
from scipy import special, stats

from sfumato.entropy import Entropy
from sfumato.learn.columns import Floats
from sfumato.learn.noising import NoisySums
from sfumato.noise.distribution import Noise
from sfumato.release.record import Noised

ONE_BY_ONE = 1_000_000
"""Up to so many rows are drawn one by one; above that, the count of each cell in turn."""

MANY = 100.0
"""Degrees of freedom from which χ² numbers are made of normal ones."""

PLAIN = 15.0
"""A binomial variance from which its quantiles are those of Cornish and Fisher's expansion, to a fraction of 1."""


def uniforms(count: int, entropy: Entropy) -> Floats:
    """Numbers between 0 and 1, and neither of them."""
    return np.asarray(((entropy.words(count) >> np.uint64(11)).astype(np.float64) + 0.5) * 2.0**-53)


def normals(shape: tuple[int, ...], entropy: Entropy) -> Floats:
    """Standard normal numbers."""
    return np.asarray(special.ndtri(uniforms(int(np.prod(shape)), entropy)).reshape(shape))


def chi_squares(freedom: Floats, count: int, entropy: Entropy) -> Floats:
    """χ² numbers: a row for each draw, a column for each number of degrees of freedom.

    From 100 degrees on they are Wilson and Hilferty's cubes of normal numbers, within 10⁻³ of their deviation.
    """
    drawn = uniforms(count * len(freedom), entropy).reshape(count, len(freedom))
    small = 2.0 / (9.0 * freedom)
    made = freedom * (1 - small + special.ndtri(drawn) * np.sqrt(small)) ** 3
    few = freedom < MANY
    made[:, few] = 2.0 * special.gammaincinv(freedom[few] / 2.0, drawn[:, few])
    return np.asarray(made)


def gammas(shape: int, count: int, entropy: Entropy) -> Floats:
    """Numbers with a Gamma law of a whole shape: sums of waiting times."""
    return np.asarray(-np.log(uniforms(shape * count, entropy)).reshape(shape, count).sum(axis=0))


def binomials(trials: Floats, share: float, entropy: Entropy) -> Floats:
    """How many of some trials succeed, for each number of trials."""
    return binomial_quantiles(uniforms(len(trials), entropy), trials, share)


def binomial_quantiles(drawn: Floats, trials: Floats, share: float) -> Floats:
    """How many of some trials succeed where a uniform number was drawn for each."""
    variance = trials * share * (1 - share)
    z = special.ndtri(drawn)
    made = np.rint(trials * share + np.sqrt(variance) * z + (1 - 2 * share) * (z * z - 1) / 6)
    few = np.flatnonzero(variance < PLAIN)
    if few.size and np.ptp(trials) == 0:
        made[few] = _listed_quantiles(drawn[few], float(trials[0]), share)
    else:
        made[few] = stats.binom.ppf(drawn[few], trials[few], share)
    return np.asarray(np.clip(made, 0.0, trials))


def _listed_quantiles(drawn: Floats, trials: float, share: float) -> Floats:
    """The same where one number of trials has few likely outcomes: they are listed once."""
    if share > 0.5:
        return np.asarray(trials - _listed_quantiles(1 - drawn, trials, 1 - share))
    most = min(trials, np.ceil(trials * share + 12 * sqrt(PLAIN) + 40))
    return np.searchsorted(special.bdtr(np.arange(most), int(trials), share), drawn).astype(np.float64)


def multinomials(total: float, shares: Floats, count: int, entropy: Entropy, *, together: int = 1) -> Floats:
    """How many of some rows fall into each of several cells, ``together`` at a time: a row for each draw."""
    if together > 1:
        return together * multinomials(max(total / together, 1.0), shares, count, entropy)
    if total * count <= ONE_BY_ONE:
        drawn = uniforms(round(total) * count, entropy)
        places = np.searchsorted(np.cumsum(shares[:-1]), drawn, side="right")
        cells = places + len(shares) * np.repeat(np.arange(count), round(total))
        return np.bincount(cells, minlength=len(shares) * count).reshape(count, -1).astype(np.float64)
    left, rest = np.full(count, float(round(total))), 1.0
    made = np.zeros((count, len(shares)))
    for place, share in enumerate(shares[:-1]):
        if share > 0:
            made[:, place] = binomials(left, min(float(share) / rest, 1.0) if rest > 0 else 1.0, entropy)
            left, rest = left - made[:, place], rest - float(share)
    made[:, -1] = left
    return made


@lru_cache(maxsize=64)
def half_width(noise: Noise, missed: Fraction) -> int:
    """How far noise goes, but for a probability; worked out once, for tests that are asked again."""
    return noise.half_width(1 - missed)


@final
@dataclass(frozen=True, eq=False)
class NoiseLaw:
    """The noise on a vector of sums: the same on each number by itself, or that of a cube on each piece of them."""

    size: int
    deviation: float
    added: Noised | None = None
    pieces: int = 1
    together: int = 1
    """So many rows may be of one person, and alike: under a null hypothesis rows are drawn together (#several)."""

    @classmethod
    def of(cls, sums: NoisySums, size: int, pieces: int = 1, together: int = 1) -> Self:
        """The law of the noise that a measurement adds."""
        return cls(size, sums.deviation, sums.measurement.noise, pieces, together)

    @property
    def variance(self) -> float:
        """The variance of the noise on each number."""
        return self.deviation**2

    def reach(self, missed: Fraction) -> float:
        """How far the noise on one number goes, but for a probability."""
        if self.added is not None:
            return float(self.added.step * half_width(self.added.noise, missed))
        return self.scale * float(special.gammaincinv(self.size // self.pieces + 1.0, 1 - float(missed)))

    @property
    def scale(self) -> float:
        """The scale of a cube's radius."""
        each = self.size // self.pieces
        return self.deviation / sqrt((each + 1) * (each + 2) / 3)

    def draw(self, count: int, entropy: Entropy) -> Floats:
        """Draws of the noise on the whole vector, one in each row.

        What is the same on each number comes from its own sampler. That of a cube is a radius with a Gamma law times a
        point of a cube: the law that is released but for the rounding to steps of 2⁻⁴⁰.
        """
        if self.added is not None:
            whole = self.added.noise.samples(count * self.size, entropy)
            return np.asarray(whole, dtype=np.float64).reshape(count, self.size) * float(self.added.step)
        each = self.size // self.pieces
        radius = gammas(each + 1, count * self.pieces, entropy).reshape(count, 1, self.pieces)
        points = 2 * uniforms(count * self.size, entropy).reshape(count, each, self.pieces) - 1
        return np.asarray((self.scale * radius * points).reshape(count, self.size))
