"""Advanced composition for spending chosen as one goes: many small losses cost about the root of their number."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import NamedTuple, final

from sfumato.accounting.adaptive.filters import same_kind
from sfumato.accounting.losses.amounts import amount
from sfumato.accounting.losses.concentrated import ApproxZCDP
from sfumato.accounting.losses.measures import Approx, Loss
from sfumato.accounting.losses.renyi import Renyi
from sfumato.accounting.plans.search import SMALLEST, greatest
from sfumato.accounting.renyi.curves import read_order
from sfumato.accounting.renyi.mechanism_curves import PureCurve
from sfumato.errors import BadArgument, QueryRefused
from sfumato.exact import Extended, Number, ball, digits_up, lower, probability, rational, up
from sfumato.guarantee import guarantee
from sfumato.plain import record


class AtOrder(NamedTuple):
    """A bound on the Rényi divergence of one order between what is left when δ of each distribution is set aside."""

    divergence: Extended
    delta: Fraction


@final
@record("AdvancedFilter")
class AdvancedFilter:
    """The filter for an (ε, δ) limit that admits many small (ε, δ) losses; ``reserve`` of δ pays for the tail.

    The rest of δ is what the admitted losses may have themselves. Keep the reserve near δ where they are pure. What is
    added up is the Rényi divergence of one ``order``, fixed at the start; ``divergence`` and ``delta`` are the sums.

    >>> so_far = AdvancedFilter(Approx(1, 1e-6), reserve=1e-6)
    >>> for _ in range(57):  # one after the other; by basic composition 33 would fit
    ...     so_far = so_far.after(Approx(0.03, 0))
    >>> so_far.admits(Approx(0.03, 0))
    False
    """

    limit: Approx
    reserve: Fraction
    order: Fraction
    divergence: Extended
    delta: Fraction

    def __init__(
        self,
        limit: Approx,
        *,
        reserve: Number,
        order: Number | None = None,
        divergence: Number = 0,
        delta: Number = 0,
    ) -> None:
        if not isinstance(limit, Approx) or limit.epsilon == math.inf:
            raise BadArgument("limit", "an sf.Approx of finite epsilon", limit)
        share = rational(reserve, "reserve")
        if not 0 < share <= limit.delta or share == 1:
            raise BadArgument("reserve", "greater than 0, less than 1 and at most the delta of the limit", reserve)
        watched = best_order(limit.epsilon, share) if order is None else read_order(order)
        start = AtOrder(amount(divergence, "divergence"), probability(delta, "delta"))
        if not fits(start, advanced_room(limit, share, watched)):
            raise BadArgument("divergence and delta", "within the room of the limit", start)
        for name, value in (("limit", limit), ("reserve", share), ("order", watched), *start._asdict().items()):
            object.__setattr__(self, name, value)

    @property
    def room(self) -> AtOrder:
        """The limit as a divergence and a δ, the terms in which losses add up."""
        return advanced_room(self.limit, self.reserve, self.order)

    @property
    def spent(self) -> Loss:
        """The divergence that was admitted so far, at the order that is watched; ``delta`` is set aside."""
        return Renyi({self.order: self.divergence})

    @property
    def left(self) -> Approx:
        """The largest ε that is still admitted, and beside it the largest δ."""
        rest, order = self.room.divergence - self.divergence, self.order
        share = (self.room.delta - self.delta) / (1 - self.delta)
        if PureCurve(SMALLEST).bound(order) > rest:
            return Approx(0, share)
        return Approx(greatest(lambda epsilon: PureCurve(epsilon).bound(order) <= rest, what="epsilon"), share)

    @property
    def guarantee(self) -> str:
        """Says in one sentence what is promised, and where it is proved."""
        return f"{self.limit} for the whole interaction, however it goes (proofs/privacy_filters.md#advanced)"

    @property
    def interleaves(self) -> bool:
        """Tells whether mechanisms that answer many questions may be admitted and then asked in turns."""
        return True

    def admits(self, loss: Loss) -> bool:
        """Tells whether a mechanism of this loss may run now."""
        return fits(self._with(loss), self.room)

    def after(self, loss: Loss) -> AdvancedFilter:
        """Charges a mechanism of this loss and returns the filter that follows; refuses what may not run."""
        total, room = self._with(loss), self.room
        if not fits(total, room):
            raise QueryRefused(
                f"{loss} does not fit under the limit {self.limit}: with it the Rényi divergence of order "
                f"{digits_up(self.order)} would come to {digits_up(total.divergence)}, and there is room for "
                f"{digits_up(room.divergence)}; δ would come to {digits_up(total.delta)} of {digits_up(room.delta)}. "
                "Nothing ran and nothing was spent; ask for something cheaper (`left` is the largest ε that fits)."
            )
        return AdvancedFilter(
            self.limit, reserve=self.reserve, order=self.order, divergence=total.divergence, delta=total.delta
        )

    def _with(self, loss: Loss) -> AtOrder:
        """The sums with one more loss counted."""
        cost = counted(same_kind(loss, self.limit, "loss"), self.order)
        return added(AtOrder(self.divergence, self.delta), cost)


@guarantee(
    claim="with delta of each distribution set aside, the divergence of randomized response of epsilon, rounded up",
    proof="proofs/privacy_filters.md#advanced",
    reviewed="13ab8c74d77c",
)
def counted(loss: Approx, order: Fraction) -> AtOrder:
    """What an (ε, δ) loss costs at an order: a divergence, and the δ that is set aside."""
    return AtOrder(PureCurve(loss.epsilon).bound(order), loss.delta)


@guarantee(
    claim="divergences of one order add up; what is set aside composes to 1 - (1 - delta₁)(1 - delta₂), rounded up",
    proof="proofs/privacy_filters.md#advanced",
    reviewed="df43726cf44a",
)
def added(first: AtOrder, second: AtOrder) -> AtOrder:
    """What two mechanisms cost together, the second chosen in the light of the first one's answer."""
    aside = ApproxZCDP(0, first.delta).then(ApproxZCDP(0, second.delta)).delta
    return AtOrder(first.divergence + second.divergence, aside)


@guarantee(
    claim="both the divergence and what is set aside are within the room",
    proof="proofs/privacy_filters.md#advanced",
    reviewed="d0dae26bb9d5",
)
def fits(total: AtOrder, room: AtOrder) -> bool:
    """Tells whether sums are within a room."""
    return total.divergence <= room.divergence and total.delta <= room.delta


@guarantee(
    claim="a divergence within this room, delta set aside, is (epsilon, delta) private; the reserve is part of delta",
    proof="proofs/privacy_filters.md#advanced",
    reviewed="4adc705a7342",
)
def advanced_room(limit: Approx, reserve: Fraction, order: Fraction) -> AtOrder:
    """The divergence of an order that fits into an (ε, δ) limit, if ``reserve`` of δ pays for the tail."""
    divergence = max(Fraction(0), room_at(Fraction(limit.epsilon), reserve, order))
    return AtOrder(divergence, (limit.delta - reserve) / (1 - reserve))


@guarantee(
    claim="the D for which D_order <= D gives (epsilon, delta), rounded down",
    proof="proofs/privacy_filters.md#tail",
    reviewed="b3184d149cc5",
)
def room_at(epsilon: Fraction, delta: Fraction, order: Fraction) -> Extended:
    """The largest divergence of an order that is shown to be (ε, δ) private; below 0 where none is."""
    above = order - 1
    return lower(lambda: ball(epsilon) - ball(above / order).log() + (ball(delta) * ball(order)).log() / ball(above))


def best_order(epsilon: Extended, delta: Fraction) -> Fraction:
    """An order near the one that leaves most room for small losses; any order above 1 would be sound.

    Floats steer, and few bits are kept, so that the room is the same on every machine.
    """
    target = min(max(up(epsilon), 1e-9), 1e12)
    tail = math.log(delta.denominator) - math.log(delta.numerator)

    def room(above: float) -> float:
        order = 1 + above
        return (target - math.log(above / order) - (tail - math.log(order)) / above) / order

    low, high = -30.0, 60.0  # of log2(order - 1); the room has one peak in between
    for _ in range(60):
        left, right = low + (high - low) / 3, high - (high - low) / 3
        low, high = (left, high) if room(2.0**left) < room(2.0**right) else (low, right)
    mantissa, exponent = math.frexp(2.0 ** ((low + high) / 2))
    return 1 + Fraction(round(mantissa * 4096), 4096) * Fraction(2) ** exponent
