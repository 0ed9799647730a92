"""Rényi curves under sampling without replacement, and under Poisson sampling that is cut to a size."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import final

from flint import arb

from sfumato.accounting.amplify.moments import (
    MOST_TERMS,
    interpolated,
    last_term,
    near_interpolated,
    near_log_sum,
    near_rest,
    rest_of_terms,
    whole_orders,
)
from sfumato.accounting.amplify.rates import sampled_epsilon
from sfumato.accounting.losses.renyi import Renyi
from sfumato.accounting.renyi.curves import Curve, Orders
from sfumato.accounting.renyi.mechanism_curves import PureCurve
from sfumato.errors import BadArgument
from sfumato.exact import Extended, Number, ball, probability, up, upper
from sfumato.guarantee import guarantee
from sfumato.plain import record

FINE = 192
"""Bits of precision for sums that are close to 1."""


@final
@record("FixedSizeCurve")
class FixedSizeCurve(Curve):
    """Any mechanism on a random subset of fixed size, one unit exchanged; ``inner`` is for exchanging a sampled one.

    >>> from sfumato.accounting.renyi.mechanism_curves import Linear
    >>> curve = FixedSizeCurve(Renyi.of(Linear(0.02)), 0.01)
    >>> round(float(curve.at(2)) * 1e5, 4)
    1.6324
    """

    inner: Renyi
    rate: Fraction

    def __init__(self, inner: Renyi, rate: Number) -> None:
        if not isinstance(inner, Renyi):
            raise BadArgument("inner", "a Rényi loss", inner)
        object.__setattr__(self, "inner", inner)
        object.__setattr__(self, "rate", probability(rate, "rate"))

    @guarantee(
        claim="between whole orders n linear in ln(1 + q² C(n,2) least(4 (e^D2 - 1), e^D2 c_2) + sum over j > 2 of "
        "q^j C(n,j) e^((j-1) D_j) c_j), c_j = least(2, (e^pure - 1)^j); at most the curve itself and the pure loss's",
        proof="proofs/sampled_renyi.md#without-replacement",
        reviewed="fa3b0ca5a865",
    )
    def bound(self, order: Fraction) -> Extended:
        if self.rate in (0, 1):
            return self.inner.at(order) if self.rate else Fraction(0)
        pure, inner = self.inner.ceiling(), whole_orders(self.inner).at
        whole = interpolated(order, lambda n: ternary_log_moment(n, self.rate, inner, pure))
        return min(whole / (order - 1), self.inner.at(order), PureCurve(self.ceiling()).bound(order))

    def orders(self) -> Orders:
        high = self.inner.orders().high
        return Orders(high=high if high == math.inf else Fraction(math.floor(high)))

    def ceiling(self) -> Extended:
        return sampled_epsilon(self.inner.ceiling(), self.rate)

    def near(self, order: float) -> float:
        rate, pure = up(self.rate), up(self.inner.ceiling())
        if rate in (0, 1):
            return self.inner.near(order) if rate else 0.0
        cap, inner = math.expm1(min(pure, 50)) if pure else 0.0, whole_orders(self.inner).near

        def moment(whole: int) -> float:
            top = inner(whole)
            last = last_term(whole, rate, top)
            if last > MOST_TERMS:
                return math.inf
            second = math.exp(min(700, inner(2)))
            logs = [0.0, -math.inf, 2 * math.log(rate) + math.log(max(1e-300, min(4 * second - 4, 2 * second)))]
            for j in range(3, last + 1):
                least = min(math.log(2), j * math.log(cap)) if cap else -math.inf
                logs.append(j * math.log(rate) + (j - 1) * inner(j) + least)
            return near_log_sum(whole, logs, near_rest(whole, last, rate, top) + math.log(2))

        sampled = near_interpolated(order, moment) / (order - 1)
        return min(sampled, self.inner.near(order), PureCurve(self.ceiling()).near(order))


@guarantee(
    claim="ln(1 + q² C(n,2) least(4 (e^D2 - 1), e^D2 c_2) + sum over j > 2 of q^j C(n,j) e^((j-1) D_j) c_j); infinite "
    "where that is too long",
    proof="proofs/sampled_renyi.md#long-sums",
    reviewed="98818472b630",
)
def ternary_log_moment(order: int, rate: Fraction, divergence: Callable[[int], Extended], pure: Extended) -> Extended:
    """ln of the moment of order n between samples that differ in one unit, seen from a third without both."""
    top = divergence(order)
    last = last_term(order, up(rate), up(top))
    if top == math.inf or last > MOST_TERMS:
        return math.inf
    highest = Fraction(top)
    bounds = [min(highest, divergence(j)) for j in range(2, last + 1)]

    def enclosed() -> arb:
        ratio = ball(Fraction(pure)).expm1() if pure != math.inf else None
        weight, moment = ball(order * rate), arb(0)
        for j, bound in enumerate(bounds, start=2):
            weight *= ball(rate) * (order - j + 1) / j
            grown = ball((j - 1) * Fraction(bound)).exp()
            part = grown * (arb(2) if ratio is None else arb(2).min(ratio**j))
            moment += weight * (part if j > 2 else part.min(4 * grown - 4))
        return (moment + 2 * rest_of_terms(order, last, ball(rate), highest) * weight).log1p()

    return upper(enclosed, FINE)


@final
@record("TruncatedCurve")
class TruncatedCurve(Curve):
    """A loss that holds unless a sample is cut to size, and another for when it is, which has at most a chance.

    ``cut`` is nowhere below ``whole``.
    """

    whole: Renyi
    cut: Renyi
    chance: Fraction

    def __post_init__(self) -> None:
        for loss, name in ((self.whole, "whole"), (self.cut, "cut")):
            if not isinstance(loss, Renyi):
                raise BadArgument(name, "a Rényi loss", loss)
        object.__setattr__(self, "chance", probability(self.chance, "chance"))

    @guarantee(
        claim="ln((1 - t) exp((order - 1) D) + t exp((order - 1) D_cut)) / (order - 1), rounded up",
        proof="proofs/sampled_renyi.md#truncated",
        reviewed="02d911b76320",
    )
    def bound(self, order: Fraction) -> Extended:
        usual = self.whole.at(order)
        rare = max(usual, self.cut.at(order))
        if rare == math.inf or rare == usual:
            return rare
        gap = (order - 1) * (Fraction(rare) - Fraction(usual))
        more = upper(lambda: (ball(self.chance) * ball(gap).expm1()).log1p(), FINE)
        return min(rare, usual + more / (order - 1))

    def orders(self) -> Orders:
        return self.whole.orders().both(self.cut.orders())

    def ceiling(self) -> Extended:
        return max(self.whole.ceiling(), self.cut.ceiling())

    def near(self, order: float) -> float:
        usual, rare = self.whole.near(order), self.cut.near(order)
        gap = (order - 1) * max(0.0, rare - usual)
        if gap > 600 and self.chance:
            return rare + math.log(up(self.chance)) / (order - 1)
        return usual + math.log1p(up(self.chance) * math.expm1(min(gap, 600))) / (order - 1)
