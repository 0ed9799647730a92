"""What is left: of several limits at once, and in words that still fit."""

from __future__ import annotations

import math
from collections.abc import Sequence
from decimal import ROUND_FLOOR
from fractions import Fraction
from functools import reduce

from sfumato.accounting.concentrated import GDP, ApproxZCDP
from sfumato.accounting.measures import ZCDP, Approx, Loss, Pure
from sfumato.accounting.renyi import Renyi
from sfumato.accounting.shares import share_of
from sfumato.errors import NoProvenRoute
from sfumato.exact import Extended, Number, decimal_of, down
from sfumato.ledger.rules import in_kind

STEPS = 1 << 30
"""Where limits of several kinds meet, what is left is found to this fraction of itself."""


def least_of(left: Sequence[Loss]) -> Loss:
    """Gives the largest loss of the first one's kind that is within all of some losses."""
    kind = type(left[0])
    found = reduce(both, (loss for loss in left if type(loss) is kind))
    others = [loss for loss in left if type(loss) is not kind]
    if all(_fits(found, other) for other in others):
        return found
    low, high = 0, STEPS
    while high - low > 1:
        middle = (low + high) // 2
        fits = all(_fits(share_of(found, Fraction(middle, STEPS)), other) for other in others)
        low, high = (middle, high) if fits else (low, middle)
    return share_of(found, Fraction(low, STEPS)) if low else kind.nothing()


def _fits(loss: Loss, left: Loss) -> bool:
    try:
        return in_kind(loss, type(left)).within(left)
    except NoProvenRoute:
        return False


def both(one: Loss, other: Loss) -> Loss:
    """Gives the largest loss that is within two losses of the same kind."""
    match one, other:
        case (Pure(), Pure()) | (ZCDP(), ZCDP()) | (GDP(), GDP()):
            return one if one.within(other) else other
        case Approx(), Approx():
            return Approx(min(one.epsilon, other.epsilon), min(one.delta, other.delta))
        case ApproxZCDP(), ApproxZCDP():
            return ApproxZCDP(min(one.rho, other.rho), min(one.delta, other.delta))
        case Renyi(), Renyi():
            return _both_curves(one, other)
    if one == other or one.within(other):
        return one
    if other.within(one):
        return other
    raise NoProvenRoute(f"there is no rule for what is within two {type(one).__name__} losses at once.")


def _both_curves(one: Renyi, other: Renyi) -> Renyi:
    """Gives the largest table that is within two, stated at all of their orders."""
    if Renyi.nothing() in (one, other):
        return Renyi.nothing()
    bounds: dict[Number, Number] = {}
    for curve in (one, other):
        for order in curve.orders().listed or ():
            bounds[order] = min(curve.at(order), bounds.get(order, curve.at(order)))
    return Renyi(bounds)


def floored(loss: Loss) -> str:
    """Prints a loss that is left with its digits rounded down, so that what is printed still fits.

    >>> floored(Pure("1/3")), str(Pure("1/3"))
    ('ε = 0.333333', 'ε = 0.333334')
    """
    match loss:
        case Pure(epsilon=epsilon):
            return str(Pure(_down(epsilon)))
        case Approx(epsilon=epsilon, delta=delta):
            return str(Approx(_down(epsilon), _down(delta)))
        case ZCDP(rho=rho):
            return str(ZCDP(_down(rho)))
        case ApproxZCDP(rho=rho, delta=delta):
            return str(ApproxZCDP(_down(rho), _down(delta)))
        case GDP(mu=mu):
            return str(GDP(_down(down(mu))))
    return str(loss)


def _down(value: Extended) -> Extended:
    return math.inf if value == math.inf else Fraction(decimal_of(Fraction(value), 6, ROUND_FLOOR))
