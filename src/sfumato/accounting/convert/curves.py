"""Conversions to and from curves: Rényi divergences by order, profiles δ(ε), trade-off curves."""

from __future__ import annotations

import math
from fractions import Fraction

from sfumato.accounting.convert.renyi import renyi_epsilon
from sfumato.accounting.convert.routes import converts
from sfumato.accounting.losses.concentrated import GDP
from sfumato.accounting.losses.measures import ZCDP, Approx, BoundedRange, Pure
from sfumato.accounting.losses.profile import Profile
from sfumato.accounting.losses.renyi import Renyi
from sfumato.accounting.losses.trade_off import TradeOff
from sfumato.accounting.renyi.mechanism_curves import Linear, PureCurve, RangeCurve
from sfumato.guarantee import guarantee


@converts(BoundedRange, Renyi, theorem="Dong, Durfee and Rogers 2020", tight=True)
@guarantee(claim="the curve of the range", proof="proofs/conversions.md#range-renyi", reviewed="47902dbf8410")
def range_to_renyi(loss: BoundedRange, _delta: Fraction | None) -> Renyi:
    """The Rényi curve of a bounded range."""
    return Renyi.of(RangeCurve(loss.eta))


@converts(Pure, Renyi, theorem="Mironov 2017, Section VI: randomized response", lossless=True)
@guarantee(claim="the curve of randomized response", proof="proofs/conversions.md#pure-renyi", reviewed="17f25e70d7e4")
def pure_to_renyi(loss: Pure, _delta: Fraction | None) -> Renyi:
    """The Rényi curve of a pure loss."""
    return Renyi.of(PureCurve(loss.epsilon))


@converts(ZCDP, Renyi, theorem="Bun and Steinke 2016, Definition 1.1: the curve ρα", lossless=True)
@guarantee(claim="rho times the order", proof="proofs/conversions.md#zcdp-renyi", reviewed="cf8e3ad6b6c3")
def zcdp_to_renyi(loss: ZCDP, _delta: Fraction | None) -> Renyi:
    """The Rényi curve that zCDP is."""
    return Renyi.of(Linear(loss.rho))


@converts(GDP, Renyi, theorem="Dong, Roth and Su 2022, Corollary B.6", tight=True)
@guarantee(claim="mu² / 2 times the order", proof="proofs/conversions.md#gaussian-zcdp", reviewed="c7fd91eb4388")
def gdp_to_renyi(loss: GDP, _delta: Fraction | None) -> Renyi:
    """The Rényi curve of Gaussian differential privacy."""
    return Renyi.of(Linear(loss.square / 2))


@converts(Renyi, Approx, theorem="Canonne, Kamath and Steinke 2020, Proposition 12", at_delta=True)
@guarantee(
    claim="the least epsilon over orders, at a delta",
    proof="proofs/conversions.md#zcdp-approximate",
    reviewed="aba514131964",
)
def renyi_to_approx(loss: Renyi, delta: Fraction) -> Approx:
    """The ε of a Rényi curve at a δ."""
    return Approx(renyi_epsilon(loss, delta=delta), delta)


@converts(Approx, Profile, theorem="definition: one promise of a profile", lossless=True)
@guarantee(
    claim="the profile of one promise", proof="proofs/conversions.md#approximate-profile", reviewed="cad3e4871cb9"
)
def approx_to_profile(loss: Approx, _delta: Fraction | None) -> Profile:
    """The profile that (ε, δ) promises."""
    return Profile.of(loss)


@converts(Profile, Approx, theorem="definition: one promise of a profile", at_delta=True, tight=True)
@guarantee(claim="the promise at a delta", proof="proofs/conversions.md#approximate-profile", reviewed="a381e416a632")
def profile_to_approx(loss: Profile, delta: Fraction) -> Approx:
    """The ε that a profile promises at a δ."""
    return Approx(loss.epsilon(delta), delta)


@converts(GDP, Profile, theorem="Dong, Roth and Su 2022, Corollary 2.13", tight=True)
@guarantee(claim="promises of two Gaussians", proof="proofs/conversions.md#gaussian-profile", reviewed="9e113126f187")
def gdp_to_profile(loss: GDP, _delta: Fraction | None) -> Profile:
    """A profile of Gaussian differential privacy, by a fine list of promises."""
    return Profile([(0, 1)]) if loss.mu == math.inf else Profile.gaussian(loss.mu)


@converts(GDP, TradeOff, theorem="Dong, Roth and Su 2022, Definition 2.6", tight=True)
@guarantee(
    claim="lines below the curve of two Gaussians",
    proof="proofs/conversions.md#gaussian-profile",
    reviewed="e401d8ffc55d",
)
def gdp_to_trade_off(loss: GDP, _delta: Fraction | None) -> TradeOff:
    """A trade-off curve of Gaussian differential privacy, by many tangents."""
    return TradeOff.of(Profile([(0, 1)])) if loss.mu == math.inf else TradeOff.gaussian(loss.mu)


@converts(Profile, TradeOff, theorem="Dong, Roth and Su 2022, Proposition 2.12", lossless=True)
@guarantee(
    claim="the largest of the promises' lines", proof="proofs/conversions.md#profile-trade-off", reviewed="f4935c98b3e2"
)
def profile_to_trade_off(loss: Profile, _delta: Fraction | None) -> TradeOff:
    """The trade-off curve of a profile."""
    return TradeOff.of(loss)


@converts(TradeOff, Profile, theorem="Dong, Roth and Su 2022, Proposition 2.12", lossless=True)
@guarantee(claim="one promise for each edge", proof="proofs/conversions.md#profile-trade-off", reviewed="45f31fdd727d")
def trade_off_to_profile(loss: TradeOff, _delta: Fraction | None) -> Profile:
    """The profile of a trade-off curve."""
    return loss.profile()
