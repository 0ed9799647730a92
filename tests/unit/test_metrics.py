"""Distances and adjacency, by the worked cases (A1-001 … A1-014, A1-049)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction

import numpy as np
import pytest

from sfumato.core.domains import Custom, Floats, Integers, Stream, Texts, Vector
from sfumato.core.metrics import (
    L1,
    L2,
    Absolute,
    AddRemove,
    ChangeOne,
    DatasetMetric,
    Discrete,
    Hamming,
    LInf,
    Lp,
    Range,
    adjacent,
)
from sfumato.core.space import Space, scalar, vector
from sfumato.errors import BadArgument, NoDistance, SpaceMismatch
from sfumato.exact import root

SYMMETRIC, EXCHANGE, ORDERED = AddRemove(), ChangeOne(), Hamming()


def test_A1_001_multiplicity_counts() -> None:
    assert SYMMETRIC.distance([1, 2, 2, 4], [2, 4, 6]) == 3
    assert len({1, 2, 4} ^ {2, 4, 6}) == 2  # what a set-based version would say


@pytest.mark.parametrize("rows", [[1, 2, 3], ["A", "B"]], ids=["A1_002", "A1_007"])
def test_A1_002_A1_007_equal_data_sets(rows: list[object]) -> None:
    for metric in (SYMMETRIC, EXCHANGE):
        assert metric.distance(rows, list(rows)) == 0
        assert adjacent(rows, rows, metric=metric)
        assert not adjacent(rows, rows, metric=metric, exactly=True)


def test_A1_003_a_permuted_list_with_one_change() -> None:
    left, right = ["A", "B", "C"], ["C", "A", "D"]
    assert [m.distance(left, right) for m in (SYMMETRIC, EXCHANGE, ORDERED)] == [2, 1, 3]
    assert adjacent(left, right, metric=EXCHANGE)
    assert not adjacent(left, right, metric=SYMMETRIC)


@pytest.mark.parametrize(
    ("left", "right", "symmetric"),
    [
        (["A", "B"], ["B", "A", "C"], 1),
        (["D", "E", "F"], ["E", "F", "D", "G"], 1),
        (["A", "B"], ["A", "A", "A", "B"], 2),
    ],
    ids=["A1_004", "A1_005", "A1_006"],
)
def test_A1_004_A1_005_A1_006_different_sizes(left: Sequence[str], right: Sequence[str], symmetric: int) -> None:
    assert SYMMETRIC.distance(left, right) == symmetric
    assert adjacent(left, right, metric=SYMMETRIC) is (symmetric == 1)
    assert not adjacent(left, right, metric=EXCHANGE)
    with pytest.raises(NoDistance, match="different sizes"):
        EXCHANGE.distance(left, right)


def test_A1_008_roster() -> None:
    left, right = ["Alice", "Bob", "Carol"], ["Alice", "Bob", "Eustace"]
    assert (EXCHANGE.distance(left, right), SYMMETRIC.distance(left, right)) == (1, 2)
    assert adjacent(left, right, metric=EXCHANGE) and not adjacent(left, right, metric=SYMMETRIC)
    assert adjacent(left, right, metric=SYMMETRIC, bound=2)


def test_A1_009_numbers_within_one() -> None:
    assert adjacent(1, 2, metric=Absolute())
    assert not adjacent(1, 3, metric=Absolute())


def test_A1_012_scores() -> None:
    left, right = [1, 2, 3], [0, 3, 3]
    assert (LInf().distance(left, right), Range().distance(left, right)) == (1, 2)
    assert Range().distance([1, 2, 3], [11, 12, 13]) == 0
    assert LInf(monotonic=True).distance(left, right) == 2
    assert LInf(monotonic=True).distance([1, 2], [1, 4]) == 2


def test_A1_013_norms() -> None:
    assert [m.distance([3, 4], [0, 0]) for m in (L1(), L2(), LInf(), Lp(1))] == [7, 5, 4, 7]
    assert L2().distance([1, 1], [0, 0]) == root(2)
    cubic = Lp(3).distance([1, 1], [0, 0])
    assert cubic**3 >= 2 and float(cubic) == pytest.approx(2 ** (1 / 3))
    with pytest.raises(BadArgument, match="at least 1"):
        Lp(Fraction(1, 2))
    with pytest.raises(NoDistance, match="different lengths"):
        L1().distance([1], [1, 2])


def test_A1_014_hamming_needs_equal_lengths() -> None:
    with pytest.raises(NoDistance, match="different sizes"):
        ORDERED.distance([1, 2, 3], [1, 2, 3, 4])
    assert not adjacent([1, 2, 3], [1, 2, 3, 4], metric=ORDERED)


def test_A1_049_household_size_is_one_integer() -> None:
    space = scalar(int)
    assert space.metric == Absolute()
    assert space.distance(4, 5) == 1
    assert adjacent(4, 5, metric=space.metric, bound=1)


def test_values_that_look_alike_are_told_apart_or_not_as_documented() -> None:
    nan = float("nan")
    assert SYMMETRIC.distance([nan, 1.0], [np.float64("nan"), 1.0]) == 0
    assert SYMMETRIC.distance([0.0], [-0.0]) == 2
    assert SYMMETRIC.distance([1], [True]) == 2
    assert SYMMETRIC.distance(np.array([1, 2]), [2, 1]) == 0
    assert SYMMETRIC.distance({"a": [1, 2], "b": ["x", "y"]}, {"b": ["y", "x"], "a": [2, 1]}) == 0
    assert Discrete().distance("yes", "no") == 1 == Discrete().distance(0.0, -0.0)


@pytest.mark.parametrize(
    ("domain", "metric", "why"),
    [
        (Vector(Integers()), Hamming(), "size"),
        (Vector(Integers()), ChangeOne(), "resize"),
        (Vector(Integers()), L1(), "length"),
        (Vector(Texts(), size=2), L2(), "numbers"),
        (Vector(Floats(nan=True), size=2), L1(), "finite"),
        (Floats(nan=True), Absolute(), "finite"),
        (Texts(), Absolute(), "finite numbers"),
        (Integers(), AddRemove(), "collection of rows"),
    ],
    ids=str,
)
def test_a_metric_must_fit_its_domain(domain: object, metric: object, why: str) -> None:
    """P1-007."""
    with pytest.raises(SpaceMismatch, match=why):
        Space(domain, metric)


def test_metrics_that_fit() -> None:
    for domain, metric in [
        (Vector(Integers(), size=3), ORDERED),
        (Vector(Integers(), size=3), L2()),
        (Stream(Integers()), LInf(monotonic=True)),
        (Custom("graphs", lambda value: True), AddRemove()),
        (Texts(), Discrete()),
    ]:
        assert str(Space(domain, metric)).endswith(str(metric))


@pytest.mark.parametrize("metric", [SYMMETRIC, EXCHANGE, ORDERED], ids=str)
@pytest.mark.parametrize("wrong", [-1, 0.5, math.nan, "many", True, root(2), -math.inf])
def test_distances_in_rows_are_whole_numbers(metric: DatasetMetric, wrong: object) -> None:
    """P1-026, P1-031: contributions that are negative or no whole number."""
    with pytest.raises(BadArgument):
        metric.read(wrong)
    assert metric.read(3) == 3 and metric.read(math.inf) == math.inf


def test_default_adjacency_follows_the_size() -> None:
    assert vector(int).metric == AddRemove()
    assert vector(int, size=5).metric == ChangeOne()
    assert vector(int, size=5, metric=AddRemove()).metric == AddRemove()


def test_units_are_said_in_words() -> None:
    assert SYMMETRIC.unit(Fraction(1)) == "one row added or removed"
    assert EXCHANGE.unit(Fraction(3)) == "3 rows changed"
