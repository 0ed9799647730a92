"""Plans of cuts for many quantiles: which is chosen when, at what temperature, and what one row pays for all of them.

A cut splits the rows for the cuts that follow, so a row pays for one path from the root to a leaf. What one cut costs
(`RangeSensitivity`) depends on how its candidates are scored; the rest is the same however they are.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TypeAlias, final

from sfumato.accounting.facts import loss_of
from sfumato.accounting.facts.selection import ExponentialSelection
from sfumato.accounting.losses.measures import ZCDP, Loss
from sfumato.guarantee import guarantee
from sfumato.mechanisms.quantile import simple

SHARPNESS = 1 << 20
"""Temperatures of branches are rounded up to this part of the stated temperature."""


@final
@dataclass(frozen=True)
class Cut:
    """One choice in a plan: a quantile of the rows that reach it, its temperature, and what follows on each side.

    ``alpha`` is relative to the rows between the neighbouring cuts. All of it is public.
    """

    alpha: Fraction
    temperature: Fraction
    left: Cut | None
    right: Cut | None


@final
@dataclass(frozen=True)
class RangeSensitivity:
    """What one choice costs a row that is added or removed, as moves of scores: by the side on which it goes on."""

    below: Fraction
    above: Fraction


SensitivityOf: TypeAlias = Callable[[Fraction, type[Loss]], RangeSensitivity]
"""The range sensitivity of a cut, from its ``alpha`` and the measure of loss."""


def halving(alphas: Sequence[Fraction]) -> Cut | None:
    """Plans the choices for increasing quantiles: the one in the middle first; temperatures are all 1.

    >>> plan = halving([Fraction(1, 4), Fraction(1, 2), Fraction(3, 4)])
    >>> plan.alpha, plan.left.alpha, plan.right.alpha
    (Fraction(1, 2), Fraction(1, 2), Fraction(1, 2))
    """
    if not alphas:
        return None
    middle = len(alphas) // 2
    root = alphas[middle]
    below = [alpha / root for alpha in alphas[:middle]]
    above = [(alpha - root) / (1 - root) for alpha in alphas[middle + 1 :]]
    return Cut(simple(root), Fraction(1), halving(below), halving(above))


def balanced(plan: Cut | None, temperature: Fraction, measure: type[Loss], sensitivity_of: SensitivityOf) -> Cut | None:
    """Cools the branches with few or cheap choices until every path costs as much as the dearest one.

    On the dearest path all temperatures are the one given.
    """
    power = 2 if measure is ZCDP else 1

    def dearest(cut: Cut | None) -> Fraction:
        if cut is None:
            return Fraction(0)
        move = sensitivity_of(cut.alpha, measure)
        return max(move.below**power + dearest(cut.left), move.above**power + dearest(cut.right))

    def cool(cut: Cut | None, share: Fraction) -> Cut | None:
        if cut is None:
            return None
        most, move = dearest(cut), sensitivity_of(cut.alpha, measure)
        left = cool(cut.left, share * dearest(cut.left) / (most - move.below**power)) if cut.left else None
        right = cool(cut.right, share * dearest(cut.right) / (most - move.above**power)) if cut.right else None
        return Cut(cut.alpha, temperature * _root_up(share, power), left, right)

    return cool(plan, Fraction(1))


def _root_up(share: Fraction, power: int) -> Fraction:
    if power == 1:
        return Fraction(math.ceil(share * SHARPNESS), SHARPNESS)
    return Fraction(math.isqrt(math.ceil(share * SHARPNESS**2) - 1) + 1, SHARPNESS)


@guarantee(
    claim="one row added or removed: the move of a choice, and then all that follows on the side where the row goes on",
    proof="proofs/recursive_quantiles.md#added",
    reviewed="e7407fd904f2",
)
def added_loss(plan: Cut | None, measure: type[Loss], sensitivity_of: SensitivityOf) -> Loss:
    """The loss of all the choices of a plan when one row is added or removed."""
    if plan is None:
        return measure.nothing()
    chosen, move = ExponentialSelection(plan.temperature), sensitivity_of(plan.alpha, measure)
    below = loss_of(chosen, measure, move.below).then(added_loss(plan.left, measure, sensitivity_of))
    above = loss_of(chosen, measure, move.above).then(added_loss(plan.right, measure, sensitivity_of))
    return measure.widest([below, above])
