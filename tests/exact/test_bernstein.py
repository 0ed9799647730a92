"""Rows in shares: every pair of neighbours among small data sets, and what the noisy shares cost in truth."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from itertools import combinations_with_replacement

import numpy as np
import pytest

from sfumato.audit.brute_force import brute_epsilon
from sfumato.core.metrics import L1, L2, ChangeOne, LInf, VectorMetric
from sfumato.core.space import vector
from sfumato.core.transformation import Transformation
from sfumato.exact import rational_up
from sfumato.mechanisms.additive import laplace
from sfumato.transforms.bernstein import bernstein_counts
from sfumato.transforms.grids import row_grid

LOW, HIGH = -1, 3


def data_sets(most: int) -> Iterator[list[int]]:
    for size in range(most + 1):
        yield from map(list, combinations_with_replacement(range(LOW, HIGH + 1), size))


def shares_of(transform: Transformation, data: list[int]) -> list[Fraction]:
    step = transform.target.domain.element.step
    return [int(whole) * step for whole in transform.image(data)]


@pytest.mark.parametrize("degree", [1, 2])
def test_shares_are_those_of_the_polynomials_and_know_number_sum_and_squares(degree: int) -> None:
    transform = vector(int, between=(LOW, HIGH)) >> bernstein_counts(degree)
    for data in data_sets(3):
        places = [Fraction(value - LOW, HIGH - LOW) for value in data]
        shares = shares_of(transform, data)
        if degree == 1:
            assert shares == [sum(1 - t for t in places), sum(places)]
            continue
        assert shares == [
            sum((1 - t) ** 2 for t in places),
            sum(2 * t * (1 - t) for t in places),
            sum(t**2 for t in places),
        ]
        around = [2 * t - 1 for t in places]
        low, middle, high = shares
        assert [low + middle + high, high - low, low - middle + high] == [
            len(data),
            sum(around),
            sum(u**2 for u in around),
        ]


@pytest.mark.parametrize("degree", [1, 2])
@pytest.mark.parametrize("norm", [L1(), L2(), LInf()], ids=str)
@pytest.mark.parametrize("size", [None, 2], ids=["added", "exchanged"])
def test_no_neighbours_are_further_apart_than_the_map_says_and_some_are_that_far(
    degree: int, norm: VectorMetric, size: int | None
) -> None:
    space = vector(int, between=(LOW, HIGH), size=size, metric=None if size is None else ChangeOne())
    transform = space >> bernstein_counts(degree, metric=norm)
    members = [data for data in data_sets(3) if size is None or len(data) == size]
    images = [transform.image(data) for data in members]
    step = transform.target.domain.element.step
    furthest = max(
        rational_up(norm.distance(one, other)) * step
        for data, one in zip(members, images, strict=True)
        for near, other in zip(members, images, strict=True)
        if space.metric.distance(data, near) == 1
    )
    bound = rational_up(transform.map(1))
    assert bound - Fraction(1, 10**12) < furthest <= bound


@pytest.mark.parametrize("degree", [1, 2])
def test_noisy_shares_cost_in_truth_what_they_say(degree: int) -> None:
    noisy = vector(int, between=(0, 2)) >> bernstein_counts(degree) >> laplace(scale="0.25")
    low, high = brute_epsilon(noisy, [[], [0], [1], [2], [0, 2]], missed=Fraction(1, 20))
    assert noisy.map(1).epsilon == 4
    assert 4 - Fraction(1, 10**9) < low <= high < 4 + Fraction(1, 10**9)


def test_floats_keep_within_their_grid() -> None:
    transform = vector(float, between=("-0.1", "0.3")) >> bernstein_counts(2)
    grid = row_grid(vector(float, between=("-0.1", "0.3")).domain.element, "test", fineness=30)
    values = np.random.default_rng(5).uniform(-0.1, 0.3, size=1000)
    shares = [float(share) for share in transform(values)]
    assert sum(shares) == pytest.approx(1000, abs=1e-9)
    low, high = float(grid.low * grid.step), float(grid.high * grid.step)
    mean = low + (high - low) * (shares[1] / 2 + shares[2]) / 1000
    assert mean == pytest.approx(values.mean(), abs=1e-9)
