"""Smooth sensitivity: the bound is smooth and the least there is, the loss of place and scale together is exact."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from scipy import stats

import sfumato as sf
from sfumato.core.space import vector
from sfumato.entropy import ReplayEntropy
from sfumato.errors import BadArgument
from sfumato.exact import ball
from sfumato.mechanisms.smooth_sensitivity import smooth_bound, smooth_law, smooth_loss
from sfumato.stats.robust import likely_noise

SPAN = 3


def trimmed_sum(x: tuple[int, ...], trim: int) -> int:
    return sum(sorted(x)[trim : len(x) - trim])


def all_data(size: int) -> list[tuple[int, ...]]:
    return [x for x in product(range(SPAN + 1), repeat=size) if tuple(sorted(x)) == x]


def neighbours(x: tuple[int, ...]) -> set[tuple[int, ...]]:
    changed = ((*x[:place], value, *x[place + 1 :]) for place in range(len(x)) for value in range(SPAN + 1))
    return {tuple(sorted(one)) for one in changed}


def bound_of(x: tuple[int, ...], trim: int, beta: Fraction) -> float:
    return float(smooth_bound(np.array(sorted(x)), trim, SPAN, beta)().mid())


@pytest.mark.parametrize(("size", "trim"), [(3, 1), (4, 1), (5, 2), (5, 1), (4, 0), (6, 2)])
@pytest.mark.parametrize("beta", [Fraction(1, 10), Fraction(1, 2)])
def test_the_bound_is_the_least_smooth_one_on_all_small_data(size: int, trim: int, beta: Fraction) -> None:
    """Nissim, Raskhodnikova and Smith: max over k of e^(−βk) times the local sensitivity at distance k, by search."""
    data = all_data(size)
    near = {x: neighbours(x) for x in data}
    local = {x: max(abs(trimmed_sum(x, trim) - trimmed_sum(y, trim)) for y in near[x]) for x in data}
    bounds = {x: bound_of(x, trim, beta) for x in data}
    for x in data:
        assert all(bounds[x] <= math.exp(beta) * bounds[y] * (1 + 1e-12) for y in near[x])
        reached, least, away = {x}, float(local[x]), 0
        while len(reached) < len(data):
            away += 1
            reached |= {y for one in reached for y in near[one]}
            least = max(least, math.exp(-beta * away) * max(local[y] for y in reached))
        assert bounds[x] == pytest.approx(least, rel=1e-12), x


POINTS = np.sinh(np.linspace(-9, 9, 4001))


def log_ratios(shift: float, change: float) -> float:
    """The largest logarithm of the ratio of noise around 0 and of that around a place, wider by a factor e^change."""
    quotients = (1 + ((POINTS - shift) * math.exp(-change)) ** 2) / (1 + POINTS**2)
    return change + 2 * math.log(quotients.max())


@pytest.mark.parametrize(("t", "beta"), [(0.3, 0.05), (0.42, 1 / 6), (1.5, 0.2), (3.0, 1.0), (0.05, 0.5)])
def test_the_loss_of_place_and_scale_together_is_never_more_and_reached(t: float, beta: float) -> None:
    claimed = float(smooth_loss(Fraction(t), Fraction(beta)))
    found = max(
        log_ratios(part * t * min(1.0, math.exp(change)), change)
        for change in np.linspace(-beta, beta, 41)
        for part in np.linspace(-1, 1, 21)
    )
    assert claimed * (1 - 1e-4) <= found <= claimed * (1 + 1e-9)


def divergence(x: tuple[int, ...], y: tuple[int, ...], measurement: sf.Measurement) -> float:
    first, second = measurement.law(list(x)), measurement.law(list(y))
    return max(
        math.log(float(first.probability(point).mid()) / float(second.probability(point).mid()))
        for point in range(SPAN + 1)
    )


@pytest.mark.parametrize(("size", "trim", "scale", "beta"), [(3, 1, 2, "0.3"), (4, 1, "0.5", "0.2"), (5, 2, 1, "0.05")])
def test_what_leaves_keeps_the_claim_on_all_small_data(size: int, trim: int, scale: float | str, beta: str) -> None:
    space = vector(int, between=(0, SPAN), size=size)
    measurement = space >> sf.mechanisms.smooth_trimmed_mean(trim, scale=scale, beta=beta)
    claimed = float(measurement.map(1).epsilon)
    worst = max(divergence(x, y, measurement) for x in all_data(size) for y in neighbours(x))
    assert 0.5 * claimed < worst <= claimed
    law = measurement.law([0] * size)
    assert float(sum(law.probability(point) for point in range(SPAN + 1)).mid()) == pytest.approx(1)


def test_the_law_is_students_and_what_is_drawn_has_it() -> None:
    law = smooth_law(Fraction(7, 3), lambda: ball(2), Fraction(3, 2), 20)
    for index in (1, 2, 5, 20):
        expected = stats.t(3).cdf((index - 0.5 - 7 / 3) / 3 * math.sqrt(3))
        assert float(law.mass_below(index).mid()) == pytest.approx(expected, rel=1e-12)
    space = vector(int, between=(0, 9), size=5)
    measurement, entropy = space >> sf.mechanisms.smooth_trimmed_mean(1, scale=1, beta="0.5"), ReplayEntropy(4)
    data = [1, 3, 4, 4, 9]
    drawn = np.bincount([measurement(data, entropy=entropy).value for _ in range(1500)], minlength=10)
    chances = [1500 * float(measurement.law(data).probability(point).mid()) for point in range(10)]
    assert stats.chisquare(drawn, np.array(chances) * 1500 / sum(chances)).pvalue > 1e-3


@pytest.mark.parametrize("epsilon", [0.01, 0.3, 1.0, 5.0])
@pytest.mark.parametrize(("trim", "kept"), [(0, 10), (3, 4), (100, 800), (499, 2), (10_000, 1)])
def test_the_scale_that_is_picked_costs_what_was_asked_for(epsilon: float, trim: int, kept: int) -> None:
    scale, beta = likely_noise(epsilon, trim, kept)
    assert epsilon * (1 - 1e-6) < float(smooth_loss(1 / scale, beta)) <= epsilon


def test_rows_close_together_get_little_noise_however_wide_the_bounds_are() -> None:
    x, entropy = np.random.default_rng(1).normal(0.3, 1, 1000), ReplayEntropy(2)
    errors = {}
    for width in (10, 1000):
        space = vector(float, size=1000) >> sf.clamp(-width, width)
        for name, made in (
            ("trimmed", sf.stats.trimmed_mean("0.1", loss=sf.Pure(1))),
            ("median", sf.stats.smooth_median(loss=sf.Pure(1))),
        ):
            measurement = space >> made
            assert 1 - 1e-6 < measurement.map(1).epsilon <= 1 and measurement.map(2) == sf.Pure(
                2 * measurement.map(1).epsilon
            )
            found = [measurement(x, entropy=entropy).value for _ in range(40)]
            errors[name, width] = float(np.sqrt(np.mean((np.array(found) - x.mean()) ** 2)))
    assert max(errors.values()) < 0.08  # a clamped mean has a deviation of 0.03 and of 2.8 by noise alone
    for nothing in (np.zeros(7), np.full(7, 1e9), np.array([-1e9, 1e9, 0, 0, 0, 0, 0])):
        few = vector(float, size=7) >> sf.stats.smooth_median(loss=sf.Pure("0.1"), between=(-1, 1))
        assert -1 <= few(nothing).value <= 1


def test_what_has_no_public_size_or_too_few_rows_is_refused() -> None:
    for ask, said in (
        (lambda: vector(float) >> sf.stats.trimmed_mean("0.1", loss=sf.Pure(1), between=(0, 1)), "public size"),
        (lambda: vector(float, size=9) >> sf.stats.trimmed_mean("0.5", loss=sf.Pure(1), between=(0, 1)), "below ½"),
        (lambda: vector(float, size=9) >> sf.stats.smooth_median(loss=sf.ZCDP(1), between=(0, 1)), "Pure"),
        (
            lambda: vector(float, size=2) >> sf.mechanisms.smooth_trimmed_mean(1, scale=1, beta=1, between=(0, 1)),
            "half",
        ),
    ):
        with pytest.raises(BadArgument, match=said):
            ask()
