"""Draws of private selection against the exact laws: the right law is accepted, one that is 5 % off is not.

Thresholds are about 1e-8 for a false alarm (|z| > 5.73; chi-square at the same level). Draws replay a fixed seed, so a
failure is a change of the code and never bad luck.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable
from fractions import Fraction

import numpy as np
import pytest
from scipy.stats import chi2

from sfumato.audit.brute_force import outcome_probabilities
from sfumato.core.domains import Data
from sfumato.core.measurement import Measurement
from sfumato.core.metrics import Range
from sfumato.core.partial import Partial
from sfumato.core.space import vector
from sfumato.entropy import ReplayEntropy
from sfumato.exact import BITS, precision
from sfumato.mechanisms.noisy_max import laplace_noisy_max, laplace_noisy_max_with_lead, noisy_winner
from sfumato.mechanisms.quantile import quantile
from sfumato.mechanisms.selection import exponential, permute_and_flip, top_k
from sfumato.noise.discrete_laplace import DiscreteLaplace

FALSE_ALARM = 1e-8
FAR = 5.73


def law(measurement: Measurement, data: Data) -> dict[Data, float]:
    with precision(BITS):
        return {outcome: float(mass.mid()) for outcome, mass in outcome_probabilities(measurement, data).items()}


def draws(measurement: Measurement, data: Data, count: int) -> list[Data]:
    entropy = ReplayEntropy(20)
    return [measurement.function(data, entropy) for _ in range(count)]


def surprise(drawn: list[Data], stated: dict[Data, float]) -> float:
    """Gives the chance of a chi-square at least as large, outcomes expected under 5 times taken together."""
    seen, total = Counter(drawn), len(drawn)
    cells: list[tuple[float, float]] = []
    rare = [0.0, 0.0]
    for outcome, chance in stated.items():
        if chance * total >= 5:
            cells.append((seen[outcome], chance * total))
        else:
            rare[0] += seen[outcome]
            rare[1] += chance * total
    if rare[1] > 0.5:
        cells.append((rare[0], rare[1]))
    assert set(seen) <= set(stated)
    return float(chi2.sf(sum((have - want) ** 2 / want for have, want in cells), len(cells) - 1))


@pytest.mark.parametrize(
    "build",
    [exponential(2), permute_and_flip(2), laplace_noisy_max(2), top_k(2, temperature=2)],
    ids=["exponential", "permute_and_flip", "laplace_noisy_max", "top_k"],
)
def test_choices_follow_their_law(build: Partial[Measurement]) -> None:
    measurement, data = vector(int, size=5, metric=Range()) >> build, np.array([3, 0, 5, 4, 4])
    drawn = draws(measurement, data, 4000)
    assert surprise(drawn, law(measurement, data)) > FALSE_ALARM
    moved = law(measurement, np.array([4, 0, 5, 4, 4]))
    assert surprise(drawn, moved) < FALSE_ALARM


# The more equal scores the deeper: the typical depth is about five temperatures, where 5 % shows.
DEEP = np.repeat(-np.arange(24), [max(1, round(0.003 * depth**4)) for depth in range(24)])


def depth_z(depths: list[int], measurement: Measurement, data: Data, value: Callable[[Data], int]) -> float:
    """Gives how many standard errors the mean depth is from the one stated."""
    stated = law(measurement, data)
    mean = sum(chance * value(outcome) for outcome, chance in stated.items())
    variance = sum(chance * (value(outcome) - mean) ** 2 for outcome, chance in stated.items())
    return (float(np.mean(depths)) - mean) / math.sqrt(variance / len(depths))


def test_exponential_rejects_a_temperature_five_per_cent_off() -> None:
    data = DEEP
    space = vector(int, size=len(data), metric=Range())
    depths = [int(data[index]) for index in draws(space >> exponential(2), data, 8000)]
    assert abs(depth_z(depths, space >> exponential(2), data, lambda index: int(data[index]))) < FAR
    for wrong in (1.9, 2.1):
        assert abs(depth_z(depths, space >> exponential(wrong), data, lambda index: int(data[index]))) > FAR


def test_quantile_rejects_a_temperature_five_per_cent_off() -> None:
    """Gaps that widen away from the median make the typical score deep."""
    rows = [sign * round(1.6**k) for k in range(1, 20) for sign in (-1, 1)]
    space = vector(int, between=(-12000, 12000))

    def rank(point: int) -> int:
        return abs(sum(row < point for row in rows) - sum(row > point for row in rows))

    ranks = {point: rank(point) for point in range(-12000, 12001)}
    right = space >> quantile(0.5, temperature=2)
    depths = [ranks[point] for point in draws(right, rows, 4000)]
    assert abs(depth_z(depths, right, rows, ranks.__getitem__)) < FAR
    for wrong in (1.9, 2.1):
        assert abs(depth_z(depths, space >> quantile(0.5, temperature=wrong), rows, ranks.__getitem__)) > FAR


def test_permute_and_flip_rejects_a_scale_five_per_cent_off() -> None:
    data = np.array([12] + [0] * 60)
    space = vector(int, size=len(data), metric=Range())
    measurement = space >> permute_and_flip(2)
    hits, count = sum(index != 0 for index in draws(measurement, data, 12000)), 12000
    far = []
    for scale in (2, 1.9, 2.1):
        with precision(BITS):
            found = (space >> permute_and_flip(scale)).law
            assert found is not None
            missed = 1 - float(found(data).probability(0).mid())
        far.append(abs(hits - count * missed) / math.sqrt(count * missed * (1 - missed)))
    assert far[0] < FAR < min(far[1:])


def test_noisy_max_with_lead_follows_its_law_and_rejects_a_scale_five_per_cent_off() -> None:
    scores = np.array([0, 0])
    noise, entropy, count = DiscreteLaplace(Fraction(20)), ReplayEntropy(7), 25000
    leads = np.array([noisy_winner(scores, noise, entropy)[1] for _ in range(count)])
    measurement = vector(int, size=2, metric=Range()) >> laplace_noisy_max_with_lead(4)
    drawn = draws(measurement, np.array([1, 0]), 3000)
    found = measurement.law
    assert found is not None
    with precision(BITS):
        stated = {outcome: float(found([1, 0]).probability(outcome).mid()) for outcome in {*drawn, (0, 0), (1, 0)}}
    stated["other"] = max(0.0, 1 - sum(stated.values()))
    assert surprise(drawn, stated) > FALSE_ALARM
    # The gap between two Laplace variables of scale s has mean 3 s / 2; the lead is that, or one step less.
    for scale, fits in ((20.0, True), (19.0, False), (21.0, False)):
        assert (abs(leads.mean() + 0.5 - 1.5 * scale) < FAR * leads.std() / math.sqrt(count) + 0.05) == fits


def test_A1_108_one_shot_gumbel_has_the_law_of_peeling() -> None:
    """Gumbel noise drawn once, by an unrelated generator, and the three largest: accepted by the stated law."""
    data = np.array([3, 0, 2, 1, 1])
    measurement = vector(int, size=5, metric=Range()) >> top_k(3, temperature=2)
    stated = law(measurement, data)
    generator = np.random.default_rng(11)
    noisy = data / 2 + generator.gumbel(size=(40000, 5))
    one_shot = [tuple(row) for row in np.argsort(-noisy, axis=1)[:, :3].tolist()]
    assert surprise(one_shot, stated) > FALSE_ALARM
    colder = law(vector(int, size=5, metric=Range()) >> top_k(3, temperature=1.9), data)
    hotter = law(vector(int, size=5, metric=Range()) >> top_k(3, temperature=2.3), data)
    assert surprise(one_shot, hotter) < FALSE_ALARM
    assert surprise(one_shot, colder) < surprise(one_shot, stated)


def test_a_tie_goes_to_the_first() -> None:
    """With noise of next to nothing, equal scores are decided by place alone."""
    measurement = vector(int, size=3, metric=Range()) >> laplace_noisy_max(Fraction(1, 1000))
    assert set(draws(measurement, np.array([1, 2, 2]), 200)) == {1}
