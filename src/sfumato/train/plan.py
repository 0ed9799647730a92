"""The plan of a training: batches, clipping and noise as one value, which knows its event and its price."""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from typing import final

from sfumato.accounting.events import Event, Repeat, Sequence
from sfumato.accounting.losses.measures import Loss
from sfumato.accounting.plans.account import CostReport, account
from sfumato.accounting.plans.calibration import calibrate_plan
from sfumato.accounting.relation import Relation
from sfumato.errors import BadArgument
from sfumato.exact import Number, positive, rational
from sfumato.train.batches import Batches
from sfumato.train.clipping import Clipping
from sfumato.train.noise import Independent, Noise

INDEPENDENT = Independent()


@final
@dataclass(frozen=True)
class TrainingPlan:
    """How a model is trained: who is in each batch, how much one unit may add, and the noise on it.

    ``multiplier`` is the deviation of the noise over the bound of clipping. All of it is public.
    """

    batches: Batches
    clipping: Clipping
    multiplier: Fraction
    relation: Relation
    """Which data sets count as neighbours."""
    noise: Noise = INDEPENDENT

    @staticmethod
    def within(
        loss: Loss, batches: Batches, clipping: Clipping, relation: Relation, noise: Noise = INDEPENDENT
    ) -> TrainingPlan:
        """The plan with the least noise that keeps a loss."""
        told = batches.under(relation)
        least = calibrate_plan(lambda scale: noise.event(told, scale), limit=loss, relation=relation)
        return TrainingPlan(batches, clipping, rational(least, "multiplier"), relation, noise)

    def __post_init__(self) -> None:
        object.__setattr__(self, "multiplier", positive(self.multiplier, "noise_multiplier"))
        if self.noise.one_bound and not self.clipping.constant:
            raise BadArgument("clip", "one bound for all steps, as this noise needs it", str(self.clipping))
        object.__setattr__(self, "batches", self.batches.under(self.relation))

    @property
    def steps(self) -> int:
        """How many batches there are."""
        return self.batches.steps

    def event(self, steps: int | None = None) -> Event:
        """What runs: all steps, or the first of them; of epochs that are dealt out as a whole, all that were begun."""
        if steps == 0:
            return Sequence()
        return self.noise.event(self.batches if steps is None else self.batches.first(steps), self.multiplier)

    @property
    def one_step(self) -> Event:
        """What one step is by itself, where each is drawn anew."""
        event = self.event(1)
        return event.event if isinstance(event, Repeat) and event.times == 1 else event

    def account(self, *, delta: Number, steps: int | None = None) -> CostReport:
        """What all steps, or the first of them, cost at a δ, with a certified bracket."""
        return account(self.event(steps), delta=delta, relation=self.relation)


def changed(plan: TrainingPlan, multiplier: Number | None, batch: int | None) -> TrainingPlan:
    """A plan with other noise, or with another number of units in a batch."""
    batches = plan.batches if batch is None else plan.batches.resized(batch)
    noise = plan.multiplier if multiplier is None else positive(multiplier, "noise_multiplier")
    return replace(plan, batches=batches, multiplier=noise)
