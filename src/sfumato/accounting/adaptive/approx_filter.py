"""The filter for an (ε, δ) limit: losses are counted in several ways at once, and go on while one of them has room.

Few large losses are best added up; many small ones are best counted by Rényi divergences, and Gaussian noise by its μ.
Nobody knows beforehand which it will be, so each way gets a share of δ (proofs/privacy_filters.md#any-way).
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from fractions import Fraction
from functools import cached_property, lru_cache
from typing import final

from sfumato.accounting.adaptive.advanced import best_order, room_at
from sfumato.accounting.adaptive.costs import NOTHING, Cost, Spending, spending_of
from sfumato.accounting.adaptive.filters import SumFilter, check_loss
from sfumato.accounting.convert.convert import convert
from sfumato.accounting.facts.gaussian import exact_gaussian_delta, gaussian_upper_tail
from sfumato.accounting.losses.concentrated import GDP
from sfumato.accounting.losses.measures import Approx, Loss, Pure
from sfumato.accounting.plans.search import SMALLEST, greatest
from sfumato.accounting.renyi.curves import read_order
from sfumato.accounting.renyi.mechanism_curves import PureCurve
from sfumato.errors import BadArgument, QueryRefused
from sfumato.exact import Extended, Number, ball, lower
from sfumato.guarantee import guarantee
from sfumato.plain import record

ADDED, ASIDE, RENYI, GAUSSIAN = Fraction(1, 2), Fraction(1, 8), Fraction(1, 8), Fraction(1, 4)
"""How δ is divided: for stated losses that are added up; for what the other ways set aside; for their two tails."""


@final
@record("ApproxFilter")
class ApproxFilter:
    """A filter for an (ε, δ) limit under which many small losses cost about the root of their number.

    What was admitted is added up as stated, as pure losses, as Rényi divergences of one ``order`` and as squares of μ.
    A mechanism may run if, with it, one of these sums is within its room. The first of all decides: if it takes so much
    δ that the other ways could not follow, losses are added up from then on, with all of δ (a `SumFilter`).

    >>> so_far = ApproxFilter(Approx(1, 1e-6))
    >>> for _ in range(1000):  # each costs ε = 0.026 at δ = 1e-9
    ...     so_far = so_far.after(GDP(0.006))
    >>> so_far.admits(GDP(0.006)), so_far.admits(Pure(0.9))
    (True, False)
    """

    limit: Approx
    order: Fraction
    counted: Spending

    def __init__(self, limit: Approx, *, order: Number | None = None, counted: Spending = NOTHING) -> None:
        if not isinstance(limit, Approx) or not (0 < limit.epsilon < math.inf and 0 < limit.delta < 1):
            raise BadArgument("limit", "an sf.Approx with finite epsilon above 0 and delta between 0 and 1", limit)
        watched = best_order(limit.epsilon, RENYI * limit.delta) if order is None else read_order(order)
        for name, value in (("limit", limit), ("order", watched), ("counted", counted)):
            object.__setattr__(self, name, value)

    def having(self, counted: Spending) -> ApproxFilter:
        """The same filter with other sums; its limit and its room were read when the first was made."""
        following = object.__new__(ApproxFilter)
        following.__dict__.update(self.__dict__, counted=counted)
        return following

    @cached_property
    def room(self) -> Spending:
        """The limit in the terms of each way of counting."""
        return rooms(self.limit, self.order)

    @property
    def spent(self) -> Approx:
        """What was charged, added up; where that is more than the limit, the least that another way proves."""
        if self.counted.added.within(self.limit):
            return self.counted.added
        return min(self._proved(), key=lambda spent: spent.epsilon, default=self.limit)

    @property
    def left(self) -> Approx:
        """The largest stated ε that is still admitted, and the largest δ beside it; of Gaussian noise more may fit."""
        if self.counted == NOTHING:
            return self.limit
        return max(self.ways.values(), key=lambda left: (left.epsilon, left.delta), default=Approx.nothing())

    @property
    def ways(self) -> dict[str, Approx]:
        """The ways of counting that still hold, and the largest stated loss that each of them still admits."""
        counted, room, left = self.counted, self.room, dict[str, Approx]()
        if counted.added.within(room.added):
            left["added up"] = room.added.minus(counted.added)
        if counted.aside > room.aside:
            return left
        free = room.aside - counted.aside
        if (rest := room.epsilon - counted.epsilon) >= 0:
            left["as pure losses"] = Approx(rest, free)
        if (rest := room.divergence - counted.divergence) >= 0:
            left["by Rényi divergences"] = Approx(_pure_within_order(rest, self.order), free)
        if (rest := room.square - counted.square) >= 0:
            left["as Gaussian losses"] = Approx(_pure_within_square(Fraction(rest)), free)
        return left

    @property
    def guarantee(self) -> str:
        """What is promised, in one sentence, and where it is proved."""
        return f"{self.limit} for the whole interaction, however it goes (proofs/privacy_filters.md#any-way)"

    @property
    def interleaves(self) -> bool:
        """Whether mechanisms that answer many questions may be admitted and then asked in turns."""
        return True

    def admits(self, cost: Loss | Cost) -> bool:
        """Tells whether a mechanism of this cost may run now."""
        return self._following(cost) is not None

    def after(self, cost: Loss | Cost) -> ApproxFilter | SumFilter:
        """The filter once a mechanism of this cost is charged; refuses where it may not run."""
        following = self._following(cost)
        if following is None:
            raise QueryRefused(
                f"{Cost.of(cost).loss} does not fit under the limit {self.limit}, in whichever way losses are counted. "
                "Nothing ran and nothing was spent; ask for something cheaper (`left` is the largest ε that fits; of "
                "Gaussian noise more does)."
            )
        return following

    def _following(self, cost: Loss | Cost) -> ApproxFilter | SumFilter | None:
        """Counts one more mechanism; None where it may not run."""
        check_loss(cost.loss if isinstance(cost, Cost) else cost, "loss")
        one = spending_of(Cost.of(cost), self.order)
        counted = self.counted.then(one)
        fits = holds(counted, self.room)
        if self.counted == NOTHING and (uses_delta_up(one, self.limit) or not fits):
            return SumFilter(self.limit, spent=one.added) if one.added.within(self.limit) else None
        return self.having(counted) if fits or one == NOTHING else None

    def _proved(self) -> Iterator[Approx]:
        """What each way but adding up has proved of what was admitted so far."""
        counted, room, limit = self.counted, self.room, self.limit
        if counted.aside <= room.aside and counted.epsilon <= room.epsilon:
            yield Approx(counted.epsilon, counted.aside)
        if counted.aside <= room.aside and counted.divergence <= room.divergence:
            rest = Fraction(room.divergence) - Fraction(counted.divergence)
            yield Approx(max(Fraction(0), Fraction(limit.epsilon) - rest), counted.aside + RENYI * limit.delta)
        if counted.aside <= room.aside and counted.square <= room.square:
            tail = GAUSSIAN * limit.delta
            yield Approx(convert(GDP.of_square(counted.square), Approx, delta=tail).epsilon, counted.aside + tail)


def filter_for(limit: Loss) -> SumFilter | ApproxFilter:
    """Chooses the filter that leaves most of a limit; refuses kinds for which there is no valid rule.

    >>> filter_for(Pure(0.5)).admits(Pure(0.4))
    True
    """
    if isinstance(limit, Approx) and 0 < limit.epsilon < math.inf and 0 < limit.delta < 1:
        return ApproxFilter(limit)
    return SumFilter(limit)


def _pure_within_order(divergence: Extended, order: Fraction) -> Fraction:
    """The largest pure ε of which the divergence is no more than this."""

    def fits(epsilon: Fraction) -> bool:
        return PureCurve(epsilon).bound(order) <= divergence

    return greatest(fits, what="epsilon") if fits(Fraction(SMALLEST)) else Fraction(0)


def _pure_within_square(square: Fraction) -> Fraction:
    """Nearly the largest pure ε that counts as no more than this μ²: Φ(μ/2) = exp(ε)/(1 + exp(ε)), solved for ε."""
    if not square:
        return Fraction(0)
    half = Fraction(lower(lambda: ball(square).sqrt() / 2))
    epsilon = lower(lambda: (gaussian_upper_tail(ball(-half)) / gaussian_upper_tail(ball(half))).log())
    nearly = Fraction(epsilon) * (1 - Fraction(1, 1 << 30))  # the way back is rounded up
    return nearly if nearly > 0 and convert(Pure(nearly), GDP).square <= square else Fraction(0)


def uses_delta_up(first: Spending, limit: Approx) -> bool:
    """Tells whether mechanisms like the first would use up what may be set aside before they use up ε, added up."""
    return first.aside * Fraction(limit.epsilon) > ASIDE * limit.delta * first.added.epsilon


@guarantee(
    claim="one of the sums is within its room; in all ways but adding up, so is what is set aside",
    proof="proofs/privacy_filters.md#any-way",
    reviewed="9797a2f7f0e7",
)
def holds(counted: Spending, room: Spending) -> bool:
    """Tells whether what was counted is within the limit in at least one way."""
    return counted.added.within(room.added) or (
        counted.aside <= room.aside
        and (counted.epsilon <= room.epsilon or counted.divergence <= room.divergence or counted.square <= room.square)
    )


@lru_cache(maxsize=256)
@guarantee(
    claim="each way, within its room, keeps ε with its share of δ; the shares add up to 1",
    proof="proofs/privacy_filters.md#any-way",
    reviewed="52189e958ee2",
)
def rooms(limit: Approx, order: Fraction) -> Spending:
    """The largest amounts of each way of counting that fit into an (ε, δ) limit."""
    epsilon, delta = Fraction(limit.epsilon), limit.delta
    return Spending(
        added=Approx(epsilon, ADDED * delta),
        aside=ASIDE * delta,
        epsilon=epsilon,
        divergence=max(Fraction(0), room_at(epsilon, RENYI * delta, order)),
        square=greatest_mu(epsilon, GAUSSIAN * delta) ** 2,
    )


@lru_cache(maxsize=256)
def greatest_mu(epsilon: Fraction, delta: Fraction) -> Fraction:
    """The greatest μ of Gaussian privacy that keeps an (ε, δ)."""
    return greatest(lambda mu: exact_gaussian_delta(epsilon, mu, Fraction(1)) <= delta)
