"""A book recounted: what all that was charged comes to in (ε, δ), by every way of accounting that is valid for it."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction

from sfumato.accounting.adaptive.costs import Cost
from sfumato.accounting.convert.convert import convert
from sfumato.accounting.events import Event, Repeat, Sequence
from sfumato.accounting.losses.bracket import Bracket
from sfumato.accounting.losses.measures import Approx, Pure
from sfumato.accounting.plans.account import CostReport, Way, account
from sfumato.accounting.relation import Relation
from sfumato.errors import BadArgument, NoProvenRoute
from sfumato.exact import Number, probability
from sfumato.ledger.accounts import Account
from sfumato.ledger.entry import moment_of
from sfumato.ledger.ledger import Ledger
from sfumato.ledger.rules import read_cost
from sfumato.release.claim import Claim

ANYTIME = "proofs/odometers.md#sums"
"""Why a pure sum holds for what was asked, however that was chosen."""


def recount(ledger: Ledger, name: str, *, delta: Number, claim: Claim | None = None) -> CostReport:
    """What the charges to an account, and to all below it, come to at a δ; in this period, if there are periods.

    Questions that were chosen after seeing answers keep the account's limit, and a pure sum bounds what they gave away.
    Whoever vouches, by a claim, that all of them were fixed before the first answer gets the tightest of all ways:
    privacy-loss distributions too.
    """
    allowed = probability(delta, "delta")
    of = ledger[name]
    event, relation = charged_events(ledger, of)
    if claim is not None:
        if not isinstance(claim, Claim):
            raise BadArgument("claim", "sf.claim('every question was fixed before the first answer')", claim)
        return account(event, delta=allowed, relation=relation)
    ways = [way for way in (_limit(of, allowed), _pure(event, relation, allowed)) if way is not None]
    if not ways:
        raise NoProvenRoute(
            f"the limit {of.limit} says nothing at this δ, and not everything that was charged has a pure loss. If all "
            "questions were fixed before the first answer, say so by a claim, and they are added up by every way."
        )
    best = sorted(ways, key=lambda way: way.bracket.upper)
    point = Bracket(allowed, allowed)
    return CostReport(event, relation, best[0].bracket, point, tuple(best))


def charged_events(ledger: Ledger, of: Account) -> tuple[Event, Relation]:
    """Everything that was charged to an account and to all below it, as one event, and who counts as a neighbour."""
    costs: dict[object, Cost] = {}  # by the charge that paid for the run: who shares in a run adds none
    period = of.terms.period
    for entry in ledger.entries(kinds=("charged",)):
        mine = entry.account == of.name or entry.account.startswith(f"{of.name}/")
        if mine and (period is None or period.label(moment_of(entry.time)) == of.now):
            costs[entry.body.get("shares", entry.number)] = read_cost(entry.body)
    counts = Counter(cost.event for cost in costs.values())
    relations = {cost.relation for cost in costs.values()}
    parts = (event if count == 1 else Repeat(event, count) for event, count in counts.items())
    return Sequence(*parts), Relation.CHANGE_ONE if Relation.CHANGE_ONE in relations else Relation.ADD_REMOVE


def _limit(of: Account, delta: Fraction) -> Way | None:
    """The promise of the account's rule, at a δ."""
    try:
        kept = of.limit if isinstance(of.limit, Approx) else convert(of.limit, Approx, delta=delta)
    except (NoProvenRoute, BadArgument):
        return None
    if kept.delta > delta:
        return None
    return Way(
        type(of.limit).__name__, Approx(kept.epsilon, delta), of.rule.guarantee, Bracket(Fraction(0), kept.epsilon)
    )


def _pure(event: Event, relation: Relation, delta: Fraction) -> Way | None:
    """The sum of pure losses, where everything has one."""
    try:
        way = account(event, delta=delta, relation=relation, ways=(Pure,)).ways[0]
    except NoProvenRoute:
        return None
    return Way(Pure.__name__, way.loss, ANYTIME, way.bracket)
