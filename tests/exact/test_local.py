"""Reports of devices: the whole law, over all pairs of values, against the claimed loss and the claimed support."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction

import numpy as np
import pytest
from tests.examples.local_laws import law_of, worst_ratio
from tests.examples.local_protocols import EXAMPLES, LOSSES, SIZES, SMALL

from sfumato.accounting.losses.measures import Pure
from sfumato.entropy import ReplayEntropy
from sfumato.exact import exp_down, exp_up
from sfumato.local.choosing import CANDIDATES
from sfumato.local.device import OctetCoins
from sfumato.local.frequency import FrequencyProtocol
from sfumato.local.reports import Reports
from sfumato.local.response import truth_weight
from sfumato.local.unary import bits_loss
from sfumato.local.values import Values


def built(name: str, size: int, epsilon: str) -> FrequencyProtocol:
    return CANDIDATES[name](Values(range(size)), Pure(Fraction(epsilon)))


@pytest.mark.parametrize("name", EXAMPLES)
def test_the_loss_is_kept_and_reached(name: str) -> None:
    example, protocol = EXAMPLES[name], EXAMPLES[name].build()
    laws = [law_of(protocol.recipe(), protocol.input_of(value)) for value in example.values]
    assert all(sum(law.values()) == 1 for law in laws)
    worst, claimed = worst_ratio(laws), Fraction(protocol.loss.epsilon)
    assert worst <= Fraction(exp_up(claimed))
    assert worst >= Fraction(exp_down(claimed * (1 - example.slack)))


@pytest.mark.parametrize("epsilon", LOSSES)
@pytest.mark.parametrize("name", CANDIDATES)
def test_the_loss_is_the_one_that_was_asked_for(name: str, epsilon: str) -> None:
    claimed = Fraction(built(name, 3, epsilon).loss.epsilon)
    assert claimed == Fraction(epsilon) or (name == "thresholded histogram" and claimed < Fraction(epsilon))


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("name", CANDIDATES)
def test_support_has_the_chances_that_estimates_use(name: str, size: int) -> None:
    protocol = built(name, size, "1.5")
    for value in range(size):
        chances = [Fraction(0)] * size
        for (cell, bits), mass in law_of(protocol.recipe(), protocol.input_of(value)).items():
            sums = np.zeros((protocol.layout.cells, 1 + protocol.layout.bits), dtype=np.int64)
            sums[cell] = [1, *(bits >> place & 1 for place in range(protocol.layout.bits))]
            for place, supported in enumerate(protocol.support(sums)):
                chances[place] += mass * int(supported)
        expected = [protocol.supports_other] * size
        expected[value] = protocol.supports_truth
        assert chances == expected


@pytest.mark.parametrize("name", SMALL)
def test_many_at_once_follow_the_law_of_one(name: str) -> None:
    """Each report's count is within 6 standard deviations, which a chance 5 % off is not."""
    example, protocol, people = EXAMPLES[name], EXAMPLES[name].build(), 200_000
    value = example.values[len(example.values) // 2]
    law = law_of(protocol.recipe(), protocol.input_of(value))
    reports = protocol.randomize_many(example.column([value] * people), entropy=ReplayEntropy(5))
    seen = Counter(zip(reports.cells.tolist(), as_numbers(reports), strict=True))
    assert set(seen) <= set(law)
    for report, mass in law.items():
        deviation = float(people * mass * (1 - mass)) ** 0.5
        off = seen[report] - float(people * mass)
        assert abs(off) < 6 * deviation + 1
        if mass > Fraction(1, 10):
            assert abs(off - 0.05 * float(people * mass)) > 6 * deviation


def as_numbers(reports: Reports) -> list[int]:
    return [sum(int(word) << 64 * place for place, word in enumerate(row)) for row in reports.bits]


@pytest.mark.parametrize("weight", [1 << 52, (1 << 53) // 3, 1, (1 << 53) - 1])
def test_coins_of_octets_compare_53_bits(weight: int) -> None:
    """The bytes just below the weight fall heads, those of the weight itself do not; one and many decide alike."""
    below, at = ((number << 3).to_bytes(7, "little") for number in (weight - 1, weight))
    assert OctetCoins(lambda _: below).chance(weight)
    assert not OctetCoins(lambda _: at).chance(weight)
    for number, heads in ((weight - 1, 1), (weight, 0)):
        digits = iter(number >> plane & 1 for plane in range(52, -1, -1))
        assert OctetCoins(lambda _, digits=digits: bytes([next(digits)])).many(1, weight) == heads


def test_a_truth_told_too_often_is_noticed() -> None:
    weight = truth_weight(Fraction(1), 3)
    for more in (0, 1 << 20):
        recipe = {"kind": "response", "cells": 3, "bits": 0, "truth": weight + more}
        worst = worst_ratio([law_of(recipe, value) for value in range(3)])
        assert (worst <= Fraction(exp_down(1))) == (more == 0)


def test_the_loss_of_bits_is_rounded_up() -> None:
    assert Fraction(exp_up(bits_loss(3 << 51, 1 << 51).epsilon)) >= 9
    assert float(bits_loss(3 << 51, 1 << 51).epsilon) == pytest.approx(2.1972245773362196)
