"""Gradients that are products: of a matrix of inputs and one of gradients, position by position. Linear layers,
convolutions and bilinear ones all come down to it."""

from __future__ import annotations

from typing import final

import torch
from torch import Tensor

from sfumato.train.layers.gradients import Gradients, Sums, summed
from sfumato.train.layers.rounding import HALF, norms, product, rounding, scaled_by

KEPT = 1 << 22
"""Gradients of single units are kept between norm and sum where all of them have no more entries than this."""

SURE = 2.0**-20
"""Relative errors below it are covered by what clipping takes off its bound."""


def products(inputs: Tensor, back: Tensor, *, bias: bool, shape: tuple[int, ...] | None = None) -> Gradients:
    """The gradients of y = W·x + b at many positions: for each unit the sum over positions of (gradient of y)·xᵀ.

    ``inputs`` are (units, positions, in), ``back`` (units, positions, out), or both with groups after the units. Three
    ways to the norms, the cheapest by the shapes: one position has the product of two norms; few positions compare all
    pairs of them (ghost norms); else each unit's gradient is made, and kept if it is small, by itself or beside what
    was noted of it.
    """
    made = _Products(inputs, back, bias, shape)
    return Gradients(made.squared, made.weighted, made.each)


@final
class _Products:
    def __init__(self, inputs: Tensor, back: Tensor, bias: bool, shape: tuple[int, ...] | None) -> None:  # noqa: FBT001
        self.inputs, self.back, self.bias, self.shape = inputs, back, bias, shape
        self.positions, self.wide, self.out = inputs.shape[-2], inputs.shape[-1], back.shape[-1]
        self.grouped = inputs.dim() == 4
        self.turned = self.wide > self.out  # the product that is quicker has in and out in this order
        self._held: Tensor | None = None
        self._bias: Tensor | None = None

    @property
    def kept(self) -> bool:
        """Tells whether gradients are small enough to be kept between norm and sum."""
        entries, noted = self.wide * self.out, self.positions * (self.wide + self.out)
        units = len(self.inputs) * (self.inputs.shape[1] if self.grouped else 1)
        return bool(units * entries <= KEPT or 4 * entries <= 5 * noted)

    def made(self) -> Tensor:
        """The gradients of all units, with in and out as they come."""
        if self._held is not None:
            return self._held
        inputs, back = self.inputs, self.back
        return inputs.transpose(-2, -1) @ back if self.turned else back.transpose(-2, -1) @ inputs

    def as_weight(self, rows: Tensor) -> Tensor:
        """Gradients that were made in the shape of the weight, those of several units each."""
        straight = rows.transpose(-2, -1) if self.turned else rows
        before = rows.shape[: rows.dim() - 2 - self.grouped]
        return straight if self.shape is None else straight.reshape(*before, *self.shape)

    def of_bias(self) -> Tensor:
        """What each unit adds to the bias: worked out once, so that its norm is that of what is added up."""
        if self._bias is None:
            whole = torch.float32 if self.back.dtype in HALF else self.back.dtype
            sums = self.back.sum(dim=-2, dtype=whole) if self.positions > 1 else self.back
            self._bias = sums.flatten(1)
        return self._bias

    def squared(self) -> Tensor:
        if self.positions == 1 and not self.grouped:
            one, other = norms(self.inputs) ** 2, norms(self.back) ** 2
            off = 2 * rounding(self.back).factor
            whole = one * other * (1 + off) ** 2 if off > SURE else one * other
            return whole + other if self.bias else whole
        if self.kept:
            self._held = self.made()
            whole = norms(self._held) ** 2
        elif self.positions * (self.wide + self.out) < self.wide * self.out:
            whole = _by_pairs(self.inputs, self.back)
        else:
            whole = _made_again(self.made(), self.inputs, self.back)
        return whole + norms(self.of_bias()) ** 2 if self.bias else whole

    def weighted(self, weights: Tensor) -> Sums:
        if self._held is not None:
            weight = self.as_weight(summed(weights, self._held))
        else:
            left, right = self.back, self.inputs
            if self.turned or self.wide == self.out:
                left = scaled_by(weights, left)
            else:
                right = scaled_by(weights, right)
            if self.grouped:
                weight = torch.einsum("uglo,ugli->goi", left, right)
            else:
                weight = product(left.reshape(-1, self.out).T, right.reshape(-1, self.wide))
            weight = weight if self.shape is None else weight.reshape(self.shape)
        return {"weight": weight} | ({"bias": summed(weights, self.of_bias())} if self.bias else {})

    def each(self) -> Sums:
        return {"weight": self.as_weight(self.made())} | ({"bias": self.of_bias()} if self.bias else {})


def _by_pairs(inputs: Tensor, back: Tensor) -> Tensor:
    """Squared norms by all pairs of positions, and as much more as floats may be off where large parts cancel."""
    (positions, wide), out = inputs.shape[-2:], back.shape[-1]
    pairs = [product(rows, rows.transpose(-2, -1)) for rows in (inputs, back)]
    whole = (pairs[0] * pairs[1]).flatten(1).sum(dim=1)
    return raised(whole, norms(inputs) * norms(back), positions, wide + out, back)


def raised(
    whole: Tensor, reach: Tensor, positions: int, width: int, back: Tensor, *, convolved: bool = False
) -> Tensor:
    """Squared norms from pairs of positions, raised by what rounding may have taken, then and in the sum later."""
    off = rounding(back, convolved=convolved)
    exact = 0.0 if back.dtype in HALF else 4 * off.factor
    norm = (whole + (exact + (positions + width) * off.term) * reach**2).clamp(min=0.0).sqrt()
    return (norm + (2 * off.factor + positions * off.term) * reach) ** 2


def _made_again(made: Tensor, inputs: Tensor, back: Tensor) -> Tensor:
    """Squared norms of gradients that are worked out once more for the sum, where rounding may be another."""
    off = rounding(back)
    lost = (4 * off.factor + 2 * inputs.shape[-2] * off.term) * norms(inputs) * norms(back)
    return (norms(made) * (1 + off.factor) + lost) ** 2
