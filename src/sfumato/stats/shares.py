"""Shares of a loss: what an algorithm of several stages may spend on each, and the noise that a share pays for.

None of this is a privacy claim. The compositor charges every stage for what it costs, whatever was aimed at.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction

from sfumato.accounting.facts import parameter_within
from sfumato.accounting.losses.measures import ZCDP, Loss, Pure
from sfumato.core.measurement import Measurement
from sfumato.core.metrics import Unit
from sfumato.core.partial import Partial
from sfumato.core.plan import constructor
from sfumato.errors import BadArgument
from sfumato.exact import Number, up
from sfumato.mechanisms.additive import gaussian, laplace

Spendable = Pure | ZCDP
"""Losses that can be cut into shares, which then add up again."""


def spendable(loss: Loss, verb: str) -> Spendable:
    """Reads the loss of an algorithm of several stages: Pure or ZCDP, more than nothing and finite."""
    if not isinstance(loss, Pure | ZCDP) or not 0 < loss.amounts[0] < math.inf:
        raise BadArgument(f"the loss of {verb}()", "Pure or ZCDP, more than 0 and finite, such as sf.Pure(1)", loss)
    return loss


def parameter_for(build: Callable[[Fraction], Measurement], loss: Spendable, d_in: Number | Unit) -> Fraction:
    """Finds the scale or temperature at which a measurement costs a loss.

    The ε of what is built grows with 1 / parameter, its ρ with 1 / parameter². A measurement that costs nothing at this
    distance gets 1.
    """
    at_one = build(Fraction(1)).map(d_in)
    if not isinstance(at_one, Pure | ZCDP):
        raise BadArgument("what is built", f"priced in {type(loss).__name__}", at_one)
    return parameter_within(at_one, loss) or Fraction(1)


@constructor
def noise_of(kind: type[Loss], scale: Fraction) -> Partial[Measurement]:
    """The additive noise of a kind of loss: Laplace for Pure, Gaussian for ZCDP."""
    return laplace(scale) if kind is Pure else gaussian(scale)


def deviation_of(kind: type[Loss], scale: Fraction) -> float:
    """The standard deviation of that noise, in the continuous approximation."""
    return up(scale) * (math.sqrt(2) if kind is Pure else 1.0)
