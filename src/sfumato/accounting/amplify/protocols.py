"""What shuffled reports of one protocol cost, by the numbers that say how well they hide each other.

A protocol at ε0 mostly hides its reports better than the worst local randomizer at ε0 does. Its record, `Hiding`,
fixes the law of a sum of many numbers, and the mean of that sum above 0 is δ(ε).
"""

from __future__ import annotations

import math
from fractions import Fraction

from sfumato.accounting.amplify.blanket import LEAST, hidden_delta
from sfumato.accounting.amplify.tilted_sum import sum_delta
from sfumato.accounting.events.hiding import Hiding
from sfumato.exact import ball, up, upper
from sfumato.guarantee import guarantee

FEW = 50_000
"""Up to this variance of the number of reports that hide, they are summed up one by one."""


@guarantee(
    claim="delta(epsilon) of n shuffled reports of any epsilon0-private local randomizer is at most this",
    proof="proofs/shuffling.md#protocols",
    reviewed="aa727e6d2f93",
)
def generic_delta(epsilon0: Fraction, reports: int, epsilon: Fraction, least: Fraction = LEAST) -> Fraction:
    """A δ at an ε for shuffled reports of any local randomizer that is pure at ε0, however many, rounded up."""
    chance = 2 / (math.exp(min(700.0, float(epsilon0))) + 1)
    if epsilon >= epsilon0 or reports * chance * (1 - chance) <= FEW:
        return Fraction(hidden_delta(epsilon0, reports, epsilon, least))
    quick = sum_delta(Hiding.of_epsilon(epsilon0).atoms, reports, epsilon)
    return Fraction(quick if quick <= 1 else hidden_delta(epsilon0, reports, epsilon, least))


@guarantee(
    claim="delta(epsilon) of n shuffled reports of a randomizer with these own sets is at most this; "
    "never above that of any randomizer with its epsilon0",
    proof="proofs/shuffling.md#protocols",
    reviewed="ce68b08dfd03",
)
def protocol_delta(hiding: Hiding, reports: int, epsilon: Fraction, least: Fraction = LEAST) -> Fraction:
    """A δ at an ε for shuffled reports of a protocol, rounded up."""
    epsilon0 = Fraction(hiding.epsilon0)
    if epsilon >= epsilon0:
        return Fraction(0)
    only, into, out = hiding.share - hiding.overlap, hiding.inside / hiding.share, hiding.blanket
    alone = upper(lambda: ball(only) * (ball(into - out) - ball(epsilon).expm1() * ball(out)))
    general = generic_delta(epsilon0, reports, epsilon, least)
    return Fraction(max(0, min(Fraction(alone), general, sum_delta(hiding.atoms, reports, epsilon))))


def protocol_spread(hiding: Hiding, reports: int) -> float:
    """About how far the privacy loss of shuffled reports spreads, in floats."""
    only, apart = hiding.share - hiding.overlap, hiding.inside / hiding.share - hiding.blanket
    return min(up(hiding.epsilon0), 2 * math.sqrt(only * apart * apart / hiding.blanket / reports))
