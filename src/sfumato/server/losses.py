"""Losses as they stand in requests."""

from __future__ import annotations

from sfumato.accounting.losses.measures import Loss
from sfumato.errors import BadArgument
from sfumato.server.models import LossBody
from sfumato.service.asking import LOSSES, loss_from


def loss_in(body: LossBody) -> Loss | None:
    """The loss that a body says; None where it says none."""
    return loss_from({name: getattr(body, name) for name in LOSSES})


def needed_loss_in(body: LossBody) -> Loss:
    """The loss that a body must say."""
    loss = loss_in(body)
    if loss is None:
        raise BadArgument("the loss", "said: epsilon, epsilon and delta, rho, or mu", "none")
    return loss
