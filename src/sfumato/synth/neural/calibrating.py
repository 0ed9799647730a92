"""The least noise that keeps a loss: found by a form that is quick to account for, and checked on what really runs."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from functools import lru_cache

from sfumato.accounting.compose import total
from sfumato.accounting.events import Event
from sfumato.accounting.losses.measures import Approx, Loss
from sfumato.accounting.plans.account import account
from sfumato.accounting.plans.calibration import calibrate_plan
from sfumato.accounting.relation import Relation
from sfumato.exact import rational
from sfumato.guarantee import guarantee

MORE = Fraction(1001, 1000)
"""Where the quick form was a little too hopeful, noise is raised by so much."""

TRIES = 20


@lru_cache(maxsize=256)
@guarantee(
    claim="what an event costs in the kind of a loss, at its δ where it has one",
    proof="proofs/neural_synthesis.md#composition",
    reviewed="e1c5d6b1c067",
)
def price(event: Event, loss: Loss) -> Loss:
    """What an event costs, in the kind of a loss."""
    if isinstance(loss, Approx):
        return account(event, delta=loss.delta).loss
    return total(event, type(loss), relation=Relation.ADD_REMOVE)


def least_noise(build: Callable[[Fraction], Event], quick: Callable[[Fraction], Event], loss: Loss) -> Fraction:
    """The least scale at which what is built keeps a loss, nearly; what is handed back has itself been accounted for.

    ``quick`` is nearly the same event, with continuous Gaussian noise in the place of what is drawn on a grid.
    """

    def solved(made: Callable[[Fraction], Event]) -> Fraction:
        least = calibrate_plan(lambda scale: made(rational(scale, "scale")), limit=loss, relation=Relation.ADD_REMOVE)
        return Fraction(rational(least, "scale"))

    found = solved(quick)
    for _ in range(TRIES):
        if price(build(found), loss).within(loss):
            return found
        found *= MORE
    return solved(build)
