"""Means and variances of an unknown number of entries, from the noisy counts of rows in shares."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import final

import numpy as np

from sfumato.core.domains import Vector as Column
from sfumato.core.measurement import Measurement
from sfumato.dp.chains import Between, bounded, least_noise, released
from sfumato.dp.reading import numbers
from sfumato.entropy import Entropy
from sfumato.exact import Number, probability, up
from sfumato.mechanisms.additive import laplace
from sfumato.query.answer.moments import SHARE, shared_variance_ends
from sfumato.release.blurred import Blurred, Ends, shared_ratio_ends
from sfumato.release.record import Release
from sfumato.release.vectors import Vector
from sfumato.transforms.bernstein import FINE, bernstein_counts
from sfumato.transforms.grids import RowGrid, row_grid

WEIGHTS = {1: (-1.0, 1.0), 2: (-1.0, 0.0, 1.0)}
"""By the degree, the weights at which the bins add up to the sum of all values, as places between −1 and 1."""

SLACK = 1e-9
"""What floats may do to the ends of an interval, as a share of the radius."""


def in_shares(degree: int, between: Between, epsilon: Number, verb: str) -> Measurement:
    """Counts rows in shares with the least noise that keeps ε for one entry."""
    rows = bounded(between, verb)
    return least_noise(lambda scale: rows >> bernstein_counts(degree) >> laplace(scale), epsilon)


@final
@dataclass(frozen=True)
class Shared:
    """Noisy counts of rows in shares, and what they say: everything here is made of them alone, and costs nothing."""

    release: Release
    grid: RowGrid
    weights: tuple[float, ...]

    @classmethod
    def of(
        cls,
        values: object,
        degree: int,
        between: Between,
        epsilon: Number,
        confidence: Number,
        entropy: Entropy | None,
        *,
        verb: str,
    ) -> Shared:
        """Releases the counts of a column."""
        measurement = in_shares(degree, between, epsilon, verb)
        domain = bounded(between, verb).target.domain
        if not isinstance(domain, Column):
            raise TypeError(domain)
        grid = row_grid(domain.element, verb, fineness=FINE[degree])
        release = released(measurement, numbers(values), confidence, entropy)
        return cls(replace(release, confidence=probability(confidence, "confidence")), grid, WEIGHTS[degree])

    @cached_property
    def bins(self) -> list[Blurred]:
        """The noisy counts, with the noise on each."""
        noised = self.release.noise
        if noised is None:
            raise TypeError(self.release)
        law = ((noised.noise, float(noised.step), 1),)
        return [Blurred.by(np.array([float(count)]), law) for count in self.release.value]  # type: ignore[arg-type]

    @property
    def missed(self) -> float:
        """The chance to miss."""
        return float(1 - self.release.confidence)

    @property
    def rows(self) -> float:
        """The noisy number of entries."""
        return math.fsum(self.release.value)

    @property
    def radius(self) -> float:
        """Half of the way between the bounds."""
        return float(self.grid.span * self.grid.step / 2)

    @property
    def average(self) -> float:
        """The mean as a place between −1 and 1; 0, the middle, where no entries were counted."""
        total = math.fsum(weight * count for weight, count in zip(self.weights, self.release.value, strict=True))
        return min(max(total / self.rows, -1.0), 1.0) if self.rows > 0 else 0.0

    def average_ends(self, missed: float) -> Ends:
        """Where the exact mean is, as a place between −1 and 1."""
        return shared_ratio_ends(self.bins, self.weights, [1.0] * len(self.bins), missed, (-1.0, 1.0))

    def mean(self) -> Release:
        """The mean of all entries."""
        centre = float((self.grid.low + self.grid.high) * self.grid.step / 2)
        low, high = self.average_ends(self.missed)
        value = centre + self.radius * self.average
        return self._told(value, [centre + self.radius * float(end[0]) for end in (low, high)], "mean of the counts")

    def variance(self, ddof: int) -> Release:
        """The variance of all entries, over their number less ``ddof``."""
        value, low, high = self._variance(ddof)
        return self._told(value, [low, high], "variance of the counts")

    def deviation(self, ddof: int) -> Release:
        """The standard deviation of all entries: the root of their variance."""
        value, low, high = (math.sqrt(end) for end in self._variance(ddof))
        return self._told(value, [low, high], "standard deviation of the counts")

    def _variance(self, ddof: int) -> tuple[float, float, float]:
        low, middle, high = self.release.value
        squares, rows, average = math.fsum((low, -middle, high)), self.rows, self.average
        spread = (squares - rows * average**2) / (rows - ddof) if rows > ddof else 0.0
        ends = self.average_ends(self.missed * SHARE)
        where = Vector((ends[0] + ends[1]) / 2, *ends)
        least, most = shared_variance_ends(self.bins, where, self.missed * (1 - SHARE), sample=bool(ddof))
        value = min(max(spread, 0.0), 2.0)
        return tuple(self.radius**2 * float(end) for end in (value, max(least[0], 0.0), most[0]))  # type: ignore[return-value]

    def _told(self, value: float, ends: Sequence[float], name: str) -> Release:
        """The release of a value, with an error bar that holds both ends."""
        off = max(value - ends[0], ends[1] - value) + self.radius * SLACK
        release = self.release
        return replace(release, value=value, half_width=up(Fraction(off)), noise=None, how=release.how.then(name))
