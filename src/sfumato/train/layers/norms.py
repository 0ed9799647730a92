"""Layers that normalise each row by itself, and then scale and shift it."""

from __future__ import annotations

from collections.abc import Callable

import torch
import torch.nn.functional as F  # noqa: N812  # torch's own name
from torch import Tensor, nn

from sfumato.train.layers.gradients import Call, Gradients, Sums, of_each, reads


@reads(nn.LayerNorm, nn.RMSNorm, early=True)
def layer_norm(call: Call) -> Gradients:
    """Scale and shift of the last dimensions."""
    layer: nn.LayerNorm = call.layer
    inputs, shape = call.seen[0], tuple(layer.normalized_shape)
    normal = F.rms_norm if isinstance(layer, nn.RMSNorm) else F.layer_norm
    scaled = normal(inputs, list(shape), eps=layer.eps)
    return of_each(lambda: _scale_and_shift(call, scaled, lambda rows: rows.reshape(call.units, -1, *shape).sum(dim=1)))


@reads(nn.GroupNorm, nn.InstanceNorm1d, nn.InstanceNorm2d, nn.InstanceNorm3d, early=True)
def channel_norm(call: Call) -> Gradients:
    """Scale and shift of channels."""
    layer: nn.GroupNorm = call.layer
    inputs, back = (rows.view(*rows.shape[:2], -1) for rows in (call.seen[0].contiguous(), call.back.contiguous()))
    groups = layer.num_groups if isinstance(layer, nn.GroupNorm) else inputs.shape[1]
    whole = torch.float64 if back.dtype == torch.float64 else torch.float32

    def of_units(rows: Tensor) -> Tensor:
        return rows.view(call.units, -1, rows.shape[1]).sum(dim=1)

    def gradients() -> Sums:
        spread, middle = torch.var_mean(inputs.to(whole).view(len(inputs), groups, -1), dim=2, correction=0)
        many = inputs.shape[1] // groups
        scale, middle = ((each.repeat_interleave(many, dim=1)) for each in ((spread + layer.eps).rsqrt(), middle))
        shifts = back.sum(dim=2, dtype=whole)
        scales = ((inputs * back).sum(dim=2, dtype=whole) - middle * shifts) * scale
        made = {"weight": scales, "bias": shifts}
        return {name: of_units(made[name]) for name in made if getattr(layer, name, None) is not None}

    return of_each(gradients)


def _scale_and_shift(call: Call, scaled: Tensor, over_rows: Callable[[Tensor], Tensor]) -> Sums:
    added: Sums = {}
    for name in ("weight", "bias"):
        if getattr(call.layer, name, None) is not None:
            made = call.back * scaled.to(call.back.dtype) if name == "weight" else call.back
            added[name] = over_rows(made)
    return added
