"""Loss functions, one number for each row: what is averaged over a batch hides whose it is."""

from __future__ import annotations

import copy
import inspect
from collections.abc import Callable
from functools import partial
from typing import Any

from torch import Tensor, nn

from sfumato.errors import BadArgument

CLASSES = (nn.CrossEntropyLoss, nn.NLLLoss)
"""Losses whose labels are places of classes."""


def by_rows(loss_function: Callable[..., Tensor]) -> Callable[..., Tensor]:
    """The same loss without averaging, where it can be told so: a loss of torch, or a function with ``reduction``.

    >>> by_rows(nn.MSELoss()).reduction
    'none'
    """
    if isinstance(loss_function, nn.Module) and hasattr(loss_function, "reduction"):
        made: Any = copy.copy(loss_function)
        made.reduction = "none"
        return within_classes(made, made.ignore_index) if isinstance(made, CLASSES) else made
    if not callable(loss_function):
        raise BadArgument(
            "loss_function", "a function such as torch.nn.CrossEntropyLoss()", type(loss_function).__name__
        )
    try:
        known = "reduction" in inspect.signature(loss_function).parameters
    except (TypeError, ValueError):
        known = False
    if loss_function in (nn.functional.cross_entropy, nn.functional.nll_loss):
        return within_classes(partial(loss_function, reduction="none"), -100)
    return partial(loss_function, reduction="none") if known else loss_function


def within_classes(of_rows: Callable[..., Tensor], ignored: int) -> Callable[..., Tensor]:
    """The same loss, where a row whose label is no class loses nothing, and adds nothing: an error would tell of it."""

    def lost(outputs: Tensor, labels: Tensor) -> Tensor:
        if labels.is_floating_point() or outputs.dim() < 2:
            return of_rows(outputs, labels)
        strange = ((labels < 0) | (labels >= outputs.shape[1])) & (labels != ignored)
        return of_rows(outputs, labels.masked_fill(strange, 0)).masked_fill(strange, 0.0)

    return lost
