"""Selections: probabilities against brute force, and the law of the level sampler put together from its parts."""

from __future__ import annotations

from fractions import Fraction
from itertools import permutations

import numpy as np
import pytest
from flint import arb
from tests.exact.scripted_entropy import ScriptedEntropy, words

from sfumato.errors import BadArgument
from sfumato.exact import ball, precision
from sfumato.noise import (
    exponential_index,
    interval_index,
    permute_and_flip_index,
    top_k_indices,
)
from sfumato.noise.coins import flip_exp_many
from sfumato.noise.selection import DEEPEST, field, pick
from sfumato.noise.selection_laws import (
    exponential_probabilities,
    permute_and_flip_probabilities,
    top_k_probabilities,
)

EXPONENTS: list[Fraction | None] = [Fraction(0), Fraction(-7, 3), None, Fraction(3, 2), Fraction(3, 2), Fraction(-20)]


def overlapping(left: list[arb], right: list[arb]) -> bool:
    return all(one.overlaps(other) and one.rad() < arb(2) ** -100 for one, other in zip(left, right, strict=True))


def test_A1_097_price_example() -> None:
    found = exponential_probabilities([Fraction(score, 8) for score in (3, 2, 3, 0)])
    expected = [0.2801288, 0.2472128, 0.2801288, 0.1925295]
    assert [float(chance) for chance in found] == pytest.approx(expected, abs=5e-8)


def test_permute_and_flip_against_all_orders() -> None:
    """Walks every order and every outcome of the coins."""
    possible = [i for i, exponent in enumerate(EXPONENTS) if exponent is not None]
    with precision(160):
        coin = {i: ball(Fraction(EXPONENTS[i] or 0) - Fraction(3, 2)).exp() for i in possible}
        found = [arb(0)] * len(EXPONENTS)
        orders = list(permutations(possible))
        for order in orders:
            reached = arb(1)
            for place in order:
                found[place] += reached * coin[place] / len(orders)
                reached *= 1 - coin[place]
    assert overlapping(permute_and_flip_probabilities(EXPONENTS), found)


def test_permute_and_flip_is_noisy_max_with_exponential_noise() -> None:
    """P(0 beats 1) with exponential noise is 1 - exp(-gap) / 2; so is permute-and-flip's."""
    gap = Fraction(4, 5)
    found = permute_and_flip_probabilities([gap, Fraction(0)])
    with precision(128):
        assert found[0].overlaps(1 - ball(-gap).exp() / 2)


def test_peeling_probabilities_add_up_and_begin_with_the_exponential_law() -> None:
    orders, single = top_k_probabilities(EXPONENTS, k=3), exponential_probabilities(EXPONENTS)
    with precision(128):
        assert sum(orders.values(), arb(0)).overlaps(arb(1))
        first = [sum((chance for order, chance in orders.items() if order[0] == i), arb(0)) for i in range(6)]
    assert overlapping(first, single)


@pytest.mark.parametrize(
    "unit", [Fraction(1), Fraction(1, 1000), Fraction(10**9), Fraction(1, 10**40), Fraction(10**400)]
)
def test_levels_never_understate_and_hardly_overstate(unit: Fraction) -> None:
    values = np.array([0, 1, -1, 5, -700, -(2**62), 2**62, 2**63 - 1, -(2**63)], dtype=np.int64)
    for places in (range(9), range(5)):
        mask = np.isin(np.arange(9), list(places))
        candidates = field(values, unit=unit, possible=mask)
        exact = field([Fraction(int(value)) for value in values], unit=unit, possible=mask)
        assert candidates.places.tolist() == list(places) == exact.places.tolist()
        with precision(1600):
            for place, level, other in zip(places, candidates.levels.tolist(), exact.levels.tolist(), strict=True):
                gap = candidates.gap(place)
                assert gap == exact.gap(place) == (int(values[list(places)].max()) - int(values[place])) * unit
                assert level * arb(2).log() <= ball(gap)
                assert other * arb(2).log() <= ball(gap)
                assert level <= other
                assert other == 1 << 62 or ball(gap) < (other + 1) * arb(2).log()
                assert level > 1 << 61 or other - level <= 1 + level * 2**-48


def test_the_level_sampler_put_together_is_the_exponential_law() -> None:
    """Level weight × ticket × acceptance, summed over levels, for widths too."""
    widths = [3, 1, 9, 2, 0, 10**6]
    mask = np.array([e is not None and w > 0 for e, w in zip(EXPONENTS, widths, strict=True)])
    candidates = field(EXPONENTS, unit=Fraction(1), possible=mask)
    with precision(160):
        weights = {
            place: widths[place] * arb(2) ** -level * (level * arb(2).log() - ball(candidates.gap(place))).exp()
            for place, level in zip(candidates.places.tolist(), candidates.levels.tolist(), strict=True)
        }
        total = sum(weights.values(), arb(0))
        found = [weights[i] / total if i in weights else arb(0) for i in range(len(EXPONENTS))]
    assert overlapping(found, exponential_probabilities(EXPONENTS, widths=widths))


def test_pick_gives_every_ticket_its_place() -> None:
    sizes = np.array([2, 0, 3, 1], dtype=np.int64)
    assert [pick(sizes, ticket=ticket) for ticket in range(6)] == [(0, 0), (0, 1), (2, 0), (2, 1), (2, 2), (3, 0)]
    huge = np.array([2**62, 2**62, 5], dtype=np.int64)
    assert pick(huge, ticket=2**63 + 4) == (2, 4)
    assert pick(huge, ticket=2**62) == (1, 0)


def test_coins_on_the_edge_are_resolved_exactly() -> None:
    """The first 53 digits are those of exp(-x); the next decide."""
    for gap, unit in ((3, Fraction(1, 7)), (1, Fraction(30)), (10**12, Fraction(1, 10**13))):
        with precision(256):
            found = (ball(-gap * unit).exp() * arb(2) ** 53).floor().unique_fmpz()
        assert found is not None
        for digits, heads in ((0, True), ((1 << 64) - 1, False)):
            entropy = ScriptedEntropy(words(int(found) << 11, digits))
            assert flip_exp_many(np.array([gap], dtype=np.uint64), unit=unit, entropy=entropy).tolist() == [heads]
            assert entropy.left == 0


def test_impossible_candidates_are_never_chosen_and_far_ones_hardly() -> None:
    entropy = ScriptedEntropy(b"")
    exponents: list[Fraction | None] = [None, Fraction(-(10**30)), Fraction(5), None]
    assert {exponential_index(exponents, entropy=entropy) for _ in range(50)} == {2}
    assert {permute_and_flip_index(exponents, entropy=entropy) for _ in range(50)} == {2}
    assert top_k_indices(exponents, k=2, entropy=entropy) == [2, 1]
    array = np.array([2**63 - 1, -(2**63), 0], dtype=np.int64)
    assert top_k_indices(array, k=3, unit=Fraction(10**300), entropy=entropy) == [0, 2, 1]
    hidden = np.array([False, True, True])
    assert exponential_index(array, unit=Fraction(1), possible=hidden, entropy=entropy) == 2
    assert permute_and_flip_index(array, unit=Fraction(1), possible=hidden, entropy=entropy) == 2
    assert DEEPEST >= 4096


def test_intervals_have_a_place_inside() -> None:
    entropy = ScriptedEntropy(b"")
    widths = np.array([0, 4, 2**61, 0], dtype=np.int64)
    exponents = [Fraction(100), Fraction(40), Fraction(0), Fraction(7)]
    for _ in range(200):
        chosen, offset = interval_index(exponents, widths=widths, entropy=entropy)
        assert 0 <= offset < widths[chosen]


@pytest.mark.parametrize(
    "call",
    [
        lambda e: exponential_index([], entropy=e),
        lambda e: exponential_index([None, None], entropy=e),
        lambda e: permute_and_flip_index([None], entropy=e),
        lambda e: exponential_index(np.array([1.0, 2.0]), entropy=e),  # type: ignore[arg-type]
        lambda e: exponential_index([Fraction(1)], unit=Fraction(0), entropy=e),
        lambda e: top_k_indices([Fraction(1)], k=2, entropy=e),
        lambda e: top_k_indices([Fraction(1)], k=0, entropy=e),
        lambda e: interval_index([Fraction(1)], widths=np.array([-1]), entropy=e),
        lambda e: interval_index([Fraction(1)], widths=np.array([0]), entropy=e),
    ],
)
def test_selections_refuse_what_has_no_law(call: object) -> None:
    assert callable(call)
    with pytest.raises(BadArgument):
        call(ScriptedEntropy(b""))
