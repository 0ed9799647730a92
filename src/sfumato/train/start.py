"""The start of a training: a model is checked, its steps are planned, and all of them are paid for."""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch
from torch import nn
from torch.utils.data import default_collate

from sfumato.accounting.losses.measures import Loss
from sfumato.accounting.losses.stated import needed_loss, stated_loss
from sfumato.accounting.plans.training import number_of_steps
from sfumato.accounting.relation import Relation
from sfumato.entropy import Entropy
from sfumato.errors import BadArgument
from sfumato.exact import Number, integer, positive
from sfumato.query.frame import Frame
from sfumato.train.batches import Batches, PoissonBatches
from sfumato.train.checks import check_model
from sfumato.train.clipping import Clipping, Flat
from sfumato.train.guards import check_fits, check_optimizer, check_outputs
from sfumato.train.paying import OWN_ROWS, ROW_BY_ROW, Payer, Run
from sfumato.train.plan import TrainingPlan
from sfumato.train.trainer import PROOF, Private
from sfumato.train.units import Augment, Collate, Units

if TYPE_CHECKING:
    from sfumato.train.tables import TableRows

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
    features: Sequence[str] | None = None,
    label: str | None = None,
    people: Sequence[object] | None = None,
    max_rows: int = 1,
    augment: Augment | None = None,
    augmentations: int = 1,
    collate: Collate = default_collate,
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
                ``max_rows`` rows count a step; ``collate``, what puts rows together; ``largest``, how many units pass
                at once; ``size``, a public number of units
    Gives:      a `Private`, whose `batches` and `step`, or `fit`, train the model
    Guarantee:  the loss of the plan's event, for whoever is protected, of all weights after all steps; noise is drawn
                in floating point  (proofs/training.md#steps)
    Cost:       about that of plain training

    With a ``session`` the plan is charged before the first batch, under a ``key`` by which it can be resumed. Left out,
    nothing is charged, and the release says so. Without ``size`` the number of units is taken to be public.

    ``data`` may be a table of a session, with the names of ``features`` and ``label`` and a public ``size``: its rows
    are read under the permit of the run alone, of each person ``max_rows``, and `fit` takes all steps.
    """
    units, session = _units(data, features, label, people, max_rows, augment, augmentations, collate, session)
    if session is not None and entropy is not None and entropy.replayable:
        raise BadArgument("entropy", "left out, where a session pays: no ledger takes what can be replayed", "given")
    example = units.example()
    check_outputs(model, example, units.labels)
    layout = check_model(model, example)
    if not isinstance(units, Units):
        check_fits(model, example)
    told = _told(units, size)
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
    check_optimizer(model, made)
    most = None if largest is None else integer(largest, "largest", least=1)
    run = None if session is None else _charged(session, plan, keep, key, table=not isinstance(units, Units))
    return Private(model, units, plan, made, keep=keep, largest=most, run=run, entropy=entropy, layout=layout)


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


def _units(
    data: object,
    features: Sequence[str] | None,
    label: str | None,
    people: Sequence[object] | None,
    max_rows: int,
    augment: Augment | None,
    augmentations: int,
    collate: Collate,
    session: Payer | None,
) -> tuple[Units | TableRows, Payer | None]:
    """Reads the data, and who pays: of a table of a session, that session. No row of it is looked at."""
    if not isinstance(data, Frame):
        if (features, label) != (None, None):
            raise BadArgument("features and label", "left out, where the data is no table of a session", "given")
        more: dict[str, Any] = {"augment": augment, "augmentations": augmentations, "collate": collate}
        return Units(data, people=people, max_rows=max_rows, **more), session
    if people is not None or augment is not None or augmentations != 1:
        must = "left out, where the data is a table: whose its rows are, the codebook says"
        raise BadArgument("people, augment and augmentations", must, "given")
    from sfumato.train.tables import TableRows, payer_of  # which needs the extra [learn]

    return TableRows(data, features, label, integer(max_rows, "max_rows", least=1)), payer_of(data, session)


def _told(units: Units | TableRows, size: int | None) -> int:
    """A public number of units."""
    if size is not None:
        return integer(size, "size", least=1)
    if not isinstance(units, Units):
        raise BadArgument("size", "given with a table: a public number of units, about as many as there are", None)
    return units.count


def _poisson(size: int, batch: int | None, epochs: Number | None, steps: int | None) -> PoissonBatches:
    if not size:
        raise BadArgument("data", "of one row or more; where no row is a data set too, state a public size=", "no rows")
    many = integer(batch, "batch", least=1)
    if many > size:
        raise BadArgument("batch", f"at most {size:,}, the number of units", batch)
    rate = Fraction(many, size)
    return PoissonBatches(rate, number_of_steps(rate, steps, epochs), size)


def _charged(session: Payer, plan: TrainingPlan, loss: Loss | None, key: str | None, *, table: bool) -> Run:
    if not key:
        raise BadArgument("key", "a name of this training, under which it can be resumed", key)
    claim = ROW_BY_ROW if table else OWN_ROWS
    what = f"private training, {plan.steps:,} steps"
    return session.start(plan.event(), loss=loss, key=key, claim=claim, proofs=(PROOF,), what=what)
