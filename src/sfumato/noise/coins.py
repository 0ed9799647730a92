"""Many coins at once, each with its own probability exp(-x)."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from sfumato.entropy import Entropy
from sfumato.exact import down
from sfumato.guarantee import guarantee
from sfumato.noise.bernoulli import exp_law
from sfumato.noise.certified import EXP_MOST, exp_minus
from sfumato.noise.inversion import resolve
from sfumato.noise.sampling import CHUNK

COIN_BITS = 53
MARGIN = 2.0**-38
"""How far a coin must be from its certified float to be decided; the float is within 2^-39 of the truth."""

LARGEST_UNIT = 2.0**900


@guarantee(
    claim="entry i is true with probability exp(-gaps[i] unit), independently",
    proof="proofs/bernoulli.md#many",
    reviewed="cc3b85f06455",
)
def flip_exp_many(gaps: NDArray[np.uint64], *, unit: Fraction, entropy: Entropy) -> NDArray[np.bool_]:
    """Flips one coin for each entry, with probabilities exp(-gap × unit)."""
    heads = np.empty(len(gaps), dtype=np.bool_)
    factor = min(down(unit), LARGEST_UNIT)
    for start in range(0, len(gaps), CHUNK):
        part = gaps[start : start + CHUNK]
        tosses = entropy.words(len(part)) >> np.uint64(64 - COIN_BITS)
        near = exp_minus(np.minimum(part.astype(np.float64) * factor, EXP_MOST))
        margin = near - tosses.astype(np.float64) * 2.0**-COIN_BITS
        true_coins = margin > 0
        for place in np.flatnonzero(np.abs(margin) <= MARGIN):
            law = exp_law(int(part[place]) * unit)
            true_coins[place] = resolve(law, int(tosses[place]), COIN_BITS, entropy) == 0
        true_coins[part == 0] = True
        heads[start : start + CHUNK] = true_coins
    return heads
