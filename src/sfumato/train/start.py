"""The start of a training: a model is checked, its steps are planned, and all of them are paid for."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

import torch
from torch import nn

from sfumato.accounting.losses.measures import Loss
from sfumato.accounting.losses.stated import needed_loss, stated_loss
from sfumato.accounting.plans.training import number_of_steps
from sfumato.accounting.relation import Relation
from sfumato.entropy import Entropy
from sfumato.errors import BadArgument
from sfumato.exact import Number, integer, positive
from sfumato.release.claim import Claim
from sfumato.train.batches import Batches, PoissonBatches
from sfumato.train.checks import check_model
from sfumato.train.clipping import Clipping, Flat
from sfumato.train.paying import Payer, Run
from sfumato.train.plan import TrainingPlan
from sfumato.train.trainer import PROOF, Private
from sfumato.train.units import Augment, Units

STRICTER = (Relation.ADD_REMOVE, Relation.CHANGE_ONE)
"""Neighbours, from those that are easier to hide to those that are harder."""


def private(
    model: nn.Module,
    data: object,
    *,
    loss: Loss | None = None,
    epsilon: Number | None = None,
    delta: Number | None = None,
    noise_multiplier: Number | None = None,
    epochs: Number | None = None,
    steps: int | None = None,
    batch: int | None = None,
    batches: Batches | None = None,
    clip: float | Clipping = 1.0,
    optimizer: torch.optim.Optimizer | None = None,
    people: Sequence[object] | None = None,
    max_rows: int = 1,
    augment: Augment | None = None,
    augmentations: int = 1,
    largest: int | None = None,
    size: int | None = None,
    session: Payer | None = None,
    key: str | None = None,
    entropy: Entropy | None = None,
) -> Private:
    """Plans the private training of a model, finds the noise that a loss allows, and pays for all steps at once.

    Takes:      a model whose layers look at each row by itself; ``data``, a tuple of tensors such as (X, y) or a torch
                Dataset, never a loader; a ``loss`` to keep, or a ``noise_multiplier``; how many units a ``batch`` has
                on average and how many ``epochs`` or ``steps`` there are, or ``batches`` drawn in another way;
                ``clip``, the most that one unit adds to a gradient; ``people``, an id for each row, of whom
                ``max_rows`` rows count a step; ``largest``, how many units pass at once; ``size``, a public number of
                units
    Gives:      a `Private`, whose `batches` and `step`, or `fit`, train the model
    Guarantee:  the loss of the plan's event, for whoever is protected, of all weights after all steps; noise is drawn
                in floating point  (proofs/training.md#steps)
    Cost:       about that of plain training

    With a ``session`` the plan is charged before the first batch, under a ``key`` by which it can be resumed. Left out,
    nothing is charged, and the release says so. Without ``size`` the number of units is taken to be public.
    """
    units = Units(data, people=people, max_rows=max_rows, augment=augment, augmentations=augmentations)
    layout = check_model(model, units.example())
    told = units.count if size is None else integer(size, "size", least=1)
    clipping = clip if isinstance(clip, Clipping) else Flat(clip)
    drawn = batches if batches is not None else _poisson(told, batch, epochs, steps)
    relation = (
        drawn.relation if session is None or not key else max(drawn.relation, session.relation, key=STRICTER.index)
    )
    keep = stated_loss(loss, epsilon, delta)
    if (keep is None) == (noise_multiplier is None):
        raise BadArgument("loss or noise_multiplier", "given, one of them", noise_multiplier)
    if noise_multiplier is not None:
        plan = TrainingPlan(drawn, clipping, positive(noise_multiplier, "noise_multiplier"), relation)
    else:
        plan = TrainingPlan.within(needed_loss(loss, epsilon, delta), drawn, clipping, relation)
    made = optimizer if optimizer is not None else torch.optim.Adam(model.parameters())
    most = None if largest is None else integer(largest, "largest", least=1)
    run = None if session is None else _charged(session, plan, keep, key)
    return Private(model, units, plan, made, keep=keep, largest=most, run=run, entropy=entropy, layout=layout)


def _poisson(size: int, batch: int | None, epochs: Number | None, steps: int | None) -> PoissonBatches:
    many = integer(batch, "batch", least=1)
    if many > size:
        raise BadArgument("batch", f"at most {size:,}, the number of units", batch)
    rate = Fraction(many, size)
    return PoissonBatches(rate, number_of_steps(rate, steps, epochs), size)


def _charged(session: Payer, plan: TrainingPlan, loss: Loss | None, key: str | None) -> Run:
    if not key:
        raise BadArgument("key", "a name of this training, under which it can be resumed", key)
    claim = Claim("the rows that were trained on are those of the data set, each of the unit it is said to be")
    what = f"private training, {plan.steps:,} steps"
    return session.start(plan.event(), loss=loss, key=key, claim=claim, proofs=(PROOF,), what=what)
