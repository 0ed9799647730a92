"""What shuffled reports of one protocol cost, by the numbers that say how well they hide each other.

A protocol at ε0 mostly hides its reports better than the worst local randomizer at ε0 does. Its record, `Hiding`,
fixes the law of a sum of many numbers, and the mean of that sum above 0 is δ(ε).
"""

from __future__ import annotations

import math
from fractions import Fraction

from flint import arb

from sfumato.accounting.amplify.blanket import LEAST, hidden_delta
from sfumato.accounting.amplify.tilted_sum import NOISE, ROUGH, sum_delta
from sfumato.accounting.events.hiding import Hides, Hiding
from sfumato.exact import ball, up, upper
from sfumato.guarantee import guarantee

FEW, FEW_ROUGHLY = 50_000, 2_000
"""Up to this variance of the number of reports that hide, they are summed up one by one."""


@guarantee(
    claim="delta(epsilon) of n shuffled reports of any epsilon0-private local randomizer is at most this",
    proof="proofs/shuffling.md#protocols",
    reviewed="8325000198ac",
)
def generic_delta(
    epsilon0: Fraction, reports: int, epsilon: Fraction, least: Fraction = LEAST, *, noise: float = NOISE
) -> Fraction:
    """A δ at an ε for shuffled reports of any local randomizer that is pure at ε0, however many, rounded up.

    With more than the usual ``noise`` on the sum it is found sooner, and a little larger.
    """
    chance = 2 / (math.exp(min(700.0, float(epsilon0))) + 1)
    few = FEW if noise <= NOISE else FEW_ROUGHLY
    if epsilon >= epsilon0 or reports * chance * (1 - chance) <= few:
        return Fraction(hidden_delta(epsilon0, reports, epsilon, least))
    quick = sum_delta(Hiding.of_epsilon(epsilon0).atoms, reports, epsilon, noise=noise)
    return Fraction(quick if quick <= 1 else hidden_delta(epsilon0, reports, epsilon, least))


@guarantee(
    claim="delta(epsilon) of n shuffled reports of a randomizer with these kinds of reports is at most this",
    proof="proofs/shuffling.md#protocols",
    reviewed="58f3b2b79a3d",
)
def protocol_delta(
    hiding: Hides, reports: int, epsilon: Fraction, least: Fraction = LEAST, *, noise: float = NOISE
) -> Fraction:
    """A δ at an ε for shuffled reports of a protocol, rounded up.

    With the usual ``noise`` it is never above that of any randomizer with the ε0 of the protocol.
    """
    epsilon0, atoms = Fraction(hiding.epsilon0), hiding.atoms
    if epsilon >= epsilon0:
        return Fraction(0)

    def alone() -> arb:
        grown = ball(epsilon).exp()
        return sum(((ball(one) - grown * ball(other)).nonnegative_part() for _, one, other in atoms), arb(0))

    found = min(Fraction(upper(alone)), Fraction(min(sum_delta(atoms, reports, epsilon, noise=noise), 1)))
    if noise <= NOISE or found == 1:
        others = generic_delta(epsilon0, reports, epsilon, least, noise=ROUGH)
        sharp = others < found * 2 and noise <= NOISE
        found = min(found, generic_delta(epsilon0, reports, epsilon, least) if sharp else others)
    return max(Fraction(0), found)


def protocol_spread(hiding: Hides, reports: int) -> float:
    """About how far the privacy loss of shuffled reports spreads, in floats."""
    apart = math.fsum(float((one - other) ** 2 / hide) for hide, one, other in hiding.atoms)
    return min(up(hiding.epsilon0), math.sqrt(2 * apart / reports))
