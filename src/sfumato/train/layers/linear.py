"""Linear layers, and bilinear ones."""

from __future__ import annotations

from torch import nn

from sfumato.train.layers.gradients import Call, Gradients, by_unit, reads
from sfumato.train.layers.uses import of_product


@reads(nn.Linear, short=True)
def linear(call: Call) -> Gradients:
    """The layer y = W·x + b, at every row and position."""
    return of_product(by_unit(call.seen[0], call.units), by_unit(call.back, call.units), bias=call.bias)


@reads(nn.Bilinear)
def bilinear(call: Call) -> Gradients:
    """The layer y = x·W·z + b: a linear one of all products of two inputs."""
    one, other = (by_unit(each, call.units) for each in call.seen)
    pairs = (one[..., :, None] * other[..., None, :]).flatten(-2)
    shape = tuple(call.part.places["weight"].parameter.shape)
    return of_product(pairs, by_unit(call.back, call.units), bias=call.bias, shape=shape)
