"""The state machine draws from the law on file: it accepts the truth and rejects scales that are 5 % off.

The hit on a value two and a half scales below the threshold has a probability that moves most with the scales. With
|z| < 5.5 the false-alarm rate is about 4e-8, and with 200 000 runs a scale that is 5 % off shows at more than 6.5
standard deviations. The bits are replayed, so a pass stays a pass.
"""

from __future__ import annotations

import math
from fractions import Fraction

import pytest

from sfumato.core.domains import Integers
from sfumato.entropy import ReplayEntropy
from sfumato.mechanisms.sparse_vector import ThresholdRule, compare, transcript_law
from sfumato.noise.discrete_laplace import DiscreteLaplace

LIMIT = 5.5


def rule(threshold_scale: Fraction, query_scale: Fraction, *, count: int = 1) -> ThresholdRule:
    return ThresholdRule(Integers(), 0, DiscreteLaplace(threshold_scale), DiscreteLaplace(query_scale), count)


def chance(one: ThresholdRule, values: list[int], transcript: tuple[bool, ...]) -> float:
    return float(transcript_law(one, values, missed=Fraction(1, 10**12)).probability(transcript))


def deviations(hits: int, runs: int, p: float) -> float:
    return (hits - runs * p) / math.sqrt(runs * p * (1 - p))


@pytest.mark.slow
@pytest.mark.parametrize("wide", ["threshold", "query"])
def test_first_answer_has_its_probability(wide: str) -> None:
    """One of the noises is made so narrow that the answer hangs on the other."""
    broad, narrow, value, runs = Fraction(4), Fraction(1, 10), -10, 200_000

    def with_scale(scale: Fraction) -> ThresholdRule:
        return rule(scale, narrow) if wide == "threshold" else rule(narrow, scale)

    entropy, true = ReplayEntropy(20), with_scale(broad)
    hits = sum(compare(true, [value], entropy)() for _ in range(runs))
    assert abs(deviations(hits, runs, chance(true, [value], (True,)))) < LIMIT
    for wrong in (broad * Fraction(95, 100), broad * Fraction(105, 100)):
        assert abs(deviations(hits, runs, chance(with_scale(wrong), [value], (True,)))) > LIMIT


@pytest.mark.slow
@pytest.mark.parametrize("count", [1, 2])
def test_whole_transcripts_have_their_joint_law(count: int) -> None:
    """χ² over all transcripts, and answers are not independent: the threshold's noise is shared."""
    true, values, runs, entropy = rule(Fraction(2), Fraction(3), count=count), [-1, 1, 0, 2], 40_000, ReplayEntropy(21)
    seen: dict[tuple[bool, ...], int] = {}
    for _ in range(runs):
        watch, transcript = compare(true, values, entropy), []
        while len(transcript) < len(values) and sum(transcript) < count:
            transcript.append(watch())
        seen[tuple(transcript)] = seen.get(tuple(transcript), 0) + 1
    law = transcript_law(true, values)
    expected = {each: runs * float(law.probability(each)) for each in law.outcomes(Fraction(0))}
    assert set(seen) <= set(expected)
    statistic = sum((seen.get(each, 0) - mean) ** 2 / mean for each, mean in expected.items())
    assert statistic < _chi_square_limit(len(expected) - 1)
    refreshed = {each: runs * _independent(true, values, each) for each in expected}
    apart = sum((seen.get(each, 0) - mean) ** 2 / mean for each, mean in refreshed.items())
    assert apart > 3 * _chi_square_limit(len(expected) - 1)


def _independent(one: ThresholdRule, values: list[int], transcript: tuple[bool, ...]) -> float:
    """Gives a transcript's probability if the threshold's noise were drawn anew for each answer."""
    return math.prod(chance(one, [value], (hit,)) for value, hit in zip(values, transcript, strict=False))


def _chi_square_limit(freedom: int) -> float:
    """Gives a bound that χ² exceeds with probability below 1e-8 (Laurent and Massart 2000, Lemma 1)."""
    x = math.log(1e8)
    return freedom + 2 * math.sqrt(freedom * x) + 2 * x
