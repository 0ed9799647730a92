"""What staircase noise costs."""

from __future__ import annotations

import math

from sfumato.accounting.facts.table import fact
from sfumato.accounting.losses.measures import Pure
from sfumato.exact import Distance, rational_up
from sfumato.guarantee import guarantee
from sfumato.noise.staircase import Staircase


@fact(Staircase, Pure)
@guarantee(
    claim="epsilon = decay · ceil(shift / width), for whole numbers a shift apart",
    proof="proofs/integer_noise.md#staircase",
    reviewed="197d861aff8d",
)
def staircase_pure(noise: Staircase, shift: Distance) -> Pure:
    """The pure loss of staircase noise on one whole number."""
    return Pure(noise.decay * -(-math.floor(rational_up(shift)) // noise.width))
