"""Totals that agree: the fit to noisy layers is that of least squares, nested or not, and as near to it as is said."""

from __future__ import annotations

import numpy as np
import pytest

from sfumato.release.consistency import best_fit, sums
from sfumato.release.vectors import Array

KEYS = np.array([(a, b, c) for a in range(3) for b in range(4) for c in range(2)])
NESTED = [(0, 1, 2), (0, 1), (0,), ()]
CROSSED = [(0, 1), (1, 2), (0, 1, 2), (0,), ()]
ALIKE = [(0, 1, 2), (2, 1, 0), ()]


def layers(sets: list[tuple[int, ...]]) -> list[Array]:
    """Gives for each set of keys the place of every combination's sum."""
    return [np.unique(KEYS[:, list(one)], axis=0, return_inverse=True)[1].reshape(-1) for one in sets]


@pytest.mark.parametrize("sets", [NESTED, NESTED[::-1], CROSSED, ALIKE], ids=["nested", "upwards", "crossed", "alike"])
@pytest.mark.parametrize("variances", [(1.0, 1.0, 1.0, 1.0, 1.0), (0.01, 4.0, 0.5, 100.0, 3.0)], ids=["even", "uneven"])
def test_the_fit_is_that_of_least_squares(sets: list[tuple[int, ...]], variances: tuple[float, ...]) -> None:
    places, draw = layers(sets), np.random.default_rng(7)
    finest = next(at for at, one in enumerate(sets) if len(one) == 3)
    own = np.argsort(places[finest])  # the finest numbers are counted in their own order
    places, spread = [place[own] for place in places], variances[: len(sets)]
    values = [draw.normal(50, 20, place.max() + 1) for place in places]
    fit = best_fit(values, spread, places, finest)
    each = list(zip(places, values, spread, strict=True))
    rows = [(place[None, :] == np.arange(len(part))[:, None]) / np.sqrt(own) for place, part, own in each]
    target = np.concatenate([part / np.sqrt(own) for _, part, own in each])
    exact = np.linalg.lstsq(np.concatenate(rows), target)[0]
    assert np.linalg.norm(fit.values - exact) <= fit.off + 1e-9 * np.linalg.norm(exact)
    assert fit.off <= 1e-3
    assert np.allclose(sums(fit.values, np.zeros(len(exact), dtype=np.intp), 1), exact.sum())
