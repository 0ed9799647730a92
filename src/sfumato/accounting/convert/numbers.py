"""Conversions between losses that are one or two numbers: each row is a theorem, rounded up.

A row takes a loss and the δ that is asked for, if any; rows marked ``at_delta`` are only used with one.
"""

from __future__ import annotations

import math
from fractions import Fraction

from flint import arb

from sfumato.accounting.convert.renyi import approx_zcdp_epsilon, zcdp_epsilon
from sfumato.accounting.convert.routes import converts
from sfumato.accounting.facts.gaussian import gaussian_epsilon
from sfumato.accounting.losses.concentrated import GDP, ApproxZCDP
from sfumato.accounting.losses.measures import ZCDP, Approx, BoundedRange, Pure
from sfumato.accounting.plans.optimal import exact_optimal_epsilon
from sfumato.errors import CannotCalibrate, NoProvenRoute
from sfumato.exact import ball, upper
from sfumato.guarantee import guarantee


@converts(BoundedRange, Pure, theorem="Durfee and Rogers 2019, Section 4.2", tight=True)
@guarantee(claim="epsilon = eta", proof="proofs/conversions.md#range-pure", reviewed="2244cee718f4")
def range_to_pure(loss: BoundedRange, _delta: Fraction | None) -> Pure:
    """The pure loss of a bounded range: both neighbours' probabilities sum to 1, so the range contains 0."""
    return Pure(loss.eta)


@converts(
    BoundedRange, ZCDP, theorem="Cesar and Rogers 2021, sharpened to ρ = (η/2)coth(η/2) − 1 + ln(sinh(η/2)/(η/2))",
    tight=True,
)  # fmt: skip
@guarantee(
    claim="rho = (eta / 2) coth(eta / 2) - 1 + ln(sinh(eta / 2) / (eta / 2)), rounded up, at most eta and eta² / 8",
    proof="proofs/conversions.md#range-zcdp",
    reviewed="6fae61ec1eac",
)
def range_to_zcdp(loss: BoundedRange, _delta: Fraction | None) -> ZCDP:
    """The zCDP loss of a bounded range: the least that holds for every mechanism, and below η²/8."""
    if loss.eta in (0, math.inf):
        return ZCDP(loss.eta)
    eta = Fraction(loss.eta)

    def enclosed() -> arb:
        # coth(η/2) = (1 + e^−η) / (1 − e^−η), and sinh(η/2) = e^(η/2) (1 − e^−η) / 2
        near = -ball(-eta).expm1()
        return ball(eta) / 2 * (1 + (2 - near) / near) - 1 + (near / ball(eta)).log()

    return ZCDP(min(eta, eta * eta / 8, upper(enclosed)))


@converts(Pure, BoundedRange, theorem="definition: losses in [−ε, ε]", tight=True)
@guarantee(claim="eta = 2 epsilon", proof="proofs/conversions.md#pure-range", reviewed="6706ddee6ac1")
def pure_to_range(loss: Pure, _delta: Fraction | None) -> BoundedRange:
    """The bounded range of a pure loss."""
    return BoundedRange(2 * loss.epsilon)


@converts(Pure, ZCDP, theorem="Bun and Steinke 2016, Proposition 3.3, sharpened to ρ = ε·tanh(ε/2)", tight=True)
@guarantee(
    claim="rho = epsilon tanh(epsilon / 2), rounded up",
    proof="proofs/conversions.md#pure-zcdp",
    reviewed="09a3885c5e79",
)
def pure_to_zcdp(loss: Pure, _delta: Fraction | None) -> ZCDP:
    """The zCDP loss of a pure loss: the least that holds for every mechanism, and below ε²/2."""
    if loss.epsilon in (0, math.inf):
        return ZCDP(loss.epsilon)
    epsilon = Fraction(loss.epsilon)
    return ZCDP(min(epsilon, epsilon * epsilon / 2, upper(lambda: ball(epsilon) * (ball(epsilon) / 2).tanh())))


@converts(Pure, Approx, theorem="definition: δ = 0", lossless=True)
@guarantee(claim="(epsilon, 0)", proof="proofs/conversions.md#approximate-pure", reviewed="d4d154d05216")
def pure_to_approx(loss: Pure, _delta: Fraction | None) -> Approx:
    """(ε, 0); the step from one δ to another does the rest."""
    return Approx(loss.epsilon, 0)


@converts(Pure, GDP, theorem="Liu, Sun, Jiang and Kong 2022: μ = 2Φ⁻¹(e^ε / (1 + e^ε))", tight=True)
@guarantee(
    claim="mu = 2 Phi^-1(exp(epsilon) / (1 + exp(epsilon))) = 2 sqrt(2) erfc^-1(2 / (1 + exp(epsilon))), rounded up",
    proof="proofs/conversions.md#pure-gaussian",
    reviewed="6af0d6b82b08",
)
def pure_to_gdp(loss: Pure, _delta: Fraction | None) -> GDP:
    """The Gaussian differential privacy of a pure loss."""
    if loss.epsilon in (0, math.inf):
        return GDP(loss.epsilon)
    epsilon = Fraction(loss.epsilon)
    return GDP(upper(lambda: ball(8).sqrt() * (2 / (1 + ball(epsilon).exp())).erfcinv()))


@converts(Approx, Pure, theorem="definition: δ = 0 is pure", lossless=True, only="δ = 0")
@guarantee(
    claim="(epsilon, 0) is epsilon; refused else",
    proof="proofs/conversions.md#approximate-pure",
    reviewed="dd559a66ecf5",
)
def approx_to_pure(loss: Approx, _delta: Fraction | None) -> Pure:
    """The pure loss that (ε, 0) is."""
    if loss.delta:
        raise NoProvenRoute("(ε, δ) with δ > 0 allows outcomes of any loss, which no finite pure ε allows.")
    return Pure(loss.epsilon)


@converts(Approx, Approx, theorem="Kairouz, Oh and Viswanath 2015, Theorem 3.3 for one mechanism", tight=True)
@guarantee(
    claim="at a larger delta the least epsilon of the worst mechanism, rounded up; at a smaller one infinite",
    proof="proofs/conversions.md#another-delta",
    reviewed="d3ed9bb6545f",
)
def approx_to_approx(loss: Approx, delta: Fraction | None) -> Approx:
    """The least ε that (ε, δ) keeps at another δ."""
    if delta is None or delta == loss.delta:
        return loss
    if loss.epsilon == math.inf:
        return Approx(0 if delta == 1 else math.inf, delta)
    return Approx(exact_optimal_epsilon(Fraction(loss.epsilon), 1, delta, loss.delta), delta)


@converts(Approx, ApproxZCDP, theorem="Kairouz, Oh and Viswanath 2015, Theorem 3.3, with Pure → ZCDP", tight=True)
@guarantee(
    claim="rho = epsilon tanh(epsilon / 2) rounded up, the same delta",
    proof="proofs/conversions.md#approximate-approximate-zcdp",
    reviewed="ba7baf5d53fc",
)
def approx_to_approximate_zcdp(loss: Approx, _delta: Fraction | None) -> ApproxZCDP:
    """The approximate zCDP of (ε, δ): with δ of each distribution set aside, what is left is pure ε."""
    return ApproxZCDP(pure_to_zcdp(Pure(loss.epsilon), None).rho, loss.delta)


@converts(ZCDP, ApproxZCDP, theorem="definition: nothing is set aside", lossless=True)
@guarantee(claim="(rho, 0)", proof="proofs/conversions.md#zcdp-approximate-zcdp", reviewed="372a3de1a3c2")
def zcdp_to_approximate_zcdp(loss: ZCDP, _delta: Fraction | None) -> ApproxZCDP:
    """zCDP as approximate zCDP."""
    return ApproxZCDP(loss.rho, 0)


@converts(ApproxZCDP, ZCDP, theorem="definition: nothing is set aside", lossless=True, only="δ = 0")
@guarantee(
    claim="(rho, 0) is rho; refused else", proof="proofs/conversions.md#zcdp-approximate-zcdp", reviewed="335c3b756123"
)
def approximate_zcdp_to_zcdp(loss: ApproxZCDP, _delta: Fraction | None) -> ZCDP:
    """The zCDP that approximate zCDP with δ = 0 is."""
    if loss.delta:
        raise NoProvenRoute("δ-approximate zCDP with δ > 0 allows outcomes of any loss, which no finite ρ allows.")
    return ZCDP(loss.rho)


@converts(ZCDP, Approx, theorem="Canonne, Kamath and Steinke 2020, Proposition 12 and Corollary 13", at_delta=True)
@guarantee(
    claim="the least epsilon over orders, at a delta",
    proof="proofs/conversions.md#zcdp-approximate",
    reviewed="294b86950d22",
)
def zcdp_to_approx(loss: ZCDP, delta: Fraction) -> Approx:
    """The ε of zCDP at a δ."""
    return Approx(zcdp_epsilon(loss.rho, delta=delta), delta)


@converts(ApproxZCDP, Approx, theorem="Bun and Steinke 2016, Section 8, with ZCDP → Approx", at_delta=True)
@guarantee(
    claim="epsilon of rho-zCDP at (d - delta) / (1 - delta), at a total of d; infinite where d < delta",
    proof="proofs/conversions.md#approximate-zcdp-approximate",
    reviewed="39b5224ca105",
)
def approximate_zcdp_to_approx(loss: ApproxZCDP, delta: Fraction) -> Approx:
    """The ε of approximate zCDP at a δ."""
    return Approx(approx_zcdp_epsilon(loss, delta=delta), delta)


@converts(GDP, ZCDP, theorem="Dong, Roth and Su 2022, Corollary B.6", tight=True)
@guarantee(claim="rho = mu² / 2", proof="proofs/conversions.md#gaussian-zcdp", reviewed="c83c55c83f59")
def gdp_to_zcdp(loss: GDP, _delta: Fraction | None) -> ZCDP:
    """The zCDP loss of Gaussian differential privacy."""
    return ZCDP(loss.square / 2)


@converts(
    GDP,
    Approx,
    theorem="Dong, Roth and Su 2022, Corollary 2.13; Balle and Wang 2018, Theorem 8",
    at_delta=True,
    tight=True,
)
@guarantee(
    claim="the least epsilon with Phi(mu/2 - epsilon/mu) - exp(epsilon) Phi(-mu/2 - epsilon/mu) <= delta, rounded up; "
    "that of zCDP where it is too large to be sought",
    proof="proofs/conversions.md#gaussian-approximate",
    reviewed="3489f849dd75",
)
def gdp_to_approx(loss: GDP, delta: Fraction) -> Approx:
    """The ε of Gaussian differential privacy at a δ, exactly."""
    if loss.mu == 0 or delta == 1:
        return Approx(0, delta)
    if delta == 0 or loss.mu == math.inf:
        return Approx(math.inf, delta)
    try:
        return Approx(gaussian_epsilon(delta, scale=1, sensitivity=loss.mu), delta)
    except CannotCalibrate:  # the ε is beyond the floats among which it is sought
        return zcdp_to_approx(gdp_to_zcdp(loss, None), delta)
