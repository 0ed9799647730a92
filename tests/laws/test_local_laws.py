"""Laws of the local and δ-mechanisms on random data of every kind: total, in range, monotone, blind to order."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato.accounting.losses.measures import Approx
from sfumato.core.measurement import Measurement
from sfumato.core.metrics import AddRemove, ChangeOne, Discrete, Hamming, adjacent
from sfumato.core.space import scalar, vector
from sfumato.entropy import ReplayEntropy
from sfumato.errors import NoProvenRoute
from sfumato.mechanisms.integer_noise import binomial, censored_laplace, staircase
from sfumato.mechanisms.local_reports import local_laplace, local_mean_response
from sfumato.mechanisms.matrix_mechanism import Channel, channel, channel_delta_at, channel_epsilon, matrix_mechanism
from sfumato.mechanisms.name_and_shame import name_and_shame
from sfumato.mechanisms.propose_test_release import over_steps, private_mode
from sfumato.mechanisms.randomized_response import coin_flip_response, randomized_response
from sfumato.mechanisms.stability import stability_histogram
from sfumato.mechanisms.truncated import truncated_laplace, upper_estimate
from sfumato.textbook.matrix_comparison import MorePrivate, compare
from sfumato.transforms.mode_gap import mode_gap

UNIT = scalar(float, between=(0, 1), metric=Discrete())
MEASUREMENTS: dict[str, Measurement] = {
    "response": scalar(["a", "b", "c"]) >> randomized_response(epsilon=1),
    "column of responses": vector(bool, size=5) >> randomized_response(p="0.7"),
    "ordered responses": vector(bool, size=5, metric=Hamming()) >> randomized_response(p="0.7"),
    "exchanged responses": vector(bool, size=5, metric=AddRemove()) >> randomized_response(p="0.7"),
    "coins": scalar(bool) >> coin_flip_response(),
    "matrix": matrix_mechanism([["1/2", "1/2"], ["1/4", "3/4"]]),
    "matrix with delta": matrix_mechanism([["1/2", "1/2"], [0, 1]], epsilon=1),
    "clamped": scalar(int) >> censored_laplace(scale=2, between=(0, 9)),
    "stairs": scalar(int) >> staircase(epsilon=1, width=3),
    "binomial": scalar(int) >> binomial(64, epsilon="0.5"),
    "truncated": scalar(int) >> truncated_laplace(scale=2, reach=9),
    "above": scalar(int) >> upper_estimate(scale=2, reach=9),
    "histogram": vector(str) >> stability_histogram(scale=2, delta=1e-3),
    "histogram of a size": vector(str, size=9) >> stability_histogram(scale=2, delta=1e-3),
    "mode": vector(str) >> private_mode(scale=2, delta=1e-3),
    "mode of a size": vector(str, size=9) >> private_mode(scale=2, delta=1e-3),
    "shame": vector(["a", "b"]) >> name_and_shame("0.01"),
    "noisy report": UNIT >> local_laplace(epsilon=1),
    "rounded report": UNIT >> local_mean_response(epsilon=1),
}

NEEDS_BOUNDS = {"clamped", "stairs"}
"""Pure losses of additive noise: no theorem for neighbours that differ without limit."""

texts = st.text(max_size=3)
weights = st.lists(st.integers(0, 5), min_size=3, max_size=3).filter(any)
matrices = st.lists(weights, min_size=2, max_size=3).map(
    lambda rows: channel([[Fraction(entry, sum(row)) for entry in row] for row in rows])
)


@pytest.mark.parametrize("name", MEASUREMENTS)
@given(first=st.integers(0, 12), second=st.integers(0, 12))
def test_maps_are_monotone_and_start_at_nothing(name: str, first: int, second: int) -> None:
    measurement = MEASUREMENTS[name]
    near, far = sorted((first, second))
    assert measurement.map(near).within(measurement.map(far))
    if name in NEEDS_BOUNDS:
        with pytest.raises(NoProvenRoute, match="without limit"):
            measurement.map(math.inf)
    else:
        assert measurement.map(far).within(measurement.map(math.inf))
    assert measurement.map(0) == measurement.measure.nothing()


@given(left=st.lists(texts, max_size=8), right=st.lists(texts, max_size=8))
def test_the_gap_is_stable_on_any_texts(left: list[str], right: list[str]) -> None:
    gap = vector(str) >> mode_gap()
    distance = AddRemove().distance(left, right)
    assert abs(gap(left) - gap(right)) <= gap.map(distance)  # type: ignore[arg-type]
    assert gap.target.domain.member(gap(left))


@given(rows=st.lists(texts, min_size=1, max_size=8), place=st.integers(0, 7), other=texts)
def test_the_gap_is_stable_under_exchange(rows: list[str], place: int, other: str) -> None:
    changed = [*rows]
    changed[place % len(rows)] = other
    gap = vector(str, size=len(rows)) >> mode_gap()
    assert adjacent(rows, changed, metric=ChangeOne())
    assert abs(gap(rows) - gap(changed)) <= gap.map(1)


@given(rows=st.lists(texts, max_size=12), seed=st.integers(0, 2**32))
def test_what_is_released_on_texts_does_not_depend_on_their_order(rows: list[str], seed: int) -> None:
    """With the same coins, a column and its reverse give the same release: order reaches no outcome."""
    for made in (private_mode(scale=1, delta="0.4"), stability_histogram(scale=1, threshold=0)):
        measurement = vector(str) >> made
        one, two = (measurement(data, entropy=ReplayEntropy(seed)).value for data in (rows, rows[::-1]))
        assert one == two


@given(rows=st.lists(texts, max_size=12))
def test_histograms_name_only_what_is_there(rows: list[str]) -> None:
    release = (vector(str) >> stability_histogram(scale=1, threshold=1))(rows)
    keys = [key for key, _ in release.value]
    assert keys == sorted(set(keys)) and set(keys) <= set(rows)
    assert all(count > 1 for _, count in release.value)


@given(value=st.integers(-(10**30), 10**30))
def test_noise_is_total_on_integers_of_any_size(value: int) -> None:
    assert 0 <= (scalar(int) >> censored_laplace(scale=2, between=(0, 9)))(value).value <= 9
    assert abs((scalar(int) >> truncated_laplace(scale=2, reach=9))(value).value - value) <= 9
    assert 0 <= (scalar(int) >> upper_estimate(scale=2, reach=9))(value).value - value <= 18
    assert abs((scalar(int) >> binomial(64, epsilon=1))(value).value - value) <= 32
    assert isinstance((scalar(int) >> staircase(epsilon=1, width=3))(value).value, int)


@given(value=st.floats(0, 1))
def test_reports_are_total_on_floats_within_bounds(value: float) -> None:
    assert (UNIT >> local_mean_response(p="0.75"))(value).value in (True, False)
    assert math.isfinite((UNIT >> local_laplace(scale=1))(value).value)


@given(left=matrices, right=matrices)
def test_comparison_agrees_with_the_curves_everywhere(left: Channel, right: Channel) -> None:
    verdict = compare(left, right).verdict
    for ratio in (Fraction(1), Fraction(11, 10), Fraction(3, 2), Fraction(7, 3), Fraction(5), Fraction(60)):
        ours, theirs = channel_delta_at(left, ratio), channel_delta_at(right, ratio)
        if verdict in (MorePrivate.LEFT, MorePrivate.EQUAL):
            assert ours <= theirs
        if verdict in (MorePrivate.RIGHT, MorePrivate.EQUAL):
            assert theirs <= ours
    if verdict is MorePrivate.LEFT:
        assert channel_epsilon(left) <= channel_epsilon(right)


@given(made=matrices, low=st.fractions(1, 10), high=st.fractions(1, 10))
def test_delta_falls_as_epsilon_grows(made: Channel, low: Fraction, high: Fraction) -> None:
    low, high = sorted((low, high))
    assert channel_delta_at(made, high) <= channel_delta_at(made, low) <= 1


@given(epsilon=st.fractions(0, 5), delta=st.fractions(0, 1), steps=st.integers(1, 50))
def test_more_steps_cost_more(epsilon: Fraction, delta: Fraction, steps: int) -> None:
    one = Approx(epsilon, delta)
    assert over_steps(one, Fraction(steps)).within(over_steps(one, Fraction(steps + 1)))
    assert over_steps(one, Fraction(steps)).epsilon == steps * epsilon
