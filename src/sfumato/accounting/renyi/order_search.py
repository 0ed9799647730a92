"""The search for the best Rényi order: floats steer, and it goes on until the optimum is inside.

What is minimised falls and then rises with the order (proofs/renyi.md#search), between the steps of tables. The answer
is an order and promises nothing by itself; the caller evaluates there with balls.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction

from sfumato.accounting.renyi.curves import Orders
from sfumato.errors import NoProvenRoute

Objective = Callable[[float], float]
"""Takes an order less 1 (which keeps its digits near 1) and gives what is to be small."""

START, NEAREST, FARTHEST = 2.0, -27.0, 200.0
"""Logarithms of order - 1: where the search begins, and between which it stays."""

GOLDEN = (math.sqrt(5) - 1) / 2

SHARP = 1e-6
"""An interval of logarithms this short is as good as a point: the optimum is flat."""

MOST_WHOLE = 1 << 60

APART = 1e-8
"""Orders that are closer than this, relatively, may be the same one to a curve that is asked in floats."""


def best_order(objective: Objective, orders: Orders) -> Fraction:
    """The order at which the objective is least, or nearly so."""

    def clean(excess: float) -> float:
        try:
            value = objective(excess)
        except (OverflowError, ValueError, ZeroDivisionError):
            return math.inf
        return math.inf if math.isnan(value) else value

    if orders.listed is not None:
        if not orders.listed:
            raise NoProvenRoute("none of these orders is one at which all Rényi curves are stated: ask at lower ones.")
        return min(orders.listed, key=lambda order: clean(float(order - 1)))
    if orders.high <= 1 or not (orders.steps or orders.from_above(orders.low)):
        raise NoProvenRoute(
            "these Rényi curves have no order above 1 in common. State tables at higher orders, such as "
            "sf.Renyi({2: 0.5, 8: 1.0, 32: 4.0}); for groups of k units at orders above k, best at 2k and more."
        )
    if orders.steps:
        return _stepped(clean, orders)
    return _whole(clean, orders) if orders.whole else _real(clean, orders)


def _stepped(objective: Objective, orders: Orders) -> Fraction:
    """Looks at each step, and between it and the one before where the objective is least there."""
    candidates, before, first = [], orders.low, orders.low
    for step in orders.steps:
        gap = Orders(first, step, orders.whole)
        if first < step and gap.from_above(first) and (orders.whole or _turns(objective, before, step)):
            inside = _whole(objective, gap) if orders.whole else _real(objective, gap)
            # Floats may not see the jump just above the step before, where it is itself the better order.
            candidates += [inside] if orders.whole or inside - before > APART * before else []
        candidates.append(step)
        before, first = step, Fraction(math.floor(step) + 1) if orders.whole else step
    return min(candidates, key=lambda order: objective(float(order - 1)))


def _turns(objective: Objective, before: Fraction, step: Fraction) -> bool:
    """Tells whether the objective falls just above one order and rises, or is infinite, just below another."""
    low, high = float(before - 1), float(step - 1)
    start, slight = (low, (high - low) / 1000) if low > 0 else (math.exp(NEAREST), high / 1000)
    falls = objective(start + slight) >= objective(start + 2 * slight)
    return falls and not objective(high - slight) >= objective(high) < math.inf


def _real(objective: Objective, orders: Orders) -> Fraction:
    """Closes in by golden sections, in terms of the logarithm of order - 1."""
    left = math.log(orders.low - 1) if orders.low > 1 else NEAREST
    right = math.log(orders.high - 1) if orders.high != math.inf else FARTHEST

    def at(place: float) -> float:
        return objective(math.exp(place))

    low, high = _bracket(at, left, right)
    inner, outer = high - GOLDEN * (high - low), low + GOLDEN * (high - low)
    seen = {place: at(place) for place in (low, inner, outer, high)}
    while high - low > SHARP:
        if seen[inner] <= seen[outer]:
            high, outer, inner = outer, inner, outer - GOLDEN * (outer - low)
            seen[inner] = at(inner)
        else:
            low, inner, outer = inner, outer, inner + GOLDEN * (high - inner)
            seen[outer] = at(outer)
    best = max(orders.low, 1 + Fraction(math.exp(min(seen, key=lambda place: seen[place]))))
    return best if best <= orders.high else Fraction(orders.high)


def _bracket(at: Objective, left: float, right: float) -> tuple[float, float]:
    """Walks downhill in ever longer steps until it rises or the orders end; gives an interval around the least."""

    def clamped(place: float) -> float:
        return min(max(place, left), right)

    middle, step = clamped(START), 0.5
    here = at(middle)
    # An infinite divergence is infinite at all higher orders.
    direction = -1 if here == math.inf or at(clamped(middle - step)) < here else 1
    before = clamped(middle - direction * step)
    while True:
        after = clamped(middle + direction * step)
        there = at(after)
        if after == middle or (there >= here and here != math.inf):
            return min(before, after), max(before, after)
        before, middle, here, step = middle, after, there, 2 * step


def _whole(objective: Objective, orders: Orders) -> Fraction:
    """Doubles a whole order until the objective rises there, then halves on the sign of its slope."""
    low = max(2, math.ceil(orders.low))
    most = MOST_WHOLE if orders.high == math.inf else math.floor(orders.high)

    def rises(order: int) -> bool:
        return order >= most or (here := objective(float(order - 1))) == math.inf or objective(float(order)) >= here

    high = low
    while not rises(high):
        low, high = high, min(2 * high, most)
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if rises(middle) else (middle + 1, high)
    return Fraction(high)
