"""Means of numbers from reports: real data, few people, bad input, small and large ε, and which protocol is taken."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_wine

import sfumato as sf
from sfumato import local
from sfumato.entropy import ReplayEntropy
from sfumato.errors import BadArgument
from sfumato.local.mean_choosing import MEANS

EVERY = sorted(MEANS)


@pytest.mark.parametrize("method", EVERY)
def test_means_of_tables_that_nobody_here_made(method: str) -> None:
    for column, between in ((load_wine().data[:, 0], (10, 16)), (load_breast_cancer().data[:, 0], (0, 30))):
        protocol = local.mean(between=between, loss=sf.Pure(2), users=len(column), method=method)
        estimate = protocol.aggregate(protocol.randomize_many(column, entropy=ReplayEntropy(3)))
        low, high = estimate.interval("0.99")
        assert abs(estimate.mean - column.mean()) < 4 * estimate.deviation
        assert low <= column.mean() <= high and between[0] <= low <= high <= between[1]
        assert estimate.sum == pytest.approx(estimate.mean * len(column))
        assert estimate.users == len(column)


@pytest.mark.parametrize("method", EVERY)
@pytest.mark.parametrize("epsilon", ["0.5", "1", "3"])
def test_errors_are_as_large_as_stated(method: str, epsilon: str) -> None:
    """The mean square of 400 errors, at the worst place, is within 6 standard deviations of the stated one."""
    protocol = local.mean(between=(-1, 1), loss=sf.Pure(epsilon), users=50, method=method)
    worst = max((-1.0, 0.0), key=lambda value: protocol.variance(protocol.numbers.place(value)))
    reports = protocol.randomize_many(np.full(400 * 50, worst), entropy=ReplayEntropy(4))
    means = [
        protocol.aggregate(type(reports)(reports.head, reports.layout, cells, reports.bits[:50])).mean
        for cells in reports.cells.reshape(400, 50)
    ]
    square = np.mean((np.array(means) - worst) ** 2)
    assert square == pytest.approx(float(protocol.mean_squared_error(users=50)), rel=6 * math.sqrt(2 / 400))


@pytest.mark.parametrize("method", EVERY)
def test_messages_shards_and_arrays_tell_the_same(method: str) -> None:
    protocol = local.mean(between=(0, 5), loss=1, users=300, method=method)
    values = np.linspace(-1, 6, 300)
    reports = protocol.randomize_many(values, entropy=ReplayEntropy(1))
    shards = protocol.tally(reports.messages()[:99]) + protocol.tally(reports.messages()[99:])
    assert protocol.aggregate(shards).mean == protocol.aggregate(reports).mean
    single = [protocol.randomize(float(value), entropy=ReplayEntropy(at)) for at, value in enumerate(values)]
    assert abs(protocol.aggregate(single).mean - 2.5) < 5 * protocol.aggregate(single).deviation


def test_nobody_and_one_person() -> None:
    for method in EVERY:
        protocol = local.mean(between=(10, 20), loss=1, users=1, method=method)
        nobody = protocol.aggregate([])
        assert math.isnan(nobody.mean) and nobody.interval() == (10, 20) and nobody.interval(certain=True) == (10, 20)
        assert nobody.deviation == nobody.influence == math.inf and nobody.sum == 0
        one = protocol.aggregate([protocol.randomize(12)])
        assert one.users == 1 and one.interval() == (10, 20) and "1 people" in str(one)


@pytest.mark.parametrize("method", EVERY)
def test_constant_data_and_huge_and_tiny_losses(method: str) -> None:
    for epsilon in (24, "0.001"):
        protocol = local.mean(between=(0, 7), loss=epsilon, users=20_000, method=method)
        estimate = protocol.aggregate(protocol.randomize_many(np.full(20_000, 7.0), entropy=ReplayEntropy(2)))
        assert abs(estimate.mean - 7) < 5 * estimate.deviation
        assert estimate.deviation < 0.03 if epsilon == 24 else estimate.interval()[1] == 7


def test_nobody_can_move_the_mean_further_than_stated() -> None:
    for method in EVERY:
        protocol = local.mean(between=(0, 1), loss=1, users=100, method=method)
        tally = protocol.tally(protocol.randomize_many(np.full(99, 0.5), entropy=ReplayEntropy(1)))
        estimates = []
        for cell in {*range(0, protocol.layout.cells, 997), 1, protocol.layout.cells - 1}:
            sums = tally.sums.copy()
            sums[cell, 0] += 1
            estimates.append(protocol.aggregate(local.Tally(tally.head, tally.layout, sums)))
        means, most = [one.mean for one in estimates], estimates[0].influence
        assert 0.9 * most < max(means) - min(means) <= most * (1 + 1e-9)


def test_the_best_protocol_depends_on_the_loss() -> None:
    def names(loss: str) -> list[str]:
        return [one.name for one in local.mean_candidates(between=(0, 1), loss=loss, users=1000)]

    assert names("0.05")[0] == "two-valued"  # within 1 % of the least error, in shorter messages
    assert names("1") == ["dithered", "hybrid", "two-valued", "piecewise"]
    assert names("3") == ["dithered", "hybrid", "piecewise", "two-valued"]
    assert local.mean(between=(0, 1), loss=3, users=1000) == local.DitheredMean(local.Numbers(0, 1), sf.Pure(3), 3)
    least = local.mean_candidates(between=(0, 1), loss=3, users=1000)
    assert [one.error for one in least] == sorted(one.error for one in least)
    assert len(local.why_mean(between=(0, 1), loss=3, users=1000).splitlines()) == 4
    assert local.mean(between=(0, 1), loss=3, users=9, steps=1).layout.cells == 2  # yes or no: randomized response


def test_one_bit_is_better_than_the_piecewise_mechanism_up_to_1_29() -> None:
    """And the hybrid one is better than one bit from .61 on (Wang et al. 2019)."""

    def error(method: str, epsilon: Fraction) -> Fraction:
        return local.mean(between=(-1, 1), loss=epsilon, users=1, method=method).mean_squared_error(users=1)

    for epsilon, one_bit in ((Fraction(128, 100), True), (Fraction(130, 100), False)):
        assert (error("two-valued", epsilon) < error("piecewise", epsilon)) == one_bit
    for epsilon, one_bit in ((Fraction(60, 100), True), (Fraction(62, 100), False)):
        assert (error("two-valued", epsilon) < error("hybrid", epsilon)) == one_bit


@pytest.mark.parametrize(
    ("between", "loss", "users", "steps", "said"),
    [
        ((1, 1), 1, 10, 100, "the first below the second"),
        ((1, 0), 1, 10, 100, "the first below the second"),
        ((0, math.inf), 1, 10, 100, "finite"),
        (5, 1, 10, 100, "two numbers"),
        ((0, 1, 2), 1, 10, 100, "two numbers"),
        ((0, 1), 0, 10, 100, "above 0"),
        ((0, 1), 25, 10, 100, "at most 24"),
        ((0, 1), sf.Approx(1, 1e-6), 10, 100, "has no δ"),
        ((0, 1), 1, 0, 100, "at least 1"),
        ((0, 1), 1, 10, 0, "at least 1"),
        ((0, 1), "1e-12", 10, 27720, "above 0"),
    ],
)
def test_what_cannot_be_asked_is_refused(between: object, loss: object, users: int, steps: int, said: str) -> None:
    with pytest.raises(BadArgument, match=said):
        local.mean(between=between, loss=loss, users=users, steps=steps)  # type: ignore[arg-type]


def test_the_smallest_loss_tells_the_most_steps_apart() -> None:
    for method in EVERY:
        protocol = local.mean(between=(0, 1), loss="1e-9", users=1, steps=1 << 19, method=method)
        assert protocol.mean_squared_error(users=1) < Fraction(5, 10) * 10**18 * 4


def test_wrong_methods_levels_and_confidences_are_refused() -> None:
    with pytest.raises(BadArgument, match="one of two-valued"):
        local.mean(between=(0, 1), loss=1, users=1, method="magic")
    with pytest.raises(BadArgument, match="a tally has"):
        local.DitheredMean(local.Numbers(0, 1, 65521), sf.Pure(1), 100)
    with pytest.raises(BadArgument, match="at least 2"):
        local.DitheredMean(local.Numbers(0, 1), sf.Pure(1), 1)
    with pytest.raises(BadArgument, match="a weight"):
        local.HybridMean(local.Numbers(0, 1), sf.Pure(1), (0, 1))
    with pytest.raises(BadArgument, match="greater than 0"):
        local.mean(between=(0, 1), loss=1, users=1).aggregate([]).interval(1)


def test_shuffled_reports_cost_less() -> None:
    for method in EVERY:
        protocol = local.mean(between=(0, 1), loss=1, users=10_000, method=method)
        assert local.shuffled(protocol, users=10_000).central_loss(delta=1e-8).epsilon < Fraction(1, 5)


def test_hybrid_reports_can_be_one_of_several_questions() -> None:
    both = local.OneOf(
        (local.mean(between=(0, 1), loss=1, users=9, method="hybrid"), local.mean(between=(0, 9), loss=1, users=9))
    )
    values = [np.full(4000, 0.25), np.full(4000, 6.0)]
    first, second = both.aggregate(both.randomize_many(values, entropy=ReplayEntropy(9)))
    assert abs(first.mean - 0.25) < 5 * first.deviation and abs(second.mean - 6) < 5 * second.deviation


def test_reports_within_other_bounds_are_of_another_protocol() -> None:
    for method in EVERY:
        one, other = (local.mean(between=(0, high), loss=1, users=9, method=method) for high in (1, 2))
        assert one.head != other.head
        with pytest.raises(BadArgument, match="the same"):
            one.aggregate([other.randomize(1)])
