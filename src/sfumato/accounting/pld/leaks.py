"""What a composition leaks for certain: the exact chance of an infinite loss, which a δ may just meet."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction

from flint import arb

from sfumato.accounting.pld.pairs.either import EitherPair
from sfumato.accounting.pld.pairs.finite import ApproxPair, FinitePair
from sfumato.accounting.pld.pairs.mixed import MixedPair
from sfumato.accounting.pld.pairs.pair import Pair
from sfumato.accounting.pld.pairs.sampled import SURE, AddedPair, ExchangedPair, RemovedPair
from sfumato.exact import Extended
from sfumato.guarantee import guarantee

MOST_BITS = 10**6
"""Powers of more bits than this are not written out."""


@guarantee(
    claim="the limit of h(x) for large x: exactly, or None where that is not known",
    proof="proofs/pairs.md#leaks",
    reviewed="73edea8545f7",
)
def leak(pair: Pair) -> Fraction | None:
    """The exact chance of an infinite loss."""
    match pair:
        case FinitePair(infinite=chance) | ApproxPair(delta=chance):
            return chance
        case AddedPair():
            return Fraction(0)
        case RemovedPair(pair=inner, rate=rate) | ExchangedPair(pair=inner, rate=rate):
            once = leak(inner)
            return None if once is None else rate * once
        case MixedPair(pairs=pairs, weights=weights):
            chances = [leak(part) for part in pairs]
            parts = [weight * chance for weight, chance in zip(weights, chances, strict=True) if chance is not None]
            return sum(parts, 1 - sum(weights, Fraction(0))) if len(parts) == len(pairs) else None
        case EitherPair(pairs=pairs):
            known = [most for part in pairs if (most := leak(part)) is not None]
            return max(known) if len(known) == len(pairs) else None
    return Fraction(0) if pair.lines()(arb(SURE)).here.is_zero() else None


@guarantee(
    claim="the sum of the largest finite losses, where the chance of an infinite one is at most delta; else infinite",
    proof="proofs/pairs.md#leaks",
    reviewed="a762ff4772d1",
)
def last_epsilon(composition: Sequence[tuple[Pair, int]], delta: Fraction) -> Extended:
    """An ε that holds at a δ which may be no more than what leaks."""
    kept, last = Fraction(1), Fraction(0)
    for pair, count in composition:
        end, chance = pair.largest, leak(pair)
        if end is None or end >= SURE or chance is None:
            return math.inf
        if chance:
            if count * chance.denominator.bit_length() + kept.denominator.bit_length() > MOST_BITS:
                return math.inf
            kept *= (1 - chance) ** count
        last += end * count
    return max(Fraction(0), last) if 1 - kept <= delta else math.inf
