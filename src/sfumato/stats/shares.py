"""Shares of a loss: what an algorithm of several stages may spend on each, and the noise that a share pays for.

None of this is a privacy claim. The compositor charges every stage for what it costs, whatever was aimed at.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction

from sfumato.accounting.measures import ZCDP, Loss, Pure
from sfumato.core.measurement import Measurement
from sfumato.core.metrics import Unit
from sfumato.core.partial import Partial
from sfumato.core.plan import constructor
from sfumato.errors import BadArgument
from sfumato.exact import Extended, Number, rational_up, root, up
from sfumato.mechanisms.additive import gaussian, laplace

Spendable = Pure | ZCDP
"""Losses that can be cut into shares, which then add up again."""


def spendable(loss: Loss, verb: str) -> Spendable:
    """Reads the loss of an algorithm of several stages: Pure or ZCDP, more than nothing and finite."""
    if not isinstance(loss, Pure | ZCDP) or not 0 < _amount(loss) < math.inf:
        raise BadArgument(f"the loss of {verb}()", "Pure or ZCDP, more than 0 and finite, such as sf.Pure(1)", loss)
    return loss


def share(loss: Spendable, part: Fraction) -> Spendable:
    """Gives a part of a loss, such that parts that make 1 add up to it."""
    return type(loss)(Fraction(_amount(loss)) * part)


def parameter_for(build: Callable[[Fraction], Measurement], loss: Spendable, d_in: Number | Unit) -> Fraction:
    """Gives the scale or temperature at which a measurement costs a loss.

    The ε of what is built grows with 1 / parameter, its ρ with 1 / parameter². A measurement that costs nothing at this
    distance gets 1.
    """
    one = build(Fraction(1)).map(d_in)
    if not isinstance(one, Pure | ZCDP) or type(one) is not type(loss):
        raise BadArgument("what is built", f"priced in {type(loss).__name__}", one)
    ratio = Fraction(_amount(one)) / Fraction(_amount(loss))
    return (ratio if isinstance(loss, Pure) else Fraction(rational_up(root(ratio)))) or Fraction(1)


@constructor
def noise_of(kind: type[Loss], scale: Fraction) -> Partial[Measurement]:
    """Gives the additive noise of a kind of loss: Laplace for Pure, Gaussian for ZCDP."""
    return laplace(scale) if kind is Pure else gaussian(scale)


def deviation_of(kind: type[Loss], scale: Fraction) -> float:
    """Gives the standard deviation of that noise, in the continuous approximation."""
    return up(scale) * (math.sqrt(2) if kind is Pure else 1.0)


def _amount(loss: Spendable) -> Extended:
    return loss.epsilon if isinstance(loss, Pure) else loss.rho
