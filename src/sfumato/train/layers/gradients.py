"""What is asked of a layer: the squared norms of the gradients of all units, and sums of them with weights.

A layer saw its inputs, and the gradient of its output came back. For most layers both norms and weighted sums follow
from these two without a gradient of any single unit being written down. The rows of a unit (its own, their
augmentations, the positions of a sequence or a picture) are added up *before* the norm is taken.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeAlias, final

import torch
from torch import Tensor, nn

from sfumato.train.layers.rounding import product, rounded_down

Sums: TypeAlias = dict[str, Tensor]
"""Tensors by the names of a layer's own parameters."""


class Use(ABC):
    """How one parameter was used, for all units: enough to add up several uses of it before any norm is taken."""

    @abstractmethod
    def each(self) -> Tensor:
        """The gradient of every unit, written down: (units, shape of the parameter)."""


@final
@dataclass(frozen=True, eq=False)
class Dense(Use):
    """Gradients that are written down for every unit."""

    part: Tensor

    def each(self) -> Tensor:
        return self.part


@final
@dataclass(frozen=True, eq=False)
class Gradients:
    """The gradients of one call of one layer, for all units of a batch.

    ``squared`` has the squared norm of each unit's, over all parameters of the layer; ``weighted`` gives their sums
    with a weight for each unit; ``each`` gives every unit's own; ``uses`` tells how each parameter was used, for those
    that are shared or whose layer is frozen in part: where it is left out, gradients are written down for it.
    """

    squared: Callable[[], Tensor]
    weighted: Callable[[Tensor], Sums]
    each: Callable[[], Sums]
    uses: Callable[[], dict[str, Use]] | None = None

    def by_parameter(self) -> dict[str, Use]:
        """How each parameter was used."""
        return {name: Dense(part) for name, part in self.each().items()} if self.uses is None else self.uses()


@final
@dataclass(frozen=True)
class Place:
    """Where a gradient belongs: a parameter, or ``rows`` of its rows from the ``first`` on."""

    parameter: nn.Parameter
    first: int = 0
    rows: int | None = None


@final
@dataclass(frozen=True, eq=False)
class Part:
    """What is read off a call, and the places of what is read."""

    reading: Reading
    places: dict[str, Place]
    left_out: frozenset[nn.Parameter] = frozenset()
    """Parameters that are read off another call."""


@final
@dataclass(frozen=True, eq=False)
class Call:
    """One call of a layer: what it saw, the gradients of its outputs, and how many units the rows belong to.

    Rows come first everywhere. Those of a unit stand together, and all units have equally many.
    """

    layer: nn.Module
    part: Part
    seen: tuple[Tensor, ...]
    backs: tuple[Tensor, ...]
    units: int

    @property
    def back(self) -> Tensor:
        """The gradient of the only output."""
        return self.backs[0]

    @property
    def bias(self) -> bool:
        """Tells whether there is a bias."""
        return "bias" in self.part.places


Reading: TypeAlias = Callable[[Call], Gradients]
"""How the gradients of one kind of layer are read off a call."""

READINGS: dict[type[nn.Module], Reading] = {}

SHORT: set[Reading] = set()
"""Readings of products, which an accelerator multiplies at half precision and adds up at single precision."""

EARLY: set[Reading] = set()
"""Readings that give few numbers for each unit: they are read when a gradient comes back, and nothing else is noted."""


def reads(*kinds: type[nn.Module], short: bool = False, early: bool = False) -> Callable[[Reading], Reading]:
    """Registers how the gradients of some kinds of layers are read; exactly these, not what derives from them."""

    def register(reading: Reading) -> Reading:
        for kind in kinds:
            READINGS[kind] = reading
        SHORT.update([reading] if short else [])
        EARLY.update([reading] if early else [])
        return reading

    return register


Sight: TypeAlias = Callable[..., tuple[Tensor, ...]]
"""What is noted of the arguments of a call: called with the layer and its arguments."""

SIGHTS: dict[type[nn.Module], Sight] = {}


def sees(kind: type[nn.Module]) -> Callable[[Sight], Sight]:
    """Registers what is noted of the arguments of a kind of layer, where that is not all of them as they are."""

    def register(sight: Sight) -> Sight:
        SIGHTS[kind] = sight
        return sight

    return register


Tap: TypeAlias = Callable[..., Tensor]
"""``tap(output, part, *seen, late)`` hands a tensor on and notes what comes back; ``late`` is filled in afterwards."""

Forward: TypeAlias = Callable[..., Any]
"""What a layer computes, built of products that are tapped: called with the layer, a `Tap` and its arguments."""

FORWARDS: dict[type[nn.Module], Forward] = {}


def runs(*kinds: type[nn.Module]) -> Callable[[Forward], Forward]:
    """Registers how some kinds of layers run while a batch passes: those whose products are hidden in one function."""

    def register(forward: Forward) -> Forward:
        for kind in kinds:
            FORWARDS[kind] = forward
        return forward

    return register


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


def written_down(call: Call) -> Gradients:
    """Gradients of units that were read before: what was seen is what they are."""
    return of_each(lambda: dict(zip(call.part.places, call.seen, strict=True)))


def together(*parts: Gradients) -> Gradients:
    """Gradients of several sets of parameters of one layer as one."""
    return Gradients(
        lambda: torch.stack([part.squared() for part in parts]).sum(dim=0),
        lambda weights: {name: each for part in parts for name, each in part.weighted(weights).items()},
        lambda: {name: each for part in parts for name, each in part.each().items()},
        lambda: {name: use for part in parts for name, use in part.by_parameter().items()},
    )


def squares(part: Tensor) -> Tensor:
    """The sum of squares of each unit's part, at single precision at least."""
    wide = widened(_lines(part))
    return torch.linalg.vecdot(wide, wide)


def widened(rows: Tensor) -> Tensor:
    """Numbers at single precision at least."""
    return rows if rows.dtype in (torch.float32, torch.float64) else rows.float()


def summed(weights: Tensor, part: Tensor) -> Tensor:
    """The sum over units, each with its weight."""
    return product(rounded_down(weights, part.dtype)[None], _lines(part)).view(part.shape[1:])


def by_unit(rows: Tensor, units: int) -> Tensor:
    """Rows as (units, all positions of a unit, features): the last dimension holds features."""
    return rows.reshape(units, -1, rows.shape[-1])


def _lines(part: Tensor) -> Tensor:
    """Each unit's part as one line: a parameter may be a single number."""
    return part.flatten(1) if part.dim() > 1 else part[:, None]
