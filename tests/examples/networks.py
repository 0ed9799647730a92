"""Small networks with a layer of each kind, and rows for them."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor, nn


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
