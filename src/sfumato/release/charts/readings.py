"""What charts read off losses: their promises as profiles, and their trade-off curves with the corners."""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Callable, Iterable, Mapping, Sequence
from fractions import Fraction
from itertools import pairwise
from typing import Any, TypeAlias

from sfumato.accounting.account import Account
from sfumato.accounting.bracket import Bracket
from sfumato.accounting.concentrated import GDP
from sfumato.accounting.measures import Approx, Pure, amount
from sfumato.accounting.pld import PLD
from sfumato.accounting.profile import Profile
from sfumato.accounting.trade_off import MissCurve, TradeOff, gaussian_trade_off
from sfumato.errors import BadArgument
from sfumato.exact import Number, down, non_negative, probability, rational_up, up

Points: TypeAlias = Mapping[float, Number | Bracket]
"""For some ε their δ, or the bracket it lies in."""

Promised: TypeAlias = Pure | Approx | GDP | Profile | TradeOff | PLD
"""The losses that say their δ at every ε."""

STEPS = 200
"""How many steps a line from 0 to 1 has."""

EPSILON = "each ε of the chart"

LOOKS, FAR = 40, 64
"""At so many places the curve of a privacy-loss distribution is worked out, at most so far; between them lie chords."""


def points_of(curve: Promised | Points, least: Fraction, name: str) -> Profile | dict[Fraction, Bracket]:
    """Reads a curve of δ over ε: a profile, or for some ε the brackets of δ."""
    match curve:
        case Profile():
            return curve
        case Pure() | Approx():
            return Profile.of(curve)
        case TradeOff():
            return curve.profile()
        case GDP() if curve.mu != math.inf:
            return Profile.gaussian(curve.mu)
        case PLD():
            return looked(curve, least)
        case Mapping():
            return {non_negative(epsilon, "epsilon"): _bracket(delta) for epsilon, delta in sorted(curve.items())}
    raise BadArgument(
        f"the curve {name!r}",
        "sf.Profile, Pure, Approx, GDP, TradeOff or PLD (sf.convert makes one of others), or a mapping from ε to δ",
        curve,
    )


def looked(loss: PLD, least: Fraction) -> dict[Fraction, Bracket]:
    """Works out the brackets of δ of a privacy-loss distribution, up to the ε at which δ is least."""
    end = Fraction(min(loss.epsilon(least).upper, FAR))
    return {place: loss.delta(place) for place in (end * step / LOOKS for step in range(LOOKS + 1))}


def _bracket(delta: Number | Bracket) -> Bracket:
    """Reads a δ, promised or enclosed."""
    low, high = (delta.lower, delta.upper) if isinstance(delta, Bracket) else (delta, delta)
    return Bracket(probability(low, "delta"), probability(high, "delta"))


def lower_ends(points: Mapping[Fraction, Bracket], places: Iterable[Fraction]) -> list[float]:
    """Gives what δ is at least, about, between ε at which it is enclosed, for rising places.

    δ falls, and it is convex in exp(ε): beyond two places it is above the line through the upper end at the farther
    one and the lower end at the nearer one.
    """
    known = sorted(points)
    x, high = [math.exp(place) for place in known], [up(points[place].upper) for place in known]
    low, found = [down(points[place].lower) for place in known], []
    for place in places:
        at, after = math.exp(place), bisect_left(known, place)
        bounds = [low[after]]
        if known[after] != place and after >= 2:
            bounds.append(low[after - 1] + _slope(x, high, low, after - 2, after - 1) * (at - x[after - 1]))
        if known[after] != place and after + 1 < len(known):
            bounds.append(low[after] + _slope(x, high, low, after + 1, after) * (at - x[after]))
        found.append(max(bounds))
    return found


def _slope(x: Sequence[float], high: Sequence[float], low: Sequence[float], far: int, near: int) -> float:
    return (high[far] - low[near]) / (x[far] - x[near])


def misses_of(curve: MissCurve | Promised, name: str) -> tuple[Callable[[Fraction], float], set[Fraction]]:
    """Reads a trade-off curve: its least misses at each rate of false alarms, and the rates at which it has corners."""
    match curve:
        case GDP():
            shift = rational_up(curve.mu)
            if shift == math.inf:
                return (lambda rate: 0.0), set()
            return gaussian_trade_off(Fraction(shift)), set()
        case Pure() | Approx() | Profile():
            return misses_of(TradeOff.of(curve), name)
        case PLD():
            found = looked(curve, Fraction(1, 10**9))
            return misses_of(TradeOff.of(Profile([(place, delta.upper) for place, delta in found.items()])), name)
        case TradeOff():
            return (lambda rate: -up(-curve.at(rate))), {alpha for alpha, _ in curve.points}
    if not callable(curve) or isinstance(curve, type):
        kinds = "sf.TradeOff, Pure, Approx, GDP, Profile or PLD, or a function such as sf.trade_off(sf.Pure(1))"
        raise BadArgument(f"the curve {name!r}", kinds, curve)
    return curve, kinks(curve)


def kinks(curve: MissCurve) -> set[Fraction]:
    """Finds the rates near which a convex curve may have a corner: where the lines on both sides of a step meet."""
    rates = [Fraction(step, STEPS) for step in range(STEPS + 1)]
    found, lines = set(), [(one, curve(one), (curve(other) - curve(one)) * STEPS) for one, other in pairwise(rates)]
    for (left, height, fall), (right, beyond, flat) in zip(lines, lines[2:], strict=False):
        if flat - fall > 1e-9:
            place = left + Fraction((beyond - height - flat * float(right - left)) / (fall - flat))
            found |= {place} if left <= place <= right else set()
    return found


def rates_of(corners: Iterable[Fraction]) -> list[Fraction]:
    """Gives rates from 0 to 1 at which to draw: evenly, and every corner."""
    return sorted({Fraction(step, STEPS) for step in range(STEPS + 1)} | set(corners))


def epsilon_of(value: object) -> Bracket:
    """Reads an ε: a number, a bracket, a loss that has one, or what an account found."""
    found: Any = value.epsilon if isinstance(value, Pure | Approx | Account) else value
    low, high = (found.lower, found.upper) if isinstance(found, Bracket) else (found, found)
    return Bracket(amount(low, EPSILON), amount(high, EPSILON))
