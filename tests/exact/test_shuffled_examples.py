"""Every protocol that says how its reports hide each other: a few shuffled reports of devices, against what it says."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from fractions import Fraction
from functools import cache

import numpy as np
import pytest
from numpy.typing import NDArray
from tests.examples.local_laws import law_of, worst_ratio
from tests.examples.local_protocols import EXAMPLES, SMALL

from sfumato.accounting.amplify.protocols import protocol_delta
from sfumato.accounting.amplify.shuffle import shuffled_epsilon
from sfumato.accounting.events import Hiding, HidingAllOf, HidingOneOf
from sfumato.accounting.events.hiding import Hides
from sfumato.exact import exp_up
from sfumato.local.protocol import LocalProtocol

F = Fraction
SHARES = (F(0), F(1, 20), F(1, 5), F(1, 2), F(9, 10))
"""At which shares of the local ε the law is compared."""

MOST_OUTCOMES = 20_000
"""So many outcomes of shuffled reports are listed."""

SLACK = 1e-12
"""Sums of floats are off by less."""

Floats = NDArray[np.float64]


def rows_of(protocol: LocalProtocol[object], values: tuple[object, ...]) -> tuple[Floats, Fraction]:
    """The law of a report on each value, and the worst ratio."""
    laws = [law_of(protocol.recipe(), protocol.input_of(value)) for value in values]
    reports = sorted(set().union(*laws))
    rows = [[float(law.get(report, F(0))) for report in reports] for law in laws]
    return np.array(rows), worst_ratio(laws)


@cache
def outcomes(kinds: int, reports: int) -> tuple[NDArray[np.int64], Floats]:
    """All ways to have so many reports of so many kinds without order; how many orders of each are the same."""
    listed = np.array(list(itertools.combinations_with_replacement(range(kinds), reports)), dtype=np.int64)
    alike = [math.prod(math.factorial(int(n)) for n in np.unique(row, return_counts=True)[1]) for row in listed]
    return listed, np.array(alike, dtype=np.float64)


def shuffled(rows: Floats, inputs: tuple[int, ...]) -> Floats:
    """The chance of each outcome: a permanent, over all ways to say who sent what."""
    listed, alike = outcomes(rows.shape[1], len(inputs))
    total = np.zeros(len(listed))
    for order in itertools.permutations(range(len(inputs))):
        total += math.prod((rows[x][listed[:, place]] for x, place in zip(inputs, order, strict=True)), start=1.0)
    return total / alike


def worst(rows: Floats, reports: int, epsilons: list[Fraction]) -> list[float]:
    """The greatest divergence over all pairs of values and whatever all others have."""
    found = [0.0] * len(epsilons)
    for rest in itertools.combinations_with_replacement(range(len(rows)), reports - 1):
        laws = [shuffled(rows, (x, *rest)) for x in range(len(rows))]
        for left, right in itertools.permutations(laws, 2):
            for place, epsilon in enumerate(epsilons):
                found[place] = max(found[place], float(np.maximum(left - math.exp(epsilon) * right, 0).sum()))
    return found


def sizes(kinds: int, values: int) -> list[int]:
    """For how many reports everything can be listed in no time."""
    work = {n: math.comb(kinds + n - 1, n) * math.comb(values + n - 2, n - 1) * values**2 for n in (1, 2, 3, 4)}
    return [n for n in work if n == 1 or work[n] <= MOST_OUTCOMES * 100]


def check(rows: Floats, hiding: Hides) -> None:
    epsilons = [share * F(hiding.epsilon0) for share in SHARES]
    for reports in sizes(rows.shape[1], len(rows)):
        for epsilon, true in zip(epsilons, worst(rows, reports, epsilons), strict=True):
            assert true <= float(protocol_delta(hiding, reports, epsilon)) + SLACK, (reports, float(epsilon))


@pytest.mark.parametrize("name", EXAMPLES)
def test_examples_hide_as_well_as_they_say(name: str) -> None:
    protocol = EXAMPLES[name].build()
    if protocol.hiding is None:
        return
    rows, ratio = rows_of(protocol, EXAMPLES[name].values[:5])
    assert ratio <= F(exp_up(F(protocol.hiding.epsilon0)))
    assert protocol.hiding.epsilon0 <= F(protocol.loss.epsilon) * (1 + F(1, 10**6))
    check(rows, protocol.hiding)


def test_enough_examples_say_how_they_hide() -> None:
    assert sum(EXAMPLES[name].build().hiding is not None for name in SMALL) >= 6


def response(options: int, truth: str) -> tuple[Floats, Hiding]:
    lie = (1 - F(truth)) / (options - 1)
    rows = [[float(F(truth) if x == y else lie) for y in range(options)] for x in range(options)]
    return np.array(rows), Hiding.of_response(options, truth)


def one_of(weights: tuple[int, ...], *parts: tuple[Floats, Hides]) -> tuple[Floats, HidingOneOf]:
    """A report on one of several questions, for all ways to answer them."""
    shares = [weight / sum(weights) for weight in weights]
    rows = [
        np.concatenate([share * part[0][answer] for share, part, answer in zip(shares, parts, answers, strict=True)])
        for answers in itertools.product(*(range(len(part[0])) for part in parts))
    ]
    return np.array(rows), HidingOneOf(tuple(part[1] for part in parts), weights)


def all_of(*parts: tuple[Floats, Hiding]) -> tuple[Floats, HidingAllOf]:
    """A report on all of several questions, for all ways to answer them."""
    rows = [np.ones(1)]
    for part in parts:
        rows = [np.outer(row, more).ravel() for row in rows for more in part[0]]
    return np.array(rows), HidingAllOf(tuple(part[1] for part in parts))


BINARY, SURER, TERNARY = response(2, "3/5"), response(2, "9/10"), response(3, "1/2")
SET_OF_TWO = (
    np.array([[0.4, 0.4, 0.2], [0.4, 0.2, 0.4], [0.2, 0.4, 0.4]]),
    Hiding.of_subsets(3, 2, "4/5"),
)

SEVERAL: dict[str, Callable[[], tuple[Floats, Hides]]] = {
    "one of two": lambda: one_of((1, 1), BINARY, SURER),
    "one of two, seldom": lambda: one_of((1, 7), SURER, BINARY),
    "one of two, of three answers": lambda: one_of((2, 1), TERNARY, BINARY),
    "one of two whose hiding is not known": lambda: one_of((1, 2), (TERNARY[0], Hiding.of_epsilon("7/10")), BINARY),
    "all of two": lambda: all_of(BINARY, BINARY),
    "all of two, one of them surer": lambda: all_of(SURER, BINARY),
    "all of two, of three answers": lambda: all_of(SURER, TERNARY),
    "all of two, of sets": lambda: all_of(SURER, SET_OF_TWO),
    "all of three": lambda: all_of(BINARY, SURER, BINARY),
    "one of two, of which one is all of two": lambda: one_of((1, 1), all_of(BINARY, SURER), BINARY),
}


@pytest.mark.parametrize("name", SEVERAL)
def test_several_questions_hide_as_well_as_they_say(name: str) -> None:
    check(*SEVERAL[name]())


@pytest.mark.parametrize("name", ["one of two", "all of two"])
def test_several_questions_that_say_too_much_are_found_out(name: str) -> None:
    rows, hiding = SEVERAL[name]()
    wrong = HidingOneOf((BINARY[1], BINARY[1]), (1, 1)) if name == "one of two" else HidingAllOf((BINARY[1],))
    assert hiding.epsilon0 > wrong.epsilon0
    with pytest.raises(AssertionError):
        check(rows, wrong)


def binary_epsilon(truth: float, reports: int, delta: float) -> float:
    """The ε that shuffled binary responses really have, where the others answer alike: sums of two binomial numbers."""

    def divergence(epsilon: float, ones: int) -> float:
        counts = np.ones(1)
        for chance, many in ((truth, ones), (1 - truth, reports - 1 - ones)):
            places = np.arange(many + 1)
            logs = np.array([math.lgamma(many + 1) - math.lgamma(k + 1) - math.lgamma(many - k + 1) for k in places])
            masses = np.exp(logs + places * math.log(chance) + (many - places) * math.log(1 - chance))
            counts = np.convolve(counts, masses)
        left, right = (np.convolve(counts, [1 - up, up]) for up in (truth, 1 - truth))
        gains = (np.maximum(one - math.exp(epsilon) * other, 0).sum() for one, other in ((left, right), (right, left)))
        return float(max(gains))

    low, high = 0.0, math.log(truth / (1 - truth))
    for _ in range(30):
        middle = (low + high) / 2
        over = max(divergence(middle, ones) for ones in (0, reports - 1, reports // 2)) > delta
        low, high = (middle, high) if over else (low, middle)
    return low


@pytest.mark.parametrize(("epsilon0", "gap"), [("1/2", 1.13), ("1", 1.28), ("2", 1.7)])
def test_how_much_of_the_bound_binary_responses_reach(epsilon0: str, gap: float) -> None:
    """A thousand of them; the rest is what the bound holds back for other randomizers of that ε0."""
    truth = 1 / (1 + math.exp(-F(epsilon0)))
    ours, reached = float(shuffled_epsilon(F(epsilon0), reports=1000, delta=1e-8)), binary_epsilon(truth, 1000, 1e-8)
    assert 1 < ours / reached < gap


def third_value_epsilon(options: int, truth: float, reports: int, delta: float) -> float:
    """The ε that shuffled responses really have where all others hold one third value: counts of two of the options."""
    lie = (1 - truth) / (options - 1)
    logs = np.cumsum(np.log(np.maximum(np.arange(reports + 1), 1)))
    first, second = np.indices((reports, reports))
    rest = np.maximum(reports - 1 - first - second, 0)
    masses = logs[reports - 1] - logs[first] - logs[second] - logs[rest]
    masses = np.exp(masses + (first + second) * math.log(lie) + rest * math.log(1 - 2 * lie)) * (
        first + second < reports
    )
    laws = []
    for one, other in ((truth, lie), (lie, truth)):
        law = np.zeros((reports + 1, reports + 1))
        law[1:, :-1] += one * masses
        law[:-1, 1:] += other * masses
        law[:-1, :-1] += (1 - one - other) * masses
        laws.append(law)
    low, high = 0.0, math.log(truth / lie)
    for _ in range(40):
        middle = (low + high) / 2
        over = float(np.maximum(laws[0] - math.exp(middle) * laws[1], 0).sum()) > delta
        low, high = (middle, high) if over else (low, middle)
    return low


@pytest.mark.parametrize(("options", "gap"), [(3, 1.003), (10, 1.005)])
def test_the_bound_of_responses_with_more_options_is_reached(options: int, gap: float) -> None:
    """Five hundred of them, at ε0 = 1: next to nothing better can be proved."""
    truth = math.e / (math.e + options - 1)
    ours = float(shuffled_epsilon(Hiding.of_response(options, F(truth)), reports=500, delta=1e-6))
    reached = third_value_epsilon(options, truth, 500, 1e-6)
    assert reached <= ours < gap * reached
