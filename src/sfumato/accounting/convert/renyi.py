"""From Rényi curves and zCDP to (ε, δ): floats find the best order, and balls certify the answer there."""

from __future__ import annotations

import math
from collections.abc import Iterable
from fractions import Fraction
from functools import lru_cache

from flint import arb

from sfumato.accounting.facts.gaussian import unit_bounds
from sfumato.accounting.losses.amounts import amount
from sfumato.accounting.losses.concentrated import ApproxZCDP
from sfumato.accounting.losses.renyi import Renyi
from sfumato.accounting.plans.search import greatest
from sfumato.accounting.renyi.curves import Orders, read_order
from sfumato.accounting.renyi.mechanism_curves import Linear
from sfumato.accounting.renyi.order_search import best_order
from sfumato.errors import BadArgument
from sfumato.exact import BITS, Extended, Number, ball, lower, non_negative, positive, precision, probability, up, upper
from sfumato.guarantee import guarantee

POWERS = (1, 2, 3, 4, 6, 8, 10, 13, 16, 20, 30, 40)
"""A curve becomes a list of promises by its ε where δ is one half to each of these powers."""


def renyi_epsilon(
    loss: Renyi, *, delta: Number, orders: Iterable[Number] | None = None, basic: bool = False
) -> Extended:
    """An ε at which a Rényi loss keeps (ε, δ), rounded up: the least over its orders, or over those given.

    With ``basic`` by the textbooks' formula, which is never better.

    >>> loss = Renyi({10: 0.5})
    >>> round(float(renyi_epsilon(loss, delta=1e-6)), 6), round(float(renyi_epsilon(loss, delta=1e-6, basic=True)), 6)
    (1.673853, 2.035057)
    """
    allowed, pure = probability(delta, "delta"), _loss(loss).ceiling()
    if allowed in (0, 1):
        return pure if allowed == 0 else Fraction(0)
    order = renyi_order(loss, delta=allowed, orders=orders, basic=basic)
    return epsilon_of(loss, order=order, delta=allowed, basic=basic)


def renyi_order(loss: Renyi, *, delta: Number, orders: Iterable[Number] | None = None, basic: bool = False) -> Fraction:
    """The order at which `renyi_epsilon` is least."""
    allowed = probability(delta, "delta")
    if not 0 < allowed < 1:
        raise BadArgument("delta", "greater than 0 and less than 1: at 0 and 1 no order is best", delta)
    log = math.log(allowed.numerator) - math.log(allowed.denominator)

    def objective(excess: float) -> float:
        order = 1 + excess
        plain = _loss(loss).near(order) - log / excess
        return plain if basic else plain - math.log1p(1 / excess) - math.log1p(excess) / excess

    return best_order(objective, _orders(loss, orders))


@guarantee(
    claim="the conversion at one order, at most the pure epsilon that the loss has",
    proof="proofs/renyi.md#epsilon",
    reviewed="5ae7a75e736f",
)
def epsilon_of(loss: Renyi, *, order: Fraction, delta: Fraction, basic: bool) -> Extended:
    """The ε of a Rényi loss at one order."""
    divergence, pure = loss.at(order), loss.ceiling()
    by_order = basic_epsilon(divergence, order, delta) if basic else tight_epsilon(divergence, order, delta)
    return min(by_order, pure)


@guarantee(
    claim="divergence + ln((order - 1) / order) - (ln delta + ln order) / (order - 1), rounded up and at least 0",
    proof="proofs/renyi.md#tight",
    reviewed="6ad380bd88e9",
)
def tight_epsilon(divergence: Extended, order: Fraction, delta: Fraction) -> Extended:
    """The ε at which a bound on the divergence of one order keeps (ε, δ)."""
    if divergence == math.inf:
        return math.inf

    def enclosed() -> arb:
        rest = (ball(delta).log() + ball(order).log()) / ball(order - 1)
        return ball(Fraction(divergence)) + ball(-1 / order).log1p() - rest

    return max(Fraction(0), upper(enclosed))


@guarantee(
    claim="divergence + ln(1 / delta) / (order - 1), rounded up", proof="proofs/renyi.md#basic", reviewed="420f6498606e"
)
def basic_epsilon(divergence: Extended, order: Fraction, delta: Fraction) -> Extended:
    """The ε of the textbooks at which a bound on the divergence of one order keeps (ε, δ)."""
    if divergence == math.inf:
        return math.inf
    return upper(lambda: ball(Fraction(divergence)) - ball(delta).log() / ball(order - 1))


def renyi_delta(loss: Renyi, *, epsilon: Number, orders: Iterable[Number] | None = None) -> Fraction:
    """A δ at which a Rényi loss keeps (ε, δ), rounded up: the least over its orders, or over those given.

    >>> round(float(renyi_delta(Renyi({10: 0.5}), epsilon=1.673853)) * 1e6, 3)
    1.0
    """
    price = non_negative(epsilon, "epsilon")
    if _loss(loss).ceiling() <= price:
        return Fraction(0)
    less = up(price)

    def objective(excess: float) -> float:
        order = 1 + excess
        return excess * (loss.near(order) - less - math.log1p(1 / excess)) - math.log1p(excess)

    order = best_order(objective, _orders(loss, orders))
    return tight_delta(loss.at(order), order, price)


@guarantee(
    claim="exp((order - 1)(divergence - epsilon)) (1 - 1 / order)^(order - 1) / order, rounded up and at most 1",
    proof="proofs/renyi.md#tight",
    reviewed="15d5d6235bd5",
)
def tight_delta(divergence: Extended, order: Fraction, epsilon: Fraction) -> Fraction:
    """The δ at which a bound on the divergence of one order keeps (ε, δ)."""
    if divergence == math.inf:
        return Fraction(1)
    excess = Fraction(divergence) - epsilon
    with precision(BITS):
        # ln(1 - 1/order): an order may be so high that the quotient itself is 1 to a ball.
        power = ball(order - 1) * (ball(excess) + ball(-1 / order).log1p()) - ball(order).log()
        return unit_bounds(power.exp())[1] if power < 0 else Fraction(1)


@guarantee(
    claim="(epsilon, delta) for the epsilon at each of several deltas: all hold together",
    proof="proofs/renyi.md#epsilon",
    reviewed="d02b7ad17115",
)
def renyi_promises(loss: Renyi) -> list[tuple[Fraction, Fraction]]:
    """Promises (ε, δ) that a Rényi loss keeps together, at δ of one half to ever higher powers."""
    halves = [Fraction(1, 2**power) for power in POWERS]
    kept = [(renyi_epsilon(loss, delta=delta), delta) for delta in halves]
    return [(Fraction(0), Fraction(1)), *((Fraction(epsilon), delta) for epsilon, delta in kept if epsilon != math.inf)]


def zcdp_epsilon(rho: Number, *, delta: Number) -> Extended:
    """An ε at which ρ-zCDP keeps (ε, δ), rounded up; the tightest conversion on file.

    >>> round(float(zcdp_epsilon(0.004, delta=1e-8)), 6)
    0.465965
    """
    return _zcdp_epsilon(amount(rho, "rho"), probability(delta, "delta"))


@lru_cache(maxsize=256)
def _zcdp_epsilon(rho: Extended, delta: Fraction) -> Extended:
    # Beyond some ρ the search does not come near enough to order 1; the closed form does.
    simple = zcdp_epsilon_simple(rho, delta=delta)
    return min(renyi_epsilon(Renyi.of(Linear(rho)), delta=delta), simple) if simple else simple


def zcdp_delta(rho: Number, *, epsilon: Number) -> Fraction:
    """A δ at which ρ-zCDP keeps (ε, δ), rounded up."""
    return renyi_delta(Renyi.of(Linear(rho)), epsilon=epsilon)


@guarantee(claim="rho + 2 sqrt(rho ln(1 / delta)), rounded up", proof="proofs/renyi.md#zcdp", reviewed="3e308369dab8")
def zcdp_epsilon_simple(rho: Number, *, delta: Number) -> Extended:
    """The ε of the textbooks at which ρ-zCDP keeps (ε, δ), rounded up.

    >>> round(float(zcdp_epsilon_simple(0.004, delta=1e-8)), 6)
    0.546891
    """
    price, allowed = amount(rho, "rho"), probability(delta, "delta")
    if price == 0 or price == math.inf or allowed == 1:
        return price
    if allowed == 0:
        return math.inf
    exact = Fraction(price)
    return upper(lambda: ball(exact) + 2 * (-ball(exact) * _log(allowed)).sqrt())


def zcdp_rho(epsilon: Number, *, delta: Number) -> Fraction:
    """The greatest ρ whose ρ-zCDP keeps (ε, δ) by `zcdp_epsilon`, rounded down to a float."""
    price, allowed = positive(epsilon, "epsilon"), positive(probability(delta, "delta"), "delta")
    return greatest(lambda rho: zcdp_epsilon(rho, delta=allowed) <= price, what="rho")


@guarantee(
    claim="(sqrt(ln(1 / delta) + epsilon) - sqrt(ln(1 / delta)))², rounded down",
    proof="proofs/renyi.md#zcdp",
    reviewed="34d4e9263e33",
)
def zcdp_rho_simple(epsilon: Number, *, delta: Number) -> Fraction:
    """The greatest ρ whose ρ-zCDP keeps (ε, δ) by `zcdp_epsilon_simple`, rounded down.

    >>> round(float(zcdp_rho_simple(1, delta=1e-6)), 7)
    0.0174689
    """
    price, allowed = non_negative(epsilon, "epsilon"), positive(probability(delta, "delta"), "delta")

    def enclosed() -> arb:
        log = -_log(allowed)
        root: arb = ball(price) / ((log + ball(price)).sqrt() + log.sqrt())
        return root * root

    return price if allowed == 1 else max(Fraction(0), Fraction(lower(enclosed)))


@guarantee(
    claim="the epsilon of rho-zCDP at (delta - set aside) / (1 - set aside); none below what is set aside",
    proof="proofs/renyi.md#approximate-zcdp",
    reviewed="20c99e4b59b0",
)
def approx_zcdp_epsilon(loss: ApproxZCDP, *, delta: Number) -> Extended:
    """An ε at which approximate zCDP keeps (ε, δ), rounded up; infinite if δ is less than what is set aside."""
    allowed, aside = probability(delta, "delta"), loss.delta
    if allowed == 1:
        return Fraction(0)
    return zcdp_epsilon(loss.rho, delta=(allowed - aside) / (1 - aside)) if allowed >= aside else math.inf


@guarantee(
    claim="what is set aside, and of the rest the delta of rho-zCDP",
    proof="proofs/renyi.md#approximate-zcdp",
    reviewed="26eff1b17123",
)
def approx_zcdp_delta(loss: ApproxZCDP, *, epsilon: Number) -> Fraction:
    """A δ at which approximate zCDP keeps (ε, δ), rounded up."""
    return loss.delta + (1 - loss.delta) * zcdp_delta(loss.rho, epsilon=epsilon)


@guarantee(
    claim="(exp(divergence) probability)^((order - 1) / order), rounded up and at most 1; 1 for an infinite divergence",
    proof="proofs/renyi.md#preservation",
    reviewed="1a0bc62c05d9",
)
def preserved_probability(chance: Number, *, order: Number, divergence: Number) -> Fraction:
    """The greatest probability, rounded up, of something that has a given chance on a neighbour.

    >>> round(float(preserved_probability(0.158655, order=2, divergence=1)), 5)
    0.65671
    """
    other, power, most = probability(chance, "chance"), read_order(order), amount(divergence, "divergence")
    if most == math.inf:  # nothing is promised, not even that what is impossible stays so
        return Fraction(1)
    if other == 0:
        return Fraction(0)
    exact, share = Fraction(most), (power - 1) / power
    with precision(BITS):
        log_chance = ball(share) * (ball(exact) + ball(other).log())
        return unit_bounds(log_chance.exp())[1] if log_chance < 0 else Fraction(1)


def _log(chance: Fraction) -> arb:
    """Encloses the logarithm of a probability, with all its digits also where that is near 1."""
    return ball(chance - 1).log1p() if 2 * chance > 1 else ball(chance).log()


def _loss(loss: Renyi) -> Renyi:
    if not isinstance(loss, Renyi):
        raise BadArgument("loss", "a Rényi loss such as sf.Renyi({2: 0.5, 8: 1.0})", loss)
    return loss


def _orders(loss: Renyi, orders: Iterable[Number] | None) -> Orders:
    stated = _loss(loss).orders()
    if orders is None:
        return stated.between()
    asked = Orders.exactly(orders).listed or ()
    return Orders(listed=tuple(order for order in asked if order <= stated.high))
