"""Convolutions of large pictures without patches: one product of matrices for each place of the kernel.

With inputs padded and written position by position, the input that a place of the kernel sees is the same list of
positions, some steps further on. So a unit's gradient for that place is one product of two views, and no patch is ever
copied. The sum over units is what torch works out for any convolution.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator
from typing import Any

import torch
from torch import Tensor

from sfumato.train.layers.gradients import Call, Gradients, Sums, summed
from sfumato.train.layers.products import raised
from sfumato.train.layers.rounding import HALF, norms, product, rounding, scaled_by


def shifts(call: Call, padding: Callable[[], Tensor]) -> Gradients:
    """The gradients of a convolution without groups, from inputs that are padded as it pads them when asked for."""
    layer: Any = call.layer
    back, units = call.back, call.units
    seen = call.seen[0].to(back.dtype)
    entries, beside = layer.weight.numel(), (seen[0].numel() + back[0].numel()) * len(seen) // units
    held: list[Tensor] = []
    whole = torch.float32 if back.dtype in HALF else back.dtype
    bias = call.bias
    of_bias: list[Tensor] = []

    def bias_of_units() -> Tensor:
        if not of_bias:
            sums = back.flatten(2).sum(dim=2, dtype=whole)
            of_bias.append(sums.view(units, -1, back.shape[1]).sum(dim=1))
        return of_bias[0]

    def squared() -> Tensor:
        padded = padding()
        spread = math.sqrt(math.prod(layer.kernel_size))  # a pixel is in so many patches at most
        reach = spread * norms(padded.reshape(units, -1)) * norms(back.reshape(units, -1))
        grid = _Grid(padded, back, layer, units)
        if 4 * entries <= 5 * beside:  # small beside what was noted of it: kept, so that no norm is raised
            held.extend(one.transpose(1, 2) @ other for one, other in grid.pairs())
            made = torch.stack([norms(part) ** 2 for part in held]).sum(dim=0)
        else:
            made = grid.by_pairs(reach) if grid.few else grid.one_by_one(reach)
        return made + norms(bias_of_units()) ** 2 if bias else made

    def weighted(weights: Tensor) -> Sums:
        if held:
            weight = torch.stack([summed(weights, part) for part in held], dim=-1).view(layer.weight.shape)
            return {"weight": weight} | ({"bias": summed(weights, bias_of_units())} if bias else {})
        left, right = back, padding()
        if left.numel() <= right.numel():
            left = scaled_by(weights, left)
        else:
            right = scaled_by(weights, right)
        sums = {"weight": weight_gradient(left, right, layer)}
        return sums | ({"bias": summed(weights, bias_of_units())} if bias else {})

    def each() -> Sums:
        grid = _Grid(padding(), back, layer, units)
        parts = torch.stack([product(one.transpose(1, 2), other) for one, other in grid.pairs()], dim=-1)
        sums: Sums = {"weight": parts.view(units, *layer.weight.shape)}
        return sums | ({"bias": bias_of_units()} if bias else {})

    return Gradients(squared, weighted, each)


def weight_gradient(back: Tensor, padded: Tensor, layer: Any) -> Tensor:
    """The gradient of a convolution's weight over all rows."""
    nothing, many = [0] * len(layer.kernel_size), layer.groups
    weight = layer.weight.to(back.dtype)
    arguments = (layer.stride, nothing, layer.dilation, False, nothing, many, (False, True, False))
    made: Tensor = torch.ops.aten.convolution_backward(back, padded, weight, None, *arguments)[1]
    return made


class _Grid:
    """Inputs and gradients, position by position of the padded picture: (units, positions, channels)."""

    def __init__(self, padded: Tensor, back: Tensor, layer: Any, units: int) -> None:
        self.layer, self.units = layer, units
        self.padded, self.back = padded, back
        self.sides, self.places = padded.shape[2:], back.shape[2:]
        self.many = math.prod(self.sides)
        self.alone = all(step == 1 for step in layer.stride) and len(padded) == units

    @property
    def few(self) -> bool:
        """Tells whether to compare all pairs of positions is less work."""
        return self.alone and self.many**2 < self.padded.shape[1] * self.back.shape[1]

    def offsets(self) -> Iterator[tuple[int, ...]]:
        """The places of the kernel, in pixels."""
        reaches = zip(self.layer.kernel_size, self.layer.dilation, strict=True)
        yield from itertools.product(*(range(0, size * step, step) for size, step in reaches))

    def pairs(self) -> Iterator[tuple[Tensor, Tensor]]:
        """For each place of the kernel: what came back, and what was seen there; (units, positions, channels) both."""
        if not self.alone:
            yield from self._copied()
            return
        seen, back = self.flat()
        for offset in self.offsets():
            yield back, seen.narrow(1, self.at(offset), back.shape[1])

    def flat(self) -> tuple[Tensor, Tensor]:
        """All positions of the padded picture in one row, and what came back at its own, zeros between."""
        seen = self.padded.flatten(2).transpose(1, 2).contiguous()
        spread = self.back.new_zeros(self.units, *self.places[:1], *self.sides[1:], self.back.shape[1])
        inside = tuple(slice(place) for place in self.places)
        spread[(slice(None), *inside)] = self.back.movedim(1, -1)
        last = self.at(tuple(place - 1 for place in self.places)) + 1
        return seen, spread.flatten(1, -2)[:, :last]

    def at(self, offset: tuple[int, ...]) -> int:
        """The place of a pixel in one row."""
        made = 0
        for side, place in zip(self.sides, offset, strict=True):
            made = made * side + place
        return made

    def _copied(self) -> Iterator[tuple[Tensor, Tensor]]:
        back = self.back.flatten(2).transpose(1, 2).reshape(self.units, -1, self.back.shape[1])
        for offset in self.offsets():
            part = self.padded
            for place, (begin, step, many) in enumerate(zip(offset, self.layer.stride, self.places, strict=True)):
                part = part.narrow(2 + place, begin, (many - 1) * step + 1)
                part = part[(slice(None),) * (2 + place) + (slice(None, None, step),)]
            yield back, part.flatten(2).transpose(1, 2).reshape(self.units, -1, self.padded.shape[1])

    def one_by_one(self, reach: Tensor) -> Tensor:
        """Squared norms, a place of the kernel after another."""
        made = sum(norms(one.transpose(1, 2) @ other) ** 2 for one, other in self.pairs())
        off = rounding(self.back, convolved=True)
        positions = math.prod(self.places) * (len(self.padded) // self.units)
        lost = (4 * off.factor + 2 * positions * off.term) * reach
        return (torch.as_tensor(made).sqrt() * (1 + off.factor) + lost) ** 2

    def by_pairs(self, reach: Tensor) -> Tensor:
        """Squared norms by all pairs of positions: those of patches are sums of those of pixels."""
        seen, back = self.flat()
        pixels, count = product(seen, seen.transpose(1, 2)), back.shape[1]
        patches = sum(pixels.narrow(1, at, count).narrow(2, at, count) for at in map(self.at, self.offsets()))
        whole = (product(back, back.transpose(1, 2)) * patches).flatten(1).sum(dim=1)
        width = self.padded.shape[1] * math.prod(self.layer.kernel_size) + self.back.shape[1]
        return raised(whole, reach, count, width, self.back, convolved=True)
