"""Gradients of units as plain torch has them, one unit at a time, to hold what is read off notes against."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

import torch
from torch import Tensor, nn

from sfumato.train.taps import Layout, Notes
from sfumato.train.unit_gradients import UnitGradients

Inputs: TypeAlias = tuple[Tensor, ...]


def squares(output: Tensor) -> Tensor:
    """A loss for each row that is no linear function of the output."""
    return (output.flatten(1) ** 2).sum(dim=1) + output.flatten(1).sum(dim=1)


def noted(
    model: nn.Module, inputs: Inputs, units: int, *, layout: Layout | None = None, run: Callable[..., Any] | None = None
) -> UnitGradients:
    """The gradients of all units, read off notes."""
    notes = Notes(model, layout)
    notes.begin()
    try:
        squares((run or model)(*inputs)).sum().backward()
    finally:
        notes.end()
    return notes.gradients(units)


def one_by_one(model: nn.Module, inputs: Inputs, units: int) -> list[dict[nn.Parameter, Tensor]]:
    """The gradient of each unit by itself."""
    made = []
    for own in zip(*(part.chunk(units) for part in inputs), strict=True):
        model.zero_grad()
        squares(model(*own)).sum().backward()
        trained = [each for each in model.parameters() if each.requires_grad]
        made.append({each: torch.zeros_like(each) if each.grad is None else each.grad.clone() for each in trained})
    model.zero_grad()
    return made


def apart(
    gradients: UnitGradients, expected: Sequence[dict[nn.Parameter, Tensor]], *, close: float = 1e-6
) -> list[str]:
    """What is wrong with norms and weighted sums; norms may be larger by what rounding may have taken."""
    units, faults = len(expected), []
    squared = gradients.squared_norms()
    norms = torch.stack([torch.stack([(part**2).sum() for part in each.values()]).sum() for each in expected]).double()
    read = torch.stack(list(squared.values())).sum(dim=0).double()
    if not torch.allclose(read, norms, rtol=close, atol=close):
        faults.append(f"norms {read.tolist()} instead of {norms.tolist()}")
    weights = torch.linspace(0.2, 1.3, units, dtype=norms.dtype)
    sums = gradients.weighted(dict.fromkeys(squared, weights))
    for place, parameter in enumerate(expected[0]):
        plain = torch.stack([weight * each[parameter].double() for weight, each in zip(weights, expected, strict=True)])
        made = sums.get(parameter, torch.zeros_like(parameter))
        scale = float(plain.abs().max()) + 1
        if not torch.allclose(made.double(), plain.sum(dim=0), rtol=0, atol=close * scale):
            faults.append(f"the sum of parameter {place}, {tuple(parameter.shape)}")
    return faults
