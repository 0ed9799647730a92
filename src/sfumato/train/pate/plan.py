"""The plan of a vote: how many questions and labels there may be, with which noise, and what all of it costs."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import final

from sfumato.accounting.compose import total
from sfumato.accounting.events import Event, Repeat, Sequence
from sfumato.accounting.losses.measures import Approx, Loss, Pure
from sfumato.accounting.plans.account import CostReport, account
from sfumato.accounting.plans.calibration import calibrate_plan
from sfumato.accounting.relation import Relation
from sfumato.errors import BadArgument, CannotCalibrate, Several
from sfumato.exact import Number, integer, rational
from sfumato.guarantee import guarantee
from sfumato.train.pate.aggregators import Aggregator, ConfidentGNMax, GNMax, GumbelMax, LNMax

Scaled = type[LNMax] | type[GNMax] | type[GumbelMax]
"""Ways to choose a label that have one number, the size of their noise."""


@final
@dataclass(frozen=True)
class VotingPlan:
    """At most so many ``queries``, of which at most so many ``answers`` get a label. All of it is public.

    ``touched`` is how many teachers one unit may reach.
    """

    aggregator: Aggregator
    queries: int
    answers: int
    classes: int
    touched: int = 1
    relation: Relation = Relation.ADD_REMOVE

    def __post_init__(self) -> None:
        integer(self.queries, "queries", least=1)
        integer(self.answers, "answers", least=1, most=self.queries)

    @guarantee(
        claim="every check is counted, whether it is passed or not, and every label",
        proof="proofs/pate.md#order",
        reviewed="2a46f587e98b",
    )
    def event(self, queries: int | None = None, answers: int | None = None) -> Event:
        """What runs: all questions and labels, or the first of them; a part that is 0 is left out."""
        asked, given = (self.queries if queries is None else queries), (self.answers if answers is None else answers)
        label, check = self.aggregator.event(self.classes, self.touched), self.aggregator.check_event(self.touched)
        if check is None:
            return Repeat(label, asked)
        return Sequence(Repeat(check, asked), Repeat(label, given)) if given else Repeat(check, asked)

    @property
    def steps(self) -> int:
        """How many steps the event has: a check and a label are one each."""
        return self.queries + (self.answers if self.aggregator.check_event(self.touched) is not None else 0)

    @property
    def loss(self) -> Loss:
        """What all of it costs, in the kind of loss that its noise is made for."""
        return total(self.event(), self.aggregator.natural, relation=self.relation)

    def account(self, *, delta: Number, queries: int | None = None, answers: int | None = None) -> CostReport:
        """What all questions and labels, or the first of them, cost at a δ, with a certified bracket."""
        return account(self.event(queries, answers), delta=delta, relation=self.relation)

    def keeps(self, loss: Loss) -> bool:
        """Tells whether the plan is within a loss."""
        if isinstance(loss, Approx):
            return self.account(delta=loss.delta).loss.within(loss)
        return total(self.event(), type(loss), relation=self.relation).within(loss)


def planned(
    noise: Aggregator | Scaled | None,
    loss: Loss | None,
    *,
    queries: int | None,
    answers: int | None,
    classes: int,
    touched: int,
) -> VotingPlan:
    """The plan of two of three: noise, a loss to keep, a number of questions. The third is found."""
    if isinstance(loss, Approx) and loss.delta == 0:
        loss = Pure(loss.epsilon)
    if noise is None:
        noise = GumbelMax if isinstance(loss, Pure) else GNMax
    if isinstance(noise, type):
        return _noise_found(noise, loss, queries, classes, touched)
    if not isinstance(noise, Aggregator):
        raise BadArgument("noise", "a way to choose such as sf.train.GNMax(40), or the class GNMax with a loss", noise)
    if not isinstance(noise, ConfidentGNMax):
        if answers is not None:
            raise BadArgument("answers", "left out: every question gets a label; queries= says how many", answers)
        asked = queries if queries is not None else _most(noise, loss, classes, touched)
        plan = VotingPlan(noise, integer(asked, "queries", least=1), asked, classes, touched)
    else:
        plan = _confident(noise, loss, integer(queries, "queries", least=1), answers, classes, touched)
    if loss is not None and not plan.keeps(loss):
        raise BadArgument("loss", "at least what the noise and the number of questions cost", loss)
    return plan


def _noise_found(noise: Scaled, loss: Loss | None, queries: int | None, classes: int, touched: int) -> VotingPlan:
    """The plan with the least noise of a kind that keeps a loss for so many questions."""
    if noise not in (LNMax, GNMax, GumbelMax):
        raise BadArgument("noise", "with its numbers: what is not said cannot be found for it", noise.__name__)
    if loss is None or queries is None:
        raise BadArgument("loss and queries", "given both, or noise with its size", Several(loss, queries))
    asked = integer(queries, "queries", least=1)

    def build(scale: float) -> Event:
        return Repeat(noise(scale).event(classes, touched), asked)

    scale: Fraction = rational(calibrate_plan(build, limit=loss), "scale")
    return VotingPlan(noise(scale), asked, asked, classes, touched)


def _most(noise: Aggregator, loss: Loss | None, classes: int, touched: int) -> int:
    """As many questions as a loss pays for."""
    if loss is None:
        raise BadArgument("queries", "given, or a loss, which says how many it pays for", None)
    label = noise.event(classes, touched)
    return calibrate_plan(lambda times: Repeat(label, times), limit=loss, increasing=True, whole=True)


def _confident(
    noise: ConfidentGNMax, loss: Loss | None, queries: int, answers: int | None, classes: int, touched: int
) -> VotingPlan:
    if answers is None and loss is None:
        raise BadArgument("answers", "given, or a loss, which says how many it pays for", None)
    if answers is not None:
        return VotingPlan(noise, queries, integer(answers, "answers", least=1), classes, touched)
    whole = VotingPlan(noise, queries, queries, classes, touched)
    if loss is None or whole.keeps(loss):
        return whole
    try:
        most = calibrate_plan(
            lambda given: whole.event(queries, given), limit=loss, increasing=True, whole=True, most=queries
        )
    except CannotCalibrate:
        must = f"more than {queries:,} checks cost without a single label: ask less, or check with more noise"
        raise BadArgument("loss", must, loss) from None
    return VotingPlan(noise, queries, most, classes, touched)
