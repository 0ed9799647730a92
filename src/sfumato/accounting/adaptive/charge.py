"""Charging a cost to whatever rule stands: in every way where the rule has several, or else in its kind of loss."""

from __future__ import annotations

from typing import TypeAlias

from sfumato.accounting.adaptive.advanced import AdvancedFilter
from sfumato.accounting.adaptive.approx_filter import ApproxFilter
from sfumato.accounting.adaptive.costs import Cost
from sfumato.accounting.adaptive.filters import SumFilter
from sfumato.accounting.adaptive.slots import Slots
from sfumato.accounting.compose import total
from sfumato.accounting.convert.convert import convert
from sfumato.accounting.events import Stated
from sfumato.accounting.losses.concentrated import ApproxZCDP
from sfumato.accounting.losses.measures import Approx, Loss, Pure, lesser
from sfumato.errors import BadArgument, NoProvenRoute

Rule: TypeAlias = SumFilter | ApproxFilter | AdvancedFilter | Slots
"""What decides whether one more mechanism may run: values, valid for spending that is chosen as one goes."""


def kind_of(rule: Rule) -> type[Loss]:
    """The kind of loss that a rule counts; of slots, that of the first slice."""
    return type(rule.slices[0]) if isinstance(rule, Slots) else type(rule.limit)


def charge_to(rule: Rule, cost: Loss | Cost) -> Rule:
    """Charges a cost to a rule, counted in its kind; refuses where that does not fit."""
    if isinstance(rule, ApproxFilter):
        return rule.after(cost)
    return rule.after(counted(cost, kind_of(rule)))


def counted(cost: Loss | Cost, kind: type[Loss]) -> Loss:
    """The loss of a mechanism in a kind: the one that is stated, or that of what it runs where that is less."""
    if not isinstance(cost, Cost):
        return in_kind(cost, kind)
    if type(cost.loss) is kind or isinstance(cost.event, Stated):
        return in_kind(cost.loss, kind)
    try:
        by_event = total(cost.event, kind, relation=cost.relation)
    except (NoProvenRoute, BadArgument):
        return in_kind(cost.loss, kind)
    try:
        return lesser(in_kind(cost.loss, kind), by_event)
    except NoProvenRoute:
        return by_event


NO_DELTA = " A limit in Pure has no δ: keys that are not public, and Gaussian noise, cannot be paid for with it."


def in_kind(loss: Loss, kind: type[Loss]) -> Loss:
    """Restates a loss in another kind, where a theorem takes it there without giving up anything."""
    if type(loss) is kind:
        return loss
    try:
        return convert(loss, kind)
    except (BadArgument, NoProvenRoute):
        wanted, given = kind.__name__, type(loss).__name__
        restated = f"restate the measurement, sf.convert_measure(measurement, sf.{wanted}, delta=…), or "
        raise NoProvenRoute(
            f"what is counted here is {wanted}, and this costs {given}, which no theorem turns into {wanted} by "
            f"itself: {restated if kind in (Approx, ApproxZCDP) else ''}ask with a mechanism that is priced in "
            f"{wanted}; another data set may be opened with a limit in {given}.{NO_DELTA * (kind is Pure)}"
        ) from None
