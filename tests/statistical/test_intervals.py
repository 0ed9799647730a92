"""Intervals of real releases: drawn, computed with, and counted.

Each test draws from a fixed seed, so that it either passes or fails for good. Had the seed been drawn, a right interval
would fail with a chance below 1e-5 (4.5 standard deviations); the naive ones fail by far more.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest

import sfumato as sf

AGES = [20 + (7 * k) % 60 for k in range(400)]
EXACT_SUM, EXACT_COUNT = sum(AGES), len(AGES)

COUNT = sf.vector(int, between=(0, 100)) >> sf.count()
SUM = sf.vector(int, between=(0, 100)) >> sf.sum()


def number(release: sf.Release) -> sf.release.Estimate:
    found = release.estimate()
    assert isinstance(found, sf.release.Estimate)
    return found


def covered(draws: int, hit: Callable[[sf.entropy.ReplayEntropy], bool]) -> float:
    entropy = sf.entropy.ReplayEntropy(2026)
    return sum(hit(entropy) for _ in range(draws)) / draws


def allowed(draws: int, share: float = 0.95) -> float:
    return 4.5 * math.sqrt(share * (1 - share) / draws)


@pytest.mark.parametrize("noise", [sf.laplace, sf.gaussian])
def test_one_number_and_sums_of_several(noise: Callable[..., sf.Partial[sf.Measurement]]) -> None:
    counted, summed, draws = COUNT >> noise(scale=20), SUM >> noise(scale=500), 1000

    def one(entropy: sf.entropy.ReplayEntropy) -> bool:
        return EXACT_COUNT in interval(number(counted(AGES, entropy=entropy)))

    def known_size_mean(entropy: sf.entropy.ReplayEntropy) -> bool:
        return EXACT_SUM / EXACT_COUNT in interval(number(summed(AGES, entropy=entropy)) / EXACT_COUNT)

    def difference(entropy: sf.entropy.ReplayEntropy) -> bool:
        first, second = (number(counted(AGES, entropy=entropy)) for _ in range(2))
        return 0 in interval(first - second)

    for hit in (one, known_size_mean, difference):
        assert covered(draws, hit) == pytest.approx(0.95, abs=allowed(draws) + 0.008)


def interval(estimate: sf.release.Estimate) -> sf.release.Interval:
    found = estimate.interval()
    assert found is not None
    return found


@pytest.mark.parametrize("size", [2, 10])
def test_vectors_hold_together(size: int) -> None:
    noisy, draws = sf.vector(float, size=size, metric=sf.L2()) >> sf.gaussian(scale=3), 1000

    def together(entropy: sf.entropy.ReplayEntropy) -> bool:
        found = noisy([1.25] * size, entropy=entropy).interval()
        assert isinstance(found, list)
        return all(1.25 in one for one in found)

    assert covered(draws, together) == pytest.approx(0.95, abs=allowed(draws))


@pytest.mark.parametrize("draws", [100, pytest.param(300, marks=pytest.mark.nightly)])
def test_the_mean_of_an_unknown_number_of_rows(draws: int) -> None:
    counted, summed = COUNT >> sf.gaussian(scale=40), SUM >> sf.gaussian(scale=1000)
    truth = EXACT_SUM / EXACT_COUNT
    naive = []

    def mean(entropy: sf.entropy.ReplayEntropy) -> bool:
        top, bottom = (number(made(AGES, entropy=entropy)) for made in (summed, counted))
        naive.append(truth in interval(top / bottom.value))
        return truth in interval(top / bottom)

    assert covered(draws, mean) == pytest.approx(0.95, abs=allowed(draws))
    assert np.mean(naive) < 0.95 - 2 * allowed(draws)  # the noise of the denominator forgotten
