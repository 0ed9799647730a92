"""Pairs that bound several others at once: parallel parts that are alike, and everything of a bounded range."""

from __future__ import annotations

from fractions import Fraction
from typing import final

from flint import arb

from sfumato.accounting.pld.pairs.pair import ALL, NONE, Line, Lines, Pair, largest_of, rank
from sfumato.errors import BadArgument
from sfumato.exact import Number, ball, positive, up
from sfumato.guarantee import guarantee
from sfumato.plain import record

HINTS = 64
"""How many hints lie between the two ends of a range."""


@final
@record("EitherPair")
class EitherPair(Pair):
    """A pair whose profile is the largest of several: it dominates each of them."""

    pairs: tuple[Pair, ...]

    def __post_init__(self) -> None:
        listed = isinstance(self.pairs, tuple) and all(isinstance(pair, Pair) for pair in self.pairs)
        if not listed or not self.pairs:
            raise BadArgument("pairs", "a tuple of one or more dominating pairs", self.pairs)
        object.__setattr__(self, "pairs", tuple(sorted(set(self.pairs), key=rank)))

    def lines(self) -> Lines:
        """Prepares the supporting lines."""
        return highest_lines([pair.lines() for pair in self.pairs])

    def reversed(self) -> EitherPair:
        """The largest of the reversed profiles."""
        return EitherPair(tuple(pair.reversed() for pair in self.pairs))

    def hints(self, tail: float) -> list[float]:
        """The hints of all."""
        return sorted({hint for pair in self.pairs for hint in pair.hints(tail)})

    @property
    def largest(self) -> Fraction | None:
        """The largest of all, if all have one."""
        return largest_of(self.pairs)

    @property
    def smooth(self) -> bool:
        """When all are: between two kinks the largest of them bends smoothly."""
        return all(pair.smooth for pair in self.pairs)

    @property
    def pitch(self) -> None:
        """None: where profiles cross there are losses of their own."""
        return None


@guarantee(
    claim="the largest of several profiles, by the line that is highest at the point",
    proof="proofs/pairs.md#either",
    reviewed="a5e24bee8d35",
)
def highest_lines(lines: list[Lines]) -> Lines:
    """Prepares the lines of the largest of several profiles."""

    def line(loss: arb) -> Line:
        ratio = loss.exp()
        best, height = NONE, arb(0)
        for one in lines:
            tangent = one(loss)
            value = (tangent.here - ratio * tangent.there).mid()
            if best is NONE or value > height:
                best, height = tangent, value
        return best

    return line


@final
@record("RangePair")
class RangePair(Pair):
    """A pair that dominates everything of bounded range η, such as a choice by the exponential mechanism."""

    eta: Fraction

    def __init__(self, eta: Number) -> None:
        object.__setattr__(self, "eta", positive(eta, "eta"))

    def lines(self) -> Lines:
        """Prepares the supporting lines."""
        return range_lines(self.eta)

    def reversed(self) -> RangePair:
        """Itself: the profile is its own mirror image."""
        return self

    def hints(self, tail: float) -> list[float]:
        """Losses from end to end."""
        end = up(self.eta)
        return [end * (2 * place / HINTS - 1) for place in range(HINTS + 1)]

    @property
    def largest(self) -> Fraction:
        """η."""
        return self.eta

    @property
    def smooth(self) -> bool:
        """Yes: the profile is (exp(η/2) − √x)² / (exp(η) − 1) between the ends, where it is level."""
        return True

    @property
    def pitch(self) -> None:
        """None: the losses fill an interval."""
        return None


@guarantee(
    claim="h(x) = (exp(eta/2) - sqrt x)² / (exp(eta) - 1) for |ln x| <= eta: the best window lies at (eta + ln x)/2",
    proof="proofs/pairs.md#range",
    reviewed="acd79dca5e65",
)
def range_lines(eta: Fraction) -> Lines:
    """Prepares the lines of the pair for a bounded range."""
    end = ball(eta)
    growth = end.expm1()

    def line(loss: arb) -> Line:
        if loss > end:
            return NONE
        if loss < -end:
            return ALL
        window = ((end + loss) / 2).exp()
        here = window * ((end - loss) / 2).expm1() / growth
        return Line(here, here / window)

    return line
