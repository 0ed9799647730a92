"""Rényi curves: for each order α above 1, a certified bound on the Rényi divergence between neighbours, both ways.

A curve is a frozen record of public numbers. It answers for one use of one mechanism; `Renyi` adds curves up, and
`shapes` holds those of single mechanisms.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from bisect import bisect_left
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from typing import final

from sfumato.errors import BadArgument, NoProvenRoute
from sfumato.exact import Extended, Number, rational, up
from sfumato.guarantee import guarantee


@final
@dataclass(frozen=True)
class Orders:
    """A set of orders above 1: those from ``low`` to ``high``, only the whole ones of them, or a finite list.

    Just above each of ``steps`` a bound may jump; the last one is asked at also where it is not whole.

    >>> Orders.integers(most=8).both(Orders(low=Fraction(5, 2)))
    Orders(low=Fraction(5, 2), high=Fraction(8, 1), whole=True, listed=None, steps=())
    """

    low: Fraction = Fraction(1)
    high: Extended = math.inf
    whole: bool = False
    listed: tuple[Fraction, ...] | None = None
    steps: tuple[Fraction, ...] = ()

    @classmethod
    def integers(cls, *, most: Extended = math.inf) -> Orders:
        """The whole orders from 2 on."""
        return cls(low=Fraction(2), high=most if most == math.inf else Fraction(math.floor(most)), whole=True)

    @classmethod
    def exactly(cls, orders: Iterable[Number]) -> Orders:
        """A finite list of orders."""
        listed = tuple(sorted({read_order(order) for order in orders}))
        if not listed:
            raise BadArgument("orders", "one or more numbers greater than 1", listed)
        return cls(low=listed[0], high=listed[-1], listed=listed)

    def from_above(self, order: Fraction) -> Fraction | None:
        """The least order of the set that is not below an order, or nothing where all are."""
        if self.listed is not None:
            place = bisect_left(self.listed, order)
            return self.listed[place] if place < len(self.listed) else None
        nearest = max(order, self.low)
        wanted = Fraction(math.ceil(nearest)) if self.whole else nearest
        if wanted <= self.high:
            return wanted
        return self.steps[-1] if self.steps and order <= self.steps[-1] else None

    def between(self) -> Orders:
        """What a list of orders stands for: it answers between and below them too, each time as the next one."""
        return self if self.listed is None else Orders(high=self.high, steps=self.listed)

    def both(self, other: Orders) -> Orders:
        """Orders worth asking two curves at: both answer there, and no answer is for a higher order needlessly.

        Lists join, since a curve answers below its orders too; of other sets the common part is taken, and a list adds
        its steps to that.
        """
        high = min(self.high, other.high)
        if self.listed is not None and other.listed is not None:
            return Orders.exactly(order for order in (*self.listed, *other.listed) if order <= high)
        one, two = self.between(), other.between()
        steps = {step for step in (*one.steps, *two.steps) if step < high}
        ends = (*sorted(steps), Fraction(high)) if one.steps or two.steps else ()
        return Orders(max(one.low, two.low), high, one.whole or two.whole, steps=ends)


def read_order(order: Number) -> Fraction:
    """Reads an order, which must be above 1."""
    read = rational(order, "order")
    if read <= 1:
        raise BadArgument("the order of a Rényi divergence", "greater than 1", order)
    return read


class Curve(ABC):
    """A bound on the Rényi divergences between all neighbours, in both directions, at each of its orders.

    Subclasses give `bound`, `orders` and `ceiling`. They may override `near` with something faster, and nothing else.
    """

    @abstractmethod
    def bound(self, order: Fraction) -> Extended:
        """A certified upper bound at one of the curve's orders."""

    @abstractmethod
    def orders(self) -> Orders:
        """The orders at which the curve is stated."""

    @abstractmethod
    def ceiling(self) -> Extended:
        """A bound for all orders, infinity included: the mechanism is pure at it; ``inf`` where none is known."""

    @guarantee(
        claim="the bound at the least stated order that is not below the order asked for",
        proof="proofs/renyi.md#monotone",
        reviewed="527df3ebf748",
    )
    def at(self, order: Number) -> Extended:
        """A certified upper bound at an order; between stated orders that of the next, as divergences grow."""
        read = read_order(order)
        stated = self.orders().from_above(read)
        if stated is None:
            raise NoProvenRoute(
                "this Rényi curve is not stated at an order as high as this: ask at a lower one, or state it there."
            )
        return self.bound(stated)

    def near(self, order: float) -> float:
        """A float near the bound at one of the curve's orders; it may steer a search and promises nothing."""
        return up(self.bound(Fraction(order)))
