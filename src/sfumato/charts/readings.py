"""What charts read off losses: their promises as profiles, and their trade-off curves with the corners."""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Callable, Iterable, Mapping, Sequence
from fractions import Fraction
from itertools import pairwise
from typing import Any, TypeAlias

from sfumato.accounting.losses.amounts import amount
from sfumato.accounting.losses.bracket import Bracket
from sfumato.accounting.losses.concentrated import GDP
from sfumato.accounting.losses.measures import Approx, Pure
from sfumato.accounting.losses.pld import PLD
from sfumato.accounting.losses.profile import Profile
from sfumato.accounting.losses.trade_off import MissCurve, TradeOff, gaussian_trade_off
from sfumato.accounting.meaning.attacker import Tested
from sfumato.accounting.plans.account import CostReport
from sfumato.errors import BadArgument
from sfumato.exact import Number, down, non_negative, probability, rational_up, up

Points: TypeAlias = Mapping[float, Number | Bracket]
"""For some ε their δ, or the bracket it lies in."""

STEPS = 200
"""How many steps a line from 0 to 1 has."""

EPSILON = "each ε of the chart"

LOOKS, FAR = 40, 64
"""The steps at which the curve of a privacy-loss distribution is evaluated, and its largest ε; between lie chords."""


def points_of(curve: Tested | Points, least: Fraction, name: str) -> Profile | dict[Fraction, Bracket]:
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
            return brackets_of(curve, least)
        case Mapping():
            return {non_negative(epsilon, "epsilon"): _bracket(delta) for epsilon, delta in sorted(curve.items())}
    raise BadArgument(
        f"the curve {name!r}",
        "sf.Profile, Pure, Approx, GDP, TradeOff or PLD (sf.convert makes one of others), or a mapping from ε to δ",
        curve,
    )


def brackets_of(loss: PLD, least: Fraction) -> dict[Fraction, Bracket]:
    """Computes the brackets of δ of a privacy-loss distribution, up to the ε at which δ is ``least``."""
    end = Fraction(min(loss.epsilon(least).upper, FAR))
    return {place: loss.delta(place) for place in (end * step / LOOKS for step in range(LOOKS + 1))}


def _bracket(delta: Number | Bracket) -> Bracket:
    """Reads a δ, promised or enclosed."""
    low, high = (delta.lower, delta.upper) if isinstance(delta, Bracket) else (delta, delta)
    return Bracket(probability(low, "delta"), probability(high, "delta"))


def lower_ends(points: Mapping[Fraction, Bracket], places: Iterable[Fraction]) -> list[float]:
    """Bounds δ from below, about, between the ε at which it is enclosed, for rising places.

    δ falls, and it is convex in exp(ε): beyond two places it is above the line through the upper end at the farther
    one and the lower end at the nearer one.
    """
    known = sorted(points)
    x, high = [math.exp(place) for place in known], [up(points[place].upper) for place in known]
    low, ends = [down(points[place].lower) for place in known], []
    for place in places:
        at, after = math.exp(place), bisect_left(known, place)
        bounds = [low[after]]
        if known[after] != place and after >= 2:
            bounds.append(low[after - 1] + _slope(x, high, low, after - 2, after - 1) * (at - x[after - 1]))
        if known[after] != place and after + 1 < len(known):
            bounds.append(low[after] + _slope(x, high, low, after + 1, after) * (at - x[after]))
        ends.append(max(bounds))
    return ends


def _slope(x: Sequence[float], high: Sequence[float], low: Sequence[float], far: int, near: int) -> float:
    return (high[far] - low[near]) / (x[far] - x[near])


def misses_of(curve: MissCurve | Tested, name: str) -> tuple[Callable[[Fraction], float], set[Fraction]]:
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
            brackets = brackets_of(curve, Fraction(1, 10**9))
            return misses_of(TradeOff.of(Profile([(place, delta.upper) for place, delta in brackets.items()])), name)
        case TradeOff():
            return (lambda rate: -up(-curve.at(rate))), {alpha for alpha, _ in curve.points}
    if not callable(curve) or isinstance(curve, type):
        kinds = "a Pure, Approx, GDP, Profile, PLD or TradeOff loss, or a function, sf.accounting.trade_off(sf.Pure(1))"
        raise BadArgument(f"the curve {name!r}", kinds, curve)
    return curve, kinks(curve)


def kinks(curve: MissCurve) -> set[Fraction]:
    """Finds the rates near which a convex curve may have a corner: where the lines on both sides of a step meet."""
    rates = [Fraction(step, STEPS) for step in range(STEPS + 1)]
    corners, lines = (
        set(),
        [(rate, curve(rate), (curve(next_rate) - curve(rate)) * STEPS) for rate, next_rate in pairwise(rates)],
    )
    for (left, height, fall), (right, beyond, flat) in zip(lines, lines[2:], strict=False):
        if flat - fall > 1e-9:
            place = left + Fraction((beyond - height - flat * float(right - left)) / (fall - flat))
            corners |= {place} if left <= place <= right else set()
    return corners


def rates_of(corners: Iterable[Fraction]) -> list[Fraction]:
    """The rates from 0 to 1 at which to draw: evenly spaced, and every corner."""
    return sorted({Fraction(step, STEPS) for step in range(STEPS + 1)} | set(corners))


def epsilon_of(value: object) -> Bracket:
    """Reads an ε: a number, a bracket, a loss that has one, or what an account found."""
    epsilon: Any = value.epsilon if isinstance(value, Pure | Approx | CostReport) else value
    low, high = (epsilon.lower, epsilon.upper) if isinstance(epsilon, Bracket) else (epsilon, epsilon)
    return Bracket(amount(low, EPSILON), amount(high, EPSILON))
