"""What it saves that the steps of a banded factorisation see secret samples of parts that take turns."""

from __future__ import annotations

import math
from fractions import Fraction

from sfumato.accounting.events import Gaussian, Poisson, Repeat, Sampled, SampledFactorization
from sfumato.accounting.facts.strategies import Dense, column_square
from sfumato.exact import root, squared
from sfumato.guarantee import guarantee


@guarantee(
    claim="a unit's candidate steps move separate rows, each once and by chance: at most ceil(steps / period) sampled "
    "Gaussian mechanisms, each with the largest norm of a column times the shift",
    proof="proofs/factorization.md#sampled",
    reviewed="3d94d6a5a101",
)
def sampled_bands(event: SampledFactorization) -> Repeat:
    """The plan of sampled Gaussian noise that costs at least as much.

    >>> from sfumato.accounting.events import Toeplitz
    >>> sampled_bands(SampledFactorization(2, Toeplitz([1, 0.75], steps=9), period=4, rate=0.1)).times
    3
    """
    reach, _ = column_square(event.strategy)
    once = Gaussian(event.scale, root(reach * Fraction(squared(event.shift))) if event.shift != math.inf else math.inf)
    return Repeat(Sampled(once, Poisson(event.rate)), -(-event.strategy.length // event.period))


@guarantee(
    claim="where it says yes, every candidate step of the first part has a column of the largest norm",
    proof="proofs/factorization.md#attained",
    reviewed="822be3862d23",
)
def all_bands_fit(event: SampledFactorization) -> bool:
    """Tells whether some mechanism that fits the event costs as much as `sampled_bands`."""
    steps, period = event.strategy.length, event.period
    last = (steps - 1) // period * period
    return not isinstance(event.strategy, Dense) and last + column_square(event.strategy)[1] <= steps
