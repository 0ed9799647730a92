"""Gradients that are products: of a matrix of inputs and one of gradients, position by position. Linear layers,
convolutions and bilinear ones all come down to it."""

from __future__ import annotations

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
    positions, wide, out = inputs.shape[-2], inputs.shape[-1], back.shape[-1]
    units, groups = inputs.shape[0], inputs.shape[1] if inputs.dim() == 4 else 1
    single, kept = positions == 1 and groups == 1, units * groups * wide * out <= KEPT
    kept = kept or 4 * wide * out <= 5 * positions * (wide + out)
    ghost = not kept and positions * (wide + out) < wide * out
    held: list[Tensor] = []
    sums_of_back: list[Tensor] = []

    turned = wide > out  # the product that is quicker has in and out in this order

    def made() -> Tensor:
        if held:
            return held[0]
        return inputs.transpose(-2, -1) @ back if turned else back.transpose(-2, -1) @ inputs

    def as_weight(rows: Tensor) -> Tensor:
        straight = rows.transpose(-2, -1) if turned else rows
        return straight if shape is None else straight.reshape(*rows.shape[: rows.dim() - 2 - (groups > 1)], *shape)

    def of_bias() -> Tensor:
        """What each unit adds to the bias: worked out once, so that its norm is that of what is added up."""
        if not sums_of_back:
            whole = torch.float32 if back.dtype in HALF else back.dtype
            sums_of_back.append(back.sum(dim=-2, dtype=whole).flatten(1) if positions > 1 else back.flatten(1))
        return sums_of_back[0]

    def squared() -> Tensor:
        if single:
            one, other = norms(inputs) ** 2, norms(back) ** 2
            whole = one * other if not _short(back) else ((one * other).sqrt() * (1 + 2 * rounding(back).factor)) ** 2
            return whole + other if bias else whole
        if kept:
            held.append(made())
            whole = norms(held[0]) ** 2
        elif ghost:
            whole = _by_pairs(inputs, back)
        else:
            whole = _made_again(made(), inputs, back)
        return whole + norms(of_bias()) ** 2 if bias else whole

    def weighted(weights: Tensor) -> Sums:
        if held:
            weight = as_weight(summed(weights, held[0]))
        else:
            left, right = (scaled_by(weights, back), inputs) if out <= wide else (back, scaled_by(weights, inputs))
            if groups == 1:
                weight = product(left.reshape(-1, out).T, right.reshape(-1, wide))
            else:
                weight = torch.einsum("uglo,ugli->goi", left, right)
            weight = weight if shape is None else weight.reshape(shape)
        sums = {"weight": weight}
        return sums | ({"bias": summed(weights, of_bias())} if bias else {})

    def each() -> Sums:
        parts = {"weight": as_weight(made())}
        return parts | ({"bias": of_bias()} if bias else {})

    return Gradients(squared, weighted, each)


def _short(rows: Tensor) -> bool:
    return rounding(rows).factor > SURE


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
