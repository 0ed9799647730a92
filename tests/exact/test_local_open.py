"""Sketches, prefixes and padded sets: chances, means and variances by enumeration, as exact fractions."""

from __future__ import annotations

from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from tests.examples.local_laws import law_of

from sfumato.accounting.losses.measures import Pure
from sfumato.exact import exp_up
from sfumato.local.frequency import Frequencies
from sfumato.local.item_sets import PARTS, ItemSets
from sfumato.local.leaders import leaders
from sfumato.local.signs import HadamardSign
from sfumato.local.sketches import CountMeanSketch, HadamardSketch
from sfumato.local.values import Values


@pytest.mark.parametrize("size", [2, 4, 8])
def test_signs_support_with_the_chances_that_estimates_use(size: int) -> None:
    protocol = HadamardSign(Values(range(size)), Pure("1.5"))
    for value in range(size):
        chances = [Fraction(0)] * size
        for (cell, _), mass in law_of(protocol.recipe(), value).items():
            sums = np.zeros((protocol.layout.cells, 1), dtype=np.int64)
            sums[cell] = 1
            for place, supported in enumerate(protocol.support(sums)):
                chances[place] += mass * int(supported)
        assert chances == [protocol.supports_truth if at == value else protocol.supports_other for at in range(size)]


@pytest.mark.parametrize("build", [CountMeanSketch, HadamardSketch])
def test_mean_and_variance_of_counts_over_all_hash_functions(
    build: type[CountMeanSketch] | type[HadamardSketch],
) -> None:
    """Two rows of two buckets, three texts: every choice of the functions in turn, each as likely as the others."""
    sketch = build("any", Pure(1), rows=2, buckets=2)
    people = [0, 0, 1, 1, 1, 2]  # which text each has; asked for is text 0
    same, apart = sketch.part.supports_truth, sketch.part.supports_other
    other = apart + (same - apart) / 2
    mean, square = Fraction(0), Fraction(0)
    for buckets in product(range(2), repeat=6):  # of each text in each row
        chances = [
            sum(((same if buckets[2 * text + row] == buckets[row] else apart) for row in range(2)), Fraction(0)) / 2
            for text in people
        ]
        expected = sum(chances, Fraction(0))
        spread = sum((chance * (1 - chance) for chance in chances), Fraction(0))
        mean += expected / 64
        square += (expected * expected + spread) / 64
    assert (mean - 6 * other) / (same - other) == 2
    variance = (square - mean * mean) / (same - other) ** 2
    assert variance == sketch.variance(users=6, count=2, pairs=3 * 2)
    assert variance != sketch.variance(users=6, count=2)


@pytest.mark.parametrize("method", PARTS)
def test_items_and_sizes_are_counted_as_stated(method: str) -> None:
    """The exact mean of what one person adds: most / size for each item of a large set, 1 or 0 for every size."""
    protocol = ItemSets(Values(range(4)), 2, Pure("1.5"), method)
    for chosen in ((), (0,), (1, 3), (0, 1, 2), (0, 1, 2, 3)):
        chances = [Fraction(0)] * 6
        for (cell, bits), mass in law_of(protocol.recipe(), list(chosen)).items():
            sums = np.zeros((protocol.layout.cells, 1 + protocol.layout.bits), dtype=np.int64)
            sums[cell] = [1, *(bits >> place & 1 for place in range(protocol.layout.bits))]
            for place, supported in enumerate(protocol.part.support(sums)):
                chances[place] += mass * int(supported)
        other = protocol.part.supports_other
        added = [(chance - other) / (protocol.supports_truth - other) for chance in chances]
        weight = min(Fraction(1), Fraction(2, max(len(chosen), 1)))
        assert added == [*(weight * (item in chosen) for item in range(4)), len(chosen) <= 1, len(chosen) <= 0]


def test_dummies_are_different_or_the_loss_is_not_kept() -> None:
    """Randomized response gains from sampling; if all dummies were one, it would gain nothing, and tell too much."""
    protocol = ItemSets(Values(range(3)), 2, Pure(1), "response")
    inner = Fraction(protocol.part.loss.epsilon)
    assert Fraction(exp_up(1)) * 2 - 1 >= Fraction(exp_up(inner - Fraction(1, 10**9))) > 4
    laws = [law_of(protocol.part.recipe(), place) for place in range(5)]
    merged = {
        chosen: {y: sum(laws[min(thing, 3)][y, 0] for thing in chosen) / 2 for y in range(5)}
        for chosen in ((0, 1), (3, 4))
    }
    assert merged[3, 4][3] / merged[0, 1][3] > Fraction(exp_up(1))


def test_leaders_are_certain_as_far_as_their_intervals_are_apart() -> None:
    support = np.array([900, 600, 590, 100, 0])
    estimate = Frequencies(Values(list("abcde")), 2190, support, Fraction(1), Fraction(0), Pure(1))
    assert [(one.value, one.certain) for one in leaders(estimate, 3, Fraction(95, 100))] == [
        ("a", True),
        ("b", True),
        ("c", True),
    ]
    noisy = Frequencies(Values(list("abcde")), 2190, support + 600, Fraction(3, 4), Fraction(1, 4), Pure(1))
    assert [one.certain for one in leaders(noisy, 2, Fraction(95, 100))] == [True, False]
    assert all(one.certain for one in noisy.leaders(5))
