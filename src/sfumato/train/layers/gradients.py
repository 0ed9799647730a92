"""What is asked of a layer: the squared norms of the gradients of all units, and sums of them with weights.

A layer saw its inputs, and the gradient of its output came back. For most layers both norms and weighted sums follow
from these two without a gradient of any single unit being written down. The rows of a unit (its own, their
augmentations, the positions of a sequence or a picture) are added up *before* the norm is taken.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias, final

import torch
from torch import Tensor, nn

Sums: TypeAlias = dict[str, Tensor]
"""Tensors by the names of a layer's own parameters."""


@final
@dataclass(frozen=True, eq=False)
class Gradients:
    """The gradients of one call of one layer, for all units of a batch.

    ``squared`` has the squared norm of each unit's, over all parameters of the layer; ``weighted`` gives their sums
    with a weight for each unit; ``each`` gives every unit's own, where that cannot be avoided (shared parameters).
    """

    squared: Callable[[], Tensor]
    weighted: Callable[[Tensor], Sums]
    each: Callable[[], Sums]


@final
@dataclass(frozen=True, eq=False)
class Call:
    """One call of a layer: what it saw, the gradient of its output, and how many units the rows belong to.

    The rows of a unit stand together, and all units have equally many.
    """

    layer: nn.Module
    seen: tuple[Tensor, ...]
    back: Tensor
    units: int


Reading: TypeAlias = Callable[[Call], Gradients]
"""How the gradients of one kind of layer are read off a call."""

READINGS: dict[type[nn.Module], Reading] = {}


def reads(*kinds: type[nn.Module]) -> Callable[[Reading], Reading]:
    """Registers how the gradients of some kinds of layers are read; exactly these, not what derives from them."""

    def register(reading: Reading) -> Reading:
        for kind in kinds:
            READINGS[kind] = reading
        return reading

    return register


def trained(layer: nn.Module) -> list[str]:
    """The names of a layer's own parameters."""
    return [name for name, _ in layer.named_parameters(recurse=False)]


def of_each(gradients: Callable[[], Sums]) -> Gradients:
    """Gradients that are written down for every unit, once: for layers of which they are small."""
    held: list[Sums] = []

    def made() -> Sums:
        if not held:
            held.append(gradients())
        return held[0]

    def squared() -> Tensor:
        return torch.stack([squares(part) for part in made().values()]).sum(dim=0)

    def weighted(weights: Tensor) -> Sums:
        return {name: summed(weights, part) for name, part in made().items()}

    return Gradients(squared, weighted, made)


def squares(part: Tensor) -> Tensor:
    """The sum of squares of each unit's part, at single precision at least."""
    wide = widened(part.flatten(1))
    return torch.linalg.vecdot(wide, wide)


def widened(rows: Tensor) -> Tensor:
    """Numbers at single precision at least."""
    return rows if rows.dtype in (torch.float32, torch.float64) else rows.float()


def summed(weights: Tensor, part: Tensor) -> Tensor:
    """The sum over units, each with its weight."""
    return (weights.to(part.dtype) @ part.flatten(1)).view(part.shape[1:])


def by_unit(rows: Tensor, units: int) -> Tensor:
    """Rows as (units, all positions of a unit, features): the last dimension holds features."""
    return rows.reshape(units, -1, rows.shape[-1])
