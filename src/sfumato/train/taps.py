"""Taps: what layers saw, and what came back to them, noted during one forward and one backward pass.

Parameters ask for no gradients while a batch passes: those of single units are read off the notes (book-keeping, Bu et
al. 2023, arXiv 2210.00038), so that there is no second backward pass and no gradient that is thrown away.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, final

import torch
from torch import Tensor, nn

from sfumato.errors import BadArgument
from sfumato.train.layers import convolution, embedding, linear, norms  # noqa: F401  # they register themselves
from sfumato.train.layers.any_layer import any_layer
from sfumato.train.layers.gradients import READINGS, Call, Gradients
from sfumato.train.layers.rounding import HALF


class _Tap(torch.autograd.Function):  # type: ignore[misc]
    """Hands a layer's output on as it is, and notes the gradient that comes back."""

    @staticmethod
    def forward(ctx: Any, output: Tensor, alive: Tensor, notes: Notes, layer: nn.Module, *seen: Tensor) -> Tensor:
        ctx.notes, ctx.layer = notes, layer
        ctx.save_for_backward(*seen)
        if type(layer) not in READINGS:
            return output.clone()  # it may have kept its own output for its own gradients
        ctx.mark_dirty(output)
        return output

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> Any:
        (back,), seen = gradients, ctx.saved_tensors  # asked for once: layers that were checkpointed run again for it
        ctx.notes.add(ctx.layer, seen, back)
        return (back, None, None, None, *[None] * len(seen))


@final
class Notes:
    """Notes of the layers of a model, from which the gradients of all units are read."""

    def __init__(self, model: nn.Module) -> None:
        self.layers = layers_with_parameters(model)
        self.parameters = {each: name for name, each in model.named_parameters() if each.requires_grad}
        self._calls: list[tuple[nn.Module, tuple[Tensor, ...], Tensor]] = []
        self._taking = False
        self._alive = torch.zeros((), requires_grad=True)
        for layer in self.layers:
            layer.register_forward_hook(self._seen)

    def begin(self) -> None:
        """Before a batch passes: parameters ask for no gradients, and layers are listened to."""
        self._calls.clear()
        self._taking = True
        for each in self.parameters:
            each.requires_grad_(False)

    def end(self) -> None:
        """After it: everything is as it was."""
        self._taking = False
        for each in self.parameters:
            each.requires_grad_(True)

    def _seen(self, layer: nn.Module, inputs: tuple[Any, ...], output: Any) -> Any:
        if not (self._taking and torch.is_grad_enabled()):
            return None
        if not (isinstance(output, Tensor) and all(isinstance(each, Tensor) for each in inputs)):
            must = "layers that take and give tensors, the rows first"
            raise BadArgument("a model to train", must, type(layer).__name__)
        return _Tap.apply(output, self._alive, self, layer, *(_as_seen(each, output) for each in inputs))

    def add(self, layer: nn.Module, seen: tuple[Tensor, ...], back: Tensor) -> None:
        """Notes one call of a layer, when its gradient has come back."""
        self._calls.append((layer, seen, back))

    def gradients(self, units: int) -> UnitGradients:
        """What the notes say of every unit; the notes are used up."""
        calls = [Call(layer, seen, back, units) for layer, seen, back in self._calls]
        self._calls = []
        return UnitGradients(self.parameters, calls, units)


def _as_seen(rows: Tensor, output: Tensor) -> Tensor:
    """What a layer saw, at the precision that it worked with where torch chose that (autocast)."""
    short = output.dtype in HALF and rows.dtype == torch.float32
    return rows.detach().to(output.dtype) if short else rows.detach()


def layers_with_parameters(model: nn.Module) -> list[nn.Module]:
    """The layers that are listened to: those with a reading of their own, and the outermost of all others that have
    parameters of their own, with all that is in them."""
    found: list[nn.Module] = []

    def look(layer: nn.Module) -> None:
        if not any(each.requires_grad for each in layer.parameters()):
            return
        if type(layer) in READINGS or any(each.requires_grad for each in layer.parameters(recurse=False)):
            found.append(layer)
            return
        for inner in layer.children():
            look(inner)

    look(model)
    return list(dict.fromkeys(found))


@final
class UnitGradients:
    """The gradients of all units of a batch: their norms, and their sum with a weight for each unit."""

    def __init__(self, parameters: dict[nn.Parameter, str], calls: Sequence[Call], units: int) -> None:
        self.units, self._names, self._calls = units, parameters, calls
        read = [(call, READINGS.get(type(call.layer), any_layer)(call)) for call in calls]
        uses: dict[Tensor, int] = {}
        for call in calls:
            for each in call.layer.parameters():
                uses[each] = uses.get(each, 0) + 1
        self._alone = [one for one in read if all(uses[each] == 1 for each in one[0].layer.parameters())]
        shared = [one for one in read if one not in self._alone]
        self._shared = _added_up(shared, parameters)

    def squared_norms(self) -> dict[str, Tensor]:
        """The squared norms of every unit, by layers: each is named by the first of its parameters."""
        parts: dict[str, Tensor] = {}
        for call, gradients in self._alone:
            trained = [self._names[each] for each in call.layer.parameters() if each in self._names]
            parts[trained[0]] = _only_trained(call, gradients, self._names)
        for parameter, each in self._shared.items():
            parts[self._names[parameter]] = torch.linalg.vecdot(each.flatten(1).float(), each.flatten(1).float())
        return parts

    def without(self, dropped: Tensor) -> UnitGradients:
        """The same with zeros in the place of some units: 0 times what is no number would be no number."""
        return UnitGradients(self._names, [_emptied(call, dropped) for call in self._calls], self.units)

    def weighted(self, weights: dict[str, Tensor]) -> dict[nn.Parameter, Tensor]:
        """The sum over all units, by parameters; the weights are by the names of `squared_norms`."""
        sums: dict[nn.Parameter, Tensor] = {}
        for call, gradients in self._alone:
            named = {name: each for name, each in call.layer.named_parameters() if each in self._names}
            first = self._names[next(iter(named.values()))]
            made = gradients.weighted(weights[first])
            sums |= {each: made[name] for name, each in named.items()}
        for parameter, each in self._shared.items():
            chosen = weights[self._names[parameter]].to(each.dtype)
            sums[parameter] = (chosen @ each.flatten(1)).view(parameter.shape)
        return sums


def _emptied(call: Call, dropped: Tensor) -> Call:
    def empty(part: Tensor) -> Tensor:
        if not part.is_floating_point():
            return part
        rows = dropped.repeat_interleave(len(part) // call.units)
        return part.masked_fill(rows.view(-1, *[1] * (part.dim() - 1)), 0.0)

    return replace(call, seen=tuple(empty(part) for part in call.seen), back=empty(call.back))


def _only_trained(call: Call, gradients: Gradients, names: dict[nn.Parameter, str]) -> Tensor:
    """Squared norms over the parameters that are trained: of a layer with frozen ones, from each unit's gradient."""
    held = dict(call.layer.named_parameters())
    if all(each in names for each in held.values()):
        return gradients.squared()
    parts = [part for name, part in gradients.each().items() if held[name] in names]
    return torch.stack([torch.linalg.vecdot(part.flatten(1), part.flatten(1)) for part in parts]).sum(dim=0)


def _added_up(read: Sequence[tuple[Call, Gradients]], names: dict[nn.Parameter, str]) -> dict[nn.Parameter, Tensor]:
    """The gradients of parameters that several calls share: those of one unit are added up before any norm."""
    sums: dict[nn.Parameter, Tensor] = {}
    for call, gradients in read:
        made = gradients.each()
        for name, parameter in call.layer.named_parameters():
            if parameter in names:
                sums[parameter] = sums[parameter] + made[name] if parameter in sums else made[name]
    return sums
