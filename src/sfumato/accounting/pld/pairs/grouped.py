"""The pairs of groups: what dominates neighbours of neighbours, where that is a pair of the same kind."""

from __future__ import annotations

from sfumato.accounting.pld.pairs.either import RangePair
from sfumato.accounting.pld.pairs.finite import ResponsePair
from sfumato.accounting.pld.pairs.gaussian import GaussianPair
from sfumato.accounting.pld.pairs.integer import IntegerNoisePair
from sfumato.accounting.pld.pairs.laplace import LaplacePair
from sfumato.accounting.pld.pairs.pair import Pair
from sfumato.guarantee import guarantee
from sfumato.noise.discrete_laplace import DiscreteLaplace


@guarantee(
    claim="noise of a shift: the same noise of size times the shift; a bounded range: size times the range; randomized "
    "response: discrete Laplace noise of scale 1 / epsilon and shift size",
    proof="proofs/group_privacy.md#pairs",
    reviewed="c200c043261d",
)
def grouped_pair(pair: Pair, size: int) -> Pair | None:
    """A pair that dominates the two ends of a chain of neighbours, of this many steps; none where it is not on file."""
    match pair:
        case GaussianPair(square=square):
            return GaussianPair(square * size**2)
        case LaplacePair(ratio=ratio):
            return LaplacePair(ratio * size)
        case RangePair(eta=eta):
            return RangePair(eta * size)
        case IntegerNoisePair(noise=noise, shift=shift):
            return IntegerNoisePair(noise, shift * size)
        case ResponsePair(epsilon=epsilon):
            return IntegerNoisePair(DiscreteLaplace(1 / epsilon), size)
    return None
