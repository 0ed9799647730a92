"""Rényi curves under Poisson sampling: the Gaussian exactly, anything else from its own curve."""

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
from sfumato.accounting.amplify.quadrature import log_moment, near_log_moment
from sfumato.accounting.amplify.rates import sampled_epsilon
from sfumato.accounting.losses.renyi import Renyi
from sfumato.accounting.renyi.curves import Curve, Orders
from sfumato.accounting.renyi.mechanism_curves import PureCurve
from sfumato.errors import BadArgument
from sfumato.exact import Extended, Number, ball, lower, positive, probability, rational, up, upper
from sfumato.guarantee import guarantee
from sfumato.plain import record

FINE = 192
"""Bits of precision for sums that are close to 1."""


@final
@record("SampledGaussianCurve")
class SampledGaussianCurve(Curve):
    """Gaussian noise under Poisson sampling, one unit more or fewer: every real order, certified.

    ``square`` is (shift / scale)², so 1/z² for a noise multiplier z.

    >>> curve = SampledGaussianCurve(0.01, Fraction(1, 2500))
    >>> round(float(curve.at(2)) * 1e8, 4)
    4.0008
    """

    rate: Fraction
    square: Fraction

    def __init__(self, rate: Number, square: Number) -> None:
        object.__setattr__(self, "rate", probability(rate, "rate"))
        object.__setattr__(self, "square", positive(square, "square"))

    @guarantee(
        claim="ln E[(1 - q + q exp(mu x - mu²/2))^order] / (order - 1), both directions; order mu²/2 at q = 1",
        proof="proofs/sampled_renyi.md#gaussian",
        reviewed="5ebbdfaa1b49",
    )
    def bound(self, order: Fraction) -> Extended:
        if self.rate == 0:
            return Fraction(0)
        if self.rate == 1:
            return order * self.square / 2
        return min(log_moment(order, self.rate, self.square) / (order - 1), order * self.square / 2)

    def orders(self) -> Orders:
        return Orders()

    def ceiling(self) -> Extended:
        return math.inf if self.rate else Fraction(0)

    def near(self, order: float) -> float:
        if self.rate == 1:
            return order * up(self.square) / 2
        return near_log_moment(order, up(self.rate), math.sqrt(up(self.square))) / (order - 1) if self.rate else 0.0


@final
@record("PoissonCurve")
class PoissonCurve(Curve):
    """Any mechanism under Poisson sampling, one unit more or fewer, from its own loss at whole orders.

    ``symmetric`` says that the two distributions of any neighbours are mirror images, as for symmetric noise: then the
    direction in which the sampled one comes first is the worse.
    """

    inner: Renyi
    rate: Fraction
    symmetric: bool

    def __init__(self, inner: Renyi, rate: Number, *, symmetric: bool = False) -> None:
        if not isinstance(inner, Renyi):
            raise BadArgument("inner", "a Rényi loss", inner)
        object.__setattr__(self, "inner", inner)
        object.__setattr__(self, "rate", probability(rate, "rate"))
        object.__setattr__(self, "symmetric", bool(symmetric))

    @guarantee(
        claim="between whole orders n linear in ln max(A, B): A = sum C(n,k) (1-q)^(n-k) q^k exp((k-1) D_k), B bounds "
        "the other direction unless the pair is symmetric; at most the curve itself and that of the pure loss",
        proof="proofs/sampled_renyi.md#poisson",
        reviewed="1975e9493717",
    )
    def bound(self, order: Fraction) -> Extended:
        if self.rate in (0, 1):
            return self.inner.at(order) if self.rate else Fraction(0)
        whole = interpolated(order, self._log_moment)
        return min(whole / (order - 1), self.inner.at(order), PureCurve(self.ceiling()).bound(order))

    def _log_moment(self, order: int) -> Extended:
        inner = whole_orders(self.inner).at
        with_unit = mixture_log_moment(order, self.rate, inner)
        return (
            with_unit
            if self.symmetric or with_unit == math.inf
            else max(with_unit, other_log_moment(order, self.rate, inner))
        )

    def orders(self) -> Orders:
        high = self.inner.orders().high
        return Orders(high=high if high == math.inf else Fraction(math.floor(high)))

    def ceiling(self) -> Extended:
        return sampled_epsilon(self.inner.ceiling(), self.rate)

    def near(self, order: float) -> float:
        rate = up(self.rate)
        if rate in (0, 1):
            return self.inner.near(order) if rate else 0.0
        inner = whole_orders(self.inner).near

        def moment(whole: int) -> float:
            odds, top = rate / (1 - rate), inner(whole)
            last = last_term(whole, odds, top)
            if last > MOST_TERMS:
                return math.inf
            rest = near_rest(whole, last, odds, top) + whole * math.log1p(-rate)
            logs = (k * math.log(rate) + (whole - k) * math.log1p(-rate) for k in range(last + 1))
            first = near_log_sum(whole, [at + _grown(inner, k) for k, at in enumerate(logs)], rest)
            return first if self.symmetric else max(first, _near_other(whole, rate, inner))

        sampled = near_interpolated(order, moment) / (order - 1)
        return min(sampled, self.inner.near(order), PureCurve(self.ceiling()).near(order))


def _grown(inner: Callable[[int], float], order: int) -> float:
    return (order - 1) * inner(order) if order > 1 else 0.0


def _near_other(order: int, rate: float, inner: Callable[[int], float]) -> float:
    crude, second = (1 - order) * math.log1p(-rate), inner(2)
    if crude > 600 or second > 600:
        return min(crude, rate * _grown(inner, order))
    curved = (math.expm1(crude) - (order - 1) * rate) * math.expm1(second)
    return min(crude, rate * _grown(inner, order), math.log1p(curved))


@guarantee(
    claim="ln sum over k of C(n,k) (1-q)^(n-k) q^k exp((k-1) D_k), rounded up; infinite where that is too long",
    proof="proofs/sampled_renyi.md#long-sums",
    reviewed="5937236bc5c4",
)
def mixture_log_moment(order: int, rate: Fraction, divergence: Callable[[int], Extended]) -> Extended:
    """ln E[(1 − q + qL)^n] for a likelihood ratio L of which the divergences at whole orders are bounded."""
    top = divergence(order)
    last = last_term(order, up(rate / (1 - rate)), up(top))
    if top == math.inf or last > MOST_TERMS:
        return math.inf
    highest = Fraction(top)
    bounds = [min(highest, divergence(k)) for k in range(2, last + 1)]

    def enclosed() -> arb:
        odds = ball(rate / (1 - rate))
        weight = ball(1 - rate) ** order
        moment = weight * (1 + order * odds)
        weight *= order * odds
        for k, bound in enumerate(bounds, start=2):
            weight *= odds * (order - k + 1) / k
            moment += weight * ball((k - 1) * Fraction(bound)).exp()
        return (moment + rest_of_terms(order, last, odds, highest) * weight).log()

    return upper(enclosed, FINE)


@guarantee(
    claim="ln of the least of 1 + ((1-q)^(1-n) - 1 - (n-1) q)(exp(D_2) - 1), exp((n-1) q D_n) and (1-q)^(1-n)",
    proof="proofs/sampled_renyi.md#poisson",
    reviewed="fe35cc08cd9f",
)
def other_log_moment(order: int, rate: Fraction, divergence: Callable[[int], Extended]) -> Extended:
    """ln E[(1 − q + qL)^(1 − n)]: the direction in which the mechanism without the unit comes first."""
    second, own = divergence(2), divergence(order)

    def enclosed() -> arb:
        most = ball(1 - rate) ** (1 - order)
        curved = (most - 1 - ball((order - 1) * rate)) * ball(Fraction(second)).expm1()
        second_way: arb = curved.log1p()
        return second_way

    crude = upper(lambda: -(order - 1) * ball(1 - rate).log())
    return min(crude, (order - 1) * rate * own, upper(enclosed, FINE) if second != math.inf else math.inf)


@guarantee(
    claim="10 q² rho order, where 0 < rho <= 1, 0 < q < 1/2, w = min(ln(1/q)/(4 rho), 1 + q^(-1/4)) >= "
    "3 + 2 ln(1/rho)/ln(1/q), 1 < order < w, and the certified curve is below",
    proof="proofs/sampled_renyi.md#simplified",
    reviewed="c6246ac99ade",
)
def simplified_sampled_bound(order: Number, *, rho: Number, rate: Number) -> Fraction:
    """The textbook bound 10 q² ρ α for sampled Gaussian noise of ρ-zCDP; refuses outside its range.

    `SampledGaussianCurve` is exact and holds everywhere.

    >>> simplified_sampled_bound(2, rho=0.0002, rate=0.001) == Fraction(4, 10**9)
    True
    """
    alpha, loss, share = rational(order, "order"), positive(rho, "rho"), positive(rate, "rate")
    if loss > 1:
        raise BadArgument("rho", "at most 1 for the simplified bound; SampledGaussianCurve holds for every rho", rho)
    if share >= Fraction(1, 2):
        raise BadArgument("rate", "less than 1/2 for the simplified bound", rate)
    width = simplified_width(loss, share)
    needed = Fraction(upper(lambda: 3 - 2 * ball(loss).log() / -ball(share).log()))
    if width < needed:
        raise BadArgument("rho", "such that the bound's width is enough: use SampledGaussianCurve instead", rho)
    if not 1 < alpha < width:
        raise BadArgument("order", "above 1 and below the bound's width: use SampledGaussianCurve", order)
    bound = 10 * share**2 * loss * alpha
    if SampledGaussianCurve(share, 2 * loss).at(alpha) > bound:
        raise BadArgument("order", "one at which the bound is certified: use SampledGaussianCurve", order)
    return bound


def simplified_width(rho: Fraction, rate: Fraction) -> Fraction:
    """The width min(ln(1/q)/4ρ, 1 + q^(−1/4)) of the simplified bound, rounded down."""
    straight = lower(lambda: -ball(rate).log() / ball(4 * rho))
    return min(Fraction(straight), 1 + Fraction(lower(lambda: (-ball(rate).log() / 4).exp())))
