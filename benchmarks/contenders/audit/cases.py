"""What is audited and attacked, the same for everyone."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

BITS, QUERIES, NOISE_SCALE = 1_000, 4_000, 3
"""So many secret bits, and so many sums over random halves of them, each with Laplace noise of this scale."""

INPUTS = 1_000
"""The mechanism has so many inputs, and as many outputs."""

SAMPLES, SCALE = 1_000_000, 10
"""The black box is run so often; it adds Laplace noise of this scale to a whole number."""


def mechanism() -> NDArray[np.float64]:
    """Gives the matrix of Laplace noise on the whole numbers from 0 to 999, clamped to the same: ε = 1/100 a step."""
    places = np.arange(INPUTS)
    decay = math.exp(-1 / 100)
    weights = decay ** np.abs(places[:, None] - places[None, :])
    weights[:, 0] = decay**places / (1 - decay)
    weights[:, -1] = weights[::-1, 0]
    return np.asarray(weights / weights.sum(axis=1, keepdims=True))
