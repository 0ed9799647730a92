"""Gradients that are products: of a matrix of inputs and one of gradients, position by position. Linear layers,
convolutions and bilinear ones all come down to it."""

from __future__ import annotations

import torch
from torch import Tensor

from sfumato.train.layers.gradients import Gradients, Sums, squares, summed, widened

KEPT = 1 << 22
"""Gradients of single units are kept between norm and sum where all of them have no more entries than this."""


def products(inputs: Tensor, back: Tensor, *, bias: bool, shape: tuple[int, ...] | None = None) -> Gradients:
    """The gradients of y = W·x + b at many positions: for each unit the sum over positions of (gradient of y)·xᵀ.

    ``inputs`` are (units, positions, in), ``back`` (units, positions, out), or both with groups after the units. Three
    ways to the norms, the cheapest by the shapes: one position has the product of two norms; few positions compare all
    pairs of them (ghost norms); else each unit's gradient is made, and kept if it is small.
    """
    positions, wide, out = inputs.shape[-2], inputs.shape[-1], back.shape[-1]
    units, groups = inputs.shape[0], inputs.shape[1] if inputs.dim() == 4 else 1
    single, small = positions == 1, units * groups * wide * out <= KEPT
    ghost = not single and positions * positions * (wide + out) < positions * wide * out
    held: list[Tensor] = []

    def made() -> Tensor:
        if not held:
            held.append(back.transpose(-2, -1) @ inputs)
        return held[0]

    def squared() -> Tensor:
        if single:
            norms = _per_group(inputs) * _per_group(back)
        elif ghost:
            norms = _ghost(inputs, back)
        else:
            norms = squares(made()) if small else _made_again(made(), inputs, back)
            del held[: 0 if small else 1]
        norms = norms if norms.dim() == 1 else norms.sum(dim=1)
        return norms + _of_bias(back) if bias else norms

    def weighted(weights: Tensor) -> Sums:
        scaled = back * weights.to(back.dtype).view(-1, *[1] * (back.dim() - 1))
        if held:
            weight = summed(weights, held[0])
        elif groups == 1:
            weight = scaled.reshape(-1, out).T @ inputs.reshape(-1, wide)
        else:
            weight = torch.einsum("uglo,ugli->goi", scaled, inputs)
        sums = {"weight": weight if shape is None else weight.reshape(shape)}
        return sums | ({"bias": scaled.sum(dim=(0, -2)).flatten()} if bias else {})

    def each() -> Sums:
        parts = {"weight": made() if shape is None else made().reshape(units, *shape)}
        return parts | ({"bias": back.sum(dim=-2).flatten(1)} if bias else {})

    return Gradients(squared, weighted, each)


def _ghost(inputs: Tensor, back: Tensor) -> Tensor:
    """Squared norms by all pairs of positions, and as much more as floats may be off where large parts cancel."""
    (positions, wide), out = inputs.shape[-2:], back.shape[-1]
    pairs = [rows @ rows.transpose(-2, -1) for rows in (widened(inputs), widened(back))]
    off = (positions + wide + out) * _unsure(back)
    return (pairs[0] * pairs[1]).sum(dim=(-2, -1)) + off * _reach(inputs, back) ** 2


def _made_again(made: Tensor, inputs: Tensor, back: Tensor) -> Tensor:
    """Squared norms of gradients that are worked out once more for the sum, where rounding may be another."""
    off = inputs.shape[-2] * _unsure(back) * _reach(inputs, back).view(len(made), -1).sum(dim=1)
    return (squares(made).sqrt() + off) ** 2


def _of_bias(back: Tensor) -> Tensor:
    """Squared norms of sums over positions, which are added up once more for the sum."""
    parts = widened(back).norm(dim=-1).flatten(1).sum(dim=1)
    return (squares(back.sum(dim=-2)).sqrt() + back.shape[-2] * _unsure(back) * parts) ** 2


def _reach(inputs: Tensor, back: Tensor) -> Tensor:
    """The most that the parts of all positions could come to if none cancelled: what rounding is relative to."""
    return (widened(inputs).norm(dim=-1) * widened(back).norm(dim=-1)).sum(dim=-1)


def _unsure(rows: Tensor) -> float:
    return float(torch.finfo(widened(rows[:0]).dtype).eps)


def _per_group(rows: Tensor) -> Tensor:
    """Squared norms of (units[, groups], 1, features)."""
    wide = widened(rows)
    return torch.linalg.vecdot(wide, wide).squeeze(-1)
