"""Gradients that are products: of a matrix of inputs and one of gradients, position by position. Linear layers,
convolutions and bilinear ones all come down to it."""

from __future__ import annotations

import torch
from torch import Tensor

from sfumato.train.layers.gradients import Gradients, Sums, squares, summed

KEPT = 1 << 22
"""Gradients of single units are kept between norm and sum where all of them have no more entries than this."""


def products(inputs: Tensor, back: Tensor, *, bias: bool, shape: tuple[int, ...] | None = None) -> Gradients:
    """The gradients of y = W·x + b at many positions: for each unit the sum over positions of (gradient of y)·xᵀ.

    ``inputs`` are (units, positions, in), ``back`` (units, positions, out), or both with groups after the units. Three
    ways to the norms, of which the cheapest by the shapes is taken: one position has the product of two norms; few
    positions compare all pairs of them (ghost norms); else each unit's gradient is made, and kept if it is small.
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
            norms = (_pairs(inputs) * _pairs(back)).sum(dim=(-2, -1))
        else:
            norms = squares(made())
            if not small:
                held.clear()
        norms = norms if norms.dim() == 1 else norms.sum(dim=1)
        return norms + squares(back.sum(dim=-2)) if bias else norms

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


def _pairs(rows: Tensor) -> Tensor:
    """The products of all pairs of positions, at single precision at least."""
    made = rows @ rows.transpose(-2, -1)
    return made if made.dtype in (torch.float32, torch.float64) else made.float()


def _per_group(rows: Tensor) -> Tensor:
    """Squared norms of (units[, groups], 1, features)."""
    wide = rows if rows.dtype in (torch.float32, torch.float64) else rows.float()
    return torch.linalg.vecdot(wide, wide).squeeze(-1)
