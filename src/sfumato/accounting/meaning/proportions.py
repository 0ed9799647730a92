"""How sure a count of hits makes us of a probability: exact bounds after Clopper and Pearson (1934)."""

from __future__ import annotations

from fractions import Fraction

from flint import arb

from sfumato.accounting.pld.binomial_sums import lower_sum
from sfumato.errors import BadArgument
from sfumato.exact import BITS, Number, ball, integer, precision, probability
from sfumato.guarantee import guarantee

STEPS, NEAR = 100, 1 << 30
"""Bounds are found by at most so many halvings, or until they are this near, relative to themselves and to 1 less."""


@guarantee(
    claim="at most P(hit) unless an event of probability 1 - confidence has happened",
    proof="proofs/audit.md#proportions",
    reviewed="8f8c7c71ac08",
)
def least_probability(hits: int, trials: int, confidence: Number) -> Fraction:
    """A lower bound on a probability from independent trials, too high with probability 1 - confidence at most.

    >>> least_probability(10, 10, "0.95") < Fraction(75, 100) < least_probability(11, 11, "0.95")
    True
    """
    hits, trials, missed = _read(hits, trials, confidence)
    if hits == 0:
        return Fraction(0)
    low, high = Fraction(0), Fraction(hits, trials)
    for _ in range(STEPS):
        middle = (low + high) / 2
        # Were the probability as low as this, so many hits would be too rare: the true one is higher.
        if _at_least(hits, trials, middle) <= ball(missed):
            low = middle
        else:
            high = middle
        if (high - low) * NEAR <= min(low, 1 - low):
            break
    return low


@guarantee(
    claim="at least P(hit) unless an event of probability 1 - confidence has happened",
    proof="proofs/audit.md#proportions",
    reviewed="71666df5e642",
)
def greatest_probability(hits: int, trials: int, confidence: Number) -> Fraction:
    """An upper bound on a probability from independent trials: what misses, from below, mirrored.

    >>> greatest_probability(0, 10, "0.95") > Fraction(1, 4)
    True
    """
    hits, trials, _ = _read(hits, trials, confidence)
    return 1 - least_probability(trials - hits, trials, confidence)


def probability_bounds(hits: int, trials: int, confidence: Number) -> tuple[Fraction, Fraction]:
    """An interval that holds a probability with a confidence, half of what is missed on each side."""
    missed = 1 - probability(confidence, "confidence")
    sure = 1 - missed / 2
    return least_probability(hits, trials, sure), greatest_probability(hits, trials, sure)


def _read(hits: int, trials: int, confidence: Number) -> tuple[int, int, Fraction]:
    trials = integer(trials, "trials", least=1)
    hits = integer(hits, "hits", least=0)
    if hits > trials:
        raise BadArgument("hits", f"at most the number of trials, {trials}", hits)
    missed = 1 - probability(confidence, "confidence")
    if missed == 0:
        raise BadArgument("confidence", "less than 1: no number of trials makes certain", confidence)
    return hits, trials, missed


def _at_least(hits: int, trials: int, chance: Fraction) -> arb:
    """Encloses the probability of at least so many hits: at most so many of the trials miss."""
    with precision(BITS):
        return lower_sum(ball(chance / (1 - chance)), trials, trials - hits, 40)
