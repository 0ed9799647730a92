"""Resizing draws uniform subsets through the package's own randomness."""

from __future__ import annotations

import math
from collections import Counter

import numpy as np

from sfumato.core.space import vector
from sfumato.entropy import ReplayEntropy
from sfumato.transforms.reshape import resize


def test_resize_draws_every_subset_equally_often() -> None:
    """z below 5.5 for each of 10 subsets: a false alarm in 10⁻⁶ of runs; a subset drawn 5 % too often would show."""
    made = vector(int) >> resize(2, 0)
    runs, entropy = 200_000, ReplayEntropy(7)
    rows = np.arange(5)
    seen = Counter(tuple(made.function(rows, entropy).tolist()) for _ in range(runs))
    expected, spread = runs / 10, math.sqrt(runs * 0.1 * 0.9)
    assert len(seen) == 10
    assert all(abs(times - expected) < 5.5 * spread for times in seen.values())
    assert abs(expected * 1.05 - expected) > 5.5 * spread
