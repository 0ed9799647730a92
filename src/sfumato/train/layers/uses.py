"""Several uses of one parameter: their gradients are added up for each unit before any norm is taken, and neither a
layer that is called many times nor a table that is both looked up and multiplied by is written down for every unit."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import final

import torch
from torch import Tensor

from sfumato.guarantee import guarantee
from sfumato.train.layers.gradients import Dense, Gradients, Use, squares, summed, widened
from sfumato.train.layers.products import products
from sfumato.train.layers.rounding import HALF, norms, product, rounding, scaled_by

AT_ONCE = 2048
"""Of texts up to this length all pairs of words are compared on an accelerator."""


@final
@dataclass(frozen=True, eq=False)
class Product(Use):
    """A matrix that was multiplied by: inputs are (units, positions, in), what came back (units, positions, out)."""

    inputs: Tensor
    back: Tensor
    shape: tuple[int, ...]

    def each(self) -> Tensor:
        made = product(self.back.transpose(-2, -1), self.inputs)
        return made.reshape(len(made), *self.shape)


@final
@dataclass(frozen=True, eq=False)
class Lookup(Use):
    """A table of ``size`` rows that was looked up: words are (units, positions), what came back has features too."""

    words: Tensor
    back: Tensor
    size: int

    def each(self) -> Tensor:
        units, owner = len(self.words), self._owner()
        table = self.back.new_zeros(units * self.size, self.back.shape[-1])
        table.index_add_(0, (owner * self.size + self.words).flatten(), self.back.flatten(0, 1))
        return table.view(units, self.size, -1)

    def squared(self) -> Tensor:
        """Squared norms: of a unit, equal words come together first."""
        if self.back.is_cuda and self.words.shape[1] <= AT_ONCE:
            return self._by_pairs()
        wide, units = widened(self.back), len(self.words)
        pairs, place = torch.unique(self._owner() * self.size + self.words, return_inverse=True)
        sums = wide.new_zeros(len(pairs), wide.shape[-1]).index_add_(0, place.flatten(), wide.flatten(0, 1))
        norms = sums.new_zeros(units).index_add_(0, pairs // self.size, squares(sums)).sqrt()
        off = self.words.shape[1] * torch.finfo(wide.dtype).eps  # words are added up in another order later
        return (norms + off * self.reach()) ** 2

    def _by_pairs(self) -> Tensor:
        """The same by all pairs of equal words, where sorting them would make an accelerator wait."""
        wide = widened(self.back)
        equal = self.words[:, :, None] == self.words[:, None, :]
        sizes = wide.norm(dim=-1)
        reach = (sizes[:, :, None] * sizes[:, None, :] * equal).sum(dim=(1, 2))
        whole = ((wide @ wide.transpose(1, 2)) * equal).sum(dim=(1, 2))
        off = rounding(wide)
        return whole + (4 * off.factor + 4 * sum(wide.shape[1:]) * off.term) * reach

    def weighted(self, weights: Tensor) -> Tensor:
        """The sum over units with weights."""
        scaled = scaled_by(weights, self.back)
        table = self.back.new_zeros(self.size, self.back.shape[-1])
        return table.index_add_(0, self.words.flatten(), scaled.flatten(0, 1))

    def reach(self) -> Tensor:
        """The most that all positions of a unit could come to if none cancelled."""
        return widened(self.back).norm(dim=-1).sum(dim=-1)

    def _owner(self) -> Tensor:
        return torch.arange(len(self.words), device=self.words.device)[:, None]


def of_product(
    inputs: Tensor,
    back: Tensor,
    *,
    bias: bool,
    shape: tuple[int, ...] | None = None,
    names: tuple[str, str] = ("weight", "bias"),
) -> Gradients:
    """The gradients of y = W·x + b at many positions, under the names of both; see `products`."""
    made = products(inputs, back, bias=bias, shape=shape)
    called = dict(zip(("weight", "bias"), names, strict=True))

    def uses() -> dict[str, Use]:
        grouped = inputs.dim() == 4
        whole = (back.shape[-1], inputs.shape[-1]) if shape is None else shape
        weight: Use = Dense(made.each()["weight"]) if grouped else Product(inputs, back, whole)
        return {names[0]: weight} | ({names[1]: Dense(_whole(back).flatten(1))} if bias else {})

    return Gradients(
        made.squared,
        lambda weights: {called[name]: each for name, each in made.weighted(weights).items()},
        lambda: {called[name]: each for name, each in made.each().items()},
        uses,
    )


@final
class Combined:
    """The gradients of one parameter, which several calls used, added up for each unit."""

    def __init__(self, uses: Sequence[Use]) -> None:
        multiplied = [use for use in uses if isinstance(use, Product)]
        lookups = [use for use in uses if isinstance(use, Lookup)]
        alike = len({use.shape for use in multiplied}) <= 1 and (
            not lookups or all(len(u.shape) == 2 for u in multiplied)
        )
        written = len(multiplied) + len(lookups) < len(uses) or not alike
        self._dense = sum(use.each() for use in uses) if written else None
        self._product = _side_by_side(multiplied) if multiplied and not written else None
        self._lookup = _looked_up(lookups) if lookups and not written else None
        made = self._product
        self._made = None if made is None else products(made.inputs, made.back, bias=False, shape=made.shape)

    def squared(self) -> Tensor:
        """The squared norm of each unit's sum."""
        if isinstance(self._dense, Tensor):
            return squares(self._dense)
        parts = [part.squared() for part in (self._made, self._lookup) if part is not None]
        if self._product is not None and self._lookup is not None:
            parts.append(2 * crossed(self._product, self._lookup))
            parts.append(_unsure(self._product, self._lookup))
        return torch.stack(parts).sum(dim=0)

    def weighted(self, weights: Tensor) -> Tensor:
        """The sum over units, each with its weight."""
        if isinstance(self._dense, Tensor):
            return summed(weights, self._dense)
        sums = [] if self._made is None else [self._made.weighted(weights)["weight"]]
        sums += [] if self._lookup is None else [self._lookup.weighted(weights)]
        return sums[0] if len(sums) == 1 else sums[0] + sums[1]


@guarantee(
    claim="the inner product of each unit's gradients by a product and by a lookup",
    proof="proofs/training.md#tied",
    reviewed="83d9c925e613",
)
def crossed(used: Product, lookup: Lookup) -> Tensor:
    """Inner products of the gradients of a table that is multiplied by and looked up: only looked-up rows meet."""
    inputs, back, looked = (widened(each) for each in (used.inputs, used.back, lookup.back))
    places = lookup.words[:, None, :].expand(-1, back.shape[1], -1)
    return ((inputs @ looked.transpose(1, 2)) * back.gather(2, places)).sum(dim=(1, 2))


def _unsure(used: Product, lookup: Lookup) -> Tensor:
    """What rounding may have taken where both cancel: a part of what they would come to if nothing did."""
    off, many = rounding(used.back), used.inputs.shape[1] + lookup.words.shape[1]
    reach = norms(used.inputs) * norms(used.back) + lookup.reach()
    return (8 * off.factor + (4 * many + used.inputs.shape[2]) * off.term) * reach**2


def _whole(back: Tensor) -> Tensor:
    return back.sum(dim=-2, dtype=torch.float32 if back.dtype in HALF else back.dtype)


def _side_by_side(uses: Sequence[Product]) -> Product:
    """Calls of one layer as one call at more positions."""
    inputs, back = (torch.cat(parts, dim=1) for parts in zip(*((use.inputs, use.back) for use in uses), strict=True))
    return Product(inputs, back, uses[0].shape)


def _looked_up(uses: Sequence[Lookup]) -> Lookup:
    words, back = (torch.cat(parts, dim=1) for parts in zip(*((use.words, use.back) for use in uses), strict=True))
    return Lookup(words, back, uses[0].size)
