"""Activations with parameters."""

from __future__ import annotations

from torch import nn

from sfumato.train.layers.gradients import Call, Gradients, Sums, of_each, reads


@reads(nn.PReLU)
def prelu(call: Call) -> Gradients:
    """The slope of negative numbers: one for all, or one for each channel."""

    def slopes() -> Sums:
        inputs = call.seen[0]
        sloped = (call.back * inputs.clamp(max=0).to(call.back.dtype)).view(
            len(inputs), inputs.shape[1] if inputs.dim() > 1 else 1, -1
        )
        of_channels = sloped.sum(dim=2).view(call.units, -1, sloped.shape[1]).sum(dim=1)
        single = call.layer.num_parameters == 1
        return {"weight": of_channels.sum(dim=1, keepdim=True) if single else of_channels}

    return of_each(slopes)
