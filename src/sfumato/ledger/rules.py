"""What an account counts: the rule that keeps its limit, losses in the rule's kind, and the state that is written down.

The rules are those of `accounting.adaptive`, valid for spending that is chosen as one goes. All arithmetic is exact;
only where a running sum would need numbers of thousands of digits is it rounded, up.
"""

from __future__ import annotations

import math
from fractions import Fraction
from functools import lru_cache
from typing import TypeAlias, cast

from sfumato.accounting.adaptive.advanced import AdvancedFilter
from sfumato.accounting.adaptive.filters import SumFilter, remainder
from sfumato.accounting.adaptive.slots import Slots
from sfumato.accounting.codec import FORMAT, VERSION, from_plain, plain_record
from sfumato.accounting.concentrated import GDP, ApproxZCDP
from sfumato.accounting.convert import convert
from sfumato.accounting.measures import ZCDP, Approx, Loss, Pure
from sfumato.accounting.renyi import Renyi
from sfumato.errors import BadArgument, LedgerDamaged, NoProvenRoute, UnknownFormat
from sfumato.exact import Extended, Number
from sfumato.guarantee import guarantee
from sfumato.ledger.entry import Body, Said

Rule: TypeAlias = SumFilter | AdvancedFilter | Slots
"""What decides whether an account can pay."""

MOST_BITS = 1024
"""A sum whose denominator is longer is rounded up."""

FEW_BITS = 64
"""A loss whose denominator is longer is charged rounded up, to about this many bits."""

FINE_BITS = 512
"""What is rounded is rounded to this many bits behind the point."""


def rule_for(limit: object) -> Rule:
    """Gives the rule that keeps a limit; refuses kinds for which there is no rule, and rules that are in use."""
    if isinstance(limit, SumFilter | AdvancedFilter | Slots):
        if state_of(limit) != state_of(anew(limit)):
            raise BadArgument("limit", "one of which nothing is spent yet", limit)
        return limit
    if not isinstance(limit, Loss):
        raise BadArgument("limit", "a privacy loss such as sf.Pure(1), or a filter such as sf.AdvancedFilter(…)", limit)
    return SumFilter(limit)


def anew(rule: Rule) -> Rule:
    """Gives a rule as it was before anything was spent."""
    match rule:
        case SumFilter():
            return SumFilter(rule.limit)
        case AdvancedFilter():
            return AdvancedFilter(rule.limit, reserve=rule.reserve, order=rule.order)
        case Slots():
            return Slots(rule.slices)


def kind_of(rule: Rule) -> type[Loss]:
    """Gives the kind of loss that a rule counts."""
    return type(rule.slices[0]) if isinstance(rule, Slots) else type(rule.limit)


def counted(loss: Loss, rule: Rule) -> Loss:
    """Gives a loss in the kind that a rule counts."""
    return in_kind(loss, kind_of(rule))


def in_kind(loss: Loss, kind: type[Loss]) -> Loss:
    """Gives a loss in another kind, where a theorem takes it there without giving up anything."""
    if type(loss) is kind:
        return loss
    try:
        return convert(loss, kind)
    except (BadArgument, NoProvenRoute):
        wanted, given = kind.__name__, type(loss).__name__
        restated = f"restate the measurement, sf.measured_in(measurement, sf.{wanted}, delta=…), or "
        raise NoProvenRoute(
            f"what is counted here is {wanted}, and this costs {given}, which no theorem turns into {wanted} by "
            f"itself: {restated if kind in (Approx, ApproxZCDP) else ''}ask with a mechanism that is priced in "
            f"{wanted}; another data set may be opened with a limit in {given}."
        ) from None


def left_of(rule: Rule, held: Loss | None = None) -> Loss:
    """Gives the largest loss that a rule still admits, with something else set aside."""
    if isinstance(rule, Slots):
        return rule.left[0] if rule.left else kind_of(rule).nothing()
    if held is None or isinstance(rule, AdvancedFilter):
        return rule.left
    return remainder(rule.limit, rule.spent.then(held))


def coarse(loss: Loss) -> Loss:
    """Gives a loss to charge: as it is, or rounded up where it would take many digits, so that sums stay short."""
    match loss:
        case Pure(epsilon=epsilon):
            return Pure(few_digits(epsilon))
        case ZCDP(rho=rho):
            return ZCDP(few_digits(rho))
        case GDP():
            return GDP.of_square(few_digits(loss.square))
        case Approx(epsilon=amount, delta=delta) | ApproxZCDP(rho=amount, delta=delta):
            return type(loss)(few_digits(amount), min(Fraction(1), Fraction(few_digits(delta))))
    return loss


@guarantee(
    claim="never less than the number, and more by less than 2^-FEW_BITS of it where its denominator is long",
    proof="proofs/ledger.md#rounding",
    reviewed="2338d220b59d",
)
def few_digits(value: Extended) -> Extended:
    """Gives a number itself, or, where it has a long denominator, one just above it that has few bits."""
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
    """Gives a sum itself, or, where it needs very many digits, one just above it."""
    if isinstance(value, float) or value.denominator.bit_length() <= MOST_BITS:
        return value
    return Fraction(math.ceil(value * (1 << FINE_BITS)), 1 << FINE_BITS)


def shortened(rule: Rule, held: Loss | None = None) -> Rule:
    """Gives a rule whose running sums take a bounded number of digits, never less than they were.

    A sum that would then not fit under the limit, beside what is held, stays as it is.
    """
    match rule:
        case SumFilter(limit=limit, spent=spent):
            short = _short(spent)
            if short is spent or not (short if held is None else short.then(held)).within(limit):
                return rule
            return SumFilter(limit, spent=short)
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


def _short(spent: Loss) -> Loss:
    match spent:
        case Pure(epsilon=epsilon):
            return spent if (short := kept_short(epsilon)) is epsilon else Pure(short)
        case ZCDP(rho=rho):
            return spent if (short := kept_short(rho)) is rho else ZCDP(short)
        case GDP():
            square = spent.square
            return spent if (short := kept_short(square)) is square else GDP.of_square(short)
        case Approx(epsilon=amount, delta=delta) | ApproxZCDP(rho=amount, delta=delta):
            short, chance = kept_short(amount), min(Fraction(1), Fraction(kept_short(delta)))
            return spent if short is amount and chance == delta else type(spent)(short, chance)
        case Renyi():
            bounds: dict[Number, Number] = {order: spent.at(order) for order in spent.orders().listed or ()}
            short_ones: dict[Number, Number] = {
                order: kept_short(spent.at(order)) for order in spent.orders().listed or ()
            }
            return spent if short_ones == bounds else Renyi(short_ones)
    return spent


def plain_loss(loss: Loss) -> Body:
    """Gives a loss in the plain form of accounting, without the header that each entry would repeat."""
    return dict(_remembered(loss))


@lru_cache(maxsize=256)
def _remembered(loss: Loss) -> Body:
    """Gives the plain form of a loss; the same few losses are charged again and again."""
    return _written(loss)


def read_loss(plain: object) -> Loss:
    """Reads what `plain_loss` wrote."""
    found = _record(plain)
    if not isinstance(found, Loss):
        raise LedgerDamaged("what should be a loss is none")
    return found


def plain_rule(rule: Rule) -> Body:
    """Gives a rule in plain form, to be read by `read_rule`."""
    return _written(rule)


def read_rule(plain: object) -> Rule:
    """Reads what `plain_rule` wrote."""
    found = _record(plain)
    if not isinstance(found, SumFilter | AdvancedFilter | Slots):
        raise LedgerDamaged("what should be the rule of an account is none")
    return found


def _written(record: object) -> Body:
    return cast(Body, plain_record(record))


def _record(plain: object) -> object:
    if not isinstance(plain, dict):
        raise LedgerDamaged("a record in it is none")
    try:
        return from_plain({"format": FORMAT, "version": VERSION, **plain})
    except UnknownFormat as fault:
        raise LedgerDamaged(f"a record in it cannot be read ({fault.what})") from None


def state_of(rule: Rule) -> Said:
    """Gives what changes of a rule as losses are charged, in plain form."""
    match rule:
        case SumFilter(spent=spent):
            return _written(spent)
        case AdvancedFilter():
            written = plain_rule(rule)
            return {name: written[name] for name in ("divergence", "delta")}
        case Slots(used=used):
            return used


def at_state(rule: Rule, state: object) -> Rule:
    """Gives a rule in a state that `state_of` wrote."""
    match rule, state:
        case SumFilter(limit=limit), dict():
            spent = read_loss(state)
            if type(spent) is type(limit) and spent.within(limit):
                return SumFilter(limit, spent=spent)
        case AdvancedFilter(), dict():
            if set(state) == {"divergence", "delta"}:
                return read_rule({**plain_rule(rule), **state})
        case Slots(slices=slices), int() if 0 <= state <= len(slices):
            return Slots(slices, used=state)
    raise LedgerDamaged("the state of an account does not fit its rule")
