"""Opacus, by hooks that write down the gradient of every row, or by ghost norms and two backward passes."""

from __future__ import annotations

import sys
from typing import Any

import torch
from opacus import PrivacyEngine
from torch import Tensor, nn
from torch.utils.data import DataLoader, TensorDataset

from contenders.train import cases
from contenders.train.cases import DELTA, EPSILON, TASKS, Batches, Case, Step
from side_by_side.stopwatch import report_version

MODE = sys.argv[2]


def started(case: Case) -> tuple[Batches, Step]:
    """A step of Opacus; it is given batches by the cheapest way, and not by its own loader, which takes longer."""
    model = case.model()
    loader = DataLoader(TensorDataset(*case.rows()), batch_size=case.batch)
    made: Any = PrivacyEngine().make_private(
        module=model, optimizer=torch.optim.SGD(model.parameters(), lr=cases.LEARNING_RATE), data_loader=loader,
        criterion=nn.CrossEntropyLoss(), noise_multiplier=cases.NOISE_MULTIPLIER, max_grad_norm=cases.CLIP,
        grad_sample_mode=MODE,
    )  # fmt: skip
    private, optimizer, criterion = made[:3] if MODE == "ghost" else (*made[:2], nn.CrossEntropyLoss())

    def step(inputs: Tensor, labels: Tensor) -> None:
        optimizer.zero_grad()
        criterion(private(inputs), labels).backward()
        optimizer.step()

    return cases.whole_batches(case), step


def accuracy(seeds: int) -> None:
    """Trains every task with every seed, with its own Poisson loader."""
    torch.set_num_threads(1)
    for task in TASKS:
        for seed in range(seeds):
            (model, optimizer), (rows, _) = task.started(seed), task.data(seed)
            private, moved, loader = PrivacyEngine().make_private_with_epsilon(
                module=model, optimizer=optimizer, data_loader=DataLoader(TensorDataset(*rows), batch_size=task.batch),
                target_epsilon=EPSILON, target_delta=DELTA, epochs=task.epochs, max_grad_norm=task.clip,
            )  # fmt: skip
            criterion = nn.CrossEntropyLoss()
            for _ in range(task.epochs):
                for inputs, labels in loader:
                    moved.zero_grad()
                    criterion(private(inputs), labels).backward()
                    moved.step()
            task.told(private, seed, noise=float(moved.noise_multiplier))


report_version("opacus")
if sys.argv[1] == "speed":
    cases.take_turns(started)
else:
    accuracy(int(sys.argv[3]))
