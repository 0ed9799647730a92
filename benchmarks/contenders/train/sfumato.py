"""sfumato: steps of private training with all that is theirs, secret batches and noise from our entropy."""

from __future__ import annotations

import sys
from typing import Any

import torch
from torch import Tensor, nn

import sfumato as sf
from contenders.train import cases
from contenders.train.cases import DELTA, EPSILON, TASKS, Batches, Case, Step
from side_by_side.stopwatch import report, report_version


def started(case: Case) -> tuple[Batches, Step]:
    """The secret batches of a case, and a private step."""
    model = case.model()
    private = sf.train.private(
        model, case.rows(), noise_multiplier=cases.NOISE_MULTIPLIER, batch=case.batch, steps=10**7, clip=cases.CLIP,
        optimizer=torch.optim.SGD(model.parameters(), lr=cases.LEARNING_RATE),
    )  # fmt: skip
    criterion = nn.CrossEntropyLoss(reduction="none")

    def step(inputs: Tensor, labels: Tensor) -> None:
        private.step(criterion(model(inputs), labels))

    batches: Any = private.batches()
    return batches, step


def accuracy(seeds: int) -> None:
    """Trains every task with every seed."""
    torch.set_num_threads(1)
    for task in TASKS:
        loss: dict[str, Any] = {"loss": sf.Approx(EPSILON, DELTA)}
        for seed in range(seeds):
            (model, optimizer), (rows, _) = task.started(seed), task.data(seed)
            private = sf.train.private(
                model, rows, **loss, batch=task.batch, epochs=task.epochs, clip=task.clip, optimizer=optimizer,
                entropy=sf.entropy.ReplayEntropy(seed),
            )  # fmt: skip
            loss = {"noise_multiplier": private.plan.multiplier}  # found once: the plan of all seeds is one
            private.fit(nn.CrossEntropyLoss(), progress=lambda done, whole: None)
            task.told(model, seed, noise=float(private.plan.multiplier))


def curve(steps: int = 60) -> None:
    """Follows plain PyTorch on the same batches, with a bound that nobody reaches and next to no noise.

    No noise at all is refused. What is left of it, 10⁻¹² of a bound of 10³, is below the rounding of a float.
    """
    for task in TASKS:
        (model, optimizer), (rows, _) = task.started(0), task.data(0)
        plain, moved = task.started(0)
        private = sf.train.private(
            model, rows, noise_multiplier=1e-12, batch=task.batch, steps=steps, clip=1e3, optimizer=optimizer,
            entropy=sf.entropy.ReplayEntropy(0),
        )  # fmt: skip
        apart = 0.0
        for inputs, labels in private.batches():
            losses = nn.functional.cross_entropy(model(inputs), labels, reduction="none")
            theirs = nn.functional.cross_entropy(plain(inputs), labels, reduction="sum") / task.batch
            apart = max(apart, abs(losses.sum().item() / task.batch - theirs.item()))
            private.step(losses)
            moved.zero_grad()
            theirs.backward()
            moved.step()
        report(task.name, kind="curve", apart=apart, steps=steps)


report_version("sfumato")
if sys.argv[1] == "speed":
    cases.take_turns(started)
else:
    curve()
    accuracy(int(sys.argv[2]))
