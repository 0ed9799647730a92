"""Slopes of random pairs, enumerated: every order of small data sets, and which couplings of neighbours there are."""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from tests.examples.couplings import Law, Outcome, coupled

import sfumato as sf
import sfumato.transforms.slopes as slopes_module
from sfumato.core.domains import Bounds
from sfumato.mechanisms.quantile import median
from sfumato.transforms.slopes import pair_slopes, slopes_between

FAR = (-(10**6), 10**6)

# Points of which every pair has a slope of its own.
POINTS = [(0.0, 0.0), (1.0, 1.0), (2.0, 7.0), (4.0, -9.0), (8.0, 60.0), (16.0, 333.0)]


def law(points: Sequence[tuple[float, float]], between: tuple[int, int] = FAR) -> Law:
    """The exact law of the slopes of one matching, as a sorted tuple, through the real code."""
    rows = np.array(points, dtype=np.float64).reshape(-1, 2)
    bounds = Bounds.read(between)
    orders = itertools.permutations(range(len(points)))
    made = (slopes_between(rows, np.array(order, dtype=np.int64), bounds) for order in orders)
    return Counter(tuple(sorted(one.tolist())) for one in made)


def within(distance: int) -> Any:
    def close(left: Outcome, right: Outcome) -> bool:
        ours, theirs = Counter(left), Counter(right)
        return (ours - theirs).total() + (theirs - ours).total() <= distance

    return close


@pytest.mark.parametrize(("common", "more"), [(2, 1), (3, 1), (4, 1), (5, 1), (2, 2), (3, 2), (4, 2), (3, 3)])
def test_A2_061_rows_added_move_one_and_a_half_times_as_many_slopes(common: int, more: int) -> None:
    claimed = int((sf.matrix(2) >> pair_slopes(between=FAR)).map(more))
    assert claimed == math.ceil(3 * more / 2)
    laws = law(POINTS[:common]), law(POINTS[: common + more])
    assert coupled(*laws, within(claimed))


@pytest.mark.parametrize(("common", "more"), [(2, 1), (4, 1), (4, 2)])
def test_A2_061_fewer_would_not_do(common: int, more: int) -> None:
    """Of an even number of rows, one more moves two slopes, in any coupling; and two of four move three."""
    laws = law(POINTS[:common]), law(POINTS[: common + more])
    assert not coupled(*laws, within(math.ceil(3 * more / 2) - 1))


@pytest.mark.parametrize("size", [2, 3, 4, 5])
def test_A2_061_a_row_exchanged_moves_one_slope_out_and_one_in(size: int) -> None:
    assert (sf.matrix(2, size=size) >> pair_slopes(between=FAR)).map(1) == 2
    laws = law(POINTS[:size]), law([*POINTS[: size - 1], POINTS[5]])
    assert coupled(*laws, within(2)) and not coupled(*laws, within(1))


def drop_last_then_shuffle(points: Sequence[tuple[float, float]]) -> Law:
    """The book's matching: the last row is left out before the shuffle."""
    return law(points[: len(points) // 2 * 2])


def test_A2_061_leaving_the_last_row_out_before_the_shuffle_is_worse() -> None:
    first, *others = POINTS[:4]
    laws = drop_last_then_shuffle(others), drop_last_then_shuffle([*others, first])
    assert not coupled(*laws, within(2)) and coupled(*laws, within(3))
    pair = POINTS[1:3]
    apart = drop_last_then_shuffle(pair), drop_last_then_shuffle([first, *pair])
    assert not coupled(*apart, within(1)) and coupled(*apart, within(2))


def mixture(points: Sequence[tuple[float, float]], chosen: sf.Measurement) -> dict[Any, float]:
    """The exact chance of each end of the bounds: the mixture over all orders, by the real code of both steps."""
    slopes, chances = law(points, (-2, 2)), Counter[Any]()
    assert chosen.law is not None
    for made, times in slopes.items():
        at = chosen.law(np.array(made))
        for point in (-2.0, 0.0, 2.0):
            chances[point] += times / slopes.total() * float(at.probability(point).mid())
    return dict(chances)


def test_A2_060_the_median_of_slopes_costs_more_than_the_book_says() -> None:
    """Six points on a steep line and one far off: the loss is within the claim, and beyond the book's, which is 1."""
    chosen = sf.vector(float, between=(-2, 2)) >> median(temperature=1, step="1/64")
    assert (sf.matrix(2) >> pair_slopes(between=(-2, 2)) >> median(temperature=1, step="1/64")).map(1) == sf.Pure(2)
    points = [(float(x), -50.0 * x) for x in range(6)]
    left, right = mixture(points, chosen), mixture([*points, (-1e3, -1e9)], chosen)
    worst = max(abs(math.log(left[one] / right[one])) for one in left)
    assert 1.05 < worst <= 2


def test_A2_060_and_A2_063_slopes_of_a_line_are_one_number() -> None:
    points = np.array([(0, 1), (1, 3), (2, 5), (3, 7)], dtype=np.float64)
    made = sf.matrix(2) >> pair_slopes(between=(-10, 10), matchings=3)
    assert made(points).tolist() == [2.0] * 6
    pairs = [(b[1] - a[1]) / (b[0] - a[0]) for a, b in itertools.combinations(points, 2)]
    assert len(pairs) == 6 and np.median(pairs) == 2
    assert sum(0 in pair for pair in itertools.combinations(range(4), 2)) == 3


def test_A2_062_the_relative_temperature_does_not_depend_on_the_number_of_matchings() -> None:
    """k matchings: k times as many slopes, and a temperature k times as high."""
    for times in (1, 2, 16):
        made = sf.matrix(2) >> pair_slopes(between=(-1, 1), matchings=times) >> median(temperature=times)
        assert made.map(1) == sf.Pure(2)
        rows = np.random.default_rng(1).normal(size=(100, 2))
        assert len((sf.matrix(2) >> pair_slopes(between=(-1, 1), matchings=times))(rows)) == times * 50


@pytest.mark.parametrize(
    ("pair", "slope"),
    [
        (((0.0, 0.0), (0.0, 1.0)), [3.0]),
        (((0.0, 1.0), (-0.0, 0.0)), [-3.0]),
        (((-0.0, 0.0), (0.0, 1.0)), [3.0]),
        (((1.0, 2.0), (1.0, 2.0)), []),
        (((0.0, 0.0), (1.0, 99.0)), [3.0]),
        (((-1.7e308, 0.0), (1.7e308, 1.0)), [0.0]),
        (((-1.7e308, -1.7e308), (1.7e308, 1.7e308)), []),
    ],
)
def test_every_pair_has_a_slope_within_the_bounds_or_none(pair: tuple[Any, Any], slope: list[float]) -> None:
    rows, order = np.array(pair), np.array([0, 1])
    assert slopes_between(rows, order, Bounds.read((-3, 3))).tolist() == slope


def test_no_rows_and_one_row_have_no_slopes() -> None:
    made = sf.matrix(2) >> pair_slopes(between=(-1, 1))
    assert made(np.empty((0, 2))).tolist() == made(np.ones((1, 2))).tolist() == []


def test_every_matching_has_an_order_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    orders = iter([[0, 1, 2, 3], [0, 2, 1, 3]])
    monkeypatch.setattr(slopes_module, "permutation", lambda size, *, entropy: np.array(next(orders)))
    made = sf.matrix(2) >> pair_slopes(between=FAR, matchings=2)
    points = np.array(POINTS[:4])

    def slope(a: int, b: int) -> float:
        return float((points[b, 1] - points[a, 1]) / (points[b, 0] - points[a, 0]))

    assert made(points).tolist() == [slope(0, 2), slope(1, 3), slope(0, 1), slope(2, 3)]


@pytest.mark.parametrize("space", [sf.matrix(3), sf.vector(float)])
def test_other_spaces_are_refused(space: sf.Space) -> None:
    with pytest.raises(sf.errors.BadArgument, match="two columns"):
        space >> pair_slopes(between=(0, 1))
