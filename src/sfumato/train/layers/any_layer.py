"""Any other layer: the gradient of each unit by transforming the layer's own function (`torch.func`)."""

from __future__ import annotations

import torch
from torch import Tensor
from torch.func import functional_call, vjp, vmap

from sfumato.train.layers.gradients import Call, Gradients, Sums, of_each


def any_layer(call: Call) -> Gradients:
    """Runs the layer once more, unit by unit at once, and writes down the gradient of each.

    It takes a layer whose inputs and output are tensors with the rows first. Its parameters are its own and those of
    all layers in it.
    """
    parameters = {name: each.detach() for name, each in call.layer.named_parameters()}
    buffers = dict(call.layer.named_buffers())

    def of_unit(seen: tuple[Tensor, ...], back: Tensor) -> Sums:
        def run(held: Sums) -> Tensor:
            made: Tensor = functional_call(call.layer, (held, buffers), seen)
            return made

        _, pull = vjp(run, parameters)
        gradients: Sums = pull(back)[0]
        return gradients

    def gradients() -> Sums:
        split = [part.reshape(call.units, -1, *part.shape[1:]) for part in (*call.seen, call.back)]
        with torch.enable_grad():
            return vmap(of_unit)(tuple(split[:-1]), split[-1])  # type: ignore[no-any-return]

    return of_each(gradients)
