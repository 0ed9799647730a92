"""Parallel composition, enumerated: the joint law on every pair of small partitions, under both adjacencies."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import pytest

import sfumato as sf
from sfumato.accounting.losses.divergence import max_divergence
from sfumato.audit.brute_force import brute_delta, brute_epsilon, brute_renyi
from sfumato.core.grouped_distance import GroupedDistance
from sfumato.exact import ball, endpoints

pytestmark = pytest.mark.sharp_balls

VOUCHED = sf.claim("for this test")
TINY = Fraction(1, 10**15)
MISSED = Fraction(1, 20)
"""The largest ratios are reached next to the centre, so that little of the tails need be listed."""
LETTERS = [list(rows) for size in range(4) for rows in itertools.combinations_with_replacement("ab", size)]


def counting(*scales: str) -> list[Any]:
    return [sf.count() >> sf.laplace(scale=scale) for scale in scales]


def by_letter(size: int | None = None) -> sf.Transformation:
    return sf.vector(["a", "b"], size=size) >> sf.group_by()


def true_epsilon(measurement: sf.Measurement, members: Sequence[Any], d_in: Any = 1) -> Fraction:
    return Fraction(brute_epsilon(measurement, members, d_in=d_in, missed=MISSED)[1])


def near(left: Fraction, right: Fraction) -> bool:
    return abs(left - right) < TINY


@pytest.mark.parametrize("scales", [("1", "1"), ("1", "2"), ("0.5", "2")])
def test_A1_118_disjoint_groups_cost_the_larger_under_add_remove(scales: tuple[str, str]) -> None:
    made = by_letter() >> sf.parallel(counting(*scales))
    dearest = max(1 / Fraction(scale) for scale in scales)
    assert made.map(1) == sf.Pure(dearest)
    assert near(true_epsilon(made, LETTERS), dearest)


@pytest.mark.parametrize("scales", [("1", "1"), ("1", "2"), ("0.5", "2")])
def test_A1_118_disjoint_groups_cost_the_sum_of_the_two_largest_under_change_one(scales: tuple[str, str]) -> None:
    made = by_letter(size=2) >> sf.parallel(counting(*scales))
    both = sum(1 / Fraction(scale) for scale in scales)
    assert made.map(1) == sf.Pure(both)
    assert near(true_epsilon(made, [rows for rows in LETTERS if len(rows) == 2]), both)


def test_A1_118_a_row_exchanged_inside_a_part_can_cost_twice_its_loss() -> None:
    """Where parts hold more than their key, "the sum of the two largest" is too little: 2 + 1 here, and 4 is true."""
    space = sf.frame({"part": ["a", "b"], "value": ["x", "y"]}, size=1)
    values = sf.select("value") >> sf.count_by() >> sf.laplace(scale="0.5")
    made = space >> sf.group_by("part") >> sf.parallel([values, sf.count() >> sf.laplace(scale=1)])
    members = [{"part": [part], "value": [value]} for part in "ab" for value in "xy"]
    assert made.map(1) == sf.Pure(4)
    assert near(true_epsilon(made, members), Fraction(4))


def partitions(most: int, parts: int = 2) -> list[tuple[list[str], ...]]:
    return [tuple(["r"] * n for n in rows) for rows in itertools.product(range(most + 1), repeat=parts)]


PARTED = sf.Space(sf.Parts((0, 1), (sf.domains.Vector(sf.domains.Texts()),) * 2), sf.PartDistance())


@pytest.mark.parametrize("spread", [(1, 1, 1), (1, 3, 3), (2, 2, 1), (2, 3, 2), (2, 2, 2), (2, 4, 2)], ids=str)
@pytest.mark.parametrize("scales", [("1", "1"), ("0.5", "1")])
def test_pure_losses_are_exact_for_noise_on_counts(spread: tuple[int, int, int], scales: tuple[str, str]) -> None:
    made = PARTED >> sf.parallel(counting(*scales))
    claimed = made.map(spread)
    assert isinstance(claimed, sf.Pure)
    assert near(true_epsilon(made, partitions(spread[2]), d_in=spread), Fraction(claimed.epsilon))


def test_A2_027_counts_with_laplace_noise() -> None:
    """The seed's map is 3 · 0.2 = 0.6; groups give L1 / 10 = 0.5, which is reached."""
    three = sf.Space(sf.Parts((0, 1, 2), (sf.domains.Vector(sf.domains.Texts()),) * 3), sf.PartDistance())
    made = three >> sf.parallel(sf.count() >> sf.laplace(scale=10))
    assert made.map((3, 5, 2)) == sf.Pure("0.5")
    assert sf.Pure.widest([one.map(2) for one in [three_counts()] * 3], count=3) == sf.Pure("0.6")
    assert made.law is not None
    left, right = (["r"] * 2, ["r"] * 2, ["r"]), ([], [], [])
    here, there = made.law(left), made.law(right)
    ratio = here.probability((9, 9, 9)) / there.probability((9, 9, 9))
    assert near(Fraction(endpoints(ratio.log())[1]), Fraction(1, 2))


def three_counts() -> sf.Measurement:
    return sf.vector(str) >> sf.count() >> sf.laplace(scale=10)


def test_A2_031_the_ratio_is_a_product_over_the_parts_that_differ() -> None:
    made = PARTED >> sf.parallel(counting("1", "3"))
    alone = [sf.vector(str) >> one for one in counting("1", "3")]
    assert made.law is not None
    left, right = (["r"], ["r"]), (["r", "r"], ["r"])
    here, there = made.law(left), made.law(right)
    first = [one.law(rows) for one, rows in ((alone[0], left[0]), (alone[0], right[0])) if one.law]
    for outcome in itertools.product(range(-2, 4), repeat=2):
        joint = here.probability(outcome) / there.probability(outcome)
        own = first[0].probability(outcome[0]) / first[1].probability(outcome[0])
        assert joint.overlaps(own)  # the part that does not differ cancels
        assert float(joint.log()) <= 1 + 1e-12


@pytest.mark.parametrize("spread", [(1, 1, 1), (2, 2, 1), (2, 3, 2), (2, 4, 2), (1, 2, 2)], ids=str)
def test_concentrated_losses_hold_and_are_nearly_reached(spread: tuple[int, int, int]) -> None:
    made = PARTED >> sf.parallel(sf.count() >> sf.gaussian(scale=1))
    claimed = made.map(spread)
    assert claimed == sf.ZCDP(Fraction(GroupedDistance(*spread).squares, 2))
    order = Fraction(2)
    found = Fraction(brute_renyi(made, partitions(2), order=order, d_in=spread, missed=Fraction(1, 10**4))[1])
    assert found <= order * Fraction(claimed.rho) + TINY
    assert found >= order * Fraction(claimed.rho) * Fraction(98, 100)


def test_half_the_loss_would_be_caught() -> None:
    made = PARTED >> sf.parallel(counting("1", "1"))
    assert true_epsilon(made, partitions(2), d_in=(2, 2, 1)) > 2 * Fraction(99, 100)


def test_approximate_losses_look_at_all_ways_to_fall() -> None:
    """(2, 2, 1) is two parts at one row; (2, 2, 2) is that or one part at two rows, and not two parts at two rows."""
    noisy = sf.count() >> sf.mechanisms.truncated_laplace(scale=1, reach=3)
    at_one, at_two = ((sf.vector(str) >> noisy).map(rows) for rows in (1, 2))
    assert isinstance(at_one, sf.Approx) and isinstance(at_two, sf.Approx)
    made = PARTED >> sf.parallel(noisy)
    assert made.map((2, 2, 1)) == at_one.times(2)
    assert made.map((2, 2, 2)) == sf.Approx.widest([at_one.times(2), at_two])
    assert not at_two.times(2).within(made.map((2, 2, 2)))
    for spread in ((1, 1, 1), (2, 2, 1), (2, 2, 2), (1, 2, 2)):
        claimed = made.map(spread)
        assert isinstance(claimed, sf.Approx)
        found = brute_delta(made, partitions(2), epsilon=claimed.epsilon, d_in=spread)
        assert Fraction(found[1]) <= claimed.delta + TINY
        if spread == (1, 1, 1):
            assert near(Fraction(found[1]), claimed.delta)


def test_groups_can_be_wider_than_the_map_at_many_rows() -> None:
    """A count that stops at 1 loses no more at two rows than at one: the bound by maps beats the one by groups."""
    capped = sf.transformation(
        sf.vector(str),
        sf.scalar(int),
        function=lambda rows: min(len(rows), 1),
        map=lambda d: min(d, Fraction(1)),
        claim=VOUCHED,
    )
    made = PARTED >> sf.parallel(capped >> sf.laplace(scale=1))
    assert made.map((2, 4, 2)) == sf.Pure(2)
    assert near(true_epsilon(made, partitions(2), d_in=(2, 4, 2)), Fraction(2))


def test_random_parts_and_a_mechanism_for_each_keep_the_loss_of_one() -> None:
    """The joint law over all labels: a mixture, within the map."""
    made = sf.vector(["r"]) >> sf.transforms.random_parts(2) >> sf.parallel(sf.count() >> sf.laplace(scale=1))
    assert made.map(1) == sf.Pure(1) and made.law is None
    counts = PARTED >> sf.parallel(sf.count() >> sf.laplace(scale=1))
    assert counts.law is not None
    outcomes = list(itertools.product(range(-3, 6), repeat=2))

    def mixed(rows: int) -> dict[Any, Any]:
        ways = [[sum(labels), rows - sum(labels)] for labels in itertools.product((0, 1), repeat=rows)]
        laws = [counts.law((["r"] * a, ["r"] * b)) for a, b in ways]  # type: ignore[misc]
        return {o: sum(law.probability(o) for law in laws) / ball(len(laws)) for o in outcomes}

    for rows in range(3):
        for left, right in ((rows, rows + 1), (rows + 1, rows)):
            assert max_divergence(mixed(left), mixed(right))[1] <= 1 + TINY
