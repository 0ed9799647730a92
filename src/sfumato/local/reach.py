"""How far the mean of independent readings may be off: a normal deviation, with a correction for few people."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


def normal_reach(tail: float, *, variance: float | Floats, jump: float | Floats, users: int) -> Floats:
    """So many standard deviations, and what one report can move the mean, times ½ or (z² − 1)/6 if that is more.

    The half is for readings that are few values (a correction for continuity), the other for laws as skewed as they can
    be: no third moment about the mean is larger than variance · jump (the next term of Cornish and Fisher).

    >>> round(float(normal_reach(1.96, variance=1.0, jump=2.0, users=100)), 4)
    0.206
    """
    reach: Floats = tail * np.sqrt(variance / users) + jump / users * max(1 / 2, (tail * tail - 1) / 6)
    return reach
