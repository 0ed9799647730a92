"""What discrete Laplace noise costs."""

from __future__ import annotations

from sfumato.accounting.facts.table import fact
from sfumato.accounting.measures import Pure
from sfumato.exact import Distance, rational_up
from sfumato.guarantee import guarantee
from sfumato.noise.discrete_laplace import DiscreteLaplace


@fact(DiscreteLaplace, Pure)
@guarantee(claim="epsilon = shift / scale, in L1", proof="proofs/additive.md#laplace", reviewed="ed1891190f0a")
def discrete_laplace_pure(noise: DiscreteLaplace, shift: Distance) -> Pure:
    """Gives the pure loss of independent noise on each coordinate, when neighbours are an L1 distance apart."""
    return Pure(rational_up(shift) / noise.scale)
