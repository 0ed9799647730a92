"""What it saves that nobody knows in which of many steps a unit takes part."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache

from sfumato.accounting.amplify.exchange import exchange, presence
from sfumato.accounting.amplify.pld_rows import only_pair
from sfumato.accounting.events import Allocated, Event
from sfumato.accounting.losses.concentrated import GDP, ApproxZCDP
from sfumato.accounting.losses.measures import ZCDP, Approx, Loss, Pure
from sfumato.accounting.losses.pld import PLD
from sfumato.accounting.losses.renyi import Renyi
from sfumato.accounting.pld.pairs.allocated import AllocatedPair
from sfumato.accounting.relation import Relation
from sfumato.accounting.tables import allocator
from sfumato.guarantee import guarantee

MOST_STEPS = 10**7
"""Allocation to more steps is taken for one to so many, which costs more."""


@allocator(PLD)
@guarantee(
    claim="one more or fewer: for each of the unit's k steps, the pair of one step out of floor(T/k), or ceil(T/k) for "
    "T mod k of them, or out of fewer; one exchanged: a group of two of that",
    proof="proofs/allocation.md#rows",
    reviewed="6ed6649ac7dd",
)
def allocated_pld(event: Allocated, relation: Relation, total: Callable[[Event], PLD]) -> PLD:
    """The dominating pairs of random allocation."""
    pair = only_pair(total(event.event))
    if pair is None:
        return PLD.nothing()
    steps, longer = divmod(event.steps, event.participations)
    sizes = [(min(steps, MOST_STEPS), event.participations - longer), (min(steps + 1, MOST_STEPS), longer)]
    loss = PLD([[(pair if size == 1 else AllocatedPair(pair, size), count) for size, count in sizes]])
    return loss if relation is Relation.ADD_REMOVE else exchanged(loss)


@lru_cache(maxsize=64)
def exchanged(loss: PLD) -> PLD:
    """The loss for a group of two, kept because it takes seconds."""
    return loss.group(2)


@guarantee(
    claim="what the unit's steps cost when it is known which they are: at most this",
    proof="proofs/allocation.md#known",
    reviewed="5fec262703b2",
)
def known_steps(event: Allocated, relation: Relation, total: Callable[[Event], Loss]) -> Loss:
    """The loss in kinds in which no saving is on file: that of the steps in which the unit is."""
    once = (presence if relation is Relation.ADD_REMOVE else exchange)(event.event, total)
    return once.times(event.participations)


for _kind in (Pure, Approx, ZCDP, ApproxZCDP, GDP, Renyi):
    allocator(_kind)(known_steps)
