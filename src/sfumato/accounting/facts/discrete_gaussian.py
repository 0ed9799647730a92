"""What discrete Gaussian noise costs."""

from __future__ import annotations

from sfumato.accounting.facts.table import fact
from sfumato.accounting.measures import ZCDP
from sfumato.accounting.renyi import Renyi
from sfumato.accounting.shapes import Linear
from sfumato.exact import Distance, squared
from sfumato.guarantee import guarantee
from sfumato.noise.discrete_gaussian import DiscreteGaussian


@fact(DiscreteGaussian, ZCDP)
@guarantee(claim="rho = shift² / (2 scale²), in L2", proof="proofs/additive.md#gaussian", reviewed="0c606ebf38b5")
def discrete_gaussian_zcdp(noise: DiscreteGaussian, shift: Distance) -> ZCDP:
    """Gives the zCDP loss of independent noise on each coordinate, when neighbours are an L2 distance apart."""
    return ZCDP(squared(shift) / (2 * noise.square))


@fact(DiscreteGaussian, Renyi)
@guarantee(claim="order · shift² / (2 scale²), in L2", proof="proofs/additive.md#gaussian", reviewed="e861abc13dc3")
def discrete_gaussian_renyi(noise: DiscreteGaussian, shift: Distance) -> Renyi:
    """Gives the Rényi loss of independent noise on each coordinate, when neighbours are an L2 distance apart."""
    return Renyi.of(Linear(squared(shift) / (2 * noise.square)))
