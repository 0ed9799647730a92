"""Pairs of mechanisms that run on a secret random sample."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import final

from flint import arb

from sfumato.accounting.pld.pairs.pair import ALL, NONE, Line, Lines, Pair
from sfumato.errors import BadArgument
from sfumato.exact import Number, ball, exp_down, log_up, probability, up, upper
from sfumato.guarantee import guarantee
from sfumato.plain import record

SURE = 2**40
"""A loss above all finite ones that are worked with."""

STEEP = 10**6
"""Beyond this, the largest loss of a sampled pair is not worked out."""


def _pair(value: object) -> Pair:
    if not isinstance(value, Pair):
        raise BadArgument("pair", "a dominating pair, of the mechanism without sampling", value)
    return value


def _rate(value: Number) -> Fraction:
    read = probability(value, "rate")
    if not 0 < read < 1:
        raise BadArgument("rate", "greater than 0 and less than 1; a rate of 1 is no sampling", value)
    return read


@final
@record("RemovedPair")
class RemovedPair(Pair):
    """A mechanism on a Poisson sample with one unit against without it: (1−q)·Q + q·P against Q."""

    pair: Pair
    rate: Fraction

    def __init__(self, pair: Pair, rate: Number) -> None:
        object.__setattr__(self, "pair", _pair(pair))
        object.__setattr__(self, "rate", _rate(rate))

    def lines(self) -> Lines:
        """Prepares the supporting lines."""
        return removed_lines(self.pair.lines(), self.rate)

    def reversed(self) -> AddedPair:
        """The same sample without the unit against with it."""
        return AddedPair(self.pair, self.rate)

    def hints(self, tail: float) -> list[float]:
        """The losses of the unsampled mechanism, as they are after sampling."""
        return sampled_hints(self.pair, up(self.rate), tail)

    @property
    def largest(self) -> Fraction | None:
        """ln(1 − q + q·exp(ℓ)) for the largest ℓ without sampling, rounded up."""
        return sampled_largest(self.pair.largest, self.rate)

    @property
    def smooth(self) -> bool:
        """When the unsampled pair is."""
        return self.pair.dense

    @property
    def pitch(self) -> None:
        """None: sampling bends the losses."""
        return None


@final
@record("AddedPair")
class AddedPair(Pair):
    """A mechanism on a Poisson sample without one unit against with it: Q against (1−q)·Q + q·P."""

    pair: Pair
    rate: Fraction

    def __init__(self, pair: Pair, rate: Number) -> None:
        object.__setattr__(self, "pair", _pair(pair))
        object.__setattr__(self, "rate", _rate(rate))

    def lines(self) -> Lines:
        """Prepares the supporting lines."""
        return added_lines(self.pair.reversed().lines(), self.rate)

    def reversed(self) -> RemovedPair:
        """The same sample with the unit against without it."""
        return RemovedPair(self.pair, self.rate)

    def hints(self, tail: float) -> list[float]:
        """The losses of the unsampled mechanism, as they are after sampling."""
        return [-loss for loss in reversed(sampled_hints(self.pair, up(self.rate), tail))]

    @property
    def largest(self) -> Fraction:
        """−ln(1 − q + q·exp(−ℓ)) for the largest ℓ without sampling, rounded up; there is always one.

        Where that may be infinite, it is −ln(1 − q).
        """
        back = self.pair.reversed()
        end = back.largest if back.lines()(arb(SURE)).here.is_zero() else None
        seldom = Fraction(0) if end is None or end >= SURE else exp_down(-end)
        return Fraction(log_up(1 / (1 - self.rate + self.rate * seldom)))

    @property
    def smooth(self) -> bool:
        """When the unsampled pair is."""
        return self.pair.dense

    @property
    def pitch(self) -> None:
        """None: sampling bends the losses."""
        return None


@final
@record("ExchangedPair")
class ExchangedPair(Pair):
    """A mechanism on a sample of fixed size with one unit of the population exchanged; ``pair`` is for an exchange.

    It bounds the profile in both directions at once: γ·h(1 + (x−1)/γ) for x at least 1, and its mirror image below.
    """

    pair: Pair
    rate: Fraction

    def __init__(self, pair: Pair, rate: Number) -> None:
        if _pair(pair).reversed() != pair:
            raise BadArgument("pair", "one that holds in both directions", pair)
        object.__setattr__(self, "pair", _pair(pair))
        object.__setattr__(self, "rate", _rate(rate))

    def lines(self) -> Lines:
        """Prepares the supporting lines."""
        return exchanged_sample_lines(self.pair.lines(), self.rate)

    def reversed(self) -> ExchangedPair:
        """Itself: the bound is for both directions."""
        return self

    def hints(self, tail: float) -> list[float]:
        """The losses above 0 of the unsampled mechanism after sampling, and their mirror images."""
        above = [loss for loss in sampled_hints(self.pair, up(self.rate), tail) if loss > 0]
        return [-loss for loss in reversed(above)] + [0.0, *above]

    @property
    def largest(self) -> Fraction | None:
        """ln(1 − γ + γ·exp(ℓ)) for the largest ℓ without sampling, rounded up."""
        return sampled_largest(self.pair.largest, self.rate)

    @property
    def smooth(self) -> bool:
        """When the unsampled pair is: the mirror leaves a kink at 1, which is allowed."""
        return self.pair.dense

    @property
    def pitch(self) -> None:
        """None: sampling bends the losses."""
        return None


def sampled_largest(end: Fraction | None, rate: Fraction) -> Fraction | None:
    """ln(1 − q + q·exp(ℓ)), rounded up; None where there is no ℓ or it is astronomical."""
    if end is None or end > STEEP:
        return None
    return Fraction(upper(lambda: (ball(1 - rate) + ball(rate) * ball(end).exp()).log()))


def sampled_hints(pair: Pair, rate: float, tail: float) -> list[float]:
    """ln(1 − q + q·exp(ℓ)) for the hints ℓ of a pair."""
    return [_mixed(loss, rate) for loss in pair.hints(tail)]


def _mixed(loss: float, rate: float) -> float:
    rate = min(rate, 1 - 2.0**-53)
    return loss + math.log(rate + (1 - rate) * math.exp(-loss)) if loss > 0 else math.log1p(rate * math.expm1(loss))


@guarantee(
    claim="at x > 1-q the best test for (1-q)Q + qP against Q is the one for P against Q at (x-1+q)/q",
    proof="proofs/pairs.md#removed",
    reviewed="a6e0261a1463",
)
def removed_lines(base: Lines, rate: Fraction) -> Lines:
    """Prepares the lines of (1−q)·Q + q·P against Q from those of P against Q."""
    taken, kept = ball(rate), ball(1 - rate)

    def line(loss: arb) -> Line:
        ratio = (loss.exp() - kept) / taken
        if not ratio > 0:
            return ALL
        here, there = base(ratio.log())
        return Line(taken * here + kept * there, there)

    return line


@guarantee(
    claim="at x < 1/(1-q) the best test for Q against (1-q)Q + qP is the one for Q against P at xq/(1-x(1-q))",
    proof="proofs/pairs.md#added",
    reviewed="4c23fa3c8ace",
)
def added_lines(base: Lines, rate: Fraction) -> Lines:
    """Prepares the lines of Q against (1−q)·Q + q·P from those of Q against P."""
    taken, kept = ball(rate), ball(1 - rate)

    def line(loss: arb) -> Line:
        ratio = loss.exp()
        room = 1 - ratio * kept
        if not room > 0:
            return NONE
        here, there = base((ratio * taken / room).log())
        return Line(here, kept * here + taken * there)

    return line


@guarantee(
    claim="h'(x) <= g h(1 + (x-1)/g) for x >= 1, and 1 - x + x h'(1/x) below",
    proof="proofs/pairs.md#exchanged-sample",
    reviewed="e7bccf7dc4cc",
)
def exchanged_sample_lines(base: Lines, rate: Fraction) -> Lines:
    """Prepares the lines of the bound for samples of fixed size, from those of the mechanism for one exchange."""
    above = removed_lines(base, rate)

    def line(loss: arb) -> Line:
        if loss >= 0:
            return above(loss)
        here, there = above(-loss)
        return Line(1 - there, 1 - here)

    return line
