"""The pair of a mechanism that is one of several by chance, when it is known which."""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from typing import final

from flint import arb

from sfumato.accounting.pld.pairs.pair import Line, Lines, Pair, largest_of
from sfumato.errors import BadArgument, elements
from sfumato.exact import Number, ball, positive, up
from sfumato.guarantee import guarantee
from sfumato.plain import record

NEAREST = 0.25
"""The hints of a pair go out to this tail at least."""


@final
@record("MixedPair")
class MixedPair(Pair):
    """One of several pairs, each with a chance; which of them, is part of the outcome.

    What the weights leave of 1 is lost: there the outcome tells all.
    """

    pairs: tuple[Pair, ...]
    weights: tuple[Fraction, ...]

    def __init__(self, pairs: Iterable[Pair], weights: Iterable[Number]) -> None:
        if not isinstance(pairs, Iterable) or not isinstance(weights, Iterable):
            raise BadArgument("pairs and weights", "two lists of the same length", (pairs, weights))
        object.__setattr__(self, "pairs", tuple(pairs))
        with elements():
            read = tuple(positive(weight, "each of the weights") for weight in weights)
        object.__setattr__(self, "weights", read)
        if not self.pairs or not all(isinstance(pair, Pair) for pair in self.pairs):
            raise BadArgument("pairs", "one or more dominating pairs", self.pairs)
        if len(self.weights) != len(self.pairs) or sum(self.weights) > 1:
            raise BadArgument("weights", "as many as there are pairs, and at most 1 together", self.weights)

    def lines(self) -> Lines:
        """Prepares the supporting lines."""
        return mixed_lines([pair.lines() for pair in self.pairs], self.weights)

    def reversed(self) -> MixedPair:
        """All of them the other way round."""
        return MixedPair((pair.reversed() for pair in self.pairs), self.weights)

    def hints(self, tail: float) -> list[float]:
        """The losses of all; of a rare one only as far as they matter."""
        parts = zip(self.pairs, self.weights, strict=True)
        return sorted({loss for pair, weight in parts for loss in pair.hints(min(NEAREST, tail / up(weight)))})

    @property
    def largest(self) -> Fraction | None:
        """The largest of all."""
        return largest_of(self.pairs)

    @property
    def smooth(self) -> bool:
        """When all are."""
        return all(pair.smooth for pair in self.pairs)

    @property
    def dense(self) -> bool:
        """Yes: what is sampled from several bounds, and a bound need not be sharp from below."""
        return True

    @property
    def pitch(self) -> None:
        """None: their losses need have nothing in common."""
        return None


@guarantee(
    claim="the best test is the union of the best tests of all at the same loss, and of what tells all",
    proof="proofs/pairs.md#mixed",
    reviewed="c946e0c5280e",
)
def mixed_lines(parts: list[Lines], weights: tuple[Fraction, ...]) -> Lines:
    """Prepares the lines of a pair that is one of several, from those of all."""
    shares, lost = [ball(weight) for weight in weights], ball(1 - sum(weights))

    def line(loss: arb) -> Line:
        here, there = lost, arb(0)
        for part, share in zip(parts, shares, strict=True):
            one, other = part(loss)
            here, there = here + share * one, there + share * other
        return Line(here, there)

    return line
