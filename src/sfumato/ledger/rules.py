"""What an account counts: the rule that keeps its limit, losses in the rule's kind, and the state that is written down.

The rules are those of `accounting.adaptive`, valid for spending that is chosen as one goes. All arithmetic is exact;
only where a running sum would need numbers of thousands of digits is it rounded, up.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction
from functools import lru_cache

from sfumato.accounting.adaptive.advanced import AdvancedFilter
from sfumato.accounting.adaptive.approx_filter import ApproxFilter, filter_for, holds
from sfumato.accounting.adaptive.charge import Rule, kind_of
from sfumato.accounting.adaptive.costs import Cost, Spending, spending_of
from sfumato.accounting.adaptive.filters import SumFilter
from sfumato.accounting.adaptive.slots import Slots
from sfumato.accounting.codec import FORMAT, VERSION, from_plain, plain_record
from sfumato.accounting.events import Event
from sfumato.accounting.losses.measures import Loss
from sfumato.accounting.losses.stated import needed_loss, stated_loss
from sfumato.accounting.relation import Relation
from sfumato.errors import BadArgument, LedgerDamaged, UnknownFormat
from sfumato.exact import Extended, Number
from sfumato.guarantee import guarantee
from sfumato.ledger.entry import Body, Said

MOST_BITS = 1024
"""A sum with a longer denominator is rounded up."""

FEW_BITS = 64
"""A loss with a longer denominator is charged rounded up, to about this many bits."""

FINE_BITS = 512
"""What is rounded is rounded to this many bits behind the point."""


def rule_for(limit: object) -> Rule:
    """The rule that keeps a limit; refuses kinds for which there is no rule, and rules that are in use."""
    if isinstance(limit, Rule):
        if state_of(limit) != state_of(anew(limit)):
            raise BadArgument("limit", "one of which nothing is spent yet", limit)
        return limit
    return filter_for(needed_loss(limit, None, None, name="limit"))


def stated_limit(limit: object, epsilon: Number | None, delta: Number | None) -> Loss | Rule | None:
    """Reads a limit from a loss or a rule, or from an ε and perhaps a δ; None where nothing is said."""
    if isinstance(limit, Rule) and epsilon is None and delta is None:
        return limit
    return stated_loss(limit, epsilon, delta, name="limit")


def anew(rule: Rule) -> Rule:
    """A rule as it was before anything was spent; each period begins with it."""
    match rule:
        case SumFilter():
            return SumFilter(rule.limit)
        case ApproxFilter():
            return ApproxFilter(rule.limit, order=rule.order)
        case AdvancedFilter():
            return AdvancedFilter(rule.limit, reserve=rule.reserve, order=rule.order)
        case Slots():
            return Slots(rule.slices)


def left_of(rule: Rule, held: Loss | None = None) -> Loss:
    """The largest loss that a rule still admits, with something else set aside."""
    if isinstance(rule, Slots):
        return rule.left[0] if rule.left else kind_of(rule).nothing()
    if held is None or isinstance(rule, AdvancedFilter):
        return rule.left
    if isinstance(rule, ApproxFilter):
        beside = rule.counted.then(spending_of(Cost.of(held), rule.order))
        return rule.having(beside).left
    return rule.limit.minus(rule.spent.then(held))


def coarse(loss: Loss) -> Loss:
    """Makes a loss ready to charge: as it is, or rounded up where it has many digits, so that sums stay short."""
    return loss.rounded(few_digits)


@guarantee(
    claim="never less than the number, and more by less than 2^-FEW_BITS of it where its denominator is long",
    proof="proofs/ledger.md#rounding",
    reviewed="2338d220b59d",
)
def few_digits(value: Extended) -> Extended:
    """A number itself, or, where it has a long denominator, one just above it that has few bits."""
    if isinstance(value, float) or value.denominator.bit_length() <= FEW_BITS:
        return value
    power = max(0, FEW_BITS + 1 + value.denominator.bit_length() - value.numerator.bit_length())
    return Fraction(math.ceil(value * (1 << power)), 1 << power)


@guarantee(
    claim="never less than the sum, and more by less than 2^-FINE_BITS where its denominator is long",
    proof="proofs/ledger.md#rounding",
    reviewed="c5d5e7d2ea86",
)
def kept_short(value: Extended) -> Extended:
    """A sum itself, or, where it needs very many digits, one just above it."""
    if isinstance(value, float) or value.denominator.bit_length() <= MOST_BITS:
        return value
    return Fraction(math.ceil(value * (1 << FINE_BITS)), 1 << FINE_BITS)


def shortened(rule: Rule, held: Loss | None = None) -> Rule:
    """A rule with running sums of a bounded number of digits, never less than they were.

    A sum that would then not fit under the limit, beside what is held, stays as it is.
    """
    match rule:
        case SumFilter(limit=limit, spent=spent):
            fewer = spent.rounded(kept_short)
            if fewer is spent or not (fewer if held is None else fewer.then(held)).within(limit):
                return rule
            return SumFilter(limit, spent=fewer)
        case ApproxFilter(order=order, counted=counted):
            short = counted.added.rounded(kept_short)
            if short is counted.added:
                return rule
            short_sums = replace(counted, added=short)
            beside = short_sums if held is None else short_sums.then(spending_of(Cost.of(held), order))
            return rule.having(short_sums) if holds(beside, rule.room) else rule
        case AdvancedFilter():
            delta, divergence = kept_short(rule.delta), kept_short(rule.divergence)
            if delta == rule.delta and divergence == rule.divergence:
                return rule
            try:
                return AdvancedFilter(
                    rule.limit, reserve=rule.reserve, order=rule.order, divergence=divergence, delta=min(delta, 1)
                )
            except BadArgument:
                return rule
    return rule


def plain_loss(loss: Loss) -> Body:
    """A loss in the plain form of accounting, without the header that each entry would repeat."""
    return dict(_remembered(loss))


@lru_cache(maxsize=256)
def _remembered(loss: Loss) -> Body:
    """The plain form of a loss; the same few losses are charged again and again."""
    return plain_record(loss)


def read_loss(plain: object) -> Loss:
    """Reads what `plain_loss` wrote."""
    loss = _record(plain)
    if not isinstance(loss, Loss):
        raise LedgerDamaged("what should be a loss is none")
    return loss


def plain_cost(cost: Cost) -> Body:
    """Writes what a charge pays for: its loss, and the event, where more is known of it than its loss."""
    written: Body = {"loss": plain_loss(cost.loss)}
    if not cost.only_stated:
        written["event"] = _plain_event(cost.event)
        if cost.relation is not Relation.ADD_REMOVE:
            written["relation"] = cost.relation.value
    return written


@lru_cache(maxsize=256)
def _plain_event(event: Event) -> Body:
    return plain_record(event)


def read_cost(body: Mapping[str, object]) -> Cost:
    """Reads what `plain_cost` wrote; a charge without an event is one of which only the loss is known."""
    loss = read_loss(body["loss"])
    if "event" not in body:
        return Cost.of(loss)
    event, relation = _record(body["event"]), body.get("relation", Relation.ADD_REMOVE.value)
    if not isinstance(event, Event) or relation not in {known.value for known in Relation}:
        raise LedgerDamaged("what should be the event of a charge is none")
    return Cost(loss, event, Relation(relation))


def plain_rule(rule: Rule) -> Body:
    """A rule in plain form, to be read by `read_rule`."""
    return plain_record(rule)


def read_rule(plain: object) -> Rule:
    """Reads what `plain_rule` wrote."""
    rule = _record(plain)
    if not isinstance(rule, Rule):
        raise LedgerDamaged("what should be the rule of an account is none")
    return rule


def _record(plain: object) -> object:
    if not isinstance(plain, dict):
        raise LedgerDamaged("a record in it is none")
    try:
        return from_plain({"format": FORMAT, "version": VERSION, **plain})
    except UnknownFormat as fault:
        raise LedgerDamaged(f"a record in it cannot be read ({fault.what})") from None


def state_of(rule: Rule) -> Said:
    """What changes of a rule as losses are charged, in plain form."""
    match rule:
        case SumFilter(spent=spent):
            return plain_record(spent)
        case ApproxFilter(counted=counted):
            return plain_record(counted)
        case AdvancedFilter():
            written = plain_rule(rule)
            return {name: written[name] for name in ("divergence", "delta")}
        case Slots(used=used):
            return used


def at_state(rule: Rule, state: object) -> Rule:
    """A rule in a state that `state_of` wrote; refuses a state that does not fit it."""
    match rule, state:
        case SumFilter(limit=limit), dict():
            spent = read_loss(state)
            if type(spent) is type(limit) and spent.within(limit):
                return SumFilter(limit, spent=spent)
        case ApproxFilter(limit=limit), dict():
            sums = _record(state)
            if isinstance(sums, Spending):
                return rule.having(sums)
            return at_state(SumFilter(limit), state)  # what the first charge decided
        case AdvancedFilter(), dict():
            if set(state) == {"divergence", "delta"}:
                return read_rule({**plain_rule(rule), **state})
        case Slots(slices=slices), int() if 0 <= state <= len(slices):
            return Slots(slices, used=state)
    raise LedgerDamaged("the state of an account does not fit its rule")
