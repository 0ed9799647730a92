"""The pair of a mechanism whose outcomes are listed: two vectors of probabilities."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable
from fractions import Fraction
from typing import final

from flint import arb

from sfumato.accounting.pld.pairs.pair import Line, Lines, Pair
from sfumato.errors import BadArgument, elements
from sfumato.exact import Number, ball, endpoints, log_up, probability, up
from sfumato.guarantee import guarantee
from sfumato.plain import record

Masses = tuple[tuple[Fraction, Fraction], ...]
"""The chances of each outcome that either side can give, from the least privacy loss to the largest."""


@final
@record("TablePair")
class TablePair(Pair):
    """Two listed distributions: the chances of the same outcomes, in the same order, under one and the other.

    Each adds up to exactly 1; what floats mean is read from their shortest decimal form.

    >>> [round(loss, 6) for loss in TablePair([0.7, 0.3], [0.3, 0.7]).hints(1e-9)]
    [-0.847298, 0.847298]
    """

    here: tuple[Fraction, ...]
    there: tuple[Fraction, ...]

    def __init__(self, here: Iterable[Number], there: Iterable[Number]) -> None:
        for name, law in (("here", here), ("there", there)):
            if not isinstance(law, Iterable) or isinstance(law, str):
                raise BadArgument(name, "a list of probabilities", law)
            with elements():
                chances = tuple(probability(chance, "each probability") for chance in law)
            if sum(chances) != 1:
                raise BadArgument(f"the probabilities of {name}", "adding up to exactly 1", up(sum(chances)))
            object.__setattr__(self, name, chances)
        if len(self.here) != len(self.there):
            raise BadArgument("both lists", "of the same outcomes, as long as each other", len(self.there))

    @property
    def _masses(self) -> Masses:
        """Outcomes in rising order of loss, those that the second side cannot give last."""
        possible = [(one, other) for one, other in zip(self.here, self.there, strict=True) if one or other]
        return tuple(sorted(possible, key=lambda both: (both[1] == 0, both[0] / both[1] if both[1] else both[0])))

    def _ratios(self) -> list[Fraction]:
        """The finite likelihood ratios above 0."""
        return [one / other for one, other in self._masses if one and other]

    def lines(self) -> Lines:
        """Prepares the supporting lines."""
        return table_lines(self._masses)

    def reversed(self) -> TablePair:
        """The two lists exchanged."""
        return TablePair(self.there, self.here)

    def hints(self, tail: float) -> list[float]:
        """The losses."""
        return sorted({up(log_up(ratio)) for ratio in self._ratios()}) or [0.0]

    @property
    def largest(self) -> Fraction:
        """The largest finite loss, rounded up."""
        return max((Fraction(log_up(ratio)) for ratio in self._ratios()), default=Fraction(0))

    @property
    def smooth(self) -> bool:
        """No: the losses are points."""
        return False

    @property
    def pitch(self) -> None:
        """None: logarithms of rationals need have nothing in common."""
        return None


@guarantee(
    claim="the best test at a loss l rejects the outcomes whose ratio is above exp(l)",
    proof="proofs/pairs.md#table",
    reviewed="2739db2f2f4d",
)
def table_lines(masses: Masses) -> Lines:
    """Prepares the lines of two listed distributions, outcomes in rising order of loss."""
    losses = [endpoints((ball(one) / ball(other)).log())[1] for one, other in masses if one and other]
    impossible = sum(1 for one, _ in masses if not one)
    here, there = [arb(0)], [arb(0)]
    for one, other in reversed(masses):
        here.append(here[-1] + ball(one))
        there.append(there[-1] + ball(other))

    def line(loss: arb) -> Line:
        # An outcome that the ball cannot be told from is taken; one that the first side cannot give never is.
        first = impossible + bisect_right(losses, endpoints(loss)[0])
        return Line(here[len(masses) - first], there[len(masses) - first])

    return line
