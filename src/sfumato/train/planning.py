"""From what is asked for to a plan that is paid: batches, noise, and who pays, at once or as steps come."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import final

from torch import nn

from sfumato.accounting.losses.measures import Loss
from sfumato.accounting.losses.stated import needed_loss
from sfumato.accounting.plans.training import number_of_steps
from sfumato.accounting.relation import Relation
from sfumato.errors import BadArgument
from sfumato.exact import Number, positive
from sfumato.train.batches import Batches, PoissonBatches, TruncatedPoissonBatches, rate_of
from sfumato.train.clipping import Clipping
from sfumato.train.exact_noise import Exact
from sfumato.train.noise import Independent, Noise
from sfumato.train.open_ended import Charged, Filtered, OpenEnded
from sfumato.train.paying import OWN_ROWS, ROW_BY_ROW, Payer, Run
from sfumato.train.plan import INDEPENDENT, TrainingPlan
from sfumato.train.together import Together
from sfumato.train.trainer import PROOF

STRICTER = (Relation.ADD_REMOVE, Relation.CHANGE_ONE)
"""Neighbours, from those that are easier to hide to those that are harder."""


@final
@dataclass(frozen=True)
class Asked:
    """What is asked of a training, as it was given to `private`."""

    keep: Loss | None
    noise_multiplier: Number | None
    epochs: Number | None
    steps: int | None
    batch: int | None
    batches: Batches | None
    most: int | None
    limit: Loss | None
    noise: Noise | None
    exact: bool
    session: Payer | None
    key: str | None

    def __post_init__(self) -> None:
        if self.limit is not None and any(each is not None for each in (self.steps, self.epochs, self.keep)):
            must = "given without steps, epochs and loss, for as many steps as it allows"
            raise BadArgument("limit", must, self.limit)
        if (self.keep is None) == (self.noise_multiplier is None):
            raise BadArgument("loss or noise_multiplier", "given, one of them", self.noise_multiplier)

    @property
    def open_ended(self) -> bool:
        """Tells whether there is no number of steps: a limit ends it, or that of the session."""
        stated = any(each is not None for each in (self.steps, self.epochs, self.batches, self.keep))
        return self.limit is not None or (self.session is not None and not stated)

    def check_table(self, plan: TrainingPlan, *, table: bool) -> None:
        """Refuses what a table does not allow: what has to be remembered of its units from step to step."""
        if table and (self.open_ended or not plan.batches.anew):
            must = "drawn anew in each of a number of steps, where the data is a table"
            raise BadArgument("batches", must, str(plan.batches))

    def kind_of_noise(self, model: nn.Module, batches: Batches, largest: int | None) -> Noise:
        """The noise that is asked for: fresh floats where nothing else is."""
        if self.noise is not None and not isinstance(self.noise, Noise):
            raise BadArgument("noise", "a kind of noise, such as sf.train.Correlated(band=16)", self.noise)
        if not self.exact:
            return INDEPENDENT if self.noise is None else self.noise
        if self.noise is not None:
            must = "given, one of them: exact noise is a kind of its own"
            raise BadArgument("noise or exact=True", must, str(self.noise))
        return Exact.of([each for each in model.parameters() if each.requires_grad], batches, largest)


def poisson_batches(
    size: int, batch: int | None, epochs: Number | None, steps: int | None, most: int | None = None
) -> Batches:
    """Poisson batches of a size on average, out of a public number of units; ``most`` cuts larger ones."""
    if not size:
        raise BadArgument("data", "of one row or more; where no row is a data set too, state a public size=", "no rows")
    rate = rate_of(batch, size)
    many = number_of_steps(rate, steps, epochs)
    return PoissonBatches(rate, many, size) if most is None else TruncatedPoissonBatches(rate, many, size, most)


def planned(
    asked: Asked, model: nn.Module, size: int, clipping: Clipping, largest: int | None, together: Together | None
) -> TrainingPlan:
    """The plan of what is asked for, with the least noise that keeps its loss; refused where no theorem covers it."""
    if together is not None and asked.open_ended:
        raise BadArgument("together", "given with a number of steps, which all processes take", "without one")
    steps = 1 if asked.open_ended else asked.steps
    drawn = asked.batches or poisson_batches(size, asked.batch, asked.epochs, steps, asked.most)
    relation = drawn.relation
    if asked.session is not None and asked.key:
        relation = max(relation, asked.session.relation, key=STRICTER.index)
    if together is not None:
        relation = together.relation(relation)
    kind = asked.kind_of_noise(model, drawn, largest)
    if asked.noise_multiplier is not None:
        plan = TrainingPlan(drawn, clipping, positive(asked.noise_multiplier, "noise_multiplier"), relation, kind)
    else:
        plan = TrainingPlan.within(needed_loss(asked.keep, None, None), drawn, clipping, relation, kind)
    plan.event()  # refused before anything is charged, where the noise has no theorem for these batches
    return plan


def pays_as_it_goes(asked: Asked, plan: TrainingPlan, ahead: int) -> OpenEnded:
    """Who pays for a training without a number of steps; refuses what has to be planned as a whole."""
    if not (plan.batches.anew and plan.steps == 1 and isinstance(plan.noise, Independent)):
        must = "drawn anew in each step, with steps=1: without a length, each step is priced by itself"
        raise BadArgument("batches and noise", must, str(plan.batches))
    if asked.session is None and asked.limit is not None:
        return Filtered(asked.limit, plan.one_step, plan.relation)
    if asked.session is None or asked.limit is not None:
        must = "given without a session, which has a limit of its own: session.part(name, limit=…) has another"
        raise BadArgument("limit", must, asked.limit)
    return Charged(asked.session, _named(asked.key), plan.one_step, ahead=ahead, relation=plan.relation)


def paid(asked: Asked, plan: TrainingPlan, together: Together | None, *, table: bool) -> Run | None:
    """Pays for all steps of a plan, if somebody is to; of several processes, in the first."""
    session = asked.session
    pay = None if session is None else partial(_charged, session, plan, asked.keep, asked.key, table=table)
    if together is not None:
        return together.paid(pay)
    return pay() if pay is not None else None


def _charged(session: Payer, plan: TrainingPlan, loss: Loss | None, key: str | None, *, table: bool) -> Run:
    named, claim = _named(key), ROW_BY_ROW if table else OWN_ROWS
    what = f"private training, {plan.steps:,} steps"
    return session.start(plan.event(), loss=loss, key=named, claim=claim, proofs=(PROOF,), what=what, steps=plan.steps)


def _named(key: str | None) -> str:
    if not key:
        raise BadArgument("key", "a name of this training, under which it can be resumed", key)
    return key
