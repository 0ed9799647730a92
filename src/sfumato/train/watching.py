"""What may watch a training: it sees weights and noisy gradients, which are paid for, and no rows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol, final

if TYPE_CHECKING:
    from sfumato.train.trainer import Private


class Watcher(Protocol):
    """Something that is told of every step, after it has moved the weights and before the next one begins."""

    def after_step(self, private: Private, noise: float) -> None:
        """Looks at a step: gradients are still there, with noise of this deviation on each entry."""


class Scheduler(Protocol):
    """A schedule of the learning rate, such as those of torch.optim.lr_scheduler."""

    def step(self) -> Any:
        """Goes on to the rate of the next step."""


@final
class Scheduled:
    """Moves a schedule by one after every step, also after those of which a loop sees no batch, or several pieces.

    How often a loop turns hangs on who was drawn, and so would a rate that is moved there (proofs/training.md#steps).
    """

    def __init__(self, *schedulers: Scheduler) -> None:
        self._schedulers = schedulers

    def after_step(self, private: Private, noise: float) -> None:
        """Moves on."""
        for each in self._schedulers:
            each.step()
