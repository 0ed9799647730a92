"""Auditing one run: the theorem against mechanisms that can be worked out, toy trainers, and refusals."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from math import comb
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as some

import sfumato as sf
from sfumato.audit.canaries import Canaries, Trainer, audit_training, canaries, guessed_epsilon, one_run
from sfumato.audit.record import Verdict
from sfumato.errors import BadArgument
from sfumato.noise.discrete_gaussian import DiscreteGaussian
from sfumato.noise.discrete_laplace import DiscreteLaplace

SURE = Fraction(95, 100)
NONE = Fraction(0)


def tail(trials: int, chance: float, least: int) -> float:
    """Gives P(at least so many hits)."""
    return sum(comb(trials, k) * chance**k * (1 - chance) ** (trials - k) for k in range(max(least, 0), trials + 1))


def test_all_guesses_right_is_worked_out_by_hand() -> None:
    """100 of 100 right: the largest p with p^100 ≤ 0.05, and ε = ln(p / (1 − p))."""
    chance = 0.05**0.01
    found = guessed_epsilon(100, 100, 1000, SURE, NONE)
    assert float(found) == pytest.approx(math.log(chance / (1 - chance)), rel=1e-6)
    assert tail(100, 1 / (1 + math.exp(-float(found))), 100) <= 0.05


def test_half_right_shows_nothing() -> None:
    assert guessed_epsilon(50, 100, 100, SURE, NONE) == 0
    assert guessed_epsilon(0, 100, 100, SURE, NONE) == 0
    assert guessed_epsilon(0, 100, 100, SURE, Fraction(1, 1000)) == 0


def test_delta_costs_and_a_large_one_costs_all() -> None:
    bounds = [guessed_epsilon(95, 100, 100, SURE, Fraction(delta)) for delta in ("0", "1e-5", "1e-4", "5e-3", "0.9")]
    assert bounds == sorted(bounds, reverse=True)
    assert bounds[1] > Fraction(99, 100) * Fraction(bounds[0])
    assert bounds[3] > 1  # m δ/2 = 0.25 is more than 0.05: only more than one excess helps
    assert bounds[4] == 0


def exceeded(probabilities: Sequence[float], count: int, epsilon: float, delta: Fraction) -> float:
    """Gives how probable it is that the bound exceeds the truth, from the distribution of the right guesses."""
    bounds = (guessed_epsilon(right, count, count, SURE, delta) for right in range(count + 1))
    return sum(chance for chance, bound in zip(probabilities, bounds, strict=True) if bound > epsilon)


@pytest.mark.parametrize("epsilon", [0.0, 0.5, 2.0])
@pytest.mark.parametrize("delta", [Fraction(0), Fraction(1, 1000), Fraction(1, 50)], ids=["0", "0.001", "0.02"])
def test_the_bound_holds_for_mechanisms_whose_guesses_are_known(epsilon: float, delta: Fraction) -> None:
    """Both are (ε, δ)-private: each canary is told with probability δ, or all of them at once."""
    count, fair = 30, 1 / (1 + math.exp(-epsilon))

    def binomial(chance: float) -> list[float]:
        return [comb(count, k) * chance**k * (1 - chance) ** (count - k) for k in range(count + 1)]

    each = binomial(float(delta) + (1 - float(delta)) * fair)
    at_once = [(1 - float(delta)) * chance for chance in binomial(fair)]
    at_once[count] += float(delta)
    assert exceeded(each, count, epsilon, delta) <= 0.05
    assert exceeded(at_once, count, epsilon, delta) <= 0.05


def test_telling_all_at_once_is_allowed_for() -> None:
    """With probability 0.08 every guess is right: to call that a violation of (0, 0.08) would be wrong too often."""
    right = [0.92 * comb(64, k) / 2**64 for k in range(65)]
    right[64] += 0.08
    assert exceeded(right, 64, 0.0, Fraction(8, 100)) <= 0.05


def test_several_numbers_of_guesses_share_the_confidence() -> None:
    drawn = Canaries((True, False) * 50)
    found = one_run([float(one) for one in drawn.included], drawn, guesses=[100, 50])
    assert found.lines[0].low == guessed_epsilon(100, 100, 100, Fraction(975, 1000), NONE)


def test_forgetting_delta_would_lie() -> None:
    """The mechanism that tells each canary with probability 0.3 keeps (0, 0.3), and no pure ε = 0."""
    count, chance = 200, 0.3 + 0.7 / 2
    right = [comb(count, k) * chance**k * (1 - chance) ** (count - k) for k in range(count + 1)]
    assert exceeded(right, count, 0.0, NONE) > 0.9
    assert exceeded(right, count, 0.0, Fraction(3, 10)) <= 0.05


@given(right=some.integers(0, 60), more=some.integers(0, 60), delta=some.sampled_from(["0", "1e-4", "1e-2"]))
def test_more_right_guesses_show_no_less(right: int, more: int, delta: str) -> None:
    fewer, most = sorted((right, more))
    lower, higher = (guessed_epsilon(hits, 60, 80, SURE, Fraction(delta)) for hits in (fewer, most))
    assert 0 <= lower <= higher


STEPS = 64


def noisy_sums(scale: float, *, length: float = 1, gaussian: bool = False) -> Trainer:
    """Trains by adding up canaries, each along its own direction, with noise of a scale on every coordinate."""

    def train(included: Sequence[bool], entropy: sf.entropy.Entropy) -> Sequence[float]:
        grid = Fraction(scale) * STEPS
        noise = DiscreteGaussian(grid**2) if gaussian else DiscreteLaplace(grid)
        found: list[float] = (length * np.array(included) + noise.samples(len(included), entropy) / STEPS).tolist()
        return found

    return train


def test_an_honest_trainer_is_flagged_no_more_often_than_the_confidence_allows() -> None:
    """With fresh draws more than 14 of 100 would be too high less often than once in 2000 times."""
    entropy = sf.entropy.ReplayEntropy(41)
    audits = [audit_training(noisy_sums(1), 400, claim=1, entropy=entropy) for _ in range(100)]
    assert sum(found.verdict is Verdict.VIOLATED for found in audits) <= 14
    assert max(float(found.lines[0].low) for found in audits) > 0.5


def test_a_gaussian_trainer_keeps_its_promise_at_delta() -> None:
    claim = sf.ZCDP("1/8")  # of noise of scale 2 for a canary of length 1
    trainer, entropy = noisy_sums(2, gaussian=True), sf.entropy.ReplayEntropy(43)
    found = [audit_training(trainer, 1000, claim=claim, delta="1e-5", entropy=entropy) for _ in range(5)]
    assert all(one.verdict is Verdict.OPEN for one in found)
    assert found[0].lines[0].what == "ε at δ = 1e-05"


@pytest.mark.parametrize(
    "trainer",
    [noisy_sums(0.1), noisy_sums(1, length=20), noisy_sums(0.05, gaussian=True)],
    ids=["a tenth of the noise", "no clipping", "a Gaussian of a twentieth"],
)
def test_liars_are_caught_in_one_run(trainer: Trainer) -> None:
    found = audit_training(trainer, 500, claim=sf.Approx(1, "1e-5"), entropy=sf.entropy.ReplayEntropy(47))
    assert found.verdict is Verdict.VIOLATED
    assert found.subject == "train"


def test_few_guesses_find_what_all_guesses_miss() -> None:
    """Where most canaries leave no trace, the extreme scores are right and the others are not."""
    drawn = canaries(1600, entropy=sf.entropy.ReplayEntropy(53))
    scores = [(2.0 * one - 1) * 50 if place < 100 else place % 7 for place, one in enumerate(drawn.included)]
    every, few = one_run(scores, drawn, guesses=1600), one_run(scores, drawn, guesses=80)
    tried = one_run(scores, drawn)
    assert every.lines[0].low < 0.5
    assert few.lines[0].low > 3
    assert 2.2 < tried.lines[0].low <= few.lines[0].low
    assert dict(tried.facts)["numbers of guesses tried"] == "4"


def test_ties_and_odd_scores_are_ranked_without_looking_at_the_coins() -> None:
    drawn = Canaries((True, False, True, False))
    found = one_run([math.nan, -math.inf, math.inf, 0], drawn, guesses=2)
    assert dict(found.facts)["right guesses"] == "1"  # the first is lowest, and was in; the third is highest
    swapped = Canaries((False, True, True, False))
    assert dict(one_run([0, 0, 0, 0], swapped, guesses=3).facts)["right guesses"] == "2"
    assert dict(one_run(np.zeros(4), drawn, guesses=3).facts)["right guesses"] == "1"


def test_canaries_are_fair_coins_and_can_be_had_again() -> None:
    drawn = canaries(10_001, entropy=sf.entropy.ReplayEntropy(2))
    assert drawn == canaries(10_001, entropy=sf.entropy.ReplayEntropy(2))
    assert len(drawn) == 10_001
    assert abs(sum(drawn.included) - 5000) < 250  # five standard deviations
    pairs = list(zip(drawn.included[::2], drawn.included[1::2], strict=False))
    assert abs(sum(one == other for one, other in pairs) - 2500) < 180


@pytest.mark.parametrize(
    ("given", "named"),
    [
        ({"guesses": 0}, "guesses"),
        ({"guesses": 5}, "guesses"),
        ({"guesses": []}, "guesses"),
        ({"scores": [1.0, 2.0]}, "4 canaries"),
        ({"scores": ["a", "b", "c", "d"]}, "scores"),
        ({"scores": [None] * 4}, "scores"),
        ({"confidence": 1}, "confidence"),
        ({"claim": sf.ZCDP(1)}, "delta"),
    ],
    ids=["no guess", "too many", "none", "too few scores", "words", "nothing", "certain", "no delta"],
)
def test_bad_arguments_are_refused(given: dict[str, Any], named: str) -> None:
    scores = given.pop("scores", [1.0, 2.0, 3.0, 4.0])
    with pytest.raises(BadArgument, match=named):
        one_run(scores, Canaries((True, False, True, False)), **given)


def test_more_bad_arguments_are_refused() -> None:
    with pytest.raises(BadArgument, match="count"):
        canaries(0)
    with pytest.raises(BadArgument, match="canaries"):
        Canaries(())
    with pytest.raises(BadArgument, match="train"):
        audit_training("a model", 10)  # type: ignore[arg-type]  # that is the point


def test_coins_that_were_drawn_elsewhere_are_taken() -> None:
    drawn = [True, False] * 15
    scores = [float(one) for one in drawn]
    wanted = one_run(scores, Canaries(tuple(drawn))).lines
    assert one_run(scores, drawn).lines == one_run(scores, np.array(drawn)).lines == wanted
    for odd in ([1, 0] * 15, "in", 30):
        with pytest.raises(BadArgument, match="canaries"):
            one_run(scores, odd)  # type: ignore[arg-type]  # that is the point


def test_a_claim_of_nothing_stays_open_in_one_run() -> None:
    found = one_run([1.0, 2.0, 3.0, 4.0], [True, False, False, True], claim=0)
    assert found.lines[0].low == 0 and found.verdict is Verdict.OPEN
