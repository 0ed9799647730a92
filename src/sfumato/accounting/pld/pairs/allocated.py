"""The pair of random allocation: a unit is in one of many steps, and nobody knows in which."""

from __future__ import annotations

import math
from bisect import bisect_right
from fractions import Fraction
from functools import lru_cache
from itertools import pairwise
from typing import TypeAlias, final

from flint import arb

from sfumato.accounting.losses.piecewise_linear import Corners
from sfumato.accounting.pld.allocated_profile import allocated_corners
from sfumato.accounting.pld.pairs.pair import Line, Lines, Pair
from sfumato.errors import BadArgument
from sfumato.exact import ball, endpoints, integer, log_up
from sfumato.guarantee import guarantee
from sfumato.plain import record

Chords: TypeAlias = tuple[list[Fraction], list[tuple[Fraction, Fraction]]]
"""Where each chord of a profile ends, and the masses of its test under both distributions."""


@final
@record("AllocatedPair")
class AllocatedPair(Pair):
    """A mechanism in each of ``steps`` steps, a unit in one of them at random, against without the unit.

    ``pair`` is that of one step. With ``turned`` it is the other way round. Its profile is a bound from above of the
    true one, (1/T)·Σ Q…P…Q against Q^T, joined by chords: brackets are for the bound.
    """

    pair: Pair
    steps: int
    turned: bool = False

    def __post_init__(self) -> None:
        if not isinstance(self.pair, Pair):
            raise BadArgument("pair", "a dominating pair, of one step", self.pair)
        object.__setattr__(self, "steps", integer(self.steps, "steps", least=2))
        if not isinstance(self.turned, bool):
            raise BadArgument("turned", "True or False", self.turned)

    def lines(self) -> Lines:
        """Prepares the supporting lines."""
        return chord_lines(allocated_chords(self.pair, self.steps), turned=self.turned)

    def reversed(self) -> AllocatedPair:
        """The other way round."""
        return AllocatedPair(self.pair, self.steps, not self.turned)

    def hints(self, tail: float) -> list[float]:
        """The losses at all corners that are not too rare."""
        rarest = tail / 4
        kept = [loss for loss, one, other in corner_heights(self.pair, self.steps) if min(one, other) > rarest] or [0.0]
        return [-loss for loss in reversed(kept)] if self.turned else kept

    @property
    def largest(self) -> Fraction:
        """The last of the losses; what lies beyond counts as lost."""
        corners = allocated_corners(self.pair, self.steps)
        return Fraction(log_up(1 / corners[1][0] if self.turned else corners[-1][0]))

    @property
    def smooth(self) -> bool:
        """Yes: the corners are closer together than any lattice needs."""
        return True

    @property
    def pitch(self) -> None:
        """None: the corners are not on a lattice."""
        return None


@lru_cache(maxsize=32)
def allocated_chords(pair: Pair, steps: int) -> Chords:
    """The chords of the profile of an allocation."""
    return chords_of(allocated_corners(pair, steps))


@lru_cache(maxsize=32)
def corner_heights(pair: Pair, steps: int) -> list[tuple[float, float, float]]:
    """About the loss at each corner, with δ there and the other way round."""
    corners = allocated_corners(pair, steps)[1:]
    return [(math.log(x), float(height), float((height - 1) / x + 1)) for x, height in corners]


def chords_of(corners: Corners) -> Chords:
    """The masses (P(S), Q(S)) of each chord's test with where the chord ends; the last is level and has no end."""
    slopes = [(high - low) / (right - left) for (left, high), (right, low) in pairwise(corners)]
    tests = [(high + slope * left, slope) for (left, high), slope in zip(corners, slopes, strict=False)]
    return [x for x, _ in corners[1:]], [*tests, (corners[-1][1], Fraction(0))]


@guarantee(
    claim="the chord at a point touches a convex profile that is linear between corners; turned, its test's complement",
    proof="proofs/allocation.md#lines",
    reviewed="6a4bf86f2776",
)
def chord_lines(chords: Chords, *, turned: bool) -> Lines:
    """Prepares the lines of a profile from its chords."""
    ends, tests = chords

    def line(loss: arb) -> Line:
        # At a corner either chord touches.
        here, there = tests[bisect_right(ends, endpoints((-loss if turned else loss).exp())[0])]
        return Line(ball(1 - there), ball(1 - here)) if turned else Line(ball(here), ball(there))

    return line
