"""Losses as people state them: as a value, ``loss=sf.Pure(1)``, or as the numbers of it, ``epsilon=1, delta=1e-6``."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction
from typing import overload

import numpy as np

from sfumato.accounting.losses.measures import Approx, Loss, Pure
from sfumato.errors import BadArgument, Several, shown
from sfumato.exact import Number, positive


@overload
def stated_loss(loss: Loss, epsilon: None = None, delta: None = None, *, name: str = ...) -> Loss: ...
@overload
def stated_loss(loss: object, epsilon: Number | None, delta: Number | None, *, name: str = ...) -> Loss | None: ...


def stated_loss(
    loss: object = None, epsilon: Number | None = None, delta: Number | None = None, *, name: str = "loss"
) -> Loss | None:
    """Reads what to pay, or what may be spent, from a loss or from an ε and perhaps a δ; None where nothing is said.

    >>> stated_loss(None, 1), stated_loss(None, 1, 1e-6)
    (Pure(epsilon=1.0), Approx(epsilon=1.0, delta=1e-06))
    """
    if epsilon is None and delta is not None:
        raise BadArgument("epsilon", "given beside delta: epsilon=1, delta=1e-6", None)
    if epsilon is not None:
        if loss is not None:
            must = f"one of them: {name}=…, or epsilon=… (and delta=…)"
            raise BadArgument(f"{name} and epsilon", must, Several(loss, epsilon))
        paid = positive(epsilon, "epsilon")
        return Approx(paid, delta) if delta else Pure(paid)
    if loss is None or isinstance(loss, Loss):
        return loss
    if isinstance(loss, int | float | Decimal | Fraction | np.number) and not isinstance(loss, bool):
        number = shown(loss)
        raise BadArgument(name, f"a privacy loss: write epsilon={number}, or {name}=sf.Pure({number})", loss)
    raise BadArgument(name, f"a privacy loss such as {name}=sf.Pure(0.5), or epsilon=0.5", loss)


def needed_loss(loss: object, epsilon: Number | None, delta: Number | None, *, name: str = "loss") -> Loss:
    """Reads a loss that must be stated; see `stated_loss`."""
    stated = stated_loss(loss, epsilon, delta, name=name)
    if stated is None:
        raise BadArgument(name, f"given: epsilon=0.5, or {name}=sf.Pure(0.5)", None)
    return stated
