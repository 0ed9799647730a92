"""A whole training as one measurement: it begins with rows, ends with weights, and knows what it costs before it runs.

What estimators do is what `private` does, under a permit for one measurement: no batch is ever seen outside of it.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache
from typing import Any, TypeAlias, final

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn.utils import parameters_to_vector

from sfumato.accounting.compose import total
from sfumato.accounting.events import Event, Gaussian, Repeat
from sfumato.accounting.losses.measures import Approx, Loss, Pure
from sfumato.accounting.plans.account import account
from sfumato.accounting.plans.calibration import calibrate_plan
from sfumato.accounting.relation import Relation
from sfumato.core.domains import Data
from sfumato.core.measurement import Measurement
from sfumato.entropy import Entropy
from sfumato.errors import BadArgument
from sfumato.exact import rational
from sfumato.guarantee import guarantee
from sfumato.learn.sources import Source
from sfumato.release.claim import Claim
from sfumato.release.record import How
from sfumato.train.batches import PoissonBatches
from sfumato.train.clipping import Clipping
from sfumato.train.plan import TrainingPlan
from sfumato.train.rows import Encoding, beginning, units_of
from sfumato.train.taps import Layout
from sfumato.train.trainer import PROOF, Private

Optimizing: TypeAlias = Callable[[Iterable[nn.Parameter]], torch.optim.Optimizer]
"""Makes an optimizer of parameters, as the classes of torch.optim do."""

MOST_AT_ONCE = 4096
"""How many units pass through a model at once."""


@final
@dataclass(frozen=True, eq=False)
class Recipe:
    """What is trained on rows, by what and how: all of it public, and none of it changed by a training."""

    model: nn.Module
    encoding: Encoding
    of_rows: Callable[..., Tensor]
    optimizing: Optimizing
    batches: PoissonBatches
    clipping: Clipping
    layout: Layout
    """Where rows are in what the layers of the model see."""
    claims: tuple[Claim, ...] = ()

    def trained(self, rows: Data, plan: TrainingPlan, entropy: Entropy) -> np.ndarray[Any, Any]:
        """Trains a copy of the model, and gives the average of its weights over the later half of all steps."""
        model = copy.deepcopy(self.model)
        optimizer = self.optimizing(model.parameters())
        units = self.encoding.units(rows)
        training = Private(
            model,
            units,
            plan,
            optimizer,
            keep=None,
            largest=MOST_AT_ONCE,
            run=None,
            entropy=entropy,
            layout=self.layout,
        )
        averaged = Averaged(model, plan.steps)
        optimizer.register_step_post_hook(lambda *_: averaged.add())  # of every step, also of empty batches
        model.train()
        for inputs, labels in training.batches():
            training.step(self.of_rows(model(inputs), labels))
        return averaged.weights()


@final
class Averaged:
    """The average of a model's weights over the later half of all steps: of what is out, it costs nothing."""

    def __init__(self, model: nn.Module, steps: int) -> None:
        self._model, self._first, self._taken = model, steps // 2, 0
        self._sum = torch.zeros(sum(each.numel() for each in model.parameters()), dtype=torch.float64)

    def add(self) -> None:
        """After a step."""
        if self._taken >= self._first:
            self._sum += parameters_to_vector(self._model.parameters()).detach().double().cpu()
        self._taken += 1

    def weights(self) -> np.ndarray[Any, Any]:
        """The average, of finite numbers whatever the noise was."""
        made = (self._sum / max(1, self._taken - self._first)).float()
        return np.asarray(torch.nan_to_num(made, nan=0.0, posinf=0.0, neginf=0.0).numpy())


def measured(source: Source, recipe: Recipe, loss: Loss) -> Measurement:
    """The training of a recipe on the rows of a source, with the least noise that keeps a loss.

    Takes:      rows of arrays, or of a table behind a ledger, where all rows of a unit stay together
    Gives:      the weights, averaged over the later half of all steps
    Guarantee:  at most the loss, for whoever is protected; noise is drawn in floating point  (proofs/training.md#steps,
                proofs/training.md#several)
    Cost:       one forward and one backward pass over a batch for each step
    """
    if isinstance(loss, Pure) or (isinstance(loss, Approx) and not loss.delta):
        must = (
            "one that Gaussian noise keeps, with a δ: epsilon=1, delta=1e-6, or loss=sf.Approx(1, 1e-6). For a pure ε, "
            "sf.learn.LogisticRegression and sf.learn.HuberRegressor fit linear models"
        )
        raise BadArgument("loss", must, loss)
    begin, space, units = beginning(source)
    least = calibrate_plan(
        lambda scale: event_of(recipe.batches, rational(scale, "multiplier"), units),
        limit=loss,
        relation=Relation.ADD_REMOVE,
    )
    plan = TrainingPlan(recipe.batches, recipe.clipping, rational(least, "multiplier"), Relation.ADD_REMOVE)

    @lru_cache(maxsize=8)
    def price(units: Fraction) -> Loss:
        event = event_of(recipe.batches, plan.multiplier, units)
        if isinstance(loss, Approx):
            return account(event, delta=loss.delta).loss
        return total(event, type(loss), relation=Relation.ADD_REMOVE)

    made = Measurement(
        source=space,
        measure=type(loss),
        function=lambda rows, entropy: recipe.trained(rows, plan, entropy),
        privacy_map=lambda d_in: price(units_of(d_in)),
        event=lambda d_in: event_of(recipe.batches, plan.multiplier, units_of(d_in)),
        how=_how(recipe, plan),
    ).recorded()
    return made if begin is None else made.after(begin)


@guarantee(
    claim="one unit: the plan's own event; several, added or removed in any way: in each step Gaussian noise on an "
    "answer that they move by at most as many bounds, whoever was drawn",
    proof="proofs/training.md#several",
    reviewed="c664ce52f55d",
)
def event_of(batches: PoissonBatches, multiplier: Fraction, units: Fraction) -> Event:
    """What runs, between rows that differ in so many units."""
    if units <= 1:
        return batches.event(Gaussian(multiplier))
    return Repeat(Gaussian(multiplier, units), batches.steps)


def _how(recipe: Recipe, plan: TrainingPlan) -> How:
    facts = (
        ("steps", f"{plan.steps:,}"),
        ("batches", str(plan.batches)),
        ("clipping", str(plan.clipping)),
        ("noise", f"{plan.noise}; deviation {float(plan.multiplier):.4g} times the bound of clipping"),
        ("weights", f"{sum(each.numel() for each in recipe.model.parameters()):,}"),
    )
    made = How("private training", facts, proofs=(PROOF, "proofs/training.md#several"))
    return replace(made, claims=recipe.claims)
