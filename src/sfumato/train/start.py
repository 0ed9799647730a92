"""The start of a training: a model is checked, its steps are planned, and all of them are paid for."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import nn

from sfumato.accounting.losses.measures import Loss
from sfumato.accounting.losses.stated import needed_loss, stated_loss
from sfumato.accounting.relation import Relation
from sfumato.entropy import Entropy
from sfumato.errors import BadArgument
from sfumato.exact import Number, integer, positive
from sfumato.train.batches import Batches
from sfumato.train.checks import check_model
from sfumato.train.clipping import Clipping, Flat
from sfumato.train.noise import Noise
from sfumato.train.paying import Payer
from sfumato.train.plan import TrainingPlan
from sfumato.train.planning import noise_of, paid, pays_as_it_goes, poisson_batches
from sfumato.train.together import Together, refuse_wrapped
from sfumato.train.trainer import Private
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
    most: int | None = None,
    limit: Loss | None = None,
    ahead: int = 1,
    clip: float | Clipping = 1.0,
    noise: Noise | None = None,
    exact: bool = False,
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
    together: Together | None = None,
) -> Private:
    """Plans the private training of a model, finds the noise that a loss allows, and pays for all steps at once.

    Takes:      a model whose layers look at each row by itself; ``data``, a tuple of tensors such as (X, y) or a torch
                Dataset, never a loader; a ``loss`` to keep, or a ``noise_multiplier``; how many units a ``batch`` has
                on average, ``most`` of them at most, and how many ``epochs`` or ``steps`` there are, or ``batches``
                drawn in another way; without a length, a ``limit`` or a session that pays ``ahead`` steps at a time;
                ``clip``, the most that one unit adds to a gradient; ``noise`` of another kind, such as
                `sf.train.Correlated`, or ``exact`` for noise that is drawn exactly; ``people``, an id for each row, of
                whom ``max_rows`` rows count a step; ``largest``, how many units pass at once; ``size``, a public number
                of units
    Gives:      a `Private`, whose `batches` and `step`, or `fit`, train the model
    Guarantee:  the loss of the plan's event, for whoever is protected, of all weights after all steps; unless it is
                ``exact``, noise is drawn in floating point  (proofs/training.md#steps)
    Cost:       about that of plain training

    With a ``session`` the plan is charged before the first batch, under a ``key`` by which it can be resumed. Left out,
    nothing is charged, and the release says so. Without ``size`` the number of units is taken to be public.

    With ``together`` several processes train one model, each on units of its own: see `Together`.
    """
    refuse_wrapped(model)
    units = Units(data, people=people, max_rows=max_rows, augment=augment, augmentations=augmentations)
    layout = check_model(model, units.example())
    count = units.count if together is None else together.count(units.count, people)
    told = count if size is None else integer(size, "size", least=1)
    clipping = clip if isinstance(clip, Clipping) else Flat(clip)
    clipping.check(name for name, each in model.named_parameters() if each.requires_grad)
    keep = stated_loss(loss, epsilon, delta)
    planned = any(each is not None for each in (steps, epochs, batches, keep))
    open_ended = limit is not None or (session is not None and not planned)
    if limit is not None and any(each is not None for each in (steps, epochs, keep)):
        raise BadArgument("limit", "given without steps, epochs and loss, for as many steps as it allows", limit)
    drawn = batches if batches is not None else poisson_batches(told, batch, epochs, 1 if open_ended else steps, most)
    relation = (
        drawn.relation if session is None or not key else max(drawn.relation, session.relation, key=STRICTER.index)
    )
    if together is not None:
        relation = together.relation(relation)
    if (keep is None) == (noise_multiplier is None):
        raise BadArgument("loss or noise_multiplier", "given, one of them", noise_multiplier)
    at_once = None if largest is None else integer(largest, "largest", least=1)
    kind = noise_of(model, drawn, noise, at_once, exact=exact)
    if noise_multiplier is not None:
        plan = TrainingPlan(drawn, clipping, positive(noise_multiplier, "noise_multiplier"), relation, kind)
    else:
        plan = TrainingPlan.within(needed_loss(loss, epsilon, delta), drawn, clipping, relation, kind)
    plan.event()  # refused before anything is charged, where the noise has no theorem for these batches
    made = optimizer if optimizer is not None else torch.optim.Adam(model.parameters())
    if together is not None:
        if open_ended:
            raise BadArgument("together", "given with a number of steps, which all processes take", "without one")
        plan = together.joined(plan, model, made)
    return Private(
        model,
        units,
        plan,
        made,
        keep=limit if open_ended else keep,
        largest=at_once,
        run=None if open_ended else paid(session, plan, keep, key, together),
        entropy=entropy,
        layout=layout,
        open_ended=pays_as_it_goes(plan, limit, session, key, ahead) if open_ended else None,
        together=together,
    )
