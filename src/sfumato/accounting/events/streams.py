"""Events of noise that is added along a stream of steps."""

from __future__ import annotations

from fractions import Fraction
from typing import final

from sfumato.accounting.events.event import Event
from sfumato.accounting.facts.strategies import MinSeparation, Participation, Strategy, column_square
from sfumato.errors import BadArgument
from sfumato.exact import Distance, Number, Root, as_distance, integer, positive, probability
from sfumato.plain import record


@final
@record("Tree")
class Tree(Event):
    """Gaussian noise on every node of a complete tree over ``steps`` leaves; a unit adds up to ``shift`` to a leaf.

    A unit takes part in at most ``participations`` leaves, any two of them at least ``separation`` apart; one that is
    exchanged for it takes part in the same. Every node is the sum of its leaves plus noise of the scale.
    """

    scale: Fraction
    steps: int
    participations: int
    separation: int
    branching: int
    shift: Distance

    def __init__(
        self,
        scale: Number,
        *,
        steps: int,
        participations: int = 1,
        separation: int = 1,
        branching: int = 2,
        shift: Number | Root = 1,
    ) -> None:
        object.__setattr__(self, "scale", positive(scale, "scale"))
        object.__setattr__(self, "steps", integer(steps, "steps", least=1))
        object.__setattr__(self, "participations", integer(participations, "participations", least=1))
        object.__setattr__(self, "separation", integer(separation, "separation", least=1))
        object.__setattr__(self, "branching", integer(branching, "branching", least=2))
        object.__setattr__(self, "shift", as_distance(shift, "shift"))


@final
@record("CompletedNodes")
class CompletedNodes(Event):
    """Of a tree only the nodes whose leaves are all among its steps, as a running release publishes them."""

    tree: Tree

    def __post_init__(self) -> None:
        if not isinstance(self.tree, Tree):
            raise BadArgument("tree", "a tree such as sf.events.Tree(1, steps=1000)", self.tree)


@final
@record("MatrixFactorization")
class MatrixFactorization(Event):
    """Noise that is correlated along the steps of a stream: C·G + Z is released, of which all else is computed.

    C is the ``strategy``, a public matrix; G holds a vector for each step; Z is continuous Gaussian noise of ``scale``,
    independent on every entry. A unit changes the vectors at the steps of a pattern (``participation``), each by at
    most ``shift`` in L2; a step's vector may depend on every row of C·G + Z that does not depend on it.
    """

    scale: Distance
    strategy: Strategy
    participation: Participation
    shift: Distance

    def __init__(
        self,
        scale: Number | Root,
        strategy: Strategy,
        *,
        participation: Participation | None = None,
        shift: Number | Root = 1,
    ) -> None:
        pattern = MinSeparation() if participation is None else participation
        if not isinstance(strategy, Strategy):
            raise BadArgument("strategy", "a matrix such as sf.events.SquareRoot(1000)", strategy)
        if not isinstance(pattern, Participation):
            raise BadArgument("participation", "a pattern such as sf.events.MinSeparation(100, times=3)", pattern)
        object.__setattr__(self, "scale", scale if isinstance(scale, Root) else positive(scale, "scale"))
        object.__setattr__(self, "strategy", strategy)
        object.__setattr__(self, "participation", pattern)
        object.__setattr__(self, "shift", as_distance(shift, "shift"))


@final
@record("SampledFactorization")
class SampledFactorization(Event):
    """A banded `MatrixFactorization` whose steps take turns among ``period`` parts of the units, and sample each.

    The units are dealt into the parts without a look at the data; one that is exchanged for another is in its part.
    Step i draws each unit of part i modulo the period, independently, with probability ``rate``: with N units a batch
    of rate·N/period is expected. The matrix is lower triangular, with a band of at most the period.
    """

    scale: Distance
    strategy: Strategy
    period: int
    rate: Fraction
    shift: Distance

    def __init__(
        self, scale: Number | Root, strategy: Strategy, *, period: int, rate: Number, shift: Number | Root = 1
    ) -> None:
        if not isinstance(strategy, Strategy):
            raise BadArgument("strategy", "a matrix such as sf.events.SquareRoot(1000, band=10)", strategy)
        object.__setattr__(self, "scale", scale if isinstance(scale, Root) else positive(scale, "scale"))
        object.__setattr__(self, "strategy", strategy)
        object.__setattr__(self, "period", integer(period, "period", least=1))
        object.__setattr__(self, "rate", probability(rate, "rate"))
        object.__setattr__(self, "shift", as_distance(shift, "shift"))
        if (band := column_square(strategy)[1]) > self.period:
            raise BadArgument("period", f"at least the band of the strategy, {band}", period)
