"""Conversions to and from privacy-loss distributions: each kind by the pair that dominates all it allows."""

from __future__ import annotations

import math
from fractions import Fraction

from sfumato.accounting.convert.routes import converts
from sfumato.accounting.losses.concentrated import GDP
from sfumato.accounting.losses.measures import Approx, BoundedRange, Pure
from sfumato.accounting.losses.pld import PLD
from sfumato.accounting.losses.profile import Profile
from sfumato.accounting.pld.pairs.either import RangePair
from sfumato.accounting.pld.pairs.finite import ApproxPair, ResponsePair
from sfumato.accounting.pld.pairs.gaussian import GaussianPair
from sfumato.guarantee import guarantee


@converts(Pure, PLD, theorem="Kairouz, Oh and Viswanath 2015, Theorem 3.3: randomized response", lossless=True)
@guarantee(
    claim="the pair of randomized response", proof="proofs/conversions.md#pure-distribution", reviewed="67f55c6d6426"
)
def pure_to_pld(loss: Pure, _delta: Fraction | None) -> PLD:
    """The distribution that dominates every pure loss of this ε."""
    if loss.epsilon in (0, math.inf):
        return PLD.nothing() if loss.epsilon == 0 else PLD.of(ApproxPair(0, 1))
    return PLD.of(ResponsePair(Fraction(loss.epsilon)))


@converts(BoundedRange, PLD, theorem="the largest profile over all windows, from Dong, Durfee and Rogers 2020")
@guarantee(
    claim="the pair whose profile is (exp(eta/2) - sqrt x)² / (exp(eta) - 1)",
    proof="proofs/pairs.md#range",
    reviewed="bb1496d00119",
)
def range_to_pld(loss: BoundedRange, _delta: Fraction | None) -> PLD:
    """The distribution that dominates everything of this bounded range."""
    if loss.eta in (0, math.inf):
        return PLD.nothing() if loss.eta == 0 else PLD.of(ApproxPair(0, 1))
    return PLD.of(RangePair(Fraction(loss.eta)))


@converts(Approx, PLD, theorem="Kairouz, Oh and Viswanath 2015, Theorem 3.3", lossless=True)
@guarantee(claim="the pair of the response", proof="proofs/conversions.md#pure-distribution", reviewed="c802b34532b2")
def approx_to_pld(loss: Approx, _delta: Fraction | None) -> PLD:
    """The distribution that dominates every mechanism with this ε and δ."""
    if loss.epsilon == math.inf:
        return PLD.of(ApproxPair(0, 1))
    if loss.epsilon == loss.delta == 0:
        return PLD.nothing()
    return PLD.of(ApproxPair(Fraction(loss.epsilon), loss.delta))


@converts(GDP, PLD, theorem="Dong, Roth and Su 2022, Definition 2.6", lossless=True)
@guarantee(
    claim="the pair of two Gaussians mu apart",
    proof="proofs/conversions.md#gaussian-distribution",
    reviewed="09d061216955",
)
def gdp_to_pld(loss: GDP, _delta: Fraction | None) -> PLD:
    """The distribution of two unit Gaussians."""
    if loss.mu in (0, math.inf):
        return PLD.nothing() if loss.mu == 0 else PLD.of(ApproxPair(0, 1))
    return PLD.of(GaussianPair(Fraction(loss.square)))


@converts(Profile, PLD, theorem="Zhu, Dong and Wang 2022, Proposition 8", lossless=True)
@guarantee(
    claim="the finite pair of the profile", proof="proofs/conversions.md#profile-distribution", reviewed="014981b4d90a"
)
def profile_to_pld(loss: Profile, _delta: Fraction | None) -> PLD:
    """A distribution that dominates everything that keeps a profile."""
    return PLD.nothing() if loss == Profile.nothing() else PLD.of(loss.pair())


@converts(
    PLD,
    Approx,
    theorem="Sommer, Meiser and Mohammadi 2019, Lemma 5: E max(0, 1 − e^(ε−L)) ≤ δ",
    at_delta=True,
    tight=True,
)
@guarantee(
    claim="the upper end of the bracket of epsilon at a delta",
    proof="proofs/conversions.md#distribution-approximate",
    reviewed="e39a417571bd",
)
def pld_to_approx(loss: PLD, delta: Fraction) -> Approx:
    """The ε of a privacy-loss distribution at a δ."""
    if delta == 1 or loss == PLD.nothing():
        return Approx(0, delta)
    return Approx(loss.epsilon(delta).upper if delta else math.inf, delta)


@converts(PLD, Profile, theorem="Sommer, Meiser and Mohammadi 2019, Lemma 5, at chosen δ")
@guarantee(
    claim="the promises of the distribution",
    proof="proofs/conversions.md#distribution-approximate",
    reviewed="1982bf78af46",
)
def pld_to_profile(loss: PLD, _delta: Fraction | None) -> Profile:
    """Promises that a privacy-loss distribution keeps."""
    return Profile(loss.promises())
