"""The pair of Gaussian noise on draws with replacement, one unit exchanged: how often it is drawn stays hidden."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from fractions import Fraction
from typing import NamedTuple, final

import numpy as np
from flint import arb

from sfumato.accounting.facts.gaussian import gaussian_upper_tail
from sfumato.accounting.pld.pairs.gaussian import outcomes
from sfumato.accounting.pld.pairs.pair import Line, Lines, Pair
from sfumato.errors import BadArgument, elements
from sfumato.exact import Number, ball, integer, positive, up
from sfumato.guarantee import guarantee
from sfumato.plain import record

CLOSEST, TURNS = -116, 6
"""The best test is sought to this power of two, relatively, by no more than so many of Newton's steps."""


@final
@record("RedrawnGaussianPair")
class RedrawnGaussianPair(Pair):
    """Unit Gaussian noise, a unit that is exchanged and drawn k times with a chance, each a shift of μ.

    ``often`` lists numbers k ≥ 1 with their chances. What these leave of 1 is the chance not to be drawn, and ``lost``,
    the chance of all larger numbers, where the outcome tells all. It holds in both directions.
    """

    square: Fraction
    often: tuple[tuple[int, Fraction], ...]
    lost: Fraction

    def __init__(self, square: Number, often: Iterable[tuple[int, Number]], lost: Number = 0) -> None:
        object.__setattr__(self, "square", positive(square, "square"))
        with elements():
            read = tuple((integer(k, "each number", least=1), positive(chance, "each chance")) for k, chance in often)
        rest = Fraction(lost)
        if not read or rest < 0 or sum((chance for _, chance in read), rest) > 1:
            raise BadArgument("often", "numbers and chances that add up to at most 1, with what is lost", often)
        object.__setattr__(self, "often", read)
        object.__setattr__(self, "lost", rest)

    def lines(self) -> Lines:
        """Prepares the supporting lines."""
        return redrawn_lines(self.square, self.often, self.lost)

    def reversed(self) -> RedrawnGaussianPair:
        """Itself: the bound is for both directions."""
        return self

    def hints(self, tail: float) -> list[float]:
        """Losses above 0 at outcomes of all numbers together, and of each usual one alone; and their mirror images."""
        mu, missed = math.sqrt(up(self.square)), up(self.missed)
        far = max(k for k, chance in self.often if chance > tail / 2 or (k, chance) == self.often[0])
        reach = np.array(outcomes(tail, centre=far * mu))
        parts = [(math.log(missed) if missed else -math.inf) + 0 * reach]
        parts += [math.log(up(chance)) + k * mu * (reach - k * mu / 2) for k, chance in self.often]
        losses = set(np.logaddexp.reduce(parts).tolist())
        for k, chance in self.often:
            if chance > self.missed:
                losses.update(
                    (k * mu * (np.array(outcomes(min(0.25, tail / up(chance)), centre=k * mu)) - k * mu / 2)).tolist()
                )
        above = sorted(loss for loss in losses if loss > 0)
        return [-loss for loss in reversed(above)] + [0.0, *above]

    @property
    def missed(self) -> Fraction:
        """The chance not to be drawn."""
        return 1 - self.lost - sum((chance for _, chance in self.often), Fraction(0))

    @property
    def smooth(self) -> bool:
        """Yes: the profile bends smoothly but for a kink at 1."""
        return True

    @property
    def pitch(self) -> None:
        """None: the losses fill an interval."""
        return None


class Draws(NamedTuple):
    """A number of draws as balls: its shift kμ, its chance, and exp(−(kμ)²/2)."""

    shift: arb
    chance: arb
    height: arb


@guarantee(
    claim="the best test at x >= 1 has masses Phi(a) where the unit is not drawn, Phi(b) and Phi(b - k mu) where it is "
    "k times, b = k mu/2 - ln(x)/(k mu) kept between a and a + k mu, and a the zero of a falling function",
    proof="proofs/pairs.md#redrawn",
    reviewed="a58cc0971ccf",
)
def redrawn_lines(square: Fraction, often: tuple[tuple[int, Fraction], ...], lost: Fraction) -> Lines:
    """Prepares the lines of Gaussian noise under draws with replacement, one unit exchanged."""
    mu = ball(square).sqrt()
    draws = [Draws(k * mu, ball(chance), (-ball(k * k * square) / 2).exp()) for k, chance in often]
    sure, missed = ball(lost), ball(1 - lost - sum(chance for _, chance in often))
    place = best_place(draws, missed)

    def line(loss: arb) -> Line:
        if loss < 0:
            here, there = line(-loss)
            return Line(1 - there, 1 - here)
        middle = place(loss)
        base = missed * gaussian_upper_tail(-middle)
        here, there = sure + base, base
        for shift, chance, _ in draws:
            best = (shift / 2 - loss / shift).max(middle).min(middle + shift)
            here += chance * gaussian_upper_tail(-best)
            there += chance * gaussian_upper_tail(shift - best)
        return Line(here, there)

    return line


def best_place(draws: list[Draws], missed: arb) -> Callable[[arb], arb]:
    """Prepares an enclosure of the place a at which a test is best, by x = exp(loss), loss ≥ 0."""
    floats = [(float(shift.mid()), float(chance.mid())) for shift, chance, _ in draws]

    def place(loss: arb) -> arb:
        if not loss > 0:
            return arb(0)
        return enclosed_zero(draws, missed, loss, near_place(floats, float(missed.mid()), float(loss.mid())))

    return place


def near_place(draws: list[tuple[float, float]], missed: float, loss: float) -> float:
    """About the best place, by Newton's steps for the logarithm of what is gained over what it costs, beside x."""
    fall = -math.expm1(-loss)
    (first, chance), right = draws[0], max(-shift / 2 - loss / shift for shift, _ in draws)
    left = min(right, -first / 2 - (loss + math.log1p(missed * fall / chance)) / first)
    place = left
    for _ in range(TURNS * 10):
        gain, gained, cost, costing = 0.0, 0.0, missed * fall, 0.0
        for shift, chance in draws:
            up_to, down_to = -shift * (place + shift / 2) - loss, shift * (place - shift / 2)
            if up_to > 0:
                gain += chance * math.expm1(min(up_to, 700.0))
                gained -= chance * shift * math.exp(min(up_to, 700.0))
            if down_to > -loss:
                cost += chance * (math.exp(min(down_to, 700.0)) - 1 + fall)
                costing += chance * shift * math.exp(min(down_to, 700.0))
        left, right = (place, right) if gain > cost else (left, place)
        steep = gained / gain - (costing / cost if cost > 0 else 0.0) if gain > 0 else 0.0
        following = place - (math.log(gain) - math.log(cost)) / steep if steep and cost > 0 else math.inf
        if not left < following < right:
            following = (left + right) / 2
        if abs(following - place) <= 1e-13 * (1 + abs(place)):
            return following
        place = following
    return place


def slopes(draws: list[Draws], missed: arb, loss: arb, place: arb) -> tuple[arb, arb]:
    """Encloses the falling function of which the best place is the zero, and its derivative."""
    ratio = loss.exp()
    value, slope = -missed * loss.expm1(), arb(0)
    for shift, chance, height in draws:
        moved = (place * shift).exp()
        gain, cost = height / moved, ratio * height * moved
        if not gain <= ratio:
            value += chance * (gain - ratio).nonnegative_part()
            slope -= chance * shift * gain
        if not cost <= 1:
            value -= chance * (cost - 1).nonnegative_part()
            slope -= chance * shift * cost
    return value, slope


def enclosed_zero(draws: list[Draws], missed: arb, loss: arb, start: float) -> arb:
    """Closes in on the zero from a float, and widens the interval until the signs at its ends are certain."""
    middle = arb(start)
    for _ in range(TURNS):
        value, slope = slopes(draws, missed, loss, middle)
        if not slope < 0:
            break
        step = (value / slope).mid()
        middle = (middle - step).mid()
        if abs(step) < arb(2) ** CLOSEST:
            break
    power = CLOSEST
    while True:
        wide = arb(2) ** power * (1 + abs(middle))
        left, right = middle - wide, middle + wide
        if slopes(draws, missed, loss, left)[0] >= 0 and slopes(draws, missed, loss, right)[0] <= 0:
            return arb(left.lower()).union(arb(right.upper()))
        power += 8
