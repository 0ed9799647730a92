"""The start of a training: a model is checked, its steps are planned, and all of them are paid for."""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch
from torch import nn
from torch.utils.data import default_collate

from sfumato.accounting.losses.measures import Loss
from sfumato.accounting.losses.stated import stated_loss
from sfumato.entropy import Entropy
from sfumato.errors import BadArgument
from sfumato.exact import Number, integer
from sfumato.train.batches import Batches
from sfumato.train.checks import check_model
from sfumato.train.clipping import Clipping, Flat
from sfumato.train.given import check_entropy, size_of, units_of
from sfumato.train.guards import check_fits, check_optimizer, check_outputs
from sfumato.train.noise import Noise
from sfumato.train.paying import Payer
from sfumato.train.planning import Asked, paid, pays_as_it_goes, planned
from sfumato.train.together import Together, refuse_wrapped
from sfumato.train.trainer import Private
from sfumato.train.units import Augment, Collate, Units
from sfumato.train.watching import Scheduler


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
    scheduler: Scheduler | None = None,
    people: Sequence[object] | None = None,
    max_rows: int = 1,
    features: Sequence[str] | None = None,
    label: str | None = None,
    augment: Augment | None = None,
    augmentations: int = 1,
    collate: Collate = default_collate,
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
                `sf.train.Correlated`, or ``exact`` for noise that is drawn exactly; a ``scheduler`` of the learning
                rate, moved after every step; ``people``, an id for each row, of whom ``max_rows`` rows count a step;
                ``collate``, what puts rows together; ``largest``, how many units pass at once; ``size``, a public
                number of units
    Gives:      a `Private`, whose `batches` and `step`, or `fit`, train the model
    Guarantee:  the loss of the plan's event, for whoever is protected, of all weights after all steps; unless it is
                ``exact``, noise is drawn in floating point  (proofs/training.md#steps)
    Cost:       about that of plain training

    With a ``session`` the plan is charged before the first batch, under a ``key`` by which it can be resumed. Left out,
    nothing is charged, and the release says so. Without ``size`` the number of units is taken to be public.

    ``data`` may be a table of a session, with the names of ``features`` and ``label`` and a public ``size``: its rows
    are read under the permit of the run alone, of each person ``max_rows``, and `fit` takes all steps.

    With ``together`` several processes train one model, each on units of its own: see `Together`.
    """
    refuse_wrapped(model)
    more = {"augment": augment, "augmentations": augmentations, "collate": collate}
    units, session = units_of(data, features, label, people, max_rows, session, **more)
    check_entropy(session, entropy)
    example = units.example()
    check_outputs(model, example, units.labels)
    layout = check_model(model, example)
    if not isinstance(units, Units):
        check_fits(model, example)
    clipping = clip if isinstance(clip, Clipping) else Flat(clip)
    clipping.check(name for name, each in model.named_parameters() if each.requires_grad)
    made = optimizer if optimizer is not None else torch.optim.Adam(model.parameters())
    check_optimizer(model, made)
    told = size_of(units, size, together, people)
    at_once = None if largest is None else integer(largest, "largest", least=1)
    keep = stated_loss(loss, epsilon, delta)
    asked = Asked(keep, noise_multiplier, epochs, steps, batch, batches, most, limit, noise, exact, session, key)
    plan = planned(asked, model, told, clipping, at_once, together)
    asked.check_table(plan, table=not isinstance(units, Units))
    if together is not None:
        plan = together.joined(plan, model, made)
    return Private(
        model,
        units,
        plan,
        made,
        keep=limit if asked.open_ended else keep,
        largest=at_once,
        run=None if asked.open_ended else paid(asked, plan, together, table=not isinstance(units, Units)),
        entropy=entropy,
        layout=layout,
        open_ended=pays_as_it_goes(asked, plan, ahead) if asked.open_ended else None,
        together=together,
        scheduler=scheduler,
    )


def resume(path: str | Path, model: nn.Module, data: object, **plan: Any) -> Private:
    """Goes on with a training that `Private.save` saved, from its weights, optimizer and the states of its parts.

    Takes:      the file; a model of the same shape, and the same data; ``plan``, what `private` was given
    Gives:      a `Private` for the steps that are left: none of those that the book counts is taken again
    Guarantee:  that of the plan that was paid for, once; another plan is refused  (proofs/training.md#resumed)
    Cost:       nothing, under the ``key`` of a session; batches and noise are drawn anew

    >>> import tempfile
    >>> given = {"noise_multiplier": 1, "batch": 10, "steps": 4}
    >>> rows, labels = torch.zeros(100, 2), torch.zeros(100, dtype=torch.long)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     training = private(nn.Linear(2, 2), (rows, labels), **given)
    ...     for x, y in training.batches():
    ...         training.step(nn.functional.cross_entropy(training.model(x), y, reduction="none"))
    ...         if training.taken >= 3:
    ...             break
    ...     training.save(f"{folder}/run.pt")
    ...     resume(f"{folder}/run.pt", nn.Linear(2, 2), (rows, labels), **given).taken >= 3
    True
    """
    if strange := [name for name in plan if name not in inspect.signature(private).parameters]:
        raise BadArgument("resume()", "given what private() was given", strange[0])
    if not Path(path).exists():
        raise BadArgument("path", "the file of a training that was saved", str(path))
    return private(model, data, **plan).resume(path)
