"""Linear layers."""

from __future__ import annotations

from torch import nn

from sfumato.train.layers.gradients import Call, Gradients, by_unit, reads
from sfumato.train.layers.products import products


@reads(nn.Linear)
def linear(call: Call) -> Gradients:
    """The layer y = W·x + b, at every row and position."""
    inputs, back = by_unit(call.seen[0].to(call.back.dtype), call.units), by_unit(call.back, call.units)
    return products(inputs, back, bias=call.layer.bias is not None)
