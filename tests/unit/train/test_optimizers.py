"""Optimizers for noisy gradients, against their formulas written down again."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch import nn

from sfumato.entropy import ReplayEntropy
from sfumato.errors import BadArgument
from sfumato.train import LAMB, AdamBC, PoissonBatches, private

GRADIENTS = [np.array([0.3, -2.0, 0.0]), np.array([0.1, 1.0, 0.2]), np.array([-0.4, 0.5, 0.1])]
DEVIATIONS = [0.05, 0.2, 0.1]
START = np.array([1.0, -0.5, 2.0])


def moved(optimizer: Any, weights: nn.Parameter) -> np.ndarray[Any, Any]:
    for gradient, deviation in zip(GRADIENTS, DEVIATIONS, strict=True):
        weights.grad = torch.from_numpy(gradient).clone()
        if isinstance(optimizer, AdamBC):
            optimizer.know_noise(deviation)
        optimizer.step()
    return weights.detach().numpy()


def test_the_variance_of_the_noise_is_taken_off_mean_squares() -> None:
    weights = nn.Parameter(torch.from_numpy(START.copy()))
    made = moved(AdamBC([weights], lr=0.1, betas=(0.8, 0.9), floor=1e-3, weight_decay=0.01), weights)
    expected, mean, square, noise = START.copy(), np.zeros(3), np.zeros(3), 0.0
    for step, (gradient, deviation) in enumerate(zip(GRADIENTS, DEVIATIONS, strict=True), start=1):
        mean, square = 0.8 * mean + 0.2 * gradient, 0.9 * square + 0.1 * gradient**2
        noise = 0.9 * noise + 0.1 * deviation**2
        left = np.maximum((square - noise) / (1 - 0.9**step), 1e-3)
        expected = expected * (1 - 0.001) - 0.1 * mean / (1 - 0.8**step) / np.sqrt(left)
    np.testing.assert_allclose(made, expected, rtol=1e-12)


def test_steps_of_lamb_are_as_long_as_the_weights() -> None:
    weights = nn.Parameter(torch.from_numpy(START.copy()))
    made = moved(LAMB([weights], lr=0.1, betas=(0.8, 0.9), weight_decay=0.01), weights)
    expected, mean, square = START.copy(), np.zeros(3), np.zeros(3)
    for step, gradient in enumerate(GRADIENTS, start=1):
        mean, square = 0.8 * mean + 0.2 * gradient, 0.9 * square + 0.1 * gradient**2
        root = np.sqrt(square / (1 - 0.9**step)) + 1e-6
        direction = mean / (1 - 0.8**step) / root + 0.01 * expected
        expected = expected - 0.1 * np.linalg.norm(expected) / np.linalg.norm(direction) * direction
    np.testing.assert_allclose(made, expected, rtol=1e-12)
    zero = nn.Parameter(torch.zeros(3, dtype=torch.double))
    assert np.abs(moved(LAMB([zero], lr=0.1), zero)).max() > 0.01  # of no weights no length is taken


def test_a_training_tells_its_optimizer_how_large_the_noise_is(tmp_path: Path) -> None:
    """Of no rows there is noise alone: its mean square is its variance, and next to nothing of it is left."""
    model = nn.Linear(300, 300)
    optimizer = AdamBC(model.parameters(), lr=1.0, betas=(0.0, 0.0), floor=1.0)
    told: list[float] = []
    remember, optimizer.know_noise = optimizer.know_noise, lambda each: (told.append(each), remember(each))[1]  # type: ignore[method-assign]
    asked: dict[str, Any] = {"noise_multiplier": 4, "clip": 0.5, "batches": PoissonBatches("1/10", 2, 50)}  # type: ignore[arg-type]
    training = private(
        model, (torch.zeros(0, 300), torch.zeros(0)), optimizer=optimizer, entropy=ReplayEntropy(4), **asked
    )
    assert list(training.batches()) == []
    assert told == [0.4, 0.4]
    state = optimizer.state[model.weight]
    assert abs(float(state["square"].mean()) / state["noise"] - 1) < 0.03
    training.save(tmp_path / "run.pt")
    other = nn.Linear(300, 300)
    again = AdamBC(other.parameters(), lr=1.0)
    private(other, (torch.zeros(0, 300), torch.zeros(0)), optimizer=again, **asked).resume(tmp_path / "run.pt")
    assert again.state[other.weight]["noise"] == state["noise"]


@pytest.mark.parametrize("name, given", [("lr", {"lr": 0}), ("betas", {"betas": (0.9, 1.0)}), ("floor", {"floor": 0})])
def test_options_out_of_range_are_refused(name: str, given: dict[str, Any]) -> None:
    with pytest.raises(BadArgument, match=name):
        AdamBC(nn.Linear(2, 1).parameters(), **given)
    assert math.isclose(AdamBC(nn.Linear(2, 1).parameters()).defaults["lr"], 1e-3)
