"""Convolutions in one to three dimensions, grouped, dilated, padded; and transposed ones."""

from __future__ import annotations

from typing import TypeAlias

import torch.nn.functional as F  # noqa: N812  # torch's own name
from torch import Tensor, nn

from sfumato.train.layers.gradients import Call, Gradients, of_each, reads, together, widened
from sfumato.train.layers.products import KEPT
from sfumato.train.layers.shifts import shifts
from sfumato.train.layers.uses import of_product

Convolution: TypeAlias = (
    nn.Conv1d | nn.Conv2d | nn.Conv3d | nn.ConvTranspose1d | nn.ConvTranspose2d | nn.ConvTranspose3d
)


@reads(nn.Conv1d, nn.Conv2d, nn.Conv3d, short=True)
def convolution(call: Call) -> Gradients:
    """A linear layer on patches: every place of the output saw one. Of large ones no patches are made."""
    layer: Convolution = call.layer
    inputs = call.seen[0].to(call.back.dtype)

    def padded() -> Tensor:
        return F.pad(inputs, layer._reversed_padding_repeated_twice, mode=_mode(layer))

    if layer.groups == 1 and call.units * layer.weight.numel() > KEPT:
        return shifts(call, padded)
    seen = grouped(patches(padded(), layer, call.back), layer.groups, call.units)
    back = grouped(call.back.flatten(2), layer.groups, call.units)
    return of_product(seen, back, bias=call.bias, shape=tuple(layer.weight.shape))


@reads(nn.ConvTranspose1d, nn.ConvTranspose2d, nn.ConvTranspose3d)
def transposed_convolution(call: Call) -> Gradients:
    """A convolution run backwards: inputs and gradients change places."""
    layer: Convolution = call.layer
    inputs = call.seen[0].to(call.back.dtype)
    ends = [end for size in reversed(layer.padding) for end in (size, size)]
    seen = grouped(patches(F.pad(call.back, ends), layer, inputs), layer.groups, call.units)
    told = grouped(inputs.flatten(2), layer.groups, call.units)
    made = of_product(seen, told, bias=False, shape=tuple(layer.weight.shape))
    return together(made, of_each(lambda: {"bias": over_places(call.back, call.units)})) if call.bias else made


def over_places(back: Tensor, units: int) -> Tensor:
    """The sum for each channel over all places and rows of a unit."""
    return widened(back).flatten(2).sum(dim=2).reshape(units, -1, back.shape[1]).sum(dim=1)


def patches(padded: Tensor, layer: Convolution, places: Tensor) -> Tensor:
    """What each place of an output saw: (rows, channels · kernel, places)."""
    dimensions = len(layer.kernel_size)
    view = padded
    for place in range(dimensions):
        reach = layer.dilation[place] * (layer.kernel_size[place] - 1) + 1
        view = view.unfold(2 + place, reach, layer.stride[place])[..., :: layer.dilation[place]]
        view = view.narrow(2 + place, 0, places.shape[2 + place])
    rows, channels = view.shape[:2]
    order = (0, 1, *range(2 + dimensions, 2 + 2 * dimensions), *range(2, 2 + dimensions))
    return view.permute(order).reshape(rows, channels * _size(layer), -1)


def grouped(rows: Tensor, groups: int, units: int) -> Tensor:
    """(rows, features, places) as (units[, groups], positions of a unit, features of a group)."""
    count, features, places = rows.shape
    if groups == 1:
        return rows.transpose(1, 2).reshape(units, -1, features)
    parts = rows.view(units, count // units, groups, features // groups, places)
    return parts.permute(0, 2, 1, 4, 3).reshape(units, groups, -1, features // groups)


def _size(layer: Convolution) -> int:
    made = 1
    for size in layer.kernel_size:
        made *= size
    return made


def _mode(layer: Convolution) -> str:
    return "constant" if layer.padding_mode == "zeros" else layer.padding_mode
