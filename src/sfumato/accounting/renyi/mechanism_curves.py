"""Rényi curves of single mechanisms, exact in ball arithmetic and rounded up."""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Mapping
from fractions import Fraction
from functools import cached_property
from itertools import accumulate
from typing import final

from flint import arb

from sfumato.accounting.losses.amounts import amount
from sfumato.accounting.renyi.curves import Curve, Orders, read_order
from sfumato.errors import BadArgument
from sfumato.exact import Extended, Number, ball, integer, positive, up, upper
from sfumato.guarantee import guarantee
from sfumato.plain import record

REAL = Orders()
"""Every order above 1."""


@final
@record("Linear")
class Linear(Curve):
    """ρ times the order: Gaussian noise, and whatever else is ρ-zCDP.

    >>> Linear(2).at(3)
    Fraction(6, 1)
    """

    rho: Extended

    def __init__(self, rho: Number) -> None:
        object.__setattr__(self, "rho", amount(rho, "rho"))

    @guarantee(claim="order · rho", proof="proofs/renyi.md#linear", reviewed="d2de0a72a76d")
    def bound(self, order: Fraction) -> Extended:
        return order * self.rho

    def orders(self) -> Orders:
        return REAL

    def ceiling(self) -> Extended:
        return math.inf if self.rho else Fraction(0)

    def near(self, order: float) -> float:
        return order * up(self.rho)


@final
@record("Affine")
class Affine(Curve):
    """An offset ξ and ρ times the order: (ξ, ρ)-zero-concentrated differential privacy.

    >>> Affine(1, 2).at(3)
    Fraction(7, 1)
    """

    offset: Extended
    rho: Extended

    def __init__(self, offset: Number, rho: Number) -> None:
        object.__setattr__(self, "offset", amount(offset, "offset"))
        object.__setattr__(self, "rho", amount(rho, "rho"))

    @guarantee(claim="offset + order · rho", proof="proofs/renyi.md#linear", reviewed="7e22c0333ab6")
    def bound(self, order: Fraction) -> Extended:
        return self.offset + order * self.rho

    def orders(self) -> Orders:
        return REAL

    def ceiling(self) -> Extended:
        return math.inf if self.rho else self.offset

    def near(self, order: float) -> float:
        return up(self.offset) + order * up(self.rho)


@guarantee(
    claim="epsilon + ln((1 + exp(-(2 order - 1) epsilon) + (options - 2) exp(-order epsilon)) / "
    "(1 + (options - 1) exp(-epsilon))) / (order - 1), rounded up",
    proof="proofs/renyi.md#response",
    reviewed="5f364d3eba65",
)
def response_divergence(epsilon: Fraction, options: int, order: Fraction) -> Extended:
    """The divergence between the responses to two different truths."""

    def enclosed() -> arb:
        fall = ball(-epsilon)
        above = (ball(2 * order - 1) * fall).exp() + (options - 2) * (ball(order) * fall).exp()
        return ball(epsilon) + (above.log1p() - ((options - 1) * fall.exp()).log1p()) / ball(order - 1)

    return upper(enclosed)


def near_response(epsilon: float, options: int, order: float) -> float:
    """The divergence between two responses in floats, in a form that neither cancels nor overflows."""
    less, others = order - 1, 1 + (options - 1) * math.exp(-epsilon)
    share = -math.expm1(-order * epsilon) / others
    if less * epsilon < 30:
        return math.log1p(math.expm1(less * epsilon) * share) / less
    fall = math.exp(-less * epsilon)
    return epsilon + math.log(fall + (1 - fall) * share) / less


@final
@record("PureCurve")
class PureCurve(Curve):
    """The curve of all that ε-differential privacy allows: that of binary randomized response."""

    epsilon: Extended

    def __init__(self, epsilon: Number) -> None:
        object.__setattr__(self, "epsilon", amount(epsilon, "epsilon"))

    @guarantee(
        claim="the divergence of binary randomized response; at most epsilon, and at most order · epsilon² / 2",
        proof="proofs/renyi.md#pure",
        reviewed="12a4e61eabc6",
    )
    def bound(self, order: Fraction) -> Extended:
        if self.epsilon == math.inf or self.epsilon == 0:
            return self.epsilon
        epsilon = Fraction(self.epsilon)
        return min(epsilon, order * epsilon**2 / 2, response_divergence(epsilon, 2, order))

    def orders(self) -> Orders:
        return REAL

    def ceiling(self) -> Extended:
        return self.epsilon

    def near(self, order: float) -> float:
        return near_response(up(self.epsilon), 2, order)


@final
@record("ResponseCurve")
class ResponseCurve(Curve):
    """The curve of k-ary randomized response, where the truth is exp(ε) times as likely as each other option."""

    epsilon: Fraction
    options: int

    def __init__(self, epsilon: Number, options: int = 2) -> None:
        object.__setattr__(self, "epsilon", positive(epsilon, "epsilon"))
        object.__setattr__(self, "options", integer(options, "options", least=2))

    @guarantee(
        claim="the divergence between two responses, at most epsilon",
        proof="proofs/renyi.md#response",
        reviewed="d2c3ab348c02",
    )
    def bound(self, order: Fraction) -> Extended:
        return min(self.epsilon, response_divergence(self.epsilon, self.options, order))

    def orders(self) -> Orders:
        return REAL

    def ceiling(self) -> Extended:
        return self.epsilon

    def near(self, order: float) -> float:
        return near_response(up(self.epsilon), self.options, order)


@final
@record("RangeCurve")
class RangeCurve(Curve):
    """The curve of all that η-bounded range allows."""

    eta: Extended

    def __init__(self, eta: Number) -> None:
        object.__setattr__(self, "eta", amount(eta, "eta"))

    @guarantee(
        claim="ln s + ln((1 - a^order) / (order (1 - a))) / (order - 1), rounded up, with a = exp(-eta) and "
        "s = (order - 1)(1 - a^order) / (order (a - a^order)); at most eta, and at most order · eta² / 8",
        proof="proofs/renyi.md#range",
        reviewed="6ed5d4eff0e0",
    )
    def bound(self, order: Fraction) -> Extended:
        if self.eta == math.inf or self.eta == 0:
            return self.eta
        eta = Fraction(self.eta)

        def enclosed() -> arb:
            near, far = -ball(-eta).expm1(), -ball(-order * eta).expm1()
            between = -ball(-(order - 1) * eta).expm1()
            peak = ball(eta) + (ball((order - 1) / order) * far / between).log()
            return peak + (far / (ball(order) * near)).log() / ball(order - 1)

        return min(eta, order * eta**2 / 8, upper(enclosed))

    def orders(self) -> Orders:
        return REAL

    def ceiling(self) -> Extended:
        return self.eta

    def near(self, order: float) -> float:
        if self.eta == math.inf:
            return math.inf
        eta, less = up(self.eta), order - 1
        top, gap, one = _log_sinh_ratio(order * eta), _log_sinh_ratio(less * eta), _log_sinh_ratio(eta)
        return top - gap + (top - one) / less


def _log_sinh_ratio(value: float) -> float:
    """ln(sinh(y / 2) / (y / 2)), in which terms a range's curve does not cancel."""
    if value < 0.02:
        square = value * value
        return square / 24 * (1 - square / 120 * (1 - square / 63))
    return value / 2 + math.log(-math.expm1(-value) / value)


@final
@record("LaplaceCurve")
class LaplaceCurve(Curve):
    """The curve of Laplace noise, ``ratio`` being shift over scale."""

    ratio: Fraction

    def __init__(self, ratio: Number) -> None:
        object.__setattr__(self, "ratio", positive(ratio, "ratio"))

    @guarantee(
        claim="ratio + ln((order + (order - 1) exp(-(2 order - 1) ratio)) / (2 order - 1)) / (order - 1), rounded up",
        proof="proofs/renyi.md#laplace",
        reviewed="66ee6c4eea1d",
    )
    def bound(self, order: Fraction) -> Extended:
        ratio, less, twice = self.ratio, order - 1, 2 * order - 1

        def enclosed() -> arb:
            # ln(1 + (less / twice)(exp(…) - 1)), since order = twice - less
            return ball(ratio) + (ball(less / twice) * ball(-twice * ratio).expm1()).log1p() / ball(less)

        return min(ratio, upper(enclosed))

    def orders(self) -> Orders:
        return REAL

    def ceiling(self) -> Extended:
        return self.ratio

    def near(self, order: float) -> float:
        ratio, less, twice = float(self.ratio), order - 1, 2 * order - 1
        return ratio + math.log1p(less / twice * math.expm1(-twice * ratio)) / less


@final
@record("DiscreteLaplaceCurve")
class DiscreteLaplaceCurve(Curve):
    """The curve of discrete Laplace noise of a scale on whole numbers that move by at most ``shift``."""

    scale: Fraction
    shift: int

    def __init__(self, scale: Number, shift: int = 1) -> None:
        object.__setattr__(self, "scale", positive(scale, "scale"))
        object.__setattr__(self, "shift", integer(shift, "shift", least=1))

    @guarantee(
        claim="shift / scale + ln((1 + w^m + (1 - p)(w - w^m) / (1 - w)) / (1 + p)) / (order - 1), rounded up, with "
        "m = shift, p = exp(-1 / scale), w = p^(2 order - 1)",
        proof="proofs/renyi.md#discrete-laplace",
        reviewed="e08db9e9b3ed",
    )
    def bound(self, order: Fraction) -> Extended:
        step, shift, twice = 1 / self.scale, self.shift, 2 * order - 1

        def enclosed() -> arb:
            stay, last = ball(-step).exp(), ball(-twice * shift * step).exp()
            between = ball(-step).expm1() / ball(-twice * step).expm1()
            whole = 1 + last + between * (ball(-twice * step).exp() - last)
            return ball(shift * step) + (whole / (1 + stay)).log() / ball(order - 1)

        return min(shift * step, upper(enclosed))

    def orders(self) -> Orders:
        return REAL

    def ceiling(self) -> Extended:
        return self.shift / self.scale

    def near(self, order: float) -> float:
        step, shift, twice = up(1 / self.scale), self.shift, 2 * order - 1
        stay, last = math.exp(-step), math.exp(-twice * shift * step)
        between = math.expm1(-step) / math.expm1(-twice * step)
        whole = 1 + last + between * (math.exp(-twice * step) - last)
        return shift * step + math.log(whole / (1 + stay)) / (order - 1)


@final
@record("Tabulated")
class Tabulated(Curve):
    """A curve of which the bounds at some orders are known, as pairs of order and bound."""

    points: tuple[tuple[Fraction, Extended], ...]

    def __init__(self, points: Mapping[Number, Number] | tuple[tuple[Number, Number], ...]) -> None:
        pairs = points.items() if isinstance(points, Mapping) else points
        read = [(read_order(order), amount(value, "a Rényi divergence")) for order, value in pairs]
        if not read or len({order for order, _ in read}) != len(read):
            raise BadArgument("points", "a bound for each of one or more orders, such as {2: 0.5, 8: 1.0}", points)
        object.__setattr__(self, "points", tuple(sorted(read)))

    @guarantee(
        claim="the least bound that is stated at this order or a higher one", proof="proofs/renyi.md#monotone",
        reviewed="949248812033",
    )  # fmt: skip
    def bound(self, order: Fraction) -> Extended:
        return min(value for stated, value in self.points if stated >= order)

    @cached_property
    def _orders(self) -> Orders:
        return Orders.exactly(order for order, _ in self.points)

    def orders(self) -> Orders:
        return self._orders

    def ceiling(self) -> Extended:
        return Fraction(0) if all(value == 0 for _, value in self.points) else math.inf

    @cached_property
    def _near(self) -> tuple[list[float], list[float]]:
        """The orders, and the least bound from each on, in floats."""
        least = accumulate((up(value) for _, value in reversed(self.points)), min)
        return [float(order) for order, _ in self.points], [*reversed([*least])]

    def near(self, order: float) -> float:
        stated, least = self._near
        place = bisect_left(stated, order * (1 - 1e-9))  # the float of an order may lie just above it
        return least[place] if place < len(least) else math.inf
