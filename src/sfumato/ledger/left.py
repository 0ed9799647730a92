"""What is left: of several limits at once, and in words that still fit."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from functools import reduce

from sfumato.accounting.adaptive.charge import in_kind
from sfumato.accounting.losses.measures import Loss
from sfumato.errors import NoProvenRoute

STEPS = 1 << 30
"""Where limits of several kinds meet, what is left is found to this fraction of itself."""


def least_of(left: Sequence[Loss]) -> Loss:
    """The largest loss of the first one's kind that is within all of some losses."""
    kind = type(left[0])
    greatest = reduce(lambda one, other: one.meet(other), (loss for loss in left if type(loss) is kind))
    others = [loss for loss in left if type(loss) is not kind]
    if all(_fits(greatest, other) for other in others):
        return greatest
    low, high = 0, STEPS
    while high - low > 1:
        middle = (low + high) // 2
        fits = all(_fits(greatest.scaled(Fraction(middle, STEPS)), other) for other in others)
        low, high = (middle, high) if fits else (low, middle)
    return greatest.scaled(Fraction(low, STEPS)) if low else kind.nothing()


def _fits(loss: Loss, left: Loss) -> bool:
    try:
        return in_kind(loss, type(left)).within(left)
    except NoProvenRoute:
        return False
