"""Loss functions, one number for each row: what is averaged over a batch hides whose it is."""

from __future__ import annotations

import copy
import inspect
from collections.abc import Callable
from functools import partial
from typing import Any

from torch import Tensor, nn

from sfumato.errors import BadArgument


def by_rows(loss_function: Callable[..., Tensor]) -> Callable[..., Tensor]:
    """The same loss without averaging, where it can be told so: a loss of torch, or a function with ``reduction``.

    >>> by_rows(nn.MSELoss()).reduction
    'none'
    """
    if isinstance(loss_function, nn.Module) and hasattr(loss_function, "reduction"):
        made: Any = copy.copy(loss_function)
        made.reduction = "none"
        return made  # type: ignore[no-any-return]
    if not callable(loss_function):
        raise BadArgument(
            "loss_function", "a function such as torch.nn.CrossEntropyLoss()", type(loss_function).__name__
        )
    try:
        known = "reduction" in inspect.signature(loss_function).parameters
    except (TypeError, ValueError):
        known = False
    return partial(loss_function, reduction="none") if known else loss_function
