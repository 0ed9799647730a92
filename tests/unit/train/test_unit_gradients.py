"""Gradients of units, without writing them down, against plain gradients of one unit at a time."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
from tests.examples.networks import MODELS
from tests.examples.unit_gradients import apart, noted, one_by_one, squares
from torch import Tensor, nn

from sfumato.train.layers.gradients import READINGS
from sfumato.train.taps import Notes


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
