"""The curves of one pair of laws, as floats for drawing, beside what a claim allows."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from sfumato.accounting.convert.convert import convert
from sfumato.accounting.losses.measures import Approx, Loss
from sfumato.accounting.losses.pld import PLD
from sfumato.accounting.losses.profile import Profile
from sfumato.accounting.losses.trade_off import TradeOff
from sfumato.audit.record import Curve
from sfumato.errors import NoProvenRoute

Floats: TypeAlias = npt.NDArray[np.float64]
Points: TypeAlias = tuple[tuple[float, float], ...]

DRAWN = 64
"""A curve is drawn with at most this many points."""

DELTAS = tuple(Fraction(1, 10**power) for power in range(9, 0, -1))
"""Where a claimed profile is drawn that has an ε for each δ."""


def curves(claim: Loss | None, left: Sequence[object], right: Sequence[object]) -> tuple[Curve, ...]:
    """Draws the profile and the trade-off curve of a pair, beside what the claim allows.

    Both bend only where the likelihood ratio of some outcome is passed: there all points stand, unless they are many.
    """
    left_masses, right_masses = (np.array([float(mass) for mass in side]) for side in (left, right))  # type: ignore[arg-type]
    with np.errstate(divide="ignore", invalid="ignore"):
        ratios = np.where(right_masses > 0, left_masses / right_masses, np.where(left_masses > 0, math.inf, 0.0))
    order = np.argsort(-ratios, kind="stable")
    ratios = ratios[order]
    hits, alarms = np.cumsum(left_masses[order]), np.cumsum(right_masses[order])
    bends = np.flatnonzero((ratios >= 1) & np.isfinite(ratios))
    profile = [(math.log(ratios[place]), max(0.0, hits[place] - ratios[place] * alarms[place])) for place in bends]
    if not profile or profile[-1][0] > 0:
        above = hits[bends[-1]] - alarms[bends[-1]] if len(bends) else hits[ratios > 1][-1:].sum()
        profile.append((0.0, float(above)))
    seen = [(0.0, 1.0), *zip(np.minimum(alarms, 1.0), np.maximum(1 - hits, 0.0), strict=True), (1.0, 0.0)]
    places = [epsilon for epsilon, _ in _thin(profile[::-1])]
    return (
        Curve("ε", "δ", _claimed_profile(claim, places), _thin(profile[::-1])),
        Curve("false alarms", "misses", _claimed_trade_off(claim), _thin(seen)),
    )


def _claimed_profile(claim: Loss | None, places: Sequence[float]) -> Points:
    if claim is None:
        return ()
    if isinstance(claim, PLD):
        return tuple((place, float(claim.delta(place).upper)) for place in places)
    try:
        profile = convert(claim, Profile)
    except NoProvenRoute:
        return _promised_points(claim)
    wanted = sorted({*places, *(float(epsilon) for epsilon, _ in profile.points)})
    return tuple((place, float(profile.delta(place))) for place in wanted)


def _promised_points(claim: Loss) -> Points:
    """The ε that a claim promises at each of some δ; nothing where no theorem says."""
    try:
        points = [(float(convert(claim, Approx, delta=allowed).epsilon), float(allowed)) for allowed in DELTAS]
    except NoProvenRoute:
        return ()
    return tuple(sorted(points))


def _claimed_trade_off(claim: Loss | None) -> Points:
    try:
        points = () if claim is None else convert(claim, TradeOff).points
    except NoProvenRoute:
        return ()
    return tuple((float(alarms), float(misses)) for alarms, misses in points)


def _thin(points: Sequence[tuple[float, float]]) -> Points:
    count = len(points)
    some = points if count <= DRAWN else [points[step * (count - 1) // (DRAWN - 1)] for step in range(DRAWN)]
    return tuple(dict.fromkeys((float(across), float(upward)) for across, upward in some))
