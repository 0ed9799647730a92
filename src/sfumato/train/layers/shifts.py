"""Convolutions of large pictures without patches: one product of matrices for each place of the kernel.

With inputs padded and written position by position, the input that a place of the kernel sees is the same list of
positions, some steps further on. So a unit's gradient for that place is one product of two views, and no patch is ever
copied. The sum over units is what torch works out for any convolution.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator
from typing import Any, final

import torch
from torch import Tensor

from sfumato.train.layers.gradients import Call, Gradients, Sums, summed
from sfumato.train.layers.products import raised
from sfumato.train.layers.rounding import HALF, norms, product, rounding, scaled_by


def shifts(call: Call, padding: Callable[[], Tensor]) -> Gradients:
    """The gradients of a convolution without groups, from inputs that are padded as it pads them when asked for."""
    made = _Shifts(call, padding)
    return Gradients(made.squared, made.weighted, made.each)


@final
class _Shifts:
    def __init__(self, call: Call, padding: Callable[[], Tensor]) -> None:
        self.layer: Any = call.layer
        self.back, self.units, self.bias, self.padding = call.back, call.units, call.bias, padding
        noted = (call.seen[0].numel() + call.back.numel()) // call.units
        self.kept = 4 * self.layer.weight.numel() <= 5 * noted  # small beside what was noted of it
        self._held: list[Tensor] = []
        self._bias: Tensor | None = None

    def of_bias(self) -> Tensor:
        """What each unit adds to the bias, worked out once."""
        if self._bias is None:
            whole = torch.float32 if self.back.dtype in HALF else self.back.dtype
            sums = self.back.flatten(2).sum(dim=2, dtype=whole)
            self._bias = sums.view(self.units, -1, self.back.shape[1]).sum(dim=1)
        return self._bias

    def squared(self) -> Tensor:
        grid = _Grid(self.padding(), self.back, self.layer, self.units)
        if self.kept:
            self._held = [one.transpose(1, 2) @ other for one, other in grid.pairs()]
            made = torch.stack([norms(part) ** 2 for part in self._held]).sum(dim=0)
        else:
            made = grid.by_pairs() if grid.few else grid.one_by_one()
        return made + norms(self.of_bias()) ** 2 if self.bias else made

    def weighted(self, weights: Tensor) -> Sums:
        if self._held:
            parts = [summed(weights, part) for part in self._held]
            weight = torch.stack(parts, dim=-1).view(self.layer.weight.shape)
        else:
            left, right = self.back, self.padding()
            if left.numel() <= right.numel():
                left = scaled_by(weights, left)
            else:
                right = scaled_by(weights, right)
            weight = weight_gradient(left, right, self.layer)
        return {"weight": weight} | ({"bias": summed(weights, self.of_bias())} if self.bias else {})

    def each(self) -> Sums:
        grid = _Grid(self.padding(), self.back, self.layer, self.units)
        parts = torch.stack([product(one.transpose(1, 2), other) for one, other in grid.pairs()], dim=-1)
        weight = parts.view(self.units, *self.layer.weight.shape)
        return {"weight": weight} | ({"bias": self.of_bias()} if self.bias else {})


def weight_gradient(back: Tensor, padded: Tensor, layer: Any) -> Tensor:
    """The gradient of a convolution's weight over all rows."""
    nothing, many = [0] * len(layer.kernel_size), layer.groups
    weight = layer.weight.to(back.dtype)
    arguments = (layer.stride, nothing, layer.dilation, False, nothing, many, (False, True, False))
    made: Tensor = torch.ops.aten.convolution_backward(back, padded, weight, None, *arguments)[1]
    return made


@final
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

    def reach(self) -> Tensor:
        """The most that all positions could come to if none cancelled: a pixel is in so many patches at most."""
        spread = math.sqrt(math.prod(self.layer.kernel_size))
        return spread * norms(self.padded.reshape(self.units, -1)) * norms(self.back.reshape(self.units, -1))

    def one_by_one(self) -> Tensor:
        """Squared norms, a place of the kernel after another."""
        made = sum(norms(one.transpose(1, 2) @ other) ** 2 for one, other in self.pairs())
        off = rounding(self.back, convolved=True)
        positions = math.prod(self.places) * (len(self.padded) // self.units)
        lost = (4 * off.factor + 2 * positions * off.term) * self.reach()
        return (torch.as_tensor(made).sqrt() * (1 + off.factor) + lost) ** 2

    def by_pairs(self) -> Tensor:
        """Squared norms by all pairs of positions: those of patches are sums of those of pixels."""
        seen, back = self.flat()
        pixels, count = product(seen, seen.transpose(1, 2)), back.shape[1]
        patches = sum(pixels.narrow(1, at, count).narrow(2, at, count) for at in map(self.at, self.offsets()))
        whole = (product(back, back.transpose(1, 2)) * patches).flatten(1).sum(dim=1)
        width = self.padded.shape[1] * math.prod(self.layer.kernel_size) + self.back.shape[1]
        return raised(whole, self.reach(), count, width, self.back, convolved=True)
