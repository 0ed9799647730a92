"""Selections, coins and permutations: χ² at 1e-8 against their exact probabilities, and a 5 % error is noticed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Sequence
from fractions import Fraction
from itertools import combinations, permutations

import numpy as np
import pytest
from scipy.stats import chi2

from sfumato.entropy import Entropy, ReplayEntropy
from sfumato.noise import (
    choose,
    exponential_index,
    flip,
    flip_exp,
    flip_exp_many,
    flip_many,
    interval_index,
    permutation,
    permute_and_flip_index,
    top_k_indices,
)
from sfumato.noise.selection_laws import (
    exponential_probabilities,
    permute_and_flip_probabilities,
    top_k_probabilities,
)

ALARM = 1e-8


def fits(drawn: Sequence[Hashable], chances: dict[Hashable, float]) -> bool:
    counts, possible = Counter(drawn), {outcome: chance for outcome, chance in chances.items() if chance > 0}
    if set(counts) - set(possible):
        return False
    value = sum((counts[o] - len(drawn) * p) ** 2 / (len(drawn) * p) for o, p in possible.items())
    return bool(value < chi2.isf(ALARM, len(possible) - 1))


LIST: list[Fraction | None] = [Fraction(0), Fraction(-1), None, Fraction(3, 2), Fraction(1, 2)]
ARRAY = np.array([0, -10, 99, 15, 5], dtype=np.int64)
POSSIBLE = np.array([True, True, False, True, True])
WRONG: list[Fraction | None] = [None if e is None else e * Fraction(115, 100) for e in LIST]


@pytest.mark.parametrize(
    ("draw", "law", "draws"),
    [
        (exponential_index, exponential_probabilities, 12_000),
        (permute_and_flip_index, permute_and_flip_probabilities, 6_000),
    ],
)
@pytest.mark.parametrize("array", [False, True])
def test_selection_of_one(draw: Callable[..., int], law: Callable[..., list[object]], draws: int, array: bool) -> None:
    entropy = ReplayEntropy(1)
    keywords = {"unit": Fraction(1, 10), "possible": POSSIBLE} if array else {}
    drawn = [draw(ARRAY if array else LIST, entropy=entropy, **keywords) for _ in range(draws)]
    assert fits(drawn, dict(enumerate(map(float, law(LIST)))))
    assert not fits(drawn, dict(enumerate(map(float, law(WRONG)))))


def test_selection_over_many_levels() -> None:
    """Exponents across 40 binary orders of magnitude, in an array with many equal entries."""
    array = np.repeat(np.array([0, 3, 6, 28], dtype=np.int64), [2**13, 2**9, 2**5, 1])
    entropy = ReplayEntropy(2)
    drawn = [int(array[exponential_index(array, unit=Fraction(1), entropy=entropy)]) for _ in range(300)]
    assert fits(drawn[:50], {28: 1.0, 6: 1e-9})
    drawn = [
        int(array[exponential_index(array, unit=Fraction(9, 10), possible=array < 28, entropy=entropy)])
        for _ in range(3000)
    ]
    weights = np.array([2**13, 2**9 * np.exp(2.7), 2**5 * np.exp(5.4)])
    assert fits(drawn, dict(zip((0, 3, 6), (weights / weights.sum()).tolist(), strict=True)))


def test_selection_of_intervals_and_places() -> None:
    widths, entropy = np.array([4, 1, 7, 2, 0], dtype=np.int64), ReplayEntropy(3)
    drawn = [interval_index(LIST, widths=widths, entropy=entropy) for _ in range(6_000)]
    chances = exponential_probabilities(LIST, widths=widths.tolist())
    law: dict[Hashable, float] = {
        (i, offset): float(chance) / int(widths[i]) for i, chance in enumerate(chances) for offset in range(widths[i])
    }
    assert fits(drawn, law)


def test_top_k() -> None:
    entropy = ReplayEntropy(4)
    drawn = [tuple(top_k_indices(LIST, k=2, entropy=entropy)) for _ in range(5_000)]
    assert fits(drawn, {order: float(chance) for order, chance in top_k_probabilities(LIST, k=2).items()})


def z_score(hits: int, count: int, chance: float) -> float:
    return (hits - count * chance) / (count * chance * (1 - chance)) ** 0.5


@pytest.mark.parametrize("p", [Fraction(1, 3), Fraction(2, 7)])
def test_rational_coins(p: Fraction) -> None:
    """|z| < 5.8 has a false-alarm rate of about 7e-9."""
    entropy, count = ReplayEntropy(6), 60_000
    hits = sum(flip(p, entropy=entropy) for _ in range(count))
    many = int(flip_many(np.full(10**6, p.numerator), denominator=p.denominator, entropy=entropy).sum())
    for found, total in ((hits, count), (many, 10**6)):
        assert abs(z_score(found, total, float(p))) < 5.8
        assert abs(z_score(found, total, float(p) * 0.95)) > 5.8
        assert abs(z_score(found, total, float(p) * 1.05)) > 5.8


@pytest.mark.parametrize("x", [Fraction(1, 2), Fraction(2)])
def test_exponential_coins(x: Fraction) -> None:
    entropy, count, p = ReplayEntropy(7), 20_000, float(np.exp(-float(x)))
    hits = sum(flip_exp(x, entropy=entropy) for _ in range(count))
    many = int(
        flip_exp_many(
            np.full(10**6, x.numerator, dtype=np.uint64), unit=Fraction(1, x.denominator), entropy=entropy
        ).sum()
    )
    for found, total, change in ((hits, count, 0.2), (many, 10**6, 0.05)):
        assert abs(z_score(found, total, p)) < 5.8
        assert abs(z_score(found, total, p * (1 - change))) > 5.8
        assert abs(z_score(found, total, p * (1 + change))) > 5.8


def every(choices: Sequence[tuple[int, ...]]) -> dict[Hashable, float]:
    return {choice: 1 / len(choices) for choice in choices}


def test_permutations_are_uniform() -> None:
    entropy = ReplayEntropy(8)
    drawn = [tuple(permutation(4, entropy=entropy).tolist()) for _ in range(30_000)]
    assert fits(drawn, every(list(permutations(range(4)))))


def stuck_first(entropy: Entropy) -> tuple[int, ...]:
    order = permutation(4, entropy=entropy).tolist()
    return tuple(order) if entropy.below(20) else (0, 1, 2, 3)


def test_a_permutation_that_is_off_by_five_percent_is_noticed() -> None:
    entropy = ReplayEntropy(9)
    assert not fits([stuck_first(entropy) for _ in range(30_000)], every(list(permutations(range(4)))))


@pytest.mark.parametrize(("size", "k"), [(5, 3), (20, 2)])
def test_choices_are_uniform(size: int, k: int) -> None:
    entropy = ReplayEntropy(10)
    drawn = [tuple(choose(size, k=k, entropy=entropy).tolist()) for _ in range(30_000)]
    assert fits(drawn, every(list(permutations(range(size), k))))
    assert fits([tuple(sorted(choice)) for choice in drawn], every(list(combinations(range(size), k))))


def test_sparse_choices_of_many() -> None:
    chosen = np.sort(np.concatenate([choose(10**6, k=1000, entropy=ReplayEntropy(seed)) for seed in range(100)]))
    found = np.bincount(chosen // 25_000, minlength=40)
    assert ((found - 2500) ** 2 / 2500).sum() < chi2.isf(ALARM, 39)
