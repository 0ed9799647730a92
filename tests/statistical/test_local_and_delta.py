"""Local and δ-mechanisms draw from the law they state: accepted there, rejected 5 % away.

Each acceptance has a false-alarm rate of 1e-8 (χ² over cells with at least 20 expected draws), and each test is also
run against laws that are 5 % off on either side, which must be rejected at the same level. The bits are replayed, so
that a pass stays a pass.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Iterable
from fractions import Fraction

import numpy as np
import pytest
from scipy.stats import chi2

from sfumato.audit.brute_force import outcome_probabilities
from sfumato.core.domains import Data
from sfumato.core.measurement import Measurement
from sfumato.core.metrics import Discrete, Hamming
from sfumato.core.space import scalar, vector
from sfumato.entropy import ReplayEntropy
from sfumato.exact import Number
from sfumato.mechanisms.integer_noise import binomial, censored_laplace, staircase
from sfumato.mechanisms.local_reports import local_laplace, local_mean_response
from sfumato.mechanisms.matrix_mechanism import matrix_mechanism
from sfumato.mechanisms.name_and_shame import name_and_shame
from sfumato.mechanisms.propose_test_release import private_mode
from sfumato.mechanisms.randomized_response import coin_flip_response, randomized_response
from sfumato.mechanisms.stability import stability_histogram
from sfumato.mechanisms.truncated import truncated_laplace, upper_estimate

ALARM = 1e-8
DRAWS = 60_000
MORE_DRAWS = {"irrational response": 200_000}
EXPECTED = 20
MISSED = Fraction(1, 10**6)


def fits(seen: Counter[Hashable], law: dict[Hashable, float]) -> bool:
    """Tells whether counts agree with a law, by χ²; rare outcomes share one cell."""
    draws = seen.total()
    large = [outcome for outcome, mass in law.items() if draws * mass >= EXPECTED]
    observed = [seen[outcome] for outcome in large]
    expected = [draws * law[outcome] for outcome in large]
    observed.append(draws - sum(observed))
    expected.append(max(draws - sum(expected), 1e-9))
    if expected[-1] < EXPECTED:
        # Too rare a cell for χ²: what falls there is checked by its own, much looser, count.
        if observed[-1] > 20 * EXPECTED:
            return False
        observed, expected = observed[:-1], expected[:-1]
    statistic = sum((o - e) ** 2 / e for o, e in zip(observed, expected, strict=True))
    return bool(statistic < chi2.isf(ALARM, max(1, len(observed) - 1)))


def law_of(measurement: Measurement, data: Data) -> dict[Hashable, float]:
    return {key: float(mass) for key, mass in outcome_probabilities(measurement, data, missed=MISSED).items()}


def outcomes(measurement: Measurement, data: Data, draws: int = DRAWS) -> Iterable[Hashable]:
    entropy = ReplayEntropy(20)
    return (measurement.function(data, entropy) for _ in range(draws))


Build = Callable[[Fraction], Measurement]

CASES: dict[str, tuple[Build, Number, Data]] = {
    "binary response": (lambda p: scalar(bool) >> randomized_response(p=p), "0.75", True),
    "irrational response": (lambda e: scalar(bool) >> randomized_response(epsilon=e), 2, False),
    "response of five": (lambda e: scalar([1, 2, 3, 4, 5]) >> randomized_response(epsilon=e), 2, 4),
    "coins": (lambda q: scalar(bool) >> coin_flip_response(q=q), "0.8", True),
    "matrix": (lambda a: matrix_mechanism([[a, "0.3", Fraction(7, 10) - a], [0, "0.5", "0.5"]]), "0.5", 0),
    "clamped": (lambda s: scalar(int) >> censored_laplace(scale=s, between=(0, 20)), 3, 8),
    "stairs": (lambda e: scalar(int) >> staircase(epsilon=e, width=4, step=2), 1, 7),
    "truncated": (lambda s: scalar(int) >> truncated_laplace(scale=s, reach=30), 3, 100),
    "above": (lambda s: scalar(int) >> upper_estimate(scale=s, reach=20), 2, 50),
    "mode": (lambda s: vector(str) >> private_mode(scale=s, delta="0.05"), 8, ["a"] * 16 + ["b"]),
    "histogram": (lambda s: vector(str) >> stability_histogram(scale=s, threshold=3), 1, ["a"] * 4 + ["b"] * 2),
    "shame": (lambda d: vector(["a", "b"]) >> name_and_shame(d), "0.4", ["a", "b", "b"]),
    "rounded": (
        lambda p: scalar(float, between=(0, 1), metric=Discrete()) >> local_mean_response(p=p),
        "0.75",
        0.9,
    ),
    "noisy": (lambda s: scalar(int, between=(0, 9), metric=Discrete()) >> local_laplace(scale=s), 3, 4),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", CASES)
def test_draws_follow_the_stated_law_and_no_other(name: str) -> None:
    build, parameter, data = CASES[name]
    exact = Fraction(parameter)
    right = build(exact)
    seen = Counter(outcomes(right, data, MORE_DRAWS.get(name, DRAWS)))
    assert fits(seen, law_of(right, data))
    wrong = [law_of(build(exact * factor), data) for factor in (Fraction(95, 100), Fraction(105, 100))]
    assert not any(fits(seen, law) for law in wrong), "a parameter 5 % off must be noticed on either side"


def test_binomial_draws_and_rejects_five_percent_more_trials() -> None:
    seen = Counter(outcomes(scalar(int) >> binomial(100, epsilon=1), 0))
    assert fits(seen, law_of(scalar(int) >> binomial(100, epsilon=1), 0))
    assert not fits(seen, law_of(scalar(int) >> binomial(110, epsilon=1), 0))


@pytest.mark.parametrize("given", [{"p": "0.75"}, {"epsilon": 1}, {"p": "0.9"}])
def test_columns_of_answers_are_independent_and_right(given: dict[str, Number]) -> None:
    """Pairs of neighbouring answers, so that a shared draw would be seen as well as a wrong probability."""
    size = 200_000
    measurement = vector(bool, size=size, metric=Hamming()) >> randomized_response(**given)  # type: ignore[arg-type]
    truth = np.arange(size) % 2 == 0
    answers = measurement.function(truth, ReplayEntropy(21))
    kept = answers == truth
    pairs = Counter(zip(kept[::2].tolist(), kept[1::2].tolist(), strict=True))
    single = law_of(scalar(bool) >> randomized_response(**given), True)[True]  # type: ignore[arg-type]
    for factor, accepted in ((1.0, True), (0.95, False), (1.05, False)):
        p = single * factor
        law: dict[Hashable, float] = {
            (a, b): (p if a else 1 - p) * (p if b else 1 - p) for a in (True, False) for b in (True, False)
        }
        assert fits(pairs, law) is accepted


def test_keys_of_a_histogram_have_noise_of_their_own() -> None:
    """Two keys of one count: equal noise would make their noisy counts equal every time."""
    measurement, entropy = vector(str) >> stability_histogram(scale=2, threshold=0), ReplayEntropy(22)
    drawn = [dict(measurement.function(["a"] * 100 + ["b"] * 100, entropy)) for _ in range(4000)]
    same = sum(pair["a"] == pair["b"] for pair in drawn)
    # P(equal) = Σ pmf² is about 0.13 at scale 2; 5.7 standard deviations around it are false at 1e-8.
    noise = [
        float(outcome_probabilities(measurement, ["a"], missed=MISSED).get((("a", 1 + z),), 0)) for z in range(1, 60)
    ]
    equal = 2 * sum(mass**2 for mass in noise) + float(np.tanh(1 / 4)) ** 2
    assert abs(same - 4000 * equal) < 5.7 * np.sqrt(4000 * equal * (1 - equal))
