"""Gradients of units, without writing them down, against plain gradients of one unit at a time."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
from tests.examples.unit_gradients import apart, noted, one_by_one, squares
from torch import Tensor, nn

from sfumato.train.layers.gradients import READINGS
from sfumato.train.taps import Notes


class Twice(nn.Module):
    """A layer that is used twice, and one that shares its weights."""

    def __init__(self) -> None:
        super().__init__()
        self.words, self.inner, self.out = nn.Embedding(9, 6), nn.Linear(6, 6), nn.Linear(6, 9, bias=False)
        self.out.weight = self.words.weight

    def forward(self, rows: Tensor) -> Tensor:
        once = torch.tanh(self.inner(self.words(rows)))
        return self.out(torch.tanh(self.inner(once)))  # type: ignore[no-any-return]


class Pairs(nn.Module):
    """A layer with two inputs."""

    def __init__(self) -> None:
        super().__init__()
        self.bags, self.inner = nn.EmbeddingBag(9, 4), nn.Bilinear(4, 4, 3)

    def forward(self, rows: Tensor) -> Tensor:
        made = self.bags(rows)
        return self.inner(made, input2=made.tanh())  # type: ignore[no-any-return]


class Loose(nn.Module):
    """A parameter that belongs to no layer, beside layers that do."""

    def __init__(self) -> None:
        super().__init__()
        self.inner, self.scale = nn.Linear(6, 4), nn.Parameter(torch.randn(4))

    def forward(self, rows: Tensor) -> Tensor:
        return self.inner(rows) * self.scale  # type: ignore[no-any-return]


def frozen() -> nn.Module:
    model = nn.Sequential(nn.Linear(6, 7), nn.ReLU(), nn.Linear(7, 3))
    model[0].bias.requires_grad_(False)
    model[2].weight.requires_grad_(False)
    return model


def pictures(rows: int = 4) -> Tensor:
    return torch.randn(rows, 4, 9, 9)


def words(rows: int = 6) -> Tensor:
    return torch.randint(0, 9, (rows, 5))


MODELS: dict[str, tuple[Callable[[], nn.Module], Callable[[], Tensor]]] = {
    "linear": (
        lambda: nn.Sequential(nn.Linear(6, 7), nn.ReLU(inplace=True), nn.Linear(7, 3)),
        lambda: torch.randn(6, 6),
    ),
    "few positions": (
        lambda: nn.Sequential(nn.Linear(40, 50), nn.Tanh(), nn.Linear(50, 3)),
        lambda: torch.randn(6, 3, 40),
    ),
    "many positions": (lambda: nn.Linear(2, 3, bias=False), lambda: torch.randn(6, 20, 2)),
    "convolution": (lambda: nn.Conv2d(4, 6, 3, stride=2, padding=1), pictures),
    "grouped, dilated": (lambda: nn.Conv2d(4, 6, 3, dilation=2, groups=2), pictures),
    "same, circular": (lambda: nn.Conv2d(4, 6, 3, padding="same", padding_mode="circular"), pictures),
    "odd strides": (lambda: nn.Conv1d(4, 6, 4, stride=3), lambda: torch.randn(4, 4, 15)),
    "three dimensions": (lambda: nn.Conv3d(2, 4, 2), lambda: torch.randn(4, 2, 4, 5, 4)),
    "transposed": (lambda: nn.ConvTranspose2d(4, 6, 3, stride=2, padding=1, groups=2, output_padding=1), pictures),
    "transposed, 1": (lambda: nn.ConvTranspose1d(4, 6, 3, bias=False), lambda: torch.randn(4, 4, 7)),
    "transposed, 3": (lambda: nn.ConvTranspose3d(2, 3, 2), lambda: torch.randn(4, 2, 3, 3, 3)),
    "embedding": (lambda: nn.Sequential(nn.Embedding(9, 6, padding_idx=2), nn.Linear(6, 3)), words),
    "layer norm": (
        lambda: nn.Sequential(nn.LayerNorm(6), nn.Linear(6, 3), nn.RMSNorm(3)),
        lambda: torch.randn(6, 4, 6),
    ),
    "group norm": (lambda: nn.Sequential(nn.GroupNorm(2, 4), nn.Conv2d(4, 2, 3)), pictures),
    "instance norm, 2": (lambda: nn.InstanceNorm2d(4, affine=True), pictures),
    "instance norm, 1": (lambda: nn.InstanceNorm1d(4, affine=True), lambda: torch.randn(4, 4, 7)),
    "instance norm, 3": (lambda: nn.InstanceNorm3d(4, affine=True), lambda: torch.randn(4, 4, 3, 3, 3)),
    "another layer": (lambda: nn.Sequential(nn.PReLU(), nn.Linear(6, 3)), lambda: torch.randn(6, 6)),
    "a parameter of its own": (Loose, lambda: torch.randn(6, 6)),
    "two inputs": (Pairs, words),
    "shared": (Twice, words),
    "frozen": (frozen, lambda: torch.randn(6, 6)),
}


@pytest.mark.parametrize("rows_of_a_unit", [1, 2])
@pytest.mark.parametrize("name", MODELS)
def test_norms_and_sums_are_those_of_units_one_by_one(name: str, rows_of_a_unit: int) -> None:
    torch.manual_seed(0)
    build, draw = MODELS[name]
    model, rows = build().double(), draw()
    rows = rows.double() if rows.is_floating_point() else rows
    units = len(rows) // rows_of_a_unit
    assert apart(noted(model, (rows,), units), one_by_one(model, (rows,), units)) == []


def test_every_registered_layer_is_tried() -> None:
    tried: set[Any] = {type(layer) for build, _ in MODELS.values() for layer in build().modules()}
    assert set(READINGS) <= tried


def test_parameters_ask_for_gradients_again_after_a_batch_and_keep_none() -> None:
    model = nn.Sequential(nn.Linear(6, 7), nn.Linear(7, 3))
    notes = Notes(model)
    notes.begin()
    assert not any(each.requires_grad for each in model.parameters())
    squares(model(torch.randn(2, 6))).sum().backward()
    notes.end()
    assert all(each.requires_grad and each.grad is None for each in model.parameters())


def test_checkpointed_layers_are_noted_once() -> None:
    from torch.utils.checkpoint import checkpoint

    inner, last = nn.Sequential(nn.Linear(6, 7), nn.Tanh(), nn.Linear(7, 6)), nn.Linear(6, 2)
    rows = torch.randn(4, 6)

    def norms(run: Callable[[Tensor], Tensor]) -> Tensor:
        gradients = noted(nn.ModuleList([inner, last]), (rows,), 4, run=run)
        return torch.stack(list(gradients.squared_norms().values())).sum(dim=0)

    plain = norms(lambda given: last(inner(given)))
    again = norms(lambda given: last(checkpoint(inner, given, use_reentrant=False)))
    torch.testing.assert_close(plain, again)
