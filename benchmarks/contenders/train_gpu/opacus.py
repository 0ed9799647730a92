"""Private training with Opacus, by hooks and by ghost norms."""

from __future__ import annotations

import sys
from importlib import import_module
from typing import Any

import torch
from torch import Tensor, nn

from contenders.train_gpu.models import TASKS, Task, fast, time_steps

MODES = ("hooks", "ghost")


class RowLoss(nn.Module):  # type: ignore[misc]
    """The loss of each row, in the form that Opacus asks for."""

    def __init__(self, task: Task) -> None:
        super().__init__()
        self.task, self.reduction = task, "mean"

    def forward(self, given: Tensor, labels: Tensor) -> Tensor:
        losses = self.task.losses(given, labels)
        return losses if self.reduction == "none" else losses.mean()


def run(task: Task, mode: str) -> None:
    """Times steps on batches of one size."""
    optimizers: Any = import_module("opacus.optimizers")
    samples: Any = import_module("opacus.grad_sample")
    model, (rows, labels) = task.model(), task.data()
    plain = torch.optim.AdamW(model.parameters(), lr=1e-4, fused=True)
    settings = {"noise_multiplier": 1.0, "max_grad_norm": 1.0, "expected_batch_size": task.batch}
    criterion: Any = RowLoss(task)
    if mode == "hooks":
        wrapped = samples.GradSampleModule(model, loss_reduction="mean")
        optimizer = optimizers.DPOptimizer(plain, **settings)
    else:
        wrapped = samples.GradSampleModuleFastGradientClipping(model, loss_reduction="mean", max_grad_norm=1.0)
        optimizer = optimizers.DPOptimizerFastGradientClipping(plain, **settings)
        made: Any = import_module("opacus.utils.fast_gradient_clipping_utils").DPLossFastGradientClipping
        criterion = made(wrapped, optimizer, criterion, "mean")

    def step() -> None:
        chosen = torch.randint(0, len(rows), (task.batch,), device=rows.device)
        with task.context():
            loss = criterion(wrapped(rows[chosen]), labels[chosen])
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()

    time_steps(task, mode, step)


def main() -> None:
    """Runs all models in both modes, or the one that is named."""
    fast()
    for task in TASKS:
        for mode in MODES:
            if len(sys.argv) < 2 or sys.argv[1:] == [task.name]:
                try:
                    run(task, mode)
                except (RuntimeError, TypeError, ValueError, NotImplementedError) as error:
                    print(f"{task.name} {mode}: {error}", file=sys.stderr)


main()
