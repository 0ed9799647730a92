"""Any other layer: the gradient of each unit by transforming the layer's own function (`torch.func`)."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, final

import torch
from torch import Tensor
from torch.func import functional_call, vjp, vmap
from torch.utils._pytree import tree_flatten, tree_unflatten

from sfumato.train.layers.gradients import Call, Gradients, Sums, of_each


@final
@dataclass(frozen=True, eq=False)
class Arguments:
    """The arguments of a call, nested as they were: tensors of rows are noted, the others are the same for all rows."""

    leaves: tuple[Any, ...]
    rows: tuple[int, ...]
    """Which of the leaves have rows."""
    form: Any

    @staticmethod
    def of(given: tuple[Any, ...], named: dict[str, Any], has_rows: Callable[[int, Tensor], bool]) -> Arguments:
        """Arguments as they were given, by which tensors have rows."""
        leaves, form = tree_flatten((given, named))
        rows = tuple(place for place, each in enumerate(leaves) if isinstance(each, Tensor) and has_rows(place, each))
        return Arguments(tuple(leaves), rows, form)

    def seen(self) -> tuple[Tensor, ...]:
        """The tensors that have rows."""
        return tuple(self.leaves[place] for place in self.rows)

    def filled(self, seen: Sequence[Tensor]) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """The arguments with other rows."""
        leaves = list(self.leaves)
        for place, each in zip(self.rows, seen, strict=True):
            leaves[place] = each
        made: tuple[tuple[Any, ...], dict[str, Any]] = tree_unflatten(leaves, self.form)
        return made


def tapped_outputs(output: Any) -> tuple[list[Any], list[int], Any]:
    """The leaves of an output, which of them have gradients, and how they are nested."""
    leaves, form = tree_flatten(output)
    return leaves, [place for place, each in enumerate(leaves) if isinstance(each, Tensor) and _real(each)], form


def _real(each: Tensor) -> bool:
    return bool(each.is_floating_point() or each.is_complex())


def any_layer(call: Call, arguments: Arguments) -> Gradients:
    """Runs a layer once more, unit by unit at once, and writes down the gradient of each.

    The layer may hold other layers and parameters, which stay as they are.
    """
    held = {name: each.detach() for name, each in call.layer.named_parameters()}
    trained = {name: held.pop(name) for name in call.part.places}
    buffers = dict(call.layer.named_buffers())
    empty = Arguments(
        tuple(None if place in arguments.rows else each for place, each in enumerate(arguments.leaves)),
        arguments.rows,
        arguments.form,
    )

    def of_unit(seen: tuple[Tensor, ...], backs: tuple[Tensor, ...]) -> Sums:
        given, named = empty.filled(seen)

        def run(parameters: Sums) -> tuple[Tensor, ...]:
            output = functional_call(call.layer, ({**held, **parameters}, buffers), given, named)
            leaves, places, _ = tapped_outputs(output)
            return tuple(leaves[place] for place in places)

        _, pull = vjp(run, trained)
        made: Sums = pull(tuple(back.to(each.dtype) for back, each in zip(backs, run(trained), strict=True)))[0]
        return made

    def gradients() -> Sums:
        seen, backs = (
            tuple(part.reshape(call.units, -1, *part.shape[1:]) for part in parts) for parts in (call.seen, call.backs)
        )
        with torch.enable_grad(), warnings.catch_warnings():
            warnings.filterwarnings("ignore", "There is a performance drop")
            return vmap(of_unit)(seen, backs)  # type: ignore[no-any-return]

    return of_each(gradients)
