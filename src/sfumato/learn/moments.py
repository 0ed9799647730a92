"""Noisy second moments: what is released of rows for models that need only sums, and what it can be taken for."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Self, final

import numpy as np

from sfumato.accounting.losses.measures import Loss
from sfumato.learn.columns import Floats
from sfumato.learn.noising import least_noise
from sfumato.learn.sources import Fit, Source
from sfumato.transforms.gram import Coordinates


@final
@dataclass(frozen=True, eq=False)
class Moments:
    """A noisy Gram matrix: the number of rows, and sums of coordinates and of their products, each with its noise.

    ``deviation`` is that of the noise on each different cell; everything here is made of what was released.
    """

    layout: Coordinates
    gram: Floats
    deviation: float
    tails: float = 0.0
    common: float = 0.0
    """How heavy the tails of the noise are (`NoisySums`); both are 0 for Gaussian noise."""

    @staticmethod
    def asked(source: Source, loss: Loss, take: Callable[[Moments], None]) -> Fit:
        """The Gram matrix of a source, with the least noise that a loss can buy, for a model that takes its moments."""
        sums, layout = least_noise(source.gram, loss, source.unit), source.layout
        return Fit(
            source,
            sums.measurement,
            lambda value: take(Moments(layout, layout.matrix(value), sums.deviation, sums.tails, sums.common)),
        )

    @cached_property
    def rows(self) -> float:
        """The noisy number of rows, at least 1."""
        return max(float(self.plausible[0, 0]), 1.0)

    @cached_property
    def plausible(self) -> Floats:
        """The nearest matrix that could be a Gram matrix: none of its eigenvalues is negative."""
        values, vectors = np.linalg.eigh(self.gram)
        return np.asarray((vectors * np.clip(values, 0.0, None)) @ vectors.T)

    @cached_property
    def means(self) -> Floats:
        """The means of the coordinates, the constant left out; each where it can be."""
        return np.asarray(np.clip(self.plausible[0, 1:] / self.rows, -1.0, 1.0))

    @cached_property
    def scatter(self) -> Floats:
        """The sums of products of deviations from the means, the constant left out."""
        return np.asarray(self.plausible[1:, 1:] - self.rows * np.outer(self.means, self.means))

    def of(self, columns: int) -> Self:
        """The moments of the first columns alone."""
        layout = Coordinates(self.layout.kinds[:columns])
        return replace(self, layout=layout, gram=self.gram[: layout.size, : layout.size])
