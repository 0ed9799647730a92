"""Random small networks of layers of all kinds, some used twice, checkpointed or frozen, against one unit at a time."""

from __future__ import annotations

from collections.abc import Callable

import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.examples.unit_gradients import apart, noted, one_by_one
from tests.profiles import examples
from torch import Tensor, nn
from torch.utils.checkpoint import checkpoint

from sfumato.train.trial import layout_of

WIDE, LONG = 4, 3


class Between(nn.Module):
    """A layer, with its inputs and outputs turned as it needs them: rows, times and features come in and go out."""

    def __init__(self, layer: nn.Module, before: Callable[[Tensor], object], after: Callable[[object], Tensor]) -> None:
        super().__init__()
        self.layer, self.before, self.after = layer, before, after

    def forward(self, rows: Tensor) -> Tensor:
        given = self.before(rows)
        return self.after(self.layer(*given) if isinstance(given, tuple) else self.layer(given))


class Scaled(nn.Module):
    """A number for each feature, and one for each time."""

    def __init__(self) -> None:
        super().__init__()
        self.scale, self.shift = nn.Parameter(torch.randn(WIDE)), nn.Parameter(torch.randn(1, LONG, 1))

    def forward(self, rows: Tensor) -> Tensor:
        return rows * self.scale + self.shift


class Cells(nn.Module):
    """A cell in a loop of its own."""

    def __init__(self) -> None:
        super().__init__()
        self.cell = nn.GRUCell(WIDE, WIDE)

    def forward(self, rows: Tensor) -> Tensor:
        states = [rows[:, 0]]
        for time in range(LONG):
            states.append(self.cell(rows[:, time], states[-1]))
        return torch.stack(states[1:], dim=1)


def turned(rows: Tensor) -> Tensor:
    return rows.transpose(0, 1)


def channels(rows: object) -> Tensor:
    assert isinstance(rows, Tensor)
    return rows.transpose(1, 2)


def first(made: object) -> Tensor:
    assert isinstance(made, tuple)
    return made[0]  # type: ignore[no-any-return]


def same(rows: Tensor) -> Tensor:
    return rows


BLOCKS: dict[str, Callable[[], nn.Module]] = {
    "linear": lambda: nn.Linear(WIDE, WIDE),
    "linear, times first": lambda: Between(nn.Linear(WIDE, WIDE, bias=False), turned, turned),  # type: ignore[arg-type]
    "convolution": lambda: Between(nn.Conv1d(WIDE, WIDE, 3, padding=1, groups=2), channels, channels),
    "transposed": lambda: Between(nn.ConvTranspose1d(WIDE, WIDE, 3, padding=1), channels, channels),
    "layer norm": lambda: nn.LayerNorm(WIDE),
    "root mean squares": lambda: nn.RMSNorm(WIDE),
    "group norm": lambda: Between(nn.GroupNorm(2, WIDE), channels, channels),
    "slopes": lambda: nn.PReLU(LONG),
    "bilinear": lambda: Between(nn.Bilinear(WIDE, WIDE, WIDE), lambda rows: (rows, rows.tanh()), lambda made: made),  # type: ignore[arg-type, return-value]
    "LSTM": lambda: Between(nn.LSTM(WIDE, WIDE // 2, bidirectional=True, batch_first=True), same, first),
    "GRU, times first": lambda: Between(nn.GRU(WIDE, WIDE), turned, lambda made: turned(first(made))),
    "cells": Cells,
    "attention": lambda: Between(
        nn.MultiheadAttention(WIDE, 2, batch_first=True, add_bias_kv=True), lambda rows: (rows, rows, rows), first
    ),
    "cross-attention": lambda: Between(
        nn.MultiheadAttention(WIDE, 2, batch_first=True), lambda rows: (rows, rows.tanh(), rows.tanh()), first
    ),
    "transformer": lambda: nn.TransformerEncoderLayer(WIDE, 2, 5, dropout=0.0, batch_first=True),
    "scaled": Scaled,
}


class Network(nn.Module):
    """Words, blocks in some order (the same number is the same block), and a last product, tied or not."""

    def __init__(self, kinds: list[str], order: list[tuple[int, bool]], *, tied: bool) -> None:
        super().__init__()
        self.words, self.out = nn.Embedding(6, WIDE), nn.Linear(WIDE, 6)
        self.blocks, self.order = nn.ModuleList([BLOCKS[kind]() for kind in kinds]), order
        if tied:
            self.out.weight = self.words.weight

    def forward(self, rows: Tensor) -> Tensor:
        made = self.words(rows)
        for place, again in self.order:
            block = self.blocks[place % len(self.blocks)]
            made = torch.tanh(made + (checkpoint(block, made, use_reentrant=False) if again else block(made)))
        return self.out(made)  # type: ignore[no-any-return]


@settings(max_examples=examples(60))
@given(
    kinds=st.lists(st.sampled_from(sorted(BLOCKS)), min_size=1, max_size=3),
    order=st.lists(st.tuples(st.integers(0, 2), st.booleans()), min_size=1, max_size=4),
    tied=st.booleans(),
    frozen=st.integers(0, 12),
    rows_of_a_unit=st.integers(1, 2),
    seed=st.integers(0, 1_000),
)
def test_networks_of_all_layers_are_read_as_units_one_by_one(
    kinds: list[str], order: list[tuple[int, bool]], tied: bool, frozen: int, rows_of_a_unit: int, seed: int
) -> None:
    torch.manual_seed(seed)
    model = Network(kinds, order, tied=tied).double()
    for place, each in enumerate(list(model.parameters())[1:]):
        each.requires_grad_(place != frozen)
    rows = torch.randint(0, 6, (2 * rows_of_a_unit, LONG))
    layout = layout_of(model, (rows,))
    assert not layout.whole
    assert apart(noted(model, (rows,), 2, layout=layout), one_by_one(model, (rows,), 2)) == []
