"""Mechanisms as matrices: the loss, the curve δ(ε) and comparisons, against enumeration."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import pytest

from sfumato.accounting.losses.measures import Approx, Pure
from sfumato.audit.brute_force import brute_delta, brute_epsilon
from sfumato.errors import BadArgument, NotInDomain
from sfumato.exact import exp_down, exp_up, log_up
from sfumato.mechanisms.matrix_mechanism import (
    channel,
    channel_delta,
    channel_delta_at,
    channel_epsilon,
    matrix_mechanism,
)
from sfumato.release.record import Failure
from sfumato.textbook.matrix_comparison import MorePrivate, compare

pytestmark = pytest.mark.sharp_balls

TINY = Fraction(1, 10**20)
ROWS = [["1/2", "1/4", "1/4"], ["1/4", "1/2", "1/4"], ["1/8", "1/8", "3/4"]]


def test_A1_061_two_matrices() -> None:
    assert abs(float(matrix_mechanism([[0.75, 0.25], [0.25, 0.75]]).map(1).epsilon) - 1.098612) < 1e-6
    assert matrix_mechanism([[0.5, 0.5], [1, 0]]).map(1) == Pure(math.inf)


def test_the_loss_is_that_of_the_enumerated_rows() -> None:
    measurement = matrix_mechanism(ROWS)
    low, high = brute_epsilon(measurement, range(3))
    claimed = measurement.map(1).epsilon
    assert claimed == log_up(Fraction(4))
    assert claimed - TINY <= low <= high <= claimed + TINY


def test_E1_20_only_neighbouring_rows_count() -> None:
    """The whole-column maximum over minimum is too large where not all inputs are neighbours, and never too small."""
    path = matrix_mechanism(ROWS, inputs=["a", "b", "c"], adjacency=[("a", "b"), ("b", "c")])
    everyone = matrix_mechanism(ROWS, inputs=["a", "b", "c"])
    assert path.map(1).epsilon == log_up(Fraction(4)) == everyone.map(1).epsilon
    lone = matrix_mechanism(ROWS, inputs=["a", "b", "c"], adjacency=[("a", "b")])
    assert lone.map(1).epsilon == log_up(Fraction(2)) < everyone.map(1).epsilon
    for measurement in (path, lone, everyone):
        for distance in (1, 2):
            low, high = brute_epsilon(measurement, "abc", d_in=distance)
            claimed = measurement.map(distance).epsilon
            assert claimed - TINY <= low <= high <= claimed + TINY
    every_ratio = [a / b for row, other in channel(ROWS).pairs() for a, b in zip(row, other, strict=True)]
    assert max(every_ratio) == 4 and all(ratio <= 4 for ratio in every_ratio), "the maximum is above every ratio"


def test_steps_between_inputs() -> None:
    steps = channel(ROWS, inputs=["a", "b", "c"], adjacency=[("a", "b")]).space
    assert steps.distance("a", "b") == 1 and steps.distance("a", "a") == 0
    assert steps.distance("a", "c") == math.inf
    assert matrix_mechanism(ROWS, inputs=["a", "b", "c"], adjacency=[]).map(5) == Pure(0)


@pytest.mark.parametrize("epsilon", ["0", "0.2", "0.5", "1", "1.3863", "2"])
def test_delta_is_that_of_the_enumerated_rows(epsilon: str) -> None:
    measurement = matrix_mechanism(ROWS, epsilon=epsilon)
    loss = measurement.map(1)
    assert isinstance(loss, Approx) and loss.epsilon == Fraction(epsilon)
    low, high = brute_delta(measurement, range(3), epsilon=Fraction(epsilon))
    assert loss.delta - TINY <= low <= high <= loss.delta + TINY


def test_delta_at_rational_ratios_agrees_with_delta_at_logarithms() -> None:
    made = channel(ROWS)
    for epsilon in (Fraction(1, 3), Fraction(1)):
        below, above = channel_delta_at(made, exp_up(epsilon)), channel_delta_at(made, exp_down(epsilon))
        assert below <= channel_delta(made, epsilon) <= above + TINY


def test_zero_against_positive_is_all_in_delta() -> None:
    made = channel([["1/2", "1/2"], [1, 0]])
    assert channel_epsilon(made) == math.inf
    assert channel_delta(made, math.inf) == Fraction(1, 2)
    assert matrix_mechanism([["1/2", "1/2"], [1, 0]], epsilon=1).how.failure is Failure.DISTINGUISHING
    assert matrix_mechanism(ROWS, epsilon=1).how.failure is Failure.GRACEFUL


def test_a_column_of_zeros_is_ignored() -> None:
    assert channel_epsilon(channel([["1/2", "1/2", 0], ["1/2", "1/2", 0]])) == 0


@pytest.mark.parametrize(
    "rows",
    [
        [],
        [[]],
        [[0.5, 0.5], [1]],
        [[0.5, 0.6], [0.5, 0.5]],
        [[1.5, -0.5], [0.5, 0.5]],
        [[math.nan, 1], [0, 1]],
        [[1 / 3, 1 / 3, 1 / 3]],
    ],
)
def test_bad_matrices_are_refused(rows: list[list[float]]) -> None:
    with pytest.raises(BadArgument):
        matrix_mechanism(rows)


def test_bad_names_are_refused() -> None:
    with pytest.raises(BadArgument, match="distinct"):
        matrix_mechanism(ROWS, inputs=["a", "a", "b"])
    with pytest.raises(BadArgument, match="as many as the matrix has rows and columns"):
        matrix_mechanism(ROWS, outputs=["a", "b"])
    with pytest.raises(BadArgument, match="pairs of inputs"):
        matrix_mechanism(ROWS, inputs=["a", "b", "c"], adjacency=[("a", "z")])
    with pytest.raises(NotInDomain):
        matrix_mechanism(ROWS)(7)


def test_outputs_are_named_and_certain_rows_are_certain() -> None:
    measurement = matrix_mechanism([[1, 0], [0, 1]], inputs=["x", "y"], outputs=["left", "right"])
    assert measurement("y").value == "right"


def test_compare_finds_the_more_private_one() -> None:
    more, less = channel([[0.75, 0.25], [0.25, 0.75]]), channel([[0.9, 0.1], [0.1, 0.9]])
    assert compare(more, less).verdict is MorePrivate.LEFT
    assert compare(less, more).verdict is MorePrivate.RIGHT
    assert compare(more, more).verdict is MorePrivate.EQUAL
    found = compare(more, less)
    assert found.left == channel_epsilon(more) and found.right == channel_epsilon(less)


def test_compare_finds_curves_that_cross() -> None:
    """A low δ at small ε against none at large ε: name and shame against randomized response."""
    shame = channel([["0.95", "0.05", 0], ["0.95", 0, "0.05"]])
    response = channel([[0.6, 0.4], [0.4, 0.6]])
    found = compare(shame, response)
    assert found.verdict is MorePrivate.NEITHER
    assert found.left == math.inf


def test_the_corners_are_all_corners() -> None:
    """Between listed values both curves are straight lines: the middle of an interval is the mean of its ends."""
    left, right = channel(ROWS), channel([["0.7", "0.2", "0.1"], ["0.3", "0.3", "0.4"], ["0.2", "0.5", "0.3"]])
    corners = compare(left, right).corners
    for made, column in ((left, 1), (right, 2)):
        for one, two in itertools.pairwise(corners):
            middle = channel_delta_at(made, (one[0] + two[0]) / 2)
            assert middle == (one[column] + two[column]) / 2
        assert channel_delta_at(made, corners[-1][0] * 2) == corners[-1][column]


def test_curves_that_cross_between_two_ratios_are_told_apart() -> None:
    """Two pairs of rows take turns as the worst one inside an interval: looking at the ratios alone would miss it."""
    left = channel([["4/11", "3/11", "4/11"], ["2/7", "3/7", "2/7"], [0, "1/4", "3/4"]])
    right = channel([["3/7", "4/7", 0], ["4/7", "1/7", "2/7"]])
    found = compare(left, right)
    assert found.verdict is MorePrivate.NEITHER
    ratios = {
        a / b
        for made in (left, right)
        for row, other in made.pairs()
        for a, b in zip(row, other, strict=True)
        if b and a >= b
    }
    assert all(ours >= theirs for at, ours, theirs in found.corners if at in ratios | {1})
    assert any(ours < theirs for at, ours, theirs in found.corners if at not in ratios)
