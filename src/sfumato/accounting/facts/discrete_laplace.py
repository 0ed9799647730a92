"""What discrete Laplace noise costs."""

from __future__ import annotations

import math

from sfumato.accounting.facts.table import fact
from sfumato.accounting.measures import Pure
from sfumato.accounting.renyi import Renyi
from sfumato.accounting.shapes import DiscreteLaplaceCurve
from sfumato.exact import Distance, rational_up
from sfumato.guarantee import guarantee
from sfumato.noise.discrete_laplace import DiscreteLaplace


@fact(DiscreteLaplace, Pure)
@guarantee(claim="epsilon = shift / scale, in L1", proof="proofs/additive.md#laplace", reviewed="ed1891190f0a")
def discrete_laplace_pure(noise: DiscreteLaplace, shift: Distance) -> Pure:
    """Gives the pure loss of independent noise on each coordinate, when neighbours are an L1 distance apart."""
    return Pure(rational_up(shift) / noise.scale)


@fact(DiscreteLaplace, Renyi)
@guarantee(
    claim="the curve of the shift in L1, rounded down to a whole number", proof="proofs/renyi.md#discrete-laplace",
    reviewed="73c4b2c3e0c6",
)  # fmt: skip
def discrete_laplace_renyi(noise: DiscreteLaplace, shift: Distance) -> Renyi:
    """Gives the Rényi loss of independent noise on each of some whole numbers that are an L1 distance apart."""
    whole = math.floor(rational_up(shift))
    return Renyi.of(DiscreteLaplaceCurve(noise.scale, whole)) if whole else Renyi.nothing()
