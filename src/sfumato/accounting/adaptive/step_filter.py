"""A filter for many steps of one kind under an (ε, δ) limit: the one way of counting that leaves room for most of them.

Where it is known beforehand what most steps will be, no share of δ has to be kept for other ways of counting.
"""

from __future__ import annotations

import math
from fractions import Fraction

from sfumato.accounting.adaptive.advanced import room_at
from sfumato.accounting.adaptive.approx_filter import greatest_mu
from sfumato.accounting.adaptive.filters import SumFilter
from sfumato.accounting.compose import total
from sfumato.accounting.events import Event
from sfumato.accounting.losses.concentrated import GDP
from sfumato.accounting.losses.measures import Approx, Loss
from sfumato.accounting.losses.renyi import Renyi
from sfumato.accounting.relation import Relation
from sfumato.errors import BadArgument, NoProvenRoute
from sfumato.guarantee import guarantee

LEAST, MOST, FINE = -8, 14, 8
"""Orders 1 + 2^e are tried for e between these, first at whole numbers, then at so many between the best."""


def filter_for_steps(limit: Loss, step: Event, *, relation: Relation) -> SumFilter:
    """The filter that keeps a limit and admits most steps like this one; other steps may come too, at their price.

    >>> from sfumato.accounting.events import Gaussian, Poisson, Sampled
    >>> step = Sampled(Gaussian(1), Poisson("0.01"))
    >>> so_far = filter_for_steps(Approx(3, 1e-5), step, relation=Relation.ADD_REMOVE)
    >>> so_far.admits(total(step, Renyi, relation=Relation.ADD_REMOVE))
    True
    """
    if not isinstance(limit, Approx) or not limit.delta:
        return SumFilter(limit)
    if not 0 < limit.epsilon < math.inf or limit.delta >= 1:
        raise BadArgument("limit", "an sf.Approx with finite epsilon above 0 and delta below 1", limit)
    try:
        total(step, GDP, relation=relation)
    except NoProvenRoute:
        return SumFilter(within_order(limit, _best_order(limit, total(step, Renyi, relation=relation))))
    return SumFilter(within_gaussian(limit))


@guarantee(
    claim="a Rényi divergence of the order within this is (epsilon, delta) private",
    proof="proofs/privacy_filters.md#tail",
    reviewed="6f9bcf3a061b",
)
def within_order(limit: Approx, order: Fraction) -> Renyi:
    """What fits into an (ε, δ) limit, as a Rényi divergence of one order."""
    return Renyi({order: max(Fraction(0), room_at(Fraction(limit.epsilon), limit.delta, order))})


@guarantee(
    claim="Gaussian privacy within this is (epsilon, delta) private",
    proof="proofs/gaussian_calibration.md#analytic",
    reviewed="fd924d34c322",
)
def within_gaussian(limit: Approx) -> GDP:
    """What fits into an (ε, δ) limit, as Gaussian privacy."""
    return GDP(greatest_mu(Fraction(limit.epsilon), limit.delta))


def _best_order(limit: Approx, step: Renyi) -> Fraction:
    """An order near the one at which most steps fit; any would be sound. Floats steer, and few bits are kept."""

    def fitting(exponent: float) -> float:
        order = _order(exponent)
        room = room_at(Fraction(limit.epsilon), limit.delta, order)
        try:
            cost = step.at(order)
        except NoProvenRoute:
            return -math.inf
        return float(room) / float(cost) if 0 < cost < math.inf else -math.inf

    coarse = max(range(LEAST, MOST + 1), key=fitting)
    best = max((coarse + part / FINE for part in range(-FINE, FINE + 1)), key=fitting)
    if fitting(best) <= 0:
        raise BadArgument("limit", "large enough for a step: no order leaves room for one", limit)
    return _order(best)


def _order(exponent: float) -> Fraction:
    return 1 + Fraction(round(2.0 ** (exponent + 12)), 4096)
