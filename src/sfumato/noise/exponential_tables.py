"""Many draws from one short list of candidates with weights exp(exponent): one table, built once."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from flint import arb

from sfumato.exact import ball
from sfumato.guarantee import guarantee
from sfumato.noise.inversion import IndexLaw, InversionTable


@guarantee(
    claim="index i has mass exp(exponents[i]) over the sum of these",
    proof="proofs/selection_sampling.md#exponential",
    reviewed="275af5e75335",
)
def exponential_law(exponents: Sequence[Fraction]) -> IndexLaw:
    """The law of an index that is the likelier the larger its exponent."""
    top = max(exponents)
    gaps = [exponent - top for exponent in exponents]

    def below(index: int) -> arb:
        weights = [ball(gap).exp() for gap in gaps]
        return sum(weights[:index], arb(0)) / sum(weights, arb(0))

    return IndexLaw(below, len(gaps))


def exponential_table(exponents: Sequence[Fraction]) -> InversionTable:
    """Builds the table that draws many indices of one list of exponents."""
    return InversionTable.listing(exponential_law(exponents), len(exponents))
