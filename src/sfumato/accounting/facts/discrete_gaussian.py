"""What discrete Gaussian noise costs."""

from __future__ import annotations

from sfumato.accounting.facts.table import fact
from sfumato.accounting.measures import ZCDP
from sfumato.exact import Distance, squared
from sfumato.guarantee import guarantee
from sfumato.noise.discrete_gaussian import DiscreteGaussian


@fact(DiscreteGaussian, ZCDP)
@guarantee(claim="rho = shift² / (2 scale²), in L2", proof="proofs/additive.md#gaussian", reviewed="0c606ebf38b5")
def discrete_gaussian_zcdp(noise: DiscreteGaussian, shift: Distance) -> ZCDP:
    """Gives the zCDP loss of independent noise on each coordinate, when neighbours are an L2 distance apart."""
    return ZCDP(squared(shift) / (2 * noise.square))
