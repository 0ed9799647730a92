"""How often guesses about one run can be right: the theorem against programs, channels and Gaussians."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction
from math import comb

import numpy as np
import pytest
from scipy.optimize import linprog
from scipy.special import ndtr

from sfumato.audit.guesses import chance_of_guesses, shown_epsilon, shown_shift


def largest(right: int, guesses: int, count: int, odds: float, delta: float) -> float:
    """The most that any distribution of right guesses can give that obeys the lemma, by linear programming."""
    hits = np.arange(guesses + 1)
    rows = [
        np.where(hits >= least, hits, 0) - odds * np.where(hits >= least - 1, guesses - hits, 0)
        for least in range(1, right + 1)
    ]
    solved = linprog(
        -(hits >= right).astype(float), A_ub=np.array(rows), b_ub=[count * delta] * right,
        A_eq=np.ones((1, guesses + 1)), b_eq=[1], method="highs",
    )  # fmt: skip
    return -float(solved.fun)


@pytest.mark.parametrize("delta", [Fraction(0), Fraction(1, 10**4), Fraction(1, 100)], ids=["0", "1e-4", "1e-2"])
@pytest.mark.parametrize(("right", "guesses", "count"), [(12, 12, 12), (11, 12, 40), (38, 40, 400), (30, 40, 40)])
def test_the_bound_is_the_least_that_the_lemma_gives(right: int, guesses: int, count: int, delta: Fraction) -> None:
    for odds in (Fraction(1), Fraction(3, 2), Fraction(3)):
        bound = float(chance_of_guesses(right, guesses, count, odds, delta))
        best = largest(right, guesses, count, float(odds), float(delta))
        assert bound >= min(1, best) * (1 - 1e-9)
        if right > odds * (guesses - right):
            assert bound == pytest.approx(min(1, best), rel=1e-6)


def channels(seed: int) -> tuple[np.ndarray, np.ndarray]:
    """P(outcome | coins) of a channel made at random, and for every outcome guesses about two of three coins."""
    drawn = np.random.default_rng(seed)
    tables = drawn.dirichlet(np.full(7, 0.5), size=8) + 0.02
    guesses = np.array([drawn.permutation([*drawn.choice([-1, 1], 2), 0]) for _ in range(7)])
    return tables / tables.sum(axis=1, keepdims=True), guesses


def test_no_channel_guesses_more_often_than_its_curve_allows() -> None:
    """For each ε its δ is the largest over all neighbours, and the bound must hold for all counts of right guesses."""
    coins = list(itertools.product([-1, 1], repeat=3))
    near = 0.0
    for seed in range(40):
        tables, guesses = channels(seed)
        right = np.array([[(guess * np.array(coin) == 1).sum() for guess in guesses] for coin in coins])
        pairs = [(a, b) for a in range(8) for b in range(8) if np.abs(np.subtract(coins[a], coins[b])).sum() == 2]
        for odds in (1.0, 1.5, 2.0, 4.0):
            delta = max(float(np.maximum(tables[a] - odds * tables[b], 0).sum()) for a, b in pairs)
            for least in (1, 2):
                truth = float((tables * (right >= least)).sum() / 8)
                bound = float(chance_of_guesses(least, 2, 3, Fraction(odds), Fraction(delta)))
                assert truth <= bound + 1e-12
                near = max(near, truth / bound)
    assert near > 0.6


@pytest.mark.parametrize("shift", [0.3, 1.0, 2.0])
def test_gaussian_runs_are_not_said_to_be_worse_than_they_are(shift: float) -> None:
    """Canaries that are seen through noise by themselves: right guesses are binomial."""
    count, chance = 40, float(ndtr(shift / 2))
    shown = [float(shown_shift(right, count, count, Fraction(5, 100))) for right in range(count + 1)]
    assert shown == sorted(shown) and shown[-1] > 1
    wrong = sum(comb(count, k) * chance**k * (1 - chance) ** (count - k) for k in range(count + 1) if shown[k] > shift)
    assert wrong <= 0.05


def test_what_is_shown_is_nearly_the_largest_that_is_ruled_out() -> None:
    missed, delta = Fraction(5, 100), Fraction(1, 10**5)
    epsilon = shown_epsilon(122, 128, 10_000, missed, delta)
    for factor, ruled_out in ((1, True), (1.001, False)):
        odds = Fraction(math.exp(float(epsilon) * factor))
        assert (chance_of_guesses(122, 128, 10_000, odds, delta) <= missed) is ruled_out
    assert 0.64 < shown_shift(122, 128, 10_000, missed) < 0.68
    assert shown_epsilon(0, 5, 5, missed, delta) == shown_shift(0, 5, 5, missed) == 0
    assert shown_epsilon(50, 100, 100, missed, delta) == shown_shift(50, 100, 100, missed) == 0
