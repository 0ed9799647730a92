"""Means of vectors from single directions: unbiased, as far off as stated, and clear about what they refuse."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from sfumato.accounting.losses.measures import Pure
from sfumato.entropy import ReplayEntropy
from sfumato.errors import BadArgument
from sfumato.local import vectors
from sfumato.local.device import Client
from sfumato.local.device.directions import direction
from sfumato.local.direction_plans import best_plan, gains, greatest_gain
from sfumato.local.vectors import VectorMean, directions_of, near_weight

Rows = NDArray[np.float64]
PEOPLE = 20_000


def rows(size: int) -> Rows:
    """Vectors of many lengths, some of them 0 and some too long."""
    made = np.random.default_rng(3).normal(size=(PEOPLE, size)) + np.linspace(-1, 2, size)
    made *= np.linspace(0, 3, PEOPLE)[:, None] / np.linalg.norm(made, axis=1)[:, None]
    return made


def shortened(made: Rows, radius: float) -> Rows:
    lengths = np.linalg.norm(made, axis=1)
    held: Rows = made * np.minimum(1, radius / np.maximum(lengths, 1e-300))[:, None]
    return held


@pytest.mark.parametrize("epsilon", ["0.5", "2", "6"])
@pytest.mark.parametrize("size", [1, 2, 7, 30])
def test_the_mean_is_as_near_as_its_deviations_say(size: int, epsilon: str) -> None:
    protocol = vectors(size, radius=2, loss=epsilon, users=PEOPLE, key=size)
    made = rows(size)
    estimate = protocol.aggregate(protocol.randomize_many(made, entropy=ReplayEntropy(7)))
    held = shortened(made, 2)
    assert np.abs((estimate.mean - held.mean(axis=0)) / estimate.deviations).max() < 6.5
    stated = float(protocol.variance(users=PEOPLE)) - float(np.square(held.mean(axis=0)).sum()) / PEOPLE
    assert float(np.square(estimate.deviations).sum()) == pytest.approx(stated, rel=0.06)


def test_a_gain_that_is_off_by_a_tenth_would_be_noticed() -> None:
    protocol, made = vectors(5, radius=1, loss=8, users=PEOPLE, key=1), np.tile([0.6, 0, 0, 0, 0.8], (PEOPLE, 1))
    estimate = protocol.aggregate(protocol.randomize_many(made, entropy=ReplayEntropy(8)))
    assert np.abs((estimate.mean - made[0]) / estimate.deviations).max() < 6
    assert np.abs((1.1 * estimate.mean - made[0]) / estimate.deviations).max() > 8


def test_one_vector_of_all_is_found_and_a_sum_of_shards_is_the_whole() -> None:
    protocol = vectors(3, radius=1, loss=4, users=PEOPLE, key=2)
    reports = protocol.randomize_many(np.tile([0.0, -1, 0], (PEOPLE, 1)), entropy=ReplayEntropy(3))
    messages = reports.messages()
    halves = protocol.tally(messages[:9000]) + protocol.tally(messages[9000:])
    estimate = protocol.aggregate(halves)
    assert np.array_equal(estimate.mean, protocol.aggregate(reports).mean)
    assert np.abs(estimate.mean - [0, -1, 0]).max() < 6.5 * estimate.deviations.max()
    assert float(np.linalg.norm(estimate.within())) <= 1 + 1e-12
    low, high = estimate.interval(0.99)
    assert (low < estimate.mean).all() and (estimate.mean < high).all()
    assert str(estimate).startswith("the mean of 20000 vectors of 3 entries up to 1, ε = 4")


def test_devices_and_collectors_have_the_same_directions() -> None:
    for size in (1, 2, 5):
        cells = np.array([0, 1, 77, (1 << 24) - 1])
        made = directions_of((1 << 53) - 1, cells, size)
        own = [direction((1 << 53) - 1, int(cell), size) for cell in cells]
        assert np.allclose(made, own, rtol=1e-12, atol=1e-12)


def test_directions_are_normal_numbers() -> None:
    made = directions_of(5, np.arange(200_000), 3)
    assert np.abs(made.mean(axis=0)).max() < 6 / math.sqrt(200_000)
    assert np.abs(np.cov(made.T) - np.eye(3)).max() < 6 * math.sqrt(2 / 200_000)
    assert abs((made**4).mean() - 3) < 6 * math.sqrt(96 / 600_000)


def test_the_mean_of_the_largest_normal_numbers() -> None:
    """Known values: of 2 the larger has 1/√π; of 3, 3/(2√π); of 5, 1.16296."""
    for many, mean in ((2, 1 / math.sqrt(math.pi)), (3, 1.5 / math.sqrt(math.pi)), (5, 1.162964473640519)):
        found = gains(many, 1, 1.0)
        assert found.gain == pytest.approx(mean, rel=1e-9)
    assert gains(7, 3, 3 / 7).gain == pytest.approx(0, abs=1e-12)
    assert gains(7, 3, 3 / 7).along == pytest.approx(1, rel=1e-9)


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 4.0, 8.0])
def test_plans_are_near_the_best_randomizer_there_is(epsilon: float) -> None:
    """Asi, Feldman, Talwar 2022: for large sizes no unbiased report has less error than 1 / gain² of PrivUnitG."""
    for users in (1_000, 50_000):
        plan = best_plan(epsilon, users)
        cells = plan.groups * plan.directions
        assert plan.error * users * greatest_gain(epsilon)[0] ** 2 < (1.05 if epsilon <= 4 else 2)
        assert cells <= 1 << 24


@pytest.mark.parametrize(
    "wrong",
    [[1, 2], [1, 2, 3, 4], [1, 2, math.nan], [1, 2, math.inf], ["a", 1, 2], None, 5, [1, 2, 10**400], [[1, 2, 3]]],
)
def test_what_is_no_vector_is_refused_without_showing_it(wrong: Any) -> None:
    protocol = vectors(3, radius=1, loss=1, users=10, key=1)
    with pytest.raises(BadArgument, match="a list of 3 finite numbers") as refused:
        protocol.randomize(wrong)
    assert "nan" not in str(refused.value) and "10000" not in str(refused.value)
    with pytest.raises(BadArgument, match="a table of finite numbers with 3 columns"):
        protocol.randomize_many([wrong])


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({"size": 0}, "size must be a whole number"),
        ({"radius": 0}, "radius must be"),
        ({"radius": "1e-400"}, "between 1e-300 and 1e300"),
        ({"radius": math.inf}, "radius must be"),
        ({"loss": 0}, "the epsilon of a report"),
        ({"loss": 25}, "the epsilon of a report"),
        ({"users": 0}, "users must be"),
        ({"key": -1}, "key must be"),
    ],
)
def test_bad_plans_are_refused(given: dict[str, Any], says: str) -> None:
    asked: dict[str, Any] = {"size": 3, "radius": 1, "loss": 1, "users": 10, "key": 1} | given
    with pytest.raises(BadArgument, match=says):
        vectors(asked.pop("size"), **asked)


def test_nobody_and_one_person() -> None:
    protocol = vectors(2, radius=1, loss=1, users=10, key=1)
    nobody = protocol.aggregate([])
    assert nobody.users == 0 and np.isnan(nobody.mean).all() and np.isnan(nobody.deviations).all()
    one = protocol.aggregate([protocol.randomize([0.3, 0.4], entropy=ReplayEntropy(1))])
    assert np.isfinite(one.mean).all() and np.isnan(one.deviations).all()
    assert protocol.randomize_many([], entropy=ReplayEntropy(1)).messages() == []
    assert protocol.randomize_many(np.zeros((2, 2)), entropy=ReplayEntropy(1)).cells.shape == (2,)


def test_huge_and_tiny_entries_keep_their_direction() -> None:
    protocol = vectors(2, radius="1e200", loss=1, users=10, key=1)
    scaled, weight = protocol.input_of([3e250, -4e250])
    assert scaled == [0.75, -1.0] and weight == 1 << 53
    scaled, weight = protocol.input_of([3e-300, 4e-300])
    assert scaled == [0.75, 1.0] and weight == 1 << 52
    assert protocol.input_of([0, 0]) == [[0.0, 0.0], 1 << 52]
    many = protocol.inputs_of([[3e250, -4e250], [3e-300, 4e-300], [0, 0]])
    assert many[0].tolist() == [[0.75, -1.0], [0.75, 1.0], [0, 0]] and many[1].tolist() == [1 << 53, 1 << 52, 1 << 52]


def test_a_client_shortens_what_is_too_long() -> None:
    protocol = vectors(2, radius=1, loss=1, users=10, key=1)
    client = Client.read(protocol.publish())
    assert client.reader([30, 40]) == protocol.input_of([30, 40]) == [[0.75, 1.0], 1 << 53]
    with pytest.raises(ValueError, match="a list of 2 finite numbers"):
        client.reader([True, 1])


def test_the_key_is_drawn_unless_it_is_given() -> None:
    first, second = (vectors(2, radius=1, loss=1, users=10) for _ in range(2))
    assert first.key != second.key and first.head != second.head


def test_shuffled_vectors_cost_less_than_any_randomizer_of_their_loss() -> None:
    from sfumato.local import shuffled

    protocol = vectors(10, radius=1, loss=2, users=10_000, key=1)
    assert shuffled(protocol, users=10_000).central_loss(delta=1e-8).epsilon < Fraction(1, 4)


def test_a_chance_that_is_too_large_is_more_than_the_loss() -> None:
    weight = near_weight(Fraction(1), 8, 2)
    for more, kept in ((0, True), (1 << 20, False)):
        odds = Fraction((weight + more) * 6, ((1 << 53) - weight - more) * 2)
        assert (odds <= Fraction(math.e)) is kept
    with pytest.raises(BadArgument):
        VectorMean(2, Fraction(1), Pure(1), 1, 4, 4, 0)
