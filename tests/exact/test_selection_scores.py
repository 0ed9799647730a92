"""Scores, enumerated: every pair of neighbouring small data sets, both adjacencies, against the maps."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from itertools import combinations_with_replacement, product

import numpy as np
import pytest
from tests.exact.enumerated import multisets

from sfumato.audit.brute_force import brute_sensitivity
from sfumato.core.domains import Data, Integers, Vector
from sfumato.core.metrics import AddRemove, Hamming, LInf, Metric, Range
from sfumato.core.space import Space, frame, vector
from sfumato.core.transformation import Transformation
from sfumato.errors import BadArgument, UnknownSize
from sfumato.exact import Distance
from sfumato.transforms.score_moves import accuracy_moves, mode_moves, quantile_moves, revenue_moves
from sfumato.transforms.scores import (
    accuracy_scores,
    as_range,
    mode_scores,
    quantile_scores,
    revenue_scores,
    threshold_accuracy_scores,
)

LEVELS = [Fraction(0), Fraction(1, 4), Fraction(1, 2), Fraction(2, 3), Fraction(1)]


def reaches(transformation: Transformation, members: list[list[Data]], *, d_in: int = 1) -> None:
    assert brute_sensitivity(transformation, members, d_in=d_in) == transformation.map(d_in)


def stays_below(transformation: Transformation, members: list[list[Data]], *, d_in: int) -> None:
    assert brute_sensitivity(transformation, members, d_in=d_in) <= transformation.map(d_in)


@pytest.mark.parametrize("alpha", LEVELS)
@pytest.mark.parametrize("metric", [LInf(), Range()], ids=str)
def test_quantile_scores_by_rows_added(alpha: Fraction, metric: Metric) -> None:
    """P1-059: sound for all multisets of five integers, and reached."""
    transformation = vector(int) >> quantile_scores([1, 2, 3], alpha=alpha, metric=metric)
    reaches(transformation, multisets(range(5), range(5)))
    stays_below(transformation, multisets(range(5), range(3)), d_in=2)


@pytest.mark.parametrize("alpha", LEVELS)
@pytest.mark.parametrize("metric", [LInf(), Range()], ids=str)
def test_quantile_scores_by_rows_exchanged(alpha: Fraction, metric: Metric) -> None:
    transformation = vector(int, size=4) >> quantile_scores([1, 2, 3], alpha=alpha, metric=metric)
    members = multisets(range(5), range(4, 5))
    reaches(transformation, members)
    reaches(transformation, members, d_in=0)
    stays_below(transformation, members, d_in=3)
    ordered = vector(int, size=4, metric=Hamming()) >> quantile_scores([1, 2, 3], alpha=alpha, metric=metric)
    stays_below(ordered, members, d_in=1)
    assert [ordered.map(rows) for rows in range(6)] == [transformation.map(rows) for rows in range(6)]


@pytest.mark.parametrize("alpha", [Fraction(1, 4), Fraction(1)])
def test_quantile_scores_by_rows_added_at_a_public_size(alpha: Fraction) -> None:
    """At a public size rows are added and removed in pairs."""
    space = vector(int, size=4, metric=AddRemove())
    transformation = space >> quantile_scores([1, 2, 3], alpha=alpha, metric=LInf())
    members = multisets(range(5), range(4, 5))
    assert transformation.map(1) == 0
    assert transformation.map(3) == 1
    reaches(transformation, members, d_in=2)
    stays_below(transformation, members, d_in=5)


@pytest.mark.parametrize("alpha", [0, 1])
def test_extreme_quantile_scores_move_one_way(alpha: int) -> None:
    for space, sizes in ((vector(int), range(5)), (vector(int, size=3), range(3, 4))):
        transformation = space >> quantile_scores([1, 2, 3], alpha=alpha)
        assert transformation.target.metric == LInf(monotonic=True)
        reaches(transformation, multisets(range(5), sizes))


def test_inner_quantile_scores_do_not_move_one_way() -> None:
    with pytest.raises(BadArgument, match="one way only at alpha 0 or 1"):
        vector(int) >> quantile_scores([1, 2, 3], alpha=Fraction(1, 2), metric=LInf(monotonic=True))
    plain = vector(int) >> quantile_scores([1, 2, 3], alpha=Fraction(1, 2))
    wrong = Space(plain.target.domain, LInf(monotonic=True))
    assert wrong.distance(plain([2, 2]), plain([2, 2, 0])) > plain.map(1)


@pytest.mark.parametrize(
    ("transformation", "members"),
    [
        (vector(int) >> quantile_scores([1, 2, 3], alpha=1), multisets(range(4), range(4))),
        (vector(int, size=3) >> quantile_scores([1, 2, 3], alpha=0), multisets(range(4), range(3, 4))),
        (vector(["a", "b", "c"]) >> mode_scores(), multisets(["a", "b", "c"], range(4))),
        (vector(int) >> revenue_scores([1, 2, 4]), multisets(range(5), range(3))),
    ],
)
def test_monotonic_steps_add_up(transformation: Transformation, members: list[list[Data]]) -> None:
    """Several rows may move scores both ways: the ups and the downs together are within the map, and reach it."""
    assert transformation.target.metric == LInf(monotonic=True)
    reaches(transformation, members)
    reaches(transformation, members, d_in=2)
    stays_below(transformation, members, d_in=3)


def test_E1_13_counting_at_most_instead_of_below_has_the_same_sensitivity() -> None:
    """The seed's text counts #(x < c), its code #(x ≤ c); they differ at ties only."""
    candidates, alpha = [1, 2, 3], Fraction(1, 3)
    ours = vector(int) >> quantile_scores(candidates, alpha=alpha)

    def code(data: list[int]) -> list[Fraction]:
        return [-abs((1 - alpha) * sum(x <= c for x in data) - alpha * sum(x > c for x in data)) for c in candidates]

    members = multisets(range(5), range(4))
    for data in members:
        text = [-abs((1 - alpha) * sum(x < c for x in data) - alpha * sum(x > c for x in data)) for c in candidates]
        assert ours(data).tolist() == text
        assert (text == code(data)) or any(x in candidates for x in data)
    worst = max(
        max(abs(a - b) for a, b in zip(code(left), code(right), strict=True))
        for left in members
        for right in members
        if AddRemove().distance(left, right) <= 1
    )
    assert worst == quantile_moves(alpha, LInf()).added


def test_A1_106_quantile_sensitivity_at_a_quarter() -> None:
    for metric, expected in ((LInf(), Fraction(3, 4)), (Range(), Fraction(3, 2))):
        transformation = vector(float) >> quantile_scores([1, 2, 3], alpha=0.25, metric=metric)
        assert transformation.map(1) == expected
        members = [[float(x) for x in rows] for rows in multisets(range(5), range(5))]
        reaches(transformation, members)


def test_too_small_a_map_would_be_noticed() -> None:
    """min instead of max, or a range without the factor 2, fails the same check."""
    transformation = vector(int) >> quantile_scores([1, 2, 3], alpha=0.25, metric=Range())
    found = brute_sensitivity(transformation, multisets(range(5), range(5)))
    assert found > 2 * min(Fraction(1, 4), Fraction(3, 4))
    assert found > max(Fraction(1, 4), Fraction(3, 4))


@pytest.mark.parametrize("alpha", LEVELS)
def test_candidates_in_any_order_between_and_on_values(alpha: Fraction) -> None:
    transformation = vector(float) >> quantile_scores([2.5, -1, 2, 0.5], alpha=alpha, metric=Range())
    members = [[float(x) for x in rows] for rows in multisets(range(4), range(4))]
    stays_below(transformation, members, d_in=1)
    low, high = transformation([0.0, 1.0])[1], transformation([0.0, 1.0])[0]
    assert low == -2 * alpha
    assert high == -2 * (1 - alpha)


def test_quantile_scores_of_strange_numbers() -> None:
    """−0.0 equals 0.0, infinities lie beyond every candidate, and huge integers neither wrap nor round."""
    from sfumato.core.domains import Floats

    space = Space(Vector(Floats(infinite=True)), AddRemove())
    transformation = space >> quantile_scores([0, 1], alpha=0.5)
    assert transformation([-math.inf, -0.0, math.inf]).tolist() == [0, -0.5]
    wide = vector(int) >> quantile_scores([2**70, 5], alpha=Fraction(1, 3))
    assert wide([2**70, 2**70 + 1, -(2**80), 0]).tolist() == [Fraction(-1), Fraction(-2, 3)]
    alpha = Fraction("0.12345678901234567890123456789")
    fine = vector(int) >> quantile_scores([1], alpha=alpha)
    assert fine([0, 0, 2]).tolist() == [alpha - 2 * (1 - alpha)]


def test_quantile_scores_on_a_grid_of_thirds() -> None:
    space = Space(Vector(Integers(step=Fraction(1, 3))), AddRemove())
    transformation = space >> quantile_scores([Fraction(2, 3), 0.5], alpha=0.5)
    assert transformation([1, 2, 3]).tolist() == [0, -0.5]


@pytest.mark.parametrize("metric", [None, LInf(), Range()], ids=str)
def test_mode_scores(metric: LInf | Range | None) -> None:
    """P1-064: rows added move counts one way; a row exchanged moves two counts apart."""
    letters = ["a", "b", "c"]
    added = vector(letters) >> mode_scores(metric=metric)
    reaches(added, multisets(letters, range(4)))
    exchanged = vector(letters, size=3) >> mode_scores(metric=metric)
    reaches(exchanged, multisets(letters, range(3, 4)))
    reaches(exchanged, multisets(letters, range(3, 4)), d_in=2)
    paired = vector(letters, size=3, metric=AddRemove()) >> mode_scores(metric=metric)
    reaches(paired, multisets(letters, range(3, 4)), d_in=2)
    assert added.target.metric == (metric or LInf(monotonic=True))
    assert exchanged.target.metric == (metric or LInf())
    assert mode_moves(Range()).exchanged == 2


def test_mode_scores_of_listed_texts_and_integers() -> None:
    assert (vector(str) >> mode_scores(["x", "y"]))(["x", "z", "x"]).tolist() == [2, 0]
    assert (vector(int) >> mode_scores([3, 4]))(np.array([3, 3, 4, 7])).tolist() == [2, 1]
    with pytest.raises(BadArgument, match="one way only"):
        vector(["a"], size=2) >> mode_scores(metric=LInf(monotonic=True))


@pytest.mark.parametrize("prices", [[1, 2, 3, 4], [2, 5], [3], [0.5, 1.01, 1.02], [1, 2, 10]])
@pytest.mark.parametrize("metric", [None, LInf(), Range()], ids=str)
def test_revenue_scores(prices: list[float], metric: LInf | Range | None) -> None:
    """P1-064: the highest price; by range, for rows added or removed, less."""
    values = sorted({0.0, *map(float, prices), max(prices) + 1.0})
    members = [list(rows) for size in range(3) for rows in combinations_with_replacement(values, size)]
    reaches(vector(float) >> revenue_scores(prices, metric=metric), members)
    exchanged = vector(float, size=2) >> revenue_scores(prices, metric=metric)
    reaches(exchanged, [rows for rows in members if len(rows) == 2])


def test_revenues_move_one_way_when_a_row_is_exchanged() -> None:
    transformation = vector(float, size=2) >> revenue_scores([1, 2, 3])
    assert transformation.target.metric == LInf(monotonic=True)
    members = [list(rows) for rows in product([0.0, 1.0, 2.0, 3.0], repeat=2)]
    assert brute_sensitivity(transformation, members) == 3


def test_a_smaller_range_of_revenues_would_be_noticed() -> None:
    moves = revenue_moves((Fraction(1), Fraction(2), Fraction(10)), Range())
    assert (moves.added, moves.exchanged) == (9, 10)
    moves = revenue_moves((Fraction(8), Fraction(9), Fraction(10)), Range())
    assert (moves.added, moves.exchanged) == (9, 10)


@pytest.mark.parametrize("metric", [LInf(), Range()], ids=str)
def test_accuracy_scores(metric: LInf | Range) -> None:
    """P1-064: a table of two rows, all of them; 1 / n, or 2 / n by range."""
    space = frame({"one": bool, "two": bool, "truth": bool}, size=2)
    transformation = space >> accuracy_scores(["one", "two"], label="truth", metric=metric)
    rows = list(product([False, True], repeat=3))
    members = [
        {"one": [a[0], b[0]], "two": [a[1], b[1]], "truth": [a[2], b[2]]}
        for a, b in combinations_with_replacement(rows, 2)
    ]
    assert brute_sensitivity(transformation, members) == transformation.map(1) == accuracy_moves(2, metric).exchanged


@pytest.mark.parametrize("metric", [LInf(), Range()], ids=str)
@pytest.mark.parametrize("strict", [False, True])
def test_threshold_accuracy_scores(metric: LInf | Range, strict: bool) -> None:
    space = frame({"level": float, "ill": bool}, size=3)
    transformation = space >> threshold_accuracy_scores(
        [1, 2], feature="level", label="ill", strict=strict, metric=metric
    )
    rows = list(product([0.0, 1.0, 1.5, 2.0, 3.0], [False, True]))
    members = [
        {"level": [row[0] for row in three], "ill": [row[1] for row in three]}
        for three in combinations_with_replacement(rows, 3)
    ][::2]
    assert brute_sensitivity(transformation, members) == transformation.map(1)


def test_accuracy_needs_a_public_size() -> None:
    with pytest.raises(UnknownSize, match="resize"):
        frame({"guess": bool, "truth": bool}) >> accuracy_scores(["guess"], label="truth")


@pytest.mark.parametrize(("metric", "expected"), [(LInf(), 2), (LInf(monotonic=True), 1)], ids=str)
def test_range_of_scores(metric: LInf, expected: Distance) -> None:
    transformation = vector(int, size=3, metric=metric) >> as_range()
    members: list[list[Data]] = [list(scores) for scores in product(range(3), repeat=3)]
    assert brute_sensitivity(transformation, members) == transformation.map(1) == expected


@pytest.mark.parametrize(
    "build",
    [
        lambda: vector(int) >> quantile_scores([1, 2], alpha=0.5),
        lambda: vector(["a", "b"]) >> mode_scores(),
        lambda: vector(float) >> revenue_scores([1, 2]),
        lambda: vector(int, size=3, metric=LInf()) >> as_range(),
    ],
)
def test_maps_at_the_ends(build: Callable[[], Transformation]) -> None:
    transformation = build()
    assert transformation.map(0) == 0
    assert transformation.map(math.inf) == math.inf
