"""Recurrent layers and cells: they run as a loop over time, of which the products are tapped."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, TypeAlias

import torch
import torch.nn.functional as F  # noqa: N812  # torch's own name
from torch import Tensor, nn

from sfumato.errors import BadArgument
from sfumato.train.layers.gradients import Call, Gradients, Part, Place, Tap, by_unit, runs, together
from sfumato.train.layers.uses import of_product

State: TypeAlias = tuple[Tensor, ...]
"""What goes from one time to the next: the hidden state first."""

Step: TypeAlias = Callable[[Tensor, Tensor, State], tuple[State, Tensor | None]]
"""One time: what comes of the inputs, of the hidden state, and the state before; a `gru` tells its gate as well."""


@runs(nn.RNN, nn.LSTM, nn.GRU)
def recurrent(layer: nn.RNNBase, tap: Tap, input: Tensor, hx: Any = None) -> Any:
    """All layers and directions of a recurrent network."""
    if not isinstance(input, Tensor) or input.dim() != 3:
        must = (
            "given tensors of rows, times and features: fill sequences up, and let the loss leave out what was filled"
        )
        raise BadArgument(f"nn.{type(layer).__name__}", must, "packed sequences, or one row without a batch")
    if layer.proj_size:
        raise BadArgument(
            f"nn.{type(layer).__name__}", "one with proj_size=0, and a nn.Linear after it", layer.proj_size
        )
    rows = input if layer.batch_first else input.transpose(0, 1)
    sides = 2 if layer.bidirectional else 1
    states = _states(layer, rows, hx)
    ends: list[State] = []
    for depth in range(layer.num_layers):
        made = []
        for side in range(sides):
            own = f"_l{depth}{'_reverse' if side else ''}"
            start = tuple(each[depth * sides + side] for each in states)
            outputs, end = _over_time(layer, tap, rows.flip(1) if side else rows, start, own)
            made.append(outputs.flip(1) if side else outputs)
            ends.append(end)
        rows = torch.cat(made, dim=2)
        if layer.dropout and depth < layer.num_layers - 1:
            rows = F.dropout(rows, layer.dropout, layer.training)
    last = tuple(torch.stack(parts) for parts in zip(*ends, strict=True))
    return rows if layer.batch_first else rows.transpose(0, 1), last if isinstance(layer, nn.LSTM) else last[0]


@runs(nn.RNNCell, nn.LSTMCell, nn.GRUCell)
def cell(layer: nn.RNNCellBase, tap: Tap, input: Tensor, hx: Any = None) -> Any:
    """One time of a recurrent network, of which the caller has the loop."""
    if input.dim() != 2:
        raise BadArgument(f"nn.{type(layer).__name__}", "given rows and features", tuple(input.shape))
    given = hx if isinstance(hx, tuple) or hx is None else (hx,)
    start = given or (input.new_zeros(len(input), layer.hidden_size),) * (2 if isinstance(layer, nn.LSTMCell) else 1)
    _, end = _over_time(layer, tap, input[:, None], start, "")
    return end if isinstance(layer, nn.LSTMCell) else end[0]


def _states(layer: nn.RNNBase, rows: Tensor, hx: Any) -> State:
    if hx is not None:
        return hx if isinstance(hx, tuple) else (hx,)
    many = layer.num_layers * (2 if layer.bidirectional else 1)
    start = rows.new_zeros(many, len(rows), layer.hidden_size, dtype=layer.weight_ih_l0.dtype)
    return (start, start) if isinstance(layer, nn.LSTM) else (start,)


def _over_time(layer: Any, tap: Tap, rows: Tensor, state: State, own: str) -> tuple[Tensor, State]:
    """One layer in one direction: what came of the inputs is tapped, and hidden states are noted as they come."""
    names = [f"{kind}{own}" for kind in ("weight_ih", "weight_hh", "bias_ih", "bias_hh")]
    weight, hidden, *biases = (getattr(layer, name) for name in names if getattr(layer, name, None) is not None)
    places = {name: Place(getattr(layer, name)) for name in names if getattr(layer, name, None) is not None}
    late: list[Tensor] = []
    read = partial(gates, names=tuple(names), bias=bool(biases))
    told = tap(F.linear(rows, weight, *biases[:1]), Part(read, places), rows, late=late)
    step, before, outputs, resets = _step(layer), [], [], []
    for now in told.unbind(1):
        before.append(state[0].detach())
        state, reset = step(now, F.linear(state[0], hidden, *biases[1:]), state)
        outputs.append(state[0])
        resets += [] if reset is None else [reset.detach()]
    late += [torch.stack(each, dim=1) for each in (before, resets) if each]
    return torch.stack(outputs, dim=1) if outputs else rows.new_zeros(len(rows), 0, layer.hidden_size), state


def gates(call: Call, names: tuple[str, ...], *, bias: bool) -> Gradients:
    """Two products with the same gradient: of the inputs, and of the hidden states before.

    Of a `gru` the hidden part of the last gate is multiplied by the reset gate first, and so is what comes back.
    """
    inputs, hidden, *resets = call.seen
    back = call.back
    if resets:
        size = hidden.shape[-1]
        scaled = torch.cat([back[..., : 2 * size], back[..., 2 * size :] * resets[0].to(back.dtype)], dim=-1)
    else:
        scaled = back
    pairs = [(inputs, back, (names[0], names[2])), (hidden, scaled, (names[1], names[3]))]
    return together(
        *(
            of_product(by_unit(seen, call.units), by_unit(came, call.units), bias=bias, names=called)
            for seen, came, called in pairs
        )
    )


def _step(layer: nn.Module) -> Step:
    if isinstance(layer, nn.LSTM | nn.LSTMCell):
        return _lstm
    if isinstance(layer, nn.GRU | nn.GRUCell):
        return _gru
    return partial(_plain, torch.tanh if layer.nonlinearity == "tanh" else torch.relu)


def _plain(bend: Callable[[Tensor], Tensor], told: Tensor, kept: Tensor, state: State) -> tuple[State, None]:
    return (bend(told + kept),), None


def _lstm(told: Tensor, kept: Tensor, state: State) -> tuple[State, None]:
    enter, forget, new, out = (told + kept).chunk(4, dim=1)
    memory = torch.sigmoid(forget) * state[1] + torch.sigmoid(enter) * torch.tanh(new)
    return (torch.sigmoid(out) * torch.tanh(memory), memory), None


def _gru(told: Tensor, kept: Tensor, state: State) -> tuple[State, Tensor]:
    size = state[0].shape[1]
    reset, keep = torch.sigmoid(told[:, : 2 * size] + kept[:, : 2 * size]).chunk(2, dim=1)
    new = torch.tanh(told[:, 2 * size :] + reset * kept[:, 2 * size :])
    return (new + keep * (state[0] - new),), reset
