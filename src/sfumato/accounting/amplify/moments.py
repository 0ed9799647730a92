"""From bounds at whole orders to bounds at all orders: (α − 1) D_α is convex in α; and how long the sums are."""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import cache, lru_cache
from typing import NamedTuple

from flint import arb

from sfumato.accounting.losses.renyi import Renyi
from sfumato.exact import Extended, ball
from sfumato.guarantee import guarantee

MOST_TERMS = 1024
"""A sum over the terms of an order is formed up to this length; beyond, a mechanism's own curve has to do."""

FAR, FARTHER = 18, 64
"""Terms this many deviations beyond the middle, and as many again, are bounded together."""

NEGLIGIBLE = -80.0
"""Of a sum that is at least 1, terms are formed until their bounds are below exp of this, if that is not too long."""


class WholeOrders(NamedTuple):
    """A loss at whole orders, certified and in floats."""

    at: Callable[[int], Extended]
    near: Callable[[int], float]


@lru_cache(maxsize=64)
def whole_orders(loss: Renyi) -> WholeOrders:
    """Prepares a loss for sums that ask at all whole orders up to a place, again and again: each is worked out once."""
    return WholeOrders(cache(loss.at), cache(loss.near))


def last_term(order: int, odds: float, top: float) -> int:
    """The place up to which Σ C(n, k) odds^k e^(k·top) is summed; the rest is bounded, so any place is sound."""
    grown = odds * math.exp(min(top, 600.0))
    share = grown / (1 + grown) if grown < math.inf else 1.0
    middle = order * share
    falling = min(order, math.ceil(middle + FAR * math.sqrt(middle * (1 - share)) + FARTHER))
    places = range(falling, order)
    small = falling + bisect_left(places, True, key=lambda place: _log_term(order, place, odds, top) <= NEGLIGIBLE)
    return small if small <= MOST_TERMS else falling


def _log_term(order: int, place: int, odds: float, top: float) -> float:
    """About ln of C(n, k) odds^k e^((k−1)·top)."""
    choose = math.lgamma(order + 1) - math.lgamma(place + 1) - math.lgamma(order - place + 1)
    return choose + place * math.log(odds) + (place - 1) * top


@guarantee(
    claim="what terms C(n,k) odds^k exp((k-1) top) beyond a place add, in terms of C(n,k) odds^k there; or infinity",
    proof="proofs/sampled_renyi.md#long-sums",
    reviewed="aae46fcd5e3e",
)
def rest_of_terms(order: int, last: int, odds: arb, top: Fraction) -> arb:
    """Encloses a bound on the terms that were left out, by a geometric series; infinite where they need not fall."""
    if last >= order:
        return arb(0)
    fall = odds * ball(top).exp() * (order - last) / (last + 1)
    return ball((last - 1) * top).exp() * fall / (1 - fall) if fall < 1 else arb.pos_inf()


@guarantee(
    claim="between whole orders (order - 1) D is at most linear, and 0 at order 1",
    proof="proofs/sampled_renyi.md#interpolation",
    reviewed="c9bc04a8f3ed",
)
def interpolated(order: Fraction, log_moment: Callable[[int], Extended]) -> Extended:
    """A bound of (α − 1) D_α from such bounds at the whole orders on both sides."""
    low, high = math.floor(order), math.ceil(order)
    below = log_moment(low) if low > 1 else Fraction(0)
    return below if low == high else (high - order) * below + (order - low) * log_moment(high)


def near_interpolated(order: float, log_moment: Callable[[int], float]) -> float:
    """Does the same in floats; promises nothing."""
    low = math.floor(order)
    below = log_moment(low) if low > 1 else 0.0
    return below if low == order or below == math.inf else below + (order - low) * (log_moment(low + 1) - below)


def near_rest(order: int, last: int, odds: float, top: float) -> float:
    """About ln of what `rest_of_terms` adds; promises nothing."""
    fall = odds * math.exp(min(top, 600.0)) * (order - last) / (last + 1)
    if not 0 < fall < 1:
        return math.inf if fall else -math.inf
    return _log_term(order, last, odds, top) + math.log(fall / (1 - fall))


def near_log_sum(order: int, logs: Sequence[float], rest: float) -> float:
    """ln(Σ C(n, k) exp(logs[k]) + exp(rest)) over the first places k in floats; promises nothing."""
    choose, parts = 0.0, [rest]
    for place, log in enumerate(logs):
        parts.append(choose + log)
        choose += math.log((order - place) / (place + 1)) if place < order else 0.0
    top = max(parts)
    return top + math.log(math.fsum(math.exp(part - top) for part in parts)) if top < math.inf else math.inf
