"""Private training of Lightning modules: their `training_step` and optimizers, and the batches of a plan.

Lightning's own loop draws batches from a loader and takes one loss for each, an average. Here the batches are a plan's,
and `training_step` gives a loss for each row.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import nn

from sfumato.errors import BadArgument
from sfumato.release.progress import Progress, reporting
from sfumato.train.guards import device_of, moved
from sfumato.train.positional import positional
from sfumato.train.start import private
from sfumato.train.trainer import Private
from sfumato.train.units import Units
from sfumato.train.watching import Scheduled

LOSS = "loss"


def fit_lightning(
    module: nn.Module,
    data: object,
    *,
    progress: Progress | None = None,
    **plan: Any,
) -> Private:
    """Trains a LightningModule privately: by its own `training_step`, optimizer and schedule, on the batches of a plan.

    Takes:      a module whose ``training_step(batch, batch_idx)`` gives a loss for each row (``reduction="none"``), or
                a dictionary with it under "loss"; ``data`` and ``plan``, what `private` is given
    Gives:      the `Private`, after all steps
    Guarantee:  that of `private`: the loss of the plan, of all weights after all steps  (proofs/training.md#steps)
    Cost:       about that of plain training

    ``configure_optimizers`` gives one optimizer, and schedules if there are any, which move by one after each step.
    Losses that ``training_step`` logs are those of private rows: show them to nobody.
    """
    optimizer, schedules = optimizer_of(module)
    example = Units(data).example()
    names = [f"part_{place}" for place in range(len(example))]
    stepped = positional(module, names, _losses, needed=len(names))
    training = private(stepped, data, **({"optimizer": optimizer} | plan))
    training.watchers.append(Scheduled(*schedules))
    device = device_of(module)
    module.train()
    with reporting(progress, "training") as tell:
        for rows in training.batches():
            training.step(stepped(*moved(rows, device)))
            tell(training.taken, training.plan.steps)
    return training


def optimizer_of(module: nn.Module) -> tuple[torch.optim.Optimizer, list[Any]]:
    """The optimizer and the schedules that a module configures."""
    configure = getattr(module, "configure_optimizers", None)
    if configure is None or not callable(getattr(module, "training_step", None)):
        raise BadArgument(
            "module", "a LightningModule, with training_step and configure_optimizers", type(module).__name__
        )
    made = configure()
    if isinstance(made, dict):
        made = [made["optimizer"]], [made["lr_scheduler"]] if "lr_scheduler" in made else []
    if isinstance(made, torch.optim.Optimizer):
        made = [made], []
    if isinstance(made, list | tuple) and made and all(isinstance(each, torch.optim.Optimizer) for each in made):
        made = list(made), []
    if not (isinstance(made, tuple) and len(made) == 2 and len(made[0]) == 1):
        raise BadArgument("configure_optimizers", "one that gives one optimizer, and perhaps schedules", "others")
    schedules = [each["scheduler"] if isinstance(each, dict) else each for each in made[1]]
    return made[0][0], schedules


def _losses(module: nn.Module, *rows: Any) -> Any:
    """What `training_step` gives for a batch; the number of the batch, which stands second, is 0."""
    step: Any = module.training_step
    given = step(rows[0] if len(rows) == 1 else rows, 0)
    return given.get(LOSS) if isinstance(given, dict) else given
