"""Events of noise that is added along a stream of steps."""

from __future__ import annotations

from fractions import Fraction
from typing import final

from sfumato.accounting.events.event import Event
from sfumato.errors import BadArgument
from sfumato.exact import Distance, Number, Root, as_distance, integer, positive
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
