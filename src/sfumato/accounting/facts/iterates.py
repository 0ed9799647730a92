"""What is left of the noise of earlier steps when only the last iterate of training is seen."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
from flint import arb

from sfumato.exact import Extended, ball, upper
from sfumato.guarantee import guarantee

TRIED = 4000
"""About how many numbers of steps are looked at before one is taken."""


@guarantee(
    claim="the least found, over the last m of T steps, of (sum of c^j, j < m, + c^m d)² / (sum of c^2j, j < m), with "
    "d = 0 at m = T: rounded up",
    proof="proofs/last_iterate.md#bound",
    reviewed="db92aafb0bf8",
)
def iterate_square(steps: int, contraction: Fraction, distance: Extended) -> Fraction:
    """μ² of the last iterate, in squares of one step's; ``distance`` is the diameter in moves of one step.

    >>> iterate_square(100, Fraction(1), math.inf), iterate_square(10**6, Fraction(1), Fraction(25))
    (Fraction(100, 1), Fraction(100, 1))
    """
    whole = remembered_square(steps, contraction, Fraction(0))
    if distance == math.inf:
        return whole
    apart = Fraction(distance)
    return min(whole, remembered_square(_best(steps, contraction, apart), contraction, apart))


def remembered_square(steps: int, contraction: Fraction, apart: Fraction) -> Fraction:
    """The bound from the last so many steps, before which the two runs are so far apart; rounded up."""
    if contraction == 1:
        return (steps + apart) ** 2 / steps
    if contraction == 0:
        return Fraction(1)

    def enclosed() -> arb:
        factor = ball(contraction)
        left = factor**steps
        return (((1 - left) / (1 - factor) + left * ball(apart)) ** 2) * (1 - factor**2) / (1 - left**2)

    return Fraction(upper(enclosed))


def _best(steps: int, contraction: Fraction, apart: Fraction) -> int:
    """About how many of the last steps to look at; any number gives a bound."""
    if contraction == 1:
        near = max(1, min(steps, math.floor(apart)))
        return min((near, min(steps, near + 1)), key=lambda count: (count + apart) ** 2 / count)
    if contraction == 0:
        return 1
    places = np.unique(np.geomspace(1, steps, TRIED).astype(np.int64))
    factor = float(contraction)
    left = factor ** places.astype(np.float64)
    sums = (1 - left) / (1 - factor) + left * float(apart)
    squares = np.maximum((1 - left**2) / (1 - factor**2), 1.0)
    return int(places[np.argmin(sums**2 / squares)])
