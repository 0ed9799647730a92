"""Odometers: where spending stands that is chosen as one goes, with no limit set beforehand.

`SumOdometer` adds up what was stated. `AnytimeOdometer` turns that into one ε that bounds the realised privacy loss at
every moment at once, except with a probability δ. Both are values: public numbers, no data, no randomness.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from fractions import Fraction
from typing import final

from sfumato.accounting.adaptive.filters import (
    ADDS,
    L,
    SumFilter,
    at_orders,
    check_loss,
    check_range,
    check_stated,
    kept,
    same_kind,
)
from sfumato.accounting.losses.measures import ZCDP, Loss
from sfumato.accounting.losses.renyi import Renyi
from sfumato.errors import BadArgument, NoProvenRoute
from sfumato.exact import Extended, Number, log_up, positive, rational
from sfumato.guarantee import guarantee
from sfumato.plain import record

REACH = 16
"""Orders are prepared for sums up to about 4^REACH times more or fewer than expected."""


@final
@record("SumOdometer")
class SumOdometer:
    """The running sum of stated losses. Start it with the nothing of a kind, such as ``sf.Pure(0)``.

    Whoever stops while the sum is within some limit has kept that limit, provided that the rule by which they stop
    could never have let the sum pass it. A pure sum says more: it bounds the realised loss of what was seen.

    >>> from sfumato.accounting.losses.measures import Pure
    >>> SumOdometer(Pure(0)).after(Pure(0.1)).after(Pure(0.2)).spent
    Pure(epsilon=0.3)
    """

    spent: Loss

    def __post_init__(self) -> None:
        check_loss(self.spent, "what an odometer starts from", "sf.Pure(0)")
        check_range(self.spent)
        if type(self.spent) not in ADDS:
            kind = type(self.spent).__name__
            raise NoProvenRoute(
                f"the composed {kind} of what ran so far bounds nothing if mechanisms are chosen after seeing answers "
                "(proofs/privacy_filters.md#refused). Start an odometer from Pure, Approx, ZCDP, Renyi or GDP; if the "
                f"losses of all steps are fixed before the first answer, sf.accounting.Slots takes {kind} too."
            )

    def after(self, loss: Loss) -> SumOdometer:
        """Adds the stated loss of one more mechanism; it must be of the kind that is counted."""
        return SumOdometer(running_sum(self.spent, same_kind(loss, self.spent, "loss")))

    def limited(self, limit: Loss) -> SumFilter:
        """Starts a filter that goes on from here and keeps a limit; what is to stand inside a filter must be one.

        The limit may not depend on the answers: if it does, what is kept is the largest that might have been chosen.
        """
        return SumFilter(limit, spent=self.spent)


@final
@record("AnytimeOdometer")
class AnytimeOdometer:
    """An ε that bounds the realised privacy loss at every moment at once, except with probability ``delta``.

    It watches some orders, each with a share of δ; `AnytimeOdometer.around` picks them. They are fixed before the first
    answer: an odometer that has begun (``spent``) goes on with the orders it began with.

    >>> odometer = AnytimeOdometer.around(ZCDP(0.1), delta=1e-6)
    >>> round(float(odometer.after(ZCDP(0.05)).epsilon), 3), round(float(odometer.after(ZCDP(0.1)).epsilon), 3)
    (1.882, 2.542)
    """

    delta: Fraction
    orders: tuple[tuple[Fraction, Fraction], ...]
    spent: ZCDP | Renyi

    def __init__(self, *, delta: Number, orders: Iterable[tuple[Number, Number]], spent: Loss | None = None) -> None:
        read, failure = _read_orders(orders), _chance(delta)
        start = ZCDP.nothing() if spent is None else spent
        if not isinstance(start, ZCDP | Renyi):
            raise NoProvenRoute(
                "an odometer for every moment watches ZCDP or Renyi: convert the losses to one of these first."
            )
        object.__setattr__(self, "delta", failure)
        object.__setattr__(self, "orders", read)
        object.__setattr__(self, "spent", start)

    @classmethod
    def around(cls, expected: ZCDP, *, delta: Number, kind: type[ZCDP] | type[Renyi] = ZCDP) -> AnytimeOdometer:
        """Starts one with orders that serve best while the sum is as expected, and nearly as well far from there."""
        if kind not in (ZCDP, Renyi):
            raise BadArgument("kind", "sf.ZCDP or sf.Renyi", kind)
        return cls(delta=delta, orders=orders_around(expected, delta=delta), spent=kind.nothing())

    @property
    def epsilon(self) -> Extended:
        """The bound on the realised loss so far, rounded up."""
        return anytime_epsilon(self.spent, self.delta, self.orders)

    def after(self, loss: Loss) -> AnytimeOdometer:
        """Adds the stated loss of one more mechanism; a Rényi loss is counted at the watched orders only."""
        cost = same_kind(loss, self.spent, "loss")
        if isinstance(cost, Renyi) and isinstance(self.spent, Renyi):
            watched = [order for order, _ in self.orders]
            check_stated(cost, watched)
            total: Loss = kept(running_sum(self.spent, at_orders(cost, watched)), watched)
        else:
            total = running_sum(self.spent, cost)
        return AnytimeOdometer(delta=self.delta, orders=self.orders, spent=total)


def _read_orders(orders: object) -> tuple[tuple[Fraction, Fraction], ...]:
    """Reads orders with their shares."""
    must = "pairs of an order above 1 and a share, such as [(2, 0.5), (8, 0.5)], the shares adding up to at most 1"
    listed = list(orders) if isinstance(orders, Iterable) and not isinstance(orders, str | bytes) else []
    if any(not isinstance(pair, Sequence) or isinstance(pair, str) or len(pair) != 2 for pair in listed):
        raise BadArgument("orders", must, orders)
    read = tuple((rational(order, "order"), positive(share, "share")) for order, share in listed)
    if not read or any(order <= 1 for order, _ in read) or sum(share for _, share in read) > 1:
        raise BadArgument("orders", must, orders)
    return read


def _chance(delta: Number) -> Fraction:
    """Reads the probability with which an odometer may be passed."""
    read = positive(delta, "delta")
    if read >= 1:
        raise BadArgument("delta", "less than 1", delta)
    return read


def orders_around(expected: ZCDP, *, delta: Number) -> tuple[tuple[Fraction, Fraction], ...]:
    """Orders with their shares of δ: most for the order that is best at the expected sum, less further away."""
    if not isinstance(expected, ZCDP) or not 0 < expected.rho < math.inf:
        raise BadArgument("expected", "a ZCDP above 0, such as sf.ZCDP(0.1)", expected)
    centre = _near_root(Fraction(log_up(3 / _chance(delta))) / Fraction(expected.rho))
    steps = sorted(range(-REACH, REACH + 1), key=abs)
    return tuple((1 + centre * Fraction(2) ** step, _share(abs(step))) for step in steps)


def _near_root(square: Fraction) -> Fraction:
    """Approximates a square root by a number of few bits, also where floats do not reach."""
    half = (square.numerator.bit_length() - square.denominator.bit_length()) // 2
    mantissa, exponent = math.frexp(math.sqrt(square / Fraction(4) ** half))
    return Fraction(round(mantissa * 4096), 4096) * Fraction(2) ** (exponent + half)


def _share(distance: int) -> Fraction:
    """Computes 2 / (3 (d + 1)(d + 2)), which over all whole numbers, of both signs, adds up to 1."""
    return Fraction(2, 3 * (distance + 1) * (distance + 2))


@guarantee(
    claim="an interaction that can never pass a sum has that loss, and a pure sum bounds every realised loss",
    proof="proofs/odometers.md#sums",
    reviewed="7482593a021d",
)
def running_sum(spent: L, loss: L) -> L:
    """Adds a loss to what was spent, for the kinds in `filters.ADDS`."""
    return spent.then(loss)


@guarantee(
    claim="at all times at once, but for probability delta: loss <= min D_order + ln(1 / (share delta)) / (order - 1)",
    proof="proofs/odometers.md#anytime",
    reviewed="3cc33c93b928",
)
def anytime_epsilon(spent: ZCDP | Renyi, delta: Fraction, orders: tuple[tuple[Fraction, Fraction], ...]) -> Extended:
    """A bound on the realised loss that holds at every moment at once, except with probability δ."""
    if spent == type(spent).nothing():
        return Fraction(0)
    bounds: list[Extended] = []
    for order, share in orders:
        divergence = order * spent.rho if isinstance(spent, ZCDP) else spent.at(order)
        bounds.append(divergence + log_up(1 / (share * delta)) / (order - 1))
    return min(bounds)
