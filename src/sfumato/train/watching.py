"""What may watch a training: it sees weights and noisy gradients, which are paid for, and no rows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from sfumato.train.trainer import Private


class Watcher(Protocol):
    """Something that is told of every step, after it has moved the weights and before the next one begins."""

    def after_step(self, private: Private, noise: float) -> None:
        """Looks at a step: gradients are still there, with noise of this deviation on each entry."""
