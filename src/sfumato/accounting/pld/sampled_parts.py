"""Sampled Gaussian pairs as two mixtures, and the lines in the plane of outcomes along which they are integrated."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import final

import numpy as np
from flint import arb

from sfumato.accounting.facts.gaussian import gaussian_upper_tail
from sfumato.accounting.pld.float_balls import Balls
from sfumato.accounting.pld.pairs.gaussian import ExchangedGaussianPair, GaussianPair
from sfumato.accounting.pld.pairs.pair import Pair
from sfumato.accounting.pld.pairs.sampled import AddedPair, RemovedPair
from sfumato.exact import ball
from sfumato.guarantee import guarantee


@final
@dataclass(frozen=True)
class Part:
    """Uses of one sampled Gaussian pair: its loss is ln g(y) − ln g′(−y), g(y) = 1 − q + q·exp(μy − μ²/2).

    ``above`` is the rate q of the first, ``below`` that of the second; y is standard normal with density g·φ.
    """

    square: Fraction
    above: Fraction
    below: Fraction
    count: int


@guarantee(
    claim="removed: g at rate q against 1; added: 1 against g(-y); exchanged: both",
    proof="proofs/contour.md#parts",
    reviewed="681c39e85005",
)
def part_of(pair: Pair, count: int) -> Part | None:
    """The part of a pair of sampled Gaussian noise; None for any other."""
    nothing = Fraction(0)
    match pair:
        case RemovedPair(pair=GaussianPair(square=square), rate=rate):
            return Part(square, rate, nothing, count)
        case AddedPair(pair=GaussianPair(square=square), rate=rate):
            return Part(square, nothing, rate, count)
        case ExchangedGaussianPair(square=square, rate=rate) if rate < 1:
            return Part(square, rate, rate, count)
    return None


@final
@dataclass(frozen=True)
class Line:
    """A line of nodes u = ``left`` + jη + i·``height`` up to ``right``, and the ``end`` above which outcomes are cut.

    Nodes stand for the outcomes y = end − s·ln(1 + exp((end − u)/s)), which bend down to the end; s is ``bend``.
    """

    left: Fraction
    right: Fraction
    step: Fraction
    height: Fraction
    end: Fraction
    bend: Fraction


@guarantee(
    claim="the masses above the end: (1-q) P(N > end) + q P(N > end - mu) under the first law, the same with q' "
    "and -mu under the second, which is no larger",
    proof="proofs/contour.md#cut",
    reviewed="06a4764885ac",
)
def lost(part: Part, line: Line) -> tuple[arb, arb]:
    """Encloses the masses that one use has above the end, under the first law and under the second."""
    end, mu = ball(line.end), ball(part.square).sqrt()
    if not (end > 0 and (part.above == 0 or end > mu / 2)):
        return arb(1), arb(0, 1)
    first, second, plain = ball(part.above), ball(part.below), gaussian_upper_tail(end)
    return (
        (1 - first) * plain + first * gaussian_upper_tail(end - mu),
        (1 - second) * plain + second * gaussian_upper_tail(end + mu),
    )


def loss_at(part: Part, outcome: arb) -> arb:
    """The loss at a real outcome."""
    mu, half = ball(part.square).sqrt(), ball(part.square) / 2
    here, there = (
        ball(1 - rate) + ball(rate) * (sign * mu * outcome - half).exp()
        for rate, sign in ((part.above, 1), (part.below, -1))
    )
    return (here / there).log()


@final
class Mixtures:
    """The numbers of several parts and their lines as columns of balls, for work on many outcomes at once."""

    def __init__(self, parts: Sequence[Part], lines: Sequence[Line]) -> None:
        self.parts, self.lines = tuple(parts), tuple(lines)
        roots = [ball(part.square).sqrt() for part in parts]
        self.mu, self.half = Balls.column(roots), column([part.square / 2 for part in parts])
        rates = [[part.above for part in parts], [part.below for part in parts]]
        self.rates, self.plain = [column(side) for side in rates], [not any(side) for side in rates]
        self.kept = [column([1 - rate for rate in side]) for side in rates]
        self.left, self.right = column([line.left for line in lines]), column([line.right for line in lines])
        self.step, self.height = column([line.step for line in lines]), column([line.height for line in lines])
        self.end, self.bend = column([line.end for line in lines]), column([line.bend for line in lines])
        self.straight = column([1 / line.bend for line in lines])

    def power(self, place: Balls) -> Balls:
        """ln w = (end − u)/bend."""
        return (self.end - place) * self.straight

    def logarithm(self, outcome: Balls, side: int) -> Balls:
        """ln g at outcomes (side 0), or ln g′ (side 1)."""
        if self.plain[side]:
            return Balls.exact(np.zeros(outcome.mid.shape))
        return (self.kept[side] + self.rates[side] * (self.mu * outcome - self.half).exp()).log()


def column(values: Sequence[Fraction]) -> Balls:
    """Rationals as a column of balls."""
    return Balls.column([ball(value) for value in values])
