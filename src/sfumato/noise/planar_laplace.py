"""Noise on the points of the plane with whole coordinates, as likely as it is near: exp(-rate × Euclidean length).

A square ring is proposed, a point on it, and the point is kept with the chance that corrects the square to the circle.
The chance is irrational twice over (a square root inside an exponential); floats with a proven error decide nearly all
draws, balls the rest, so the law is exact.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import final

import numpy as np
from flint import arb
from numpy.typing import NDArray

from sfumato.entropy import Entropy
from sfumato.errors import BadArgument
from sfumato.exact import BITS, ball, down, integer, positive, precision
from sfumato.guarantee import guarantee
from sfumato.noise.certified import EXP_MOST, exp_minus
from sfumato.noise.coins import COIN_BITS, LARGEST_UNIT, MARGIN
from sfumato.noise.geometric import Geometric
from sfumato.noise.inversion import IndexLaw, InversionTable, resolve
from sfumato.noise.lattice_sums import lattice_sums
from sfumato.noise.sampling import CHUNK, Integers

SLOWEST = Fraction(1, 1 << 40)
"""The smallest rate: coordinates then stay far below 2^62."""

OCTANTS = 8
TURNS: tuple[tuple[int, int, int, int], ...] = ((1, 0, 0, 1), (0, -1, 1, 0), (-1, 0, 0, -1), (0, 1, -1, 0))
"""Quarter turns, as matrices row by row."""


@final
@dataclass(frozen=True)
class PlanarLaplace:
    """Draws points (x, y) of whole numbers with P(x, y) proportional to exp(-rate √(x² + y²)).

    Takes:      rate, a rational of at least 2^-40
    Guarantee:  exactly this law (proofs/planar_laplace.md#law)
    Cost:       about 20 bytes of entropy a point

    >>> PlanarLaplace(Fraction(1)).pmf(3, 4).str(10)
    '[0.001035453626 +/- 1.31e-14]'
    """

    rate: Fraction

    def __post_init__(self) -> None:
        object.__setattr__(self, "rate", positive(self.rate, "rate"))
        if self.rate < SLOWEST:
            raise BadArgument("rate", "at least 2^-40", self.rate)

    def sample(self, entropy: Entropy) -> tuple[int, int]:
        """Draws one point."""
        octants, steps = _octants(self.rate), Geometric(1 / self.rate)
        while True:
            octant = octants.one(entropy)
            if octant == 0:
                return 0, 0
            across, more = steps.sample(entropy), steps.sample(entropy)
            x, y = placed(octant, across, more)
            if kept(self.rate, max(abs(x), abs(y)), min(abs(x), abs(y)), entropy.bits(COIN_BITS), entropy):
                return x, y

    def samples(self, count: int, entropy: Entropy) -> Integers:
        """Draws an array of points, one a row."""
        count = integer(count, "count", least=0)
        parts: list[Integers] = [np.empty((0, 2), dtype=np.int64)]
        left = count
        while left:
            points = self._batch(min(left, CHUNK), entropy)
            parts.append(points)
            left -= len(points)
        drawn: Integers = np.concatenate(parts)  # type: ignore[assignment]  # one kind of integers or the other
        return drawn

    def _batch(self, count: int, entropy: Entropy) -> Integers:
        """Proposes so many points, and keeps some; in the order of the proposals."""
        octant, _ = _octants(self.rate).many(count, entropy)
        away = np.flatnonzero(octant)
        steps = Geometric(1 / self.rate)
        across, more = steps.samples(len(away), entropy), steps.samples(len(away), entropy)
        points: Integers = np.zeros((count, 2), dtype=across.dtype if across.dtype == more.dtype else object)
        points[away] = placed_many(octant[away], across, more)
        lengths = np.sort(np.abs(points[away]), axis=1)
        keep = np.ones(count, dtype=np.bool_)
        keep[away] = kept_many(self.rate, lengths[:, 1], lengths[:, 0], entropy)
        return points[keep]

    def pmf(self, x: int, y: int, *, bits: int = BITS) -> arb:
        """Encloses the probability of one point."""
        with precision(bits):
            return (-ball(self.rate) * arb(x * x + y * y).sqrt()).exp() / lattice_sums(self.rate, bits).weight

    def mean_length(self, *, bits: int = BITS) -> arb:
        """Encloses the expected Euclidean length; nearly 2 / rate where the rate is small."""
        with precision(bits):
            sums = lattice_sums(self.rate, bits)
            return sums.moment / sums.weight

    def outside(self, reach: int, *, bits: int = BITS) -> arb:
        """Bounds from above the probability that a coordinate is larger than ``reach`` in size."""
        return outside_square(self.rate, reach, bits)


@guarantee(claim="at least P(max(|x|, |y|) > reach)", proof="proofs/planar_laplace.md#outside", reviewed="e5d483c2df45")
def outside_square(rate: Fraction, reach: int, bits: int) -> arb:
    """Bounds the probability outside a square by the square rings, 8 Σ k exp(-rate k) over the sum of all weights."""
    with precision(bits):
        first, ratio = max(reach, 0) + 1, ball(-rate).exp()
        ring = 8 * ratio**first * (first - (first - 1) * ratio) / ball(-rate).expm1() ** 2
        return ring / lattice_sums(rate, bits).weight


@guarantee(
    claim="index 0 has mass q/(q + 8a) with q = (1 - a)^2, a = exp(-rate), and 1 … 8 share the rest equally",
    proof="proofs/planar_laplace.md#proposal",
    reviewed="f6f8cb0c7508",
)
def octant_law(rate: Fraction) -> IndexLaw:
    """The law of the octant of a proposal, where 0 stands for the origin."""

    def below(index: int) -> arb:
        square, ratio = ball(-rate).expm1() ** 2, ball(-rate).exp()
        return (square + (index - 1) * ratio) / (square + OCTANTS * ratio)

    return IndexLaw(below, OCTANTS + 1)


@lru_cache(maxsize=64)
def _octants(rate: Fraction) -> InversionTable:
    return InversionTable.listing(octant_law(rate), OCTANTS + 1)


@guarantee(
    claim="maps octants 1 … 8 and numbers g, h >= 0 one to one onto the points other than 0; the larger coordinate is "
    "1 + g + h in size",
    proof="proofs/planar_laplace.md#proposal",
    reviewed="a29f9cb0332f",
)
def placed(octant: int, across: int, more: int) -> tuple[int, int]:
    """The point in an octant that belongs to two numbers."""
    half, turn = divmod(octant - 1, len(TURNS))
    x, y = 1 + across + more, -1 - across if half else across
    xx, xy, yx, yy = TURNS[turn]
    return xx * x + xy * y, yx * x + yy * y


@guarantee(
    claim="each row is `placed` of its octant and numbers",
    proof="proofs/planar_laplace.md#many",
    reviewed="dc64d017a65e",
)
def placed_many(octant: NDArray[np.integer], across: Integers, more: Integers) -> Integers:
    """The points in octants that belong to two arrays of numbers, one a row."""
    half, turn = np.divmod(octant.astype(np.int64) - 1, len(TURNS))
    x, y = 1 + across + more, np.where(half, -1 - across, across)
    matrix = np.array(TURNS, dtype=np.int64)[turn]
    return np.stack([matrix[:, 0] * x + matrix[:, 1] * y, matrix[:, 2] * x + matrix[:, 3] * y], axis=1)


@guarantee(
    claim="true with probability exp(-rate (√(far² + near²) - far)), given the leading 53 bits of the coin",
    proof="proofs/planar_laplace.md#coin",
    reviewed="19a18b9f413e",
)
def kept(rate: Fraction, far: int, near: int, toss: int, entropy: Entropy) -> bool:
    """Flips the coin that corrects a square ring to a circle, with balls."""
    if near == 0:
        return True

    def chance(_: int) -> arb:
        return (-ball(rate) * near**2 / (arb(far**2 + near**2).sqrt() + far)).exp()

    return resolve(IndexLaw(chance, 2), toss, COIN_BITS, entropy) == 0


@guarantee(
    claim="each entry is true with probability exp(-rate (√(far² + near²) - far)), independently",
    proof="proofs/planar_laplace.md#many",
    reviewed="52353944e767",
)
def kept_many(rate: Fraction, far: Integers, near: Integers, entropy: Entropy) -> NDArray[np.bool_]:
    """Flips the coins of many points: certified floats decide, and balls where these leave it open."""
    tosses = entropy.words(len(far)) >> np.uint64(64 - COIN_BITS)
    long, short = far.astype(np.float64), near.astype(np.float64)
    gap = short * short / (np.sqrt(long * long + short * short) + long)
    chance = exp_minus(np.minimum(gap * min(down(rate), LARGEST_UNIT), EXP_MOST))
    margin = chance - tosses.astype(np.float64) * 2.0**-COIN_BITS
    heads: NDArray[np.bool_] = margin > 0
    for place in np.flatnonzero(np.abs(margin) <= MARGIN):
        heads[place] = kept(rate, int(far[place]), int(near[place]), int(tosses[place]), entropy)
    return heads
