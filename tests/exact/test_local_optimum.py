"""The least error of counting values: no channel beats it, subset selection has it, and what is chosen is near it."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction
from typing import Any, cast

import numpy as np
import pytest
from numpy.typing import NDArray
from tests.examples.local_laws import law_of
from tests.examples.local_protocols import EXAMPLES

from sfumato.accounting.losses.measures import Pure
from sfumato.errors import BadArgument
from sfumato.local import GeometryResponse, SubsetSelection, Values, candidates, frequencies, least_error
from sfumato.local.choosing import CANDIDATES
from sfumato.local.fields import fitting
from sfumato.local.frequency import FrequencyProtocol
from sfumato.local.geometry import MOST_VECTORS, best_order
from sfumato.local.optimum import best_set, set_weight

Channel = NDArray[np.float64]


BUILT = {name: example.build() for name, example in EXAMPLES.items()}
FREQUENCY = tuple(name for name, protocol in BUILT.items() if FrequencyProtocol in type(protocol).__mro__)


def built(name: str) -> FrequencyProtocol:
    protocol: Any = BUILT[name]
    return cast(FrequencyProtocol, protocol)


@pytest.mark.parametrize("name", FREQUENCY)
def test_the_mean_squared_error_is_that_of_the_whole_law(name: str) -> None:
    protocol = built(name)
    size, gain = len(protocol.values), protocol.supports_truth - protocol.supports_other
    for value in range(size):
        error = Fraction(0)
        for (cell, bits), mass in law_of(protocol.recipe(), value).items():
            sums = np.zeros((protocol.layout.cells, 1 + protocol.layout.bits), dtype=np.int64)
            sums[cell] = [1, *(bits >> place & 1 for place in range(protocol.layout.bits))]
            for place, supported in enumerate(protocol.support(sums)):
                error += mass * ((int(supported) - protocol.supports_other) / gain - (place == value)) ** 2
        assert error / size == protocol.mean_squared_error(users=1)


@pytest.mark.parametrize("name", [name for name in FREQUENCY if built(name).hiding is not None])
def test_what_is_said_of_hiding_is_what_the_laws_show(name: str) -> None:
    """For each pair of values: the chance of all reports that are likelier under the one, under both."""
    protocol = built(name)
    assert protocol.hiding is not None
    _, likely, unlikely = protocol.hiding.atoms[0]
    laws = [law_of(protocol.recipe(), value) for value in range(len(protocol.values))]
    for one, two in itertools.permutations(laws, 2):
        apart = [(one[report], two[report]) for report in one if one[report] > two[report]]
        assert sum(first for first, _ in apart) == likely
        assert sum(second for _, second in apart) == unlikely
    reports = set().union(*laws)
    assert sum(min(law[report] for law in laws) for report in reports) >= protocol.hiding.blanket


def channel_error(channel: Channel) -> float:
    """The least mean squared error of unbiased counts of one person, as a mean over values, for rows P(· | value)."""
    size = len(channel)
    weighed = channel / channel.mean(axis=0)
    return (float(np.trace(np.linalg.inv(weighed @ channel.T))) - 1) / size


@pytest.mark.parametrize("size", [2, 3, 5])
@pytest.mark.parametrize("epsilon", [0.2, 1.0, 3.0])
def test_no_channel_beats_the_least_error(size: int, epsilon: float) -> None:
    """Random mixtures of reports that are up to e^ε times as likely for some values as for others."""
    generator = np.random.default_rng(7)
    least = float(least_error(size, loss=epsilon, users=1))
    patterns = np.array(list(itertools.product([1.0, math.exp(epsilon)], repeat=size)))[1:-1].T
    near, kinds = math.inf, patterns.shape[1]
    mixed = [generator.dirichlet(np.full(kinds, alike)) for alike in (0.1, 1, 10) for _ in range(100)]
    for weights in (*mixed, *(np.eye(kinds) + 1e-6)):
        channel = np.concatenate([patterns[order] * weights for order in rolled(size)], axis=1)
        error = channel_error(channel / channel.sum(axis=1, keepdims=True))
        assert error >= least * (1 - 1e-9)
        near = min(near, error / least)
    assert near < 1.1


def rolled(size: int) -> list[list[int]]:
    """Orders of values that, taken together, make the chances of a channel add up for each."""
    return [[(place + by) % size for place in range(size)] for by in range(size)]


@pytest.mark.parametrize("size", [2, 3, 4, 7, 12, 1000])
@pytest.mark.parametrize("epsilon", ["0.01", "0.5", "1", "2", "5", "12"])
def test_subset_selection_has_the_least_error_and_no_other_size_does(size: int, epsilon: str) -> None:
    least = least_error(size, loss=epsilon, users=10)
    chosen = SubsetSelection(Values(range(size)), Pure(Fraction(epsilon)))
    assert least <= chosen.mean_squared_error(users=10) <= least * (1 + Fraction(1, 10**9))
    for other in range(1, size) if size < 20 else (1, chosen.layout.ones or 0, size // 2, size - 1):
        protocol = SubsetSelection(Values(range(size)), Pure(Fraction(epsilon)), other)
        assert protocol.mean_squared_error(users=10) >= chosen.mean_squared_error(users=10) * (1 - Fraction(1, 10**9))


def test_subset_selection_of_one_is_randomized_response() -> None:
    one, response = (CANDIDATES[name](Values(range(4)), Pure(2)) for name in ("subset selection", "response"))
    assert one.layout.ones == 1 and best_set(4, Fraction(2)) == 1
    assert float(one.supports_truth - response.supports_truth) == pytest.approx(0, abs=1e-15)
    assert float(one.supports_other - response.supports_other) == pytest.approx(0, abs=1e-15)


GRID = [
    (size, epsilon, users)
    for size in (2, 3, 8, 30, 100, 1000, 10_000)
    for epsilon in ("0.1", "0.5", "1", "2", "4", "8")
    for users in (1, 100_000)
]


@pytest.mark.parametrize(("size", "epsilon", "users"), GRID)
def test_what_is_chosen_is_near_the_least_error_in_the_shortest_message(size: int, epsilon: str, users: int) -> None:
    every = candidates(range(size), loss=epsilon, users=users)
    least = least_error(size, loss=epsilon, users=users)
    errors = [one.protocol.mean_squared_error(users=users) for one in every]
    assert len(every) == len(CANDIDATES)
    assert all(error >= least for error in errors)
    assert errors[0] <= least * Fraction(102, 100)
    assert all(
        one.message_bytes >= every[0].message_bytes
        for one, error in zip(every, errors, strict=True)
        if error <= Fraction(102, 100) * min(errors)
    )
    assert frequencies(range(size), loss=epsilon, users=users) == every[0].protocol


@pytest.mark.parametrize("size", [3, 30, 1000])
@pytest.mark.parametrize("epsilon", ["0.1", "1", "2.5", "5"])
def test_the_order_of_the_field_is_the_best(size: int, epsilon: str) -> None:
    orders = [order for order, _ in fitting(size, MOST_VECTORS, extra=0)]
    values, loss = Values(range(size)), Pure(Fraction(epsilon))
    errors = {order: GeometryResponse(values, loss, order).mean_squared_error(users=1) for order in orders}
    assert errors[best_order(size, float(epsilon))] <= min(errors.values()) * (1 + Fraction(1, 10**9))


def test_chances_of_sets_are_rounded_down_and_never_past_the_middle() -> None:
    for inside, outside in ((1, 1), (1, 2), (341, 1024), (1, 10**6)):
        weight = set_weight(Fraction(1), inside, outside)
        exact = 1 / (1 + math.exp(-1) * outside / inside)
        assert 0 <= exact * 2**53 - weight < 2 + exact * 2**4
        with pytest.raises(BadArgument, match=r"multiples of 2\^-53"):
            set_weight(Fraction(1, 10**30), inside, outside + 2)
