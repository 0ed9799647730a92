"""The pair of random allocation: a unit is in one of many steps, and nobody knows in which."""

from __future__ import annotations

from bisect import bisect_right
from fractions import Fraction
from itertools import pairwise
from typing import final

from flint import arb

from sfumato.accounting.losses.piecewise_linear import Corners
from sfumato.accounting.pld.allocated_profile import allocated_corners
from sfumato.accounting.pld.pairs.pair import Line, Lines, Pair
from sfumato.errors import BadArgument
from sfumato.exact import ball, endpoints, integer, log_up, up
from sfumato.guarantee import guarantee
from sfumato.plain import record


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

    @property
    def _corners(self) -> Corners:
        return allocated_corners(self.pair, self.steps)

    def lines(self) -> Lines:
        """Prepares the supporting lines."""
        return chord_lines(self._corners, turned=self.turned)

    def reversed(self) -> AllocatedPair:
        """The other way round."""
        return AllocatedPair(self.pair, self.steps, not self.turned)

    def hints(self, tail: float) -> list[float]:
        """The losses at all corners that are not too rare."""
        kept = [x for x, height in self._corners[1:] if height > tail / 4 and height - 1 + x > tail * x / 4]
        places = [up(log_up(x)) for x in kept] or [0.0]
        return sorted(-place for place in places) if self.turned else places

    @property
    def largest(self) -> Fraction:
        """The last of the losses; what lies beyond counts as lost."""
        corners = self._corners
        return Fraction(log_up(1 / corners[1][0] if self.turned else corners[-1][0]))

    @property
    def smooth(self) -> bool:
        """Yes: the corners are closer together than any lattice needs."""
        return True

    @property
    def pitch(self) -> None:
        """None: the corners are not on a lattice."""
        return None


@guarantee(
    claim="the chord at a point touches a convex profile that is linear between corners; turned, its test's complement",
    proof="proofs/allocation.md#lines",
    reviewed="",
)
def chord_lines(corners: Corners, *, turned: bool) -> Lines:
    """Prepares the lines of a profile from its corners, the first of which is (0, 1); level after the last."""
    lines = []
    for (left, high), (right, low) in pairwise(corners):
        there = (high - low) / (right - left)
        lines.append((high + there * left, there))
    lines.append((corners[-1][1], Fraction(0)))
    ends = [x for x, _ in corners[1:]]
    balls = [Line(ball(1 - there), ball(1 - here)) if turned else Line(ball(here), ball(there)) for here, there in lines]

    def line(loss: arb) -> Line:
        ratio = (-loss if turned else loss).exp()
        # At a corner either chord touches.
        return balls[bisect_right(ends, endpoints(ratio)[0])]

    return line
