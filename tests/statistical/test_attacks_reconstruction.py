"""How much of a secret column comes back from noisy answers: the numbers of the acceptance cases.

Seeds are fixed, so these tests do not fail by chance; each mean of 6 or more runs has a standard error below 0.02.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from sfumato import attacks
from sfumato.attacks import Attack, Oracle
from sfumato.entropy import ReplayEntropy

RUNS = 12


def attack(people: int, *, scale: Fraction | int | None, seed: int, method: str = "auto") -> Attack:
    """Reconstructs random bits from answers about twice as many random groups, with Laplace noise of a scale."""
    entropy, questions = ReplayEntropy(seed), 2 * people
    secret = attacks.random_queries(people, 1, entropy=entropy)[0]
    groups = attacks.random_queries(people, questions, entropy=entropy)
    curator = Oracle.exact(secret)
    if scale is not None:
        curator = Oracle.private(secret, epsilon=Fraction(questions) / scale, questions=questions, entropy=entropy)
    return attacks.reconstruction(curator.ask_all(groups), groups, secret=secret, method=method)


def accuracy(people: int, *, scale: int | None, runs: int = RUNS) -> float:
    return float(np.mean([attack(people, scale=scale, seed=run).success.rate for run in range(runs)]))


def test_A3_057_exact_answers_give_everything_away() -> None:
    assert accuracy(100, scale=None) == 1


@pytest.mark.parametrize(("scale", "expected"), [(1, 0.96), (5, 0.61), (200, 0.52)])
def test_A3_058_a_hundred_people(scale: int, expected: float) -> None:
    assert accuracy(100, scale=scale) == pytest.approx(expected, abs=0.05)


@pytest.mark.parametrize(("scale", "expected"), [(1, 0.999), (5, 0.73), (600, 0.51)])
def test_A3_059_noise_of_fixed_scale_fails_as_people_are_more(scale: int, expected: float) -> None:
    assert accuracy(300, scale=scale, runs=6) == pytest.approx(expected, abs=0.05)


def test_the_linear_program_is_better_against_laplace_noise() -> None:
    squares, program = (
        np.mean([attack(100, scale=2, seed=seed, method=method).success.rate for seed in range(5)])
        for method in ("least squares", "linear program")
    )
    assert squares + 0.05 < program


def test_a_thousand_bits_come_back() -> None:
    entropy = ReplayEntropy(1)
    secret = attacks.random_queries(1_000, 1, entropy=entropy)[0]
    groups = attacks.random_queries(1_000, 4_000, entropy=entropy)
    curator = Oracle.private(secret, epsilon=1_000, questions=4_000, entropy=entropy)  # noise of scale 4
    found = attacks.reconstruction(curator.ask_all(groups), groups, secret=secret)
    assert found.success.rate > 0.95
