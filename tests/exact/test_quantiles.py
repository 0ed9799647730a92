"""Many quantiles by halving, enumerated: the joint law of all points, every small data set, both adjacencies."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction
from functools import cache

import numpy as np
import pytest
from tests.exact.enumerated import multisets

from sfumato.accounting.losses.measures import ZCDP, Loss, Pure
from sfumato.audit.brute_force import brute_epsilon, brute_renyi
from sfumato.core.domains import Data
from sfumato.core.measurement import Measurement
from sfumato.core.space import vector
from sfumato.exact import enclose
from sfumato.mechanisms.cut_plans import Cut, added_loss, balanced, halving
from sfumato.mechanisms.quantile import support
from sfumato.mechanisms.recursive_quantiles import (
    cuts_law,
    exchanged_loss,
    point_sensitivity,
    quantiles_law,
    recursive_quantiles,
)
from sfumato.stats.quantiles import bounds_by_quantiles

pytestmark = pytest.mark.sharp_balls

SLACK = Fraction(1, 10**20)
TWO = [Fraction(1, 4), Fraction(3, 4)]
THREE = [Fraction(1, 4), Fraction(1, 2), Fraction(3, 4)]
SKEWED = [Fraction(7, 10), Fraction(8, 10), Fraction(9, 10)]
SEVEN = [Fraction(number, 100) for number in (10, 25, 40, 50, 60, 75, 90)]


def audited(plan: Cut | None, *, top: int, size: int | None, parts: int, measure: type[Loss] = Pure) -> Measurement:
    """Gives the measurement of a plan on the integers 0 … top, cut into a few parts each, with its law."""
    space = vector(int, between=(0, top), size=size)
    grid = support(space.domain.element, None)  # type: ignore[attr-defined]
    one = added_loss(plan, measure, point_sensitivity) if size is None else exchanged_loss(plan, measure)
    once = cache(lambda rows: quantiles_law(plan, list(rows), grid, parts))
    made = space >> recursive_quantiles(THREE, temperature=1, measure=measure)
    return replace(made, privacy_map=lambda d_in: one, law=lambda data: once(tuple(data)))


def members(top: int, size: int | None, most: int) -> list[list[int]]:
    return multisets(range(top + 1), range(most + 1) if size is None else range(size, size + 1))


@pytest.mark.parametrize("alphas", [TWO, THREE, SKEWED], ids=["two", "three", "skewed"])
@pytest.mark.parametrize("size", [None, 3])
@pytest.mark.parametrize(("parts", "top", "most"), [(1, 3, 4), (2, 2, 3)])
@pytest.mark.parametrize("temperature", [Fraction(1, 4), Fraction(2)])
def test_no_pair_of_neighbours_exceeds_the_path(
    alphas: list[Fraction], size: int | None, parts: int, top: int, most: int, temperature: Fraction
) -> None:
    plan = balanced(halving(alphas), temperature, Pure, point_sensitivity)
    measurement = audited(plan, top=top, size=size, parts=parts)
    low, high = brute_epsilon(measurement, members(top, size, most))
    assert high <= measurement.map(1).epsilon + SLACK
    assert low > measurement.map(1).epsilon / 8


@pytest.mark.parametrize("alphas", [TWO, THREE], ids=["two", "three"])
@pytest.mark.parametrize("size", [None, 3])
def test_zcdp_adds_up_along_the_path(alphas: list[Fraction], size: int | None) -> None:
    plan = balanced(halving(alphas), Fraction(1), ZCDP, point_sensitivity)
    measurement = audited(plan, top=3, size=size, parts=1, measure=ZCDP)
    for order in (Fraction(3, 2), Fraction(2), Fraction(12)):
        found = brute_renyi(measurement, members(3, size, 4), order=order)[1]
        assert found <= order * measurement.map(1).rho


def test_the_path_is_reached() -> None:
    """With five rows and a cold choice, quartiles lose all that the path allows; a smaller charge would be a lie."""
    measurement = audited(balanced(halving(THREE), Fraction(1, 16), Pure, point_sensitivity), top=3, size=None, parts=1)
    assert (
        brute_epsilon(measurement, multisets(range(4), range(6)))[0]
        > Fraction(9999, 10000) * measurement.map(1).epsilon
    )


def test_the_side_of_a_row_decides_what_it_pays() -> None:
    """½ then ¾: above the median the move is 1, then 4/3 at most; nearly reached, and less than two whole ranges."""
    plan = balanced(halving([Fraction(1, 2), Fraction(3, 4)]), Fraction(1, 16), Pure, point_sensitivity)
    measurement = audited(plan, top=4, size=None, parts=1)
    found = brute_epsilon(measurement, multisets(range(5), range(6)))[0]
    assert measurement.map(1).epsilon * Fraction(97, 100) < found <= measurement.map(1).epsilon
    assert measurement.map(1).epsilon < (Fraction(3, 2) + Fraction(4, 3)) * 16


def test_half_the_noise_is_caught() -> None:
    charged = audited(balanced(halving(THREE), Fraction(1, 2), Pure, point_sensitivity), top=3, size=None, parts=1)
    run = audited(balanced(halving(THREE), Fraction(1, 4), Pure, point_sensitivity), top=3, size=None, parts=1)
    assert (
        brute_epsilon(replace(run, privacy_map=charged.privacy_map), multisets(range(4), range(4)))[0]
        > charged.map(1).epsilon
    )


def seed_split(alphas: list[Fraction]) -> Cut | None:
    """Splits at (len + 1) // 2, as the seed does, where there is such a place."""
    if not alphas:
        return None
    place = min((len(alphas) + 1) // 2, len(alphas) - 1)
    root = alphas[place]
    below = [alpha / root for alpha in alphas[:place]]
    above = [(alpha - root) / (1 - root) for alpha in alphas[place + 1 :]]
    return Cut(root, Fraction(1), seed_split(below), seed_split(above))


def layers(plan: Cut | None) -> int:
    return 0 if plan is None else 1 + max(layers(plan.left), layers(plan.right))


def test_A2_030_layers() -> None:
    equal = [[Fraction(k, count + 1) for k in range(1, count + 1)] for count in range(1, 9)]
    assert [layers(halving(alphas)) for alphas in equal] == [1, 2, 2, 3, 3, 3, 3, 4]
    assert [layers(seed_split(alphas)) for alphas in equal] == [1, 2, 3, 3, 4, 4, 4, 4]
    assert [count.bit_length() for count in range(1, 9)] == [1, 2, 2, 3, 3, 3, 3, 4]


def test_E2_12_the_seed_split_loses_more_than_its_layers() -> None:
    """The seed's tree for three quantiles has three layers and charges 2 for each of two; a row can lose 4.5."""
    plan = cooled(seed_split([Fraction(1, 64), Fraction(1, 16), Fraction(1, 4)]), Fraction(1, 16))
    charged = 2 * (3).bit_length() * 16
    data = 2 * [1] + 6 * [3] + 2 * [4] + 30 * [6] + 2 * [7] + 126 * [9]
    here, there = (cuts_law(plan, np.array(rows), 0, 9)[1, 4, 7] for rows in (data, [0, *data]))
    low, high = enclose((there / here).log)
    stated = added_loss(plan, Pure, point_sensitivity)
    assert isinstance(stated, Pure) and stated.epsilon == Fraction(9, 2) * 16
    assert layers(plan) == 3 and charged < stated.epsilon * Fraction(99, 100) < low <= high <= stated.epsilon


def cooled(plan: Cut | None, temperature: Fraction) -> Cut | None:
    if plan is None:
        return None
    return Cut(plan.alpha, temperature, cooled(plan.left, temperature), cooled(plan.right, temperature))


def test_A2_028_seven_quantiles() -> None:
    space = vector(float)
    made = space >> recursive_quantiles(SEVEN, between=(0, 100), temperature=100)
    assert made.map(1) == Pure(0.032)
    assert Pure(Fraction(2 * layers(halving(SEVEN)), 100)) == Pure(0.06)
    assert made.map(3) == Pure(0.096)
    assert (vector(float, size=50) >> recursive_quantiles(SEVEN, between=(0, 100), temperature=100)).map(1) == Pure(
        0.064
    )


@pytest.mark.parametrize("measure", [Pure, ZCDP])
def test_all_paths_to_leaves_cost_the_same(measure: type[Loss]) -> None:
    plan = balanced(halving([Fraction(k, 10) for k in range(1, 10)]), Fraction(5), measure, point_sensitivity)
    power = 2 if measure is ZCDP else 1

    def ends(cut: Cut | None, spent: Fraction) -> list[Fraction]:
        if cut is None:
            return []
        move = point_sensitivity(cut.alpha, measure)
        below, above = (spent + (side / cut.temperature) ** power for side in (move.below, move.above))
        if cut.left is None and cut.right is None:
            return [max(below, above)]
        return ends(cut.left, below) + ends(cut.right, above)

    costs = ends(plan, Fraction(0))
    assert len(costs) == 4
    assert max(costs) * Fraction(99999, 100000) < min(costs) <= max(costs)
    assert added_loss(plan, measure, point_sensitivity) == (
        Pure(max(costs)) if measure is Pure else ZCDP(max(costs) / 8)
    )


def test_A2_014_bounds_by_quantiles_cost_less_than_two_quantiles() -> None:
    made = vector(float) >> recursive_quantiles([0.05, 0.95], between=(-100, 100), temperature=19)
    apart = 2 * Fraction(2 * 95, 100 * 19)
    assert apart == Fraction(1, 5)
    assert made.map(1) == Pure(Fraction(55, 19) / 19) and made.map(1).epsilon < apart
    assert (vector(float) >> bounds_by_quantiles(between=(-100, 100), loss=Pure(apart))).map(1) == Pure(apart)


def law_of(data: list[Data], alphas: list[Fraction], parts: int, temperature: Fraction) -> dict[Data, float]:
    measurement = audited(
        balanced(halving(alphas), temperature, Pure, point_sensitivity), top=2, size=None, parts=parts
    )
    assert measurement.law is not None
    law = measurement.law(data)
    return {point: float(law.probability(point).mid()) for point in law.outcomes(Fraction(0))}


def test_points_are_in_order_and_probabilities_add_up() -> None:
    for data in ([], [0], [2, 2], [0, 1, 2]):
        law = law_of(data, THREE, 2, Fraction(1))
        assert all(list(points) == sorted(points) for points in law)
        assert sum(law.values()) == pytest.approx(1, abs=1e-12)


def test_one_quantile_is_the_exponential_law() -> None:
    law = law_of([0, 1, 2, 2], [Fraction(1, 2)], 1, Fraction(1))
    weights = [math.exp(-abs(below - 2)) for below in (0, 1, 2)]
    assert [law[point,] for point in range(3)] == pytest.approx([weight / sum(weights) for weight in weights])
