"""Reports of places follow their law, and a rate that is 10 % off is noticed; χ² at 1e-9 on replayed draws."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.stats import chi2

from sfumato.entropy import ReplayEntropy
from sfumato.local.metric_responses import metric_response
from sfumato.local.place_reports import places
from sfumato.noise.planar_laplace import PlanarLaplace

ALARM = 1e-9


def fits(counts: NDArray[np.int64], chances: NDArray[np.float64]) -> bool:
    expected = chances * counts.sum()
    used = expected > 5
    counts = np.append(counts[used], counts[~used].sum())
    expected = np.append(expected[used], expected[~used].sum() + 1e-9)
    return bool(((counts - expected) ** 2 / expected).sum() < chi2.isf(ALARM, len(counts) - 1))


def window(rate: Fraction, reach: int) -> NDArray[np.float64]:
    """The chances of the points of a square, and last that of all others."""
    noise = PlanarLaplace(rate)
    inside = np.array([float(noise.pmf(x, y)) for x in range(-reach, reach + 1) for y in range(-reach, reach + 1)])
    return np.append(inside, max(1 - inside.sum(), 0))


def counted(points: NDArray[np.int64], reach: int) -> NDArray[np.int64]:
    side = 2 * reach + 1
    inside = (np.abs(points) <= reach).all(axis=1)
    numbers = (points[inside, 0] + reach) * side + points[inside, 1] + reach
    return np.append(np.bincount(numbers, minlength=side * side), (~inside).sum())


@pytest.mark.parametrize("rate", ["1/3", "1", "5/2"])
@pytest.mark.parametrize("many", [True, False])
def test_points_follow_the_law_and_no_other(rate: str, many: bool) -> None:
    exact, reach = Fraction(rate), 8
    entropy, noise = ReplayEntropy(f"{rate} {many}".encode()), PlanarLaplace(exact)
    points = noise.samples(200_000, entropy) if many else np.array([noise.sample(entropy) for _ in range(20_000)])
    counts = counted(points, reach)
    assert fits(counts, window(exact, reach))
    assert not fits(counts, window(exact * Fraction(11, 10), reach))
    assert not fits(counts, window(exact * Fraction(9, 10), reach))


def test_wide_noise_has_its_mean_length_and_no_direction() -> None:
    noise, count = PlanarLaplace(Fraction(1, 10**6)), 400_000
    points = noise.samples(count, ReplayEntropy(5)).astype(np.float64)
    lengths = np.hypot(points[:, 0], points[:, 1])
    error = lengths.std() / count**0.5
    assert abs(lengths.mean() - float(noise.mean_length())) < 6.2 * error
    assert abs(lengths.mean() - 1.1 * float(noise.mean_length())) > 6.2 * error
    angles = np.arctan2(points[:, 1], points[:, 0])
    assert fits(np.histogram(angles, bins=16, range=(-np.pi, np.pi))[0], np.full(16, 1 / 16))


def test_reports_in_a_region_follow_the_law_of_cells() -> None:
    protocol = places(step=10, epsilon="0.04", region=((0, 0), (50, 40)))
    true = np.tile([25.0, 5.0], (200_000, 1))
    reports = protocol.randomize_many(true, entropy=ReplayEntropy(2))
    single = [protocol.randomize((25, 5), entropy=entropy) for entropy in [ReplayEntropy(3)] for _ in range(20_000)]
    for drawn, others in ((reports, True), (np.array(single), False)):
        cells = protocol.grid.cells(drawn)
        counts = np.bincount(cells[:, 0] * 4 + cells[:, 1], minlength=20)
        assert fits(counts, protocol.law()[2 * 4])
        for wrong in ("0.044", "0.036"):
            law = places(step=10, epsilon=wrong, region=((0, 0), (50, 40))).law()
            assert not (others and fits(counts, law[2 * 4]))


def test_metric_responses_follow_their_law() -> None:
    table = [[0, 1, 3], [1, 0, 2], [3, 2, 0]]
    response, wrong = (metric_response("abc", distance=table, epsilon=epsilon) for epsilon in ("1", "1.1"))
    many = response.randomize_many("b" * 200_000, entropy=ReplayEntropy(1))
    single = [response.randomize("b", entropy=entropy) for entropy in [ReplayEntropy(2)] for _ in range(30_000)]
    for drawn in (many, single):
        assert fits(np.array([drawn.count(value) for value in "abc"]), response.law()[1])
    assert not fits(np.array([many.count(value) for value in "abc"]), wrong.law()[1])
