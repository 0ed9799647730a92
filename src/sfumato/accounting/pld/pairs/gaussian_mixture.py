"""The pair of Gaussian noise on an answer that one unit moves by one of several shifts, by chance."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from fractions import Fraction
from typing import NamedTuple, final

import numpy as np
from flint import arb
from numpy.typing import NDArray

from sfumato.accounting.facts.gaussian import gaussian_upper_tail
from sfumato.accounting.pld.pairs.gaussian import outcomes
from sfumato.accounting.pld.pairs.pair import ALL, Line, Lines, Pair
from sfumato.errors import BadArgument, elements
from sfumato.exact import Number, ball, log_up, positive, up
from sfumato.guarantee import guarantee
from sfumato.plain import record

CLOSEST, TURNS = -116, 6
"""The best cut is sought to this power of two, relatively, by no more than so many of Newton's steps."""


@final
@record("GaussianMixturePair")
class GaussianMixturePair(Pair):
    """Σ pᵢ·N(μᵢ, 1) against N(0, 1), for shifts μᵢ above 0; what the chances pᵢ leave of 1 is at 0.

    ``turned`` is the other way round: N(0, 1) against the mixture.
    """

    shifts: tuple[Fraction, ...]
    chances: tuple[Fraction, ...]
    turned: bool

    def __init__(self, shifts: Iterable[Number], chances: Iterable[Number], *, turned: bool = False) -> None:
        with elements():
            read = tuple(positive(shift, "each shift") for shift in shifts)
            weights = tuple(positive(chance, "each chance") for chance in chances)
        if not read or len(read) != len(weights) or sum(weights) > 1:
            raise BadArgument("chances", "one for each shift, and at most 1 together", weights)
        object.__setattr__(self, "shifts", read)
        object.__setattr__(self, "chances", weights)
        object.__setattr__(self, "turned", bool(turned))

    @property
    def missed(self) -> Fraction:
        """The chance that nothing moves."""
        return 1 - sum(self.chances, Fraction(0))

    def lines(self) -> Lines:
        """Prepares the supporting lines."""
        return mixture_lines(self.shifts, self.chances, turned=self.turned)

    def reversed(self) -> GaussianMixturePair:
        """The same two, the other first."""
        return GaussianMixturePair(self.shifts, self.chances, turned=not self.turned)

    def hints(self, tail: float) -> list[float]:
        """Losses at evenly spaced outcomes."""
        shifts, missed = [up(shift) for shift in self.shifts], up(self.missed)
        reach = np.array(outcomes(tail, centre=max(shifts)))
        parts = [np.full_like(reach, math.log(missed) if missed else -math.inf)]
        parts += [math.log(up(p)) + mu * (reach - mu / 2) for mu, p in zip(shifts, self.chances, strict=True)]
        losses: list[float] = np.logaddexp.reduce(parts).tolist()
        return sorted({-loss for loss in losses} if self.turned else set(losses))

    @property
    def largest(self) -> Fraction | None:
        """Turned: −ln of the chance that nothing moves, if there is one; else the losses have no end."""
        return Fraction(log_up(1 / self.missed)) if self.turned and self.missed else None

    @property
    def smooth(self) -> bool:
        """Yes: the loss has a density."""
        return True

    @property
    def pitch(self) -> None:
        """None: the losses fill an interval."""
        return None


class Part(NamedTuple):
    """One of the shifts as balls, with the logarithm of its chance times exp(−μ²/2)."""

    shift: arb
    chance: arb
    height: arb


@guarantee(
    claim="the ratio of the densities rises with the outcome y: the best test at exp(l) rejects above the y at which "
    "p0 + sum of p_i exp(mu_i y - mu_i²/2) is exp(l), everywhere where exp(l) is at most p0; turned, below it",
    proof="proofs/pairs.md#gaussian-mixture",
    reviewed="5342c6ea0557",
)
def mixture_lines(shifts: tuple[Fraction, ...], chances: tuple[Fraction, ...], *, turned: bool) -> Lines:
    """Prepares the lines of a mixture of Gaussians against one, or of one against the mixture."""
    parts = [
        Part(ball(shift), ball(chance), ball(chance).log() - ball(shift**2) / 2)
        for shift, chance in zip(shifts, chances, strict=True)
    ]
    missed = ball(1 - sum(chances, Fraction(0)))
    place = best_cut(parts)

    def masses(loss: arb, side: int) -> Line:
        """The masses of both beyond the best cut, above it or (side −1) below."""
        excess = loss.exp() - missed
        if not excess > 0:
            return ALL if side > 0 else Line(arb(0), arb(0))
        cut = place(excess.log())
        there = gaussian_upper_tail(side * cut)
        here = missed * there
        for part in parts:
            here += part.chance * gaussian_upper_tail(side * (cut - part.shift))
        return Line(here, there)

    def line(loss: arb) -> Line:
        if not turned:
            return masses(loss, 1)
        mixture, alone = masses(-loss, -1)
        return Line(alone, mixture)

    return line


def best_cut(parts: list[Part]) -> Callable[[arb], arb]:
    """Prepares an enclosure of the outcome at which Σ pᵢ exp(μᵢy − μᵢ²/2) has a logarithm."""
    shifts = np.array([float(part.shift.mid()) for part in parts])
    heights = np.array([float(part.height.mid()) for part in parts])

    def place(level: arb) -> arb:
        start = near_cut(shifts, heights, float(level.mid()))
        return enclosed_cut(parts, level, start)

    return place


def near_cut(shifts: NDArray[np.float64], heights: NDArray[np.float64], level: float) -> float:
    """About the outcome, by Newton's steps from above: the logarithm of the sum is convex and rises."""
    place = float(((level - heights) / shifts).min())  # where a single part reaches the level: not below the outcome
    for _ in range(TURNS * 10):
        logs = heights + shifts * place
        top = float(logs.max())
        weights = np.exp(logs - top)
        step = (top + math.log(float(weights.sum())) - level) / float(weights @ shifts / weights.sum())
        place -= step
        if abs(step) <= 1e-14 * (1 + abs(place)):
            break
    return place


def above_level(parts: list[Part], level: arb, place: arb) -> tuple[arb, arb]:
    """Encloses Σ pᵢ exp(μᵢy − μᵢ²/2) / exp(level) − 1, which rises with y, and its derivative."""
    value, slope = arb(-1), arb(0)
    for part in parts:
        term = (part.height + part.shift * place - level).exp()
        value, slope = value + term, slope + part.shift * term
    return value, slope


def enclosed_cut(parts: list[Part], level: arb, start: float) -> arb:
    """Closes in on the outcome from a float, and widens the interval until the signs at its ends are certain."""
    middle = arb(start)
    for _ in range(TURNS):
        value, slope = above_level(parts, level, middle)
        step = (value / slope).mid()
        middle = (middle - step).mid()
        if abs(step) < arb(2) ** CLOSEST:
            break
    power = CLOSEST
    while True:
        wide = arb(2) ** power * (1 + abs(middle))
        left, right = middle - wide, middle + wide
        if above_level(parts, level, left)[0] <= 0 and above_level(parts, level, right)[0] >= 0:
            return arb(left.lower()).union(arb(right.upper()))
        power += 8
