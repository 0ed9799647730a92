"""Counts of every value of every column, with noise: what conditions and modes are made of."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import final

import numpy as np
from numpy.typing import NDArray

from sfumato.accounting.events import Event, Gaussian, Noise
from sfumato.accounting.losses.measures import Loss, Pure
from sfumato.entropy import Entropy
from sfumato.exact import root
from sfumato.guarantee import guarantee
from sfumato.mechanisms.gridding import exact_add
from sfumato.noise.discrete_gaussian import DiscreteGaussian
from sfumato.noise.discrete_laplace import DiscreteLaplace
from sfumato.synth.neural.calibrating import least_noise
from sfumato.synth.neural.heads import Codes

PROOF = "proofs/neural_synthesis.md#statistics"


@final
@dataclass(frozen=True)
class Statistics:
    """One noisy histogram of each column, all of them one release; a unit has at most ``each`` rows in them."""

    sizes: tuple[int, ...]
    each: int
    noise: DiscreteGaussian | DiscreteLaplace

    @staticmethod
    def within(loss: Loss, sizes: tuple[int, ...], each: int) -> Statistics:
        """The statistics with the least noise that keeps a loss: of Laplace's law for a pure one, else Gaussian."""
        law = DiscreteLaplace if isinstance(loss, Pure) else DiscreteGaussian

        def build(scale: Fraction) -> Event:
            return Statistics(sizes, each, law(scale)).event(Fraction(1))

        def quick(scale: Fraction) -> Event:
            return build(scale) if law is DiscreteLaplace else Statistics(sizes, each, law(scale)).nearly

        return Statistics(sizes, each, law(least_noise(build, quick, loss)))

    @property
    def nearly(self) -> Event:
        """Nearly what they are for one unit, and quick to account for: continuous Gaussian noise of the same scale."""
        one = self.event(Fraction(1))
        quick = isinstance(one, Noise) and isinstance(self.noise, DiscreteGaussian)
        return Gaussian(self.noise.scale, one.shift) if quick else one  # type: ignore[attr-defined]

    def __str__(self) -> str:
        law = "Laplace" if isinstance(self.noise, DiscreteLaplace) else "Gaussian"
        return f"of each column, with {law} noise of deviation {self.deviation:.4g}"

    @property
    def deviation(self) -> float:
        """The standard deviation of the noise on each count, nearly."""
        return math.sqrt(float(self.noise.variance()))

    @guarantee(
        claim="each row of a unit moves a count of each column by 1: k columns move by rows · √k in L2, rows · k in L1",
        proof=PROOF,
        reviewed="9dab2248bb4a",
    )
    def event(self, units: Fraction) -> Event:
        """What they are, between rows that differ in so many units."""
        moved = units * self.each
        columns = len(self.sizes)
        if isinstance(self.noise, DiscreteLaplace):
            return Noise(self.noise, moved * columns, coordinates=sum(self.sizes))
        return Noise(self.noise, root(moved * moved * columns), coordinates=sum(self.sizes))

    @guarantee(
        claim="exact counts of all values, independent noise on every one; nothing else of the rows",
        proof=PROOF,
        reviewed="b713dec04079",
    )
    def measured(self, codes: Codes, entropy: Entropy) -> tuple[NDArray[np.float64], ...]:
        """The noisy counts of rows, a vector for each column."""
        exact = [np.bincount(codes[:, place], minlength=size) for place, size in enumerate(self.sizes)]
        noisy = exact_add(np.concatenate(exact), self.noise.samples(sum(self.sizes), entropy))
        return tuple(np.split(np.asarray(noisy, dtype=np.float64), np.cumsum(self.sizes)[:-1]))
