"""Which pairs certainly dominate which: of such two, only the larger needs to be looked at."""

from __future__ import annotations

from collections.abc import Iterable

from sfumato.accounting.pld.pairs.either import EitherPair, RangePair
from sfumato.accounting.pld.pairs.finite import ResponsePair
from sfumato.accounting.pld.pairs.gaussian import GaussianPair
from sfumato.accounting.pld.pairs.integer import IntegerNoisePair
from sfumato.accounting.pld.pairs.laplace import LaplacePair
from sfumato.accounting.pld.pairs.pair import Pair
from sfumato.accounting.pld.pairs.sampled import AddedPair, ExchangedPair, RemovedPair
from sfumato.guarantee import guarantee


@guarantee(
    claim="where it says yes, the first pair dominates the second",
    proof="proofs/pairs.md#order",
    reviewed="03463660b2aa",
)
def dominates(large: Pair, small: Pair) -> bool:
    """Tells whether one pair certainly dominates another; no where that cannot be told from their numbers.

    >>> dominates(LaplacePair(2), LaplacePair(1)), dominates(LaplacePair(1), LaplacePair(2))
    (True, False)
    """
    if large == small:
        return True
    match large, small:
        case GaussianPair(), GaussianPair():
            return large.square >= small.square
        case LaplacePair(), LaplacePair():
            return large.ratio >= small.ratio
        case RangePair(), RangePair():
            return large.eta >= small.eta
        case ResponsePair(), ResponsePair():
            return large.options == small.options and large.epsilon >= small.epsilon
        case IntegerNoisePair(), IntegerNoisePair():
            return large.noise == small.noise and large.shift >= small.shift
        case (RemovedPair(pair=over, rate=more), RemovedPair(pair=under, rate=less)):
            return more >= less and dominates(over, under)
        case (AddedPair(pair=over, rate=more), AddedPair(pair=under, rate=less)):
            return more >= less and dominates(over, under)
        case (ExchangedPair(pair=over, rate=more), ExchangedPair(pair=under, rate=less)):
            return more >= less and dominates(over, under)
        case _, EitherPair():
            return all(dominates(large, part) for part in small.pairs)
        case EitherPair(), _:
            return any(dominates(part, small) for part in large.pairs)
    return False


def either(*pairs: Pair) -> Pair:
    """A pair that dominates each of several: one of them if it does, else an `EitherPair` of those needed."""
    parts = [part for pair in pairs for part in (pair.pairs if isinstance(pair, EitherPair) else (pair,))]
    kept = _largest(parts)
    return kept[0] if len(kept) == 1 else EitherPair(tuple(kept))


def _largest(pairs: Iterable[Pair]) -> list[Pair]:
    """Leaves out what another one dominates."""
    kept: list[Pair] = []
    for pair in pairs:
        if not any(dominates(other, pair) for other in kept):
            kept = [other for other in kept if not dominates(pair, other)] + [pair]
    return kept
