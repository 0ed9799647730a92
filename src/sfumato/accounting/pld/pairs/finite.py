"""Pairs whose losses sit on finitely many points: randomized response, stated losses, listed laws."""

from __future__ import annotations

from bisect import bisect_right
from fractions import Fraction
from itertools import pairwise
from typing import final

from flint import arb

from sfumato.accounting.pld.pairs.pair import Line, Lines, Pair
from sfumato.errors import BadArgument
from sfumato.exact import (
    Number,
    ball,
    common_step,
    endpoints,
    integer,
    non_negative,
    positive,
    probability,
    rational,
    up,
)
from sfumato.guarantee import guarantee
from sfumato.plain import record

Atom = tuple[Fraction, arb]
"""A loss and the mass that the first distribution puts on it; the second has exp(−loss) times that."""


@guarantee(
    claim="the best test at a loss l rejects the atoms above l, and those that the second distribution cannot give",
    proof="proofs/pairs.md#finite",
    reviewed="e64317c05fd7",
)
def stepped_lines(atoms: list[Atom], infinite: arb) -> Lines:
    """Prepares the lines of a finite law from its atoms, in rising order of loss."""
    losses = [loss for loss, _ in atoms]
    here, there = [infinite], [arb(0)]
    for loss, mass in reversed(atoms):
        here.append(here[-1] + mass)
        there.append(there[-1] + mass * (-ball(loss)).exp())

    def line(loss: arb) -> Line:
        # An atom that the ball cannot be told from is taken: it adds a ball about 0 to P − exp(loss)·Q.
        first = bisect_right(losses, endpoints(loss)[0])
        return Line(here[len(losses) - first], there[len(losses) - first])

    return line


@final
@record("FinitePair")
class FinitePair(Pair):
    """A listed law of the privacy loss: atoms (loss, mass) in rising order, and the mass at infinite loss.

    It stands for both directions: only a law that is its own reverse, such as a symmetric profile, may be listed.
    """

    atoms: tuple[tuple[Fraction, Fraction], ...]
    infinite: Fraction

    def __init__(self, atoms: tuple[tuple[Number, Number], ...], infinite: Number = 0) -> None:
        read = tuple((rational(loss, "each loss"), non_negative(mass, "each mass")) for loss, mass in atoms)
        if any(left >= right for (left, _), (right, _) in pairwise(read)):
            raise BadArgument("the losses of the atoms", "in rising order", [up(loss) for loss, _ in read])
        rest = probability(infinite, "infinite")
        if sum((mass for _, mass in read), rest) != 1:
            raise BadArgument("the masses of the atoms", "such that they add up to 1 with the infinite one", atoms)
        object.__setattr__(self, "atoms", read)
        object.__setattr__(self, "infinite", rest)

    def lines(self) -> Lines:
        """Prepares the supporting lines."""
        return stepped_lines([(loss, ball(mass)) for loss, mass in self.atoms], ball(self.infinite))

    def reversed(self) -> FinitePair:
        """Itself, as promised when it was listed."""
        return self

    def hints(self, tail: float) -> list[float]:
        """The losses."""
        return [up(loss) for loss, _ in self.atoms] or [0.0]

    @property
    def largest(self) -> Fraction:
        """The last of the losses."""
        return self.atoms[-1][0] if self.atoms else Fraction(0)

    @property
    def smooth(self) -> bool:
        """No: the losses are points."""
        return False

    @property
    def pitch(self) -> Fraction:
        """The largest common step of the losses."""
        return common_step(*(loss for loss, _ in self.atoms)) if self.atoms else Fraction(1)


@final
@record("ResponsePair")
class ResponsePair(Pair):
    """The answer of k-ary randomized response to one option against its answer to another.

    With two options it dominates everything that keeps a pure ε.
    """

    epsilon: Fraction
    options: int

    def __init__(self, epsilon: Number, options: int = 2) -> None:
        object.__setattr__(self, "epsilon", positive(epsilon, "epsilon"))
        object.__setattr__(self, "options", integer(options, "options", least=2))

    def lines(self) -> Lines:
        """Prepares the supporting lines."""
        return stepped_lines(response_atoms(self.epsilon, self.options), arb(0))

    def reversed(self) -> ResponsePair:
        """Itself: exchanging the two options exchanges the two."""
        return self

    def hints(self, tail: float) -> list[float]:
        """The losses."""
        end = up(self.epsilon)
        return [-end, end] if self.options == 2 else [-end, 0.0, end]

    @property
    def largest(self) -> Fraction:
        """ε."""
        return self.epsilon

    @property
    def smooth(self) -> bool:
        """No: the losses are points."""
        return False

    @property
    def pitch(self) -> Fraction:
        """ε."""
        return self.epsilon


@guarantee(
    claim="losses eps, 0 and -eps with masses exp(eps), k - 2 and 1, each over exp(eps) + k - 1",
    proof="proofs/pairs.md#response",
    reviewed="447133b98e51",
)
def response_atoms(epsilon: Fraction, options: int) -> list[Atom]:
    """The law of the privacy loss of k-ary randomized response."""
    growth = ball(epsilon).exp()
    share = 1 / (growth + options - 1)
    middle = [(Fraction(0), (options - 2) * share)] if options > 2 else []
    return [(-epsilon, share), *middle, (epsilon, growth * share)]


@final
@record("ApproxPair")
class ApproxPair(Pair):
    """The pair that dominates everything that keeps (ε, δ): the secret with probability δ, else a coin of ε."""

    epsilon: Fraction
    delta: Fraction

    def __init__(self, epsilon: Number, delta: Number) -> None:
        object.__setattr__(self, "epsilon", non_negative(epsilon, "epsilon"))
        object.__setattr__(self, "delta", probability(delta, "delta"))

    def lines(self) -> Lines:
        """Prepares the supporting lines."""
        kept = ball(1 - self.delta)
        if self.epsilon == 0:
            return stepped_lines([(Fraction(0), kept)], ball(self.delta))
        atoms = [(loss, kept * mass) for loss, mass in response_atoms(self.epsilon, 2)]
        return stepped_lines(atoms, ball(self.delta))

    def reversed(self) -> ApproxPair:
        """Itself: exchanging the two sides exchanges the two."""
        return self

    def hints(self, tail: float) -> list[float]:
        """The losses."""
        end = up(self.epsilon)
        return [-end, end] if end else [0.0]

    @property
    def largest(self) -> Fraction:
        """ε: what leaks has infinite loss."""
        return self.epsilon

    @property
    def smooth(self) -> bool:
        """No: the losses are points."""
        return False

    @property
    def pitch(self) -> Fraction:
        """ε."""
        return self.epsilon or Fraction(1)
