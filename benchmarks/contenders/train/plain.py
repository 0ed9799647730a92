"""Plain PyTorch, without privacy: what a step takes at least."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from contenders.train.cases import LEARNING_RATE, Batches, Case, Step, take_turns, whole_batches
from side_by_side.stopwatch import report_version


def started(case: Case) -> tuple[Batches, Step]:
    """The batches of a case, and a step of plain training."""
    model, criterion = case.model(), nn.CrossEntropyLoss()
    optimizer = torch.optim.SGD(model.parameters(), lr=LEARNING_RATE)

    def step(inputs: Tensor, labels: Tensor) -> None:
        optimizer.zero_grad()
        criterion(model(inputs), labels).backward()
        optimizer.step()

    return whole_batches(case), step


report_version("torch")
take_turns(started)
