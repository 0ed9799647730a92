"""Reports of one person over time: laws of whole histories, by the device's own code, against the claimed losses."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from tests.examples.local_laws import falls_of, histories_law, law_of, worst_ratio
from tests.examples.local_protocols import AGAIN

from sfumato.accounting.losses.measures import Pure
from sfumato.exact import exp_down, exp_up
from sfumato.local.dbitflip import DBitFlip, dbitflip
from sfumato.local.device import REMEMBERING, VIEWS, Memory
from sfumato.local.filter_counts import DecodedTexts
from sfumato.local.lasting import LastingProtocol
from sfumato.local.memoised import Memoised, loloha, memoised
from sfumato.local.protocol import LocalProtocol, Tally
from sfumato.local.rappor import Rappor
from sfumato.local.response import Response
from sfumato.local.stages import BitsAgain, NumberAgain
from sfumato.local.tracked import Tracked, tracked
from sfumato.local.unary import UnaryEncoding
from sfumato.local.values import Values
from sfumato.local.windowed import Windowed

LASTING = tuple(name for name, example in AGAIN.items() if LastingProtocol in type(example.build()).__mro__)
YES = Values(["yes", "no"])


def lasting(name: str) -> LastingProtocol[Any]:
    protocol: Any = AGAIN[name].build()
    built: LastingProtocol[Any] = protocol
    return built


def limits(epsilon: Any) -> tuple[Fraction, Fraction]:
    """e^ε from below with a millionth of ε to spare, and from above."""
    claimed = Fraction(epsilon)
    return Fraction(exp_down(claimed * (1 - Fraction(1, 10**6)))), Fraction(exp_up(claimed))


@pytest.mark.parametrize("name", LASTING)
def test_the_loss_of_a_permanent_report_is_kept_and_reached(name: str) -> None:
    protocol = lasting(name)
    inputs = [protocol.input_of(value) for value in AGAIN[name].values]
    worst = worst_ratio([law_of(protocol.permanent_recipe(), one) for one in inputs])
    low, high = limits(protocol.permanent_loss.epsilon)
    assert low <= worst <= high
    assert protocol.lifetime_loss() == protocol.permanent_loss
    assert protocol.loss.epsilon <= protocol.permanent_loss.epsilon


@pytest.mark.parametrize("name", LASTING)
def test_the_first_report_with_a_memory_has_the_law_of_one_without(name: str) -> None:
    protocol = lasting(name)
    given = protocol.input_of(AGAIN[name].values[0])
    with_memory = {sent[0]: mass for sent, mass in histories_law(protocol.recipe(), [given]).items()}
    assert with_memory == law_of(protocol.recipe(), given)


SMALL = ("remembered response", "basic RAPPOR", "two buckets", "one bit of a window")


def laws_of_frequencies(protocol: LastingProtocol[Any], given: Any, times: int) -> dict[Any, Fraction]:
    """The law of the numbers of equal messages among so many of one value: all that they tell of it."""
    totals: dict[Any, Fraction] = {}
    for permanent, mass in law_of(protocol.permanent_recipe(), given).items():
        instant = sorted(law_of(protocol.again.recipe(protocol.layout), permanent).items())
        for counts in compositions(times, len(instant)):
            chance, ways = mass, math.factorial(times)
            for count, (_, one) in zip(counts, instant, strict=True):
                chance, ways = chance * one**count, ways // math.factorial(count)
            seen = tuple((report, count) for count, (report, _) in zip(counts, instant, strict=True) if count)
            totals[seen] = totals.get(seen, Fraction(0)) + ways * chance
    return totals


def compositions(total: int, parts: int) -> list[tuple[int, ...]]:
    if parts == 1:
        return [(total,)]
    return [(first, *rest) for first in range(total + 1) for rest in compositions(total - first, parts - 1)]


@pytest.mark.parametrize("name", SMALL)
def test_a_lifetime_of_one_value_costs_its_permanent_report_and_no_more(name: str) -> None:
    """For ever more messages the loss rises from that of one towards that of a lifetime, and stays below it."""
    protocol = lasting(name)
    inputs = [protocol.input_of(value) for value in AGAIN[name].values[:2]]
    _, high = limits(protocol.lifetime_loss().epsilon)
    worst = [worst_ratio([laws_of_frequencies(protocol, one, times) for one in inputs]) for times in (1, 2, 3, 4)]
    assert worst == sorted(worst) and worst[0] < worst[-1] <= high
    for times in (1, 2):
        device = worst_ratio([histories_law(protocol.recipe(), [one] * times) for one in inputs])
        assert device == worst[times - 1]


def test_the_loss_of_a_lifetime_is_what_many_messages_come_to() -> None:
    protocol = memoised(Response(YES, Pure(2)), report=1)
    assert isinstance(protocol.again, NumberAgain)
    losses = []
    for times in (1, 4, 16, 64):
        worst = worst_ratio([laws_of_frequencies(protocol, one, times) for one in (0, 1)])
        losses.append(math.log(worst))
    assert losses == sorted(losses) and losses[0] == pytest.approx(1) and 1.99999 < losses[-1] < 2
    anew = worst_ratio([law_of(protocol.recipe(), one) for one in (0, 1)]) ** 4
    assert math.log(anew) == pytest.approx(4), "without a memory each report costs its loss anew"


def alike(one: tuple[Any, ...], two: tuple[Any, ...]) -> bool:
    pairs = list(itertools.combinations(range(len(one)), 2))
    return all((one[a] == one[b]) == (two[a] == two[b]) for a, b in pairs)


@pytest.mark.parametrize("name", ["remembered response", "remembered response, the same again"])
def test_histories_that_change_alike_cost_a_permanent_report_for_each_value(name: str) -> None:
    protocol = lasting(name)
    laws = {history: histories_law(protocol.recipe(), history) for history in itertools.product(range(3), repeat=3)}
    reached = Fraction(0)
    for one, two in itertools.combinations(laws, 2):
        if alike(one, two):
            different = len(set(one))
            worst = worst_ratio([laws[one], laws[two]])
            assert worst <= limits(protocol.lifetime_loss(values=different).epsilon)[1]
            if different == 3:
                reached = max(reached, worst)
    if name.endswith("same again"):
        assert reached >= limits(protocol.lifetime_loss(values=3).epsilon)[0]


def test_buckets_that_change_alike_cost_as_many_permanent_reports_as_there_are_buckets() -> None:
    """LOLOHA: given the seed, buckets are what is remembered, and of two of them there are two reports at most."""
    protocol = loloha(range(4), lifetime=2, report=1, buckets=2)
    assert protocol.lifetime_loss(values=100) == Pure(4) == protocol.lifetime_loss(values=2)
    recipe = protocol.permanent_recipe()
    for seed in range(recipe["choices"]):
        buckets = [VIEWS["hashed"](recipe, seed, value) for value in range(4)]
        histories = list(itertools.product(range(4), repeat=2))
        laws = {history: permanent_law(protocol, seed, history) for history in histories}
        for one, two in itertools.combinations(histories, 2):
            seen = [tuple(buckets[value] for value in history) for history in (one, two)]
            if alike(*seen):
                assert worst_ratio([laws[one], laws[two]]) <= limits(protocol.lifetime_loss(values=2).epsilon)[1]


def permanent_law(protocol: Memoised, seed: int, history: tuple[int, ...]) -> dict[Any, Fraction]:
    """The law of permanent reports over a history, given the seed that the device has drawn."""
    recipe = {**protocol.recipe(), "instant": {"kind": "same again", "cells": protocol.layout.cells, "bits": 0}}
    whole = histories_law(recipe, history)
    part = {sent: mass for sent, mass in whole.items() if sent[0][0] // 2 == seed}
    return {sent: mass / sum(part.values()) for sent, mass in part.items()}


def test_that_a_value_changed_is_not_hidden_by_remembering_it() -> None:
    """What no lifetime loss of remembered reports covers: messages that no unchanged value could have made."""
    protocol = memoised(Response(YES, Pure(2)))
    stayed, changed = (histories_law(protocol.recipe(), history) for history in ((0, 0), (0, 1)))
    assert set(changed) - set(stayed)
    with pytest.raises(ValueError, match="tracked"):
        protocol.history_loss(reports=2)


@pytest.mark.parametrize("name", ["remembered response", "basic RAPPOR", "two buckets", "one bit of a window"])
def test_any_two_histories_cost_the_second_stage_for_each_message(name: str) -> None:
    protocol = lasting(name)
    inputs = [protocol.input_of(value) for value in AGAIN[name].values[:2]]
    for times in (1, 2):
        laws = [histories_law(protocol.recipe(), history) for history in itertools.product(inputs, repeat=times)]
        assert worst_ratio(laws) <= limits(protocol.history_loss(reports=times).epsilon)[1]


def test_between_two_permanent_reports_the_second_stage_is_as_told() -> None:
    bits, number = BitsAgain(3 << 51, 1 << 50), NumberAgain(3, 1 << 52)
    for stage, layout, every in (
        (bits, UnaryEncoding.optimized(YES, Pure(1)).layout, [(0, bits) for bits in range(4)]),
        (number, Response(Values(range(3)), Pure(1)).layout, [(place, 0) for place in range(3)]),
    ):
        between = stage.between(layout)
        assert between is not None
        low, high = limits(between.epsilon)
        assert low <= worst_ratio([law_of(stage.recipe(layout), one) for one in every]) <= high


def test_every_window_of_steps_costs_one_report() -> None:
    protocol = Windowed(Response(YES, Pure("0.5")), 2)
    recipe, steps = protocol.recipe(), range(5)
    laws = {
        history: histories_law(recipe, list(zip(steps, history, strict=True)))
        for history in itertools.product(range(2), repeat=len(steps))
    }
    for first, last in itertools.combinations(range(len(steps) + 1), 2):
        windows = [marginal(law, first, last) for law in laws.values()]
        low, high = limits(protocol.window_loss(steps=last - first).epsilon)
        assert low <= worst_ratio(windows) <= high
    assert protocol.window_loss(steps=5) == Pure("1.5")


def marginal(law: dict[Any, Fraction], first: int, last: int) -> dict[Any, Fraction]:
    part: dict[Any, Fraction] = {}
    for sent, mass in law.items():
        part[sent[first:last]] = part.get(sent[first:last], Fraction(0)) + mass
    return part


@pytest.mark.parametrize(("steps", "changes"), [(4, 1), (4, 2), (4, 3)])
def test_all_messages_of_a_tracked_history_cost_one_loss(steps: int, changes: int) -> None:
    """Histories of every kind, with more changes than counted too: the joint law of the messages of all steps."""
    protocol = tracked(steps=steps, changes=changes, loss=1)
    laws = []
    for history in itertools.product(range(2), repeat=steps):
        told = [list(history[: step + 1]) for step in range(steps)]
        law = histories_law(protocol.recipe(), told)
        ends = marginal(law, steps - 1, steps)
        assert {sent[0]: mass for sent, mass in ends.items()} == law_of(protocol.recipe(), list(history))
        laws.append(law)
    low, high = limits(1)
    assert low <= worst_ratio(laws) <= high


def moments(protocol: LocalProtocol[Any], value: Any, read: Any) -> tuple[Any, Any]:
    """Mean and second moment, over all falls, of what an estimate makes of one report."""
    given, mean, second = protocol.input_of(value), 0.0, 0.0
    for (cell, bits), mass in law_of(protocol.recipe(), given).items():
        sums = np.zeros((protocol.layout.cells, 1 + protocol.layout.bits), dtype=np.int64)
        sums[cell] = [1, *(bits >> place & 1 for place in range(protocol.layout.bits))]
        seen = read(protocol.estimate(Tally(protocol.head, protocol.layout, sums)))
        mean, second = mean + float(mass) * seen, second + float(mass) * np.multiply(seen, seen)
    return mean, second


@pytest.mark.parametrize("name", [name for name in AGAIN if isinstance(AGAIN[name].build(), Memoised | DBitFlip)])
def test_counts_of_values_are_unbiased_with_exact_variance(name: str) -> None:
    example, protocol = AGAIN[name], AGAIN[name].build()
    assert isinstance(protocol, Memoised | DBitFlip)
    for place, value in enumerate(example.values):
        mean, second = moments(protocol, value, lambda counts: counts.counts)
        truth = np.arange(len(example.values)) == place
        assert mean == pytest.approx(truth.astype(float), abs=1e-9)
        variances = [float(protocol.variance(users=1, count=int(counted))) for counted in truth]
        assert second - mean**2 == pytest.approx(variances, rel=1e-9)


def test_counts_of_texts_are_unbiased_with_exact_variance() -> None:
    protocol = Rappor(4, 1, 2, 3 << 51)
    texts = next(
        pair
        for pair in itertools.combinations(map(str, range(50)), 2)
        if len({protocol.filled(one, cohort)[0] for one in pair for cohort in range(1)}) == 2
        and len({protocol.filled(one, 1)[0] for one in pair}) == 1
    )

    def decoded(counts: Any) -> Any:
        found: DecodedTexts = counts.decode(texts)
        parts.append(found)
        return found.counts

    parts: list[DecodedTexts] = []
    for text in texts:
        mean, second = moments(protocol, text, decoded)
        assert mean == pytest.approx([float(one == text) for one in texts], abs=1e-9)
        assert second - mean**2 == pytest.approx(parts[-1].variance({text: 1}), rel=1e-9)


@pytest.mark.parametrize("protocol", [Tracked(4, 1, Pure(1)), Tracked(4, 2, Pure(2)), Tracked(2, 2, Pure(8))])
def test_tracked_counts_are_unbiased_with_exact_variance(protocol: Tracked) -> None:
    for history in itertools.product(range(2), repeat=protocol.steps):
        if sum(a != b for a, b in itertools.pairwise((0, *history))) > protocol.changes:
            continue
        mean, second = moments(protocol, list(history), lambda counts: counts.counts)
        assert mean == pytest.approx([float(bit) for bit in history], abs=1e-9)
        exact = [float(protocol.variance(step=step, users=1, count=bit)) for step, bit in enumerate(history, start=1)]
        assert second - mean**2 == pytest.approx(exact, rel=1e-9)


def test_published_parameters_of_rappor_have_the_published_losses() -> None:
    """h ln(q*(1 − p*)/((1 − q*)p*)) and 2h ln((1 − f/2)/(f/2)), by hand."""
    protocol = Rappor.published(f="0.5", p="0.5", q="0.75", bits=128, hashes=2, cohorts=8)
    p_star, q_star = 0.25 * (0.5 + 0.75) + 0.5 * 0.5, 0.25 * (0.5 + 0.75) + 0.5 * 0.75
    assert float(protocol.permanent_loss.epsilon) == pytest.approx(4 * math.log(3))
    expected = 2 * math.log(q_star * (1 - p_star) / (p_star * (1 - q_star)))
    assert float(protocol.loss.epsilon) == pytest.approx(expected)


def test_texts_that_share_bits_are_told_apart_less() -> None:
    protocol = Rappor.published(f="0.25", bits=4, hashes=2, cohorts=1)
    filters = {str(number): frozenset(protocol.filled(str(number), 0)) for number in range(60)}
    sharing = next(pair for pair in itertools.combinations(filters, 2) if len(filters[pair[0]] & filters[pair[1]]) == 1)
    worst = worst_ratio([law_of(protocol.recipe(), text) for text in sharing])
    assert worst < limits(protocol.loss.epsilon)[0]


def test_a_window_of_one_bit_spends_all_of_its_loss_on_it() -> None:
    one, two = dbitflip(range(4), bits=1, lifetime=2), dbitflip(range(4), bits=2, lifetime=2)
    assert one.truth > two.truth and float(one.permanent_loss.epsilon) == pytest.approx(2)
    assert float(two.permanent_loss.epsilon) == pytest.approx(2)


def test_a_memory_that_draws_anew_is_noticed() -> None:
    """A device that forgets pays for every report: the enumeration sees it."""
    protocol = memoised(Response(YES, Pure(1)))
    recipe, laws = protocol.recipe(), []
    for given in (0, 1):
        once = law_of(recipe, given)
        laws.append({(one, two): once[one] * once[two] for one in once for two in once})
    assert worst_ratio(laws) > limits(protocol.lifetime_loss().epsilon)[1]


def test_two_steps_of_one_turn_are_one_report() -> None:
    """Asked twice in a step, a device sends the same; asked for an earlier step, it refuses."""
    protocol = Windowed(Response(YES, Pure(1)), 1)

    def asked_twice(coins: Any) -> list[Any]:
        memory = opened(protocol)
        sent = [REMEMBERING["in turn"](protocol.recipe(), [3, value], coins, memory) for value in (0, 1)]
        with pytest.raises(ValueError, match="steps go forward"):
            REMEMBERING["in turn"](protocol.recipe(), [2, 0], coins, memory)
        return sent

    for sent, _ in falls_of(asked_twice):
        assert sent[0] == sent[1]


def opened(protocol: LocalProtocol[Any]) -> Memory:
    memory = Memory()
    memory.open(protocol.recipe())
    return memory
