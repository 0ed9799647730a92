"""Trade-off curves: what a privacy loss leaves to someone who tests which of two neighbours a release came from.

A test that raises false alarms with probability α misses with probability at least f(α). All values here are rounded
down: what is printed is a bound that holds.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import TypeAlias

from sfumato.accounting.measures import Approx, Pure
from sfumato.errors import BadArgument
from sfumato.exact import Extended, Number, ball, down, exp_down, exp_up, lower, non_negative, probability
from sfumato.guarantee import guarantee

TradeOff: TypeAlias = Callable[[Number], float]
"""Takes a probability of false alarms and gives the least probability of misses, rounded down."""


def trade_off(*losses: Pure | Approx) -> TradeOff:
    """Gives the trade-off curve that a loss guarantees; of several that hold together, the best of their lines.

    >>> trade_off(Pure(0))(0.5)
    0.5
    >>> round(trade_off(Approx(1, 1e-6))(0.2), 7)
    0.4563426
    """
    if not losses or not all(isinstance(loss, Pure | Approx) for loss in losses):
        raise BadArgument("losses", "one or more Pure or Approx losses", losses)

    def curve(false_alarms: Number) -> float:
        rate = probability(false_alarms, "the rate of false alarms")
        return down(max(least_misses(loss, rate) for loss in losses))

    return curve


def gaussian_trade_off(shift: Number) -> TradeOff:
    """Gives the trade-off curve between two unit Gaussians a ``shift`` apart (sensitivity over σ).

    >>> round(gaussian_trade_off(1)(0.5), 7)
    0.1586553
    """
    distance = non_negative(shift, "shift")

    def curve(false_alarms: Number) -> float:
        return down(least_gaussian_misses(distance, probability(false_alarms, "the rate of false alarms")))

    return curve


@guarantee(
    claim="misses >= max(0, 1 - delta - exp(epsilon) rate, exp(-epsilon) (1 - delta - rate))",
    proof="proofs/trade_off.md#approximate",
    reviewed="ac6cb80c28ae",
)
def least_misses(loss: Pure | Approx, rate: Fraction) -> Fraction:
    """Gives the least miss rate of any test with a rate of false alarms, under a loss."""
    if loss.epsilon == math.inf:
        return Fraction(0)
    delta = loss.delta if isinstance(loss, Approx) else Fraction(0)
    epsilon = Fraction(loss.epsilon)
    growth = exp_up(epsilon)
    steep = 1 - delta - (Fraction(growth) * rate if growth != math.inf else Fraction(bool(rate)))
    flat = exp_down(-epsilon) * (1 - delta - rate)
    return max(Fraction(0), steep, flat)


@guarantee(
    claim="misses >= Phi(Phi^-1(1 - rate) - shift)",
    proof="proofs/trade_off.md#gaussian",
    reviewed="9ed3e3ab6cf6",
)
def least_gaussian_misses(shift: Fraction, rate: Fraction) -> Extended:
    """Gives the least miss rate of any test between N(0, 1) and N(shift, 1) with a rate of false alarms."""
    if shift == 0 or rate in (0, 1):
        return 1 - rate
    bound = lower(lambda: ((ball(shift) / ball(2).sqrt() - ball(2 * rate).erfcinv()).erfc()) / 2)
    return max(Fraction(0), bound)
