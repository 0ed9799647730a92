"""Parameters that stand by themselves: a class token, positions, scales. Each row has its own copy while a batch
passes, so that what comes back is of single rows."""

from __future__ import annotations

from torch import Tensor

from sfumato.train.layers.gradients import Call, Gradients, of_each

FORMS = ("in front", "first is one", "further in front")
"""Ways in which a copy for each row may stand before the dimensions of a parameter, so that it broadcasts."""


def spread(call: Call) -> Gradients:
    """What came back to the copies of a unit's rows is added up."""
    (name,) = call.part.places
    shape = call.part.places[name].parameter.shape
    return of_each(lambda: {name: call.back.reshape(call.units, -1, *shape).sum(dim=1)})


def copies(parameter: Tensor, rows: int, form: str) -> Tensor | None:
    """A parameter as one for each row; nothing where this form is none."""
    if form == "first is one":
        known = parameter.dim() > 0 and parameter.shape[0] == 1
        return parameter.expand(rows, *parameter.shape[1:]) if known else None
    ones = [1] * (0 if form == "in front" else 1)
    return parameter.view(1, *ones, *parameter.shape).expand(rows, *ones, *parameter.shape)
