"""Layers that normalise each row by itself, and then scale and shift it."""

from __future__ import annotations

from collections.abc import Callable

import torch.nn.functional as F  # noqa: N812  # torch's own name
from torch import Tensor, nn

from sfumato.train.layers.convolution import over_places
from sfumato.train.layers.gradients import Call, Gradients, Sums, of_each, reads


@reads(nn.LayerNorm, nn.RMSNorm)
def layer_norm(call: Call) -> Gradients:
    """Scale and shift of the last dimensions."""
    layer: nn.LayerNorm = call.layer
    inputs, shape = call.seen[0], tuple(layer.normalized_shape)
    normal = F.rms_norm if isinstance(layer, nn.RMSNorm) else F.layer_norm
    scaled = normal(inputs, list(shape), eps=layer.eps)
    return of_each(lambda: _scale_and_shift(call, scaled, lambda rows: rows.reshape(call.units, -1, *shape).sum(dim=1)))


@reads(nn.GroupNorm, nn.InstanceNorm1d, nn.InstanceNorm2d, nn.InstanceNorm3d)
def channel_norm(call: Call) -> Gradients:
    """Scale and shift of channels."""
    layer: nn.GroupNorm = call.layer
    inputs = call.seen[0]
    groups = layer.num_groups if isinstance(layer, nn.GroupNorm) else inputs.shape[1]
    scaled = F.group_norm(inputs, groups, eps=layer.eps)
    return of_each(lambda: _scale_and_shift(call, scaled, lambda rows: over_places(rows, call.units)))


def _scale_and_shift(call: Call, scaled: Tensor, over_rows: Callable[[Tensor], Tensor]) -> Sums:
    added: Sums = {}
    for name in ("weight", "bias"):
        if getattr(call.layer, name, None) is not None:
            made = call.back * scaled.to(call.back.dtype) if name == "weight" else call.back
            added[name] = over_rows(made)
    return added
