"""Interaction: measurements chosen one after another, in the light of the answers, under a rule that says when to stop.

All of these are one state machine over a rule of `accounting.adaptive`: fixed slices, or a filter. A query is charged
first and run afterwards; a refusal changes nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import final

from sfumato.accounting.adaptive.advanced import AdvancedFilter
from sfumato.accounting.adaptive.approx_filter import ApproxFilter, filter_for
from sfumato.accounting.adaptive.charge import Rule, charge_to
from sfumato.accounting.adaptive.costs import NOTHING, Cost
from sfumato.accounting.adaptive.filters import SumFilter
from sfumato.accounting.adaptive.slots import Slots
from sfumato.accounting.losses.measures import Loss
from sfumato.combinators.turns import Questions, charged_at, check_turns, outcome_of
from sfumato.core.branches import InteractiveLaw
from sfumato.core.domains import Data
from sfumato.core.grouped_distance import AnyDistance, DistanceLike, GroupedDistance
from sfumato.core.measurement import Measurement
from sfumato.core.metrics import Unit
from sfumato.core.partial import Partial
from sfumato.core.plan import constructor
from sfumato.core.queryable import Left, Queryable, Spent
from sfumato.core.restating import cost_of
from sfumato.core.space import Space
from sfumato.errors import BadArgument, QueryRefused
from sfumato.guarantee import guarantee
from sfumato.release.claim import Claim, required
from sfumato.release.record import Failure, How

PROOF = "proofs/interaction.md#compositors"


@constructor
def adaptive_composition(
    slices: Iterable[Loss], *, d_in: DistanceLike | Unit | None = None, claim: Claim | None = None
) -> Partial[Measurement]:
    """Answers measurements chosen one after another, each paid from the next of some losses that were fixed before.

    An interactive answer can be asked until the next query is put; that ends it (see `concurrent_composition`). A query
    that costs more than its slice is refused, and nothing changes. Queries that rest on a user's claim are taken only
    where ``claim`` vouches for them all.

    Takes:      any space; the slices, all of one kind of loss, are what a query may cost at distance ``d_in``,
                that of neighbours unless given
    Gives:      a queryable that takes measurements (or what waits for its space) and gives their outcomes, and that
                takes `Spent` and `Left`
    Guarantee:  the slices composed, at every distance up to d_in  (proofs/interaction.md#compositors)
    Cost:       that of the queries

    >>> from sfumato.accounting.losses.measures import Pure
    >>> from sfumato.core.space import vector
    >>> (vector(int) >> adaptive_composition([Pure(0.3), Pure(0.2)], d_in=2)).map(1)
    Pure(epsilon=0.5)
    """
    return _interactive("adaptive composition", Slots(slices), d_in, claim, concurrent=False)


@constructor
def concurrent_composition(
    slices: Iterable[Loss], *, d_in: DistanceLike | Unit | None = None, claim: Claim | None = None
) -> Partial[Measurement]:
    """Answers measurements as `adaptive_composition` does; interactive answers stay open and may be asked in turns.

    Takes:      any space; slices of Pure, Approx, ZCDP, Renyi or GDP: for other kinds there is no theorem
    Gives:      a queryable that takes measurements (or what waits for its space) and gives their outcomes, and that
                takes `Spent` and `Left`
    Guarantee:  the slices composed, at every distance up to d_in  (proofs/interaction.md#concurrent)
    Cost:       that of the queries

    >>> from sfumato.accounting.losses.measures import ZCDP
    >>> from sfumato.core.space import vector
    >>> (vector(int) >> concurrent_composition([ZCDP(0.3), ZCDP(0.2)])).map(1)
    ZCDP(rho=0.5)
    """
    return _interactive("concurrent composition", Slots(slices), d_in, claim, concurrent=True)


@constructor
def privacy_filter(
    limit: Loss | SumFilter | AdvancedFilter | ApproxFilter,
    *,
    d_in: DistanceLike | Unit | None = None,
    concurrent: bool = False,
    claim: Claim | None = None,
) -> Partial[Measurement]:
    """Answers measurements chosen one after another, at prices chosen as one goes, while a limit is kept.

    A query that no longer fits is refused; a cheaper one may still pass. Under an (ε, δ) limit queries are counted in
    several ways at once, by what they run, and may be priced in any kind of loss (`sf.accounting.ApproxFilter`;
    ``SumFilter(limit)`` adds up what they state).

    Takes:      any space; a limit of Pure, Approx, ZCDP, ApproxZCDP, Renyi (at stated orders) or GDP, for what all
                queries together may cost at distance ``d_in``, or a filter such as `AdvancedFilter`
    Gives:      a queryable that takes measurements (or what waits for its space) and gives their outcomes, and that
                takes `Spent` and `Left`
    Guarantee:  the limit, at every distance up to d_in  (proofs/interaction.md#compositors,
                proofs/privacy_filters.md#sums, proofs/privacy_filters.md#any-way)
    Cost:       that of the queries

    >>> from sfumato.accounting.losses.measures import Pure
    >>> from sfumato.core.space import vector
    >>> (vector(int) >> privacy_filter(Pure(1.1))).map(1)
    Pure(epsilon=1.1)
    """
    rule = limit if isinstance(limit, SumFilter | AdvancedFilter | ApproxFilter) else filter_for(limit)
    if not _fresh(rule):
        raise BadArgument("limit", "a filter that has charged nothing yet", rule)
    return _interactive("filter", rule, d_in, claim, concurrent=concurrent)


def _fresh(rule: SumFilter | AdvancedFilter | ApproxFilter) -> bool:
    if isinstance(rule, AdvancedFilter):
        return rule.divergence == 0 and rule.delta == 0
    if isinstance(rule, ApproxFilter):
        return rule.counted == NOTHING
    return rule == SumFilter(rule.limit)


@guarantee(
    claim="the limit of the rule, at distances up to the one at which queries are charged; larger ones are refused",
    proof=PROOF,
    reviewed="6fdaa13df0b5",
)
def interaction_loss(distance: AnyDistance, *, counted_at: AnyDistance, limit: Loss) -> Loss:
    """What an interaction costs at most, however it goes."""
    if distance in (0, GroupedDistance(0, 0, 0)):
        return type(limit).nothing()
    if not distance <= counted_at:
        raise BadArgument("the distance", "at most the d_in at which queries are charged", distance)
    return limit


def _interactive(
    name: str, rule: Rule, d_in: DistanceLike | Unit | None, claim: Claim | None, *, concurrent: bool
) -> Partial[Measurement]:
    kind = type(rule.limit)
    check_turns(kind, proven=not concurrent or rule.interleaves)

    def build(space: Space) -> Measurement:
        counted_at = charged_at(space, d_in)

        def begun(run: Callable[[Measurement], Data]) -> Callable[[Data], Data]:
            kinds = None if isinstance(rule, ApproxFilter) else kind
            questions = Questions(space, kinds, run, concurrent=concurrent, vouched=claim is not None)
            return Exchange(questions, rule, counted_at).answer

        return Measurement(
            source=space,
            measure=kind,
            function=lambda data, entropy: Queryable(begun(lambda asked: outcome_of(asked, data, entropy))),
            privacy_map=lambda distance: interaction_loss(distance, counted_at=counted_at, limit=rule.limit),
            how=How(
                name,
                (("limit", str(rule.limit)), ("charged at distance", str(counted_at))),
                claims=() if claim is None else (required(claim, "the queries"),),
                proofs=(PROOF,),
                failure=Failure.DISTINGUISHING if getattr(rule.limit, "delta", 0) else Failure.NONE,
            ),
            law=lambda data: InteractiveLaw(lambda recorder: begun(lambda asked: recorder.run(asked, data))),
            interactive=True,
        )

    return Partial(f"{name}({rule.limit})", build)


@final
class Exchange:
    """The state of one interaction: the rule as it stands, and what asks the data."""

    def __init__(self, questions: Questions, rule: Rule, counted_at: AnyDistance) -> None:
        self._questions, self._rule, self._counted_at = questions, rule, counted_at

    def answer(self, query: Data) -> Data:
        """Answers a measurement once it is charged, or a question about what was spent."""
        match query:
            case Spent():
                return self._spent(query)
            case Left():
                return self._rule.left
        asked = self._questions.read(query)
        cost = self._questions.price(lambda: self._cost(asked))
        charged = self._questions.price(lambda: charge_to(self._rule, cost))
        self._questions.next_turn()
        self._rule = charged
        return self._questions.run(asked)

    def _cost(self, asked: Measurement) -> Loss | Cost:
        """What a query costs: its loss, and where it is counted in several ways, and answers once, also its event."""
        loss, one_kind = asked.map(self._counted_at), self._questions.kind is not None
        return loss if one_kind or asked.interactive else cost_of(asked, self._counted_at, loss)

    def _spent(self, query: Spent) -> Loss:
        if query.d_in is not None and not self._questions.space.metric.read(query.d_in) <= self._counted_at:
            raise QueryRefused("queries are charged at a smaller distance than this; an odometer knows every distance.")
        return self._rule.spent
