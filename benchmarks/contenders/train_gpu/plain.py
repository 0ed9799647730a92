"""Plain training with PyTorch, as it comes and compiled."""

from __future__ import annotations

import sys

import torch

from contenders.train_gpu.models import TASKS, Task, fast, time_steps


def run(task: Task, *, compiled: bool) -> None:
    """Times steps of plain training on batches of one size."""
    model, (rows, labels) = task.model(), task.data()
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4, fused=True)
    forward = torch.compile(model) if compiled else model

    def step() -> None:
        chosen = torch.randint(0, len(rows), (task.batch,), device=rows.device)
        with task.context():
            loss = task.losses(forward(rows[chosen]), labels[chosen]).mean()
        loss.backward()
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)

    time_steps(task, "compiled" if compiled else "eager", step)


def main() -> None:
    """Runs all models, or the one that is named."""
    fast()
    for task in TASKS:
        for compiled in (False, True):
            if len(sys.argv) < 2 or sys.argv[1:] == [task.name]:
                run(task, compiled=compiled)


main()
