"""Private training with sfumato, as it comes and compiled, with noise in floats and exact."""

from __future__ import annotations

import sys

import torch

import sfumato.train
from contenders.train_gpu.models import TASKS, Task, fast, time_steps


def run(task: Task, *, compiled: bool) -> None:
    """Times steps on batches of one size, drawn without replacement."""
    model, data = task.model(), task.data()
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4, fused=True)
    batches = sfumato.train.FixedBatches(task.batch, 1_000, task.rows)
    private = sfumato.train.private(model, data, noise_multiplier=1, batches=batches, clip=1.0, optimizer=optimizer)
    forward = torch.compile(model) if compiled else model
    drawn = private.batches()

    def step() -> None:
        rows, labels = next(drawn)
        with task.context():
            losses = task.losses(forward(rows), labels)
        private.step(losses)

    time_steps(task, "compiled" if compiled else "eager", step)


def main() -> None:
    """Runs all models, or the one that is named."""
    fast()
    for task in TASKS:
        for compiled in (False, True):
            if len(sys.argv) < 2 or sys.argv[1:] == [task.name]:
                run(task, compiled=compiled)


main()
